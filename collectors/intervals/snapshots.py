"""The snapshots of one system, wherever they stand: in one file or many, of one table each or of all, in any order.

What was read at one moment belongs together: the tables after one time, files whose times agree within seconds, files
without times by the tables in them (one that comes again is of another moment). Moments are ordered by time; without
times by their place in the file; of files without times by the counters, which only rise. Each moment and the one
before it that has a table in common give an interval, an input of its own, with differences in place of totals. Of the
states the later moment's count. Rows without a partner, and a moment without one, stay totals since boot.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cmp_to_key
from itertools import groupby
from pathlib import PurePath
from typing import cast

from collectors.facts import Fact
from collectors.facts.ase import Deadlock, MonTable, Snapshot
from collectors.facts.counted import Counted, is_total
from collectors.intervals.deltas import (
    Differences,
    between,
    differences,
    doubt_between,
    length_between,
    since_start,
    with_seconds,
)
from collectors.intervals.moments import SAME_MOMENT, Moment, Part, order_of, table_of, went_back
from collectors.intervals.samples import series_of
from collectors.read import Input

NO_ORDER = (
    "nothing tells which of two snapshots is the earlier, this one or that of {}, so no differences were made: "
    "put select convert(char(26), getdate(), 109) SampleTime in front of each"
)
CLOCK = "the clock went back since the snapshot of {}: how long it took is not known, so there are no rates"
TWICE = "the same snapshot as in {}: read once"


def sort_out(inputs: Sequence[Input]) -> tuple[list[Input], list[Input]]:
    """Make the intervals of all snapshots of one system; returns them, and the inputs that are left."""
    parts: list[Part] = []
    left: list[Input] = []
    for number, one in enumerate(inputs):
        found, rest = _parts(number, one)
        parts += found
        left += [rest] if rest else []
    sampled = [part for part in parts if part.snapshot.sample is not None]
    moments = _once(_ordered(_moments([part for part in parts if part.snapshot.sample is None])))
    intervals: list[Input] = []
    used: set[int] = set()
    for earlier, later in _pairs(moments):
        used.add(id(earlier))
        if order_of(earlier, later):
            used.add(id(later))
            if length_between(earlier.snapshot, later.snapshot) is None and went_back(earlier, later):
                _object(earlier, later, CLOCK)
            intervals.append(_interval(earlier, later))
        else:
            _object(earlier, later, NO_ORDER)
    left += [single for one in moments if id(one) not in used for single in _singles(one)]
    if sampled:
        series = list(series_of(sampled, _differences))
        if intervals:  # the samples were taken between its snapshots
            intervals[-1] = _like(intervals[-1], [*intervals[-1].facts, *series])
        else:
            left.append(_like(sampled[0].input, [sampled[0].snapshot, *series]))
    return intervals, left


def _pairs(moments: Sequence[Moment]) -> list[tuple[Moment, Moment]]:
    """Each moment with the one before it that has a table in common.

    Where a restart or a clearing lies between two that each have a partner without one, two captures were given and
    no third: nobody is asked to collect again what lies between them.
    """
    pairs: list[tuple[Moment, Moment]] = []
    for at, later in enumerate(moments):
        before = (moments[place] for place in range(at - 1, -1, -1))
        if earlier := next((one for one in before if one.counted.keys() & later.counted.keys()), None):
            pairs.append((earlier, later))
    whole = [pair for pair in pairs if doubt_between(pair[0].snapshot, pair[1].snapshot) != "reset"]
    ended, begun = {id(later) for _, later in whole}, {id(earlier) for earlier, _ in whole}
    return [
        (earlier, later)
        for earlier, later in pairs
        if any(earlier is one and later is other for one, other in whole)
        or not (id(earlier) in ended and id(later) in begun)
    ]


def _parts(number: int, one: Input) -> tuple[list[Part], Input | None]:
    """The snapshots of an input, and what it holds besides; an input without snapshots is left as it is."""
    if not any(isinstance(fact, Snapshot) for fact in one.facts):
        return [], one
    parts: list[Part] = []
    rest: list[Fact] = []
    for fact in one.facts:
        if isinstance(fact, Snapshot):
            parts.append(Part(number, one, fact, []))
        else:
            (parts[-1].facts if parts else rest).append(fact)
    return parts, _like(one, rest) if rest else None


def _moments(parts: Sequence[Part]) -> list[Moment]:
    """Bring together what was read at one time."""
    moments: list[Moment] = []
    for part in sorted((part for part in parts if part.snapshot.taken), key=_taken):
        last = moments[-1] if moments else None
        near = last is not None and _taken(part) - _taken(last.parts[0]) <= SAME_MOMENT
        if last is not None and near and last.takes(part):
            last.parts.append(part)
        else:
            moments.append(Moment([part]))
    for part in parts:
        if part.snapshot.taken is None:
            free = [one for one in moments if one.takes(part)]
            if free:
                min(free, key=lambda one, part=part: _far(one, part)).parts.append(part)  # type: ignore[misc]
            else:
                moments.append(Moment([part]))
    return moments


def _taken(part: Part) -> float:
    """The time of a part that has one, in seconds."""
    taken = part.snapshot.taken
    return (taken - taken.min).total_seconds() if taken else 0.0


def _far(moment: Moment, part: Part) -> tuple[bool, bool]:
    """How far a part lies from the others of a moment: whether in another file, and in another folder."""
    files = {one.input.file for one in moment.parts}
    return part.input.file not in files, PurePath(part.input.file).parent not in {PurePath(one).parent for one in files}


def _ordered(moments: list[Moment]) -> list[Moment]:
    return sorted(moments, key=cmp_to_key(order_of))


def _once(moments: Sequence[Moment]) -> list[Moment]:
    """Leave out a snapshot that was collected twice."""
    kept: list[Moment] = []
    for one in moments:
        last = kept[-1] if kept and kept[-1].counted.keys() & one.counted.keys() else None
        if last and one.snapshot.taken and one.snapshot.taken == last.snapshot.taken and not order_of(last, one):
            _object(last, one, TWICE)
        else:
            kept.append(one)
    return kept


def _object(earlier: Moment, later: Moment, problem: str) -> None:
    """Note a problem with the later of two snapshots, once for each of its inputs."""
    said = problem.format(earlier.parts[0].input.file)
    for part in later.parts:
        if said not in part.input.problems:
            part.input.problems.append(said)


def _interval(earlier: Moment, later: Moment) -> Input:
    """The facts of two snapshots as one input."""
    found = _differences(earlier, later)
    tables = frozenset[str]().union(*(part.tables for part in later.parts))
    vanished = {kind.__name__.lower(): one.vanished for kind, one in found.items()}
    first, length = later.parts[0], length_between(earlier.snapshot, later.snapshot)
    snapshot = replace(
        later.snapshot,
        server=later.snapshot.server or earlier.snapshot.server,
        earlier=earlier.snapshot.source,
        previous=earlier.snapshot.taken,
        seconds_low=length.low if length else None,
        seconds_high=length.high if length else None,
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
            elif not is_total(fact):
                facts.append(fact)
    return _like(first.input, facts)


def _differences(earlier: Moment, later: Moment) -> dict[type[Counted], Differences]:
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


def _only_then(part: Part, tables: frozenset[str], moment: Moment) -> Iterator[Fact]:
    """What only the earlier snapshot has: tables that the later one lacks, and deadlocks, which are told but once."""
    for fact in _since_boot(part, moment):
        if isinstance(fact, Deadlock) or table_of(fact) not in tables:
            yield fact


def _since_boot(part: Part, moment: Moment) -> Iterator[Fact]:
    """The facts of one snapshot, with the time that its totals cover."""
    seconds = since_start(moment.when(part))
    for totals, run in groupby(part.facts, lambda fact: type(fact) if is_total(fact) else None):
        facts = list(run)
        yield from cast(list[Fact], with_seconds(cast(list[Counted], facts), seconds)) if totals else facts


def _table_of_interval(table: MonTable, found: dict[type[Counted], Differences], vanished: dict[str, int]) -> MonTable:
    """What is said of a table, with what moved in it instead of what stood in it."""
    own = next((one for kind, one in found.items() if kind.__name__.lower() == table_of(table) and one.rows), None)
    return replace(table, all_zero=own.still if own else table.all_zero, vanished=vanished.get(table_of(table), 0))


def _singles(moment: Moment) -> Iterator[Input]:
    """A snapshot by itself, in the inputs it came in."""
    for part in moment.parts:
        known_of_it = replace(moment.when(part), number=part.snapshot.number)
        yield _like(part.input, [known_of_it, *_since_boot(part, moment)])


def _like(one: Input, facts: list[Fact]) -> Input:
    """Other facts of the same file; its problems stay shared."""
    return replace(one, facts=facts)
