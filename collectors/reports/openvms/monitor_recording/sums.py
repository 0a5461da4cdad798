"""Samples, summed up one by one: means, kept samples for percentiles, peaks, curves. Memory does not grow with time."""

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import gt

from collectors.facts.base import ABSENT, Reading
from collectors.reports.openvms.monitor_recording.counters import Part, Row
from collectors.reports.openvms.monitor_recording.header import TICKS

MOST_KEPT = 2048
"""Samples kept for the 95th percentile: a day of minutes has 1,440."""
MOST_STEPS = 288
"""Of a curve: a day of five minutes (`collectors.facts.openvms.Curve`)."""
PERCENTILE = 0.95
DIGITS = 6
OPERATIONS = slice(0, 3)
SEARCHES, FOUND = 6, 7
"""In LOCK: new, converted, dequeued; what the lock-rate tables of the field count."""
MP_SYNCH, KERNEL, USER, IDLE = 1, 2, 5, 7
"""In MODES."""


@dataclass
class Sums:
    """One group of figures over the whole recording."""

    seconds: float = 0.0
    samples: int = 0
    totals: list[float] = field(default_factory=list)
    """Figure times seconds, so that a longer interval counts for more."""
    high: list[float] = field(default_factory=list)
    high_at: list[int] = field(default_factory=list)
    """Number of the record with the highest figure."""
    kept: "list[array[float]]" = field(default_factory=list)
    every: int = 1
    """Every so many samples one is kept."""

    def add(self, part: Part, record: int) -> None:
        """Take one sample."""
        values = part.values
        if not self.samples:
            self.totals = [0.0] * len(values)
            self.high, self.high_at = [-1.0] * len(values), [0] * len(values)
        seconds = part.seconds
        self.totals = [total + value * seconds for total, value in zip(self.totals, values, strict=True)]
        if any(map(gt, values, self.high)):
            for at, value in enumerate(values):
                if value > self.high[at]:
                    self.high[at], self.high_at[at] = value, record
        if self.samples % self.every == 0:
            if len(self.kept) == MOST_KEPT:
                self.kept = self.kept[::2]
                self.every *= 2  # the sample at hand is a multiple of this, too: `MOST_KEPT` is even
            self.kept.append(array("d", values))
        self.samples += 1
        self.seconds += part.seconds

    def means(self) -> list[float]:
        """The mean of each figure over time."""
        return [round(total / self.seconds, DIGITS) for total in self.totals]

    def p95(self) -> list[float]:
        """The 95th percentile of each figure, linear between samples."""
        return [round(percentile([row[at] for row in self.kept]), DIGITS) for at in range(len(self.totals))]


def percentile(figures: Sequence[float]) -> float:
    """The 95th percentile of one figure or more, linear between samples."""
    ordered = sorted(figures)
    place = PERCENTILE * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


@dataclass
class Peak:
    """The sample in which a figure was highest: the first such one."""

    height: float = -1.0
    row: Row | None = None

    def look(self, height: float, row: Row) -> None:
        """See whether this sample is higher."""
        if height > self.height:
            self.height, self.row = height, row


@dataclass
class Steps:
    """One figure over time in equal steps; when there are too many, two become one."""

    start: int
    """In units of 100 ns."""
    width: int
    counts: list[int] = field(default_factory=list)
    totals: list[float] = field(default_factory=list)
    highs: list[float] = field(default_factory=list)

    def add(self, time: int, value: float) -> None:
        """Take one sample."""
        at = max(0, time - self.start) // self.width
        while at >= MOST_STEPS:
            self._halve()
            at //= 2
        more = at + 1 - len(self.counts)
        if more > 0:
            self.counts += [0] * more
            self.totals += [0.0] * more
            self.highs += [0.0] * more
        self.highs[at] = max(self.highs[at], value) if self.counts[at] else value
        self.counts[at] += 1
        self.totals[at] += value

    def _halve(self) -> None:
        pairs = range(0, len(self.counts), 2)
        self.counts = [sum(self.counts[at : at + 2]) for at in pairs]
        self.totals = [sum(self.totals[at : at + 2]) for at in pairs]
        self.highs = [max(self.highs[at : at + 2]) for at in pairs]
        self.width *= 2

    def means(self) -> tuple[Reading, ...]:
        """The mean of each step; a step without a sample has none."""
        pairs = zip(self.counts, self.totals, strict=True)
        return tuple(round(total / count, DIGITS) if count else ABSENT for count, total in pairs)

    def peaks(self) -> tuple[Reading, ...]:
        """The highest sample of each step."""
        pairs = zip(self.counts, self.highs, strict=True)
        return tuple(round(high, DIGITS) if count else ABSENT for count, high in pairs)


def _of(group: str, figure: Callable[[Sequence[float]], float]) -> Callable[[Row], float | None]:
    """A figure of one group, where the sample has the group."""

    def read(row: Row) -> float | None:
        part = row.parts.get(group)
        return figure(part.values) if part else None

    return read


def _every_third(first: int) -> Callable[[Sequence[float]], float]:
    """New, converted and dequeued in DLOCK: each of them local, incoming, outgoing."""
    return lambda values: values[first] + values[first + 3] + values[first + 6]


CURVES: Mapping[str, tuple[str, Callable[[Row], float | None]]] = {
    "lock operations": ("/s", _of("LOCK", lambda values: sum(values[OPERATIONS]))),
    "deadlock searches": ("/s", _of("LOCK", lambda values: values[SEARCHES])),
    "deadlocks found": ("/s", _of("LOCK", lambda values: values[FOUND])),
    "local": ("/s", _of("DLOCK", _every_third(0))),
    "incoming": ("/s", _of("DLOCK", _every_third(1))),
    "outgoing": ("/s", _of("DLOCK", _every_third(2))),
    "directory": ("/s", _of("DLOCK", lambda values: values[12] + values[13])),
    "mp synch": ("% of one CPU", _of("MODES", lambda values: values[MP_SYNCH])),
    "kernel": ("% of one CPU", _of("MODES", lambda values: values[KERNEL])),
    "user": ("% of one CPU", _of("MODES", lambda values: values[USER])),
    "busy": ("% of one CPU", _of("MODES", lambda values: sum(values[:IDLE]))),
    "locks": ("locks", _of("LEVELS", lambda values: values[0])),
    "resources": ("resources", _of("LEVELS", lambda values: values[1])),
}
"""Name → unit and where it is in a sample; names and units as `Curve` has them."""


@dataclass
class Samples:
    """All samples of one recording."""

    start: int = 0
    """Where the first sample begins, in units of 100 ns."""
    rows: int = 0
    first: int = 0
    last: int = 0
    """Records: the first of the first sample, the last of the last one."""
    groups: dict[str | int, Sums] = field(default_factory=dict)
    peaks: dict[str, Peak] = field(default_factory=lambda: {"at lock peak": Peak(), "at mp synch peak": Peak()})
    steps: dict[str, Steps] = field(default_factory=dict)
    gaps: list[float] = field(default_factory=list)
    """Seconds of the first samples: their median is the interval."""

    def add(self, row: Row) -> None:
        """Take one sample."""
        if not self.rows:
            self.start, self.first = row.time - int(row.seconds * TICKS), row.first
        self.rows, self.last = self.rows + 1, row.last
        for name, part in row.parts.items():
            self.groups.setdefault(name, Sums()).add(part, row.last)
        if len(self.gaps) < MOST_KEPT:
            self.gaps.append(row.seconds)
        middle = row.time - int(row.seconds * TICKS) // 2
        for name, (_, read) in CURVES.items():
            value = read(row)
            if value is None:
                continue
            if name not in self.steps:
                self.steps[name] = Steps(self.start, max(1, int(row.seconds * TICKS)))
            self.steps[name].add(middle, value)
            if name == "lock operations":
                self.peaks["at lock peak"].look(value, row)
            elif name == "mp synch":
                self.peaks["at mp synch peak"].look(value, row)

    def interval(self) -> float | None:
        """The median of the seconds between two samples."""
        gaps = sorted(self.gaps)
        return round(gaps[len(gaps) // 2], 2) if gaps else None
