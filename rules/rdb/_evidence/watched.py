"""The figures of a database to watch over time, and its attributes by stable names.

Only of an interval, or of a reset within the day: an average of weeks would draw the same line whatever happened.
"""

from collections.abc import Iterator
from typing import Any

from collectors.facts import Facts, Missing
from rules.rdb._evidence.counted import averaged, counted
from rules.rdb._evidence.databases import OneDatabase, databases
from rules.rdb._evidence.statistics import Statistics
from rules.watched import Watched

ITEMS = (
    ("blocking asts", "blocking ASTs"),
    ("requests stalled", "new lock requests that stalled"),
    ("promotions stalled", "lock promotions that stalled"),
)
ATTRIBUTES = {
    "nodes_configured": "NUMBER OF CLUSTER NODES",
    "maximum_nodes": "node count as the header prints it",
    "maximum_users": "NUMBER OF USERS",
    "open_mode": "OPEN",
    "snapshot_mode": "SNAPSHOT",
    "statistics_enabled": "statistics enabled",
    "global_buffers": "GLOBAL BUFFERS enabled",
    "page_transfer": "PAGE TRANSFER VIA",
    "adjustable_locking": "ADJUSTABLE LOCK GRANULARITY enabled",
    "carry_over_locks": "CARRY OVER LOCKS enabled",
    "lock_partitioning": "LOCK PARTITIONING enabled",
    "lock_timeout_seconds": "LOCK TIMEOUT INTERVAL, seconds",
    "after_image_journaling": "JOURNAL enabled",
    "fast_commit": "FAST COMMIT enabled",
    "commit_to_journal": "COMMIT TO JOURNAL OPTIMIZATION enabled",
    "transaction_interval": "TRANSACTION INTERVAL",
    "prestarted_transactions": "PRESTARTED TRANSACTIONS enabled",
    "active_row_caches": "active row caches",
    "reserved_row_caches": "reserved cache slots",
}
"""Attributes of a database as a person calls them; stable, so that two captures can be held against each other."""


def watched_databases(facts: Facts) -> Iterator[Watched]:
    """Every such figure that was read and can be believed; of a node where the screens name one."""
    for one in databases(facts):
        found, _ = counted(facts, one)
        for each in found:
            if not averaged(each):
                yield from _figures(one, each)


def _figures(one: OneDatabase, each: Statistics) -> Iterator[Watched]:
    where = f"{one.subject} on {each.node}" if each.node else one.subject
    yield Watched(f"rdb.lock_operations:{where}", f"{where}: lock operations", "/s", each.operations(), None)
    share = each.share("page")
    if share:
        yield Watched(
            f"rdb.page_locks:{where}", f"{where}: page locks", "% of lock operations", share.percent, None, 110
        )
    for item, label in ITEMS:
        rate = each.rate(item, "total")
        yield Watched(f"rdb.{item.replace(' ', '_')}:{where}", f"{where}: {label}", "/s", _value(rate), "low")
    done = each.transactions
    yield Watched(f"rdb.transactions:{where}", f"{where}: transactions", "/s", _value(done), "high")


def _value(rate: Any) -> float | None:
    return None if rate is None else float(rate.per_second)


def attributes_of(facts: Facts) -> Iterator[tuple[str, str | float]]:
    """Every attribute that was read, as `PAYROLL: FAST COMMIT enabled` → `yes`."""
    for one in databases(facts):
        for field, label in ATTRIBUTES.items():
            read = one.read(field)
            if read is None or isinstance(read.value, Missing):
                continue
            value = read.value
            yield f"{one.subject}: {label}", ("yes" if value else "no") if isinstance(value, bool) else value
