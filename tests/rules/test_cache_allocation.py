"""One account of memory for all caches that an audit advises. Figures and names of our own."""

import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from collectors.facts import Fact, Facts
from collectors.facts.ase import (
    BindingList,
    CachePool,
    EngineBusy,
    IndexSize,
    MemoryHeadroom,
    MonCachedObject,
    MonDataCache,
    MonOpenObjectActivity,
    MonSpinlockActivity,
    NamedCache,
    Server,
)
from rules.ase._evidence.caches.allocation import Allocation, allocation
from rules.ase._evidence.caches.binding_plan import BindingPlan
from rules.ase._evidence.caches.carving import Carving, Uncarved, can_give
from rules.ase._evidence.caches.contents import Contents, contents_of
from rules.ase._evidence.caches.hot import CacheLimits
from rules.engine import judge_one, rules_of
from rules.finding import Change, Effect, Finding
from rules.plan import make_plan

DEFAULT, SECONDS = "default data cache", 120.0
OVER: dict[str, Any] = {"over": "interval", "certificate": "ok", "seconds": SECONDS}


def read(database: str, table: str, number: int, reads: float, *, index: int = 0, mb: float = 100.0) -> list[Fact]:
    """A table with its searches, its size, and what of it is in memory: all."""
    ids = {"tempdb": 2, "orders": 5, "billing": 6}
    row = MonOpenObjectActivity(
        database=database,
        db_id=ids[database],
        owner="dbo",
        object_name=table,
        object_id=number,
        index_id=index,
        logical_reads=reads,
        physical_reads=0.0,
        apf_reads=0.0,
        rows_inserted=0.0,
        rows_deleted=0.0,
        rows_updated=reads / 50,
        **OVER,
    )
    cached = MonCachedObject(
        cache=DEFAULT,
        database=database,
        db_id=ids[database],
        owner="dbo",
        object_name=table,
        object_id=number,
        cached_kb=mb * 1024,
        total_kb=mb * 1024,
    )
    size = IndexSize(database=database, owner="dbo", table=table, object_id=number, index_id=0, size_kb=mb * 1024)
    return [row, cached, size]


SERVER: tuple[Fact, ...] = (
    Server(name="MOLE", version="Adaptive Server Enterprise/16.0 SP04 PL02/EBF 1 SMP/P/x", page_size_bytes=2048.0),
    *(EngineBusy(engine=number, user_percent=85.0) for number in range(8)),
    MonSpinlockActivity(name=DEFAULT, grabs=12_000_000.0, waits=4_800_000.0, spins=180_000_000.0, **OVER),
    MonDataCache(name=DEFAULT, searches=20_000_000.0, physical_reads=2000.0, apf_reads=0.0, partitions=8.0, **OVER),
    NamedCache(
        name=DEFAULT,
        status="Active",
        kind="Default",
        config_size_mb=8000.0,
        run_size_mb=8000.0,
        config_replacement="strict LRU",
        run_replacement="strict LRU",
        config_partitions=8.0,
        run_partitions=8.0,
    ),
    CachePool(cache=DEFAULT, io_size_kb=2.0, config_size_mb=6000.0, run_size_mb=6000.0),
    CachePool(cache=DEFAULT, io_size_kb=16.0, config_size_mb=2000.0, run_size_mb=2000.0),
    BindingList(bindings=0, caches=(DEFAULT,)),
)
TEMPDB = read("tempdb", "#lines", 11, 5_000_000.0, mb=300.0)
LOG = read("orders", "syslogs", 8, 3_000_000.0, mb=40.0)
TABLES = [
    *read("orders", "item", 21, 4_200_000.0, mb=400.0),
    *read("orders", "stock", 22, 4_000_000.0, mb=200.0),
    *read("billing", "tariff", 23, 3_800_000.0, mb=100.0),
]


def facts(free_mb: float, *more: Iterable[Fact]) -> Facts:
    return Facts((*SERVER, MemoryHeadroom(available_kb=free_mb * 1024), *(one for some in more for one in some)))


def shared(every: Facts) -> Allocation:
    contents = contents_of(every)
    assert isinstance(contents, Contents)
    return allocation(every, contents, CacheLimits())


def given(free_mb: float, *more: Iterable[Fact]) -> Allocation:
    return shared(facts(free_mb, *more))


def memory(made: Allocation) -> float:
    assert isinstance(made.plan, BindingPlan)
    return made.plan.memory_mb if made.plan.worth_it else 0.0


def judged(every: Facts) -> tuple[list[Finding], list[Change]]:
    """Findings of the four rules that advise caches, and all their changes, as the engine gives them."""
    wanted = ("tempdb_in_shared", "log_in_shared", "hot_table_in", "system_tables_in")
    verdicts = [judge_one(one, every, {}) for one in rules_of("ase") if any(name in one.id for name in wanted)]
    findings = [finding for verdict in verdicts for finding in verdict.findings]
    return findings, [change for finding in findings for change in finding.changes]


def test_with_memory_for_all_each_gets_its_own() -> None:
    made = given(4000.0, TEMPDB, LOG, TABLES)
    assert {key: (room.fits, carving) for key, (room, carving) in made.given.items()} == {
        (DEFAULT, False): (True, None),
        (DEFAULT, True): (True, None),
    }
    assert memory(made) > 0


def test_what_moves_most_searches_is_given_memory_first_and_the_others_what_is_left() -> None:
    made = given(1200.0, TEMPDB, LOG, TABLES)
    spent = memory(made) * 1.01
    temporary, _ = made.given[DEFAULT, False]
    assert spent > 700
    assert temporary.before == (f"the binding plan ({spent:,.0f} MB with what stays free)",)
    assert temporary.left_mb == pytest.approx(1200.0 - spent)
    log, _ = made.given[DEFAULT, True]
    assert len(log.before) == 1 + temporary.fits
    few = [*read("orders", "item", 21, 2_400_000.0, mb=400.0), *read("billing", "tariff", 23, 2_000_000.0, mb=100.0)]
    other = given(700.0, TEMPDB, few)
    assert other.given[DEFAULT, False][0].before == (), "five millions before four"
    assert isinstance(other.plan, BindingPlan)
    assert other.plan.before == ("tempdb_cache (395 MB)",)
    assert isinstance(other.plan.carving, Carving), "what is left hides no better plan"
    assert memory(other) <= 700.0 - 395.0 + other.plan.carving.freed_mb


@pytest.mark.parametrize("free_mb", [0.0, 60.0, 200.0, 500.0, 800.0, 1200.0, 2000.0])
def test_the_plan_of_all_findings_fits_into_what_is_free_and_what_the_restart_frees(free_mb: float) -> None:
    every = facts(free_mb, TEMPDB, LOG, TABLES)
    findings, changes = judged(every)
    plan = make_plan(changes, free_mb)
    assert findings
    assert [one for one in plan.conflicts if "MB" in one.why] == [], "nothing is left out for want of memory"
    made = {change.key: change for change in changes}
    kept = [made[key] for step in plan.steps for key in step.change_keys]
    assert sum(change.memory_mb for change in kept) <= free_mb + 1e-6


def test_no_free_memory_is_one_restart_that_makes_the_default_data_cache_smaller_once() -> None:
    made = given(0.0, TEMPDB, LOG, TABLES)
    findings, changes = judged(facts(0.0, TEMPDB, LOG, TABLES))
    shrinks = {change.new for change in changes if change.key == f"ase.cache:{DEFAULT}:size"}
    assert len(shrinks) == 1, "all findings make it smaller to the same size"
    carvings = {carving for _, carving in made.given.values()}
    assert isinstance(made.plan, BindingPlan)
    assert carvings == {made.plan.carving}
    (carving,) = carvings
    assert isinstance(carving, Carving)
    needed = sum(change.memory_mb for change in {one.key: one for one in changes}.values() if change.memory_mb > 0)
    assert carving.freed_mb >= needed
    assert carving.new_mb >= carving.floor_mb
    steps = make_plan(changes, 0.0).steps
    own = [step for step in steps if step.takes_effect is Effect.RESTART and step.after is None]
    assert len(own) == 1, "what else is of a restart is done right after that one"
    restart = next(number for number, step in enumerate(steps) if step.takes_effect is Effect.RESTART)
    made_at = [n for n, step in enumerate(steps) for key in step.change_keys if key.endswith(":create")]
    assert min(made_at) > restart
    assert {finding.severity.label for finding in findings} == {"warning"}


def test_what_the_default_data_cache_cannot_give_is_said_with_what_it_gives() -> None:
    short = [fact for fact in SERVER if not isinstance(fact, NamedCache)]
    small = NamedCache(
        name=DEFAULT,
        status="Active",
        kind="Default",
        config_size_mb=1040.0,
        run_size_mb=1040.0,
        config_partitions=8.0,
        run_partitions=8.0,
        run_replacement="strict LRU",
        config_replacement="strict LRU",
    )
    pools = [CachePool(cache=DEFAULT, io_size_kb=2.0, config_size_mb=1040.0, run_size_mb=1040.0)]
    every = Facts(
        (
            *(fact for fact in short if not isinstance(fact, CachePool)),
            small,
            *pools,
            MemoryHeadroom(available_kb=0.0),
            *TEMPDB,
            *LOG,
            *TABLES,
        )
    )
    made = shared(every)
    leaves = "what would move leaves too little for what stays in it"
    assert {room.why for room, _ in made.given.values()} == {leaves}
    assert isinstance(made.plan, BindingPlan)
    assert isinstance(made.plan.carving, Carving), "a smaller plan of hot tables is what it can give"
    assert made.plan.carving.new_mb >= made.plan.carving.floor_mb
    findings, changes = judged(every)
    assert len({change.new for change in changes if change.key.endswith(":size")}) == 1
    said = [finding for finding in findings if "temporary databases make" in finding.title]
    assert [leaves in finding.unknown for finding in said] == [True]
    assert [finding.changes for finding in said] == [()]


def test_partitions_that_are_enough_come_before_any_memory() -> None:
    mild = [fact for fact in SERVER if not isinstance(fact, MonSpinlockActivity)]
    lock = MonSpinlockActivity(name=DEFAULT, grabs=12_000_000.0, waits=1_800_000.0, spins=90_000_000.0, **OVER)
    fewer = [
        fact if not isinstance(fact, NamedCache) else replace(fact, run_partitions=2.0, config_partitions=2.0)
        for fact in mild
    ]
    every = Facts((*fewer, lock, MemoryHeadroom(available_kb=0.0), *TEMPDB, *LOG, *TABLES))
    made = shared(every)
    assert all(carving is None for _, carving in made.given.values())
    assert all("partitions of it are expected to be enough" in room.why for room, _ in made.given.values())
    _, changes = judged(every)
    assert [change.key for change in changes if change.key.endswith(":size")] == []


def test_a_cache_of_temporary_databases_keeps_the_share_of_large_io_that_they_had() -> None:
    _, changes = judged(facts(4000.0, TEMPDB))
    (create,) = [change for change in changes if change.key.endswith(":create") and "tempdb" in change.key]
    assert any('sp_poolconfig "tempdb_cache", "90M", "16K"' in line for line in create.apply)


@pytest.mark.parametrize("free_mb", [0.0, 20.0, 100.0, 260.0, 400.0])
def test_a_little_free_memory_hides_no_better_plan(free_mb: float) -> None:
    small = read("orders", "rate", 24, 5_500_000.0, mb=30.0)
    made = given(free_mb, small, TABLES)
    assert isinstance(made.plan, BindingPlan)
    assert isinstance(made.plan.carving, Carving)
    assert {"orders.dbo.rate", "orders.dbo.item", "orders.dbo.stock"} <= set(made.plan.optimum.moved)


def test_partitions_of_the_same_restart_leave_less_to_move() -> None:
    """Eight partitions alike on eight engines: sixteen of them halve what the bindings leave."""
    alike = [
        MonSpinlockActivity(name=DEFAULT, slot=slot, grabs=1.5e6, waits=400_000.0 + 4_000 * slot, spins=9e7, **OVER)
        for slot in range(8)
    ]
    server = [fact for fact in SERVER if not isinstance(fact, MonSpinlockActivity)]
    tables = [*TABLES, *read("orders", "rate", 24, 5_500_000.0, mb=30.0)]
    made = shared(Facts((*server, *alike, MemoryHeadroom(available_kb=0.0), *tables)))
    assert isinstance(made.plan, BindingPlan)
    assert made.plan.cut[DEFAULT] == pytest.approx(0.5, abs=0.01)
    assert isinstance(made.plan.carving, Carving)
    assert len(made.plan.optimum.moved) < 4, "as many as it takes with the partitions"
    left = made.plan.left_of(DEFAULT, 27.6) or 0.0
    assert left * 0.5 < 8.0 < left


def test_a_default_data_cache_that_reads_from_disk_gives_nothing() -> None:
    cold = [
        MonDataCache(
            name=DEFAULT, searches=20_000_000.0, physical_reads=4_000_000.0, apf_reads=0.0, partitions=8.0, **OVER
        )
        if isinstance(fact, MonDataCache)
        else fact
        for fact in SERVER
    ]
    made = shared(Facts((*cold, MemoryHeadroom(available_kb=0.0), *TEMPDB, *LOG, *TABLES)))
    assert all(carving is None and "short of memory itself" in room.why for room, carving in made.given.values())
    assert isinstance(made.plan, BindingPlan)
    assert isinstance(made.plan.carving, Uncarved)


@pytest.mark.parametrize("number", range(40))
def test_whatever_a_server_has_the_findings_agree_and_fit(number: int) -> None:
    """Sizes, searches, contention and free memory at random: one size of the default data cache, and memory for all."""
    luck = random.Random(number)
    size, cut, free_mb = (
        luck.choice((600.0, 3000.0, 8000.0)),
        luck.choice((1.0, 2.0, 8.0)),
        luck.choice((0.0, 150.0, 300.0, 900.0)),
    )
    server: list[Fact] = []
    for fact in SERVER:
        if isinstance(fact, NamedCache):
            fact = replace(fact, config_size_mb=size, run_size_mb=size, config_partitions=cut, run_partitions=cut)
        elif isinstance(fact, CachePool):
            mb = size * (0.75 if fact.io_size_kb == 2 else 0.25)
            fact = replace(fact, config_size_mb=mb, run_size_mb=mb)
        elif isinstance(fact, MonDataCache):
            fact = replace(fact, partitions=cut)
        elif isinstance(fact, MonSpinlockActivity):
            fact = replace(fact, waits=luck.choice((1.6e6, 2.4e6, 4.8e6)))
        server.append(fact)
    objects = [
        *read("tempdb", "#work", 11, luck.uniform(1e6, 9e6), mb=luck.uniform(5, size / 3)),
        *read("orders", "syslogs", 8, luck.uniform(1e6, 6e6), mb=luck.uniform(2, size / 10)),
    ]
    for place in range(luck.randint(0, 5)):
        objects += read("billing", f"t{place}", 20 + place, luck.uniform(1e5, 6e6), mb=luck.uniform(1, size / 6))
    _, changes = judged(Facts((*server, MemoryHeadroom(available_kb=free_mb * 1024), *objects)))
    plan = make_plan(changes, free_mb)
    assert len({change.new for change in changes if change.key == f"ase.cache:{DEFAULT}:size"}) <= 1
    assert [one.why for one in plan.conflicts if " MB" in one.why or "asked to become" in one.why] == []


def test_a_cache_whose_size_waits_for_a_restart_gives_nothing() -> None:
    waits = NamedCache(name="default data cache", config_size_mb=7000.0, run_size_mb=8000.0)
    assert can_give(Facts(()), waits) == Uncarved("a change of it waits for a restart: measure after it")
