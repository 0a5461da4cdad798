"""Figures of both sides per unit of work, with the noise from the samples of each side."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.openvms import Curve, ProcessorModes
from rules.compare.metrics import Metric
from rules.compare.sides import CPUS, NODE_CPU, Side
from rules.compare.work import FIGURES_OF_UNIT, Work
from rules.figures import PER_CPU, Better, KeyFigure
from rules.laws.noise import Noise, Sample, noise_of, per_work

OF_ONE_MOMENT = re.compile(r" \((?:p95|peak|at lock peak|at mp synch peak)\)$")
"""Endings of the keys of figures that are no mean: what was done in that moment is another work than the mean's."""
CONSUMED = ("ase.lock_requests", "openvms.lock_operations", "rdb.lock_operations:")
"""Rates that demand decides, but of which less is better per unit of work."""
OF_ONE_CPU = "openvms.cpu_mp_synch:"
"""Per cent of one CPU's time: an amount, which grows with the work."""
LEFT_OUT = ("scaling.", "openvms.mp_synch_cpus", "openvms.idle")
"""Series are compared load by load; the others say once more what MP synchronization and busy CPUs say."""


@dataclass(frozen=True)
class _Amount:
    """How a figure becomes an amount per second, and what it is called per unit of work."""

    factor: float
    what: str


def _amount_of(figure: KeyFigure) -> _Amount | None:
    """`None` for what is no amount: a share, a length, a number of things."""
    if figure.unit == "/s":
        return _Amount(1.0, figure.label)
    if figure.unit == "/h":
        return _Amount(1 / 3600, figure.label)
    if figure.unit == CPUS:
        return _Amount(1000.0, "CPU ms")
    if figure.unit == PER_CPU or figure.key.startswith(OF_ONE_CPU):
        return _Amount(10.0, "CPU ms")
    return None


def metrics_of(before: Side, after: Side, work: tuple[Work, Work] | None) -> Iterator[Metric]:
    """Every figure that both sides have, in the order of the after."""
    first = {one.key: one for one in before.figures}
    for late in after.figures:
        early = first.get(late.key)
        if early is None or early.unit != late.unit or OF_ONE_MOMENT.search(late.key):
            continue
        if late.key.startswith(LEFT_OUT):
            continue
        yield _metric(before, after, early, late, work)


def _metric(before: Side, after: Side, early: KeyFigure, late: KeyFigure, work: tuple[Work, Work] | None) -> Metric:
    amount = _amount_of(late)
    direction = _direction(late, amount, work)
    plain = Metric(late.key, late.label, late.unit, early.value, late.value, direction)
    if amount is None:
        return _with(plain, noise=_noise(before, after, late.key, None)).credible
    if work is None or late.key == work[1].key:
        # per second alone says nothing: it may be demand
        return _with(plain, direction=None)
    costs = [per_work(_captured(side, late.key, work[1].key)) for side in (before, after)]
    if costs[0] is None or costs[1] is None:
        return _with(plain, direction=None)  # no capture of a side holds both
    per = work[1].unit.per
    return Metric(
        late.key,
        late.label,
        late.unit,
        early.value,
        late.value,
        direction,
        work_unit=f"{amount.what} per {work[1].unit.said}",
        work_before=costs[0] * amount.factor * per,
        work_after=costs[1] * amount.factor * per,
        noise=_noise(before, after, late.key, work[1].key),
    ).credible


def _with(metric: Metric, *, noise: Noise | None = None, direction: Better | str = "") -> Metric:
    return Metric(
        metric.key,
        metric.label,
        metric.unit,
        metric.before,
        metric.after,
        metric.direction if direction == "" else None,
        noise=noise,
    )


def _direction(figure: KeyFigure, amount: _Amount | None, work: tuple[Work, Work] | None) -> Better:
    if amount and work and figure.key.startswith(CONSUMED):
        return "low"
    if amount and (figure.better == "high" or figure.key in FIGURES_OF_UNIT):
        return None  # more work per second is demand as often as it is a fix
    return figure.better


def _noise(before: Side, after: Side, key: str, work: str | None) -> Noise | None:
    """From the captures of each side; of one capture on each from its course over the day.

    Steps of one day are never held against captures of several: they are of another length, and vary by more.
    """
    alone = len(before.measured) == len(after.measured) == 1
    first, second = (
        _course(side.facts, key, work) if alone else _captured(side, key, work) for side in (before, after)
    )
    return noise_of(first, second) if first and second else None


def _captured(side: Side, key: str, work: str | None) -> list[Sample]:
    """One sample for each capture that holds the figure, and counted the work: what lacks one is in neither sum."""
    found = []
    for one in side.measured:
        value, done = one.value(key), one.value(work) if work else 1.0
        if value is not None and done:
            found.append(Sample(value * one.seconds, done * one.seconds))
    return found


OF_CURVES = {
    "openvms.mp_synch": "mp synch",
    "openvms.locks": "locks",
    "openvms.resources": "resources",
    "openvms.lock_manager_busy": "dedicated cpu busy",
}
"""Key figure → the curve of a node's day that holds it."""
WORK_CURVES = {"openvms.lock_operations": "lock operations"}


def _course(facts: Facts, key: str, work: str | None) -> list[Sample]:
    """The steps of a node's day as samples, where its course was kept; those that lack a figure are left out."""
    curves = {one.name: one for one in facts.every(Curve)}
    if key == "openvms.remote_locks":
        return _remote(curves)
    amounts = _busy(facts, curves) if key == NODE_CPU else curves.get(OF_CURVES.get(key, ""))
    if amounts is None:
        return []
    if work is None:
        return [Sample(value, 1.0) for value in amounts.means if known(value)]
    done = curves.get(WORK_CURVES.get(work, ""))
    if done is None or (done.start, done.step_seconds) != (amounts.start, amounts.step_seconds):
        return []
    pairs = zip(amounts.means, done.means, strict=False)
    return [Sample(value, rate) for value, rate in pairs if known(value) and known(rate) and rate > 0]


def _busy(facts: Facts, curves: dict[str, Curve]) -> Curve | None:
    """The course of busy CPUs: as MONITOR recordings have it, or what T4's idle time leaves of all CPUs."""
    modes, idle = facts.latest(ProcessorModes, statistic="mean"), curves.get("idle")
    if "busy" in curves or idle is None or modes is None or not known(modes.cpus):
        return curves.get("busy")
    whole = 100 * modes.cpus
    return replace(idle, means=tuple(max(0.0, whole - value) if known(value) else value for value in idle.means))


def samples_of(side: Side, other: Side) -> int:
    """How many samples a side gives its noise from: its captures, or the steps of the course where both have one."""
    if len(side.captures) > 1 or len(other.captures) > 1:
        return len(side.captures)
    return max((sum(map(known, one.means)) for one in side.facts.every(Curve)), default=1) or 1


def _remote(curves: dict[str, Curve]) -> list[Sample]:
    parts: Sequence[Curve | None] = [curves.get(name) for name in ("local", "incoming", "outgoing")]
    if any(one is None for one in parts):
        return []
    steps = zip(*(one.means for one in parts if one), strict=False)
    whole = [[value for value in step if known(value)] for step in steps]
    return [Sample(100 * (step[1] + step[2]), sum(step)) for step in whole if len(step) == 3 and sum(step) > 0]
