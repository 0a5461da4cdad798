"""Layers that add up: each stands upon the one below, nothing is told to the script, and no text is markup."""

import re
from datetime import datetime, timedelta

import pytest

from advisor.charts.stacked import Layer, stacked_chart

START = datetime(2026, 3, 2, 10, 0)  # noqa: DTZ001 - exports have no zone
TIMES = [START + timedelta(hours=n) for n in range(3)]


def drawn(*layers: tuple[str, list[float]]) -> str:
    made = [Layer(name, list(zip(TIMES, values, strict=True))) for name, values in layers]
    return str(stacked_chart(made, unit="tasks", title="Waits"))


def heights(points: str) -> list[float]:
    return [float(point.split(",")[1]) for point in points.split()]


def test_a_layer_begins_where_the_one_below_ends() -> None:
    picture = drawn(("locks", [4.0, 2.0, 6.0]), ("reads", [1.0, 8.0, 2.0]))
    below, above = (heights(found) for found in re.findall(r'<polygon class="c-layer c-\d" points="([^"]+)"', picture))
    assert below[:3] == list(reversed(above[3:])), "the top edge of the first is the lower edge of the second"
    assert below[3:] == [below[3]] * 3, "the first stands on zero"
    assert min(above[:3]) == above[1], "ten at the second time is the highest"


def test_its_figures_stand_in_the_description_and_the_script_gets_none() -> None:
    picture = drawn(("locks", [4.0, 2.0, 6.0]))
    assert "locks: 2 to 6, last 6." in picture
    assert "data-plot" not in picture


def test_names_are_text() -> None:
    picture = drawn(("<script>alert(1)</script>", [4.0, 2.0, 6.0]))
    assert "<script>" not in picture
    assert "&lt;script&gt;" in picture


def test_more_layers_than_can_be_told_apart_or_other_times_are_refused() -> None:
    with pytest.raises(ValueError, match="six is the most"):
        drawn(*((f"n{n}", [1.0, 1.0, 1.0]) for n in range(7)))
    with pytest.raises(ValueError, match="different times"):
        stacked_chart([Layer("a", [(START, 1.0)]), Layer("b", [(TIMES[1], 1.0)])], unit="", title="")


def test_no_layer_and_a_lone_time_are_drawn_all_the_same() -> None:
    assert "No figures." in str(stacked_chart([], unit="", title="Waits"))
    assert "<polygon" in str(stacked_chart([Layer("a", [(START, 0.0)])], unit="", title="Waits"))
