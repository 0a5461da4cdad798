"""The samples between two snapshots, as series: what was counted from each one to the next.

A sample says its number beside its time (`SampleNumber`), so it is never taken for a snapshot of its own: the interval
between the snapshots stays the one that is judged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import TypeVar

from collectors.facts import ABSENT, Fact, Reading, Source, known
from collectors.facts.ase import (
    MonProcess,
    MonSpinlockActivity,
    MonSysWaits,
    MonTable,
    SampledBlocking,
    SampledSpinlock,
    SampledWaits,
)
from collectors.facts.counted import Counted
from collectors.intervals.deltas import Differences
from collectors.intervals.moments import Moment, Part

Between = Callable[[Moment, Moment], Mapping[type[Counted], Differences]]
"""Makes the differences of two moments."""
F = TypeVar("F", bound=Counted)
WAITS = ("waits", "wait_seconds")
SPINS = ("grabs", "spins", "waits")


@dataclass
class _Series:
    """The values of one row over all steps."""

    source: Source
    values: dict[str, list[Reading]] = field(default_factory=dict)
    description: str | None = None


def series_of(parts: Sequence[Part], between: Between) -> Iterator[Fact]:
    """Make the series of all samples of one system, in their order; none of one sample alone, but for states."""
    moments = [Moment([part]) for part in sorted(parts, key=_order)]
    timed = [(one, one.snapshot.taken) for one in moments if one.snapshot.taken]
    steps = [
        (start, (end - start).total_seconds(), between(earlier, later))
        for (earlier, start), (later, end) in pairwise(timed)
        if end > start
    ]
    starts, seconds = tuple(step[0] for step in steps), tuple(step[1] for step in steps)
    waits, spins = dict[int, _Series](), dict[str, _Series]()
    for at, (_, _, found) in enumerate(steps):
        for row in _rows(found, MonSysWaits):
            _add(waits.setdefault(row.event, _Series(row.source)), at, row, WAITS)
            waits[row.event].description = row.description
        for spinlock in _rows(found, MonSpinlockActivity):
            _add(spins.setdefault(spinlock.name, _Series(spinlock.source)), at, spinlock, SPINS)
    for event, one in sorted(waits.items()):
        if _moved(one, "waits"):
            values = _whole(one, WAITS, len(steps))
            told = {"event": event, "description": one.description, "starts": starts, "seconds": seconds}
            yield SampledWaits(source=one.source, **told, **values)  # type: ignore[arg-type]
    for name, one in sorted(spins.items()):
        if _moved(one, "grabs"):
            values = _whole(one, SPINS, len(steps))
            yield SampledSpinlock(source=one.source, name=name, starts=starts, seconds=seconds, **values)
    yield from _blocking(timed)


def _order(part: Part) -> tuple[int, str, int]:
    taken = part.snapshot.taken
    return (0 if taken else 1, taken.isoformat() if taken else "", part.snapshot.sample or 0)


def _rows(found: Mapping[type[Counted], Differences], kind: type[F]) -> Iterator[F]:
    """The rows of a table that both samples have, and those that came between them."""
    if differences := found.get(kind):
        yield from (row for row in differences.rows if isinstance(row, kind))


def _add(series: _Series, at: int, row: Counted, names: Sequence[str]) -> None:
    """Put a row's differences into its step: those of several slots are added, and one that is unsure makes all so."""
    for name in names:
        values = series.values.setdefault(name, [])
        values += [ABSENT] * (at - len(values))
        value: Reading = getattr(row, name) if row.believed else ABSENT
        if len(values) == at:
            values.append(value)
        else:
            before = values[at]
            values[at] = before + value if known(before) and known(value) else ABSENT


def _moved(series: _Series, name: str) -> bool:
    return any(known(value) and value > 0 for value in series.values[name])


def _whole(series: _Series, names: Sequence[str], steps: int) -> dict[str, tuple[Reading, ...]]:
    """A value for each step."""
    return {name: (*series.values[name], *[ABSENT] * (steps - len(series.values[name]))) for name in names}


def _blocking(timed: Sequence[tuple[Moment, datetime]]) -> Iterator[SampledBlocking]:
    """Who was blocked at the moment of each sample that asked for it."""
    found: list[tuple[datetime, float, Reading]] = []
    source = None
    for moment, taken in timed:
        facts = moment.parts[0].facts
        asked = [fact for fact in facts if isinstance(fact, MonTable) and fact.table.lower() == "monprocess"]
        blocked = [fact for fact in facts if isinstance(fact, MonProcess) and fact.blocking_spid]
        if not asked and not blocked:
            continue
        source = source or (blocked or asked)[0].source
        longest = [fact.seconds_waiting for fact in blocked if known(fact.seconds_waiting)]
        found.append((taken, float(len(blocked)), max(longest, default=ABSENT)))
    if source:
        taken_at, counts, longest_of = zip(*found, strict=True)
        yield SampledBlocking(source=source, taken=taken_at, blocked=counts, longest_seconds=longest_of)
