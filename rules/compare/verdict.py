"""From metrics and parts to a verdict, with its reason in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from rules.compare.metrics import REPEATS_PERCENT, Metric
from rules.compare.similarity import Part
from rules.compare.words import number, percent
from rules.laws.comparability import LIMIT

IMPROVED, NO_EFFECT, WORSE, NOT_COMPARABLE = "improved", "no-effect", "worse", "not-comparable"
MIXED = "mixed"
"""Of the figures that decide some are better and some worse: which of them matters more the exports do not tell."""
MOST_SAID = 3
"""Other metrics named in the reason; all are in the table."""
COLLECTED_BY = {
    "ase": "sp_sysmon '00:10:00' -- on both sides: it counts committed transactions and busy engines",
    "openvms": "a T4 file, or MONITOR LOCK, MODES of the same time, of both sides: lock operations and busy CPUs",
    "rdb": "RMU/SHOW STATISTICS screens of both sides: transactions and stalls",
    "scaling": "load series of the same work at the same loads, of both sides",
    "unix": "a table of runs of the same variants and numbers of processes, of both sides",
    "zvm": "a table of runs of one release on each side, on the same numbers of processors: pages count no work, and a "
    "table that holds both sides is compared by audit",
}
SAME_WORK = "a capture of the same work as on the other side"
SAME = {
    "hour": "a capture of the same hour and the same kind of day as the other side",
    "load": "a capture under about the same load as the other side",
    "processors": "a capture with as many processors online as on the other side",
    "machine": "a capture of the same machine as on the other side",
    "time": "a capture taken at another time, after the change",
    "idle": "a capture of a time at which the system works",
}
"""Part that is too unlike → what to bring; `SAME_WORK` for any other."""
SPUN = ("openvms.mp_synch", "ase.spins")
"""What grows with the load and has no fixed part."""


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
    bring = (COLLECTED_BY[product],) if product in COLLECTED_BY else ()
    if unit is None:
        return Judged(NOT_COMPARABLE, "No unit of work was counted on both sides.", _score(parts), bring)
    decisive = [one for one in metrics if one.decides and (one.ratio is not None or one.came)]
    if not decisive:
        little = ", ".join(one.label for one in metrics if one.work_unit is not None and not one.matters)
        why = f"Nothing both sides tell is a cost per {unit}{f' but too little to go by: {little}' if little else ''}."
        return Judged(NOT_COMPARABLE, why, _score(parts), bring)
    verdict = _verdict(decisive)
    counted = [one for one in parts if not one.meant and not _explains_nothing(one, verdict, load_ratio, metrics)]
    score = _score(counted)
    figures = "; ".join(figure_said(one) for one in decisive[:MOST_SAID])
    if score is not None and score < LIMIT:
        unlike = "; ".join(one.why for one in counted if one.similarity < LIMIT)
        why = (
            f"The work was not comparable enough to tell ({score:.2f}, limit {LIMIT:g}): {unlike}. As read: {figures}."
        )
        alike = [SAME.get(one.part, SAME_WORK) for one in counted if one.similarity < LIMIT]
        return Judged(NOT_COMPARABLE, why, score, tuple(dict.fromkeys(alike)))
    return Judged(verdict, _why(verdict, decisive, metrics, figures), score)


def _score(parts: Sequence[Part]) -> float | None:
    return min((one.similarity for one in parts), default=None)


def _explains_nothing(part: Part, verdict: str, load_ratio: float | None, metrics: Sequence[Metric]) -> bool:
    """Whether a part is the load, and cannot be what the verdict comes from.

    More load makes contention worse, but it also shares out what a machine does anyway: each unit of work then costs
    less without any cure, and more at less load. So the load is left out only where the whole amount per second, or
    what is spun, moved against it: less of it for more work is a fix, more of it for less work a loss.
    """
    if part.part != "load" or load_ratio is None or verdict not in (IMPROVED, WORSE):
        return False
    if (load_ratio < 1) if verdict == IMPROVED else (load_ratio > 1):
        return False
    return any(_moved_as(verdict, one) for one in metrics if one.decides or (one.key in SPUN and one.matters))


def _moved_as(verdict: str, one: Metric) -> bool:
    """Whether the amount per second itself moved the way of the verdict, by more than the same work repeats to."""
    if one.direction != "low" or one.before is None or one.after is None:
        return False
    far = 1 + REPEATS_PERCENT / 100
    return one.after * far < one.before if verdict == IMPROVED else one.after > one.before * far


def _verdict(decisive: Sequence[Metric]) -> str:
    ways = {one.better for one in decisive}
    if {True, False} <= ways:
        return MIXED
    return IMPROVED if True in ways else WORSE if False in ways else NO_EFFECT


def _why(verdict: str, decisive: Sequence[Metric], metrics: Sequence[Metric], figures: str) -> str:
    said = [f"{figures}."]
    if verdict == MIXED:
        better, worse = (_listed([one for one in decisive if one.better is way]) for way in (True, False))
        said = [f"Better: {better}. Worse: {worse}. Which of them counts for this system the figures do not tell."]
    elif verdict == NO_EFFECT:
        said.insert(0, "Nothing that decides moved outside the noise:")
    for way, word in ((True, "Better"), (False, "Worse")):
        others = [one for one in metrics if not one.decides and one.better is way]
        if others:
            said.append(f"{word} beside it: {_listed(others)}.")
    if any(one.noise and one.noise.outside and (one.noise.proves or one.tested) and not one.moved for one in decisive):
        said.append(f"Less than {REPEATS_PERCENT:g} % is called nothing, for the same work repeats no better.")
    if any(one.noise and not one.noise.proves and not one.tested for one in decisive):
        few = decisive[0].threshold
        said.append(f"In so few samples every pair agrees by chance too: nothing is called under {few:g} %.")
    unsampled = [one for one in decisive if one.noise is None]
    if unsampled:
        kind = "runs of a test repeat to" if unsampled[0].tested else "of one sample on a side nothing is called under"
        said.append(f"No export shows its noise: {kind} {unsampled[0].threshold:g} %.")
    return " ".join(said)


def _listed(metrics: Sequence[Metric]) -> str:
    listed = "; ".join(figure_said(one) for one in metrics[:MOST_SAID])
    return f"{listed} and {len(metrics) - MOST_SAID} more" if len(metrics) > MOST_SAID else listed


def figure_said(one: Metric) -> str:
    """`CPU ms per transaction 12.4 → 8.1 (-35 %, 95 % interval -38 to -31 %)`."""
    per = one.work_unit is not None
    unit = one.work_unit or one.unit
    label = unit if per and unit.startswith(one.label) else f"{one.label}{f', {unit}' if unit else ''}"
    before, after = (one.work_before, one.work_after) if per else (one.before, one.after)
    said = f"{label}: {number(before)} → {number(after)}"
    if one.ratio is None:
        return f"{said} (none before)" if one.came else said
    change = f"{percent(one.ratio)} %"
    if one.noise and one.noise.bounded:
        ends = f"{percent(one.noise.low)} to {percent(one.noise.high)} %"
        change += f", 95 % interval {ends}" if one.noise.how == "bootstrap" else f", every pair of samples {ends}"
    return f"{said} ({change})"
