"""Up to where Replication Server got the log of a database (`dbcc gettrunc`).

Columns as newer releases call them; older ones say `ltm_truncpage` and `ltm_trunc_state` (vendor: Replication Server
Troubleshooting Guide 15.7.1). A state of 1: the server keeps the log for it::

     secondary_trunc_page secondary_trunc_state dbrepstat generation_id database_id database_name ltl_version
     -------------------- --------------------- --------- ------------- ----------- ------------- -----------
                   402211                     1       173             0           6 tickets               760
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import TruncationPoint
from collectors.layouts.figures import number, reading
from collectors.layouts.tables import Row, Table
from collectors.registry import Report, report
from collectors.tables import Listing

HEADING = re.compile(r"\b(?:secondary|ltm)_?trunc_?page\W{1,80}(?:secondary|ltm)_?trunc_?state\b", re.IGNORECASE)


@report(starts=HEADING, provides=(TruncationPoint,))
def read(report: Report) -> Iterator[TruncationPoint]:
    """Yield one fact per database."""
    yield from POINTS.read(report)


def _point(row: Row, table: Table) -> Iterator[TruncationPoint]:
    """One row; the name of a database may be the last column, and is needed."""
    name, of = row.get("database_name", "dbname", "db_name"), number(row.get("database_id", "dbid", "db_id"))
    state = number(row.get("secondary_trunc_state", "ltm_trunc_state"))
    if row.whole and name:
        yield TruncationPoint(
            database=name,
            db_id=None if of is None else int(of),
            page=reading(row.get("secondary_trunc_page", "ltm_truncpage")),
            valid=None if state is None else state == 1,
        )


POINTS = Listing(
    heading=HEADING,
    row=_point,
    stop=re.compile(rf"\W{{0,40}}(?:{HEADING.pattern})|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE),
    remedy="export it again in full (isql -w 1000)",
)
