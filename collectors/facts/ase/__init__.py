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

__all__ = [
    "CacheActivity",
    "CachePool",
    "ConfigParameter",
    "EngineBusy",
    "LockHashtable",
    "LockRequests",
    "LockSummary",
    "MetadataCache",
    "MetadataSpinlock",
    "NamedCache",
    "RowsChanged",
    "Server",
    "SysmonAdvice",
    "SysmonRow",
    "SysmonSample",
    "SysmonSection",
    "TaskSwitches",
    "ThreadBusy",
]
