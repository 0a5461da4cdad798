"""Two snapshots of a table of counters → what each row counted between them, with a certificate.

What a figure that fell means is in `collectors.intervals.wrapping`; here rows find their partners, and what makes all
counters of a row doubtful is looked at: another server, a restart, a clear date that moved, a descriptor used again.

A row is believed as a whole or not at all: its certificate is that of its worst counter. Counters that are not believed
are `ABSENT`; the others of the row keep their differences, for those who read the table itself. A counter that one of
the snapshots does not have is missing in the difference and is held against nobody.

Where boot time and clear date are not known in both snapshots one counter that fell, and cannot have gone round, speaks
against every row: a restart spares none. What no figure shows stays unseen: a restart without dates after which every
counter has passed its old total.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from collectors.facts import ABSENT, Missing, Reading, known
from collectors.facts.ase import MonOpenObjectActivity, MonSpinlockActivity, Snapshot
from collectors.facts.counted import Certificate, Counted
from collectors.intervals.pairing import (
    SAME_CLEAR,
    SAME_START,
    Pair,
    at_zero,
    began_anew,
    by_key,
    came_between,
    held_against,
    of_other_instances,
    paired,
    renumbered,
    telling,
)
from collectors.intervals.wrapping import HALF_WORD, WORD, Between, Counts, column

MINUTE = 60.0
MOST_OFF = 0.1
"""Two times printed without seconds give a rate where it is off by so much of it at most: from ten minutes on (this
project). Of a shorter interval its least and its most length are told, and no rate is made here."""
WORST_FIRST = ("other instance", "reset", "ambiguous", "wrapped", "ok")


@dataclass(frozen=True)
class Length:
    """How long it was between two times, in seconds."""

    seconds: float
    low: float | None = None
    """The least and the most it can have been, where both times are printed to the minute."""
    high: float | None = None

    @property
    def sure(self) -> float | None:
        """The seconds, where a rate of them is off by a tenth at most."""
        return self.seconds if self.high is None or self.high - self.seconds <= MOST_OFF * self.seconds else None

    @property
    def most(self) -> float:
        """The most it can have been."""
        return self.seconds if self.high is None else self.high


@dataclass(frozen=True)
class Differences:
    """What became of one table between two snapshots."""

    rows: tuple[Counted, ...] = ()
    alone: tuple[Counted, ...] = ()
    """Rows of the later snapshot without a partner: totals still."""
    vanished: int = 0
    """Rows of the earlier snapshot that the later one does not have: no zeros, nobody knows what they counted."""
    fell: bool = False
    """Whether counters fell that cannot have gone round, and so many that all rows are in doubt: one is enough where
    the dates do not say that nothing was cleared; where they do, more than half of the rows."""


def doubt_between(earlier: Snapshot, later: Snapshot) -> Certificate | None:
    """Why no counter of these two snapshots can be believed, as far as their times and names tell; else `None`."""
    if earlier.server and later.server and earlier.server.upper() != later.server.upper():
        return "other instance"
    booted = began_anew(earlier.booted, later.booted, earlier.taken, SAME_START)
    cleared = began_anew(earlier.counters_cleared, later.counters_cleared, earlier.taken, SAME_CLEAR)
    return "reset" if booted or cleared else None


def between(earlier: Snapshot, later: Snapshot) -> Between:
    """What is known of the time between two snapshots."""
    dates = (earlier.booted, later.booted, earlier.counters_cleared, later.counters_cleared)
    settled = None not in dates and doubt_between(earlier, later) is None
    length = length_between(earlier, later)
    return Between(length.most if length else None, since_start(later), settled)


def length_between(earlier: Snapshot, later: Snapshot) -> Length | None:
    """How long it was between two snapshots; `None` where a time is missing or none passed.

    isql prints `May  4 2026 12:01PM`: two such times are up to a minute nearer or farther apart than they look.
    """
    start, end = earlier.taken, later.taken
    if start is None or end is None or start >= end:
        return None
    seconds = (end - start).total_seconds()
    if _to_the_minute(earlier) and _to_the_minute(later):
        return Length(seconds, seconds - MINUTE, seconds + MINUTE)
    return Length(seconds)


def _to_the_minute(snapshot: Snapshot) -> bool:
    """Whether its time may be without seconds: where it was not printed in full, and shows none."""
    taken = snapshot.taken
    return taken is not None and not (snapshot.taken_in_full or taken.second or taken.microsecond)


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
    doubt = doubt or doubt_between(earlier, later) or of_other_instances(before, after)
    fields = telling(before, after, doubt)
    was, now = by_key(before, fields), by_key(after, fields)
    alone = [row for key, rows in now.items() if key not in was for row in rows]
    came = [row for row in alone if doubt is None and came_between(row, earlier, later)]
    pairs = [pair for key, rows in now.items() if key in was for pair in paired(was[key], rows, earlier)]
    pairs = held_against(pairs, renumbered(was, now))
    pairs += [Pair(at_zero(row), row, None, None) for row in came]
    span, length = between(earlier, later), length_between(earlier, later)
    counted, fell = _subtract(pairs, span)
    if doubt or fell:
        counted = [_doubted(pair, doubt or "reset") for pair in pairs]
    came_ids = set(map(id, came))
    return Differences(
        tuple(_row(pair, counts, length) for pair, counts in zip(pairs, counted, strict=True)),
        tuple(replace(row, seconds=since) for row in alone if id(row) not in came_ids),
        sum(len(rows) for key, rows in was.items() if key not in now),
        fell,
    )


def rises_and_falls(before: Sequence[Counted], after: Sequence[Counted]) -> tuple[int, int]:
    """How many counters of one table are larger in the one snapshot, and how many in the other."""
    if not before or not after:
        return 0, 0
    fields = telling(before, after, None)
    was, now = by_key(before, fields), by_key(after, fields)
    pairs = [(was[key][0], rows[0]) for key, rows in now.items() if len(rows) == len(was.get(key, ())) == 1]
    moved = [
        new - old
        for one, other in pairs
        for name in one.COUNTERS
        if known(old := _read(one, name)) and known(new := _read(other, name))
    ]
    return sum(by > 0 for by in moved), sum(by < 0 for by in moved)


def _subtract(pairs: Sequence[Pair], span: Between) -> tuple[list[dict[str, Counts]], bool]:
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
    one_by_one = reused or span.settled  # single descriptors are used again all the time, a cache may be made anew
    return counted, fallen > (max(1, _counting(pairs) / 2) if one_by_one else 0)


def _counting(pairs: Sequence[Pair]) -> int:
    """How many rows had counted something by the earlier snapshot: only they can fall."""
    return sum(
        not pair.doubt and any(known(old := _read(pair.old, name)) and old for name in pair.old.COUNTERS)
        for pair in pairs
    )


def _wide(row: Counted) -> bool:
    """Whether the counters have the width that the table declares."""
    return not isinstance(row, MonSpinlockActivity) or row.wide


def _read(row: Counted, name: str) -> Reading:
    """A counter; of `sysmonitors` as the unsigned number it is."""
    value: Reading = getattr(row, name)
    return value % WORD if known(value) and not _wide(row) else value


def _doubted(pair: Pair, doubt: Certificate) -> dict[str, Counts]:
    """All counters of a row that is not believed: those that are missing stay what they are."""
    values = {name: getattr(pair.new, name) for name in pair.new.COUNTERS}
    return {name: (value if isinstance(value, Missing) else ABSENT, doubt) for name, value in values.items()}


def _row(pair: Pair, counts: dict[str, Counts], length: Length | None) -> Counted:
    """The later row with differences in place of its totals."""
    given = {certificate for _, certificate in counts.values()}
    worst = next((one for one in WORST_FIRST if one in given), "ok")
    values: dict[str, Any] = {name: count for name, (count, _) in counts.items()}
    source = pair.earlier.source if pair.earlier else None
    return replace(
        pair.new,
        over="interval",
        seconds=length.sure if length else None,
        seconds_low=length.low if length else None,
        seconds_high=length.high if length else None,
        certificate=worst,
        earlier=source,
        **values,
    )
