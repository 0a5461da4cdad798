"""Two records of one class → rates between them: counters of 32 bits that go round, fall, or may have lapped unseen.

A counter that fell went round where that takes no more than `FASTEST` counts a second; else something set it back. An
interval is not believed where one round more would be within `FASTEST`, or within `MARGIN` times the busiest rate seen:
the house's bounds, see `collectors.intervals.wrapping`. A tick is counted 100 times a second by each CPU, no faster.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import sub

from collectors.intervals.wrapping import FASTEST, MARGIN, WORD
from collectors.reports.openvms.monitor_recording.header import TICKS

TICKS_PER_SECOND = 100.0
MORE_TICKS = 1.05
"""A mode cannot take more than all the time of a CPU; so much is left to the clock (this project)."""
FEW_TICKS = 3


@dataclass(frozen=True)
class Longwords:
    """Counters of one record, and when they were read (units of 100 ns)."""

    time: int
    record: int
    values: tuple[int, ...]


@dataclass(frozen=True)
class Rates:
    """What one interval gave, per second."""

    seconds: float
    values: tuple[float, ...]
    wrapped: tuple[int, ...] = ()
    """Which of the counters went round."""


@dataclass
class Counting:
    """The counters of one class, or of one CPU, from record to record."""

    ticks: bool = False
    busiest: float = 0.0
    """The highest rate per second that was believed."""
    before: Longwords | None = None

    def next(self, now: Longwords) -> Rates | str | None:
        """Give the rates since the record before; `None` where there is none, or why they are not believed."""
        before, self.before = self.before, now
        if before is None or len(before.values) != len(now.values):
            return None
        seconds = (now.time - before.time) / TICKS
        if seconds <= 0:
            return None
        counts = list(map(sub, now.values, before.values))
        wrapped: tuple[int, ...] = ()
        if min(counts) < 0:
            wrapped = tuple(at for at, count in enumerate(counts) if count < 0)
            counts = [count % WORD for count in counts]
        if why := self._doubt(counts, wrapped, seconds):
            return why
        values = tuple([count / seconds for count in counts])
        self.busiest = max(self.busiest, max(counts) / seconds)
        return Rates(seconds, values, wrapped)

    def _doubt(self, counts: Sequence[int], wrapped: Sequence[int], seconds: float) -> str | None:
        """Why these counts are not believed."""
        if self.ticks:
            most = MORE_TICKS * TICKS_PER_SECOND * seconds + FEW_TICKS
            if max(counts) > most:
                return "a mode took more time than passed"
            return "a counter of ticks may have gone round more than once" if most >= WORD else None
        if any(counts[at] > FASTEST * seconds for at in wrapped):
            return "a counter fell, and cannot have gone round in that time"
        if max(counts) > MARGIN * FASTEST * seconds:
            return f"a counter rose by more than {MARGIN * FASTEST:,.0f} a second"
        busiest = max(self.busiest, max(counts) / seconds)
        if min(counts) + WORD <= FASTEST * seconds or busiest * MARGIN * seconds >= WORD:
            return "a counter may have gone round more than once"
        return None


@dataclass
class Part:
    """One group of figures in one interval: a class, a CPU, or levels."""

    seconds: float
    values: Sequence[float]


@dataclass
class Row:
    """All that was recorded in one interval: one sample."""

    time: int
    """Of the last record, in units of 100 ns."""
    first: int
    """Number of the first record; `last` of the last one."""
    last: int
    parts: dict[str | int, Part] = field(default_factory=dict)
    """By name of the class, `LEVELS` for locks and resources, CPU id for the modes of one CPU."""

    @property
    def seconds(self) -> float:
        """How long the interval was; 0 where nothing was counted."""
        return max((part.seconds for part in self.parts.values()), default=0.0)
