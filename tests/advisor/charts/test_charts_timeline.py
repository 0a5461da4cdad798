"""A figure over the captures as pages draw it: from zero, placed by time, with its limit and with what was changed."""

from datetime import UTC, timedelta
from typing import Any

import pytest
from hypothesis import given

from advisor.charts import curves
from advisor.charts.curves import MOST_EVENTS, timeline
from tests.advisor.charts.pictures import HOSTILE, T0, by_class, data_of, every, lines, maybe, names, plot, said, texts

DAY = timedelta(days=1)


@given(series=lines, unit=names, limit=maybe)
def test_any_timeline_is_well_formed_and_inside(series: list[tuple[Any, float | None]], unit: str, limit: Any) -> None:
    events = [(at, unit) for at, _ in series[:9]]
    plot(timeline(series, unit=unit, title=unit, limit=limit, events=events))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_word_of_a_change_is_text_and_nothing_else(name: str) -> None:
    made = timeline([(T0, 1.0), (T0 + DAY, 2.0)], unit=name, title=name, events=[(T0, name)])
    assert "<script>" not in made
    assert 'onload="' not in made
    plot(made)


def test_it_starts_at_zero_and_its_times_are_proportional() -> None:
    root = plot(timeline([(T0, 90.0), (T0 + DAY, 91.0), (T0 + 4 * DAY, 92.0)], unit="%", title="busy", limit=85.0))
    assert "0" in texts(root)
    assert [dot.get("cx") for dot in by_class(root, "c-dot")] == ["0.00%", "25.00%", "100.00%"]
    assert "limit 85 %" in texts(root)
    assert "Limit 85 %." in said(root)


def test_a_change_stands_at_its_time_with_its_word_above_the_plot() -> None:
    series = [(T0, 1.0), (T0 + 4 * DAY, 2.0)]
    events = [(T0 - DAY, "before"), (T0 + DAY, "change made: ratio"), (T0 + 9 * DAY, "after")]
    root = plot(timeline(series, unit="%", title="x", events=events))
    (line,) = by_class(root, "c-event")
    assert line.get("x1") == "25.00%"
    (word,) = by_class(root, "c-word")
    assert word[-1].tail == "change made: ratio"
    assert float(word.get("y", "")) < float(root.get("data-top", "")), "it covers no figure"
    assert "change made: ratio at 2025-03-04 22:00." in said(root)
    assert "before" not in said(root), "nothing is drawn of that time"


def test_words_of_changes_close_to_each_other_stand_in_rows_and_the_lines_are_all_there() -> None:
    series = [(T0, 1.0), (T0 + 40 * DAY, 2.0)]
    events = [(T0 + n * DAY, f"change {n}") for n in range(1, 30)]
    root = plot(timeline(series, unit="%", title="x", events=events))
    assert len(by_class(root, "c-event")) == MOST_EVENTS, "the newest"
    placed = [(word.get("y"), float(word.get("x", "%")[:-1])) for word in by_class(root, "c-word")]
    rows: dict[str | None, list[float]] = {}
    for y, x in placed:
        rows.setdefault(y, []).append(x)
    assert len(rows) == 3
    assert all(abs(a - b) > 50 for xs in rows.values() for a in xs for b in xs if a != b)


def test_a_long_word_of_a_change_is_cut_at_its_colon_and_told_whole_as_a_tip() -> None:
    word = "5 changes seen: " + "; ".join(f"lock address spinlock ratio {n}" for n in range(5))
    root = plot(timeline([(T0, 1.0), (T0 + DAY, 2.0)], unit="%", title="x", events=[(T0 + DAY, word)]))
    (drawn,) = by_class(root, "c-word")
    assert (drawn[0].text, drawn[0].tail) == (word, "5 changes seen")


def test_the_zone_is_named_where_times_have_one() -> None:
    assert "% (times in UTC)" in texts(plot(timeline([(T0.replace(tzinfo=UTC), 1.0)], unit="%", title="t")))
    assert "%" in texts(plot(timeline([(T0, 1.0)], unit="%", title="t")))


def test_what_travels_for_the_script_is_exact_and_names_the_figure() -> None:
    data = data_of(plot(timeline(every(60, [1.25, None, 3.0]), unit="ms", title="response")))
    assert (data["k"], data["u"], data["s"][0]["n"]) == ("time", "ms", "response")
    assert data["s"][0]["y"] == [1.25, None, 3]
    assert data["x"] == [data["s"][0]["x"][0], data["s"][0]["x"][0] + 7200]


def test_large_figures_have_room_before_the_axis() -> None:
    shown = texts(plot(timeline(every(60, [1.0, 81_234_567.0]), unit="requests", title="t")))
    assert {"millions requests", "0", "50", "100"} <= set(shown)


def test_the_same_picture_is_kept_and_never_taken_for_another_one() -> None:
    series = every(5, [1.0, 2.0])
    made = [
        timeline(series, unit="ms", title="t", limit=limit, events=events)
        for limit in (None, 2.0)
        for events in ((), [(T0, "x")])
    ]
    assert len(set(made)) == 4
    assert timeline(series, unit="ms", title="t") is made[0]
    curves._timeline.cache_clear()
    timeline(every(1, [float(n % 7) for n in range(curves.KEPT_POINTS + 1)]), unit="ms", title="t")
    assert curves._timeline.cache_info().currsize == 0, "a long one is drawn and not kept"


def test_too_low_a_picture_is_refused() -> None:
    with pytest.raises(ValueError, match="60 is the least"):
        timeline([], unit="", title="t", height=59)
