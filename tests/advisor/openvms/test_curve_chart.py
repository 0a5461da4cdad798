"""The course of a day as a picture: gaps, thin peaks, limits and numbered marks; well-formed whatever it is given."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.charts.curves import Bound, ChartCurve, Mark, course_chart
from tests.advisor.charts.pictures import HOSTILE, T0, by_class, lines, maybe, names, picture, polylines, said, texts


def test_gaps_stay_gaps_and_peaks_are_thin_lines() -> None:
    means = [(T0 + timedelta(minutes=n), value) for n, value in enumerate([1.0, 2.0, None, 3.0, 4.0])]
    peaks = [(at, None if value is None else value * 2) for at, value in means]
    root = picture(course_chart([ChartCurve("locks", means, peaks)], unit="/s", title="t"))
    assert [len(line) for line in polylines(root)] == [2, 2, 2, 2]
    thin = [one for one in by_class(root, "c-line") if one.get("stroke-width") == "0.7"]
    assert len(thin) == 2
    assert "Highest sample 8 /s" in said(root)
    same = picture(course_chart([ChartCurve("locks", means, means)], unit="/s", title="t"))
    assert len(polylines(same)) == 2, "one sample in each step: the peaks say nothing more"


def test_the_axis_begins_at_zero_so_that_a_course_that_hardly_moves_looks_so() -> None:
    means = [(T0 + timedelta(minutes=n), 8.5 + 0.0002 * (n % 2)) for n in range(9)]
    root = picture(course_chart([ChartCurve("share", means)], unit="%", title="t"))
    assert "0" in texts(root)
    heights = {round(y) for _, y in polylines(root)[0]}
    assert max(heights) - min(heights) <= 1


def test_marks_are_numbers_above_their_points_and_at_the_ends_of_their_limits() -> None:
    means = [(T0 + timedelta(minutes=n), float(n)) for n in range(5)]
    bounds = [Bound("limit", 2.0, (7, 9))]
    root = picture(
        course_chart([ChartCurve("x", means)], unit="/s", title="t", bounds=bounds, marks=[Mark(8, means[2][0], 2.0)])
    )
    discs = [one for one in root.iter() if one.get("r") == "7.5"]
    (line,) = by_class(root, "c-limit")
    at = [(float(one.get("cx", "")), float(one.get("cy", ""))) for one in discs]
    assert [text for text in texts(root) if text in "789"] == ["7", "9", "7", "9", "8"], "told above, then in the plot"
    assert {y for _, y in at[2:4]} == {float(line.get("y1", ""))}
    assert at[2][0] - at[3][0] >= 15, "beside each other"
    x, y = polylines(root)[0][2]
    assert (at[4][0], at[4][1]) == pytest.approx((x, y - 15), abs=0.2)


def test_a_limit_far_above_is_told_in_words_and_does_not_press_the_lines_flat() -> None:
    means = [(T0 + timedelta(minutes=n), 10.0 * n) for n in range(5)]
    root = picture(course_chart([ChartCurve("x", means)], unit="/s", title="t", bounds=[Bound("buckets", 161.0)]))
    assert not by_class(root, "c-limit")
    assert "buckets 161: beyond the picture" in texts(root)
    near = picture(course_chart([ChartCurve("x", means)], unit="/s", title="t", bounds=[Bound("buckets", 160.0)]))
    assert len(by_class(near, "c-limit")) == 1


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_title_is_text_and_nothing_else(name: str) -> None:
    made = course_chart([ChartCurve(name, [(T0, 1.0)])], unit=name, title=name, bounds=[Bound(name, 1.0, (1,))])
    assert "<script>" not in made
    picture(made)


@given(
    drawn=st.lists(st.builds(ChartCurve, name=names, means=lines, peaks=lines), max_size=6),
    bounds=st.lists(st.builds(Bound, name=names, value=st.floats(), numbers=st.tuples(st.integers(1, 40))), max_size=9),
    marks=st.lists(st.builds(Mark, number=st.integers(1, 40), at=st.datetimes(), value=maybe), max_size=9),
    width=st.integers(240, 900),
)
def test_any_course_is_well_formed_and_inside(
    drawn: list[ChartCurve], bounds: list[Bound], marks: list[Mark], width: int
) -> None:
    picture(course_chart(drawn, unit="/s", title="t", bounds=bounds, marks=marks, width=width))


def test_too_small_a_picture_or_a_seventh_line_is_refused() -> None:
    with pytest.raises(ValueError, match="240 by 160"):
        course_chart([], unit="", title="t", width=239)
    with pytest.raises(ValueError, match="six is the most"):
        course_chart([ChartCurve("x", ())] * 7, unit="", title="t")
