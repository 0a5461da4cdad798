"""The search for the best binding plan: branch and bound, over the pieces by falling share. See `rules.laws.binding`.

A node has decided for the first pieces; taken as a plan it leaves the others where they are. Its bound lets the rest of
the load flow as if it could be cut at will: out of the fullest caches into the emptiest, as much of it as memory can
hold (the fractional knapsack), at the lowest price per share there is. That is a convex problem of one variable, the
amount moved; its tangent is a bound for certain.
"""

import functools
import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from rules.laws.binding import (
    TOGETHER,
    Cache,
    NewCache,
    Optimum,
    Piece,
    Terms,
    best_partitions,
    cache_size_mb,
    collisions,
    overhead_mb,
)

EXACT = 1e-12
"""Differences of the objective below this are rounding."""
ROUNDS = 6
"""How often the first plan is gone over at most."""
Load = tuple[float, float]
"""Share and partitions of one cache; or share and price per share."""
MOST_PIECES = 24
"""The search doubles with each piece: more than these are refused."""


@dataclass(frozen=True)
class _New:
    """A new cache while the plan is made."""

    family: str
    members: tuple[int, ...]
    share: float
    contents_mb: float


@dataclass(frozen=True)
class _Node:
    """Decisions for the first `position` pieces."""

    position: int
    loads: tuple[float, ...]
    """Share of each cache there is, undecided pieces at home included."""
    rooms: tuple[float, ...]
    new: tuple[_New, ...] = ()
    joined: tuple[tuple[int, int], ...] = ()
    price: float = 0.0
    together: int = 0


@functools.lru_cache(maxsize=32)
def best_binding(caches: tuple[Cache, ...], pieces: tuple[Piece, ...], terms: Terms) -> Optimum:
    """Find the plan with the lowest objective.

    The same problem gives the same plan, whatever the order of its pieces. Raises `ValueError` for more than
    `MOST_PIECES` pieces, for a piece whose home is no cache, for negative shares and for sizes that are not above 0.
    """
    names = [cache.name for cache in caches]
    if len(pieces) > MOST_PIECES or len(set(names)) < len(names):
        raise ValueError(f"at most {MOST_PIECES} pieces, and one cache of a name")
    if any(piece.share < 0 or piece.size_mb <= 0 or piece.home not in names for piece in pieces):
        raise ValueError("a piece has a home, a share of 0 or more and a size above 0")
    return _Search(caches, tuple(sorted(pieces, key=lambda one: (-one.share, one.name))), terms).run()


class _Search:
    """One problem: what is the same for all nodes, and the best plan so far."""

    def __init__(self, caches: tuple[Cache, ...], pieces: tuple[Piece, ...], terms: Terms) -> None:
        self.caches, self.pieces, self.terms = caches, pieces, terms
        self.homes = [next(i for i, cache in enumerate(caches) if cache.name == piece.home) for piece in pieces]
        loads = [cache.share for cache in caches]
        for piece, home in zip(pieces, self.homes, strict=True):
            loads[home] += piece.share
        self.start = _Node(0, tuple(loads), tuple(cache.room_mb for cache in caches))
        self.now = collisions((load, cache.partitions) for load, cache in zip(loads, caches, strict=True))
        self.trifle = TOGETHER * self.now
        self.targets = [i for i, cache in enumerate(caches) if cache.families and i not in self.homes]
        self.prices = [_prices(pieces[at:]) for at in range(len(pieces) + 1)]
        self.dense = [
            sorted(range(at, len(pieces)), key=lambda i: -pieces[i].share / pieces[i].size_mb)
            for at in range(len(pieces) + 1)
        ]

    def run(self) -> Optimum:
        """Open the node with the lowest bound until nothing can be better or the nodes are used up.

        The first plan comes from a dive that takes the cheapest child each time, mended by single moves.
        """
        best, lowest = self.start, self.now
        for node in self.dive():
            cost = self.cost(node)
            if cost is not None and cost < lowest:
                best, lowest = node, cost
        heap = [(self.bound(self.start), 0, self.start)] if self.pieces else []
        nodes, serial = 0, 0
        while heap and nodes < self.terms.most_nodes and heap[0][0] < lowest - EXACT:
            nodes += 1
            for child in self.children(heapq.heappop(heap)[2]):
                cost = self.cost(child)
                if cost is None:
                    continue
                if cost < lowest - EXACT:
                    best, lowest = child, cost
                if child.position < len(self.pieces) and (low := self.bound(child)) < lowest - EXACT:
                    serial += 1
                    heapq.heappush(heap, (low, serial, child))
        return self.told(best, lowest, min(lowest, heap[0][0]) if heap else lowest, nodes)

    def dive(self) -> Iterator[_Node]:
        """Plans that are good at once: greedy, then with one decision after another made anew."""
        choices = [0] * len(self.pieces)
        lowest = float("inf")
        for _ in range(ROUNDS):
            before = lowest
            for at in range(len(self.pieces)):
                for choice in range(2 + len(self.targets) + self.terms.most_caches):
                    tried = [*choices[:at], choice, *choices[at + 1 :]]
                    node = self.follow(tried)
                    cost = None if node is None else self.cost(node)
                    if node is not None and cost is not None and cost < lowest - EXACT:
                        choices, lowest = tried, cost
                        yield node
            if lowest >= before - EXACT:
                break

    def follow(self, choices: Sequence[int]) -> _Node | None:
        """The node at which these choices among the children end; `None` where one of them does not exist."""
        node = self.start
        for choice in choices:
            child = next(islice(self.children(node), choice, None), None)
            if child is None:
                return None
            node = child
        return node

    def children(self, node: _Node) -> Iterator[_Node]:
        """Leave the next piece, or move it to each place that may take it; one empty new cache stands for all."""
        at, piece, home = node.position, self.pieces[node.position], self.homes[node.position]
        yield _Node(at + 1, node.loads, node.rooms, node.new, node.joined, node.price, node.together)
        load, partitions = node.loads[home], self.caches[home].partitions
        if piece.share * (2 * load - piece.share) / partitions <= self.terms.least_gain * piece.price:
            return  # even the emptiest cache of all would not be worth it, and the home only gets emptier
        left = _changed(node.loads, home, -piece.share)
        price = node.price + piece.price
        for target in self.targets:
            if piece.family in self.caches[target].families and node.rooms[target] >= piece.size_mb:
                loads, rooms = _changed(left, target, piece.share), _changed(node.rooms, target, -piece.size_mb)
                yield _Node(at + 1, loads, rooms, node.new, (*node.joined, (at, target)), price, node.together)
        for i, new in enumerate(node.new):
            if new.family == piece.family:
                kin = sum(bool(piece.table) and self.pieces[m].table == piece.table for m in new.members)
                more = _New(new.family, (*new.members, at), new.share + piece.share, new.contents_mb + piece.size_mb)
                caches = (*node.new[:i], more, *node.new[i + 1 :])
                yield _Node(at + 1, left, node.rooms, caches, node.joined, price, node.together + kin)
        if len(node.new) < self.terms.most_caches:
            opened = _New(piece.family, (at,), piece.share, piece.size_mb)
            yield _Node(at + 1, left, node.rooms, (*node.new, opened), node.joined, price, node.together)

    def cost(self, node: _Node) -> float | None:
        """The objective of a node taken as a plan; `None` where its new caches do not fit."""
        cut = best_partitions(tuple((new.share, new.contents_mb) for new in node.new), self.terms)
        if cut is None:
            return None
        there = collisions((load, cache.partitions) for load, cache in zip(node.loads, self.caches, strict=True))
        return there + cut[0] + self.terms.least_gain * node.price + self.trifle * node.together

    def bound(self, node: _Node) -> float:
        """No plan below this node has a lower objective."""
        at, terms = node.position, self.terms
        most = self.movable(node)
        spread: list[Load] = [(new.share, terms.most_partitions) for new in node.new]
        spread += [(0.0, terms.most_partitions)] * (terms.most_caches - len(node.new))
        spread += [(node.loads[i], self.caches[i].partitions) for i in self.targets]
        there: list[Load] = [(load, cache.partitions) for load, cache in zip(node.loads, self.caches, strict=True)]
        full = [one for i, one in enumerate(there) if i in self.homes]
        fixed = collisions(one for i, one in enumerate(there) if i not in self.homes and i not in self.targets)
        fixed += terms.least_gain * node.price + self.trifle * node.together
        return fixed + _least(full, spread, most, [(share, terms.least_gain * rate) for share, rate in self.prices[at]])

    def movable(self, node: _Node) -> float:
        """How much of the undecided share could leave its home at most, if pieces could be cut."""
        room = self.terms.memory_mb + sum(node.rooms[i] for i in self.targets)
        for new in node.new:
            size = cache_size_mb(new.contents_mb, 1, self.terms.partition_mb)
            room -= size + overhead_mb(size, self.terms.overhead) - max(0.0, size - new.contents_mb)
        share = 0.0
        for i in self.dense[node.position]:
            piece = self.pieces[i]
            if room <= 0:
                break
            share += piece.share * min(1.0, room / piece.size_mb)
            room -= piece.size_mb
        return share

    def told(self, best: _Node, cost: float, bound: float, nodes: int) -> Optimum:
        """The plan in the names of its pieces and caches."""
        cut = best_partitions(tuple((new.share, new.contents_mb) for new in best.new), self.terms)
        new = []
        for made, (size, partitions) in zip(best.new, cut[1] if cut else (), strict=True):
            members = tuple(self.pieces[i].name for i in made.members)
            overhead = overhead_mb(size, self.terms.overhead)
            new.append(NewCache(made.family, members, made.share, partitions, float(size), overhead))
        there = zip(best.loads, self.caches, strict=True)
        after = collisions((load, cache.partitions) for load, cache in there) + (cut[0] if cut else 0.0)
        joined = {self.pieces[i].name: self.caches[target].name for i, target in best.joined}
        shares = {cache.name: load for load, cache in zip(best.loads, self.caches, strict=True)}
        return Optimum(self.now, after, cost, bound, tuple(new), joined, shares, nodes)


def _changed(values: tuple[float, ...], at: int, by: float) -> tuple[float, ...]:
    return (*values[:at], values[at] + by, *values[at + 1 :])


def _prices(pieces: Sequence[Piece]) -> list[Load]:
    """Shares that may move and the price of each per share, the cheapest first."""
    found = [(piece.share, piece.price / piece.share) for piece in pieces if piece.share > 0]
    return sorted(found, key=lambda one: one[1])


def _least(full: list[Load], spread: list[Load], most: float, prices: list[Load]) -> float:
    """The least C + price when any amount up to `most` flows from the `full` caches to those in `spread`.

    The marginal gain falls with the amount, in straight pieces that get flatter, and the price rises in steps: within a
    step Newton's method from its begin never passes the minimum. Where it ends the tangent gives the bound, whatever
    the rounding.
    """
    if not spread:
        return collisions(full)
    high = sorted(full, key=lambda one: -one[0] / one[1])
    low = sorted(spread, key=lambda one: one[0] / one[1])
    begin, paid = 0.0, 0.0
    value = _flow(high, low, 0.0)[0]
    for share, price in prices:
        end = min(begin + share, most)
        value, slope, bend = _flow(high, low, end)
        if slope + price < 0 and end < most:
            begin, paid, value = end, paid + price * share, value + paid + price * share
            continue
        amount = begin
        for _ in range(20):
            value, slope, bend = _flow(high, low, amount)
            if slope + price >= -EXACT or amount >= end:
                break
            amount = min(end, amount - (slope + price) / bend)
        tangent = min((slope + price) * (end - amount), (slope + price) * (begin - amount), 0.0)
        return value + paid + price * (amount - begin) + tangent
    return value


def _flow(high: list[Load], low: list[Load], amount: float) -> tuple[float, float, float]:
    """C after an amount has flowed, what a little more would change it by, and by how much that grows."""
    top, top_width, top_rest = _levelled(high, -amount, falling=True)
    bottom, bottom_width, bottom_rest = _levelled(low, amount, falling=False)
    value = top * top * top_width + top_rest + bottom * bottom * bottom_width + bottom_rest
    return value, 2 * bottom - 2 * top, 2 / top_width + 2 / bottom_width


def _levelled(caches: list[Load], amount: float, *, falling: bool) -> tuple[float, float, float]:
    """Take (negative) from the fullest or give to the emptiest caches, sorted so, until they are level.

    Gives the level (share per partition), the partitions of the caches that are level, and C of the others.
    """
    total, width, at = amount, 0.0, 0
    for share, partitions in caches:
        reached = share / partitions
        if width and ((total / width >= reached) if falling else (total / width <= reached)):
            break
        total, width, at = total + share, width + partitions, at + 1
    return (total / width if width else 0.0), width, sum(share * share / parts for share, parts in caches[at:])
