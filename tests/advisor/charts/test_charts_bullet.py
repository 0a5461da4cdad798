"""Bullets: one figure held against its limit."""

import math

import pytest

from advisor.charts import bullet
from tests.advisor.charts.pictures import by_class, picture, said, texts


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
