"""One file, many reports, much text that is none: bounded, and nothing is lost in silence."""

import io

import pytest

from collectors import read
from collectors.read import read_stream

SERIES = "users,throughput\n1,100\n2,180\n4,290\n"
FASTPATH = """\
Fast Path preferred CPUs on NORN 3-FEB-2026 10:11:12.13
HP rx6600  (1.59GHz/12.0MB) with 4 active CPUs
Device:           Fastpath CPU:
EWA0                      3
"""


def test_unknown_text_is_given_up_after_a_while_and_what_was_found_stays() -> None:
    found = read_stream("x", io.BytesIO((SERIES + "\nonly words\n" * 250_000).encode()))
    assert found[0].report == "scaling/load_series"
    assert found[0].facts
    (alone,) = read_stream("x", io.BytesIO(b"only words\n" * 250_000))
    assert "not read further" in alone.problems[0]


def test_a_file_of_too_many_reports_is_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MOST_REPORTS", 5)
    found = read_stream("x", io.BytesIO(((FASTPATH + SERIES) * 10).encode()))
    assert len(found) == 5
    assert any("more than 5 reports" in problem for problem in found[0].problems)


def test_a_listing_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MOST_LINES", 10)
    found = read_stream("x", io.BytesIO((SERIES + "8,300\n" * 50).encode()))
    assert any("cut in two" in problem for problem in found[0].problems)


def test_a_report_that_gives_no_fact_says_so() -> None:
    (found,) = read_stream("x", io.BytesIO(b"Lock Management\n---------------\n"))
    assert found.problems


def test_blanks_of_a_browser_are_blanks() -> None:
    (found,) = read_stream("x", io.BytesIO(FASTPATH.replace(" ", "\u00a0").encode()))
    assert found.report == "openvms/show_fastpath"
    assert len(found.facts) == 2


def test_false_starts_count_as_unknown_text_and_their_lines_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MOST_UNKNOWN_LINES", 3000)
    text = (SERIES + "\n" + "Lock Management\nonly words\n" * 4000).encode()
    found = read_stream("x", io.BytesIO(text))
    assert found[0].facts
    assert any("not read further" in problem for problem in found[0].problems)
    assert len(found[0].leftovers) <= 1000
