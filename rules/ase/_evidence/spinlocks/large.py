"""Why a spinlock that spins much, or whose grabs often wait, is no finding: the words of the rules, in one place.

The largest spinlock of a healthy server is always some spinlock (SAP wiki, "Spinlocks and CPU usage in SAP ASE"). What
says that it costs nothing here are the engines, the rate of its spins, and what is known of its name.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from collectors.facts import Facts
from rules.ase._evidence.server import Engines
from rules.ase._evidence.spinlocks.figures import FEW_GRABS
from rules.ase._evidence.spinlocks.gates import (
    BUSY_ORIGIN,
    BUSY_PERCENT,
    SHARE_ORIGIN,
    SPINS_ORIGIN,
    SPINS_PER_ENGINE,
    SPINS_SHARE,
)
from rules.ase._evidence.spinlocks.monitored import SCHEDULER, Spinlock, share_in_words
from rules.ase._evidence.spinlocks.names import QUEUES, plain_name
from rules.ase._evidence.spinlocks.owners import Owners, known_of
from rules.ase._evidence.spinlocks.spin_severity import spin_bound
from rules.engine import limit, percent
from rules.finding import capitalized, joined


@dataclass(frozen=True)
class LargeLimits(Owners):
    """From which spins on a spinlock is large, and what makes it cost something."""

    spins_share_percent: float = percent(SPINS_SHARE, SHARE_ORIGIN, low=1)
    spins_per_engine: float = limit(SPINS_PER_ENGINE, SPINS_ORIGIN, unit="spins/s")
    contention_percent: float = percent(
        1.0, "this project: without times or engines no rate is known, and the share must count"
    )
    busy_percent: float = percent(BUSY_PERCENT, BUSY_ORIGIN)


def nothing_to_gain(limits: LargeLimits, engines: Engines) -> str:
    """Why the engines say that no spinlock costs anything; nothing where they do not."""
    if engines.number == 1:
        return "with one engine nobody waits for another"
    if engines.busy_percent is not None and engines.busy_percent < limits.busy_percent:
        return f"the engines are {engines.busy_percent:.1f} % busy: nothing to gain"
    return ""


def not_dear(limits: LargeLimits, one: Spinlock, engines: Engines) -> str:
    """Why its spins take no noticeable time; nothing where they do."""
    rate, share = one.per_engine(engines.number), one.percent or 0.0
    if left_open := one.open_per_engine(engines.number, limits.spins_per_engine):
        return left_open
    if rate is not None:
        few = f"only {rate:,.0f} spins a second and engine (limit {limits.spins_per_engine:,.0f})"
        return few if rate < limits.spins_per_engine else ""
    if share < limits.contention_percent or one.grabs < FEW_GRABS:
        return f"{share:.2f} % of {one.grabs:,.0f} grabs, and no rate is known"
    return ""


def is_large(limits: LargeLimits, one: Spinlock) -> bool:
    """Whether somebody who reads the figures would ask about it: a tenth of all spins, or of its grabs that waited."""
    return (one.spins_share or 0.0) >= limits.spins_share_percent or (one.percent or 0.0) >= limits.ratio_percent


def why_normal(facts: Facts, limits: LargeLimits, one: Spinlock, engines: Engines, caches: Iterable[str]) -> str:
    """Why no rule advises anything about a large spinlock, in sentences; empty where it is not large or nothing says.

    A time that leaves open on which side of a limit its spins are is no reason.
    """
    if not is_large(limits, one):
        return ""
    if plain_name(one.name) in SCHEDULER:
        share = one.percent or 0.0
        if share >= limits.ratio_percent:
            return ""
        waited = f"{share_in_words(share)} % of its grabs had to wait; the rule of these queues speaks from"
        return f"{QUEUES} {waited} {limits.ratio_percent:g} % on."
    bound = spin_bound(facts, one)
    open_ = one.open_per_engine(engines.number, limits.spins_per_engine)
    why = nothing_to_gain(limits, engines) or ("" if open_ else not_dear(limits, one, engines))
    sentence = f"{capitalized(why)}." if why else bound.says if bound and bound.nothing else ""
    return joined(sentence, known_of(limits, plain_name(one.name), list(caches))) if sentence else ""
