"""What the captures of a system make over time: which pairs, what is said, where the link stands, whose it is."""

from collections.abc import Iterable

import pytest

from advisor.series.services.over_time import has_some, over_time
from advisor.systems.models import System
from advisor.systems.services.history import recent
from rules.laws.derived import DEMAND
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.seen import see, unknown_system, words_of

RISING = ((2, 210.0), (3, 300.0), (4, 372.0), (5, 380.0), (6, 330.0), (7, 310.0))


def engines(system: System, runs: Iterable[tuple[int, float]], busy: float | None = 88.0) -> System:
    """A capture an hour: engines online and transactions per second."""
    for hour, (load, rate) in enumerate(runs):
        figures = {"ase.engines": float(load), "ase.xacts": rate}
        see(system, hour, figures=figures if busy is None else {**figures, "ase.engine_busy": busy})
    return system


def test_engines_and_transactions_of_captures_make_a_series_that_says_what_it_is(
    people: People, as_user: AsUser
) -> None:
    system = engines(unknown_system(people), reversed(RISING))
    (found,) = over_time(recent(system))
    assert [(point.load, point.rate) for point in found.one.series.points] == list(RISING)
    assert found.one.series.derived
    assert [one.taken for one in found.captures] == sorted((one.taken for one in found.captures), reverse=True)
    page = words_of(text_of(as_user(people.colleague), f"/systems/{system.pk}/loads/"))
    assert DEMAND in page
    assert "More than 5 engines did less, and the processors were busy" in page
    assert "2 210 55.3 88 2026-01-01 05:00" in page


@pytest.mark.parametrize("busy", [None, 40.0])
def test_without_busy_processors_no_harm_is_said(people: People, busy: float | None) -> None:
    (found,) = over_time(recent(engines(unknown_system(people), RISING, busy)))
    assert found.one.harm is None
    assert "do not show that the machine could not do more" in found.one.harm_said


def test_two_loads_make_nothing_and_nothing_is_linked(people: People, as_user: AsUser) -> None:
    system = engines(unknown_system(people), ((2, 210.0), (3, 300.0), (3, 310.0)))
    address = f"/systems/{system.pk}/loads/"
    client = as_user(people.colleague)
    assert not has_some(recent(system))
    assert address not in text_of(client, f"/systems/{system.pk}/")
    assert "Nothing to show" in text_of(client, address)
    see(system, 9, figures={"ase.engines": 4.0, "ase.xacts": 372.0})
    assert has_some(recent(system))
    assert address in text_of(client, f"/systems/{system.pk}/")
    assert "<svg" in text_of(client, address)


def test_a_mean_never_stands_beside_a_peak_and_idle_time_tells_how_busy_the_cpus_were(people: People) -> None:
    system = unknown_system(people)
    for hour, cpus in enumerate((2.0, 4.0, 6.0)):
        peak = {"openvms.cpus (peak)": cpus, "openvms.lock_operations": 1000.0 * cpus}
        see(system, hour, figures={**peak, "openvms.idle": 50.0})
    assert over_time(recent(system)) == ()
    for hour, cpus in enumerate((2.0, 4.0, 6.0), 3):
        for when in (" (at lock peak)", " (peak)"):
            whole = {f"openvms.cpus{when}": cpus, f"openvms.lock_operations{when}": 1000.0 * cpus}
            see(system, hour, figures={**whole, f"openvms.idle{when}": 50.0})
    at_peak, peaks = over_time(recent(system))
    assert at_peak.name == "lock operations per second by cpus (at lock peak)"
    busy = [point.other("busy_percent") for point in at_peak.one.series.points]
    assert busy == pytest.approx([75, 87.5, 100 - 50 / 6])
    assert [point.other("busy_percent") for point in peaks.one.series.points] == [None] * 3, "of other moments"
    assert has_some(recent(system))


def test_the_series_of_another_team_does_not_exist(people: People, as_user: AsUser) -> None:
    system = engines(unknown_system(people), RISING)
    assert as_user(people.stranger).get(f"/systems/{system.pk}/loads/").status_code == 404
    assert as_user(people.administrator).get(f"/systems/{system.pk}/loads/").status_code == 200
