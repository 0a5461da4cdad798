"""Turnover, pools and pages of a cache: what counts, and what is not known."""

import pytest

from collectors.facts import ABSENT, Fact, Facts, Reading
from collectors.facts.ase import CacheActivity, CachePool, NamedCache, Server, SysmonSample
from rules.ase._evidence.caches import figures as cache_figures
from rules.ase._evidence.server import page_kb


def facts(*items: Fact) -> Facts:
    return Facts(items)


def test_turnover_lies_between_the_smallest_and_the_largest_pool() -> None:
    cache = CacheActivity(name="c", grabbed=600.0, grabbed_per_second=1.0)
    named = NamedCache(name="c", run_size_mb=36.0)
    pools = (CachePool(cache="c", io_size_kb=2, run_size_mb=30.0), CachePool(cache="c", io_size_kb=16, run_size_mb=6.0))
    seen = facts(cache, named, *pools, SysmonSample(seconds=600.0))
    low, high = cache_figures.turnover_percent(seen, cache, named) or (0.0, 0.0)
    assert low == pytest.approx(100 * 1 * 3600 * 2 / 1024 / 36)
    assert high == pytest.approx(8 * low)


def test_nothing_grabbed_is_no_turnover_however_little_is_known() -> None:
    cache = CacheActivity(name="c", grabbed=0.0)
    assert cache_figures.turnover_percent(facts(cache), cache, None) == (0.0, 0.0)


def test_turnover_of_an_unknown_size_is_unknown() -> None:
    cache = CacheActivity(name="c", grabbed_per_second=1.0)
    assert cache_figures.turnover_percent(facts(cache), cache, NamedCache(name="c")) is None
    pool, empty = CachePool(cache="c", io_size_kb=2, run_size_mb=1.0), NamedCache(name="c", run_size_mb=0.0)
    assert cache_figures.turnover_percent(facts(cache, pool), cache, empty) is None


@pytest.mark.parametrize(
    ("config", "run", "kb"),
    [(0.0, 59.0, 59 * 1024), (5.0, 59.0, 5 * 1024), (59.0, 5.0, 5 * 1024), (8.0, 0.0, 8 * 1024), (0.0, 0.0, 0.0)],
)
def test_a_pool_is_as_large_as_the_less_of_what_runs_and_what_is_configured(
    config: float, run: float, kb: float
) -> None:
    pool = CachePool(cache="c", io_size_kb=2, config_size_mb=config, run_size_mb=run)
    assert cache_figures.pool_kb(pool) == kb


def test_a_pool_without_memory_is_no_pool_and_the_later_listing_counts() -> None:
    seen = facts(
        CachePool(cache="c", io_size_kb=2, run_size_mb=10.0),
        CachePool(cache="c", io_size_kb=4, config_size_mb=0.0, run_size_mb=0.0),
        CachePool(cache="c", io_size_kb=2, run_size_mb=20.0),
        CachePool(cache="other", io_size_kb=2, run_size_mb=30.0),
        CachePool(cache="c", io_size_kb=2, run_size_mb=40.0, instance=1),
    )
    assert [(pool.io_size_kb, pool.run_size_mb) for pool in cache_figures.pools_of(seen, "c")] == [(2, 20.0)]


def test_the_page_is_the_servers_before_the_smallest_pool() -> None:
    pool = CachePool(cache="c", io_size_kb=8, run_size_mb=1.0)
    assert page_kb(facts(pool)) == 8
    assert page_kb(facts(pool, Server(page_size_bytes=4096.0))) == 4
    assert page_kb(facts()) is None


@pytest.mark.parametrize(
    ("printed", "count", "seconds", "rate"),
    [(3.0, 999.0, 10.0, 3.0), (ABSENT, 0.0, None, 0.0), (ABSENT, 25.0, 100.0, 0.2), (ABSENT, 25.0, None, None)],
)
def test_a_rate_is_the_printed_one_or_made_of_the_count(
    printed: Reading, count: Reading, seconds: float | None, rate: float | None
) -> None:
    assert cache_figures.per_second(printed, count, seconds) == rate


@pytest.mark.parametrize(
    ("name", "kind", "word"),
    [
        ("c", "Mixed", ""),
        ("c", None, ""),
        ("c", "Log Only", "log"),
        ("c", "Mixed, HK Ignore", "tempdb"),
        ("tempdb_cache", "Mixed", "tempdb"),
        ("tempdb_log", "Log Only", "log"),
        ("c", "In-Memory Storage", "in-memory"),
        ("c", "Lockless Data Cache", "lockless"),
    ],
)
def test_kinds_of_caches(name: str, kind: str | None, word: str) -> None:
    assert cache_figures.kind_of(NamedCache(name=name, kind=kind)) == word


def test_of_a_cluster_the_cache_of_all_instances_counts_first() -> None:
    seen = facts(NamedCache(name="c", run_partitions=2.0), NamedCache(name="c", instance=1, run_partitions=4.0))
    named = cache_figures.named_of(seen, "c")
    assert named is not None
    assert named.instance is None
