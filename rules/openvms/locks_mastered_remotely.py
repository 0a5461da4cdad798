"""Many lock operations cross the cluster to another node.

Finds: MONITOR DLOCK's lock operations by where they are served. Outgoing ones this node asks another for; incoming ones
it serves for others. Speaks when their share of all lock operations is high and the total is worth it.

With the exports of all nodes it adds them up, each operation once: local and outgoing, for what is outgoing here is
incoming elsewhere. It then says what the published runs give for each node as master.

Why it matters: a lock that another node masters costs messages where a local one costs microseconds: remote locks are
vastly more expensive (JCC Consulting's slides on the OpenVMS lock manager, 2014). There, two nodes together did 85 % of
what the fastest did alone when it was the master, and 57 % with the slower one as master; three nodes did 84, 55 or 25
%, by who was the master.

How loud it is: a share is no cost. A real two-node day had 1,140 lock operations a second cross it without any trouble,
so fewer than 1,200 at a node are a note, however large their share.

What to do: let the work meet its locks. A tree belongs to the node that works most in it, so what the master does
locally is held against what this node asks it for: trees are never sent away from more work than they meet. Where
little of the cluster's locking crosses, it is a note. Work goes only where the CPUs have room for it. Open the database
on one node where the application allows it; for Rdb allow partitioned lock trees where it must be open on several;
run work and trees together on one node, never on the slower one, unless one node makes nearly all of a tree's
requests already (then its master is to change) or a file, a volume or several nodes are behind it (then less is to be
asked of it); or reach the database through Rdb remote access,
whose network has limits of its own. Then measure again.

When to ignore it: when the application must run on several nodes at once and response times are good, or when the
shares come from an hour in which little else ran.

Over 600 lines: where work and trees belong is told for every state of what is known of the cluster.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.openvms import (
    ClusterMember,
    ClusterNode,
    DistributedLockRates,
    ListedMember,
    LockRates,
    MemoryUse,
    SysgenParameter,
)
from collectors.facts.openvms.resource_names import QUEUE_MANAGER, RMS_FILE
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Change, Clean, Evidence, Expectation, Finding, Outcome, Severity, Unknown, Untrusted, joined
from rules.laws.hardware import Order
from rules.laws.mastering import WhatIf
from rules.openvms._evidence.cluster import (
    CLUSTER_FACTS,
    KEPT,
    Cluster,
    cluster_of,
    far_apart,
    latencies_of,
    members_of,
    own_name,
    own_rates,
    shows_rdb,
    stakes_by_node,
    unbrought,
    wrong_reading,
)
from rules.openvms._evidence.dominating import DOMINATING_FACTS, of_share
from rules.openvms._evidence.file_system import of_volume
from rules.openvms._evidence.lock_trees import (
    FILE_SYSTEM,
    LISTED_PART,
    LONGEST_LABEL,
    TREE_FACTS,
    Share,
    asked_elsewhere,
    asked_of,
    called,
    crosses_most,
    file_called,
    share_of_key,
    wanders_most,
    work_on,
)
from rules.openvms._evidence.mastership import CLEARLY, Misplaced, governing, kept_by, misplaced, weight_of, works_more
from rules.openvms._evidence.node import in_prose, sentence, subject_of
from rules.openvms._evidence.node_speeds import compare_nodes, what_if, what_if_text
from rules.openvms._evidence.room import FULL_PERCENT, room_of
from rules.openvms._evidence.settled import LEAVING, REMOTE
from rules.openvms._evidence.spinning import CROSSING_OPERATIONS, SERVED_OPERATIONS, SERVED_SHARE
from rules.rdb._evidence.databases import DATABASE_FACTS, databases
from rules.rdb._evidence.sharing import SHARING_FACTS, open_elsewhere
from rules.sources import JCC

LINKS = ("https://wiki.vmssoftware.com/LOCKRMWT",)
STATISTICS = {"mean": "On average", "at lock peak": "In the sample with most lock operations"}
"""Sustained figures are judged before those of one sample."""
WITH = "all nodes' lock operations with {0} as master (% of the fastest node's own rate)"
PUBLISHED = (
    "What another master gives is open: in published runs two nodes did 85 % of the fastest node's rate with "
    f"it as master, 57 % with the slower one, three 84, 55 or 25 % ({JCC})."
)
EXPENSIVE = "Remote locks are vastly more expensive than local ones."
SERVING = (
    "openvms/spinlock_hot:LCKMGR",
    "openvms/lock_manager_needs_own_cpu",
    "openvms/concurrency_past_peak",
    "openvms/spinning_unexplained",
)
"""What a node that serves others most of the time pays with: it spins for their locks."""


WEIGHT_FIRST = (
    "Where nobody chose it on purpose, set {}, then measure: of equal weights a tree goes to the node that works more "
    "in it."
)
ELSE_MOVE = "Only if that is not enough, {}."
NEARLY_ALL = 80.0
"""Per cent of a tree's requests, this project: a node that makes so many has the work already."""
SEVERAL = 3
"""Nodes: what so many use, none of them more than half, is used alike (this project)."""
BACK = 3
"""Masters of a tree in order of the reports: from three on it went and came back, or went on."""
OF_OTHERS = "collect the [MON.DLOC] and [MON.RLCK] columns of the other nodes for the same hours"
NEVER_ALONE = ", never the trees alone"
ANY_TREE = "a tree that crosses the cluster"
MOST_OF = 50.0
"""Per cent of what crosses, this project: a tree that has half of it is named in the step."""


@dataclass(frozen=True)
class Limits:
    """From which shares on the rule speaks, and when the total is too small to matter."""

    remote_percent: float = percent(
        20.0, "this project: a two-node cluster with 8 % in a real day had no trouble", of="lock operations"
    )
    outgoing_percent: float = percent(
        50.0, "this project: half of this node's own requests leave it", of="own requests"
    )
    operations_per_second: float = limit(
        SERVED_OPERATIONS, "this project: below this the total is too small to matter", unit="lock operations/s"
    )
    crossing_per_second: float = limit(
        CROSSING_OPERATIONS,
        "this project: a real two-node day had 1,140 a second cross and no trouble",
        unit="lock operations/s",
    )
    settled_per_second: float = limit(
        5_000.0,
        "this project: four times that day's, where the master works most in its trees and both nodes have CPUs left",
        unit="lock operations/s",
    )
    serving_percent: float = percent(
        SERVED_SHARE, "this project: a node that works mostly for others spins for their locks", of="lock operations"
    )
    gap_percent: float = limit(
        5.0, "this project: local, incoming and outgoing add up to the total within rounding", high=50, unit="%"
    )


@dataclass(frozen=True)
class _Rates:
    """What is judged: operations per second, and shares in per cent."""

    total: float
    incoming: float
    outgoing: float
    share: float
    """Incoming and outgoing of the total."""
    leaving: float
    """Outgoing of this node's own requests."""
    tree: str = ""
    """The tree that has most of what crosses here, as a report of LOCK_ACTV has it."""
    asked: Share | None = None
    """The same with who asks for how much in it."""
    title: str = ""
    """What it is called in a title: of the file system with the volume that has most."""

    @property
    def one_node(self) -> str:
        """That the work on that tree, or on any, is to run on one node, as a clause."""
        if self.tree.startswith("QMAN$"):
            # every node has jobs: what asks for queues in a loop can be made to ask seldom, the queue manager not moved
            return f"have what asks for queues in a loop ask the queue manager ({self.tree}) seldom"
        return f"run {work_on(self.tree or ANY_TREE)} on one node"

    @property
    def together(self) -> str:
        """The same where work and trees may both move."""
        return self.one_node if self.tree else "run work and trees together on one node"


@rule(
    needs=(DistributedLockRates,),
    uses=(*CLUSTER_FACTS, *DATABASE_FACTS, *SHARING_FACTS, *TREE_FACTS, *DOMINATING_FACTS, MemoryUse, ListedMember),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the shares of the sustained rates."""
    rates = own_rates(facts)
    if rates is None:
        raise AssertionError("the engine has asked for these rates")
    if refused := _refused(facts, rates, limits):
        yield refused
        return
    local, incoming, outgoing = rates.local_per_second, rates.incoming_per_second, rates.outgoing_per_second
    if local is None or incoming is None or outgoing is None:
        yield Unknown.without("lock operations by where they are served", f"{rates.COLLECTED_BY}, or MONITOR DLOCK")
        return
    total, own = local + incoming + outgoing, local + outgoing
    if not incoming and not outgoing:
        yield Clean(f"{total:,.0f} lock operations/s, all local: one node, or nothing is shared")
        return
    share = 100 * (incoming + outgoing) / total
    leaving = 100 * outgoing / own if own else 0.0
    loud = leaving >= limits.outgoing_percent and own >= limits.operations_per_second
    figures = (
        f"of {total:,.0f} lock operations/s {100 * local / total:.1f} % were local, {100 * incoming / total:.1f} % "
        f"incoming, {100 * outgoing / total:.1f} % outgoing"
    )
    if total < limits.operations_per_second:
        yield Clean(f"{figures}; too few to matter (limit {limits.operations_per_second:g}/s)")
        return
    if share < limits.remote_percent and not loud:
        yield Clean(f"{figures}; limit {limits.remote_percent:g} % incoming and outgoing together")
        return
    severity = Severity.WARNING if loud else Severity.ADVICE
    most = crosses_most(facts, own_name(facts) or "", incoming + outgoing)
    key = most[0] if most and most[1] >= MOST_OF else ""
    tree, asked = file_called(facts, key) if key else "", share_of_key(facts, key)
    volume = of_volume(facts, asked) if asked and key == FILE_SYSTEM else None
    title = f"{tree} on {comment(volume.resource.volume or '', LONGEST_LABEL)}" if volume else tree
    found = _Rates(total, incoming, outgoing, share, leaving, tree, asked, title)
    yield _finding(facts, rates, limits, severity, figures, found)


def _refused(facts: Facts, rates: DistributedLockRates, limits: Limits) -> Outcome | None:
    """Say why these rates cannot be believed, or `None`."""
    if wrong := wrong_reading(rates):
        return wrong
    whole = [one for one in facts.every(LockRates) if one.statistic == rates.statistic]
    whole = [one for one in whole if one.source.file == rates.source.file]
    served = [rates.local_per_second, rates.incoming_per_second, rates.outgoing_per_second]
    parts = sum(rate for rate in served if rate is not None)
    if None in served or not whole or (counted := whole[-1].operations_per_second) is None:
        return None
    if rates.statistic != "p95" and abs(counted - parts) > max(1.0, limits.gap_percent / 100 * max(counted, parts)):
        return Untrusted(
            f"local, incoming and outgoing add up to {parts:,.0f}/s, the lock manager counted {counted:,.0f}/s: "
            "collect again"
        )
    return None


def _enough(cluster: Cluster | Outcome, limits: Limits) -> float:
    """From how many that cross, per second, it is more than a note: more of them where no tree belongs elsewhere.

    So it is where the master does more in its trees than any other node can ask it, and no node is short of processors.
    """
    if not isinstance(cluster, Cluster):
        return limits.crossing_per_second
    master = cluster.master.name
    stakes = stakes_by_node(cluster.members, master)
    others = [stakes.get(one.name.upper()) for one in cluster.members if one.name != master]
    stays = all(one is not None and one.most <= one.local for one in others)
    idle = all(known(one.busy_percent) and one.busy_percent < FULL_PERCENT for one in cluster.members)
    return limits.settled_per_second if stays and idle else limits.crossing_per_second


def _asks_most(cluster: Cluster) -> str:
    """The node that asks others most: in its capture alone is told what another master would give."""
    outgoing = cluster.of("outgoing")
    return max(cluster.members, key=lambda one: outgoing[one.name]).name


def _master(facts: Facts, cluster: Cluster | Outcome) -> tuple[str, str] | None:
    """The node that masters what this one asks for, and why: of a cluster who serves most, of two nodes the other."""
    own = (own_name(facts) or "").upper()
    if isinstance(cluster, Cluster):
        why = f"which serves {cluster.served_percent:.0f} % of what crosses"
        return (cluster.master.name, why) if cluster.master.name.upper() != own else None
    listed = {one.name.upper() for one in facts.every(ClusterNode) if (one.status or "MEMBER").upper() == "MEMBER"}
    others = listed - {own}
    return (others.pop(), "the other node of the cluster") if own in listed and len(others) == 1 else None


@dataclass(frozen=True)
class _Where:
    """Where work and trees belong: never on the slower node."""

    waits: str
    """Who waits for whom, as a sentence."""
    because: str
    """Why they belong there, as one or two sentences."""
    remedy: str
    """What to do, as a clause."""
    room: str = ""
    """Whether there is room for it, as a sentence."""


def _where(facts: Facts, cluster: Cluster | Outcome, limits: Limits, rates: _Rates) -> _Where:
    """Where work and trees belong.

    Work is sent elsewhere only where most of it is served there, and that node's own figures are at hand.
    """
    if rates.incoming >= limits.remote_percent / 100 * rates.total and rates.incoming > CLEARLY * rates.outgoing:
        most = _asks_most(cluster) if isinstance(cluster, Cluster) else None
        kept = works_more(cluster.members, cluster.own.name, most) if isinstance(cluster, Cluster) and most else ""
        return _Where(
            f"This node serves others {in_prose(rates.incoming)}/s and asks them for {in_prose(rates.outgoing)}/s: it "
            "is the master of trees that other nodes work on.",
            joined("Work and trees belong on one node, the faster one where they differ.", kept),
            *(
                _to_master(facts, cluster, rates, most, kept)
                or (f"{rates.one_node}{NEVER_ALONE}" if kept else rates.together,)
            ),
        )
    waits = f"{rates.leaving:.0f} % of this node's own requests wait for another node ({in_prose(rates.outgoing)}/s)"
    own, found = own_name(facts), _master(facts, cluster)
    order = compare_nodes(facts, found[0], own) if own and found else None
    if isinstance(cluster, Cluster) and own and found:
        return _in_cluster(facts, cluster, limits, rates, (own, *found), order)
    if rates.leaving < limits.outgoing_percent:
        lacks = "" if isinstance(cluster, Cluster) else f": {OF_OTHERS}"
        return _Where(_mostly_here(waits, rates), f"{STAYS}{lacks}.", rates.one_node)
    if order is None or found is None:
        why = f"{EXPENSIVE} Work and trees belong on one node, {_fastest(facts)}."
        return _Where(f"{waits}.", why, rates.together, "" if rates.tree or members_of(facts) else KEPT)
    faster = ("as fast", "the faster one", "the slower one")[order.sign]
    return _Where(
        f"{waits}, and {found[0]}, {found[1]}, is {faster} ({order.basis}).",
        "Whether this work belongs there or the trees here is not known: a tree belongs to the node that works most in "
        f"it, which the lock operations of {found[0]} tell: collect its [MON.DLOC] columns of the same hours.",
        rates.one_node,
    )


def _to_master(
    facts: Facts, cluster: Cluster | Outcome, rates: _Rates, most: str | None, kept: str
) -> tuple[str, str] | None:
    """The same step, and the room for it, as the node that asks most is told: its work to this node.

    Where this node works most in its trees (`kept`) it need only be as fast, else it has to be the faster one.
    """
    if not isinstance(cluster, Cluster) or most is None or cluster.own.name != cluster.master.name:
        return None
    order, found = (
        compare_nodes(facts, cluster.own.name, most),
        room_of(cluster.members, cluster.own.name, comes_from=(most,)),
    )
    if order is None or order.sign < (0 if kept else 1) or found.full:
        return None
    part = "what fits of the work" if found.tight else work_on(rates.tree)
    return f"move {part} to {cluster.own.name}", sentence(found.brief)


STAYS = (
    "Its work stays where it is; which trees cross, and which node works most in each, decides where those trees belong"
)


def _mostly_here(waits: str, rates: _Rates) -> str:
    """That most of what this node asks for is served here, as a sentence."""
    served = f"{100 - rates.leaving:.0f} % are served here, and it serves others {in_prose(rates.incoming)}/s"
    return f"{waits}, {served}."


def _in_cluster(
    facts: Facts, cluster: Cluster, limits: Limits, rates: _Rates, names: tuple[str, str, str], order: Order | None
) -> _Where:
    """The same where the figures of all nodes are there: who works most in the trees, then who is faster."""
    own, master, why = names
    waits = f"{rates.leaving:.0f} % of this node's own requests wait for another node ({in_prose(rates.outgoing)}/s)"
    kept, there = works_more(cluster.members, master, own), _room(facts, master, own)
    far = far_apart(facts, own, master)
    if far and (order is None or order.sign <= 0) and cluster.crossing_percent >= limits.remote_percent:
        return _Where(
            f"{waits}, and {master}, {why}, is far away: {far}.",
            "Whoever is master, the other one waits that long for each lock.",
            "keep each tree at one site, with the work on it",
        )
    if cluster.crossing_percent < limits.remote_percent:
        return _Where(
            f"{waits}, but all that crosses is {cluster.crossing_percent:.1f} % of the cluster's lock operations "
            f"(limit {limits.remote_percent:g} %).",
            joined("So who is master hardly matters, and no tree is to be moved for it.", kept),
            f"run this work on {master} where it is too slow",
            there,
        )
    if rates.leaving < limits.outgoing_percent:
        return _Where(_mostly_here(waits, rates), joined(f"{STAYS}.", kept), rates.one_node)
    if order is None:
        most = kept or sentence(
            f"this node works more in the trees than {master}",
            kept_by(facts, cluster.members, master, own).removesuffix("."),
        )
        return _Where(
            f"{waits}.",
            f"Work and trees belong on one node, {_fastest(facts)}. {most}",
            f"{rates.one_node}{NEVER_ALONE}" if kept else rates.together,
        )
    speed = f"{('as fast', 'the faster one', 'the slower one')[order.sign]} ({order.basis})"
    waits = f"{waits}, and {master}, {why}, is {speed}."
    if kept and order.sign < 0:
        return _Where(waits, kept, f"{rates.one_node}{NEVER_ALONE}")
    asked = cluster.of("outgoing")
    most = max((one for one in asked if one != master), key=lambda one: asked[one])
    if not kept and order.sign <= 0 and asked[most] > asked[own]:
        return _Where(
            waits,
            f"{most} asks for more ({in_prose(asked[most])}/s), and a tree belongs to the node that works most in it. "
            "Which trees those are, LOCK_ACTV tells: only what this node alone works in belongs here.",
            rates.one_node,
        )
    if not kept and order.sign <= 0:
        return _Where(
            waits,
            joined(
                "This node works most in its trees, so they belong here, not this work there.",
                kept_by(facts, cluster.members, master, own),
            ),
            f"make {own} the master of its trees",
            _room(facts, own, master, by="weight"),
        )
    before = [one for one in asked if one not in (own, master) and asked[one] > asked[own]]
    found = room_of(cluster.members, master, comes_from=(own, *before))
    if found.full:
        return _Where(waits, EXPENSIVE, "run work and trees together where there is room", there)
    part = "what fits of the work" if found.tight else work_on(rates.tree)
    there = sentence(found.brief) if before else there
    return _Where(waits, f"{EXPENSIVE} So this work belongs there.", f"move {part} to {master}", there)


def _room(facts: Facts, node: str, comes_from: str, *, by: str = "work") -> str:
    """Whether the node that work or trees are sent to has free CPUs for it, as a sentence."""
    return sentence(room_of(members_of(facts), node, comes_from=(comes_from,), by=by).brief)


def _fastest(facts: Facts) -> str:
    """Which node the LOCKTIME run that came with it has as the fastest, as a clause; else that such a run tells."""
    cells = latencies_of(facts)
    local = {asks: us for (asks, master), (us, _) in cells.items() if asks == master} if isinstance(cells, dict) else {}
    names = sorted(local, key=lambda name: local[name])
    order = compare_nodes(facts, names[0], names[1]) if len(names) > 1 else None
    if order is None:
        return "and a LOCKTIME run tells which is the faster one"
    return f"and {names[0]} is the fastest ({order.basis})" if order.sign > 0 else f"and none is faster ({order.basis})"


def _with_databases(facts: Facts, rates: _Rates, where: _Where) -> _Where:
    """Where work and trees belong, and what to do, by what Rdb's exports of this node say is in force already."""
    found = databases(facts)
    names = " and ".join(one.subject for one in found)
    if found and rates.outgoing >= rates.incoming and all(open_elsewhere(facts, one) is False for one in found):
        return _Where(
            f"{names}: no other node has it open, yet {in_prose(rates.outgoing)} lock operations/s of this node are "
            "served elsewhere.",
            "As far as they are of it, its trees belong here, where its work is, not the work there.",
            "See what keeps its trees on another node (PE1 and the weights of both), and which other files are shared",
        )
    if not found and rates.incoming >= rates.outgoing and (owners := _open_on_one(facts)):
        named = ", ".join(f"{comment(root)} is open on {comment(node, 31)} alone" for root, node in owners.items())
        return _Where(
            f"By Rdb's exports no database is open here; {named}.",
            f"As far as the {in_prose(rates.incoming)} lock operations/s that this node serves for others are of it, "
            "its trees belong there, where its work is, not the work here.",
            "See what keeps its trees on this node (PE1 and the weights of both), and which other files are shared",
        )
    known_open = [one.subject for one in found] or sorted(_opened(facts))
    partitioned = [one.subject for one in found if one.is_on("lock_partitioning")] or [
        root for root in known_open if any(root in one.databases_partitioned for one in members_of(facts))
    ]
    if not shows_rdb(facts):
        # nothing in the export is of Rdb: the trees may as well be those of files or of a program
        return replace(where, remedy=f"Where the application allows it, {where.remedy}")
    parted = f" ({' and '.join(map(comment, partitioned))} has them partitioned already)" if partitioned else ""
    parts = "else " if known_open and len(partitioned) == len(known_open) else "else partition its lock trees, "
    first = f"Open the database on one node if the application allows it, {parts}{where.remedy}"
    return replace(where, remedy=f"{first}, or use Rdb remote access{parted}")


def _kept_there(
    facts: Facts, master: str, node: str, asks: Mapping[str, float]
) -> tuple[str, tuple[Change, ...]] | None:
    """What to look at or set where the master of a tree is not the node with nearly all of it, as a sentence.

    `None` where that node is the slower one or full: the tree is not to come to it.
    """
    members = _listed(facts)
    found, by_name = misplaced(facts, members, master, asks), {one.name.upper(): one for one in members}
    first, second = by_name.get(master.upper()), by_name.get(node.upper())
    order = compare_nodes(facts, node, master)
    if found is None or (order is not None and order.sign < 0):
        return None
    if second and room_of(members, second.name, by="trees").full:
        return None
    if found.changes:
        return WEIGHT_FIRST.format(found.do), found.changes
    master, name = comment(master, 31), governing(facts, members)
    if first and known(first.pe1) and first.pe1:
        return f"PE1 = {first.pe1:.0f} on {master} keeps it there (dynamic): that comes first, then measure.", ()
    weights = [weight_of(facts, one, name) for one in (first, second) if one and name]
    if first and first.pe1 == 0 and len(weights) > 1 and None not in weights and weights[0] == weights[1]:
        again = "so it should move by itself: run LOCK_ACTV again before any change."
        return f"PE1 is 0 and {name} the same on both, {again}", ()
    words = name or "LOCKDIRWT from V8.3 on, LOCKRMWT before"
    look = f"Look at PE1 on {master}, then at the weights of both"
    return f"{look} ({words}; of equal ones it goes to who asks most).", ()


def _to_and_fro(facts: Facts, rates: _Rates, where: _Where) -> Misplaced | None:
    """The same where no tree has most of what crosses, and reports show one that came back to its first master."""
    moves = wanders_most(facts)
    if moves is None or len(moves.masters) < BACK or shows_rdb(facts) or NEVER_ALONE in where.remedy:
        return None
    if rates.one_node not in where.remedy and rates.together not in where.remedy:
        return None
    masters = ", then ".join(comment(node, 15) for node in moves.masters[:4])
    why = f"{moves.said} was mastered by {masters}: what crosses follows from who has its trees just then."
    return Misplaced(
        why, (), f"First give {moves.said} one master (openvms/lock_trees_move_too_often), then measure again."
    )


def _instead(facts: Facts, rates: _Rates, where: _Where) -> Misplaced | None:
    """Why and what to do instead of running the work on one node, where that would be empty or harmful.

    One node that makes nearly all requests already is to be the master; a file or a volume has a remedy of its own;
    what several nodes use alike goes to none of them. `None`: that step is right, or another one was found.
    """
    share = rates.asked
    if share is None:
        return _to_and_fro(facts, rates, where)
    if rates.one_node not in where.remedy or shows_rdb(facts) or share.kind == QUEUE_MANAGER:
        return None
    asks = {node: rate for node, rate in share.by_node.items() if rate > 0}
    most, whole = next(iter(asks), ""), sum(asks.values())
    stay = NEVER_ALONE in where.remedy  # the rates of all nodes show that the trees belong to their master
    if not stay and _one_makes_it(share) and len(share.masters) == 1 and most != share.masters[0]:
        if (kept := _kept_there(facts, share.masters[0], most, asks)) is None:
            return None
        why, changes = kept
        part = f"{comment(most, 31)} makes {100 * asks[most] / whole:.0f} % of the requests in {rates.title} already"
        do = f"{part}, so its master is to change, not where the work runs. {why}"
        return Misplaced(where.because, changes, do)
    alike = len(asks) >= SEVERAL and 2 * asks[most] <= whole
    if not alike and share.kind not in (RMS_FILE, FILE_SYSTEM):
        return None
    low, high = in_prose(min(asks.values())), in_prose(asks[most])
    spread = (
        f"{len(asks):,} nodes ask for it about alike ({low} to {high}/s each): no node as master spares much of it, "
        "and the work of all of them on one would have to fit there."
    )
    return Misplaced(spread if alike else where.because, (), of_share(facts, share).do)


def _do(facts: Facts, where: _Where) -> tuple[str, str]:
    """What to do, as two sentences; where no tree may leave this node, that is tried before anything dearer."""
    own = [one.current for one in facts.every(SysgenParameter) if one.name == "PE1" and one.runs]
    if where.room in ("", KEPT) and len(members_of(facts)) < 2 and own and set(own) == {-1.0}:
        off = "openvms/remastering_switched_off"
        return (
            f"First let trees move, as PE1 is -1 here ({off}), and measure.",
            f"If that is not enough: {where.remedy}.",
        )
    steps = (f"{where.remedy}; then measure again.", where.room)
    return (steps[1], steps[0]) if where.room == KEPT else steps


def _drawn(facts: Facts, cluster: Cluster | Outcome, rates: _Rates) -> Misplaced | None:
    """The weight that keeps on another node the trees that this one works in most, where not all were measured.

    By the listings of the nodes and the requests that a report of LOCK_ACTV has; `None` where no weight does.
    """
    master, own = _master(facts, cluster), (own_name(facts) or "").upper()
    listed = _listed(facts)
    if rates.asked and len(rates.asked.masters) == 1:
        master = (rates.asked.masters[0], "by LOCK_ACTV")
    elif len(listed) != 2:
        return None
    names = {one.name.upper() for one in listed}
    if isinstance(cluster, Cluster) or master is None or not {own, master[0].upper()} <= names:
        return None
    asks = asked_of(facts, master[0])
    if asks.get(own, 0.0) < max(LISTED_PART * rates.outgoing, *asks.values(), 1.0):
        return None
    found = misplaced(facts, listed, master[0], asks)
    said = f"All that {comment(master[0], 31)} masters, by LOCK_ACTV: "
    return replace(found, says=f"{said}{found.says}") if found and found.changes else None


def _by_weight(rates: _Rates, drawn: Misplaced) -> str:
    """What to do where a weight keeps the trees; the work is moved only where no node has nearly all of it already."""
    return joined(WEIGHT_FIRST.format(drawn.do), "" if _one_makes_it(rates.asked) else ELSE_MOVE.format(rates.one_node))


def _one_makes_it(share: Share | None) -> bool:
    """Whether one node makes nearly all requests in a tree."""
    asks = list(share.by_node.values()) if share else []
    return bool(asks) and 100 * max(asks) >= NEARLY_ALL * sum(asks) > 0


def _listed(facts: Facts) -> Sequence[ClusterMember | ListedMember]:
    """The nodes as their listings have them where one alone was measured, else the members of the cluster."""
    return facts.every(ListedMember) or members_of(facts)


def _weights(facts: Facts, name: str) -> Iterator[Evidence]:
    """The weight of each node as its listing has it."""
    for one in _listed(facts):
        value = weight_of(facts, one, name)
        where = one.directory_weight_source if name == "LOCKDIRWT" else one.remaster_weight_source
        if value is not None:
            yield Evidence(f"{name} of {comment(one.name, 15)}", value, "", where or one.source)


def _opened(facts: Facts) -> dict[str, set[str]]:
    """The root files that the monitors of the cluster's nodes listed as open, each with its nodes."""
    found: dict[str, set[str]] = {}
    for one in members_of(facts):
        for root in one.databases:
            found.setdefault(root, set()).add(one.name)
    return found


def _open_on_one(facts: Facts) -> dict[str, str]:
    """Each database of the cluster and the one other node that has it open.

    Nothing where it is not known of all nodes, or where one of those is slower than this: trees never belong there.
    """
    members, opened = members_of(facts), _opened(facts)
    whole = all(one.databases_listed for one in members) and not unbrought(facts, members)
    if not whole or any(one.own and one.databases for one in members) or any(len(n) > 1 for n in opened.values()):
        return {}
    found = {root: next(iter(nodes)) for root, nodes in sorted(opened.items())}
    own = own_name(facts) or ""
    orders = [compare_nodes(facts, node, own) for node in set(found.values())]
    return {} if any(order is not None and order.sign < 0 for order in orders) else found


def _finding(
    facts: Facts,
    rates: DistributedLockRates,
    limits: Limits,
    severity: Severity,
    figures: str,
    found: _Rates,
) -> Finding:
    total, incoming, share, leaving = found.total, found.incoming, found.share, found.leaving
    crossing = incoming + found.outgoing
    evidence = [
        Evidence("incoming and outgoing", round(share, 1), "% of lock operations", rates.source, limits.remote_percent),
        Evidence("lock operations", round(total, 1), "/s", rates.source, limits.operations_per_second),
        Evidence("own requests served elsewhere", round(leaving, 1), "%", rates.source, limits.outgoing_percent),
        Evidence("cross the cluster here", round(crossing, 1), "/s", rates.source, limits.crossing_per_second),
        Evidence("served for other nodes", round(incoming, 1), "/s", rates.source),
    ]
    directory = [rate for rate in (rates.directory_incoming, rates.directory_outgoing) if known(rate)]
    looked_up = f", and {sum(directory):,.0f} directory lookups/s came with it" if sum(directory) else ""
    if directory:
        both = "as a sum" if len(directory) > 1 else ""
        looked = Evidence("directory lookups, both ways", round(sum(directory), 1), "/s", rates.source, computed=both)
        evidence.append(looked)
    for tree, rate in asked_elsewhere(facts, own_name(facts) or ""):
        metric = (
            f"LOCK_ACTV: requests in {called(bytes.fromhex(tree.name))}, mastered by {comment(tree.master or '', 15)}"
        )
        evidence.append(Evidence(metric, round(rate, 1), "/s", tree.source))
    cluster = cluster_of(facts)
    few = isinstance(cluster, Cluster) and cluster.crossing_percent < limits.remote_percent
    where = _with_databases(facts, found, _where(facts, cluster, limits, found))
    if drawn := _drawn(facts, cluster, found):
        evidence += _weights(facts, drawn.changes[0].target)
    instead = _instead(facts, found, where) if not drawn else None
    if instead and instead.changes:
        evidence += _weights(facts, instead.changes[0].target)
    together = ""
    whole: list[Evidence] = []
    masters: list[WhatIf] = []
    if isinstance(cluster, Cluster):
        if (
            cluster.own.name == _asks_most(cluster)
            and not few
            and not works_more(cluster.members, cluster.master.name, cluster.own.name)
        ):
            masters = list(what_if(facts, [one.name for one in cluster.members]))
        together = (
            f"The {len(cluster.members)} nodes together do {in_prose(cluster.total)} lock operations/s, each counted "
            f"once; {cluster.agreement}."
        )
        rates_of = {part: cluster.of(part) for part in ("local", "outgoing", "incoming")}
        whole = [
            Evidence("the cluster's lock operations, each once", round(cluster.total, 1), "/s", cluster.own.source),
            Evidence(
                "of them crossing the cluster",
                round(cluster.crossing_percent, 1),
                "%",
                cluster.own.source,
                limits.remote_percent,
            ),
            *(
                Evidence(f"{part} of {one.name}", round(rate, 1), "/s", one.source)
                for part, rates_by_node in rates_of.items()
                for one in cluster.members
                if (rate := rates_by_node[one.name])
            ),
        ]
    elif isinstance(cluster, Unknown) and cluster.why:
        together = sentence(cluster.why)
    return Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE if few or crossing < _enough(cluster, limits) else severity,
        title=f"{share:.0f} % of {total:,.0f} lock operations per second cross the cluster"
        + (f", by LOCK_ACTV most in {found.title}" if found.tree else "")
        + (f": {drawn.changes[0].target} keeps the trees on another node" if drawn else ""),
        seen=f"{STATISTICS.get(rates.statistic, rates.statistic)}, {figures}{looked_up}. {where.waits}",
        because=f"{drawn.says}." if drawn else instead.says if instead else where.because,
        do=_by_weight(found, drawn) if drawn else instead.do if instead else joined(*_do(facts, where)),
        unknown=joined(together, what_if_text(masters) if isinstance(cluster, Cluster) else PUBLISHED),
        evidence=(*evidence, *whole),
        changes=drawn.changes if drawn else instead.changes if instead else (),
        explains=SERVING if incoming >= limits.serving_percent / 100 * total else (),
        expects=(
            Expectation(REMOTE, round(share, 1), "lower", "heuristic"),
            Expectation(LEAVING, round(leaving, 1), "lower", "heuristic"),
            *(
                Expectation(WITH.format(line.node), None, line.percent, "published")
                for line in masters
                if line.percent is not None and isinstance(cluster, Cluster) and line.node != cluster.master.name
            ),
        ),
    )
