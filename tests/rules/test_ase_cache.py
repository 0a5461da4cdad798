"""Changes to a data cache: what is printed, what is refused, what brings back the old value."""

import pytest

from rules.changes import ase_binding, ase_cache, ase_cache_back
from rules.changes.ase_cache import RELAXED, STRICT
from rules.changes.out_of_range import OutOfRange
from rules.finding import Change, Effect
from rules.plan import make_plan

QUOTED = 'x"; drop table y --'
HOSTILE = ["a\nshutdown", "a\rshutdown", "a\u202eb", "a\u2028b", "", "c" * 300]


def executable(change: Change) -> list[str]:
    return [line for line in (*change.apply, *change.undo) if not line.startswith("-- ")]


def every_change(cache: str) -> list[Change]:
    return [
        ase_cache.set_partitions(cache, 2, 4),
        ase_cache.set_replacement(cache, STRICT, RELAXED),
        ase_cache_back.take_back_replacement(cache, RELAXED, STRICT),
        ase_cache_back.take_back_partitions(cache, 4, 2),
        ase_cache.relaxed_if_it_fits(cache),
        ase_cache.create_cache(cache, 100, relaxed=True),
        ase_binding.bind(cache, "sales", "dbo", "orders"),
        ase_binding.bind_system_tables(cache, "sales", [("sysobjects", None), ("sysindexes", "csysindexes")]),
    ]


def test_partitions_are_set_and_put_back() -> None:
    change = ase_cache.set_partitions("default data cache", 2, 8)
    assert 'sp_cacheconfig "default data cache", "cache_partition=8"' in change.apply
    assert change.undo[0] == 'sp_cacheconfig "default data cache", "cache_partition=2"'
    assert "-- restart the server" in change.undo
    assert (change.old, change.new, change.takes_effect) == (2, 8, Effect.RESTART)
    shows = change.apply.index('sp_cacheconfig "default data cache"')
    assert shows < change.apply.index('sp_cacheconfig "default data cache", "cache_partition=8"')


@pytest.mark.parametrize("new", [0, -2, 3, 6, 128, 256])
def test_partitions_the_server_would_refuse_are_refused(new: int) -> None:
    with pytest.raises(OutOfRange):
        ase_cache.set_partitions("c", 1, new)


def test_more_than_64_partitions_only_where_the_release_has_them() -> None:
    assert ase_cache.set_partitions("c", 64, 128, largest=256).new == 128
    assert ase_cache.set_partitions("c", 128, 256, largest=256).new == 256
    assert ase_cache.set_partitions("c", 2, 1, largest=1).new == 1
    with pytest.raises(OutOfRange):
        ase_cache.set_partitions("c", 64, 512, largest=512)


@pytest.mark.parametrize(
    ("version", "most"),
    [
        (None, 64),
        ("nonsense", 64),
        ("12.5.4/EBF 15400 ESD#7.1", 64),
        ("15.7/EBF 23288 SMP SP104  ONE-OFF", 64),
        ("16.0 GA PL01/EBF 22544 SMP", 64),
        ("16.0 SP01 PL02/EBF 1", 64),
        ("Adaptive Server Enterprise/16.0 SP02 PL02/EBF 25320 SMP", 256),
        ("16.0 SP04 PL03/EBF 30399", 256),
        ("16.1 SP00/EBF 1", 256),
    ],
)
def test_how_many_partitions_a_release_allows(version: str | None, most: int) -> None:
    assert ase_cache.most_partitions(version) == most


def test_relaxed_and_back() -> None:
    change = ase_cache.set_replacement("log cache", STRICT, RELAXED)
    assert 'sp_cacheconfig "log cache", relaxed' in change.apply
    assert change.undo[0] == 'sp_cacheconfig "log cache", strict'
    back = ase_cache.set_replacement("log cache", RELAXED, STRICT)
    assert 'sp_cacheconfig "log cache", strict' in back.apply
    assert back.undo[0] == 'sp_cacheconfig "log cache", relaxed'
    assert change.takes_effect is back.takes_effect is Effect.RESTART
    assert change.key == back.key


def test_the_default_data_cache_is_never_made_relaxed_but_may_be_made_strict() -> None:
    with pytest.raises(OutOfRange):
        ase_cache.set_replacement("default data cache", STRICT, RELAXED)
    assert ase_cache.set_replacement("default data cache", RELAXED, STRICT).new == STRICT


@pytest.mark.parametrize(("old", "new"), [(STRICT, STRICT), (STRICT, "relaxed"), ("mru", STRICT)])
def test_another_word_is_no_strategy(old: str, new: str) -> None:
    with pytest.raises(OutOfRange):
        ase_cache.set_replacement("c", old, new)
    with pytest.raises(OutOfRange):
        ase_cache_back.take_back_replacement("c", old, new)


def test_a_pending_strategy_is_taken_back_without_a_restart() -> None:
    change = ase_cache_back.take_back_replacement("c", RELAXED, STRICT)
    assert change.takes_effect is Effect.ONLINE
    assert 'sp_cacheconfig "c", strict' in change.apply
    assert "relaxed LRU was configured and had not run" in change.undo[0]
    assert all(line.startswith("--") for line in change.undo)


def test_pending_partitions_are_taken_back_and_the_way_back_is_not_what_never_ran() -> None:
    change = ase_cache_back.take_back_partitions("c", 4, 8)
    assert (change.old, change.new, change.takes_effect) == (4, 8, Effect.ONLINE)
    assert change.key == ase_cache.set_partitions("c", 8, 16).key
    assert 'sp_cacheconfig "c", "cache_partition=8"' in change.apply
    assert all(line.startswith("--") for line in change.undo)


@pytest.mark.parametrize(("configured", "running"), [(3, 8), (8, 3), (0, 8), (512, 8), (2.5, 8)])
def test_a_number_of_partitions_that_cannot_be_is_not_written(configured: float, running: float) -> None:
    with pytest.raises(OutOfRange):
        ase_cache_back.take_back_partitions("c", configured, running)


def test_relaxed_for_a_cache_that_may_not_fit_cannot_be_run() -> None:
    change = ase_cache.relaxed_if_it_fits("c")
    assert change.takes_effect is Effect.ADVICE
    assert executable(change) == []
    assert any('sp_cacheconfig "c", relaxed' in line for line in change.apply)
    assert any('sp_cacheconfig "c", strict' in line for line in change.undo)
    assert "fits" in change.apply[0]


def test_a_query_of_a_monitoring_table_names_the_cache_in_single_quotes_and_what_must_be_on() -> None:
    query = ase_cache.query_cache("select 1 from t", "a'b", "enable monitoring")
    assert query == "select 1 from t where CacheName = 'a''b' /* needs sp_configure: enable monitoring */"
    assert "where" not in ase_cache.query_cache("select 1 from t", "a\nshutdown", "enable monitoring")


def test_a_new_cache_and_its_end() -> None:
    change = ase_cache.create_cache("system_tables", 200, relaxed=True, partitions=4)
    assert 'sp_cacheconfig "system_tables", "200M", mixed, relaxed, "cache_partition=4"' in change.apply
    assert 'sp_cacheconfig "system_tables", "0"' in change.undo
    assert change.memory_mb == 200
    assert change.takes_effect is Effect.ONLINE
    log = ase_cache.create_cache("log_cache", 200, log_only=True)
    assert 'sp_cacheconfig "log_cache", "200M", logonly' in log.apply


@pytest.mark.parametrize(("size", "partitions"), [(0.9, 1), (1, 4), (100, 3), (100, 128), (100, 0)])
def test_a_new_cache_the_server_would_refuse(size: float, partitions: int) -> None:
    with pytest.raises(OutOfRange):
        ase_cache.create_cache("c", size, partitions=partitions)


def test_a_new_cache_keeps_256_pages_in_each_partition_and_counts_its_overhead() -> None:
    with pytest.raises(OutOfRange):
        ase_cache.create_cache("c", 16, partitions=8, page_kb=16.0)
    assert ase_cache.create_cache("c", 32, partitions=8, page_kb=16.0, overhead_mb=2.5).memory_mb == 34.5


def test_more_than_64_partitions_of_a_new_cache_only_where_the_release_has_them() -> None:
    with pytest.raises(OutOfRange):
        ase_cache.create_cache("c", 1000, partitions=128)
    assert '"cache_partition=128"' in "".join(ase_cache.create_cache("c", 64, partitions=128, largest=256).apply)


def test_the_smallest_cache_and_the_smallest_partition() -> None:
    assert ase_cache.create_cache("c", 1, partitions=2).takes_effect is Effect.ONLINE
    assert ase_cache.create_cache("c", 32, partitions=64).memory_mb == 32


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_cache_name_that_cannot_be_quoted_makes_no_executable_line(hostile: str) -> None:
    for change in every_change(hostile):
        assert change.takes_effect is Effect.ADVICE
        assert executable(change) == []
        assert "\n" not in change.key + change.target
    assert ase_cache.show_cache(hostile) == "sp_cacheconfig"


@pytest.mark.parametrize("name", [QUOTED, "]", "a*/b", "go"])
def test_a_cache_name_with_quotes_stays_one_string(name: str) -> None:
    for change in every_change(name):
        quoted = '"' + name.replace('"', '""') + '"'
        for line in executable(change):
            assert name not in line.replace(quoted, "") or not line.startswith("sp_")
        assert change.takes_effect is Effect.ADVICE or any(quoted in line for line in executable(change))
        assert all(line.startswith("-- ") or "\n" not in line for line in (*change.apply, *change.undo))


def test_a_smaller_cache_names_the_pools_it_should_have_and_the_way_back() -> None:
    change = ase_cache.shrink_cache("default data cache", 8000.5, 7000, ((2, 5000), (16, 2000)))
    script, back = "\n".join(change.apply), "\n".join(change.undo)
    assert 'sp_cacheconfig "default data cache", "7000M"' in script
    assert "2K pool 5000 MB, 16K pool 2000 MB" in script
    assert '--   sp_poolconfig "default data cache", "2000M", "16K"' in script
    assert 'sp_cacheconfig "default data cache", "8000.5M"' in back
    assert back.startswith("-- first unbind")
    assert (change.memory_mb, change.takes_effect) == (-1000.5, Effect.RESTART)


@pytest.mark.parametrize(("old", "new", "pool"), [(100, 100, 50), (100, 120, 50), (100, 0, 0), (100, 80, 81)])
def test_a_size_that_is_none_is_never_printed(old: float, new: float, pool: float) -> None:
    with pytest.raises(OutOfRange):
        ase_cache.shrink_cache("c", old, new, ((2, pool),))


def test_a_new_cache_with_a_pool_for_large_io() -> None:
    change = ase_cache.create_cache("c", 100, pools=((16, 10),), needs=("room",))
    script = "\n".join(change.apply)
    assert script.index('sp_cacheconfig "c", "100M"') < script.index('sp_poolconfig "c", "10M", "16K"')
    assert change.needs == ("room",)
    for pools in (((16, 100),), ((16, 0),), ((16, 1),)):
        with pytest.raises(OutOfRange):
            ase_cache.create_cache("c", 100, partitions=4, pools=pools)


def test_partitions_and_strategy_of_one_cache_are_changed_in_restarts_of_their_own() -> None:
    strategy = ase_cache.set_replacement("claims_cache", RELAXED, STRICT)
    plan = make_plan([strategy, ase_cache.set_partitions("claims_cache", 2, 8)])
    assert [step.change_keys for step in plan.steps] == [
        ("ase.cache:claims_cache:cache_partition",),
        ("ase.cache:claims_cache:replacement",),
    ]
    other = make_plan([strategy, ase_cache.set_partitions("orders_cache", 2, 8)])
    assert len(other.steps) == 1, "another cache is another spinlock"
    assert "relinks a page with each hit" in " ".join(strategy.cautions)
