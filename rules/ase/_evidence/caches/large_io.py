"""A data cache that is asked for large I/O and has no pool for it, or a small one: each page of a scan is then a read.

sp_sysmon counts what was asked for and denied, for want of room in a pool or because pages were in another one; a cache
with one pool can only lack it. Of a pool that is there only the want of room says that it is too small: what lies in
another pool is denied to a pool of any size. Of a cache without such a pool it may count no request at all: then what
is prefetched page by page shows that it is read in order. A pool takes its memory from that of the logical page, while
the server runs. Sources: knowledge/ase-rules.md, 3.3 C7; System Administration Guide 2 (16.0); Large I/Os Denied of
"Monitoring Adaptive Server with sp_sysmon" (15.7), whose "no buffers available" is taken for `Pool < Prefetch Size`.
How large it should be no source says: a tenth of the cache, a fifth where most of what it reads is prefetched or would
have come with what was denied, is a first step of this project, and each partition needs 512 KB and 256 pages of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from collectors.facts import Fact, Facts, Reading, known
from collectors.facts.ase import CacheActivity, CachePool, NamedCache, Server, SysmonSample, SysmonSection
from rules.ase._evidence.caches.figures import (
    kind_of,
    latest_caches,
    least_pool_kb,
    named_of,
    pool_kb,
    pools_of,
    seconds_of,
    set_apart,
)
from rules.ase._evidence.caches.partitions import never_sized
from rules.ase._evidence.server import page_kb
from rules.changes.ase_cache import add_pool, resize_pool
from rules.changes.out_of_range import OutOfRange
from rules.changes.quoting import comment
from rules.finding import Change, Evidence

LARGE_IO_FACTS: tuple[type[Fact], ...] = (CacheActivity, CachePool, NamedCache, Server, SysmonSample)
DENIED_PERCENT, PER_SECOND = 50.0, 10.0
"""This project: share of the requests that is denied, and rate, from which on a pool is worth its memory."""
PAGES, SHARE = 8, 0.1
"""Vendor: the largest I/O is of eight pages; this project: the part of the cache that a first pool takes."""
TIMES = 2.0
"""This project: a pool that is there becomes so many times as large at least, or it is not what is short."""
FIFTH = 0.2
"""This project: the part where most of what is read into the cache is prefetched, or would come by large I/O."""
AHEAD, MINE = 1000.0, 0.5
"""This project: pages prefetched a second, and the part of them that must have come into the cache, from which on a
pool is worth its memory where nothing counts what it is asked for."""
NO_POOL = "has no pool for the large I/O it is asked for"
LESS = "The pool of the logical page becomes as much smaller: watch its hits."
ISSUED, ADVISED = "APFs Issued", "adding a large I/O pool"


@dataclass(frozen=True)
class Denied:
    """One cache that lacks the pool, or room in it."""

    change: Change
    says: str
    evidence: Evidence
    short: str
    """Which cache lacks it, as the end of a title."""


def denied_large_io(facts: Facts) -> Iterator[Denied]:
    """Each cache that most of its large I/O is denied to for want of a pool, or of room in it.

    A cache without such a pool that is read ahead page by page, too.
    """
    seconds, ahead = seconds_of(facts), _read_ahead(facts)
    for cache in latest_caches(facts):
        asked, denied = cache.large_io_requests, cache.large_io_denied
        if not (seconds and known(asked) and known(denied)) or denied > asked:
            continue
        if asked > 0 and 100 * denied >= DENIED_PERCENT * asked and denied >= PER_SECOND * seconds:
            if len(pools_of(facts, cache.name)) > 1:
                yield from _larger(facts, cache, asked, cache.large_io_without_room, seconds)
                continue
            says = f"{denied:,.0f} of {asked:,.0f} large I/Os were denied to {cache.name}, which has no pool for them"
            figure = Evidence(f"large I/Os denied to {cache.name}", denied, "", cache.source)
            yield from _pool(facts, cache, says, figure, NO_POOL, _share(cache, denied))
        elif not asked and ahead and _reads_ahead(cache, ahead, seconds):
            says = f"{ahead.value:,.0f} pages were prefetched one by one, as {cache.name} has no pool for large I/O"
            yield from _pool(facts, cache, says, ahead, "prefetches page by page, without a pool for large I/O", FIFTH)


def _share(cache: CacheActivity, denied: float) -> float:
    """The part of a cache that its pool for large I/O takes, by what of its misses the denied ones would have read."""
    return FIFTH if known(cache.misses) and PAGES * denied >= MINE * cache.misses else SHARE


def _larger(facts: Facts, cache: CacheActivity, asked: float, denied: Reading, seconds: float) -> Iterator[Denied]:
    """A larger pool for the largest I/O, which has no room for most of what it is asked for; nothing of any other."""
    if not known(denied) or 100 * denied < DENIED_PERCENT * asked or denied < PER_SECOND * seconds:
        return
    room, pools = _room(facts, cache, _share(cache, denied)), pools_of(facts, cache.name)
    if room is None or [pool.io_size_kb for pool in pools] != [room.io_kb / PAGES, room.io_kb]:
        return
    kept, old = ((pool_kb(pool) or 0.0) / 1024 for pool in pools)
    if not old or room.new_mb < TIMES * old or room.whole_mb - room.new_mb < room.new_mb:
        return
    try:
        change = resize_pool(cache.name, room.io_kb, old, room.new_mb, from_mb=kept, cautions=(room.sized, LESS))
    except OutOfRange:
        return
    says = f"{denied:,.0f} of {asked:,.0f} large I/Os found no room in the {room.io_kb:g} KB pool of {cache.name}"
    figure = Evidence(f"large I/Os denied to {cache.name} for want of room", denied, "", cache.source)
    yield Denied(
        change,
        f"{says}, {old:,.0f} of its {room.whole_mb:,.0f} MB: make that pool {room.new_mb:,} MB",
        figure,
        f"{comment(cache.name, 30)} has little room for the large I/O it is asked for",
    )


def _read_ahead(facts: Facts) -> Evidence | None:
    """Pages that all caches prefetched in the sample, by sp_sysmon; it counts them for no cache."""
    rows = [
        (row, section.source)
        for section in facts.also(SysmonSection).every(SysmonSection)
        if section.title.startswith("Data Cache")
        for row in section.rows
        if row.path and row.path[-1] == ISSUED
    ]
    if len(rows) != 1:
        return None
    ((row, source),) = rows
    return Evidence(ISSUED, row.count, "", replace(source, first=row.line, last=row.line)) if known(row.count) else None


def _reads_ahead(cache: CacheActivity, ahead: Evidence, seconds: float) -> bool:
    """Whether most pages that are read into this cache are prefetched, and sp_sysmon advises a pool for it.

    The advice stands in a report of an idle server, too, so the figures decide. What is grabbed and was not missed was
    prefetched, or is a new page: where it is far less than what was prefetched at all, that was for another cache.
    """
    advised = any(ADVISED in one for one in cache.advice)
    issued = float(ahead.value)
    if not advised or not known(cache.misses) or not known(cache.grabbed) or issued < AHEAD * seconds:
        return False
    return issued >= cache.misses and MINE * issued <= cache.grabbed - cache.misses


def _pool(
    facts: Facts, cache: CacheActivity, says: str, figure: Evidence, short: str, share: float
) -> Iterator[Denied]:
    """The pool for a cache of one pool that can have it; nothing where it cannot."""
    room = _room(facts, cache, share)
    if room is None or len(pools_of(facts, cache.name)) != 1:
        return
    try:
        change = add_pool(cache.name, room.io_kb, room.new_mb, room.whole_mb, cautions=(room.sized,))
    except OutOfRange:
        return
    says += f": give it a {room.io_kb:g} KB pool of {room.new_mb:,} MB"
    yield Denied(change, says, figure, f"{comment(cache.name, 30)} {short}")


@dataclass(frozen=True)
class _Room:
    """How large the pool of the largest I/O of a cache is to be."""

    io_kb: float
    new_mb: int
    whole_mb: float
    """All pools of the cache."""
    sized: str
    """Why it is so large, as a sentence."""


def _room(facts: Facts, cache: CacheActivity, share: float) -> _Room | None:
    """By the part of the cache that it takes; `None` where the cache cannot have it, or where that is not known."""
    page, named = page_kb(facts), named_of(facts, cache.name)
    if not page or named is None:
        return None
    if kind_of(named) or set_apart(named) or never_sized(named) or named.pending:
        return None
    whole = sum(pool_kb(pool) or 0.0 for pool in pools_of(facts, cache.name)) / 1024
    partitions = named.run_partitions
    if not known(partitions) or partitions < 1:
        return None
    least = ceil(least_pool_kb(page) * partitions / 1024)
    new = max(least, round(share * whole))
    if new >= whole / 2 or whole - new < least:
        return None
    part = "a tenth" if share == SHARE else "a fifth"
    sized = f"{new:,} MB: {part} of the cache, a first step (this project's); each of its {partitions:.0f} partitions"
    return _Room(PAGES * page, new, whole, f"{sized} needs {least_pool_kb(page):,.0f} KB of it.")
