"""The cache map as a picture: well-formed whatever stands in the export, inside its frame, honest about its scales."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.charts.caches import FULL, MOST_BOXES, MOST_CELLS, Box, cache_map, full_cell, grouped, size_text
from tests.advisor.charts.pictures import HOSTILE, by_class, maybe, names, picture, said, texts

boxes = st.builds(
    Box,
    name=names,
    size_mb=maybe,
    cells=st.lists(maybe, max_size=70).map(tuple),
    lines=st.lists(names, max_size=4).map(tuple),
    new=st.booleans(),
)


@given(drawn=st.lists(boxes, max_size=15), title=names, width=st.integers(240, 900))
def test_any_map_is_well_formed_and_inside(drawn: list[Box], title: str, width: int) -> None:
    picture(cache_map(drawn, title=title, width=width))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_and_nothing_else(name: str) -> None:
    made = cache_map([Box(name, 10.0, (1.0,), (name,))], title=name)
    assert "<script>" not in made
    assert 'onload="' not in made
    picture(made)


def widths(*sizes: float | None) -> list[float]:
    """How wide boxes of these sizes are drawn, px: the grounds of their single cells."""
    root = picture(cache_map([Box(f"c{n}", size, (1.0,), ()) for n, size in enumerate(sizes)], title="x"))
    return [float(e.get("width", "")) for e in by_class(root, "c-track")]


def test_each_tenfold_size_is_the_same_step_wider() -> None:
    small, middle, large = widths(10.0, 100.0, 1000.0)
    assert 20 < small < middle < large
    assert middle - small == pytest.approx(large - middle, abs=0.2)


def test_a_cache_whose_size_is_not_known_is_drawn_smallest_and_said() -> None:
    least, wide, unknown = widths(1.0, 100.0, None)
    assert unknown == least < wide
    root = picture(cache_map([Box("c", None, (1.0,), ())], title="x"))
    assert "size not in the export" in " ".join(texts(root))


def test_a_cell_is_filled_as_far_as_grabs_waited_and_a_missing_figure_is_crossed_out_not_empty() -> None:
    root = picture(cache_map([Box("c", 10.0, (10.0, 5.0, 0.0, None), ())], title="x"))
    ground, bars = by_class(root, "c-track"), by_class(root, "c-bar")
    assert [round(float(bar.get("height", "")) / float(ground[0].get("height", "")), 2) for bar in bars] == [1.0, 0.5]
    assert len(ground) == 3, "zero has a ground without a bar"
    crossing = [e for e in by_class(root, "c-axis") if e.get("x1") != e.get("x2") and e.get("y1") != e.get("y2")]
    assert len(crossing) == 2, "no figure: a cross and no ground"
    assert "full cell: 10 % of grabs waited; crossed: no figure" in texts(root)


def test_a_full_cell_stands_for_the_least_step_that_holds_every_figure() -> None:
    assert full_cell([Box("c", 1.0, (0.4, None), ())]) == 1.0
    assert full_cell([Box("c", 1.0, (3.1,), ()), Box("d", 1.0, (0.0,), ())]) == 10.0
    assert full_cell([Box("c", 1.0, (250.0,), ())]) == FULL[-1]
    assert full_cell([]) == FULL[0]


def test_of_a_thousand_partitions_each_cell_shows_the_hottest_it_stands_for() -> None:
    cells = [float(n % 7) for n in range(1000)]
    cells[500] = 90.0
    shown = grouped(cells, 1000)
    assert len(shown) <= MOST_CELLS
    assert shown.count(90.0) == 1
    assert grouped([None, None, 2.0, None], 2) == [None, 2.0]
    assert len(grouped([1.0] * 8, 0)) == 1


def test_what_is_planned_is_dashed_and_said() -> None:
    root = picture(cache_map([Box("hot_1", 10.0, (None,), (), new=True), Box("old", 10.0, (1.0,), ())], title="x"))
    assert len([e for e in root.iter() if e.get("stroke-dasharray")]) == 1
    assert "10 MB, planned" in texts(root)


def test_more_caches_than_have_room_are_counted() -> None:
    many = [Box(f"cache {n}", 10.0, (1.0,), ()) for n in range(MOST_BOXES + 3)]
    assert "and 3 more caches in the table" in texts(picture(cache_map(many, title="x")))


def test_the_picture_says_in_words_what_it_shows() -> None:
    root = picture(cache_map([Box("lookup", 20.0, (1.0,), ("1 partition, relaxed LRU",))], title="Data caches of X"))
    assert "lookup: 20 MB. 1 partition, relaxed LRU." in said(root)
    assert "logarithmic" in said(root)


def test_sizes_are_written_in_the_unit_that_fits() -> None:
    assert [size_text(mb) for mb in (0.5, 20.0, 2048.0, 3 * 1024.0 * 1024.0)] == ["0.5 MB", "20 MB", "2 GB", "3 TB"]
    assert size_text(24000.0) == "24,000 MB", "as it was set: 23.44 GB is a figure that nobody set"
    assert size_text(2560.0) == "2.5 GB"


def test_too_narrow_a_picture_is_refused() -> None:
    with pytest.raises(ValueError, match="240"):
        cache_map([], title="x", width=200)
