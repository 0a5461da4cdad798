"""Lock operations of all nodes of a cluster: the cluster lock table of CA Performance Management for OpenVMS.

Sample::

    Node   | Local ENQ/CVT/DEQ | Incoming  | Outgoing  | Waiting locks | LOCKDIRWT | Deadlk find | search
    ORKNEY | 812/1530/811      | 96/180/95 | 20/41/20  | 3             | 2         | 0           | 0.1
    SKYE   | 120/233/119       | 20/41/20  | 96/180/95 | 0             | 0         | 0           | 0

Only its columns are known [S], not how they are laid out: taken is a table with these heading words, separated by bars,
tabs, semicolons, commas or runs of blanks; the three operations in one cell, or each in a column of its own
(`Local ENQ`). Operations are per second [S, the manual's chapter on lock rates].

Every operation that comes in at one node went out at another, so over all nodes the two sums agree; where they do not,
a node is missing or columns were mixed up, and the table is tentative. Waiting locks and deadlocks are not kept.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.facts.base import ABSENT, OVERFLOW, Reading, known
from collectors.facts.openvms import ClusterNode, DistributedLockRates, Node
from collectors.layouts.figures import reading
from collectors.layouts.tables import Row, Table, cut, key
from collectors.layouts.vms import NODE
from collectors.registry import NotThisReport, Report, report

START = re.compile(
    r'^[\s|"+]{0,8}Node(?: name)?\b.{0,40}\bLocal\b.{0,80}\bIncoming\b.{0,80}\bOutgoing\b.{0,160}\bLOCK ?DIRWT\b',
    re.IGNORECASE,
)
OPERATIONS = {"enq": "enq", "cvt": "convert", "conv": "convert", "convert": "convert", "deq": "deq"}
PLACES = {"local": "local", "incoming": "incoming", "outgoing": "outgoing"}
TRIPLE = re.compile(r"\s*(\S{1,20})\s*/\s*(\S{1,20})\s*/\s*(\S{1,20})\s*|\s*(\S{1,20})\s+(\S{1,20})\s+(\S{1,20})\s*")
NAME = re.compile(NODE, re.IGNORECASE)
SUMS = frozenset({"TOTAL", "TOTALS", "SUM", "AVERAGE", "MEAN", "CLUSTER", "ALL"})
"""Rows that are of no node."""
NEAR = 0.05
"""So far, as a share of the larger, may the sums of incoming and outgoing be apart (this project's figure)."""


@dataclass
class _Line:
    """One node."""

    name: str
    index: int
    weight: Reading
    rates: dict[str, Reading] = field(default_factory=dict)

    def sum(self, place: str) -> float | None:
        """All operations of one place, or `None` where one is missing."""
        found = [value for name, value in self.rates.items() if name.endswith(f"_{place}")]
        numbers = [value for value in found if known(value)]
        return sum(numbers) if found and len(numbers) == len(found) else None


@report(starts=START, provides=(Node, DistributedLockRates, ClusterNode))
def read(report: Report) -> Iterator[Node | DistributedLockRates | ClusterNode]:
    """Yield each node, its rates and its directory weight."""
    tables = []
    index = 0
    while index < len(report.lines):
        if not START.search(report.lines[index]):
            index += 1
            continue
        table = cut(report.lines, index)
        lines = list(_lines(report, table))
        if lines:
            for at in table.frame:
                report.claim(at)
            tables.append((index, lines))
        index = max(index, table.last) + 1
    if not tables and not report.problems:
        raise NotThisReport
    if why := next((why for at, lines in tables if (why := _doubt(lines))), None):
        report.tentative(why)
    for _, lines in tables:
        for line in lines:
            where = report.source(line.index)
            yield Node(source=where, name=line.name)
            yield DistributedLockRates(source=where, node=line.name, statistic="mean", **line.rates)
            yield ClusterNode(source=where, node=line.name, name=line.name, lock_directory_weight=line.weight)


def _columns(table: Table) -> dict[str, list[str]]:
    """Which fields each column holds, by its key: one operation, or all three."""
    found: dict[str, list[str]] = {}
    for column in table.columns:
        words = re.findall(r"[a-z]+", column.lower())
        place = next((PLACES[word] for word in words if word in PLACES), None)
        operations = list(dict.fromkeys(OPERATIONS[word] for word in words if word in OPERATIONS))
        if place:
            found[key(column)] = [f"{operation}_{place}" for operation in operations or ("enq", "convert", "deq")]
    return found


def _lines(report: Report, table: Table) -> Iterator[_Line]:
    columns = _columns(table)
    if sorted(name for names in columns.values() for name in names) != sorted(
        f"{operation}_{place}" for operation in ("enq", "convert", "deq") for place in PLACES.values()
    ):
        return
    seen: set[str] = set()
    for row in table.rows:
        name = row.get("Node", "Node name").upper()
        if not row.whole:
            report.problem("the row does not have as many cells as the heading, left out: upload it whole", row.first)
        elif name in SUMS:
            report.claim(row.first, row.last)
        elif not NAME.fullmatch(name) or name in seen:
            report.problem(f"{name[:40]!r} is no name of a node, or a second time: row left out", row.first)
        elif (rates := _rates(report, row, columns)) is not None:
            seen.add(name)
            report.claim(row.first, row.last)
            yield _Line(name, row.first, reading(row.get("LOCKDIRWT")), rates)


def _rates(report: Report, row: Row, columns: dict[str, list[str]]) -> dict[str, Reading] | None:
    """The nine rates of a row; `None` where a cell cannot be split into its three."""
    rates: dict[str, Reading] = {}
    for column, fields in columns.items():
        text = row.cells.get(column, "")
        found = TRIPLE.fullmatch(text) if len(fields) == 3 else None
        texts = [part for part in found.groups() if part is not None] if found else [text]
        if len(texts) != len(fields) and text and text.strip("*"):
            report.problem(f"{text[:40]!r} is not one figure for each of ENQ, CVT and DEQ: row left out", row.first)
            return None
        if len(texts) != len(fields):
            texts = [text] * len(fields)
        for name, part in zip(fields, texts, strict=True):
            value = reading(part)
            if known(value) and value < 0:
                report.problem(
                    f"{value:g} operations per second, left out: a counter wrapped, measure again", row.first
                )
                value = ABSENT
            rates[name] = value
    return rates if any(known(value) or value is OVERFLOW for value in rates.values()) else None


def _doubt(lines: list[_Line]) -> str | None:
    """Why the table may be misread: the sums of incoming and outgoing do not agree, or prove nothing."""
    sums = [[line.sum(place) for line in lines] for place in ("incoming", "outgoing")]
    incoming, outgoing = (sum(v for v in values if v is not None) for values in sums)
    if any(value is None for values in sums for value in values):
        return "a rate is missing, so incoming and outgoing cannot be held against each other"
    if not incoming and not outgoing:
        return "nothing comes in or goes out, so nothing proves which column is which"
    if abs(incoming - outgoing) > NEAR * max(incoming, outgoing):
        return (
            f"{incoming:,.0f} operations come in and {outgoing:,.0f} go out over all nodes: a node is missing, or "
            "columns are mixed up; upload the table of the whole cluster"
        )
    return None
