"""Charts: whatever the figures and names, a picture that is well-formed, inside its frame and readable."""

import math
import re
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.charts import bullet, history, law, several, sparkline
from advisor.charts.words import breadth, clean
from tests.advisor.charts.pictures import (
    HOSTILE,
    SVG,
    T0,
    every,
    lines,
    maybe,
    names,
    numbers,
    picture,
    tall,
    texts,
    wide,
)


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


def test_an_empty_title_still_names_the_picture() -> None:
    assert picture(sparkline([1], title="\x00 ")).get("aria-label") == "Untitled chart"


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
