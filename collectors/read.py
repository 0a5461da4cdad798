"""Streams in, facts out: which report is which, one after the other, whatever stands between them."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from collectors.facts.base import Fact
from collectors.intake import UNREADABLE, Named
from collectors.kit import Kind, Leftover, Leftovers, NotThisReport, Outcome, Report, Stream, kinds, starting
from collectors.text import NotText, blocks

LINES_ABOVE = 12
"""How many unclaimed lines above its start a report may look at, for a node name or a heading."""
MOST_LINES = 2_000_000
"""Lines one whole-report reader may be given; a listing is never that long."""


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
    try:
        for first, lines in blocks(stream, reading.problems.append):
            reading.take(first, lines)
    except NotText as error:
        reading.problems.append(str(error))
    except UNREADABLE as error:
        reading.problems.append(f"{error}: read up to here only")
    return reading.finish()


class _File:
    """One file being read: who owns the lines now, and what was found so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: list[Input] = []
        self.problems: list[str] = []
        self.loose = Leftovers()
        self.above: deque[str] = deque(maxlen=LINES_ABOVE)
        self.whole: tuple[list[Kind], int, list[str], list[str]] | None = None
        self.fed: tuple[Kind, Stream, int] | None = None
        self.blank = True

    def take(self, first: int, lines: list[str]) -> None:
        self.blank = self.blank and not any(map(str.strip, lines))
        at = 0
        while at < len(lines):
            if self.fed:
                taken = self.fed[1].feed(first + at, lines[at:] if at else lines)
                if taken < len(lines) - at:
                    self._close_fed()
                at += taken
                if taken:
                    continue
            at = self._one_by_one(first, lines, at)

    def _one_by_one(self, first: int, lines: list[str], at: int) -> int:
        """Walk on line by line until a fed reader takes over."""
        for index in range(at, len(lines)):
            line = lines[index]
            candidates = starting(line)
            if self.whole and (not candidates or self.whole[0][0] in candidates or len(self.whole[2]) > MOST_LINES):
                self.whole[2].append(line)
                continue
            if not candidates:
                self.loose.add(first + index, line)
                self.above.append(line)
                continue
            self._close_whole()
            if candidates[0].stream:
                self.fed = (candidates[0], candidates[0].stream(self.name, list(self.above)), first + index)
                self.above.clear()
                taken = self.fed[1].feed(first + index, lines[index:])
                if taken < len(lines) - index:
                    self._close_fed()
                return index + max(taken, 1)
            self.whole = (candidates, first + index, [line], list(self.above))
            self.above.clear()
        return len(lines)

    def _close_fed(self) -> None:
        if self.fed:
            (kind, fed, first), self.fed = self.fed, None
            outcome = fed.close()
            if outcome.above:
                self.loose.understood(first - outcome.above, first - 1)
            self._keep(kind, outcome)

    def _close_whole(self) -> None:
        if not self.whole:
            return
        (candidates, first, lines, above), self.whole = self.whole, None
        for kind in candidates:
            if kind.read is None:
                continue
            report = Report(self.name, first, lines, above)
            try:
                facts = list(kind.read(report))
            except NotThisReport:
                continue
            if report.above:
                self.loose.understood(first - report.above, first - 1)
            self._keep(kind, Outcome(facts, report.leftovers(), report.problems))
            return
        for offset, line in enumerate(lines):
            self.loose.add(first + offset, line)

    def _keep(self, kind: Kind, outcome: Outcome) -> None:
        self.found.append(Input(self.name, kind.id, outcome.facts, outcome.problems, outcome.leftovers))

    def finish(self) -> list[Input]:
        self._close_fed()
        self._close_whole()
        if not self.found:
            why = self.problems or ["empty" if self.blank else f"no export that Lockwright knows ({_known()})"]
            return [Input(self.name, None, problems=why, leftovers=self.loose.runs[:3])]
        first = self.found[0]
        first.problems[:0] = self.problems
        first.leftovers = sorted(first.leftovers + self.loose.runs, key=lambda run: run.first)
        if self.loose.dropped:
            first.problems.append(f"{self.loose.dropped:,} more lines were not understood")
        return self.found


def _known() -> str:
    return ", ".join(kind.id for kind in kinds())
