"""Before and after: the same system held against itself, per unit of work, and whether a change helped.

What decides is what one unit of work costs, never a rate per second: that is demand as often as it is a fix. A
verdict needs work that is alike (`rules.compare.similarity`) and a difference outside the noise
(`rules.laws.noise`). A load that moved is held against it, but where the whole amount per second moved the other way:
less of it for more work is a fix (`rules.compare.verdict`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from collectors.facts import Capture, Interval
from rules.audit import audit
from rules.compare.amounts import metrics_of, samples_of
from rules.compare.changed import (
    advised,
    came_and_went,
    names_of,
    settings_that_differ,
)
from rules.compare.comparison import Comparison, End
from rules.compare.deciding import order_for
from rules.compare.machine import machine_of
from rules.compare.metrics import deciding
from rules.compare.remarks import remarks_of
from rules.compare.runs import runs_of
from rules.compare.sides import Side, side_of
from rules.compare.similarity import parts_of
from rules.compare.verdict import (
    IMPROVED,
    MIXED,
    NO_EFFECT,
    NOT_COMPARABLE,
    WORSE,
    Judged,
    judge,
)
from rules.compare.work import common_work
from rules.openvms._evidence.sampling import LEAST_MINUTES, LEAST_SAMPLES, least
from rules.sample import samples_of as samples_in

__all__ = [
    "IMPROVED",
    "MIXED",
    "NOT_COMPARABLE",
    "NO_EFFECT",
    "WORSE",
    "Comparison",
    "End",
    "TwoSystems",
    "compare",
    "remarked",
]


MOST_SETTINGS = 500
"""Differences that are listed: beyond that it is another machine. How many are left out is said."""


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
        metrics = deciding(
            machine.scaled(list(metrics_of(first, second, work))),
            order_for(product, first, second, work[1] if work else None),
        )
        unit = work[1].unit.name if work else None
        parts = [*machine.parts, *parts_of(first, second, work, fired)]
    judged = judge(metrics, parts, unit, product, work[1].per_second / work[0].per_second if work else None)
    judged = judged if runs else long_enough(judged, product, first, second)
    settings = settings_that_differ(first, second, audits[0])
    remarks = (
        *(runs.says if runs else ()),
        *remarks_of(first, second, metrics, work, len(settings) - MOST_SETTINGS),
    )
    return Comparison(
        name=second.newest.system.name,
        product=product,
        before=_end("before", first, second),
        after=_end("after", second, first),
        score=judged.score,
        parts=tuple(parts),
        unit_of_work=unit,
        metrics=tuple(metrics),
        verdict=judged.verdict,
        why=" ".join((judged.why, *remarks)),
        findings=came_and_went(*audits, names=names_of(first) | names_of(second)),
        settings=settings[:MOST_SETTINGS],
        changes=advised(*audits, first, second),
        normalised=machine.normalised,
        bring=judged.bring,
        remarks=remarks,
        audits=tuple(audits[1]),
    )


def remarked(one: Comparison, remarks: Sequence[str]) -> Comparison:
    """The same with further remarks, of who knows more than the facts do."""
    return replace(one, remarks=(*one.remarks, *remarks), why=" ".join((one.why, *remarks)))


def _end(label: str, side: Side, other: Side) -> End:
    return End(label, side.newest, _interval(side), len(side.captures), samples_of(side, other), side.files)


def _interval(side: Side) -> Interval:
    """The time of a side: of one capture its own, of several from the first to the last."""
    if len(side.captures) == 1 or side.span is None:
        return side.newest.interval if len(side.captures) == 1 else Interval()
    seconds = [one.interval.seconds for one in side.captures]
    told = [one for one in seconds if one is not None]
    return Interval(*side.span, sum(told) if len(told) == len(seconds) else None)


COLLECT = f"T4 or MONITOR of at least {LEAST_SAMPLES} samples over {LEAST_MINUTES:g} minutes, of both sides"


def long_enough(judged: Judged, product: str, before: Side, after: Side) -> Judged:
    """The same, or not comparable where a side of an OpenVMS node covers no more than a moment.

    Several captures of a side count together. Of figures that came without a heading of T4 or MONITOR nothing tells
    how long they cover: they are judged as before.
    """
    if product != "openvms" or judged.verdict in (NO_EFFECT, NOT_COMPARABLE):
        return judged
    short = [f"{word}: {said}" for word, side in (("before", before), ("after", after)) if (said := _short(side))]
    if not short:
        return judged
    why = f"Too short to prove anything ({'; '.join(short)}): collect more samples. As read: {judged.why}"
    return replace(judged, verdict=NOT_COMPARABLE, why=why, bring=(COLLECT,))


def _short(side: Side) -> str:
    """What a side has too little of; nothing where it is enough or not told."""
    found = [one for capture in side.captures for one in samples_in(capture.facts)]
    minimum = least(LEAST_SAMPLES, LEAST_MINUTES)
    short = [why for one in found if (why := one.falls_short(minimum))]
    counted = [one.samples for one in found if one.samples is not None]
    lasted = [one.seconds for one in found if one.seconds is not None]
    enough = sum(counted) >= minimum.samples and (not lasted or sum(lasted) >= minimum.seconds)
    return short[0] + " are needed)" if short and len(short) == len(found) and not enough else ""
