"""Axes: round ticks around all figures, and dates people read."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.charts.scales import axis, seconds, time_axis
from tests.advisor.charts.pictures import T0


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
def test_axes_have_three_to_five_distinct_round_ticks_around_all_figures(values: list[float]) -> None:
    made = axis(values)
    if made.labels == ["0", ""]:
        assert max(map(abs, values)) < 1e-289
        return
    assert 3 <= len(made.ticks) <= 5
    assert len(set(made.labels)) == len(made.labels)
    low, high = (max(-1e290, min(1e290, v)) for v in (min(values), max(values)))
    slack = (made.ticks[-1] - made.ticks[0]) * 1e-2 * (1 if abs(high - low) < 1e-9 * abs(high) else 1e-6)
    assert made.ticks[0] - slack <= low
    assert high <= made.ticks[-1] + slack
    for tick, label in zip(made.ticks, made.labels, strict=True):
        assert float(label.replace(",", "")) == pytest.approx(tick, rel=1e-9)


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0, 11], ["0", "5", "10", "15"]),
        ([51, 92], ["40", "60", "80", "100"]),
        ([12, 4_900_000], ["0", "2,000,000", "4,000,000", "6,000,000"]),
        ([0.981, 0.999], ["0.980", "0.985", "0.990", "0.995", "1.000"]),
        ([7], ["0", "2", "4", "6", "8"]),
        ([-3, 4], ["-4", "-2", "0", "2", "4"]),
        ([0.3, 0.1], ["0.0", "0.1", "0.2", "0.3"]),
    ],
)
def test_ticks_are_round(values: list[float], labels: list[str]) -> None:
    assert axis(values).labels == labels


@pytest.mark.parametrize(
    ("span", "labels"),
    [
        (
            timedelta(hours=3),
            [("22:00", "2025-03-03"), ("23:00", ""), ("00:00", "2025-03-04"), ("01:00", "")],
        ),
        (timedelta(days=9), [("Mar 5", "2025"), ("Mar 7", ""), ("Mar 9", ""), ("Mar 11", "")]),
        (timedelta(days=30), [("Mar 10", "2025"), ("Mar 17", ""), ("Mar 24", ""), ("Mar 31", "")]),
        (timedelta(days=400), [("May", "2025"), ("Jul", ""), ("Sep", ""), ("Nov", ""), ("Jan", "2026"), ("Mar", "")]),
        (timedelta(days=3000), [("2026", ""), ("2028", ""), ("2030", ""), ("2032", "")]),
        (timedelta(seconds=20), [("22:00:00", "2025-03-03"), ("22:00:05", ""), ("22:00:10", ""), ("22:00:15", "")]),
        (timedelta(0), [("22:00", "2025-03-03")]),
    ],
)
def test_time_ticks_are_dates_people_read(span: timedelta, labels: list[tuple[str, str]]) -> None:
    made = [(upper, lower) for _, upper, lower in time_axis([seconds(T0), seconds(T0 + span)], most=6).ticks]
    assert made[: len(labels)] == labels
    assert len(made) <= 7


@given(st.lists(st.datetimes(), min_size=2, max_size=5), st.integers(2, 12))
def test_time_ticks_ascend_within_the_times(when: list[datetime], most: int) -> None:
    times = [seconds(one) for one in when]
    ticks = [at for at, _, _ in time_axis(times, most).ticks]
    assert ticks == sorted(set(ticks))
    assert min(times) <= ticks[0] <= ticks[-1] <= max(times)
    assert len(ticks) <= most
    assert len(ticks) >= min(2, len(set(times)))
