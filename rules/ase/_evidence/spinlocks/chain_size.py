"""How large the page and row lock hash table of SAP ASE is to become where its chains are long.

The size is static, so it is to last: with chains of half the limit for the locks of the sample, by which the load may
double before another restart is due, and of the limit itself for the most locks that were held at once, as these are
such a doubling already (this project; the vendor says the next power of two).
"""

from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from rules.ase._evidence.objects.resources import LOCKS, usages_of
from rules.ase._evidence.spinlocks.gates import HASHTABLE_SMALLEST
from rules.laws.hashing import buckets_for_chain

ROOM = 2.0
"""This project: how many times the locks of the sample fit before the chains stand on their limit again."""
PEAK_MOST = 4.0
"""This project: a peak of more times the locks of the moment is of a bulk load or of another time of day, for which
nothing is sized: the vendor expects long chains of bulk loads."""


@dataclass(frozen=True)
class Peak:
    """How many times the locks of the moment were held at most, 1 to `PEAK_MOST`, by a line of sp_monitorconfig."""

    times: float
    locks: float
    source: Source


@dataclass(frozen=True)
class ChainSize:
    """The size to set, in buckets; and the one from which on what is configured already is left to be measured."""

    new: int
    enough: int


def peak_of(facts: Facts) -> Peak | None:
    """By the one line for number of locks; `None` without it, or where its peak is none of ordinary work."""
    lines = usages_of(facts, LOCKS)
    line = lines[0] if len(lines) == 1 else None
    if line is None or not known(line.active) or not known(line.max_used) or line.active <= 0:
        return None
    times = line.max_used / line.active
    return Peak(times, line.max_used, line.source) if 1.0 < times <= PEAK_MOST else None


def chain_size(facts: Facts, now: float, chain: float, limit: float, largest: int) -> ChainSize | None:
    """For chains of `chain` locks in `now` buckets; `None` where even the largest size leaves them over the limit."""
    peak = peak_of(facts)
    at_peak = chain * (peak.times if peak else 1.0)
    least, enough, roomy = (
        max(HASHTABLE_SMALLEST, buckets_for_chain(now, longest, under))
        for longest, under in ((chain, limit), (at_peak, limit), (chain, limit / ROOM))
    )
    if least > largest:
        return None
    return ChainSize(max(least, min(max(roomy, enough), largest)), min(enough, largest))
