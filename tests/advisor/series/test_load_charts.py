"""Pictures of load series: points, the law and where it was measured, its cap, the shade, several told apart."""

from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.charts import law
from advisor.charts.loads import MOST_MARKED, LoadLine, compared_loads, load_chart
from tests.advisor.charts.pictures import by_class, names, numbers, picture, points, said, texts

POINTS = [(1.0, 100.0), (2.0, 170.0), (4.0, 120.0), (6.0, 121.0)]
NAMES: dict[str, Any] = {"x_name": "processes", "y_name": "operations", "title": "t"}


def bent(load: float) -> float:
    return 100 * min(load, 4) / (1 + 0.2 * min(load, 4) * (min(load, 4) - 1))


def marks(root: ET.Element, radius: str = "3") -> list[ET.Element]:
    return [one for one in by_class(root, "c-dot") if one.get("r") == radius]


def test_harm_is_shaded_from_its_load_to_the_end_and_named() -> None:
    root = picture(load_chart(LoadLine("a", POINTS, POINTS, harm=2.0), **NAMES))
    shades = by_class(root, "c-track")
    x_of = {one.get("cx"): one for one in marks(root)}
    assert len(shades) == 2, "the key and the plot"
    assert shades[1].get("x") in x_of, "it begins at the point of that load"
    assert "adding does harm" in texts(root)
    assert "Adding does harm beyond processes 2." in said(root)
    without = picture(load_chart(LoadLine("a", POINTS, POINTS), **NAMES))
    assert not by_class(without, "c-track")


def test_a_law_is_solid_where_it_was_measured_and_its_cap_is_marked() -> None:
    line = LoadLine("a", POINTS, POINTS, curve=bent, peak=(2.2, bent(2.2)), cap=4)
    root = picture(load_chart(line, **NAMES))
    solid = max((e for e in by_class(root, "c-line") if not e.get("stroke-dasharray")), key=lambda e: len(points(e)))
    at = [float(one.get("cx", "")) for one in marks(root)][1:]  # the first is the key's
    assert (points(solid)[0][0], points(solid)[-1][0]) == (min(at), max(at))
    assert "capped at 4" in texts(root)
    assert len({y for x, y in points(solid) if x > at[2] + 1}) == 1, "level beyond the cap"
    assert len(by_class(root, "c-peak")) == 1


def test_the_picture_of_mail_and_reports_marks_the_cap_too() -> None:
    root = picture(law(POINTS, bent, cap=4, **NAMES))
    assert "capped at 4" in texts(root)
    assert "capped at processes 4" in said(root)
    assert "capped" not in said(picture(law(POINTS, bent, **NAMES)))


def test_without_a_law_the_means_are_joined_thinly_and_no_law_is_claimed() -> None:
    root = picture(load_chart(LoadLine("a", POINTS, POINTS), **NAMES))
    (joined,) = [one for one in by_class(root, "c-line") if len(points(one)) == len(POINTS)]
    assert joined.get("stroke-width") == "0.8"
    assert "means, joined" in texts(root)
    assert "fitted" not in texts(root)
    assert "No law is drawn." in said(root)


def test_several_series_have_a_mark_and_a_dash_each_and_nothing_is_drawn_beyond_what_was_measured() -> None:
    short = [(1.0, 80.0), (2.0, 120.0)]
    lines = [LoadLine("long", POINTS, POINTS, curve=bent), LoadLine("short", short, short, curve=bent)]
    root = picture(compared_loads(lines, **NAMES))
    assert {"long", "short"} <= set(texts(root))
    curves = [one for one in by_class(root, "c-line") if len(points(one)) > 10]
    assert [one.get("stroke-dasharray") for one in curves] == [None, "7 3"]
    assert points(curves[1])[-1][0] < points(curves[0])[-1][0]
    kinds = {one.tag for one in by_class(root, "c-2") if one.get("class", "").startswith("c-dot")}
    assert kinds == {"{http://www.w3.org/2000/svg}path"}, "squares, where the first has discs"
    assert "short: 2 measured points. processes from 1 to 2" in said(root)
    with pytest.raises(ValueError, match="six is the most"):
        compared_loads(lines * 4, **NAMES)


def test_a_very_long_series_is_thinned_and_keeps_its_highest_point() -> None:
    many = [(float(n), 1.0) for n in range(1, 5000)] + [(2503.5, 9.0)]
    root = picture(load_chart(LoadLine("a", many, many), **NAMES))
    drawn = marks(root)[1:]
    assert len(drawn) <= MOST_MARKED
    assert any("operations 9" in "".join(one.itertext()) for one in drawn)


PAIRS = st.lists(st.tuples(numbers, numbers), max_size=12)


@given(PAIRS, names, st.one_of(st.none(), numbers), st.one_of(st.none(), numbers))
def test_whatever_an_export_claims_the_pictures_stay_well_formed(
    given_points: list[tuple[float, float]], name: str, harm: float | None, cap: float | None
) -> None:
    line = LoadLine(name, given_points, given_points, curve=lambda load: 1 / load, peak=(2.0, 1.0), harm=harm, cap=cap)
    picture(load_chart(line, x_name=name, y_name=name, title=name))
    picture(compared_loads([line, LoadLine(name, given_points, given_points)], x_name=name, y_name=name, title=name))
