"""Which databases are temporary ones, and which data caches serve them.

Temporary tables come and go, so pages of such a cache are replaced as soon as its databases outgrow it, whatever a
sample shows: no relaxed LRU is proposed for it. A database is known for a temporary one by being `tempdb`, by its id 2,
by `sp_tempdb "show"`, or because it holds tables that begin with `#`. One that only has `tempdb` in its name may be one
(`tempdb_hr`) or may not (`tempdb_archive`): that is a guess, by which nothing is scripted, in either way.
"""

from dataclasses import replace

from collectors.facts import Fact, Facts
from collectors.facts.ase import CacheBinding, MonCachedObject, MonOpenObjectActivity, NamedCache, TemporaryDatabase
from rules.ase._evidence.caches.contents import Contents, by_database
from rules.ase._evidence.caches.figures import kind_of
from rules.ase._evidence.objects.seen import databases
from rules.changes.ase_binding import is_tempdb
from rules.changes.ase_cache import DEFAULT_CACHE

TEMPORARY_FACTS: tuple[type[Fact], ...] = (CacheBinding, MonCachedObject, MonOpenObjectActivity, TemporaryDatabase)
"""What a rule declares that asks for temporary databases."""
TEMPDB_ID = 2


def temporary_databases(facts: Facts) -> frozenset[str]:
    """The names of the databases that an export shows to be temporary ones: not by a name alone."""
    listed = {one.name for one in facts.every(TemporaryDatabase)}
    return frozenset(
        name
        for name, number, table in _named(facts)
        if name in listed or name.lower() == "tempdb" or _temporary(number, table)
    )


def perhaps_temporary(facts: Facts) -> frozenset[str]:
    """Those, and the databases that have a name like one: for what must not be done to a temporary database."""
    return temporary_databases(facts) | {name for name, _, _ in _named(facts) if is_tempdb(name)}


def sums_of_temporary(facts: Facts) -> Contents | None:
    """What counts added up by database say of temporary ones, which are bound as a whole; `None` without such counts.

    Of the tables of other databases they say nothing.
    """
    sums, temporary = by_database(facts), temporary_databases(facts)
    return sums and replace(sums, held=tuple(one for one in sums.held if one.database in temporary))


def _named(facts: Facts) -> list[tuple[str, int | None, str | None]]:
    """Databases of all exports, with number and table of each row."""
    homes = databases(facts)
    rows = [
        (row.database or homes.get(row.db_id or 0), row.db_id, row.object_name)
        for row in facts.every(MonOpenObjectActivity)
    ]
    rows += [(row.database, row.db_id, row.object_name) for row in facts.every(MonCachedObject)]
    rows += [(row.database, None, None) for row in facts.every(CacheBinding)]
    return [(name, number, table) for name, number, table in rows if name]


def _temporary(db_id: int | None, table: str | None) -> bool:
    return db_id == TEMPDB_ID or (table or "").startswith("#")


def serves_tempdb(facts: Facts, cache: str, named: NamedCache | None) -> bool:
    """Whether a named cache is one of temporary databases.

    One is bound to it, or pages of one were seen in it; else its type or its name says so.
    """
    databases = perhaps_temporary(facts)
    bound = (one for one in facts.every(CacheBinding) if one.cache == cache and one.valid is not False)
    if any(one.database in databases and one.table is None for one in bound):
        return True
    if kind_of(named) == "log" or cache == DEFAULT_CACHE or (named is not None and named.is_default):
        return False
    seen = any(one.cache == cache and one.database in databases for one in facts.every(MonCachedObject))
    return seen or kind_of(named) == "tempdb" or is_tempdb(cache)
