"""A database and the nodes of a cluster: whether more than one has it open, and what crosses between them.

Lock rates by node are of everything that node locks: of a database they speak only as far as it is most of that work.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from collectors.facts import OVERFLOW, Facts, Reading, Source, known
from collectors.facts.openvms import ClusterMember, ClusterNode, DistributedLockRates, LockRates, MonitorSample, T4File
from collectors.facts.rdb import HeldLock, NodeDatabases
from collectors.facts.rdb.names import by_device
from rules.changes.quoting import comment
from rules.engine import percent
from rules.finding import Evidence, Expectation, MissingInput, Outcome, Unknown, Untrusted, enumerated
from rules.openvms._evidence.cluster import Cluster, cluster_of
from rules.rdb._evidence.databases import (
    SAME_TIME,
    OneDatabase,
    Sighting,
    belonging,
    out_of_date,
)
from rules.rdb._evidence.limits import LeastLimits
from rules.rdb._evidence.statistics import Statistics

SHARING_FACTS = (
    ClusterMember,
    ClusterNode,
    DistributedLockRates,
    LockRates,
    MonitorSample,
    NodeDatabases,
    HeldLock,
    T4File,
)
"""What a rule that uses this module has to declare, beside those of `databases` and `statistics`."""
SUSTAINED = ("mean", "current", "at lock peak")
"""Statistics of rates that were true together, the sustained one first."""
DLOCK = MissingInput(
    "lock operations by where they are served", f"{DistributedLockRates.COLLECTED_BY}, or MONITOR DLOCK"
)
ON_EACH_NODE = MissingInput(
    "on which nodes the database is open", "RMU/SHOW SYSTEM ! on each node of the cluster, within some minutes"
)
NO_RDB = "OpenVMS V9 is for x86-64, and no release of Rdb for that was found in November 2026"
"""Inferred from the release notes of Rdb 7.4.1.4 (2025, Integrity and Alpha): no proof, so it is asked, not assumed."""
WHICH_NODES = MissingInput("which nodes the cluster has", ClusterNode.COLLECTED_BY)
OTHERS = "The locks of {} are not all of this database: see which one causes them first."
NOT_THIS = "Nothing is set for it: first see which other database causes most of what leaves {}."
AT_MOST = 110.0
"""This project: beyond this per cent of what its node locks a database was measured at another time."""
LONGEST = 86_400.0
"""Seconds: an average over more holds nights with the busy hours (this project)."""
MOST_NAMED = 3
"""Nodes that are named in a sentence."""
MAIN_PERCENT = 50.0
"""From here on a database is the main cause of what its node locks: more than everything else together."""


@dataclass(frozen=True)
class RemoteLimits(LeastLimits):
    """From where on what crosses the cluster costs enough to speak of it."""

    remote_percent: float = percent(
        20.0, "this project: a two-node cluster with 8 % in a real day had no trouble", of="lock operations"
    )


@dataclass(frozen=True)
class SharedLimits(RemoteLimits):
    """`RemoteLimits`, and from where on it is a warning."""

    leaving_percent: float = percent(
        50.0,
        "this project: a warning where half of a node's own requests leave it, as for the locks",
        of="own requests",
    )


@dataclass(frozen=True)
class Remote:
    """What of a node's lock operations crosses the cluster. Per second and per cent."""

    total: float
    percent: float
    """Incoming and outgoing, of all."""
    leaving: float
    """Outgoing, of those this node asks for itself."""
    asked: float
    """Lock operations per second that this node asks for itself."""
    source: Source
    node: str = ""
    """Where it is another node than that of the capture."""

    @property
    def where(self) -> str:
        """`the node`, or its name."""
        return comment(self.node, 31) if self.node else "the node"

    @property
    def said(self) -> str:
        """For a sentence."""
        return f"{self.percent:.0f} % of {self.total:,.0f} lock operations/s of {self.where} cross the cluster"

    def is_little(self, limits: RemoteLimits) -> bool:
        """Whether it is too little to speak of."""
        return self.percent < limits.remote_percent or self.total < limits.operations_per_second

    def evidence(self, limits: RemoteLimits) -> tuple[Evidence, ...]:
        """The figures, held against the limits."""
        name, most, least = f"lock operations of {self.where}", limits.remote_percent, limits.operations_per_second
        return (
            Evidence("incoming and outgoing", round(self.percent, 1), "% of lock operations", self.source, most),
            Evidence(name, round(self.total, 1), "/s", self.source, least),
            Evidence("own requests served elsewhere", round(self.leaving, 1), "%", self.source),
        )

    @property
    def expects(self) -> Expectation:
        """What should be seen where work and locks meet on one node."""
        what = "lock operations incoming and outgoing (%)"
        return Expectation(what, round(self.percent, 1), "lower", "heuristic")


def open_elsewhere(facts: Facts, one: OneDatabase) -> bool | None:
    """Whether more than one node has it open, or had it open at another time.

    `False` only where the export proves that no other has: a node in no cluster, a cluster of one member, or every
    other member's own list of open databases, of the same time, without it. That nothing crosses the cluster is no
    proof, for another node may have it open and do nothing; nor is a list of all users as long as this node's, for one
    opened by RMU/OPEN may have none. `None`: it cannot tell. All of it is of one time, and not older than what was last
    seen of the database: whether another node opens it after a failure no export knows.
    """
    if len(one.sightings) > 1 or several_nodes(one):
        return True
    members = _members(facts)
    own = {sighting.node.upper() for sighting in one.sightings}
    if own and members <= own and len(_systems(facts, one)) <= 1 and in_no_cluster(facts, one):
        return False
    if not own <= members or not _members_known(facts, one) or len(_systems(facts, one)) > 1:
        return None
    if len(members) == 1:
        return False
    return None if _not_looked_at(facts, one) else False


def monitors_of(one: OneDatabase) -> tuple[float, ...]:
    """The monitors whose users RMU/DUMP/USERS lists: each node that has it open has one of its own."""
    return next((use.monitors for use in reversed(one.uses) if len(use.monitors) > 1), ())


def several_nodes(one: OneDatabase) -> str:
    """What a list of all users or merged screens say against one node, for a sentence; nothing where they do not."""
    if found := [f"{number:g}" for number in monitors_of(one)]:
        return f"RMU/DUMP/USERS lists users of monitors {enumerated(found)}, so of several nodes"
    if one.seen_on:
        return f"exports of another time show it on {_seen_on(one)}"
    if any(window.merged for window in one.windows) and not one.one_instance:
        return "the screens are merged over several nodes (node line, recalled), so more than one has it open"
    return ""


def _seen_on(one: OneDatabase) -> str:
    """The other nodes of another time with when: `SKYE (01-Mar-2026 12:00)`."""
    return seen_when([Sighting(seen.node or "", seen.at, seen.at, None, seen.source) for seen in one.seen_on])


def users_unknown(one: OneDatabase) -> str:
    """What is not known of the nodes whose users are in it, for a sentence."""
    if one.seen_on and not monitors_of(one):
        return f"{several_nodes(one)}; whether users of several nodes are in it at once is not known"
    if said := several_nodes(one):
        return f"{said}; which ones is not in the export"
    return "whether users of several nodes are in it at once is not in the export"


def nodes_without(facts: Facts, one: OneDatabase) -> list[NodeDatabases]:
    """The other nodes whose list of open databases, of the same time, does not have this one; the latest of each.

    A list that may have it by the device of its disk proves nothing (see `twins`).
    """
    if one.root is None or len(one.sightings) != 1:
        return []
    here = one.sightings[0]
    found: dict[str, NodeDatabases] = {}
    for listed in facts.every(NodeDatabases):
        together = here.end and listed.at and abs(here.end - listed.at) <= SAME_TIME
        together = together and not out_of_date(listed.at, last_seen(one))
        if listed.node.upper() == here.node.upper() or not listed.complete or not together:
            continue
        if not any(one.is_called(root) or by_device(root, one.root) for root in listed.databases):
            found[listed.node.upper()] = listed
    return list(found.values())


def in_no_cluster(facts: Facts, one: OneDatabase) -> NodeDatabases | None:
    """The list of the only node it was seen on, where it says that the node is in no cluster; of the figures' time."""
    own, last = {sighting.node.upper() for sighting in one.sightings}, last_seen(one)
    for listed in facts.every(NodeDatabases):
        dated = last is None or (listed.at is not None and not out_of_date(listed.at, last))
        if listed.in_no_cluster and dated and {listed.node.upper()} == own:
            return listed
    return None


def twins(facts: Facts, one: OneDatabase) -> list[tuple[str, str]]:
    """Other nodes with what they list open that may be this database by the device of its disk, or by a logical name.

    The same directory, file and version below a device and below a logical name: only the nodes themselves can tell.
    """
    own = {sighting.node.upper() for sighting in one.sightings}
    return [
        (listed.node, root)
        for listed in facts.every(NodeDatabases)
        if one.root is not None and listed.node.upper() not in own
        for root in listed.databases
        if by_device(root, one.root)
    ]


def not_shown(facts: Facts, one: OneDatabase) -> tuple[MissingInput, str]:
    """What to collect so that it can be told whether another node has it open, and the sentence that says so."""
    if contradicted := _contradicted(facts, one):
        return contradicted
    if len(one.sightings) <= 1 and (alike := twins(facts, one)):
        node, root = (comment(part, 255) for part in alike[0])
        said = f"{node} has {root} open, which may be this database under another name of its disk"
        return MissingInput(
            f"whether {root} of {node} is this database",
            f"an RMU/DUMP/HEADER {root} on {node}: the root file it prints",
        ), said
    members = sorted(_not_looked_at(facts, one))
    if len(one.sightings) <= 1 and facts.every(ClusterNode) and len(_members(facts)) > 1 and members:
        names = " or ".join(comment(name, 31) for name in members)
        without = _without_rdb(facts)
        asked = ", ".join(comment(name, 31) for name in members if name not in without)
        told = ", ".join(comment(name, 31) for name in members if name in without)
        system, word = f"RMU/SHOW SYSTEM ! on {asked}, at the same time", f"word that {told} has no Rdb ({NO_RDB})"
        bring = "; ".join([system] * bool(asked) + [word] * bool(told))
        said = f"whether {names} has it open is not in the export"
        said += _may_be_partial(facts, members) or _other_times(facts, one)
        return MissingInput(f"whether {names} has it open", bring), said
    if len(one.sightings) == 1 and nodes_without(facts, one):
        return WHICH_NODES, "which other nodes the cluster has is not in the export"
    return ON_EACH_NODE, "whether another node has it open is not in the export" + _other_times(facts, one)


def once_alone(facts: Facts, one: OneDatabase) -> str:
    """What has to be seen first, as a condition, where it is open on one node and others may have it open."""
    closed = [comment(listed.node, 31) for listed in nodes_without(facts, one)]
    if closed and not facts.every(ClusterNode):
        others = f"{', '.join(closed[:MOST_NAMED])}{' …' if len(closed) > MOST_NAMED else ''}"
        do = "does" if len(closed) == 1 else "do"
        return f"once SHOW CLUSTER shows no node but this and {others}, which {do} not have it open"
    return f"once {_not_known_of(facts, one)} is seen not to open it"


def _not_known_of(facts: Facts, one: OneDatabase) -> str:
    """The nodes of which it is not known whether they have it open, for a sentence."""
    members = sorted(_not_looked_at(facts, one))
    named = len(one.sightings) <= 1 and facts.every(ClusterNode) and members and len(_members(facts)) > 1
    return " or ".join(comment(name, 31) for name in members[:MOST_NAMED]) if named else "another node"


def _without_rdb(facts: Facts) -> set[str]:
    """Members that run OpenVMS V9, which is for x86-64 alone."""
    return {
        node.name.upper() for node in facts.every(ClusterNode) if (node.software or "").upper().startswith("VMS V9")
    }


def seen_when(seen: Sequence[Sighting]) -> str:
    """`ORKNEY (01-Mar-2026 12:00) and SKYE (no time)`."""
    named = [f"{comment(one.node, 31)} ({f'{one.end:%d-%b-%Y %H:%M}' if one.end else 'no time'})" for one in seen]
    return enumerated(named)


def last_seen(one: OneDatabase) -> datetime | None:
    """When anything was last read of the database: what says who has it open must not be much older."""
    return max((at for at in (one.seen_last, one.header_at) if at), default=None)


def _members_known(facts: Facts, one: OneDatabase) -> bool:
    """Whether a list of the cluster's nodes is of the time of the figures.

    One without a time may be of any: it names nodes to look at, but does not prove that a node is alone.
    """
    last, alone = last_seen(one), len(_members(facts)) == 1
    return any(
        not out_of_date(node.at, last) and (node.at is not None or last is None or not alone)
        for node in facts.every(ClusterNode)
    )


def _systems(facts: Facts, one: OneDatabase) -> list[str]:
    """The System IDs in a listing of the database's locks: each node of the cluster has one of its own."""
    found = {lock.system for lock in belonging(facts.every(HeldLock), one) if lock.system}
    return sorted(found)


def _contradicted(facts: Facts, one: OneDatabase) -> tuple[MissingInput, str] | None:
    """What speaks against the listings that would prove one node, with what to collect instead; else nothing."""
    last, systems = last_seen(one), _systems(facts, one)
    if len(systems) > 1:
        named = " and ".join(comment(system, 31) for system in systems[:2])
        said = f"RMU/SHOW LOCKS names more than one System ID ({named}), so processes of another node may be in it"
        return ON_EACH_NODE, said
    if last is None or len(one.sightings) > 1:
        return None
    for dates, lacking in (
        ([listed.at for listed in facts.every(NodeDatabases) if listed.at], ON_EACH_NODE),
        ([node.at for node in facts.every(ClusterNode) if node.at], WHICH_NODES),
    ):
        if dates and out_of_date(max(dates), last):
            said = (
                f"{lacking.fact} was listed at {max(dates):%d-%b-%Y %H:%M}, and the database was last seen at "
                f"{last:%d-%b-%Y %H:%M}: too old to tell whether another node has it open"
            )
            return lacking, said
    return None


def listed_when(facts: Facts, one: OneDatabase) -> str:
    """When the oldest of the listings was taken that show no other node with it; begins with a blank, or empty."""
    times = [listed.at for listed in nodes_without(facts, one)] or [node.at for node in facts.every(ClusterNode)]
    dates = [at for at in times if at and not out_of_date(at, last_seen(one))]
    return f" (listed at {min(dates):%d-%b-%Y %H:%M})" if dates else ""


def _other_times(facts: Facts, one: OneDatabase) -> str:
    """Lists of other nodes that are of another time than this node's, with both times; begins with a comma."""
    if len(one.sightings) != 1 or not (here := one.sightings[0]).end:
        return ""
    apart = {
        listed.node.upper(): f"{comment(listed.node, 31)} at {listed.at:%d-%b-%Y %H:%M}"
        for listed in facts.every(NodeDatabases)
        if listed.at and listed.node.upper() != here.node.upper() and abs(here.end - listed.at) > SAME_TIME
    }
    if not apart:
        return ""
    seen = " and ".join(apart.values())
    return f", for {comment(here.node, 31)} was listed at {here.end:%d-%b-%Y %H:%M} and {seen}: not at one time"


def _may_be_partial(facts: Facts, members: Sequence[str]) -> str:
    """Lists of these nodes with one database that do not show the command; begins with a colon, or empty."""
    lists = (one for one in facts.every(NodeDatabases) if not one.complete and len(one.databases) == 1)
    found = {one.node.upper() for one in lists} & set(members)
    named = " and ".join(comment(name, 31) for name in sorted(found))
    return (
        f": the list of {named} has one database and not its command, so it may be of RMU/SHOW USERS; keep the line of "
        "RMU/SHOW SYSTEM in the file"
        if found
        else ""
    )


def _members(facts: Facts) -> set[str]:
    """Every node of the cluster that any export names."""
    named = {node.name.upper() for node in facts.every(ClusterNode)}
    return named | {member.name.upper() for member in facts.every(ClusterMember)}


def other_members(facts: Facts, one: OneDatabase) -> tuple[str, ...]:
    """The nodes of the cluster on which it was not seen, by name."""
    return tuple(sorted(_members(facts) - {sighting.node.upper() for sighting in one.sightings}))


def _not_looked_at(facts: Facts, one: OneDatabase) -> set[str]:
    """Members of the cluster that are not known to be without it, nor known to have it."""
    named = _members(facts)
    without = {listed.node.upper() for listed in nodes_without(facts, one)}
    own = {sighting.node.upper() for sighting in one.sightings}
    return named - own - without if own <= named else named | own


def remote_of(
    facts: Facts, one: OneDatabase, least: float, most: Callable[[Remote], float] = lambda remote: remote.percent
) -> Remote | Outcome:
    """What crosses the cluster where a database is in use, or the outcome where it cannot be told.

    That is at the node of the capture, or at another one that has users in it and has `most`: a master's own share
    is small where it serves a small node that asks it for everything. Nodes with fewer than `least` lock operations
    per second come last.
    """
    own = _remote_here(facts)
    users = {use.node.upper() for use in one.in_use}
    others = [remote for member in facts.every(ClusterMember) if (remote := _remote_there(member, users))]
    found = [*([own] if isinstance(own, Remote) else []), *others]
    return max(found, key=lambda remote: (remote.total >= least, most(remote)), default=own)


def little_of_the_cluster(facts: Facts, one: OneDatabase, limits: RemoteLimits) -> str:
    """That little crosses where each lock operation is counted once, as a clause; empty where it is much, or not known.

    Incoming and outgoing of one node together count what passes between two nodes at both of them. With the rates of
    all nodes, what tells is how much of its own requests a node has to wait for, at the one that sends most away.
    """
    cluster = cluster_of(facts)
    most = remote_of(facts, one, limits.operations_per_second, lambda remote: remote.leaving)
    if not isinstance(cluster, Cluster) or not isinstance(most, Remote):
        return ""
    if max(cluster.crossing_percent, most.leaving) >= limits.remote_percent:
        return ""
    return (
        f"only {cluster.crossing_percent:.0f} % of the cluster's {cluster.total:,.0f} lock operations/s cross it, and "
        f"at most {most.leaving:.0f} % of what one of these nodes asks for (limit {limits.remote_percent:g} %)"
    )


def _remote_there(member: ClusterMember, users: set[str]) -> Remote | None:
    """What crosses at another node, where it has users and its rates are known."""
    local, incoming, outgoing = member.local_per_second, member.incoming_per_second, member.outgoing_per_second
    if member.own or member.name.upper() not in users:
        return None
    if not (known(local) and known(incoming) and known(outgoing)) or min(local, incoming, outgoing) < 0:
        return None
    return _remote(local, incoming, outgoing, member.source, member.name)


def _remote_here(facts: Facts, statistics: tuple[str, ...] = SUSTAINED) -> Remote | Outcome:
    """What crosses the cluster at the node of the capture."""
    found = [one for name in statistics if (one := facts.latest(DistributedLockRates, statistic=name))]
    if not found:
        return Unknown((DLOCK,))
    rates = found[0]
    ways = ("enq", "convert", "deq")
    readings: list[Reading] = [
        getattr(rates, f"{way}_{where}") for way in ways for where in ("local", "incoming", "outgoing")
    ]
    for value in readings:
        if value is OVERFLOW or (known(value) and not 0 <= value < float("inf")):
            said = f"{value:g}/s" if known(value) else "asterisks"
            return Untrusted(f"lock operations by where they are served: {said} is no rate; take a shorter sample")
    local, incoming, outgoing = rates.local_per_second, rates.incoming_per_second, rates.outgoing_per_second
    if local is None or incoming is None or outgoing is None:
        return Unknown((DLOCK,))
    return _remote(local, incoming, outgoing, rates.source)


def _remote(local: float, incoming: float, outgoing: float, source: Source, node: str = "") -> Remote:
    total, own = local + incoming + outgoing, local + outgoing
    percent = 100 * (incoming + outgoing) / total if total else 0.0
    return Remote(total, percent, 100 * outgoing / own if own else 0.0, own, source, node)


def node_operations(facts: Facts) -> float | None:
    """Lock operations per second that the node asks for itself, sustained; `None`: not in the export.

    What it serves for other nodes is taken off: no statistics of a database on this node count it.
    """
    for name in SUSTAINED:
        rates = facts.latest(LockRates, statistic=name)
        if rates and (total := rates.operations_per_second) is not None and total > 0:
            served = facts.latest(DistributedLockRates, statistic=name)
            own = total - ((served.incoming_per_second or 0.0) if served else 0.0)
            return own if own > 0 else None
    return None


def part_of_node(facts: Facts, operations: float | None) -> float | None:
    """What so many lock operations per second are of the node's, per cent; `None`: not known.

    Nor is it where they are more than all: then the two were measured at different times, or on different nodes.
    """
    return _part(operations, node_operations(facts))


def _part(operations: float | None, total: float | None) -> float | None:
    part = 100 * operations / total if total and operations is not None else None
    return part if part is None or part <= AT_MOST else None


def is_main(facts: Facts, one: OneDatabase, found: list[Statistics], remote: Remote) -> bool:
    """Whether what the node locks is mostly this database: by its share, else as the only one of the capture."""
    _, part = _part_here(facts, found, remote)
    return part >= MAIN_PERCENT if part is not None else one.alone


def lesser_part(facts: Facts, found: list[Statistics], remote: Remote) -> str:
    """Where the database can make only the lesser part of what crosses: a sentence, or nothing.

    Its own lock operations bound what leaves the node. What other nodes ask this one for is not among its statistics
    here: nothing is said where that is more. Nor is an average of more than a day: its busy hour may be the node's.
    """
    recent = [each for each in found if each.over == "interval" or (each.seconds or 0.0) <= LONGEST]
    operations, part = _part_here(facts, recent, remote)
    leaves = remote.asked * remote.leaving / 100
    serves = remote.total * remote.percent / 100 - leaves
    if operations is None or part is None or leaves < serves or operations >= leaves * MAIN_PERCENT / 100:
        return ""
    return (
        f"But it makes {operations:,.0f} lock operations/s there, {part:.1f} % of what {remote.where} itself asks for: "
        f"of what leaves it at most {100 * operations / leaves:.0f} % are of this database."
    )


def _part_here(facts: Facts, found: list[Statistics], remote: Remote) -> tuple[float | None, float | None]:
    """Lock operations per second of the database, and their part of what its node asks for, per cent.

    Statistics of one node are held against the lock rates of that node alone.
    """
    node = remote.node or next((rates.node for rates in facts.every(DistributedLockRates) if rates.node), "")
    here = [each for each in found if each.merged or not (each.node and node) or each.node.upper() == node.upper()]
    operations = max((total for each in here if (total := each.operations()) is not None), default=None)
    return operations, _part(operations, remote.asked) if remote.node else part_of_node(facts, operations)
