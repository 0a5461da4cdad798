"""A pool for large I/O where what is prefetched page by page shows that it is wanted. Figures of our own."""

from dataclasses import replace

import pytest

from collectors.facts import ABSENT, Fact, Facts, Source
from collectors.facts.ase import CacheActivity, CachePool, NamedCache, SysmonRow, SysmonSample, SysmonSection
from rules.ase._evidence.caches.large_io import denied_large_io

AT = Source("sysmon.out", 400, 900)
CACHE = CacheActivity(
    source=AT,
    name="default data cache",
    searches=18_000_000.0,
    misses=1_100_000.0,
    grabbed=2_600_000.0,
    large_io_requests=0.0,
    large_io_denied=0.0,
    advice=("Consider adding a large I/O pool for this cache.",),
)
NAMED = NamedCache(
    source=AT,
    name="default data cache",
    status="Active",
    kind="Default",
    config_size_mb=2000.0,
    run_size_mb=2000.0,
    config_partitions=2.0,
    run_partitions=2.0,
    run_replacement="strict LRU",
)
POOL = CachePool(source=AT, cache="default data cache", io_size_kb=4.0, config_size_mb=2000.0, run_size_mb=2000.0)


def prefetched(count: float) -> SysmonSection:
    path = ("Cache Statistics Summary (All Caches)", "Asynchronous Prefetch Activity", "APFs Issued")
    rows = (SysmonRow(486, path, ABSENT, ABSENT, count, ABSENT),)
    return SysmonSection(source=AT, title="Data Cache Management", rows=rows)


def said(*facts: Fact, seconds: float = 600.0) -> list[tuple[object, str]]:
    found = denied_large_io(Facts((SysmonSample(source=AT, seconds=seconds), *facts)))
    return [(one.change.new, one.says) for one in found]


def test_a_cache_that_prefetches_page_by_page_gets_a_fifth_as_its_pool() -> None:
    ((new, says),) = said(CACHE, NAMED, POOL, prefetched(1_400_000.0))
    assert new == "400 MB"
    assert "1,400,000 pages were prefetched one by one, as default data cache has no pool for large I/O" in says
    assert says.endswith("give it a 32 KB pool of 400 MB")


@pytest.mark.parametrize(
    ("facts", "seconds"),
    [
        ((replace(CACHE, advice=()), NAMED, POOL, prefetched(1_400_000.0)), 600.0),
        ((CACHE, NAMED, POOL, prefetched(900_000.0)), 600.0),  # most reads are of single pages
        ((CACHE, NAMED, POOL, prefetched(1_400_000.0)), 3600.0),  # fewer than a thousand a second
        ((replace(CACHE, grabbed=1_300_000.0), NAMED, POOL, prefetched(1_400_000.0)), 600.0),  # into another cache
        ((CACHE, NAMED, POOL, replace(POOL, io_size_kb=32.0), prefetched(1_400_000.0)), 600.0),
        ((CACHE, NAMED, POOL), 600.0),
    ],
)
def test_no_pool_is_advised_otherwise(facts: tuple[Fact, ...], seconds: float) -> None:
    assert said(*facts, seconds=seconds) == []
