"""Which pieces of devices a database has, and whether its log shares them with data (`sp_helpdb <database>`)::

     name db_size       owner dbid created      status
     ---- ------------- ----- ---- ------------ --------------------
     acct     4000.0 MB sa       5 Jan 10, 2011 mixed log and data

     device_fragments               size          usage                created                   free kbytes
     ------------------------------ ------------- -------------------- ------------------------- ----------------
     data01                             4000.0 MB data and log         Jan 10 2011  9:12AM                  800000

* The pieces do not say whose they are: the table of one database above them does, or where that was left out, the
  command (`sp_helpdb acct`), or the name of a file that holds one listing (`sp_helpdb_acct.txt`). Where several are
  listed, or nothing says it, that is a problem with a remedy.
* Usage `data only`, `log only` and `data and log` become the bits of `sysusages`; any other (`unused by any segments`)
  is no fact.
* A database whose status says `user created temp db` is a temporary one. `no_recovery` says so of none: in-memory
  databases have it, too.
* `sp_helpdb` without a name lists databases alone: `mixed log and data` in their status is all it says, and is kept.
* The table of segments below says no more and is passed over.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import DatabaseFragment, TemporaryDatabase
from collectors.layouts.tables import Row
from collectors.registry import NotThisReport, Report, name_of, report
from collectors.tables import DAMAGED, Listing, claim

NAMED = re.compile(r"\bname\W{1,300}db_size\W{1,80}owner\W{1,300}dbid\b", re.IGNORECASE)
PIECES = re.compile(r"\bdevice_fragments\W{1,300}size\W{1,80}usage\b", re.IGNORECASE)
SEGMENTS = re.compile(r"\bdevice\W{1,300}segment\b", re.IGNORECASE)
START = re.compile(f"{NAMED.pattern}|{PIECES.pattern}", re.IGNORECASE)
STOP = re.compile(rf"\W{{0,40}}(?:{START.pattern}|{SEGMENTS.pattern})|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE)
ASKED = re.compile(
    r"\W{0,9}(?:[0-9]{1,4}>\s*)?(?:exec(?:ute)?\s+)?sp_helpdb\s+[\"'\[]?(?P<database>[\w#$]{1,255})", re.IGNORECASE
)
ABOVE = 12
"""Lines in which the call stands above what it prints, with other answers of few lines between (this project)."""
DATA = 3
"""System and default segment (vendor: System Administration Guide 2, 16.0, "The sysusages Table")."""
USAGES = {
    "data only": DATA,
    "log only": DatabaseFragment.LOG,
    "data and log": DatabaseFragment.DATA_AND_LOG,
}
TEMPORARY = re.compile(r"\buser[ -]created (?:enhanced performance )?temp(?:orary)? (?:db|database)\b", re.IGNORECASE)
MIXED = re.compile(r"\bmixed log and data\b", re.IGNORECASE)
PIECE = re.compile(
    r"\s*(?P<device>\S.{0,200}?)\s+(?P<size>[0-9.*]{1,20}\s*[KMG]B)\s+(?P<usage>data only|log only|data and log)\b",
    re.IGNORECASE,
)
NO_PIECES = "says nothing of the devices of {0}: `sp_helpdb {0}` prints its pieces (device_fragments)"
"""Of a listing of databases none of which mixes log and data, which is all that it tells."""
REMEDY = "export it again in full (isql -w 1000), one database at a time"


FILES = re.compile(
    r"^sp_helpdb[ _.-](?!(?:all|out|output|full|list|databases?|dbs)\.)(?P<database>[\w#$]{1,255})"
    r"\.(?:txt|out|lst|log)$",
    re.IGNORECASE,
)


@report(starts=START, provides=(DatabaseFragment, TemporaryDatabase))
def read(report: Report) -> Iterator[DatabaseFragment | TemporaryDatabase]:
    """Yield one fact for each piece of each database, and for each that is said to be mixed."""
    named: list[tuple[str, int]] = []
    found = told = False
    listed = 0
    file = FILES.match(name_of(report.file))
    alone = sum(bool(START.search(line)) for line in report.lines) == 1
    of_file = file["database"] if file and alone else None
    for heading, table in TABLES.tables(report):
        found = True
        claim(report, table)
        if not table.has("device_fragments") and not table.has("db_size"):
            continue
        if table.has("db_size"):
            named, listed = [], heading
        for row in table.rows:
            where = report.source(row.first, row.last)
            if table.has("device_fragments"):
                usage, asked = _usage(row), None if named else _asked(report, heading) or of_file
                told = True
                if usage is not None and (len(named) == 1 or asked):
                    (name, number), device = named[0] if named else (asked, None), row.get("device_fragments") or None
                    yield DatabaseFragment(database=name, db_id=number, segments=usage, device=device, source=where)
                elif usage is not None:
                    report.problem(f"whose piece this is, is not in the table above it: {REMEDY}", row.first)
            elif known := _named(row):
                named.append(known)
                if TEMPORARY.search(row.text):
                    yield TemporaryDatabase(name=known[0], source=where)
                if MIXED.search(row.text):
                    both, told = DatabaseFragment.DATA_AND_LOG, True
                    yield DatabaseFragment(database=known[0], db_id=known[1], segments=both, source=where)
            else:
                report.problem(f"{DAMAGED}: {REMEDY}", row.first)
    if not found:
        raise NotThisReport
    if named and not told:
        report.problem(NO_PIECES.format(named[0][0]), listed)


def _asked(report: Report, heading: int) -> str | None:
    """The database of the command above the pieces, where none of another table stands between."""
    for line in reversed(report.over(heading, ABOVE)):
        if found := ASKED.match(line):
            return found["database"]
        if START.search(line):
            return None
    return None


def _named(row: Row) -> tuple[str, int] | None:
    """Name and number of a database; `None` where a row is cut before them."""
    name, number = row.get("name"), row.get("dbid")
    return (name, int(number)) if name and number.isascii() and number.isdigit() else None


def _usage(row: Row) -> int | None:
    """The bits of `sysusages` for what a piece is used for; `None` for any other use."""
    found = PIECE.match(row.text[:600])
    return USAGES.get((found["usage"] if found else row.get("usage")).lower())


HEADING = re.compile(f"{START.pattern}|{SEGMENTS.pattern}", re.IGNORECASE)
TABLES: Listing[DatabaseFragment] = Listing(heading=HEADING, row=lambda row, table: (), stop=STOP, remedy=REMEDY)
"""Only cut into tables by it: whose a piece is, stands in another table."""
