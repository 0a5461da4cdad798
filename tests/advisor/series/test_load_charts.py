"""Pictures of load series: points, the law and where it was measured, its cap, the shade, several told apart."""

from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.charts import law
from advisor.charts.loads import MOST_MARKED, LoadLine, compared_loads, load_chart
from tests.advisor.charts.pictures import by_class, data_of, names, numbers, picture, plot, points, said, texts

POINTS = [(1.0, 100.0), (2.0, 170.0), (4.0, 120.0), (6.0, 121.0)]
NAMES: dict[str, Any] = {"x_name": "processes", "y_name": "operations", "title": "t"}


def bent(load: float) -> float:
    return 100 * min(load, 4) / (1 + 0.2 * min(load, 4) * (min(load, 4) - 1))


def marks(root: ET.Element, radius: str = "3") -> list[ET.Element]:
    return [one for one in by_class(root, "c-dot") if one.get("r") == radius]


def test_harm_is_shaded_from_its_load_to_the_end_and_named() -> None:
    root = plot(load_chart(LoadLine("a", POINTS, POINTS, harm=2.0), **NAMES))
    (shade,) = by_class(root, "c-shade")
    (place,) = [one for one in by_class(root, "c-at") if shade in list(one)]
    assert place.get("x") in {one.get("cx") for one in marks(root)}, "it begins at the point of that load"
    start, wide = float(place.get("x", "%")[:-1]), float(shade.get("width", "%")[:-1])
    assert start + wide == pytest.approx(100.0)
    assert "adding does harm" in texts(root)
    assert "Adding does harm beyond processes 2." in said(root)
    without = plot(load_chart(LoadLine("a", POINTS, POINTS), **NAMES))
    assert not by_class(without, "c-shade")


def test_a_law_is_solid_where_it_was_measured_and_its_cap_is_marked() -> None:
    line = LoadLine("a", POINTS, POINTS, curve=bent, peak=(2.2, bent(2.2)), cap=4)
    root = plot(load_chart(line, **NAMES))
    solid = max((e for e in by_class(root, "c-line") if not e.get("stroke-dasharray")), key=lambda e: len(points(e)))
    at = [10 * float(one.get("cx", "%")[:-1]) for one in marks(root)]
    assert [points(solid)[0][0], points(solid)[-1][0]] == pytest.approx([min(at), max(at)], abs=0.1)
    assert "capped at 4" in texts(root)
    assert len({y for x, y in points(solid) if x > at[2] + 1}) == 1, "level beyond the cap"
    assert any(text.startswith("peak ") for text in texts(root))


def test_its_runs_travel_for_the_script() -> None:
    data = data_of(plot(load_chart(LoadLine("a", POINTS, POINTS), **NAMES)))
    assert (data["k"], data["n"], data["s"][0]["n"]) == ("load", "processes", "operations")
    assert data["s"][0]["x"] == [1, 2, 4, 6]
    assert data["s"][0]["y"] == [100, 170, 120, 121]


def test_the_picture_of_mail_and_reports_marks_the_cap_too() -> None:
    root = picture(law(POINTS, bent, cap=4, **NAMES))
    assert "capped at 4" in texts(root)
    assert "capped at processes 4" in said(root)
    assert "capped" not in said(picture(law(POINTS, bent, **NAMES)))


def test_without_a_law_the_means_are_joined_thinly_and_no_law_is_claimed() -> None:
    root = plot(load_chart(LoadLine("a", POINTS, POINTS), **NAMES))
    (joined,) = [one for one in by_class(root, "c-line") if len(points(one)) == len(POINTS)]
    assert "c-thin" in joined.get("class", "")
    assert "measured" in texts(root)
    assert not [text for text in texts(root) if "fitted" in text]
    assert "No law is drawn." in said(root)


def test_several_series_have_a_mark_and_a_dash_each_and_nothing_is_drawn_beyond_what_was_measured() -> None:
    short = [(1.0, 80.0), (2.0, 120.0)]
    lines = [LoadLine("long", POINTS, POINTS, curve=bent), LoadLine("short", short, short, curve=bent)]
    root = plot(compared_loads(lines, **NAMES))
    assert {"long", "short"} <= set(texts(root))
    drawn = [one for one in by_class(root, "c-line") if len(points(one)) > 10]
    assert [one.get("stroke-dasharray") for one in drawn] == [None, "7 3"]
    assert points(drawn[1])[-1][0] < points(drawn[0])[-1][0]
    kinds = {one.tag for one in by_class(root, "c-2") if one.get("class", "").startswith("c-dot")}
    assert kinds == {"{http://www.w3.org/2000/svg}path"}, "squares, where the first has discs"
    assert "short: 2 measured points. processes from 1 to 2" in said(root)
    with pytest.raises(ValueError, match="six is the most"):
        compared_loads(lines * 4, **NAMES)


def test_a_very_long_series_is_thinned_and_keeps_its_highest_point() -> None:
    many = [(float(n), 1.0) for n in range(1, 5000)] + [(2503.5, 9.0)]
    root = plot(load_chart(LoadLine("a", many, many), **NAMES))
    drawn = marks(root)
    assert len(drawn) <= MOST_MARKED
    heights = [float(one.get("cy", "")) for one in drawn]
    assert heights.count(min(heights)) == 1
    assert max(data_of(root)["s"][0]["y"]) == 9


PAIRS = st.lists(st.tuples(numbers, numbers), max_size=12)


@given(PAIRS, names, st.one_of(st.none(), numbers), st.one_of(st.none(), numbers))
def test_whatever_an_export_claims_the_pictures_stay_well_formed(
    given_points: list[tuple[float, float]], name: str, harm: float | None, cap: float | None
) -> None:
    line = LoadLine(name, given_points, given_points, curve=lambda load: 1 / load, peak=(2.0, 1.0), harm=harm, cap=cap)
    plot(load_chart(line, x_name=name, y_name=name, title=name))
    plot(compared_loads([line, LoadLine(name, given_points, given_points)], x_name=name, y_name=name, title=name))
