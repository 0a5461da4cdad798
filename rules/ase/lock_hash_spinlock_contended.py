"""The spinlocks of the page and row lock hash table are contended.

Finds: page and row lock spinlock contention over the limit, with real lookups, more than one engine and engines at
work. Half of the limit is enough where the spins are measured, can have taken a tenth of the time of busy engines, and
the ratio was never lowered. Two snapshots of monSpinlockActivity are judged where they were collected, else sp_sysmon,
else totals since boot.

Why it matters: each page or row lock is taken in a hash table whose buckets share spinlocks. With the defaults 2048
buckets at a ratio of 85 have about 25 of them (the manual says 26); engines that wait for one burn the CPU that other
work needs.

What to do: where `deadlock checking period` is 0, set a period first (dynamic) and measure: the search for deadlocks
at once on each wait holds lock spinlocks often (vendor). Else lower `lock spinlock ratio` from 85 to 20, and at once as
far below as is expected to be enough. Where chains are long, a larger `lock hashtable size` (ase/lock_hash_chains_long)
shortens them and adds spinlocks at the same ratio, so it comes first; a ratio is asked for in the same restart only
where the larger table is not expected to be enough. Fewer lock requests are the remedy: shorter transactions, a lower
isolation level, an earlier lock promotion where the lock promotion HWM runs above the vendor's 200 and no promotion is
counted.

When to ignore it: when the engines are not busy. The figure is a share, not a cost: a server with a ratio of 20 and
65,536 buckets was still seen above 20 %, and the advice given there was to compare waits and spins before tuning on
(SAP forum, linked).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.ase import ConfigParameter, LockHashtable
from rules.ase._evidence.server import ENGINE_FACTS, setting_of
from rules.ase._evidence.spinlocks.chain_size import chain_size
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import HASHTABLE_LARGEST, LOOKUPS
from rules.ase._evidence.spinlocks.ratio import Ratio, RatioLimits, falling, judge_ratio
from rules.ase._evidence.spinlocks.survey import LOCK_FACTS, lock_figure
from rules.ase._evidence.waits.deadlocks import PERIOD, searched_at_once
from rules.ase._evidence.waits.promotion import PROMOTION_FACTS, lower_hwm
from rules.changes.ase_config import configure, waiting_number
from rules.engine import limit, rule
from rules.finding import Evidence, Finding, Outcome, capitalized
from rules.laws.spinlocks import contention_after, spinlocks

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629103095.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629101923.html",
    "https://answers.sap.com/questions/292244/how-to-address-high-page-row-lock-hashtable-spinlo.html",
)

SIZE, RATIO = "lock hashtable size", "lock spinlock ratio"
AT_ONCE = (
    f"{PERIOD} is 0, so each lock wait is searched for deadlocks at once, which holds lock spinlocks often and is not "
    "for production (vendor). Set it back to {0} first (dynamic), and measure before the ratio is touched."
)
MILLISECONDS = "In milliseconds, the Default of the listing: so long a task waits before a deadlock is looked for."
FEWER = "fewer lock requests (shorter transactions, a lower isolation level)"


@dataclass(frozen=True)
class Limits(RatioLimits):
    """From which figures on the rule speaks, and which ratio it asks for."""

    lookups_per_second: float = limit(
        LOOKUPS["page and row"],
        "this project: with fewer lookups or grabs the per cent is of almost nothing",
        unit="/s",
    )
    chain_length: float = limit(5.0, "vendor: raise lock hashtable size above 4 or 5 at peak", low=1, unit="locks")
    target_ratio: int = limit(20, "vendor: the ratio of its own bulk-load example", low=1, high=85)


@rule(needs=(), uses=(*ENGINE_FACTS, *LOCK_FACTS, *PROMOTION_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the one page and row lock hash table of the server."""
    figure = lock_figure(facts, "page and row")
    size, ratio = setting_of(facts, SIZE), setting_of(facts, RATIO)
    table = facts.latest(LockHashtable, table="page and row")
    long = _long(table, limits)
    larger = _larger(facts, size, long, limits) if long else None
    first, size_to = "", f" ({larger})" if larger else ""
    if long and (larger is None or (isinstance(figure, Figure) and _enough(figure, limits, size, larger, ratio))):
        first = (
            f"The hash chains are {long:g} locks long (limit {limits.chain_length:g}), so a larger {SIZE}{size_to} "
            "comes first (ase/lock_hash_chains_long) and adds spinlocks at the same ratio: measure after it."
        )
    at_once = searched_at_once(facts)
    default = at_once.default_value if at_once and isinstance(at_once.default_value, float) else 0.0
    if at_once:
        first = AT_ONCE.format(f"{default:,.0f} ms" if default > 0 else "its default")
    outcomes = judge_ratio(
        facts,
        limits,
        figure,
        Ratio(
            parameter=RATIO,
            steps=falling(limits.target_ratio, RATIO),
            because="Every page or row lock is taken in this hash table, whose buckets share the spinlocks.",
            guarded=size.run_number if size else None,
            guarded_then=larger,
            with_it=f"{SIZE} {larger} (ase/lock_hash_chains_long)" if larger else "",
            guarded_bring=f'sp_configure "{SIZE}"',
            about=True,
            per_second=limits.lookups_per_second,
            cure="" if at_once else lower_hwm(facts) or _cure(long),
            first=first,
        ),
    )
    for outcome in outcomes:
        if at_once and isinstance(outcome, Finding):
            back = isinstance(figure, Figure) and not figure.since_boot and not figure.short and first in outcome.do
            yield replace(
                outcome,
                evidence=(*outcome.evidence, Evidence(PERIOD, 0, "ms", at_once.source)),
                changes=(configure(PERIOD, 0, default, cautions=(MILLISECONDS,)),) if back and default > 0 else (),
            )
        else:
            yield outcome


def _cure(long: float | None) -> str:
    """What else reduces it; a larger table is spoken of elsewhere where its chains are long."""
    if long:
        return f"{capitalized(FEWER)} reduce it too."
    return f"A larger {SIZE}, which adds spinlocks, and {FEWER} reduce it too."


def _long(table: LockHashtable | None, limits: Limits) -> float | None:
    """The mean chain where it is over its limit."""
    chain = table.chain_length if table else None
    return chain if chain is not None and known(chain) and chain > limits.chain_length else None


def _larger(facts: Facts, size: ConfigParameter | None, chain: float, limits: Limits) -> int | None:
    """The size that the rule of the chains asks for; `None` where it asks for none that a script sets."""
    now = size.run_number if size else None
    if now is None or now < 1:
        return None
    asked, waits = chain_size(facts, now, chain, limits.chain_length, HASHTABLE_LARGEST), waiting_number(size)
    return None if asked is None or (waits is not None and waits >= asked.enough) else asked.new


def _enough(
    figure: Figure, limits: Limits, size: ConfigParameter | None, larger: int, ratio: ConfigParameter | None
) -> bool:
    """Whether the larger table alone is expected to bring the contention under the limit, or nothing tells."""
    now, running = ratio.run_number if ratio else None, size.run_number if size else None
    if now is None or now < 1 or running is None or not known(figure.contention):
        return True
    after = contention_after(figure.contention, spinlocks(running, now), spinlocks(larger, now))
    return after < limits.contention_percent
