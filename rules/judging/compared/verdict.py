"""From metrics and parts to a verdict, with its reason in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rules.judging.compared.alike import Part
from rules.judging.compared.metrics import Metric
from rules.judging.compared.words import number, percent
from rules.laws.comparability import LIMIT

IMPROVED, NO_EFFECT, WORSE, NOT_COMPARABLE = "improved", "no-effect", "worse", "not-comparable"
MOST_SAID = 3
"""Other metrics named in the reason; all are in the table."""
BRING = {
    "ase": "sp_sysmon '00:10:00' -- on both sides: it counts committed transactions and busy engines",
    "openvms": "a T4 file, or MONITOR LOCK, MODES of the same time, of both sides: lock operations and busy CPUs",
    "rdb": "RMU/SHOW STATISTICS screens of both sides: transactions and stalls",
}


@dataclass(frozen=True)
class Judged:
    """The verdict, and what it rests on."""

    verdict: str
    why: str
    score: float | None
    bring: tuple[str, ...] = ()


def judge(
    metrics: Sequence[Metric], parts: Sequence[Part], unit: str | None, product: str, load_ratio: float | None
) -> Judged:
    """Judge what decides; `load_ratio` is the after's work per second ÷ the before's, `None` for runs of a test."""
    bring = (BRING[product],) if product in BRING else ()
    if unit is None:
        return Judged(NOT_COMPARABLE, "No unit of work was counted on both sides.", _score(parts), bring)
    decisive = [one for one in metrics if one.decides and one.ratio is not None]
    if not decisive:
        why = f"Nothing both sides tell is a cost per {unit}."
        return Judged(NOT_COMPARABLE, why, _score(parts), bring)
    verdict = _verdict(decisive)
    counted = [one for one in parts if not one.meant and not _explains_nothing(one, verdict, load_ratio)]
    score = _score(counted)
    figures = "; ".join(figure_said(one) for one in decisive[:MOST_SAID])
    if score is not None and score < LIMIT:
        unlike = "; ".join(one.why for one in counted if one.similarity < LIMIT)
        why = f"The work was not alike enough to tell ({score:.2f}, limit {LIMIT:g}): {unlike}. As read: {figures}."
        return Judged(NOT_COMPARABLE, why, score, bring)
    return Judged(verdict, _why(verdict, decisive, metrics, figures), score)


def _score(parts: Sequence[Part]) -> float | None:
    return min((one.similarity for one in parts), default=None)


def _explains_nothing(part: Part, verdict: str, load_ratio: float | None) -> bool:
    """Whether a part is the load and moved against the verdict: more load does not make work cheaper."""
    if part.part != "load" or load_ratio is None:
        return False
    return (verdict == IMPROVED and load_ratio >= 1) or (verdict == WORSE and load_ratio <= 1)


def _verdict(decisive: Sequence[Metric]) -> str:
    better, worse = ([one for one in decisive if one.better is way] for way in (True, False))
    if not better and not worse:
        return NO_EFFECT
    if better and worse:
        return IMPROVED if _together(decisive) < 1 else WORSE
    return IMPROVED if better else WORSE


def _together(decisive: Sequence[Metric]) -> float:
    """The geometric mean of the ratios, turned so that below 1 is better; a ratio of 0 counts as a thousandth."""
    logs = [math.log(max(one.ratio or 0.0, 1e-3)) * (1 if one.direction == "low" else -1) for one in decisive]
    return math.exp(sum(logs) / len(logs))


def _why(verdict: str, decisive: Sequence[Metric], metrics: Sequence[Metric], figures: str) -> str:
    said = [f"{figures}."]
    ways = {one.better for one in decisive}
    if {True, False} <= ways:
        said.append(f"Of {len(decisive)} figures that decide some are better and some worse: look at each.")
    if verdict == NO_EFFECT:
        said.insert(0, "Nothing that decides moved outside the noise:")
    for way, word in ((True, "Better"), (False, "Worse")):
        others = [one for one in metrics if not one.decides and one.better is way]
        if others:
            listed = "; ".join(figure_said(one) for one in others[:MOST_SAID])
            more = f" and {len(others) - MOST_SAID} more" if len(others) > MOST_SAID else ""
            said.append(f"{word} beside it: {listed}{more}.")
    unsampled = [one for one in decisive if one.noise is None]
    if unsampled:
        kind = "runs of a test repeat to" if unsampled[0].tested else "of one sample on a side nothing is called under"
        said.append(f"No export shows its noise: {kind} {unsampled[0].threshold:g} %.")
    return " ".join(said)


def figure_said(one: Metric) -> str:
    """`CPU ms per transaction 12.4 → 8.1 (-35 %, 95 % interval -38 to -31 %)`."""
    per = one.work_unit is not None
    unit = one.work_unit or one.unit
    label = unit if per and unit.startswith(one.label) else f"{one.label}{f', {unit}' if unit else ''}"
    before, after = (one.work_before, one.work_after) if per else (one.before, one.after)
    said = f"{label}: {number(before)} → {number(after)}"
    if one.ratio is None:
        return said
    change = f"{percent(one.ratio)} %"
    if one.noise:
        ends = f"{percent(one.noise.low)} to {percent(one.noise.high)} %"
        change += f", 95 % interval {ends}" if one.noise.how == "bootstrap" else f", every pair of samples {ends}"
    return f"{said} ({change})"
