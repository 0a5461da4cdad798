"""What rules about a cluster have in common: its members' rates, who serves most of what crosses, what a lock takes.

Every capture is of one node and its `ClusterMember` facts tell of all. So that a finding about the cluster is not
repeated by each node, a rule speaks in the capture of the node that it is about.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

from collectors.facts import OVERFLOW, Facts, Reading, Source, known
from collectors.facts.openvms import (
    ClusterMember,
    ClusterNode,
    DistributedLockRates,
    LockLatency,
    Node,
    RemasterRates,
    latest_lines,
)
from collectors.facts.rdb import Database, DatabaseUse, NodeDatabases, RowCache, StatisticsWindow, StorageArea
from rules.changes.quoting import comment
from rules.finding import Clean, Evidence, MissingInput, Outcome, Unknown, Untrusted
from rules.laws.rounding import plain
from rules.openvms._evidence.node import NODE_FACTS, node_name

CLUSTER_FACTS = (*NODE_FACTS, ClusterMember, ClusterNode, LockLatency, DistributedLockRates)
"""What a rule that uses this module has to declare."""
OF_RDB = (Database, DatabaseUse, NodeDatabases, RowCache, StatisticsWindow, StorageArea)
"""What tells that Rdb is used at all."""
PARTS = ("local", "incoming", "outgoing")
STATISTICS = ("mean", "current", "at lock peak")
SERVED_BY = "a T4 composite CSV of {0}, of the same day, or MONITOR DLOCK ! on {0}"
SERVED = f"{DistributedLockRates.COLLECTED_BY}, or MONITOR DLOCK"
KEPT = (
    "First see what keeps the trees elsewhere: LOCK_ACTV names them and their masters, MCR SYSGEN SHOW has PE1 and "
    "LOCKDIRWT of every node."
)
"""What tells why a node asks others for most of its locks, where nothing came along of who serves them."""


def members_of(facts: Facts) -> list[ClusterMember]:
    """The nodes of the cluster, each by its latest reading, in the order of their names."""
    return list(facts.once(ClusterMember, _members))


def shows_rdb(facts: Facts) -> bool:
    """Whether anything in the export, of this node or another, is of Rdb: without it no advice is about a database."""
    whole = facts.also(*OF_RDB, ClusterMember)
    listed = any(one.databases for one in whole.every(ClusterMember))
    return listed or any(next(iter(whole.every(kind)), None) is not None for kind in OF_RDB)


def _members(facts: Facts) -> list[ClusterMember]:
    latest = {member.name.upper(): member for member in facts.every(ClusterMember)}
    return [latest[name] for name in sorted(latest)]


@dataclass(frozen=True)
class Cluster:
    """The members, two at least, each with its lock operations by where they are served."""

    members: tuple[ClusterMember, ...]
    own: ClusterMember
    """The node of the capture."""
    others: tuple[str, ...] = ()
    """Nodes that SHOW CLUSTER lists beside these, whose lock operations are not in the exports."""

    def of(self, part: str) -> dict[str, float]:
        """`local`, `incoming` or `outgoing` lock operations per second by node."""
        read: list[tuple[str, Reading]] = [(one.name, getattr(one, f"{part}_per_second")) for one in self.members]
        return {name: value for name, value in read if known(value)}

    @property
    def asked(self) -> float:
        """Lock operations per second that all nodes ask for elsewhere: what crosses the cluster."""
        return sum(self.of("outgoing").values())

    @property
    def served(self) -> float:
        """Lock operations per second that all nodes serve for others: the same ones, seen from the masters."""
        return sum(self.of("incoming").values())

    @property
    def total(self) -> float:
        """Lock operations per second of the cluster, each counted once: local and outgoing, incoming left out."""
        return sum(self.of("local").values()) + self.asked

    @property
    def crossing_percent(self) -> float:
        """How much of all lock operations crosses the cluster."""
        return 100 * self.asked / self.total if self.total else 0.0

    @property
    def master(self) -> ClusterMember:
        """The node that serves most for others; of equal ones the first by name."""
        incoming = self.of("incoming")
        return max(self.members, key=lambda one: incoming[one.name])

    @property
    def served_percent(self) -> float:
        """The master's part of all that is served for others."""
        return 100 * self.of("incoming")[self.master.name] / self.served if self.served else 0.0

    @property
    def agreement(self) -> str:
        """Whether what is asked for and what is served agree, in words with both figures."""
        figures = f"{self.asked:,.0f}/s outgoing, {self.served:,.0f}/s incoming"
        if self.own.complete is None:
            return f"{figures}; too few to tell whether a node is missing"
        if not self.own.complete:
            return f"{figures}: they do not agree"
        if self.others:
            named = ", ".join(comment(name, 31) for name in self.others)
            return f"{figures}: they agree, so hardly anything crosses to {named}, which SHOW CLUSTER lists, too"
        return f"{figures}: they agree, no node is missing"


def cluster_of(facts: Facts) -> Cluster | Outcome:
    """The cluster, or the outcome where its rates cannot be judged."""
    members = members_of(facts)
    own = [one for one in members if one.own]
    if len(members) < 2 or len(own) != 1:
        return _alone(facts)
    for one in members:
        for part in PARTS:
            value: Reading = getattr(one, f"{part}_per_second")
            if unreal(value):
                return Untrusted(f"{part} lock operations of {one.name}: {as_read(value)} is no rate")
    silent = [one.name for one in members if not all(known(getattr(one, f"{part}_per_second")) for part in PARTS)]
    others = tuple(one.name for one in unbrought(facts, members))
    silent += others
    found = Cluster(tuple(members), own[0], others)
    if found.own.complete is True and not any(one.name in silent for one in members):
        return found
    lacks = _unserved(silent)
    if any(one.name in silent for one in members):
        names = ", ".join(silent)
        return Unknown(lacks, f"how many locks of {names} are served where (MONITOR DLOCK) is not in the exports")
    if found.own.complete is False:
        missing = (
            f"the lock operations of {', '.join(silent)} are not in the exports" if silent else "a node is missing"
        )
        why = f"all nodes together: {found.agreement}, so {missing}, or the exports' times differ"
        return Unknown(lacks or Unknown.of(ClusterMember).missing, why)
    return found


def _alone(facts: Facts) -> Unknown:
    """What is missing where the exports are of one node alone: the others by name, where SHOW CLUSTER lists them."""
    own = (own_name(facts) or "").upper()
    others = [one.name for one in unbrought(facts, ()) if one.name.upper() != own]
    if not own or not others:
        return Unknown.of(ClusterMember)
    return Unknown(_unserved(others))


def _unserved(nodes: Sequence[str]) -> tuple[MissingInput, ...]:
    """That the lock operations of these nodes are not in the exports, each with what prints them."""
    return tuple(
        MissingInput(
            f"lock operations of {comment(name, 31)} by where they are served", SERVED_BY.format(comment(name, 31))
        )
        for name in nodes
    )


def unbrought(facts: Facts, members: Sequence[ClusterMember]) -> list[ClusterNode]:
    """Nodes of the cluster whose own exports were not collected: a quorum node or a satellite has a weight, too."""
    names = {one.name.upper() for one in members}
    latest = latest_lines(facts.every(ClusterNode))
    return [one for name, one in latest.items() if name not in names and (one.status or "MEMBER").upper() == "MEMBER"]


class Stakes(NamedTuple):
    """What a master works locally, and what another node asks it for, lock operations per second."""

    local: float
    """All that the master does locally: at most that is in the trees the other asks it for."""
    least: float
    """What the node asks it for at the least: all it asks for, less what the other nodes serve."""
    most: float
    """The same at the most. Who asks whom is not counted: where it is more than the least, it is not known."""


def stakes_of(members: Sequence[ClusterMember], master: str, node: str) -> Stakes | None:
    """What `master` works locally (at most that is in its own trees), and what `node` asks it for at least, per second.

    At least: what the other nodes serve is taken off. `None` where a rate of one of them is not known.
    """
    return stakes_by_node(members, master).get(node.upper())


def stakes_by_node(members: Sequence[ClusterMember], master: str) -> dict[str, Stakes]:
    """The same of every node but the master, by its name in capitals; without those of which it is not known."""
    rates = {one.name.upper(): one for one in members}
    first = rates.pop(master.upper(), None)
    if first is None or not known(first.local_per_second):
        return {}
    served = {name: one.incoming_per_second for name, one in rates.items()}
    untold = {name for name, value in served.items() if not known(value)}
    whole = sum(value for value in served.values() if known(value))
    found = {}
    for name, one in rates.items():
        own, out = served[name], one.outgoing_per_second
        if known(out) and not untold - {name}:
            least = max(0.0, out - (whole - own if known(own) else whole))
            most = min(out, first.incoming_per_second) if known(first.incoming_per_second) else out
            found[name] = Stakes(first.local_per_second, least, max(least, most))
    return found


def unreal(value: Reading) -> bool:
    """Whether a rate was read that no counter can give: asterisks, negative, endless."""
    return value is OVERFLOW or (known(value) and not 0 <= value < float("inf"))


def as_read(value: Reading) -> str:
    """A figure for a sentence."""
    return f"{value:g}" if known(value) else "asterisks"


def wrong_reading(rates: DistributedLockRates | RemasterRates) -> Untrusted | None:
    """Why these rates cannot be believed, where one of them is no rate at all."""
    for field in fields(rates):
        value = getattr(rates, field.name)
        if unreal(value):
            said = f"{field.name.replace('_', ' ')}: {as_read(value)} is no rate; take a shorter sample"
            return Untrusted(said)
    return None


def own_rates(facts: Facts) -> DistributedLockRates | None:
    """Lock operations of this node by where they are served: sustained ones before others."""
    found = [one for name in STATISTICS if (one := facts.latest(DistributedLockRates, statistic=name))]
    every = facts.every(DistributedLockRates)
    return found[0] if found else (every[-1] if every else None)


def hardly_crosses(facts: Facts, remote_percent: float) -> Clean | None:
    """In order, as far as this node's own rates tell: so little goes to and from other nodes that no master matters."""
    rates = own_rates(facts)
    if rates is None:
        return None
    local, incoming, outgoing = rates.local_per_second, rates.incoming_per_second, rates.outgoing_per_second
    if local is None or incoming is None or outgoing is None or min(local, incoming, outgoing) < 0:
        return None
    total = local + incoming + outgoing
    share = 100 * (incoming + outgoing) / total if total else 0.0
    if share >= remote_percent:
        return None
    return Clean(
        f"of {total:,.0f} lock operations/s of this node {share:.1f} % cross the cluster, limit {remote_percent:g} %: "
        "who is master hardly matters"
    )


def sustained(facts: Facts) -> RemasterRates | None:
    """How often lock trees moved over the whole capture, or `None` where only moments were read."""
    return facts.latest(RemasterRates, statistic="mean")


def own_name(facts: Facts) -> str | None:
    """The node of the capture."""
    own = [one.name for one in facts.every(ClusterMember) if one.own]
    return own[-1] if own else node_name(facts)


def hardware_names(facts: Facts) -> Mapping[str, tuple[str, Source]]:
    """Names of machines by node (capitals), as far as read: the node's own displays before SHOW CLUSTER of another."""
    return facts.once(ClusterNode, _hardware_names)


def _hardware_names(facts: Facts) -> Mapping[str, tuple[str, Source]]:
    every = [(one.name, one.hardware, one.source) for one in facts.every(ClusterNode)]
    every += [(one.name, one.hardware, one.hardware_source or one.source) for one in facts.every(ClusterMember)]
    every += [(one.name, one.hardware, one.source) for one in facts.every(Node)]
    return {name.upper(): (hardware, source) for name, hardware, source in every if hardware}


Cell = tuple[float, Source]
"""Microseconds, and where they stand."""


def latencies_of(facts: Facts) -> dict[tuple[str, str], Cell] | Untrusted:
    """The LOCKTIME matrix in capitals, (asking node, master) to microseconds; why not, where it cannot be believed.

    All rules share it: it is read, never changed.
    """
    return facts.once(LockLatency, _latencies)


def _latencies(facts: Facts) -> dict[tuple[str, str], Cell] | Untrusted:
    cells: dict[tuple[str, str], Cell] = {}
    for one in facts.every(LockLatency):
        value = one.microseconds
        if unreal(value) or value == 0:
            return Untrusted(f"{as_read(value)} µs for a lock of {one.from_node} on {one.master} is no latency")
        if known(value):
            cells[one.from_node.upper(), one.master.upper()] = value, one.source
    return cells


def local_cells(cells: dict[tuple[str, str], Cell], nodes: Sequence[str]) -> dict[str, Cell]:
    """What a local lock takes, of those nodes (any case) whose cell is there."""
    names = [name.upper() for name in nodes]
    return {name: cells[name, name] for name in names if (name, name) in cells}


FAR_LOCKS = 100.0
"""Practice: 25 km are 92 local locks, 'about 100 times worse' (JCC Consulting, 2014)."""
LONG_WAY = 500.0
"""This project, microseconds: twice what 25 km of glass take there and back."""


def far_apart(facts: Facts, one: str, other: str) -> str:
    """That a lock between two nodes takes so many local ones that they are far apart, as a clause; empty where not."""
    cells = latencies_of(facts)
    if not isinstance(cells, dict):
        return ""
    for asks, master in ((one.upper(), other.upper()), (other.upper(), one.upper())):
        remote, local = cells.get((asks, master)), cells.get((asks, asks)) or cells.get((master, master))
        if remote and local and remote[0] >= FAR_LOCKS * local[0] and not near_back(cells, asks, master, FAR_LOCKS):
            asker, holder = (one, other) if asks == one.upper() else (other, one)
            takes, times = plain(remote[0], 3), plain(remote[0] / local[0], 3)
            return f"a lock of {asker} on {holder} takes {takes} µs, {times} times a local one"
    return ""


def near_back(cells: Mapping[tuple[str, str], Cell], asks: str, master: str, times: float) -> Cell | None:
    """The lock in the other direction, where it is too short for nodes that are far apart; `None` where it is not.

    The way is as long in both directions. What one direction alone takes longer is the slower node's own: a fast
    node's local locks make any remote one look long. A way of `LONG_WAY` is long however slow the local locks are.
    """
    back, own = cells.get((master, asks)), cells.get((master, master))
    if back is None or own is None or back[0] >= times * own[0]:
        return None
    return None if min(back[0], cells[asks, master][0]) >= LONG_WAY else back


def one_process(cells: dict[tuple[str, str], Cell], names: Sequence[str]) -> Iterator[Evidence]:
    """What one process can do at most, one lock after the other, for each of these masters: 1 ÷ latency.

    Of the nodes that ask the one that waits longest, the master itself where no other was measured.
    """
    for master in (name.upper() for name in names):
        asks = [key for key in cells if key[1] == master and cells[key][0] > 0]
        slowest = max(asks, key=lambda key: (key[0] != master, cells[key][0]), default=None)
        if slowest is not None:
            us, source = cells[slowest]
            metric = f"most that one process of {slowest[0]} can do with {master} as master"
            yield Evidence(metric, round(1e6 / us, 1), "/s", source, computed="as 1 ÷ latency")
