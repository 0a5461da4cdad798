"""SHOW MEMORY: physical memory, pools, slots and page files, each group with its own unit.

Sample::

                  System Memory Resources on  3-FEB-2021 09:14:22.07

    Physical Memory Usage (pages):     Total        Free      In Use    Modified
      Main Memory (24.00GB)          3145728     1048576     2092032        5120

    Slot Usage (slots):                Total        Free    Resident     Swapped
      Process Entry Slots                310         289          21           0

    Dynamic Memory Usage (bytes):      Total        Free      In Use     Largest
      Nonpaged Dynamic Memory       41943040    10485760    31457280     9437184

    Paging File Usage (pages):                      Free  Reservable       Total
      DISK$ORKNEY:[SYS0.SYSEXE]PAGEFILE.SYS       122000       80630      122000

    Of the physical pages in use, 28761 pages are permanently allocated to OpenVMS.

A page has 512 bytes on VAX, 8,192 on Alpha and Integrity, and the display does not say which: figures stay in the unit
of their heading; `24.00GB` alone is a size. The display names no node, so nothing here becomes a `Node`.

Values end where the words of the heading end [R, VAX V7.3]; a long file name pushes them right or onto the next line.
Groups of newer releases (Granularity Hint Regions, page files with an index) have the same shape. Those of Alpha and
Integrity name the unit of dynamic memory in each line, and leave the last column of the lock manager's blank; memory
reservations have columns of words beside those of figures (a program that prints such a display as it was seen)::

    Dynamic Memory Usage:              Total        Free      In Use     Largest
      Nonpaged Dynamic Memory (MB)     40.00       10.00       30.00        9.00
      Lock Manager Dyn Memory (MB)      2.50        1.25        1.25

    Memory Reservations (pages):       Group    Reserved      In Use        Type
      STOCK_SECTION                   SYSGBL       25600       12800   Allocated
      Total (200.00 MBytes reserved)               25600       12800

`Extended File Cache` and `Write Bitmap` print labels with a value each, two to a line; that is recalled [M] and read as
tentative. SHOW MEMORY/POOL/FULL prints each pool so, below its name alone (seen, V8.4); pools that grow show there how
far they may: `Maximum Size`, with the parameter that sets it, or the unit, in parentheses.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts.base import ABSENT, Reading, known
from collectors.facts.openvms import MemoryUse
from collectors.layouts.figures import size
from collectors.layouts.vms import MOMENT
from collectors.registry import NotThisReport, Report, reading, report

START = re.compile(
    r"^\s*System Memory Resources on\s{1,8}[0-9]{1,2}-[A-Z]{3}-[0-9]{4}"
    r"|^\s{0,8}Physical Memory Usage \((?:[0-9]{1,3} ?KB )?(?:pages|pagelets)\):\s+Total\s"
)
TITLE = re.compile(
    rf"\s*System Memory Resources on\s+(?:{MOMENT}|[0-9]{{1,2}}-[A-Z]{{3}}-[0-9]{{4}}.{{0,20}})\s*$", re.I
)
GROUP = re.compile(
    r"\s{0,8}(?P<group>[A-Z][A-Za-z/ -]{2,40}?) {1,4}\((?P<unit>[A-Za-z0-9 ]{2,20})\): ?(?P<columns>.*)$"
)
LABELLED = re.compile(
    r"\s{0,8}(?P<group>Extended File Cache|Write Bitmap \(WBM\) Memory Summary)\b(?P<rest>.{0,80})$", re.I
)
BY_LINE = re.compile(r"\s{0,8}(?P<group>Dynamic Memory Usage):\s{1,60}(?P<columns>Total\s.{0,80})$", re.I)
"""The heading whose lines name their unit each."""
POOL = re.compile(
    r"\s{0,8}(?P<group>(?:Nonpaged|Paged|Lock Manager) Dynamic Memory|Bus Addressable Memory)"
    r"(?:\s{1,20}\(Lists \+ Variable\))?\s*$",
    re.I,
)
"""The heading of one pool, with nothing behind it."""
PAIR = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9./ -]{2,40}?) ?(?:\((?P<unit>[A-Za-z/ ]{1,16})\))?:?\s{1,40}"
    r"(?P<value>[0-9][0-9,.]{0,20}|\*{1,20})(?:(?P<percent>%)|(?=\s{2})|\s?$)"
)
RESERVED = re.compile(
    r"\s{1,8}(?P<name>Total \([^()]{1,40}\)|\S{1,44})(?:\s+(?P<group>\S{1,20}))??\s+(?P<reserved>[0-9,]{1,20})"
    r"\s+(?P<used>[0-9,]{1,20})(?:\s+(?P<type>[A-Za-z][A-Za-z ]{0,20}))?\s*$"
)
"""A line of memory reservations: whose and of which kind it is are words, and the sum has neither."""
BLANK_AT_THE_END = re.compile(r"Lock Manager Dyn(?:amic)? Memory\b", re.I)
"""Lines without a figure in the last column, as printed."""
UNIT = re.compile(r"(?P<name>.{1,60}?)\s{0,20}\((?P<unit>bytes|[KMGT]B)\)", re.I)
"""A line that names its unit."""
HEAD = re.compile(r"\S+(?: \S+)*")
VALUE = re.compile(r"[0-9][0-9,]{0,20}(?:\.[0-9]{1,6})?|\*{1,20}")
SIZED = re.compile(r"(?P<name>.{1,60}?) ?\((?P<size>[0-9][0-9.,]{0,12} ?[KMGT]b)\)", re.IGNORECASE)
TRAILER = re.compile(
    r"\s*Of the physical (?:pages|memory) in use,|.{0,80}\ballocated to (?:Open)?VMS\b|\s*(?:to )?OpenVMS\.\s*$", re.I
)
LONGEST = 240
ROUNDED = 0.02
"""Two figures with two decimals each may add up to that much more than their sum."""
NEAR = 3
"""Characters by which the end of a value may miss the end of its heading."""


@dataclass(frozen=True)
class _Group:
    """One heading: what its columns are called and where they end."""

    name: str
    unit: str
    columns: tuple[str, ...]
    edges: tuple[int, ...]


@dataclass(frozen=True)
class _Line:
    """One line of values, from index `first` to `last`."""

    group: _Group
    name: str
    values: dict[str, Reading]
    first: int
    last: int


@report(starts=START, provides=(MemoryUse,))
def read(report: Report) -> Iterator[MemoryUse]:
    """Yield each line of each group."""
    group: _Group | None = None
    labelled = ""
    pending: tuple[int, str] | None = None
    rows: list[_Line] = []
    pairs: list[tuple[int, str, re.Match[str]]] = []
    for index, raw in enumerate(report.lines):
        line = raw.expandtabs()[:LONGEST]
        if found := GROUP.match(line) or BY_LINE.match(line):
            group, labelled, pending = _group(found), "", None
        elif found := LABELLED.match(line) or POOL.match(line):
            group, labelled, pending = None, " ".join(found["group"].split()), None
        elif TITLE.match(line) or TRAILER.match(line):
            group, labelled, pending = None, "", None
        elif labelled and (several := list(PAIR.finditer(line))):
            pairs += [(index, labelled, one) for one in several]
        elif group and line.startswith(" ") and line.strip():
            start, name = pending or (index, "")
            row = _row(report, group, line, index, start, name)
            if row is None and not pending and not VALUE.fullmatch(line.split()[-1]):
                pending = (index, line.strip())
                continue
            pending = None
            if row is None:
                continue
            rows.append(row)
            report.claim(row.first)
        else:
            group, pending = (None, None) if line.strip() else (group, pending)
            continue
        report.claim(index)
    if not rows and not pairs:
        if not any(TITLE.match(line[:LONGEST]) for line in report.lines):
            raise NotThisReport
        report.problem("no group with figures below the heading: cut off, repeat SHOW MEMORY", 0)
    for row in rows:
        yield _use(report, row)
    yield from (_labelled(report, *one) for one in pairs if POOL.match(one[1]))
    recalled = [one for one in pairs if not POOL.match(one[1])]
    if recalled:
        report.tentative("Extended File Cache and Write Bitmap are read by labels that no source confirms")
    yield from (_labelled(report, *one) for one in recalled)


def _labelled(report: Report, index: int, title: str, pair: re.Match[str]) -> MemoryUse:
    """One label with its value."""
    return MemoryUse(
        source=report.source(index),
        group=title,
        name=" ".join(pair["name"].split()),
        unit=pair["unit"] or ("%" if pair["percent"] else ""),
        figures=(("Value", reading(pair["value"])),),
    )


def _group(found: re.Match[str]) -> _Group:
    heads = list(HEAD.finditer(found.string, found.start("columns")))
    columns, edges = tuple(head[0] for head in heads), tuple(head.end() for head in heads)
    unit = found.groupdict().get("unit") or ""
    return _Group(" ".join(found["group"].split()), " ".join(unit.split()), columns, edges)


def _row(report: Report, group: _Group, line: str, index: int, first: int, name: str) -> _Line | None:
    """Read one line of values; `None` where it has none, and where they cannot be told apart (then says so)."""
    if group.columns == ("Group", "Reserved", "In Use", "Type") and (found := RESERVED.match(line)):
        figures: dict[str, Reading] = {"Reserved": reading(found["reserved"]), "In Use": reading(found["used"])}
        return _Line(group, found["name"], figures, first, index)
    tokens = list(re.finditer(r"\S+", line))
    at = len(tokens)
    while at > (0 if name else 1) and len(tokens) - at < len(group.columns) and VALUE.fullmatch(tokens[at - 1][0]):
        at -= 1
    values = tokens[at:]
    name = name or line[: tokens[at].start() if values else len(line)].strip()
    if not values:
        return None
    if len(values) == len(group.columns):
        named = {column: reading(value[0]) for column, value in zip(group.columns, values, strict=True)}
    else:
        named = {}
        for value in values:
            near = min(range(len(group.edges)), key=lambda column: abs(group.edges[column] - value.end()))
            if abs(group.edges[near] - value.end()) <= NEAR and group.columns[near] not in named:
                named[group.columns[near]] = reading(value[0])
        if not named:
            return None
        if tuple(named) == group.columns[:-1] and BLANK_AT_THE_END.match(name):
            return _Line(group, name, named, first, index)
        said = f"{name[:60]}: {len(values)} figures below {len(group.columns)} headings"
        report.problem(f"{said}, those that stand below one were read: repeat SHOW MEMORY", index)
    _check(report, name, named, index)
    return _Line(group, name, named, first, index)


def _check(report: Report, name: str, values: dict[str, Reading], index: int) -> None:
    """Say so where the parts are more than the whole: digits were lost, or columns mixed up."""
    low = {column.lower(): value for column, value in values.items()}
    total, parts = low.get("total"), [low.get("free"), low.get("in use")]
    numbers = [part for part in parts if part is not None and known(part)]
    if total is not None and known(total) and numbers and sum(numbers) > total + ROUNDED:
        report.problem(
            f"{name[:60]}: {sum(numbers):,.0f} free and in use of {total:,.0f} in all: check its digits", index
        )


def _use(report: Report, row: _Line) -> MemoryUse:
    sized, own = SIZED.fullmatch(row.name), UNIT.fullmatch(row.name)
    named = sized or (own if not row.group.unit else None)
    return MemoryUse(
        source=report.source(row.first, row.last),
        group=row.group.name,
        name=" ".join((named["name"] if named else row.name).split()),
        unit=row.group.unit or (own["unit"] if own else ""),
        figures=tuple(row.values.items()),
        size_mb=size(sized["size"], "m") if sized else ABSENT,
    )
