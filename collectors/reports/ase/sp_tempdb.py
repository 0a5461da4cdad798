"""Temporary databases and their groups (`sp_tempdb "show"`).

As isql prints it; the first table lists the groups alone, others who is bound to what::

     Tempdb Groups
     -------------
     default

     Database    GroupName
     ----------- ---------
     tempdb      default
     tempdb_load default
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import TemporaryDatabase
from collectors.registry import Report, report
from collectors.tables import Listing, columns

GROUPS = re.compile(r"^\W{0,40}(?:Tempdb|Temporary Database) Groups\W{0,300}$", re.IGNORECASE)
MEMBERS = re.compile(r"\bDatabase\W{1,300}Group_?Name\b", re.IGNORECASE)
BOUND = re.compile(r"^\W{0,40}(?:Login|Application)\W{1,300}Group\W{1,300}Database\b", re.IGNORECASE)
HEADING = re.compile("|".join(one.pattern for one in (GROUPS, MEMBERS, BOUND)), re.IGNORECASE)
DATABASES = Listing(
    heading=HEADING,
    used=MEMBERS,
    row=columns(TemporaryDatabase, name=(str, "Database"), group=(str, "GroupName")),
    stop=re.compile(rf"\W{{0,40}}(?:{HEADING.pattern})|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE),
    remedy="export it again in full (isql -w 1000)",
    no_rows="",
)


@report(starts=HEADING, provides=(TemporaryDatabase,))
def read(report: Report) -> Iterator[TemporaryDatabase]:
    """Yield one fact for each database of a group."""
    yield from DATABASES.read(report)
