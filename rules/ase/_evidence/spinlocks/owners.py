"""Which rule speaks of a spinlock itself, so that no two rules find the same one."""

from dataclasses import dataclass

from rules.ase._evidence.spinlocks.gates import CACHE_PERCENT, LOCK_PERCENT, LOOKUPS, METADATA_GRABS, METADATA_PERCENT
from rules.ase._evidence.spinlocks.monitored import ADDRESS, SCHEDULER, TABLE, Spinlock
from rules.ase._evidence.spinlocks.names import (
    BY_NAME,
    BY_RATIO,
    METADATA,
    meaning_of,
    plain_name,
)
from rules.engine import percent

LEAST_GRABS = {ADDRESS: LOOKUPS["address"], TABLE: LOOKUPS["table"]}
"""Grabs per second under which the rule of a name says nothing, where it is not `METADATA_GRABS`."""


@dataclass(frozen=True)
class Owners:
    """Where the rules that own a name take over: limits of the rules that ask for what no other rule speaks of."""

    ratio_percent: float = percent(LOCK_PERCENT, "practice: from 10 % on the rule of that ratio speaks", low=0.1)
    metadata_percent: float = percent(METADATA_PERCENT, "vendor: above 3 % the rule of that ratio speaks", low=0.1)
    cache_percent: float = percent(CACHE_PERCENT, "vendor: over 10 % the rule of data caches speaks", low=0.1)


def owner_of(limits: Owners, one: Spinlock, caches: list[str]) -> str:
    """The rule that speaks of this spinlock itself; nothing where none does.

    None does of one that is grabbed so seldom that its share says nothing: what it costs its spins alone say.
    """
    name, percent = plain_name(one.name), one.percent or 0.0
    if grabbed_seldom(one):
        return ""
    if name in BY_NAME:
        return BY_NAME[name]
    if name in SCHEDULER and percent >= limits.ratio_percent:
        return "ase/run_queue_spinlock_contended"
    over = percent > limits.metadata_percent if name in METADATA else percent >= limits.ratio_percent
    if name in BY_RATIO and over:
        return BY_RATIO[name][0]
    if name in caches and max(percent, one.hottest.waited_percent or 0.0) >= limits.cache_percent:
        return "ase/data_cache_spinlock_contended"
    return ""


def grabbed_seldom(one: Spinlock) -> bool:
    """Whether its grabs are under the least that its own rule asks for; `False` where no rate is known."""
    rates = one.rates(one.grabs)
    return rates is not None and rates[1] < LEAST_GRABS.get(plain_name(one.name), METADATA_GRABS)


def known_of_lock(limits: Owners, one: Spinlock, caches: list[str]) -> str:
    """The same of a spinlock with its counts: where it is grabbed seldom, that its own rule cannot go by the share."""
    name = plain_name(one.name)
    if grabbed_seldom(one) and (name in BY_RATIO or name in caches):
        guarded = BY_RATIO[name][1] if name in BY_RATIO else "a data cache"
        return f"It guards {guarded}, and is grabbed so seldom that the share its own rule goes by says nothing."
    return known_of(limits, name, caches)


def known_of(limits: Owners, name: str, caches: list[str]) -> str:
    """What is known of a spinlock that no other rule speaks of, and that its own rule asks for nothing."""
    if name in BY_RATIO:
        own, guarded = BY_RATIO[name]
        under = limits.metadata_percent if name in METADATA else limits.ratio_percent
        return f"It guards {guarded}: under {under:g} % no change of its ratio is indicated ({own})."
    if name in caches:
        return (
            f"It is the spinlock of a data cache: under {limits.cache_percent:g} % no further partition is indicated "
            "(ase/data_cache_spinlock_contended); fewer searches, by better SQL, reduce it."
        )
    return meaning_of(name)
