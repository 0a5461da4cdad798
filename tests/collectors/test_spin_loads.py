"""What the engines of several captures of one server did, side by side in each of them, with why they may not be."""

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest

from collectors.facts import Capture, Fact, Facts, Interval, Source, System
from collectors.facts.ase import ConfigParameter, EngineBusy, MonEngine, MonSpinlockActivity, MonState, SysmonSample
from collectors.facts.ase import SpinLoad as Load
from collectors.facts.codec import dump, load
from collectors.spin_loads import MOST, with_spins

VERSION = "16.0 SP02 PL06/EBF 27113 SMP/P/x86_64"
OF_INTERVAL: dict[str, Any] = {"over": "interval", "seconds": 600.0, "certificate": "ok"}


def at(minutes: int) -> dt.datetime:
    return dt.datetime(2026, 3, 2) + dt.timedelta(minutes=minutes)  # noqa: DTZ001 - exports have no zone


def spun(name: str, spins: float, **further: Any) -> MonSpinlockActivity:
    return MonSpinlockActivity(
        name=name, slot=0, grabs=2 * spins, spins=spins, waits=spins / 10, **{**OF_INTERVAL, **further}
    )


def engines(number: int, user: float = 400.0) -> list[Fact]:
    return [
        MonEngine(
            source=Source("mon.txt", 9, 9),
            engine=one,
            status="online",
            user_seconds=user,
            system_seconds=20.0,
            idle_seconds=580.0 - user,
            **OF_INTERVAL,
        )
        for one in range(number)
    ]


RATIO = ConfigParameter(name="lock address spinlock ratio", run_value=100.0)


def capture(minute: int, *facts: Fact, name: str = "PAY", version: str | None = VERSION) -> Capture:
    return Capture(System(name, "ase", version), Interval(at(minute), at(minute + 10)), Facts(facts))


def whole(minute: int, transactions: float = 1.2e6, number: int = 4, *more: Fact, **further: Any) -> Capture:
    """Everything that is needed."""
    state = MonState(transactions=transactions, **OF_INTERVAL)
    spins = (spun("addrlockspins", 3e9), spun("Sched Q", 9e9), spun("fglockspins", 1e9))
    rows: list[Fact] = [*spins, state, *engines(number)]
    return capture(minute, *rows, *(more or (RATIO,)), **further)


def loads_of(found: list[Capture]) -> list[list[Load]]:
    return [one.facts.every(Load) for one in found]


def test_each_capture_has_its_own_figures_and_those_of_the_others() -> None:
    first, second = loads_of(with_spins([whole(0), whole(60, 2.4e6)]))
    assert [one.own for one in first] == [True, False]
    assert [one.own for one in second] == [False, True]
    (own,) = (one for one in second if one.own)
    assert (own.engines, own.seconds, own.transactions, own.transactions_error) == (4, 600.0, 2.4e6, 0.0)
    assert (own.busy_seconds, own.busy_error) == (4 * 420.0, 8.0), "whole seconds, of two columns of four engines"
    assert own.spins == 4e9, "without the queues of the scheduler"
    assert own.start == at(60)
    assert {one.differs for one in (*first, *second)} == {""}


def test_they_are_stored_with_the_capture() -> None:
    (first, _) = with_spins([whole(0), whole(60, 2.4e6)])
    again, lost = load(dump(first.facts))
    assert not lost
    assert Facts(tuple(again)).every(Load) == first.facts.every(Load)


def test_one_capture_and_those_of_two_servers_have_none() -> None:
    assert loads_of(with_spins([whole(0)])) == [[]]
    assert loads_of(with_spins([whole(0), whole(60, name="ORDERS")])) == [[], []]


def test_without_work_of_that_time_there_is_none() -> None:
    rows = (spun("addrlockspins", 3e9), *engines(4), RATIO)
    sample = SysmonSample(start=at(0), end=at(10), seconds=600.0, committed_xacts=1.2e6)
    by_sysmon, other = loads_of(with_spins([capture(0, *rows, sample), whole(60)]))
    assert [one.transactions for one in by_sysmon if one.own] == [1.2e6]
    assert [one.transactions_error for one in by_sysmon if one.own] == [2000.0], "a second of its length"
    assert len(other) == 2
    short = replace(sample, seconds=60.0, committed_xacts=1.2e5)
    for without in (capture(0, *rows), capture(0, *rows, short), capture(0, *rows, replace(sample, complete=False))):
        assert loads_of(with_spins([without, whole(60)])) == [[], []]


def test_totals_since_boot_are_no_load() -> None:
    since = capture(
        0, spun("addrlockspins", 3e9, over="since boot"), MonState(transactions=1e6, **OF_INTERVAL), *engines(4)
    )
    assert loads_of(with_spins([since, whole(60)])) == [[], []]


def test_engines_that_sp_sysmon_alone_prints_are_taken_from_there() -> None:
    printed = [EngineBusy(engine=one, user_percent=70.0, system_percent=5.0) for one in range(4)]
    sample = SysmonSample(start=at(0), end=at(10), seconds=600.0, committed_xacts=1.2e6)
    (first, _) = loads_of(with_spins([capture(0, spun("addrlockspins", 3e9), sample, *printed, RATIO), whole(60)]))
    (own,) = (one for one in first if one.own)
    assert own.busy_seconds == pytest.approx(4 * 450.0)
    assert own.busy_error == pytest.approx(4 * 0.6)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (whole(60, 2.4e6, 6), "6 engines were online in the other, 4 in this one"),
        (whole(60, version="16.0 SP03 PL02/EBF 28000 SMP"), "the release of both"),
        (whole(60, version=None), "the release of both"),
        (whole(60, 2.4e6, 4, replace(RATIO, run_value=5.0)), "lock address spinlock ratio was set otherwise"),
        (whole(60, 2.4e6, 4, EngineBusy(engine=0, user_percent=20.0), RATIO), "sp_sysmon and monEngine disagree"),
    ],
    ids=["engines", "release", "unknown release", "settings", "two figures"],
)
def test_what_differs_is_told_on_both_sides(other: Capture, why: str) -> None:
    for own in loads_of(with_spins([whole(0), other])):
        (told,) = (one.differs for one in own if not one.own)
        assert why in told or "4 engines were online in the other" in told


def test_settings_that_were_not_collected_are_not_the_same() -> None:
    bare = capture(60, *(one for one in whole(60).facts if not isinstance(one, ConfigParameter)))
    (first, _) = loads_of(with_spins([whole(0), bare]))
    assert [one.differs for one in first if not one.own] == ["sp_configure of both is not in the exports"]


def test_a_version_that_a_report_cut_is_the_same_release() -> None:
    (first, _) = loads_of(with_spins([whole(0), whole(60, version="16.0  SP02 PL06/EBF 27113 S")]))
    assert [one.differs for one in first] == ["", ""]


def test_of_a_long_day_each_capture_has_those_next_to_it() -> None:
    found = with_spins([whole(10 * number) for number in range(60)])
    assert {len(loads) for loads in loads_of(found)} == {MOST}
    assert all(sum(one.own for one in loads) == 1 for loads in loads_of(found))
