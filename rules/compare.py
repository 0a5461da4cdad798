"""Before and after: the same system held against itself, per unit of work, and whether a change helped.

What decides is what one unit of work costs, never a rate per second: that is demand as often as it is a cure. A
verdict needs work that is alike (`rules.judging.compared.alike`) and a difference outside the noise
(`rules.laws.noise`). More load makes contention worse, so it cannot explain an improvement, nor less load a loss: only
a load that moved the way of the verdict is held against it.
"""

from collections.abc import Mapping, Sequence

from collectors.facts import Capture
from rules.audit import audit
from rules.judging.compared.alike import parts_of
from rules.judging.compared.amounts import metrics_of, samples_of
from rules.judging.compared.changed import advised, came_and_went, settings_that_differ
from rules.judging.compared.comparison import Comparison, End
from rules.judging.compared.deciding import order_for
from rules.judging.compared.machine import machine_of
from rules.judging.compared.metrics import deciding
from rules.judging.compared.runs import runs_of
from rules.judging.compared.sides import Side, side_of
from rules.judging.compared.verdict import IMPROVED, NO_EFFECT, NOT_COMPARABLE, WORSE, judge
from rules.judging.compared.work import common_work

__all__ = ["IMPROVED", "NOT_COMPARABLE", "NO_EFFECT", "WORSE", "Comparison", "End", "TwoSystems", "compare"]


class TwoSystems(ValueError):
    """The two sides are of different products."""


def compare(
    before: Sequence[Capture], after: Sequence[Capture], overrides: Mapping[str, float] | None = None
) -> Comparison:
    """Hold two sides against each other, each a capture or several of one system in one state.

    `overrides` are a site's limits, as for an audit. Raises `ValueError` where a side is empty, `TwoSystems` where the
    sides are of different products.
    """
    first, second = side_of(before), side_of(after)
    product = second.newest.system.product
    if first.newest.system.product != product:
        raise TwoSystems(f"{first.newest.system.product} and {product}: a comparison is of one system")
    audits = [audit(one, overrides) for one in first.captures], [audit(one, overrides) for one in second.captures]
    machine = machine_of(first, second)
    runs = runs_of(first.facts, second.facts)
    work = None if runs else common_work(first.figures, second.figures)
    if runs:
        metrics, unit, parts = list(runs.metrics), runs.unit, [*machine.parts, *runs.parts]
    else:
        fired = {found.rule for one in audits[0] for found in one.findings}
        metrics = deciding(machine.scaled(list(metrics_of(first, second, work))), order_for(product, first, second))
        unit = work[1].unit.name if work else None
        parts = [*machine.parts, *parts_of(first, second, work, fired)]
    judged = judge(metrics, parts, unit, product, work[1].per_second / work[0].per_second if work else None)
    return Comparison(
        name=second.newest.system.name,
        product=product,
        before=_end("before", first),
        after=_end("after", second),
        score=judged.score,
        parts=tuple(parts),
        unit_of_work=unit,
        metrics=tuple(metrics),
        verdict=judged.verdict,
        why=judged.why,
        findings=came_and_went(*audits),
        settings=settings_that_differ(first, second),
        changes=advised(*audits, second),
        normalised=machine.normalised,
        bring=judged.bring,
        audits=tuple(audits[1]),
    )


def _end(label: str, side: Side) -> End:
    return End(label, side.newest, len(side.captures), samples_of(side), side.files)
