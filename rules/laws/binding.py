"""Which objects to bind to which data cache, so that searches meet at a cache spinlock as seldom as they can.

Every search of a cache takes the spinlock of one of its partitions. Of two searches at one moment, both want the same
spinlock with the chance

    C = sum over all caches of (share of all searches)² / partitions

(searches spread evenly over the partitions of a cache). Waits at a spinlock grow with the square of its rate, so C is
what the contention of the cache spinlocks is made of; 1/C is read as "one in so many". The plan minimises

    C + least gain × price of what is moved + a trifle for each table that shares a cache with an index of its own

over every way to leave pieces where they are, to move them into caches that have room for them, or into a few new
caches, within the memory that is free. A new cache holds its pieces whole and is cut into as many partitions as memory
allows. The search is exact (branch and bound, `rules.laws.binding_search`) and ends early only at a limit of nodes:
then `Optimum.bound` says how far from the best the answer can be at most.

The objective is this project's; the overhead of a cache is read between the vendor's three points, or between those
that the server itself was asked for.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

OVERHEAD_POINTS = ((0.0, 0.0), (10.0, 0.73), (59.44, 4.10), (95_000.0, 3_874.0))
"""Size and overhead in MB, as sp_helpcache and sp_cacheconfig printed them (knowledge/ase-rules.md, 3.3)."""
REACH = 2.0
"""This project: up to half and up to double a size that was measured its share is taken for that of the size asked."""
TOGETHER = 1e-6
"""What a table and its index in one new cache cost, as a share of C now: decides between equals alone."""


@dataclass(frozen=True)
class Cache:
    """A data cache there is, and what may be moved into it."""

    name: str
    share: float
    """Share of all searches (0 to 1) that stay there whatever is moved; pieces that live there not counted."""
    partitions: int
    room_mb: float = 0.0
    families: frozenset[str] = frozenset()
    """Which pieces may be moved into it; none by default."""


@dataclass(frozen=True)
class Piece:
    """What is moved as one: the data of a table, an index, or the system tables of a database."""

    name: str
    share: float
    """Share of all searches, 0 to 1."""
    size_mb: float
    """Room it takes, growth included."""
    home: str
    """Name of the cache it is in."""
    family: str
    """Pieces of one family may share a cache, others not."""
    table: str = ""
    """What a table and its indexes have in common."""
    price: float = 1.0
    """What moving it counts for, in moves."""


@dataclass(frozen=True)
class Terms:
    """What the plan may use, and what a move must gain."""

    memory_mb: float
    """Free memory for new caches, their overhead included."""
    least_gain: float
    """How much C a move must take away to be made."""
    most_caches: int = 4
    most_partitions: int = 1
    """Partitions a new cache may have: a power of two."""
    partition_mb: float = 0.5
    """The least a partition may have."""
    most_nodes: int = 5_000
    overhead: tuple[tuple[float, float], ...] = OVERHEAD_POINTS
    """Size and overhead in MB, between which the overhead of a new cache is read."""


@dataclass(frozen=True)
class NewCache:
    """A cache the plan makes."""

    family: str
    members: tuple[str, ...]
    share: float
    partitions: int
    size_mb: float
    """Whole megabytes, growth included."""
    overhead_mb: float

    @property
    def memory_mb(self) -> float:
        """What it takes of the free memory."""
        return self.size_mb + self.overhead_mb


@dataclass(frozen=True)
class Optimum:
    """The best plan found, and how good it is."""

    now: float
    """C as it is."""
    after: float
    """C after the plan."""
    cost: float
    """The whole objective: C, moves and trifles."""
    bound: float
    """No plan has a lower objective than this."""
    new: tuple[NewCache, ...] = ()
    joined: Mapping[str, str] = field(default_factory=dict)
    """Pieces moved to caches that are there already: piece to cache."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """Share of all searches of each cache there was, afterwards."""
    nodes: int = 0

    @property
    def proven(self) -> bool:
        """Whether nothing better exists."""
        return self.cost - self.bound <= 1e-9 * max(self.cost, 1e-12)

    @property
    def gap_percent(self) -> float:
        """How much lower the objective of the best plan can be at most, per cent of this one's."""
        return 0.0 if self.proven else 100.0 * (self.cost - self.bound) / self.cost

    @property
    def lowered_percent(self) -> float:
        """How much of C the plan takes away, per cent."""
        return 100.0 * (1.0 - self.after / self.now) if self.now > 0 else 0.0

    @property
    def moved(self) -> tuple[str, ...]:
        """Names of all pieces that move."""
        return (*(name for cache in self.new for name in cache.members), *self.joined)


def collisions(loads: Iterable[tuple[float, float]]) -> float:
    """C of caches given as (share of all searches, partitions). Raises `ValueError` for less than one partition."""
    pairs = list(loads)
    if any(partitions < 1 for _, partitions in pairs):
        raise ValueError("a cache has at least one partition")
    return sum(share * share / partitions for share, partitions in pairs)


def overhead_points(measured: Mapping[float, float]) -> tuple[tuple[float, float], ...]:
    """The points of the vendor, and in their place those that were measured on this server: overhead by size, MB.

    A measured share holds from half of the smallest to double the largest size that was measured, the vendor's from a
    quarter down and four times up; straight lines join them. Overhead never falls as the size grows. A figure that is
    not above 0, or not below its size, is no overhead and is left out.
    """
    own = sorted((size, taken) for size, taken in measured.items() if 0 < taken < size)
    if not own:
        return OVERHEAD_POINTS
    (small, at_small), (large, at_large) = own[0], own[-1]
    low, high = small / REACH**2, large * REACH**2
    found = [point for point in OVERHEAD_POINTS if point[0] < low]
    found += [(low, overhead_mb(low)), (small / REACH, at_small / REACH), *own, (large * REACH, at_large * REACH)]
    found += [(high, overhead_mb(high)), *(point for point in OVERHEAD_POINTS if point[0] > high)]
    rising, most = [], 0.0
    for size, taken in found:
        most = max(most, taken)
        rising.append((size, most))
    return tuple(rising)


def overhead_mb(size_mb: float, points: tuple[tuple[float, float], ...] = OVERHEAD_POINTS) -> float:
    """Memory a cache of this size takes beside its size, MB: straight lines between points, the vendor's if none given.

    Beyond the last point its own share, of the vendor's 4.1 %, goes on. Raises `ValueError` for a negative size.
    """
    if size_mb < 0:
        raise ValueError("a cache has no negative size")
    for (size, overhead), (next_size, next_overhead) in pairwise(points):
        if size_mb <= next_size:
            return overhead + (size_mb - size) * (next_overhead - overhead) / (next_size - size)
    largest, overhead = points[-1]
    return overhead * size_mb / largest


def cache_size_mb(contents_mb: float, partitions: int, partition_mb: float) -> int:
    """Whole megabytes a cache needs for its contents and for the least size of each partition."""
    return max(1, math.ceil(max(contents_mb, partitions * partition_mb) - 1e-9))


def partitions_up_to(most: int) -> list[int]:
    """Every power of two from `most` down to 1."""
    return [1 << power for power in reversed(range(max(1, most).bit_length()))]


def best_partitions(
    loads: tuple[tuple[float, float], ...], terms: Terms
) -> tuple[float, tuple[tuple[int, int], ...]] | None:
    """Cut new caches, given as (share, contents in MB), within the memory: C of them all, and (size, partitions) each.

    Exact: every combination is looked at, the most partitions first. `None` where they do not fit at all.
    """
    if not loads:
        return 0.0, ()
    (share, contents), rest = loads[0], loads[1:]
    least = sum(_memory(cache_size_mb(mb, 1, terms.partition_mb), terms) for _, mb in rest)
    found: tuple[float, tuple[tuple[int, int], ...]] | None = None
    for partitions in partitions_up_to(terms.most_partitions):
        size = cache_size_mb(contents, partitions, terms.partition_mb)
        left = terms.memory_mb - _memory(size, terms)
        own = share * share / partitions
        if left < least - 1e-9 or (found is not None and own >= found[0]):
            continue
        below = best_partitions(rest, _with_memory(terms, left))
        if below is not None and (found is None or own + below[0] < found[0]):
            found = own + below[0], ((size, partitions), *below[1])
            if all(cut == terms.most_partitions for _, cut in found[1]):
                break
    return found


def _memory(size_mb: float, terms: Terms) -> float:
    return size_mb + overhead_mb(size_mb, terms.overhead)


def _with_memory(terms: Terms, memory_mb: float) -> Terms:
    return replace(terms, memory_mb=memory_mb)
