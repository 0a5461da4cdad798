"""Charts read back by tests: parsed, held to the house's terms, and asked what they show."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from xml.etree import ElementTree as ET

from hypothesis import strategies as st
from markupsafe import Markup

from advisor.charts.account import KINDS
from advisor.charts.plotted import MOST_DATA
from advisor.charts.words import breadth

SVG = "{http://www.w3.org/2000/svg}"
ROUNDED = 0.06
"""Places are written to a tenth of a px."""
T0 = datetime(2025, 3, 3, 22, 0)  # noqa: DTZ001 - many exports have no zone
HOSTILE = (
    "</title><script>alert(1)</script>",
    "]]>",
    '" onload="x',
    "a\x00b\x1b[2J\ud800\ufffe\u202e",
    "<!--",
    "&lt;",
    "'",
)
ALLOWED = {"svg", "title", "desc", "text", "line", "polyline", "circle", "path", "rect"}
ATTRIBUTES = {
    "class",
    "role",
    "aria-label",
    "width",
    "height",
    "viewBox",
    "font-family",
    "font-size",
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-opacity",
    "stroke-width",
    "stroke-dasharray",
    "stroke-linejoin",
    "points",
    "text-anchor",
    "x",
    "y",
    "x1",
    "y1",
    "x2",
    "y2",
    "cx",
    "cy",
    "r",
    "d",
}
CLASSES = {
    "c-chart",
    "c-text",
    "c-axis",
    "c-grid",
    "c-limit",
    "c-line",
    "c-dot",
    "c-bar",
    "c-track",
    "c-range",
    "c-peak",
    "c-on",
    "c-hatch",
    "c-tile",
    *("c-node", "c-root", "c-here", "c-edge", "c-event"),
    *(f"c-{kind}" for kind in KINDS),
}
CLASSES |= {f"c-{n}" for n in range(1, 7)}
numbers = st.one_of(
    st.floats(), st.integers(), st.sampled_from([10**400, -(10**400), 1.7e308, -1.7e308, 5e-324, 0.0, -0.0])
)
maybe = st.one_of(st.none(), numbers)
names = st.one_of(st.text(max_size=60), st.sampled_from(HOSTILE), st.text(min_size=300, max_size=900))
zones = st.sampled_from([None, UTC, timezone(timedelta(hours=14)), timezone(-timedelta(hours=12))])
lines = st.lists(st.tuples(st.datetimes(timezones=zones), maybe), max_size=90)
wide = st.integers(min_value=240, max_value=1200)
tall = st.integers(min_value=140, max_value=500)


def picture(made: Markup) -> ET.Element:
    """Parse a chart and hold it to the house's terms: names, attributes, classes, everything inside the frame."""
    assert isinstance(made, Markup)
    root = ET.fromstring(made.encode("utf-8"))
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert [child.tag for child in root[:2]] == [f"{SVG}title", f"{SVG}desc"]
    assert root[1].text
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= ALLOWED
    assert {name for element in root.iter() for name in element.attrib} <= ATTRIBUTES
    assert {name for element in root.iter() for name in element.get("class", "").split()} <= CLASSES
    assert not re.search(
        r"\b(nan|inf)\b|url\(", " ".join(v for e in root.iter() for k, v in e.items() if k != "aria-label")
    )
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    for x, y in places(root):
        assert 0 <= x <= width
        assert 0 <= y <= height
    return root


PLOT_ALLOWED = ALLOWED | {"g"}
PLOT_ATTRIBUTES = ATTRIBUTES | {
    *("data-plot", "data-top", "data-foot", "dx", "overflow", "preserveAspectRatio", "vector-effect"),
}
PLOT_CLASSES = CLASSES | {
    *("plotted", "bare", "c-area", "c-at", "c-end", "c-inside", "c-mark", "c-more", "c-shade", "c-thin", "c-ticks"),
    *("c-unit", "c-word"),
    *(f"n-{n}" for n in range(1, 7)),
}


def plot(made: Markup) -> ET.Element:
    """Parse a plot of pages and hold it to the terms: names, attributes, shares of 0 to 100 %, data that are JSON."""
    assert isinstance(made, Markup)
    root = ET.fromstring(made.encode("utf-8"))
    assert root.tag == f"{SVG}svg" or root.tag == "svg"
    for element in root.iter():
        element.tag = f"{SVG}{element.tag.removeprefix(SVG)}"
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert "viewBox" not in root.attrib, "nothing of it is scaled but the course itself"
    assert root[1].text
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= PLOT_ALLOWED
    assert {name for element in root.iter() for name in element.attrib} <= PLOT_ATTRIBUTES
    assert {name for element in root.iter() for name in element.get("class", "").split()} <= PLOT_CLASSES
    height = float(root.get("height", ""))
    for element in root.iter():
        for name in ("x", "x1", "x2", "cx"):
            value = element.get(name, "")
            if value.endswith("%"):
                assert 0 <= float(value[:-1]) <= 100, value
        for name in ("y", "y1", "y2", "cy"):
            if element.get(name) is not None:
                assert -1 <= float(element.get(name, "")) <= height, (name, element.attrib)
    for line in root.iter(f"{SVG}polyline"):
        assert all(0 <= x <= 1000 and 0 <= y <= height for x, y in points(line))
    data = data_of(root)
    assert sum(len(one["y"]) for one in data["s"]) <= MOST_DATA
    return root


def data_of(root: ET.Element) -> dict[str, Any]:
    """What travels for the script of the pages; each line with its places."""
    data: dict[str, Any] = json.loads(root.get("data-plot", ""), parse_constant=lambda word: 1 / 0)
    before: list[float] = []
    for line in data["s"]:
        before = line.setdefault("x", before)
        assert len(line["x"]) == len(line["y"])
    return data


def places(root: ET.Element) -> Iterator[tuple[float, float]]:
    """Give every point an element reaches, the corners of texts included."""
    for e in root.iter():
        at = {k: float(v) for k, v in e.items() if k in ("x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r")}
        kind = e.tag.removeprefix(SVG)
        if kind == "line":
            yield from ((at["x1"], at["y1"]), (at["x2"], at["y2"]))
        elif kind == "circle":
            yield from ((at["cx"] - at["r"], at["cy"] - at["r"]), (at["cx"] + at["r"], at["cy"] + at["r"]))
        elif kind == "rect":
            assert float(e.get("width", "")) >= 0
            yield from ((at["x"], at["y"]), (at["x"] + float(e.get("width", "")), at["y"] + float(e.get("height", ""))))
        elif kind == "polyline":
            yield from points(e)
        elif kind == "path":
            found = re.match(r"M([\d.]+),([\d.]+)", e.get("d", ""))
            assert found
            yield float(found[1]), float(found[2])
        elif kind == "text":
            size = breadth("".join(e.itertext()) if not len(e) else (e[-1].tail or ""))
            left = at["x"] - {"start": 0.0, "middle": size / 2, "end": size}[e.get("text-anchor", "start")]
            slack = min(ROUNDED, size / 2)  # a text of combining marks alone has no width to take it from
            yield from ((left + slack, at["y"] - 8), (left + size - slack, at["y"]))


def points(line: ET.Element) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in line.get("points", "").split())]


def polylines(root: ET.Element) -> list[list[tuple[float, float]]]:
    return [points(e) for e in root.iter(f"{SVG}polyline")]


def by_class(root: ET.Element, name: str) -> list[ET.Element]:
    return [e for e in root.iter() if name in e.get("class", "").split()]


def texts(root: ET.Element) -> list[str]:
    return [(e[-1].tail if len(e) else e.text) or "" for e in root.iter(f"{SVG}text")]


def said(root: ET.Element) -> str:
    return root[1].text or ""


def every(minutes: float, values: list[float | None]) -> list[tuple[datetime, float | None]]:
    return [(T0 + timedelta(minutes=minutes * n), value) for n, value in enumerate(values)]
