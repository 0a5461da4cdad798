"""The ratios as a picture: well-formed whatever stands in the export, 1 in the middle, as far to half as to twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.charts.compared import MOST_ROWS, Ratio, ratio_chart, ratio_words
from tests.advisor.charts.pictures import HOSTILE, by_class, maybe, names, picture, said, texts

said_of = st.sampled_from(["", "better", "w" * 400, HOSTILE[0]])
ratios = st.builds(
    Ratio, name=names, ratio=maybe, low=maybe, high=maybe, words=said_of, side=said_of, decides=st.booleans()
)


@given(drawn=st.lists(ratios, max_size=6), title=names, width=st.integers(240, 900))
def test_any_picture_is_well_formed_and_inside(drawn: list[Ratio], title: str, width: int) -> None:
    picture(ratio_chart(drawn, title=title, width=width))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_and_nothing_else(name: str) -> None:
    made = ratio_chart([Ratio(name, 2.0, None, None, name, name, True)], title=name)
    assert "<script>" not in made
    assert 'onload="' not in made
    picture(made)


def one(ratio: float | None, low: float | None = None, high: float | None = None, *, decides: bool = True) -> Ratio:
    return Ratio("spins", ratio, low, high, "better", "less is better", decides)


def test_half_and_twice_stand_equally_far_from_one() -> None:
    root = picture(ratio_chart([one(0.5), one(1.0), one(2.0)], title="x"))
    half, same, twice = (float(e.get("cx", "")) for e in by_class(root, "c-dot"))
    assert half < same < twice
    assert same - half == pytest.approx(twice - same, abs=0.2)


def test_a_ratio_beyond_the_axis_or_of_zero_stands_at_its_end_and_is_said() -> None:
    root = picture(ratio_chart([one(0.0), one(1e9)], title="x"))
    gone, huge = (float(e.get("cx", "")) for e in by_class(root, "c-dot"))
    assert 0 < gone < huge < 480 / 2
    assert "spins: 0, better, less is better. Decides. spins: 1,000,000,000, better" in said(root)


def test_the_better_side_and_what_decides_are_read_without_any_colour() -> None:
    root = picture(ratio_chart([one(0.9, 0.8, 0.95, decides=False), one(0.62, 0.58, 0.67)], title="x"))
    shown = [text for text in texts(root) if text.startswith(("spins", "0."))]
    assert shown[:4] == ["spins (less is better)", "0.62 (0.58 to 0.67), better", *shown[2:4]], "what decides is first"
    assert [e.tag.rsplit("}")[-1] for e in by_class(root, "c-dot")] == ["circle", "path"]
    assert len(by_class(root, "c-range")) == 2


def test_what_has_no_ratio_has_no_dot_and_says_so() -> None:
    root = picture(ratio_chart([Ratio("deadlocks", None, None, None, "")], title="x"))
    assert not by_class(root, "c-dot")
    assert "no ratio" in texts(root)


def test_of_many_it_says_how_many_are_in_the_table() -> None:
    root = picture(ratio_chart([one(1.5)] * (MOST_ROWS + 3), title="x"))
    assert "and 3 more in the table" in texts(root)


def test_a_ratio_hardly_beside_one_is_not_written_as_one() -> None:
    assert ratio_words(1.004, 0.98, 1.02) == "1.004 (0.98 to 1.02)"
    assert ratio_words(0.6213, None, None) == "0.621"
    assert ratio_words(float("nan")) == "no ratio"
