"""What is in which cache, what memory is free, and that both rules of the binding plan come to one plan."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from collectors.facts import ABSENT, Fact, Facts
from collectors.facts.ase import (
    BindingList,
    CacheActivity,
    CacheBinding,
    CachePool,
    ConfigParameter,
    EngineBusy,
    IndexSize,
    MemoryHeadroom,
    MonCachedObject,
    MonDataCache,
    MonOpenObjectActivity,
    NamedCache,
    Server,
    SysmonSample,
)
from rules.ase._evidence.caches.binding_plan import (
    LONGEST_NAME,
    OUTAGE_MOVES,
    BindingPlan,
    Lacks,
    binding_plan,
)
from rules.ase._evidence.caches.binding_report import Part, changes
from rules.ase._evidence.caches.carving import Carving
from rules.ase._evidence.caches.contents import (
    Contents,
    Held,
    contents_of,
    partitions_of,
)
from rules.ase._evidence.caches.fit import GROWTH, said_days, suits_relaxed
from rules.ase._evidence.caches.memory import free_memory
from rules.changes.ase_cache import set_partitions
from rules.changes.ase_config import configure
from rules.finding import Clean, Unknown, Untrusted
from rules.plan import make_plan

DEFAULT = "default data cache"
CACHE = NamedCache(name=DEFAULT, status="Active", kind="Default", run_size_mb=8000.0, run_partitions=2.0)


def used(table: str, reads: float, index_id: int = 0, **fields: object) -> MonOpenObjectActivity:
    values = {"over": "interval", "seconds": 100.0, "certificate": "ok", "database": "sales", "owner": "dbo", **fields}
    return MonOpenObjectActivity(object_name=table, index_id=index_id, logical_reads=reads, **values)  # type: ignore[arg-type]


def sized(table: str, mb: float, index_id: int = 0, name: str | None = None) -> IndexSize:
    return IndexSize(database="sales", owner="dbo", table=table, index_id=index_id, index_name=name, size_kb=mb * 1024)


def bound(cache: str, table: str | None = None, index: str | None = None, **fields: object) -> CacheBinding:
    return CacheBinding(cache=cache, database="sales", table=table, index=index, **fields)  # type: ignore[arg-type]


def contents(*facts: Fact) -> Contents:
    found = contents_of(Facts(facts))
    assert isinstance(found, Contents)
    return found


def where(*facts: Fact) -> dict[str, tuple[str, bool]]:
    return {one.name: (one.cache, one.bound) for one in contents(*facts).held}


def test_an_object_is_in_the_default_data_cache_unless_something_binds_it() -> None:
    assert where(used("orders", 5)) == {"sales.dbo.orders": (DEFAULT, False)}


def test_a_binding_of_the_table_does_not_bind_its_index_and_the_other_way_round() -> None:
    rows = (used("orders", 5), used("orders", 4, 2), sized("orders", 9, 2, "i1"))
    assert where(*rows, bound("hot", "orders")) == {
        "sales.dbo.orders": ("hot", True),
        "sales.dbo.orders.i1": (DEFAULT, False),
    }
    assert where(*rows, bound("hot", "orders", "i1")) == {
        "sales.dbo.orders": (DEFAULT, False),
        "sales.dbo.orders.i1": ("hot", True),
    }


def test_the_binding_of_a_database_holds_for_what_has_none_of_its_own_and_may_be_improved() -> None:
    found = where(used("orders", 5), used("stock", 4), bound("all"), bound("hot", "stock"))
    assert found == {"sales.dbo.orders": ("all", False), "sales.dbo.stock": ("hot", True)}


def test_an_invalid_binding_and_that_of_another_owner_bind_nothing() -> None:
    assert where(used("orders", 5), bound("hot", "orders", valid=False)) == {"sales.dbo.orders": (DEFAULT, False)}
    assert where(used("orders", 5), bound("hot", "orders", owner="jane")) == {"sales.dbo.orders": (DEFAULT, False)}


def test_pages_seen_in_a_named_cache_count_as_bound_where_no_binding_is_listed() -> None:
    seen = [
        MonCachedObject(cache=cache, database="sales", object_name="orders", index_id=0, cached_kb=kb)
        for cache, kb in (("hot", 900.0), (DEFAULT, 20.0))
    ]
    assert where(used("orders", 5), *seen) == {"sales.dbo.orders": ("hot", True)}
    assert where(used("orders", 5), *seen, bound("other", "stock")) == {"sales.dbo.orders": (DEFAULT, False)}


def test_rows_of_several_instances_are_one_object_and_text_pages_and_nameless_rows_are_none() -> None:
    rows = (used("orders", 5, instance=1), used("orders", 6, 1, instance=2), used("orders", 7, 255))
    (one,) = contents(*rows, MonOpenObjectActivity(logical_reads=9.0, over="interval")).held
    assert (one.reads, one.index_id) == (11, 0)


def test_searches_of_whole_caches_come_from_the_same_time_as_the_objects() -> None:
    row = used("orders", 5000)
    counted = MonDataCache(name=DEFAULT, over="interval", certificate="ok", searches=20_000.0)
    since_boot = MonDataCache(name=DEFAULT, searches=9e9)
    printed = (CacheActivity(name=DEFAULT, searches_per_second=100.0), SysmonSample(seconds=600.0))
    assert contents(row, since_boot, counted, *printed).searches == {DEFAULT: 20_000.0}
    assert contents(row, since_boot, *printed).searches == {DEFAULT: 10_000.0}
    assert contents(row, since_boot).searches == {DEFAULT: 5000.0}


def test_a_cache_is_never_searched_less_than_its_objects_are_read() -> None:
    counted = MonDataCache(name=DEFAULT, over="interval", certificate="ok", searches=10.0)
    assert contents(used("orders", 5000), counted).searches == {DEFAULT: 5000.0}


def test_contents_that_cannot_be_read_say_why() -> None:
    assert isinstance(contents_of(Facts()), Unknown)
    assert isinstance(contents_of(Facts((used("orders", 0.0),))), Clean)
    assert isinstance(contents_of(Facts((used("orders", -5.0),))), Untrusted)
    assert isinstance(contents_of(Facts((used("orders", 5.0, certificate="reset"),))), Untrusted)


def test_partitions_in_force_come_before_what_the_monitoring_table_says() -> None:
    monitored = MonDataCache(name=DEFAULT, partitions=8.0)
    assert partitions_of(Facts((monitored, CACHE)), DEFAULT) == 2
    assert partitions_of(Facts((monitored,)), DEFAULT) == 8
    assert partitions_of(Facts(), DEFAULT) is None


@pytest.mark.parametrize(
    ("facts", "mb"),
    [
        ((MemoryHeadroom(available_kb=2048.0),), 2.0),
        ((ConfigParameter(name="max memory", run_value=5120.0), MemoryHeadroom(available_kb=0.0)), 0.0),
        (
            (
                ConfigParameter(name="max memory", run_value=5120.0),
                ConfigParameter(name="total logical memory", run_value=1024.0),
            ),
            8.0,
        ),
        (
            (
                ConfigParameter(name="max memory", run_value=1024.0),
                ConfigParameter(name="total logical memory", run_value=5120.0),
            ),
            0.0,
        ),
        ((ConfigParameter(name="max memory", run_value=5120.0),), None),
        (
            (
                ConfigParameter(name="max memory", run_value=ABSENT),
                ConfigParameter(name="total logical memory", run_value=1.0),
            ),
            None,
        ),
    ],
)
def test_free_memory_is_read_or_the_difference_of_two_settings(facts: tuple[Fact, ...], mb: float | None) -> None:
    found = free_memory(Facts(facts))
    assert (found.mb if found else None) == mb


SERVER: tuple[Fact, ...] = (
    Server(name="S", version="15.7", page_size_bytes=2048.0),
    *(EngineBusy(engine=number) for number in range(4)),
    MemoryHeadroom(available_kb=1024.0 * 1024),
    CACHE,
    MonDataCache(name=DEFAULT, over="interval", certificate="ok", searches=1000.0),
)


def plan(*facts: Fact, without: Iterable[type[Fact]] = ()) -> BindingPlan | Lacks:
    every = Facts(tuple(fact for fact in (*SERVER, *facts) if type(fact) not in tuple(without)))
    read = contents_of(every)
    assert isinstance(read, Contents)
    return binding_plan(every, read, (DEFAULT,))


@pytest.mark.parametrize(
    ("table", "taken", "name"),
    [
        ("orders", "", "orders_strict"),
        ("orders", "ORDERS_STRICT", "orders_strict_1"),
        ("a_table_with_the_longest_name1", "", "a_table_with_the_longes_strict"),
        ("a_table_with_the_longest_name1", "a_table_with_the_longes_strict", "a_table_with_the_longes_stri_1"),
        ("every order", "", "hot_strict_1"),
    ],
)
def test_a_cache_of_one_table_is_called_after_it_by_a_name_that_any_release_takes(
    table: str, taken: str, name: str
) -> None:
    waits = NamedCache(name=taken, status="Pend/Act", kind="Mixed", run_size_mb=0.0)
    there: tuple[Fact, ...] = (waits, bound(taken, "stock")) if taken else ()
    made = plan(used(table, 400), sized(table, 100), *there)
    assert isinstance(made, BindingPlan)
    ((found, _),) = made.named
    assert found == name
    assert len(found) <= LONGEST_NAME


def test_a_cache_has_room_for_its_objects_to_grow() -> None:
    made = plan(used("orders", 400), sized("orders", 100))
    assert isinstance(made, BindingPlan)
    ((name, cache),) = made.named
    assert (name, cache.size_mb, cache.partitions) == ("orders_strict", 100 * GROWTH, 4)
    assert made.memory_mb == cache.size_mb + cache.overhead_mb


@pytest.mark.parametrize(
    ("kind", "bring"),
    [
        (Server, "@@maxpagesize"),
        (EngineBusy, "sp_sysmon"),
        (MemoryHeadroom, "sp_configure"),
        (NamedCache, "sp_cacheconfig"),
        (IndexSize, "data_pages"),
    ],
)
def test_without_one_of_its_figures_there_is_no_plan_but_a_command(kind: type[Fact], bring: str) -> None:
    made = plan(used("orders", 400), sized("orders", 100), without=(kind,))
    assert isinstance(made, Lacks)
    assert [bring in lack.command for lack in made.missing] == [True]


def test_the_size_of_what_would_not_be_moved_anyway_is_not_asked_for() -> None:
    assert isinstance(plan(used("orders", 400), sized("orders", 100), used("note", 3)), BindingPlan)


def test_system_tables_of_a_database_move_as_one_and_count_as_an_outage() -> None:
    made = plan(used("sysobjects", 200), used("sysindexes", 100), sized("sysobjects", 4), sized("sysindexes", 2))
    assert isinstance(made, BindingPlan)
    (one,) = made.of_kind(system=True)
    assert [held.table for held in one.holds] == ["sysobjects", "sysindexes"]
    assert one.piece.price == OUTAGE_MOVES
    assert made.of_kind(system=False) == []


def test_nothing_moves_that_the_server_would_not_bind() -> None:
    rows = [used(table, 100) for table in ("sysattributes", "sysallocpg", "syslogs", "#t")]
    rows += [used("work", 100, database="tempdb"), used("sysobjects", 100, database="master")]
    made = plan(*rows, *(sized(row.object_name or "", 1) for row in rows))
    assert isinstance(made, BindingPlan)
    assert made.optimum.moved == ()


LOOKUP = NamedCache(
    name="lookup", status="Active", kind="Mixed", run_size_mb=500.0, run_partitions=4.0, run_replacement="strict LRU"
)
ORDERS: tuple[Fact, ...] = (used("orders", 400), sized("orders", 100))
OF_LOOKUP = CacheBinding(cache="lookup", database="sales", table="stock", owner="dbo", kind="table")


def joined(*facts: Fact) -> dict[str, str]:
    empty = MonDataCache(name="lookup", searches=0.0, over="interval", certificate="ok")
    made = plan(*ORDERS, empty, *facts)
    assert isinstance(made, BindingPlan)
    return dict(made.optimum.joined)


def test_a_named_cache_takes_what_it_has_room_for_when_all_that_is_bound_to_it_has_grown() -> None:
    assert joined(LOOKUP, OF_LOOKUP, sized("stock", 10)) == {"sales.dbo.orders": "lookup"}
    assert joined(LOOKUP, OF_LOOKUP, sized("stock", 320)) == {}
    assert joined(LOOKUP, CacheBinding(cache="other", database="ledger", table="t")) == {"sales.dbo.orders": "lookup"}


@pytest.mark.parametrize(
    "named",
    [
        replace(LOOKUP, kind="Log Only"),
        replace(LOOKUP, kind="Mixed, HK Ignore"),
        replace(LOOKUP, kind=None),
        replace(LOOKUP, status="Pend/Act"),
        replace(LOOKUP, config_size_mb=600.0),
        replace(LOOKUP, run_replacement="relaxed LRU"),
        replace(LOOKUP, run_replacement=None),
        replace(LOOKUP, run_size_mb=ABSENT),
        replace(LOOKUP, instance=1),
    ],
)
def test_a_cache_for_something_else_or_one_that_waits_for_a_restart_takes_nothing(named: NamedCache) -> None:
    assert joined(named, OF_LOOKUP, sized("stock", 10)) == {}


def test_a_cache_whose_room_is_not_known_takes_nothing() -> None:
    assert joined(LOOKUP, OF_LOOKUP) == {}, "the size of what is bound to it is missing"
    assert joined(LOOKUP, CacheBinding(cache="lookup", database="ledger", table=None, kind="database")) == {}


def test_an_empty_cache_takes_what_fits_unless_it_is_one_of_temporary_databases() -> None:
    listed = BindingList(bindings=0, caches=(DEFAULT, "lookup", "tempdb_cache"))
    assert joined(LOOKUP, listed) == {"sales.dbo.orders": "lookup"}
    scratch = replace(LOOKUP, name="tempdb_cache")
    empty = MonDataCache(name="tempdb_cache", searches=0.0, over="interval", certificate="ok")
    made = plan(*ORDERS, scratch, listed, empty)
    assert isinstance(made, BindingPlan)
    assert made.optimum.joined == {}


def test_a_plan_that_is_carved_out_of_the_default_data_cache_is_made_after_the_restart_that_frees_its_memory() -> None:
    hits = MonDataCache(
        name=DEFAULT, over="interval", certificate="ok", searches=1000.0, physical_reads=0.0, apf_reads=0.0
    )
    default = replace(CACHE, config_size_mb=8000.0, config_partitions=2.0)
    pool = CachePool(cache=DEFAULT, io_size_kb=2.0, config_size_mb=8000.0, run_size_mb=8000.0)
    made = plan(*ORDERS, hits, default, pool, MemoryHeadroom(available_kb=0.0), without=())
    assert isinstance(made, BindingPlan)
    assert isinstance(made.carving, Carving)
    changed = list(changes(Part(made, DEFAULT, tuple(made.of_kind(system=False)))))
    shrink, create, bind = changed
    assert create.needs == (shrink.key,)
    assert bind.needs == (create.key,)
    steps = make_plan(changed, 0.0).steps
    assert [step.change_keys for step in steps] == [(shrink.key,), (create.key, bind.key)]
    assert not make_plan(changed, 0.0).conflicts
    cut = set_partitions(DEFAULT, 2, 4)
    one_restart = [step.change_keys for step in make_plan([cut, *changed], 0.0).steps]
    assert one_restart == [(cut.key, shrink.key), (create.key, bind.key)], "its partitions in the same restart"
    other = configure("lock spinlock ratio", 85, 20)
    together = [step.change_keys for step in make_plan([other, *changed], 0.0).steps]
    assert together == [(other.key, shrink.key), (create.key, bind.key)], "one restart for what has nothing to do with"
    left = made.carving.freed_mb - made.memory_mb
    assert left >= 0.05 * made.memory_mb, "a margin stays free"


def test_the_last_free_megabytes_are_not_spent() -> None:
    made = plan(*ORDERS, MemoryHeadroom(available_kb=127.0 * 1024))
    assert isinstance(made, BindingPlan)
    assert made.optimum.moved == ()
    enough = plan(*ORDERS, MemoryHeadroom(available_kb=128.0 * 1024))
    assert isinstance(enough, BindingPlan)
    assert enough.optimum.moved
    assert 126.0 < enough.memory_mb < 127.0


def test_a_binding_needs_the_cache_the_plan_makes_for_it() -> None:
    made = plan(*ORDERS)
    assert isinstance(made, BindingPlan)
    create, bind = changes(Part(made, DEFAULT, tuple(made.of_kind(system=False))))
    assert bind.needs == (create.key,)
    assert create.memory_mb == pytest.approx(made.memory_mb, abs=0.01)


def test_what_is_bound_is_never_moved_out_of_a_contended_cache() -> None:
    tables = (used("orders", 400), used("stock", 300), sized("orders", 100), sized("stock", 50))
    free, kept = plan(*tables), plan(*tables, *(bound(DEFAULT, table) for table in ("orders", "stock")))
    assert isinstance(free, BindingPlan)
    assert isinstance(kept, BindingPlan)
    assert len(free.optimum.moved) == 2
    assert kept.optimum.moved == ()


@pytest.mark.parametrize(
    ("misses", "changed", "seconds", "relaxed"),
    [
        (50, 10, 60.0, True),
        (51, 10, 60.0, False),
        (50, 11, 60.0, False),
        (None, 0, 60.0, False),
        (0, None, 60.0, False),
        (0, 10, None, False),  # how many a second is not known
        (0, 0, None, True),
        (0, 10, 0.01, True),
        (0, 10, 0.009, False),  # 1,111 rows a second
    ],
)
def test_relaxed_is_for_what_is_hardly_read_from_disk_or_changed(
    misses: float | None, changed: float | None, seconds: float | None, relaxed: bool
) -> None:
    one = Held("sales", "dbo", "t", 0, None, DEFAULT, False, 1000.0, CACHE.source, misses=misses, changed=changed)
    assert suits_relaxed((one,), seconds)[0] is relaxed


@pytest.mark.parametrize(
    ("days", "said"), [(1.9, "45.6 hours"), (2.0, "2 days"), (3.4, "3 days"), (1200.0, "1,200 days")]
)
def test_a_time_is_said_in_days_from_two_days_on(days: float, said: str) -> None:
    assert said_days(days) == said
