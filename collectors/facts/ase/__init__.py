"""Facts about SAP (Sybase) Adaptive Server Enterprise."""

from collectors.facts.ase.caches import CachePool, NamedCache
from collectors.facts.ase.server import ConfigParameter, Server
from collectors.facts.ase.sysmon import (
    CacheActivity,
    EngineBusy,
    LockHashtable,
    LockRequests,
    LockSummary,
    MetadataCache,
    MetadataSpinlock,
    RowsChanged,
    SysmonAdvice,
    SysmonRow,
    SysmonSample,
    SysmonSection,
    TaskSwitches,
    ThreadBusy,
)
from collectors.facts.ase.sysmon_detail import (
    CachePoolActivity,
    DeviceActivity,
    LockEvents,
    ProcedureCacheActivity,
    RowsAffected,
    RunnableTasks,
    SemaphoreRequests,
)

__all__ = [
    "CacheActivity",
    "CachePool",
    "CachePoolActivity",
    "ConfigParameter",
    "DeviceActivity",
    "EngineBusy",
    "LockEvents",
    "LockHashtable",
    "LockRequests",
    "LockSummary",
    "MetadataCache",
    "MetadataSpinlock",
    "NamedCache",
    "ProcedureCacheActivity",
    "RowsAffected",
    "RowsChanged",
    "RunnableTasks",
    "SemaphoreRequests",
    "Server",
    "SysmonAdvice",
    "SysmonRow",
    "SysmonSample",
    "SysmonSection",
    "TaskSwitches",
    "ThreadBusy",
]
