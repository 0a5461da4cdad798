"""The hash chains of the page and row lock table are long.

Finds: an average chain of more than five locks in the page and row lock hash table, in a sample with real lookups.

Why it matters: every lock request walks the chain of its bucket, and holds the spinlock of that bucket while it walks.
Long chains make locking slower on any server and the spinlocks hotter on one with several engines.

What to do: raise `lock hashtable size` in one restart to the power of two whose expected chain is half the limit at
most, so that the load may double before the next restart (this project), and never below 2048. The chain is locks
divided by buckets, so twice the buckets halve it while the same locks are held. Where `sp_monitorconfig` shows that up
to four times the locks of the moment were held, these stay under the limit itself. At the same `lock spinlock ratio`
the number of spinlocks grows with it. Where single waits for latches are long as well, the vendor names this size first
for them.

When to ignore it: during bulk copy and other large insert batches, which hold very many locks for a short time: the
vendor says that long chains are expected there. Judge a sample of the peak of ordinary work. Where the size would
have to grow past the largest this rule asks for, first ask who holds so many locks.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import OVERFLOW, Facts, known
from collectors.facts.ase import ConfigParameter, LockHashtable, ResourceUsage
from rules.ase._evidence.caches.memory import MEMORY_FACTS, free_evidence, too_little
from rules.ase._evidence.server import (
    ENGINE_FACTS,
    busy_of,
    setting_of,
    subject_of,
)
from rules.ase._evidence.spinlocks.chain_size import chain_size, peak_of
from rules.ase._evidence.spinlocks.gates import (
    BUSY_ORIGIN,
    BUSY_PERCENT,
    HASHTABLE_LARGEST,
    HASHTABLE_SMALLEST,
    LOOKUPS,
)
from rules.ase._evidence.spinlocks.monitored import PAGE_ROW
from rules.ase._evidence.waits.latches import chains_behind
from rules.ase._evidence.waits.tasks import WAIT_FACTS
from rules.changes.ase_config import configure, more_memory, waiting_number
from rules.engine import limit, percent, rule
from rules.finding import Change, Clean, Evidence, Expectation, Finding, Outcome, Severity, Unknown, Untrusted
from rules.laws.rounding import plain

SIZE = "lock hashtable size"
LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629101923.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/X65808.htm",
)


@dataclass(frozen=True)
class Limits:
    """How long is long, and how far the rule goes."""

    chain_length: float = limit(5.0, "vendor: raise the size above 4 or 5 at peak", low=1, unit="locks")
    warning_length: float = limit(10.0, "this project: twice the vendor's figure is a warning", low=1, unit="locks")
    lookups_per_second: float = limit(
        LOOKUPS["page and row"], "this project: below this no walk costs anything", unit="lookups/s"
    )
    busy_percent: float = percent(BUSY_PERCENT, BUSY_ORIGIN)
    largest_size: int = limit(
        HASHTABLE_LARGEST,
        "this project: past this a person asks first who holds the locks",
        low=HASHTABLE_SMALLEST,
        unit="buckets",
    )


@rule(
    needs=(LockHashtable,), uses=(*ENGINE_FACTS, *WAIT_FACTS, *MEMORY_FACTS, ResourceUsage), links=LINKS, limits=Limits
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the chains of the one table whose size can be set."""
    table = facts.latest(LockHashtable, table="page and row")
    chain = table.chain_length if table else None
    if table is None or (chain is not OVERFLOW and not known(chain)):
        yield Unknown.of(LockHashtable)
        return
    if not known(chain) or chain < 0:
        yield Untrusted("average chain length printed as asterisks or below zero")
        return
    said = f"average chain of {chain:g} locks"
    rate, (_, busy) = table.lookups_per_second, busy_of(facts)
    if chain <= limits.chain_length:
        yield Clean(f"{said}, limit {limits.chain_length:g}")
    elif known(rate) and rate < limits.lookups_per_second:
        yield Clean(f"{said}, but only {rate:g} lookups per second (limit {limits.lookups_per_second:g})")
    elif busy is not None and busy < limits.busy_percent and not chains_behind(facts):
        yield Clean(f"{said}, but the engines are {busy:.1f} % busy: nothing to gain")
    else:
        yield from _fires(facts, limits, table, chain)


def _fires(facts: Facts, limits: Limits, table: LockHashtable, chain: float) -> Iterator[Outcome]:
    setting = setting_of(facts, SIZE)
    now = setting.run_number if setting else None
    evidence = [Evidence("average lock chain", chain, "locks", table.source, limits.chain_length)]
    if known(table.lookups_per_second):
        evidence.append(
            Evidence("lookups", table.lookups_per_second, "/s", table.source, float(limits.lookups_per_second))
        )
    if setting and now is not None:
        evidence.append(Evidence(SIZE, now, "buckets", setting.source))
    if setting and now is not None and (peak := peak_of(facts)):
        evidence.append(Evidence("locks in use at most", peak.locks, "locks", peak.source))
    change, expects, advice = _larger(facts, limits, setting, now, chain)
    if setting and now is not None and not change:
        evidence += free_evidence(facts)
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.WARNING if chain >= limits.warning_length else Severity.ADVICE,
        title=f"Page and row lock chains are {plain(round(chain, 1), 4)} locks long",
        seen=f"Hash chains of page and row locks hold {plain(chain, 3)} locks on average "
        f"(limit {limits.chain_length:g}).",
        because="Each lock request walks the chain of its bucket, and holds the spinlock of the bucket meanwhile.",
        do=advice,
        unknown="Whether the sample holds a bulk load is not shown: long chains are expected then, and nothing is "
        "changed for them.",
        evidence=tuple(evidence),
        explains=(
            "ase/lock_hash_spinlock_contended",
            f"ase/spinlock_dear:{PAGE_ROW}",
            *(("ase/latch_contended",) if chains_behind(facts) else ()),
        ),
        changes=change,
        expects=expects,
    )
    if now is None:
        yield Unknown.without(SIZE, f'sp_configure "{SIZE}"')


def _larger(
    facts: Facts, limits: Limits, setting: ConfigParameter | None, now: float | None, chain: float
) -> tuple[tuple[Change, ...], tuple[Expectation, ...], str]:
    """The size that brings the chain well under the limit at the peak, too, and the sentence about it."""
    if setting is None or now is None or now < 1:
        return (), (), f'The size in force is not in the export: sp_configure "{SIZE}" shows it.'
    size = chain_size(facts, now, chain, limits.chain_length, limits.largest_size)
    if size is None:
        first = f"More buckets would be needed than this rule asks for ({limits.largest_size:.0f}): first see"
        return (), (), f"{first} who holds so many locks (sp_lock, or monLocks with enable monitoring on)."
    new, wanted = size.new, waiting_number(setting)
    if wanted is not None and wanted >= size.enough:
        return (), (), f"{SIZE} is already configured to {wanted:.0f} and waits for a restart: measure after it."
    pending = f", in place of the {wanted:.0f} that is configured and not enough" if wanted is not None else ""
    memory_mb, caution = more_memory(setting, now, new)
    if short := too_little(facts, SIZE, memory_mb):
        return (), (), f"{SIZE} is to become {new} in place of {now:.0f}{pending}. {short}"
    after, peak = chain * now / new, peak_of(facts)
    more = f" and {plain(after * peak.times, 2)} with {plain(peak.times, 2)} times as many (Max_Used)" if peak else ""
    return (
        (configure(SIZE, now, new, cautions=(caution,), memory_mb=memory_mb, configured=wanted),),
        (Expectation("average lock chain", chain, round(after, 2), "arithmetic"),),
        f"Raise {SIZE} from {now:.0f} to {new} at the next restart{pending}: with the same locks held, chains of about "
        f"{plain(after, 2)}{more}. That leaves room for more load before another restart.",
    )
