"""Charts: whatever the figures and names, a picture that is well-formed, inside its frame and true."""

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from advisor.charts import bullet, history, law, several, sparkline
from advisor.charts.pen import COLOURS, LIMIT_COLOUR
from advisor.charts.scales import axis, runs, seconds, thin, thin_even, time_axis
from advisor.charts.words import breadth, clean, clip, figure

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
            yield from ((left + ROUNDED, at["y"] - 8), (left + size - ROUNDED, at["y"]))


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


@given(values=st.lists(maybe, max_size=300), width=st.integers(20, 300), height=st.integers(8, 60), title=names)
def test_any_sparkline_is_well_formed_and_inside(
    values: list[float | None], width: int, height: int, title: str
) -> None:
    picture(sparkline(values, width=width, height=height, title=title))


@given(series=lines, unit=names, title=names, limit=maybe, width=wide, height=tall)
def test_any_history_is_well_formed_and_inside(
    series: list[tuple[datetime, float | None]], unit: str, title: str, limit: float | None, width: int, height: int
) -> None:
    picture(history(series, unit=unit, title=title, limit=limit, width=width, height=height))


@given(
    named=st.lists(st.tuples(names, lines), max_size=6), unit=names, title=names, limit=maybe, width=wide, height=tall
)
def test_any_several_is_well_formed_and_inside(
    named: list[tuple[str, list[tuple[datetime, float | None]]]],
    unit: str,
    title: str,
    limit: float | None,
    width: int,
    height: int,
) -> None:
    picture(several(named, unit=unit, title=title, limit=limit, width=width, height=height))


@given(
    value=numbers,
    limit=maybe,
    low=maybe,
    high=maybe,
    unit=names,
    title=names,
    size=st.tuples(st.integers(120, 900), tall),
)
def test_any_bullet_is_well_formed_and_inside(
    value: float,
    limit: float | None,
    low: float | None,
    high: float | None,
    unit: str,
    title: str,
    size: tuple[int, int],
) -> None:
    picture(bullet(value, limit, unit=unit, title=title, low=low, high=high, width=size[0], height=size[1] - 110))


CURVES = st.sampled_from(
    [
        None,
        math.sqrt,
        math.exp,
        lambda x: 1 / x,
        lambda x: x**0.5,
        lambda x: 1e308 * 10,
        lambda x: 100 * x / (1 + x * x / 9),
    ]
)


@given(
    measured=st.lists(st.tuples(numbers, numbers), max_size=30),
    curve=CURVES,
    peak=st.one_of(st.none(), st.tuples(numbers, numbers)),
    x_name=names,
    y_name=names,
    title=names,
    width=wide,
    height=tall,
)
def test_any_law_is_well_formed_and_inside(measured, curve, peak, x_name, y_name, title, width, height) -> None:  # type: ignore[no-untyped-def]
    picture(law(measured, curve, x_name=x_name, y_name=y_name, title=title, peak=peak, width=width, height=height))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_stays_text_wherever_it_stands(text: str) -> None:
    series = every(5, [1, 2, 3])
    for made in (
        sparkline([1, 2], title=text),
        history(series, unit=text, title=text),
        several([(text, series)], unit=text, title=text),
        bullet(1, 2, unit=text, title=text),
        law([(1, 2)], lambda x: x, x_name=text, y_name=text, title=text, peak=(1, 2)),
    ):
        root = picture(made)
        assert root[0].text == root.get("aria-label") == clean(text)
        assert "<script" not in made


def test_cleaning_takes_out_what_xml_forbids_and_what_turns_text_around() -> None:
    assert clean("a\x00b\x1b[2J\ud800\ufffe\u202ec\td\ne") == "ab[2Jc d e"
    assert clean("µs × é 漢") == "µs × é 漢"


def test_an_empty_title_still_names_the_picture() -> None:
    assert picture(sparkline([1], title="\x00 ")).get("aria-label") == "Untitled chart"


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


@pytest.mark.parametrize("at", [1234, 777, 0, 1999])
def test_a_peak_survives_thinning(at: int) -> None:
    values: list[float | None] = [10.0 + n % 3 for n in range(2000)]
    values[at] = 500.0
    for made in (sparkline(values, title="t"), history(every(1, values), unit="ms", title="t")):
        root = picture(made)
        ys = [y for line in polylines(root) for _, y in line]
        assert len(ys) < 1400
        assert min(ys) < min(sorted(set(ys))[1:]) - 10
    assert "highest 500" in said(root)


@given(st.lists(maybe, min_size=1, max_size=400))
def test_thinning_keeps_lowest_and_highest_and_invents_nothing(values: list[float | None]) -> None:
    here = [(n / 10, None if v is None or not -1e300 < v < 1e300 else v) for n, v in enumerate(values)]
    known = [v for _, v in here if v is not None]
    for kept in (thin(here), [(n / 10, v) for n, v in thin_even([v for _, v in here], 20)]):
        left = [v for _, v in kept if v is not None]
        assert bool(left) == bool(known)
        assert {p for p in kept if p[1] is not None} <= set(here)
        assert [x for x, _ in kept] == sorted(x for x, _ in kept)
        if known:
            assert (min(left), max(left)) == (min(known), max(known))


def test_a_gap_stays_a_gap_when_thinned() -> None:
    values: list[float | None] = [None if 1000 <= n < 1500 else 50.0 + n % 7 for n in range(3000)]
    first, second = polylines(picture(history(every(1, values), unit="ms", title="t")))
    assert second[0][0] - first[-1][0] > 90
    strips: list[float | None] = [1.0, 2.0, None, 3.0, 4.0, 5.0, None, 6.0, 7.0]
    for kept in (thin(list(enumerate(strips)), per=3), thin_even(strips, 3)):
        assert [[y for _, y in run] for run in runs(kept)] == [[1, 2], [3, 5], [6, 7]]
    assert runs([(0, None), (1, 2.0), (2, None)]) == [[(1, 2.0)]]


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


def test_several_lines_differ_in_colour_dash_and_mark_and_are_named() -> None:
    named = [(f"cache {n}", every(5, [float(n), n + 1.0, n + 2.0])) for n in range(6)]
    root = picture(several(named, unit="ms", title="t"))
    drawn = [by_class(root, f"c-{n}") for n in range(1, 7)]
    inks = {(one[0].get("stroke"), one[0].get("stroke-dasharray")) for one in drawn}
    assert len({colour for colour, _ in inks}) == len({dash for _, dash in inks}) == 6
    shapes = {
        re.sub(r"M[\d.,]+", "", next(e.get("d", "o") for e in one if "c-dot" in e.get("class", ""))) for one in drawn
    }
    assert len(shapes) == 6
    assert {name for name, _ in named} <= set(texts(root))
    assert "cache 5: 3 figures: first 5 ms" in said(root)
    assert all(sum("c-dot" in e.get("class", "") for e in one) == 4 for one in drawn)  # three points, one in the legend


def test_long_lines_of_several_still_carry_marks() -> None:
    root = picture(several([("a", every(1, [1.0] * 500)), ("b", every(1, [2.0] * 500))], unit="ms", title="t"))
    assert 5 <= len(by_class(root, "c-dot")) / 2 <= 12


def test_a_seventh_line_is_refused() -> None:
    with pytest.raises(ValueError, match="six is the most"):
        several([("x", [])] * 7, unit="ms", title="t")


def test_a_size_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="too small"):
        history([], unit="ms", title="t", width=100)


def test_a_bullet_holds_its_figure_against_the_limit() -> None:
    root = picture(bullet(150, 200, unit="ms", title="t", low=140, high=170))
    (bar,), (mark,) = by_class(root, "c-bar"), by_class(root, "c-limit")
    assert (float(mark.get("x1", "")) - 1) / float(bar.get("width", "")) == pytest.approx(200 / 150, rel=0.01)
    assert texts(root) == ["150 ms (140 to 170)", "limit 200 ms"]
    assert said(root) == "150 ms (140 to 170); limit 200 ms."
    over = picture(bullet(300, 200, unit="ms", title="t"))
    assert float(by_class(over, "c-limit")[0].get("x1", "")) < float(by_class(over, "c-bar")[0].get("width", ""))


def test_a_bullet_tells_zero_from_no_figure() -> None:
    zero, none = (picture(bullet(value, None, unit="%", title="t")) for value in (0, math.nan))
    assert (texts(zero), len(by_class(zero, "c-bar"))) == (["0 %"], 1)
    assert (texts(none), len(by_class(none, "c-bar"))) == (["no figure"], 0)
    assert said(none) == "No figure; no limit."


@given(a=numbers, b=numbers, c=numbers, long=st.booleans())
def test_a_figure_is_never_cut(a: float, b: float, c: float, long: bool) -> None:
    series, unit = [(T0, a), (T0 + timedelta(hours=1), b)], "milliseconds per transaction" if long else "ms"
    for made in (
        history(series, unit="ms", title="t", limit=c, width=240),
        several([("a", series)], unit="ms", title="t", limit=c, width=240),
        law([(a, b)], None, x_name="n", y_name="tps", title="t", peak=(b, c), width=240),
        bullet(a, None, unit="ms", title="t", width=120),
        bullet(a, b, unit=unit, title="t", low=a, high=c, width=160),
    ):
        for text in texts(picture(made)):
            assert re.fullmatch(r"[^…]*|.*[\d)] m[a-z ]*…[a-z ]*", text), text


def usl(n: float) -> float:
    return 100 * n / (1 + 0.03 * (n - 1) + 0.0008 * n * (n - 1))


def test_a_law_shows_points_curve_and_peak() -> None:
    made = [(float(n), usl(n)) for n in (1, 2, 4, 8, 16, 32)]
    root = picture(law(made, usl, x_name="processes", y_name="tps", title="t", peak=(34.8, usl(34.8))))
    assert sum(e.get("r") == "3" for e in by_class(root, "c-dot")) == 7  # six points and the key
    solid = max((e for e in by_class(root, "c-line") if not e.get("stroke-dasharray")), key=lambda e: len(points(e)))
    at = [(float(e.get("cx", "")), float(e.get("cy", ""))) for e in by_class(root, "c-dot") if e.get("r") == "3"]
    line = points(solid)
    assert len(by_class(root, "c-peak")) == 1
    dots = at[1:]  # the first is the key's
    assert (line[0], line[-1]) == (min(dots), max(dots))  # solid exactly where measured
    assert any(e.get("stroke-dasharray") and points(e)[0] == line[-1] for e in by_class(root, "c-line"))
    assert "peak 1,178 at 34.8" in texts(root)
    assert "Highest measured at processes 32. Fitted peak 1,178 at 34.8." in said(root)


def test_a_peak_far_beyond_the_measured_is_told_not_drawn() -> None:
    root = picture(law([(1, 100), (2, 195)], usl, x_name="n", y_name="tps", title="t", peak=(34.8, usl(34.8))))
    assert not by_class(root, "c-peak")
    assert "peak 1,178 at 34.8, outside this chart" in texts(root)


def test_a_curve_that_fails_at_a_load_has_a_gap_there() -> None:
    root = picture(law([(0, 1), (4, 5)], lambda x: 1 / (x - 2) + 3, x_name="n", y_name="tps", title="t"))
    pieces = [points(e) for e in by_class(root, "c-2") if len(points(e)) > 2]
    assert len(pieces) == 2
    with pytest.raises(KeyError):
        law([(1, 1)], dict[float, float]().__getitem__, x_name="n", y_name="tps", title="t")


def luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("colour", [c for c in (*COLOURS, LIMIT_COLOUR) if c.startswith("#")])
def test_every_colour_shows_on_white_and_on_near_black(colour: str) -> None:
    own = luminance(colour)
    assert 1.05 / (own + 0.05) >= 3
    assert (own + 0.05) / (luminance("#1a1a1a") + 0.05) >= 3


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1234567, "1,234,567"),
        (99.996, "99.996"),
        (1200, "1,200"),
        (1234.56, "1,234.6"),
        (1e300, "1e+300"),
    ],
)
def test_figures_are_written_for_people(value: float, words: str) -> None:
    assert figure(value) == words


@given(st.text(max_size=80), st.floats(0, 300))
def test_a_clipped_text_fits_and_keeps_both_ends(text: str, room: float) -> None:
    cut = clip(text, room)
    assert breadth(cut) <= room
    if cut != text and len(cut) > 2:
        assert (cut[0], cut[-1]) == (text[0], text[-1])
    assert all(a <= b for a, b in pairwise([len(clip(text, r)) for r in (20.0, 60.0, 200.0)]))


def test_words_under_an_axis_do_not_touch() -> None:
    series = [(T0 + timedelta(minutes=n), 9e14 + n) for n in (0, 31, 62)]
    for made, least in (
        (law([(2e12, 1), (9e12, 2)], None, x_name="n", y_name="tps", title="t", width=240), 2),
        (history(series, unit="ms", title="t", limit=9e14, width=240), 1),
    ):
        row = [
            e
            for e in picture(made).iter(f"{SVG}text")
            if (e.text or "")[-1:] == "0" and e.get("text-anchor") == "middle"
        ]
        ends = [(float(e.get("x", "")), breadth(e.text or "") / 2) for e in row]
        assert len(ends) >= least
        assert all(a + half <= b - other for (a, half), (b, other) in pairwise(ends))
