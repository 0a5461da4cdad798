"""What a live collection sampled between its two snapshots, as pictures: waits, spins, and who was held up.

A mean of ten minutes hides a bad one. The interval that is judged stays that of the two snapshots; nothing here is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from advisor.charts.curves import ChartCurve, Series, course_chart
from advisor.charts.plotted import legend
from advisor.charts.stacked import REST, stacked_by_name
from collectors.facts import Facts, Reading, known
from collectors.facts.ase import SampledBlocking, SampledSpinlock, SampledWaits
from rules.ase._evidence.waits.events import GROUPS, at_work

MOST_LINES = 5
"""Spinlocks with a line."""
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
        more_spinlocks=max(0, len(spinlocks) - MOST_LINES),
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
    points = []
    for at in whole:
        tasks: dict[str, float] = {}
        for one in found:
            cause = _cause(one.event)
            tasks[cause] = tasks.get(cause, 0.0) + (_at(one.wait_seconds, at) or 0.0) / seconds[at]
        points.append((starts[at], tasks))
    title = "Tasks waiting from sample to sample, by cause"
    return stacked_by_name(points, unit="tasks waiting", title=title), len(starts) - len(whole)


def _cause(event: int) -> str:
    return next((group.what for group in GROUPS if event in group.events), REST)


def _spins(spinlocks: Sequence[SampledSpinlock]) -> Markup | None:
    """Spins a second of the spinlocks with most of them."""
    most = sorted(spinlocks, key=lambda one: (-sum(value for value in one.spins if known(value)), one.name))
    curves = [
        ChartCurve(one.name, _rates(one.starts, one.seconds, one.spins))
        for one in most[:MOST_LINES]
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
