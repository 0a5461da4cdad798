"""How a plain table is declared: its heading, what its rows say, what may stand around it, how damage is told.

The layouts are those of `collectors.layouts.tables`; here a reader says what it wants of them::

    NAMES = Listing(heading=HEADING, row=fact_of, stop=STOP, remarks=REMARK, remedy="export it again in full")

    @report(starts=HEADING, provides=(Name,))
    def read(report: Report) -> Iterator[Name]:
        yield from NAMES.read(report)

`row(row, table)` gives the facts of a row, without their source; a text in their place is a problem of that row; no
fact at all means that it is cut short or damaged. It is asked once for each text of a row below one heading: a listing
that is repeated says the same again, and costs little more than looking at its lines.
"""

import enum
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from collectors.facts.base import Fact
from collectors.layouts.tables import ECHOED, MOST_KNOWN, Row, Table, cut, remember, remember_line
from collectors.registry import NotThisReport, Report

F = TypeVar("F", bound=Fact)
DAMAGED = "this row is cut short or damaged and was not read"
Others = Callable[[int, str], int]
"""Takes the line of this index and text, and perhaps some below it; returns the index of the last one taken."""


class Line(enum.Enum):
    """What a line outside tables is."""

    HEADING, REMARK, OTHER, NOTHING = range(4)


@dataclass(eq=False)
class Listing(Generic[F]):
    """One kind of table, as it is declared."""

    heading: re.Pattern[str]
    """Searched in each line outside tables."""
    row: Callable[[Row, Table], Iterable[F | str]]
    """Facts without source, and problems, of one row; nothing of a damaged one."""
    stop: re.Pattern[str]
    """Matches lines that end a table, beside those that end any."""
    remedy: str
    """What to do about damage."""
    remarks: re.Pattern[str] | None = None
    """Matches lines outside tables that belong to the export and say nothing."""
    others: re.Pattern[str] | None = None
    """Matches lines outside tables that the reader wants to see itself."""
    ours: Callable[[Table], bool] = lambda table: True
    """Whether a table with such a heading is one of these."""
    mended: Callable[[Table, str], Table] = lambda table, heading: table
    """Mends a table that is not, by the text of its heading."""
    used: re.Pattern[str] | None = None
    """Searched in the heading of a table whose rows are read, where others are of no use and only claimed."""
    no_rows: str = "a heading without rows below it"
    """What is wrong with a table without rows; empty where nothing is."""
    known: dict[str, Line] = field(default_factory=dict, init=False)

    def read(self, report: Report, others: Others | None = None, new: Callable[[F], bool] | None = None) -> Iterator[F]:
        """Yield the facts of every table, of those for which `new` says so. Raises `NotThisReport` without a table."""
        tables = 0
        for heading, table in self.tables(report, others):
            tables += 1
            yield from self.facts(report, table, heading, new)
        if not tables:
            raise NotThisReport

    def tables(self, report: Report, others: Others | None = None) -> Iterator[tuple[int, Table]]:
        """Yield each table with the index of its heading; claims the remarks, and no line of a table."""
        index, lines = 0, report.lines
        while index < len(lines):
            line = lines[index]
            kind = self.known.get(line) or self._kind(line)
            if kind is Line.HEADING:
                table = cut(lines, index, stop=self.stop)
                if self.ours(table) or self.ours(table := self.mended(table, line)):
                    yield index, table
                index = max(table.last, index)
            elif kind is Line.REMARK:
                report.claim(index)
            elif kind is Line.OTHER and others:
                index = others(index, line)
            index += 1

    def facts(self, report: Report, table: Table, heading: int, new: Callable[[F], bool] | None = None) -> Iterator[F]:
        """Yield the facts of one table, and claim it."""
        claim(report, table)
        if self.used and not self.used.search(report.lines[heading]):
            return
        if not table.rows and self.no_rows:
            report.problem(f"{self.no_rows}: {self.remedy}", heading)
        for row in table.rows:
            said = row.made.get(self)
            if said is None:
                said = row.made[self] = tuple(self.row(row, table)) or (f"{DAMAGED}: {self.remedy}",)
            for one in said:
                if isinstance(one, str):
                    report.problem(one, row.first)
                elif new is None or new(one):
                    yield one.placed(report.source(row.first, row.last))

    def _kind(self, line: str) -> Line:
        if self.heading.search(line) and not ECHOED.match(line):
            kind = Line.HEADING
        elif self.remarks and self.remarks.match(line):
            kind = Line.REMARK
        else:
            kind = Line.OTHER if self.others and self.others.match(line) else Line.NOTHING
        remember_line(self.known, line, kind)
        return kind


def columns(kind: type[F], **fields: tuple[Callable[[str], Any], str]) -> Callable[[Row, Table], Iterator[F]]:
    """The `row` of a listing whose rows are one fact each: how each field is read, and the column it stands in.

    A column that the table does not have is read as an empty cell. A row that is cut short gives no fact.
    """

    def fact_of(row: Row, table: Table) -> Iterator[F]:
        if row.whole:
            yield kind(**{name: convert(row.get(heading)) for name, (convert, heading) in fields.items()})

    return fact_of


def claim(report: Report, table: Table) -> None:
    """Claim the lines of a table."""
    for index in table.frame:
        report.claim(index)
    if table.layout != "html" and table.rows:  # every line between its rows is one of its frame
        report.claim(table.rows[0].first, table.rows[-1].last)
    else:
        for row in table.rows:
            report.claim(row.first, row.last)


class Unrepeated(Generic[F]):
    """Which facts were not said before: pass it as `new`."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self.seen: set[F] = set()
        self.same: dict[int, F] = {}
        """Those that are the very same object: no comparison is needed."""

    def __call__(self, fact: F) -> bool:
        """Whether this fact, which has no source yet, is new."""
        if id(fact) in self.same:
            return False
        remember(self.same, id(fact), fact, MOST_KNOWN)
        before = len(self.seen)
        self.seen.add(fact)  # one hash, which takes longest, where `in` would be a second one
        return len(self.seen) > before
