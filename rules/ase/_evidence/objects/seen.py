"""Tables and indexes of SAP ASE as the monitoring tables count them: which rows to believe, names, sizes, schemes.

Rows between two snapshots come before totals since boot, and the two are never mixed. A row that is not in the second
snapshot is unknown, not zero. An object is known by its database and its number, or by its name where no number is
there; names are compared as printed.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from collectors.facts import Facts, known
from collectors.facts.ase import (
    IndexSize,
    MonCachedObject,
    MonOpenObjectActivity,
    Server,
    TableScheme,
)
from rules.changes.ase_table import SYSTEM_DATABASES, SYSTEM_TABLES

USES = (MonOpenObjectActivity, MonCachedObject, IndexSize, TableScheme, Server)
"""What this module looks at."""
SYSTEM_NAMES = frozenset(f"sys{name}" for name in SYSTEM_TABLES.split())

T = TypeVar("T")


def activity(facts: Facts) -> list[MonOpenObjectActivity]:
    """One row for each table and index: of an interval if there is one, else since boot; only what can be believed."""
    return list(facts.once(MonOpenObjectActivity, _activity))


def _activity(facts: Facts) -> list[MonOpenObjectActivity]:
    rows = facts.every(MonOpenObjectActivity)
    rows = [row for row in rows if row.of_interval] or rows
    return _latest((row for row in rows if row.believed), lambda row: (row.instance, table_key(row), row.index_id))


def doubts(facts: Facts) -> list[str | None]:
    """The certificates of rows that cannot be believed."""
    return [row.certificate for row in facts.every(MonOpenObjectActivity) if not row.believed]


def table_key(row: MonOpenObjectActivity | MonCachedObject | IndexSize | TableScheme) -> Hashable:
    """What makes rows of different exports rows of the same table: database and name, else the numbers."""
    name = row.table if isinstance(row, IndexSize | TableScheme) else row.object_name
    if row.database and name:
        return (row.database, name)
    number = row.object_id
    database = None if isinstance(row, IndexSize | TableScheme) else row.db_id
    return (row.database or database, number if number is not None else name)


def name_of(row: MonOpenObjectActivity | MonCachedObject) -> str:
    """`database..table`, or numbers where the export has no names."""
    database = row.database or (f"db {row.db_id}" if row.db_id is not None else "?")
    return f"{database}.{row.owner or ''}.{row.object_name or row.object_id or '?'}"


def is_system(row: MonOpenObjectActivity | MonCachedObject) -> bool:
    """Whether this is a table of the server itself, or one of a database that is."""
    name, database = (row.object_name or "").lower(), (row.database or "").lower()
    return (
        name in SYSTEM_NAMES or database in SYSTEM_DATABASES or (row.object_id is not None and 0 < row.object_id < 100)
    )


@dataclass(frozen=True)
class Sizes:
    """Kilobytes by table and index."""

    of: dict[tuple[Hashable, int], float]

    def kb(self, row: MonOpenObjectActivity) -> float | None:
        """The size of what a row counts; `None` where no export says it."""
        return self.of.get((table_key(row), row.index_id))


def sizes(facts: Facts) -> Sizes:
    """Sizes as listed from the catalogue, else as monCachedObject has them (its partitions added up)."""
    found: dict[tuple[Hashable, int], float] = {}
    parts: dict[tuple[Hashable, int], dict[Hashable, float]] = {}
    for row in facts.every(MonCachedObject):
        if known(row.total_kb):
            of_partition = parts.setdefault((table_key(row), row.index_id), {})
            of_partition[(row.partition_id, row.partition_name, row.instance)] = row.total_kb
    found.update({key: sum(of_partition.values()) for key, of_partition in parts.items()})
    for size in facts.every(IndexSize):
        if known(size.size_kb):
            found[(table_key(size), size.index_id)] = size.size_kb
    return Sizes(found)


def schemes(facts: Facts) -> dict[Hashable, TableScheme]:
    """The lock scheme of each table; of two listings the later."""
    return {table_key(one): one for one in facts.every(TableScheme)}


def page_kb_of(facts: Facts) -> float | None:
    """The logical page in kilobytes, as the server says it."""
    said = [server.page_size_bytes / 1024 for server in facts.every(Server) if known(server.page_size_bytes)]
    return said[-1] if said else None


def _latest(rows: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    return list({key(row): row for row in rows}.values())
