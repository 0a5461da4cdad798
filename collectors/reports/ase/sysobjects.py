"""Names of objects by their numbers (`sysobjects` of a database).

As isql prints it; the database stands in the question that it echoes, or in a column of its own::

    1> select name, id from shop..sysobjects where id in (752002679, 784002793)
    2> go
     name                           id
     ------------------------------ -----------
     orders                           752002679

Without either, ids are of no use: each database has its own. A listing with lock schemes is `ase/lock_schemes`, one
with counts of rows `ase/systabstats`.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import ObjectId
from collectors.layouts.ase_catalog import SYSOBJECTS_ASKED, database_asked
from collectors.layouts.figures import number
from collectors.layouts.tables import Row, Table
from collectors.registry import NotThisReport, Report, report
from collectors.tables import Listing

NAMES = ("ObjectName", "TableName", "object_name", "table", "name")
IDS = ("ObjectID", "object_id", "table_id", "id")
DATABASE = ("DBName", "db_name", "Database", "db")
OWNER = ("OwnerName", "user_name", "Owner")
COLUMN = rf"(?:{'|'.join((*NAMES, *IDS, *DATABASE, *OWNER, 'type', 'uid'))})"
HEADING = re.compile(
    rf"^(?!.{{0,400}}\bselect\b)(?=.{{0,400}}\b(?:{'|'.join(NAMES)})\b)(?=.{{0,400}}\b(?:{'|'.join(IDS)})\b)",
    re.IGNORECASE,
)
TELLS = re.compile(
    rf"^(?=.{{0,400}}\b(?:{'|'.join(DATABASE)})\b)[\s|]{{0,40}}{COLUMN}(?:[\s|;,]{{1,300}}{COLUMN}){{1,5}}[\s|;,]{{0,300}}$",
    re.IGNORECASE,
)
"""A heading that needs no question above it: with any other column the listing is another's."""
START = re.compile(f"{SYSOBJECTS_ASKED.pattern}|{TELLS.pattern}", re.IGNORECASE)
STOP = re.compile(r"\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE)


@report(starts=START, provides=(ObjectId,))
def read(report: Report) -> Iterator[ObjectId]:
    """Yield one fact per object of a known database."""
    tables = 0
    for heading, table in LISTING.tables(report):
        database = database_asked(report.lines, heading)
        if database is None and not TELLS.match(report.lines[heading]):
            continue
        tables += 1
        for fact in LISTING.facts(report, table, heading):
            yield fact if fact.database else fact.placed(fact.source, database=database)
    if not tables:
        raise NotThisReport


def _rows(row: Row, table: Table) -> Iterator[ObjectId]:
    name, ident = row.get(*NAMES), number(row.get(*IDS))
    if row.whole and name and ident is not None:
        yield ObjectId(
            database=row.get(*DATABASE),
            owner=row.get(*OWNER) or None,
            table=name,
            object_id=int(ident),
        )


LISTING = Listing(heading=HEADING, row=_rows, stop=STOP, remedy="export it again in full (isql -w 1000)", no_rows="")
