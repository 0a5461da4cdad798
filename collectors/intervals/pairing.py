"""Which row of one snapshot is which row of another, and what the two say against each other themselves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from collectors.facts import ABSENT, Fact, Missing, Reading, known
from collectors.facts.ase import MonSpinlockActivity, Snapshot
from collectors.facts.counted import Certificate, Counted

SAME_START, SAME_CLEAR = 60.0, 1.0
"""Seconds by which a boot time may differ and still be the same: `@@boottime` and `StartDate` are not read from one
clock. A clear date is stored once (this project)."""
BEGINNINGS = {"started": SAME_START, "counters_cleared": SAME_CLEAR, "cached_since": SAME_CLEAR}
"""Fields of a row that say since when it counts, and by how many seconds they may differ."""
Rows = dict[tuple[object, ...], list[Counted]]
"""Rows by what makes them the same in another snapshot."""


@dataclass(frozen=True)
class Pair:
    """One row in both snapshots."""

    old: Counted
    new: Counted
    doubt: Certificate | None
    """What the two say against each other themselves."""
    earlier: Fact | None


def began_anew(before: datetime | None, after: datetime | None, taken: datetime | None, slack: float) -> bool:
    """Whether a beginning moved; with only the later date: whether it lies behind the earlier snapshot.

    One of the two may be printed without its seconds.
    """
    if after is None:
        return False
    if before is None:
        return taken is not None and after > taken
    apart = abs((after - before).total_seconds())
    if not (before.second and after.second):
        before, after = before.replace(second=0, microsecond=0), after.replace(second=0, microsecond=0)
    return min(apart, abs((after - before).total_seconds())) > slack


def of_other_instances(before: Sequence[Counted], after: Sequence[Counted]) -> Certificate | None:
    """Rows of one instance of a cluster say nothing of another."""
    was, now = ({getattr(row, "instance", None) for row in rows} - {None} for rows in (before, after))
    return "other instance" if was and now and not was & now else None


def telling(before: Sequence[Counted], after: Sequence[Counted], doubt: Certificate | None) -> list[str]:
    """The fields of the key that both exports have: a column that one of them lacks tells no rows apart."""
    fields = [name for name in after[0].KEY if name != "instance" or doubt != "other instance"]
    both = [
        name for name in fields if all(any(getattr(row, name) is not None for row in rows) for rows in (before, after))
    ]
    return [*both, "wide"] if isinstance(after[0], MonSpinlockActivity) else both


def by_key(rows: Iterable[Counted], fields: Sequence[str]) -> Rows:
    """Sort rows by the fields that tell them apart."""
    found: Rows = {}
    for row in rows:
        found.setdefault(tuple([getattr(row, name) for name in fields]), []).append(row)
    return found


def paired(was: Sequence[Counted], now: Sequence[Counted], earlier: Snapshot) -> list[Pair]:
    """Rows of one key; spinlocks of one name are added up, other rows that nothing tells apart are doubtful."""
    if isinstance(now[0], MonSpinlockActivity):
        old, new = (_summed(cast(Sequence[MonSpinlockActivity], rows)) for rows in (was, now))
        return [Pair(old, new, "ambiguous" if old.rows != new.rows else None, old)]
    if len(was) > 1 or len(now) > 1:
        return [Pair(was[0], new, "ambiguous", cast(Fact, was[0])) for new in now]
    return [Pair(was[0], now[0], "reset" if _anew(was[0], now[0], earlier) else None, cast(Fact, was[0]))]


def renumbered(was: Rows, now: Rows) -> frozenset[tuple[object, object]]:
    """Spinlocks, by instance and name, of which slots vanished and others came: their numbers were given out anew."""
    gone, came = (
        {
            (getattr(row, "instance", None), row.name)
            for key in some.keys() - others
            for row in some[key][:1]
            if isinstance(row, MonSpinlockActivity)
        }
        for some, others in ((was, now.keys()), (now, was.keys()))
    )
    return frozenset(gone & came)


def held_against(pairs: Sequence[Pair], names: frozenset[tuple[object, object]]) -> list[Pair]:
    """Doubt the pairs of these spinlocks: the slot of one may have been that of another before."""
    return [
        replace(pair, doubt="ambiguous")
        if isinstance(pair.new, MonSpinlockActivity) and (pair.new.instance, pair.new.name) in names
        else pair
        for pair in pairs
    ]


def _anew(old: Counted, new: Counted, earlier: Snapshot) -> bool:
    """Whether the row itself says that it began to count again."""
    return any(
        began_anew(getattr(old, name), getattr(new, name), earlier.taken, slack)
        for name, slack in BEGINNINGS.items()
        if hasattr(new, name)
    )


def _summed(rows: Sequence[MonSpinlockActivity]) -> MonSpinlockActivity:
    """Spinlocks of one name that nothing tells apart, as one row."""
    first = rows[0]
    if len(rows) == 1:
        return first
    sums: dict[str, Any] = {name: _sum([getattr(row, name) for row in rows]) for name in first.COUNTERS}
    slot = first.slot if {row.slot for row in rows} == {first.slot} else None
    return replace(first, slot=slot, rows=sum(row.rows for row in rows), contention_percent=ABSENT, **sums)


def _sum(values: Sequence[Reading]) -> Reading:
    """The sum; missing where one of the values is."""
    missing = [value for value in values if isinstance(value, Missing)]
    return missing[0] if missing else sum(value for value in values if known(value))


def came_between(row: Counted, earlier: Snapshot, later: Snapshot) -> bool:
    """Whether a new row counts from 0 since some moment between the snapshots."""
    since: datetime | None = getattr(row, "cached_since", None)
    return bool(since and earlier.taken and later.taken and earlier.taken < since <= later.taken)


def at_zero(row: Counted) -> Counted:
    """The same row before it had counted anything."""
    zeros: dict[str, Any] = {name: 0.0 for name in row.COUNTERS if known(getattr(row, name))}
    return replace(row, **zeros)
