"""The spinlocks of the address lock hash table are contended.

Finds: address-lock spinlock contention over the limit, with real lookups, more than one engine and engines at
work. Two snapshots of monSpinlockActivity are judged where they were collected, else sp_sysmon, else totals since boot.

Why it matters: address locks guard the index pages of allpages tables. With the default ratio eleven spinlocks stand
before all of them; engines that wait for one spin and burn the CPU that other work needs. Beyond 24 engines response
times were seen to grow exponentially ("ASE 16 & Managing VLDB's with VLH", Jeff Tallman 2014).

What to do: lower `lock address spinlock ratio`, so that each spinlock guards fewer of the 1031 buckets: 100 gives 11
spinlocks, 10 gives 104, 5 gives 207; to 1 at once where 5 is not expected to be enough. Where the contention stays, the
better remedy is to have no address locks at all: tables with the datarows or datapages lock scheme take none (see
ase/allpages_table_contended); the allpages table that most of the lock waits are booked to is named.

When to ignore it: when the engines are not busy, or in the few minutes of a batch that runs alone. A ratio of 1 still
leaves the collisions inside one bucket, so contention need not reach zero.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts
from rules.ase._evidence.objects.allpages import USES as TABLES
from rules.ase._evidence.objects.allpages import booked_most
from rules.ase._evidence.server import ENGINE_FACTS
from rules.ase._evidence.spinlocks.gates import LOCK_PERCENT, LOOKUPS
from rules.ase._evidence.spinlocks.ratio import Ratio, RatioLimits, falling, judge_ratio
from rules.ase._evidence.spinlocks.survey import LOCK_FACTS, lock_figure
from rules.engine import limit, percent, rule
from rules.finding import Finding, Outcome
from rules.laws.spinlocks import ADDRESS_LOCK_BUCKETS
from rules.sources import TALLMAN

RATIO = "lock address spinlock ratio"
LINKS = ("https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629101517.html",)


@dataclass(frozen=True)
class Limits(RatioLimits):
    """From which figures on the rule speaks, and which ratio it asks for."""

    contention_percent: float = percent(
        LOCK_PERCENT, f"practice: 10 % starts the search ({TALLMAN}; SolarWinds DPA, eG Innovations)"
    )
    lookups_per_second: float = limit(
        LOOKUPS["address"], "this project: with fewer lookups or grabs the per cent is of almost nothing", unit="/s"
    )


@rule(needs=(), uses=(*ENGINE_FACTS, *LOCK_FACTS, *TABLES), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the one address lock hash table of the server."""
    booked = booked_most(facts)
    for said in judge_ratio(
        facts,
        limits,
        lock_figure(facts, "address"),
        Ratio(
            parameter=RATIO,
            steps=falling(limits.target_ratio, RATIO),
            because="Only indexes of allpages tables take address locks: tables with datapages or datarows locking "
            "take none.",
            guarded=ADDRESS_LOCK_BUCKETS,
            per_second=limits.lookups_per_second,
            cautions=("A ratio of 1 still leaves collisions of address locks inside one bucket.",),
            cure=f"Convert {booked[0] if booked else 'tables'} only if the contention stays after that "
            "(ase/allpages_table_contended).",
            left=lambda _: (
                f"What is left is to convert {booked[0] if booked else 'the tables used most'} "
                "(ase/allpages_table_contended)."
            ),
        ),
    ):
        if not booked or not isinstance(said, Finding):
            yield said
            continue
        name, share = booked
        title = f"{said.title}; {float(share.value):.0f} % of the lock waits of allpages tables are of {name}"
        yield replace(said, title=title, evidence=(*said.evidence, share))
