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

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from operator import sub
from typing import cast

from collectors.facts import ABSENT, Fact, Source
from collectors.facts.ase import MonOpenObjectActivity, MonSpinlockActivity, Snapshot
from collectors.facts.columns import Picked, coded
from collectors.facts.counted import BELIEVED, Certificate, Counted
from collectors.intervals.pairing import (
    SAME_CLEAR,
    SAME_START,
    ByKey,
    Pair,
    began_anew,
    came_between,
    of_other_instances,
    pairs_of,
    telling,
)
from collectors.intervals.wrapping import HALF_WORD, WORD, Between, column

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
    still: bool = False
    """Whether there are rows, all of them believed, and none of them moved."""


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
        return Differences((), tuple(with_seconds(after, since)), len(before))
    first, second = Picked(before), Picked(after)
    doubt = doubt or doubt_between(earlier, later) or of_other_instances(first, second)
    fields = telling(first, second, doubt)
    was, now = ByKey(first, fields), ByKey(second, fields)
    alone, vanished = now.without(was), len(was.without(now))
    counting = came_between(alone, earlier, later) if doubt is None else [False] * len(alone)
    pairs = pairs_of(was, now, earlier)
    pairs += [Pair(None, row, None) for row, came in zip(alone, counting, strict=True) if came]
    del was, now  # keys of as many rows as there are
    span, length = between(earlier, later), length_between(earlier, later)
    found = _subtract(pairs, span)
    if doubt or found.fell:
        found = _doubted(pairs, doubt or "reset", fell=found.fell)
    still = [row for row, came in zip(alone, counting, strict=True) if not came]
    return Differences(
        tuple(_rows(pairs, found, length)), tuple(with_seconds(still, since)), vanished, found.fell, found.still
    )


def with_seconds(rows: Sequence[Counted], seconds: float | None) -> list[Counted]:
    """The rows of one table of a single snapshot, with the time that their totals cover."""
    return Picked(rows).again({}, {}, {"seconds": seconds}) if rows else []


def rises_and_falls(before: Sequence[Counted], after: Sequence[Counted]) -> tuple[int, int]:
    """How many counters of one table are larger in the one snapshot, and how many in the other."""
    if not before or not after:
        return 0, 0
    first, second = Picked(before), Picked(after)
    fields = telling(first, second, None)
    was, now = ByKey(first, fields), ByKey(second, fields)
    keys = [key for key in now.first if key in was.first and not (key in was.others or key in now.others)]
    if not keys:
        return 0, 0
    old, new = ([rows.first[key] for key in keys] for rows in (was, now))
    moved = [map(sub, _read(new, name), _read(old, name)) for name in type(after[0]).COUNTERS]
    known = [by for column in moved for by in column if isfinite(by)]
    return sum(by > 0 for by in known), sum(by < 0 for by in known)


class _Readings:
    """The readings of pairs, counter by counter."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        """Take pairs; at least one."""
        self.pairs = pairs
        self.new = Picked([pair.new for pair in pairs])
        self.old = [pair.old for pair in pairs if pair.old]
        self.before = Picked(self.old) if self.old else None

    def of(self, name: str) -> tuple["array[float]", "array[float]"]:
        """Those of one counter before and after, coded; what came between the snapshots began at 0."""
        after = self.new.figures(name)
        before = self.before.figures(name) if self.before else array("d")
        if len(self.old) < len(self.pairs):
            told = iter(before)
            begun = (0.0 if isfinite(reading) else reading for reading in after)
            before = array(
                "d", (next(told) if pair.old else zero for pair, zero in zip(self.pairs, begun, strict=True))
            )
        return before, after


@dataclass(frozen=True)
class _Counted:
    """What the pairs of one table counted."""

    counts: dict[str, "array[float]"]
    """By counter, in the order of the pairs, as `collectors.facts.columns` codes readings."""
    certificates: list[Certificate]
    fell: bool
    """See `Differences`."""

    @property
    def still(self) -> bool:
        """Whether there are rows, all of them believed, and none of them moved."""
        quiet = not any(isfinite(count) and count for column in self.counts.values() for count in column)
        return bool(self.certificates) and quiet and set(self.certificates) <= set(BELIEVED)


def _subtract(pairs: Sequence[Pair], span: Between) -> _Counted:
    """The differences of all pairs, column by column; and whether counters fell that cannot have gone round."""
    certificates: list[Certificate] = ["ok" if pair.doubt is None else pair.doubt for pair in pairs]
    if not pairs:
        return _Counted({}, certificates, fell=False)
    sure = {
        wide: [at for at, pair in enumerate(pairs) if not pair.doubt and _wide(pair.new) is wide]
        for wide in (True, False)
    }
    readings, counts = _Readings(pairs), dict[str, "array[float]"]()
    fallen: set[int] = set()
    for name, width in type(pairs[0].new).COUNTERS.items():
        before, after = readings.of(name)
        if len(sure[True]) < len(pairs):
            counts[name] = _not_believed(after)
        for wide, places in sure.items():
            if not places:
                continue
            size = WORD if not wide else HALF_WORD if width == "int" else None
            if len(places) == len(pairs):
                counts[name], odd = column(name, size, before, after, span)
            else:
                old, new = (array("d", map(column_of.__getitem__, places)) for column_of in (before, after))
                counted, odd = column(name, size, old, new, span)
                for at, count in zip(places, counted, strict=True):
                    counts[name][at] = count
            for number, certificate in odd.items():
                at = places[number]
                certificates[at] = _worse(certificates[at], certificate)
                if certificate == "reset":
                    fallen.add(at)
    reused = isinstance(pairs[0].new, MonOpenObjectActivity)
    if reused or span.settled:  # single descriptors are used again all the time, a cache may be made anew
        return _Counted(counts, certificates, len(fallen) > 1 and len(fallen) > _counting(pairs) / 2)
    return _Counted(counts, certificates, bool(fallen))


def _not_believed(after: Sequence[float]) -> "array[float]":
    """Counts of rows that are not believed: those that are missing stay what they are."""
    return array("d", (coded(ABSENT) if isfinite(reading) else reading for reading in after))


def _worse(one: Certificate, other: Certificate | None) -> Certificate:
    return one if other is None or WORST_FIRST.index(one) < WORST_FIRST.index(other) else other


def _counting(pairs: Sequence[Pair]) -> int:
    """How many rows had counted something by the earlier snapshot: only they can fall."""
    old = [pair.old for pair in pairs if pair.old and not pair.doubt]
    if not old:
        return 0
    columns = zip(*(_read(old, name) for name in type(old[0]).COUNTERS), strict=True)
    return sum(any(isfinite(one) and one for one in row) for row in columns)


def _wide(row: Counted) -> bool:
    """Whether the counters have the width that the table declares."""
    return not isinstance(row, MonSpinlockActivity) or row.wide


def _read(rows: Sequence[Counted], name: str) -> "array[float]":
    """A counter of each row, coded; of `sysmonitors` as the unsigned number it is."""
    figures = Picked(rows).figures(name)
    if all(map(_wide, rows)):
        return figures
    read = zip(rows, figures, strict=True)
    return array("d", (one % WORD if isfinite(one) and not _wide(row) else one for row, one in read))


def _doubted(pairs: Sequence[Pair], doubt: Certificate, *, fell: bool) -> _Counted:
    """All pairs where none is believed."""
    new = Picked([pair.new for pair in pairs]) if pairs else None
    counts = {name: _not_believed(new.figures(name)) for name in type(new.rows[0]).COUNTERS} if new else {}
    return _Counted(counts, [doubt] * len(pairs), fell)


def _rows(pairs: Sequence[Pair], found: _Counted, length: Length | None) -> list[Counted]:
    """The later rows with differences in place of their totals."""
    if not pairs:
        return []
    same = {
        "over": "interval",
        "seconds": length.sure if length else None,
        "seconds_low": length.low if length else None,
        "seconds_high": length.high if length else None,
    }
    old = [pair.old for pair in pairs]

    def earlier(at: int) -> Source | None:
        row = old[at]
        return cast(Fact, row).source if row else None

    certificates = {"certificate": found.certificates}
    return Picked([pair.new for pair in pairs]).again(found.counts, certificates, same, earlier)
