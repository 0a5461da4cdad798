"""What displays of OpenVMS have in common: names of nodes, points in time and spans of time.

Times are ` 3-FEB-2021 09:14:22.07`, the month in English, the day possibly padded with a blank; spans are
`12 03:41:07` or `0 00:01:22.07`. No display names a zone.
"""

import re
from datetime import datetime

from collectors.facts.base import ABSENT, Reading
from collectors.layouts.dates import MONTHS

NODE = r"[A-Z0-9_$]{1,15}"
MOMENT = r"[0-9]{1,2}-[A-Z]{3}-[0-9]{4}\s{1,3}[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
SPAN = r"(?:[0-9]{1,5}\s{1,3})?[0-9]{1,5}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
"""All three to be built into other patterns: no groups, without regard to case."""
DATE = re.compile(
    r"([0-9]{1,2})-([A-Za-z]{3})-([0-9]{4})\s{1,3}([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6}))?)?"
)
LENGTH = re.compile(r"(?:([0-9]{1,5})\s{1,3})?([0-9]{1,5}):([0-9]{2}):([0-9]{2}(?:\.[0-9]{1,6})?)")


def moment(text: str | None) -> datetime | None:
    """Read one point in time; `None` for anything else."""
    return _moment(DATE.fullmatch(text.strip()[:40])) if text else None


def first_moment(text: str) -> datetime | None:
    """The first point in time in a text, without zone; `None` where there is none."""
    return _moment(DATE.search(text))


def _moment(found: re.Match[str] | None) -> datetime | None:
    if not found:
        return None
    day, month, year, hour, minute, second, fraction = found.groups()
    try:
        return datetime(  # noqa: DTZ001 - the export has no zone
            int(year),
            MONTHS.get(month.lower(), 0),
            int(day),
            int(hour),
            int(minute),
            int(second or 0),
            int((fraction or "0").ljust(6, "0")),
        )
    except ValueError:
        return None


def seconds(text: str | None) -> Reading:
    """Read a span of time, in seconds; absent for anything else."""
    found = span(text)
    return ABSENT if found is None else found


def span(text: str | None) -> float | None:
    """Read a span of time, in seconds; `None` for anything else."""
    found = LENGTH.fullmatch(text.strip()[:40]) if text else None
    if not found:
        return None
    days, hours, minutes, rest = found.groups()
    return float(int(days or 0) * 86_400 + int(hours) * 3_600 + int(minutes) * 60) + float(rest)
