"""A named data cache that lies idle, as memory that a cache which is too small can take.

Memory of one cache serves no other. A cache is made smaller in a restart alone, so a script is given only where the
idle one was hardly touched since the start: work of another hour shows there, and in no interval. Or where all that is
bound to it has a size and leaves the rest of it empty: nothing else ever comes into it, however much it is searched.
One to which nothing is bound, and of which no page was touched since the start, is deleted, which needs no restart (the
vendor's list of dynamic actions; the manuals of 12.5 have it take one). A cache for logs is never idle in this sense.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from collectors.facts import Facts, Source, known
from collectors.facts.ase import CacheBinding, MonCachePool, NamedCache
from rules.ase._evidence.caches.bindings import listed
from rules.ase._evidence.caches.figures import (
    kind_of,
    latest_caches,
    least_pool_kb,
    named_of,
    per_second,
    pool_kb,
    pools_of,
    seconds_of,
    set_apart,
)
from rules.ase._evidence.caches.fit import GROWTH, bound_at_most
from rules.ase._evidence.caches.growth import ALL_BOUND
from rules.ase._evidence.caches.temporary import serves_tempdb
from rules.ase._evidence.server import level_reached, page_kb, server_of
from rules.changes.ase_cache import drop_cache, grow_cache, most_partitions, shrink_cache
from rules.changes.out_of_range import OutOfRange
from rules.finding import Change

KEPT = 0.1
"""This project: the part that an idle cache keeps, as a first step."""
SEARCHES_PER_SECOND, SEARCHES_ORIGIN = 10.0, "this project: a cache that is searched less holds nothing that is used"
NEVER_NEEDED = "Ask first whom it was made for: work that has not come since the start of the server shows nowhere."
TOUCHED_PERCENT, TOUCHED_ORIGIN = 10.0, "this project: the rest was never touched since the start"


@dataclass(frozen=True)
class Idle:
    """A named cache that nobody searches, or far larger than what is bound to it."""

    name: str
    size_mb: float
    gives_mb: int
    searches: float
    """A second."""
    touched_percent: float | None
    """How much of it was ever used since the start; `None` where monCachePool does not say it."""
    source: Source
    bound_mb: float | None = None
    """What all that is bound to it has at most, where that is why so much of it can hold nothing."""
    unused: bool = False
    """Whether nothing is bound to it and nothing was ever in it, so that it can be deleted at once."""

    @property
    def never_used(self) -> bool:
        """Whether what it gives lay idle at every hour since the start."""
        return self.bound_mb is not None or (
            self.touched_percent is not None and self.touched_percent <= TOUCHED_PERCENT
        )


def idle_beside(facts: Facts, starved: str, needed_mb: float) -> Idle | None:
    """The largest idle named cache that has so much to give, `None` where none has.

    Never the default data cache, one of temporary databases (ase/cache_memory_idle) or one that waits for a restart.
    """
    found = [one for one in _idle(facts, starved) if one.gives_mb >= needed_mb]
    return max(found, key=lambda one: one.gives_mb, default=None)


def _idle(facts: Facts, starved: str) -> list[Idle]:
    found = []
    for cache in latest_caches(facts):
        named = named_of(facts, cache.name)
        rate = per_second(cache.searches_per_second, cache.searches, seconds_of(facts))
        if named is None or named.is_default or cache.name == starved:
            continue
        if set_apart(named) or named.pending or kind_of(named) == "log" or serves_tempdb(facts, cache.name, named):
            continue
        size, page = named.run_size_mb, page_kb(facts)
        if not known(size) or not known(named.run_partitions) or page is None or size <= 0:
            continue
        unsearched = rate is not None and 0 <= rate < SEARCHES_PER_SECOND
        bound = None if unsearched else bound_at_most(facts, cache.name)
        if not unsearched and bound is None:
            continue
        pools = max(1, len(pools_of(facts, cache.name)))
        keeps = max(
            KEPT * size if bound is None else GROWTH * bound,
            pools * named.run_partitions * least_pool_kb(page) / 1024,
        )
        touched = _touched(facts, cache.name)
        unused = not rate and touched == 0 and _can_go(facts, named)
        gives = math.floor(size if unused else size - keeps)
        if bound is not None and touched is not None and touched * size > 100.0 * keeps:
            continue  # more than what is bound now was there once
        found.append(Idle(cache.name, size, gives, rate or 0.0, touched, cache.source, bound, unused))
    return found


def _can_go(facts: Facts, named: NamedCache) -> bool:
    """Whether a cache can be deleted without a restart, and made anew as it is: nothing is bound to it, it is mixed."""
    bound = [one for one in facts.every(CacheBinding) if one.cache == named.name]
    mixed = (named.kind or "").strip().lower() == "mixed" and named.relaxed is not None
    return mixed and not bound and listed(facts, named.name) and level_reached(facts, "15.0") is True


def _touched(facts: Facts, cache: str) -> float | None:
    rows = {one.io_size_kb: one for one in facts.every(MonCachePool) if one.cache == cache}
    used = [one.pages_touched * one.io_size_kb for one in rows.values() if known(one.pages_touched)]
    sizes = [one.allocated_kb for one in rows.values() if known(one.allocated_kb)]
    whole = len(used) == len(rows) == len(sizes)
    return 100.0 * sum(used) / sum(sizes) if whole and sum(sizes) > 0 else None


def moved(facts: Facts, idle: Idle, named: NamedCache, size_mb: float) -> tuple[Change, ...]:
    """The idle cache smaller in a restart, or deleted, then the other larger by as much; none where it is not legal."""
    pools = [(pool.io_size_kb, (pool_kb(pool) or 0.0) / 1024) for pool in pools_of(facts, idle.name)]
    keeps, whole = idle.size_mb - idle.gives_mb, sum(mb for _, mb in pools)
    if not pools or not whole:
        return ()
    if idle.unused:
        return _deleted(facts, idle, named, size_mb, pools)
    kept = f"It keeps {keeps:,.0f} MB, as a first step (this project's): look at every hour whether it is used."
    kept = kept if idle.bound_mb is None else ALL_BOUND.format(idle.bound_mb)
    try:
        smaller = shrink_cache(
            idle.name,
            idle.size_mb,
            keeps,
            [(io_kb, math.floor(mb * keeps / whole)) for io_kb, mb in pools],
            cautions=(kept,),
        )
        larger = grow_cache(named.name, size_mb, size_mb + idle.gives_mb)
    except OutOfRange:
        return ()
    return smaller, replace(larger, needs=(smaller.key,))


def _deleted(
    facts: Facts, idle: Idle, named: NamedCache, size_mb: float, pools: Sequence[tuple[float, float]]
) -> tuple[Change, ...]:
    """The idle cache deleted, then the other one larger by as much."""
    gone, server, page = named_of(facts, idle.name), server_of(facts), page_kb(facts)
    if gone is None or page is None or not known(gone.run_partitions):
        return ()
    try:
        deleted = drop_cache(
            idle.name,
            idle.size_mb,
            relaxed=bool(gone.relaxed),
            partitions=int(gone.run_partitions),
            largest=most_partitions(server.version if server else None),
            page_kb=page,
            pools=[(io_kb, math.floor(mb)) for io_kb, mb in pools if io_kb != page],
            cautions=(NEVER_NEEDED,),
        )
        larger = grow_cache(named.name, size_mb, size_mb + idle.gives_mb)
    except OutOfRange:
        return ()
    return deleted, replace(larger, needs=(deleted.key,))
