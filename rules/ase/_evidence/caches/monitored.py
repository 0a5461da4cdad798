"""Data caches as the monitoring tables count them, in the shape in which sp_sysmon prints them.

The rules about caches were written for sp_sysmon's figures; `monDataCache` and `monCachePool` give the same ones:
searches, hits (searches less what had to be read), and buffers grabbed, which are the reads that needed a buffer: those
asked for and those of asynchronous prefetch. What only sp_sysmon prints (wash, LRU and MRU) stays absent. What two
snapshots show is turned into activity: a cache's average since boot says nothing of today's replacement, unless all it
read since then would fill it once.
"""

from typing import TypeVar

from collectors.facts import ABSENT, Fact, Facts, Reading, known
from collectors.facts.ase import (
    CacheActivity,
    CachePool,
    MonCachePool,
    MonDataCache,
    MonSpinlockActivity,
    NamedCache,
    Server,
)
from rules.ase._evidence.server import LARGEST_PAGE_KB, page_kb
from rules.ase._evidence.spinlocks.monitored import spinlock_named
from rules.ase._evidence.times import DAY

MONITORED: tuple[type[Fact], ...] = (MonDataCache, MonCachePool, MonSpinlockActivity)
"""What a rule declares that takes caches from the monitoring tables, too."""

F = TypeVar("F", bound=Fact)


def monitored_caches(facts: Facts) -> list[CacheActivity]:
    """Each cache between two snapshots whose counters can be believed; of totals alone those that replaced nothing."""
    rows = [row for row in _rows(facts, MonDataCache) if row.believed and (row.of_interval or only_filled(facts, row))]
    return [_activity(facts, row) for row in {(row.instance, row.name): row for row in rows}.values()]


def only_filled(facts: Facts, row: MonDataCache) -> bool:
    """Whether a cache has read no more since the start, a day ago or longer, than fills it once.

    Then no page of it made room for another one, at no hour. A page of which nothing tells the size is taken for the
    largest there is: a smaller one would call a cache that replaced its pages one that did not.
    """
    if row.of_interval or not row.seconds or row.seconds < DAY or row.misses is None or not known(row.size_kb):
        return False
    return row.misses * (page_kb(facts.also(Server, CachePool)) or LARGEST_PAGE_KB) <= row.size_kb


def never_replaced(facts: Facts, cache: str) -> bool:
    """Whether the only totals of a cache show that it was filled once since the start, and no more (`only_filled`)."""
    rows = [row for row in _rows(facts, MonDataCache) if row.name == cache and row.believed]
    return bool(rows) and only_filled(facts, rows[-1])


def doubtful_caches(facts: Facts) -> list[str | None]:
    """The certificates of caches whose counters cannot be believed."""
    return [row.certificate for row in _rows(facts, MonDataCache) if not row.believed]


def interval_seconds(facts: Facts) -> float | None:
    """Length of the interval between two snapshots of the caches."""
    return next((row.seconds for row in _rows(facts, MonDataCache) if row.of_interval and row.seconds), None)


def monitored_settings(facts: Facts, cache: str) -> NamedCache | None:
    """How a cache runs, as monDataCache shows it: nothing of what is configured and waits."""
    found = [row for row in _rows(facts, MonDataCache) if row.name == cache]
    if not found:
        return None
    row = found[-1]
    replacement = None if row.relaxed is None else "relaxed LRU" if row.relaxed else "strict LRU"
    return NamedCache(
        source=row.source,
        name=row.name,
        status=row.status,
        kind=row.kind,
        run_size_mb=row.size_kb / 1024 if known(row.size_kb) else ABSENT,
        run_replacement=replacement,
        run_partitions=row.partitions,
        instance=row.instance or None,
    )


def monitored_pools(facts: Facts, cache: str) -> list[CachePool]:
    """The pools of a cache, as monCachePool shows them."""
    return [
        CachePool(
            source=row.source,
            cache=cache,
            io_size_kb=row.io_size_kb,
            wash_size_kb=row.wash_size_kb,
            run_size_mb=row.allocated_kb / 1024 if known(row.allocated_kb) else ABSENT,
            apf_percent=row.apf_percentage,
            instance=row.instance or None,
        )
        for row in _pools(facts, cache)
    ]


def _activity(facts: Facts, row: MonDataCache) -> CacheActivity:
    lock = spinlock_named(facts, row.name) if facts.may_ask(MonSpinlockActivity) else None
    misses = row.misses
    believed = known(row.searches) and misses is not None and misses <= row.searches
    grabbed = _grabbed(facts, row) if row.of_interval else ABSENT
    percent = round(lock.percent, 2) if lock and lock.of_interval and lock.percent is not None else ABSENT
    return CacheActivity(
        source=row.source,
        name=row.name,
        contention_percent=percent,
        searches=row.searches,
        searches_per_second=_rate(row.searches, row.seconds),
        hits=row.searches - misses if believed and known(row.searches) and misses is not None else ABSENT,
        misses=misses if misses is not None else ABSENT,
        grabbed=grabbed,
        grabbed_per_second=_rate(grabbed, row.seconds),
    )


def _grabbed(facts: Facts, row: MonDataCache) -> Reading:
    """Reads that took a buffer: by pool where the pools were collected, each counted once whatever its size."""
    pools = [pool for pool in _pools(facts, row.name) if pool.of_interval and pool.believed]
    counts = [
        pool.physical_reads + (pool.apf_reads if known(pool.apf_reads) else 0.0)
        for pool in pools
        if known(pool.physical_reads)
    ]
    if counts:
        return sum(counts)
    return row.misses if row.misses is not None else ABSENT


def _pools(facts: Facts, cache: str) -> list[MonCachePool]:
    numbers = {row.cache_id for row in _rows(facts, MonDataCache) if row.name == cache and row.cache_id is not None}
    rows = [
        row for row in _rows(facts, MonCachePool) if row.cache == cache or (not row.cache and row.cache_id in numbers)
    ]
    rows = [row for row in rows if row.of_interval] or rows
    return list({(row.instance, row.io_size_kb): row for row in rows}.values())


def _rate(count: Reading, seconds: float | None) -> Reading:
    return round(count / seconds, 1) if known(count) and seconds else ABSENT


def _rows(facts: Facts, kind: type[F]) -> list[F]:
    """The rows; none for a rule that did not ask for the table."""
    return facts.every(kind) if facts.may_ask(kind) else []
