"""SHOW LOGICAL of the names by which Oracle Rdb is set for a process, a job, a group or a node (RDMS$BIND_…).

Sample (DCL)::

    $ SHOW LOGICAL RDMS$BIND_PRESTART_TXN
       "RDMS$BIND_PRESTART_TXN" = "1" (LNM$PROCESS_TABLE)
    $ SHOW LOGICAL RDM$BIND_STATS_ENABLE
    %SHOW-S-NOTRAN, no translation for logical name RDM$BIND_STATS_ENABLE

With a pattern (`SHOW LOGICAL RDMS$BIND*`) the tables that are searched stand above their names, each in brackets on a
line of its own. Of several tables the first one that is printed is searched first, and holds for the process that lists
it; what another process defines for itself is not in its listing. Each definition is read with its table.
"""

import re
from collections.abc import Iterator

from collectors.facts.rdb import LogicalName
from collectors.registry import Report, report

BIND = r"RDMS?\$BIND_[A-Z0-9_$]{1,40}"
DEFINED = re.compile(
    rf'\s{{0,8}}"(?P<name>{BIND})"(?:\s\[(?P<mode>[a-z,]{{1,40}})\])?\s{{1,8}}=\s{{1,8}}"(?P<value>[^"]{{0,255}})"'
    r"(?:\s\[[a-z,]{1,40}\])?(?:\s{1,8}\((?P<table>[A-Z0-9_$]{1,31})\))?\s*$",
    re.IGNORECASE,
)
NONE = re.compile(
    rf"\s{{0,8}}%SHOW-[A-Z]-NOTRAN, no translation for logical name \"?(?P<name>{BIND})\"?\s*$", re.IGNORECASE
)
COMMAND = re.compile(
    r"\s{0,8}\$?\s{0,8}SHOW\s{1,8}LOG\w{0,5}(?:/\w{1,12}(?:=[\w$]{1,31})?){0,3}\s{1,8}\"?RDM(?:S?\$|S?\*)",
    re.IGNORECASE,
)
TABLE = re.compile(r"\s{0,8}\((?P<table>LNM\$[A-Z0-9_$]{1,27})\)(?:\s{1,16}\[[a-z,]{1,40}\]){0,3}\s*$", re.IGNORECASE)
"""SHOW LOGICAL/FULL has the mode and the attributes of the table behind its name."""
OTHER = re.compile(r'\s{0,8}"RDMS?\$[A-Z0-9_$]{1,40}"(?:\s\[[a-z,]{1,40}\])?\s{1,8}=\s{1,8}"', re.IGNORECASE)
"""A name of Rdb's that sets nothing of these (where its monitor or its debugger writes, say)."""
START = re.compile(
    rf'{COMMAND.pattern}|\s{{0,8}}"{BIND}"\s{{1,8}}(?:\[[a-z,]{{1,40}}\]\s{{1,8}})?='
    rf"|\s{{0,8}}%SHOW-[A-Z]-NOTRAN, no translation for logical name \"?{BIND}",
    re.IGNORECASE,
)


@report(starts=START, provides=(LogicalName,))
def read(report: Report) -> Iterator[LogicalName]:
    """Yield each definition in the order of search, or that a name is not defined."""
    for _ in report.every(COMMAND):
        continue
    above: str | None = None
    for index, line in enumerate(report.lines):
        if heading := TABLE.match(line):
            above = heading["table"].upper()
            report.claim(index)
            continue
        found, none = DEFINED.match(line), NONE.match(line)
        match = found or none
        if match is None:
            if OTHER.match(line):
                report.claim(index)
            continue
        report.claim(index)
        yield LogicalName(
            source=report.source(index),
            name=match["name"].upper(),
            value=found["value"].strip() if found else None,
            table=found["table"].upper() if found and found["table"] else above if found else None,
            mode=found["mode"].lower() if found and found["mode"] else None,
        )
