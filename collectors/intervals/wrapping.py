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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from collectors.facts import ABSENT, Missing, Reading, known
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

Counts = tuple[Reading, Certificate | None]
"""What was counted, and whether it is sure; no certificate where one of the two snapshots has no figure."""


@dataclass(frozen=True)
class Between:
    """What is known of the time between two snapshots."""

    seconds: float | None = None
    lifetime: float | None = None
    """Seconds that the totals of the later snapshot cover."""
    settled: bool = False
    """Whether it is known that the server ran through, and that nobody cleared its counters."""


def column(name: str, size: int | None, readings: Sequence[tuple[Reading, Reading]], between: Between) -> list[Counts]:
    """Give what each row of one column counted, from its readings before and after.

    `size`: after how many counts it starts at 0 again, `None` for 64 bits; of `HALF_WORD` the values may say better.
    """
    if size == HALF_WORD:
        size = _round([one for pair in readings for one in pair if known(one)])
    found = [_row(before, after, size, between.settled) for before, after in readings]
    if size is None:
        return found
    totals = [after % size for _, after in readings if known(after)]
    if _may_have_lapped(size, found, totals, between):
        return [
            (ABSENT, "ambiguous") if certificate in BELIEVED else (count, certificate) for count, certificate in found
        ]
    if not between.seconds:
        return found
    most = OTHERWISE.get(name, FASTEST) * between.seconds
    return [_bounded(count, certificate, size, most) for count, certificate in found]


def _round(numbers: Sequence[float]) -> int | None:
    """After how many counts the column starts at 0 again; `None` where its values say that it does not."""
    if any(one >= WORD for one in numbers):
        return None
    return WORD if any(one < 0 or one >= HALF_WORD for one in numbers) else HALF_WORD


def _row(before: Reading, after: Reading, size: int | None, settled: bool) -> Counts:
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


def _may_have_lapped(size: int, found: Sequence[Counts], totals: Sequence[float], between: Between) -> bool:
    """Whether the busiest row seen is so fast that another may have gone round unseen."""
    busiest = max((count for count, certificate in found if certificate in BELIEVED and known(count)), default=0.0)
    if between.seconds and between.lifetime:
        busiest = max([busiest, *(total * between.seconds / between.lifetime for total in totals)])
    return busiest * MARGIN >= size


def _bounded(count: Reading, certificate: Certificate | None, size: int, most: float) -> Counts:
    """Doubt a count to which the time allows one round more, and a round that it does not allow."""
    if certificate not in BELIEVED or not known(count):
        return count, certificate
    if count + size <= most or (certificate == "wrapped" and count > most):
        return ABSENT, "ambiguous"
    return count, certificate
