"""Most of the spinning is on one spinlock, and no other rule explains it.

Finds: busy engines, and one spinlock with more spins than all others together (the queues of the scheduler left out),
which can have taken a tenth of the engines' time, and of which no other rule speaks: its name has no rule, its share of
waits is under the limit of its rule, or it is grabbed too seldom for that rule.

Why it matters: a server that spins looks like one that works. Its engines are busy, and part of that time does nothing;
no other finding says so, because no share is over its limit.

What to do: collect what would show the cause: sp_sysmon of the same minutes, the tables and indexes in use, and the
same two snapshots at a lower load, where the engine time of each transaction shows what the spinning takes. Ask SAP's
support about a name that no source explains. Nothing is changed before: no remedy is known for it. Where the name says
what it guards and that says what would make it less, that comes first, with who says so.

When to ignore it: when transactions grow with the load and the response times are good. The bound is one: at most
100 ns a turn, and no more of the busy time than the spinlock's share of all spins; what a turn takes is in no source.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import (
    LockSummary,
    MonCachedObject,
    MonOpenObjectActivity,
    MonSpinlockActivity,
    MonSysWaits,
    SysmonSample,
)
from rules.ase._evidence.log.waiting import WAITING_FACTS, LogOf, log_of
from rules.ase._evidence.server import (
    ENGINE_FACTS,
    ENGINES_MISSING,
    engines_of,
    unknown_of,
)
from rules.ase._evidence.spinlocks.lock_work import WORK_FACTS, do_of, looks, seen_of
from rules.ase._evidence.spinlocks.monitored import (
    SCHEDULER,
    Spinlock,
    all_in_doubt,
    spinlocks_by_name,
)
from rules.ase._evidence.spinlocks.names import BY_RATIO, DATABASE, LOCKS, plain_name, with_relief
from rules.ase._evidence.spinlocks.owners import Owners, grabbed_seldom, known_of_lock, owner_of
from rules.ase._evidence.spinlocks.raised import is_lever
from rules.ase._evidence.spinlocks.spin_severity import (
    BUSY_PERCENT,
    CRITICAL_PERCENT,
    MOST_PERCENT,
    SpinBound,
    spin_bound,
)
from rules.ase._evidence.spinlocks.survey import CACHE_FACTS, cache_names
from rules.engine import rule
from rules.finding import Clean, Evidence, Finding, MissingInput, Outcome, Severity, Unknown, joined

LINKS = ("https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",)
WAIT = "Change nothing before the cause is known."
BY_SPINS = (
    "By its spins this is the spinlock to work on first: look at what takes it before its ratio, as no source says "
    "what a lower ratio gives below that limit."
)
AGAIN = (
    "The same two snapshots at a lower load, with the transactions of both, would show what the spinning takes of each "
    "transaction."
)
SYSMON = MissingInput("what the server did in the same minutes", LockSummary.COLLECTED_BY)


@dataclass(frozen=True)
class Limits(Owners):
    """Where the rules that own a name take over."""


@rule(
    needs=(),
    uses=(*ENGINE_FACTS, *CACHE_FACTS, *WORK_FACTS, *WAITING_FACTS, MonCachedObject, MonSysWaits),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look at the one spinlock that has most of the spins, where there is one."""
    locks = spinlocks_by_name(facts).values()
    if not locks:
        yield all_in_doubt(facts) or unknown_of(facts, MonSpinlockActivity)
        return
    if engines_of(facts, interval=True).number == 1:
        yield Clean("with one engine nobody waits for another")
        return
    own = [one for one in locks if plain_name(one.name) not in SCHEDULER]
    most = spin_bound(facts, max(own, key=lambda one: one.spins, default=None))
    if most is None or not most.most:
        yield Clean(f"no spinlock has {MOST_PERCENT:g} % of the spins outside the scheduler's queues")
        return
    caches = cache_names(facts)
    owner = owner_of(limits, most.lock, caches)
    if not owner and is_lever(facts, most.lock) and not grabbed_seldom(most.lock):
        owner = BY_RATIO[plain_name(most.lock.name)][0]
    if owner:
        yield Clean(f"{most.lock.name} has most of the spins: judged by {owner}")
    elif most.dominates:
        yield _finding(facts, limits, most, caches)
        lacking = tuple(_lacking(facts, most.lock, caches))
        if lacking:
            yield Unknown(lacking)
    elif most.lock.of_interval and engines_of(facts, interval=True).number is None:
        yield Unknown((ENGINES_MISSING,), f"{most.lock.name} has most of the spins; on how many engines?")
    else:
        yield _why_not(facts, most)


def _why_not(facts: Facts, most: SpinBound) -> Outcome:
    """Why the spinlock with most of the spins is no finding here."""
    said = f"{most.lock.name} has most of the spins {most.lock.when}"
    if most.busy_percent is not None and most.busy_percent < BUSY_PERCENT:
        return Clean(f"{said}, but the engines are {most.busy_percent:.1f} % busy (limit {BUSY_PERCENT:g} %)")
    if not most.lock.of_interval or not most.lock.seconds:
        return unknown_of(facts, MonSpinlockActivity, why=f"{said}: no rate is known, so nothing shows what it costs")
    if most.busy_percent is None:
        return Unknown((ENGINES_MISSING,), f"{said}: how busy the engines were is not in the export")
    return Clean(f"{said}: at most {most.percent:.1f} % of the engines' time (limit {CRITICAL_PERCENT:g} %)")


def _finding(facts: Facts, limits: Limits, most: SpinBound, caches: list[str]) -> Finding:
    lock, name = most.lock, plain_name(most.lock.name)
    seen = looks(facts) if name in LOCKS else []
    lacking = [one.fact for one in _lacking(facts, lock, caches)]
    cause = (
        f"The cause these exports do not show: collect {', '.join(lacking)}."
        if lacking
        else "The cause these exports do not show."
    )
    engines = engines_of(facts, interval=True)
    busy = Evidence("mean engine busy", round(most.busy_percent or 0.0, 1), "%", engines.source, BUSY_PERCENT)
    share = lock.spins_share or 0.0
    relief = with_relief(lock.name, caches)
    home = log_of(facts) if name.startswith(DATABASE) else None
    return Finding(
        subject=lock.name,
        severity=Severity.WARNING,
        title=f"{lock.name} has {share:.0f} % {lock.of_all} on engines {most.busy_percent:.0f} % busy: "
        + (f"{relief.guards}{f' ({home.name})' if home else ''}" if relief else "cause not shown"),
        seen=joined(lock.counted_waits, most.says),
        because=joined(f"{relief.guarded}." if relief else _meaning(limits, lock, caches), seen_of(seen)),
        do=joined(BY_SPINS if name in BY_RATIO else relief.helps if relief else WAIT, _work(facts, home), do_of(seen)),
        unknown=joined(cause, AGAIN),
        evidence=(
            busy,
            *lock.evidence(),
            most.evidence,
            *((home.evidence,) if home else ()),
            *(item for look in seen for item in look.evidence),
        ),
        explains=("ase/engines_not_the_answer",),
        weight=lock.spins,
        share=lock.percent,
    )


def _work(facts: Facts, home: LogOf | None) -> str:
    """How many transactions there are, and in which database, beside a structure of it; empty where it is not known."""
    sample = facts.latest(SysmonSample)
    if home is None or sample is None or not known(sample.committed_xacts) or not sample.seconds:
        return ""
    return f"There are {sample.committed_xacts / sample.seconds:,.0f} commits a second, most work is in {home.name}."


def _meaning(limits: Limits, lock: Spinlock, caches: list[str]) -> str:
    """What is known of it; of one with a rule of its own, why that says nothing."""
    name = plain_name(lock.name)
    if name not in BY_RATIO or grabbed_seldom(lock):
        return known_of_lock(limits, lock, caches)
    own, guarded = BY_RATIO[name]
    return f"It guards {guarded}, and its share of waits is under the limit of its own rule ({own})."


def _lacking(facts: Facts, lock: Spinlock, caches: list[str]) -> Iterator[MissingInput]:
    """What would show the cause and was not collected."""
    name = plain_name(lock.name)
    if not facts.every(SysmonSample) and not facts.every(LockSummary):
        yield SYSMON
    if not any(one.of_interval for one in facts.every(MonOpenObjectActivity)):
        yield MissingInput("tables and indexes in use", MonOpenObjectActivity.COLLECTED_BY)
    if name in caches and not facts.every(MonCachedObject):
        yield MissingInput("what the cache holds", MonCachedObject.COLLECTED_BY)
    if name not in caches and name not in LOCKS and not facts.every(MonSysWaits):
        yield MissingInput("what tasks wait for", MonSysWaits.COLLECTED_BY)
