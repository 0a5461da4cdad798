"""The head of a T4 file: the header line, the shapes of its lines, and what the column names mean."""

import re
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from collectors.facts.base import ABSENT, NOWHERE, Fact, Reading, Source
from collectors.facts.openvms import Node

TITLE = re.compile(r"^(?:[^,]{0,80},)?\s*T4EXTR Version|^[^,]{0,80},\s*Hw Name:", re.IGNORECASE)
"""Line 0 as T4 writes it: node name first. Other tools write any line here."""
NAMES_BEGIN = re.compile(r"^\s*\$\$\$ START COLUMN HEADERS", re.IGNORECASE)
NAMES_END = re.compile(r"^\s*\$\$\$ END COLUMN HEADERS", re.IGNORECASE)
DATES = re.compile(r"^\s*[0-9]{1,2}-[A-Z]{3}-[0-9]{4}\s*,\s*[0-9]{1,2}-[A-Z]{3}-[0-9]{4}\s*$", re.IGNORECASE)
TIMES = re.compile(r"^\s*[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?\s*,\s*[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?\s*$")
SAMPLE_TIME = re.compile(r"^\s{0,20}(?:\[[\w.$]{1,20}\]\s{0,20})?Sample Time\s{0,20},", re.IGNORECASE)
NAMES_LINE = re.compile(r"^\s*\[[\w.$]{1,20}\][^,]*,")
"""Column names all on one line, should the first one not be called Sample Time."""
STARTS = re.compile("|".join(p.pattern for p in (TITLE, NAMES_BEGIN, SAMPLE_TIME, DATES)), re.IGNORECASE)

STAMP = re.compile(
    r"\s*([0-9]{1,2}-[A-Za-z]{3}-[0-9]{4})\s+([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{0,2})[0-9]{0,5})?\s*(?:,|$)"
)
AVERAGE = re.compile(r"\s*Column Average\b", re.IGNORECASE)
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
FRAGMENT = re.compile(
    r"(?=[^,:]{0,200}[,:])(?=[^0-9]{0,200}[0-9])"
    rf"[A-Z]{{0,3}}+[-0-9\s.,:*+]*+(?:(?:{'|'.join(MONTHS)})[-0-9\s.,:*+]*+)*+[A-Z]{{0,2}}\s*",
    re.IGNORECASE,
)
"""A row or a piece of one: figures, dates, asterisks; a date may be cut at either end."""

MOST_COLUMNS = 20_000
"""A T4 row has at most 50,000 characters (limit of CSVPNG, T4's own reader), so it has fewer columns than this."""
MOST_NAMES = 4_000_000
"""Characters of all names together: CSVPNG reads 220,000."""
MOST_DAYS = 1000
CENTISECONDS = 24 * 3600 * 100


@dataclass(frozen=True)
class Title:
    """What line 0 says of the node."""

    source: Source = NOWHERE
    node: str | None = None
    hardware: str | None = None
    cpus: Reading = ABSENT
    memory_mb: Reading = ABSENT
    interval_seconds: float | None = None

    def nodes(self) -> list[Fact]:
        """The node, where line 0 names one."""
        if not self.node:
            return []
        cpus, memory = self.cpus, self.memory_mb
        return [Node(source=self.source, name=self.node, hardware=self.hardware, active_cpus=cpus, memory_mb=memory)]


def title_of(line: str, source: Source) -> Title:
    """Read line 0. A free line names a node only where its first word looks like a node name and nothing else."""
    if TITLE.search(line):
        name = line.split(",", 1)[0].strip()
        if not name or TITLE.match(name):
            found = re.search(r"Analyzer node:\s*([\w$-]{1,64})", line)
            name = found[1] if found else ""
    else:
        found = re.match(r"\s*([A-Z][A-Z0-9$_-]{0,14})\s*(?:,|$)", line)
        name = found[1] if found else ""
    hardware = re.search(r"Hw Name:\s*([^,]{1,200})", line)
    interval = _figure(r"Sample Interval:\s*([0-9]{1,7})\b", line)
    return Title(
        source,
        name[:64] or None,
        (" ".join(hardware[1].split()) or None) if hardware else None,
        _or_absent(_figure(r"\bCpus:\s*([0-9]{1,5})\b", line)),
        _or_absent(_figure(r"Memory Size:\s*([0-9]{1,12})\s*Mb", line)),
        interval or None,
    )


def _figure(pattern: str, line: str) -> float | None:
    found = re.search(pattern, line, re.IGNORECASE)
    return float(found[1]) if found else None


def _or_absent(figure: float | None) -> Reading:
    return ABSENT if figure is None else figure


class Row(NamedTuple):
    """One row: line in the file, centiseconds since 1-JAN-0001, cells without the first, further clocks made 0."""

    line: int
    time: int
    cells: str


class Clock:
    """Reads sample times; remembers the days it has seen."""

    def __init__(self) -> None:
        """Start without any day."""
        self.days: dict[str, int | None] = {}

    def read(self, stamp: re.Match[str]) -> int | None:
        """A match of `STAMP` → centiseconds since 1-JAN-0001, or `None` where there is no such time."""
        day, hours, minutes, seconds, hundredths = stamp.groups()
        if day not in self.days:
            if len(self.days) > MOST_DAYS:
                self.days.clear()
            self.days[day] = day_of(day)
        start, h, m, s = self.days[day], int(hours), int(minutes), int(seconds)
        if start is None or h > 23 or m > 59 or s > 59:
            return None
        return start + ((h * 60 + m) * 60 + s) * 100 + int((hundredths or "").ljust(2, "0"))


def day_of(text: str) -> int | None:
    """`19-NOV-2015` → centiseconds since 1-JAN-0001, or `None` where there is no such day."""
    day, month, year = text.split("-")
    try:
        number = date(int(year), MONTHS.index(month.upper()) + 1, int(day)).toordinal()
    except ValueError:
        return None
    return number * CENTISECONDS


RATES = {
    "mon.syst": re.compile(r" rate$"),
    "mon.lock": re.compile(r"^(?!.* total$)"),
    "mon.scs": re.compile(r""),
    "mon.dsk": re.compile(r"^oprt "),
    "mon.disk": re.compile(r"^oprate$"),
}
"""Columns that are rates for sure: they tell a last row without a delta."""


@dataclass
class Layout:
    """The columns right of the sample time, in order: index 0 is the second column of the file."""

    names: list[tuple[str, str]] = field(default_factory=list)
    """Group and name as printed, trimmed."""
    clocks: list[int] = field(default_factory=list)
    """Further sample times, of the collectors that were merged in: no figures."""
    rates: list[int] = field(default_factory=list)
    cpus: dict[int, dict[str, int]] = field(default_factory=dict)
    """CPU id → name of the mode in lower case → column."""
    where: dict[tuple[str, str], int] = field(default_factory=dict)
    """Group and name in lower case → column; of two columns of one name the first."""

    @property
    def kind(self) -> str:
        """What sort of T4 file has these groups."""
        groups = {group for group, _ in self.where}
        if groups & {"mon.syst", "mon.mode", "mon.lock"}:
            return "composite"
        if "mon.dsk" in groups:
            return "disk"
        if "mon.scs" in groups:
            return "scs"
        return "fc" if any(group.startswith("t4fc") for group in groups) else "other"

    def cells(self, line: str, start: int) -> str | None:
        """The cells from `start` on, further times made 0; `None` unless they are as many as the names.

        A clock is found by its colon, which is many times faster than to split the row; what that does not find in its
        place is looked at cell by cell.
        """
        at, commas = start, 0
        pieces: list[str] = []
        for clock in self.clocks:
            colon = line.find(":", at)
            left = line.rfind(",", at, colon) + 1 or at
            commas += line.count(",", at, left)
            if colon < 0 or commas != clock:
                return self._one_by_one(line[start:])
            right = line.find(",", colon)
            pieces += (line[at:left], "0")
            at = len(line) if right < 0 else right
        if commas + line.count(",", at) != len(self.names) - 1:
            return self._one_by_one(line[start:])
        return "".join([*pieces, line[at:]]) if pieces else line[at:]

    def _one_by_one(self, text: str) -> str | None:
        cells = text.split(",")
        if len(cells) == len(self.names) + 1 and not cells[-1].strip():
            cells.pop()  # a comma at the end of the line
        if len(cells) != len(self.names):
            return None
        for clock in self.clocks:
            cells[clock] = "0"  # so that the row may be JSON
        return ",".join(cells)

    def has(self, group: str) -> bool:
        """Whether this group (lower case) has any column."""
        return any(found == group for found, _ in self.where)

    def column(self, group: str, name: str) -> int | None:
        """Where the column of this group and name (lower case) stands."""
        return self.where.get((group, name))


def layout_of(names: str) -> Layout:
    """Sort out column names: comma separated, the first of them the sample time."""
    layout = Layout()
    for index, text in enumerate(names.split(",")[1:]):
        group, name = _split(text)
        layout.names.append((group, name))
        low = (group.lower(), name.lower())
        if low[1] == "sample time":
            layout.clocks.append(index)
            continue
        layout.where.setdefault(low, index)
        if low[0] in RATES and RATES[low[0]].search(low[1]):
            layout.rates.append(index)
        cpu = re.fullmatch(r"cpu ([0-9]{1,4}) +(.{1,40})", low[1]) if low[0] == "mon.modes" else None
        if cpu:
            layout.cpus.setdefault(int(cpu[1]), {}).setdefault(cpu[2], index)
    return layout


def _split(text: str) -> tuple[str, str]:
    """` [XFC]Read IOs/Sec` → `XFC`, `Read IOs/Sec`."""
    text = text.strip()
    if text.startswith("[") and "]" in text:
        group, _, name = text[1:].partition("]")
        return group.strip(), name.strip()
    return "", text
