"""How many engines are online, counted (`select count(*) from master..monEngine where Status = "online"`).

The heading is blank, or a name that the asker chose; the echoed question says what it is::

    1> select engines_online = count(*) from master..monEngine where Status = "online"
    2> go
     engines_online
     --------------
                 16

Without the question a heading `engines_online` alone is taken for it. A count of all rows has engines that are offline,
too, and is not read.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import EnginesOnline
from collectors.registry import NotThisReport, Report, report

ASKED = re.compile(
    r"\bselect\b.{0,80}\bcount\s{0,3}\(.{1,20}\).{0,60}\bfrom\b.{0,20}\bmonEngine\b.{0,40}\bstatus\b.{0,9}\bonline\b",
    re.IGNORECASE,
)
HEADING = re.compile(r"[\s|]{0,9}engines_?online[\s|]{0,60}$", re.IGNORECASE)
RULE = re.compile(r"[\s|+]{0,9}-{3,300}[\s|+]{0,9}$")
COUNT = re.compile(r"[\s|]{0,300}(?P<count>[0-9]{1,4})[\s|]{0,60}$")
BELOW = 6
"""Lines from the question or the heading down to the rule of dashes, at most."""


@report(starts=re.compile(f"{ASKED.pattern}|{HEADING.pattern}", re.IGNORECASE), provides=(EnginesOnline,))
def read(report: Report) -> Iterator[EnginesOnline]:
    """Yield one fact for each count that has an answer."""
    last = 0
    lines = report.lines
    for index, line in enumerate(lines):
        if index < last or not (ASKED.search(line) or HEADING.match(line)):
            continue
        rule = next((at for at in range(index + 1, min(index + BELOW, len(lines) - 1)) if RULE.match(lines[at])), None)
        said = COUNT.match(lines[rule + 1]) if rule is not None else None
        if rule is None or said is None:
            continue
        last = rule + 1
        report.claim(index, last)
        yield EnginesOnline(source=report.source(last), engines=float(said["count"]))
    if not last:
        raise NotThisReport
