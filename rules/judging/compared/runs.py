"""Runs of one test on both sides: load series, z/VM performance runs, variants of record locking."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.scaling import LoadSeries
from rules.judging.compared.alike import Part
from rules.judging.compared.comparison import Comparison
from rules.judging.compared.metrics import Metric
from rules.laws.series import Course, course_of


@dataclass(frozen=True)
class OfRuns:
    """What runs of a test give: metrics of which those that decide say so, the unit of work, what differs."""

    metrics: tuple[Metric, ...]
    unit: str | None
    parts: tuple[Part, ...] = ()


def runs_of(before: Facts, after: Facts) -> OfRuns | None:
    """The runs that both sides hold, at the same load; `None` where there are none."""
    metrics = tuple(_series(before, after))
    if not metrics:
        return None
    return OfRuns(metrics, metrics[0].unit, (Part("loads", 1.0, f"{len(metrics)} loads that both sides ran at"),))


def _series(before: Facts, after: Facts) -> Iterator[Metric]:
    """The rates of two load series at the loads they share; of several series those of the same title."""
    first, second = before.every(LoadSeries), after.every(LoadSeries)
    for early, late in _paired(first, second):
        ran = [course_of(one) for one in (early, late)]
        if not all(isinstance(one, Course) for one in ran) or early.rate_name != late.rate_name:
            continue
        old, new = ({step.load: step for step in one.steps} for one in ran if isinstance(one, Course))
        unit = late.rate_name.replace("_", " ")
        for load in sorted(set(old) & set(new)):
            yield Metric(
                key=f"scaling.rate:{late.title}:{load:g}",
                label=f"{late.title}, {load:g} {late.load_name}",
                unit=unit,
                before=old[load].rate,
                after=new[load].rate,
                direction="high",
                tested=True,
                decides=True,
                source_before=old[load].source,
                source_after=new[load].source,
            )


def _paired(first: Sequence[LoadSeries], second: Sequence[LoadSeries]) -> Iterator[tuple[LoadSeries, LoadSeries]]:
    if len(first) == len(second) == 1:
        yield first[0], second[0]
        return
    by_title = {one.title: one for one in first}
    yield from ((by_title[one.title], one) for one in second if one.title in by_title)


def comparisons_within(facts: Facts) -> Iterator[Comparison]:
    """Every comparison whose both sides stand in one capture: a table of runs before and after, one of variants."""
    yield from ()
