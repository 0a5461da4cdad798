"""What was read of one system at one moment, and which of two moments is the earlier."""

from dataclasses import dataclass, field, replace
from functools import cached_property

from collectors.facts import Fact
from collectors.facts.ase import MonState, MonTable, Snapshot
from collectors.facts.counted import Counted, is_total
from collectors.intervals.deltas import rises_and_falls
from collectors.read import Input

SAME_MOMENT = 30.0
"""Seconds that the tables of one snapshot may be read apart (this project): large ones take seconds each."""
CLEARLY = 3
"""So many times as many counters must rise as fall to tell which of two snapshots is the later (this project)."""
TABLE_OF = {"sysmonitors": "monspinlockactivity", "heldlock": "monlocks", "deadlock": "mondeadlock"}
"""Where table and fact are called differently, in small letters."""


@dataclass(frozen=True)
class Part:
    """What one input holds of one snapshot."""

    number: int
    """Its place among all inputs."""
    input: Input
    snapshot: Snapshot
    facts: list[Fact]

    @cached_property
    def tables(self) -> frozenset[str]:
        """Names of its tables, in small letters."""
        tables = frozenset(map(table_of, (fact for fact in self.facts if isinstance(fact, MonTable))))
        return tables | {_called(kind) for kind in set(map(type, self.facts)) - {MonTable}}


@dataclass
class Moment:
    """Everything that was read at one time."""

    parts: list[Part] = field(default_factory=list)

    def takes(self, part: Part) -> bool:
        """Whether the part can be of this moment: no table twice, and no two servers."""
        servers = {one.snapshot.server.upper() for one in (*self.parts, part) if one.snapshot.server}
        return len(servers) < 2 and not any(one.tables & part.tables for one in self.parts)

    @cached_property
    def snapshot(self) -> Snapshot:
        """Its times and its server, whichever part says them; of two starts that differ the later.

        Where only one of the two moved between two snapshots, they contradict each other, and no difference is made.
        """
        said = [part.snapshot for part in self.parts]
        states = [fact for part in self.parts for fact in part.facts if isinstance(fact, MonState)]
        booted = [one.booted for one in said] + [one.started for one in states]
        cleared = [one.counters_cleared for one in said] + [one.counters_cleared for one in states]
        taken, in_full = min(((one.taken, one.taken_in_full) for one in said if one.taken), default=(None, False))
        return replace(
            said[0],
            server=next((one.server for one in said if one.server), None),
            taken=taken,
            taken_in_full=in_full,
            booted=max(filter(None, booted), default=None),
            counters_cleared=next(filter(None, cleared), None),
        )

    def when(self, part: Part) -> Snapshot:
        """The same, with the time of one part where it has its own."""
        own = part.snapshot if part.snapshot.taken else self.snapshot
        return replace(self.snapshot, source=part.snapshot.source, taken=own.taken, taken_in_full=own.taken_in_full)

    @cached_property
    def counted(self) -> dict[type[Counted], tuple[Part, list[Counted]]]:
        """The rows of totals by table, with the part they stand in; not those whose query subtracted them itself."""
        found: dict[type[Counted], tuple[Part, list[Counted]]] = {}
        for part in self.parts:
            for fact in part.facts:
                if is_total(fact):
                    found.setdefault(type(fact), (part, []))[1].append(fact)
        return found


def order_of(one: Moment, other: Moment) -> int:
    """Negative where the one is earlier, positive where it is later, 0 where nothing tells."""
    by_place = _order_in_file(one, other)
    if one.snapshot.taken and other.snapshot.taken and one.snapshot.taken != other.snapshot.taken:
        by_time = -1 if one.snapshot.taken < other.snapshot.taken else 1
        if by_place != -by_time or _order_by_counters(one, other) != by_place:
            return by_time
        return by_place  # the counters rise down the file while the time falls: the clock was set back
    if by_place:
        return by_place
    booted, other_booted = one.snapshot.booted, other.snapshot.booted
    if booted and other_booted and abs((booted - other_booted).total_seconds()) > SAME_MOMENT * 2:
        return -1 if booted < other_booted else 1
    return _order_by_counters(one, other)


def went_back(earlier: Moment, later: Moment) -> bool:
    """Whether the later one bears the earlier time."""
    times = earlier.snapshot.taken, later.snapshot.taken
    return times[0] is not None and times[1] is not None and times[1] < times[0]


def _order_in_file(one: Moment, other: Moment) -> int:
    """The order in which they stand in one file, as `order_of` gives it; 0 where they stand in none."""
    places = {part.input.file: (part.number, part.snapshot.number) for part in one.parts}
    for part in other.parts:
        if part.input.file in places:
            return -1 if places[part.input.file] < (part.number, part.snapshot.number) else 1
    return 0


def _order_by_counters(one: Moment, other: Moment) -> int:
    """The order that the counters tell, as `order_of` gives it: they only rise."""
    rises, falls = moved_between(one, other)
    if rises > CLEARLY * falls:
        return -1
    return 1 if falls > CLEARLY * rises else 0


def moved_between(one: Moment, other: Moment) -> tuple[int, int]:
    """How many counters of the tables of both are larger in the other, and how many smaller."""
    moved = [
        rises_and_falls(rows, other.counted[kind][1])
        for kind, (_, rows) in one.counted.items()
        if kind in other.counted
    ]
    return sum(up for up, _ in moved), sum(down for _, down in moved)


def table_of(fact: Fact) -> str:
    """The table that a fact is of, in small letters."""
    if isinstance(fact, MonTable):
        return TABLE_OF.get(fact.table.lower(), fact.table.lower())
    return _called(type(fact))


def _called(kind: type[Fact]) -> str:
    """The table of which facts of this type are, in small letters."""
    name = kind.__name__.lower()
    return TABLE_OF.get(name, name)
