r"""Lock latency node by node, as LOCKTIME.COM of KP_LOCKTOOLS measures it and a spreadsheet keeps it.

Sample::

    LOCKTIME.COM  from\master, microseconds
    LOCKTIME,ORKNEY,SKYE,BARRA
    ORKNEY,4.1,212.5,
    SKYE,209.8,3.9,340.0
    BARRA,331.2,338.7,5.2

Or one pair a row, under a heading that names the three columns::

    from,master,microseconds
    ORKNEY,ORKNEY,4.1
    ORKNEY,SKYE,212.5

Columns may be headed `Master SKYE` or `master_SKYE_us`, the first `Requesting node`; a title may stand above, and the
first cell be empty.

In the matrix the columns are the masters and the rows the nodes that ask, unless its first cell says `master\from`. No
layout is published: taken is only what calls itself LOCKTIME, latency or microseconds, or `From\To` in a file that is
named LOCKTIME, and has the same nodes across as down. An empty cell was not measured. The unit is microseconds unless
the heading says milliseconds.

Tentative unless the heading names unit and direction and each node is its own fastest master, as a local lock must be.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from collectors.facts.base import ABSENT, Reading, known
from collectors.facts.openvms import LockLatency
from collectors.layouts.figures import decimal_comma, reading
from collectors.layouts.vms import NODE
from collectors.registry import NotThisReport, Report, report

SAYS = r"LOCKTIME|latency|micro-?seconds?|milli-?seconds?"
UNIT = r"micro-?sec(?:ond)?s?|milli-?sec(?:ond)?s?|[µμ]s|us|ms"
CELL = rf'[,;\t][ "]{{0,4}}{NODE}[ "]{{0,4}}'
WAYS = r"(?:from|to|master|requester)[ ]{0,2}[\\/][ ]{0,2}(?:from|to|master|requester)"
"""What the first cell of a matrix says that names both its sides and nothing else."""
PAIRS = (
    r'\s{0,8}"?(?:from|requester|requesting|asking)(?: node)?"?[ ]{0,4}[,;\t][ ]{0,4}"?master(?: node)?"?[ ]{0,4}'
    rf'[,;\t][ ]{{0,4}}"?(?:(?:lock )?(?:latency|time)[ (,]{{0,3}})?(?:{UNIT}|LOCKTIME|latency)\)?"?[ ]{{0,4}}$'
)
MASTER = rf"master[ _](?P<node>{NODE}?)(?:[ _(]{{1,2}}(?P<unit>{UNIT})\)?)?"
"""The heading of a column that says that its node is the master."""
MASTERS = rf'[,;\t][ ]{{0,4}}"?master[ _]{NODE}(?:[ _(]{{1,2}}(?:{UNIT})\)?)?"?[ ]{{0,4}}'
START = re.compile(
    rf'^[\s#!"*]{{0,6}}LOCKTIME(?:\.COM)?(?:;[0-9]{{1,5}})?[ "]{{0,4}}$'
    r'|^[\s#!"*]{0,6}(?:LOCKTIME\b|Lock(?:ing)? (?:request )?latency\b).{0,80}\b(?:micro-?|milli-?)seconds?\b.{0,80}$'
    r'|^[\s#!"*]{0,6}Lock(?:ing)? (?:requests?|times?)[, ]{1,2}(?:in )?(?:micro-?|milli-?)seconds?\b.{0,120}$'
    rf'|^[\s"]{{0,4}}(?:from|requester|requesting|asking)(?:[ _]node)?"?[ ]{{0,4}}(?:{MASTERS}){{2,96}}[,;\t ]{{0,40}}$'
    rf'|^[\s"]{{0,4}}[^,;\t]{{0,30}}\b(?:{SAYS})\b[^,;\t]{{0,30}}(?:{CELL}){{2,96}}[,;\t ]{{0,40}}$|^{PAIRS}'
    rf'|^[\s"]{{0,4}}{WAYS}[ "]{{0,4}}(?:{CELL}){{2,96}}[,;\t ]{{0,40}}$',
    re.IGNORECASE,
)
PAIRS_HEAD = re.compile(PAIRS, re.IGNORECASE)
OWN_FILE = re.compile(r"LOCKTIME[^/\\]*$", re.IGNORECASE)
"""A file that is named for it: a bare matrix of distances or of packets has the same two words in its first cell."""
NAMED = re.compile(rf"\b(?:{SAYS})\b", re.IGNORECASE)
OURS = re.compile(r"\bLOCKTIME\b", re.IGNORECASE)
UNITS = re.compile(
    r"(?<![A-Z])(?:(?P<micro>micro-?sec\w*|[µμ]s|us)|(?P<milli>milli-?sec\w*|ms))(?![A-Z])", re.IGNORECASE
)
ASKS = r"(?:from|request(?:er|ing)(?:_node)?|asking)"
DOWN = re.compile(rf"\b{ASKS}\b.{{0,40}}\b(?:to|master)\b", re.IGNORECASE)
ACROSS = re.compile(rf"\b(?:to|master)\b.{{0,40}}\b{ASKS}\b", re.IGNORECASE)
NAME = re.compile(NODE, re.IGNORECASE)
MASTER_HEAD = re.compile(MASTER, re.IGNORECASE)
NOTHING = ("", "-", "--", "n/a", "na", "null", "none")
MOST_NODES = 96
"""A cluster has at most 96 nodes."""
LONGEST = 4000


@dataclass
class _Table:
    """One matrix or list, from index `first` to `last`."""

    first: int
    last: int
    delimiter: str
    says: str
    """Title and first cell: what they call it, its unit, its direction."""
    nodes: tuple[str, ...] = ()
    """The columns of a matrix; none for a list."""
    rows: list[tuple[int, list[str]]] = field(default_factory=list)

    @property
    def factor(self) -> float | None:
        """Microseconds in the unit that the heading names; `None` for none and for two. `us` may be a word of it."""
        said = list(UNITS.finditer(self.says))
        words = [one for one in said if len(one[0]) > 2]
        said = words + [one for one in said if len(one[0]) <= 2 and not (words and one[0].lower() == "us")]
        factors = {1.0 if one["micro"] else 1000.0 for one in said}
        return factors.pop() if len(factors) == 1 else None

    @property
    def directed(self) -> bool:
        """Whether the heading says who asks and who is master."""
        return not self.nodes or bool(DOWN.search(self.says) or ACROSS.search(self.says))

    @property
    def turned(self) -> bool:
        """Whether the masters stand in the first column."""
        return bool(self.nodes and ACROSS.search(self.says) and not DOWN.search(self.says))


@report(starts=START, provides=(LockLatency,))
def read(report: Report) -> Iterator[LockLatency]:
    """Yield each cell of each matrix, and each row of each list."""
    found = [(table, _cells(report, table)) for table in _tables(report) if _whole(report, table)]
    if not found and not report.problems:
        raise NotThisReport
    if any(not _proved(table, cells) for table, cells in found):
        report.tentative("no layout of LOCKTIME is published: taken as masters across, asking nodes down, microseconds")
    for table, cells in found:
        _check(report, table, cells)
        for index, asks, master, value in cells:
            yield LockLatency(source=report.source(index), from_node=asks, master=master, microseconds=value)


def _tables(report: Report) -> list[_Table]:
    """Walk over the lines once."""
    tables: list[_Table] = []
    title = ""
    ended = True
    named = "LOCKTIME" if OWN_FILE.search(report.file) else ""
    for index, raw in enumerate(report.lines):
        line = raw[:LONGEST]
        if PAIRS_HEAD.match(line):
            tables.append(_Table(index, index, _delimiter(line), f"{title} {line}"))
            ended, title = False, ""
        elif heading := _heading(index, line, title or named):
            tables.append(heading)
            ended, title = False, ""
        elif START.search(line):
            title = line[:200]
            ended = True
            report.claim(index)
            continue
        elif not ended and _goes_on(tables[-1], line):
            tables[-1].rows.append((index, _split(line, tables[-1].delimiter)))
            tables[-1].last = index
        else:
            ended = ended or bool(line.strip())
    return tables


def _goes_on(table: _Table, line: str) -> bool:
    """Whether a line is a row; below a matrix with a row for each node a sentence with a comma is none."""
    if not line.strip() or table.delimiter not in line or len(table.rows) >= MOST_NODES**2:
        return False
    name = line.partition(table.delimiter)[0].strip(' "').upper()
    return not table.nodes or name in table.nodes or (len(table.rows) < len(table.nodes) and bool(NAME.fullmatch(name)))


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []


def _heading(index: int, line: str, title: str) -> _Table | None:
    """Read the line of the masters' names; `None` for any other line."""
    delimiter = _delimiter(line)
    cells = _split(line.rstrip(f"{delimiter} "), delimiter)
    masters = [MASTER_HEAD.fullmatch(cell) for cell in cells[1:]]
    said = [one for one in masters if one]
    nodes = tuple((one["node"] if one else cell).upper() for one, cell in zip(masters, cells[1:], strict=True))
    if not 2 <= len(nodes) <= MOST_NODES or len(set(nodes)) < len(nodes):
        return None
    if not all(NAME.fullmatch(node) and not node.isdigit() for node in nodes):
        return None
    says = f"{title} {cells[0]}"
    if len(said) == len(nodes):
        units = {(one["unit"] or "").lower() for one in said}
        return _Table(index, index, delimiter, f"{says} master {' '.join(sorted(units))}", nodes)
    return _Table(index, index, delimiter, says, nodes) if NAMED.search(says) else None


def _whole(report: Report, table: _Table) -> bool:
    """Whether it is what it says; a cut matrix that calls itself LOCKTIME is reported, any other is not ours."""
    if table.nodes:
        names = [cells[0].upper() if cells else "" for _, cells in table.rows]
        if sorted(names) != sorted(table.nodes):
            if OURS.search(table.says) and names and set(names) <= set(table.nodes):
                said = f"{len(set(names))} rows for {len(table.nodes)} nodes"
                report.problem(f"{said}: the matrix is not whole, run LOCKTIME.COM again", table.first)
            return False
    else:
        odd = [index for index, cells in table.rows if not _is_pair(cells)]
        table.rows = [row for row in table.rows if _is_pair(row[1])]
        if odd and table.rows:
            report.problem(f"{len(odd)} rows do not name two nodes, left out (the first is here)", odd[0])
    if table.rows:
        report.claim(table.first)
    return bool(table.rows)


def _is_pair(cells: Sequence[str]) -> bool:
    return len(cells) > 1 and all(map(NAME.fullmatch, cells[:2]))


Cell = tuple[int, str, str, Reading]


def _cells(report: Report, table: _Table) -> list[Cell]:
    """Every figure in microseconds, with its line, who asked and who is master."""
    width = 1 + len(table.nodes) if table.nodes else 3
    texts = [cell for _, cells in table.rows for cell in cells[1 if table.nodes else 2 :]]
    comma = table.delimiter != "," and decimal_comma(texts)
    found: list[Cell] = []
    for index, cells in table.rows:
        report.claim(index)
        if any(cells[width:]):
            report.problem(f"{len(cells)} cells below {width} headings, row left out: write it whole", index)
            continue
        if len(cells) < width:  # then its last figure may be half of one
            report.problem(f"the row breaks off after {len(cells)} of {width} cells: run LOCKTIME.COM again", index)
            cells = [*(cells[:1] + cells[1:-1] if table.nodes else cells), *[""] * width][:width]
        if table.nodes:
            for master, text in zip(table.nodes, cells[1:width], strict=True):
                named = cells[0].upper()
                pair = (master, named) if table.turned else (named, master)
                found.append((index, *pair, _figure(report, table, index, text, comma=comma)))
        else:
            value = _figure(report, table, index, cells[2], comma=comma)
            found.append((index, cells[0].upper(), cells[1].upper(), value))
    return found


def _figure(report: Report, table: _Table, index: int, text: str, *, comma: bool) -> Reading:
    value = reading(text, comma=comma)
    if known(value) and value < 0:
        report.problem(f"{value:g} is less than no time, left out: measure again", index)
        return ABSENT
    if value is ABSENT and text.lower() not in NOTHING:
        report.problem(f"{text[:40]!r} is no number, left out: fill it in or leave the cell empty", index)
    return round(value * (table.factor or 1.0), 6) if known(value) else value


def _slow(cells: Sequence[Cell]) -> list[str]:
    """The nodes that wait longer for themselves than for another master."""
    local = {asks: value for _, asks, master, value in cells if asks == master and known(value)}
    others: dict[str, float] = {}
    for _, asks, master, value in cells:
        if asks != master and known(value):
            others[asks] = min(value, others.get(asks, value))
    return [asks for asks, value in local.items() if asks in others and value > others[asks]]


def _proved(table: _Table, cells: Sequence[Cell]) -> bool:
    """Whether the heading names unit and direction, and the figures go with it."""
    local = [value for _, asks, master, value in cells if asks == master and known(value)]
    return bool(table.factor and table.directed and local and not _slow(cells))


def _check(report: Report, table: _Table, cells: Sequence[Cell]) -> None:
    """Say so where a local lock takes longer than a remote one."""
    if slow := _slow(cells):
        listed = ", ".join(slow[:5]) + (f" and {len(slow) - 5} more" if len(slow) > 5 else "")
        what = f"{listed}: a local lock slower than one of another master"
        report.problem(f"{what}; rows were mixed up, or the node was busy: run LOCKTIME.COM again", table.first)
