"""The cells of a table of runs, and what its rows are called."""

import re
from dataclasses import dataclass, field

from collectors.facts.base import Reading
from collectors.layouts.figures import decimal_comma, reading

FIELDS = {
    "z/vm version": "release",
    "z/vm release": "release",
    "z/vm level": "release",
    "# of cpus": "processors",
    "number of cpus": "processors",
    "# of processors": "processors",
    "number of processors": "processors",
    "run id": "run",
    "tx/sec": "transactions_per_second",
    "sie instruction rate": "sie_per_second",
    "total msec/tx": "total_msec_per_tx",
    "cp msec/tx": "cp_msec_per_tx",
    "emul msec/tx": "emul_msec_per_tx",
    "avg spin lock rate": "spin_rate",
    "spin time": "spin_time_usec",
    "pct spin time": "spin_percent",
    "total util/proc": "total_util_percent",
    "system util/proc": "system_util_percent",
}
HEADS = ("release", "processors", "run")
TEXTS = ("release", "run")
NOTHING = ("", "-", "--", "---", "----", "n/a", "na")
RATIO_COMMA = re.compile(r"[0-9]{1,3},[0-9]{3}")
"""`1,000` among ratios is 1: a thousand times the base it is not."""


@dataclass(frozen=True)
class Cell:
    """One value as printed, and the index of its line."""

    text: str
    index: int


@dataclass(frozen=True)
class Figure:
    """One value as a number, with half of its last printed digit."""

    value: Reading
    half: float
    index: int

    @property
    def number(self) -> float | None:
        """The number, if it is one."""
        return self.value if isinstance(self.value, float) else None


@dataclass
class Table:
    """Rows by field, each with a cell for each run; the ratios likewise."""

    first: int
    runs: int = 0
    values: dict[str, list[Cell | None]] = field(default_factory=dict)
    ratios: dict[str, list[Cell | None]] = field(default_factory=dict)
    delimiter: str = ""
    comma: bool = False
    """Whether a comma is the decimal sign; see `find_comma`."""

    @property
    def fields(self) -> list[str]:
        """The rows that hold figures."""
        return [name for name in self.values if name not in TEXTS]

    @property
    def measures(self) -> bool:
        """Whether it says more than what was run."""
        return any(name not in HEADS for name in self.values)

    def cell(self, name: str, column: int) -> Cell | None:
        """The value of one run as printed."""
        return self.values[name][column] if name in self.values else None

    def column(self, column: int) -> list[Cell]:
        """Every cell of one run."""
        rows = [*self.values.values(), *self.ratios.values()]
        return [cell for row in rows if (cell := row[column]) is not None]

    def find_comma(self) -> None:
        """Look at all figures: between semicolons, and among ratios, a comma is no thousands separator."""
        cells = [cell.text for name in self.fields for cell in self.values[name] if cell]
        ratios = [cell.text for row in self.ratios.values() for cell in row if cell]
        between = self.delimiter == ";" and any("," in text for text in cells)
        self.comma = between or decimal_comma(cells) or any(map(RATIO_COMMA.fullmatch, ratios))

    def figure(self, name: str, column: int) -> Figure | None:
        """The value of one run."""
        return self.read(self.cell(name, column))

    def ratio(self, name: str, column: int) -> Figure | None:
        """The printed ratio of one run."""
        return self.read(self.ratios[name][column]) if name in self.ratios else None

    def read(self, cell: Cell | None) -> Figure | None:
        """A cell as a number."""
        if cell is None:
            return None
        text = cell.text.rstrip("%")
        value = reading(text, comma=self.comma)
        value = float(value) if isinstance(value, int) else value
        digits = text.rpartition("," if self.comma else ".")
        return Figure(value, 0.5 * 10.0 ** -(len(digits[2]) if digits[1] else 0), cell.index)


def label_of(text: str) -> str | None:
    """The field that a cell names; `None` for any other text."""
    return FIELDS.get(re.sub(r"\s*\([a-z]\)$", "", " ".join(text.strip(' "').lower().split())))
