"""From which value of a parameter on a larger one gains nothing that was measured."""

from dataclasses import dataclass

from collectors.facts import Source
from collectors.facts.scaling import ParameterSeries

NOISE_PERCENT = 5.0
"""Practice: runs repeat within a few per cent (JCC Consulting's slides on the OpenVMS lock manager, 2014)."""


@dataclass(frozen=True)
class Step:
    """All runs at one value, with their mean rate."""

    value: float
    rate: float
    source: Source


def steps_of(series: ParameterSeries) -> list[Step]:
    """The values in rising order."""
    by_value: dict[float, list[float]] = {}
    first: dict[float, Source] = {}
    for point in series.points:
        by_value.setdefault(point.value, []).append(point.rate)
        first.setdefault(point.value, series.source_of(point))
    return [Step(value, sum(rates) / len(rates), first[value]) for value, rates in sorted(by_value.items())]


def enough_of(steps: list[Step], noise_percent: float = NOISE_PERCENT) -> Step:
    """The smallest value whose rate lies within the noise of the best; there has to be one at least."""
    least = max(step.rate for step in steps) * (1 - noise_percent / 100)
    return next(step for step in steps if step.rate >= least)
