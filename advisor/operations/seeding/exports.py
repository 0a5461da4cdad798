"""Exports of made systems, hour by hour: those of `advisor/examples/audits` with other names, times and figures.

They are about as long as in life: a whole `sp_configure`, and a T4 file with the columns of many processes and disks.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from django.conf import settings

STORIES = {
    "ase": (("address_lock_storm", "CLAIMS1"), ("healthy_ledger_server", "LEDGER1")),
    "openvms": (("lock_bound_node", "BERGEN"), ("quiet_two_node_day", "TROMSO")),
}
"""Of each product a story that is ill and one that is well, with the name of its system."""
PARAMETERS = 330
"""Lines of a whole `sp_configure` of 15.7, beside those of the story."""
COLUMNS = 500
"""Columns of a T4 composite, beside those of the story."""
ASE_TIME = re.compile(r"[A-Z][a-z]{2} \d\d, \d{4}( \d\d:\d\d:\d\d)?")
VMS_TIME = re.compile(r"\d\d-[A-Z]{3}-\d{4} \d\d:\d\d:\d\d")
CONTENDED = re.compile(r"(Spinlock Contention .*?)( *\d+\.\d)(?= %)")
"""A line of sp_sysmon that no total holds to account."""
MEASURED = re.compile(r"(?<=[ ,])\d+\.\d\d(?=,|\r)")
"""A figure of T4."""
END_OF_HEADERS = "$$$ END COLUMN HEADERS $$$"
LEAST_LOAD = 0.8
"""Of what the story shows: a quiet hour."""


@dataclass(frozen=True)
class Pattern:
    """What one story has: a report with the figures and their times, and a listing with the settings."""

    product: str
    system: str
    report: str
    listing: str
    end: datetime
    """Of the interval of the report."""

    def exports(self, name: str, end: datetime, chance: Random) -> dict[str, bytes]:
        """What a system of this name exports of the interval that ended then, by its own clock: bytes by file name."""
        load = chance.uniform(LEAST_LOAD, 1.0)
        report, listing = (
            _later(self.product, text, end - self.end).replace(self.system, name)
            for text in (self.report, self.listing)
        )
        if self.product == "ase":
            report = CONTENDED.sub(lambda line: f"{line[1]}{_scaled(line[2], load)}", report)
            return {f"{name}_{end:%Y%m%d_%H%M}.txt": f"{report}\n{listing}".encode()}
        report = MEASURED.sub(lambda one: f"{float(one[0]) * load * chance.uniform(0.98, 1.02):.2f}", report)
        day = f"{end:%d%b%Y}".upper()
        return {
            f"T4_{name}_{day}_{end - timedelta(hours=1):%H%M}_{end:%H%M}_comp.csv": report.encode(),
            f"{name}_{day}_{end:%H%M}.lis": listing.encode(),
        }


def patterns() -> dict[str, tuple[Pattern, Pattern]]:
    """Read the stories: of each product the ill and the well one.

    Raises `FileNotFoundError` where they are not installed.
    """
    return {product: (_read(product, *ill), _read(product, *well)) for product, (ill, well) in STORIES.items()}


def _read(product: str, story: str, system: str) -> Pattern:
    folder = settings.EXAMPLES / "audits" / story
    chance = Random(story)  # noqa: S311 - made data, the same every time
    paths = sorted(path for path in folder.iterdir() if path.suffix in (".txt", ".csv"))
    figures = folder / "sysmon.txt" if product == "ase" else next(path for path in paths if path.suffix == ".csv")
    report = figures.read_bytes().decode("latin-1")
    listing = "\n".join(path.read_text() for path in paths if path != figures)
    if product == "ase":
        listing = f"{listing}\n{_parameters(chance)}"
    else:
        report = _wide(report, chance)
    end = max(_time(product, one[0]) for one in _times(product).finditer(report) if ":" in one[0])
    return Pattern(product, system, report, listing, end)


def _parameters(chance: Random) -> str:
    """More of `sp_configure`, in the columns of 15.7."""
    names = ("Parameter Name", "Default", "Memory Used", "Config Value", "Run Value", "Unit", "Type")
    widths = (30, 11, 11, 12, 12, 20, 10)
    rows = [names, tuple("-" * width for width in widths)]
    for number in range(1, PARAMETERS + 1):
        value = str(chance.randrange(10**6))
        rows.append((f"made parameter {number:03d}", "0", "0", value, value, "number", "dynamic"))
    lines = (" " + " ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(("1> sp_configure", "2> go", *lines, ""))


def _wide(report: str, chance: Random) -> str:
    """A T4 file with as many columns as a composite has."""
    names = ",".join(f"[MON.PROC]made process {number:03d} Dirio" for number in range(1, COLUMNS + 1))
    lines = []
    for line in report.split("\r\n"):
        if line == END_OF_HEADERS:
            lines.append(names)
        elif VMS_TIME.match(line):
            figures = (f"{chance.random() * 90:.1f}" if chance.random() < 0.6 else "0.0" for _ in range(COLUMNS))
            line = f"{line}, {', '.join(figures)}"
        lines.append(line)
    return "\r\n".join(lines)


def _times(product: str) -> re.Pattern[str]:
    return ASE_TIME if product == "ase" else VMS_TIME


def _time(product: str, text: str) -> datetime:
    return datetime.strptime(text, "%b %d, %Y %H:%M:%S" if product == "ase" else "%d-%b-%Y %H:%M:%S")  # noqa: DTZ007


def _later(product: str, text: str, by: timedelta) -> str:
    """The text with all its times moved."""

    def moved(found: re.Match[str]) -> str:
        if product == "openvms":
            return f"{_time(product, found[0]) + by:%d-%b-%Y %H:%M:%S}".upper()
        if found[1]:
            return f"{_time(product, found[0]) + by:%b %d, %Y %H:%M:%S}"
        return f"{_time(product, f'{found[0]} 12:00:00') + by:%b %d, %Y}"

    return _times(product).sub(moved, text)


def _scaled(figure: str, by: float) -> str:
    """A percentage, in the columns it stood in."""
    return f"{float(figure) * by:.1f}".rjust(len(figure))
