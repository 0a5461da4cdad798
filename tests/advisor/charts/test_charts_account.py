"""The account as a bar: parts as long as their amounts, said beside it, and nothing outside the frame."""

from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.audits.report.account import rows
from advisor.audits.report.account_picture import picture as of_account
from advisor.charts.account import BAR, HATCHED, KINDS, Part, account_bar, swatches
from tests.advisor.charts.pictures import HOSTILE, SVG, by_class, maybe, names, picture, said, texts

parts = st.lists(st.builds(Part, st.sampled_from(KINDS), names, maybe, names), max_size=9)
LEWIS = (
    Part("work", "work", 4.48, "4.48"),
    Part("lost", "LCKMGR (finding 1)", 2.39, "2.39"),
    Part("unexplained", "MP synchronization, cause not shown", 0.26, "0.26"),
    Part("idle", "idle", 0.87, "0.87"),
)


def bars(root: ET.Element) -> list[tuple[str, float, float]]:
    """Class, left edge and breadth of each part of the bar."""
    return [
        (str(one.get("class")), float(one.get("x", "")), float(one.get("width", "")))
        for one in root.iter(f"{SVG}rect")
        if one.get("height") == f"{BAR:.1f}"
    ]


@given(parts=parts, capacity=maybe, unit=names, title=names, width=st.integers(240, 1200), legend=st.booleans())
def test_any_account_is_well_formed_and_inside(
    parts: list[Part], capacity: float | None, unit: str, title: str, width: int, legend: bool
) -> None:
    picture(account_bar(parts, capacity=capacity, unit=unit, title=title, width=width, legend=legend))
    for one in swatches(parts):
        assert ET.fromstring(one).get("aria-hidden") == "true"


def test_each_part_is_as_long_as_its_share_and_begins_where_the_one_before_ends() -> None:
    root = picture(account_bar(LEWIS, capacity=8, unit="CPUs", title="Where 8 CPUs go", width=800))
    found = bars(root)
    assert [kind for kind, _, _ in found] == ["c-work", "c-lost", "c-unexplained", "c-idle"]
    assert [wide for _, _, wide in found] == [448, 239, 26, 87]
    for (_, left, wide), (_, following, _) in pairwise(found):
        assert following == pytest.approx(left + wide, abs=0.11)


def test_a_capacity_that_is_not_used_up_leaves_room_and_one_that_is_exceeded_none() -> None:
    one = (Part("lost", "locks", 5.0, "5.00"),)
    assert bars(picture(account_bar(one, capacity=10, unit="tasks", title="t", width=400)))[0][2] == 200
    for capacity in (None, 2.0):
        assert bars(picture(account_bar(one, capacity=capacity, unit="tasks", title="t", width=400)))[0][2] == 400


def test_its_name_says_its_message() -> None:
    root = picture(account_bar(LEWIS, capacity=8, unit="CPUs", title="Where 8 CPUs go"))
    assert root.get("aria-label", "").startswith("Where 8 CPUs go: 4.48 work; 2.39 LCKMGR (finding 1); 0.26 MP")
    assert "0.87 idle." in said(root)


def test_labels_stand_above_their_parts_and_a_narrow_part_makes_a_legend() -> None:
    wide = (Part("work", "work", 5.0, "5.00"), Part("idle", "idle", 3.0, "3.00"))
    above = texts(picture(account_bar(wide, capacity=8, unit="CPUs", title="t")))
    assert above.count("work") == above.count("5.00") == 1
    narrow = picture(account_bar(LEWIS, capacity=8, unit="CPUs", title="t"))
    assert texts(narrow).count("MP synchronization, cause not shown") == 1
    assert len(by_class(narrow, "c-unexplained")) == 2, "the part, and its box in the legend"
    bare = picture(account_bar(LEWIS, capacity=8, unit="CPUs", title="t", legend=False))
    assert "work" not in texts(bare), "the table beside it has its words"


def test_what_has_no_shown_cause_and_what_cannot_be_told_apart_is_hatched_and_nothing_else() -> None:
    for kind in KINDS:
        root = picture(account_bar([Part(kind, "x", 4.0, "4.00")], capacity=8, unit="CPUs", title="t"))
        assert bool(by_class(root, "c-hatch")) is (kind in HATCHED)


def test_two_causes_have_two_colours_and_a_table_the_same() -> None:
    several = [Part("lost", "one", 2.0, "2.00"), Part("lost", "other", 2.0, "2.00")]
    drawn = account_bar(several, capacity=8, unit="CPUs", title="t")
    fills = [str(one.get("fill")) for one in by_class(picture(drawn), "c-lost")]
    assert len(set(fills)) == 2
    assert all(f'fill="{fill}"' in box for fill, box in zip(fills, swatches(several), strict=True))


def test_an_upper_end_alone_has_words_and_no_length() -> None:
    at_most = (Part("work", "work", 4.0, "4.00"), Part("lost", "spins", None, "≤ 0.30"))
    root = picture(account_bar(at_most, capacity=8, unit="engines", title="t"))
    assert len(bars(root)) == 1
    assert "≤ 0.30" in texts(root)
    assert "≤ 0.30 spins" in said(root)


def test_without_any_amount_there_is_no_bar() -> None:
    root = picture(account_bar([Part("lost", "spins", None, "≤ 0.30")], capacity=None, unit="CPUs", title="t"))
    assert texts(root) == ["no figures"]
    with pytest.raises(ValueError, match="too small"):
        account_bar([], capacity=8, unit="CPUs", title="t", width=239)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_label_stays_text(text: str) -> None:
    made = account_bar([Part("lost", text, 1.0, text)], capacity=8, unit=text, title=text)
    picture(made)
    assert "<script" not in made


def test_what_no_finding_speaks_of_is_no_alarm() -> None:
    lost = {"what": "reads", "amount": 2.0, "low": 2.0, "high": 2.0, "file": "x", "lines": [1, 2]}
    account = {"currency": "waiting_tasks", "span": "mean", "capacity": 8.0, "idle": None, "work": 4.0}
    account |= {"lost": [{**lost, "to": "ase/x:S"}, {**lost, "to": None}], "unexplained": None, "undivided": None}
    made = rows(account, {"ase/x:S": 1})
    root = picture(of_account(account, made, "ase"))
    assert [kind for kind, _, _ in bars(root)] == ["c-work", "c-lost", "c-other"]
    assert [(row.file, row.lines) for row in made] == [("", (0, 0)), ("x", (1, 2)), ("x", (1, 2))]


def test_a_long_label_of_the_legend_is_written_whole_in_several_lines() -> None:
    label = "spinning, if a spin lasts 100 ns at most (assumed: no source says how long)"
    made = picture(
        account_bar((Part("undivided", label, None, "≤ 2.73"), *LEWIS), capacity=8, unit="CPUs", title="t", width=300)
    )
    written = " ".join(texts(made))
    assert label in written
    assert "…" not in written
