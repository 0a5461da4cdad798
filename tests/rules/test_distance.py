"""Distance in local locks: the published arithmetic, and the figure of it that is a misprint."""

import pytest

from rules.laws.distance import (
    LOCAL_MICROSECONDS,
    VACUUM,
    farthest_metres,
    one_way_seconds,
    round_trip_locks,
)


def test_fifteen_metres_take_what_the_slide_prints() -> None:
    assert one_way_seconds(15, VACUUM) == pytest.approx(5e-8, rel=0.01)


def test_fifteen_metres_and_back_are_a_twenty_seventh_of_a_lock() -> None:
    assert 1 / round_trip_locks(15, speed=VACUUM) == pytest.approx(27, abs=0.2)


def test_twenty_five_kilometres_are_a_tenth_of_what_the_slide_prints() -> None:
    assert one_way_seconds(25_000) == pytest.approx(1.25e-4)


def test_only_the_corrected_figure_gives_the_slides_own_factor() -> None:
    assert 92 < round_trip_locks(25_000) < 93
    misprint = 2 * 1.25e-3 / (LOCAL_MICROSECONDS / 1e6)
    assert misprint == pytest.approx(928.4, abs=0.1)


def test_the_local_lock_is_that_of_a_bl870c() -> None:
    assert round(LOCAL_MICROSECONDS, 2) == 2.69


def test_a_latency_bounds_the_distance_and_the_distance_gives_it_back() -> None:
    assert farthest_metres(250) == pytest.approx(25_000)
    assert 2e6 * one_way_seconds(farthest_metres(460)) == pytest.approx(460)


def test_a_local_lock_may_take_less_than_a_microsecond() -> None:
    assert round_trip_locks(100, 0.5, 2e8) == pytest.approx(2.0)


def test_no_negative_distance_time_or_free_lock() -> None:
    with pytest.raises(ValueError, match="distance"):
        one_way_seconds(-1)
    with pytest.raises(ValueError, match="distance"):
        one_way_seconds(1, 0)
    with pytest.raises(ValueError, match="local lock"):
        round_trip_locks(1, 0)
    with pytest.raises(ValueError, match="negative"):
        farthest_metres(-1)
