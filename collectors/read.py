"""Streams in, facts out: which report is which, one after the other, whatever stands between them."""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from collectors.facts.base import Fact, without_collection
from collectors.faults import OURS, Guarded, told
from collectors.hints import LINES_LOOKED_AT, hint_of
from collectors.intake import UNREADABLE, Named
from collectors.leftovers import Leftover, Leftovers, withdraw
from collectors.registry import (
    FIRST_BYTES,
    Follows,
    Kind,
    NotThisReport,
    Outcome,
    Recorder,
    Report,
    Stream,
    kinds,
    named_for,
    recorded_by,
    starting_on,
)
from collectors.text import CHUNK, Begun, NotText, blocks
from collectors.vocabulary import how_to_collect, nearest

LINES_ABOVE = 12
"""How many unclaimed lines above its start a report may look at, for a node name or a heading."""
LINES_SEARCHED = 16
"""Lines that are searched at once for the start of a report; a fed reader may own the rest of them."""
MOST_SEARCHED = 5_000
"""The same, after lines in which none of these began."""
MOST_LINES = 200_000
"""Lines one whole-report reader may be given; a listing is never that long."""
MOST_UNKNOWN_LINES, MOST_UNKNOWN = 200_000, 16 << 20
"""Lines and characters in a row that belong to no report; then the rest of the file is not looked at."""
MOST_REPORTS = 10_000
"""Reports in one file; a year of hourly samples has 8,760."""
LONGEST_LOOKED_AT = 2_000
"""Characters of a line of a file that no reader takes, for its likeness to a report."""
EMPTY = "empty: nothing but blanks and ends of lines; collect it again, with its messages shown"
EXCEL = re.compile(r"[\ufeff\"]{0,2}sep=.\"?\s{0,2}", re.IGNORECASE)
"""What Excel wants as the first line of separated values: what parts them. It is neither a row nor a heading."""
NOT_READ = (
    f"not read from {{0}} {{1}}: {OURS} ended this report here ({{2}}). What stands above and all other reports "
    "were read; please report the fault with these lines"
)
DIGITS = re.compile(r"[0-9]+")


class Enough(Exception):
    """There is no sense in reading on; the message says why."""


@dataclass
class Input:
    """One report found in one file; or a file in which none was found."""

    file: str
    report: str | None
    facts: list[Fact] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    leftovers: list[Leftover] = field(default_factory=list)
    given: str = ""

    @property
    def usable(self) -> bool:
        """Whether it gave any fact."""
        return bool(self.facts)


def read_all(streams: Iterable[Named]) -> Iterator[Input]:
    """Read every stream; a stream that cannot be read becomes an input with the reason as its problem."""
    for named in streams:
        if named.stream is None:
            yield Input(named.name, None, problems=[named.refused or "cannot be read"], given=named.given)
            continue
        for found in read_stream(named.name, named.stream):
            found.given = named.given
            yield found


def read_stream(name: str, stream: BinaryIO) -> list[Input]:
    """Read one stream to its end, or to where it breaks."""
    reading = _File(name)
    with without_collection():
        begun = Begun(stream, FIRST_BYTES)
        kind = recorded_by(begun.start)
        if kind and kind.recording:
            return _read_recording(name, kind.id, kind.recording(name), begun)
        try:
            for first, lines in blocks(begun, reading.problems.append):  # type: ignore[arg-type]  # reads like one
                reading.take(first, lines)
        except (NotText, Enough) as error:
            reading.problems.append(str(error))
        except UNREADABLE as error:
            reading.problems.append(f"{error}: read up to here only")
        return reading.finish()


def _read_recording(name: str, report: str, recorder: Recorder, stream: Begun) -> list[Input]:
    """Read a file that is no text; each recording in it becomes an input."""
    problems: list[str] = []
    outcomes: Sequence[Outcome] = ()
    wanted = True
    with Guarded() as feeding:
        while wanted:
            try:
                data = stream.read(CHUNK)
            except UNREADABLE as error:
                problems.append(f"{error}: read up to here only")
                break
            wanted = bool(data) and recorder.feed(data)
    with Guarded() as closing:
        outcomes = recorder.close()
    found = [Input(name, report, one.facts, one.problems, one.leftovers) for one in outcomes] or [Input(name, report)]
    found[0].problems[:0] = problems
    if fault := feeding.error or closing.error:
        found[-1].problems.append(NOT_READ.format("record", _last(found[-1].facts, 0) + 1, told(fault)))
    return found


def _last(facts: Iterable[Fact], otherwise: int) -> int:
    """The last line that any of the facts was read from."""
    return max((fact.source.last for fact in facts), default=otherwise)


Fed = tuple[Kind, Stream, int]
"""A reader that is fed, and the number of its first line."""


class _File:
    """One file being read: who owns the lines now, and what was found so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: list[Input] = []
        self.problems: list[str] = []
        self.loose = Leftovers()
        self.above: deque[str] = deque(maxlen=LINES_ABOVE)
        self.fed_last: deque[str] = deque(maxlen=LINES_ABOVE)
        """The last lines that the fed reader at hand took."""
        self.whole: tuple[list[Kind], int, list[str], list[str]] | None = None
        self.fed: Fed | None = None
        self.closed: dict[str, Follows] = {}
        """The fed reader of each kind that ended last, where the next one goes on from it."""
        self.start_line = ""
        """The line on which the fed reader at hand began."""
        self.failed: tuple[str, str] | None = None
        """The fed kind that a fault ended, and how its first line looked: only such a line starts the next one of it.
        Other lines that it may start on stand within the report that was not read."""
        self.beginning: list[str] = []
        """What tells what a file is that no reader takes."""
        self.blank = True
        self.begun = False
        """Whether a line that is not blank has been seen."""
        self.at_the_end = False
        self.began_like = self.why_nothing = ""
        self.unknown_lines = self.unknown = 0

    def take(self, first: int, lines: list[str]) -> None:
        if first == 1 and lines and EXCEL.fullmatch(lines[0]):
            lines[0] = ""
        self.blank = self.blank and not any(map(str.strip, lines))
        if len(self.beginning) < LINES_LOOKED_AT:
            self.beginning += lines[: LINES_LOOKED_AT - len(self.beginning)]
        at = 0
        while at < len(lines):
            if self.fed:
                taken = self._feed(self.fed, first + at, lines[at:] if at else lines)
                at += taken
                if taken:
                    continue
            at = self._search(first, lines, at)

    def _feed(self, reader: Fed, first: int, lines: Sequence[str]) -> int:
        """Feed the reader at hand; returns how many lines it took. It is closed where it wants no more, or failed."""
        taken = 0
        with Guarded() as feeding:
            taken = reader[1].feed(first, lines)
        if feeding.error:
            return max(0, self._end_failed(reader, feeding.error) - first)
        self.fed_last.extend(lines[max(0, taken - LINES_ABOVE) : taken])
        if taken < len(lines):
            self._close_fed(first + taken)
        return taken

    def _search(self, first: int, lines: list[str], at: int) -> int:
        """Go from start to start until a fed reader takes over; returns up to where the lines are taken."""
        many = LINES_SEARCHED
        while at < len(lines):
            searched = lines[at : at + many]
            done = 0
            for offset, candidates in self._starts(searched).items():
                self._take_others(first + at + done, searched[done:offset])
                if self._start(candidates, first + at + offset, searched[offset]) and self.fed:
                    return at + offset + max(1, self._feed(self.fed, first + at + offset, lines[at + offset :]))
                done = offset + 1
            self._take_others(first + at + done, searched[done:])
            at += many
            many = min(4 * many, MOST_SEARCHED)
        return len(lines)

    def _starts(self, lines: Sequence[str]) -> dict[int, list[Kind]]:
        """The kinds that may start on each of these lines, by index in order; the file's name may tell of the first."""
        starts = starting_on(lines)
        if not self.begun:
            first = next((index for index, line in enumerate(lines) if line.strip()), None)
            self.begun = first is not None
            if first is not None and first not in starts and (named := named_for(self.name)):
                starts = {first: named, **starts}
        return starts

    def _start(self, candidates: list[Kind], number: int, line: str) -> bool:
        """Take a line on which a report may start; returns whether it goes to a fed reader, with those below it."""
        candidates = [kind for kind in candidates if not kind.alone]
        if self.failed:
            candidates = [kind for kind in candidates if not self._within_failed(kind, line)]
        self._cut_if_full(number)
        if not candidates or (self.whole and self.whole[0][0] in candidates):
            self._take_others(number, [line])
            return False
        self._close_whole()
        if candidates[0].stream:
            self.start_line = line
            begun = self._begin_fed(candidates[0], number)
            if not begun:
                self._not_ours(number, [line])
            return begun
        self.whole = (candidates, number, [line], list(self.above))
        self.above.clear()
        return False

    def _take_others(self, number: int, lines: Sequence[str]) -> None:
        """Take lines, the first of which has this number, that start nothing: the report at hand has them, or none."""
        if self.whole and lines:
            room = MOST_LINES - len(self.whole[2])
            self.whole[2].extend(lines[:room])
            number, lines = number + room, lines[room:]
            if lines:
                self._cut_if_full(number)
        if lines:
            self._not_ours(number, lines)

    def _cut_if_full(self, number: int) -> None:
        """End a listing that is too long above this line."""
        if self.whole and len(self.whole[2]) >= MOST_LINES:
            self._close_whole()
            self.problems.append(f"line {number:,}: a listing of over {MOST_LINES:,} lines, cut in two here")

    def _begin_fed(self, kind: Kind, number: int) -> bool:
        """Have a fed reader take over at line `number`; returns whether it could."""
        if kind.stream is None:
            return False
        with Guarded() as beginning:
            fed = kind.stream(self.name, list(self.above))
            if isinstance(fed, Follows) and kind.id in self.closed:
                fed.follows(self.closed[kind.id])
            self.fed = (kind, fed, number)
        if beginning.error:
            self._keep(kind, Outcome(problems=[NOT_READ.format("line", number, told(beginning.error))]))
            return False
        self.above.clear()
        self.fed_last.clear()
        return True

    def _within_failed(self, kind: Kind, line: str) -> bool:
        """Whether a line is one of the report that a fault ended, though one of its kind may start on it."""
        return self.failed is not None and self.failed[0] == kind.id and self.failed[1] != DIGITS.sub("0", line)

    def _end_failed(self, reader: Fed, error: Exception) -> int:
        """Keep what the fed reader read before its fault; returns the line from which others may have the rest."""
        (kind, fed, began), self.fed = reader, None
        outcome = Outcome()
        with Guarded():
            outcome = fed.close()
        read_to = _last(outcome.facts, began - 1)
        outcome.problems.append(NOT_READ.format("line", read_to + 1, told(error)))
        self._understood(began, outcome.above)
        self._keep(kind, outcome)
        self.failed = (kind.id, DIGITS.sub("0", self.start_line))
        return max(read_to, began) + 1

    def _not_ours(self, number: int, lines: Sequence[str]) -> None:
        """Note lines that belong to no report."""
        characters = sum(map(len, lines))
        if self.unknown_lines + len(lines) > MOST_UNKNOWN_LINES or self.unknown + characters > MOST_UNKNOWN:
            for at, line in enumerate(lines, number):  # the bound tells up to which line was read
                self.loose.add(at, line)
                self._unknown(1, len(line), at)
        else:
            self.loose.extend(number, lines)
            self.unknown_lines += len(lines)
            self.unknown += characters
        self.above.extend(lines[-LINES_ABOVE:])

    def _unknown(self, lines: int, characters: int, number: int) -> None:
        """Count what belongs to no report, false starts included, until one is kept; stops reading at the bound."""
        self.unknown_lines += lines
        self.unknown += characters
        too_much = self.unknown_lines > MOST_UNKNOWN_LINES or self.unknown > MOST_UNKNOWN
        if too_much and not self.at_the_end:
            many = f"{self.unknown_lines:,} lines up to line {number:,}"
            raise Enough(f"no export that Lockwright knows in {many}: not read further ({_known()})")

    def _close_fed(self, following: int) -> None:
        """The fed reader takes no more, from line `following` on; what lies below its last fact is above the next."""
        if self.fed:
            (kind, fed, first), self.fed = self.fed, None
            outcome = Outcome()
            with Guarded() as closing:
                outcome = fed.close()
            if closing.error:
                outcome.problems.append(NOT_READ.format("line", first, told(closing.error)))
            if isinstance(fed, Follows):
                self.closed[kind.id] = fed
            self._understood(first, outcome.above)
            self._keep(kind, outcome)
            if not self.at_the_end:  # else nothing looks at them
                below = following - 1 - _last(outcome.facts, first - 1)
                self.above.extend(list(self.fed_last)[max(0, len(self.fed_last) - below) :])

    def _close_whole(self) -> None:
        if not self.whole:
            return
        (candidates, first, lines, above), self.whole = self.whole, None
        for kind in candidates:
            if kind.read is None:
                continue
            report = Report(self.name, first, lines, above)
            facts: list[Fact] = []
            try:
                with Guarded() as reading:
                    facts.extend(kind.read(report))
            except NotThisReport:
                continue
            if reading.error:  # what was yielded before it is kept
                read_to = _last(facts, first - 1)
                report.problem(NOT_READ.format("line", read_to + 1, told(reading.error)))
                report.claimed[read_to + 1 - first :] = bytes(max(0, first + len(lines) - read_to - 1))
            self._understood(first, report.above)
            self._keep(kind, Outcome(facts, report.leftovers(), report.problems))
            self.above.extend(lines[report.claimed.rfind(1) + 1 :])
            return
        self.loose.extend(first, lines)
        self.above.extend(lines)
        self._unknown(len(lines), sum(map(len, lines)), first + len(lines) - 1)

    def _understood(self, first: int, above: int) -> None:
        """So many lines above the first one of a report were understood, too; they may be the end of the one before."""
        if above:
            self.loose.understood(first - above, first - 1)
            if self.found:
                withdraw(self.found[-1].leftovers, first - above, first - 1)

    def _keep(self, kind: Kind, outcome: Outcome) -> None:
        if not outcome.facts and not outcome.problems:  # it only began like this kind
            self.began_like, self.why_nothing = kind.id, outcome.why or self.why_nothing
            self.loose.take(outcome.leftovers)
            for run in outcome.leftovers:
                self._unknown(run.last - run.first + 1, len(run.text), run.last)
            return
        self.unknown_lines = self.unknown = 0
        if outcome.facts and self.failed and self.failed[0] != kind.id:
            self.failed = None  # another report began: whatever comes is no part of the one that failed
        self.found.append(Input(self.name, kind.id, outcome.facts, outcome.problems, outcome.leftovers))
        if len(self.found) >= MOST_REPORTS and not self.at_the_end:
            raise Enough(f"more than {MOST_REPORTS:,} reports: read up to there only")

    def finish(self) -> list[Input]:
        self.at_the_end = True
        self._close_fed(0)
        self._close_whole()
        if not self.found and not self.began_like:
            self._read_alone()
        if not self.found:
            why = self.problems or [self._why_none()]
            return [Input(self.name, None, problems=why, leftovers=self.loose.runs[:3])]
        first = self.found[0]
        first.problems[:0] = self.problems
        first.leftovers = sorted(first.leftovers + self.loose.runs, key=lambda run: run.first)
        if self.loose.dropped:
            what = f"line {self.loose.runs[-1].last:,}: {self.loose.dropped:,} more lines below were not understood"
            first.problems.append(f"{what} and are not listed: look whether they belong to an export")
        return self.found

    def _read_alone(self) -> None:
        """Read what is a report only where the file has no other, of a file that is short enough to be here whole."""
        starts = starting_on(self.beginning)
        first = next((at for at, of in starts.items() if any(kind.alone for kind in of)), None)
        if first is None or self.unknown_lines != len(self.beginning):
            return
        self.loose = Leftovers()
        self._not_ours(1, self.beginning[:first])
        candidates = [kind for kind in starts[first] if kind.alone]
        self.whole = (candidates, first + 1, self.beginning[first:], self.beginning[:first])
        self._close_whole()

    def _why_none(self) -> str:
        if self.blank:
            return EMPTY
        if hint := hint_of(self.beginning):
            return f"not read: {hint}"
        if self.why_nothing:
            return f"not read: {self.why_nothing}"
        if self.began_like:
            how = how_to_collect(self.began_like)
            return (
                f"begins like {self.began_like}, but is not laid out so: upload the plain text as it was printed{how}"
            )
        beginning = [line[:LONGEST_LOOKED_AT] for line in self.beginning]
        return f"no export that Lockwright knows ({_known()}){nearest(beginning)}"


def _known() -> str:
    """By product: fifty names in a message hide what it says; docs/dba/reports.md has them all."""
    found = Counter(kind.id.split("/")[0] for kind in kinds())
    counts = ", ".join(f"{product}: {count} kind{'s' * (count > 1)}" for product, count in sorted(found.items()))
    return f"{counts}; docs/dba/reports.md lists them"
