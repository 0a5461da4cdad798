"""The course of a day as a picture: gaps, thin peaks, limits and numbered marks; well-formed whatever it is given."""

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.charts.curves import Bound, ChartCurve, Mark, course_chart
from advisor.charts.plotted import APART, MOST_DATA
from tests.advisor.charts.pictures import (
    HOSTILE,
    T0,
    by_class,
    data_of,
    every,
    lines,
    maybe,
    names,
    plot,
    polylines,
    said,
    texts,
)


def test_gaps_stay_gaps_and_peaks_are_thin_lines() -> None:
    means = [(T0 + timedelta(minutes=n), value) for n, value in enumerate([1.0, 2.0, None, 3.0, 4.0])]
    peaks = [(at, None if value is None else value * 2) for at, value in means]
    root = plot(course_chart([ChartCurve("locks", means, peaks)], unit="/s", title="t"))
    assert [len(line) for line in polylines(root)] == [2, 2, 2, 2]
    assert len(by_class(root, "c-thin")) == 2
    assert "Highest sample 8 /s" in said(root)
    same = plot(course_chart([ChartCurve("locks", means, means)], unit="/s", title="t"))
    assert len(polylines(same)) == 2, "one sample in each step: the peaks say nothing more"


def test_the_axis_begins_at_zero_so_that_a_course_that_hardly_moves_looks_so() -> None:
    means = [(T0 + timedelta(minutes=n), 8.5 + 0.0002 * (n % 2)) for n in range(9)]
    root = plot(course_chart([ChartCurve("share", means)], unit="%", title="t"))
    assert "0" in texts(root)
    heights = {round(y) for _, y in polylines(root)[0]}
    assert max(heights) - min(heights) <= 1


def test_marks_are_numbers_above_their_points_and_beside_the_names_of_their_limits() -> None:
    means = [(T0 + timedelta(minutes=n), float(n)) for n in range(5)]
    bounds = [Bound("limit", 2.0, (7, 9))]
    root = plot(
        course_chart([ChartCurve("x", means)], unit="/s", title="t", bounds=bounds, marks=[Mark(8, means[2][0], 2.0)])
    )
    assert [text for text in texts(root) if text in ("7", "8", "9")] == ["7", "9", "8"]
    marks = by_class(root, "c-mark")
    assert [one.get("x") for one in marks] == ["100%", "100%", "50.00%"]
    x, y = polylines(root)[0][2]
    (disc,) = [one for one in marks[2] if one.get("r")]
    assert [x, float(disc.get("cy", ""))] == pytest.approx([500.0, y - 16], abs=0.2)
    assert "limit 2" in texts(root), "the limit is named"


def test_marks_at_one_place_do_not_cover_each_other() -> None:
    means = [(T0 + timedelta(minutes=n), float(n)) for n in range(5)]
    marks = [Mark(n, means[2][0], 2.0) for n in range(1, 5)]
    root = plot(course_chart([ChartCurve("x", means)], unit="/s", title="t", marks=marks))
    at = sorted(float(one.get("cy", "")) for mark in by_class(root, "c-mark") for one in mark if one.get("r"))
    assert all(low + 16 <= high for low, high in pairwise(at))


def test_a_limit_far_above_is_told_in_words_and_does_not_press_the_lines_flat() -> None:
    means = [(T0 + timedelta(minutes=n), 10.0 * n) for n in range(5)]
    root = plot(course_chart([ChartCurve("x", means)], unit="/s", title="t", bounds=[Bound("buckets", 161.0)]))
    assert not [one for one in by_class(root, "c-limit") if one.get("y1")]
    assert "↑ buckets 161" in texts(root)
    assert "Limit buckets: 161 /s, beyond the picture." in said(root)
    near = plot(course_chart([ChartCurve("x", means)], unit="/s", title="t", bounds=[Bound("buckets", 160.0)]))
    assert len([one for one in by_class(near, "c-limit") if one.get("y1")]) == 1


def test_each_line_is_named_at_its_end_and_no_two_names_meet() -> None:
    curves = [ChartCurve(f"curve {n}", [(T0, 1.0), (T0 + timedelta(hours=1), 50.0 + n)]) for n in range(6)]
    root = plot(course_chart(curves, unit="/s", title="t", bounds=[Bound("limit", 50.0)]))
    named = [one for one in by_class(root, "c-end") if one.get("x") == "100%"]
    assert {"".join(one.itertext()) for one in named} == {f"curve {n}" for n in range(6)} | {"limit 50"}
    heights = sorted(float(one.get("y", "")) for one in named)
    assert all(low + APART <= high + 0.11 for low, high in pairwise(heights))


def test_every_figure_travels_for_the_script_and_a_very_long_day_is_bounded_with_its_peak() -> None:
    means = [(T0 + timedelta(minutes=5 * n), None if n == 7 else 1000.0 + n + 0.123456) for n in range(288)]
    data = data_of(plot(course_chart([ChartCurve("x", means), ChartCurve("y", means)], unit="/s", title="t")))
    assert data["s"][0]["y"][7] is None
    assert data["s"][0]["y"][5] == 1005.1
    assert len(data["s"][1]["y"]) == 288
    assert data["s"][0]["x"][1] - data["s"][0]["x"][0] == 300
    long = [(T0 + timedelta(seconds=10 * n), 99_999.0 if n == 4321 else float(n % 97)) for n in range(8640)]
    made = course_chart([ChartCurve(f"line {n}", long) for n in range(5)], unit="/s", title="t")
    data = data_of(plot(made))
    assert sum(len(one["y"]) for one in data["s"]) <= MOST_DATA
    for one in data["s"]:
        assert one["y"].count(99_999) == 1, "the peak is there, and at its time"
        assert one["x"][one["y"].index(99_999)] == data["x"][0] + 43_210
    assert len(made.encode()) < 160_000


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_title_is_text_and_nothing_else(name: str) -> None:
    made = course_chart([ChartCurve(name, [(T0, 1.0)])], unit=name, title=name, bounds=[Bound(name, 1.0, (1,))])
    assert "<script>" not in made
    plot(made)


@given(
    drawn=st.lists(st.builds(ChartCurve, name=names, means=lines, peaks=lines), max_size=6),
    bounds=st.lists(st.builds(Bound, name=names, value=st.floats(), numbers=st.tuples(st.integers(1, 40))), max_size=9),
    marks=st.lists(st.builds(Mark, number=st.integers(1, 40), at=st.datetimes(), value=maybe), max_size=9),
    unit=names,
)
def test_any_course_is_well_formed_and_inside(
    drawn: list[ChartCurve], bounds: list[Bound], marks: list[Mark], unit: str
) -> None:
    plot(course_chart(drawn, unit=unit, title=unit, bounds=bounds, marks=marks))


def test_too_small_a_picture_or_a_seventh_line_is_refused() -> None:
    with pytest.raises(ValueError, match="60 is the least"):
        course_chart([], unit="", title="t", height=59)
    with pytest.raises(ValueError, match="six is the most"):
        course_chart([ChartCurve("x", ())] * 7, unit="", title="t")


def test_the_words_of_a_limit_stand_on_no_line_of_a_narrow_picture() -> None:
    """At zero of a high axis the rows nearest to the limit are those of the lines."""
    rates = (28_000.0, 2_900.0, 1_500.0)
    curves = [ChartCurve(f"rate {rate:g}", every(1, [rate, rate * 1.02] * 20)) for rate in rates]
    root = plot(course_chart(curves, unit="/s", title="t", bounds=[Bound("limit", 500.0)]))
    (words,) = by_class(root, "c-inside")
    dots = [float(one.get("cy", "nan")) for one in by_class(root, "c-dot")]
    assert len(dots) == 120
    baseline = float(words.get("y", "nan"))
    assert not [y for y in dots if baseline - 12 < y < baseline + 2]
