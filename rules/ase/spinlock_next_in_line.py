"""Another spinlock comes up once contention for the first is reduced.

Finds: on busy engines one spinlock that can take a noticeable part of their time, and behind it another with a quarter
or more of the spins that are left, which can take a noticeable part of it, too.

Why it matters: tasks that queue at one spinlock do not get to the next. At one site the descriptors' spinlocks "who
were hiding suddenly popped up" with 30 to 40 % as soon as the address locks' was reduced ("ASE 16 & Managing VLDB's
with VLH", Jeff Tallman 2014). A change that succeeds can then look like one that failed.

What to do: after the change compare both, by spins and by grabs, and judge the change by the first alone. Where both
have a change that can be made at the same restart, one restart does.

When to ignore it: where the second already has a finding of its own, its remedy stands there. Which one comes next is
likely, not certain: it is the second by its spins now, and what waits behind the first is counted nowhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.ase import MonSpinlockActivity
from rules.ase._evidence.server import ENGINE_FACTS, ENGINES_MISSING, engines_of, unknown_of
from rules.ase._evidence.spinlocks.entries import entry_of
from rules.ase._evidence.spinlocks.monitored import SCHEDULER, all_in_doubt, share_in_words, spinlocks_by_name
from rules.ase._evidence.spinlocks.names import plain_name
from rules.ase._evidence.spinlocks.spin_severity import BUSY_PERCENT, SpinBound, spin_bound
from rules.engine import percent, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown
from rules.sources import TALLMAN

LINKS = ("https://blogs.sap.com/2014/07/16/ase-16-managing-vldb-s-with-vlh-very-large-hardware/",)
COMPARE = (
    "After the change for {0} compare the spins and grabs of both, and judge it by {0} alone: {1} that rises then is "
    "no sign that it failed."
)
LIKELY = "Which one comes next is likely, not certain: what waits behind the first is counted nowhere."


@dataclass(frozen=True)
class Limits:
    """When a spinlock is worth relieving, and when another is likely to follow."""

    first_percent: float = percent(
        5.0, "this project: of the engines' time at most, less is hardly felt when it is reduced", low=1
    )
    rest_percent: float = percent(25.0, "this project: with less of what is left, several share it", low=1)
    busy_percent: float = percent(BUSY_PERCENT, "practice: threads busier than this want relief (justdaveinfo)")


@rule(needs=(), uses=(MonSpinlockActivity, *ENGINE_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look at the first two by their spins, the scheduler's queues left out."""
    locks = [one for one in spinlocks_by_name(facts).values() if plain_name(one.name) not in SCHEDULER]
    if not locks:
        yield all_in_doubt(facts) or unknown_of(facts, MonSpinlockActivity)
        return
    first, *others = sorted(locks, key=lambda one: -one.spins)
    bound = spin_bound(facts, first)
    if not first.of_interval or not first.seconds or bound is None:
        yield Unknown.of(MonSpinlockActivity)
        return
    engines = engines_of(facts, interval=True)
    if engines.number is None or bound.busy_percent is None:
        yield Unknown((ENGINES_MISSING,))
        return
    if bound.busy_percent < limits.busy_percent or bound.percent < limits.first_percent:
        yield Clean(
            f"{first.name} has the most spins, at most {bound.percent:.1f} % of the time of engines "
            f"{bound.busy_percent:.0f} % busy (limits {limits.first_percent:g} and {limits.busy_percent:g} %)"
        )
        return
    left = sum(one.spins for one in others)
    second = others[0] if others else None
    behind = spin_bound(facts, second)
    if second is None or behind is None or behind.nothing or second.spins * 100.0 < limits.rest_percent * left:
        yield Clean(f"no other spinlock stands behind {first.name} with {limits.rest_percent:g} % of the other spins")
        return
    yield _finding(limits, bound, behind, 100.0 * second.spins / left)


def _finding(limits: Limits, first: SpinBound, second: SpinBound, share: float) -> Finding:
    entry = entry_of(second.lock.name)
    waited = share_in_words(second.lock.percent or 0.0)
    return Finding(
        subject=second.lock.name,
        severity=Severity.NOTE,
        title=f"{second.lock.name} is likely to come next when contention for {first.lock.name} is reduced",
        seen=(
            f"{first.lock.name} has the most spins; of the spins of all others {second.lock.name} has {share:.0f} %, "
            f"and {waited} % of its grabs had to wait."
        ),
        because=(
            f"Who queues at one spinlock does not get to the next, so reducing the first can raise the second "
            f"({TALLMAN})."
        ),
        do=COMPARE.format(first.lock.name, second.lock.name),
        unknown=LIKELY if entry and entry.relief else f"{LIKELY} No source names a remedy for it.",
        evidence=(
            Evidence(
                f"{second.lock.name} share of the other spins",
                round(share, 1),
                "%",
                second.lock.source,
                limits.rest_percent,
            ),
            first.evidence,
            second.evidence,
            Evidence(f"{first.lock.name} spins", first.lock.spins, "", first.lock.source),
            Evidence(f"{second.lock.name} spins", second.lock.spins, "", second.lock.source),
        ),
        weight=second.lock.spins,
        share=second.lock.percent,
    )
