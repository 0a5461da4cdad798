"""The views of one capture, beside its audit: which there are for a product, and which facts each of them shows."""

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.audits.models import Capture
from collectors.facts import Fact, ase, openvms


@dataclass(frozen=True)
class Tab:
    """A view, as the head of the pages of a capture leads to it."""

    name: str
    """Of its address."""
    words: str
    shows: tuple[type[Fact], ...]
    """Kinds of facts: with none of them in the capture the view is empty, and nothing leads to it."""


SPINLOCKS: tuple[type[Fact], ...] = (
    *(ase.CacheActivity, ase.LockHashtable, ase.MetadataSpinlock, ase.MonSpinlockActivity, ase.SampledSpinlock),
)
STATEMENTS: tuple[type[Fact], ...] = (
    *(ase.MonCachedStatement, ase.MonProcessActivity, ase.MonProcessStatement, ase.MonSysStatement),
)
CACHES: tuple[type[Fact], ...] = (ase.CacheActivity, ase.MonDataCache, ase.NamedCache)
TABS: Mapping[str, tuple[Tab, ...]] = {
    "ase": (
        Tab("ase-waits", "Waits", (ase.MonProcessWaits, ase.MonSysWaits, ase.SampledWaits, ase.TaskSwitches)),
        Tab("ase-blocking", "Blocking", (ase.Deadlock, ase.HeldLock, ase.MonProcess, ase.SampledBlocking)),
        Tab("ase-statements", "Statements", STATEMENTS),
        Tab("ase-caches", "Cache map", CACHES),
        Tab("ase-spinlocks", "Spinlocks", SPINLOCKS),
        Tab("ase-what-if", "What-if", (*CACHES, *SPINLOCKS)),
    ),
    "openvms": (
        Tab("openvms-cpus", "CPU map", (openvms.Cpu, openvms.CpuModes, openvms.FastpathDevice)),
        Tab(
            "openvms-cluster",
            "Cluster",
            (openvms.ClusterMember, openvms.ClusterNode, openvms.DistributedLockRates, openvms.LockLatency),
        ),
        Tab("openvms-lock-trees", "Lock trees", (openvms.LockActivity, openvms.LockQueues, openvms.ListedLocks)),
        Tab("openvms-day", "Day", (openvms.Curve,)),
        Tab("openvms-what-if", "Lock tables", (openvms.LockDatabase, openvms.SysgenParameter)),
    ),
}


def tabs_of(capture: Capture, product: str, here: str = "") -> list[Tab]:
    """The views that have something to show, and the one we are at.

    Of a capture kept by a version before, whose kinds of facts nobody noted, all are shown.
    """
    tabs = TABS.get(product, ())
    if capture.kinds is None:
        return list(tabs)
    there = set(capture.kinds)
    return [one for one in tabs if one.name == here or any(kind.fact_name() in there for kind in one.shows)]
