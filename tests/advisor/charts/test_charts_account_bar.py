"""The account as a bar the size of a few words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.charts.account import KINDS, Part
from advisor.charts.account_bar import small_bar
from tests.advisor.charts.pictures import HOSTILE, SVG, maybe, names, numbers, picture

parts = st.lists(st.builds(Part, st.sampled_from(KINDS), names, maybe, names), max_size=12)
THREE = [Part("work", "work", 4.0, "4.00"), Part("lost", "locks", 2.0, "2.00"), Part("idle", "idle", 2.0, "2.00")]


@given(parts=parts, capacity=st.one_of(st.none(), numbers), title=names, width=st.integers(20, 300))
def test_any_bar_is_well_formed_and_inside(parts: list[Part], capacity: float | None, title: str, width: int) -> None:
    picture(small_bar(parts, capacity=capacity, title=title, width=width))


def test_each_part_is_as_long_as_its_share() -> None:
    boxes = picture(small_bar(THREE, capacity=8.0, title="t", width=160)).findall(f"{SVG}rect")
    assert [(box.get("class"), box.get("x"), box.get("width")) for box in boxes] == [
        ("c-work", "0.0", "80.0"),
        ("c-lost", "80.0", "40.0"),
        ("c-idle", "120.0", "40.0"),
    ]


def test_its_name_says_every_part() -> None:
    made = picture(small_bar(THREE, capacity=8.0, title="Where 8 CPUs go"))
    assert made.get("aria-label") == "Where 8 CPUs go: 4.00 work; 2.00 locks; 2.00 idle"


def test_without_figures_it_is_empty() -> None:
    made = picture(small_bar([Part("work", "work", None, "?")], capacity=None, title="t"))
    assert not made.findall(f"{SVG}rect")
    assert made.findtext(f"{SVG}desc") == "No figures."


@pytest.mark.parametrize("label", HOSTILE)
def test_a_hostile_label_stays_text(label: str) -> None:
    picture(small_bar([Part("lost", label, 1.0, "1.00")], capacity=2.0, title=label))


@pytest.mark.parametrize("size", [(19, 10), (150, 5)])
def test_too_small_a_size_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="too small"):
        small_bar(THREE, capacity=8.0, title="t", width=size[0], height=size[1])
