"""Pictures of pages that are as wide as their place: lengths in per cent that add up, words that stay words."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from advisor.charts.account import Part
from advisor.charts.fluid import Pair, account_bar, limit_scale, pair_bars, share_bar

PARTS = (
    Part("work", "work", 4.48, "4.48"),
    Part("lost", "LCKMGR", 2.64, "2.64"),
    Part("unexplained", "cause not shown", 0.26, "0.26"),
    Part("lost", "at most", None, "≤ 1.00"),
    Part("idle", "idle", 0.62, "0.62"),
)


def spans(picture: str) -> list[tuple[str, float, float]]:
    """Class, left edge and width of each part, per cent."""
    found = re.findall(r'<rect class="c-(\w+)"[^>]* x="([\d.]+)%" width="([\d.]+)%"', picture)
    return [(kind, float(x), float(wide)) for kind, x, wide in found]


def test_the_parts_follow_each_other_and_fill_the_bar() -> None:
    made = spans(account_bar(PARTS, capacity=8.0, unit="CPUs", title="t", name="a"))
    assert [kind for kind, _, _ in made] == ["work", "lost", "unexplained", "idle"]
    for (_, x, wide), (_, after, _) in pairwise(made):
        assert x + wide == pytest.approx(after, abs=0.02)
    assert made[-1][1] + made[-1][2] == pytest.approx(100, abs=0.02)
    assert made[1][2] == pytest.approx(33.0)


def test_it_says_every_part_and_writes_figures_where_there_is_room() -> None:
    picture = account_bar(PARTS, capacity=8.0, unit="CPUs", title="Where 8 CPUs go", name="a")
    root = ElementTree.fromstring(picture)
    said = "Where 8 CPUs go: 4.48 work; 2.64 LCKMGR; 0.26 cause not shown; ≤ 1.00 at most; 0.62 idle"
    assert root.get("aria-label") == said
    assert "viewBox" not in root.attrib
    written = [one.text for one in root.iter("text") if "amount" in one.get("class", "")]
    assert written == ["4.48", "2.64"]
    assert "8 CPUs" in [one.text for one in root.iter("text")]


def test_two_bars_of_a_page_share_no_name() -> None:
    names = [re.findall(r'id="([^"]+)"', account_bar(PARTS, capacity=8, unit="", title="", name=n)) for n in "ab"]
    assert names == [["a-unexplained"], ["b-unexplained"]]


@pytest.mark.parametrize("parts", [(), (Part("work", "w", 0.0, "0"),), (Part("lost", "l", None, "≤ 1"),)])
def test_nothing_is_drawn_of_nothing(parts: tuple[Part, ...]) -> None:
    assert account_bar(parts, capacity=None, unit="tasks", title="t", name="a") == ""


def test_parts_beyond_the_capacity_make_the_bar_their_own() -> None:
    made = spans(account_bar(PARTS, capacity=1.0, unit="CPUs", title="t", name="a"))
    assert sum(wide for _, _, wide in made) == pytest.approx(100, abs=0.05)


def test_text_of_an_export_stays_text() -> None:
    evil = '"><script>alert(1)</script>'
    bar = account_bar((Part("lost", evil, 1.0, evil),), capacity=None, unit=evil, title=evil, name="a")
    scale = limit_scale(2.0, 1.0, most=2.0, unit=evil, title=evil)
    for picture in (bar, scale):
        assert "<script" not in picture
        ElementTree.fromstring(picture)


def test_a_limit_near_the_right_end_has_its_name_on_its_left() -> None:
    for most, anchor in ((1.1, "end"), (20.0, "start")):
        picture = limit_scale(5.0, 10.0, most=most, unit="%", title="t")
        assert re.findall(r'class="limit"[^>]*text-anchor="(\w+)"', picture) == [anchor]
        assert "0.5×" in picture


def test_a_pair_stands_on_the_scale_it_is_given_with_its_noise_on_the_after() -> None:
    drawn = pair_bars(Pair("spins", 50.0, 20.0, 0.3, 0.5, "better"), 100.0)
    assert '<rect class="before" width="50.00%"' in drawn
    assert '<rect class="after better" y="20" width="20.00%"' in drawn
    assert '<line class="noise" x1="15.00%" x2="25.00%"' in drawn, "0.3 and 0.5 times the before"
    assert "viewBox" not in drawn
    assert 'aria-label="spins: 50 before, 20 after"' in drawn


def test_a_pair_leaves_room_for_its_noise_and_is_not_drawn_without_a_length() -> None:
    assert Pair("spins", 50.0, 20.0, 0.3, 1.5, "same").most == 75.0
    assert Pair("spins", 50.0, 60.0, None, None, "worse").most == 60.0
    none = Pair("spins", 0.0, 0.0, None, None, "same")
    assert pair_bars(none, none.most) == ""
    assert "<b>" not in pair_bars(Pair("<b>", 1.0, 2.0, None, None, "worse"), 2.0)


def test_a_share_below_its_limit_is_marked() -> None:
    assert 'class="value over" y="3" width="40.00%"' in share_bar(0.4, 0.7, "load")
    held = share_bar(0.7, 0.7, "load")
    assert 'class="value" y="3" width="70.00%"' in held
    assert "load: 0.70 of 1, limit 0.7" in held


def test_the_limit_and_the_multiple_never_meet_on_the_narrowest_scale() -> None:
    beside = limit_scale(77000.0, 50000.0, most=1.54, unit="/s", title="t")
    assert 'text-anchor="end">limit 50,000<' in beside
    assert '<text x="100%" y="23" text-anchor="end">1.54×<' in beside
    near_end = limit_scale(0.829, 0.9, most=1.02, unit="", title="t")
    assert '<text y="23">0.921×<' in near_end, "on the left, as the limit's name ends at the right"
    nowhere = limit_scale(123456.0, 100000.0, most=2.6, unit="/s", title="t")
    assert "limit 100,000 /s" in nowhere, "told by the title alone"
    assert ">limit 100,000<" not in nowhere
