"""Laws: measured points, the fitted curve through them and its peak."""

import pytest

from advisor.charts import law
from tests.advisor.charts.pictures import by_class, picture, points, said, texts


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
