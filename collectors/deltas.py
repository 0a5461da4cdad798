"""Two snapshots of a table of counters → what each row counted between them, with a certificate.

What a figure that fell means is in `collectors.wrapping`; here rows find their partners, and what makes all counters of
a row doubtful is looked at: another server, a restart, a clear date that moved, a descriptor that was used again.

A row is believed as a whole or not at all: its certificate is that of its worst counter. Counters that are not believed
are `ABSENT`; the others of the row keep their differences, for those who read the table itself. A counter that one of
the snapshots does not have is missing in the difference and is held against nobody.

Where boot time and clear date are not known in both snapshots one counter that fell, and cannot have gone round, speaks
against every row: a restart spares none. What no figure shows stays unseen: a restart without dates after which every
counter has passed its old total.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from collectors.facts import ABSENT, Fact, Missing, Reading, known
from collectors.facts.ase import MonOpenObjectActivity, MonSpinlockActivity, Snapshot
from collectors.facts.counted import Certificate, Counted
from collectors.wrapping import HALF_WORD, WORD, Between, Counts, column

SAME_START, SAME_CLEAR = 60.0, 1.0
"""Seconds by which a boot time may differ and still be the same: `@@boottime` and `StartDate` are not read from one
clock. A clear date is stored once (this project)."""
LEAST_BY_MINUTES = 600.0
"""Seconds from which two times printed without seconds give a rate: it is off by a tenth at most (this project)."""
BEGINNINGS = {"started": SAME_START, "counters_cleared": SAME_CLEAR, "cached_since": SAME_CLEAR}
"""Fields of a row that say since when it counts, and by how many seconds they may differ."""
WORST_FIRST = ("other instance", "reset", "ambiguous", "wrapped", "ok")


@dataclass(frozen=True)
class Differences:
    """What became of one table between two snapshots."""

    rows: tuple[Counted, ...] = ()
    alone: tuple[Counted, ...] = ()
    """Rows of the later snapshot without a partner: totals still."""
    vanished: int = 0
    """Rows of the earlier snapshot that the later one does not have: no zeros, nobody knows what they counted."""
    fell: bool = False
    """Whether a counter fell that cannot have gone round, and nothing tells why: all else is in doubt too."""


def doubt_between(earlier: Snapshot, later: Snapshot) -> Certificate | None:
    """Why no counter of these two snapshots can be believed, as far as their times and names tell; else `None`."""
    if earlier.server and later.server and earlier.server.upper() != later.server.upper():
        return "other instance"
    booted = _began_anew(earlier.booted, later.booted, earlier.taken, SAME_START)
    cleared = _began_anew(earlier.counters_cleared, later.counters_cleared, earlier.taken, SAME_CLEAR)
    return "reset" if booted or cleared else None


def between(earlier: Snapshot, later: Snapshot) -> Between:
    """What is known of the time between two snapshots."""
    dates = (earlier.booted, later.booted, earlier.counters_cleared, later.counters_cleared)
    settled = None not in dates and doubt_between(earlier, later) is None
    return Between(seconds_between(earlier, later), since_start(later), settled)


def seconds_between(earlier: Snapshot, later: Snapshot) -> float | None:
    """Elapsed seconds; `None` where the exports do not say it well enough for rates."""
    return elapsed(earlier.taken, later.taken)


def elapsed(start: datetime | None, end: datetime | None) -> float | None:
    """Seconds; `None` where a time is missing, both are the same, or whole minutes say too little of so short a time.

    isql prints `May  4 2026 12:01PM`: two such times are up to a minute nearer or farther apart than they look.
    """
    if start is None or end is None:
        return None
    seconds = (end - start).total_seconds()
    to_the_minute = not (start.second or start.microsecond or end.second or end.microsecond)
    return None if seconds == 0 or (to_the_minute and seconds < LEAST_BY_MINUTES) else seconds


def since_start(snapshot: Snapshot) -> float | None:
    """Seconds that the totals of a snapshot cover; `None` where the export does not say."""
    began = max((one for one in (snapshot.booted, snapshot.counters_cleared) if one), default=None)
    if began is None or snapshot.taken is None or snapshot.taken <= began:
        return None
    return (snapshot.taken - began).total_seconds()


def differences(
    earlier: Snapshot,
    later: Snapshot,
    before: Sequence[Counted],
    after: Sequence[Counted],
    doubt: Certificate | None = None,
) -> Differences:
    """Subtract the rows of one table. `doubt` is held against all of them, whatever they say themselves."""
    since = since_start(later)
    if not before or not after:
        return Differences((), tuple(replace(row, seconds=since) for row in after), len(before))
    doubt = doubt or doubt_between(earlier, later) or _of_other_instances(before, after)
    fields = _telling(before, after, doubt)
    was, now = _by_key(before, fields), _by_key(after, fields)
    alone = [row for key, rows in now.items() if key not in was for row in rows]
    came = [row for row in alone if doubt is None and _came_between(row, earlier, later)]
    pairs = [pair for key, rows in now.items() if key in was for pair in _paired(was[key], rows, earlier)]
    pairs += [_Pair(_at_zero(row), row, None, None) for row in came]
    span = between(earlier, later)
    counted, fell = _subtract(pairs, span)
    if doubt or (fell and not span.settled):
        counted = [_doubted(pair, doubt or "reset") for pair in pairs]
    came_ids = set(map(id, came))
    return Differences(
        tuple(_row(pair, counts, span.seconds) for pair, counts in zip(pairs, counted, strict=True)),
        tuple(replace(row, seconds=since) for row in alone if id(row) not in came_ids),
        sum(len(rows) for key, rows in was.items() if key not in now),
        fell,
    )


def rises_and_falls(before: Sequence[Counted], after: Sequence[Counted]) -> tuple[int, int]:
    """How many counters of one table are larger in the one snapshot, and how many in the other."""
    if not before or not after:
        return 0, 0
    fields = _telling(before, after, None)
    was, now = _by_key(before, fields), _by_key(after, fields)
    pairs = [(was[key][0], rows[0]) for key, rows in now.items() if len(rows) == len(was.get(key, ())) == 1]
    moved = [
        new - old
        for one, other in pairs
        for name in one.COUNTERS
        if known(old := _read(one, name)) and known(new := _read(other, name))
    ]
    return sum(by > 0 for by in moved), sum(by < 0 for by in moved)


@dataclass(frozen=True)
class _Pair:
    """One row in both snapshots."""

    old: Counted
    new: Counted
    doubt: Certificate | None
    """What the two say against each other themselves."""
    earlier: Fact | None


def _began_anew(before: datetime | None, after: datetime | None, taken: datetime | None, slack: float) -> bool:
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


def _of_other_instances(before: Sequence[Counted], after: Sequence[Counted]) -> Certificate | None:
    """Rows of one instance of a cluster say nothing of another."""
    was, now = ({getattr(row, "instance", None) for row in rows} - {None} for rows in (before, after))
    return "other instance" if was and now and not was & now else None


def _telling(before: Sequence[Counted], after: Sequence[Counted], doubt: Certificate | None) -> list[str]:
    """The fields of the key that both exports have: a column that one of them lacks tells no rows apart."""
    fields = [name for name in after[0].KEY if name != "instance" or doubt != "other instance"]
    both = [
        name for name in fields if all(any(getattr(row, name) is not None for row in rows) for rows in (before, after))
    ]
    return [*both, "wide"] if isinstance(after[0], MonSpinlockActivity) else both


def _by_key(rows: Iterable[Counted], fields: Sequence[str]) -> dict[tuple[object, ...], list[Counted]]:
    found: dict[tuple[object, ...], list[Counted]] = {}
    for row in rows:
        found.setdefault(tuple([getattr(row, name) for name in fields]), []).append(row)
    return found


def _paired(was: Sequence[Counted], now: Sequence[Counted], earlier: Snapshot) -> list[_Pair]:
    """Rows of one key; spinlocks of one name are added up, other rows that nothing tells apart are doubtful."""
    if isinstance(now[0], MonSpinlockActivity):
        old, new = (_summed(cast(Sequence[MonSpinlockActivity], rows)) for rows in (was, now))
        return [_Pair(old, new, "ambiguous" if old.rows != new.rows else None, old)]
    if len(was) > 1 or len(now) > 1:
        return [_Pair(was[0], new, "ambiguous", cast(Fact, was[0])) for new in now]
    return [_Pair(was[0], now[0], "reset" if _anew(was[0], now[0], earlier) else None, cast(Fact, was[0]))]


def _anew(old: Counted, new: Counted, earlier: Snapshot) -> bool:
    """Whether the row itself says that it began to count again."""
    return any(
        _began_anew(getattr(old, name), getattr(new, name), earlier.taken, slack)
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


def _came_between(row: Counted, earlier: Snapshot, later: Snapshot) -> bool:
    """Whether a new row counts from 0 since some moment between the snapshots."""
    since: datetime | None = getattr(row, "cached_since", None)
    return bool(since and earlier.taken and later.taken and earlier.taken < since <= later.taken)


def _at_zero(row: Counted) -> Counted:
    zeros: dict[str, Any] = {name: 0.0 for name in row.COUNTERS if known(getattr(row, name))}
    return replace(row, **zeros)


def _subtract(pairs: Sequence[_Pair], span: Between) -> tuple[list[dict[str, Counts]], bool]:
    """The differences of all pairs, column by column; and whether counters fell that cannot have gone round."""
    counted = [_doubted(pair, pair.doubt) if pair.doubt else {} for pair in pairs]
    for wide in (True, False):
        sure = [at for at, pair in enumerate(pairs) if not pair.doubt and _wide(pair.new) is wide]
        for name, width in pairs[sure[0]].new.COUNTERS.items() if sure else ():
            readings = [(getattr(pairs[at].old, name), getattr(pairs[at].new, name)) for at in sure]
            size = WORD if not wide else HALF_WORD if width == "int" else None
            for at, counts in zip(sure, column(name, size, readings, span), strict=True):
                counted[at][name] = counts
    fallen = sum(
        not pair.doubt and any(certificate == "reset" for _, certificate in counts.values())
        for pair, counts in zip(pairs, counted, strict=True)
    )
    reused = bool(pairs) and isinstance(pairs[0].new, MonOpenObjectActivity)
    return counted, fallen > (len(pairs) / 2 if reused else 0)  # single descriptors are used again all the time


def _wide(row: Counted) -> bool:
    """Whether the counters have the width that the table declares."""
    return not isinstance(row, MonSpinlockActivity) or row.wide


def _read(row: Counted, name: str) -> Reading:
    """A counter; of `sysmonitors` as the unsigned number it is."""
    value: Reading = getattr(row, name)
    return value % WORD if known(value) and not _wide(row) else value


def _doubted(pair: _Pair, doubt: Certificate) -> dict[str, Counts]:
    """All counters of a row that is not believed: those that are missing stay what they are."""
    values = {name: getattr(pair.new, name) for name in pair.new.COUNTERS}
    return {name: (value if isinstance(value, Missing) else ABSENT, doubt) for name, value in values.items()}


def _row(pair: _Pair, counts: dict[str, Counts], seconds: float | None) -> Counted:
    """The later row with differences in place of its totals."""
    given = {certificate for _, certificate in counts.values()}
    worst = next((one for one in WORST_FIRST if one in given), "ok")
    values: dict[str, Any] = {name: count for name, (count, _) in counts.items()}
    source = pair.earlier.source if pair.earlier else None
    return replace(pair.new, over="interval", seconds=seconds, certificate=worst, earlier=source, **values)
