"""Which databases are temporary ones, and which data caches serve them.

Temporary tables come and go, so pages of such a cache are replaced as soon as its databases outgrow it, whatever a
sample shows: no relaxed LRU is proposed for it. A database is taken for a temporary one by its name (`tempdb` in it),
by its id 2, or because it holds tables that begin with `#`.
"""

from collectors.facts import Fact, Facts
from collectors.facts.ase import CacheBinding, MonCachedObject, MonOpenObjectActivity, NamedCache
from rules.changes.ase_binding import is_tempdb
from rules.changes.ase_cache import DEFAULT_CACHE
from rules.judging.caches.figures import kind_of

TEMPORARY_FACTS: tuple[type[Fact], ...] = (CacheBinding, MonCachedObject, MonOpenObjectActivity)
"""What a rule declares that asks for temporary databases."""
TEMPDB_ID = 2


def temporary_databases(facts: Facts) -> frozenset[str]:
    """The names of the temporary databases that any export names."""
    rows = [(row.database, row.db_id, row.object_name) for row in facts.every(MonOpenObjectActivity)]
    rows += [(row.database, row.db_id, row.object_name) for row in facts.every(MonCachedObject)]
    bound = {one.database for one in facts.every(CacheBinding) if is_tempdb(one.database)}
    return frozenset(bound | {name for name, number, table in rows if name and _temporary(name, number, table)})


def _temporary(database: str, db_id: int | None, table: str | None) -> bool:
    return is_tempdb(database) or db_id == TEMPDB_ID or (table or "").startswith("#")


def serves_tempdb(facts: Facts, cache: str, named: NamedCache | None) -> bool:
    """Whether a named cache is one of temporary databases.

    One is bound to it, or pages of one were seen in it; else its type or its name says so.
    """
    databases = temporary_databases(facts)
    bound = (one for one in facts.every(CacheBinding) if one.cache == cache and one.valid is not False)
    if any(one.database in databases and one.table is None for one in bound):
        return True
    if kind_of(named) == "log" or cache == DEFAULT_CACHE or (named is not None and named.is_default):
        return False
    seen = any(one.cache == cache and one.database in databases for one in facts.every(MonCachedObject))
    return seen or kind_of(named) == "tempdb" or is_tempdb(cache)
