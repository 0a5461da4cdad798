"""What a load series says by itself, without any law: where it did most, and how far it fell beyond that."""

import math
from dataclasses import dataclass

from collectors.facts import Source
from collectors.facts.scaling import LoadPoint, LoadSeries


@dataclass(frozen=True)
class Step:
    """All runs at one load, with their mean rate."""

    load: float
    rate: float
    runs: tuple[LoadPoint, ...]
    source: Source


@dataclass(frozen=True)
class Course:
    """A series as one step per load, in rising order."""

    steps: tuple[Step, ...]

    @property
    def peak(self) -> Step:
        """The load that did the most work."""
        return max(self.steps, key=lambda step: step.rate)

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
    def fall_percent(self) -> float:
        """How far the highest load stays below the peak, in per cent of the peak; 0 where it is the peak."""
        return 100.0 * (self.peak.rate - self.last.rate) / self.peak.rate if self.peak.rate > 0 else 0.0


def course_of(series: LoadSeries) -> Course | str:
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
    return Course(steps)


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
