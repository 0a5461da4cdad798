"""The name of one object by its number and the number of its database (`select object_name(<id>, <dbid>)`).

The numbers stand in the question alone, which isql echoes; the heading is blank, or a name that the asker chose::

    1> select object_name(640002280, 6)
    2> go

     ------------------------------
     p_close_month

A question without the number of the database says nothing: each database has its own ids.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import ObjectId
from collectors.registry import NotThisReport, Report, report

ASKED = re.compile(
    r"\s{0,9}(?:[0-9]{1,4}>\s{0,9})?select\s{1,9}(?:\w{1,60}\s{0,9}=\s{0,9})?object_name\s{0,9}"
    r"\(\s{0,9}(?P<id>[0-9]{1,10})\s{0,9},\s{0,9}(?P<db>[0-9]{1,5})\s{0,9}\)\s{0,9}(?:as\s{1,9})?\w{0,60}\s*$",
    re.IGNORECASE,
)
RULE = re.compile(r"\s{0,9}-{3,300}\s*$")
NAME = re.compile(r"\s{0,9}(?P<name>[A-Za-z_#][\w#$@]{0,254})\s*$")
BELOW = 8
"""Lines from the question down to the rule of dashes, at most."""


@report(starts=ASKED, provides=(ObjectId,))
def read(report: Report) -> Iterator[ObjectId]:
    """Yield one fact for each question that has an answer."""
    found = 0
    for index, line in enumerate(report.lines):
        asked = ASKED.match(line)
        below = range(index + 1, min(index + BELOW, len(report.lines) - 1)) if asked else ()
        rule = next((at for at in below if RULE.match(report.lines[at])), None)
        said = NAME.match(report.lines[rule + 1]) if rule is not None else None
        if not asked or rule is None or not said:
            continue
        found += 1
        report.claim(index, rule + 1)
        if said["name"].upper() != "NULL":  # nothing has that number now
            yield ObjectId(
                source=report.source(index, rule + 1),
                db_id=int(asked["db"]),
                table=said["name"],
                object_id=int(asked["id"]),
            )
    if not found:
        raise NotThisReport
