"""Time in processor modes as the rows of a load series give it: per cent of one CPU, all CPUs together."""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts.scaling import LoadPoint, LoadSeries
from rules.laws.series import Step, TimeSeries

MODES = ("idle", "interrupt", "mp_synch", "kernel", "exec", "super", "user")


def modes_of(point: LoadPoint) -> dict[str, float]:
    """The modes this row gives, by name, per cent of one CPU."""
    return {mode: value for mode in MODES if (value := point.other(f"{mode}_percent")) is not None}


def spinning_share(point: LoadPoint) -> float | None:
    """MP synch as per cent of the busy time of one run; `None` where a mode is missing, or one is impossible."""
    busy = {mode: value for mode, value in modes_of(point).items() if mode != "idle"}
    whole = sum(busy.values())
    if not {"mp_synch", "kernel", "user"} <= busy.keys() or min(busy.values()) < 0 or whole <= 0:
        return None
    return 100 * busy["mp_synch"] / whole


@dataclass(frozen=True)
class Spinning:
    """MP synchronization at the peak and at one load past it, in processors' worth of time."""

    at_peak: float
    past: float
    step: Step
    """The load past the peak at which it was most."""


def spinning(course: TimeSeries) -> Spinning | None:
    """MP synch at the measured peak and the most of it past the peak; `None` where a row does not say or is negative.

    Of several runs at one load the mean.
    """
    peak = _synch(course.peak.runs)
    past = [(value, step) for step in course.beyond if (value := _synch(step.runs)) is not None]
    if peak is None or not past or len(past) < len(course.beyond):
        return None
    most, step = max(past, key=lambda pair: pair[0])
    return Spinning(peak, most, step)


def _synch(runs: Sequence[LoadPoint]) -> float | None:
    values = [value for run in runs if (value := run.other("mp_synch_percent")) is not None and value >= 0]
    return sum(values) / len(values) / 100 if values and len(values) == len(runs) else None


def modes_by_point(series: LoadSeries) -> list[dict[str, float]] | None:
    """The modes of each point, in the order of the points; `None` where no row has any."""
    found = [modes_of(point) for point in series.points]
    return found if any(found) else None
