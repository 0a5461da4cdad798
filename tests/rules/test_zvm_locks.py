"""CP's spin locks: the arithmetic of spinning, releases and what they did, and what a page's per cent are of."""

import re
from typing import Any

import pytest

from collectors.facts import ABSENT, Facts, Source
from collectors.facts.zvm import PerfkitPage, ProcessorLoad, SpinLock
from rules.laws.spin_cost import (
    adds_up,
    keeps_identity,
    processors_lost,
    share_percent,
    spin_msec_per_transaction,
    spin_percent,
)
from rules.zvm._evidence.locks import BY_NAME, known_of
from rules.zvm._evidence.machine import machine_of, more_than_needed
from rules.zvm._evidence.releases import (
    ALL,
    DSVLOCK,
    HCPTRQLK,
    SRMSLOCK,
    Improvement,
    Release,
    comparable,
    newer,
    parsed,
    release_of,
)
from rules.zvm._evidence.spins import (
    Scale,
    cost_of,
    of_all,
    scale_of,
    spins_of,
)

PRINTED = (0.5, 0.0005, 0.005)


@pytest.mark.parametrize(
    ("rate", "usec", "percent"),
    [
        (6150, 3.338, 2.053),
        (2797, 2.739, 0.766),
        (10047, 24.782, 24.90),
        (4587, 4.275, 1.961),
        (4108, 104.895, 43.09),
        (2929, 87.360, 25.59),
    ],
)
def test_rate_times_time_is_the_share_in_all_six_published_columns(rate: float, usec: float, percent: float) -> None:
    assert spin_percent(rate, usec) == pytest.approx(percent, rel=1e-3)
    assert keeps_identity(rate, usec, percent, rounding=PRINTED)
    assert not keeps_identity(rate, percent, usec, rounding=PRINTED), "columns in the wrong place"
    assert not keeps_identity(percent, usec, rate, rounding=PRINTED)


def test_spinning_per_transaction_is_the_published_tables() -> None:
    before, after = spin_msec_per_transaction(9, 24.90, 270.11), spin_msec_per_transaction(9, 1.961, 999.88)
    assert (round(before, 2), round(after, 2)) == (8.30, 0.18)
    assert (round(share_percent(before, 23.113)), round(share_percent(after, 3.034))) == (36, 6)
    before, after = spin_msec_per_transaction(16, 43.09, 248.63), spin_msec_per_transaction(16, 25.59, 268.35)
    assert (round(before, 1), round(after, 1)) == (27.7, 15.3)
    assert (round(share_percent(before, 54.142)), round(share_percent(after, 47.014))) == (51, 32)
    assert processors_lost(16, 43.09) == pytest.approx(6.8944)


def test_there_is_no_time_per_transaction_without_transactions() -> None:
    with pytest.raises(ValueError, match="no transactions"):
        spin_msec_per_transaction(9, 24.9, 0)
    with pytest.raises(ValueError, match="no time"):
        share_percent(1.0, 0.0)


def test_a_total_is_its_parts_within_rounding() -> None:
    assert adds_up(7.110, 3.231, 3.880)
    assert not adds_up(7.110, 3.880, 3.227)


@pytest.mark.parametrize(
    ("printed", "release"),
    [
        ("4.4.0", Release(4, 4)),
        ("7.1", Release(7, 1)),
        ("z/VM 6.4.0", Release(6, 4)),
        ("z/VM V6.4", Release(6, 4)),
        ("Version 6 Release 4.1", Release(6, 4, 1)),
        ("2.6.21.7", None),
        ("six", None),
        ("", None),
        (None, None),
    ],
)
def test_releases_are_read_as_they_are_printed(printed: str | None, release: Release | None) -> None:
    assert parsed(printed) == release


def test_only_what_is_newer_than_the_release_is_advised_for_a_lock() -> None:
    def since(release: Release, lock: str) -> list[str]:
        return [str(one.since) for one in newer(release, lock) if one.locks]

    assert since(Release(4, 3), SRMSLOCK) == ["4.4.0", "5.3.0", "6.4.0", "7.1.0"]
    assert since(Release(4, 4), SRMSLOCK) == ["5.3.0", "6.4.0", "7.1.0"]
    assert since(Release(5, 2), HCPTRQLK) == since(Release(6, 4), DSVLOCK) == ["7.1.0"]
    assert since(Release(7, 1), SRMSLOCK) == since(Release(4, 3), "SRMATDLK") == []
    assert [one.since for one in ALL] == sorted(one.since for one in ALL)


def test_spin_figures_before_and_after_the_redesign_mean_different_things() -> None:
    assert comparable(Release(5, 2), Release(6, 3)) is True
    assert comparable(Release(7, 1), Release(7, 3)) is True
    assert comparable(Release(6, 3), Release(7, 1)) is False
    assert comparable(Release(6, 4), Release(7, 1)) is None, "service on 6.4 decides"
    assert comparable(None, Release(7, 1)) is None


def test_two_pages_of_different_releases_name_none() -> None:
    pages = [PerfkitPage(report="FCX265", release=name) for name in ("6.4.0", "z/VM 6.4")]
    found = release_of(Facts(tuple(pages)))
    assert found is not None
    assert found[0] == Release(6, 4)
    assert release_of(Facts((*pages, PerfkitPage(report="FCX225", release="7.1")))) is None


def test_what_is_told_of_a_lock_invents_nothing() -> None:
    assert "not the scheduler lock, which is SRMSLOCK" in known_of("SRMATDLK", None)[1]
    guards, remark, do = known_of("XYZLOCK", None)
    assert (guards, remark) == ("", "")
    assert "No source at hand says what XYZLOCK guards" in do
    assert "no longer lists this lock" in known_of("RSAAVLLK", Release(7, 1))[1]
    assert "no longer" not in known_of("RSAAVLLK", Release(6, 4))[1]
    assert "an aggregate" in known_of(SRMSLOCK, Release(7, 1))[1]
    assert "an aggregate" not in known_of(SRMSLOCK, Release(6, 3))[1]
    assert all(
        "No remedy is published" in known_of(one, None)[2] for one in BY_NAME.keys() - {SRMSLOCK, HCPTRQLK, DSVLOCK}
    )


def lock(percent: float, **fields: Any) -> SpinLock:
    read: dict[str, Any] = {"lock": "SRMSLOCK", "spin_percent": percent} | fields
    return SpinLock(**read)


def scale(*facts: Any) -> Scale | None:
    whole = Facts(facts)
    return scale_of(spins_of(whole), machine_of(whole))


def test_a_page_by_itself_does_not_say_what_its_per_cent_are_of() -> None:
    assert scale(lock(25.0), ProcessorLoad(processors=16.0)) is None
    assert scale(lock(0.0), ProcessorLoad(processors=16.0, cp_percent=40.0)) is None


def test_more_than_all_or_more_than_cp_took_is_the_sum_of_the_processors() -> None:
    assert scale(lock(140.0), ProcessorLoad(processors=16.0)) is Scale.SUM
    assert scale(lock(25.0), ProcessorLoad(processors=16.0, cp_percent=9.0)) is Scale.SUM
    assert scale(lock(25.0), ProcessorLoad(processors=16.0, cp_percent=40.0)) is None


def test_one_interval_is_not_held_against_the_means() -> None:
    busy = ProcessorLoad(processors=16.0, cp_percent=9.0)
    assert scale(lock(25.0, statistic="09:15:00"), busy) is None
    assert scale(lock(140.0, statistic="09:15:00"), busy) is Scale.SUM


def test_processors_are_more_than_needed_only_where_the_load_is_known_and_low() -> None:
    idle = ProcessorLoad(processors=16.0, busy_percent=30.0)
    found = more_than_needed(machine_of(Facts((idle,))), 50.0)
    assert found
    assert "the work of 4.8" in found[0]
    assert "HiperDispatch" in found[1]
    early = more_than_needed(machine_of(Facts((idle, PerfkitPage(report="FCX265", release="5.4")))), 50.0)
    assert early
    assert "HiperDispatch" not in early[1]
    for busy in (
        ProcessorLoad(processors=16.0, busy_percent=50.0),
        ProcessorLoad(processors=3.0, busy_percent=30.0),
        ProcessorLoad(processors=16.0),
        ProcessorLoad(busy_percent=30.0),
    ):
        assert more_than_needed(machine_of(Facts((busy,))), 50.0) is None


def test_idle_processors_of_one_type_are_not_more_than_the_others_need() -> None:
    each = [("IFL", 95.0)] * 4 + [("CP", 2.0)] * 4
    mixed = Facts(tuple(ProcessorLoad(cpu=at, kind=kind, busy_percent=busy) for at, (kind, busy) in enumerate(each)))
    assert more_than_needed(machine_of(mixed), 50.0) is None
    alike = Facts(tuple(ProcessorLoad(cpu=at, kind="IFL", busy_percent=30.0) for at in range(8)))
    found = more_than_needed(machine_of(alike), 50.0)
    assert found
    assert "never the last one of a type" in found[1]
    assert "CORE instead of PROCESSOR where multithreading is enabled" in found[1]


def test_pages_of_processors_that_print_spinning_decide_it() -> None:
    assert scale(lock(24.0), *(ProcessorLoad(cpu=at, spin_percent=23.5) for at in range(4))) is Scale.MEAN
    assert scale(lock(24.0), *(ProcessorLoad(cpu=at, spin_percent=6.1) for at in range(4))) is Scale.SUM
    assert scale(lock(24.0), *(ProcessorLoad(cpu=at, spin_percent=12.0) for at in range(4))) is None


def test_the_cost_is_a_range_where_the_scale_is_open() -> None:
    machine = machine_of(Facts((ProcessorLoad(processors=16.0),)))
    costs = [cost_of(25.0, machine, one) for one in (None, Scale.MEAN, Scale.SUM)]
    assert [(c.low, c.processors, c.high) for c in costs if c] == [(0.25, 4, 4), (4, 4, 4), (0.25, 0.25, 0.25)]
    assert of_all(32.0, machine, None) == (2.0, 32.0)
    assert cost_of(25.0, machine_of(Facts()), None) is None
    assert of_all(140.0, machine_of(Facts()), Scale.SUM) == (0.0, 100.0)


def test_processors_are_counted_where_no_page_gives_their_number() -> None:
    rows = [ProcessorLoad(cpu=at) for at in range(6)]
    assert machine_of(Facts((*rows, *rows))).processors == 6
    assert machine_of(Facts((*rows, PerfkitPage(report="FCX239", processors=8.0)))).processors == 8
    assert machine_of(Facts((PerfkitPage(report="FCX265", processors=ABSENT),))).processors is None


def test_shares_are_those_of_the_mean_row_else_of_the_rows_of_all_processors() -> None:
    rows = [ProcessorLoad(cpu=at, busy_percent=80.0 + at, cp_percent=30.0, system_percent=10.0 + at) for at in range(3)]
    found = machine_of(Facts(tuple(rows)))
    assert found.busy
    assert found.system
    assert (found.busy.value, found.system.value) == (81.0, 11.0)
    printed = machine_of(Facts((*rows, ProcessorLoad(busy_percent=60.0))))
    assert printed.busy
    assert printed.busy.value == 60.0
    assert machine_of(Facts((*rows, ProcessorLoad(cpu=3, busy_percent=90.0)))).system is None, "of one it is not known"
    assert machine_of(Facts((ProcessorLoad(busy_percent=140.0),))).busy is None


def test_the_share_of_the_guests_is_worked_out_of_busy_and_the_ratio() -> None:
    found = machine_of(Facts((ProcessorLoad(busy_percent=60.0, tv_ratio=1.5),)))
    assert found.emulation
    assert found.cp
    assert (found.emulation.value, found.cp.value) == (40.0, 20.0)
    assert machine_of(Facts((ProcessorLoad(busy_percent=60.0, tv_ratio=0.0),))).cp is None


def test_what_rests_on_a_tentative_page_stays_tentative() -> None:
    sources = [Source("proclog.txt", at, at, tentative=True) for at in (7, 8)]
    rows = [ProcessorLoad(cpu=at, busy_percent=80.0, source=source) for at, source in enumerate(sources)]
    busy = machine_of(Facts(tuple(rows))).busy
    assert busy
    assert busy.source == Source("proclog.txt", 7, 8, tentative=True)


def test_the_mean_goes_before_intervals_and_of_those_the_worst_is_taken() -> None:
    logged = [lock(value, statistic=f"0{at}:00:00") for at, value in enumerate((4.0, 9.0, 2.0))]
    (worst,) = spins_of(Facts(tuple(logged))).locks
    assert (worst.percent, worst.moment) == (9.0, True)
    for order in ((lock(3.0), *logged), (*logged, lock(3.0))):
        (mean,) = spins_of(Facts(order)).locks
        assert (mean.percent, mean.moment) == (3.0, False)


def test_locks_are_ranked_by_time_and_not_by_rate() -> None:
    often = lock(24.9, lock="OFTEN", collisions_per_second=10047.0, average_spin_usec=24.782)
    long = lock(43.09, lock="LONG", collisions_per_second=4108.0, average_spin_usec=104.895)
    assert [spin.lock for spin in spins_of(Facts((often, long))).locks] == ["LONG", "OFTEN"]


def test_a_log_of_wrong_rows_complains_of_a_few() -> None:
    rows = [lock(2.0, statistic=str(at), collisions_per_second=9.0, average_spin_usec=9.0) for at in range(40)]
    doubts = spins_of(Facts(tuple(rows))).doubts
    assert len(doubts) == 11
    assert doubts[-1] == "30 more rows that cannot be believed"


@pytest.mark.parametrize("one", [one for one in ALL if one.service], ids=lambda one: one.service)
def test_what_came_as_service_is_not_told_as_newer_where_it_is_applied_to_the_release_it_is_for(
    one: Improvement,
) -> None:
    """The releases stand in the words, too: `APAR VM64927 on 5.4 and 6.1`, `service to 6.3`."""
    named = [Release(*map(int, number.split("."))) for number in re.findall(r"\b\d\.\d\b", one.service)]
    assert list(one.service_on) == named
    (number, *_) = re.findall(r"VM\d{5}", one.service)
    for release in named:
        assert one in newer(release, one.locks[0] if one.locks else SRMSLOCK, {number: False})
        assert one not in newer(release, one.locks[0] if one.locks else SRMSLOCK, {number: True})
