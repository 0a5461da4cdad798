"""How mastership of the lock trees is moved to a node of a cluster, and what keeps it where it is.

Which weight decides goes by the release, and PE1 comes before any weight. No tree is sent away from the node that works
most in it, and none by a script to a node without room.

Over 600 lines: PE1, the weights and what they need are held against each other for every move.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Facts, Reading, Source, known
from collectors.facts.openvms import ClusterMember, ClusterNode, ListedMember, LockActivity, LockLatency
from collectors.facts.openvms.locking import total
from rules.changes.openvms_sysgen import PARAMETERS, advise_parameter, keep_parameter, parameter_key, set_parameter
from rules.changes.quoting import comment
from rules.finding import Change, Effect, Evidence, MissingInput, joined
from rules.laws.hardware import hardware_of
from rules.openvms._evidence.after_move import Range, asked_itself, takes_of
from rules.openvms._evidence.cluster import (
    Stakes,
    hardware_names,
    latencies_of,
    stakes_by_node,
    unbrought,
)
from rules.openvms._evidence.lock_trees import asked_of
from rules.openvms._evidence.node import in_prose, sentence
from rules.openvms._evidence.node_speeds import compare_nodes
from rules.openvms._evidence.releases import machine_of
from rules.openvms._evidence.room import Room, room_of
from rules.openvms._evidence.spinning import OWN_CPU_OPERATIONS

CLEARLY = 2.0
"""This project: a node that serves others twice what it asks them for is their master; the same of who asks most."""
ALIKE = 0.95
"""This project: what asks for 95 % of another is asking for as much; who leads changes from report to report."""
NO_PART_PERCENT = 2.0
"""This project: a node that asks for a fiftieth of all locks or less needs no tree, nor directory work, of its own."""
REQUEST = 2
"""Lock operations of a request that LOCK_ACTV lists, at the most: a lock is taken or converted, and given back."""
STEP = 2
"""This project: how far the wanted master's weight stands above the others."""
RELEASE = re.compile(r"\b[A-Z](\d{1,2})\.(\d{1,2})")
GOVERNS_FROM = (8, 3)
"""Vendor: from V8.3 on LOCKRMWT has no effect and LOCKDIRWT decides (wiki.vmssoftware.com/LOCKRMWT)."""
USUAL = 5.0
"""Vendor: LOCKRMWT as shipped. At 0 a node does not want to master trees, at 10 it takes them all: neither is a weight
that another node is brought to (wiki.vmssoftware.com/LOCKRMWT)."""
UNWILLING = "with LOCKRMWT 0 a node does not want to master trees"
EQUAL_SHARE = "of equal weights the trees go to the node with some 13 % more activity in them"
BETWEEN = (
    f"Between the others, {EQUAL_SHARE}. Where MONITOR RLOCK then shows them to move to and fro, give {{0}}, which "
    "asks most, the higher weight with its next boot."
)
MIXED = "the releases differ: on a node of V8.3 or later LOCKRMWT has no effect, LOCKDIRWT decides there"
UNREAD = "the releases are not in the exports: on V8.3 or later LOCKRMWT has no effect, LOCKDIRWT decides there"
FASTEST = "Not where {0} was given that weight on purpose, as the fastest node: a LOCKTIME run tells which one is."
KEPT_FREE = "Not where {0} was given that weight on purpose, to be kept free of lock trees."
BOTH_NAMES = ("LOCKDIRWT", "LOCKRMWT")
MEASURE = MissingInput("how fast the nodes are beside each other", LockLatency.COLLECTED_BY)
BOTH = "From V8.3 on LOCKDIRWT decides (not dynamic: a reboot), before that LOCKRMWT (dynamic)"
WHEN_SET = {"LOCKDIRWT": "not dynamic: a reboot of that node", "LOCKRMWT": "dynamic: at once"}
DIRECTORY = (
    "Directory lookups are shared out by the same weights: where only this node has one above 0, it does them all. "
    "The node must take locks in a tree before it can win it."
)
MEANT = (
    "LOCKDIRWT 0 may be meant here: it keeps directory and lock trees off a satellite, or a node that comes and goes. "
    "Then leave it, and move the work instead."
)
MEASURE_FIRST = "Measure after this step: where the trees move by themselves, no weight need be changed."
AFTER_PE1 = "Not before PE1 = 0 was set on the master and measured: where the trees moved by then, leave this step out."
ALL = "A node with LOCKRMWT 10 takes every tree it locks in from nodes with less (wiki.vmssoftware.com/LOCKRMWT)."


def release_of(version: str | None) -> tuple[int, int] | None:
    """`V8.4-2L1` → (8, 4); `None` where no release is told."""
    found = RELEASE.search(version[:40]) if version else None
    return (int(found.group(1)), int(found.group(2))) if found else None


def governing(facts: Facts, members: Sequence[ClusterMember]) -> str | None:
    """The parameter that decides over mastership on all nodes; `None` where releases are unknown or mixed.

    Of a node alone, whose cluster no export shows, the one that decides on it.
    """
    releases = _releases(facts, members)
    if not releases or None in releases:
        return None
    new = {release >= GOVERNS_FROM for release in releases if release is not None}
    return None if len(new) > 1 else ("LOCKDIRWT" if new == {True} else "LOCKRMWT")


def _releases(facts: Facts, members: Sequence[ClusterMember]) -> list[tuple[int, int] | None]:
    """The release of every node; `None` for one of which it was not read."""
    seen = {one.name.upper(): one.software for one in facts.every(ClusterNode) if one.software}
    found = [release_of(one.version or seen.get(one.name.upper())) for one in members]
    found += [release_of(one.software) for one in unbrought(facts, members)]
    own = machine_of(facts).release
    return found or [release_of(own.printed) if own else None]


def ungoverned(facts: Facts, members: Sequence[ClusterMember]) -> str:
    """Why no one parameter decides on all nodes, as a clause: releases that differ, or that were not read."""
    return UNREAD if None in _releases(facts, members) else MIXED


def both_by_release(facts: Facts, members: Sequence[ClusterMember]) -> str:
    """Which weight decides where that is not known of every node, as a clause: by the releases that were read."""
    seen = {one.name.upper(): one.software for one in facts.every(ClusterNode) if one.software}
    read = {one.name: release_of(one.version or seen.get(one.name.upper())) for one in members}
    known_ones = {name: release for name, release in read.items() if release}
    if not known_ones or len(known_ones) == len(read) or any(one < GOVERNS_FROM for one in known_ones.values()):
        return BOTH
    name, (major, minor) = next(iter(known_ones.items()))
    others = ", ".join(comment(one, 31) for one in read if one not in known_ones)
    return (
        f"From V8.3 on LOCKDIRWT decides (not dynamic: a reboot), so on {comment(name, 31)} (V{major}.{minor}), and on "
        f"{others} as far as SHOW CLUSTER shows such a release, too"
    )


def works_more(
    members: Sequence[ClusterMember], master: str, node: str, every: Mapping[str, Stakes] | None = None
) -> str:
    """Why the trees stay with their master, as a sentence; empty where `node` works more in them, or nothing tells.

    A tree belongs to the node that works most in it: elsewhere, what the master does locally would cross the cluster.
    `every`: the stakes of all nodes (`stakes_by_node`), where several of them are asked about.
    """
    stakes = (stakes_by_node(members, master) if every is None else every).get(node.upper())
    if stakes is None or stakes.least > stakes.local:
        return ""
    says = f"{master} itself does {stakes.local:,.0f} lock operations/s locally"
    low, high = f"{stakes.least:,.0f}", f"{stakes.most:,.0f}"
    if stakes.most > stakes.least and (not stakes.least or stakes.most > stakes.local):
        least = f" ({low} to {high}/s)" if stakes.least else ""
        return f"{says}; what {node} asks it for is open{least}: who asks whom is not in the exports."
    asked = low if low == high else f"{low} to {high}"
    return (
        f"{says}, {node} asks it for {asked}/s: a tree belongs to the node that works most in it, so the trees stay on "
        f"{master}; with {node} as master what is local now would cross the cluster."
    )


def kept_by(facts: Facts, members: Sequence[ClusterMember], master: str, node: str) -> str:
    """What keeps the trees on their master although `node` works more in them, as a sentence; empty where nothing does.

    PE1 comes first: with it other than 0 no weight moves a tree.
    """
    rates = {one.name: one for one in members}
    first, second = rates.get(master), rates.get(node)
    if first is None or second is None:
        return ""
    if known(first.pe1) and first.pe1:
        does = "keeps every tree" if first.pe1 < 0 else "keeps all but small trees (as recalled)"
        return (
            f"PE1 = {first.pe1:.0f} on {master} {does} there: that comes first, on {master} and without a boot, and no "
            "work is to be moved before its effect was measured."
        )
    name = governing(facts, members)
    pairs = [
        (one, weight_of(facts, first, one), weight_of(facts, second, one)) for one in ([name] if name else BOTH_NAMES)
    ]
    told = [
        f"{one} of {master} is {high:.0f} and of {node} {low:.0f}: the higher one draws the trees to {master}"
        + (f", and {UNWILLING}" if one == "LOCKRMWT" and not low else "")
        for one, high, low in pairs
        if high is not None and low is not None and high > low
    ]
    return sentence(*told, "" if name else ungoverned(facts, members)) if told else ""


@dataclass(frozen=True)
class Misplaced:
    """A tree that its master hardly works in, beside the node that asks for most of it."""

    says: str
    """As a clause, with what keeps the tree there where that is known."""
    changes: tuple[Change, ...]
    """The weights that keep it there, made equal: templates."""
    do: str = ""
    """These weights, to stand behind "set"."""


def misplaced(
    facts: Facts, members: Sequence[ClusterMember], master: str, asks: Mapping[str, float]
) -> Misplaced | None:
    """Whether another node works clearly more in a tree than its master; `asks`: its requests per second by node.

    No weight sends a tree to a slower node, nor to one without room.
    """
    by_name = {one.name.upper(): one for one in members}
    rates = {name.upper(): rate for name, rate in asks.items()}
    if not rates:
        return None
    node = max(rates, key=lambda name: rates[name])
    first, second = by_name.get(master.upper()), by_name.get(node)
    if node == master.upper() or rates[node] < CLEARLY * rates.get(master.upper(), 0.0):
        return None
    works, belongs = (
        f"{comment(node, 31)} works more in it than its master",
        "a tree belongs to the node that works most in it",
    )
    order = compare_nodes(facts, node, master)
    if order is not None and order.sign < 0:
        goes = f"its work belongs on {comment(master, 31)}, not the tree on it"
        return Misplaced(f"{works}, but is the slower node ({order.basis}): {goes}", ())
    if first is None or second is None:
        return Misplaced(f"{works}: {belongs}", ())
    room = room_for(facts, members, second.name, master=first.name)
    if room.full:
        return Misplaced(f"{works}, but {room.busy}: the tree stays where it is until there is room", ())
    if not (keeps := kept_by(facts, members, first.name, second.name)):
        return Misplaced(f"{works}: {belongs}", ())
    says = f"{works}: {belongs}. {keeps.removesuffix('.')}"
    name = governing(facts, members)
    old, new = (weight_of(facts, one, name) if name else None for one in (first, second))
    if name is None or old is None or new is None or (known(first.pe1) and first.pe1):
        return Misplaced(says, ())
    drawn = f"{comment(node, 31)} asks for {in_prose(rates[node])}/s, {comment(first.name, 31)} itself for "
    when = (
        f"only where nobody chose these weights on purpose: they draw trees to {comment(first.name, 31)} in which "
        f"{drawn}{in_prose(rates.get(first.name.upper(), 0.0))}/s"
    )
    slower = order is not None or bool(emulated(facts, first.name, second.name))
    fastest = () if slower else (FASTEST.format(comment(first.name, 31)),)
    cautions = (
        *fastest,
        *((DIRECTORY,) if name == "LOCKDIRWT" else ()),
        *((sentence(room.watch),) if room.watch else ()),
    )
    steps = levelled(name, {first.name: old, second.name: new}, first.name, second.name)
    others = {whose: value for whose, value in _weights(facts, members, name).items() if whose != first.name and value}
    # the others share the directory work
    if name == "LOCKDIRWT" and len(others) > 1 and (slower or _takes_no_part(facts, first.name)):
        steps = tuple((whose, was, 0.0 if whose == first.name else to) for whose, was, to in steps)
        if len({*others.values()}) == 1:
            cautions = (*cautions, BETWEEN.format(comment(second.name, 31)))
    changes = tuple(
        advise_parameter(name, was, to, when=when, cautions=cautions, node=whose) for whose, was, to in steps
    )
    said = ", ".join(f"{name} {was:.0f} → {to:.0f} on {comment(whose, 31)}" for whose, was, to in steps)
    return Misplaced(says, changes, f"{said} ({WHEN_SET[name]})" if steps else "")


def _takes_no_part(facts: Facts, node: str) -> bool:
    """Whether a node asks for next to none of all locks that LOCK_ACTV lists, as one that is there for the quorum."""
    by_node: dict[str, float] = {}
    for report in facts.every(LockActivity):
        for name, rate in report.by_node:
            by_node[name.upper()] = by_node.get(name.upper(), 0.0) + rate
    whole = sum(by_node.values())
    return whole > 0 and node.upper() in by_node and 100 * by_node[node.upper()] <= NO_PART_PERCENT * whole


def levelled(name: str, numbers: Mapping[str, float], master: str, node: str) -> tuple[tuple[str, float, float], ...]:
    """The weights with which `master` no longer draws the trees that `node` works in, each as (node, old, new).

    LOCKDIRWT of the master goes down to the highest of the others. LOCKRMWT is brought to its default from both sides:
    a node below it is raised, as no other is to follow it down.
    """
    old, most = numbers[master], most_of(numbers, master)
    if name == "LOCKDIRWT":
        return ((master, old, most),) if old > most else ()
    level = min(old, max(USUAL, most))
    raised = ((node, numbers[node], level),) if numbers[node] < level else ()
    return (*raised, *(((master, old, level),) if old > level else ()))


def _outdone(members: Sequence[ClusterMember], target: str) -> str:
    """The same where no one master is meant: a node whose local work is more than all that `target` asks for."""
    mine = next((one for one in members if one.name == target), None)
    asked = total(mine.local_per_second, mine.outgoing_per_second) if mine else None
    if asked is None:
        return ""
    local = {one.name: one.local_per_second for one in members if one.name != target and known(one.local_per_second)}
    most = max(local, key=lambda name: local[name], default=None)
    if most is None or local[most] <= asked:
        return ""
    return (
        f"{most} does {local[most]:,.0f} lock operations/s locally, {target} asks for {asked:,.0f}/s in all: a tree "
        f"belongs to the node that works most in it, so {target} is not to be given all of them."
    )


@dataclass(frozen=True)
class Move:
    """How mastership goes to a node: the scripts, what to say, and what is missing for a script."""

    changes: tuple[Change, ...]
    do: str
    """What to do, as a sentence; two where it waits for room, or PE1 comes first."""
    because: str = ""
    """What keeps the trees where they are, as a clause."""
    unknown: str = ""
    """Whether there is room for them, as a clause; empty where there is none, which `do` begins with then."""
    missing: tuple[MissingInput, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    """The weights as they are, where they are all known, and how busy the nodes are that would take the trees."""
    held: str = ""
    """What its changes wait for, where a node that would take the trees has no room: they are comments then."""
    title: str = ""
    """What the finding says, where it is another weight than the master's that keeps the trees."""
    stays: bool = False
    """Whether the trees stay where they are, as a node that works more in them has them: `because` tells why."""

    @property
    def runs(self) -> bool:
        """Whether any of it is a script: templates wait for a person."""
        return any(one.takes_effect is not Effect.ADVICE for one in self.changes)

    @property
    def says(self) -> str:
        """All of it in one, for the page of the cluster."""
        return joined(sentence(self.because), self.do, sentence(self.unknown))


def room_for(
    facts: Facts, members: Sequence[ClusterMember], *nodes: str, master: str | None, by: str = "weight"
) -> Room:
    """Whether these nodes have room for the trees of `master`; without one, of whichever node has them.

    A busy node that asks for most of them itself is not full for a weight that runs at once, and is undone at once.
    """
    cells = latencies_of(facts)
    takes = takes_of(members, master, nodes, cells) if master and isinstance(cells, dict) else None
    givers = [master] if master else [one.name for one in members]
    at_once = master and by == "weight" and governing(facts, members) == "LOCKRMWT"
    own = (
        {**_asked_by_listing(facts, members, master, nodes), **asked_itself(members, master, nodes)}
        if master and at_once
        else None
    )
    return room_of(members, *nodes, comes_from=givers, by=by, takes=takes, own=own)


def _asked_by_listing(
    facts: Facts, members: Sequence[ClusterMember], master: str, nodes: Sequence[str]
) -> Mapping[str, Range]:
    """As `asked_itself`, by the requests that LOCK_ACTV lists in the trees of a master of which no rates were measured.

    A request is at least one lock operation, and two at the most: its lock is given back.
    """
    asks, found = asked_of(facts, master) if any(isinstance(one, ListedMember) for one in members) else {}, {}
    for node in nodes:
        mine, others = asks.get(node.upper(), 0.0), sum(rate for one, rate in asks.items() if one != node.upper())
        if mine > CLEARLY * REQUEST * others and REQUEST * (mine + others) < OWN_CPU_OPERATIONS:
            found[node] = (mine, REQUEST * others)
    return found


LEAVE = "Leave the trees where they are."


def _roomy(move: Move, room: Room) -> Move:
    """The move with what is known of the room on the nodes that would take the trees."""
    if room.full:
        return replace(move, do=joined(sentence(room.brief), move.do), held=room.when)
    return replace(move, unknown=room.brief)


def emulated(facts: Facts, master: str, node: str) -> str:
    """That the master is an emulator by its name and this node is none, as a clause; empty where not."""
    names = hardware_names(facts)
    first, second = (hardware_of(names.get(name.upper(), ("",))[0]) for name in (master, node))
    if first is None or second is None or first.emulator is not True or second.emulator is not False:
        return ""
    return f"{master} is an emulator by its name, and {node}, which is none, works more in the trees"


def by_weight(facts: Facts, members: Sequence[ClusterMember], master: str) -> tuple[str, Move] | None:
    """The node that works more in the trees than their master, which has them by its own weight, and how it gets them.

    For nodes of which none is known to be the faster: the weights are made equal (`levelled`), no one is preferred, and
    the trees go to who uses them most. A master that is an emulator by its name waits for no LOCKTIME run: no weight is
    set above another one, and that of the published runs was the slowest master. `None` where no weight is the cause.
    """
    stakes = stakes_by_node(members, master)
    most = {one.name: stakes[one.name.upper()][1] for one in members if one.name.upper() in stakes}
    node = max(most, key=lambda name: most[name], default=None)
    if node is None or works_more(members, master, node):
        return None
    order, why = compare_nodes(facts, node, master), kept_by(facts, members, master, node)
    first = next(one for one in members if one.name == master)
    if not why or (order is not None and order.sign < 0) or (known(first.pe1) and first.pe1):
        return None
    name, room = governing(facts, members), room_for(facts, members, node, master=master)
    weights = {one.name: weight_of(facts, one, name) for one in members} if name else {}
    numbers = {one: value for one, value in weights.items() if value is not None}
    if name is None and ungoverned(facts, members) == MIXED:
        return node, replace(if_not_slower(facts, members, node, master), because=why.removesuffix("."))
    if name is None or len(numbers) < len(weights) or unbrought(facts, members):
        return node, _roomy(Move((), "", why.removesuffix(".")), room)
    steps = levelled(name, numbers, master, node)
    if not steps:
        return None
    waits = _pending(members, numbers, node, name)
    read = tuple(Evidence(f"{name} of {one.name}", numbers[one.name], "", _read_in(one, name)) for one in members)
    if waits:
        return node, Move((), waits[1], f"{why.removesuffix('.')}; {waits[0]}", evidence=read)
    if name == "LOCKRMWT":
        said = ", ".join(f"{whose} {old:.0f} to {new:.0f}" for whose, old, new in steps)
        do = sentence(f"Set {name} (dynamic) of {said}: {EQUAL_SHARE}")
        changes = tuple(
            _set(name, old, new, whose, room, (FASTEST if whose == master else KEPT_FREE).format(whose))
            for whose, old, new in steps
        )
        low = numbers[node]
        title = ""
        if low < USUAL:
            title = f"{node} works more in the trees of {master}, and {name} {low:.0f} of {node} keeps them from it"
        move = Move(changes, do, why.removesuffix("."), evidence=(*read, *room.evidence), title=title)
        return node, _roomy(move, room)
    ((_, old, new),) = steps
    do = (
        f"Lower {name} of {master} from {old:.0f} to {new:.0f} (a reboot of that node), no higher than "
        "the others: the trees then go to the node that uses them most."
    )
    change = _set(name, old, new, master, room, FASTEST.format(master))
    virtual = bool(emulated(facts, master, node))
    if order is None and not room.when and not virtual:
        when = f"only once a LOCKTIME run has shown that {master} is not the fastest node"
        change = advise_parameter(name, old, new, when=when, cautions=(DIRECTORY, MEANT), node=master)
    changes = (change,)
    if virtual and not new:
        with_it = f"only with a boot of {node} that comes anyway: at 0 on every node {master} may still win a tree"
        changes = (change, advise_parameter(name, 0, 1, when=with_it, cautions=(DIRECTORY,), node=node))
    title = f"{master}, an emulator, is master by its weight, and {node} works more in its trees" if virtual else ""
    return node, _roomy(Move(changes, do, why.removesuffix("."), evidence=(*read, *room.evidence), title=title), room)


def move_to(facts: Facts, members: Sequence[ClusterMember], target: str, master: str | None = None) -> Move:
    """Give `target` the highest weight of the parameter that decides, from the weights in the exports.

    Where `master` holds the trees by its own weight and several nodes are as fast as `target`, or it is an emulator,
    that weight is lowered instead: one node boots, and none of the equals is preferred. A node that has no room for the
    work is sent none by a script. No tree is sent away from the node that works most in it.
    """
    if kept := works_more(members, master, target) if master else _outdone(members, target):
        return Move((), LEAVE, kept.removesuffix("."), stays=True)
    name, room = governing(facts, members), room_for(facts, members, target, master=master)
    if name is None:
        if ungoverned(facts, members) == MIXED:
            return _roomy(_on_condition(facts, members, target, ""), room)
        lack = MissingInput("OpenVMS version of every node", "SHOW CLUSTER")
        unread = f"{BOTH}; the versions here are not known, so no script is given."
        return replace(_roomy(Move((), unread, missing=(lack,)), room), held="")
    weights = _weights(facts, members, name)
    numbers = {node: value for node, value in weights.items() if value is not None}
    if len(numbers) < len(weights):
        lack = _unweighed(name, weights)
        highest = f"{name} of {target} is to be the highest of all ({WHEN_SET[name]})."
        return replace(_roomy(Move((), highest, missing=(lack,)), room), held="")
    read = tuple(Evidence(f"{name} of {one.name}", numbers[one.name], "", _read_in(one, name)) for one in members)
    read += tuple(
        Evidence(f"{name} of {one.name}", numbers[one.name], "", one.source) for one in unbrought(facts, members)
    )
    now, most = numbers[target], max(value for node, value in numbers.items() if node != target)
    if now > most:
        free = any(one.name == master and known(one.pe1) and one.pe1 == 0 for one in members)
        off = "" if free else "whether remastering is off (PE1), "
        look = (
            f"{name} of {target} is {now:.0f} and the highest already (others up to {most:.0f}): look whether that "
            f"value is the active one, {off}and whether the node locks in those trees."
        )
        return _roomy(Move((), look, evidence=(*read, *room.evidence)), room)
    if waiting := _pending(members, numbers, target, name):
        return _roomy(Move((), waiting[1], waiting[0], evidence=(*read, *room.evidence)), room)
    if master and (lower := _lowered(facts, numbers, target, master, name)) is not None:
        old = numbers[master]
        heirs = [node for node, value in numbers.items() if value == numbers[target]]
        room = room_for(facts, members, *heirs, master=master)
        how = "a reboot of that node" if name == "LOCKDIRWT" else "dynamic"
        why = (
            f"{master} is master by its own {name} of {old:.0f}, the highest of all (others up to "
            f"{most_of(numbers, master):.0f})"
        )
        goes = "the other nodes by who uses them" if len(heirs) > 1 else f"{target}, whose weight is the highest then"
        leave = f"({how}) and leave the others as they are: the trees then go to {goes}."
        do = f"Lower {name} of {master} to {lower:.0f} {leave}"
        change = _set(name, old, lower, master, room)
        return _roomy(Move((change,), do, why, evidence=(*read, *room.evidence)), room)
    high = PARAMETERS[name].high
    wanted = min(high, most + STEP)
    meant = (MEANT,) if name == "LOCKDIRWT" and now == 0 < most else ()
    steps = [(target, now, wanted)] if now != wanted else []
    # a master whose weight stands above all others goes down to them: no third node's trees are left to it
    floor = 1.0 if name == "LOCKDIRWT" else USUAL
    below = {master: max(floor, most_of(numbers, master))} if master in numbers else {}
    steps += [
        (node, value, min(wanted - STEP, below.get(node, value)))
        for node, value in numbers.items()
        if node != target and value >= wanted
    ]
    when = "not dynamic: a reboot" if name == "LOCKDIRWT" else "dynamic"
    said = ", ".join(f"{node} {old:.0f} to {new:.0f}" for node, old, new in steps)
    reason = ""
    if master in numbers and numbers[master] > now:
        reason = f"that {master} is master comes of its {name} of {numbers[master]:.0f}, {target} has {now:.0f}"
    changes = tuple(_set(name, old, new, node, room, *(meant if node == target else ())) for node, old, new in steps)
    do = f"{name} decides here ({when}): {said}."
    return _roomy(Move(changes, do, reason, evidence=(*read, *room.evidence)), room)


def if_not_slower(facts: Facts, members: Sequence[ClusterMember], target: str, master: str) -> Move:
    """The weight that makes `target` master, which works more in the trees: for whoever has measured which is faster.

    On releases of both kinds the weight that counts before V8.3 is taken from `master`, too.
    """
    room = room_for(facts, members, target, master=master)
    once = f"once a LOCKTIME run has shown that {comment(target, 31)} is not slower than {comment(master, 31)}"
    weights = {one.name: weight_of(facts, one, "LOCKRMWT") for one in members}
    numbers = {node: value for node, value in weights.items() if value is not None}
    lower: tuple[Change, ...] = ()
    with_it = ""
    if not governing(facts, members) and len(numbers) == len(weights):
        when = f"only together with LOCKDIRWT of {comment(target, 31)}, {once}"
        for whose, old, new in levelled("LOCKRMWT", numbers, master, target):
            lower = (*lower, advise_parameter("LOCKRMWT", old, new, when=when, node=whose))
            with_it += f" and LOCKRMWT of {whose} {old:.0f} to {new:.0f}"
    move = _on_condition(facts, members, target, once, with_it)
    return _roomy(replace(move, changes=(*move.changes, *lower)) if move.changes else move, room)


def _on_condition(facts: Facts, members: Sequence[ClusterMember], target: str, once: str, with_it: str = "") -> Move:
    """The highest weight for `target` as a template alone.

    `once`: what has to be known first; `with_it`: what is said to be changed with it. Where the releases differ
    it is LOCKDIRWT, which decides from V8.3 on, and that is said.
    """
    name = governing(facts, members)
    mixed = ""
    if name is None:
        if ungoverned(facts, members) == UNREAD:
            lack = MissingInput("OpenVMS version of every node", "SHOW CLUSTER")
            return Move((), f"{BOTH}; the versions here are not known.", missing=(lack,))
        name, mixed = (
            "LOCKDIRWT",
            f"as a trial in an agreed window: {MIXED}, and how both act on each other no source says",
        )
    weights = _weights(facts, members, name)
    numbers = {node: value for node, value in weights.items() if value is not None}
    read = tuple(
        Evidence(f"{name} of {one.name}", numbers[one.name], "", _read_in(one, name))
        for one in members
        if one.name in numbers
    )
    if len(numbers) < len(weights):
        return Move(
            (), f"{name} of {target} is to be the highest of all, {once}.", missing=(_unweighed(name, weights),)
        )
    now, most = numbers[target], most_of(numbers, target)
    if now > most:
        return Move((), f"{name} of {target} is {now:.0f} and the highest already (others up to {most:.0f}).")
    new = min(PARAMETERS[name].high, most + STEP)
    if new == now:
        return Move((), f"{name} of {target} is as high as it can be: lower that of the others, {once or mixed}.")
    conditions = ", ".join(one for one in (once, mixed) if one)
    change = advise_parameter(name, now, new, when=f"only {conditions}", cautions=(DIRECTORY,), node=target)
    short = "releases differ: on a node of V8.3 or later LOCKDIRWT decides, before that LOCKRMWT" if mixed else ""
    do = f"{name} of {target} {now:.0f} to {new:.0f}{with_it}, {f'only {once}' if once else 'as a trial alone'}"
    return Move((change,), sentence(do, f"the {short}" if short else ""), evidence=read)


def _weights(facts: Facts, members: Sequence[ClusterMember], name: str) -> dict[str, float | None]:
    """The weight of every node, those without exports of their own among them; `None` where it was not read."""
    weights = {one.name: weight_of(facts, one, name) for one in members}
    for other in unbrought(facts, members):
        weights[other.name] = _weight(name, [other.lock_directory_weight] if name == "LOCKDIRWT" else [])
    return weights


def _unweighed(name: str, weights: Mapping[str, float | None]) -> MissingInput:
    told = ", ".join(node for node, value in weights.items() if value is None)
    return MissingInput(f"{name} of {told}", f"MCR SYSGEN SHOW {name} ! on {told}")


def most_of(numbers: Mapping[str, float], but: str) -> float:
    """The highest weight of all nodes but one."""
    return max(value for node, value in numbers.items() if node != but)


def _lowered(facts: Facts, numbers: dict[str, float], target: str, master: str, name: str) -> float | None:
    """The weight to which the master's own is lowered, so that the others win; `None` where that does not do.

    It does where the others that would then have the highest weight are all as fast as the target. A weight that
    stands above that of the wanted master is the cause, and the boot is that of the node that is to serve less.
    """
    if master not in numbers:
        return None
    most = most_of(numbers, master)
    if not (numbers[master] > most and numbers[target] == most >= (1 if name == "LOCKDIRWT" else USUAL)):
        return None
    heirs = [node for node, value in numbers.items() if node not in (master, target) and value == most]
    orders = [compare_nodes(facts, node, target) for node in heirs]
    if any(order is None or order.sign < 0 for order in orders):
        return None
    return most - 1


def freed(move: Move, master: ClusterMember) -> Move:
    """The move with what PE1 of the master needs before it.

    PE1 above 0 is set to 0 here, before any weight; -1 is openvms/remastering_switched_off's to set.
    """
    if move.stays or not known(master.pe1) or not master.pe1:
        return move
    parameter, key = PARAMETERS["PE1"], parameter_key("PE1", master.name)
    what = "remastering is switched off" if master.pe1 < 0 else "only small trees may move (as recalled)"
    stays = f"on {master.name} {what} (PE1 = {master.pe1:.0f}): its trees stay there whatever the weights"
    changes = tuple(
        replace(
            change,
            after=(*change.after, key),
            cautions=(AFTER_PE1, *change.cautions),
            condition=change.condition
            or f"only if the trees have not moved once PE1 was 0 on {comment(master.name, 31)}",
        )
        for change in move.changes
    )
    do = move.do
    if move.held:
        stays += "; PE1 = 0 there would let them go, so it waits for the same"
    elif changes:
        do = (
            f"First PE1 = 0 on {master.name} (dynamic), and measure: where the trees move by themselves, no weight "
            f"need be changed. Only then the weights, as a step apart: {do}"
        )
    else:
        do = f"PE1 = 0 on {master.name} (dynamic) is the step to take: measure after it. {do}".strip()
    if not move.missing and 0 < master.pe1 <= parameter.high and master.pe1 == int(master.pe1):
        first = (
            advise_parameter("PE1", master.pe1, 0, when=move.held, node=master.name)
            if move.held
            else set_parameter("PE1", master.pe1, 0, dynamic=True, cautions=(MEASURE_FIRST,), node=master.name)
        )
        changes = (first, *changes)
    return replace(move, changes=changes, do=do, because="; ".join(one for one in (move.because, stays) if one))


def _pending(
    members: Sequence[ClusterMember], numbers: dict[str, float], target: str, name: str
) -> tuple[str, str] | None:
    """That weights of CURRENT settle it with the next boots, as a clause, and what to do; `None` where they do not."""
    waits = {one.name: value for one in members if known(value := _waits(one, name)) and value != numbers.get(one.name)}
    then = {**numbers, **waits}
    if not waits or then[target] <= max(value for node, value in then.items() if node != target):
        return None
    said = ", ".join(f"{node} {numbers[node]:.0f} to {value:.0f}" for node, value in waits.items() if node in numbers)
    how = "Nothing else is to be set; boot them one at a time, then measure."
    if PARAMETERS[name].dynamic:
        how = "No other value is to be set: WRITE ACTIVE makes these run at once, without a boot; then measure."
    return (
        f"{name} is pending in CURRENT ({said}): with the next boot of these nodes {target} has the highest weight",
        how,
    )


def _waits(member: ClusterMember, name: str) -> Reading:
    """What the next boot of a node makes of a weight."""
    return member.pending_directory_weight if name == "LOCKDIRWT" else member.pending_remaster_weight


@dataclass(frozen=True)
class Turn:
    """What the next boots make of mastership: from the node with the highest weight now to one that is slower."""

    parameter: str
    """The weight that decides."""
    now: str
    then: str
    basis: str
    """Why the second is the slower one."""
    says: str
    """Both sets of weights, for a sentence."""
    changes: tuple[Change, ...]
    evidence: tuple[Evidence, ...]


def turned(facts: Facts, members: Sequence[ClusterMember]) -> Turn | None:
    """Where the weights of CURRENT give a slower node the highest one with the next boots; `None` where they do not.

    Every weight has to be known, and one node has to stand alone above the others before and after.
    """
    name = governing(facts, members)
    if name is None:
        return None
    weights = _weights(facts, members, name)
    runs = {node: value for node, value in weights.items() if value is not None}
    waits = {
        one.name: value
        for one in members
        if (value := _weight(name, [_waits(one, name)])) is not None and value != runs.get(one.name)
    }
    now, then = _highest(runs), _highest({**runs, **waits})
    if len(runs) < len(weights) or not now or not then or now == then:
        return None
    order = compare_nodes(facts, then, now)
    if order is None or order.sign >= 0:
        return None
    pending = [one for one in members if one.name in waits]
    caution = "Only if nobody set this weight in CURRENT on purpose."
    return Turn(
        name,
        now,
        then,
        order.basis,
        ", ".join(f"{node} {runs[node]:.0f} to {value:.0f}" for node, value in waits.items()),
        tuple(
            keep_parameter(name, waits[one.name], runs[one.name], cautions=(caution,), node=one.name) for one in pending
        ),
        (
            *(Evidence(f"{name} of {one.name}", runs[one.name], "", _read_in(one, name)) for one in members),
            *(
                Evidence(
                    f"{name} of {one.name} in CURRENT (pending)",
                    waits[one.name],
                    "",
                    (one.pending_directory_weight_source if name == "LOCKDIRWT" else one.pending_remaster_weight_source)
                    or one.source,
                )
                for one in pending
            ),
        ),
    )


def _highest(weights: dict[str, float]) -> str | None:
    """The node whose weight stands alone above all others."""
    most = max(weights.values(), default=0)
    found = [node for node, value in weights.items() if value == most]
    return found[0] if len(found) == 1 else None


def _read_in(member: ClusterMember, name: str) -> Source:
    """The line that has a node's weight; else the nearest that is known."""
    exact = member.directory_weight_source if name == "LOCKDIRWT" else member.remaster_weight_source
    return exact or member.parameters_source or member.source


def _set(name: str, old: float, new: float, node: str, room: Room, *more: str) -> Change:
    """One weight: a script, or comments alone where a node that would take the trees has no room for them."""
    cautions = (*more, *((DIRECTORY,) if name == "LOCKDIRWT" else ((ALL,) if new == PARAMETERS[name].high else ())))
    if room.when:
        return advise_parameter(name, old, new, when=room.when, cautions=cautions, node=node)
    if room.unread or room.tight:
        cautions = (comment(room.said, 600), *cautions)
    change = set_parameter(name, old, new, dynamic=PARAMETERS[name].dynamic, cautions=cautions, node=node)
    return replace(change, condition=room.watch) if room.watch else change


def weight_of(facts: Facts, member: ClusterMember, name: str) -> float | None:
    """A node's weight from its own listing or a cluster-wide table; `None` where unknown or outside its range."""
    read: list[Reading] = [member.lock_directory_weight if name == "LOCKDIRWT" else member.lock_remaster_weight]
    if name == "LOCKDIRWT":
        seen = [one for one in facts.every(ClusterNode) if one.name.upper() == member.name.upper()]
        read += [one.lock_directory_weight for one in reversed(seen)]
    return _weight(name, read)


def _weight(name: str, read: Sequence[Reading]) -> float | None:
    value = next((one for one in read if known(one)), None)
    low, high = PARAMETERS[name].low, PARAMETERS[name].high
    return value if value is not None and low <= value <= high and value == int(value) else None
