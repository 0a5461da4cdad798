"""Which row of one snapshot is which row of another, and what the two say against each other themselves."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import repeat
from typing import Any, NamedTuple, cast

from collectors.facts import ABSENT, Missing, Reading, known
from collectors.facts.ase import MonSpinlockActivity, Snapshot
from collectors.facts.columns import Picked
from collectors.facts.counted import Certificate, Counted

SAME_START, SAME_CLEAR = 60.0, 1.0
"""Seconds by which a boot time may differ and still be the same: `@@boottime` and `StartDate` are not read from one
clock. A clear date is stored once (this project)."""
BEGINNINGS = {"started": SAME_START, "counters_cleared": SAME_CLEAR, "cached_since": SAME_CLEAR}
"""Fields of a row that say since when it counts, and by how many seconds they may differ."""


class Pair(NamedTuple):
    """One row in both snapshots; `old` is `None` for one that came between them, and so counts from 0."""

    old: Counted | None
    new: Counted
    doubt: Certificate | None
    """What the two say against each other themselves."""


class ByKey:
    """Rows by what makes them the same in another snapshot: mostly one of each key."""

    def __init__(self, rows: Picked[Counted], fields: Sequence[str]) -> None:
        """Sort the rows by these fields."""
        self.first: dict[tuple[object, ...], Counted] = {}
        self.others: dict[tuple[object, ...], list[Counted]] = {}
        keys = zip(*map(rows.values, fields), strict=True) if fields else repeat(())
        for key, row in zip(keys, rows.rows, strict=False):
            if self.first.setdefault(key, row) is not row:
                self.others.setdefault(key, []).append(row)

    def of(self, key: tuple[object, ...]) -> list[Counted]:
        """The rows of a key; none where there is none."""
        return [self.first[key], *self.others.get(key, ())] if key in self.first else []

    def without(self, other: "ByKey") -> list[Counted]:
        """The rows whose keys the other does not have."""
        return [row for key in self.first if key not in other.first for row in self.of(key)]


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


def of_other_instances(before: Picked[Counted], after: Picked[Counted]) -> Certificate | None:
    """Rows of one instance of a cluster say nothing of another."""
    if not hasattr(type(after.rows[0]), "instance"):
        return None
    was, now = (set(rows.values("instance")) - {None} for rows in (before, after))
    return "other instance" if was and now and not was & now else None


def telling(before: Picked[Counted], after: Picked[Counted], doubt: Certificate | None) -> list[str]:
    """The fields of the key that both exports have: a column that one of them lacks tells no rows apart."""
    kind = type(after.rows[0])
    fields = [name for name in kind.KEY if name != "instance" or doubt != "other instance"]
    both = [
        name for name in fields if all(any(one is not None for one in rows.values(name)) for rows in (before, after))
    ]
    return [*both, "wide"] if kind is MonSpinlockActivity else both


def pairs_of(was: ByKey, now: ByKey, earlier: Snapshot) -> list[Pair]:
    """The rows that both snapshots have, in the order of the later one."""
    found: list[Pair] = []
    for key, new in now.first.items():
        old = was.first.get(key)
        if old is None:
            continue
        if isinstance(new, MonSpinlockActivity) or key in was.others or key in now.others:
            found += _paired(was.of(key), now.of(key))
        else:
            found.append(Pair(old, new, None))
    return held_against(found, _renumbered(was, now), _anew([pair for pair in found if not pair.doubt], earlier))


def _paired(was: Sequence[Counted], now: Sequence[Counted]) -> list[Pair]:
    """Rows of one key; spinlocks of one name are added up, other rows that nothing tells apart are doubtful."""
    if isinstance(now[0], MonSpinlockActivity):
        old, new = (_summed(cast(Sequence[MonSpinlockActivity], rows)) for rows in (was, now))
        return [Pair(old, new, "ambiguous" if old.rows != new.rows else None)]
    return [Pair(was[0], new, "ambiguous") for new in now]


def _renumbered(was: ByKey, now: ByKey) -> frozenset[tuple[object, object]]:
    """Spinlocks, by instance and name, of which slots vanished and others came: their numbers were given out anew."""
    gone, came = (
        {
            (row.instance, row.name)
            for key, row in some.first.items()
            if isinstance(row, MonSpinlockActivity) and key not in others.first
        }
        for some, others in ((was, now), (now, was))
    )
    return frozenset(gone & came)


def held_against(pairs: list[Pair], names: frozenset[tuple[object, object]], anew: frozenset[int]) -> list[Pair]:
    """Doubt pairs of these spinlocks, as a slot of one may have been that of another; and those begun anew."""
    if anew:
        pairs = [pair._replace(doubt="reset") if id(pair) in anew else pair for pair in pairs]
    if not names:
        return pairs
    return [
        pair._replace(doubt="ambiguous")
        if isinstance(pair.new, MonSpinlockActivity) and (pair.new.instance, pair.new.name) in names
        else pair
        for pair in pairs
    ]


def _anew(pairs: Sequence[Pair], earlier: Snapshot) -> frozenset[int]:
    """The pairs, by identity, whose rows say themselves that they began to count again."""
    if not pairs or isinstance(pairs[0].new, MonSpinlockActivity):
        return frozenset()
    old, new = Picked([pair.old for pair in pairs if pair.old]), Picked([pair.new for pair in pairs])
    found: set[int] = set()
    for name, slack in BEGINNINGS.items():
        if hasattr(type(pairs[0].new), name):
            both = zip(pairs, old.values(name), new.values(name), strict=True)
            found |= {
                id(pair)
                for pair, before, after in both
                if after is not before and began_anew(before, after, earlier.taken, slack)  # type: ignore[arg-type]
            }
    return frozenset(found)


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


def came_between(rows: Sequence[Counted], earlier: Snapshot, later: Snapshot) -> list[bool]:
    """Whether each of these new rows counts from 0 since some moment between the snapshots."""
    start, end = earlier.taken, later.taken
    if not rows or not hasattr(type(rows[0]), "cached_since") or start is None or end is None:
        return [False] * len(rows)
    return [isinstance(since, datetime) and start < since <= end for since in Picked(rows).values("cached_since")]
