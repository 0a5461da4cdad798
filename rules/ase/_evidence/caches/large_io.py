"""A data cache that is asked for large I/O and has no pool for it: every page of a scan is then a read of its own.

sp_sysmon counts what was asked for and denied, for want of a pool or because pages were in another one; a cache with
one pool can only lack it. A pool takes its memory from that of the logical page, while the server runs. Sources:
knowledge/ase-rules.md, 3.3 C7; System Administration Guide 2 (16.0). How large it should be no source says: a tenth of
the cache is a first step of this project, and each partition needs 512 KB and 256 pages of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import CacheActivity, CachePool, NamedCache, Server, SysmonSample
from rules.ase._evidence.caches.figures import (
    kind_of,
    latest_caches,
    least_pool_kb,
    named_of,
    page_kb,
    pool_kb,
    pools_of,
    seconds_of,
    set_apart,
)
from rules.ase._evidence.caches.partitions import never_sized
from rules.changes.ase_cache import add_pool
from rules.changes.out_of_range import OutOfRange
from rules.changes.quoting import comment
from rules.finding import Change, Evidence

LARGE_IO_FACTS: tuple[type[Fact], ...] = (CacheActivity, CachePool, NamedCache, Server, SysmonSample)
DENIED_PERCENT, PER_SECOND = 50.0, 10.0
"""This project: share of the requests that is denied, and rate, from which on a pool is worth its memory."""
PAGES, SHARE = 8, 0.1
"""Vendor: the largest I/O is of eight pages; this project: the part of the cache that a first pool takes."""


@dataclass(frozen=True)
class Denied:
    """One cache that lacks the pool."""

    change: Change
    says: str
    evidence: Evidence
    short: str
    """Which cache lacks it, as the end of a title."""


def denied_large_io(facts: Facts) -> Iterator[Denied]:
    """Each cache of one pool that most of its large I/O is denied to."""
    page, seconds = page_kb(facts), seconds_of(facts)
    for cache in latest_caches(facts):
        named, pools = named_of(facts, cache.name), pools_of(facts, cache.name)
        asked, denied = cache.large_io_requests, cache.large_io_denied
        if not (page and seconds and known(asked) and known(denied)) or asked <= 0 or denied > asked:
            continue
        if 100 * denied < DENIED_PERCENT * asked or denied < PER_SECOND * seconds:
            continue
        if (
            named is None
            or len(pools) != 1
            or kind_of(named)
            or set_apart(named)
            or never_sized(named)
            or named.pending
        ):
            continue
        whole, partitions = (pool_kb(pools[0]) or 0.0) / 1024, named.run_partitions
        if not known(partitions) or partitions < 1:
            continue
        least = ceil(least_pool_kb(page) * partitions / 1024)
        new = max(least, round(SHARE * whole))
        if new >= whole / 2 or whole - new < least:
            continue
        io_kb = PAGES * page
        sized = (
            f"{new:,} MB: a tenth of the cache, a first step (this project's); each of its {partitions:.0f} partitions"
        )
        sized += f" needs {least_pool_kb(page):,.0f} KB of it."
        try:
            change = add_pool(cache.name, io_kb, new, whole, cautions=(sized,))
        except OutOfRange:
            continue
        yield Denied(
            change,
            f"{denied:,.0f} of {asked:,.0f} large I/Os were denied to {cache.name}, which has no pool for them: "
            f"give it a {io_kb:g} KB pool of {new:,} MB",
            Evidence(f"large I/Os denied to {cache.name}", denied, "", cache.source),
            f"{comment(cache.name, 30)} has no pool for the large I/O it is asked for",
        )
