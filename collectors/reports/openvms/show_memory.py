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
Groups of newer releases (Granularity Hint Regions, page files with an index) have the same shape. `Extended File Cache`
and `Write Bitmap` print labels with a value each, two to a line; that is recalled [M] and read as tentative.
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
PAIR = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z/ -]{2,40}?) ?(?:\((?P<unit>[A-Za-z/ ]{1,16})\))?:?\s{1,40}"
    r"(?P<value>[0-9][0-9,.]{0,20}|\*{1,20})(?P<percent>%?)"
)
HEAD = re.compile(r"\S+(?: \S+)*")
VALUE = re.compile(r"[0-9][0-9,]{0,20}(?:\.[0-9]{1,6})?|\*{1,20}")
SIZED = re.compile(r"(?P<name>.{1,60}?) ?\((?P<size>[0-9][0-9.,]{0,12} ?[KMGT]b)\)", re.IGNORECASE)
TRAILER = re.compile(
    r"\s*Of the physical (?:pages|memory) in use,|.{0,80}\ballocated to (?:Open)?VMS\b|\s*(?:to )?OpenVMS\.\s*$", re.I
)
LONGEST = 240
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
        if found := GROUP.match(line):
            group, labelled, pending = _group(found), "", None
        elif found := LABELLED.match(line):
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
    if pairs:
        report.tentative("Extended File Cache and Write Bitmap are read by labels that no source confirms")
    for index, title, pair in pairs:
        unit = pair["unit"] or ("%" if pair["percent"] else "")
        value = (("Value", reading(pair["value"])),)
        name = " ".join(pair["name"].split())
        yield MemoryUse(source=report.source(index), group=title, name=name, unit=unit, figures=value)


def _group(found: re.Match[str]) -> _Group:
    heads = list(HEAD.finditer(found.string, found.start("columns")))
    columns, edges = tuple(head[0] for head in heads), tuple(head.end() for head in heads)
    return _Group(" ".join(found["group"].split()), " ".join(found["unit"].split()), columns, edges)


def _row(report: Report, group: _Group, line: str, index: int, first: int, name: str) -> _Line | None:
    """Read one line of values; `None` where it has none, and where they cannot be told apart (then says so)."""
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
        said = f"{name[:60]}: {len(values)} figures below {len(group.columns)} headings"
        report.problem(f"{said}, those that stand below one were read: repeat SHOW MEMORY", index)
    _check(report, name, named, index)
    return _Line(group, name, named, first, index)


def _check(report: Report, name: str, values: dict[str, Reading], index: int) -> None:
    """Say so where the parts are more than the whole: digits were lost, or columns mixed up."""
    low = {column.lower(): value for column, value in values.items()}
    total, parts = low.get("total"), [low.get("free"), low.get("in use")]
    numbers = [part for part in parts if part is not None and known(part)]
    if total is not None and known(total) and numbers and sum(numbers) > total:
        report.problem(
            f"{name[:60]}: {sum(numbers):,.0f} free and in use of {total:,.0f} in all: check its digits", index
        )


def _use(report: Report, row: _Line) -> MemoryUse:
    sized = SIZED.fullmatch(row.name)
    return MemoryUse(
        source=report.source(row.first, row.last),
        group=row.group.name,
        name=" ".join((sized["name"] if sized else row.name).split()),
        unit=row.group.unit,
        figures=tuple(row.values.items()),
        size_mb=size(sized["size"], "m") if sized else ABSENT,
    )
