"""Locks held at this moment, by process (`sp_lock`).

12.5 and later; older releases, and samples of the manuals, have no `loid`, `row` or `class`::

     fid    spid   loid        locktype         table_id    page        row    dbname    class            context
     ------ ------ ----------- ---------------- ----------- ----------- ------ --------- ---------------- ---------
          0     27          54 Ex_intent          624002223           0      0 orders    Non Cursor Lock
          0     27          54 Ex_row-blk         624002223        8214      3 orders    Non Cursor Lock  Ind pg

Also read: wrapped lines (it always wraps at 80 columns), boxes, CSV and TSV.

* `-blk`: this lock blocks another process. `-demand`, `-request`: it is asked for and not held yet (the manual speaks
  of demand; request is recalled). A lock without such a word is held and blocks nobody.
* An intent lock is a lock on its table. The page of a table lock is printed as 0, which is not page 0: absent then.
* `class` and `context` hold blanks. `NULL` and an empty context are `None`.
* With `@verbose` the table stands by name (`orders..item`) where else its id stands.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import HeldLock
from collectors.facts.base import ABSENT
from collectors.layouts.figures import number, reading
from collectors.layouts.tables import Row, Table
from collectors.registry import Report, report
from collectors.tables import Listing

HEADING = re.compile(r"\bspid\W{1,40}(?:loid\W{1,40})?locktype\b", re.IGNORECASE)
STOP = re.compile(rf"\W{{0,40}}(?:fid\W{{1,40}})?(?:{HEADING.pattern})|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE)
REMARK = re.compile(r"\s*The class column will display the cursor name\b", re.IGNORECASE)
REMARKS = re.compile(rf"{REMARK.pattern}|.{{0,60}}\bcursor id for other\b|\s*users\.\s*$", re.IGNORECASE)
LOCK = re.compile(
    r"(?P<mode>Ex|Sh|Update|Up)_(?P<on>page|row|table|intent|address)(?P<state>(?:-[a-z]{2,12}){0,3})", re.IGNORECASE
)
COLLAPSED = re.compile(
    r"\s*(?:(?P<fid>[0-9]{1,9})\s+)?(?P<spid>[0-9]{1,9})\s+(?:(?P<loid>[0-9]{1,12})\s+)?(?P<lock>[A-Z][a-z]+_[a-z-]+)"
    r"\s+(?P<table>[0-9]{1,12})\s+(?P<page>-?[0-9]{1,12})\s+(?:(?P<row>-?[0-9]{1,9})\s+)?(?P<db>\S{1,64})\s.*",
    re.IGNORECASE,
)
"""A row whose blanks were lost: read up to the database, what follows has blanks of its own."""
NO_CURSOR = re.compile(r"Non Cursor Lock.{0,20}", re.IGNORECASE)
ASKED_FOR = ("request", "demand")
REMEDY = "export it again in full (isql -w 1000)"


@report(starts=HEADING, provides=(HeldLock,))
def read(report: Report) -> Iterator[HeldLock]:
    """Yield one fact per lock; that nobody holds one is no problem."""
    yield from LOCKS.read(report)
    _claim_remark_above(report)


def _claim_remark_above(report: Report) -> None:
    """The message above the first table says nothing of the locks."""
    above = list(report.before)
    while above and not above[-1].strip():
        above.pop()
    lines = 0
    while lines < 2 and above and REMARKS.match(above[-1]):
        lines = len(report.before) - len(above) + 1
        if REMARK.match(above.pop()):
            break
    report.above = lines


def _lock(row: Row, table: Table) -> Iterator[HeldLock | str]:
    cells = _cells(row)
    found = LOCK.fullmatch(cells.get("locktype", ""))
    if not found:
        return
    states = [state for state in found["state"].lower().split("-") if state]
    if any(state not in (*ASKED_FOR, "blk") for state in states):
        yield f"the lock type `{found[0]}` has a state that is not known: taken as held"
    on = found["on"].lower()
    on_table = on in ("table", "intent")
    table_id = cells.get("tableid", "")
    name = next((cells[key] for key in ("object", "objectname", "tablename") if cells.get(key)), None)
    if name is None and table_id and number(table_id) is None:
        name = table_id
    yield HeldLock(
        spid=_whole(cells.get("spid", "")),
        database=_word(cells.get("dbname", "")),
        object_id=_whole(table_id),
        object_name=name,
        lock_type=f"{found['mode']}_{found['on']}",
        level="table" if on_table else on,
        waiting=any(state in ASKED_FOR for state in states),
        blocking="blk" in states,
        page=ABSENT if on_table else reading(cells.get("page", "")),
        row=reading(cells.get("row", "")) if on == "row" else ABSENT,
        context=_word(cells.get("context", "")),
        cursor=None if NO_CURSOR.fullmatch(cells.get("class", "")) else _word(cells.get("class", "")),
    )


def _cells(row: Row) -> dict[str, str]:
    """The cells of a row by column; of one whose blanks were lost, those that can be told."""
    if row.cells and LOCK.fullmatch(row.get("locktype")) and row.get("dbname") and _whole(row.get("spid")) is not None:
        return row.cells
    found = COLLAPSED.fullmatch(row.text[:600])
    if not found:
        return {}
    names = {"spid": "spid", "locktype": "lock", "tableid": "table", "page": "page", "row": "row", "dbname": "db"}
    return {column: found[part] or "" for column, part in names.items()}


def _whole(text: str) -> int | None:
    found = number(text)
    return int(found) if found is not None and found == int(found) else None


def _word(text: str) -> str | None:
    return text if text and text.upper() != "NULL" else None


LOCKS = Listing(heading=HEADING, row=_lock, stop=STOP, remarks=REMARKS, remedy=REMEDY, no_rows="")
