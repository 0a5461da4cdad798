"""Histories: figures placed by time, gaps that are no zeros, and the limit at its height."""

import math
from datetime import UTC, timedelta, timezone
from typing import Any

import pytest
from markupsafe import Markup

from advisor.charts import history, svg
from advisor.charts.scales import seconds
from tests.advisor.charts.pictures import SVG, T0, by_class, every, picture, polylines, said, texts


def test_a_gap_in_a_history_is_never_drawn_as_zero() -> None:
    root = picture(history(every(5, [40, 42, None, math.nan, math.inf, 41, 43]), unit="ms", title="t"))
    assert [len(line) for line in polylines(root)] == [2, 2]
    assert len(by_class(root, "c-dot")) == 4
    assert said(root).startswith("4 figures: first 40 ms, last 43 ms, lowest 40 ms, highest 43 ms. 3 without a figure.")


def test_zero_is_a_figure() -> None:
    root = picture(history(every(5, [0, 0]), unit="ms", title="t"))
    assert len(by_class(root, "c-dot")) == 2
    assert texts(root).count("0") == 1


def test_no_figures_put_no_figure_on_the_axis() -> None:
    root = picture(history(every(5, [None, None]), unit="ms", title="t"))
    assert [t for t in texts(root) if t] == [
        "ms",
        "22:00",
        "2025-03-03",
        *(f"22:0{n}" for n in range(1, 6)),
        "no figures",
    ]
    assert said(root) == "No figures. From 2025-03-03 22:00 to 2025-03-03 22:05."


def test_times_are_placed_by_time_in_any_order() -> None:
    series = [(T0 + timedelta(minutes=n), float(n)) for n in (60, 0, 30, 10)]
    (line,) = polylines(picture(history(series, unit="ms", title="t")))
    xs = [x for x, _ in line]
    assert xs == sorted(xs)
    assert [round((x - xs[0]) / (xs[-1] - xs[0]), 2) for x in xs] == [0, 0.17, 0.5, 1]


def test_naive_and_aware_times_meet_in_utc() -> None:
    east = timezone(timedelta(hours=2))
    assert seconds(T0) == seconds(T0.replace(tzinfo=UTC)) == seconds((T0 + timedelta(hours=2)).replace(tzinfo=east))
    mixed = [(T0, 1.0), ((T0 + timedelta(hours=3)).replace(tzinfo=east), 2.0)]
    root = picture(history(mixed, unit="ms", title="t"))
    assert said(root).endswith("From 2025-03-03 22:00 to 2025-03-03 23:00 UTC.")
    assert "UTC" in texts(root)
    assert "UTC" not in texts(picture(history([(T0, 1.0)], unit="ms", title="t")))


def test_few_points_are_marked_and_many_are_not() -> None:
    assert len(by_class(picture(history(every(1, [1.0] * 59), unit="ms", title="t")), "c-dot")) == 59
    assert not by_class(picture(history(every(1, [1.0] * 60), unit="ms", title="t")), "c-dot")


def test_the_limit_is_a_labelled_dashed_line_at_its_height() -> None:
    root = picture(history(every(5, [40, 60]), unit="ms", title="t", limit=1500))
    (line,) = by_class(root, "c-limit")
    assert line.get("stroke-dasharray")
    assert line.get("y1") == line.get("y2")
    assert {"limit", "1,500", "0", "500", "1,000"} <= set(texts(root))
    (grid,) = [e for e in root.iter(f"{SVG}line") if e.get("y1") == line.get("y1") and e is not line]
    assert grid.get("class") == "c-grid"  # 1,500 is a tick too: both at one height
    assert "Limit 1,500 ms." in said(root)
    assert not by_class(picture(history(every(5, [40]), unit="ms", title="t", limit=math.nan)), "c-limit")


def test_a_size_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="too small"):
        history([], unit="ms", title="t", width=100)


def test_a_picture_that_was_kept_is_never_taken_for_another_one() -> None:
    base: dict[str, Any] = {"unit": "ms", "title": "t", "limit": 2.0, "width": 640, "height": 140}
    series = every(5, [1.0, 2.0, 3.0])
    others = [base, *({**base, name: other} for name, other in (("unit", "s"), ("title", "u"), ("limit", None)))]
    others += [{**base, "width": 600}, {**base, "height": 150}, {**base, "title": Markup("t")}]
    drawn = [history(series, **one) for one in others]
    drawn += [history(one, **base) for one in (every(5, [1.0, 2.0, None]), every(6, [1.0, 2.0, 3.0]), series[:2])]
    assert len(set(drawn)) == len(drawn) - 1, "all but the title as Markup, which reads the same"
    assert history(series, **base) is drawn[0]
    svg._history.cache_clear()
    assert history(series, **base) == drawn[0]


def test_a_long_series_is_drawn_and_not_kept() -> None:
    svg._history.cache_clear()
    history(every(1, [float(n % 7) for n in range(svg.KEPT_POINTS + 1)]), unit="ms", title="t")
    assert svg._history.cache_info().currsize == 0


def test_a_figure_that_hardly_moves_is_drawn_from_zero_and_no_mountain() -> None:
    shown = texts(picture(history(every(5, [1.221, 1.265]), unit="% of one CPU", title="t")))
    assert "0.0" in shown
