"""What a load series says by itself, without any law: where it did most, and how far it fell beyond that."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from collectors.facts import Source
from collectors.facts.scaling import LoadPoint, LoadSeries
from rules.laws.rounding import plain

NOISE = 0.05
"""Practice: runs repeat within a few per cent (JCC Consulting's slides of 2014)."""
LEAST_RISING = 3
"""This project: so many loads behind the first one that each do more than the one before, and less than the first."""
LEAST_LOW = 2
"""This project: one run below the peak may be the one disturbed run."""
CONFIRMS = 0.8
"""This project: the next load bears a rate out where it does so much of it, or more than the loads below allow."""


@dataclass(frozen=True)
class Step:
    """All runs at one load, with their mean rate."""

    load: float
    rate: float
    runs: tuple[LoadPoint, ...]
    source: Source


@dataclass(frozen=True)
class TimeSeries:
    """A series as one step per load, in rising order."""

    steps: tuple[Step, ...]
    tested: bool = True
    """Whether the runs are of one test, driven as hard as they can be: else demand may make any rate."""

    @cached_property
    def alone(self) -> tuple[Step, ...]:
        """The loads of one run whose rate stands above what its neighbours allow: a disturbed clock, a wrapped counter.

        With load a rate grows ever more slowly. So between two loads it cannot lie above the straight line through the
        two before it, nor above the one through zero; it stands alone where the next load does not confirm it. At the
        highest load, which nothing follows, only what is more work for each process than at any load below is no run.
        """
        found: list[Step] = []
        for at, step in enumerate(self.steps if self.tested else ()):
            below = [one for one in self.steps[:at] if one not in found]
            least = (1 - NOISE) * step.rate
            if not below:
                suspect = at == 0 and self._falls_and_rises
            elif step is self.last:
                suspect = least > step.load * max(one.rate / one.load for one in below) * (1 + NOISE)
            else:
                then = self.steps[at + 1]
                suspect = least > _most(below, step.load) and not (
                    then.rate >= CONFIRMS * step.rate or then.rate * (1 + NOISE) >= _most(below, then.load)
                )
            if suspect and len(step.runs) == 1:
                found.append(step)
        return tuple(found) if len(found) < len(self.steps) else ()

    @property
    def _falls_and_rises(self) -> bool:
        """Whether the lowest load did more than any that follows, and those do more and more: after a peak none do."""
        first, *rates = [step.rate for step in self.steps]
        rising = sum(one * (1 + NOISE) < then * (1 - NOISE) for one, then in pairwise(rates))
        steady = all(one <= then for one, then in pairwise(rates))
        return steady and rising >= LEAST_RISING - 1 and first * (1 - NOISE) > max(rates) * (1 + NOISE)

    @property
    def alone_said(self) -> str:
        """What stands alone, as a sentence; empty where nothing does."""
        rates = ", ".join(f"{plain(step.rate, 4)} at {step.load:g}" for step in self.alone)
        many = len(self.alone) > 1
        return (
            f"{rates} {'stand' if many else 'stands'} alone above what the neighbouring loads allow and "
            f"{'are' if many else 'is'} not taken for the peak: measure {'these loads' if many else 'that load'} again."
            if rates
            else ""
        )

    @property
    def peak(self) -> Step:
        """The load that did the most work, without what stands alone."""
        return max((step for step in self.steps if step not in self.alone), key=lambda step: step.rate)

    @property
    def first(self) -> Step:
        """The lowest load."""
        return self.steps[0]

    @property
    def last(self) -> Step:
        """The highest load."""
        return self.steps[-1]

    @property
    def beyond(self) -> tuple[Step, ...]:
        """Everything past the peak."""
        return tuple(step for step in self.steps if step.load > self.peak.load)

    @property
    def overlaps(self) -> bool:
        """Whether one of several runs at the highest load did as much as one at the peak: the fall may be noise."""
        last, peak = self.last.runs, self.peak.runs
        return len(last) > 1 and max(run.rate for run in last) >= min(run.rate for run in peak)

    @property
    def borne_out(self) -> bool:
        """Whether the fall is more than one run's: two beyond the peak did less than it by more than noise."""
        runs = [run for step in self.beyond for run in step.runs]
        return sum(run.rate < (1 - NOISE) * self.peak.rate for run in runs) >= LEAST_LOW

    @property
    def fall_percent(self) -> float:
        """How far the highest load stays below the peak, in per cent of the peak; 0 where it is the peak."""
        return 100.0 * (self.peak.rate - self.last.rate) / self.peak.rate if self.peak.rate > 0 else 0.0


def _most(below: list[Step], load: float) -> float:
    """What two loads below allow at this one: the line through them, or through zero and the nearer, noise included."""
    near = below[-1]
    top = near.rate * (1 + NOISE)
    through_zero = top * load / near.load
    if len(below) == 1:
        return through_zero
    before = below[-2]
    slope = max(0.0, top - before.rate * (1 - NOISE)) / (near.load - before.load)
    return min(through_zero, top + slope * (load - near.load))


def course_of(series: LoadSeries) -> TimeSeries | str:
    """Group the runs by load; or say why these figures cannot be what they claim."""
    for point in series.points:
        if not (math.isfinite(point.load) and math.isfinite(point.rate)):
            return f"{series.title}: a load or a rate is not a number"
        if point.load <= 0 or point.rate < 0:
            return (
                f"{series.title}: {point.rate:g} at a load of {point.load:g}; loads are above zero, rates not below it"
            )
    by_load: dict[float, list[LoadPoint]] = {}
    for point in series.points:
        by_load.setdefault(point.load, []).append(point)
    steps = tuple(
        Step(load, sum(run.rate for run in runs) / len(runs), tuple(runs), series.source_of(runs[0]))
        for load, runs in sorted(by_load.items())
    )
    if not steps or all(step.rate == 0 for step in steps):
        return f"{series.title}: no rate above zero"
    return TimeSeries(steps, tested=not series.derived)


@dataclass(frozen=True)
class Common:
    """One load that two series were measured at."""

    load: float
    before: Step
    after: Step

    @property
    def ratio(self) -> float | None:
        """Rate after ÷ rate before; `None` where nothing was done before."""
        return self.after.rate / self.before.rate if self.before.rate > 0 else None


def held_against(before: LoadSeries, after: LoadSeries) -> tuple[Common, ...] | str:
    """The mean rates of two series at the loads they have in common, in rising order; or why they cannot be compared.

    Loads of one series alone say nothing of the other and are left out: nothing is interpolated.
    """
    if (before.load_name, before.rate_name) != (after.load_name, after.rate_name):
        return (
            f"{before.title} counts {before.rate_name} over {before.load_name}, {after.title} {after.rate_name} over "
            f"{after.load_name}"
        )
    one, two = course_of(before), course_of(after)
    if isinstance(one, str):
        return one
    if isinstance(two, str):
        return two
    others = {step.load: step for step in two.steps}
    common = tuple(Common(step.load, step, others[step.load]) for step in one.steps if step.load in others)
    return common or f"{before.title} and {after.title} have no load in common"
