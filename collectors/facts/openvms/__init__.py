"""Facts about OpenVMS nodes, their processors and their lock manager."""

from collectors.facts.openvms.locking import (
    DedicatedLockManager,
    DistributedLockRates,
    LockDatabase,
    LockRates,
    RemasterRates,
    T4Column,
    T4File,
)
from collectors.facts.openvms.processors import (
    Cpu,
    CpuModes,
    FastpathDevice,
    KernelService,
    Node,
    ProcessorModes,
    SysgenParameter,
)

__all__ = [
    "Cpu",
    "CpuModes",
    "DedicatedLockManager",
    "DistributedLockRates",
    "FastpathDevice",
    "KernelService",
    "LockDatabase",
    "LockRates",
    "Node",
    "ProcessorModes",
    "RemasterRates",
    "SysgenParameter",
    "T4Column",
    "T4File",
]
