"""One file, many reports, much text that is none: bounded, and nothing is lost in silence."""

import io
from dataclasses import fields
from pathlib import Path

import pytest

from collectors import read
from collectors.facts import Fact
from collectors.read import read_stream

SERIES = "users,throughput\n1,100\n2,180\n4,290\n"
FASTPATH = """\
Fast Path preferred CPUs on NORN 3-FEB-2026 10:11:12.13
HP rx6600  (1.59GHz/12.0MB) with 4 active CPUs
Device:           Fastpath CPU:
EWA0                      3
"""


def test_unknown_text_is_given_up_after_a_while_and_what_was_found_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MOST_UNKNOWN_LINES", 2_000)
    found = read_stream("x", io.BytesIO((SERIES + "\nonly words\n" * 2_500).encode()))
    assert found[0].report == "scaling/load_series"
    assert found[0].facts
    (alone,) = read_stream("x", io.BytesIO(b"only words\n" * 2_500))
    assert "not read further" in alone.problems[0]
    (less,) = read_stream("x", io.BytesIO(b"only words\n" * 1_500))
    assert not any("not read further" in problem for problem in less.problems)


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


EXPORTS = Path(__file__).parent.parent / "exports"


def case(path: str) -> str:
    return (EXPORTS / path).read_text(encoding="utf-8").rstrip("\n") + "\n"


@pytest.mark.parametrize(
    "before", ["openvms/show_system/prose_is_not_it.txt", "openvms/monitor/summary_of_one_file.txt"]
)
@pytest.mark.parametrize(
    "after",
    [
        "rdb/show_locks/none_shown.txt",
        "rdb/show_locks/blocking.txt",
        "rdb/show_system/dump_users.txt",
        "rdb/dump_header/whole.txt",
        "openvms/show_cpu/brief_said_by_the_command.txt",
        "openvms/t4/free_first_line.csv",
    ],
)
def test_of_a_console_log_each_report_keeps_the_lines_above_it_that_say_whose_it_is(before: str, after: str) -> None:
    alone = read_stream("x", io.BytesIO(case(after).encode()))
    found = read_stream("x", io.BytesIO((FASTPATH + case(before) + case(after)).encode()))
    lines = (FASTPATH + case(before)).count("\n")
    below = [fact for one in found for fact in one.facts if fact.source.first > lines]
    expected = [fact for one in alone for fact in one.facts]
    assert [_without_place(fact) for fact in below] == [_without_place(fact) for fact in expected]


def _without_place(fact: Fact) -> dict[str, object]:
    return {one.name: getattr(fact, one.name) for one in fields(fact) if one.name != "source"}


def test_lines_that_the_next_report_understood_are_no_leftovers_of_the_one_before() -> None:
    stars = "*" + "-" * 40 + "\n* Oracle Rdb V7.2-501        3-FEB-2021 09:14:22.07\n*\n"
    header = "Database Parameters:\n    - Maximum user count is 64\n"
    (above, found) = read_stream("x", io.BytesIO((FASTPATH + stars + header).encode()))
    assert found.report == "rdb/dump_header"
    assert found.facts[0].release == "V7.2-501"  # type: ignore[attr-defined]  # a Database
    assert not above.leftovers
