"""The table engine: what a reader declares is what it gets, however often a line comes again."""

import re
from collections.abc import Iterator

import pytest

from collectors.facts.ase import MemoryHeadroom
from collectors.layouts import tables as layouts
from collectors.layouts.tables import Row, Table, cut
from collectors.registry import NotThisReport, Report
from collectors.tables import Listing, Unrepeated

HEADING = re.compile(r"\s*name\s+free\b")
TEXT = """1> sp_free
 name       free
 ---------- ----
 one           1
 two           x
 one           1

(3 rows affected)
a remark
someone else's line
 name       free
 ---------- ----

seen: 7
"""
LINES = TEXT.split("\n")


class Reader:
    def __init__(self, **more: object) -> None:
        self.asked: list[str] = []
        self.listing: Listing[MemoryHeadroom] = Listing(
            heading=HEADING,
            row=self.row,
            stop=re.compile("stop"),
            remarks=re.compile("a remark"),
            others=re.compile("seen:"),
            remedy="bring it whole",
            **more,  # type: ignore[arg-type]
        )

    def row(self, row: Row, table: Table) -> Iterator[MemoryHeadroom | str]:
        self.asked.append(row.text)
        if row.get("free").isdigit():
            yield MemoryHeadroom(available_kb=float(row.get("free")))


def test_rows_problems_remarks_and_what_the_reader_sees_itself() -> None:
    reader, report, seen = Reader(), Report("f.txt", 11, LINES), list[str]()

    def others(index: int, line: str) -> int:
        seen.append(line)
        report.claim(index)
        return index

    facts = list(reader.listing.read(report, others))
    assert [(fact.available_kb, fact.source.first) for fact in facts] == [(1.0, 14), (1.0, 16)]
    assert report.problems == [
        "line 15: this row is cut short or damaged and was not read: bring it whole",
        "line 21: a heading without rows below it: bring it whole",
    ]
    assert seen == ["seen: 7"]
    assert [run.text for run in report.leftovers()] == ["someone else's line"]


def test_a_row_that_comes_again_is_understood_once_and_said_once_where_that_is_wanted() -> None:
    reader = Reader(no_rows="")
    for _ in range(2):
        report = Report("f.txt", 1, LINES * 3)
        facts = list(reader.listing.read(report, new=Unrepeated[MemoryHeadroom]()))
        assert [fact.source.first for fact in facts] == [4]
        assert len(report.problems) == 3
    assert len(reader.asked) == 2


def test_lines_that_are_too_many_to_remember_are_understood_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "MOST_KNOWN", 2)
    lines = ["  key   value", "  ----- -----", *(f"  {number:5} {number:5}" for number in range(1, 8)), ""]
    for _ in range(2):
        table = cut(lines, 0)
        assert [row.get("value") for row in table.rows] == [str(number) for number in range(1, 8)]
        assert (table.columns, table.last) == (("key", "value"), 8)


def test_without_a_table_it_is_another_report() -> None:
    with pytest.raises(NotThisReport):
        list(Reader().listing.read(Report("f.txt", 1, ["no table"])))
