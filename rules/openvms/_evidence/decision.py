"""One decision for all nodes of a cluster: who masters the locks, where a dedicated CPU belongs, whose work follows.

The source document asks for one thing: the dedicated lock manager on the fastest node, and that node master. So the
three are decided together, from the figures of all nodes, and each rule that speaks of one of them follows. What the
nodes would do afterwards is arithmetic on their own rates, never a forecast: a range where the exports leave one open.

Over 600 lines: master, dedicated CPU and work are one decision, and parted they would have to agree again.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from collectors.facts import Facts, Reading, known
from collectors.facts.openvms import ClusterMember, LockActivity
from rules.changes.openvms_sysgen import PARAMETERS, advise_parameter
from rules.changes.quoting import comment
from rules.finding import Change, Clean, MissingInput, NotApplicable, Outcome, Unknown, Untrusted, joined
from rules.laws.hardware import Order
from rules.laws.rounding import plain
from rules.openvms._evidence.after_move import (
    Choice,
    Range,
    Rates,
    as_master,
    asks_of,
    choice_of,
    of_one_cpu,
    summed,
    today_of,
)
from rules.openvms._evidence.cluster import (
    SERVED_BY,
    Cluster,
    Stakes,
    cluster_of,
    far_apart,
    hardware_names,
    latencies_of,
    members_of,
    stakes_by_node,
    unbrought,
    unreal,
)
from rules.openvms._evidence.lock_tables import with_tables
from rules.openvms._evidence.mastership import (
    CLEARLY,
    MEASURE,
    Move,
    by_weight,
    emulated,
    freed,
    if_not_slower,
    kept_by,
    move_to,
    room_for,
    works_more,
)
from rules.openvms._evidence.node import in_prose, sentence
from rules.openvms._evidence.node_speeds import compare_nodes, ranks_of, unbeaten
from rules.openvms._evidence.releases import ALPHA_AND_INTEGRITY, machine_named
from rules.openvms._evidence.room import room_of
from rules.openvms._evidence.spinning import OWN_CPU_CPUS, OWN_CPU_OPERATIONS, OWN_CPU_SYNCH
from rules.openvms._evidence.spins_after import SpentAfter

MOST_RANKED = 12
"""This project: of more nodes a table tells the machines, not who is faster than whom of all of them."""
TO_AND_FRO = 0.3
"""This project, trees/s: the limit of openvms/lock_trees_move_too_often."""
MODE = "LCKMGR_MODE"
HELD_BACK = ("openvms/lock_manager_needs_own_cpu", "openvms/lock_manager_configured_off")
"""What a master that is to be relieved needs no more: a CPU for locks that another node is to serve."""


@dataclass(frozen=True)
class Worth:
    """From where on it matters who is master; the limits of openvms/lock_master_on_slow_node, where they are told."""

    remote_percent: float = 20.0
    operations_per_second: float = 500.0
    served_percent: float = 50.0


WHATEVER = Worth(0.0, 0.0, 0.0)
"""However little crosses: for who asks for a reason of its own who is to be master."""


class Kind(enum.Enum):
    """What was decided."""

    MOVES = "moves"
    """Another node is to be the master."""
    STAYS = "stays"
    """The master of today is the right one."""
    EVEN = "even"
    """No node is preferred: too little crosses, or mastership is spread over the nodes."""
    KEPT = "kept"
    """None is faster and another node works more in the trees than their master: what keeps them there comes first."""
    OPEN = "open"
    """The exports cannot decide it."""


@dataclass(frozen=True)
class Line:
    """One node, today and afterwards."""

    node: str
    machine: str | None
    rank: int | None
    """1 for the fastest; `None` where nothing tells."""
    today: Rates
    after: Rates | None
    """`None`: as today."""
    synch_percent: float | None
    """MP synch today, per cent of one CPU."""
    dedicated: bool | None
    """Whether its lock manager has a CPU of its own; `None`: not known."""
    manager_percent: float | None
    """How busy that CPU is, where it has one and T4 counted it."""
    one_cpu: Range | None
    """Its lock operations of today by what a local lock takes in LOCKTIME, per cent of one CPU: an inference, as a lock
    manager serves one after the other. `None` without LOCKTIME."""
    one_cpu_after: Range | None
    """The same afterwards."""
    latency_us: float | None
    """What a lock of the master of today takes this node, microseconds (LOCKTIME)."""
    latency_after_us: float | None
    """The same of the master that is to be."""
    brought: bool = True
    """Whether an export of this node is among these."""
    spent: SpentAfter | None = None
    """Kernel time today, and both afterwards; of a cluster as a whole alone, as it takes the facts of each node."""


@dataclass(frozen=True)
class Decision:
    """Who is to be master, and what goes with it."""

    kind: Kind
    figures: str
    """What was judged, as a clause."""
    why: str
    """Why so, as a clause or sentences."""
    master: str | None = None
    """Who serves most of what crosses today."""
    target: str | None = None
    """Who is to serve it; where the trees are kept from it, who works more in them."""
    order: Order | None = None
    """Why the target is the faster one, where that is why it is to be master."""
    passed: tuple[str, ...] = ()
    """Nodes that are faster still and have no room."""
    move: Move | None = None
    missing: tuple[MissingInput, ...] = ()
    """What would decide more, each with the command and its node."""
    refused: str = ""
    """Why figures are not believed."""
    lock_manager: str = ""
    """Where a dedicated CPU belongs, as a sentence."""
    lock_manager_changes: tuple[Change, ...] = ()
    """Templates for it, which wait for the move and for a measurement."""
    tables: str = ""
    """Whether the lock tables of the new master hold the trees that come, as sentences."""
    work: str = ""
    """Whose work is to follow, as a sentence."""
    by_tree: str = ""
    """Weights that the plan sets for single trees, where nothing decides for all; of a cluster as a whole alone."""
    choices: tuple[Choice, ...] = ()
    """What the nodes do with each of these as master; of a cluster as a whole alone (`side_by_side`)."""
    gaps: tuple[MissingInput, ...] = ()
    """What would tell more of what comes with the move, and decides nothing."""
    lines: tuple[Line, ...] = ()
    outcome: Outcome | None = field(default=None, repr=False)
    """Why there is no cluster to judge."""

    @property
    def goes(self) -> bool:
        """Whether the trees are to leave their master, by a weight or once nothing keeps them there."""
        return self.kind in (Kind.MOVES, Kind.KEPT)

    @property
    def crossing_after(self) -> Range | None:
        """Lock operations per second that cross the cluster afterwards; `None` where nothing moves, or it is open."""
        every = [one.after.outgoing for one in self.lines if one.after and one.after.outgoing]
        return summed(every) if every else None

    @property
    def home(self) -> str | None:
        """Where the lock trees belong, where that is decided."""
        return self.target if self.kind is Kind.MOVES else (self.master if self.kind is Kind.STAYS else None)

    @property
    def says(self) -> str:
        """The decision itself, in one or two sentences."""
        if self.kind is Kind.MOVES and self.move:
            speed = f" ({self.order.basis})" if self.order else ", as it works more in the trees"
            return joined(f"{self.target} is to be the lock master, not {self.master}{speed}.", self.move.do)
        if self.kind is Kind.STAYS:
            return joined(f"{self.master} stays the lock master.", sentence(self.why))
        if self.kind is Kind.KEPT:
            return joined(f"The trees belong to {self.target}, not to {self.master}.", sentence(self.why))
        if self.kind is Kind.EVEN:
            if self.by_tree:
                return (
                    f"Over all trees no node is the lock master ({self.figures}); those that several nodes want alike "
                    f"get one by the plan: {self.by_tree}."
                )
            return f"No node is preferred as lock master: {(self.why or self.figures).removesuffix('.')}."
        open_ = f"Which node should be the lock master is open: {(self.why or self.refused).removesuffix('.')}."
        return joined(open_, self.move.do) if self.move else open_


def decide(facts: Facts, worth: Worth | None = None) -> Decision:
    """Decide for the cluster of a capture, in whichever node's: all have the same members."""
    found = _mastership(facts, worth or Worth())
    members = members_of(facts)
    if len(members) < 2:
        return found
    found = _with_tables(members, found)
    found = replace(found, lines=_lines(facts, members, found))
    return _with_work(facts, _with_lock_manager(members, found))


# --- who is to be master ---------------------------------------------------------------------------------------------


def _mastership(facts: Facts, worth: Worth) -> Decision:
    cluster = cluster_of(facts)
    if not isinstance(cluster, Cluster):
        return _undecided(cluster)
    master, figures = cluster.master.name, figures_of(cluster)
    if why := too_little(cluster, worth):
        return Decision(Kind.EVEN, figures, why, master)
    if cluster.served_percent < worth.served_percent:
        why = f"{figures}, limit {worth.served_percent:g} %: mastership is spread over the nodes"
        if wander := next(filter(None, map(_to_and_fro, cluster.members)), ""):
            why = f"{figures}, limit {worth.served_percent:g} %, and {wander}"
        return Decision(Kind.EVEN, figures, why, master)
    if isinstance(cells := latencies_of(facts), Untrusted):
        return Decision(Kind.OPEN, figures, cells.why, master, refused=cells.why)
    return _held_against(facts, cluster, figures)


def figures_of(cluster: Cluster) -> str:
    """How much crosses the cluster, and who serves it, as a clause."""
    return (
        f"{cluster.crossing_percent:.1f} % of the cluster's {cluster.total:,.0f} lock operations/s cross it, "
        f"{cluster.master.name} serves {cluster.served_percent:.0f} % of them"
    )


def too_little(cluster: Cluster, worth: Worth) -> str:
    """That so little is locked, or crosses, that no master matters, as a clause; empty where it does."""
    if cluster.total < worth.operations_per_second:
        return f"{figures_of(cluster)}; too few to matter (limit {worth.operations_per_second:g}/s)"
    if cluster.crossing_percent < worth.remote_percent:
        return f"{figures_of(cluster)}; limit {worth.remote_percent:g} %: who is master hardly matters"
    return ""


def _undecided(outcome: Outcome) -> Decision:
    """Where there is no cluster to judge: what is missing, with the command and its node."""
    if isinstance(outcome, Unknown):
        why = outcome.why or f"missing: {', '.join(lack.fact for lack in outcome.missing)}"
        return Decision(Kind.OPEN, "", why, missing=outcome.missing, outcome=outcome)
    why = outcome.why if isinstance(outcome, Clean | Untrusted | NotApplicable) else ""
    refused = why if isinstance(outcome, Untrusted) else ""
    return Decision(Kind.OPEN, "", why, refused=refused, outcome=outcome)


def _held_against(facts: Facts, cluster: Cluster, figures: str) -> Decision:
    """The node that serves most, held against the others."""
    master, names = cluster.master.name, [one.name for one in cluster.members]
    orders = {name: compare_nodes(facts, name, master) for name in names if name != master}
    ahead = [name for name, order in orders.items() if order is not None and order.sign > 0]
    if not ahead:
        return _none_faster(facts, cluster, figures, orders)
    stakes = stakes_by_node(cluster.members, master)
    stays = {
        name: kept
        for name in ahead
        if (
            kept := works_more(cluster.members, master, name, stakes)
            or waits_longer(facts, cluster.members, master, name)
        )
    }
    if len(stays) == len(ahead):
        return _as_today(cluster, figures, " ".join(stays.values()))
    ahead = [name for name in ahead if name not in stays]
    target = _best(facts, cluster, ahead)
    if _more_in_them(facts, cluster, master, target, stakes, orders):
        return _none_faster(facts, cluster, figures, orders)
    passed = [name for name in ahead if (found := compare_nodes(facts, name, target)) and found.sign > 0]
    move = freed(move_to(facts, cluster.members, target, master), cluster.master)
    return Decision(Kind.MOVES, figures, "", master, target, orders[target], tuple(passed), move, move.missing)


def _more_in_them(
    facts: Facts,
    cluster: Cluster,
    master: str,
    target: str,
    stakes: Mapping[str, Stakes],
    orders: Mapping[str, Order | None],
) -> bool:
    """Whether the trees are another node's, of which nothing tells how fast it is: a faster one takes little from them.

    Most of the trees' traffic would cross as before, whoever of the others is faster than their master.
    """
    node, faster = _works_most(facts, cluster.members, master), stakes.get(target.upper())
    if node is None or orders.get(node) is not None or faster is None:
        return False
    order = compare_nodes(facts, node, target)
    return (order is None or order.sign >= 0) and stakes[node.upper()].least > CLEARLY * faster.most


def _none_faster(facts: Facts, cluster: Cluster, figures: str, orders: dict[str, Order | None]) -> Decision:
    """None is known to be faster: the trees stay, unless a weight alone keeps them from who uses them most."""
    master = cluster.master.name
    untold = [name for name, order in orders.items() if order is None]
    missing = (MEASURE,) if untold else ()
    told = f"{figures}; nothing tells how fast it is beside {', '.join(untold)}" if untold else ""
    if held := by_weight(facts, cluster.members, master):
        return Decision(Kind.MOVES, figures, told, master, held[0], move=held[1], missing=missing)
    if untold:
        if (node := _works_most(facts, cluster.members, master)) and (virtual := emulated(facts, master, node)):
            move = if_not_slower(facts, cluster.members, node, master)
            return Decision(Kind.OPEN, figures, f"{told}. {virtual}", master, node, move=move, missing=missing)
        return Decision(Kind.OPEN, figures, told, master, missing=missing)
    bases = "; ".join(dict.fromkeys(order.basis for order in orders.values() if order is not None))
    why = f"no node is faster than {master} ({bases})"
    return _kept(facts, cluster.members, figures, master, why) or _as_today(cluster, figures, why)


def _as_today(cluster: Cluster, figures: str, why: str) -> Decision:
    """The master keeps the trees, where it clearly is the master; of nodes that all serve and ask nobody is.

    Nor is one whose trees leave and come back all the time, whatever it served meanwhile.
    """
    master = cluster.master
    if wander := _to_and_fro(master):
        return Decision(Kind.EVEN, figures, f"{figures} now, but {wander}", master.name)
    if _masters(master):
        return Decision(Kind.STAYS, figures, why, master.name)
    asks = cluster.of("outgoing")[master.name]
    spread = (
        f"mastership is spread over the nodes, as {master.name} serves {cluster.of('incoming')[master.name]:,.0f} lock "
        f"operations/s for others and asks them for {asks:,.0f}/s"
    )
    return Decision(Kind.EVEN, figures, f"{spread}; {why}", master.name)


def _kept(facts: Facts, members: Sequence[ClusterMember], figures: str, master: str, why: str) -> Decision | None:
    """Where one that is not slower works more in the trees than who clearly is their master: not "as today" then."""
    if not any(_masters(one) for one in members if one.name == master):
        return None
    node = _works_most(facts, members, master)
    if node is None or (order := compare_nodes(facts, node, master)) is None or order.sign < 0:
        return None
    stakes = stakes_by_node(members, master)[node.upper()]
    works = (
        f"{why}, and {node} works more in them: it asks {master} for {in_prose(stakes.least)} lock operations/s, "
        f"{master} itself does {in_prose(stakes.local)}/s locally"
    )
    if apart := _apart(facts, members, master, node):
        return Decision(Kind.EVEN, figures, f"{works}; {apart}", master)
    missing: tuple[MissingInput, ...] = ()
    if not (keeps := kept_by(facts, members, master, node)):
        pe1 = next(one.pe1 for one in members if one.name == master)
        missing = (MissingInput(f"the trees that {node} works in, and who masters them", LockActivity.COLLECTED_BY),)
        keeps = f"what keeps them on {master} is open: PE1 is 0 there, and by the exports no weight draws them to it"
        if not known(pe1):
            missing = (MissingInput(f"PE1 of {master}", f"MCR SYSGEN SHOW PE1 ! on {master}"), *missing)
            keeps = f"what keeps them on {master} is open, as its PE1 is not in the exports"
    room = room_for(facts, members, node, master=master, by="trees")
    fits = sentence(room.brief) if room.full or room.tight or room.unread else ""
    said = joined(f"{works}.", sentence(keeps.removesuffix(".")), fits)
    first = next(one for one in members if one.name == master)
    move = freed(Move((), "", held=room.when), first) if known(first.pe1) and first.pe1 else None
    return Decision(Kind.KEPT, figures, said.removesuffix("."), master, node, move=move, missing=missing)


def _works_most(facts: Facts, members: Sequence[ClusterMember], master: str) -> str | None:
    """Who works more in the trees than their master itself, and is not known to be slower: of several the one most."""
    stakes = stakes_by_node(members, master)
    more = {
        one.name: found.least
        for one in members
        if (found := stakes.get(one.name.upper())) and found.least > found.local
        if (order := compare_nodes(facts, one.name, master)) is None or order.sign >= 0
    }
    return max(more, key=lambda name: more[name], default=None)


def _apart(facts: Facts, members: Sequence[ClusterMember], master: str, node: str) -> str:
    """That the nodes are so far apart that the other one as master takes little of the waiting away, as a clause.

    Little is less than half of it (`CLEARLY`): else the move is worth it, however far they are.
    """
    cells = latencies_of(facts)
    if not (far := far_apart(facts, node, master)) or not isinstance(cells, dict):
        return ""
    today, then = (choice_of(members, master, name, "", cells) for name in (master, node))
    if today is None or then is None or today.waiting is None or then.waiting is None:
        return ""
    if then.waiting[1] * CLEARLY < today.waiting[1]:
        return ""
    return (
        f"but they are far apart ({far}): whoever is master, the other waits, with {plain(today.waiting[1], 3)} lock "
        f"requests under way at a time today and up to {plain(then.waiting[1], 3)} with {node} as master. Fewer remote "
        "locks help: each tree at one site, with the work on it"
    )


def _best(facts: Facts, cluster: Cluster, ahead: list[str]) -> str:
    """The fastest of the faster ones that have room for the trees; of equals the one that locks most.

    Room is asked for as the change asks for it: a busy node that the trees take little of is not passed over here and
    then named there as having room.
    """
    local, outgoing, first = cluster.of("local"), cluster.of("outgoing"), unbeaten(facts, ahead)
    full = {one.name for one in room_for(facts, cluster.members, *ahead, master=cluster.master.name).full}
    return max(ahead, key=lambda name: (name not in full, name in first, local[name] + outgoing[name]))


def waits_longer(facts: Facts, members: Sequence[ClusterMember], master: str, node: str) -> str:
    """That the nodes would wait longer with `node` as master, however fast its own locks are; empty where not.

    By LOCKTIME and the rates: how many requests are under way at a time is their rate by what each takes. Taken is what
    speaks most for the move: `node` has asked for all it asks elsewhere, the others for the least they can have.
    """
    cells = latencies_of(facts)
    asks = asks_of(members, master) if isinstance(cells, dict) and (master.upper(), node.upper()) in cells else None
    if asks is None or not isinstance(cells, dict):
        return ""
    now = then = 0.0
    for name, (least, most) in asks.items():
        rate = most if name == node else least
        first, second = cells.get((name.upper(), master.upper())), cells.get((name.upper(), node.upper()))
        if first is None or second is None:
            return ""
        now, then = now + rate * first[0] / 1e6, then + rate * second[0] / 1e6
    if not now or then < now:
        return ""
    return (
        f"{node} has the faster local locks, but by LOCKTIME and the rates the nodes that ask {master} now would wait "
        f"longer for it: {plain(then, 3)} lock requests under way at a time at the least, {plain(now, 3)} today."
    )


# --- the lock tables of the new master --------------------------------------------------------------------------------


def _with_tables(members: Sequence[ClusterMember], found: Decision) -> Decision:
    """The move with what RESHASHTBL and LOCKIDTBL of the node need that takes the trees over."""
    if not found.goes or found.master is None or found.target is None or (found.move and found.move.stays):
        return found
    tables = with_tables(members, found.target, found.master, found.move or Move((), ""))
    return replace(
        found, move=tables.move if found.move else None, tables=tables.says, gaps=(*found.gaps, *tables.missing)
    )


# --- the dedicated lock manager --------------------------------------------------------------------------------------


def _with_lock_manager(members: Sequence[ClusterMember], found: Decision) -> Decision:
    """Where a CPU for the lock manager belongs: with the trees, and nowhere for so few locks."""
    home = next((one for one in members if one.name == found.home), None)
    old = next((one for one in members if one.name == found.master), None)
    line = next((one for one in found.lines if one.node == found.home), None)
    if home is None or line is None:
        return found
    moves = found.kind is Kind.MOVES and found.move is not None and found.move.runs
    name, locks = comment(home.name, 31), (line.after or line.today).all
    few = locks is not None and locks[1] < OWN_CPU_OPERATIONS
    changes: tuple[Change, ...] = ()
    missing: tuple[MissingInput, ...] = ()
    first = f"once {name} is master" if found.kind is Kind.MOVES else "there"
    if not home.dedicated and machine_named(home.hardware, home.version).dedicated_documented is False:
        said = f"The dedicated lock manager is {ALPHA_AND_INTEGRITY}: of {name} nothing is said of it."
    elif home.dedicated:
        said = f"The dedicated lock manager is on {name} already, where the trees belong."
    elif few and locks is not None:
        said = f"No CPU for the lock manager on {name}: {in_prose(locks[1])} lock operations/s at the most "
        said += f"are few (limit {OWN_CPU_OPERATIONS:,.0f})."
    elif not known(home.cpus):
        said = f"Whether {name} can spare a CPU for the lock manager is not known."
        missing = (MissingInput(f"number of active CPUs of {name}", f"SHOW CPU ! on {name}"),)
    elif home.cpus < OWN_CPU_CPUS:
        said = f"No CPU for the lock manager on {name}: of {home.cpus:g} CPUs none is spared (vendor: more than five)."
    else:
        said = (
            f"A dedicated lock manager belongs on {name} and on no other node: {first}, where MP synch is above "
            f"{OWN_CPU_SYNCH:g} % of one CPU and a spinlock trace has LCKMGR in front."
        )
        if moves:
            changes = _dedicate(home, found)
    if moves and old is not None and old.dedicated:
        said = joined(said, f"Then the CPU of {comment(old.name, 31)} is given back.")
        changes = (*changes, *_give_back(old, name, found))
    return replace(
        found, lock_manager=said, lock_manager_changes=changes, missing=tuple(dict.fromkeys((*found.missing, *missing)))
    )


def _dedicate(home: ClusterMember, found: Decision) -> tuple[Change, ...]:
    now = home.lock_manager_mode if known(home.lock_manager_mode) else None
    if now == OWN_CPU_CPUS:
        return ()
    when = (
        f"only once {comment(home.name, 31)} is master and MP synch there is above {OWN_CPU_SYNCH:g} % of one CPU, "
        "with LCKMGR in front in a spinlock trace"
    )
    template = advise_parameter(MODE, now, OWN_CPU_CPUS, when=when, node=home.name)
    return (replace(template, after=_keys(found)),)


def _give_back(old: ClusterMember, home: str, found: Decision) -> tuple[Change, ...]:
    now = old.lock_manager_mode
    if not known(now) or not 0 < now <= PARAMETERS[MODE].high or now != int(now):
        return ()
    when = f"only once {home} serves its trees, and [LCK73]Busy % of this node is low"
    return (replace(advise_parameter(MODE, now, 0, when=when, node=old.name), after=_keys(found)),)


def _keys(found: Decision) -> tuple[str, ...]:
    return tuple(one.key for one in found.move.changes) if found.move else ()


# --- the work --------------------------------------------------------------------------------------------------------


def _with_work(facts: Facts, found: Decision) -> Decision:
    """Whose work is to follow the trees: who asks most, where there is room, and never onto a slower node.

    A node with LOCKDIRWT 0 is meant to have its own work and no trees, as a satellite: its users stay there.
    """
    members = members_of(facts)
    home = next((one for one in members if one.name == found.home), None)
    if home is None or (found.kind is Kind.STAYS and not _masters(home)):
        return found
    asks = {
        one.node: rates.outgoing[0]
        for one in found.lines
        if one.node != found.home and one.brought and (rates := one.after or one.today).outgoing
    }
    own_place = {one.name for one in members if known(one.lock_directory_weight) and one.lock_directory_weight == 0}
    wanted = [name for name in sorted(asks, key=lambda one: -asks[one]) if asks[name] > 0 and name not in own_place]
    comes = [found.master] if found.master and found.master != found.home else []
    for name in wanted:
        order = compare_nodes(facts, found.home or "", name)
        if order is None or order.sign < 0:
            continue
        room = room_of(members, home.name, comes_from=[*comes, name])
        if room.full or room.tight or room.unread:  # nothing can be done: nobody asked for it either
            return found
        said = (
            f"The work of {comment(name, 31)} is the next to run on {comment(home.name, 31)}, where the "
            f"application can: it asks elsewhere for {in_prose(asks[name])} lock operations/s, and {room.brief}."
        )
        return replace(found, work=said)
    return found


def _to_and_fro(one: ClusterMember) -> str:
    """That trees leave this node and come back as openvms/lock_trees_move_too_often has it, as a clause; else empty."""
    out, into = one.moved_out_per_second, one.moved_in_per_second
    if not known(out) or not known(into) or out < TO_AND_FRO or CLEARLY * min(out, into) < max(out, into):
        return ""
    name = comment(one.name, 31)
    return f"{plain(out, 2)} lock trees/s leave {name} and {plain(into, 2)}/s come: none has a master for long"


def _masters(one: ClusterMember) -> bool:
    """Whether a node is clearly the master of others: it serves them twice what it asks them for (this project)."""
    into, out = one.incoming_per_second, one.outgoing_per_second
    return known(into) and known(out) and into > CLEARLY * out


# --- today and afterwards --------------------------------------------------------------------------------------------


def _lines(facts: Facts, members: Sequence[ClusterMember], found: Decision) -> tuple[Line, ...]:
    names = [one.name for one in members]
    ranks = ranks_of(facts, names) if len(names) <= MOST_RANKED else {}
    machines, cells = hardware_names(facts), latencies_of(facts)
    after = as_master(members, found.master, found.target) if found.goes and found.master and found.target else {}

    def cell(name: str, master: str | None) -> float | None:
        found_in = cells.get((name.upper(), master.upper())) if isinstance(cells, dict) and master else None
        return found_in[0] if found_in else None

    lines = [
        Line(
            node=one.name,
            machine=machines.get(one.name.upper(), (None,))[0],
            rank=ranks.get(one.name),
            today=today_of(one),
            after=after.get(one.name),
            synch_percent=_figure(one.mp_synch_percent),
            dedicated=one.dedicated,
            manager_percent=_figure(one.lock_manager_busy_percent) if one.dedicated else None,
            one_cpu=of_one_cpu(today_of(one), cell(one.name, one.name)),
            one_cpu_after=of_one_cpu(after.get(one.name), cell(one.name, one.name)),
            latency_us=cell(one.name, found.master),
            latency_after_us=cell(one.name, found.home),
        )
        for one in members
    ]
    lines += [
        Line(one.name, one.hardware, None, Rates(), None, None, None, None, None, None, None, None, brought=False)
        for one in unbrought(facts, members)
    ]
    return tuple(lines)


def _figure(value: Reading) -> float | None:
    return value if known(value) and not unreal(value) else None


def bring(found: Decision) -> tuple[MissingInput, ...]:
    """All that would decide more, or fill a gap of the table, each with its node and once."""
    gaps = (lack for line in found.lines for lack in _gaps(line))
    return tuple(dict.fromkeys((*found.missing, *found.gaps, *gaps)))


def _gaps(line: Line) -> tuple[MissingInput, ...]:
    """What would fill the gaps of a line."""
    node = comment(line.node, 31)
    lacks = []
    if line.today.all is None:
        lacks.append(MissingInput(f"lock operations of {node} by where they are served", SERVED_BY.format(node)))
    if line.synch_percent is None:
        lacks.append(
            MissingInput(f"time in processor modes of {node}", f"a T4 composite CSV of {node}, of the same day")
        )
    return tuple(lacks)


__all__ = [
    "HELD_BACK",
    "WHATEVER",
    "Decision",
    "Kind",
    "Line",
    "Rates",
    "Worth",
    "bring",
    "decide",
    "figures_of",
    "too_little",
    "waits_longer",
]
