"""Locks for the root file, SEQBLK and TSNBLK, as a part of all: what starts and ends of transactions take."""

from collections.abc import Iterable
from dataclasses import dataclass

from collectors.facts import Source
from rules.engine import limit, percent
from rules.rdb._evidence.counted import (
    ASKED,
    STALLED,
    per_transaction,
    rounded,
    rows_of,
    stalled_of,
    waiting_of,
    waits_matter,
)
from rules.rdb._evidence.limits import LeastLimits
from rules.rdb._evidence.statistics import Rate, Statistics, counted_as

ROOT = ("seqblk", "tsnblk")
ROOT_IO = ("root reads", "root writes")


def printed(kind: str) -> str:
    """A lock type as the screens print it: those of the root file are abbreviations."""
    return kind.upper() if kind in ROOT else kind


@dataclass(frozen=True)
class RootLimits(LeastLimits):
    """From where on the root file matters. No vendor names a figure."""

    operations_percent: float = percent(
        10.0,
        "this project: one lock operation in ten is for the root file; no vendor names a limit",
        low=0.1,
        of="lock operations",
    )
    stalled_percent: float = percent(
        25.0, "this project: a quarter of what waits, waits for the root file", low=1, of="stalls"
    )
    stalled_per_second: float = limit(
        1.0, "this project: fewer requests that stall get a note alone", unit="stalled requests/s"
    )
    asked_per_transaction: float = limit(
        1.0,
        "this project: commit to journal gives numbers in ranges; where each transaction asks, they do not spare it",
        unit="SEQBLK and TSNBLK locks requested and promoted per transaction",
    )


@dataclass(frozen=True)
class Hot:
    """What SEQBLK and TSNBLK locks are of all. Per cent; `None`: not in the export."""

    operations: float
    whole: float
    """All lock operations per second, as far as the screens of both have them."""
    counted_as: str
    """What `whole` counts."""
    stalled: float | None
    stalls: float | None
    """Stalled requests for them, per second."""
    rates: tuple[Rate, ...]
    each: Statistics
    waiting: float | None = None
    """Their part of the time that was waited for all locks; `None`: not in the export."""
    at_least: bool = False
    """Whether only their promotions were written: a lower bound, which can accuse and never acquits."""

    @property
    def stalls_from(self) -> Source:
        """Where `stalls` were read."""
        found = (stalled.source for kind in ROOT if (stalled := stalled_of(self.each, kind)))
        return next(found, self.rates[0].source)

    @property
    def metric(self) -> str:
        """What was counted of them, for evidence."""
        return f"SEQBLK and TSNBLK locks{' promoted' if self.at_least else ''}"


def hot_of(each: Statistics) -> Hot | None:
    """The locks of one node; `None` where no screen has one of the two beside all locks."""
    read = [kind for kind in ROOT if each.share(kind)]
    shares = [share for kind in read if (share := each.share(kind, read))]  # of the same items: else no sum
    if not shares:
        return _promoted(each)
    waited = [kind for kind in ROOT if stalled_of(each, kind)]
    stalls = [stalled for kind in waited if (stalled := stalled_of(each, kind, waited))]
    parts = [stalled.percent for stalled in stalls if stalled.percent is not None]
    rates = tuple(rate for kind in ROOT for rate in rows_of(each, shares[0].items, kind))
    return Hot(
        sum(share.percent for share in shares),
        max(share.whole for share in shares),
        shares[0].counted_as,
        min(100.0, sum(parts)) if parts and len(parts) == len(stalls) else None,
        sum(stalled.per_second for stalled in stalls) if stalls else None,
        rates,
        each,
        _waiting(each),
    )


def _promoted(each: Statistics) -> Hot | None:
    """Where their requests were not written: their promotions, held against all requests and promotions."""
    asked, promoted = each.operations("total", ASKED), [each.rate(ASKED[1], kind) for kind in ROOT]
    rates = tuple(rate for rate in promoted if rate)
    if not asked or len(rates) < len(ROOT):
        return None
    stalls = [stalled for kind in ROOT if (stalled := stalled_of(each, kind))]
    whole = sum(rate.per_second for rate in rows_of(each, STALLED))
    known = len(stalls) == len(ROOT)
    waited = sum(stalled.per_second for stalled in stalls)
    return Hot(
        100 * sum(rate.per_second for rate in rates) / asked,
        asked,
        counted_as(ASKED),
        min(100.0, 100 * waited / whole) if known and whole else None,
        waited if known else None,
        rates,
        each,
        _waiting(each),
        at_least=True,
    )


def telling(hots: Iterable[Hot], limits: RootLimits) -> list[Hot]:
    """Those that can be judged: a lower bound below the limits says nothing."""
    return [hot for hot in hots if not hot.at_least or over(hot, limits)]


def asked_each(hot: Hot | None, limits: RootLimits) -> float | None:
    """How many of them each transaction asks for, where so many that ranges of numbers do not spare them; else `None`.

    `None` too where transactions were not counted.
    """
    per = per_transaction(hot.each, [rate for kind in ROOT for rate in rows_of(hot.each, ASKED, kind)]) if hot else None
    return per if per is not None and per >= limits.asked_per_transaction else None


def _waiting(each: Statistics) -> float | None:
    """Their part of the time that was waited for all locks, per cent; `None` where one of the times was not read."""
    whole, times = waiting_of(each), [waiting_of(each, kind) for kind in ROOT]
    if whole is None or any(time is None for time in times):
        return None
    return 100.0 * sum(time.per_second for time in times if time) / whole.per_second


def over(hot: Hot, limits: RootLimits) -> bool:
    """Whether they are much of the locking, or of what waits: of its time, too, where that was counted."""
    if hot.whole < limits.operations_per_second:
        return False
    shares = [share for share in (hot.stalled, hot.waiting) if share is not None]
    of_stalls = hot.stalled is not None and min(shares) >= limits.stalled_percent
    waiting = hot.stalls is not None and hot.stalls >= limits.stalled_per_second
    return hot.operations >= limits.operations_percent or (of_stalls and waiting)


def waited_for(hot: Hot, limits: RootLimits) -> bool:
    """Whether the waits for them cost anything."""
    return any(waits_matter(hot.each, hot.stalls, limits.stalled_per_second, kind) for kind in ROOT)


def figures_of(hot: Hot) -> str:
    """The share, for a sentence."""
    stalls = (
        f", and {rounded(hot.stalls)} stalled requests/s, {hot.stalled:.0f} % of all"
        if hot.stalled is not None and hot.stalls is not None
        else ""
    )
    least = " or more" if hot.at_least else ""
    return (
        f"{rounded(hot.operations)} %{least} of {hot.whole:,.0f} {hot.counted_as}/s are SEQBLK and TSNBLK locks{stalls}"
    )


@dataclass(frozen=True)
class RootIO:
    """Reads and writes of the root file on one node."""

    per_second: float
    per_transaction: float
    rates: tuple[Rate, ...]
    each: Statistics


def root_io(each: Statistics, items: tuple[str, ...] = ROOT_IO) -> RootIO | None:
    """Those of one node; `None` where they or the transactions were not counted."""
    rates = tuple(rate for item in items if (rate := each.rate(item)))
    per = per_transaction(each, rates)
    return None if per is None else RootIO(sum(rate.per_second for rate in rates), per, rates, each)
