"""Captures of one system at different loads make a load series, and those of two systems never do."""

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest

from collectors.capture import captures
from collectors.facts import ABSENT, Capture, Fact, Facts, Interval, Source, System
from collectors.facts.ase import CacheActivity, EngineBusy, LockHashtable, MonSpinlockActivity, Server, SysmonSample
from collectors.facts.openvms import LockRates, ProcessorModes
from collectors.facts.scaling import LoadSeries
from collectors.facts.zvm import PerformanceRun
from collectors.loads import with_loads
from collectors.read import Input


def at(hour: int) -> dt.datetime:
    return dt.datetime(2026, 3, 2, hour)  # noqa: DTZ001 - exports have no zone


def sysmon(hour: int, engines: int, commits: float, **sample: Any) -> list[Fact]:
    source = Source(f"day{hour}.txt", 3, 3)
    fields = {"start": at(hour), "end": at(hour) + dt.timedelta(minutes=10), "seconds": 600.0, **sample}
    return [
        SysmonSample(source=source, committed_xacts=commits, **fields),
        *(EngineBusy(engine=one, user_percent=80.0 + one, system_percent=5.0) for one in range(engines)),
    ]


def capture(product: str, name: str, hour: int | None, *facts: Fact, version: str | None = None) -> Capture:
    interval = Interval(at(hour), at(hour) + dt.timedelta(minutes=10)) if hour is not None else Interval()
    return Capture(System(name, product, version), interval, Facts(facts))


def series_of(found: list[Capture]) -> list[tuple[int, LoadSeries]]:
    return [(at, series) for at, one in enumerate(found) for series in one.facts.every(LoadSeries)]


def test_three_numbers_of_engines_make_a_series_in_the_newest_capture() -> None:
    given = [
        Input(f"in/day{hour}.txt", "ase/sp_sysmon", [Server(name="FJORD1", version="15.7"), *facts], given="in")
        for hour, facts in (
            (11, sysmon(11, 4, 480_000)),
            (9, sysmon(9, 8, 420_000)),
            (10, sysmon(10, 6, 540_000)),
        )
    ]
    found = captures(given)
    ((place, series),) = series_of(found)
    assert found[place].interval.start == at(11)
    assert (series.title, series.load_name, series.rate_name, series.product, series.derived, series.cores) == (
        "FJORD1, captures at several numbers of engines",
        "engines",
        "commits_per_second",
        "ase",
        True,
        None,
    )
    assert [(point.load, point.rate, point.file, point.line) for point in series.points] == [
        (4, 800, "day11.txt", 3),
        (6, 900, "day10.txt", 3),
        (8, 700, "day9.txt", 3),
    ]
    assert [point.other("busy_percent") for point in series.points] == [86.5, 87.5, 88.5]
    assert series.source_of(series.peak) == Source("day10.txt", 3, 3)


def test_two_captures_make_a_series_only_where_more_engines_committed_less() -> None:
    lock = LockHashtable(table="page and row", contention_percent=11.5)
    cache = CacheActivity(name="default data cache", contention_percent=4.0)
    few = capture("ase", "FJORD1", 9, *sysmon(9, 4, 540_000, xacts_per_cpu_unit=240.0), cache)
    many = capture("ase", "FJORD1", 11, *sysmon(11, 8, 420_000, xacts_per_cpu_unit=95.0), cache, lock)
    more = capture("ase", "FJORD1", 11, *sysmon(11, 8, 600_000))
    ((place, series),) = series_of(with_loads([few, many]))
    assert place == 1
    assert [point.rate for point in series.points] == [900, 700]
    assert [point.other("contended_percent") for point in series.points] == [4.0, 11.5]
    assert [point.other("commits_per_cpu") for point in series.points] == [240.0, 95.0]
    assert not series_of(with_loads([few, more]))
    assert not series_of(with_loads([few, few]))


def test_spins_between_two_snapshots_stand_beside_the_commits_of_their_capture() -> None:
    def spun(spins: float, **other: Any) -> MonSpinlockActivity:
        fields = {"over": "interval", "certificate": "ok", "grabs": 1000.0, "waits": 50.0, **other}
        return MonSpinlockActivity(name="fglockspins", spins=spins, **fields)

    facts = [
        *sysmon(9, 2, 600),
        spun(500.0),
        spun(1500.0),
        spun(9e9, over="since boot"),
        spun(9e9, certificate="reset"),
    ]
    rest = [capture("ase", "A", hour, *sysmon(hour, hour, 600)) for hour in (3, 4)]
    ((_, series),) = series_of(with_loads([*rest, capture("ase", "A", 9, *facts)]))
    assert dict(series.points[0].others) == {"busy_percent": 85.5, "spins_per_wait": 20, "waited_percent": 5}
    assert series.points[1].other("spins_per_wait") is None


@pytest.mark.parametrize(
    "third",
    [
        capture("ase", "A", 5, *sysmon(5, 4, 600)),
        capture("ase", "B", 5, *sysmon(5, 6, 600)),
        capture("ase", "A", 5, *sysmon(5, 6, 600), version="16.0"),
        capture("ase", "A", 5, *sysmon(5, 6, 600, complete=False)),
        capture("ase", "A", 5, *sysmon(5, 6, 600, seconds=None)),
        capture("ase", "A", 5, *sysmon(5, 0, 600)),
        capture("ase", "A", 5, SysmonSample(seconds=60.0), *sysmon(5, 6, 600)),
    ],
    ids=["same engines", "other server", "other release", "cut off", "no length", "no engines", "two samples"],
)
def test_fewer_than_three_loads_of_one_system_make_no_series(third: Capture) -> None:
    two = [capture("ase", "A", hour, *sysmon(hour, hour, 600)) for hour in (2, 4)]
    assert not series_of(with_loads([*two, third]))


def test_a_count_of_commits_that_overflowed_is_no_rate() -> None:
    three = [capture("ase", "A", hour, *sysmon(hour, hour, 600)) for hour in (2, 4)]
    lost = [one for one in sysmon(5, 5, 600) if not isinstance(one, SysmonSample)]
    sample = SysmonSample(seconds=600.0, committed_xacts=ABSENT)
    assert not series_of(with_loads([*three, capture("ase", "A", 5, sample, *lost)]))


def node(cpus: float, new: float, **fields: Any) -> list[Fact]:
    modes = {"mp_synch_percent": 40.0, "kernel_percent": 120.0, "user_percent": 90.0, "idle_percent": 100.0, **fields}
    rates = LockRates(
        source=Source("t4.csv", 1, 1441),
        statistic="mean",
        new_enq_per_second=new,
        converted_enq_per_second=2 * new,
        deq_per_second=new,
    )
    return [
        ProcessorModes(statistic="mean", cpus=cpus, **modes),
        ProcessorModes(statistic="p95", cpus=cpus, mp_synch_percent=300.0),
        rates,
        LockRates(statistic="at lock peak", new_enq_per_second=9e6),
    ]


def test_cpus_of_a_node_against_its_lock_operations() -> None:
    days = [capture("openvms", "SKYE", hour, *node(cpus, new)) for hour, cpus, new in ((1, 4.02, 5e4), (2, 6, 7e4))]
    ((place, series),) = series_of(with_loads([capture("openvms", "Skye", 9, *node(7.98, 4e4)), *days]))
    assert (place, series.title, series.load_name) == (0, "Skye, captures at several numbers of CPUs", "cpus")
    assert [(point.load, point.rate) for point in series.points] == [(4, 2e5), (6, 2.8e5), (8, 1.6e5)]
    last = series.points[-1]
    assert (last.other("busy_percent"), last.other("mp_synch_percent")) == (87.5, 40)
    assert last.other("interrupt_percent") is None


def test_two_means_of_one_capture_or_a_missing_rate_give_no_point() -> None:
    two = [capture("openvms", "SKYE", hour, *node(hour, 5e4)) for hour in (2, 4)]
    twice = capture("openvms", "SKYE", 6, *node(6, 5e4), *node(6, 2e4))
    partial = capture(
        "openvms",
        "SKYE",
        6,
        ProcessorModes(statistic="mean", cpus=6.0),
        LockRates(statistic="mean", new_enq_per_second=1.0),
    )
    assert not series_of(with_loads([*two, twice]))
    assert not series_of(with_loads([*two, partial]))


def runs(release: str | None, *rows: tuple[float, float], wrong: tuple[str, ...] = ()) -> list[Fact]:
    """Published figures of z/VM's performance report on the scheduler lock are held in the test below."""
    return [
        PerformanceRun(
            source=Source("report.txt", 10 + place, 40),
            run=f"{release}-{cpus:g}",
            release=release,
            processors=cpus,
            transactions_per_second=rate,
            total_util_percent=98.0,
            wrong=wrong,
        )
        for place, (cpus, rate) in enumerate(rows)
    ]


def test_one_table_of_zvm_makes_a_series_for_each_release() -> None:
    old = runs("4.3.0", (3, 416.73), (9, 270.11), (16, 248.63))
    new = runs("4.4.0", (3, 420.88), (9, 999.88), (16, 268.35))
    ((_, first), (_, second)) = series_of(with_loads([capture("zvm", "report", None, *old, *new)]))
    assert [point.rate for point in first.points] == [416.73, 270.11, 248.63]
    assert (first.title, first.product, first.derived, first.peak.load) == ("report, z/VM 4.3.0", "zvm", True, 3)
    assert (second.title, second.peak.load) == ("report, z/VM 4.4.0", 9)
    assert [(point.file, point.line) for point in second.points] == [("report.txt", line) for line in (10, 11, 12)]
    assert first.first.other("busy_percent") == 98


@pytest.mark.parametrize(
    "bad", [runs(None, (16, 240)), runs("4.3.0", (16, 240), wrong=("rate × time is not per cent",))]
)
def test_runs_without_a_release_or_with_figures_that_contradict_are_left_out(bad: list[Fact]) -> None:
    assert not series_of(with_loads([capture("zvm", "report", None, *runs("4.3.0", (3, 400), (9, 270)), *bad)]))


def test_untitled_tables_of_one_file_are_not_put_together() -> None:
    first = runs("6.4.0", (2, 400.0), (4, 700.0), (8, 900.0))
    second = [replace(run, source=Source("report.txt", 50, 80)) for run in runs("6.4.0", (2, 40.0), (16, 90.0))]
    ((_, one),) = series_of(with_loads([capture("zvm", "report", None, *first, *second)]))
    assert [point.rate for point in one.points] == [400, 700, 900]
