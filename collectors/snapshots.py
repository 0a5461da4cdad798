"""The snapshots of one system, wherever they stand: in one file or many, of one table each or of all, in any order.

What was read at one moment belongs together: the tables after one time, files whose times agree within seconds, files
without times by the tables in them (one that comes again is of another moment). Moments are ordered by time; without
times by their place in the file; of files without times by the counters, which only rise. Each moment and the one
before it that has a table in common give an interval, an input of its own, with differences in place of totals. Of the
states the later moment's count. Rows without a partner, and a moment without one, stay totals since boot.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, cmp_to_key
from pathlib import PurePath
from typing import cast

from collectors.deltas import Differences, between, differences, rises_and_falls, since_start
from collectors.facts import Fact, known
from collectors.facts.ase import Deadlock, MonState, MonTable, Snapshot
from collectors.facts.counted import Counted
from collectors.read import Input

SAME_MOMENT = 30.0
"""Seconds that the tables of one snapshot may be read apart (this project): large ones take seconds each."""
CLEARLY = 3
"""So many times as many counters must rise as fall to tell which of two snapshots is the later (this project)."""
TABLE_OF = {"sysmonitors": "monspinlockactivity", "heldlock": "monlocks", "deadlock": "mondeadlock"}
"""Where table and fact are called differently, in small letters."""
NO_ORDER = (
    "nothing tells which of two snapshots is the earlier, this one or that of {}, so no differences were made: "
    "put select getdate() in front of each"
)
TWICE = "the same snapshot as in {}: read once"


@dataclass(frozen=True)
class _Part:
    """What one input holds of one snapshot."""

    number: int
    """Its place among all inputs."""
    input: Input
    snapshot: Snapshot
    facts: list[Fact]

    @cached_property
    def tables(self) -> frozenset[str]:
        """Names of its tables, in small letters."""
        return frozenset(map(_table, self.facts))


@dataclass
class _Moment:
    """Everything that was read at one time."""

    parts: list[_Part] = field(default_factory=list)

    def takes(self, part: _Part) -> bool:
        """Whether the part can be of this moment: no table twice, and no two servers."""
        servers = {one.snapshot.server.upper() for one in (*self.parts, part) if one.snapshot.server}
        return len(servers) < 2 and not any(one.tables & part.tables for one in self.parts)

    @cached_property
    def snapshot(self) -> Snapshot:
        """Its times and its server, whichever part says them."""
        said = [part.snapshot for part in self.parts]
        states = [fact for part in self.parts for fact in part.facts if isinstance(fact, MonState)]
        booted = [one.booted for one in said] + [one.started for one in states]
        cleared = [one.counters_cleared for one in said] + [one.counters_cleared for one in states]
        return replace(
            said[0],
            server=next((one.server for one in said if one.server), None),
            taken=min((one.taken for one in said if one.taken), default=None),
            booted=next(filter(None, booted), None),
            counters_cleared=next(filter(None, cleared), None),
        )

    def when(self, part: _Part) -> Snapshot:
        """The same, with the time of one part where it has its own."""
        return replace(self.snapshot, source=part.snapshot.source, taken=part.snapshot.taken or self.snapshot.taken)

    @cached_property
    def counted(self) -> dict[type[Counted], tuple[_Part, list[Counted]]]:
        """The rows of counters by table, with the part they stand in."""
        found: dict[type[Counted], tuple[_Part, list[Counted]]] = {}
        for part in self.parts:
            for fact in part.facts:
                if isinstance(fact, Counted):
                    found.setdefault(type(fact), (part, []))[1].append(fact)
        return found


def sort_out(inputs: Sequence[Input]) -> tuple[list[Input], list[Input]]:
    """Make the intervals of all snapshots of one system; returns them, and the inputs that are left."""
    parts: list[_Part] = []
    left: list[Input] = []
    for number, one in enumerate(inputs):
        found, rest = _parts(number, one)
        parts += found
        left += [rest] if rest else []
    moments = _once(_ordered(_moments(parts)))
    intervals: list[Input] = []
    used: set[int] = set()
    for at, later in enumerate(moments):
        earlier = next((one for one in reversed(moments[:at]) if one.counted.keys() & later.counted.keys()), None)
        if earlier is None:
            continue
        used.add(id(earlier))
        if _order(earlier, later):
            used.add(id(later))
            intervals.append(_interval(earlier, later))
        else:
            _object(earlier, later, NO_ORDER)
    return intervals, left + [single for one in moments if id(one) not in used for single in _singles(one)]


def _parts(number: int, one: Input) -> tuple[list[_Part], Input | None]:
    """The snapshots of an input, and what it holds besides; an input without snapshots is left as it is."""
    if not any(isinstance(fact, Snapshot) for fact in one.facts):
        return [], one
    parts: list[_Part] = []
    rest: list[Fact] = []
    for fact in one.facts:
        if isinstance(fact, Snapshot):
            parts.append(_Part(number, one, fact, []))
        else:
            (parts[-1].facts if parts else rest).append(fact)
    return parts, _like(one, rest) if rest else None


def _moments(parts: Sequence[_Part]) -> list[_Moment]:
    """Bring together what was read at one time."""
    moments: list[_Moment] = []
    for part in sorted((part for part in parts if part.snapshot.taken), key=_taken):
        last = moments[-1] if moments else None
        near = last is not None and _taken(part) - _taken(last.parts[0]) <= SAME_MOMENT
        if last is not None and near and last.takes(part):
            last.parts.append(part)
        else:
            moments.append(_Moment([part]))
    for part in parts:
        if part.snapshot.taken is None:
            free = [one for one in moments if one.takes(part)]
            if free:
                min(free, key=lambda one, part=part: _far(one, part)).parts.append(part)  # type: ignore[misc]
            else:
                moments.append(_Moment([part]))
    return moments


def _taken(part: _Part) -> float:
    """The time of a part that has one, in seconds."""
    taken = part.snapshot.taken
    return (taken - taken.min).total_seconds() if taken else 0.0


def _far(moment: _Moment, part: _Part) -> int:
    """How far a part lies from the others of a moment: same file, same folder, elsewhere."""
    files = {one.input.file for one in moment.parts}
    if part.input.file in files:
        return 0
    return 1 if PurePath(part.input.file).parent in {PurePath(file).parent for file in files} else 2


def _ordered(moments: list[_Moment]) -> list[_Moment]:
    return sorted(moments, key=cmp_to_key(_order))


def _order(one: _Moment, other: _Moment) -> int:
    """Negative where the one is earlier, positive where it is later, 0 where nothing tells."""
    if one.snapshot.taken and other.snapshot.taken and one.snapshot.taken != other.snapshot.taken:
        return -1 if one.snapshot.taken < other.snapshot.taken else 1
    places = {part.input.file: (part.number, part.snapshot.number) for part in one.parts}
    for part in other.parts:
        if part.input.file in places:
            return -1 if places[part.input.file] < (part.number, part.snapshot.number) else 1
    booted, other_booted = one.snapshot.booted, other.snapshot.booted
    if booted and other_booted and abs((booted - other_booted).total_seconds()) > SAME_MOMENT * 2:
        return -1 if booted < other_booted else 1
    moved = [
        rises_and_falls(rows, other.counted[kind][1])
        for kind, (_, rows) in one.counted.items()
        if kind in other.counted
    ]
    rises, falls = sum(up for up, _ in moved), sum(down for _, down in moved)
    if rises > CLEARLY * falls:
        return -1
    return 1 if falls > CLEARLY * rises else 0


def _once(moments: Sequence[_Moment]) -> list[_Moment]:
    """Leave out a snapshot that was brought twice."""
    kept: list[_Moment] = []
    for one in moments:
        last = kept[-1] if kept and kept[-1].counted.keys() & one.counted.keys() else None
        if last and one.snapshot.taken and one.snapshot.taken == last.snapshot.taken and not _order(last, one):
            _object(last, one, TWICE)
        else:
            kept.append(one)
    return kept


def _object(earlier: _Moment, later: _Moment, problem: str) -> None:
    """Note a problem with the later of two snapshots, once for each of its inputs."""
    said = problem.format(earlier.parts[0].input.file)
    for part in later.parts:
        if said not in part.input.problems:
            part.input.problems.append(said)


def _interval(earlier: _Moment, later: _Moment) -> Input:
    """The facts of two snapshots as one input."""
    found = _differences(earlier, later)
    tables = frozenset[str]().union(*(part.tables for part in later.parts))
    vanished = {kind.__name__.lower(): one.vanished for kind, one in found.items()}
    first = later.parts[0]
    snapshot = replace(
        later.snapshot,
        server=later.snapshot.server or earlier.snapshot.server,
        earlier=earlier.snapshot.source,
        previous=earlier.snapshot.taken,
        vanished=sum(vanished.values()),
    )
    facts: list[Fact] = [snapshot]
    facts += [fact for part in earlier.parts for fact in _only_then(part, tables, earlier)]
    for one in found.values():
        facts += cast(list[Fact], [*one.rows, *one.alone])
    for part in later.parts:
        for fact in part.facts:
            if isinstance(fact, MonTable):
                facts.append(_table_of_interval(fact, found, vanished))
            elif not isinstance(fact, Counted):
                facts.append(fact)
    return _like(first.input, facts)


def _differences(earlier: _Moment, later: _Moment) -> dict[type[Counted], Differences]:
    """The differences of every table of the later snapshot; a restart that one table shows speaks against all."""

    def subtract(doubt: str | None) -> dict[type[Counted], Differences]:
        found = {}
        for kind, (part, rows) in later.counted.items():
            old, before = earlier.counted.get(kind, (earlier.parts[0], []))
            found[kind] = differences(earlier.when(old), later.when(part), before, rows, doubt)
        return found

    found = subtract(None)
    restarted = any(one.fell for one in found.values()) and not between(earlier.snapshot, later.snapshot).settled
    return subtract("reset") if restarted else found


def _only_then(part: _Part, tables: frozenset[str], moment: _Moment) -> Iterator[Fact]:
    """What only the earlier snapshot has: tables that the later one lacks, and deadlocks, which are told but once."""
    for fact in _since_boot(part, moment):
        if isinstance(fact, Deadlock) or _table(fact) not in tables:
            yield fact


def _since_boot(part: _Part, moment: _Moment) -> Iterator[Fact]:
    """The facts of one snapshot, with the time that its totals cover."""
    seconds = since_start(moment.when(part))
    for fact in part.facts:
        yield cast(Fact, replace(cast(Counted, fact), seconds=seconds)) if isinstance(fact, Counted) else fact


def _table(fact: Fact) -> str:
    """The table that a fact is of, in small letters."""
    name = (fact.table if isinstance(fact, MonTable) else type(fact).__name__).lower()
    return TABLE_OF.get(name, name)


def _table_of_interval(table: MonTable, found: dict[type[Counted], Differences], vanished: dict[str, int]) -> MonTable:
    """What is said of a table, with what moved in it instead of what stood in it."""
    rows = [row for kind, one in found.items() if kind.__name__.lower() == _table(table) for row in one.rows]
    still = all(
        row.believed and not any(known(getattr(row, n)) and getattr(row, n) for n in row.COUNTERS) for row in rows
    )
    return replace(table, all_zero=still if rows else table.all_zero, vanished=vanished.get(_table(table), 0))


def _singles(moment: _Moment) -> Iterator[Input]:
    """A snapshot by itself, in the inputs it came in."""
    for part in moment.parts:
        known_of_it = replace(moment.when(part), number=part.snapshot.number)
        yield _like(part.input, [known_of_it, *_since_boot(part, moment)])


def _like(one: Input, facts: list[Fact]) -> Input:
    """Other facts of the same file; its problems stay shared."""
    return replace(one, facts=facts)
