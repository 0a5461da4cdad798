"""When a schedule is due: intervals, cron in a zone, blackouts. Pure: no database, no clock.

An interval counts real minutes from its last due time. Cron goes by the clock on the wall of its zone: a time that
daylight saving leaves out comes when the clock has gone on, one that comes twice counts once (as Debian's cron).
A window ends with the last moment its clock shows that time, so that no blackout is cut short.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache, lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

MOST_MINUTES = 525_600
"""The longest interval: a year of 365 days."""
MOST_COUNTED = 1_000
"""Times missed are counted up to here; this many means: this many or more."""
MOST_WINDOWS, LONGEST_LINE = 50, 100
MOST_JUMPS = 800
"""Blackouts passed over one after another (a year of two a day) before a schedule counts as never free."""
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKLY = re.compile(r"([a-z][a-z, -]*?)\s+(\d{1,2}):(\d\d)\s*-\s*(\d{1,2}):(\d\d)", re.ASCII | re.IGNORECASE)
MOMENT = r"(\d{4}-\d\d-\d\d)[ T](\d{1,2}):(\d\d)"
ONCE = re.compile(rf"{MOMENT}\s*-\s*{MOMENT}", re.ASCII)
EXAMPLES = "sat,sun 22:00-04:00, or daily 01:00-02:30, or 2026-12-24 00:00 - 2026-12-27 00:00"
UNITS = ((10_080, "week"), (1_440, "day"), (60, "hour"), (1, "minute"))


class BadTime(ValueError):
    """A time that makes no sense; the message says why and what to write."""

    def __init__(self, message: str, field: str, line: int | None = None) -> None:
        super().__init__(message)
        self.field = field
        """`every_minutes`, `cron`, `zone` or `blackouts`."""
        self.line = line
        """Which line of the blackouts, from 1."""


class Plan(Protocol):
    """What says when: a `Schedule`, or what somebody typed."""

    @property
    def every_minutes(self) -> int | None: ...  # noqa: D102 - as the columns of Schedule
    @property
    def cron(self) -> str: ...  # noqa: D102
    @property
    def zone(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Times:
    """When, apart from any schedule."""

    every_minutes: int | None = None
    cron: str = ""
    zone: str = "UTC"


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


@dataclass(frozen=True)
class Dues:
    """The times a schedule was due by now: the newest outside every window, the newest in one, and how many before."""

    free: datetime | None
    missed: int
    shut: datetime | None
    window: Window | None
    shut_before: int


def check(plan: Plan) -> None:
    """Raise `BadTime` unless the plan says when, in a zone there is, and that time comes."""
    if plan.zone not in zones():
        raise BadTime(f"there is no zone {plan.zone[:60]!r}: write one like Europe/Oslo or UTC", "zone")
    if plan.cron and plan.every_minutes is not None:
        raise BadTime("an interval and cron at once: choose one of them", "cron")
    if plan.every_minutes is not None:
        if not 1 <= plan.every_minutes <= MOST_MINUTES:
            raise BadTime(f"an interval is 1 to {MOST_MINUTES:,} minutes", "every_minutes")
        return
    if len(plan.cron.split()) != 5:
        fields = "minute, hour, day of the month, month, day of the week"
        raise BadTime(f"cron has five fields ({fields}): write for instance 0 6 * * mon-fri", "cron")
    try:
        comes = next_after(plan, datetime(2000, 1, 1, tzinfo=UTC))
    except CronSimError as error:
        said = str(error).lower().replace("bad ", "")
        raise BadTime(f"cron does not understand the {said}: write for instance 0 6 * * mon-fri", "cron") from None
    if comes is None:
        raise BadTime("this never comes: look at the day of the month and the month", "cron")


def next_after(plan: Plan, after: datetime, anchor: datetime | None = None) -> datetime | None:
    """The first time after that one (UTC); `None`: never. `anchor`: a due time that an interval counts from."""
    if plan.every_minutes is None:
        return _cron(plan.cron, plan.zone, after.astimezone(UTC).replace(second=0, microsecond=0))
    step = timedelta(minutes=plan.every_minutes)
    start = after if anchor is None else anchor
    return start + ((after - start) // step + 1) * step


def next_free(plan: Plan, found: Sequence[Window], after: datetime, anchor: datetime | None = None) -> datetime | None:
    """The first time after that one that lies in no window; `None`: never."""
    at = next_after(plan, after, anchor or after)
    for _ in range(MOST_JUMPS):
        ends = [end for window in found if at and (end := window.until(at))]
        if at is None or not ends:
            return at
        at = next_after(plan, max(ends) - timedelta(microseconds=1), anchor or after)
    return None


def preview(plan: Plan, found: Sequence[Window], after: datetime, count: int = 5) -> list[datetime]:
    """The next times it will run, in its zone."""
    times: list[datetime] = []
    at = next_free(plan, found, after)
    while at is not None and len(times) < count:
        times.append(at.astimezone(ZoneInfo(plan.zone)))
        at = next_free(plan, found, at)
    return times


def dues(plan: Plan, found: Sequence[Window], first: datetime, now: datetime) -> Dues:
    """Count the times from the first one to now, each by the window it lies in."""
    free = shut = window = None
    missed = shut_before = -1
    for at in _until(plan, first, now):
        held = blacked_out(found, at)
        if held is None:
            free, missed = at, missed + 1
        else:
            shut, window, shut_before = at, held, shut_before + 1
    return Dues(free, min(MOST_COUNTED, max(0, missed)), shut, window, max(0, shut_before))


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


def in_words(plan: Plan) -> str:
    """When, for people: `every 2 hours`, `At 06:00 on Monday (Europe/Oslo)`."""
    if plan.every_minutes is not None:
        size, unit = next(one for one in UNITS if plan.every_minutes % one[0] == 0)
        count = plan.every_minutes // size
        return f"every {unit}" if count == 1 else f"every {count:,} {unit}s"
    try:
        said = CronSim(plan.cron, datetime(2000, 1, 1, tzinfo=UTC)).explain()
    except (CronSimError, ValueError):
        said = f"cron {plan.cron}"
    return f"{said} ({plan.zone})"


@cache
def zones() -> frozenset[str]:
    """The names of all zones."""
    return frozenset(available_timezones() - {"Factory", "localtime", "posixrules"})


def _until(plan: Plan, first: datetime, now: datetime) -> Iterator[datetime]:
    """The times from the first one to now; of very many the first `MOST_COUNTED` and the last."""
    at: datetime | None = first
    count = 0
    while at is not None and at <= now and count <= MOST_COUNTED:
        yield at
        count += 1
        at = next_after(plan, at, first)
    if at is None or at > now:
        return
    for span in (timedelta(hours=1), timedelta(days=1), timedelta(days=32), timedelta(days=366)):
        last = next_after(plan, max(at, now - span) - timedelta(microseconds=1), first)
        if last is not None and last <= now:
            while last is not None and last <= now:
                yield last
                last = next_after(plan, last, first)
            return


@lru_cache(maxsize=8192)
def _cron(cron: str, zone: str, after: datetime) -> datetime | None:
    """The first time after a whole minute. In the hour that comes twice cronsim may give one that has been.

    Compared in UTC: times of one zone compare by the clock on the wall, not as they come.
    """
    for at in CronSim(cron, after.astimezone(ZoneInfo(zone))):
        if (found := at.astimezone(UTC)) > after:
            return found
    return None


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
