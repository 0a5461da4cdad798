"""Whether everything that is bound to a named cache fits into it, and how often it is changed.

A binding of a table binds its data alone; its indexes and its text pages need bindings of their own. A database bound
as a whole may grow without limit, so of it nothing is said.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.ase import (
    BindingList,
    CacheBinding,
    IndexSize,
    MonCachedObject,
    MonDataCache,
    MonOpenObjectActivity,
    NamedCache,
)
from rules.ase._evidence.caches.bindings import bound_to, listed
from rules.ase._evidence.caches.contents import DATA, TEXT, Contents, Held, contents_of
from rules.ase._evidence.caches.figures import named_of
from rules.ase._evidence.objects.seen import home_of, listed_sizes

CHANGED_PERCENT, CHANGED_PER_SECOND = 1.0, 1000.0
"""The most changes of what a relaxed cache holds: rows for each hundred pages read, and rows a second.

The vendor says "not updated or updated infrequently" and gives no figure, so both are this project's: a lookup table
that millions of searches hide in the share is still changed all the time at thousands of rows a second. The tables that
the vendor's engineer moved to relaxed caches (VLH slides, 2014) are written by the transactions of a busy server, so
hundreds of rows a second are no reason against it.
"""

GROWTH = 1.2
"""Room for a fifth more than is there now (this project: the plan should hold a while; sizes are measured again)."""
RELAXED_MISS_PERCENT = 5.0
"""Reads from disk an object for a relaxed cache may have (vendor: hit rate above 95 %)."""
LEAST_ROW_BYTES = 10.0
"""Shorter rows of data-only-locked tables are padded to it (vendor: Performance and Tuning: Locking, 15.7); taken for
entries of an index and for allpages tables, too, as no export has the length of rows."""
ROOM_DAYS = 365.0
"""This project: how long room for growth must last at that shortest row. Rows are usually many times as long, and a
relaxed cache that has to replace pages goes back to strict only with a restart."""


def room_days(room_mb: float, rows_per_second: float) -> float | None:
    """After how many days, at the latest, so many more rows a second have used up the room; `None` without growth."""
    if rows_per_second <= 0:
        return None
    return max(0.0, room_mb) * 1024 * 1024 / (rows_per_second * LEAST_ROW_BYTES) / 86_400


def said_days(days: float) -> str:
    """A time in words, from hours on."""
    return f"{days:,.0f} days" if days >= 2 else f"{24 * days:,.1f} hours"


def suits_relaxed(holds: tuple[Held, ...], seconds: float | None) -> tuple[bool, str]:
    """Whether objects that fit into their cache as a whole suit relaxed LRU, and will: next to never read or changed.

    What grows uses up the room it gets, and a relaxed cache that replaces pages does harm until a restart. With the
    reason, in words. `seconds`: how long was counted; where no export says it, only what was not changed at
    all suits.
    """
    reads = sum(one.reads for one in holds)
    if any(one.misses is None or one.changed is None for one in holds) or not reads:
        return False, "how often it is read from disk or changed is not in the export"
    missed = 100.0 * sum(one.misses or 0.0 for one in holds) / reads
    tables = {(one.database, one.table): one.changed or 0.0 for one in holds}
    rows = sum(tables.values())
    changed = 100.0 * rows / reads
    said = f"{missed:.1f} % of its reads from disk, {changed:.1f} rows changed per 100 reads"
    said += f", {rows / seconds:,.1f} rows a second" if seconds else ", no time in the export to say how many a second"
    again = _read_again(holds, seconds)
    said += f"; {again}" if again else ""
    seldom = rows / seconds <= CHANGED_PER_SECOND if seconds else not rows
    days = room_lasts(holds, seconds) if seconds else None
    if days is not None:
        added = sum({(one.database, one.table): one.added or 0.0 for one in holds}.values()) / (seconds or 1.0)
        said += (
            f", {added:,.1f} of them more than are deleted: the room to grow is used up in {said_days(days)} at most"
        )
    lasts = days is None or days >= ROOM_DAYS
    return missed <= RELAXED_MISS_PERCENT and changed <= CHANGED_PERCENT and seldom and lasts and not again, said


def _read_again(holds: tuple[Held, ...], seconds: float | None) -> str:
    """That pages are replaced, as a part of a sentence: more is read from disk than there is; empty where it is not.

    Hits count reads, and a read of large I/O brings several pages.
    """
    read, size = sum(one.read_mb or 0.0 for one in holds), sum(one.size_mb or 0.0 for one in holds)
    if not size or read <= size:
        return ""
    when = f" in {seconds:,.0f} s" if seconds else ""
    return f"but {read:,.0f} MB were read from disk{when} and it has {size:,.0f} MB, so its pages are replaced"


def room_lasts(holds: tuple[Held, ...], seconds: float) -> float | None:
    """Days until the first of them has used up the room it gets; `None` where none grows."""
    found = (room_days((GROWTH - 1) * (one.size_mb or 0.0), (one.added or 0.0) / seconds) for one in holds)
    return min((days for days in found if days is not None), default=None)


@dataclass(frozen=True)
class Changes:
    """How often what is bound to one cache is changed."""

    percent: float
    """Rows changed for each hundred pages read."""
    per_second: float | None
    """Rows; `None` where no export says how long was counted."""
    added_per_second: float
    """Rows by which the tables grow; 0 where that is not known."""
    of_interval: bool
    """Whether that is between two snapshots, and not an average since boot."""
    rows: float
    """Changed in all that time."""
    reads: float
    """Pages read in it."""
    source: Source


@dataclass(frozen=True)
class Fit:
    """What is bound to one cache."""

    bound_mb: float
    objects: int
    source: Source
    by_pages: bool = False
    """Whether what is bound was not listed, and this is what is in memory."""


def fit_of(facts: Facts, cache: str) -> Fit | None:
    """What is bound and how large it is; `None` where the exports do not say it of every single object.

    `sp_spaceused` adds up the indexes of a table: where that is all there is, they count once, bound or not, and as
    that may be too much, a sum above the size of the cache says nothing.
    """
    if not listed(facts, cache):
        return _whole_in_memory(facts, cache)
    return _bound(facts, cache) or (_whole_in_memory(facts, cache) if _each_in_memory(facts, cache) else None)


def _each_in_memory(facts: Facts, cache: str) -> bool:
    """Whether `monCachedObject` has a row of each table and index bound to a cache: its rows may lack the database."""
    bindings = bound_to(facts, cache)
    rows = [one for one in facts.every(MonCachedObject) if one.cache == cache]
    bound = sorted((one.table or "", bool(one.index)) for one in bindings)
    seen = sorted({(one.object_name, one.index_id) for one in rows}, key=str)
    homes = {(one.table, one.database, one.owner) for one in bindings}
    if len(homes) > len({table for table, _, _ in homes}):  # one name in two databases: no row says whose it is
        return False
    return bool(bound) and bound == sorted((name or "", index_id not in DATA) for name, index_id in seen)


def _bound(facts: Facts, cache: str) -> Fit | None:
    """By the sizes of what is listed as bound to it."""
    bindings, found = bound_to(facts, cache), _sizes_of(facts, cache)
    if found is None:
        return None
    bound_mb, at_most = found
    named = named_of(facts, cache)
    if at_most and (named is None or not known(named.run_size_mb) or bound_mb > named.run_size_mb):
        return None
    return Fit(bound_mb=bound_mb, objects=len(bindings), source=bindings[0].source)


def bound_at_most(facts: Facts, cache: str) -> float | None:
    """Megabytes that hold all that is bound to a cache, indexes of a table that are added up counted all.

    `None` unless each is known.
    """
    facts = facts.also(BindingList, CacheBinding, IndexSize, MonCachedObject, MonOpenObjectActivity, NamedCache)
    found = _sizes_of(facts, cache) if listed(facts, cache) else None
    return found[0] if found else None


def _sizes_of(facts: Facts, cache: str) -> tuple[float, bool] | None:
    """Megabytes of what is bound, and whether that may be too much; `None` where no export has the size of one."""
    bindings = bound_to(facts, cache)
    sizes = [_size_mb(facts, one) for one in bindings]
    unsized = [one for one, mb in zip(bindings, sizes, strict=True) if mb is None]
    tables = {(one.database, one.owner, one.table): one for one in unsized}
    at_most = [_all_indexes_mb(facts, one) for one in tables.values()]
    if not bindings or any(one.index is None for one in unsized) or any(mb is None for mb in at_most):
        return None
    return sum(mb for mb in (*sizes, *at_most) if mb is not None), bool(at_most)


def _whole_in_memory(facts: Facts, cache: str) -> Fit | None:
    """What `monCachedObject` has of a cache, every part of it whole in memory, with a fifth of the cache to spare.

    For a cache whose bindings were not listed: what is bound and not read is not there, so the spare room is for that.
    """
    named = named_of(facts, cache)
    rows = latest_parts(one for one in facts.every(MonCachedObject) if one.cache == cache)
    if named is None or not rows or not known(named.run_size_mb):
        return None
    held = 0.0
    for one in rows:
        if not known(one.cached_kb) or not known(one.total_kb) or one.cached_kb < one.total_kb:
            return None
        held += one.total_kb / 1024
    if held * GROWTH > named.run_size_mb:
        return None
    return Fit(held, len(rows), rows[0].source, by_pages=True)


def latest_parts(rows: Iterable[MonCachedObject]) -> list[MonCachedObject]:
    """Each table, index and partition once, as it was listed last."""
    found = {(one.database, one.object_name, one.index_id, one.partition_id, one.partition_name): one for one in rows}
    return list(found.values())


def _size_mb(facts: Facts, binding: CacheBinding) -> float | None:
    if binding.table is None or (binding.kind or "").lower() == "database":
        return None
    wanted = [
        one
        for one in _listed(facts, binding)
        if known(one.size_kb) and (one.index_name == binding.index if binding.index else one.index_id in DATA)
    ]
    if wanted:
        last = {one.index_id: one.size_kb for one in wanted}
        return sum(kb for kb in last.values() if known(kb)) / 1024
    return _indexes_mb(facts, binding) if binding.index else _resident_mb(facts, binding)


def _listed(facts: Facts, binding: CacheBinding) -> list[IndexSize]:
    """The sizes listed of a table and its indexes.

    `sp_spaceused` prints no database: where no monitor names one, it is that of the only one bound under this name.
    """
    table, seen = binding.table, facts.also(MonCachedObject, MonOpenObjectActivity)
    homes = {one.database for one in facts.every(CacheBinding) if one.table == table}
    rows = (*seen.every(MonCachedObject), *seen.every(MonOpenObjectActivity))
    alone = homes == {binding.database} and not any(row.object_name == table for row in rows)
    fits = {(binding.database, table), *(((None, table),) if alone else ())}
    return [
        one for one in listed_sizes(facts) if one.table == table and home_of(facts, one) in fits and _same(binding, one)
    ]


def _all_indexes_mb(facts: Facts, binding: CacheBinding) -> float | None:
    """All indexes of a table together; `None` where no export adds them up."""
    sums = [one.indexes_kb for one in _listed(facts, binding) if known(one.indexes_kb)]
    return sums[-1] / 1024 if sums else None


def _same(binding: CacheBinding, size: IndexSize) -> bool:
    """Whether the owners agree, as far as both are known: two owners may have a table of one name."""
    return not (binding.owner and size.owner) or binding.owner == size.owner


def _resident_mb(facts: Facts, binding: CacheBinding) -> float | None:
    """The whole size on disk as monCachedObject has it for the table's data, its partitions added up."""
    rows = [
        one
        for one in facts.every(MonCachedObject)
        if one.database == binding.database and one.object_name == binding.table and one.index_id in DATA
    ]
    parts = {(one.partition_id, one.partition_name): one.total_kb for one in rows}
    if not parts or not all(known(kb) for kb in parts.values()):
        return None
    return sum(kb for kb in parts.values() if known(kb)) / 1024


def _indexes_mb(facts: Facts, binding: CacheBinding) -> float | None:
    """Its share of what monCachedObject, which has no names of indexes, has of the table's indexes in the cache.

    `None` unless as many are there as are bound to it: one that has no page in memory has no row.
    """
    bound = [
        one
        for one in bound_to(facts, binding.cache)
        if (one.database, one.owner, one.table) == (binding.database, binding.owner, binding.table) and one.index
    ]
    parts = {
        (one.index_id, one.partition_id, one.partition_name): one.total_kb
        for one in facts.every(MonCachedObject)
        if (one.database, one.object_name, one.cache) == (binding.database, binding.table, binding.cache)
        and one.index_id not in (*DATA, TEXT)
    }
    if len({index_id for index_id, _, _ in parts}) != len(bound) or not all(known(kb) for kb in parts.values()):
        return None
    return sum(kb for kb in parts.values() if known(kb)) / 1024 / len(bound)


def changes_of(facts: Facts, cache: str) -> Changes | None:
    """How often what a cache holds is changed, counted by object; `None` where that was not counted of all of it."""
    contents = contents_of(facts)
    if not isinstance(contents, Contents):
        return None
    held = [one for one in contents.held if one.cache == cache]
    tables = {(one.database, one.table): one.changed for one in held}
    reads = sum(one.reads for one in held)
    if not reads or any(changed is None for changed in tables.values()):
        return None
    rows = sum(changed for changed in tables.values() if changed is not None)
    most = max(held, key=lambda one: one.changed or 0.0)
    rate = rows / contents.seconds if contents.seconds else None
    added = sum({(one.database, one.table): max(0.0, one.added or 0.0) for one in held}.values())
    growth = added / contents.seconds if contents.seconds else 0.0
    return Changes(100.0 * rows / reads, rate, growth, contents.of_interval, rows, reads, most.source)


def pages_written(facts: Facts, cache: str) -> tuple[float, Source] | None:
    """Pages of a cache written a second between two snapshots: each was changed, so at least as many rows were."""
    rows = [one for one in facts.every(MonDataCache) if one.name == cache and one.of_interval and one.believed]
    row = rows[-1] if rows else None
    if row is None or not row.seconds or not known(row.physical_writes):
        return None
    return row.physical_writes / row.seconds, row.source
