"""A cluster: its nodes, who masters the lock trees, what a remote lock takes."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.base import ABSENT, Fact, Reading, Source, known
from collectors.facts.openvms.processors import OfNode


@dataclass(frozen=True, kw_only=True)
class ClusterNode(OfNode):
    """One line of SHOW CLUSTER, or of another cluster-wide table: a member as `node` saw it."""

    COLLECTED_BY: ClassVar[str] = "SHOW CLUSTER"

    name: str
    hardware: str | None = None
    software: str | None = None
    """`VMS V8.4`, as printed."""
    status: str | None = None
    """`MEMBER`, or another word while it joins or has gone."""
    at: datetime | None = None
    lock_directory_weight: Reading = ABSENT
    """LOCKDIRWT, where the table prints it."""


def latest_lines(lines: Iterable[ClusterNode]) -> dict[str, ClusterNode]:
    """By name in capitals the latest line of each node that says anything of it.

    A clusterwide listing of SYSMAN names the nodes and no more: what SHOW CLUSTER beside it prints stays known.
    """
    found: dict[str, ClusterNode] = {}
    for one in lines:
        says = one.hardware or one.software or one.status or known(one.lock_directory_weight)
        if says or one.name.upper() not in found:
            found[one.name.upper()] = one
    return found


@dataclass(frozen=True, kw_only=True)
class LockLatency(Fact):
    """What a lock takes from one node to a master: one cell of a LOCKTIME matrix. `node` = `master`: a local lock."""

    COLLECTED_BY: ClassVar[str] = "a LOCKTIME.COM run as CSV (KP_LOCKTOOLS): microseconds a lock, node by node"

    from_node: str
    """The node that asks."""
    master: str
    microseconds: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class ClusterMember(Fact):
    """One node of the cluster at the time of a capture, this node included: made by `collectors.cluster`.

    Each other node's figures come from its own exports, brought together with this one's and of an overlapping time.
    Rates per second are means of its own interval. Never add `operations` over nodes: a remote one counts on both.
    """

    COLLECTED_BY: ClassVar[str] = "a T4 composite CSV of every node of the cluster, all of the same day"

    name: str
    own: bool = False
    """Whether this is the node of the capture."""
    hardware: str | None = None
    hardware_source: Source | None = None
    """Where the machine's name was read; `source` is where the rates were."""
    version: str | None = None
    parameters_source: Source | None = None
    """Where LOCKDIRWT, LOCKRMWT or PE1 were read: the last of them."""
    directory_weight_source: Source | None = None
    """Where LOCKDIRWT was read in that node's own listing."""
    remaster_weight_source: Source | None = None
    """Where LOCKRMWT was."""
    cpus: Reading = ABSENT
    busy_percent: Reading = ABSENT
    """Mean time in all modes but idle, per cent of all its CPUs."""
    busy_source: Source | None = None
    """Where that was read."""
    operations_per_second: Reading = ABSENT
    local_per_second: Reading = ABSENT
    incoming_per_second: Reading = ABSENT
    outgoing_per_second: Reading = ABSENT
    mp_synch_percent: Reading = ABSENT
    credit_waits: tuple[tuple[str, float], ...] = ()
    """Messages per second of this node that waited for send credit, by the node that they were for (`[MON.SCS]`)."""
    credit_waits_source: Source | None = None
    moved_out_per_second: Reading = ABSENT
    """Lock trees that left this node for another master."""
    moved_in_per_second: Reading = ABSENT
    lock_directory_weight: Reading = ABSENT
    """LOCKDIRWT of that node's own listing."""
    lock_remaster_weight: Reading = ABSENT
    """LOCKRMWT, of no effect from V8.3 on."""
    pending_directory_weight: Reading = ABSENT
    """LOCKDIRWT of CURRENT, which the next boot takes; it may be the value that runs already."""
    pending_directory_weight_source: Source | None = None
    """Where that was read."""
    pending_remaster_weight: Reading = ABSENT
    """LOCKRMWT of CURRENT."""
    pending_remaster_weight_source: Source | None = None
    """Where that was."""
    pe1: Reading = ABSENT
    credits: Reading = ABSENT
    """`CLUSTER_CREDITS`."""
    hash_table: Reading = ABSENT
    """RESHASHTBL that runs, entries."""
    pending_hash_table: Reading = ABSENT
    """RESHASHTBL of CURRENT."""
    lock_id_table: Reading = ABSENT
    """LOCKIDTBL that runs, entries."""
    pending_lock_id_table: Reading = ABSENT
    """LOCKIDTBL of CURRENT."""
    tables_source: Source | None = None
    """Where RESHASHTBL was read, else LOCKIDTBL."""
    resources: Reading = ABSENT
    """The highest number of resources that was read."""
    locks: Reading = ABSENT
    """The highest number of locks."""
    levels_source: Source | None = None
    """Where the resources were read, else the locks."""
    dedicated: bool | None = None
    """Whether its lock manager has a CPU of its own; `None`: not known."""
    lock_manager_mode: Reading = ABSENT
    """LCKMGR_MODE that runs: the number of active CPUs from which on the lock manager has its own; 0 for never."""
    lock_manager_busy_percent: Reading = ABSENT
    """How busy that CPU was by T4's LCK73 columns, per cent, mean."""
    databases: tuple[str, ...] = ()
    """Root files of Rdb, in capitals and without version, that the node's monitor listed as open within its time."""
    databases_listed: bool = False
    """Whether that list is in the exports: then none is a fact, too."""
    databases_partitioned: tuple[str, ...] = ()
    """Root files whose lock trees may be partitioned, by a header that came with that node's exports."""
    start: datetime | None = None
    end: datetime | None = None
    complete: bool | None = None
    """The same in every member: `True` where what all members together ask for elsewhere and what they serve for others
    agree, so no node is missing; `False` where they do not; `None` where a member has no such figures."""


@dataclass(frozen=True, kw_only=True)
class ListedMember(ClusterMember):
    """One node of a cluster of which one alone was measured.

    Made by `collectors.cluster`. Of every other node that SHOW CLUSTER lists nothing but listings was collected: these
    have settings and no rates.
    """

    COLLECTED_BY: ClassVar[str] = "SHOW CLUSTER"


@dataclass(frozen=True, kw_only=True)
class OtherSample(Fact):
    """What was measured on the same node, of a time too different to be one capture: made by `collectors.capture`.

    It has no figures: those stand in the capture of their own time and are never mixed with others.
    """

    COLLECTED_BY: ClassVar[str] = "a T4 composite CSV of the node, and screens and displays of the same time"
    NOT_JUDGED: ClassVar[str] = "read by rules.missing: what was measured at another time is said, not used"

    brought: tuple[str, ...]
    """The commands whose figures it has and this capture has not (`Fact.COLLECTED_BY`)."""
    start: datetime
    end: datetime
    shared_seconds: float
    """How much of its time lies within that of this capture."""
