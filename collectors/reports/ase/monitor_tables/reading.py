"""One table being read: its records are cut, turned into facts, and told apart by the time they bear."""

from collections.abc import Collection, Sequence
from math import isnan
from typing import Any, Protocol

from collectors.facts.ase import MonSysWaits, MonTable
from collectors.facts.base import ABSENT, Fact, Source
from collectors.layouts.dates import ambiguous, has_seconds, moment
from collectors.layouts.streamed import Heading, delimited
from collectors.layouts.tables import END, is_dashes, key
from collectors.reports.ase.monitor_tables.blocks import (
    FIGURES,
    MAY_BE_EMPTY,
    cutter,
    figures_of,
    is_all_digits,
    value_of,
)
from collectors.reports.ase.monitor_tables.cells import Doubt, words
from collectors.reports.ase.monitor_tables.clock import DOUBT, NAMED, SERVER, TAKEN, may_be_clock
from collectors.reports.ase.monitor_tables.gathering import Beside, Gatherer, gatherer
from collectors.reports.ase.monitor_tables.server import WORDS_ALONE
from collectors.reports.ase.monitor_tables.snapshots import Moment, Run
from collectors.reports.ase.monitor_tables.subtracted import (
    ENDS,
    LENGTHS,
    STARTS,
    Subtracted,
    as_interval,
    between_times,
    by_seconds,
    by_title,
)
from collectors.reports.ase.monitor_tables.table_starts import TABLES
from collectors.reports.ase.monitor_tables.tables import MonitorTable, Read, identify

REMEDY = "export it again in full (isql -w 2000, or bcp)"
ASKED_AS = {"statement": "SSQLID"}
"""What a field is called in the table, where its name would be taken for something that is there: a text, say."""
OBJECTS = frozenset(("monOpenObjectActivity", "monOpenPartitionActivity"))
OF_INDEX = ("used_count", "scans")
MOST_TAIL = 64
LEAST_BLOCK, MOST_BLOCK = 16, 4096
"""Rows read at once: twice as many after each block, half as many where one of them is not plain."""
EVERYWHERE = frozenset((19, 29, 55, 57, 61, 179, 214, 215, 250))
"""Events that every server has within minutes: its own tasks that pause, run queue, network, reads and log writes."""
ENOUGH = 3
"""This project: so many of them stand in no other list of three plain columns."""
NO_WAITS = (
    "not read as waits: id, time and count of other things; name the column of the events WaitEventID if they are"
)
COMPUTED = "a column has no name, as that of a count, or as one whose heading is cut"


class Problems(Protocol):
    """Where a table tells what is wrong."""

    def __call__(self, what: str, line: int) -> None:
        """Say what, and on which line."""


class Reading:
    """Takes the lines of one table until one does not belong to it."""

    def __init__(
        self,
        file: str,
        line: int,
        heading: Heading,
        table: MonitorTable,
        run: Run,
        tell: Problems,
        starts: Sequence[int] = (),
        subtracted: Subtracted | None = None,
        *,
        doubtful: bool = False,
    ) -> None:
        """Begin below a heading that stands on `line`; `starts`: where the columns of an isql table begin.

        `subtracted`: that the query above makes the differences itself. `doubtful`: that the heading has such plain
        words (`id,sec,count`) that only its rows tell that they are waits.
        """
        self.subtracted, self.doubtful = subtracted, doubtful
        self.file, self.line, self.last = file, line, line
        self.heading, self.table, self.run, self.tell = heading, table, run, tell
        self.columns = tuple(map(key, heading.columns))
        self.plan = table.plan(self.columns)
        self.merged = table.name in OBJECTS and "indexid" not in self.columns
        if self.merged:  # uses of index 0 are scans of the table: without the index nobody knows which uses these are
            self.plan = [one for one in self.plan if one[1] not in OF_INDEX]
        self.again = _repeated(self.columns, {place for place, _, _ in self.plan})
        self.needed = table.needed & {name for _, name, _ in self.plan}
        self.lacks = sorted(table.needed - self.needed - {"source"})
        self.time = next((self.columns.index(name) for name in TAKEN if name in self.columns), None)
        self.start = next((self.columns.index(name) for name in STARTS if name in self.columns), None)
        self.length = next((self.columns.index(name) for name in LENGTHS if name in self.columns), None)
        ends = next((self.columns.index(name) for name in ENDS if name in self.columns), None)
        if self.start is not None and ends is not None:
            self.time = ends
        self.server = next((self.columns.index(name) for name in SERVER if name in self.columns), None)
        self.said = ""
        self.record: list[str] = []
        self.gather: Gatherer | None = None
        self.moment: Moment | None = None
        self.part = line
        self.rows = self.damaged = self.first_damaged = self.guesses = 0
        self.tail: list[tuple[int, str]] = []
        """The damaged lines read last, one after the other: they may turn out to be the heading of the next table."""
        self.final = ""
        self.repeats = 0
        """Lines of dashes to come below a repeated heading."""
        others = [one.table for one in table.joined if one.its_own & set(self.columns)]
        self.beside = [Beside(one, one.plan(self.columns)) for one in others]
        one_each = len({name for _, name, _ in self.plan}) == len(self.plan)
        by_row = (
            heading.constants
            or self.again
            or self.lacks
            or not one_each
            or table in WORDS_ALONE
            or self.length is not None
            or others
        )
        self.cut_block = None if by_row else cutter(heading, starts)
        self.block, self.by_row_to = LEAST_BLOCK, line

    def feed_block(self, number: int, lines: Sequence[str], at: int) -> int:
        """Take rows from `lines[at]` on, which is line `number`, all at once; returns how many, and may take none."""
        if self.cut_block is None or number < self.by_row_to:
            return 0
        some = lines[at : at + self.block]
        while len(some) >= LEAST_BLOCK:
            if self._take_block(number, some):
                self.block = min(2 * len(some), MOST_BLOCK)
                return len(some)
            some = some[: len(some) // 2]
        if len(lines) - at >= LEAST_BLOCK:
            self.block, self.by_row_to = LEAST_BLOCK, number + LEAST_BLOCK
        return 0

    def _take_block(self, number: int, lines: Sequence[str]) -> bool:
        """Read rows column by column; false where one of them is not plain, and none has been taken then."""
        cells = self.cut_block(lines) if self.cut_block else None
        if cells is None or (self.time is not None and set(map(str.strip, cells[self.time])) != {self.said.strip()}):
            return False
        printed = self.heading.layout == "isql"
        figures, others, digits = {}, {}, False
        try:
            for place, name, read in self.plan:
                if read in FIGURES:
                    figures[name], plain = figures_of(cells[place], read, printed=printed)
                    digits = digits or plain
                else:
                    known = self.run.remembered(read, printed=printed)
                    others[name] = list(map(known.__getitem__, cells[place]))
        except Doubt:
            return False
        # dashes, a heading that comes again and a line of nothing but separators have no number in any column
        if not digits and not any(is_all_digits(cells[place], read) for place, _, read in self.plan):
            return False
        if any(None in others.get(name, ()) or any(map(isnan, figures.get(name, ()))) for name in self.needed):
            return False
        if self.gather is None:
            self._open(self.run.begin(self.table.name, Source(self.file, self.line, self.line)))
        if self.gather is None or not self.gather.TAKES_BLOCKS:
            self.cut_block = None
            return False
        self.gather.add_block(self.file, number, len(lines), figures, others)
        self.rows += len(lines)
        self.repeats, self.final, self.last = 0, lines[-1], number + len(lines) - 1
        self.tail.clear()
        return True

    def feed(self, number: int, line: str) -> bool:
        """Take a line; false if the table ended above it."""
        heading = self.heading
        if heading.parts > 1:
            return self._feed_wrapped(number, line)
        if END.match(line):  # a row whose name looks like it is still a row
            if not line.strip() or heading.layout != "isql" or not self._row((line,), number, number):
                return False
            self.last = number
            return True
        if heading.layout == "isql":
            if is_dashes(line):
                return self._repeated()
            if line.strip() == heading.heads[0]:
                self.repeats = 1
                return True
        elif heading.layout == "boxed":
            if line.lstrip()[:1] not in ("|", "+"):
                return False
            if not line.strip("|+-=: \t"):
                self.last = number
                return True
        elif heading.layout == "delimited":
            if heading.separator not in line:
                return False
            if not line.strip("-+:=|\t;, "):  # isql -s prints dashes between the separators; or nothing but NULL
                return True
        if self._row((line,), number, number):
            self.tail.clear()
        else:
            if (heading.layout == "delimited" and self._is_heading(line)) or by_title(line):
                return False
            self._damage(number, line)
        self.last = number
        return True

    def _feed_wrapped(self, number: int, line: str) -> bool:
        heading = self.heading
        if self.record:
            if not line.strip() or line.startswith(heading.indents[len(self.record)]):
                self.record.append(line)
                self.last = number
                if len(self.record) == heading.parts:
                    lines, self.record = self.record, []
                    if not self._row(lines, number - heading.parts + 1, number):
                        self._damage(number - heading.parts + 1, lines[0])
                return True
            self._damage(number - len(self.record), self.record[0])
            self.record = []
        if is_dashes(line):
            return self._repeated()
        if END.match(line):
            return False
        self.last = number
        if line.strip() == heading.heads[0]:
            self.repeats = heading.parts
            return True
        if self.repeats and line.strip() in heading.heads:
            return True
        if heading.indents[1].startswith("\t") and line.startswith("\t"):
            self._damage(number, line)
        else:
            self.record = [line]
        return True

    def _repeated(self) -> bool:
        """Whether these dashes belong to a heading that isql repeats every so many rows; else the table has ended."""
        self.repeats -= 1
        return self.repeats >= 0

    def _is_heading(self, line: str) -> bool:
        """Whether a line that is no row is the heading of the next table, or of a time."""
        if NAMED.fullmatch(line):
            return True
        heading = delimited(line, self.heading.separator)
        if heading is None:
            return False
        clock = may_be_clock(heading.columns) and len(heading.columns) > 1
        return clock or identify(list(map(key, heading.columns)), TABLES, ()) is not None

    def _row(self, lines: Sequence[str], first: int, last: int) -> bool:
        """Read one record; false if it is damaged."""
        cells = self.heading.cut(lines)
        if cells is None:
            return False
        try:
            values = self._values(self.plan, cells)
            others = [self._values(one.plan, cells) for one in self.beside]
        except (Doubt, IndexError):
            return False
        if not self.needed <= values.keys():
            return False
        if any(cells[place].strip() != cells[other].strip() for place, other in self.again):
            return False
        self.rows += 1
        self.repeats = 0
        self.final = lines[-1]
        if self.lacks:
            return True
        if self.table in WORDS_ALONE:
            self.run.describe(values)
            return True
        source = Source(self.file, first, last)
        if self.time is not None and cells[self.time] != self.said:
            self._next(cells, source)
        if self.length is not None:
            self.subtracted = by_seconds(cells[self.length])
        if self.gather is None:
            self._open(self.run.begin(self.table.name, Source(self.file, self.line, self.line)))
        if self.gather:
            self.gather.add(values, source)
        for beside, said in zip(self.beside, others, strict=True):
            beside.add(said, source)
        return True

    def _values(self, plan: Sequence[tuple[int, str, Read]], cells: Sequence[str]) -> dict[str, Any]:
        """What the cells of a record say, by field; those that say nothing are left out."""
        printed = self.heading.layout == "isql"
        found = {name: value_of(cells[place], read, printed=printed) for place, name, read in plan}
        return {name: value for name, value in found.items() if value is not None and value is not ABSENT}

    def _next(self, cells: Sequence[str], source: Source) -> None:
        """Begin the snapshot whose time stands in this row."""
        if self.time is None:
            return
        self.said = cells[self.time]
        when = moment(self.said)
        if when is None:
            self.guesses += ambiguous(self.said)
            return
        server = words(cells[self.server]) if self.server is not None else None
        if self.moment is None or self.moment.taken != when:
            self._close_part(source.first - 1)
            self.part = source.first
            self._open(self.run.at(self.table.name, when, server, source, in_full=has_seconds(self.said)))
        if self.start is not None:  # only now: what was closed above has a length of its own
            self.subtracted = between_times(moment(cells[self.start]), when)

    def _open(self, moment: Moment) -> None:
        self.moment, self.gather = moment, gatherer(self.table, self.plan)

    def _damage(self, number: int, line: str) -> None:
        self.damaged += 1
        self.first_damaged = self.first_damaged or number
        if self.tail and self.tail[-1][0] != number - 1:
            self.tail.clear()
        if len(self.tail) < MOST_TAIL:
            self.tail.append((number, line))

    def give_back(self) -> list[tuple[int, str]]:
        """Give back damaged lines at the end: dashes follow, so they are the heading of the next table."""
        back, self.tail = self.tail, []
        self.damaged -= len(back)
        if back and self.first_damaged >= back[0][0]:
            self.first_damaged = 0
        return back

    def _close_part(self, last: int) -> None:
        if self.gather and self.moment:
            fact = MonTable(
                source=Source(self.file, self.part, max(last, self.part)),
                table=self.table.name,
                rows=self.gather.rows,
                all_zero=self.gather.all_zero,
            )
            rows = self.gather.finish()
            rows = self.table.settle(rows, self.columns) if self.table.settle else rows
            facts = [*rows, fact, *(one for beside in self.beside for one in beside.finish())]
            if self.doubtful and not _are_waits(facts):
                self.tell(NO_WAITS, self.line)
                self.gather = None
                return
            self.run.add(self.moment, as_interval(facts, self.subtracted) if self.subtracted else facts)
            if self.subtracted:
                self.moment.seconds = self.subtracted.seconds or self.moment.seconds
        self.gather = None

    def finish(self, *, at_end: bool) -> None:
        """End the table; `at_end`: because the file ended, perhaps within its last row."""
        if self.record:
            self._damage(self.last - len(self.record) + 1, self.record[0])
            self.record = []
        if at_end and self._cut_short():
            self.tell(f"the last figure of {self.table.name} may be cut: {REMEDY}", self.last)
        if not self.rows and not self.damaged and self.table not in WORDS_ALONE and not self.lacks:
            source = Source(self.file, self.line, self.last)
            self.run.add(
                self.run.begin(self.table.name, source), [MonTable(source=source, table=self.table.name, rows=0)]
            )
        self._close_part(self.last)
        if self.lacks:
            lacking = ", ".join(ASKED_AS.get(one, one) for one in self.lacks)
            how = COMPUTED if "" in self.columns else "ask for all columns"
            self.tell(f"rows of {self.table.name} without {lacking} were not read: {how}", self.line)
        elif self.rows and self.merged:
            self.tell(f"{self.table.name} was selected without IndexID: its uses and scans were not read", self.line)
        if self.guesses:
            self.tell(DOUBT, self.line)
        if self.damaged:
            many = "a row is" if self.damaged == 1 else f"{self.damaged:,} rows are"
            self.tell(
                f"{many} cut short or damaged and {'was' if self.damaged == 1 else 'were'} not read in "
                f"{self.table.name}: {REMEDY}",
                self.first_damaged or self.last,
            )

    def _cut_short(self) -> bool:
        """Whether the last line ends before its last figure should: figures stand at the right of their column."""
        text = self.final.rstrip()
        inside = self.heading.layout == "isql" and len(text) < self.heading.ends
        return inside and bool(self.rows) and text[-1:].isdigit() and self.plan_ends_in_figure()

    def plan_ends_in_figure(self) -> bool:
        """Whether the last column is a figure."""
        place, _, read = max(self.plan, default=(-1, "", words))
        return place == len(self.columns) - 1 and read not in MAY_BE_EMPTY


def _are_waits(facts: Sequence[Fact]) -> bool:
    """Whether rows below plain words are of wait events: some of those are there that every server counts."""
    events = [fact.event for fact in facts if isinstance(fact, MonSysWaits)]
    return len(EVERYWHERE & set(events)) >= ENOUGH and len(events) == len(set(events))


def _repeated(columns: Sequence[str], places: Collection[int]) -> list[tuple[int, int]]:
    """Columns that are read and come again under the same name (a join of a table with itself): they must agree."""
    return [
        (place, other)
        for other, name in enumerate(columns)
        if name and (place := columns.index(name)) != other and place in places
    ]
