"""The table cutters: every layout, wrapped and damaged, and the figures in the cells."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.facts.base import ABSENT, OVERFLOW
from collectors.layouts.figures import decimal_comma, number, reading, size
from collectors.layouts.problem_log import ProblemLog
from collectors.layouts.tables import Row, Table, cut, delimited
from collectors.registry import MOST_PROBLEMS

WRAPPED = """\
 SPID   Name                           Spins
\t Text                                      State
 ------ ------------------------------ -----------
\t----------------------------------------- ----------
     12 log writer                             700
\t select one                                run
      7 with  two blanks                         0
\t                                          sleep
"""


def table(text: str, at: int = 0) -> Table:
    return cut(text.split("\n"), at)


def cells(row: Row) -> list[str]:
    return list(row.cells.values())


def test_isql_rows_know_their_lines_and_columns() -> None:
    read = table(
        "x\n name     dbid\n -------- ------\n master        1\n model         3\n\n(2 rows affected)\n tail 1", at=1
    )
    assert (read.layout, read.columns, read.frame, read.last) == ("isql", ("name", "dbid"), (1, 2), 4)
    assert [(row.first, row.last, cells(row)) for row in read.rows] == [
        (3, 3, ["master", "1"]),
        (4, 4, ["model", "3"]),
    ]


def test_columns_are_found_however_they_are_spelt() -> None:
    row = table("Cache Name,run_size\nhot,12").rows[0]
    assert row.get("cache_name") == row.get("CacheName") == row.get("no such", "CACHE NAME") == "hot"
    assert row.get("no such") == ""
    assert table("Cache Name,run_size\nhot,12").has("RunSize", "cache_name")


def test_wrapped_records_are_put_together_again() -> None:
    read = table(WRAPPED)
    assert read.columns == ("SPID", "Name", "Spins", "Text", "State")
    assert [(row.first, row.last, cells(row)) for row in read.rows] == [
        (4, 5, ["12", "log writer", "700", "select one", "run"]),
        (6, 7, ["7", "with  two blanks", "0", "", "sleep"]),
    ]
    assert all(row.whole for row in read.rows)


def test_a_lost_continuation_line_costs_one_record() -> None:
    lines = WRAPPED.split("\n")
    del lines[5]
    read = cut(lines, 0)
    assert [(row.first, row.whole) for row in read.rows] == [(4, False), (5, True)]
    assert read.rows[0].cells == {}
    del lines[4]
    assert [row.whole for row in cut(lines, 0).rows] == [True]


def test_a_continuation_line_without_its_record_is_not_whole() -> None:
    lines = WRAPPED.split("\n")
    del lines[4]
    assert next((row.whole, row.cells) for row in cut(lines, 0).rows) == (False, {})


def test_continuation_lines_alone_are_no_record() -> None:
    lines = WRAPPED.split("\n")
    lines[4] = lines[5]
    read = cut(lines, 0)
    assert next((row.whole, row.cells) for row in read.rows) == (False, {})
    assert cells(read.rows[-1])[0] == "7"


def test_columns_without_a_name_or_beside_their_dashes() -> None:
    assert table("\n \n ---- ------\n    1     2\n", at=1).columns == ("", "")
    assert table(" Cache Name  Size\n ------- ----\n hot        1\n").columns == ("Cache Name", "Size")


def test_a_continuation_line_may_be_empty_or_indented_less_than_its_dashes() -> None:
    read = table(" a    b\n\t  c    d\n ---- ----\n\t  ---- ----\n 1    2\n\n 3    4\n\t5     6\n")
    assert [(row.first, row.last, cells(row), row.whole) for row in read.rows] == [
        (4, 5, ["1", "2", "", ""], False),
        (6, 7, ["3", "4", "5", "6"], True),
    ]


def test_a_value_left_of_its_dashes_is_not_lost() -> None:
    assert cells(table("   name    dbid\n   ------- ----\nmaster        1\n").rows[0]) == ["master", "1"]


def test_a_column_wider_than_the_line_is_joined_without_losing_its_blank() -> None:
    read = table(" id     words\n\t            \n ------ ------------\n\t------------\n      1 ABCDEFGHIJK\n\tLMNOP\n")
    assert read.columns == ("id", "words")
    assert cells(read.rows[0]) == ["1", "ABCDEFGHIJK LMNOP"]
    padded = (
        " id     words         \n\t            \n ------ ------------  \n\t------------\n      1 ABCDEFGHIJKL\n\tMNOP\n"
    )
    assert cells(table(padded).rows[0]) == ["1", "ABCDEFGHIJKLMNOP"]


def test_short_dashes_and_centred_values_stay_in_their_column() -> None:
    read = table("Name           Value\n----           -----\nlong name here    5\n")
    assert cells(read.rows[0]) == ["long name here", "5"]


def test_a_value_across_the_border_is_told_by_runs_of_blanks() -> None:
    read = table(" Wash    Size\n ------- -------\n  12345 Kb  77 Mb\n  12345678 Kb 77 Mb\n")
    assert cells(read.rows[0]) == ["12345 Kb", "77 Mb"]
    assert (read.rows[1].cells, read.rows[1].whole) == ({}, False)
    assert read.rows[1].text.strip() == "12345678 Kb 77 Mb"
    read = table(" Wash    Size    Pct\n ------- ------- ---\n  12345678 Kb 77 Mb  10\n")
    assert (read.rows[0].cells, read.rows[0].whole) == ({}, False)


def test_a_repeated_heading_is_frame() -> None:
    read = table(" a   b\n --- ---\n   1   2\n a   b\n --- ---\n   3   4\n")
    assert [cells(row) for row in read.rows] == [["1", "2"], ["3", "4"]]
    assert read.frame == (0, 1, 3, 4)


@pytest.mark.parametrize(
    "end", ["", "(1 row affected)", "(return status = 0)", "2> go", "3:1> x", "Msg 208, Level 16", "====="]
)
def test_what_ends_a_table(end: str) -> None:
    read = table(f" a    b\n ---- ----\n    1    2\n{end}\n    3    4\n")
    assert (len(read.rows), read.last) == (1, 2)


def test_the_reader_may_end_it_too() -> None:
    lines = [" a    b", " ---- ----", "    1    2", " Total    2"]
    assert len(cut(lines, 0, stop=re.compile(r"\s*Total")).rows) == 1
    assert len(cut(lines, 0, end=2).rows) == 0


BOX = """\
+----+-------+
|Id  |Name   |
+----+-------+
|   1|one, 1 |
|   2|two    |
+----+-------+
+----+
|Next|
+----+
"""


def test_a_box_with_its_borders() -> None:
    for at in (0, 1):
        read = table(BOX, at)
        assert (read.layout, read.columns, read.last) == ("boxed", ("Id", "Name"), 5)
        assert [(row.first, cells(row)) for row in read.rows] == [(3, ["1", "one, 1"]), (4, ["2", "two"])]
        assert read.frame == (0, 1, 2, 5)


def test_a_box_that_ends_within_a_row_leaves_out_what_may_be_half_a_value() -> None:
    read = table("|Id |Run |Text|\n|---|----|----|\n|  1|  20|abc")
    assert (read.rows[0].whole, cells(read.rows[0])) == (False, ["1", "20"])
    read = table("|Id |Run |Text|\n|---|----|----|\n|  1|  2")
    assert (read.rows[0].whole, cells(read.rows[0])) == (False, ["1"])


def test_separated_values_with_quotes_and_commas() -> None:
    read = table('"Name";"Run"\n"hot; ""x""";"2 468,13"\ncold;\n')
    assert (read.layout, [cells(row) for row in read.rows]) == ("delimited", [['hot; "x"', "2 468,13"], ["cold", ""]])
    cut_short, quote, too_many, inch = table('a,b,c\n1,2\n1,2,"3,4\n1,2,3,4\n1,5" disk,3\n').rows
    assert (cut_short.whole, cells(cut_short)) == (False, ["1"])
    assert (quote.whole, cells(quote)) == (False, ["1", "2"])
    assert (too_many.whole, too_many.cells) == (False, {})
    assert (inch.whole, cells(inch)) == (True, ["1", '5" disk', "3"])
    assert table("a,b\n1,2,,\n").rows[0].whole
    assert not table(f"a,b\n1,{'9' * 200_000}\n").rows[0].whole


@pytest.mark.parametrize("end", ["", "(3 rows affected)", "total: 3", "sum,3"])
def test_what_ends_separated_values(end: str) -> None:
    read = cut(f"a,b\n1,2\n{end}\n3,4".split("\n"), 0, stop=re.compile("sum"))
    assert [cells(row) for row in read.rows] == [["1", "2"]]


def test_isql_with_a_separator_prints_dashes_between() -> None:
    read = table("name   ;dbid \n-------;-----\nmaster ;    1\n")
    assert (read.frame, [cells(row) for row in read.rows]) == ((0, 1), [["master", "1"]])


def test_bcp_has_no_heading() -> None:
    read = delimited(["12\t\tMar  5 2024 10:11:12:130AM", "13\tx\t"], 0, columns=("SPID", "Name", "Time"))
    assert (read.frame, read.last) == ((), 1)
    assert [row.get("Time") for row in read.rows] == ["Mar  5 2024 10:11:12:130AM", ""]
    assert read.rows[0].get("SPID") == "12"


def test_html_on_one_line_and_on_many() -> None:
    read = table(
        "<tr><th>Name<th>Size</tr>\n<tr><td>a&lt;b<td>2&nbsp;468</tr>\n<TR>\n<TD>c</TD>\n<TD><b>5</b>\n</TABLE>\n<td>no</td>"
    )
    assert (read.layout, read.columns, read.last) == ("html", ("Name", "Size"), 5)
    assert [(row.first, row.last, cells(row)) for row in read.rows] == [(1, 1, ["a<b", "2 468"]), (3, 4, ["c", "5"])]


def test_without_dashes_runs_of_blanks_part_the_values() -> None:
    read = table("Cache Name    Run Size\nhot cache     12\ncold\n")
    assert (read.layout, cells(read.rows[0])) == ("spaced", ["hot cache", "12"])
    assert not read.rows[1].whole


@pytest.mark.parametrize(
    "text", ["", " ", "|", "+--+", "----", "a\n--", ",", "<td>", "<tr><td>", "\t\n--\n\t", "| |\n|--|\n||"]
)
def test_scraps_break_nothing(text: str) -> None:
    assert all(row.last < 9 for row in table(text).rows)


@given(st.lists(st.text(alphabet='ab1 -|+,\t"<td>/', max_size=24), min_size=1, max_size=12))
def test_no_text_breaks_the_cutter(lines: list[str]) -> None:
    for at in range(len(lines)):
        read = cut(lines, at)
        assert at <= read.last + 1 <= len(lines)
        assert all(at <= row.first <= row.last <= read.last for row in read.rows)
        assert all(0 <= index < len(lines) for index in read.frame)


@pytest.mark.parametrize(
    ("text", "comma", "value"),
    [
        ("512", False, 512.0),
        ("-3.50", False, -3.5),
        ("1,048,576", False, 1048576.0),
        ("1,234.5", False, 1234.5),
        ("2 468,13", False, 2468.13),
        ("2\u00a0468,13", True, 2468.13),
        ("64\u202f000", True, 64000.0),
        ("2.468,13", True, 2468.13),
        ("2.468", True, 2468.0),
        ("1.000.000", False, 1000000.0),
        (" 7 ", False, 7.0),
        ("2.468", False, 2.468),
        ("2,468", False, 2468.0),
        ("2,468", True, 2.468),
        ("31,75", False, 31.75),
        ("1'024.50", False, 1024.5),
        ("\u0663\u0664", False, None),
        ("12a", False, None),
        ("1 2", False, None),
        ("1,23,456", False, None),
        ("9" * 5000, False, None),
        ("nan", False, None),
        ("1e5", False, None),
    ],
)
def test_numbers_in_every_locale(text: str, comma: bool, value: float | None) -> None:
    assert number(text, comma=comma) == value


def test_one_figure_betrays_the_decimal_sign_of_its_table() -> None:
    assert decimal_comma(["2,468", "31,75"])
    assert decimal_comma(["64 000", "2,468"])
    assert not decimal_comma(["2,468", "31.75"])
    assert not decimal_comma(["2,468", "1'000"])
    assert not decimal_comma(["31,75", "31.75"])
    assert not decimal_comma(["31.75", "31,75"])
    assert not decimal_comma(["1,234.5", "31,75", "2,468"])
    assert not decimal_comma(["64 000", "1 024.5", "7"])
    assert not decimal_comma(["2.468", "1.000.000", "1\u2019000"])
    assert decimal_comma(["1.234,5", "2.468", "2,468", " 7 "])
    assert decimal_comma(["64 000", "2.468"])
    assert not decimal_comma(["Active", "", "9" * 99])


def test_four_states_stay_four() -> None:
    assert (reading("0"), reading("***"), reading("NULL"), reading("")) == (0.0, OVERFLOW, ABSENT, ABSENT)


def test_sizes_know_their_units() -> None:
    assert (size("122880 Kb", "k"), size("1.5 Gb", "m"), size("2048kb", "m")) == (122880.0, 1536.0, 2.0)
    assert (size("512", "m"), size("2 468,13 Mb", "m", comma=True), size("*** Mb", "m")) == (512.0, 2468.13, OVERFLOW)
    assert size("Mb", "m") is ABSENT


@pytest.mark.parametrize(
    ("more", "last"), [(0, "line 98: cut"), (1, "1 more problem in"), (1_200, "1,200 more problems in")]
)
def test_of_many_problems_the_first_are_told_and_the_others_counted(more: int, last: str) -> None:
    log = ProblemLog()
    for line in range(MOST_PROBLEMS - 1 + more):
        log.problem(line, "cut")
    assert log.problems[0] == "line 0: cut"
    assert len(log.problems) == MOST_PROBLEMS - (not more)
    assert log.problems[-1].startswith(last)
