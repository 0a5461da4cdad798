"""How much two intervals have in common."""

from collectors.facts import Interval


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
