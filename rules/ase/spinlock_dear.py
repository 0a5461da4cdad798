"""A spinlock costs the most spins of all, whatever its share.

Finds: spinlocks with a tenth or more of all spins, and so many spins each second that engines lose time to them, of
which no other rule speaks: names without a rule, and names with one whose share of waits is under its limit, or which
are grabbed too seldom for it. One with most of all spins on busy engines is more than advice: that is
ase/spinning_unexplained.

Why it matters: the per cent says how many grabs had to wait, not what the waiting cost. 40 of 100 grabs that spin 200
times in all are nothing; 2 % of a hundred thousand grabs each second may be a noticeable part of every engine (SAP
wiki, linked).

What to do: look at what takes it. Under the limit of its own rule no ratio and no partition is asked for. For the locks
the rule names what the export shows: forwarded rows, the log semaphore, lock requests for each commit, promotions. Of
a name that no source explains it says just that: no remedy is invented.

When to ignore it: when the server does the work it should. Where its spins can have taken less than 3 % of the engines'
time at most it is a note: a busy server with nothing wrong has one such spinlock, too. The largest spinlock of a
healthy server is always some spinlock; the queues of the threaded kernel (`Sched Q`) spin very much with a low share
and that is normal. Each turn costs nanoseconds, how many depends on the processor, so no cost in processors is
computed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.ase import MonSpinlockActivity
from rules.ase._evidence.server import (
    ENGINE_FACTS,
    ENGINES_MISSING,
    Engines,
    engines_of,
    unknown_of,
)
from rules.ase._evidence.spinlocks.large import LargeLimits, not_dear, nothing_to_gain
from rules.ase._evidence.spinlocks.lock_work import COLLECTED_BY, WORK_FACTS, do_of, looks, seen_of
from rules.ase._evidence.spinlocks.monitored import (
    SCHEDULER,
    Spinlock,
    all_in_doubt,
    spinlocks_by_name,
)
from rules.ase._evidence.spinlocks.names import BY_RATIO, LOCKS, plain_name, with_relief
from rules.ase._evidence.spinlocks.owners import grabbed_seldom, known_of_lock, owner_of
from rules.ase._evidence.spinlocks.raised import is_lever
from rules.ase._evidence.spinlocks.ratio import LEAVE_IT
from rules.ase._evidence.spinlocks.spin_severity import spin_bound
from rules.ase._evidence.spinlocks.survey import CACHE_FACTS, cache_names
from rules.engine import percent, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown, joined

LINKS = ("https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",)
UNCHANGED = "No setting is to be changed for it; look at what takes it."


@dataclass(frozen=True)
class Limits(LargeLimits):
    """From which spins on the rule speaks and is more than a note, and where the rules that own a name take over."""

    loud_percent: float = percent(
        3.0,
        "this project: under what is worth a warning where it is measured, a ceiling with nothing to do is a note",
        low=0.1,
        of="engines' time",
    )


@rule(needs=(), uses=(*ENGINE_FACTS, *CACHE_FACTS, *WORK_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Rank all spinlocks by spins, and speak of the dear ones that no other rule speaks of."""
    locks = sorted(spinlocks_by_name(facts).values(), key=lambda one: -one.spins)
    if not locks:
        yield all_in_doubt(facts) or unknown_of(facts, MonSpinlockActivity)
        return
    engines = engines_of(facts, interval=locks[0].of_interval)
    first = next((one for one in locks if plain_name(one.name) not in SCHEDULER), locks[0])
    most = f"most spins: {first.name}, {first.spins:,.0f} {first.when}"
    if nothing := nothing_to_gain(limits, engines):
        yield Clean(f"{most}; {'' if engines.number == 1 else 'but '}{nothing}")
        return
    large = [one for one in locks if one.spins_share is not None and one.spins_share >= limits.spins_share_percent]
    caches, said = cache_names(facts), [most]
    for one in large:
        owner = _owner(facts, limits, one, caches)
        low = not_dear(limits, one, engines)
        if owner or low:
            said.append(f"{one.name}: {owner or low}")
        else:
            yield _finding(facts, limits, one, engines, caches, first)
    yield Clean("; ".join(said))
    if engines.number is None:
        yield Unknown((ENGINES_MISSING,))


def _owner(facts: Facts, limits: Limits, one: Spinlock, caches: list[str]) -> str:
    """The rule that speaks of this spinlock; nothing where none does."""
    owner = owner_of(limits, one, caches)
    if owner:
        return f"judged by {owner}"
    if is_lever(facts, one) and not grabbed_seldom(one):
        return f"judged by {BY_RATIO[plain_name(one.name)][0]}"
    bound = spin_bound(facts, one)
    return "judged by ase/spinning_unexplained" if bound and bound.dominates else ""


def _finding(
    facts: Facts, limits: Limits, one: Spinlock, engines: Engines, caches: list[str], first: Spinlock
) -> Finding:
    name, percent, busy = plain_name(one.name), one.percent or 0.0, engines.busy_percent
    loud = one.of_interval and one.span is not None and busy is not None and name not in SCHEDULER
    bound = spin_bound(facts, one, engines)
    loud = loud and (bound is None or bound.percent >= limits.loud_percent)
    seen = looks(facts) if name in LOCKS else []
    evidence = [*one.evidence(), *(item for look in seen for item in look.evidence)]
    rate = one.per_engine(engines.number)
    if rate is not None:
        evidence.append(
            Evidence(f"{one.name} spins per second and engine", round(rate), "/s", one.source, limits.spins_per_engine)
        )
    known = with_relief(one.name, caches)
    idle = "" if busy is not None else "How busy the engines were is not in the export, so this is a note."
    return Finding(
        subject=one.name,
        severity=Severity.ADVICE if loud else Severity.NOTE,
        title=f"{one.name} {_place(one, first)}: {one.spins_share or 0.0:.0f} % {one.of_all}, "
        f"{percent:.2f} % contended",
        seen=one.counted_waits,
        because=joined(f"{known.guarded}." if known else known_of_lock(limits, one, caches), seen_of(seen)),
        do=do_of(seen)
        or (COLLECTED_BY if name in LOCKS else LEAVE_IT if name in SCHEDULER else known.helps if known else UNCHANGED),
        unknown=joined(idle, one.caveat),
        evidence=tuple(evidence),
        explains=("ase/engines_not_the_answer",) if loud else (),
        weight=one.spins,
        share=percent,
    )


def _place(one: Spinlock, first: Spinlock) -> str:
    """How it stands among the others."""
    if plain_name(one.name) in SCHEDULER:
        return "spins much, as is normal for it"
    return "is the most expensive spinlock" if one is first else "is among the most expensive spinlocks"
