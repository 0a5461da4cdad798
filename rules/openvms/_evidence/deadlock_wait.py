"""DEADLOCK_WAIT, and what counts the searches that it starts."""

from collectors.facts import OVERFLOW, Facts, known
from collectors.facts.openvms import LockRates
from rules.finding import MissingInput, Untrusted
from rules.laws.rounding import plain
from rules.openvms._evidence.node import parameter_of

NAME = "DEADLOCK_WAIT"
DEFAULT = 10.0
"""Seconds, of the vendor's listing: assumed where the value is not in the export."""
LONGEST = 2**31 - 1
COLLECTED_BY = MissingInput("deadlock searches and finds per second", f"{LockRates.COLLECTED_BY}, or MONITOR LOCK")
STATISTICS = ("mean", "current")
SEARCHES = "deadlock_search_per_second"


def unreal(rates: LockRates) -> Untrusted | None:
    """Why these rates cannot be believed: no rates at all, or more finds than searches."""
    for name in (SEARCHES, "deadlock_find_per_second", "enq_waited_per_second"):
        value = getattr(rates, name)
        if value is OVERFLOW or (known(value) and not 0 <= value < float("inf")):
            said = f"{value:g}" if known(value) else "asterisks"
            return Untrusted(f"{name.replace('_', ' ')}: {said} is no rate; take a shorter sample")
    searches, finds = rates.deadlock_search_per_second, rates.deadlock_find_per_second
    if known(searches) and known(finds) and finds > 1.05 * searches + 0.01:  # rounding of both
        return Untrusted(
            f"{plain(finds, 3)} deadlocks/s found in {plain(searches, 3)} searches/s: a search finds one at most"
        )
    return None


def no_cure(facts: Facts) -> str:
    """What DEADLOCK_WAIT has to do with waits for a lock, a sentence: to lower it ends none; a low one is named."""
    setting = parameter_of(facts, NAME, 0, LONGEST)
    if isinstance(setting, tuple) and 0 < setting[0] < DEFAULT:
        low = f"{NAME} is {setting[0]:g} s, below its default of {DEFAULT:g} s"
        return f"{low}: that makes more searches and no wait shorter (openvms/deadlock_wait_not_default)."
    return f"Do not lower {NAME} below its default: that makes more searches and no wait shorter."
