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
    SeenOnNode,
    StorageArea,
)
from collectors.facts.rdb.statistics import (
    IO_ITEMS,
    ITEMS,
    LOCK_ITEMS,
    LOCK_TYPES,
    AreaIo,
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
    "SeenOnNode",
    "StatisticRow",
    "StatisticsWindow",
    "StorageArea",
    "WaitGroup",
]
