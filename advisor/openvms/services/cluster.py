"""The cluster as the exports of one capture tell it: who asks, who serves, what a remote lock takes, another master.

Members are those whose exports were brought together. What crosses the cluster is counted on two nodes, so the total
is that of local and outgoing operations, never a sum of all that each node did.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from advisor.charts.cluster import NodeBox, cluster_map
from collectors.cluster import AGREE
from collectors.facts import OVERFLOW, Facts, Reading, known
from collectors.facts.openvms import ClusterMember, ClusterNode, DistributedLockRates, LockLatency, latest_lines
from rules.laws.mastering import Candidate, WhatIf, what_if_masters
from rules.openvms._evidence.cluster import (
    PARTS,
    Cluster,
    members_of,
    own_name,
    own_rates,
    unreal,
)
from rules.openvms._evidence.mastership import BOTH, Move, move_to
from rules.openvms._evidence.node_speeds import what_if

RULES = (
    "openvms/locks_mastered_remotely",
    "openvms/lock_master_on_slow_node",
    "openvms/emulated_lock_master",
    "openvms/cluster_far_apart",
    "openvms/lock_trees_move_too_often",
    "openvms/remastering_switched_off",
)
"""Rules whose verdict belongs on the page."""
MOST_NODES = 96
"""Nodes a cluster may have; of more names the others are counted."""
MOST_COMPARED = 3
"""Nodes of the largest published runs: of more there is no figure, so their speeds are not compared."""
MEMBER = (None, "", "MEMBER")


@dataclass(frozen=True)
class Row:
    """One node whose exports were brought."""

    member: ClusterMember
    hardware: str | None
    """As its own exports print it, else a listing of the cluster."""
    version: str | None
    elsewhere_percent: float | None
    """How much of its own requests other nodes serve; `None` where that is not known, or it asks for nothing."""


@dataclass(frozen=True)
class Absent:
    """A node that an export names and of which none was brought."""

    name: str
    hardware: str
    software: str
    status: str
    where: str
    """File and line that name it."""


@dataclass(frozen=True)
class ClusterView:
    """Everything the page shows."""

    own: str
    rows: tuple[Row, ...]
    """Two or more, or none: a capture of a single node has no members."""
    absent: tuple[Absent, ...]
    more_absent: int
    sums: Cluster | None
    """The rates of all members; `None` where one is missing or cannot be a rate."""
    why_no_sums: tuple[str, ...]
    alone: DistributedLockRates | None
    """The rates of this node, where it is the only one."""
    bring: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Every node of the cluster that is known of."""
        return (*self._here, *(one.name for one in self.absent if one.status in MEMBER))

    @property
    def locking(self) -> tuple[str, ...]:
        """Those that lock: all of them, but where what crosses adds up without the others, these alone."""
        return self._here if self.sums and self.sums.own.complete else self.names

    @property
    def _here(self) -> tuple[str, ...]:
        return tuple(row.member.name for row in self.rows) or (self.own,)


def cluster_view(facts: Facts, system: str) -> ClusterView:
    """Gather it; `system` is the name of the node of the capture."""
    members = members_of(facts)
    brought = {one.name.upper() for one in members} or {system.upper(), (own_name(facts) or system).upper()}
    absent = list(_absent(facts, brought))
    lacks = tuple(_lacks(members))
    own = next((one for one in members if one.own), None)
    return ClusterView(
        own=own.name if own else system,
        rows=tuple(_row(facts, one) for one in members),
        absent=tuple(absent[:MOST_NODES]),
        more_absent=max(0, len(absent) - MOST_NODES),
        sums=Cluster(tuple(members), own or members[0]) if len(members) > 1 and not lacks else None,
        why_no_sums=lacks,
        alone=None if members else own_rates(facts),
        bring=tuple(_bring(facts, members, absent, lacks)),
    )


def _row(facts: Facts, one: ClusterMember) -> Row:
    named = [node for node in facts.every(ClusterNode) if node.name.upper() == one.name.upper()]
    hardware = one.hardware or next((node.hardware for node in reversed(named) if node.hardware), None)
    version = one.version or next((node.software for node in reversed(named) if node.software), None)
    return Row(one, hardware, version, _elsewhere(one))


def _elsewhere(one: ClusterMember) -> float | None:
    local, out = one.local_per_second, one.outgoing_per_second
    if not known(local) or not known(out) or unreal(local) or unreal(out) or local + out <= 0:
        return None
    return 100 * out / (local + out)


def _absent(facts: Facts, brought: set[str]) -> Iterator[Absent]:
    """Nodes named by SHOW CLUSTER, another cluster-wide table or a LOCKTIME matrix; the latest line of each."""
    latest = latest_lines(facts.every(ClusterNode))
    for key in sorted(latest.keys() - brought):
        one = latest[key]
        yield Absent(one.name, one.hardware or "", one.software or "", one.status or "", str(one.source))
    timed = {name.upper(): one for one in facts.every(LockLatency) for name in (one.from_node, one.master)}
    for key in sorted(timed.keys() - brought - latest.keys()):
        yield Absent(key, "", "", "", str(timed[key].source))


def _lacks(members: Sequence[ClusterMember]) -> Iterator[str]:
    """Which rate of which node is missing or none."""
    for one in members:
        for part in PARTS:
            value: Reading = getattr(one, f"{part}_per_second")
            if unreal(value):
                yield f"{part} of {one.name} is {'asterisks' if value is OVERFLOW else value}: no rate"
            elif not known(value):
                yield f"{part} of {one.name} is not in the export"


def _bring(
    facts: Facts, members: Sequence[ClusterMember], absent: Sequence[Absent], lacks: Sequence[str]
) -> Iterator[str]:
    """What would complete the page."""
    if not members or absent or lacks or members[0].complete is False:
        yield ClusterMember.COLLECTED_BY
    if not facts.every(ClusterNode):
        yield ClusterNode.COLLECTED_BY
    if not facts.every(LockLatency):
        yield LockLatency.COLLECTED_BY


def agreement(view: ClusterView) -> str:
    """Whether a node is missing, with the sums it is judged by."""
    if view.sums is None:
        return f"Whether a node is missing is not known: {'; '.join(view.why_no_sums)}."
    sums = f"All nodes together ask {view.sums.asked:,.0f}/s of others and serve {view.sums.served:,.0f}/s for others"
    if view.sums.own.complete is None:
        return f"{sums}: too few to tell whether a node is missing."
    if view.sums.own.complete:
        return f"{sums}. The two are within {100 * AGREE:g} % of each other, so no node that locks is missing."
    return (
        f"{sums}. The two differ by more than {100 * AGREE:g} %: a node is missing, or the exports are of different "
        "times."
    )


def picture(view: ClusterView, width: int = 480) -> Markup:
    """The nodes as boxes, those without exports after the others, so many px wide."""
    boxes = [_box(row) for row in view.rows]
    boxes += [NodeBox(one.name, one.hardware, brought=False) for one in view.absent]
    return cluster_map(boxes, title=f"Cluster of {view.own}", width=width)


def _box(row: Row) -> NodeBox:
    one = row.member
    rates = (one.local_per_second, one.outgoing_per_second, one.incoming_per_second)
    local, out, into = (value if known(value) and not unreal(value) else None for value in rates)
    told = [row.hardware or "", row.version or "", "this capture" if one.own else ""]
    return NodeBox(one.name, ", ".join(word for word in told if word), (local, out, into))


@dataclass(frozen=True)
class Masters:
    """The what-if of another master."""

    lines: tuple[WhatIf, ...]
    asked: str
    """The node that was asked for, as it is known here; empty: none."""
    refused: str
    """Why a node that was asked for is not answered."""
    move: Move | None
    """How mastership goes to the node that was asked for, where it is a member; its scripts are not shown here."""
    how: str
    """What decides over mastership, in general."""


def masters(facts: Facts, view: ClusterView, wanted: str) -> Masters:
    """What each node would give as master, and how mastership would go to the node `wanted`."""
    names = view.locking
    if len(names) > MOST_COMPARED:
        lines = what_if_masters([Candidate(name) for name in names])
    else:
        lines = what_if(facts, names) if len(names) > 1 else ()
    asked = next((name for name in view.names if name.upper() == wanted.strip().upper()), "")
    members = [row.member for row in view.rows]
    target = next((one.name for one in members if one.name == asked), None)
    return Masters(
        lines=lines,
        asked=asked,
        refused=f"No node {wanted.strip()[:40]} is known in this capture." if wanted.strip() and not asked else "",
        move=move_to(facts, members, target) if target and len(members) > 1 else None,
        how=BOTH,
    )
