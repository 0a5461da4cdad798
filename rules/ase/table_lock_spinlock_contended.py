"""The spinlocks of the table lock hash table are contended.

Finds: table lock spinlock contention over the limit (16.0: table and partition locks), with lock requests in the
sample, more than one engine and engines at work. Two snapshots of monSpinlockActivity are judged where they were
collected, else sp_sysmon, else totals since boot.

Why it matters: every statement takes at least an intent lock on each table it touches, and all of them go through one
hash table of 101 buckets. With the default ratio of 20 six spinlocks stand before it, and the last guards one bucket.

What to do: lower `lock table spinlock ratio`: 20 gives 6 spinlocks, 10 gives 11, 5 gives 21, 1 gives 101. It is static,
so the rule goes at once to the highest of them that is expected to be enough.

When to ignore it: when the engines are not busy. Where one table takes nearly all the locks, its bucket stays hot
whatever the ratio. 16.0 prints 0 lookups for this table whatever happens there, so the rule looks at the lock
requests of all kinds instead.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from rules.ase._evidence.server import ENGINE_FACTS
from rules.ase._evidence.spinlocks.gates import LOOKUPS
from rules.ase._evidence.spinlocks.ratio import Ratio, RatioLimits, falling, judge_ratio
from rules.ase._evidence.spinlocks.survey import LOCK_FACTS, lock_figure
from rules.engine import limit, rule
from rules.finding import Outcome
from rules.laws.spinlocks import TABLE_LOCK_BUCKETS

RATIO = "lock table spinlock ratio"
LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1570/html/sag1/X62616.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158573489.html",
)


@dataclass(frozen=True)
class Limits(RatioLimits):
    """From which figures on the rule speaks, and which ratio it asks for."""

    requests_per_second: float = limit(
        LOOKUPS["table"],
        "this project: with fewer lookups, grabs, or lock requests of all kinds, it is a share of nothing",
        unit="/s",
    )
    target_ratio: int = limit(10, "this project: half of the default of 20, then 5, then 1", low=1, high=101)


@rule(needs=(), uses=(*ENGINE_FACTS, *LOCK_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the one table lock hash table of the server."""
    yield from judge_ratio(
        facts,
        limits,
        lock_figure(facts, "table"),
        Ratio(
            parameter=RATIO,
            steps=falling(limits.target_ratio, RATIO),
            because="Every statement takes at least an intent lock on each table it uses, all in this one hash table.",
            guarded=TABLE_LOCK_BUCKETS,
            per_second=limits.requests_per_second,
            cautions=("A ratio of 1 still leaves the collisions of table locks inside one bucket.",),
            left=lambda _: (
                "Find the table with most of the lock requests (LockRequests of monOpenObjectActivity): "
                "its bucket stays hot whatever the ratio."
            ),
        ),
    )
