"""The pictures of a finding: well formed whatever an export says, from zero, on one scale, causes before effects."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.charts.finding import FARTHEST, Node, chain, course, multiple, scale_of
from tests.advisor.charts.pictures import HOSTILE, T0, by_class, maybe, names, picture, said, texts

DAY = timedelta(days=1)


@given(
    drawn=st.lists(st.builds(Node, key=names, title=names, figure=names, column=st.integers(0, 3)), max_size=9),
    title=names,
    width=st.integers(240, 900),
)
def test_any_chain_is_well_formed_and_inside(drawn: list[Node], title: str, width: int) -> None:
    edges = [(one.key, other.key) for one in drawn for other in drawn]
    picture(chain(drawn, edges, title=title, width=width))


@given(
    values=st.lists(maybe, max_size=12),
    limit=maybe,
    word=names,
    width=st.integers(240, 900),
)
def test_any_course_is_well_formed_and_inside(
    values: list[float | None], limit: float | None, word: str, width: int
) -> None:
    series = [(T0 + n * DAY, value) for n, value in enumerate(values)]
    picture(course(series, unit=word, title=word, limit=limit, events=[(T0 + DAY, word)], width=width))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_and_nothing_else(name: str) -> None:
    made = chain([Node(name, name, name, 0)], [], title=name) + course(
        [(T0, 1.0)], unit=name, title=name, events=[(T0, name)]
    )
    assert "<script>" not in made
    assert 'onload="' not in made


def test_an_effect_stands_to_the_right_of_its_cause_and_the_words_say_so() -> None:
    nodes = [Node("a", "Allpages tables", "88.8 %", 0, root=True), Node("b", "Address locks", "61.7 %", 1, here=True)]
    root = picture(chain(nodes, [("a", "b")], title="why"))
    (cause,), (here,) = by_class(root, "c-root"), by_class(root, "c-here")
    assert float(cause.get("x", "")) + float(cause.get("width", "")) < float(here.get("x", ""))
    assert len(by_class(root, "c-edge")) == 1
    assert said(root) == "Allpages tables explains Address locks."


def test_a_course_starts_at_zero_and_its_times_are_proportional() -> None:
    root = picture(course([(T0, 90.0), (T0 + DAY, 91.0), (T0 + 4 * DAY, 92.0)], unit="%", title="busy", limit=85.0))
    assert "0" in texts(root)
    first, second, last = (float(dot.get("cx", "")) for dot in by_class(root, "c-dot"))
    assert (second - first) / (last - first) == pytest.approx(0.25, abs=0.01)


def test_what_was_decided_stands_at_its_time() -> None:
    events = [(T0 + DAY, "accepted")]
    root = picture(course([(T0, 1.0), (T0 + 2 * DAY, 2.0)], unit="%", title="x", events=events))
    (line,), dots = by_class(root, "c-event"), by_class(root, "c-dot")
    first, last = (float(dot.get("cx", "")) for dot in dots)
    assert float(line.get("x1", "")) == pytest.approx((first + last) / 2, abs=0.2)
    assert "accepted" in texts(root)


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
    root = picture(multiple(60.0, 95.0, scale_of([(60.0, 95.0)]), unit="%", title="x"))
    bar, tick = by_class(root, "c-bar")[0], by_class(root, "c-limit")[0]
    assert float(bar.get("width", "")) < float(tick.get("x1", ""))
