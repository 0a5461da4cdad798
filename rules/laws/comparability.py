"""How alike the work of two captures was, each aspect from 0 (another kind) to 1 (the same)."""

import math
from collections.abc import Mapping
from datetime import datetime

LIMIT = 0.7
"""This project: below it no verdict. Half the load (0.71) just passes, six hours later in the day (0.75) passes."""
WHOLE_DAY = 20 * 3600.0
"""Seconds from which a capture holds all hours (this project's figure)."""
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


def of_hours(before: tuple[datetime, datetime], after: tuple[datetime, datetime]) -> float:
    """By the distance of the middles on the clock face, 12 hours being 0.5; a capture of a whole day has all hours."""
    if any((end - start).total_seconds() >= WHOLE_DAY for start, end in (before, after)):
        apart = 0.0
    else:
        first, second = (_hour(start + (end - start) / 2) for start, end in (before, after))
        apart = abs(first - second)
        apart = min(apart, 24 - apart)
    same_days = (before[0].weekday() > 4) == (after[0].weekday() > 4)
    return (1 - apart / 24) * (1.0 if same_days else WEEKEND)


def _hour(time: datetime) -> float:
    return time.hour + time.minute / 60
