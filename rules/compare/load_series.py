"""Two load series of one machine: time of a lone unit of work, most work, and work at the highest load, singly.

No mean over the loads: the overloaded ones would decide it, and what is lost when nothing waits would be hidden. A
dedicated lock manager makes a lone request slower and bears an overload better: that is `mixed`, and both are said.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts.scaling import LoadSeries
from rules.compare.metrics import Metric
from rules.laws.noise import Noise, Sample, noise_of
from rules.laws.series import Common, Step, TimeSeries, course_of, held_against

RUN = "run"
"""The unit of work where a run is one: the same work on both sides."""
LEAST_LOADS = 3
"""This project: of fewer common loads each decides by itself; there is no peak among two."""
PER_SECOND = ("_per_second", "tps", "qps", "iops")
"""Ends of names of rates per second: there 1 ÷ rate at a load of one is the time that one unit of work takes."""


@dataclass(frozen=True)
class Pair:
    """Two series at the loads they have in common."""

    before: LoadSeries
    after: LoadSeries
    common: tuple[Common, ...]
    """Without loads at which a side's rate stands alone above its neighbours."""
    says: tuple[str, ...]
    """What was left out, as sentences."""

    @property
    def unit(self) -> str:
        """`lock operations per second`."""
        return self.after.rate_name.replace("_", " ")


def pair_of(before: LoadSeries, after: LoadSeries) -> Pair | None:
    """Hold two series against each other; `None` where they have no load in common or count other things."""
    common = held_against(before, after)
    if isinstance(common, str):
        return None
    says, alone = [], set()
    for series in (before, after):
        course = course_of(series)
        if not isinstance(course, TimeSeries):
            return None
        alone |= {step.load for step in course.alone}
        if course.alone_said:
            says.append(f"{series.title}: {course.alone_said}")
        shared = {one.load for one in common}
        if course.peak.load not in shared:
            says.append(
                f"{series.title} did most at {course.peak.load:g} {series.load_name}, where the other was not measured."
            )
    kept = tuple(one for one in common if one.load not in alone)
    return Pair(before, after, kept, tuple(says)) if kept else None


def metrics_of(pair: Pair, *, named: bool = True) -> Iterator[Metric]:
    """What decides first, then the rate at each common load; `named`: with the title, for there are several series."""
    title, name, few = pair.after.title, pair.after.load_name, len(pair.common) < LEAST_LOADS
    said = f"{title}: " if named else ""
    yield from () if few else _singly(pair, said)
    for at in pair.common:
        yield Metric(
            key=f"scaling.rate:{title}:{at.load:g}",
            label=f"{said}{at.load:g} {name}",
            unit=pair.unit,
            before=at.before.rate,
            after=at.after.rate,
            direction="high",
            noise=_noise(at.before, at.after),
            tested=True,
            decides=few,
        )


def _singly(pair: Pair, said: str) -> Iterator[Metric]:
    """The three figures that decide.

    What falls further from a higher peak is no loss, and what falls less from a lower one no gain: so at the highest
    load the rate decides, and the fall is said with it.
    """
    title, name = pair.after.title, pair.after.load_name
    before = TimeSeries(tuple(at.before for at in pair.common), tested=False)
    after = TimeSeries(tuple(at.after for at in pair.common), tested=False)
    if before.first.load == 1:
        timed = pair.after.rate_name.endswith(PER_SECOND) and min(before.first.rate, after.first.rate) > 0
        yield Metric(
            key=f"scaling.single:{title}",
            label=f"{said}{'time of one unit of work' if timed else 'rate'} at a load of 1 ({name})",
            unit="µs" if timed else pair.unit,
            before=1e6 / before.first.rate if timed else before.first.rate,
            after=1e6 / after.first.rate if timed else after.first.rate,
            direction="low" if timed else "high",
            noise=_noise(before.first, after.first, timed=timed),
            tested=True,
            decides=True,
        )
    yield Metric(
        key=f"scaling.peak:{title}",
        label=f"{said}most work (at {_moved(before.peak.load, after.peak.load)} {name})",
        unit=pair.unit,
        before=before.peak.rate,
        after=after.peak.rate,
        direction="high",
        noise=_noise(before.peak, after.peak),
        tested=True,
        decides=True,
    )
    if before.beyond or after.beyond:
        falls = _moved(round(before.fall_percent), round(after.fall_percent))
        yield Metric(
            key=f"scaling.beyond:{title}",
            label=f"{said}at the highest load, {before.last.load:g} {name} (fall from the peak {falls} %)",
            unit=pair.unit,
            before=before.last.rate,
            after=after.last.rate,
            direction="high",
            noise=_noise(before.last, after.last),
            tested=True,
            decides=True,
        )


def _noise(before: Step, after: Step, *, timed: bool = False) -> Noise | None:
    """What repeated runs of both sides leave open of their ratio; `None` where one side has a single run."""
    sides = [
        [Sample(1e6, run.rate) if timed else Sample(run.rate, 1.0) for run in step.runs] for step in (before, after)
    ]
    return noise_of(*sides)


def _moved(before: float, after: float) -> str:
    return f"{before:g}" if before == after else f"{before:g} → {after:g}"
