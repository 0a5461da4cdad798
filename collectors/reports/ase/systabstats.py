"""Rows of tables, and how many of them were forwarded (`systabstats` of a database).

12.0 and later; the columns are those that were selected, in any order, the name of the table among them::

     DBName name   indid  rowcnt   forwrowcnt
     ------ ------ ------ -------- ----------
     shop   note        0   812416     203311
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import TableRows
from collectors.layouts.ase_table_rows import counted
from collectors.layouts.tables import Row, Table
from collectors.registry import Report, report
from collectors.tables import Listing

HEADING = re.compile(
    r"^(?!.{0,400}\bselect\b)(?=.{0,400}\b(?:rowcnt|rowcount)\b).{0,400}\b(?:forwrowcnt|delrowcnt|emptypgcnt)\b",
    re.IGNORECASE,
)
STOP = re.compile(rf"{HEADING.pattern}|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE)


@report(starts=HEADING, provides=(TableRows,))
def read(report: Report) -> Iterator[TableRows]:
    """Yield one fact per row that names its table."""
    yield from ROWS.read(report)


def _row(row: Row, table: Table) -> Iterator[TableRows | str]:
    """By names of columns that stand here, too: of a piece without heading a reader is found by its words."""
    yield from counted(row, table, deleted="delrowcnt", pages="pagecnt", empty_pages="emptypgcnt")


ROWS = Listing(heading=HEADING, row=_row, stop=STOP, remedy="export it again in full (isql -w 1000)", no_rows="")
