"""How much two intervals have in common."""

from collections.abc import Iterable
from datetime import timedelta

from collectors.facts import Interval

MOST_HOURS = 24 * 31
"""Longer intervals are held against all others: there are few."""

TORN = timedelta(minutes=10)
"""This project: screens that are taken one after another by hand lie so far apart at most."""


class ByHour:
    """Intervals by the hours they touch: those that may share a time with another are found without a look at all."""

    def __init__(self, intervals: Iterable[Interval]) -> None:
        """Take intervals; they are numbered from 0."""
        self.count = 0
        self.touching: dict[object, list[int]] = {}
        self.long: list[int] = []
        for one in intervals:
            self.add(one)

    def add(self, one: Interval) -> None:
        """Take one more; without a time it is near none."""
        hours = _hours(one)
        if hours is None:
            self.long.append(self.count)
        for hour in hours or ():
            self.touching.setdefault(hour, []).append(self.count)
        self.count += 1

    def near(self, one: Interval) -> list[int]:
        """The numbers of those that may share a time with this one, and of all long ones, in order."""
        hours = _hours(one)
        if hours is None:
            return list(range(self.count))
        return sorted({*self.long, *(number for hour in hours for number in self.touching.get(hour, ()))})


def _hours(one: Interval) -> list[object] | None:
    """The hours that an interval touches; `None` for too many."""
    if not (one.start and one.end) or one.end < one.start:
        return []
    first = one.start.replace(minute=0, second=0, microsecond=0)
    many = int((one.end - first).total_seconds() // 3600) + 1
    return None if many > MOST_HOURS else [first + timedelta(hours=hour) for hour in range(many)]


def shared_part(one: Interval, other: Interval) -> float:
    """Which part of the shorter interval lies in the other: 0 to 1, and 0 where a time is missing.

    A moment within an interval shares it wholly.
    """
    if not (one.start and one.end and other.start and other.end):
        return 0.0
    if one.start == one.end or other.start == other.end:
        return float(max(one.start, other.start) <= min(one.end, other.end))
    common = (min(one.end, other.end) - max(one.start, other.start)).total_seconds()
    shorter = min((one.end - one.start).total_seconds(), (other.end - other.start).total_seconds())
    return common / shorter if shorter > 0 else 0.0
