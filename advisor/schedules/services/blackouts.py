"""When nothing is to run: blackouts, a window a line. Pure: no database, no clock.

A window ends with the last moment its clock shows that time, so that no blackout is cut short.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

MOST_WINDOWS, LONGEST_LINE = 50, 100
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKLY = re.compile(r"([a-z][a-z, -]*?)\s+(\d{1,2}):(\d\d)\s*-\s*(\d{1,2}):(\d\d)", re.ASCII | re.IGNORECASE)
MOMENT = r"(\d{4}-\d\d-\d\d)[ T](\d{1,2}):(\d\d)"
ONCE = re.compile(rf"{MOMENT}\s*-\s*{MOMENT}", re.ASCII)
EXAMPLES = "sat,sun 22:00-04:00, or daily 01:00-02:30, or 2026-12-24 00:00 - 2026-12-27 00:00"
NEVER = datetime.max.replace(tzinfo=UTC)
"""When windows end that leave no minute of the week."""
WEEK = 7 * 1440


class BadTime(ValueError):
    """A time that makes no sense; the message says why and what to write."""

    def __init__(self, message: str, field: str, line: int | None = None) -> None:
        super().__init__(message)
        self.field = field
        """`every_minutes`, `cron`, `zone` or `blackouts`."""
        self.line = line
        """Which line of the blackouts, from 1."""


@dataclass(frozen=True)
class Window:
    """One line of the blackouts: once, or on days of the week, from and to minutes of the day."""

    text: str
    line: int
    zone: str
    once: tuple[datetime, datetime] | None = None
    days: frozenset[int] = frozenset()
    start: int = 0
    end: int = 0

    def until(self, at: datetime) -> datetime | None:
        """When the window ends in which a time lies; `None`: it lies in none."""
        if self.once:
            return self.once[1] if self.once[0] <= at < self.once[1] else None
        today = at.astimezone(ZoneInfo(self.zone)).date()
        for day in (today, today - timedelta(days=1)):
            if day.weekday() in self.days:
                midnight = datetime.combine(day, time())
                start = _instant(midnight + timedelta(minutes=self.start), self.zone, fold=0)
                end = _instant(midnight + timedelta(minutes=self.end), self.zone, fold=1)
                if start <= at < end:
                    return end
        return None


class Joined:
    """Windows taken together: asked for one time, many windows cost as little as one."""

    def __init__(self, found: Sequence[Window]) -> None:
        """Join windows of one zone, as `windows` gives them."""
        self.zone = ZoneInfo(found[0].zone if found else "UTC")
        self.once = [window.once for window in found if window.once]
        self.spans: list[tuple[int, int]] = []
        """Minutes of the week by the clock on the wall, in order, none touching another."""
        for start, end in sorted(span for window in found for span in _week(window)):
            if self.spans and start <= self.spans[-1][1]:
                self.spans[-1] = (self.spans[-1][0], max(end, self.spans[-1][1]))
            else:
                self.spans.append((start, end))

    def until(self, at: datetime) -> datetime | None:
        """When the windows in which a time lies end, with those that follow at once; `NEVER`; `None`: in none."""
        if self.spans == [(0, WEEK)]:
            return NEVER
        end = at
        while later := self._end(end):
            end = later
        return end if end > at else None

    def _end(self, at: datetime) -> datetime | None:
        """When the last to end of the spans ends in which a time lies."""
        ends = [end for start, end in self.once if start <= at < end]
        if self.spans:
            wall = at.astimezone(self.zone).replace(tzinfo=None)
            monday = datetime.combine(wall.date() - timedelta(days=wall.weekday()), time())
            minute = (wall - monday) // timedelta(minutes=1)
            after = bisect_right(self.spans, (minute, WEEK))
            # one that begins later by the clock has begun already where the clock was put back since
            for number in (after - 1, after):
                week, which = divmod(number, len(self.spans))
                first = monday + timedelta(weeks=week)
                start, end = (
                    _instant(first + timedelta(minutes=one), self.zone.key, fold)
                    for fold, one in enumerate(self.spans[which])
                )
                if start <= at < end:
                    ends.append(end)
        return max(ends, default=None)


@lru_cache(maxsize=256)
def joined(found: tuple[Window, ...]) -> Joined:
    """The windows taken together."""
    return Joined(found)


def blacked_out(found: Sequence[Window], at: datetime) -> Window | None:
    """The window in which a time lies."""
    return next((window for window in found if window.until(at)), None)


@lru_cache(maxsize=1024)
def windows(text: str, zone: str) -> tuple[Window, ...]:
    """Read the blackouts, a window a line, by the clock of the zone. Raises `BadTime` with the number of the line."""
    lines = [(number, " ".join(line.split())) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) > MOST_WINDOWS:
        raise BadTime(f"more than {MOST_WINDOWS} windows: join some of them", "blackouts", lines[MOST_WINDOWS][0])
    return tuple(_window(line.replace("–", "-"), number, zone) for number, line in lines)


def _week(window: Window) -> list[tuple[int, int]]:
    """The minutes of the week that a window holds; what goes on after Sunday begins the week."""
    spans = [(day * 1440 + window.start, day * 1440 + window.end) for day in window.days]
    over = [(0, end - WEEK) for _, end in spans if end > WEEK]
    return over + [(start, min(end, WEEK)) for start, end in spans]


def _window(text: str, line: int, zone: str) -> Window:
    if once := ONCE.fullmatch(text):
        start = _moment(once.group(1, 2, 3), zone, 0, line)
        end = _moment(once.group(4, 5, 6), zone, 1, line)
        if end <= start:
            raise BadTime(f"line {line}: {text[:80]!r} ends before it begins", "blackouts", line)
        return Window(text, line, zone, once=(start, end))
    weekly = WEEKLY.fullmatch(text) if len(text) <= LONGEST_LINE else None
    if not weekly:
        raise BadTime(f"line {line}: {text[:80]!r} is no window: write for instance {EXAMPLES}", "blackouts", line)
    start_minute, end_minute = (_minute(weekly[at], weekly[at + 1], line) for at in (2, 4))
    if start_minute == end_minute or start_minute == 1440:
        raise BadTime(f"line {line}: {text[:80]!r} has no length: the whole day is 00:00-24:00", "blackouts", line)
    end_minute += 1440 if end_minute < start_minute else 0
    return Window(text, line, zone, days=_days(weekly[1], line), start=start_minute, end=end_minute)


def _days(said: str, line: int) -> frozenset[int]:
    """The days of the week that `daily`, `sat,sun` or `fri-mon` means."""
    if said.strip().lower() == "daily":
        return frozenset(range(7))
    found: set[int] = set()
    for part in said.lower().split(","):
        ends = [_day(name.strip()) for name in part.split("-")]
        if None in ends or len(ends) > 2:
            raise BadTime(
                f"line {line}: {part.strip()[:40]!r} is no day: write for instance {EXAMPLES}", "blackouts", line
            )
        first, last = ends[0] or 0, ends[-1] or 0
        found.update((first + day) % 7 for day in range((last - first) % 7 + 1))
    return frozenset(found)


def _day(name: str) -> int | None:
    return next((at for at, day in enumerate(DAYS) if len(name) >= 3 and day.startswith(name)), None)


def _minute(hour: str, minute: str, line: int) -> int:
    found = int(hour) * 60 + int(minute)
    if int(minute) > 59 or found > 1440:
        raise BadTime(f"line {line}: {hour}:{minute} is no time of the day", "blackouts", line)
    return found


def _moment(parts: Sequence[str], zone: str, fold: int, line: int) -> datetime:
    try:
        day = datetime.fromisoformat(parts[0])
    except ValueError:
        raise BadTime(f"line {line}: {parts[0]} is no day of the calendar", "blackouts", line) from None
    if not 2000 <= day.year <= 2200:
        raise BadTime(f"line {line}: {parts[0]} is not between 2000 and 2200", "blackouts", line)
    return _instant(day + timedelta(minutes=_minute(parts[1], parts[2], line)), zone, fold)


def _instant(wall: datetime, zone: str, fold: int) -> datetime:
    """When a clock on the wall shows this (fold 1: the second time), or has gone on where it never shows it."""
    there = ZoneInfo(zone)
    while True:
        at = wall.replace(tzinfo=there, fold=fold).astimezone(UTC)
        if at.astimezone(there).replace(tzinfo=None, fold=0) == wall:
            return at
        wall += timedelta(minutes=1)
