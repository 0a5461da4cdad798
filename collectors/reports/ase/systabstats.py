"""Rows of tables, and how many of them were forwarded (`systabstats` of a database).

12.0 and later; the columns are those that were selected, in any order, the name of the table among them::

     DBName name   indid  rowcnt   forwrowcnt
     ------ ------ ------ -------- ----------
     shop   note        0   812416     203311

A table that only the question names (`where id = object_id("note")`) is told by the echoed question.
"""

import re
from collections.abc import Iterator
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
STOP = re.compile(rf"{HEADING.pattern}|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE)


@report(starts=HEADING, provides=(TableRows,))
def read(report: Report) -> Iterator[TableRows]:
    """Yield one fact per row whose table is named, by the row or by the question above it."""
    found = False
    for heading, table in ROWS.tables(report):
        found = True
        asked = None if any(map(table.has, NAMES)) else _asked(report.over(heading, ABOVE))
        yield from ROWS.facts(report, _of(table, asked) if asked else table, heading)
    if not found:
        raise NotThisReport


def _of(table: Table, asked: re.Match[str]) -> Table:
    """The same rows with the table and the database that the question names."""
    said = {key("name"): asked["table"], key("db"): asked["database"] or asked["of"] or ""}
    rows = (replace(row, cells={**said, **row.cells}, made={}) for row in table.rows)
    return replace(table, rows=tuple(rows))


def _asked(above: list[str]) -> re.Match[str] | None:
    """The one table that the question right above a heading asks for by its name; `None` where it names no or more."""
    start = next((at for at in reversed(range(len(above))) if SELECT.search(above[at])), None)
    if start is None:
        return None
    text = " ".join(above[start:])
    return QUESTION.search(text) if len(NAMED.findall(text)) == 1 else None


def _row(row: Row, table: Table) -> Iterator[TableRows | str]:
    """By names of columns that stand here, too: of a piece without heading a reader is found by its words."""
    yield from counted(row, table, deleted="delrowcnt", pages="pagecnt", empty_pages="emptypgcnt")


ROWS = Listing(heading=HEADING, row=_row, stop=STOP, remedy="export it again in full (isql -w 1000)", no_rows="")
