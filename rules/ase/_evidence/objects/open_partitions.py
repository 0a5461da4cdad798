"""One partition of a table, or of an index, that takes most of what is counted of it, by `monOpenPartitionActivity`.

Everything has one partition at least, so a table is looked at from two on, and only between two snapshots. What is in
neither of them is unknown: the share is of the partitions listed, or of the whole table where that was counted higher.
"""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import MonOpenPartitionActivity
from rules.ase._evidence.objects.seen import activity, table_key
from rules.finding import Evidence

PARTITION_FACTS = (MonOpenPartitionActivity,)
"""What a rule that uses this module has to declare, beside `MonOpenObjectActivity`."""
MOST_PERCENT, UNEVEN = 50.0, 1.5
"""This project: more than half, and half as much again as an even spread would give (of two partitions, 75 %)."""
FEWEST = 100.0
"""This project: with fewer counted in all, chance alone makes them uneven."""


@dataclass(frozen=True)
class HotPartition:
    """The partition that most is of."""

    row: MonOpenPartitionActivity
    count: float
    percent: float
    partitions: int
    """Of this table or index, as far as they are listed."""

    @property
    def name(self) -> str:
        """As the server calls it, else its number."""
        return self.row.partition_name or f"{self.row.partition_id}"


def hot_partition(facts: Facts, table: Hashable, index_id: int, field: str) -> HotPartition | None:
    """The one partition of a table or index with most of a counter; `None` where it is spread, or not to be told.

    `table`: as `table_key` says it. `field`: the name of a counter of `MonOpenPartitionActivity`.
    """
    rows = [
        row
        for row in facts.every(MonOpenPartitionActivity)
        if row.of_interval and _same(row.index_id, index_id) and table_key(row) == table
    ]
    latest = {(row.instance, row.partition_id, row.partition_name): row for row in rows}.values()
    counts: dict[Hashable, float] = {}
    most: dict[Hashable, MonOpenPartitionActivity] = {}
    for row in latest:
        value = getattr(row, field)
        if not row.believed or not known(value) or value < 0:
            return None  # it might be the one
        key = (row.partition_id, row.partition_name)
        counts[key] = counts.get(key, 0.0) + value
        most[key] = row
    if len(counts) < 2:
        return None
    whole = max(sum(counts.values()), _of_table(facts, table, index_id, field))
    first = max(counts, key=lambda key: counts[key])
    if whole < FEWEST:
        return None
    percent = 100.0 * counts[first] / whole
    if percent <= MOST_PERCENT or percent < UNEVEN * 100.0 / len(counts):
        return None
    return HotPartition(most[first], counts[first], percent, len(counts))


def _same(one: int, other: int) -> bool:
    """Whether both are the same index; 0 and 1 are the data of a table, which has one of the two."""
    return one == other or {one, other} == {0, 1}


def _of_table(facts: Facts, table: Hashable, index_id: int, field: str) -> float:
    read = [
        getattr(row, field)
        for row in activity(facts)
        if row.of_interval and _same(row.index_id, index_id) and table_key(row) == table
    ]
    return sum(value for value in read if known(value))


def partition_evidence(
    facts: Facts, tables: Iterable[tuple[Hashable, int, str]], field: str, what: str
) -> Iterator[Evidence]:
    """What one partition has of each table, in count and share. `tables`: key, index and name; `what`: `lock waits`."""
    for table, index_id, name in tables:
        found = hot_partition(facts, table, index_id, field)
        if found:
            where = f"partition {found.name} of {name}"
            yield Evidence(f"{what} of {where}", found.count, "", found.row.source)
            share = f"share of {where} in the {what} of its {found.partitions} partitions"
            yield Evidence(share, round(found.percent, 1), "%", found.row.source)
