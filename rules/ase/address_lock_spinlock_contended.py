"""The spinlocks of the address lock hash table are contended.

Finds: address-lock spinlock contention over the limit, with real lookups, more than one engine and engines at
work. Two snapshots of monSpinlockActivity are judged where they were brought, else sp_sysmon, else totals since boot.

Why it matters: address locks guard the index pages of allpages tables. With the default ratio eleven spinlocks stand
before all of them; engines that wait for one spin and burn the CPU that other work needs. Beyond 24 engines response
times were seen to grow exponentially ("ASE 16 & Managing VLDB's with VLH", Jeff Tallman 2014).

What to do: lower `lock address spinlock ratio`, so that each spinlock guards fewer of the 1031 buckets: 100 gives 11
spinlocks, 10 gives 104, 5 gives 207; to 1 at once where 5 is not expected to be enough. Where the contention stays, the
better cure is to have no address locks at all: tables with the datarows or datapages lock scheme take none (see
ase/allpages_table_contended).

When to ignore it: when the engines are not busy, or in the few minutes of a batch that runs alone. A ratio of 1 still
leaves the collisions inside one bucket, so contention need not reach zero.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from rules.ase._evidence.server import ENGINE_FACTS, setting_of
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import (
    BUSY_ORIGIN,
    BUSY_PERCENT,
    CRITICAL_ORIGIN,
    LOCK_PERCENT,
    LOOKUPS,
)
from rules.ase._evidence.spinlocks.ratio import Ratio, Thresholds, judge_ratio
from rules.ase._evidence.spinlocks.survey import LOCK_FACTS, lock_figure
from rules.engine import limit, percent, rule
from rules.finding import Outcome
from rules.laws.spinlocks import ADDRESS_LOCK_BUCKETS
from rules.sources import TALLMAN

LINKS = ("https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629101517.html",)

PARAMETER = "lock address spinlock ratio"
ONLY = (
    "Address locks exist only on the indexes of allpages tables: tables with datapages or datarows locking take none."
)
FIRST = "The ratio comes first; a table is converted only if the contention stays (ase/allpages_table_contended)."
LEFT = "What is left is to convert the tables that are used most (ase/allpages_table_contended)."


@dataclass(frozen=True)
class Limits:
    """From which figures on the rule speaks, and which ratio it asks for."""

    contention_percent: float = percent(
        LOCK_PERCENT, f"practice: 10 % starts the search ({TALLMAN}; SolarWinds DPA, eG Innovations)"
    )
    critical_percent: float = percent(30.0, CRITICAL_ORIGIN)
    lookups_per_second: float = limit(
        LOOKUPS["address"], "this project: with fewer lookups or grabs the per cent is of almost nothing", unit="/s"
    )
    busy_percent: float = percent(BUSY_PERCENT, BUSY_ORIGIN)
    target_ratio: int = limit(5, f"practice: used at 64 engines ({TALLMAN})", low=1, high=1031)


@rule(needs=(), uses=(*ENGINE_FACTS, *LOCK_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the one address lock hash table of the server."""
    figure = lock_figure(facts, "address")
    if not isinstance(figure, Figure):
        yield figure
        return
    setting = setting_of(facts, PARAMETER)
    lowest = setting is not None and setting.run_number is not None and setting.run_number <= 1
    yield from judge_ratio(
        facts,
        Thresholds(limits.contention_percent, limits.critical_percent, limits.busy_percent, limits.lookups_per_second),
        Ratio(
            figure=figure,
            parameter=PARAMETER,
            steps=sorted({limits.target_ratio, 1}, reverse=True),
            guarded=ADDRESS_LOCK_BUCKETS,
            cautions=("A ratio of 1 still leaves collisions of address locks inside one bucket.",),
            cure=f"{ONLY} {LEFT if lowest else FIRST}",
        ),
    )
