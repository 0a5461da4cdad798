"""The tree map: words of a tile are whole or stand in the list below it."""

from advisor.charts.treemap import MOST_LISTED, Tile, treemap
from tests.advisor.charts.pictures import by_class, picture, texts


def test_no_figure_is_cut_and_what_has_no_room_stands_below() -> None:
    tiles = [Tile(f"CUSTOMER{n}.DAT;7", 5000.0 / n**2, f"master NODE{n % 3}") for n in range(1, 20)]
    for width in (322, 1316):
        said = texts(picture(treemap(tiles, title="trees", unit="/s", width=width, height=340)))
        assert not [words for words in said if "…" in words]
        assert "5,000 /s, 63 %" in said
        small = [words for words in said if words.startswith("1) CUSTOMER")]
        assert small, "the first that has no room for its words"
        assert sum(words[0].isdigit() and ") CUSTOMER" in words for words in said) <= MOST_LISTED
        assert any(words.endswith("smaller ones without words here") for words in said)


def test_the_key_has_as_many_lines_as_the_groups_need() -> None:
    tiles = [Tile(f"tree {n}", 100.0, f"master THE_NODE_{n}") for n in range(5)]
    root = picture(treemap(tiles, title="trees", unit="/s", width=322))
    key = [one for one in by_class(root, "c-text") if (one.text or "").startswith("master") and one.get("x") == "16.0"]
    assert len({one.get("y") for one in key}) > 1
