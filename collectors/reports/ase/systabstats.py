"""Rows of tables, and how many of them were forwarded (`systabstats` of a database).

12.0 and later; the columns are those that were selected, in any order, the name of the table among them::

     DBName name   indid  rowcnt   forwrowcnt
     ------ ------ ------ -------- ----------
     shop   note        0   812416     203311

A table that only the question names (`where id = object_id("note")`) is told by the echoed question, and so is the
column that it calls `object_name(id)` by a name of its own.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from collectors.facts.ase import TableRows
from collectors.layouts.ase_catalog import IDENTIFIER
from collectors.layouts.ase_table_rows import NAMES, counted
from collectors.layouts.tables import Row, Table, key
from collectors.registry import NotThisReport, Report, report
from collectors.tables import Listing

HEADING = re.compile(
    r"^(?!.{0,400}\b(?:select|from)\b)(?=.{0,400}\b(?:rowcnt|rowcount)\b).{0,400}\b(?:forwrowcnt|delrowcnt|emptypgcnt)\b",
    re.IGNORECASE,
)
ABOVE = 12
"""Lines of a question above its heading, with blank ones (this project)."""
SELECT = re.compile(r"\bselect\b", re.IGNORECASE)
NAMED = re.compile(r"\bobject_id\s{0,4}\(", re.IGNORECASE)
QUESTION = re.compile(
    rf"\bfrom\s{{1,9}}(?:(?P<database>{IDENTIFIER})\.(?:{IDENTIFIER})?\.)?systabstats\b.{{0,400}}?"
    rf"(?<!\w)id\s{{0,4}}=\s{{0,4}}object_id\s{{0,4}}\(\s{{0,4}}[\"'](?:(?P<of>{IDENTIFIER})\.(?:{IDENTIFIER})?\.)?"
    rf"(?P<table>{IDENTIFIER})[\"']",
    re.IGNORECASE,
)
CALLED = re.compile(
    r"(?:\b(?P<before>\w{1,30})\s{0,4}=\s{0,4})?\bobject_name\s{0,4}\(\s{0,4}(?:\w{1,30}\.)?id\b[^()]{0,40}\)"
    r"(?:\s{1,4}(?:as\s{1,4})?(?P<after>(?!from\b)\w{1,30}))?",
    re.IGNORECASE,
)
STOP = re.compile(rf"{HEADING.pattern}|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE)


@report(starts=HEADING, provides=(TableRows,))
def read(report: Report) -> Iterator[TableRows]:
    """Yield one fact per row whose table is named, by the row or by the question above it."""
    found = False
    for heading, table in ROWS.tables(report):
        found = True
        text = "" if any(map(table.has, NAMES)) else _question(report.over(heading, ABOVE))
        yield from ROWS.facts(report, _named(table, text), heading)
    if not found:
        raise NotThisReport


def _named(table: Table, question: str) -> Table:
    """The same rows with the table, and the database, that the question names or that a column of its own has."""
    called = CALLED.search(question)
    column = (called["before"] or called["after"] or "") if called else ""
    if column and table.has(column):
        return _with(table, lambda row: {key("name"): row.get(column)})
    asked = QUESTION.search(question) if len(NAMED.findall(question)) == 1 else None
    if asked is None:
        return table
    said = {key("name"): asked["table"], key("db"): asked["database"] or asked["of"] or ""}
    return _with(table, lambda row: said)


def _with(table: Table, said: Callable[[Row], dict[str, str]]) -> Table:
    rows = (replace(row, cells={**said(row), **row.cells}, made={}) for row in table.rows)
    return replace(table, rows=tuple(rows))


def _question(above: list[str]) -> str:
    """The question right above a heading, on one line; empty where none is shown."""
    start = next((at for at in reversed(range(len(above))) if SELECT.search(above[at])), None)
    return "" if start is None else " ".join(above[start:])


def _row(row: Row, table: Table) -> Iterator[TableRows | str]:
    """By names of columns that stand here, too: of a piece without heading a reader is found by its words."""
    yield from counted(row, table, deleted="delrowcnt", pages="pagecnt", empty_pages="emptypgcnt")


ROWS = Listing(heading=HEADING, row=_row, stop=STOP, remedy="export it again in full (isql -w 1000)", no_rows="")
