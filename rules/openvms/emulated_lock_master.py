"""An emulator is master of lock trees that other nodes work on.

Finds: a node that serves many lock operations for others and whose machine is an emulator by its name (CHARON, vtAlpha,
AVTvax, SIMH …). Most emulators borrow the name of the Alpha or VAX they stand for: of such a name nothing is claimed.
Where only one node's figures are there and SHOW CLUSTER has two members, what leaves one is served by the other.

Why it matters: every other node waits for the master. In published runs three nodes with an emulator as master did 25 %
of what the fastest did alone, against 84 % with the fastest as master; an emulator also made the way between the nodes
much slower, and another emulator had the same network-related delays (JCC Consulting's slides on the OpenVMS lock
manager, 2014). That emulator was an obsolete version on a slow host, at about 40 % of a 666 MHz ES40.

What to do: make a node that is measurably faster the master, by its weight; a LOCKTIME run tells which one is. A recent
emulator on a fast host may well be the fastest: then it stays.

A tree belongs to the node that works most in it: where the emulator's own local operations are more than what the
faster node asks it for, its trees stay.

When to ignore it: when LOCKTIME shows that its local locks are the fastest and the way to it is short, or when all
nodes are emulators.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts, Source
from collectors.facts.openvms import ClusterNode
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    joined,
)
from rules.laws.hardware import hardware_of
from rules.laws.platforms import EMULATOR_PERCENT, HIGHER_CLOCK, LOWER_CLOCK
from rules.laws.rounding import plain
from rules.openvms._evidence.cluster import (
    CLUSTER_FACTS,
    SERVED,
    hardly_crosses,
    hardware_names,
    latencies_of,
    local_cells,
    members_of,
    own_name,
    own_rates,
    wrong_reading,
)
from rules.openvms._evidence.decision import WHATEVER, Kind, decide, waits_longer
from rules.openvms._evidence.mastership import LEAVE, MEASURE, Move, freed, move_to
from rules.openvms._evidence.node import sentence
from rules.openvms._evidence.node_speeds import compare_nodes, speed_evidence, what_if
from rules.openvms._evidence.room import passed_over, room_of
from rules.sources import JCC

LINKS = ("https://wiki.vmssoftware.com/LOCKDIRWT", "https://wiki.vmssoftware.com/LOCKRMWT")
TOGETHER = "all nodes' lock operations (% of the fastest node's own rate)"
PUBLISHED = (
    "In published runs three nodes with an emulator as master did 25 % of what the fastest did alone, 84 % with the "
    f"fastest as master ({JCC})."
)
THAT_ONE = (
    f"The emulator of those runs did about {EMULATOR_PERCENT:g} % of the lock operations of a {HIGHER_CLOCK:g} MHz "
    f"ES40, near one of {LOWER_CLOCK:g} MHz with saturation; it was an obsolete version on a slow host, so yours may "
    "be better."
)
MACHINE = MissingInput("what machine each node is", "SHOW CLUSTER")


@dataclass(frozen=True)
class Limits:
    """From where on it matters who is master."""

    served_per_second: float = limit(
        300.0, "this project: as many as one node served in a real two-node day without trouble", unit="operations/s"
    )
    remote_percent: float = percent(
        20.0, "this project: a two-node cluster with 8 % in a real day had no trouble", of="operations"
    )


@rule(needs=(), uses=CLUSTER_FACTS, links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the node of the capture as master, and the other one of two where it has no capture of its own."""
    rates, cells = own_rates(facts), latencies_of(facts)
    if wrong := (rates and wrong_reading(rates)) or (cells if isinstance(cells, Untrusted) else None):
        yield wrong
        return
    incoming, outgoing = (rates.incoming_per_second, rates.outgoing_per_second) if rates else (None, None)
    if rates is None or incoming is None or outgoing is None:
        yield Unknown.without("lock operations by where they are served", SERVED)
        return
    if quiet := hardly_crosses(facts, limits.remote_percent):
        yield quiet
        return
    own, other = own_name(facts), _other(facts)
    if incoming >= limits.served_per_second:
        yield from _judged(facts, own, incoming, rates.source, limits)
    elif outgoing >= limits.served_per_second and other:
        yield from _judged(facts, other, outgoing, rates.source, limits)
    else:
        yield Clean(
            f"{incoming:,.0f} lock operations/s served for other nodes, limit {limits.served_per_second:g}; what this "
            "node asks for elsewhere is judged where it is served"
        )


def _other(facts: Facts) -> str | None:
    """The other one of two members, where SHOW CLUSTER has two and no export of it was uploaded."""
    names = {one.name.upper() for one in facts.every(ClusterNode) if (one.status or "MEMBER").upper() == "MEMBER"}
    own = (own_name(facts) or "").upper()
    if len(names) != 2 or own not in names or members_of(facts):
        return None
    return (names - {own}).pop()


def _judged(facts: Facts, node: str | None, served: float, source: Source, limits: Limits) -> Iterator[Outcome]:
    name, _ = hardware_names(facts).get((node or "").upper(), (None, source))
    machine = hardware_of(name)
    figures = f"{node or 'this node'} serves {served:,.0f} lock operations/s for others"
    if machine is None or node is None:
        yield Unknown((MACHINE,), f"{figures}; what machine it is is not in the export")
        return
    names = [one.name for one in members_of(facts)] or sorted(
        {one.name for one in facts.every(ClusterNode)} | {node}, key=str.upper
    )
    others = [one for one in names if one.upper() != node.upper()]
    orders = {one: compare_nodes(facts, one, node) for one in others}
    measured = bool(orders) and all(order and order.basis.startswith("LOCKTIME") for order in orders.values())
    faster = [one for one, order in orders.items() if order and order.sign > 0]
    if machine.emulator is False:
        yield Clean(f"{figures}; {machine.name} is no emulator")
    elif measured and not faster:
        yield Clean(f"{figures}; by LOCKTIME no node has faster locks, whatever {machine.name} is")
    elif machine.emulator is None and measured:
        yield Clean(
            f"{figures}; {machine.name} may be hardware or not, its speed is measured: the slower one by LOCKTIME"
        )
    elif machine.emulator is None:
        yield Unknown((MEASURE,), f"{figures}; emulators borrow names such as {machine.name}, so its speed decides")
    elif others and all(_emulated(facts, one) for one in others):
        yield Clean(f"{figures}; every node is an emulator")
    else:
        yield from _told(
            facts,
            node,
            figures,
            Evidence("served for others", round(served, 1), "/s", source, limits.served_per_second),
            faster,
        )


def _emulated(facts: Facts, node: str) -> bool:
    machine = hardware_of(hardware_names(facts).get(node.upper(), ("",))[0])
    return machine is not None and machine.emulator is True


def _told(facts: Facts, node: str, figures: str, served: Evidence, faster: list[str]) -> Iterator[Outcome]:
    members = members_of(facts)
    names = [one.name for one in members]
    target, moved = _where(facts, node, faster)
    passed = [one for one in faster if target and _before(facts, one, target)]
    move = moved or Move(
        (), "Mastership belongs on the fastest node: a LOCKTIME run tells which one that is.", missing=(MEASURE,)
    )
    lines = {line.node: line.percent for line in what_if(facts, names)}
    now, then = lines.get(node), lines.get(target or "")
    machine = hardware_names(facts)[node.upper()][0]
    known, ratio = _ratio(facts, node, target) if target else ("", ())
    yield Finding(
        subject=node,
        severity=Severity.WARNING if target and not move.stays else Severity.ADVICE,
        title=f"{node}, an emulator, is master of lock trees that other nodes work on",
        seen=joined(f"{figures}, and it is an emulator by its name ({machine}).", known),
        because=joined(
            "" if move.stays else PUBLISHED, sentence(move.because, passed_over(members, passed).strip(" ."))
        ),
        do=move.do,
        unknown=joined("" if move.stays else THAT_ONE, sentence(move.unknown)),
        evidence=(served, *speed_evidence(facts, (node, *((target,) if target else ()))), *ratio, *move.evidence),
        explains=("openvms/lock_master_on_slow_node",) if target and not move.stays else (),
        changes=move.changes,
        expects=(Expectation(TOGETHER, now, then, "published"),)
        if now is not None and then is not None and not move.held and not move.stays
        else (),
    )
    if move.missing:
        yield Unknown(move.missing)


def _where(facts: Facts, node: str, faster: list[str]) -> tuple[str | None, Move | None]:
    """The node that is to be master, as the decision over all nodes has it, and how: one target for every rule."""
    members = members_of(facts)
    decided = decide(facts, WHATEVER) if members else None
    if decided and decided.master == node and decided.kind is Kind.MOVES and decided.target in faster:
        return decided.target, decided.move
    if decided and decided.master == node and decided.kind is Kind.OPEN and decided.move and not faster:
        return None, replace(decided.move, missing=(*decided.move.missing, MEASURE))
    if decided and decided.master == node and decided.kind is Kind.MOVES and decided.move and not faster:
        return None, replace(decided.move, missing=(*decided.move.missing, MEASURE))
    able = [one for one in faster if not room_of(members, one).full] or faster
    target = next((one for one in able if not any(_before(facts, two, one) for two in able)), None)
    if target not in [one.name for one in members] or target is None:
        return target, None
    if kept := waits_longer(facts, members, node, target):
        return target, Move((), LEAVE, kept.removesuffix("."), stays=True)
    master = next((one for one in members if one.name.upper() == node.upper()), None)
    moved = move_to(facts, members, target, node)
    return target, freed(moved, master) if master else moved


def _ratio(facts: Facts, node: str, target: str) -> tuple[str, tuple[Evidence, ...]]:
    """How fast the emulator is beside the other node, as the plain ratio of what a local lock takes on each.

    No clock comes into it: an emulator is as fast as its host, whatever it says of its own.
    """
    cells = latencies_of(facts)
    local = local_cells(cells, (node, target)) if isinstance(cells, dict) else {}
    if {node.upper(), target.upper()} - local.keys():
        return f"{target} is faster by LOCKTIME.", ()
    (slow, source), (fast, _) = local[node.upper()], local[target.upper()]
    percent = 100 * fast / slow
    return (
        f"{target} is faster by LOCKTIME: a local lock takes {plain(slow, 3)} µs on {node} and {plain(fast, 3)} on "
        f"{target}, so the emulator does {percent:.0f} % of its rate."
    ), (Evidence(f"lock rate of {node}, of that of {target}", round(percent, 1), "%", source),)


def _before(facts: Facts, one: str, other: str) -> bool:
    order = compare_nodes(facts, one, other) if one != other else None
    return order is not None and order.sign > 0
