"""The kinds of facts that a T4 file gives."""

from collectors.facts.openvms import (
    AlignmentFaults,
    CpuModes,
    Curve,
    DedicatedLockManager,
    DistributedLockRates,
    LockDatabase,
    LockRates,
    Node,
    ProcessorModes,
    RemasterRates,
    SystemRates,
    T4Column,
    T4File,
)

PROVIDES = (
    T4File,
    Node,
    ProcessorModes,
    CpuModes,
    LockRates,
    LockDatabase,
    DistributedLockRates,
    RemasterRates,
    DedicatedLockManager,
    SystemRates,
    AlignmentFaults,
    Curve,
    T4Column,
)
