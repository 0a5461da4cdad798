"""What holds the log of each database: its oldest transaction, and its replication (`syslogshold` of master).

12.0 and later; the columns are those that were selected, in any order::

     dbid   spid   page     xactid         starttime            name
     ------ ------ -------- -------------- -------------------- -----------------------------
          6     44   802233 0x0018800f0012  Mar 12 2024  9:58AM $user_transaction
          6      0   801200 0x000000000000  Mar 12 2024  4:40AM $replication_truncation_point

A `spid` of 0 is the truncation point of Replication Server, with the time at which it was set (vendor: Reference
Manual: Tables 15.7). An empty listing is one, too: no transaction was open.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import LogHolder
from collectors.layouts.dates import moment
from collectors.layouts.figures import number, reading
from collectors.registry import Report, report
from collectors.tables import Listing, columns

HEADING = re.compile(
    r"^(?!.{0,400}\bselect\b)(?=.{0,400}\bspid\b)(?:.{0,400}\b(?:master)?xactid\b"
    r"|(?=.{0,400}\bname\b).{0,400}\bstarttime\b)",
    re.IGNORECASE,
)
STOP = re.compile(rf"{HEADING.pattern}|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE)


@report(starts=HEADING, provides=(LogHolder,))
def read(report: Report) -> Iterator[LogHolder]:
    """Yield one fact per row."""
    yield from HOLDERS.read(report)


def _whole(text: str) -> int | None:
    found = number(text)
    return int(found) if found is not None and found == int(found) else None


def _word(text: str) -> str | None:
    return text if text and text.upper() != "NULL" else None


HOLDERS = Listing(
    heading=HEADING,
    row=columns(
        LogHolder,
        db_id=(_whole, "dbid"),
        database=(_word, "dbname"),
        spid=(_whole, "spid"),
        page=(reading, "page"),
        started=(moment, "starttime"),
        name=(_word, "name"),
    ),
    stop=STOP,
    remedy="export it again in full (isql -w 1000)",
    no_rows="",
)
