"""Lock Management (ase-formats.md 1.9 [R]): summary, the three hash tables, and each lock type.

Where a lock type was never asked for, only its total is printed::

    Shared Table
      Total SH-Table Requests           0.0           0.0           0       n/a

There nothing was granted and nothing waited: zero. Without the total a missing row is only missing: the report may be
cut there.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase.sysmon import LockHashtable, LockRequests, LockSummary
from collectors.facts.ase.sysmon_detail import LockEvents
from collectors.reports.ase.sp_sysmon.forms import COUNT, PER_SECOND, PERCENT, Cell, Form, left_out
from collectors.reports.ase.sp_sysmon.page import Block, Section

HASHTABLES = {
    "table lock hashtable": "table",
    "table & partition lock hashtable": "table",
    "page & row lock hashtable": "page and row",
    "address lock hashtable": "address",
}
EVENTS = {
    "Deadlocks by Lock Type": "deadlock",
    "Lock Promotions": "promotion",
    "Lock Timeouts by Lock Type": "timeout",
}
LOCK_TYPE = re.compile(r"(Exclusive|Shared|Update) ([A-Z][A-Za-z ]{2,40})|Next-Key|Last Page Locks on Heaps")
TOTAL = re.compile(r"Total (?:EX-|UP-|SH-|Next-Key|Last Pg)")
SHORT = {"Partition Intent": "Ptn_Intent", "Covering Partition Intent": "CPtn_Intent"}
MODES = {"Exclusive": "EX", "Shared": "SH", "Update": "UP"}


def locks(section: Section) -> Iterator[Form]:
    """Everything about locks."""
    event = ""
    summary = past = False
    for block in section.blocks:
        if "Total Lock Requests" in block.rows or "Avg Lock Contention" in block.rows:
            if not summary:
                yield _summary(block)
            summary = True
        elif block.label.lower() in HASHTABLES:
            if block.rows:
                yield _hashtable(block)
        elif block.table or block.label in EVENTS or block.label == "Deadlock Detection":
            event = EVENTS.get(block.label, "")
            past = past or bool(event)
        elif not past and (name := LOCK_TYPE.fullmatch(block.label)) and (form := _requests(block, name)):
            yield form
        if event:
            for label, at in block.rows.items():
                yield Form(LockEvents, at, at, {"event": event, "kind": label}, {"count": (at, COUNT)})
                if label.startswith("Total "):
                    event = ""
                    break


def _summary(block: Block) -> Form:
    rows = block.rows
    requests, waited, deadlocks = map(rows.get, ("Total Lock Requests", "Avg Lock Contention", "Deadlock Percentage"))
    read = [at for at in (requests, waited, deadlocks) if at is not None]
    return Form(
        LockSummary,
        min(read),
        max(read),
        cells={
            "requests": (requests, COUNT),
            "requests_per_second": (requests, PER_SECOND),
            "waited": (waited, COUNT),
            "waited_percent": (waited, PERCENT),
            "deadlocks": (deadlocks, COUNT),
        },
    )


def _hashtable(block: Block) -> Form:
    lookups = block.rows.get("Lookups")
    return Form(
        LockHashtable,
        block.at,
        max(block.rows.values()),
        {"table": HASHTABLES[block.label.lower()]},
        {
            "lookups": (lookups, COUNT),
            "lookups_per_second": (lookups, PER_SECOND),
            "chain_length": (block.rows.get("Avg Chain Length"), COUNT),
            "contention_percent": (block.rows.get("Spinlock Contention"), PERCENT),
        },
    )


def _requests(block: Block, name: re.Match[str]) -> Form | None:
    printed, total = next(((label, at) for label, at in block.rows.items() if TOTAL.match(label)), ("", None))
    rows = {label: at for label, at in block.rows.items() if label in ("Granted", "Waited") and _before(at, total)}
    if not _is_total_of(name, printed):
        total = None
    granted, waited = rows.get("Granted"), rows.get("Waited")
    read = [at for at in (granted, waited, total) if at is not None]
    if not read:
        return None
    return Form(
        LockRequests,
        block.at,
        max(read),
        {"lock_type": block.label},
        {
            "granted": (granted, COUNT),
            "waited": (waited, COUNT),
            "waited_percent": (waited, PERCENT),
            "total": (total, COUNT),
        },
        {
            field: left_out(None, Cell(total, COUNT))
            for field, at in (("granted", granted), ("waited", waited))
            if at is None
        },
    )


def _before(at: int, total: int | None) -> bool:
    """Whether a row belongs to this type: below its total another one begins, even if its heading is lost."""
    return total is None or at < total


def _is_total_of(name: re.Match[str], label: str) -> bool:
    """Whether `Total EX-Page Requests` is the total of `Exclusive Page`."""
    if name[1]:
        return label.startswith(f"Total {MODES[name[1]]}-{SHORT.get(name[2], name[2])} ")
    return label.startswith(f"Total {name[0][:8]}") or (name[0].startswith("Last") and "Last Pg" in label)
