"""The figures watched over time are read or worked out, never made up."""

from pathlib import Path
from typing import Any

import pytest

from advisor.uploads.services.reading import captures_of, read_exports
from collectors.facts import ABSENT, NOT_MEASURED, OVERFLOW, Fact, Facts, Reading
from collectors.facts.ase import (
    CacheActivity,
    EngineBusy,
    LockHashtable,
    LockSummary,
    MetadataCache,
    MetadataSpinlock,
    SemaphoreRequests,
    SysmonSample,
)
from collectors.facts.openvms import (
    CpuModes,
    DedicatedLockManager,
    DistributedLockRates,
    LockDatabase,
    LockRates,
    ProcessorModes,
    RemasterRates,
)
from collectors.facts.scaling import LoadPoint, LoadSeries
from rules.figures import KeyFigure, key_figures, settings_of
from tests.stories import HERE as STORIES

HERE = Path(__file__).parent.parent
NO_INPUT: Any = None


def figures(*facts: Fact) -> dict[str, KeyFigure]:
    found = key_figures(Facts(facts))
    assert len({figure.key for figure in found}) == len(found)
    return {figure.key: figure for figure in found}


def values(*facts: Fact) -> dict[str, float]:
    return {key: figure.value for key, figure in figures(*facts).items()}


def series(title: str, *rates: float) -> LoadSeries:
    points = tuple(LoadPoint(load=load, rate=rate) for load, rate in enumerate(rates, 1))
    return LoadSeries(title=title, load_name="processes", rate_name="lock_operations_per_second", points=points)


def test_a_capture_without_figures_has_none() -> None:
    assert figures() == {}
    nothing_known = (EngineBusy(engine=0), LockSummary(), LockHashtable(table="address"), CacheActivity(name="c"))
    more = (ProcessorModes(statistic="mean"), LockRates(statistic="mean"), DistributedLockRates(statistic="mean"))
    assert set(values(*nothing_known, *more, SysmonSample(), LockDatabase(statistic="mean"))) == {"ase.engines"}


@pytest.mark.parametrize("missing", [ABSENT, OVERFLOW, NOT_MEASURED, -12.5, 100.1, float("nan"), float("inf")])
def test_a_figure_that_cannot_be_true_is_left_out_and_zero_is_not(missing: Reading) -> None:
    def contended(reading: Reading) -> dict[str, float]:
        return values(
            LockHashtable(table="address", contention_percent=reading),
            CacheActivity(name="c", contention_percent=reading),
            MetadataSpinlock(name="Object", contention_percent=reading),
            SemaphoreRequests(name="Log", waited_percent=reading),
        )

    assert contended(missing) == {}
    assert values(LockHashtable(table="address", chain_length=float("inf"))) == {}
    assert contended(0.0) == {
        "ase.lock_hashtable_contention:address": 0.0,
        "ase.cache_spinlock_contention": 0.0,
        "ase.cache_spinlock_contention:c": 0.0,
        "ase.metadata_contention:Object": 0.0,
        "ase.log_semaphore_waited": 0.0,
    }


def test_engines_are_counted_once_with_their_mean_and_the_busiest() -> None:
    one = EngineBusy(engine=0, user_percent=40.0, system_percent=10.0, io_percent=30.0)
    two = EngineBusy(engine=1, user_percent=80.0)
    assert values(one, two, one) == {"ase.engines": 2, "ase.engine_busy": 65.0, "ase.engine_busy_most": 80.0}
    assert values(one, EngineBusy(engine=1)) == {"ase.engines": 2}


def test_counts_become_rates_where_the_length_of_the_sample_is_known() -> None:
    counts = (
        LockSummary(requests=1_000_000, waited=500, waited_percent=0.1, deadlocks=3),
        MetadataCache(kind="object", reuse_succeeded=20),
    )
    sample = SysmonSample(seconds=600.0, committed_xacts=1200)
    assert values(sample, *counts) == {
        "ase.xacts": 2.0,
        "ase.lock_waited": 0.05,
        "ase.deadlocks": 18.0,
        "ase.descriptors_reused:object": 120.0,
    }
    assert values(SysmonSample(committed_xacts=1200), *counts) == {"ase.lock_waited": 0.05}
    assert values(LockSummary(waited_percent=0.1)) == {"ase.lock_waited": 0.1}


def test_only_the_five_most_contended_caches_have_figures_of_their_own() -> None:
    caches = [CacheActivity(name=f"c{n}", contention_percent=float(n), searches=100, hits=90 + n) for n in range(7)]
    found = values(*caches, CacheActivity(name="wrapped", contention_percent=120.0, searches=100, hits=97))
    own = [key for key in found if key.startswith("ase.cache_spinlock_contention:")]
    assert own == [f"ase.cache_spinlock_contention:c{n}" for n in (6, 5, 4, 3, 2)]
    assert found["ase.cache_spinlock_contention"] == 6.0
    assert found["ase.cache_hits"] == pytest.approx((sum(range(90, 97)) + 97) / 8)
    assert found["ase.cache_hits:c6"] == 96.0


def test_hits_of_some_caches_do_not_pass_for_those_of_all() -> None:
    whole = CacheActivity(name="a", searches=100, hits=90)
    assert values(whole)["ase.cache_hits"] == 90.0
    for searches, hits in ((OVERFLOW, 5), (-4, 5), (100, ABSENT)):
        assert "ase.cache_hits" not in values(whole, CacheActivity(name="b", searches=searches, hits=hits))


def test_of_two_readings_the_later_one_counts() -> None:
    first, second = (LockHashtable(table="table", chain_length=length) for length in (1.0, 2.0))
    assert values(first, second) == {"ase.lock_hashtable_chain:table": 2.0}


def test_the_mean_is_watched_and_what_is_no_mean_says_so_in_key_and_label() -> None:
    mean, peak, most = (
        ProcessorModes(statistic=statistic, mp_synch_percent=percent, cpus=8)
        for statistic, percent in (("mean", 50.0), ("at lock peak", 90.0), ("p95", 80.0))
    )
    found = figures(most, peak, mean)
    assert (found["openvms.mp_synch"].value, found["openvms.mp_synch"].label) == (50.0, "MP synchronization")
    assert (found["openvms.mp_synch_cpus"].value, found["openvms.mp_synch_cpus"].unit) == (0.5, "CPUs")
    found = figures(most, peak)
    assert "openvms.mp_synch" not in found
    assert found["openvms.mp_synch (at lock peak)"].value == 90.0
    assert found["openvms.mp_synch (at lock peak)"].label.endswith(", in the sample with most lock operations")
    assert figures(most)["openvms.mp_synch (p95)"].label.endswith(", 95th percentile")


def test_percentiles_are_not_added_up() -> None:
    rates: dict[str, Any] = {"new_enq_per_second": 1.0, "converted_enq_per_second": 2.0, "deq_per_second": 3.0}
    assert values(LockRates(statistic="mean", **rates)) == {"openvms.lock_operations": 6.0}
    assert values(LockRates(statistic="p95", **rates)) == {}


def test_a_mean_without_the_figure_gives_way_to_a_statistic_that_has_it() -> None:
    mean, peak = LockDatabase(statistic="mean", locks=5.0), LockDatabase(statistic="peak", locks=9.0, resources=4.0)
    assert values(mean, peak) == {"openvms.locks": 5.0, "openvms.resources (peak)": 4.0}


def test_a_node_has_the_share_of_locks_that_cross_the_cluster() -> None:
    ways: dict[str, Any] = {f"{what}_local": 30.0 for what in ("enq", "convert", "deq")}
    ways |= {f"{what}_incoming": 0.0 for what in ("enq", "convert", "deq")}
    ways |= {f"{what}_outgoing": 10.0 for what in ("enq", "convert", "deq")}
    assert values(DistributedLockRates(statistic="mean", **ways)) == {"openvms.remote_locks": 25.0}
    assert values(DistributedLockRates(statistic="mean", **ways | {"deq_local": OVERFLOW})) == {}
    nothing: dict[str, Any] = dict.fromkeys(ways, 0.0)
    assert values(DistributedLockRates(statistic="mean", **nothing)) == {}
    assert values(RemasterRates(statistic="mean", moved_out=0.5)) == {"openvms.lock_trees_moved": 0.5}


def test_a_lock_manager_without_a_cpu_of_its_own_is_not_idle_but_absent() -> None:
    def manager(busy: Reading, requests: Reading) -> dict[str, float]:
        return values(DedicatedLockManager(statistic="mean", busy_percent=busy, requests_per_second=requests))

    assert manager(0.0, 0.0) == {}
    assert manager(45.0, 9000.0) == {"openvms.lock_manager_busy": 45.0, "openvms.lock_manager_requests": 9000.0}


@pytest.mark.parametrize(("percent", "believed"), [(101.0, True), (101.1, False)])
def test_a_processor_is_busy_all_the_time_at_most_but_for_rounding(percent: float, believed: bool) -> None:
    shown = values(
        DedicatedLockManager(statistic="mean", busy_percent=percent),
        CpuModes(statistic="mean", cpu=3, mp_synch_percent=percent),
        EngineBusy(engine=0, user_percent=percent),
    )
    whole = {"openvms.lock_manager_busy", "openvms.cpu_mp_synch:3", "ase.engine_busy", "ase.engine_busy_most"}
    assert whole & set(shown) == (whole if believed else set())


def test_the_five_cpus_that_spin_most_have_figures_of_their_own() -> None:
    cpus = [CpuModes(statistic="mean", cpu=number, mp_synch_percent=float(number)) for number in range(12)]
    assert list(values(*cpus, CpuModes(statistic="p95", cpu=0, mp_synch_percent=99.0))) == [
        f"openvms.cpu_mp_synch:{number}" for number in (11, 10, 9, 8, 7)
    ]


def test_a_load_series_has_its_peak_and_its_fall() -> None:
    assert values(series("bench", 10, 40, 30)) == {
        "scaling.peak_rate:bench": 40.0,
        "scaling.peak_load:bench": 2.0,
        "scaling.fall:bench": 25.0,
    }
    assert figures(series("bench", 10, 40))["scaling.peak_load:bench"].unit == "processes"
    assert values(series("broken", -1, 4)) == {}
    many = [series(f"s{n}", 100, 100 - n) for n in range(8)]
    assert [key for key in values(*many) if "fall" in key] == [f"scaling.fall:s{n}" for n in (7, 6, 5, 4, 3)]


@pytest.mark.parametrize(
    ("story", "least"), [("address_lock_storm", 20), ("lock_bound_node", 10), ("more_engines_less_work", 3)]
)
def test_a_story_of_each_product_has_its_dozen(story: str, least: int) -> None:
    paths = [str(p) for p in (STORIES / story).rglob("*") if p.is_file() and p.suffix != ".yml"]
    (capture,) = captures_of(read_exports(paths, NO_INPUT))
    found = key_figures(capture.facts)
    assert len(found) >= least
    assert all(figure.label and figure.value >= 0 and figure.better in ("low", "high", None) for figure in found)


def test_every_export_gives_figures_and_settings_that_are_numbers_and_texts() -> None:
    paths = [str(p) for p in (HERE / "exports").rglob("*") if p.is_file() and p.suffix != ".yml"]
    captures = captures_of(read_exports(paths, NO_INPUT))
    found = [figure for capture in captures for figure in key_figures(capture.facts)]
    assert len({figure.key.split(":")[0] for figure in found}) > 25
    assert all(isinstance(figure.value, float) and 0 <= figure.value < float("inf") for figure in found)
    assert all(figure.value <= 101 for figure in found if figure.unit == "%")
    settings = [value for capture in captures for value in settings_of(capture.facts).values()]
    assert len(settings) > 200
    assert {type(value) for value in settings} == {float, str}
