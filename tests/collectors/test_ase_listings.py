"""Listings that say a part of what others say: none hides another, and none makes up a change that waits."""

from itertools import permutations

import pytest

from advisor.audits.services.auditing import run_audit
from collectors.capture import captures
from collectors.facts import ABSENT, Fact, Facts, known
from collectors.facts.ase import (
    CacheBinding,
    CachePool,
    ConfigParameter,
    MemoryHeadroom,
    NamedCache,
    TableScheme,
)
from collectors.read import Input

RATIO = "lock spinlock ratio"
LISTED = ConfigParameter(name=RATIO, config_value=20.0, run_value=85.0, default_value=85.0, kind="static")
IN_FILE = ConfigParameter(name=RATIO, config_value=40.0)
RANGE = ConfigParameter(name=RATIO, run_value=85.0, minimum=1.0, maximum=2147483647.0, default_value=85.0)


def given(file: str, report: str, *facts: Fact) -> Input:
    return Input(file, report, list(facts), given=file)


def facts_of(*inputs: Input) -> Facts:
    (capture,) = captures(inputs, name="QUAY1")
    return capture.facts


def verdict(rule: str, *inputs: Input) -> str:
    (audit,) = run_audit(inputs, {}, name="QUAY1")
    return next(one.verdict for one in audit.verdicts if one.rule == rule)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_configuration_file_and_a_range_never_hide_the_listing_whichever_is_read_last(order: tuple[int, ...]) -> None:
    inputs = [
        given("q.cfg", "ase/config_file", IN_FILE),
        given("range.txt", "ase/sp_helpconfig", RANGE),
        given("conf.txt", "ase/sp_configure", LISTED),
    ]
    (setting,) = facts_of(*(inputs[place] for place in order)).every(ConfigParameter)
    assert (setting.config_value, setting.run_value, setting.kind) == (20.0, 85.0, "static")
    assert (setting.minimum, setting.maximum) == (1.0, 2147483647.0)
    assert not any(one.problems for one in inputs)


def test_reports_in_one_file_go_by_what_they_are_not_by_their_order() -> None:
    facts = facts_of(given("all.txt", "ase/sp_configure", LISTED), given("all.txt", "ase/config_file", IN_FILE))
    assert facts.latest(ConfigParameter, name=RATIO) == LISTED


def test_beside_a_range_the_file_comes_first_where_nothing_lists_the_parameter() -> None:
    facts = facts_of(
        given("range.txt", "ase/sp_helpconfig", RANGE),
        given("q.cfg", "ase/config_file", IN_FILE, ConfigParameter(name="number of locks", config_value=9000.0)),
    )
    latest = facts.latest(ConfigParameter, name=RATIO)
    assert latest is not None
    assert latest.run_value == 85.0
    assert facts.latest(ConfigParameter, name="number of locks", config_value=9000.0)


def test_a_parameter_of_one_instance_is_not_that_of_the_server() -> None:
    facts = facts_of(
        given("conf.txt", "ase/sp_configure", LISTED),
        given("q.cfg", "ase/config_file", ConfigParameter(name=RATIO, instance="quay_1", config_value=10.0)),
    )
    assert {one.instance for one in facts.every(ConfigParameter)} == {None, "quay_1"}


def test_a_configuration_file_alone_waits_for_no_restart() -> None:
    cache = NamedCache(name="item cache", config_size_mb=512.0, config_partitions=8.0, config_replacement="relaxed LRU")
    pool = CachePool(cache="item cache", io_size_kb=16.0, config_size_mb=128.0)
    alone = given("q.cfg", "ase/config_file", IN_FILE, cache, pool)
    assert verdict("ase/change_pending_restart", alone) == "unknown"


def test_a_configuration_file_beside_the_listings_changes_no_verdict_about_a_restart() -> None:
    listed = ConfigParameter(name=RATIO, config_value=85.0, run_value=85.0, kind="static")
    cache = NamedCache(name="item cache", run_size_mb=512.0, run_partitions=4.0, run_replacement="strict LRU")
    in_file = NamedCache(name="item cache", config_size_mb=900.0, config_partitions=8.0)
    inputs = (
        given("conf.txt", "ase/sp_configure", listed),
        given("caches.txt", "ase/syscacheinfo", cache),
        given("q.cfg", "ase/config_file", IN_FILE, in_file),
    )
    assert verdict("ase/change_pending_restart", *inputs) == "clean"
    assert facts_of(*inputs).every(NamedCache) == [cache]


def test_a_pending_change_stays_pending_beside_a_configuration_file() -> None:
    inputs = (given("conf.txt", "ase/sp_configure", LISTED), given("q.cfg", "ase/config_file", IN_FILE))
    assert verdict("ase/change_pending_restart", *inputs) == "fired"


def test_pools_of_a_file_are_left_out_where_the_cache_is_listed() -> None:
    listed = CachePool(cache="item cache", io_size_kb=4.0, run_size_mb=512.0)
    facts = facts_of(
        given("q.cfg", "ase/config_file", CachePool(cache="item cache", io_size_kb=16.0, config_size_mb=1.0)),
        given("caches.txt", "ase/sp_cacheconfig", NamedCache(name="item cache", run_size_mb=512.0), listed),
    )
    assert facts.every(CachePool) == [listed]


def test_caches_and_their_pools_may_come_in_two_files() -> None:
    listed = NamedCache(name="item cache", run_size_mb=512.0)
    pool = CachePool(cache="item cache", io_size_kb=4.0, run_size_mb=512.0)
    inputs = given("syscacheinfo.csv", "ase/syscacheinfo", listed), given("syspoolinfo.csv", "ase/syscacheinfo", pool)
    facts = facts_of(*inputs)
    assert (facts.every(NamedCache), facts.every(CachePool)) == ([listed], [pool])
    assert [problem for one in inputs for problem in one.problems] == []


def test_pools_that_are_listed_otherwise_are_in_dispute_and_the_cache_is_not() -> None:
    listed = NamedCache(name="item cache", run_size_mb=512.0)
    pools = [CachePool(cache="item cache", io_size_kb=size, run_size_mb=512.0) for size in (4.0, 16.0)]
    inputs = [given(f"{number}.csv", "ase/syscacheinfo", pool) for number, pool in enumerate(pools)]
    facts = facts_of(given("syscacheinfo.csv", "ase/syscacheinfo", listed), *inputs)
    assert (facts.every(NamedCache), facts.every(CachePool)) == ([listed], [])
    assert all("about pools of cache item cache" in problem for one in inputs for problem in one.problems)
    assert all(one.problems for one in inputs)


def test_the_overhead_of_a_cache_is_added_to_its_listing() -> None:
    listed = NamedCache(name="item cache", config_size_mb=512.0, run_size_mb=512.0, run_partitions=4.0)
    helped = NamedCache(name="item cache", config_size_mb=512.0, run_size_mb=500.0, overhead_mb=36.1)
    other = NamedCache(name="log cache", run_size_mb=64.0, overhead_mb=4.5)
    inputs = (given("caches.txt", "ase/sp_cacheconfig", listed), given("h.txt", "ase/sp_helpcache", helped, other))
    named = {one.name: one for one in facts_of(*inputs).every(NamedCache)}
    assert (named["item cache"].overhead_mb, named["item cache"].run_size_mb) == (36.1, 512.0)
    assert named["item cache"].run_partitions == 4.0
    assert named["log cache"] == other


def test_an_overhead_that_is_listed_is_not_overwritten() -> None:
    listed = NamedCache(name="item cache", overhead_mb=36.0)
    helped = NamedCache(name="item cache", overhead_mb=99.0)
    facts = facts_of(given("a.csv", "ase/syscacheinfo", listed), given("h.txt", "ase/sp_helpcache", helped))
    assert facts.every(NamedCache) == [listed]


def test_what_runs_is_never_filled_in_from_a_part() -> None:
    config_only = ConfigParameter(name=RATIO, config_value=20.0)
    (setting,) = facts_of(
        given("conf.txt", "ase/sp_configure", config_only), given("range.txt", "ase/sp_helpconfig", RANGE)
    ).every(ConfigParameter)
    assert setting.run_value is ABSENT
    assert known(setting.maximum)


def test_bindings_that_disagree_are_left_out_and_told_by_name_and_the_others_stay() -> None:
    shared = CacheBinding(cache="item cache", database="orders", owner="dbo", table="part")
    monday = CacheBinding(cache="item cache", database="orders", owner="dbo", table="item")
    tuesday = CacheBinding(cache="log cache", database="orders", owner="dbo", table="item")
    listings = [
        given("monday.txt", "ase/sp_helpcache", monday, shared),
        given("tuesday.txt", "ase/sp_helpcache", tuesday, shared),
    ]
    assert facts_of(*listings).every(CacheBinding) == [shared, shared]
    for one in listings:
        (problem,) = one.problems
        assert "the cache of orders.dbo.item" in problem


def test_schemes_and_free_memory_that_disagree_are_left_out() -> None:
    def listing(file: str, scheme: str, free: float) -> tuple[Input, Input]:
        table = TableScheme(database="orders", owner="dbo", table="item", scheme=scheme)
        return given(file, "ase/lock_schemes", table), given(
            file, "ase/memory_headroom", MemoryHeadroom(available_kb=free)
        )

    before, after = listing("a.txt", "allpages", 10.0), listing("b.txt", "datarows", 20.0)
    facts = facts_of(*before, *after)
    assert not facts.every(TableScheme)
    assert not facts.every(MemoryHeadroom)
    assert "the lock scheme of orders.dbo.item" in before[0].problems[0]
    assert "free memory" in after[1].problems[0]


def test_a_scheme_without_a_clustered_index_said_is_no_other_scheme() -> None:
    bare = TableScheme(database="orders", table="item", scheme="datarows")
    full = TableScheme(database="orders", table="item", scheme="datarows", clustered=True)
    facts = facts_of(given("a.txt", "ase/lock_schemes", bare), given("b.txt", "ase/lock_schemes", full))
    assert facts.every(TableScheme) == [bare, full]
