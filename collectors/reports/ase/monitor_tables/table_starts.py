"""How a run of monitoring tables begins: a heading, a query, a time, or the name of the file."""

import re

from collectors.facts.counted import Counted
from collectors.registry import starting
from collectors.reports.ase.monitor_tables import caches, clock, locks, objects, processes, server, spinlocks
from collectors.reports.ase.monitor_tables.subtracted import TWO_SNAPSHOTS
from collectors.reports.ase.monitor_tables.tables import MonitorTable

TABLES: tuple[MonitorTable, ...] = (
    spinlocks.SPINLOCKS,
    spinlocks.SYSMONITORS,
    spinlocks.JOINED,
    caches.CACHE_POOLS,
    caches.DATA_CACHES,
    caches.CACHED_OBJECTS,
    *processes.TABLES,
    objects.OPEN_PARTITIONS,
    objects.OPEN_OBJECTS,
    server.ENGINES,
    server.THREADS,
    server.SYSTEM_WAITS,
    server.WAIT_EVENTS,
    server.WAIT_CLASSES,
    server.STATE,
    server.NETWORK,
    locks.DEADLOCKS,
    locks.LOCKS,
    server.PROCEDURE_CACHE,
    server.ENGINE_LOCAL_CACHES,
    server.STATEMENT_CACHE,
    server.IO_QUEUES,
    server.DATABASES,
    server.EXECUTION_TIMES,
    server.DEVICES,
    server.FRAGMENTS,
)
"""Every table read here; of two that a heading could be the first is taken."""
COUNTED = tuple(one for one in TABLES if issubclass(one.fact, Counted))
"""Those that count, of which differences can be made."""

ID = "ase/monitor_tables"
BY_SESSION = "ase/locks_by_session"
"""Locks that a question groups and counts: its rows are no single locks, though their columns are those of monLocks."""
LOOKED_AT = 4096
"""Characters of a line between the tables that are searched for the start of another report."""
NAMES = "|".join(dict.fromkeys(table.name for table in TABLES))
SIGNS = (
    "SpinlockName", "SpinlockSlotID", "RelaxedReplacement", "BufferPools", "CacheSearches", "CachePartitions",
    "CASGrabs", "IOBufferSize", "AllocatedKB", "PagesTouched", "BuffersToMRU", "CachedKB", "CachedMB",
    "ProcessesAccessing",
    "LogicalReads", "PhysicalReads", "APFReads", "PagesWritten", "RowsInserted", "RowsUpdated", "LockRequests",
    "LockWaits", "OptSelectCount", "UsedCount", "ExclusiveLockWaitTime", "EngineNumber", "SystemCPUTime",
    "UserCPUTime", "IdleCPUTime", "AffinitiedToCPU", "ThreadPoolName", "TotalTicks", "BusyTicks", "IdleTicks",
    "TaskRuns", "WaitEventID", "LockWaitThreshold", "CountersCleared", "DaysRunning", "NumDeadlocks",
    "DiagnosticDumps", "LockLevel", "LockState", "DeadlockID", "VictimKPID", "HeldLockType", "NumSearches",
    "HitCount", "UsedSizeKB", "NumStatements", "BlockingSPID", "SecondsWaiting", "SSQLID", "AvgLIO", "PagesModified",
    "SequenceInLine", "WaitClassID", "ProcELCNum", "ProcELCAllocs", "ULCBytesWritten", "ULCFlushes", "TableAccesses",
    "LocksHeld", "ULCMaxUsage", "segmap", "IOType", "AppendLogRequests", "AppendLogWaits", "TransactionLogFull",
    "SuspendedProcesses", "OperationID", "ExecutionCnt", "SequenceInBatch",
    "PacketsSent", "BytesSent", "HkgcRequests", "HkgcOverflows",
)  # fmt: skip
"""Column names that stand in no other text; in a heading wrapped at 80 one of them may be all that is on a line."""
WORDS = "Requests|Loads|Writes|Stalls"
"""Columns of monProcedureCache are plain words: two of them side by side are a heading."""

MARK = r"(?:delta|diff|d)_?"
OF_SCRIPTS = (
    r"(?<![@'(.\w])(?:"
    rf"spin(?:_?lock)?(?:_?name)?\b(?!\.).{{0,80}}\b(?:{MARK})?grabs(?:_(?:delta|diff|d))?\b"
    rf"|(?:lock(?:_?name)?|name)\b[\w\s,;|\t\"%]{{1,60}}?\b(?:{MARK})?grabs(?:_(?:delta|diff|d))?\b[\w\s,;|\t\"%]{{1,60}}?"
    rf"\b(?:{MARK})?(?:waits|spins)(?:_(?:delta|diff|d))?\b"
    r"|obj(?:ect)?(?:_?name)?\b[^\w.].{0,40}\bl(?:og)?_?reads\b"
    rf"|(?:tab(?:le)?|obj(?:ect)?)(?:_?name)?\b[\w\s,;|\"%]{{1,99}}?\b(?:{MARK})?lock_?waits\b"
    rf"|ev(?:ent)?(?:_?id)?\b[^\w.]{{1,40}}{MARK}waits\b"
    rf"|^[\s|\"]{{0,9}}(?:(?:wait_?)?ev(?:t|ent)?(?:_?id)?|id)\b"
    rf"(?=[\w\s,;|\"%]{{1,99}}?\b(?:{MARK})?(?:waits|count|cnt)(?:_(?:delta|diff|d))?\b)"
    rf"(?=[\w\s,;|\"%]{{1,99}}?\b(?:{MARK})?(?:(?:wait|time|wait_?time)_?)?(?:s|secs?|seconds|wait|waittime)\b)"
    r"|logical_?reads_?[0-9]{1,4}(?:min|h)\b"
    rf"|{MARK}(?:logical_?reads|physical_?reads|apf_?reads|lock_?waits|use_?count|packets_?sent|(?:io|read|write)_?time(?:_m?s)?"
    rf"|lock_?requests|rows_?(?:inserted|updated|deleted)|hkgc_?(?:requests|overflows)|commits)\b"
    r")(?![.(=])"
)
"""Headings of differences that a script made: see `own_names`."""

MONITORS = (
    r"\b(?:group|field)_name\b[\W_]{1,300}\b(?:field_name|group_name|field_id|grabs|p)\b"
    r"|^\s{0,4}(?:group|field)_name\s{0,300}$"
)
"""Headings of `sysmonitors`; wrapped, a name stands alone."""

QUERY = re.compile(
    rf"\b(?:from|join)\s{{1,20}}(?:master\s{{0,3}}\.\s{{0,3}}(?:dbo)?\s{{0,3}}\.\s{{0,3}})?(?:{NAMES})\b"
    rf"|,\s{{0,20}}master\s{{0,3}}\.\s{{0,3}}(?:dbo)?\s{{0,3}}\.\s{{0,3}}(?:{NAMES})\b",
    re.IGNORECASE,
)
TITLE = re.compile(
    rf"^[\W_]{{0,80}}(?:(?:table|result|results of|select \* from)[\W_]{{1,10}})?(?:master[\W_]{{1,6}})?"
    rf"(?:{NAMES})[\W_]{{0,80}}$",
    re.IGNORECASE,
)
MENTION = re.compile(r"\b(mon[A-Z][A-Za-z]{3,40}|sysmonitors|sysusages)\b(?!\s{0,3}\.)", re.IGNORECASE)
"""Any monitoring table, also one not read here; in front of a point stands the name of a database."""

START = re.compile(
    rf"(?<![@'\"(.\w])[\"'|]?\b(?:{'|'.join(SIGNS)})\b(?![.(=]| {{0,9}}[=(:])"
    rf"|\b(?:{WORDS})\b[\W_]{{1,40}}\b(?:{WORDS})\b|{OF_SCRIPTS}"
    rf"|{MONITORS}|{QUERY.pattern}|{TITLE.pattern}|{clock.QUESTION}|{clock.HEADING}|{clock.ALONE}"
    rf"|{TWO_SNAPSHOTS}",
    re.IGNORECASE,
)
FILES = re.compile(rf"(?:^|[^a-z])(?P<table>{NAMES})(?:[^a-z]|$)", re.IGNORECASE)
"""What a file's name says: `monDataCache.bcp`, `PROD_monEngine_2.txt`."""


def starts_another(line: str) -> bool:
    """Whether a line begins another kind of report, and not one of these tables."""
    found = starting(line[:LOOKED_AT])
    return bool(found) and (found[0].id == BY_SESSION or all(kind.id != ID for kind in found))


def table_of_file(name: str) -> MonitorTable | None:
    """The table that a file is named for."""
    found = FILES.search(name.rsplit("/", 1)[-1])
    return next((table for table in TABLES if found and table.name.lower() == found["table"].lower()), None)
