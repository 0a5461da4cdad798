"""The spinlocks of the user log caches are contended.

Finds: `User Log Cache Spinlocks` in monSpinlockActivity with 10 % of their grabs waiting, on more than one engine that
is at work; or with less, where they have most of all spins and the ratio was raised above its default of 20.

Why it matters: each task writes its log records into a cache of its own, and one spinlock guards 20 of these caches by
default. Many small transactions at once then wait for tasks they have nothing to do with.

What to do: lower `user log cache spinlock ratio` from 20 to 5, the value of a benchmark on 16.0. It takes effect at
once. There is one log cache for each configured connection (vendor), and for each worker process, so how many spinlocks
that makes is about the connections divided by the ratio.

When to ignore it: when the engines are not busy. sp_sysmon prints nothing of these spinlocks; its ULC semaphore is
another thing, and waits for the log itself (ase/log_semaphore_contended) are usually the dearer ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.ase import MonSpinlockActivity
from rules.ase._evidence.server import ENGINE_FACTS, setting_of
from rules.ase._evidence.spinlocks.figures import figure_of
from rules.ase._evidence.spinlocks.gates import METADATA_GRABS
from rules.ase._evidence.spinlocks.monitored import USER_LOG_CACHE
from rules.ase._evidence.spinlocks.named import GRABS_ORIGIN, PERCENT_ORIGIN
from rules.ase._evidence.spinlocks.ratio import Ratio, RatioLimits, judge_ratio
from rules.engine import limit, percent, rule
from rules.finding import Outcome

LINKS = (
    "https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",
    "https://infocenter-archive.sybase.com/help/topic/com.sybase.dc37429_1250/html/whatsnew/whatsnew219.htm",
)


@dataclass(frozen=True)
class Limits(RatioLimits):
    """From which figures on the rule speaks, and which ratio it asks for."""

    contention_percent: float = percent(10.0, PERCENT_ORIGIN, low=0.1)
    grabs_per_second: float = limit(METADATA_GRABS, GRABS_ORIGIN, unit="grabs/s")
    target_ratio: int = limit(5, "practice: the ratio of a published benchmark on 16.0", low=1, high=20)


@rule(needs=(), uses=(*ENGINE_FACTS, MonSpinlockActivity), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the spinlocks over all user log caches."""
    yield from judge_ratio(
        facts,
        limits,
        figure_of(facts, USER_LOG_CACHE, "user log cache", "log", sysmon=False),
        Ratio(
            parameter="user log cache spinlock ratio",
            steps=[limits.target_ratio],
            because="One spinlock guards the log caches of several tasks, which wait for each other though they share "
            "nothing else.",
            guarded=_user_log_caches(facts),
            guards="user log caches",
            about=True,
            per_second=limits.grabs_per_second,
            cure="Fewer and larger transactions need it less often.",
        ),
    )


def _user_log_caches(facts: Facts) -> float | None:
    """One for each configured connection; `None` where the export does not say how many there are."""
    setting = setting_of(facts, "number of user connections")
    return setting.run_number if setting else None
