"""Tasks, transactions, descriptors, procedure cache, devices, packets (ase-formats.md 1.6 to 1.8 and 1.11 [R]).

Transaction Detail of 15.7 and later has one level more than before::

    Inserts
      Fully Logged
        APL Heap Table                 74.6         447.3        8946      92.8 %

An operation without any rows prints only its total. Metadata counts stand in the count column, spinlocks in the %
column. A device is three lines: `Device:`, its path, and its name beside the column headings (12.5 [?]: two).
"""

import re
from collections.abc import Iterator, Sequence

from collectors.facts.ase.sysmon import MetadataCache, MetadataSpinlock, RowsChanged, TaskSwitches
from collectors.facts.ase.sysmon_detail import (
    DelayedIO,
    DeviceActivity,
    LargestLogCache,
    LogWrites,
    PacketsSent,
    ProcedureCacheActivity,
    Recompilations,
    RowsAffected,
    SemaphoreRequests,
    UserLogCacheFlushes,
    WorkerRequests,
)
from collectors.reports.ase.sp_sysmon.forms import COUNT, PER_SECOND, PERCENT, Cell, Form, added, left_out
from collectors.reports.ase.sp_sysmon.page import Block, Section

DUE_TO = re.compile(r"T(?:ask|ext) Context Switches Due To:?")
"""`Text` is a misprint of the manual's."""
OPERATIONS = ("Inserts", "Updates", "Deletes")
PART_OF_UPDATES = "Data Only Locked Updates"
TOTALS = {
    "Total Rows Inserted": "Inserts",
    "Total Rows Updated": "Updates",
    "Total DOL Rows Updated": PART_OF_UPDATES,
    "Total Rows Deleted": "Deletes",
    "Total Rows Selected": "Selects",
    "Total Rows Affected": "All",
}
USAGE = re.compile(r"Open (Object|Index|Partition|Database) Usage")
SPINLOCK = " Spinlock Contention"
FLUSHES, FLUSHED = "ULC Flushes to Xact Log", "Total ULC Flushes"
LOGGING = re.compile(r"(?:Any Logging Mode|Fully Logged|Minimally Logged) DMLs")
SEMAPHORES = {"ULC Semaphore Requests": "ULC", "Log Semaphore Requests": "Log"}
LARGEST = "Max ULC Size During Sample"
LOG_WRITES, LOG_PAGES, PER_PAGE = "Transaction Log Writes", "Transaction Log Alloc", "Avg # Writes per Log Page"
DESCRIPTORS = {
    "Active": "active",
    "Max Ever Used Since Boot": "max_used",
    "Free": "free",
    "Succeeded": "reuse_succeeded",
    "Failed": "reuse_failed",
}
PROCEDURES = {
    "Procedure Requests": "requests",
    "Procedure Reads from Disk": "reads_from_disk",
    "Procedure Writes to Disk": "writes_to_disk",
    "Procedure Removals": "removals",
    "Procedure Recompilations": "recompilations",
    "Statements Cached": "statements_cached",
    "Statements Found in Cache": "statements_found",
    "Statements Not Found": "statements_not_found",
    "Statements Dropped": "statements_dropped",
}
RECOMPILED = re.compile(r"Recompilations? (Requests|Reasons):?")
SENT, SENT_EACH = "Total TDS Packets Sent", "Avg Bytes Sent per Packet"
OUTSTANDING, DELAYED, REQUESTED = "Max Outstanding I/Os", "I/Os Delayed by", "Total Requested Disk I/Os"
DELAYS = ("Disk I/O Structures", "Server Config Limit", "Engine Config Limit", "Operating System Limit")
IO = {"Non-APF": "reads", "APF": "reads_apf", "Writes": "writes"}


def tasks(section: Section) -> Iterator[Form]:
    """Task switches, cause by cause."""
    for block in section.blocks:
        if DUE_TO.fullmatch(block.label):
            for label, at in block.rows.items():
                cells = {"per_second": (at, PER_SECOND), "count": (at, COUNT), "percent": (at, PERCENT)}
                yield Form(TaskSwitches, at, at, {"cause": label}, cells)


def workers(section: Section) -> Iterator[Form]:
    """Requests for worker processes; a sample without any prints only their total."""
    for block in section.blocks:
        asked = block.rows.get("Total Requests")
        if block.label == "Worker Process Requests" and asked is not None:
            granted, denied = block.rows.get("Requests Granted"), block.rows.get("Requests Denied")
            first = min(at for at in (asked, granted, denied) if at is not None)
            cells = {"granted": (granted, COUNT), "denied": (denied, COUNT), "total": (asked, COUNT)}
            yield Form(WorkerRequests, first, asked, cells=cells)


def transactions(section: Section) -> Iterator[Form]:
    """Rows changed, each way and in all."""
    operation = logging = None
    for block in section.blocks:
        if block.label.endswith(" Logged"):
            logging = block.label
        else:
            operation, logging = block.label, None
        for label, at in block.rows.items():
            cells = {"per_second": (at, PER_SECOND), "count": (at, COUNT)}
            if operation == PART_OF_UPDATES and TOTALS.get(label, operation) != operation:
                continue  # where there are none, it prints `Total Rows Updated` here too
            if label in TOTALS:
                yield Form(RowsAffected, at, at, {"operation": TOTALS[label]}, cells)
                operation = None  # what follows without a heading is of another operation
            elif operation in (*OPERATIONS, PART_OF_UPDATES) and not label.startswith("Total"):
                yield Form(RowsChanged, at, at, {"operation": operation, "way": label, "logging": logging}, cells)


def transaction_logs(section: Section) -> Iterator[Form]:
    """Why user log caches were flushed and how full they got, the semaphores of both logs, and writes of the log."""
    flushes = largest = False
    written: dict[str, int] = {}
    for block in section.blocks:
        kind = bool(LOGGING.fullmatch(block.label))
        flushes = block.label == FLUSHES or (flushes and kind)
        if flushes:
            for label, at in block.rows.items():
                reason = label.startswith("by ")
                if not reason and label != FLUSHED:  # log records follow without a heading of their own up to 15.0
                    continue
                cells = {"per_second": (at, PER_SECOND), "count": (at, COUNT), "percent": (at, PERCENT)}
                known = {"reason": label, "logging": block.label if kind and reason else None}
                yield Form(UserLogCacheFlushes, at, at, known, cells)
        largest = block.label == LARGEST or (largest and kind)
        yield from _largest(block, largest)
        written |= {label: at for label, at in block.rows.items() if label in (LOG_WRITES, LOG_PAGES, PER_PAGE)}
        if block.label in SEMAPHORES:
            total = next((at for label, at in block.rows.items() if label.startswith("Total ")), None)
            rows = {label: at for label, at in block.rows.items() if total is None or at <= total}
            if rows:
                yield _semaphore(block, rows)
    if written:
        yield _written(written)


def _written(rows: dict[str, int]) -> Form:
    writes = rows.get(LOG_WRITES)
    cells = {
        "per_second": (writes, PER_SECOND),
        "count": (writes, COUNT),
        "pages": (rows.get(LOG_PAGES), COUNT),
        "per_page": (rows.get(PER_PAGE), COUNT),
    }
    return Form(LogWrites, min(rows.values()), max(rows.values()), cells=cells)


def _largest(block: Block, headed: bool) -> Iterator[Form]:
    """The most that a user log cache held: a row of its own before 15.7, then a heading with one row for each kind."""
    for label, at in block.rows.items():
        if label == LARGEST:
            yield Form(LargestLogCache, at, at, {"logging": None}, {"size_bytes": (at, COUNT)})
        elif headed and LOGGING.fullmatch(label):
            yield Form(LargestLogCache, at, at, {"logging": label}, {"size_bytes": (at, COUNT)})


def _semaphore(block: Block, rows: dict[str, int]) -> Form:
    waits = [at for label, at in rows.items() if label.endswith("Waited")]
    if ("Local Waited" in rows) != ("Global Waited" in rows):
        waits = []  # one of the two is lost, and so is their sum
    total = next((at for label, at in rows.items() if label.startswith("Total ")), None)
    whole = Cell(total, COUNT)
    return Form(
        SemaphoreRequests,
        block.at,
        max(rows.values()),
        {"name": SEMAPHORES[block.label]},
        {"total": (total, COUNT)},
        {
            "granted": left_out(rows.get("Granted"), whole),
            "waited": added([Cell(at, COUNT) for at in waits]) if waits else left_out(None, whole),
            "waited_percent": added([Cell(at, PERCENT) for at in waits] or [Cell(None, PERCENT)]),
        },
    )


def metadata(section: Section) -> Iterator[Form]:
    """Descriptors and the spinlocks before them."""
    kind, rows, start = "", dict[str, int](), 0
    for block in [*section.blocks, Block("", 0)]:
        if kind and block.label != "Reuse Requests":
            if rows:
                cells = {DESCRIPTORS[label]: (at, COUNT) for label, at in rows.items()}
                yield Form(MetadataCache, start, max(rows.values()), {"kind": kind}, cells)
            kind = ""
        if found := USAGE.fullmatch(block.label):
            kind, rows, start = found[1].lower(), {}, block.at
        for label, at in block.rows.items():
            if label in DESCRIPTORS:
                rows.setdefault(label, at)
            elif label.endswith(SPINLOCK):
                name = label.removesuffix(SPINLOCK)
                yield Form(MetadataSpinlock, at, at, {"name": name}, {"contention_percent": (at, PERCENT)})


def procedures(section: Section) -> Iterator[Form]:
    """The procedure cache and the statement cache."""
    rows = {label: at for block in section.blocks for label, at in block.rows.items() if label in PROCEDURES}
    if rows:
        cells = {PROCEDURES[label]: (at, COUNT) for label, at in rows.items()}
        yield Form(ProcedureCacheActivity, min(rows.values()), max(rows.values()), cells=cells)
    for block in section.blocks:
        if found := RECOMPILED.fullmatch(block.label):
            for label, at in block.rows.items():
                given = {"reason": label, "phase": found[1] == "Requests"}
                yield Form(Recompilations, at, at, given, {"count": (at, COUNT)})


def packets(section: Section) -> Iterator[Form]:
    """Packets that were sent, by their total alone: where one engine prints no total, nothing is read."""
    rows = {label: at for block in section.blocks for label, at in block.rows.items() if label in (SENT, SENT_EACH)}
    if SENT in rows:
        sent = rows[SENT]
        cells = {"packets_per_second": (sent, PER_SECOND)}
        each = {"bytes_each": (rows.get(SENT_EACH), COUNT)}
        yield Form(PacketsSent, sent, max(rows.values()), cells=cells | each)


def devices(section: Section) -> Iterator[Form]:
    """I/O of every device, and what was delayed before it got to one."""
    blocks = section.blocks
    rows = {label: at for block in blocks if block.label == DELAYED for label, at in block.rows.items()}
    whole = next((block.rows[REQUESTED] for block in blocks if REQUESTED in block.rows), None)
    most = next((block.rows.get("Server") for block in blocks if block.label == OUTSTANDING), None)
    for label in DELAYS:
        if label in rows:
            cells = {"count": (rows[label], COUNT), "requested": (whole, COUNT), "outstanding": (most, COUNT)}
            yield Form(DelayedIO, rows[label], rows[label], {"reason": label}, cells)
    for place, block in enumerate(blocks):
        if block.table and block.label != OUTSTANDING:
            rows, end = dict(block.rows), place + 1
            while end < len(blocks) and not blocks[end].table and blocks[end].label == "Reads":
                rows.update(blocks[end].rows)
                end += 1
            if "Total I/Os" in rows or "Writes" in rows:
                yield _device(blocks, place, rows)


def _device(blocks: Sequence[Block], place: int, rows: dict[str, int]) -> Form:
    total = rows.get("Total I/Os")
    above = [block.label for block in blocks[max(0, place - 2) : place] if not block.rows]
    path = above[-1] if above[:-1] == ["Device:"] or (above and above[-1].startswith("/")) else None
    return Form(
        DeviceActivity,
        blocks[place].at,
        max(rows.values()),
        {"device": blocks[place].label, "path": path},
        {
            "total": (total, COUNT),
            "total_per_second": (total, PER_SECOND),
            "semaphore_waited": (rows.get("Device Semaphore Waited"), COUNT),
        },
        {field: left_out(rows.get(label), Cell(total, COUNT)) for label, field in IO.items()},
    )
