"""Several lines in one chart: told apart by colour, dash and mark, in colours that show everywhere."""

import re

import pytest

from advisor.charts import several
from advisor.charts.pen import COLOURS, LIMIT_COLOUR
from tests.advisor.charts.pictures import by_class, every, picture, said, texts


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


def luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("colour", [c for c in (*COLOURS, LIMIT_COLOUR) if c.startswith("#")])
def test_every_colour_shows_on_white_and_on_near_black(colour: str) -> None:
    own = luminance(colour)
    assert 1.05 / (own + 0.05) >= 3
    assert (own + 0.05) / (luminance("#1a1a1a") + 0.05) >= 3
