"""Rows of tables, and how many of them were forwarded (`systabstats` of a database).

12.0 and later; the columns are those that were selected, in any order, the name of the table among them::

     DBName name   indid  rowcnt   forwrowcnt
     ------ ------ ------ -------- ----------
     shop   note        0   812416     203311
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import TableRows
from collectors.layouts.figures import number, reading
from collectors.layouts.tables import Row, Table
from collectors.registry import Report, report
from collectors.tables import Listing

HEADING = re.compile(r"^(?!.{0,400}\bselect\b)(?=.{0,400}\b(?:rowcnt|rowcount)\b).{0,400}\bforwrowcnt\b", re.IGNORECASE)
STOP = re.compile(rf"{HEADING.pattern}|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE)
NAMES = ("name", "ObjectName", "TableName", "object_name", "table")
REMEDY = "select object_name(id) name beside it"


@report(starts=HEADING, provides=(TableRows,))
def read(report: Report) -> Iterator[TableRows]:
    """Yield one fact per row that names its table."""
    yield from ROWS.read(report)


def counted(row: Row, table: Table) -> Iterator[TableRows | str]:
    """The rows of one table, or what is wrong with the line; nothing of one that is cut short."""
    name, index = row.get(*NAMES), number(row.get("indid"))
    if not row.whole:
        return
    if not name or name.upper() == "NULL":
        yield f"the table of this row is not named: {REMEDY}"
        return
    yield TableRows(
        database=row.get("DBName", "Database", "db_name", "db") or None,
        table=name,
        index_id=int(index) if index is not None else 0,
        rows=reading(row.get("rowcnt", "rowcount")),
        forwarded=reading(row.get("forwrowcnt")),
        deleted=reading(row.get("delrowcnt")),
        pages=reading(row.get("pagecnt")),
        empty_pages=reading(row.get("emptypgcnt")),
    )


ROWS = Listing(heading=HEADING, row=counted, stop=STOP, remedy="export it again in full (isql -w 1000)", no_rows="")
