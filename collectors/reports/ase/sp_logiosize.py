"""Log I/O size of a database (`sp_logiosize`, in the database).

Without an argument it prints one sentence; with one it says first what it set::

    Log I/O size is set to 16 Kbytes.
    The transaction log for database 'orders' will use I/O size of 16 Kbytes.

The second sentence is the one in force. Its listing of all databases (`sp_logiosize "all"`) is not read.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import LogIoSize
from collectors.registry import NotThisReport, Report, report

SAID = re.compile(
    r"\W{0,9}The transaction log for database '(?P<database>[^'\r\n]{1,255})' will use I/O size of "
    r"(?P<kilobytes>[0-9]{1,3}) Kbytes\b",
    re.IGNORECASE,
)
SET = re.compile(r"\W{0,9}Log I/O size is set to [0-9]{1,3} Kbytes\b", re.IGNORECASE)


@report(starts=re.compile(f"{SAID.pattern}|{SET.pattern}", re.IGNORECASE), provides=(LogIoSize,))
def read(report: Report) -> Iterator[LogIoSize]:
    """Yield one fact for each database that says its size."""
    found = False
    for index, line in enumerate(report.lines):
        if SET.match(line):
            report.claim(index, index)
        elif said := SAID.match(line):
            found = True
            report.claim(index, index)
            yield LogIoSize(
                source=report.source(index, index), database=said["database"], kilobytes=float(said["kilobytes"])
            )
    if not found:
        raise NotThisReport
