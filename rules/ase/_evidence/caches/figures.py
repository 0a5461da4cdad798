"""What the rules about data caches of SAP ASE have in common: which figures to believe, turnover, room for partitions.

sp_sysmon counts grabbed buffers over all pools of a cache together. A buffer is as large as its pool's I/O size, so
what was replaced lies between all of them in the smallest pool and all of them in the largest: turnover is a range.
"""

from collections.abc import Iterable

from collectors.facts import OVERFLOW, Facts, Reading, known
from collectors.facts.ase import CacheActivity, CachePool, MonDataCache, NamedCache, SysmonSample
from rules.ase._evidence.caches.monitored import (
    doubtful_caches,
    interval_seconds,
    monitored_caches,
    monitored_pools,
    monitored_settings,
)
from rules.ase._evidence.spinlocks.monitored import say_doubt
from rules.changes.ase_cache import DEFAULT_CACHE
from rules.changes.quoting import comment
from rules.finding import Unknown, Untrusted

POOL_KB, POOL_PAGES = 512.0, 256.0
"""Vendor: no pool in any partition under 512 KB (System Administration Guide 2, 16.0), nor under 256 logical pages
(sp_poolconfig); messages 10652 and 10832 otherwise."""
KNOWN_KINDS = ("default", "mixed", "log", "hk ignore", "in-memory", "inmemory", "lockless")
"""How the types begin for which it is known what may be set: Default, Mixed, Log Only, Mixed with HK Ignore, In-Memory
Storage, Lockless Data Cache; a .cfg file writes `mixed cache` and `log only`."""


def latest_caches(facts: Facts) -> list[CacheActivity]:
    """One activity for each cache: of two reports the later; without sp_sysmon what the monitoring tables count."""
    return list({cache.name: cache for cache in facts.every(CacheActivity)}.values()) or monitored_caches(facts)


def no_caches(facts: Facts) -> Unknown | Untrusted:
    """Say what brings figures of caches, or that those of two snapshots cannot be believed."""
    doubtful = doubtful_caches(facts)
    if doubtful:
        return Untrusted(f"monDataCache: {say_doubt(doubtful)}")
    return Unknown.of(CacheActivity, MonDataCache)


def named_of(facts: Facts, cache: str) -> NamedCache | None:
    """How a cache is configured; in a cluster the cache of all instances before that of one."""
    listed = facts.latest(NamedCache, name=cache, instance=None) or facts.latest(NamedCache, name=cache)
    return listed or monitored_settings(facts, cache)


HIT_PERCENT = 95.0
"""Vendor: hits that a cache with relaxed LRU should have (Performance and Tuning: Basics)."""


def gives_up_pages(facts: Facts, named: NamedCache) -> bool:
    """Whether relaxed LRU, which may be taken back, runs in a cache that misses so often that pages in use went."""
    relaxed = bool(named.relaxed) and "strict" not in (named.config_replacement or "").lower()
    if not relaxed or kind_of(named) in ("log", "lockless") or set_apart(named):
        return False
    return any(
        one.name == named.name and one.hit_percent is not None and one.hit_percent < HIT_PERCENT and not doubt(one)
        for one in latest_caches(facts)
    )


def is_default(cache: CacheActivity, named: NamedCache | None) -> bool:
    """Whether this is the default data cache."""
    return cache.name == DEFAULT_CACHE or (named is not None and named.is_default)


def kind_of(named: NamedCache | None) -> str:
    """The type of a cache in one word: `log`, `in-memory`, `lockless`, `tempdb` (housekeeper ignored) or nothing."""
    kind = (named.kind or "").lower() if named else ""
    words = {"log": "log", "in-memory": "in-memory", "inmemory": "in-memory", "lockless": "lockless"}
    found = next((word for start, word in words.items() if kind.startswith(start)), "")
    return "tempdb" if not found and ("hk ignore" in kind or (named and "tempdb" in named.name.lower())) else found


def unknown_kind(named: NamedCache | None) -> str | None:
    """The type of a cache as printed, where it is none that is known here; `None` for a known one and for no type.

    What `sp_cacheconfig` prints for a row cache of in-memory row storage is in no source (knowledge/releases-2026.md,
    1.4): so partitions, strategy and bindings are scripted for the known types alone.
    """
    kind = (named.kind or "").strip() if named else ""
    return None if not kind or kind.lower().startswith(KNOWN_KINDS) else kind


def set_apart(named: NamedCache) -> str | None:
    """Why nothing printed here would be right for this cache, or `None`."""
    if "del" in (named.status or "").lower():
        return f"being dropped ({named.status})"
    if kind := unknown_kind(named):
        return f"of a type that is not known here ({comment(kind)})"
    if kind_of(named) == "in-memory":
        return "the storage of an in-memory database, which replaces nothing"
    return "the cache of one instance of a cluster" if named.instance is not None else None


def doubt(cache: CacheActivity) -> str | None:
    """Why the searches and grabs of a cache cannot be believed, or `None`."""
    searches, hits = cache.searches, cache.hits
    figures: tuple[tuple[str, Reading], ...] = (
        ("searches", searches),
        ("searches per second", cache.searches_per_second),
        ("hits", hits),
        ("buffers grabbed", cache.grabbed),
        ("buffers grabbed per second", cache.grabbed_per_second),
    )
    for label, figure in figures:
        if figure is OVERFLOW:
            return f"{cache.name}: {label} printed as asterisks, too wide for the column"
        if known(figure) and figure < 0:
            return f"{cache.name}: {label} {figure:g} is negative: a counter wrapped or was cleared"
    if known(searches) and known(hits) and hits > searches:
        return f"{cache.name}: {hits:.0f} hits of {searches:.0f} searches cannot be"
    return None


def replaces(facts: Facts, cache: str, least_hit_percent: float) -> bool:
    """Whether a cache is known to replace buffers: some are grabbed, or it hits too seldom, or neither can be believed.

    Without its activity nothing is known.
    """
    seen = next((one for one in latest_caches(facts) if one.name == cache), None)
    if seen is None:
        return False
    grabs = per_second(seen.grabbed_per_second, seen.grabbed, seconds_of(facts))
    low = seen.hit_percent is not None and seen.hit_percent < least_hit_percent
    return low or (grabs is not None and grabs > 0) or doubt(seen) is not None


def seconds_of(facts: Facts) -> float | None:
    """Length of the sample."""
    of_sample = next((s.seconds for s in reversed(facts.every(SysmonSample)) if s.seconds), None)
    return of_sample or interval_seconds(facts)


def per_second(printed: Reading, count: Reading, seconds: float | None) -> float | None:
    """The rate as printed, with one decimal; from the count where only that is there."""
    if known(printed):
        return printed
    if known(count) and count == 0:
        return 0.0
    return round(count / seconds, 1) if known(count) and seconds else None


def pools_of(facts: Facts, cache: str) -> list[CachePool]:
    """The pools of a cache, smallest I/O first; a pool without any memory is not one."""
    named = named_of(facts, cache)
    instance = named.instance if named else None
    listed = [pool for pool in facts.every(CachePool) if pool.cache == cache]
    found = listed or monitored_pools(facts, cache)
    pools = {pool.io_size_kb: pool for pool in found if pool.instance == instance}
    return [pools[size] for size in sorted(pools) if pool_kb(pools[size]) != 0]


def pool_kb(pool: CachePool) -> float | None:
    """The least memory of a pool before and after the next restart; `None` where no size is printed.

    A configured size of 0 beside a run size means "what the others leave", not "none".
    """
    sizes = [size for size in (pool.config_size_mb, pool.run_size_mb) if known(size)]
    if not sizes:
        return None
    return 1024.0 * min((size for size in sizes if size > 0), default=0.0)


def least_pool_kb(page: float) -> float:
    """Kilobytes that a partition's share of any pool must have at least, by the logical page."""
    return max(POOL_KB, POOL_PAGES * page)


def too_small_for(pools: Iterable[CachePool], page: float, partitions: float) -> CachePool | None:
    """The first pool of which a partition's share would be smaller than the server allows."""
    least = least_pool_kb(page)
    return next((pool for pool in pools if (pool_kb(pool) or 0.0) / partitions < least), None)


def turnover_percent(facts: Facts, cache: CacheActivity, named: NamedCache | None) -> tuple[float, float] | None:
    """Share of the cache that would be replaced in an hour at this rate: the least and the most, per cent."""
    seconds = seconds_of(facts)
    exact = cache.grabbed / seconds if known(cache.grabbed) and seconds else None
    rate = exact if exact is not None else per_second(cache.grabbed_per_second, cache.grabbed, seconds)
    if rate == 0:
        return 0.0, 0.0
    sizes = [pool.io_size_kb for pool in pools_of(facts, cache.name)]
    if rate is None or named is None or not known(named.run_size_mb) or named.run_size_mb <= 0 or not sizes:
        return None
    buffers = 100.0 * rate * 3600 / 1024 / named.run_size_mb
    return buffers * min(sizes), buffers * max(sizes)
