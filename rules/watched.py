"""The figures to watch over time that only the monitoring tables have, or that stand for those of a missing sp_sysmon.

Only of an interval: totals since boot would draw the same line for days, whatever happened. A figure has the key of
sp_sysmon's figure where it is the same one.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from collectors.facts import Facts, known
from collectors.facts.ase import MonEngine, MonState
from rules.ase._evidence.spinlocks.monitored import (
    OF_HASHTABLE,
    OF_METADATA,
    spinlock_named,
    spinlocks_by_name,
)

WHOLE_CPU = 101
"""Per cent that one processor may be busy at most: shares that are rounded one by one add up to a little more."""
MOST_SPINLOCKS = 5
"""Spinlocks with a figure of their own: those that spun most."""


class Watched(NamedTuple):
    """One figure: `most` is the highest it can truly be."""

    key: str
    label: str
    unit: str
    value: float | None
    better: Literal["low", "high"] | None
    most: float = float("inf")


def watched(facts: Facts) -> Iterator[Watched]:
    """Every such figure that was read; values may be `None`."""
    yield from _engines(facts)
    yield from _work(facts)
    yield from _contention(facts)
    yield from _spins(facts)


def _engines(facts: Facts) -> Iterator[Watched]:
    rows = [row for row in facts.every(MonEngine) if row.of_interval and row.believed]
    online = {(row.instance, row.engine): row for row in rows if (row.status or "online").lower() == "online"}
    busy = [row.busy_percent for row in online.values() if row.busy_percent is not None]
    if online:
        yield Watched("ase.engines", "engines online", "", len(online), None)
    if busy and len(busy) == len(online):
        yield Watched("ase.engine_busy", "engines busy, mean", "%", sum(busy) / len(busy), None, WHOLE_CPU)
        yield Watched("ase.engine_busy_most", "busiest engine", "%", max(busy), None, WHOLE_CPU)


def _work(facts: Facts) -> Iterator[Watched]:
    for row in facts.every(MonState):
        if row.of_interval and row.believed and row.seconds and known(row.transactions):
            done = row.transactions / row.seconds
            yield Watched("ase.transactions", "transactions, as monState counts them", "/s", done, "high")


def _contention(facts: Facts) -> Iterator[Watched]:
    for table, name in OF_HASHTABLE.items():
        lock = spinlock_named(facts, name)
        if lock and lock.of_interval:
            label = f"{table} lock hash table: spinlock contention"
            yield Watched(f"ase.lock_hashtable_contention:{table}", label, "%", lock.percent, "low", 100)
    for kind, name in OF_METADATA.items():
        lock = spinlock_named(facts, name)
        if lock and lock.of_interval and lock.percent:
            label = f"{kind} spinlock contention"
            yield Watched(f"ase.metadata_contention:{kind}", label, "%", lock.percent, "low", 100)


def _spins(facts: Facts) -> Iterator[Watched]:
    locks = [lock for lock in spinlocks_by_name(facts).values() if lock.of_interval and lock.seconds]
    if not locks:
        return
    yield Watched(
        "ase.spins", "spins of all spinlocks", "/s", sum(lock.rate(lock.spins) or 0.0 for lock in locks), "low"
    )
    for lock in sorted(locks, key=lambda lock: (-lock.spins, lock.name))[:MOST_SPINLOCKS]:
        if lock.spins:
            yield Watched(f"ase.spins:{lock.name}", f"{lock.name}: spins", "/s", lock.rate(lock.spins), "low")
