"""The lines between the tables: prompts, queries, times, messages; and where a table begins."""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from collectors.facts.base import Source
from collectors.layouts import streamed
from collectors.layouts.tables import BORDER, MOST_PARTS, SEPARATORS, is_dashes, key, starts_of
from collectors.leftovers import Leftovers
from collectors.registry import Outcome
from collectors.reports.ase.monitor_tables import clock, headless
from collectors.reports.ase.monitor_tables.failures import Failures, Problems
from collectors.reports.ase.monitor_tables.named_tables import NamedTables
from collectors.reports.ase.monitor_tables.own_names import as_known
from collectors.reports.ase.monitor_tables.reading import Reading
from collectors.reports.ase.monitor_tables.server import SYSTEM_WAITS
from collectors.reports.ase.monitor_tables.snapshots import Moment, Run
from collectors.reports.ase.monitor_tables.subtracted import (
    Subtracted,
    as_interval,
    by_file,
    by_title,
    end_of,
    length_of,
    names_another,
    of_differences,
    seconds_of,
    server_of,
)
from collectors.reports.ase.monitor_tables.table_starts import COUNTED, START, TABLES, starts_another, table_of_file
from collectors.reports.ase.monitor_tables.tables import MonitorTable, identify

PROMPTS = re.compile(r"\s{0,4}(?:(?:[0-9]{1,6}:)?[0-9]{1,6}> ?){1,60}")
GOES_ON = re.compile(r"\s{0,4}(?:[0-9]{1,6}:)?(?!1>)[0-9]{1,6}> ?")
"""The prompt of a further line of a question, as `isql -e` shows it: names parted by commas there are no heading."""
AFFECTED = re.compile(
    r"\s{0,4}(?:\((?P<affected>[0-9]{1,9}) rows? affected\)|Rows (?P<rows>[0-9]{1,9}))", re.IGNORECASE
)
OF_CACHE = re.compile(
    r"(?<![\w.!<>])(?:\w{1,30}\.)?CacheName\s{0,3}=\s{0,3}([\"'])(?P<name>[^\"'\x00-\x1f]{1,60})\1", re.IGNORECASE
)
"""Of which cache rows are that do not name one: by their query, or by a remark above them."""
OF_DEFAULT = re.compile(r"\s{0,10}(?:#|--|/\*).{0,40}\bmonCachedObject\b[^;]{0,60}\b(?P<name>default data cache)\b")
"""The same in a remark in words: `# monCachedObject (KB, default data cache)`."""
OF_SOME = re.compile(r"\b(?:or|not|case|when)\b", re.IGNORECASE)
"""Beside it, that they may be of others, too."""
MOST_STRANGE = 1000
"""Lines not understood, one after the other; then the tables have ended."""


class Parser:
    """Goes over the lines of one run; `first` is the first line that belongs to it."""

    def __init__(self, file: str) -> None:
        """Start before the first line."""
        self.file = file
        self.named: MonitorTable | None = table_of_file(file)
        self.first = 0
        self.run = Run()
        self.loose: deque[tuple[int, str]] = deque()
        """Lines above that may still become a heading."""
        self.rest = Leftovers()
        self.dashes: list[tuple[int, str]] = []
        self.table: Reading | None = None
        self.clock: tuple[streamed.Heading, list[tuple[int, str]]] | None = None
        self.sample: list[tuple[int, str]] | None = None
        self.problems = Problems()
        self.tell = self.problems.tell
        self.failures = Failures(self.tell)
        self.asked = NamedTables()
        self.of_caches: list[str] = []
        """The caches that the query or remark above the next table names."""
        self.marked = False
        """Whether columns of the heading at hand are called differences."""
        self.own = self.plain = False
        """Whether it is of separated values under names of a script, without a time; and whether none names waits."""
        self.alone: Reading | None = None
        """The table above, where it is the only one so far."""
        self.below: Subtracted | None = None
        """What a title says below the only table so far, which no title above it said."""
        self.read: tuple[str, int] | None = None
        self.claimed = self.strange = 0
        self.above: list[tuple[int, str]] = []

    def follow(self, before: "Parser") -> None:
        """Go on with the snapshots of an earlier run."""
        self.run = Run(before.run)
        self.asked.seconds = before.asked.seconds if self.run.asked else None
        self.named = None

    def take_block(self, number: int, lines: Sequence[str], at: int) -> int:
        """Take rows of the table at hand from `lines[at]` on, as many as can be read at once; returns how many."""
        return self.table.feed_block(number, lines, at) if self.table and self.sample is None else 0

    def take(self, number: int, line: str) -> bool:
        """Take a line; false if it begins another kind of report."""
        if self.sample is not None:
            return self._sample(number, line)
        if self.table:
            if self.table.feed(number, line):
                return True
            self._close(number, line)
        if self.clock and self._clock(number, line):
            return True
        return self._outside(number, line)

    def _close(self, number: int, line: str) -> None:
        """End the table at hand above this line."""
        if self.table:
            back = self.table.give_back() if is_dashes(line) else []
            self.table.finish(at_end=False)
            self.read = (self.table.table.name, self.table.rows + self.table.damaged)
            self.alone = self.table if len(self.run.parts) == 1 else None
            self.table = None
            self.loose.extend(back)

    def _outside(self, number: int, raw: str) -> bool:
        line = raw
        prompts = None if self.dashes else PROMPTS.match(line)  # below dashes stands a row, whatever it looks like
        goes_on = prompts is not None and GOES_ON.fullmatch(prompts[0]) is not None
        if prompts:
            self._end_message()
            if "1>" in prompts[0]:
                self.asked.answered = True
            line = f" {line[prompts.end() :].strip()}"  # isql prints its prompts in front of a heading
        if is_dashes(line):
            self.read = None
            self.dashes.append((number, line))
            if len(self.dashes) > MOST_PARTS:
                self._leave(*self.dashes.pop(0))
            return True
        if self.dashes and self._below_dashes(number, line):
            return True
        if not line.strip():
            self._end_message()
            self._keep(number, line)
            return True
        if starts_another(raw):
            return False
        if self.failures.take(number, line) or self.asked.note_query(line, prompted=bool(prompts)) or goes_on:
            self._note_cache(number, line)
            if length_of(line) or of_differences(line):
                self._claim(number)
            if (
                not prompts
                and self.alone
                and not self.alone.subtracted
                and not names_another(line, self.alone.table.name)
            ):
                self.below = by_title(line)
            if not prompts and (end := end_of(line)):
                self.run.tell(Moment(server=server_of(line), taken=end, source=Source(self.file, number, number)))
            return True
        if not self._affected(number, line) and not self._begins(number, line):
            if self.strange >= MOST_STRANGE:
                return False
            self.strange += 1
            self._keep(number, line)
        return True

    def _note_cache(self, number: int, line: str) -> None:
        """Note which cache the rows to come are of, where a query or a remark names one."""
        if found := OF_CACHE.search(line) or OF_DEFAULT.match(line):
            some = OF_SOME.search(line) is not None
            self.of_caches += ["", found["name"]] if some else [found["name"]]  # of two none is meant
            self._claim(number)

    def _keep(self, number: int, line: str) -> None:
        """Keep a line that may be part of a heading; the oldest is a leftover then."""
        self.loose.append((number, line))
        while len(self.loose) > MOST_PARTS:
            self._leave(*self.loose.popleft())

    def _leave(self, number: int, line: str) -> None:
        if number >= self.first:
            self.rest.add(number, line)
        else:
            self.above.append((number, line))

    def _claim(self, number: int) -> None:
        """Note that a line was understood; it may stand above the first."""
        self.claimed = min(self.claimed or number, number)

    def _below_dashes(self, number: int, line: str) -> bool:
        """Open the table whose dashes end above this line, if it is one of ours or says the time."""
        dashes, self.dashes = self.dashes, []
        parts = len(dashes)
        above = list(self.loose)[-parts:]
        if len(above) < parts and above and any(text.strip() for _, text in above):
            return False
        heads = [""] * (parts - len(above)) + [text for _, text in above]
        heading = self._renamed(streamed.isql(heads, [text for _, text in dashes]))
        where = above[0][0] if above else dashes[0][0]
        if self._open(where, heading, starts_of(dashes[-1][1])):
            for _ in above:
                self.loose.pop()
            return self.take(number, line)
        if clock.may_be_clock(heading.columns):
            self.clock = (heading, [])
            return self._clock(number, line)
        return False

    def _open(self, line: int, heading: streamed.Heading, starts: Sequence[int] = ()) -> bool:
        """Begin a table, if its heading is one of ours; `starts`: where its columns do."""
        columns = [key(column) for column in heading.columns]
        # a query that subtracts copies may join tables that are none of theirs, to say who each session is
        table = identify(columns, COUNTED, ()) if self.asked.subtracts else None
        table = table or identify(columns, TABLES, self.asked.tables)
        if table is None and self.asked.tables and (self.asked.answered or self.asked.subtracts):
            # the query above had its answer, or asks copies that it made itself
            table = identify(columns, TABLES, ())
        if table is None and self.named and not self.asked.tables:
            table = identify(columns, (self.named,), [self.named.name.lower()])
        if table and self.named and not self.asked.tables and self.named.covers(columns, table):
            table = self.named  # of two that look alike it is the one that the file is called after
        self.asked.answered = self.asked.answered or any(columns)
        if table is None:
            return False
        self._end_message()
        self._claim(line)
        self.strange = 0
        of_cache = self.of_caches[0] if len(set(self.of_caches)) == 1 else ""
        self.of_caches = []
        if of_cache and "cachename" in table.columns and "cachename" not in columns:
            heading = streamed.with_constants(heading, {"CacheName": of_cache})
        doubtful = table is SYSTEM_WAITS and self.plain
        self.table = Reading(
            self.file, line, heading, table, self.run, self.tell, starts, self._subtracted(), doubtful=doubtful
        )
        self.read = self.below = None
        return True

    def _renamed(self, heading: streamed.Heading) -> streamed.Heading:
        """The heading with the names by which its columns are known, where the query or a script gives them others."""
        asked = self.asked.renamed(heading.columns, printed=heading.layout == "isql")
        columns, self.marked = as_known(asked)
        self.plain = not any("wait" in one.lower() for one in asked)
        timed = bool(set(map(key, columns)) & set(clock.TAKEN)) or bool(self.run.moments)
        self.own = heading.layout == "delimited" and columns != tuple(asked) and not timed
        fixed = self.asked.fixed(columns) if heading.layout == "isql" else {}
        return streamed.with_constants(replace(heading, columns=columns), fixed)

    def _subtracted(self) -> Subtracted | None:
        """That the rows below are differences already, by what the query, the file or their columns are called."""
        found, self.asked.titled = self.asked.subtracted or by_file(self.file, self.asked.seconds), False
        named = seconds_of(self.file) if self.own or self.marked or found else None
        if found is None and not self.marked and not named:  # a script counts over the time that it calls its file
            return None
        return Subtracted(found.seconds if found and found.seconds else self.asked.seconds or named)

    def _clock(self, number: int, line: str) -> bool:
        """Take a line of the row that may say the time."""
        if not self.clock:
            return False
        heading, lines = self.clock
        if not line.strip("-+:=|\t;, ") and line.strip() and not lines:
            self._claim(number)
            return True
        if not line.strip() or starts_another(line):
            self.clock = None
            self.loose.extend(lines)
            return False
        lines.append((number, line))
        if len(lines) < heading.parts:
            return True
        self.clock = None
        self._tell_time(heading, lines)
        return True

    def _tell_time(self, heading: streamed.Heading, lines: Sequence[tuple[int, str]]) -> None:
        cells = heading.cut([line for _, line in lines]) or []
        said, doubt = clock.read_clock(heading.columns, cells)
        if doubt:
            self.tell(clock.DOUBT, lines[0][0])
        if said is None and not doubt:
            for one in lines:
                self._keep(*one)
            return
        first = lines[0][0]
        while self.loose and clock.is_heading(self.loose[-1][1].strip(), heading.heads):
            first = self.loose.pop()[0]
        self._claim(first)
        self.strange = 0
        if said is None:
            return
        said.source = Source(self.file, lines[0][0], lines[-1][0])
        self.run.tell(said)

    def _begins(self, number: int, line: str) -> bool:
        """Whether a table without dashes begins on this line, or a time stands alone on it."""
        if clock.DATE_ALONE.match(line):
            self._tell_time(streamed.isql([""], ["-" * len(line)]), [(number, line.strip(" \t\"'|"))])
            return True
        if named := clock.NAMED.fullmatch(line):
            self._claim(number)
            self._tell_time(streamed.isql([""], ["-" * len(named["time"])]), [(number, named["time"])])
            return True
        if BORDER.match(line):
            self._claim(number)
            return True
        if line.lstrip().startswith("|"):
            return self._begins_with(number, streamed.boxed(line))
        if self._is_first_of_file() and self.named and headless.may_be_row(line, self.named) and not START.search(line):
            self.sample = [(number, line)]
            return True
        if not line.startswith("\t") and any(separator in line for separator in SEPARATORS):
            return self._begins_with(number, streamed.delimited(line))
        if self.loose and self.loose[-1][0] == number - 1 and START.search(self.loose[-1][1]):
            return self._is_row_of_names(number, line)
        return False

    def _begins_with(self, number: int, heading: streamed.Heading | None) -> bool:
        """Whether this heading begins a table of ours, or one that says the time."""
        if heading is None or not any(heading.columns):
            return False
        heading = self._renamed(heading)
        if self._open(number, heading):
            return True
        if clock.may_be_clock(heading.columns) and all(heading.columns):
            self.read = None
            self.clock = (heading, [])
            return True
        return False

    def _is_row_of_names(self, number: int, line: str) -> bool:
        """Whether this is the first row of a table without dashes, whose names are the line above."""
        above, names = self.loose[-1]
        heading = streamed.spaced(names)
        cells = heading.cut((line,)) if heading else None
        if heading is None or not any(map(str.isdecimal, cells or ())) or not self._open(above, heading):
            return False
        self.loose.pop()
        return self.take(number, line)

    def _is_first_of_file(self) -> bool:
        """Whether nothing came before, in a file that is named for a table."""
        return bool(self.named) and not self.run.parts and not any(text.strip() for _, text in self.loose)

    def _sample(self, number: int, line: str) -> bool:
        """Gather the first rows of a file without a heading, then find its columns."""
        if self.sample is not None:
            if line.strip():
                self.sample.append((number, line))
            if len(self.sample) >= headless.SAMPLE:
                self._end_sample()
        return True

    def _end_sample(self) -> None:
        rows, self.sample = self.sample or [], None
        if self.named is None:
            return
        heading = headless.heading_of([line for _, line in rows], self.named)
        if isinstance(heading, str):
            self.named = None
            for one in rows:
                self.take(*one)
            if not self.run.parts and self.table is None:
                self.tell(heading, rows[0][0])
            return
        self.table = Reading(
            self.file, rows[0][0], heading, self.named, self.run, self.tell, subtracted=self._subtracted()
        )
        for number, line in rows:
            self.take(number, line)

    def _end_message(self) -> None:
        self.asked.answered = self.failures.end(self.asked.last) or self.asked.answered

    def _affected(self, number: int, line: str) -> bool:
        """Hold the server's count of rows against what was read."""
        found = AFFECTED.match(line)
        if found and self.read:
            (name, rows), self.read = self.read, None
            said = int(found["affected"] or found["rows"])
            if said != rows:
                self.tell(f"{name} had {said:,} rows, the export shows {rows:,}: export it again in full", number)
        return found is not None

    def finish(self) -> Outcome:
        """Hand over everything."""
        self._end_message()
        if self.sample is not None:
            self._end_sample()
        if self.dashes:
            self._below_dashes(self.dashes[-1][0] + 1, "")
        if self.table:
            self.table.finish(at_end=True)
            self.table = None
        if self.below:  # no table came below it
            ((moment, facts),) = self.run.parts
            self.run.parts = [(moment, as_interval(facts, self.below))]
            moment.seconds = self.below.seconds
        for one in self.loose:
            self._leave(*one)
        between = Leftovers()  # above the first line, but below one that was understood there
        for number, line in self.above:
            if self.claimed and number > self.claimed:
                between.add(number, line)
        above = max(0, self.first - self.claimed) if self.claimed else 0
        return Outcome(list(self.run.facts()), [*between.runs, *self.rest.runs], self.problems.all(), above)
