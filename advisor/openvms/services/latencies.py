"""The LOCKTIME matrix of a capture: what a lock takes from node to node, in local locks, and how far that could be."""

from dataclasses import dataclass

from collectors.facts import Facts, Reading
from collectors.facts.openvms import LockLatency
from rules.finding import Untrusted
from rules.laws.distance import LOCAL_MICROSECONDS, farthest_metres, round_trip_locks
from rules.openvms._evidence.cluster import Cell, latencies_of

MOST_NODES = 16
"""Nodes of the matrix that is shown; of more the first by name."""
MOST_PAIRS = 60
"""Pairs of the distance arithmetic, the slowest first."""
NEAR, FAR = 15.0, 25_000.0
"""Metres that JCC Consulting's slides (2014) reckon with."""
REFERENCE = (
    f"For comparison, a signal in glass there and back: {NEAR:g} m are {round_trip_locks(NEAR):.2g} local locks of "
    f"{LOCAL_MICROSECONDS:.3g} µs (a BL870c), {FAR / 1000:g} km are {round_trip_locks(FAR):.0f}."
)


@dataclass(frozen=True)
class Latency:
    """One cell."""

    microseconds: Reading
    times: float | None
    """In local locks of the asking node, else of the master; `None` for a local lock, or where neither was measured."""


@dataclass(frozen=True)
class Pair:
    """Two nodes, by the direction that takes longer."""

    asks: str
    master: str
    microseconds: float
    times: float | None
    most: float
    """Lock operations per second that one process can do that way at most, one after the other: 1 ÷ latency."""
    kilometres: float
    """If all of the shorter direction's time were light in glass: an upper bound."""


@dataclass(frozen=True)
class Matrix:
    """The whole of it; nodes in capitals."""

    nodes: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Latency | None, ...]], ...]
    """Each asking node with its cells in the order of `nodes`."""
    left_out: int
    """Nodes that are not shown."""
    pairs: tuple[Pair, ...]
    more_pairs: int
    doubt: str
    """Why the matrix cannot be believed; then there are no factors and no pairs."""
    where: str


def matrix_of(facts: Facts) -> Matrix | None:
    """The matrix, or `None` where no LOCKTIME run was brought."""
    read = {(one.from_node.upper(), one.master.upper()): one for one in facts.every(LockLatency)}
    if not read:
        return None
    names = sorted({name for key in read for name in key})
    shown = names[:MOST_NODES]
    judged = latencies_of(facts)
    cells = judged if isinstance(judged, dict) else {}
    pairs = sorted(_pairs(cells), key=lambda pair: (-pair.microseconds, pair.asks))
    rows = []
    for asks in shown:
        line = [(read.get((asks, master)), master) for master in shown]
        told = [Latency(one.microseconds, _times(cells, asks, to)) if one else None for one, to in line]
        if any(told):
            rows.append((asks, tuple(told)))
    return Matrix(
        nodes=tuple(shown),
        rows=tuple(rows),
        left_out=len(names) - len(shown),
        pairs=tuple(pairs[:MOST_PAIRS]),
        more_pairs=max(0, len(pairs) - MOST_PAIRS),
        doubt=judged.why if isinstance(judged, Untrusted) else "",
        where=", ".join(sorted({one.source.file for one in read.values()})[:3]),
    )


def _times(cells: dict[tuple[str, str], Cell], asks: str, master: str) -> float | None:
    local = cells.get((asks, asks)) or cells.get((master, master))
    if asks == master or local is None or (asks, master) not in cells:
        return None
    return cells[asks, master][0] / local[0]


def _pairs(cells: dict[tuple[str, str], Cell]) -> list[Pair]:
    """Each two nodes between which a lock was measured."""
    found = []
    for names_of in {tuple(sorted(key)) for key in cells if key[0] != key[1]}:
        ways = [(a, b) for a, b in (names_of, names_of[::-1]) if (a, b) in cells]
        asks, master = max(ways, key=lambda way: cells[way][0])
        shortest = min(cells[way][0] for way in ways)
        kilometres = farthest_metres(shortest) / 1000
        time = cells[asks, master][0]
        found.append(Pair(asks, master, time, _times(cells, asks, master), 1e6 / time, kilometres))
    return found
