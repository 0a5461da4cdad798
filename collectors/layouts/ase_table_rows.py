"""A row of `systabstats`: the rows of a table, by itself or beside the lock schemes of tables."""

from collections.abc import Iterator

from collectors.facts.ase import TableRows
from collectors.layouts.figures import number, reading
from collectors.layouts.tables import Row, Table

NAMES = ("name", "ObjectName", "TableName", "object_name", "table")
REMEDY = "select object_name(id) name beside it"


def counted(
    row: Row, table: Table, deleted: str = "delrowcnt", pages: str = "pagecnt", empty_pages: str = "emptypgcnt"
) -> Iterator[TableRows | str]:
    """The rows of one table, or what is wrong with the line; nothing of one that is cut short."""
    name, index = row.get(*NAMES), number(row.get("indid", "IndexID"))
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
        deleted=reading(row.get(deleted)),
        pages=reading(row.get(pages)),
        empty_pages=reading(row.get(empty_pages)),
        row_bytes=reading(row.get("datarowsize", "avg_datarowsize")),
    )
