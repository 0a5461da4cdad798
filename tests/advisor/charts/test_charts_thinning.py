"""Thinning of long series: peaks and gaps stay, nothing is invented."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.charts import history, sparkline
from advisor.charts.scales import runs, thin, thin_even
from tests.advisor.charts.pictures import every, maybe, picture, polylines, said


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
