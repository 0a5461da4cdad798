"""Whether both sides were measured for long enough to prove anything, by the minimum of the audit."""

from dataclasses import replace

from rules.compare.sides import Side
from rules.compare.verdict import NO_EFFECT, NOT_COMPARABLE, Judged
from rules.openvms._evidence.sampling import LEAST_MINUTES, LEAST_SAMPLES, least
from rules.sample import samples_of

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
    found = [one for capture in side.captures for one in samples_of(capture.facts)]
    minimum = least(LEAST_SAMPLES, LEAST_MINUTES)
    short = [why for one in found if (why := one.falls_short(minimum))]
    counted = [one.samples for one in found if one.samples is not None]
    lasted = [one.seconds for one in found if one.seconds is not None]
    enough = sum(counted) >= minimum.samples and (not lasted or sum(lasted) >= minimum.seconds)
    return short[0] + " are needed)" if short and len(short) == len(found) and not enough else ""
