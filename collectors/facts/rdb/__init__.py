"""Facts about Oracle Rdb databases."""

from collectors.facts.rdb.database import (
    AttachedProcess,
    Database,
    DatabaseUse,
    LogicalArea,
    LogicalName,
    NodeDatabases,
    OfDatabase,
    RowCache,
    StorageArea,
)
from collectors.facts.rdb.statistics import (
    IO_ITEMS,
    ITEMS,
    LOCK_ITEMS,
    LOCK_TYPES,
    AreaIo,
    BufferHits,
    HotRow,
    Journals,
    ProcessLocks,
    StatisticRow,
    StatisticsWindow,
)
from collectors.facts.rdb.waiting import EventLog, HeldLock, NoLocksShown, WaitGroup

__all__ = [
    "IO_ITEMS",
    "ITEMS",
    "LOCK_ITEMS",
    "LOCK_TYPES",
    "AreaIo",
    "AttachedProcess",
    "BufferHits",
    "Database",
    "DatabaseUse",
    "EventLog",
    "HeldLock",
    "HotRow",
    "Journals",
    "LogicalArea",
    "LogicalName",
    "NoLocksShown",
    "NodeDatabases",
    "OfDatabase",
    "ProcessLocks",
    "RowCache",
    "StatisticRow",
    "StatisticsWindow",
    "StorageArea",
    "WaitGroup",
]
