"""Counters of 32 bits go round: what one column of a table counted between two snapshots, and whether that is sure.

SAP's documentation lets them go to 0 after 2,147,483,647; DbxTune found those of spinlocks to go to 0 after
4,294,967,295, printed without a sign or as a negative number. Which of the two a column does is told by its values:
one that is negative or beyond 2^31 settles it for the column; else 2^31 is taken, the shorter round. A value beyond
2^32 says that this release made the column wider, so that it does not go round at all.

What was counted is then known but for whole rounds, so a bound is needed on how much can have been counted:

* By time. A row that counts no faster than `FASTEST` cannot have counted more than that times the seconds between the
  snapshots. Where one round more would still be within it the difference is `ambiguous`.
* By what is seen. The busiest row of the column says how fast this server counts: by its difference, and by its total
  since boot. The others may be `MARGIN` times as fast. Where that could have taken one of them round within the
  interval, the column is `ambiguous`. This bound alone is left where the export has no times.

A counter that fell went round only if nothing else made it fall: boot time and clear date must be known in both
snapshots and be the same. Without them it is `ambiguous`, or `reset` where going round would have taken more than the
bounds allow. One that is printed negative did go round, whatever is known: no reset makes it so large.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from operator import sub

from collectors.facts import ABSENT, Missing, Reading
from collectors.facts.columns import coded, decoded
from collectors.facts.counted import BELIEVED, Certificate

HALF_WORD, WORD = 2**31, 2**32
MARGIN = 2.0
"""A row may count so many times as fast as the busiest one seen (this project)."""
FASTEST = 500_000.0
"""Counts a second of one row, kept up over a whole interval (this project): 2^31 lasts 71 minutes then. One search of a
cache takes an engine about a microsecond, and one cache seldom has more than a few engines at it at once."""
OTHERWISE: Mapping[str, float] = {
    **dict.fromkeys(("cpu_seconds", "system_seconds", "user_seconds", "idle_seconds", "io_seconds"), 2.0),
    "context_switches": 20_000.0,
    "deadlocks": 1_000.0,
    "spins": 20_000_000.0,
}
"""The same of counters known to be slower or faster (this project): an engine's second passes once a second; one
spinlock of a published 16.0 sample with 8 engines spun 3,000,000 times a second (ase-rules.md, 5)."""


@dataclass(frozen=True)
class Between:
    """What is known of the time between two snapshots."""

    seconds: float | None = None
    """The most seconds it can have been: a bound."""
    lifetime: float | None = None
    """Seconds that the totals of the later snapshot cover."""
    settled: bool = False
    """Whether it is known that the server ran through, and that nobody cleared its counters."""


def column(
    name: str, size: int | None, before: Sequence[float], after: Sequence[float], between: Between
) -> tuple["array[float]", dict[int, Certificate | None]]:
    """Give what each row of one column counted, and the certificates of the rows where that is not `ok`.

    There is none where one of the two snapshots has no figure. Readings and counts are as `collectors.facts.columns`
    codes them. `size`: after how many counts it starts at 0 again, `None` for 64 bits; of `HALF_WORD` the values may
    say better.
    """
    if not any(map(isfinite, before)) or not any(map(isfinite, after)):
        return array("d", (old if isfinite(new) else new for old, new in zip(before, after, strict=True))), {}
    least = min(min(filter(isfinite, column), default=0.0) for column in (before, after))
    most = max(max(filter(isfinite, column), default=0.0) for column in (before, after))
    if size == HALF_WORD:
        size = None if most >= WORD else WORD if least < 0 or most >= HALF_WORD else HALF_WORD
    counts = array("d", map(sub, after, before))
    certificates: dict[int, Certificate | None] = {}
    plain = least >= 0 and (size is None or most < size)
    for at in [at for at, count in enumerate(counts) if not 0 <= count < inf] if plain else range(len(counts)):
        count, certificate = _row(decoded(before[at]), decoded(after[at]), size, between.settled)
        counts[at] = coded(count)
        if certificate != "ok":
            certificates[at] = certificate
    if size is None:
        return counts, certificates
    finite: Iterable[float] = filter(isfinite, after)
    total = max(finite if plain else (one % size for one in finite), default=0.0)
    doubtful: Iterable[int] = ()
    if _may_have_lapped(size, max(filter(isfinite, counts), default=0.0), total, between):
        doubtful = range(len(counts))
    elif between.seconds:
        bound = OTHERWISE.get(name, FASTEST) * between.seconds
        some = range(len(counts)) if size <= bound else certificates  # else only one that went round can be doubted
        doubtful = [at for at in some if _is_beyond(counts[at], certificates.get(at, "ok"), size, bound)]
    for at in doubtful:
        if certificates.get(at, "ok") in BELIEVED:
            counts[at], certificates[at] = coded(ABSENT), "ambiguous"
    return counts, certificates


def _row(before: Reading, after: Reading, size: int | None, settled: bool) -> tuple[Reading, Certificate | None]:
    """Subtract, and go round once where that is the only way."""
    if isinstance(after, Missing) or isinstance(before, Missing):
        return (after if isinstance(after, Missing) else before), None
    if size is None:
        if before < 0 or after < 0:
            return ABSENT, "ambiguous"  # nobody documents what 64 bits do
        return (after - before, "ok") if after >= before else (ABSENT, "reset")
    count = after % size - before % size
    if count >= 0:
        return count, "ok" if (before < 0) == (after < 0) else "wrapped"
    if (count + size) * MARGIN >= size:
        return ABSENT, "reset"
    return (count + size, "wrapped") if settled else (ABSENT, "ambiguous")


def _may_have_lapped(size: int, busiest: float, total: float, between: Between) -> bool:
    """Whether the busiest row seen is so fast that another may have gone round unseen."""
    if between.seconds and between.lifetime:
        busiest = max(busiest, total * between.seconds / between.lifetime)
    return busiest * MARGIN >= size


def _is_beyond(count: float, certificate: Certificate | None, size: int, most: float) -> bool:
    """Whether the time allows one round more than was counted, or does not allow the one that was."""
    return count + size <= most or (certificate == "wrapped" and count > most)
