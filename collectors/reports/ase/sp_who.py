"""Processes at this moment and who blocks them (`sp_who`).

Every release has it, with monitoring tables or without.

12.0 and later; older releases have no `origname` and `block_xloid`, later ones add `tempdbname` and `threadpool`::

     fid spid status     loginame origname hostname blk_spid dbname cmd              block_xloid
     --- ---- ---------- -------- -------- -------- -------- ------ ---------------- -----------
       0   44 recv sleep tills    tills    till07   0        claims AWAITING COMMAND           0
       0   50 lock sleep tills    tills    till10   44       claims SELECT                    88

The fact is that of `monProcess`, without times, wait events and the program, none of which is printed. `status` says
only whether a process runs or for what it sleeps, so no wait event is made of it. A `blk_spid` of 0: nobody blocks it.
Columns that sp_who does not print show that rows of `sysprocesses` follow.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import MonProcess
from collectors.layouts.figures import number
from collectors.layouts.tables import Row, Table
from collectors.registry import Report, report
from collectors.tables import Listing

HEADING = re.compile(
    r"^(?!.{0,400}\b(?:select|blocked|time_blocked|tran_name|program_name|hostprocess|enginenum)\b)"
    r"\W{0,40}(?:fid\W{1,40})?spid\W{1,40}status\W{1,60}loginame\b",
    re.IGNORECASE,
)
STOP = re.compile(rf"{HEADING.pattern}|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE)
REMEDY = "export it again in full (isql -w 1000)"


@report(starts=HEADING, provides=(MonProcess,))
def read(report: Report) -> Iterator[MonProcess]:
    """Yield one fact per process."""
    yield from PROCESSES.read(report)


def _process(row: Row, table: Table) -> Iterator[MonProcess]:
    spid, by = _whole(row.get("spid")), _whole(row.get("blk_spid") or row.get("blk"))
    if spid is None or by is None or not row.whole:
        return
    yield MonProcess(
        spid=spid,
        family=_whole(row.get("fid")),
        login=_word(row.get("loginame")),
        host=_word(row.get("hostname")),
        command=_word(row.get("cmd")),
        database=_word(row.get("dbname")),
        status=_word(row.get("status")),
        blocking_spid=by,
    )


def _whole(text: str) -> int | None:
    found = number(text)
    return int(found) if found is not None and found == int(found) else None


def _word(text: str) -> str | None:
    return text if text and text.upper() != "NULL" else None


PROCESSES = Listing(heading=HEADING, row=_process, stop=STOP, remedy=REMEDY)
