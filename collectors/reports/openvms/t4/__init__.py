"""T4 CSV file

Sample::

    ALPHA1,  T4EXTR Version: , File Format Type: 1, Analyzer node: ALPHA1, Monitor Comment: nightly
    $$$ START COLUMN HEADERS $$$
    [MON]Sample Time,[MON.MODE]Mp Synch,[MON.MODE]Idle Time,[MON.LOCK]New ENQ rate
    [LCK73]Sample Time, [LCK73]Busy %
    $$$ END COLUMN HEADERS $$$
    14-MAR-2023 09:01:00.01,12.50,250.00,8120.40,14-MAR-2023 09:01:00, 0.000
    14-MAR-2023 09:02:00.02,14.75,241.50,9010.00,14-MAR-2023 09:02:00, 0.000
    Column Average, 99999

Format 2 has the `$$$` lines, and its names run on over lines; format 1 has optional lines `date,date` and
`hh:mm,hh:mm`, then all names on one line. The first line claims a format of its own and is not believed. A file of
Fibre Channel rates has node and hardware (`Hw Name:`) in its first line; other tools write any line there.

Rates are per second over the interval that ends at the sample's time, modes are per cent of one CPU. An empty cell, a
word or asterisks is a sample without a figure: it counts neither for mean nor for peak and is never 0. A column that is
not there is absent. `[LCK73]` all 0 means that no CPU is dedicated to the lock manager.

Traps, all seen in real files: further sample times inside the rows, of other shapes; a last row with rates of 0 for
want of a delta (dropped); after `Column Average` NUL bytes or stale older rows, also cut ones (not read).
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from collectors.facts import Fact
from collectors.facts.base import Source
from collectors.facts.openvms import (
    AlignmentFaults,
    CpuModes,
    Curve,
    DedicatedLockManager,
    DistributedLockRates,
    LockDatabase,
    LockRates,
    Node,
    ProcessorModes,
    RemasterRates,
    SystemRates,
    T4Column,
    T4File,
)
from collectors.leftovers import Leftovers
from collectors.registry import Outcome, starting, stream
from collectors.reports.openvms.t4 import names as t4

if TYPE_CHECKING:
    from collectors.reports.openvms.t4.figures import Figures

LINES_TO_NAMES = 12
"""So many lines not understood between the first line and the names: this is no T4 file."""
CELLS_AT_ONCE = 65_536
LINES_NAMED = 5
OTHER_DATE = re.compile(
    r"\s{0,9}\"?(?P<time>(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4})"
    r"[ T]{1,2}[0-9]{1,2}:[0-9]{2}(?::[0-9.]{2,6})?(?: ?[AP]M)?)\"?,",
    re.IGNORECASE,
)
"""A row that another program saved: months in figures, which T4 never writes."""


PROVIDES = (
    T4File,
    Node,
    ProcessorModes,
    CpuModes,
    LockRates,
    LockDatabase,
    DistributedLockRates,
    RemasterRates,
    DedicatedLockManager,
    SystemRates,
    AlignmentFaults,
    Curve,
    T4Column,
)
"""Here, as `facts` loads numpy."""


@stream(starts=t4.STARTS, provides=PROVIDES)
class T4:
    """One T4 file: head, names, rows, tail. Keeps sums, some thousand rows, and the rows not summed up yet."""

    def __init__(self, file: str, above: Sequence[str]) -> None:
        """Begin; `above` may end in the free first line of another tool."""
        self.file, self.above = file, above
        self.part: Literal["head", "names", "rows", "lost", "tail"] = "head"
        self.title = t4.Title()
        self.start = 0
        self.file_format = 1
        self.names: list[str] = []
        self.name_size = 0
        self.layout = t4.Layout()
        self.figures: Figures | None = None
        self.waiting: list[t4.Row] = []
        self.at_once = 1
        self.time = -1
        self.clock = t4.Clock()
        self.cut: list[int] = []
        self.cut_count = 0
        self.other_dates = 0
        self.other_date: tuple[int, str] | None = None
        """The first row whose time is written otherwise than T4 does, and that time."""
        self.loose = Leftovers()
        self.odd_lines = 0
        self.problems: list[str] = []

    def feed(self, first: int, lines: Sequence[str]) -> int:
        """Take lines up to where another file or report begins."""
        if not self.start:
            self.start = first
            if not t4.TITLE.search(lines[0]) and self.above:
                self.title = t4.title_of(self.above[-1], Source(self.file, first - 1, first - 1))
        for offset, line in enumerate(lines):
            number = first + offset
            if self.part == "rows":
                mine = self._row(number, line) or self._between(number, line, lines[offset + 1 : offset + 2])
            else:
                mine = not line.strip() or self._outside(number, line)
            if not mine:
                return offset
        if self.part == "rows":
            self._sum_up()
        return len(lines)

    def _outside(self, number: int, line: str) -> bool:
        """Take a line before or after the rows."""
        if self.part == "head":
            return self._head(number, line)
        if self.part == "names":
            return self._name_line(number, line)
        return self._lost(number, line) if self.part == "lost" else self._tail(line)

    def _head(self, number: int, line: str) -> bool:
        """Line 0, dates, times; until the names."""
        if t4.TITLE.search(line):
            if number > self.start:
                return False
            self.title = t4.title_of(line, Source(self.file, number, number))
        elif t4.NAMES_BEGIN.search(line):
            self.part, self.file_format = "names", 2
        elif t4.SAMPLE_TIME.search(line) or t4.NAMES_LINE.search(line):
            self.names.append(line)
            self._open()
        elif t4.STAMP.match(line) or t4.AVERAGE.match(line):
            self.problems.append(f"line {number}: rows without column names: upload the whole file")
            self.part = "lost"
            return self._lost(number, line)
        elif not (t4.DATES.search(line) or t4.TIMES.search(line)):
            self.odd_lines += 1
            if self.odd_lines > LINES_TO_NAMES or starting(line):
                return False
            self.loose.add(number, line)
        return True

    def _name_line(self, number: int, line: str) -> bool:
        """Column names of format 2: they run on over lines, without a comma where a line ends."""
        if t4.NAMES_END.search(line):
            self._open()
        elif t4.STAMP.match(line):
            self.problems.append(f"line {number}: the line that ends the column names is missing: some may be lost")
            self._open()
            if self.part == "lost":
                return self._lost(number, line)
            return self._row(number, line) or self._between(number, line, ())
        elif t4.TITLE.search(line) or t4.NAMES_BEGIN.search(line) or self._foreign(line):
            return False
        else:
            self.names.append(line)
            self.name_size += len(line)
            if self.name_size > t4.MOST_NAMES:
                self._give_up(number, "more column names than T4 writes")
        return True

    @staticmethod
    def _foreign(line: str) -> bool:
        """Whether another kind of report begins; names of a merged collector begin like a file of ours."""
        return any(kind.starts is not t4.STARTS for kind in starting(line))

    def _open(self) -> None:
        """The names are complete: make ready for rows."""
        text = ",".join([*(line.strip().rstrip(",") for line in self.names[:-1]), *self.names[-1:]])
        if not 0 < text.count(",") < t4.MOST_COLUMNS:
            self._give_up(self.start, "no column names" if "," not in text else "more column names than T4 writes")
            return
        self.names.clear()
        self.layout = t4.layout_of(text)
        self.at_once = max(1, CELLS_AT_ONCE // len(self.layout.names))
        self.part = "rows"

    def _give_up(self, number: int, why: str) -> None:
        self.problems.append(f"line {number}: {why}: not read. Upload the file as T4 wrote it")
        self.names.clear()
        self.part = "lost"

    def _lost(self, number: int, line: str) -> bool:
        """Rows that cannot be read for want of names."""
        if not t4.STAMP.match(line) and starting(line):
            return False
        self.loose.add(number, line)
        return True

    def _tail(self, line: str) -> bool:
        """What T4 leaves behind the averages: stale rows, pieces of rows. Anything else is not ours."""
        return t4.FRAGMENT.fullmatch(line) is not None or t4.AVERAGE.match(line) is not None

    def _row(self, number: int, line: str) -> bool:
        """Take a line that begins with a time."""
        found = t4.STAMP.match(line)
        time = self.clock.read(found) if found else None
        if found is None or time is None:
            return False
        if time < self.time:
            self.problems.append(
                f"line {number}: the time goes back to {line[: found.end()].strip(' ,')}: read up to here only. "
                "Stale rows, a clock that was set back, or two files in one: upload each period on its own"
            )
            self.part = "tail"
            return True
        cells = self.layout.cells(line, found.end())
        if cells is None:
            return self._cut(number)
        self.time = time
        self.waiting.append(t4.Row(number, time, cells))
        if len(self.waiting) > self.at_once:
            self._sum_up()
        return True

    def _cut(self, number: int) -> bool:
        self.cut_count += 1
        if len(self.cut) < LINES_NAMED:
            self.cut.append(number)
        return True

    def _between(self, number: int, line: str, following: Sequence[str]) -> bool:
        """Judge a line among the rows that is none."""
        if not line.strip():
            return True
        if t4.AVERAGE.match(line):
            self.part = "tail"
            return True
        if other := OTHER_DATE.match(line):
            self.other_date = self.other_date or (number, other["time"])
            self.other_dates += 1
            self.loose.add(number, line)
            return True
        if t4.FRAGMENT.fullmatch(line):
            return self._cut(number)
        if starting(line) or (following and t4.STARTS.search(following[0])):  # the latter: a free first line
            return False
        self.loose.add(number, line)
        return True

    def _sum_up(self) -> None:
        """Sum up what waits, but for the last row: should it be the last of the file, it may be without a delta."""
        ready, self.waiting = self.waiting[:-1], self.waiting[-1:]
        if not ready:
            return
        figures = self._figures()
        for at in range(0, len(ready), self.at_once):
            end = at + self.at_once
            figures.add(ready[at:end], next(iter((*ready[end : end + 1], *self.waiting)), None))

    def _figures(self) -> "Figures":
        """The sums. Loads numpy and orjson: only who brings rows pays for them."""
        if not self.figures:
            from collectors.reports.openvms.t4.facts import LEVELS, peak_columns
            from collectors.reports.openvms.t4.figures import Figures
            from collectors.reports.openvms.t4.time_series import drawn
            from collectors.reports.openvms.t4.wraps import bounds_of

            columns = [columns for _, columns in drawn(self.layout)]
            levels = [at for key in LEVELS if (at := self.layout.column(*key)) is not None]
            self.figures = Figures(
                len(self.layout.names), peak_columns(self.layout), columns, bounds_of(self.layout), levels
            )
        return self.figures

    def close(self) -> Outcome:
        """Hand over the facts."""
        facts = self.title.nodes()
        self._sum_up()
        for last in self.waiting:
            if not self._figures().no_delta(last, self.layout.rates):
                self._figures().add([last])
        if self.layout.names:
            facts += self._summary()
        elif self.part != "lost":
            self.problems.append("the file ends before its column names do: upload the whole file")
        if self.loose.dropped:
            self.problems.append(f"{self.loose.dropped:,} more lines were not understood")
        named_above = self.title.node is not None and self.title.source.first < self.start
        return Outcome(facts, self.loose.runs, self.problems, above=int(named_above))

    def _wraps(self, figures: "Figures") -> str:
        """Which figures were left out because no counter gave them."""
        named = [
            f"{self.layout.names[column][1]} {value:,.1f} (line {line})" for line, column, value in figures.wrapped
        ]
        more = figures.wrapped_count - len(named)
        return (
            f"line {figures.wrapped[0][0]}: {', '.join(named)}{f' and {more:,} more' if more else ''}: alone above "
            "what the samples beside it and a counter of 32 bits allow, as where one went round; left out, the rest of "
            "the sample counts"
        )

    def _summary(self) -> list[Fact]:
        """What the rows say; problems of the rows as a whole."""
        if self.cut_count:
            lines = ", ".join(map(str, self.cut)) + (", …" if self.cut_count > len(self.cut) else "")
            self.problems.append(
                f"{self.cut_count:,} rows not read: cut, or not the {len(self.layout.names) + 1} values that the names "
                f"ask for (lines {lines})"
            )
        if self.other_date:
            number, time = self.other_date
            rows = "a row has" if self.other_dates == 1 else f"{self.other_dates:,} rows have"
            self.problems.append(
                f"line {number}: {rows} a time like {time!r}: not read. T4 writes 14-MAR-2023 09:01:00.00; collect the "
                "file as T4 wrote it, not as a spreadsheet saved it again"
            )
        figures = self.figures
        if figures and figures.wrapped:
            self.problems.append(self._wraps(figures))
        if not figures or not figures.first or not figures.last:
            if not self.other_date:
                self.problems.append("column names but no sample: let T4 finish the file, then upload it again")
            source = Source(self.file, self.start, self.start)
            return [T4File(source=source, kind=self.layout.kind, file_format=self.file_format)]
        from collectors.reports.openvms.t4.facts import Summary, holes_of, moment

        holes = holes_of(figures, self.layout)
        self.problems += [
            f"no sample from {one.start:%H:%M:%S} to {one.end:%H:%M:%S}: {one.missing:,} missing"
            + (", and processes and locks have fallen as by a boot" if one.like_a_boot else "")
            for one in holes[:LINES_NAMED]
        ]
        summary = Summary(self.file, self.layout, figures)
        self.problems += summary.contradictions()
        covers = T4File(
            source=Source(self.file, self.start, figures.last.line),
            kind=self.layout.kind,
            file_format=self.file_format,
            rows=figures.rows,
            interval_seconds=figures.kept.gap() or self.title.interval_seconds,
            start=moment(figures.first.time),
            end=moment(figures.last.time),
            p95_every=figures.kept.every,
            holes=holes,
        )
        return [covers, *summary.facts()]
