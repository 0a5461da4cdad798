"""What a live collection sampled between its two snapshots, as pictures: waits, spins, and who was held up.

A mean of ten minutes hides a bad one. The interval that is judged stays that of the two snapshots; nothing here is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from advisor.charts.curves import ChartCurve, Series, course_chart
from advisor.charts.plotted import legend
from advisor.charts.stacked import Layer, stacked_chart
from collectors.facts import Facts, Reading, known
from collectors.facts.ase import SampledBlocking, SampledSpinlock, SampledWaits
from rules.ase._evidence.waits.events import GROUPS, at_work

MOST_LAYERS = 5
"""Causes of waits, and spinlocks, with a layer or line of their own; the other causes share one."""
REST = "everything else"
LEAST = 2
"""Steps that make a course."""


@dataclass(frozen=True)
class Sampled:
    """The pictures; each is `None` where nothing was sampled for it."""

    waits: Markup | None
    spins: Markup | None
    blocked: Markup | None
    left_out: int = 0
    """Steps that are not in the picture of waits, as a count of theirs cannot be believed."""
    more_spinlocks: int = 0
    """Names that have no line."""


def sampled_of(facts: Facts) -> Sampled:
    """Draw them."""
    waits, left_out = _waits(facts.every(SampledWaits))
    spinlocks = facts.every(SampledSpinlock)
    return Sampled(
        waits=waits,
        spins=_spins(spinlocks),
        blocked=_blocked(facts.every(SampledBlocking)),
        left_out=left_out,
        more_spinlocks=max(0, len(spinlocks) - MOST_LAYERS),
    )


def _waits(events: Sequence[SampledWaits]) -> tuple[Markup | None, int]:
    """Tasks that waited in each step, by cause, stacked; and how many steps are left out."""
    found = [one for one in events if at_work(one.event)]
    if not found:
        return None, 0
    starts, seconds = found[0].starts, found[0].seconds
    whole = [at for at in range(len(starts)) if all(_at(one.wait_seconds, at) is not None for one in found)]
    if len(whole) < LEAST:
        return None, len(starts) - len(whole)
    tasks: dict[str, dict[int, float]] = {}
    for one in found:
        steps = tasks.setdefault(_cause(one.event), dict.fromkeys(whole, 0.0))
        for at in whole:
            steps[at] += (_at(one.wait_seconds, at) or 0.0) / seconds[at]
    named = sorted((name for name in tasks if name != REST), key=lambda name: (-sum(tasks[name].values()), name))
    layers = [Layer(name, _course(starts, tasks[name])) for name in named[:MOST_LAYERS]]
    others = [tasks[name] for name in (*named[MOST_LAYERS:], *([REST] if REST in tasks else []))]
    if any(value for steps in others for value in steps.values()):
        rest = {at: sum(steps[at] for steps in others) for at in whole}
        layers.append(Layer(REST, _course(starts, rest)))
    picture = stacked_chart(layers, unit="tasks waiting", title="Tasks waiting from sample to sample, by cause")
    return picture + legend([one.name for one in layers]), len(starts) - len(whole)


def _cause(event: int) -> str:
    return next((group.what for group in GROUPS if event in group.events), REST)


def _course(starts: Sequence[datetime], steps: Mapping[int, float]) -> list[tuple[datetime, float]]:
    return [(starts[at], value) for at, value in sorted(steps.items())]


def _spins(spinlocks: Sequence[SampledSpinlock]) -> Markup | None:
    """Spins a second of the spinlocks with most of them."""
    most = sorted(spinlocks, key=lambda one: (-sum(value for value in one.spins if known(value)), one.name))
    curves = [
        ChartCurve(one.name, _rates(one.starts, one.seconds, one.spins))
        for one in most[:MOST_LAYERS]
        if len(one.starts) >= LEAST and any(known(value) for value in one.spins)
    ]
    if not curves:
        return None
    title = "Spins a second from sample to sample"
    return course_chart(curves, unit="spins/s", title=title) + legend([one.name for one in curves])


def _blocked(found: Sequence[SampledBlocking]) -> Markup | None:
    """How many sessions others held up at each sample."""
    if not found or len(found[-1].taken) < LEAST:
        return None
    series: Series = list(zip(found[-1].taken, found[-1].blocked, strict=True))
    return course_chart([ChartCurve("sessions", series)], unit="sessions", title="Sessions that others held up")


def _rates(starts: Sequence[datetime], seconds: Sequence[float], counts: Sequence[Reading]) -> Series:
    return [
        (start, value / length if known(value) else None)
        for start, length, value in zip(starts, seconds, counts, strict=True)
    ]


def _at(values: Sequence[Reading], at: int) -> float | None:
    value = values[at]
    return value if known(value) else None
