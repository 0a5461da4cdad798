"""What is kept of many screens: for each line of each class the mean, the last, the least and the highest figure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil

from collectors.facts.base import ABSENT, OVERFLOW, Reading, known
from collectors.reports.openvms.monitor import classes
from collectors.reports.openvms.monitor.frame import Frame, Kind, Row

ROUNDING = 0.0051


@dataclass(slots=True)
class Series:
    """One line of a class over all screens."""

    label: str
    partner: str | None = None
    frames: int = 0
    total: float = 0.0
    overflown: bool = False
    current: Reading = ABSENT
    average: Reading = ABSENT
    low: Reading = ABSENT
    high: Reading = ABSENT
    first: int = 0
    last: int = 0

    def add(self, line: int, cells: dict[str, Reading]) -> None:
        """Take the figures of one screen."""
        self.first = self.first or line
        self.last = line
        if "current" in cells:
            self.current = cells["current"]
            if known(self.current):
                self.frames += 1
                self.total += self.current
            else:
                self.overflown = True
        self.average = cells.get("mean", self.average)
        alone = cells["current"] if set(cells) == {"current"} else ABSENT
        self.low = _extreme(self.low, cells.get("minimum", alone), highest=False)
        self.high = _extreme(self.high, cells.get("maximum", alone), highest=True)

    def mean(self, *, restarted: bool) -> Reading:
        """MONITOR's own average of the last screen; of bars, and where it began anew, that of the current figures."""
        if self.average is not ABSENT and not restarted:
            return self.average
        if self.overflown:
            return OVERFLOW
        return round(self.total / self.frames, 6) if self.frames else self.average

    @property
    def samples_at_least(self) -> int:
        """How many samples one screen of this line has seen at least, by its own columns.

        Of n samples one is the highest and the others are no lower than the lowest, so that the average is at least
        (n - 1 times the lowest + the highest) / n; for the highest the same the other way round.
        """
        low, high, mean = self.low, self.high, self.average
        if not (known(low) and known(high) and known(mean)) or high - low <= ROUNDING:
            return 1
        between = known(self.current) and low + ROUNDING < self.current < high - ROUNDING
        closer = max(min(mean - low, high - mean), 0.0) + ROUNDING
        return max(3 if between else 2, ceil((high - low - ROUNDING) / closer))


def _extreme(one: Reading, other: Reading, *, highest: bool) -> Reading:
    """The lower or higher of two; an overflow is higher than any number."""
    if not known(one) and one is not OVERFLOW:
        return other
    if not known(other) and other is not OVERFLOW:
        return one
    if not known(one) or not known(other):
        either = other if known(other) else one
        return OVERFLOW if highest else either
    return max(one, other) if highest else min(one, other)


@dataclass
class ClassOf:
    """One class, or one CPU's screen of it, within one output."""

    name: str
    cpu: int | None
    series: dict[tuple[str, str | None], Series] = field(default_factory=dict)
    frames: int = 0
    most_rows: int = 0
    table: bool = False
    restarted: bool = False
    first_line: int = 0
    last_frame: tuple[int, int] = (0, 0)
    first_time: datetime | None = None
    last_time: datetime | None = None
    cpus: int | None = None
    proved: bool = False
    doubted: bool = False

    @property
    def tentative(self) -> bool:
        """Whether nothing in the figures proves how they were read, or something speaks against it."""
        return self.doubted or not self.proved

    def begins_anew(self, rows: Sequence[Row]) -> bool:
        """Whether MONITOR was started again since the screen before: a minimum rose or a maximum fell."""
        for row in rows:
            before = self.series.get((row.label, row.partner))
            low, high = row.cells.get("minimum", ABSENT), row.cells.get("maximum", ABSENT)
            if before is None or self.restarted:
                continue
            if known(before.low) and known(low) and low > before.low + ROUNDING:
                return True
            if known(before.high) and known(high) and high < before.high - ROUNDING:
                return True
        return False

    def add(self, rows: Sequence[Row], time: datetime | None) -> int:
        """Take one screen; returns how many of its lines were not seen before."""
        before = len(self.series)
        for row in rows:
            at = (row.label, row.partner)
            if (series := self.series.get(at)) is None:
                series = self.series[at] = Series(row.label, row.partner)
            series.add(row.line, row.cells)
        self.frames += 1
        self.first_line = self.first_line or rows[0].line
        self.last_frame = (rows[0].line, rows[-1].line)
        self.first_time = self.first_time or time
        self.last_time = time or self.last_time
        return len(self.series) - before

    def by_key(self) -> dict[str, Series]:
        """The lines by their labels for comparing."""
        return {classes.key(series.label): series for series in self.series.values()}


@dataclass
class Output:
    """What MONITOR said of one node: a session, a summary, or a column of a summary of several files."""

    kind: Kind
    node: str | None
    start: datetime | None
    end: datetime | None
    first: int
    last: int = 0
    heading: int = 0
    comment: str | None = None
    classes: dict[tuple[str, int | None], ClassOf] = field(default_factory=dict)
    time: datetime | None = None
    cpus: int | None = None

    def of(self, name: str, cpu: int | None) -> ClassOf:
        """The class, or one CPU's part of it."""
        return self.classes.setdefault((name, cpu), ClassOf(name, cpu))

    def time_of(self, frame: Frame) -> None:
        """Remember from when to when."""
        self.last = max(self.last, frame.last)
        self.comment = self.comment or frame.comment
        if frame.time and self.kind == "display":
            self.start = min(self.start, frame.time) if self.start else frame.time
            self.end = max(self.end, frame.time) if self.end else frame.time
        self.time = frame.time or self.time
