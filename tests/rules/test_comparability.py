"""How alike the work of two captures was."""

from datetime import datetime, timedelta

import pytest

from rules.laws.comparability import Span, of_amounts, of_hours, of_loads, of_shares

TUESDAY = datetime.fromisoformat("2026-03-03")


def _at(hour: float, length: float = 1.0, day: int = 0) -> Span:
    start = TUESDAY + timedelta(days=day, hours=hour)
    return start, start + timedelta(hours=length)


def hours(before: Span, after: Span) -> float:
    return of_hours([before], [after])


def test_mixes_are_alike_by_what_their_shares_have_in_common() -> None:
    assert of_shares({"reads": 90, "writes": 10}, {"reads": 900, "writes": 100}) == pytest.approx(1.0)
    assert of_shares({"reads": 90, "writes": 10}, {"reads": 40, "writes": 60}) == pytest.approx(0.5)
    assert of_shares({"reads": 1}, {"writes": 1}) == 0.0
    assert of_shares({"reads": 0}, {"writes": 1}) is None


def test_half_the_load_just_passes_a_quarter_does_not() -> None:
    assert of_loads(1000, 500) == pytest.approx(0.707, abs=0.001)
    assert of_loads(250, 1000) == 0.5
    assert of_loads(0, 10) is None
    assert of_amounts(8, 6) == 0.75


def test_the_clock_face_has_no_midnight() -> None:
    assert hours(_at(23), _at(1)) == pytest.approx(1 - 2 / 24)
    assert hours(_at(9), _at(21)) == 0.5
    assert hours(_at(9), _at(9, day=1)) == 1.0


def test_a_mean_over_a_day_is_none_of_an_hour_in_it() -> None:
    assert hours(_at(0, 24), _at(15)) == 0.5
    assert hours(_at(0, 24 * 4), _at(15)) == 0.5
    assert hours(_at(0, 24), _at(7, 14)) == 1.0
    assert hours(_at(0, 24), _at(12, 24, day=1)) == 1.0


def test_a_weekend_is_another_day_and_a_week_holds_one() -> None:
    assert hours(_at(9), _at(9, day=4)) == 0.8
    assert hours(_at(0, 24 * 7), _at(0, 24 * 7, day=4)) == pytest.approx(1.0)
    assert hours(_at(0, 24 * 7), _at(0, 24)) == pytest.approx(1 - 0.2 * 2 / 7)
    assert hours(_at(0, 24 * 60), _at(0, 24 * 7)) == pytest.approx(1.0)


def test_of_weeks_the_weekends_are_counted_and_of_more_than_four_they_are_estimated() -> None:
    saturday, wednesday = _at(0, 24 * 28.5, day=4), _at(0, 24 * 28.5, day=1)
    apart = (8.5 - 8) / 28.5
    assert hours(saturday, wednesday) == pytest.approx(1 - 0.2 * apart)
    assert hours(_at(0, 24 * 29.5, day=4), _at(0, 24 * 29.5, day=1)) == pytest.approx(1.0)


def test_an_hour_of_each_of_five_days_is_that_hour_and_no_week() -> None:
    mornings, nights = ([_at(hour, day=day) for day in (-1, 0, 1, 2, 3)] for hour in (9, 21))
    assert of_hours(mornings, nights) == 0.5
    assert of_hours(mornings, [_at(10, day=1)]) == pytest.approx(1 - 1 / 24)
    assert of_hours(mornings, [*mornings, *nights]) == pytest.approx(0.75)
