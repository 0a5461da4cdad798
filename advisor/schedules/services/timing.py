"""When a schedule is due: intervals, cron in a zone, blackouts. Pure: no database, no clock.

An interval counts real minutes from its last due time. Cron goes by the clock on the wall of its zone: a time that
daylight saving leaves out comes when the clock has gone on, one that comes twice counts once (as Debian's cron).
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from itertools import islice
from typing import Protocol
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from advisor.schedules.services.blackouts import (
    NEVER,
    BadTime,
    Window,
    blacked_out,
    joined,
    windows,
)

__all__ = [
    "BadTime", "Dues", "Plan", "Times", "Window", "blacked_out", "check", "dues", "every", "in_words", "in_zone",
    "next_after", "next_free", "preview", "windows", "zones",
]  # fmt: skip
MOST_MINUTES = 525_600
"""The longest interval: a year of 365 days."""
MOST_COUNTED = 1_000
"""Times missed are counted up to here; this many means: this many or more."""
MOST_JUMPS = 800
"""Blackouts passed over one after another (a year of two a day) before a schedule counts as never free."""
EACH_HOUR = ["*"] * 4
"""What follows the minutes in cron that goes by them alone."""
UNITS = ((10_080, "week"), (1_440, "day"), (60, "hour"), (1, "minute"))


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
        if _comes_in_some_month(plan.cron):
            raise BadTime("that day never comes: look at the day of the month and the month", "cron") from None
        raise BadTime(f"cron does not understand the {said}: write for instance 0 6 * * mon-fri", "cron") from None
    if comes is None:
        raise BadTime("that day never comes: look at the day of the month and the month", "cron")


def next_after(plan: Plan, after: datetime, anchor: datetime | None = None) -> datetime | None:
    """The first time after that one (UTC); `None`: never. `anchor`: a due time that an interval counts from."""
    if plan.every_minutes is None:
        return _cron(plan.cron, plan.zone, after.astimezone(UTC).replace(second=0, microsecond=0))
    step = timedelta(minutes=plan.every_minutes)
    start = after if anchor is None else anchor
    return start + ((after - start) // step + 1) * step


def next_free(plan: Plan, found: Sequence[Window], after: datetime, anchor: datetime | None = None) -> datetime | None:
    """The first time after that one that lies in no window; `None`: never."""
    return next(_free(plan, found, after, anchor or after), None)


def preview(plan: Plan, found: Sequence[Window], after: datetime, count: int = 5) -> list[datetime]:
    """The next times it will run, in its zone; fewer where blackouts lie too many between them."""
    return [at.astimezone(ZoneInfo(plan.zone)) for at in islice(_free(plan, found, after, after), count)]


def dues(plan: Plan, found: Sequence[Window], first: datetime, now: datetime) -> Dues:
    """Count the times from the first one to now, each by the window it lies in."""
    blackouts = joined(tuple(found))
    free = shut = until = None
    missed = shut_before = -1
    for at in _until(plan, first, now):
        if until is None or at >= until:  # a time in the same blackout as the one before is not asked for again
            until = blackouts.until(at)
        if until is None:
            free, missed = at, missed + 1
        else:
            shut, shut_before = at, shut_before + 1
    window = blacked_out(found, shut) if shut else None
    return Dues(free, min(MOST_COUNTED, max(0, missed)), shut, window, max(0, shut_before))


def in_words(plan: Plan) -> str:
    """When, for people: `every 2 hours`, `At 06:00 on Monday (Europe/Oslo)`."""
    if plan.every_minutes is not None:
        return every(plan.every_minutes)
    try:
        read = CronSim(plan.cron, datetime(2000, 1, 1, tzinfo=UTC))
        if plan.cron.split()[1:] == EACH_HOUR and (minutes := _apart(read.minutes)):
            return every(minutes)  # in words of cron "every fifth minute of every hour"
        said = read.explain()
    except (CronSimError, ValueError):
        said = f"cron {plan.cron}"
    return f"{said} ({plan.zone})"


def _apart(minutes: set[int]) -> int:
    """How many minutes lie between any two of these and the next, hour after hour; 0: not always as many."""
    found = sorted(minutes)
    gaps = {later - sooner for sooner, later in zip(found, [*found[1:], found[0] + 60], strict=True)}
    return gaps.pop() if len(gaps) == 1 and len(found) > 1 else 0


def every(minutes: int) -> str:
    """An interval for people: `every 5 minutes`, `every day`."""
    size, unit = next(one for one in UNITS if minutes % one[0] == 0)
    count = minutes // size
    return f"every {unit}" if count == 1 else f"every {count:,} {unit}s"


def in_zone(at: datetime, zone: str) -> datetime:
    """A time by the clock of a zone; of one there is no more, in UTC."""
    return at.astimezone(ZoneInfo(zone if zone in zones() else "UTC"))


@cache
def zones() -> frozenset[str]:
    """The names of all zones."""
    return frozenset(available_timezones() - {"Factory", "localtime", "posixrules"})


def _free(plan: Plan, found: Sequence[Window], after: datetime, anchor: datetime) -> Iterator[datetime]:
    """The times after that one that lie in no window, until `MOST_JUMPS` blackouts have been passed over."""
    blackouts = joined(tuple(found))
    at = next_after(plan, after, anchor)
    jumps = 0
    while at is not None and jumps < MOST_JUMPS:
        until = blackouts.until(at)
        if until is None:
            yield at
            at = next_after(plan, at, anchor)
        elif until == NEVER:
            return
        else:
            jumps += 1
            at = next_after(plan, until - timedelta(microseconds=1), anchor)


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


def _comes_in_some_month(cron: str) -> bool:
    """Whether cron would be understood if it were for every month."""
    minute, hour, day, _, weekday = cron.split()
    with suppress(CronSimError):
        return bool(CronSim(f"{minute} {hour} {day} * {weekday}", datetime(2000, 1, 1, tzinfo=UTC)))
    return False


@lru_cache(maxsize=8192)
def _cron(cron: str, zone: str, after: datetime) -> datetime | None:
    """The first time after a whole minute. In the hour that comes twice cronsim may give one that has been.

    Compared in UTC: times of one zone compare by the clock on the wall, not as they come.
    """
    for at in CronSim(cron, after.astimezone(ZoneInfo(zone))):
        if (found := at.astimezone(UTC)) > after:
            return found
    return None
