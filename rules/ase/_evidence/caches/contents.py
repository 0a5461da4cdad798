"""What is in each data cache of SAP ASE: tables and indexes with their searches, their sizes and their bindings.

A logical read of an object is a search of the cache it is in. Where it is: its own binding, else that of its database
(`sp_helpcache`), else where `monCachedObject` saw its pages, else the default data cache.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Fact, Facts, Source, known
from collectors.facts.ase import (
    BindingList,
    CacheActivity,
    CacheBinding,
    IndexSize,
    MonCachedObject,
    MonDataCache,
    MonOpenObjectActivity,
    NamedCache,
    SysmonSample,
    TableScheme,
)
from rules.ase._evidence.caches.figures import (
    latest_caches,
    named_of,
    per_second,
    seconds_of,
)
from rules.ase._evidence.objects.seen import (
    SYSTEM_NAMES,
    activity,
    doubts,
    reads_of_all,
    sizes,
)
from rules.ase._evidence.server import page_kb
from rules.ase._evidence.spinlocks.monitored import say_doubt
from rules.ase._evidence.times import when
from rules.changes.ase_cache import DEFAULT_CACHE
from rules.finding import Clean, MissingInput, Outcome, Unknown, Untrusted

CONTENT_FACTS: tuple[type[Fact], ...] = (
    BindingList,
    MonOpenObjectActivity,
    MonCachedObject,
    IndexSize,
    TableScheme,
    CacheBinding,
    MonDataCache,
    CacheActivity,
    NamedCache,
    SysmonSample,
)
"""What a rule declares that asks what is in the caches."""
DATA = (0, 1)
"""Index ids of a table's data: of a heap or data-only table, of an allpages table with a clustered index."""
TEXT = 255
BY_SHARES, LISTED = "the shares printed beside them", "the objects' own counts"
"""What tells the searches of whole caches where neither `monDataCache` nor `sp_sysmon` does over the same time."""
LISTED_ALONE = "Where objects are missing in the list, shares of the whole cache are smaller."


HOMES = MissingInput("in which databases the open objects are", MonOpenObjectActivity.COLLECTED_BY)


@dataclass(frozen=True)
class Held:
    """The data of a table or one of its indexes."""

    database: str
    owner: str | None
    table: str
    index_id: int
    """0 for the data, whatever the lock scheme."""
    index: str | None
    """The index's name, where an export has it."""
    cache: str
    bound: bool
    """Whether it is bound itself, and not through its database."""
    reads: float
    source: Source
    misses: float | None = None
    """Reads from disk, prefetched ones included; `None` where not counted."""
    read_mb: float | None = None
    """Megabytes read from disk at least: its pages, else one page for each read; `None` where not counted."""
    prefetched: float | None = None
    changed: float | None = None
    """Rows inserted, updated and deleted, of the table as a whole."""
    added: float | None = None
    """Rows by which the table grew: inserted less deleted, below 0 where it shrank; `None` where not counted."""
    size_mb: float | None = None
    size_source: Source | None = None

    @property
    def name(self) -> str:
        """`database.owner.table`, an index behind it."""
        full = f"{self.database}.{self.owner or ''}.{self.table}"
        return full + (f".{self.index or f'index {self.index_id}'}" if self.index_id else "")

    @property
    def system(self) -> bool:
        """Whether it is a system table or an index of one."""
        return self.table.lower() in SYSTEM_NAMES


@dataclass(frozen=True)
class Contents:
    """All caches with what they hold."""

    held: tuple[Held, ...]
    """Most searched first."""
    searches: dict[str, float]
    """Of each cache, over the same time."""
    of_interval: bool
    seconds: float | None
    counted_by: str
    """Where the searches of whole caches come from: monDataCache, sp_sysmon, `BY_SHARES` or `LISTED`."""
    covers: str
    """What time the counts cover, as the end of a sentence."""

    @property
    def total(self) -> float:
        """Searches of all caches."""
        return sum(self.searches.values())

    def share(self, reads: float) -> float:
        """Share of all searches, 0 to 1."""
        return reads / self.total if self.total else 0.0

    def inside(self, cache: str, reads: float) -> float:
        """Share of one cache's searches, 0 to 1."""
        return reads / self.searches[cache] if self.searches.get(cache) else 0.0

    def partial(self, cache: str) -> bool:
        """Whether the searches of a cache are only those of the objects listed, so that a share of them is no more."""
        return self.counted_by == LISTED or (self.counted_by == BY_SHARES and cache != DEFAULT_CACHE)

    def of(self, cache: str) -> str:
        """What a share `inside` a cache is of, before "searches": `listed ` where objects may be missing."""
        return "listed " if self.partial(cache) else ""

    @property
    def when(self) -> str:
        """What time the counts cover."""
        return "since boot, an average over days" if self.seconds and not self.of_interval else self.covers

    @property
    def caveat(self) -> str:
        """What must be said beside counts that are not of an interval, as a sentence, or not of all objects."""
        if not self.of_interval:
            return "Two snapshots at the busiest hour would decide better than these totals."
        return LISTED_ALONE if self.counted_by == LISTED else ""


def contents_of(facts: Facts) -> Contents | Outcome:
    """Read them, or say why that cannot be done."""
    rows = [row for row in activity(facts) if known(row.logical_reads)]
    if not rows:
        doubtful = doubts(facts)
        return (
            Untrusted(f"monOpenObjectActivity: {say_doubt(doubtful)}")
            if doubtful
            else Unknown.of(MonOpenObjectActivity)
        )
    if any(known(row.logical_reads) and row.logical_reads < 0 for row in rows):
        return Untrusted("monOpenObjectActivity: a count of logical reads is negative: a counter wrapped")
    held = _held(facts, rows)
    if not held and by_database(facts):
        return Unknown.of(MonOpenObjectActivity)
    homeless = [row for row in rows if not (row.database and row.object_name) and row.logical_reads]
    if not held and homeless:
        return Unknown((HOMES,), f"of {len(homeless):,} counts of reads no database or no table is known")
    if not sum(one.reads for one in held):
        return Clean("no page of any open object was asked of the caches")
    seconds = next((row.seconds for row in rows if row.seconds), None)
    searches, counted_by = _searches(facts, rows[0], seconds)
    inside: dict[str, float] = {}
    for one in held:
        inside[one.cache] = inside.get(one.cache, 0.0) + one.reads
    whole = {name: max(searches.get(name, 0.0), inside.get(name, 0.0)) for name in {**searches, **inside}}
    if not searches and (every := reads_of_all(rows)):
        # objects that are not listed are taken to be where those are that are bound nowhere: no share is too large then
        whole[DEFAULT_CACHE] = whole.get(DEFAULT_CACHE, 0.0) + every - sum(inside.values())
        counted_by = BY_SHARES
    ordered = tuple(sorted(held, key=lambda one: (-one.reads, one.name)))
    return Contents(ordered, whole, rows[0].of_interval, seconds, counted_by, when(rows[0]))


def by_database(facts: Facts) -> Contents | None:
    """The same of counts that were added up by database, which names no table; `None` where no such counts are there.

    Good for what is bound as a whole database alone: a table is empty here.
    """
    rows = [row for row in facts.every(MonOpenObjectActivity) if row.database and row.believed]
    rows = [row for row in rows if row.of_interval] or rows
    if not rows or any(row.object_name or row.object_id is not None for row in rows):
        return None
    homes = {
        one.database: one.cache for one in facts.every(CacheBinding) if one.table is None and one.valid is not False
    }
    held, inside = dict[str, Held](), dict[str, float]()
    for row in rows:
        if row.database and known(row.logical_reads) and row.logical_reads > 0:
            cache = homes.get(row.database, DEFAULT_CACHE)
            held[row.database] = Held(row.database, None, "", 0, None, cache, False, row.logical_reads, row.source)
    for one in held.values():
        inside[one.cache] = inside.get(one.cache, 0.0) + one.reads
    seconds = rows[-1].seconds
    searches, counted_by = _searches(facts, rows[-1], seconds)
    whole = {name: max(searches.get(name, 0.0), inside.get(name, 0.0)) for name in {**searches, **inside}}
    ordered = tuple(sorted(held.values(), key=lambda one: (-one.reads, one.name)))
    return Contents(ordered, whole, rows[-1].of_interval, seconds, counted_by, when(rows[-1]))


def _held(facts: Facts, rows: Iterable[MonOpenObjectActivity]) -> list[Held]:
    """One for each table's data and each index; rows of several instances are added up, nameless ones left out."""
    known_sizes, cached, page = sizes(facts), _seen(facts), page_kb(facts)
    names = {(one.database, one.table, one.index_id): one for one in facts.every(IndexSize)}
    bindings: dict[str, list[CacheBinding]] = {}
    for binding in facts.every(CacheBinding):
        if binding.valid is not False:
            bindings.setdefault(binding.database, []).append(binding)
    told = bool(bindings or facts.every(BindingList))
    defaults = {one.name for one in facts.every(NamedCache) if one.is_default} | {DEFAULT_CACHE}
    found: dict[tuple[str, str, int], Held] = {}
    rows = [row for row in rows if row.database and row.object_name and row.index_id != TEXT]
    changed, added = _changed(rows)
    for row in rows:
        if not row.database or not row.object_name or not known(row.logical_reads):
            continue
        listed = names.get((row.database, row.object_name, row.index_id))
        seen = cached.get((row.database, row.object_name, row.index_id))
        index_id = 0 if row.index_id in DATA else row.index_id
        owner = row.owner or (listed.owner if listed else None) or (seen.owner if seen else None)
        index = listed.index_name if listed and index_id else None
        kb = known_sizes.kb(row)
        key, of_table = (row.database, row.object_name, index_id), (row.database, row.object_name)
        mine = bindings.get(row.database, [])
        cache, bound = (
            (DEFAULT_CACHE, False) if key in found else _placed(key, owner, index, mine, seen, defaults, told)
        )
        one = Held(
            database=row.database,
            owner=owner,
            table=row.object_name,
            index_id=index_id,
            index=index,
            cache=cache,
            bound=bound,
            reads=row.logical_reads,
            source=row.source,
            misses=_misses(row),
            read_mb=_read_mb(row, page),
            prefetched=row.apf_reads if known(row.apf_reads) else None,
            size_mb=None if kb is None else kb / 1024,
            size_source=next((fact.source for fact in (listed, seen) if fact and kb is not None), None),
            changed=changed.get(of_table),
            added=added.get(of_table),
        )
        found[key] = _added(found[key], one) if key in found else one
    return list(found.values())


Amounts = dict[tuple[str | None, str | None], float]
"""By database and table."""


def _changed(rows: Iterable[MonOpenObjectActivity]) -> tuple[Amounts, Amounts]:
    """How many rows of each table were changed, and by how many there are more."""
    changed: Amounts = {}
    added: Amounts = {}
    for row in rows:
        table = (row.database, row.object_name)
        if (many := row.rows_changed) is not None:
            changed[table] = changed.get(table, 0.0) + many
        if known(row.rows_inserted) and row.index_id in DATA:
            deleted = row.rows_deleted if known(row.rows_deleted) else 0.0
            added[table] = added.get(table, 0.0) + row.rows_inserted - deleted
    return changed, added


def _misses(row: MonOpenObjectActivity) -> float | None:
    if not known(row.physical_reads):
        return None
    return row.physical_reads + (row.apf_reads if known(row.apf_reads) else 0.0)


def _read_mb(row: MonOpenObjectActivity, page: float | None) -> float | None:
    """What was read from disk: a read of large I/O brings several pages, and `PagesRead` counts these."""
    least = _misses(row)
    pages = max(row.pages_read, least or 0.0) if known(row.pages_read) else least
    return None if pages is None or page is None else pages * page / 1024


def _added(one: Held, other: Held) -> Held:
    """The same object in two rows; a size that two rows give differently is the sum of both, to be safe."""

    def total(first: float | None, second: float | None) -> float | None:
        return None if first is None or second is None else first + second

    return replace(
        one,
        reads=one.reads + other.reads,
        misses=total(one.misses, other.misses),
        read_mb=total(one.read_mb, other.read_mb),
        prefetched=total(one.prefetched, other.prefetched),
        size_mb=one.size_mb if one.size_mb == other.size_mb else (one.size_mb or 0.0) + (other.size_mb or 0.0),
    )


def _seen(facts: Facts) -> dict[tuple[str | None, str | None, int], MonCachedObject]:
    """Where most of each object's pages were seen."""
    found: dict[tuple[str | None, str | None, int], MonCachedObject] = {}
    for row in facts.every(MonCachedObject):
        key = (row.database, row.object_name, row.index_id)
        if key not in found or _kb(row) > _kb(found[key]):
            found[key] = row
    return found


def _kb(row: MonCachedObject) -> float:
    return row.cached_kb if known(row.cached_kb) else 0.0


def _placed(
    key: tuple[str, str, int],
    owner: str | None,
    index: str | None,
    mine: Sequence[CacheBinding],
    seen: MonCachedObject | None,
    defaults: set[str],
    told: bool,
) -> tuple[str, bool]:
    """The cache of a table's data or an index (`key`: database, table, number), and whether it is bound to it.

    `told`: whether bindings were listed, be it none. Pages seen in a named cache without any listing: it is bound,
    somehow.
    """
    _, table, index_id = key
    for binding in reversed(mine):
        same_owner = not (binding.owner and owner) or binding.owner == owner
        nameless = index is None and seen is not None and seen.cache == binding.cache  # some index of it is bound there
        same_part = (
            (nameless or binding.index == index) if binding.index and index_id else not (binding.index or index_id)
        )
        if binding.table == table and same_owner and same_part:
            return binding.cache, True
    for binding in reversed(mine):
        if binding.kind == "database" or (binding.kind is None and binding.table is None):
            return binding.cache, False
    if not told and seen and seen.cache:
        return seen.cache, seen.cache not in defaults
    return DEFAULT_CACHE, False


def _searches(facts: Facts, row: MonOpenObjectActivity, seconds: float | None) -> tuple[dict[str, float], str]:
    """Searches of whole caches over the objects' time: monDataCache of the same kind, else sp_sysmon's rates."""
    found: dict[str, float] = {}
    latest = {(one.instance, one.name): one for one in facts.every(MonDataCache) if one.over == row.over}
    for one in latest.values():
        if one.believed and known(one.searches) and one.searches >= 0:
            found[one.name] = found.get(one.name, 0.0) + one.searches
    if found:
        return found, "monDataCache"
    if row.of_interval and seconds:
        for cache in latest_caches(facts):
            rate = per_second(cache.searches_per_second, cache.searches, seconds_of(facts))
            if rate is not None and rate >= 0:
                found[cache.name] = rate * seconds
    return (found, "sp_sysmon") if found else ({}, LISTED)


def partitions_of(facts: Facts, cache: str) -> float | None:
    """Partitions in force: as configured caches are listed, else as monDataCache says."""
    named = named_of(facts, cache)
    if named and known(named.run_partitions) and named.run_partitions >= 1:
        return named.run_partitions
    rows = [one.partitions for one in facts.every(MonDataCache) if one.name == cache]
    return next((count for count in reversed(rows) if known(count) and count >= 1), None)
