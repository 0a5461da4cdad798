"""Two machines at one clock: the rates of the slower clock × faster ÷ slower, compared at common loads.

JCC Consulting's slides of 2014 do so for two ES40s: the results at 500 MHz × 666/500 were consistently higher than
those of the machine that ran at 666 MHz. Caches and memory do not become faster with the clock, so what stays at one
clock is the architecture around the processor.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from collectors.facts.scaling import LoadSeries
from rules.laws.series import Common, held_against

NOISE = 0.05
"""Practice: runs repeat within a few per cent (the same slides), so a smaller difference is none."""


@dataclass(frozen=True)
class AtOneClock:
    """A series of a slower clock, scaled to the clock of a faster one, beside it."""

    fast: LoadSeries
    slow: LoadSeries
    """As measured."""
    factor: float
    """Faster ÷ slower clock."""
    common: tuple[Common, ...]
    """At each common load: the faster one as measured (`before`), the slower one scaled (`after`)."""

    @property
    def more_per_cycle(self) -> LoadSeries | None:
        """The series that does more with each cycle at every common load, beyond noise; `None` where neither does."""
        ratios = [one.ratio for one in self.common]
        if all(ratio is None or ratio > 1 + NOISE for ratio in ratios):
            return self.slow
        if all(ratio is not None and ratio < 1 - NOISE for ratio in ratios):
            return self.fast
        return None

    @property
    def says(self) -> str:
        """The comparison in one sentence."""
        ratios = [one.ratio for one in self.common if one.ratio is not None]
        span = list(dict.fromkeys(f"{ratio:.2f}" for ratio in (min(ratios), max(ratios)))) if ratios else []
        between = f"{' to '.join(span)} times" if span else "more than"
        loads = f"{len(self.common)} common load{'s' if len(self.common) > 1 else ''}"
        more = self.more_per_cycle
        tells = (
            f"{more.title} does more with each cycle"
            if more is not None
            else "neither does more with each cycle at all of them"
        )
        return (
            f"At one clock, {self.slow.title} × {self.factor:.3f} ({self.slow.clock_mhz:g} to {self.fast.clock_mhz:g} "
            f"MHz) does {between} what {self.fast.title} does at {loads}: {tells}."
        )


def scaled(series: LoadSeries, mhz: float) -> LoadSeries:
    """The series as it would be at another clock, were everything as fast as the clock.

    Raises `ValueError` where the clock of the series is not known.
    """
    if not series.clock_mhz or mhz <= 0:
        raise ValueError(f"{series.title}: a clock above zero is needed on both sides")
    factor = mhz / series.clock_mhz
    points = tuple(replace(point, rate=point.rate * factor) for point in series.points)
    return replace(series, title=f"{series.title}, at {mhz:g} MHz", points=points, clock_mhz=mhz)


def at_one_clock(one: LoadSeries, other: LoadSeries) -> AtOneClock | str:
    """Scale the slower of two series to the clock of the faster one; or say why that cannot be done."""
    first, second = one.clock_mhz, other.clock_mhz
    if not first or not second:
        return f"{(other if first else one).title}: its clock is not in the export"
    if first == second:
        return f"{one.title} and {other.title} have one clock"
    fast, slow = (one, other) if first > second else (other, one)
    high, low = max(first, second), min(first, second)
    common = held_against(fast, scaled(slow, high))
    return common if isinstance(common, str) else AtOneClock(fast, slow, high / low, common)


def slower_ones(series: LoadSeries, among: Sequence[LoadSeries]) -> tuple[AtOneClock, ...]:
    """Every series of a slower clock that can be held against this one."""
    found = [at_one_clock(series, other) for other in among if other is not series]
    return tuple(one for one in found if isinstance(one, AtOneClock) and one.fast is series)
