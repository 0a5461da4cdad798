"""Temporary databases that take a data cache from the others, which are read from disk meanwhile.

Counted by object or grouped by database: `monOpenObjectActivity` for searches and reads, `monCachedObject` for memory.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.ase import MonCachedObject, MonDataCache, MonOpenObjectActivity, NamedCache
from rules.ase._evidence.caches.carving import MARGIN_PERCENT, large_part
from rules.ase._evidence.caches.figures import POOL_KB, POOL_PAGES
from rules.ase._evidence.caches.fit import GROWTH
from rules.ase._evidence.caches.memory import overhead_of
from rules.ase._evidence.caches.partitions import legal_partitions
from rules.ase._evidence.caches.temporary import temporary_databases
from rules.ase._evidence.server import page_kb
from rules.changes.ase_binding import NotBindable, bind_temporary
from rules.changes.ase_cache import create_cache
from rules.changes.out_of_range import OutOfRange
from rules.finding import Change


@dataclass(frozen=True)
class Crowded:
    """What temporary databases take of one cache, and what the others of it read from disk."""

    home: str
    databases: tuple[str, ...]
    """Most memory first."""
    reader: str
    """The other database that reads most."""
    held_mb: float
    size_mb: float
    searches: float
    """Their share of the searches of all databases in the cache, 0 to 1."""
    reads: float
    """Their share of the reads from disk, 0 to 1."""
    reader_share: float
    rate: float
    """Reads of the cache from disk, a second."""
    of_interval: bool
    """Whether the shares are between two snapshots: since boot else."""
    cached: Source
    counted: Source
    read: Source


def crowded(facts: Facts, row: MonDataCache, named: NamedCache) -> Crowded | None:
    """Who holds and who reads in a cache (`row`: between two snapshots); `None` where the exports do not say it."""
    held: dict[str, float] = {}
    rows = [one for one in facts.every(MonCachedObject) if one.cache == row.name and one.database]
    for one in rows:
        if known(one.cached_kb):
            held[one.database or ""] = held.get(one.database or "", 0.0) + one.cached_kb / 1024
    theirs = tuple(sorted(temporary_databases(facts) & held.keys(), key=lambda name: -held[name]))
    counts = _counts(facts, held.keys())
    searches, reads = ({name: count[at] for name, count in counts.items()} for at in (0, 1))
    others = sorted(reads.keys() - set(theirs), key=lambda name: -reads[name])
    of_all, first = sum(reads.values()), next((one for one in _rows(facts) if one.database in theirs), None)
    whole = known(named.run_size_mb) and row.seconds and row.misses is not None
    if first is None or not (others and of_all and sum(searches.values()) and whole):
        return None
    return Crowded(
        row.name,
        theirs,
        others[0],
        sum(held[name] for name in theirs),
        named.run_size_mb if known(named.run_size_mb) else 0.0,
        sum(searches.get(name, 0.0) for name in theirs) / sum(searches.values()),
        sum(reads.get(name, 0.0) for name in theirs) / of_all,
        reads[others[0]] / of_all,
        (row.misses or 0.0) / (row.seconds or 1.0),
        first.of_interval,
        next(one.source for one in rows if one.database == theirs[0]),
        first.source,
        row.source,
    )


def _rows(facts: Facts) -> list[MonOpenObjectActivity]:
    """Each object, or each database where they were added up: the last row, of an interval if there is one."""
    rows = [one for one in facts.every(MonOpenObjectActivity) if one.database and one.believed]
    rows = [one for one in rows if one.of_interval] or rows
    last = {(one.instance, one.database, one.object_id, one.object_name, one.index_id): one for one in rows}
    return list(last.values())


def _counts(facts: Facts, databases: Collection[str]) -> dict[str, tuple[float, float]]:
    """Searches and reads from disk of each of these databases that was counted, prefetched pages included."""
    found: dict[str, tuple[float, float]] = {}
    for one in _rows(facts):
        name = one.database or ""
        if name in databases and known(one.logical_reads) and known(one.physical_reads):
            searches, reads = found.get(name, (0.0, 0.0))
            ahead = one.apf_reads if known(one.apf_reads) else 0.0
            found[name] = (searches + one.logical_reads, reads + one.physical_reads + ahead)
    return found


def own_cache(facts: Facts, seen: Crowded, named: NamedCache, name: str) -> tuple[tuple[Change, ...], float]:
    """The cache for them and the bindings, and the memory it takes with what stays free, MB; none where not legal."""
    page = page_kb(facts) or POOL_KB
    cut = int(named.run_partitions) if known(named.run_partitions) else 1
    smallest = math.ceil(cut * max(POOL_KB, POOL_PAGES * page) / 1024)
    size = max(math.ceil(GROWTH * seen.held_mb), smallest)
    overhead = overhead_of(facts).mb(size)
    try:
        made = create_cache(
            name,
            size,
            partitions=cut,
            largest=legal_partitions(facts),
            page_kb=page,
            overhead_mb=round(overhead, 2),
            pools=large_part(facts, seen.home, size, smallest),
            cautions=(f"Holds what is in memory now and {100 * (GROWTH - 1):.0f} % more: watch its hit ratio.",),
        )
        bound = tuple(bind_temporary(name, one, old=seen.home, needs=(made.key,)) for one in seen.databases)
    except (OutOfRange, NotBindable):
        return (), 0.0
    return (made, *bound), (size + overhead) * (1 + MARGIN_PERCENT / 100)
