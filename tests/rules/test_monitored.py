"""Spinlocks by name: what is summed, what is left out, and what is known of names and engines."""

from typing import Any

import pytest

from collectors.facts import Facts, Source
from collectors.facts.ase import (
    CacheActivity,
    ConfigParameter,
    EngineBusy,
    LockHashtable,
    MonEngine,
    MonSpinlockActivity,
    MonThread,
)
from rules.ase._evidence.server import engines_of, thread_busy
from rules.ase._evidence.spinlocks.figures import Figure, figure_of
from rules.ase._evidence.spinlocks.monitored import (
    Spinlock,
    all_in_doubt,
    dearest,
    spinlock_named,
    spinlocks_by_name,
)
from rules.ase._evidence.spinlocks.names import meaning_of
from rules.ase._evidence.spinlocks.spin_severity import SpinBound
from rules.ase._evidence.spinlocks.survey import cache_names, lock_figure
from rules.ase._evidence.times import span_of

TEN: dict[str, Any] = {"over": "interval", "seconds": 10.0, "certificate": "ok"}


def row(
    name: str, grabs: float = 1000.0, waits: float = 10.0, spins: float = 500.0, **more: Any
) -> MonSpinlockActivity:
    return MonSpinlockActivity(name=name, grabs=grabs, waits=waits, spins=spins, **{**TEN, **more})


def old(name: str, grabs: float = 1e6, waits: float = 9e5, spins: float = 9e9) -> MonSpinlockActivity:
    return MonSpinlockActivity(name=name, grabs=grabs, waits=waits, spins=spins, seconds=1e6)


def test_totals_since_boot_are_never_added_to_an_interval() -> None:
    lock = spinlock_named(Facts((old("a"), row("a"))), "a")
    assert lock is not None
    assert (lock.grabs, lock.waits, lock.spins) == (1000.0, 10.0, 500.0)
    assert spinlock_named(Facts((old("a"), row("b"))), "a") is None


def test_rows_of_one_name_are_summed_and_the_hottest_and_coldest_are_kept() -> None:
    rows = (row("c", waits=100.0, slot=0), row("c", waits=10.0, slot=1), row("c", waits=40.0, slot=2))
    lock = spinlocks_by_name(Facts(rows))["c"]
    assert lock.percent == 5.0
    assert (lock.hottest.slot, lock.coldest.slot) == (0, 1)
    assert lock.spins_share == 100.0


def test_a_row_that_is_hardly_grabbed_is_neither_hottest_nor_coldest() -> None:
    rows = (row("c", slot=0), row("c", grabs=5.0, waits=5.0, slot=1), row("c", waits=0.0, grabs=4.0, slot=2))
    lock = spinlocks_by_name(Facts(rows))["c"]
    assert (lock.hottest.slot, lock.coldest.slot) == (0, 0)


def test_what_cannot_be_is_left_out_and_doubted_where_nothing_else_is_there() -> None:
    more_waits, negative = row("a", grabs=5.0, waits=6.0), row("b", spins=-1.0)
    assert not spinlocks_by_name(Facts((more_waits, negative)))
    doubt = all_in_doubt(Facts((more_waits, negative)))
    assert doubt is not None
    assert "wrapped" in doubt.why
    assert all_in_doubt(Facts((more_waits, row("c")))) is None
    assert all_in_doubt(Facts(())) is None


def test_the_queues_of_the_scheduler_are_not_the_dearest() -> None:
    first = dearest(Facts((row("Sched Q", spins=1e9), row("a", spins=10.0), row("b", spins=20.0))))
    assert first is not None
    assert first.name == "b"


def test_spins_for_each_wait_and_the_rate_for_each_engine() -> None:
    lock = spinlocks_by_name(Facts((row("a"),)))["a"]
    assert lock.spins_per_wait == 50.0
    assert lock.per_engine(5) == 10.0
    assert lock.per_engine(None) is None
    assert spinlocks_by_name(Facts((row("a", seconds=None),)))["a"].per_engine(5) is None


def test_an_interval_goes_before_sp_sysmon_and_sp_sysmon_before_totals_since_boot() -> None:
    printed = LockHashtable(table="page and row", contention_percent=12.0)
    for facts, contention in (
        ((old("fglockspins"), row("fglockspins"), printed), 1.0),
        ((old("fglockspins"), printed), 12.0),
        ((old("fglockspins"),), 90.0),
    ):
        figure = lock_figure(Facts(facts), "page and row")
        assert isinstance(figure, Figure)
        assert figure.contention == contention


def test_two_sources_that_are_near_each_other_are_not_said_to_disagree() -> None:
    for share, apart in ((1.2, False), (5.9, False), (6.1, True), (150.0, False)):
        printed = Figure("x", "address", share, Source("a", 1, 1))
        figure = figure_of(Facts((row("addrlockspins"),)), "addrlockspins", "x", "address", printed)
        assert isinstance(figure, Figure)
        assert ("sp_sysmon says" in figure.aside) is apart


def test_a_cache_is_known_by_its_buffers_its_name_or_sp_sysmon() -> None:
    rows = (row("bufspin orders_cache"), row("orders_cache"), row("fglockspins"), row("default data cache"))
    assert cache_names(Facts((*rows, CacheActivity(name="log_cache")))) == [
        "log_cache",
        "default data cache",
        "orders_cache",
    ]


def test_of_no_name_a_remedy_is_invented() -> None:
    assert "Nothing is known" in meaning_of("ZZ_SPIN")
    for name in ("Resource->zz", "Kernel->zz[i]", "Networking_spinlock", "DiskController"):
        assert "no remedy" in meaning_of(name)


def test_engines_that_are_offline_are_not_counted_and_a_row_read_twice_is_one_engine() -> None:
    busy: dict[str, Any] = {"user_seconds": 8.0, "idle_seconds": 2.0}
    rows = (
        MonEngine(engine=0, status="online"),
        MonEngine(engine=0, status="online", **TEN, **busy),
        MonEngine(engine=1, status="online", **TEN, **busy),
        MonEngine(engine=2, status="offline", **TEN, **busy),
    )
    assert (engines_of(Facts(rows)).number, engines_of(Facts(rows)).busy_percent) == (2, 80.0)
    since_boot = (MonEngine(engine=0, **busy), MonEngine(engine=1, **busy))
    assert (engines_of(Facts(since_boot)).number, engines_of(Facts(since_boot)).busy_percent) == (2, None)


def test_a_reset_counter_says_nothing_of_how_busy_an_engine_was() -> None:
    cut = MonEngine(engine=0, over="interval", certificate="reset", user_seconds=8.0, idle_seconds=2.0)
    assert engines_of(Facts((cut,))).busy_percent is None
    thread = MonThread(thread=1, over="interval", certificate="reset", busy_ticks=9.0, total_ticks=10.0)
    assert thread_busy(thread) is None


def test_a_rule_that_did_not_ask_for_the_tables_does_not_see_them() -> None:
    facts = Facts((MonEngine(engine=0), MonEngine(engine=1)))
    assert engines_of(facts).number == 2
    assert engines_of(facts.narrowed((EngineBusy, ConfigParameter))).number is None


def test_an_interval_that_may_have_had_no_length_gives_no_rate() -> None:
    assert span_of(MonSpinlockActivity(name="A", seconds_low=0.0, seconds_high=0.0)) is None
    assert span_of(MonSpinlockActivity(name="A", seconds_low=0.0, seconds_high=2.0)) is None
    assert span_of(MonSpinlockActivity(name="A", seconds_low=9.0, seconds_high=11.0)) == (9.0, 11.0)


def test_one_row_is_neither_the_hottest_nor_the_coldest_of_one() -> None:
    (alone,) = spinlocks_by_name(Facts((row("c"),))).values()
    (parted,) = spinlocks_by_name(Facts((row("c", slot=0), row("c", waits=100.0, slot=1)))).values()
    assert [one.metric for one in alone.evidence()] == ["c contention", "c spins", "c share of all spins"]
    assert [(one.metric, one.value) for one in parted.evidence()][3:] == [
        ("hottest of 2 rows", 10.0),
        ("coldest of 2 rows", 1.0),
    ]


@pytest.mark.parametrize(("busy", "costly"), [(None, False), (69.9, False), (70.0, True)])
def test_a_spinlock_is_costly_from_the_share_on_at_which_engines_are_busy(busy: float | None, costly: bool) -> None:
    bound = SpinBound(Spinlock("tablockspins", (row("tablockspins"),), 500.0), 12.0, 8, busy, most=True)
    assert bound.costly is costly
