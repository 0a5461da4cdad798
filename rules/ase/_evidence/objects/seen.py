"""Tables and indexes of SAP ASE as the monitoring tables count them: which rows to believe, names, sizes, schemes.

Rows between two snapshots come before totals since boot, and the two are never mixed. A row that is not in the second
snapshot is unknown, not zero. An object is known by its database and its number, or by its name where no number is
there; names are compared as printed.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeVar

from collectors.facts import Facts, Source, known
from collectors.facts.ase import (
    CacheBinding,
    CachePool,
    DatabaseFragment,
    IndexSize,
    MonCachedObject,
    MonOpenObjectActivity,
    MonProcessObject,
    ObjectId,
    ObjectLockContention,
    Server,
    TableScheme,
)
from rules.ase._evidence.server import page_kb
from rules.changes.ase_table import SYSTEM_DATABASES, SYSTEM_TABLES
from rules.finding import Evidence

USES = (MonOpenObjectActivity, MonCachedObject, IndexSize, TableScheme, Server)
"""What this module looks at."""
NAMING = (MonOpenObjectActivity, DatabaseFragment, ObjectLockContention, TableScheme, ObjectId)
"""What names databases and tables by their numbers; a rule need not declare it."""
OF_THE_SERVER = {1: "master", 2: "tempdb", 3: "model"}
"""Databases that have the same number in every server."""
FIRST_OF_USERS = 100
"""System tables have smaller numbers, the same in every database."""
SHARED, SHARED_PERCENT = 2, 90.0
"""This project: how many tables in use a listing must have to be of their database, and which part of all in use there:
new ones may have been made since. One number alone may be that of another table in a database of the same age."""
SYSTEM_NAMES = frozenset(f"sys{name}" for name in SYSTEM_TABLES.split())

T = TypeVar("T")


def activity(facts: Facts) -> list[MonOpenObjectActivity]:
    """One row for each table and index: of an interval if there is one, else since boot; only what can be believed."""
    return list(facts.once(MonOpenObjectActivity, _activity))


def _activity(facts: Facts) -> list[MonOpenObjectActivity]:
    rows = facts.every(MonOpenObjectActivity)
    rows = [row for row in rows if row.of_interval] or rows
    named = _named(facts, [row for row in rows if row.believed])
    return _latest(named, lambda row: (row.instance, table_key(row), row.index_id))


def databases(facts: Facts) -> dict[int, str]:
    """The names of databases by their numbers, as far as exports say them or their tables show them."""
    told, shown = _databases_of(facts)
    return told | {number: one.name for number, one in shown.items()}


def name_evidence(facts: Facts, names: Iterable[str | None]) -> Iterator[Evidence]:
    """For each of these databases that is known by its tables alone, how many of them show it."""
    wanted = set(names)
    for number, one in _databases_of(facts)[1].items():
        if one.name in wanted:
            said = f"{one.name}, by the {'names' if one.by_name else 'object ids'} of {one.tables:,} tables"
            yield Evidence(f"database {number}", said, "", one.source, computed="from this listing and the tables used")


@dataclass(frozen=True)
class ByTables:
    """A database whose name its tables show."""

    name: str
    tables: int
    """In use, and in its listing."""
    source: Source
    """Of the listing, one of its lines."""
    by_name: bool = False
    """Whether only the names of the tables show it."""


def table_names(facts: Facts) -> dict[tuple[str, int], tuple[str | None, str]]:
    """Owner and name of tables by database and object id."""
    return facts.also(TableScheme).once(TableScheme, _table_names)


def _table_names(facts: Facts) -> dict[tuple[str, int], tuple[str | None, str]]:
    seen = facts.also(*NAMING)
    listed: list[ObjectLockContention | TableScheme | ObjectId] = [
        *seen.every(ObjectId),
        *seen.every(ObjectLockContention),
        *seen.every(TableScheme),
    ]
    return {(one.database, one.object_id): (one.owner, one.table) for one in listed if one.database and one.object_id}


def name_by_id(facts: Facts, database: str | None, db_id: int | None, object_id: int | None) -> str | None:
    """The name of an object, a procedure too, by the number of its own and of its database; `None`: nothing says it."""
    home = database or databases(facts).get(db_id or 0)
    if listed := table_names(facts).get((home or "", object_id or 0)):
        return listed[1]
    asked = facts.also(ObjectId).every(ObjectId)
    homes = {db_id, *(number for number, name in databases(facts).items() if name == home)} - {None}
    return next((one.table for one in asked if one.object_id == object_id and one.db_id in homes), None)


def place_of(facts: Facts, row: MonProcessObject) -> tuple[str | None, str | None]:
    """Database and table that a session reads, by name as far as exports have them."""
    database = row.database or databases(facts).get(row.db_id or 0)
    return database, row.object_name or name_by_id(facts, database, row.db_id, row.object_id)


def _databases_of(facts: Facts) -> tuple[dict[int, str], dict[int, ByTables]]:
    return facts.also(MonOpenObjectActivity).once(MonOpenObjectActivity, _databases)


def _databases(facts: Facts) -> tuple[dict[int, str], dict[int, ByTables]]:
    """The databases that exports name by their number, and those that their tables show."""
    seen = facts.also(*NAMING)
    names: dict[int, set[str]] = {}
    naming: list[MonOpenObjectActivity | DatabaseFragment | ObjectLockContention] = [
        *seen.every(MonOpenObjectActivity),
        *seen.every(DatabaseFragment),
        *seen.every(ObjectLockContention),
    ]
    for row in naming:
        if row.database and row.db_id is not None:
            names.setdefault(row.db_id, set()).add(row.database)
    told = OF_THE_SERVER | {number: next(iter(of)) for number, of in names.items() if len(of) == 1}
    used: dict[int, set[int | str]] = {}
    for row in seen.every(MonOpenObjectActivity):
        if row.db_id is not None and row.db_id not in {*names, *OF_THE_SERVER} and (table := _told_apart(row)):
            used.setdefault(row.db_id, set()).add(table)
    listed: dict[str, dict[int | str, Source]] = {}
    numbered: list[TableScheme | ObjectId] = [*seen.every(TableScheme), *seen.every(ObjectId)]
    for one in numbered:
        if one.database and one.database not in told.values():
            listed.setdefault(one.database, {}).update({key: one.source for key in (one.object_id, one.table) if key})
    fits = [(number, name) for number, own in used.items() for name, of in listed.items() if _fits(own, of.keys())]
    shown = {}
    for number, name in fits:
        if sum(number == other for other, _ in fits) == sum(name == other for _, other in fits) == 1:
            both = sorted(used[number] & listed[name].keys(), key=str)
            shown[number] = ByTables(name, len(both), listed[name][both[0]], by_name=isinstance(both[0], str))
    return told, shown


def _told_apart(row: MonOpenObjectActivity) -> int | str | None:
    """By what a user's table is found in a listing: its number, or where it has none its name."""
    if row.object_id:
        return row.object_id if row.object_id >= FIRST_OF_USERS else None
    return row.object_name if row.object_name and row.object_name.lower() not in SYSTEM_NAMES else None


def _fits(used: Set[int | str], listed: Set[int | str]) -> bool:
    """Whether a listing of tables is of the database in which these are in use."""
    both = len(used & listed)
    return both >= SHARED and 100.0 * both >= SHARED_PERCENT * len(used)


def _named(facts: Facts, rows: list[MonOpenObjectActivity]) -> list[MonOpenObjectActivity]:
    """The rows with the names of their databases and tables, where they have numbers alone."""
    if all(row.database and row.object_name for row in rows):
        return rows
    homes, names = databases(facts), table_names(facts)
    nowhere = {row.object_name for row in rows if not row.database and row.db_id is None and row.object_name}
    home = _home_of_all(facts, nowhere)
    found = []
    for row in rows:
        database = row.database or homes.get(-1 if row.db_id is None else row.db_id)
        if home and row.db_id is None and row.object_name:
            database = database or home
        owner, table = names.get((database or "", row.object_id or 0), (None, None))
        named = {"database": database, "owner": row.owner or owner, "object_name": row.object_name or table}
        found.append(row.placed(row.source, **named))
    return found


def _home_of_all(facts: Facts, tables: Set[str]) -> str | None:
    """The one database in which caches have all of these tables, of a listing that names none; `None` without one.

    It takes several tables: one name alone may be that of a table of another database, of which no page is cached.
    """
    if len(tables) < SHARED:
        return None
    facts, seen = facts.also(MonCachedObject, CacheBinding), dict[str, set[str]]()
    for name, database in (
        *((row.object_name, row.database) for row in facts.every(MonCachedObject)),
        *((one.table, one.database) for one in facts.every(CacheBinding)),
    ):
        if name and database:
            seen.setdefault(database, set()).add(name)
    homes = [database for database, names in seen.items() if tables <= names]
    return homes[0] if len(homes) == 1 else None


LEAST_SHARES = 3
"""This project: with fewer rows any column of per cents could fit by chance."""


def reads_of_all(rows: Sequence[MonOpenObjectActivity]) -> float | None:
    """Logical reads of all objects, listed or not, by the share of them that a script printed beside those it lists.

    Reads divided by a share give the same total in each row, within the rounding of the shares; where they do not, the
    column is a share of something else. `None` for that, and where what is listed is all there is.
    """
    shares = [(row.logical_reads, row.share_percent) for row in rows]
    read = [(reads, share) for reads, share in shares if known(reads) and known(share) and share > 0]
    if len(read) < LEAST_SHARES:
        return None
    half = 0.5 / 10 ** max(len(f"{share:.10g}".partition(".")[2]) for _, share in read)
    low = max(100 * reads / (share + half) for reads, share in read)
    high = min(100 * reads / (share - half) for reads, share in read if share > half)
    listed = sum(row.logical_reads for row in rows if known(row.logical_reads))
    return (low + high) / 2 if listed < low <= high else None


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
    """`database..table`, or numbers where the export has no names, or that it has neither."""
    if not row.object_name and not row.object_id:
        return f"a table{f' of {row.database}' if row.database else ''} that is not named"
    database = row.database or (f"db {row.db_id}" if row.db_id is not None else "?")
    return f"{database}.{row.owner or ''}.{row.object_name or row.object_id}"


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
    """Sizes as listed from the catalogue, else as monCachedObject has them (its partitions added up).

    Else the data pages that a listing of lock schemes counts, of the server's page or of the smallest pool's I/O.
    """
    found: dict[tuple[Hashable, int], float] = {}
    parts: dict[tuple[Hashable, int], dict[Hashable, float]] = {}
    for row in facts.every(MonCachedObject):
        if known(row.total_kb):
            of_partition = parts.setdefault((table_key(row), row.index_id), {})
            of_partition[(row.partition_id, row.partition_name, row.instance)] = row.total_kb
    found.update({key: sum(of_partition.values()) for key, of_partition in parts.items()})
    for size in listed_sizes(facts):
        if known(size.size_kb):
            found[(home_of(facts, size), size.index_id)] = size.size_kb
    page = page_kb(facts.also(Server, CachePool))
    for home, one in schemes(facts).items():
        if page and known(one.pages):
            found.setdefault((home, 1 if one.scheme == "allpages" and one.clustered else 0), one.pages * page)
    return Sizes(found)


def listed_sizes(facts: Facts) -> list[IndexSize]:
    """The sizes as listed, the data of each table once.

    `sp_spaceused` gives the data as index 0; a listing of the catalogue has them as index 1 where a clustered index
    holds them. Where both are there, the listing counts.
    """
    facts = facts.also(IndexSize, MonOpenObjectActivity, MonCachedObject)
    rows = facts.every(IndexSize)
    data = {home_of(facts, one) for one in rows if one.index_id <= 1 and not _by_spaceused(one)}
    return [one for one in rows if not (_by_spaceused(one) and home_of(facts, one) in data)]


def _by_spaceused(size: IndexSize) -> bool:
    return size.index_id == 0 and size.object_id is None and size.index_name is None


def home_of(facts: Facts, size: IndexSize | TableScheme) -> Hashable:
    """The table a size is of; `sp_spaceused` prints no database, and none is needed where one alone has the table.

    Where both sides have the number of the object, it has to be the same.
    """
    if size.database:
        return table_key(size)
    used: list[MonOpenObjectActivity | MonCachedObject] = [
        *facts.every(MonOpenObjectActivity),
        *facts.every(MonCachedObject),
    ]
    homes = {
        table_key(row)
        for row in used
        if row.object_name == size.table and (size.object_id is None or row.object_id in (None, size.object_id))
    }
    return homes.pop() if len(homes) == 1 else table_key(size)


def schemes(facts: Facts) -> dict[Hashable, TableScheme]:
    """The lock scheme of each table; of two listings the later.

    One without a database is of the one in which a table of this name is in use; its owner is left out then, so that no
    script is written for a database that nothing names.
    """
    found, facts = {}, facts.also(TableScheme, MonOpenObjectActivity, MonCachedObject)
    for one in sorted(facts.every(TableScheme), key=lambda one: one.database is not None or one.object_id is not None):
        key = home_of(facts, one)
        homeless = one.database is None and key != table_key(one) and isinstance(key, tuple)
        found[key] = replace(one, database=key[0], owner=None) if homeless and isinstance(key, tuple) else one
    return found


def _latest(rows: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    return list({key(row): row for row in rows}.values())
