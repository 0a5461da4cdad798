"""How alike the work of two captures was, each aspect from 0 (another kind) to 1 (the same)."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

LIMIT = 0.7
"""This project: below it no verdict. Half the load (0.71) just passes, six hours later in the day (0.75) passes."""
WHOLE_DAY = 20 * 3600.0
"""Seconds from which a capture holds all hours (this project's figure)."""
PART_OF_DAY = 12 * 3600.0
"""This project: a mean over a day is none of a part of it shorter than this: the nights are in it, and the batch."""
LONGEST_DAYS = 28
"""Days of a capture that are looked at one by one: of a longer one two in seven are of a weekend."""
WEEKEND = 0.8
"""This project: a working day against a Saturday or Sunday."""


def of_shares(before: Mapping[str, float], after: Mapping[str, float]) -> float | None:
    """How much two mixes overlap: 1 − half the sum of the differences of their shares; `None` where one is empty.

    Amounts of any unit will do: they become shares of their sum.
    """
    first, second = sum(before.values()), sum(after.values())
    if first <= 0 or second <= 0:
        return None
    kinds = {*before, *after}
    return 1 - sum(abs(before.get(kind, 0.0) / first - after.get(kind, 0.0) / second) for kind in kinds) / 2


def of_amounts(before: float, after: float) -> float | None:
    """The smaller ÷ the larger; `None` where one is not above zero."""
    return min(before, after) / max(before, after) if before > 0 and after > 0 else None


def of_loads(before: float, after: float) -> float | None:
    """The root of the smaller load ÷ the larger: half the load is 0.71, a quarter 0.5."""
    share = of_amounts(before, after)
    return None if share is None else math.sqrt(share)


Span = tuple[datetime, datetime]


def of_hours(before: Sequence[Span], after: Sequence[Span]) -> float:
    """By how far the captures of one side are from the nearest of the other on the clock face, 12 hours being 0.5.

    Start and end of each capture, by one clock; neither side may be empty. Captures of the same hour on five days are
    five of that hour, not one of a week. Days are alike by how much of them is weekend.
    """
    apart = max(_mean_apart(before, after), _mean_apart(after, before))
    weekend = abs(_weekend(before) - _weekend(after))
    return (1 - apart / 24) * (1 - (1 - WEEKEND) * weekend)


def _mean_apart(these: Sequence[Span], others: Sequence[Span]) -> float:
    return sum(min(_apart(one, other) for other in others) for one in these) / len(these)


def _apart(one: Span, other: Span) -> float:
    """Hours between the middles; a day and a part of a day are as far apart as can be."""
    short, long = sorted((end - start).total_seconds() for start, end in (one, other))
    if long >= WHOLE_DAY:
        return 0.0 if short >= PART_OF_DAY else 12.0
    first, second = (_hour(start + (end - start) / 2) for start, end in (one, other))
    apart = abs(first - second)
    return min(apart, 24 - apart)


def _weekend(spans: Sequence[Span]) -> float:
    """Which share of the time is of a Saturday or Sunday; of captures without length, which share of them."""
    seconds = [_weekend_seconds(one) for one in spans]
    whole = sum((end - start).total_seconds() for start, end in spans)
    return sum(seconds) / whole if whole > 0 else sum(start.weekday() > 4 for start, _ in spans) / len(spans)


def _weekend_seconds(span: Span) -> float:
    start, end = span
    if (end - start).days > LONGEST_DAYS:
        return (end - start).total_seconds() * 2 / 7
    found = 0.0
    while start < end:
        midnight = start.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        until = min(midnight, end)
        found += (until - start).total_seconds() if start.weekday() > 4 else 0.0
        start = until
    return found


def _hour(time: datetime) -> float:
    return time.hour + time.minute / 60
