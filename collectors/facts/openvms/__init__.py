"""Facts about OpenVMS nodes, their processors, their lock manager and their cluster."""

from collectors.facts.openvms.cluster import ClusterMember, ClusterNode, LockLatency, OtherSample
from collectors.facts.openvms.listings import AutogenFeedback, AutogenRun, MemoryUse, Process
from collectors.facts.openvms.lock_trees import (
    FileName,
    ListedLocks,
    ListedQueue,
    LockActivity,
    LockQueue,
    LockQueues,
    LockTree,
)
from collectors.facts.openvms.locking import (
    DedicatedLockManager,
    DistributedLockRates,
    LockDatabase,
    LockRates,
    RemasterRates,
    T4Column,
    T4File,
)
from collectors.facts.openvms.monitor import (
    AlignmentFaults,
    Curve,
    FaultSource,
    MonitorItem,
    MonitorSample,
    SystemRates,
)
from collectors.facts.openvms.processors import (
    Cpu,
    CpuModes,
    FastpathDevice,
    KernelService,
    Node,
    OfNode,
    ProcessorModes,
    SysgenParameter,
)
from collectors.facts.openvms.spinlocks import LockSummaryItem, SpinlockState, SpinlockTrace, SpinlockTraceRun

__all__ = [
    "AlignmentFaults",
    "AutogenFeedback",
    "AutogenRun",
    "ClusterMember",
    "ClusterNode",
    "Cpu",
    "CpuModes",
    "Curve",
    "DedicatedLockManager",
    "DistributedLockRates",
    "FastpathDevice",
    "FaultSource",
    "FileName",
    "KernelService",
    "ListedLocks",
    "ListedQueue",
    "LockActivity",
    "LockDatabase",
    "LockLatency",
    "LockQueue",
    "LockQueues",
    "LockRates",
    "LockSummaryItem",
    "LockTree",
    "MemoryUse",
    "MonitorItem",
    "MonitorSample",
    "Node",
    "OfNode",
    "OtherSample",
    "Process",
    "ProcessorModes",
    "RemasterRates",
    "SpinlockState",
    "SpinlockTrace",
    "SpinlockTraceRun",
    "SysgenParameter",
    "SystemRates",
    "T4Column",
    "T4File",
]
