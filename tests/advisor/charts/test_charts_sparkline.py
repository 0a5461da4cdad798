"""Sparklines: the few figures they show, the gaps between them and the last one marked."""

import math

from advisor.charts import sparkline
from tests.advisor.charts.pictures import SVG, by_class, picture, polylines, said


def test_a_sparkline_of_nothing_is_empty_and_of_one_is_a_dot() -> None:
    assert [e.tag for e in picture(sparkline([], title="t"))] == [f"{SVG}title", f"{SVG}desc"]
    assert said(picture(sparkline([None, math.nan], title="t"))) == "No figures."
    one = picture(sparkline([7], title="t"))
    assert len(by_class(one, "c-dot")) == 1
    assert not polylines(one)
    assert said(one) == "One figure: 7."


def test_a_sparkline_breaks_at_none_and_marks_the_last_figure() -> None:
    root = picture(sparkline([1, 5, None, 2, 3, 9, None], title="t", width=126))
    assert [[x for x, _ in line] for line in polylines(root)] == [[3, 23], [63, 83, 103]]
    (dot,) = by_class(root, "c-dot")
    assert (dot.get("cx"), dot.get("cy")) == ("103.0", "3.0")  # the last figure is the highest
    assert said(root) == "5 figures: first 1, last 9, lowest 1, highest 9. 2 without a figure."


def test_a_lone_figure_between_gaps_is_seen() -> None:
    assert len(by_class(picture(sparkline([1, 2, None, 9, None, 3, 4], title="t")), "c-dot")) == 2
