"""The registry of the readers: recognition, noise, figures, leftovers."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.facts import ABSENT, OVERFLOW, Source
from collectors.leftovers import Leftover, Leftovers, is_noise
from collectors.registry import Report, kinds, reading, report, starting
from collectors.starts import worked_out
from tests.yardstick import no_longer_than

NASTY = [
    unit * 100_000
    for unit in (" ", "-", "1", "a ", "1,", "* ", "| ", "> ", "$ ", "[A]", " x", "Parameter Name ", "Cache: ", "::")
]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "   ",
        " ------- ----- ",
        "+-----+----+",
        "1> sp_sysmon '00:01:00'",
        "2:1> go",
        "go",
        "(1 row affected)",
        "(return status = 0)",
        "$",
        "$ SHOW CPU",
        "SYSGEN>  SHOW RESHASHTBL",
        "alpha1 > show fast",
        "%SYSMAN-I-OUTPUT, command execution on node ALPHA1",
    ],
)
def test_what_wraps_an_export_is_noise(line: str) -> None:
    assert is_noise(line)


@pytest.mark.parametrize("line", ["CPU 0 is busy", "Cache: default data cache", "- Consider adding a pool", "12 13 14"])
def test_what_says_something_is_not(line: str) -> None:
    assert not is_noise(line)


@pytest.mark.parametrize(
    ("token", "value"),
    [
        ("12", 12.0),
        ("-3.5", -3.5),
        (".5", 0.5),
        ("1,234,567", 1234567.0),
        ("1e3", 1000.0),
        ("n/a", ABSENT),
        ("", ABSENT),
        ("NULL", ABSENT),
        ("*****", OVERFLOW),
        ("9" * 400, ABSENT),
        ("1e999", ABSENT),
        ("١٢", ABSENT),
        ("12x", ABSENT),
        ("nan", ABSENT),
        ("inf", ABSENT),
    ],
)
def test_a_figure_is_a_number_or_one_of_the_reasons_why_not(token: str, value: object) -> None:
    assert reading(token) == value


def test_a_start_that_looks_ahead_first_is_looked_for_at_the_beginning_of_a_line_alone() -> None:
    """Elsewhere it looks ahead from each character: of a heading of T4 that took most of the time to read a day."""
    starts = [(kind.id, one.pattern) for kind in kinds() if kind.starts for one in worked_out(kind.starts.pattern)]
    assert not [(name, pattern) for name, pattern in starts if re.match(r"\(\?[=!](?!\))", pattern)]


@pytest.mark.long
def test_no_line_however_odd_takes_the_recognition_more_than_linear_time() -> None:
    """A hang guard, not a measurement: a quadratic pattern would need minutes for these lines."""
    with no_longer_than(30):
        for line in NASTY:
            starting(line)
            is_noise(line + "x")
            reading(line)


def test_starts_may_not_bring_flags_that_joining_would_lose() -> None:
    with pytest.raises(ValueError, match="no flags"):
        report(starts=re.compile("x", re.VERBOSE), provides=())(lambda report: ())


def test_runs_of_leftovers_are_bounded_and_keep_their_lines() -> None:
    rest = Leftovers()
    for number in range(1, 2501):
        rest.add(2 * number, f"odd {number}")
    assert (len(rest.runs), rest.dropped) == (1000, 1500)
    assert rest.runs[0] == Leftover(2, 2, "odd 1")


@given(st.lists(st.sampled_from(["odd", "x " * 150, "", "---", "go"]), max_size=12), st.integers(0, 12))
def test_lines_taken_together_are_the_leftovers_they_are_one_by_one(lines: list[str], parted: int) -> None:
    alone, together = Leftovers(), Leftovers()
    for number, line in enumerate(lines, 7):
        alone.add(number, line)
    together.extend(7, lines[:parted])
    together.extend(7 + parted, lines[parted:])
    assert together.runs == alone.runs


def test_lines_understood_afterwards_are_taken_back() -> None:
    rest = Leftovers()
    for number, text in enumerate(["one", "two", "three"], 7):
        rest.add(number, text)
    rest.understood(9, 9)
    assert rest.runs == [Leftover(7, 8, "one\ntwo")]


def test_a_report_gives_back_what_was_not_claimed() -> None:
    found = Report("f.txt", 10, ["a 1", "noise?", "a 2", "------"])
    values = [match[1] for _, match in found.every(re.compile(r"a ([0-9])"))]
    assert values == ["1", "2"]
    assert found.leftovers() == [Leftover(11, 11, "noise?")]
    found.problem("cut; bring it whole", 1)
    assert found.problems == ["line 11: cut; bring it whole"]


def test_a_reader_that_is_unsure_says_so_in_a_problem_and_in_every_source_from_then_on() -> None:
    one = Report("spl.txt", 7, ["a", "b"])
    sure = one.source(0)
    one.tentative("the layout is recalled")
    assert one.problems == ["tentative: the layout is recalled"]
    assert not sure.tentative
    assert one.source(0, 1) == Source("spl.txt", 7, 8, tentative=True)


def test_problems_are_bounded_and_counted_and_none_hides_that_a_reading_is_tentative() -> None:
    damaged = Report("x", 1, ["row"] * 200_000)
    for index in range(200_000):
        damaged.problem("the row was cut: export it again", index)
        if index in (50, 150):
            damaged.tentative("recalled")
    damaged.problem("the last one")
    assert damaged.problems[0] == "line 1: the row was cut: export it again"
    assert damaged.problems.count("tentative: recalled") == 2
    assert damaged.problems[-1] == "199,902 more problems in these lines: mend those above first"
    assert len(damaged.problems) == 102
