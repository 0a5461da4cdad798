"""What the server keeps of each table's rows (`systabstats`)."""

from dataclasses import dataclass
from typing import ClassVar

from collectors.facts.base import ABSENT, Fact, Reading


@dataclass(frozen=True, kw_only=True)
class TableRows(Fact):
    """Rows of one table, those that were forwarded and leave a pointer in their old place, and what deletes left."""

    COLLECTED_BY: ClassVar[str] = (
        "select db_name() DBName, object_name(id) name, indid, rowcnt, forwrowcnt, delrowcnt, pagecnt, emptypgcnt from "
        "systabstats where forwrowcnt > 0 or emptypgcnt > 0 /* in each database */"
    )

    database: str | None = None
    table: str
    index_id: int = 0
    rows: Reading = ABSENT
    forwarded: Reading = ABSENT
    deleted: Reading = ABSENT
    """Rows that were deleted and still take their place."""
    pages: Reading = ABSENT
    empty_pages: Reading = ABSENT
    """Of the pages, those without a row that are still allocated."""
    row_bytes: Reading = ABSENT
    """Of a row on average (`datarowsize`)."""
