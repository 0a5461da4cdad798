"""What the nodes of a cluster do once another of them masters the trees: arithmetic on their own rates of today.

One function for the decision, the table of today and afterwards, and the what-if side by side: none can tell another
figure than the others. It moves all trees that the master of today serves, which is what a weight does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from collectors.facts import Reading, known
from collectors.facts.openvms import ClusterMember
from rules.laws.rounding import plain
from rules.openvms._evidence.cluster import Cell, unreal
from rules.openvms._evidence.spinning import OWN_CPU_OPERATIONS

CLEARLY_MORE = 2.0
"""This project: a node that is spared twice the messages that come has less to do then."""
Range = tuple[float, float]
"""The least and the most that it can be; twice the same where it is known."""


@dataclass(frozen=True)
class Rates:
    """Lock operations of one node per second by where they are served; `None` where that is not known."""

    local: Range | None = None
    outgoing: Range | None = None
    incoming: Range | None = None

    @property
    def all(self) -> Range | None:
        """All that the node does."""
        if self.local is None or self.outgoing is None or self.incoming is None:
            return None
        return summed((self.local, self.outgoing, self.incoming))


@dataclass(frozen=True)
class Choice:
    """One node as master of the trees that the master of today serves."""

    master: str
    which: str
    """`best`, `today` or `runner-up`; `asks most` or `asks as much` where nothing decides between the nodes."""
    rates: Mapping[str, Rates]
    """By node."""
    crossing: Range
    """Lock operations per second that cross the cluster then."""
    waiting: Range | None
    """How many of them are under way at a time by LOCKTIME: seconds of waiting per second, of all nodes together.
    `None` where a cell of it is missing."""


def today_of(one: ClusterMember) -> Rates:
    """The rates of a node as they were read."""

    def both(value: Reading) -> Range | None:
        return (value, value) if known(value) and not unreal(value) else None

    return Rates(both(one.local_per_second), both(one.outgoing_per_second), both(one.incoming_per_second))


def asks_of(members: Sequence[ClusterMember], master: str) -> dict[str, Range] | None:
    """What each other node asks the master for, per second: the least, as the others serve the rest, and the most.

    `None` where a rate that it takes is not known.
    """
    rates = {one.name: (one.outgoing_per_second, one.incoming_per_second) for one in members}
    served = {name: into for name, (_, into) in rates.items() if known(into)}
    if len(served) < len(rates):
        return None
    elsewhere = sum(into for name, into in served.items() if name != master)
    asks: dict[str, Range] = {}
    for name, (out, _) in rates.items():
        if name == master:
            continue
        if not known(out):
            return None
        asks[name] = (max(0.0, out - elsewhere + served[name]), min(out, max(served[master], 0.0)))
    return {name: (min(low, high), high) for name, (low, high) in asks.items()}


def as_master(members: Sequence[ClusterMember], master: str, node: str) -> dict[str, Rates]:
    """What each node does once all trees that `master` serves are those of `node`; empty where a rate is not known.

    What `node` asked the master for is local then, and what the master does locally in those trees, which is none or
    all of it, is asked for across the cluster.
    """
    asks, rates = asks_of(members, master), {one.name: today_of(one) for one in members}
    if asks is None or any(one.all is None for one in rates.values()):
        return {}
    if node == master:
        return rates
    first, own = rates[master], {part: getattr(rates[node], part)[0] for part in ("local", "outgoing", "incoming")}
    least, most = asks[node]
    local, leaves, served = (both[0] if both else 0.0 for both in (first.local, first.outgoing, first.incoming))
    rates[node] = Rates(
        (own["local"] + least, own["local"] + most),
        (max(0.0, own["outgoing"] - most), own["outgoing"] - least),
        (own["incoming"] + max(0.0, served - most), own["incoming"] + max(0.0, served - least) + local),
    )
    rates[master] = Rates((0.0, local), (leaves, leaves + local), (0.0, 0.0))
    return rates


def choice_of(
    members: Sequence[ClusterMember],
    master: str,
    node: str,
    which: str,
    cells: Mapping[tuple[str, str], Cell],
) -> Choice | None:
    """`node` in place of the master of today, `cells` by LOCKTIME; `None` where a rate is not known."""
    rates = as_master(members, master, node)
    if not rates:
        return None
    crossing = summed([one.outgoing for one in rates.values() if one.outgoing])
    return Choice(node, which, rates, crossing, _waiting(members, master, node, cells))


def _waiting(
    members: Sequence[ClusterMember], master: str, node: str, cells: Mapping[tuple[str, str], Cell]
) -> Range | None:
    """Requests for the trees of the master that are under way at a time, once `node` has them; its own local ones, too.

    What crosses to other masters is left out: it is the same whoever has these trees.
    """
    asks = asks_of(members, master)
    local = next((today_of(one).local for one in members if one.name == master), None)
    if asks is None or local is None:
        return None
    every = {**asks, master: (0.0, local[1])}
    found = [(both, cells.get((name.upper(), node.upper()))) for name, both in every.items() if both[1] > 0]
    if any(cell is None for _, cell in found):
        return None
    return summed([(low * cell[0] / 1e6, high * cell[0] / 1e6) for (low, high), cell in found if cell])


def takes_of(
    members: Sequence[ClusterMember], master: str, nodes: Sequence[str], cells: Mapping[tuple[str, str], Cell]
) -> Mapping[str, float]:
    """What serving the trees of `master` takes of all CPUs of each of these nodes, per cent, at most.

    All that it serves then and does not serve today, its own requests among them, by its local lock in LOCKTIME: an
    inference, on the safe side as what it pays today for asking is not taken off. Without a node where a figure lacks.
    """
    found = {}
    for one in members:
        cell = cells.get((one.name.upper(), one.name.upper()))
        if one.name not in nodes or one.name == master or cell is None or not known(one.cpus) or one.cpus < 1:
            continue
        then, today = as_master(members, master, one.name).get(one.name, Rates()), today_of(one)
        if then.local and then.incoming and today.local and today.incoming:
            more = then.local[1] + then.incoming[1] - today.local[1] - today.incoming[1]
            found[one.name] = max(0.0, more) * cell[0] / 1e4 / one.cpus
    return found


def asked_itself(members: Sequence[ClusterMember], master: str, nodes: Sequence[str]) -> Mapping[str, Range]:
    """Those of these nodes that ask for most of what they would serve themselves.

    By name what it asks `master` for at the least, per second, and what of others comes at the most. Such a node is
    spared a message and its answer for each request of its own, and has one for each of others. Up to
    `OWN_CPU_OPERATIONS`, as more of them would spin for one spinlock there.
    """
    found = {}
    for one in members:
        then, today = as_master(members, master, one.name).get(one.name, Rates()), today_of(one)
        if one.name not in nodes or one.name == master or not (then.all and today.outgoing and today.incoming):
            continue
        if then.outgoing is None or then.incoming is None or then.all[1] >= OWN_CPU_OPERATIONS:
            continue
        spared, comes = today.outgoing[0] - then.outgoing[1], max(0.0, then.incoming[1] - today.incoming[0])
        if spared > CLEARLY_MORE * comes:
            found[one.name] = (spared, comes)
    return found


def summed(parts: Sequence[Range]) -> Range:
    """Ranges added up."""
    return sum(low for low, _ in parts), sum(high for _, high in parts)


def of_one_cpu(rates: Rates | None, local_us: float | None) -> Range | None:
    """What these lock operations take of one CPU at so many microseconds each, per cent."""
    if rates is None or rates.all is None or local_us is None:
        return None
    least, most = rates.all
    return least * local_us / 1e4, most * local_us / 1e4


def in_range(both: Sequence[float]) -> float | str:
    """Two ends as a figure, or as `0 to 7.5` where they lie apart."""
    low, high = (plain(round(value, 1), 3) for value in both)
    return round(both[0], 1) if low == high else f"{low} to {high}"
