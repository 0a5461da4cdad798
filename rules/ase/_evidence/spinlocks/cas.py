"""The contention of a lockless data cache: its compare-and-swap operations, as `monDataCache` counts them.

From 16.0 SP02 on `CASGrabs`, `CASSpins` and `CASWaits` stand beside the searches; contention is CASWaits / CASGrabs
(knowledge/releases-2026.md, 1.1). The cache's own spinlock is hardly taken there and says nothing of its load.
"""

from collectors.facts import Facts, known
from collectors.facts.ase import MonDataCache, MonSpinlockActivity
from rules.ase._evidence.spinlocks.figures import Figure, monitored
from rules.ase._evidence.spinlocks.monitored import Spinlock, say_doubt
from rules.finding import Clean, Outcome, Unknown, Untrusted

CAS_GRABS = "CAS grabs"


def cas_figure(facts: Facts, name: str, label: str) -> Figure | Outcome:
    """The figure of a lockless cache, over an interval where there is one; or why there is none."""
    rows = [row for row in facts.every(MonDataCache) if row.name == name]
    rows = [row for row in rows if row.of_interval] or rows
    counted = [row for row in rows if known(row.cas_grabs) and known(row.cas_waits)]
    if any(not row.believed for row in rows):
        return Untrusted(f"{label}: {say_doubt(row.certificate for row in rows)}")
    if not counted:
        bring = MonDataCache.COLLECTED_BY
        why = "it is lockless, and only its CAS waits tell its contention (16.0 SP02 and later)"
        return Unknown.without(f"CASGrabs and CASWaits of {name}", bring, f"{label}: {why}")
    for row in counted:
        grabs, waits = row.cas_grabs, row.cas_waits
        if known(grabs) and known(waits) and (grabs < 0 or not 0 <= waits <= grabs):
            return Untrusted(f"{label}: {waits:,.0f} CAS waits of {grabs:,.0f} CAS grabs cannot be: a counter wrapped")
    lock = Spinlock(
        f"{name} (compare and swap)", tuple(_row(row) for row in {row.instance: row for row in counted}.values()), 0.0
    )
    if lock.percent is None:
        return Clean(f"{label}: no CAS grab {lock.when}")
    return monitored(lock, label, "cache", uses=CAS_GRABS)


def _row(row: MonDataCache) -> MonSpinlockActivity:
    """The CAS counters in the shape of a spinlock's."""
    return MonSpinlockActivity(
        source=row.source,
        name=f"{row.name} (compare and swap)",
        instance=row.instance,
        grabs=row.cas_grabs,
        waits=row.cas_waits,
        spins=row.cas_spins,
        over=row.over,
        seconds=row.seconds,
        certificate=row.certificate,
        earlier=row.earlier,
    )
