"""Processes at this moment, since when they are blocked, and their program (`select * from master..sysprocesses`).

Every release has it; the columns are those that were selected, in any order::

     spid   program_name hostname tran_name         time_blocked blocked
     ------ ------------ -------- ----------------- ------------ -------
         44 tillapp      till07   $user_transaction         NULL       0
         50 tillapp      till10   $upd                       912      44

The fact is that of `monProcess`, without wait events. `time_blocked` is the seconds that a process is blocked (vendor:
Reference Manual: Tables 15.7), so it is read of those that are blocked alone: of all others it says nothing. A
`blocked` of 0: nobody blocks it. `tran_name` is blank where no transaction is open, and as the last column it may lack.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import MonProcess
from collectors.facts.base import ABSENT
from collectors.layouts.figures import number, reading
from collectors.layouts.tables import Row, Table, key
from collectors.registry import Report, report
from collectors.tables import Listing

HEADING = re.compile(
    r"^(?!.{0,400}\b(?:select|starttime|xactid|locktype|locks)\b)(?=.{0,400}\bspid\b)"
    r"(?:.{0,400}\b(?:time_blocked|tran_name|program_name|hostprocess|enginenum)\b"
    r"|(?!.{0,400}\b(?:fid|blk_spid|blk)\b)(?=.{0,400}\bstatus\b).{0,400}\bcmd\b)",
    re.IGNORECASE,
)
STOP = re.compile(rf"{HEADING.pattern}|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE)
REMEDY = "export it again in full (isql -w 1000)"


@report(starts=HEADING, provides=(MonProcess,))
def read(report: Report) -> Iterator[MonProcess]:
    """Yield one fact per process."""
    yield from PROCESSES.read(report)


def _process(row: Row, table: Table) -> Iterator[MonProcess]:
    spid, by = _whole(row.get("spid")), _whole(row.get("blocked"))
    if spid is None or not (row.whole or _has_no_transaction(row, table)):
        return
    yield MonProcess(
        spid=spid,
        kpid=_whole(row.get("kpid")),
        family=_whole(row.get("fid")),
        login=_word(row.get("loginame", "login", "suser_name")),
        application=_word(row.get("program_name")),
        host=_word(row.get("hostname")),
        command=_word(row.get("cmd")),
        database=_word(row.get("dbname", "db_name", "database")),
        transaction=_word(row.get("tran_name")),
        status=_word(row.get("status")),
        seconds_waiting=reading(row.get("time_blocked")) if by else ABSENT,
        blocking_spid=by,
    )


def _has_no_transaction(row: Row, table: Table) -> bool:
    """Whether the last column is the name of the transaction and all before it have a value: blank, it has none."""
    *before, last = map(key, table.columns)
    return last == key("tran_name") and all(row.cells.get(name) for name in before)


def _whole(text: str) -> int | None:
    found = number(text)
    return int(found) if found is not None and found == int(found) else None


def _word(text: str) -> str | None:
    return text if text and text.upper() != "NULL" else None


PROCESSES = Listing(heading=HEADING, row=_process, stop=STOP, remedy=REMEDY, no_rows="")
