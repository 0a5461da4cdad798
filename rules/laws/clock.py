"""Two machines beside each other at common loads: at one clock where they are of one model, else as measured.

The rates of the slower clock × faster ÷ slower are those of one model of hardware at the faster clock, were everything
as fast as the clock. JCC Consulting's slides of 2014 do so for two ES40s: the results at 500 MHz × 666/500 were
consistently higher than those of the machine that ran at 666 MHz. Caches and memory do not become faster with the
clock, so what stays at one clock is the architecture around the processor. Between models, families, or an emulator and
hardware a clock says nothing: there the plain ratio stands alone, of an emulator beside what was published of one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from collectors.facts.scaling import LoadSeries
from rules.laws.machines import machine_of, same_model
from rules.laws.platforms import EMULATOR_PERCENT, HIGHER_CLOCK
from rules.laws.series import Common, held_against
from rules.sources import JCC

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
        more = self.more_per_cycle
        tells = (
            f"{more.title} does more with each cycle"
            if more is not None
            else "neither does more with each cycle at all of them"
        )
        return (
            f"At one clock, {self.slow.title} × {self.factor:.3f} ({self.slow.clock_mhz:g} to {self.fast.clock_mhz:g} "
            f"MHz) does {_span(self.common)} what {self.fast.title} does at {_loads(self.common)}: {tells}."
        )


@dataclass(frozen=True)
class AsMeasured:
    """Two machines of which a clock says nothing: the other's rates ÷ those of the one, as measured."""

    one: LoadSeries
    other: LoadSeries
    common: tuple[Common, ...]
    """At each common load: the one (`before`), the other (`after`)."""

    @property
    def says(self) -> str:
        """The comparison in one sentence; of an emulator also what was published of one."""
        one, other = (machine_of(each.title) for each in (self.one, self.other))
        said = (
            f"As measured, {self.other.title} does {_span(self.common)} what {self.one.title} does at "
            f"{_loads(self.common)}"
        )
        if not (one.emulator or other.emulator):
            return f"{said}; their names do not show one model, so rates are not scaled by the clock."
        which = self.one if one.emulator else self.other
        return (
            f"{said}; {which.title} is an emulator by its name, so no clock scales its rates. Published is one: about "
            f"{EMULATOR_PERCENT:g} % of a {HIGHER_CLOCK:g} MHz ES40, an obsolete version on a slow host ({JCC})."
        )


def _span(common: Sequence[Common]) -> str:
    """`0.95 to 1.11 times`."""
    ratios = [one.ratio for one in common if one.ratio is not None]
    span = list(dict.fromkeys(f"{ratio:.2f}" for ratio in (min(ratios), max(ratios)))) if ratios else []
    return f"{' to '.join(span)} times" if span else "more than"


def _loads(common: Sequence[Common]) -> str:
    return f"{len(common)} common load{'s' if len(common) > 1 else ''}"


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
    if why := not_scaled(one, other):
        return why
    fast, slow = (one, other) if first > second else (other, one)
    high, low = max(first, second), min(first, second)
    common = held_against(fast, scaled(slow, high))
    return common if isinstance(common, str) else AtOneClock(fast, slow, high / low, common)


def not_scaled(one: LoadSeries, other: LoadSeries) -> str | None:
    """Why no clock relates the rates of two series, whatever their clocks; `None` where one may."""
    first, second = machine_of(one.title), machine_of(other.title)
    for machine, series in ((first, one), (second, other)):
        if machine.emulator:
            return f"{series.title} is an emulator by its name: its clock is its host's"
    if not same_model(first, second):
        return f"{one.title} and {other.title} do not show one model by their names: a clock does not relate them"
    if (first.what, first.on) != (second.what, second.on):
        return f"{one.title} and {other.title} differ in more than the clock"
    return None


def others_as_measured(series: LoadSeries, among: Sequence[LoadSeries]) -> tuple[AsMeasured, ...]:
    """Every series behind this one in the list that another machine made, of which the clock says nothing.

    Only where the titles tell two machines apart: two clocks, or hardware and an emulator. An emulator is always held
    against the hardware, so that the ratio can stand beside the published one.
    """
    found = []
    mine = machine_of(series.title)
    at = next((n for n, one in enumerate(among) if one is series), len(among))
    for other in among[at + 1 :]:
        its = machine_of(other.title)
        clocks = series.clock_mhz and other.clock_mhz and series.clock_mhz != other.clock_mhz
        if not (clocks or mine.emulator != its.emulator) or not not_scaled(series, other):
            continue
        if (mine.model, mine.rest) == (its.model, its.rest):  # one machine, in two states
            continue
        one, two = (other, series) if mine.emulator and not its.emulator else (series, other)
        common = held_against(one, two)
        if not isinstance(common, str):
            found.append(AsMeasured(one, two, common))
    return tuple(found)


def slower_ones(series: LoadSeries, among: Sequence[LoadSeries]) -> tuple[AtOneClock, ...]:
    """Every series of a slower clock that can be held against this one."""
    found = [at_one_clock(series, other) for other in among if other is not series]
    return tuple(one for one in found if isinstance(one, AtOneClock) and one.fast is series)
