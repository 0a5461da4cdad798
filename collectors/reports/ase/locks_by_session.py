"""Locks counted by session (a question of one's own that groups `syslocks` of master, or `monLocks`).

Which columns there are, and in which order, is the asker's; a number of locks and the session it is of are enough::

     spid   program_name     login      dbname     tab                locktype       locks
     ------ ---------------- ---------- ---------- ------------------ -------------- -----------
         77 YearEnd          batch      shop       orders             Ex_row               81204
         78 till             tills      shop       basket             Ex_row-request           3

A number that is called `n` alone counts locks where the question above asks `syslocks` or `monLocks`.

What is only asked for is no lock that is held, so such a row is left out. A listing with the number of a row or page is
one of single locks, and another's.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import SessionLocks
from collectors.facts.base import known
from collectors.layouts.figures import number, reading
from collectors.layouts.tables import Row, Table
from collectors.registry import NotThisReport, Report, report
from collectors.tables import Listing

COUNTS = ("locks", "lock_count", "locks_held", "num_locks", "nr_locks", "no_of_locks", "n_locks", "cnt", "count")
KINDS = ("locktype", "lock_type", "type")
BARE = ("n", "num", "nr", "total")
"""What a count of anything may be called."""
TABLES = ("tab", "obj", "table", "table_name", "tablename", "object", "object_name", "objectname", "objname")
HEADING = re.compile(
    r"^(?!.{0,400}\b(?:select|page|row|pagenumber|rownumber|locksheld|kpid|retry)\b)(?=.{0,400}\bspid\b)"
    rf"(?=.{{0,400}}\b(?:{'|'.join((*KINDS, *TABLES))}|program_name|login|dbname)\b)"
    rf".{{0,400}}\b(?:{'|'.join((*COUNTS, *BARE))})\b",
    re.IGNORECASE,
)
NAMED = re.compile(rf"\b(?:{'|'.join(COUNTS)})\b", re.IGNORECASE)
ASKS_LOCKS = re.compile(r"\b(?:syslocks|monLocks)\b", re.IGNORECASE)
SELECT = re.compile(r"\bselect\b", re.IGNORECASE)
ABOVE = 6
"""Lines above a heading among which its question is looked for."""
STOP = re.compile(rf"{HEADING.pattern}|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE)
ASKED_FOR = re.compile(r"-(?:request|demand)\b|\brequested\b", re.IGNORECASE)


@report(starts=HEADING, provides=(SessionLocks,), rank=1)
def read(report: Report) -> Iterator[SessionLocks]:
    """Yield one fact per row whose locks are held."""
    found = False
    for heading, table in LISTING.tables(report):
        question = _question([*report.before, *report.lines[:heading]][-ABOVE:])
        if not NAMED.search(report.lines[heading]) and not ASKS_LOCKS.search(question):
            continue
        found = True
        for fact in LISTING.facts(report, table, heading):
            if not ASKED_FOR.search(fact.lock_type or ""):
                yield fact
    if not found:
        raise NotThisReport


def _question(above: list[str]) -> str:
    """The last question of these lines, with what stands below it."""
    begins = [at for at, line in enumerate(above) if SELECT.search(line)]
    return " ".join(above[begins[-1] :]) if begins else ""


def _session(row: Row, table: Table) -> Iterator[SessionLocks]:
    spid, locks = number(row.get("spid")), reading(row.get(*COUNTS, *BARE))
    if spid is None or spid != int(spid) or not known(locks):
        return
    kind = _word(row.get(*KINDS))
    state = _word(row.get("lockstate", "state"))
    yield SessionLocks(
        spid=int(spid),
        locks=locks,
        lock_type=f"{kind or ''} {state}".strip() if state and ASKED_FOR.search(state) else kind,
        database=_word(row.get("dbname", "db_name", "database", "db")),
        table=_word(row.get(*TABLES)),
        login=_word(row.get("login", "loginame", "suser_name")),
        application=_word(row.get("program_name", "application")),
    )


def _word(text: str) -> str | None:
    return text if text and text.upper() != "NULL" else None


LISTING = Listing(heading=HEADING, row=_session, stop=STOP, remedy="export it again in full (isql -w 1000)", no_rows="")
