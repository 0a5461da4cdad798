"""Words in charts: cleaned, clipped to their room, and figures written for people."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.charts.words import breadth, clean, clip, figure, wrapped


def test_cleaning_takes_out_what_xml_forbids_and_what_turns_text_around() -> None:
    assert clean("a\x00b\x1b[2J\ud800\ufffe\u202ec\td\ne") == "ab[2Jc d e"
    assert clean("µs × é 漢") == "µs × é 漢"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1234567, "1,234,567"),
        (99.996, "99.996"),
        (1200, "1,200"),
        (1234.56, "1,234.6"),
        (1e300, "1e+300"),
    ],
)
def test_figures_are_written_for_people(value: float, words: str) -> None:
    assert figure(value) == words


@given(st.text(max_size=80), st.floats(0, 300))
def test_a_clipped_text_fits_and_keeps_both_ends(text: str, room: float) -> None:
    cut = clip(text, room)
    assert breadth(cut) <= room
    if cut != text and len(cut) > 2:
        assert (cut[0], cut[-1]) == (text[0], text[-1])
    assert all(a <= b for a, b in pairwise([len(clip(text, r)) for r in (20.0, 60.0, 200.0)]))


def test_a_text_is_broken_at_blanks_and_no_word_within_its_room_is_cut() -> None:
    words = "LCKMGR: 3.6 CPUs' worth spins for one spinlock"
    lines = wrapped(words, 130)
    assert " ".join(lines) == words
    assert all(breadth(line) <= 130 for line in lines)


def test_a_figure_stays_with_its_unit() -> None:
    lines = wrapped("pools 4 KB: 88,064 MB, 13 % of all searches", 95)
    assert [line for line in lines if line.startswith(("MB", "KB", "%"))] == []


def test_a_long_name_is_broken_behind_its_punctuation_and_is_whole() -> None:
    lines = wrapped("rating.dbo.usage_event.usage_event_pk", 120)
    assert "".join(lines) == "rating.dbo.usage_event.usage_event_pk"
    assert [line[-1] for line in lines[:-1]] == ["_" if line.endswith("_") else "." for line in lines[:-1]]


def test_what_has_more_lines_than_allowed_ends_with_a_sign() -> None:
    lines = wrapped("word " * 40, 100, 3)
    assert len(lines) == 3
    assert "…" in lines[-1]
    assert wrapped("unbroken", 20, hard=False) == ["unbroken"], "wider than its room, for the caller to leave out"
