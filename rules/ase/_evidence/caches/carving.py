"""Room for new caches taken out of the default data cache: how much it can give, and what it must keep.

A smaller size is static: the restart frees the memory, after it the caches are made and the objects bound. What moves
out leaves room behind; what the new caches take beyond that (growth, overhead, a margin) is lost to what stays. So the
default data cache keeps a floor, and none is carved while it reads much from disk. The vendor warns of a small default
data cache (System Administration Guide 2: recovery and all that is unbound use it) and names no figure: the floor is
this project's. Growing it back is dynamic. Sources: knowledge/ase-waits-caches.md, section 8.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.ase import MonCachedObject, NamedCache
from rules.ase._evidence.caches.contents import DATA, Contents, Held
from rules.ase._evidence.caches.figures import (
    latest_caches,
    pool_kb,
    pools_of,
    too_small_for,
)
from rules.ase._evidence.caches.memory import Host, host_of
from rules.changes.ase_cache import shrink_cache
from rules.finding import Change
from rules.laws.binding import Optimum

MARGIN_PERCENT = 5.0
"""Memory that stays free, per cent of what the new caches take (this project: never the last free megabyte)."""
LEAST_SHARE = 0.5
"""What the default data cache keeps of its size at least (this project)."""
STAYING_SHARE = 0.9
"""What it keeps at least of what stays in it and is used (this project: a tenth may be lost to growth and overhead)."""
LEAST_HIT_PERCENT = 95.0
"""Hits of the default data cache from which on it is not short of memory itself (vendor: hit rate above 95 %)."""
ROUNDS = 6
"""How often a smaller plan is tried until what it leaves is enough."""


@dataclass(frozen=True)
class Carving:
    """The default data cache made smaller. Sizes in megabytes."""

    cache: NamedCache
    old_mb: float
    new_mb: float
    floor_mb: float
    floor_of: str
    """What the floor is, in words, with its origin."""
    pools: tuple[tuple[float, float], ...]
    """I/O size in KB and size afterwards, the smallest first: what is given up comes from the first."""
    seen: bool
    """Whether monCachedObject says what is in it."""
    needed_mb: float
    """What all new caches need, with what stays free beside them."""
    free_mb: float
    """What is free for them without it."""
    host: Host | None = None
    """What the host has for a larger `max memory`, where an export tells."""

    @property
    def lacks_mb(self) -> int:
        """By how much `max memory` would be raised instead."""
        return math.ceil(self.needed_mb - self.free_mb)

    @property
    def host_full(self) -> bool:
        """Whether the host is known to have too little for that."""
        return self.host is not None and not self.host.has(self.lacks_mb)

    @property
    def freed_mb(self) -> float:
        """What the restart frees."""
        return self.old_mb - self.new_mb


UNSEEN = (
    "What of the objects is in memory is not in these exports: select * from master..monCachedObject before the "
    "restart. An object that moves and is not in memory as a whole leaves less room behind than its cache takes."
)
ONE_RESTART = (
    "Only for the memory of the new caches. Partitions that are proposed of it come with the same restart: they are "
    "not expected to be enough by themselves, else nothing would be made smaller."
)
RECOVERY = (
    "Recovery runs in the default data cache, and all that is unbound lives in it: watch its hit ratio, and the time "
    "the restart takes."
)


RAISE_INSTEAD = "only if the machine has no {:,} MB more for max memory"
HOST_FULL = "The host has {}: too little to raise max memory by {:,} MB instead."


def shrunk(carving: Carving) -> Change:
    """The default data cache made smaller, with what is to be watched: the same change for every cache made of it."""
    keeps = f"It keeps {carving.new_mb:,.0f} MB; not less than {carving.floor_mb:,.0f} MB: {carving.floor_of}."
    host, lacks = carving.host, carving.lacks_mb
    full = (HOST_FULL.format(host.said(lacks), lacks),) if host and carving.host_full else ()
    cautions = (ONE_RESTART, keeps, RECOVERY, *full, *(() if carving.seen else (UNSEEN,)))
    made = shrink_cache(carving.cache.name, carving.old_mb, carving.new_mb, carving.pools, cautions=cautions)
    return made if carving.host_full else replace(made, condition=RAISE_INSTEAD.format(carving.lacks_mb))


@dataclass(frozen=True)
class Uncarved:
    """Why the default data cache is not made smaller, as the end of a sentence."""

    why: str


def can_give(facts: Facts, named: NamedCache | None) -> Uncarved | None:
    """Why the default data cache gives nothing whatever the plan, or `None`."""
    if named is None or not known(named.run_size_mb) or (named.status or "active").strip().lower() != "active":
        return Uncarved("its size in force is not in the export: sp_cacheconfig shows it")
    if not known(named.config_size_mb) or named.config_size_mb <= 0:
        return Uncarved("its size is not configured explicitly: sp_cacheconfig shows and sets it")
    if named.pending:
        return Uncarved("a change of it waits for a restart: measure after it")
    pools = pools_of(facts, named.name)
    if not pools or any(pool_kb(pool) is None for pool in pools):
        return Uncarved("its pools are not in the export: sp_cacheconfig shows them")
    hits = next((one.hit_percent for one in latest_caches(facts) if one.name == named.name), None)
    if hits is None:
        return Uncarved("how often it reads from disk is not in the export")
    if hits < LEAST_HIT_PERCENT:
        return Uncarved(f"{hits:.1f} % of its searches find their page, so it is short of memory itself")
    return None


def carved(
    facts: Facts,
    contents: Contents,
    named: NamedCache,
    free_mb: float,
    most_partitions: int,
    solve: Callable[[float], tuple[Optimum | None, tuple[Held, ...]]],
    fixed: tuple[float, tuple[Held, ...]] = (0.0, ()),
) -> tuple[Optimum | None, Carving] | Uncarved:
    """The best plan that the default data cache can give the memory for, with what it is made smaller to.

    `solve`: the best plan within so many megabytes, and what it moves; no plan where there is none to be made. `fixed`:
    megabytes of caches that are made beside it of the same memory, and what moves into them. What moves decides the
    floor, and the floor how much may move: a plan that leaves too little is made anew within what it may take.
    `most_partitions`: into how many it may be cut in the same restart; its smallest pool must allow that.
    """
    size = named.run_size_mb if known(named.run_size_mb) else 0.0
    spend = 1 + MARGIN_PERCENT / 100
    budget = (free_mb + size * (1 - LEAST_SHARE)) / spend
    for _ in range(ROUNDS):
        optimum, moved = solve(max(0.0, budget - fixed[0]))
        moved = (*fixed[1], *moved)
        needed = fixed[0] + (sum(cache.memory_mb for cache in optimum.new) if optimum else 0.0)
        if not needed or needed > budget + 1e-6:
            break
        if any(held.cache != named.name for held in moved):
            return Uncarved("the plan would also move objects out of other caches")
        least, of = _floor(facts, contents, named.name, size, moved)
        new = math.floor(size - max(0.0, needed * spend - free_mb))
        if new >= least:
            pools = _pools(facts, named, size - new, most_partitions)
            if pools is None:
                return Uncarved("its smallest pool would be too small for its partitions")
            seen = any(row.cache == named.name for row in facts.every(MonCachedObject))
            return optimum, Carving(
                named, size, float(new), least, of, pools, seen, needed * spend, free_mb, host_of(facts)
            )
        budget = min(budget - 1, (free_mb + size - least) / spend)
        if budget <= 0:
            break
    return Uncarved("what would move leaves too little for what stays in it")


def _floor(facts: Facts, contents: Contents, cache: str, size: float, moved: tuple[Held, ...]) -> tuple[float, str]:
    """What the default data cache keeps at least, in megabytes and in words."""
    leaving = {(held.database, held.table, held.index_id) for held in moved}
    rows = [row for row in facts.every(MonCachedObject) if row.cache == cache]
    if rows:
        used = {(held.database, held.table, held.index_id) for held in contents.held if held.reads} - leaving
        cached = ((row.database, row.object_name, 0 if row.index_id in DATA else row.index_id, row) for row in rows)
        staying = sum(row.cached_kb / 1024 for *key, row in cached if tuple(key) in used and known(row.cached_kb))
        what = "of it that stay and are used, by monCachedObject"
    else:
        staying = max(0.0, size - sum(held.size_mb or 0.0 for held in moved))
        what = "of it that stay, taking what moves for wholly in it"
    if staying * STAYING_SHARE <= size * LEAST_SHARE:
        return size * LEAST_SHARE, "half of its size now, for recovery and all that is unbound (this project)"
    return staying * STAYING_SHARE, f"{100 * STAYING_SHARE:.0f} % of the {staying:,.0f} MB {what} (this project)"


def _pools(
    facts: Facts, named: NamedCache, freed: float, most_partitions: int
) -> tuple[tuple[float, float], ...] | None:
    """Its pools afterwards, what is given up taken from the smallest I/O size; `None` where that gets too small.

    Which pool gives way is not documented, so all are named; large pools keep what they have.
    """
    pools = pools_of(facts, named.name)
    sizes = [(pool.io_size_kb, (pool_kb(pool) or 0.0) / 1024) for pool in pools]
    page = sizes[0][0]
    left = sizes[0][1] - freed
    counts = (most_partitions, named.run_partitions, named.config_partitions)
    partitions = max(count for count in counts if known(count))
    smaller = replace(pools[0], run_size_mb=left, config_size_mb=left)
    if left <= 0 or too_small_for([smaller], page, partitions):
        return None
    return ((page, left), *sizes[1:])


def large_pools(facts: Facts, cache: str) -> tuple[tuple[float, float], ...]:
    """The pools of a cache beside that of its smallest I/O: I/O size in KB, and share of all its pools, 0 to 1.

    Where they are more than half of the cache, they are taken for half: a new cache keeps that for the logical page.
    """
    sizes = [(pool.io_size_kb, pool_kb(pool) or 0.0) for pool in pools_of(facts, cache)]
    total = max(sum(size for _, size in sizes), 2 * sum(size for _, size in sizes[1:]))
    return tuple((io_kb, size / total) for io_kb, size in sizes[1:] if size > 0)


def large_part(facts: Facts, home: str, size_mb: int, smallest_mb: int) -> tuple[tuple[float, int], ...]:
    """The share of pools for large I/O that the old cache has, whole megabytes: else what moves would lose it.

    Left out where a partition's part of it, or of what is left for the logical page, would be smaller than allowed.
    """
    found = [(io_kb, int(size_mb * share)) for io_kb, share in large_pools(facts, home)]
    found = [(io_kb, mb) for io_kb, mb in found if mb >= smallest_mb]
    while found and size_mb - sum(mb for _, mb in found) < smallest_mb:
        found.pop()
    return tuple(found)
