"""Whether the RepAgent of each database runs (`sp_help_rep_agent <database>, "process"`).

The title and `not running` are the vendor's (Replication Server Reference Manual 15.7), the order of the columns is
recalled; further ones, as of several paths, may stand between::

    Replication Agent Process status
     dbname  spid sleep_status retry_count last_error
     ------- ---- ------------ ----------- ----------
     tickets n/a  not running  0           0
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import RepAgentProcess
from collectors.registry import Report, report
from collectors.tables import Listing, columns

HEADING = re.compile(r"\bdb_?name\b.{0,200}\bsleep[_ ]status\b", re.IGNORECASE)
TITLE = re.compile(r"\s{0,9}Replication Agent Process status\s{0,200}$", re.IGNORECASE)
START = re.compile(f"{TITLE.pattern}|{HEADING.pattern}", re.IGNORECASE)
AGENTS = Listing(
    heading=HEADING,
    row=columns(
        RepAgentProcess,
        database=(str, "dbname"),
        status=(str.lower, "sleep_status"),
    ),
    stop=re.compile(rf"\W{{0,40}}(?:{HEADING.pattern})|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE),
    remarks=TITLE,
    remedy="export it again in full (isql -w 1000)",
    no_rows="",
)


@report(starts=START, provides=(RepAgentProcess,))
def read(report: Report) -> Iterator[RepAgentProcess]:
    """Yield one fact per RepAgent or path."""
    yield from AGENTS.read(report)
