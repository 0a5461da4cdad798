"""The facts that the pages of a stored OpenVMS capture ask for, unpacked once (`advisor.core.page_cache`)."""

from dataclasses import dataclass

from advisor.audits.models import Capture
from advisor.audits.services.persistence import restore
from advisor.core.page_cache import kept
from collectors.facts import Fact, Facts
from collectors.facts.openvms import (
    ClusterMember,
    ClusterNode,
    Cpu,
    CpuModes,
    Curve,
    DedicatedLockManager,
    DistributedLockRates,
    FastpathDevice,
    FileName,
    KernelService,
    ListedLocks,
    LockActivity,
    LockDatabase,
    LockLatency,
    LockQueue,
    LockQueues,
    LockRates,
    LockTree,
    MemoryUse,
    MonitorSample,
    Node,
    ProcessorModes,
    RemasterRates,
    SysgenParameter,
    T4File,
)

ASKED_FOR: tuple[type[Fact], ...] = (
    *(ClusterMember, ClusterNode, Cpu, CpuModes, Curve, DedicatedLockManager, DistributedLockRates, FastpathDevice),
    *(KernelService, LockDatabase, LockLatency, LockRates, MemoryUse, MonitorSample, Node, ProcessorModes),
    *(RemasterRates, SysgenParameter, T4File),
    *(FileName, ListedLocks, LockActivity, LockQueue, LockQueues, LockTree),
)
"""Kinds of facts that the pages ask for; none of them grows with the length of the capture."""


@dataclass(frozen=True)
class Stored:
    """What is kept of one capture."""

    facts: Facts
    """Those of `ASKED_FOR`."""
    problems: tuple[str, ...]
    """What of the stored facts could not be restored."""


@kept
def stored(capture: Capture) -> Stored:
    """What is kept of this capture. Who may see it was asked before."""
    found, problems = restore(capture)
    return Stored(Facts(tuple(fact for fact in found.facts if type(fact) in ASKED_FOR)), tuple(problems))
