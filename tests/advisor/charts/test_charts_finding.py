"""The pictures of a finding: well formed whatever an export says, on one scale, causes before effects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.charts.finding import FARTHEST, Node, chain, multiple, scale_of
from tests.advisor.charts.pictures import HOSTILE, by_class, names, picture, said, texts


@given(
    drawn=st.lists(st.builds(Node, key=names, title=names, figure=names, column=st.integers(0, 3)), max_size=9),
    title=names,
    width=st.integers(240, 900),
)
def test_any_chain_is_well_formed_and_inside(drawn: list[Node], title: str, width: int) -> None:
    edges = [(one.key, other.key) for one in drawn for other in drawn]
    picture(chain(drawn, edges, title=title, width=width))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_and_nothing_else(name: str) -> None:
    made = chain([Node(name, name, name, 0)], [], title=name)
    assert "<script>" not in made
    assert 'onload="' not in made


def test_an_effect_stands_to_the_right_of_its_cause_and_the_words_say_so() -> None:
    nodes = [Node("a", "Allpages tables", "88.8 %", 0, root=True), Node("b", "Address locks", "61.7 %", 1, here=True)]
    root = picture(chain(nodes, [("a", "b")], title="why"))
    (cause,), (here,) = by_class(root, "c-root"), by_class(root, "c-here")
    assert float(cause.get("x", "")) + float(cause.get("width", "")) < float(here.get("x", ""))
    assert len(by_class(root, "c-edge")) == 1
    assert said(root) == "Allpages tables explains Address locks."


def test_a_box_is_as_high_as_its_words_and_cuts_none_of_them() -> None:
    title = "At the 95th percentile 4.2 of 14 CPUs spin: MP synch 419 % of one CPU"
    nodes = [Node("a", title, "419 %, limit 100", 0, root=True), Node("b", "Short", "", 1, here=True)]
    root = picture(chain(nodes, [("a", "b")], title="why", width=400))
    assert " ".join(texts(root)) == f"{title} 419 %, limit 100 Short"
    (high,), (low,) = by_class(root, "c-root"), by_class(root, "c-here")
    assert float(high.get("height", "")) > 2 * float(low.get("height", ""))
    feet = [float(one.get("y", "")) for one in by_class(root, "c-text")][:-1]
    assert max(feet) <= float(high.get("y", "")) + float(high.get("height", ""))


def test_bars_of_one_finding_are_on_one_scale() -> None:
    pairs = [(52.3, 10.0), (11.3, 10.0)]
    most = scale_of(pairs)
    bars = [picture(multiple(v, limit, most, unit="%", title="x")) for v, limit in pairs]
    long, short = (float(by_class(one, "c-bar")[0].get("width", "")) for one in bars)
    assert long / short == pytest.approx(52.3 / 11.3, rel=0.01)
    assert "5.2×" in texts(bars[0])
    ticks = {by_class(one, "c-limit")[0].get("x1") for one in bars}
    assert len(ticks) == 1


def test_a_figure_beyond_the_scale_says_so() -> None:
    root = picture(multiple(7350.0, 100.0, scale_of([(7350.0, 100.0)]), unit="/s", title="x"))
    assert "74×, beyond this scale" in texts(root)
    assert float(by_class(root, "c-limit")[0].get("x1", "")) == pytest.approx(260 / FARTHEST, abs=0.1)


def test_a_hit_ratio_ends_before_its_limit() -> None:
    tight = picture(multiple(363.7, 10.0, scale_of([(363.7, 10.0)]), unit="% of one CPU", title="x", width=200))
    assert "limit 10 %" in texts(tight), "without the unit's words, which stand beside the figure, and never cut"
    root = picture(multiple(60.0, 95.0, scale_of([(60.0, 95.0)]), unit="%", title="x"))
    bar, tick = by_class(root, "c-bar")[0], by_class(root, "c-limit")[0]
    assert float(bar.get("width", "")) < float(tick.get("x1", ""))
