"""The decision over a cluster as a page shows it: the nodes for each choice of a master, and what they spend then.

It takes the facts of every node, which a rule has not: a rule judges the capture of one.
"""

from collections.abc import Mapping
from dataclasses import replace

from collectors.facts import Facts, known
from rules.openvms._evidence.after_move import Choice, choice_of
from rules.openvms._evidence.cluster import latencies_of, members_of
from rules.openvms._evidence.decision import Decision, Kind
from rules.openvms._evidence.mastership import ALIKE
from rules.openvms._evidence.node_speeds import unbeaten
from rules.openvms._evidence.room import room_of
from rules.openvms._evidence.settled import Told, decided, name_of
from rules.openvms._evidence.spins_after import spent_after


def shown(captures: Mapping[str, Told]) -> tuple[Decision, bool]:
    """What `decided` gives, with what the nodes do by each choice of a master, and what they spend afterwards."""
    found, carried_out = decided(captures)
    facts = next(iter(captures.values())).capture.facts
    nodes = {name_of(one.capture): one.capture.facts for one in captures.values()}
    return replace(with_spent(found, nodes), choices=choices_of(facts, found)), carried_out


def choices_of(facts: Facts, found: Decision) -> tuple[Choice, ...]:
    """What the nodes do with the best node as master, with that of today, and with the runner-up.

    Where nothing decides between the nodes, the one that asks most stands for the best. None where it does not matter.
    """
    members, cells = members_of(facts), latencies_of(facts)
    if found.master is None or found.kind is Kind.EVEN or not isinstance(cells, dict) or len(members) < 2:
        return ()
    asks = {one.name: one.outgoing_per_second for one in members if known(one.outgoing_per_second)}
    others = [one.name for one in members if one.name not in (found.master, found.target) and one.name in asks]
    wanted = {found.target: "best"} if found.target and found.goes else {}
    if found.kind is Kind.OPEN:
        most = found.target or max(others, key=lambda name: asks[name], default=None)
        alike = most in asks and asks[most] * ALIKE <= asks.get(found.master, 0.0) <= asks[most] / ALIKE
        wanted = {most: "asks as much" if alike else "asks most"} if most else {}
        others = [name for name in others if name != most]
    wanted[found.master] = "today"
    if others:
        first, full = unbeaten(facts, others), {one.name for one in room_of(members, *others).full}
        wanted[max(others, key=lambda name: (name not in full, name in first, asks[name]))] = "runner-up"
    made = (choice_of(members, found.master, name, which, cells) for name, which in wanted.items())
    return tuple(one for one in made if one is not None)


def with_spent(found: Decision, nodes: Mapping[str, Facts]) -> Decision:
    """The decision with what each node spends afterwards, in these two modes; `nodes`: its own facts by name."""
    lines = tuple(
        replace(one, spent=spent_after(nodes[one.node], one.node, one.today, one.after, dedicated=one.dedicated))
        if one.node in nodes
        else one
        for one in found.lines
    )
    lacks = (lack for one in lines if one.spent for lack in one.spent.missing)
    return replace(found, lines=lines, gaps=tuple(dict.fromkeys((*found.gaps, *lacks))))
