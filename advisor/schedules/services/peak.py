"""The busiest hour that the history of a system shows, and schedules that are due at it.

The history knows the hours it was sampled in, no others: which these are is said wherever the hour is. A schedule
that goes by it falls back to an interval where the captures are too few or too close together. So does one that, after
some weeks, has captures of its own hour alone: the interval then samples the day anew.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import Case, F, Q, When
from django.utils import timezone

from advisor.audits.models import Capture
from advisor.core import journal
from advisor.schedules.models import Schedule
from advisor.schedules.services import timing
from advisor.schedules.services.due_schedules import NO_TIME

LOG = logging.getLogger(__name__)
WEEKS = 8
"""So far back the history is looked at (this project's figure: what was busy last quarter may be so no more)."""
LONGEST_SECONDS = 3600
"""A capture over more than this tells of no single hour."""
MOST_CAPTURES = 5_000
"""The newest, of all systems of a schedule together."""
IN_ONE = 2
"""Captures an hour needs before it counts: a single one may be chance."""
MINUTE = 15
"""Due at this minute of the hour, so that the whole sample lies within it."""
AGAIN = timedelta(days=1)
MEASURES = {
    "ase.xacts": "committed transactions per second",
    "ase.transactions": "transactions per second, as monState counts them",
    "ase.engine_busy": "busy engines",
    "ase.lock_requests": "lock requests per second",
    "openvms.lock_operations": "lock operations per second",
}
"""Key figures that say how busy a system is; of those with most captures the first counts.

What is collected live without sp_sysmon has those of the monitoring tables alone."""
DAY, WEEK = "day", "week"
PERIODS = {DAY: "the busiest hour of the day", WEEK: "the busiest hour of the week"}
HOURS = {DAY: 24, WEEK: 168}
ENOUGH = {DAY: (24, 8), WEEK: (60, 24)}
"""Captures, and hours that count with `IN_ONE` of them or more, from which on the busiest is told (this project's
figures: a third of the day, a seventh of the week)."""
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True)
class Shown:
    """What the history showed of a day or a week."""

    period: str
    captures: int
    """How many say how busy the systems were."""
    hours: int
    """How many hours of the period these lie in."""
    counted: int
    """How many of them have enough captures to count."""
    measure: str = ""
    hour: int | None = None
    """The busiest, 0 to 23 in the schedule's zone; null: it is not known."""
    weekday: int | None = None
    """Of a week: its day, Monday is 0."""
    why: str = ""
    """Why it is not known, or is not gone by."""

    @property
    def cron(self) -> str:
        """When it is due; empty: the history does not say."""
        if self.hour is None:
            return ""
        return f"{MINUTE} {self.hour} * * {'*' if self.weekday is None else DAYS[self.weekday]}"


Slot = tuple[int, int]
"""A weekday (0 where only the hour counts) and an hour."""


def look(systems: Iterable[int], period: str, zone: str, now: datetime) -> Shown:
    """Find the busiest hour of these systems in their captures of the last weeks.

    What we collected ourselves counts by our clock: a server writes the time of its own zone and does not say which.
    """
    live = Q(upload__isnull=False) & ~Q(upload__collected_from="")
    ended = Case(When(live, then=F("upload__at")), default=F("taken"))
    of_these = Capture.objects.filter(system__in=list(systems), timed=True).annotate(ended=ended)
    rows = of_these.filter(ended__gt=now - timedelta(weeks=WEEKS), ended__lte=now).order_by("-ended")
    told = rows.values_list("system", "ended", "seconds", "figures")[:MOST_CAPTURES]
    return busiest(((system, at, seconds, figures) for system, at, seconds, figures in told), period, zone)


def busiest(captures: Iterable[tuple[int, datetime, float | None, list[Any]]], period: str, zone: str) -> Shown:
    """The busiest hour of captures (system, end, seconds, key figures). A system counts by its own usual load."""
    where = ZoneInfo(zone)
    loads: dict[str, dict[int, list[tuple[Slot, float]]]] = {key: defaultdict(list) for key in MEASURES}
    for system, taken, seconds, figures in captures:
        if seconds is None or not 0 < seconds <= LONGEST_SECONDS:
            continue
        middle = (taken - timedelta(seconds=seconds / 2)).astimezone(where)
        slot = (middle.weekday() if period == WEEK else 0, middle.hour)
        for key, _, _, value, *_ in figures:
            if key in loads:
                loads[key][system].append((slot, value))
    measure = max(MEASURES, key=lambda key: sum(map(len, loads[key].values())))  # the first of several
    in_slots: dict[Slot, list[float]] = defaultdict(list)
    for of_system in loads[measure].values():
        usual = median(value for _, value in of_system)
        for slot, value in of_system:
            in_slots[slot].append(value / usual if usual > 0 else float(value > 0))
    count = sum(map(len, in_slots.values()))
    counted = {slot: median(values) for slot, values in in_slots.items() if len(values) >= IN_ONE}
    found = Shown(period, count, len(in_slots), len(counted), MEASURES[measure] if count else "")
    enough, spread = ENOUGH[period]
    if count < enough or len(counted) < spread:
        why = f"it takes {enough} captures, and {spread} hours of the {period} with {IN_ONE} of them or more"
        return Shown(**{**asdict(found), "why": why})
    weekday, hour = max(sorted(counted), key=lambda slot: counted[slot])
    return Shown(**{**asdict(found), "hour": hour, "weekday": weekday if period == WEEK else None})


def systems_of(schedule: Schedule) -> list[int]:
    """The systems whose history a schedule goes by."""
    if schedule.group:
        return list(schedule.group.systems.values_list("pk", flat=True))
    return [schedule.system_id] if schedule.system_id else []


def plan(schedule: Schedule, now: datetime) -> Shown:
    """Give a schedule the times its history shows, or its interval; what is kept is up to the caller."""
    shown = look(systems_of(schedule), schedule.peak, schedule.zone, now)
    if shown.cron:
        windows = timing.windows(schedule.blackouts, schedule.zone)
        if timing.next_free(timing.Times(None, shown.cron, schedule.zone), windows, now) is None:
            shown = Shown(**{**asdict(shown), "hour": None, "weekday": None, "why": "it lies in the blackout windows"})
    schedule.cron = shown.cron
    schedule.every_minutes = None if shown.cron else schedule.peak_otherwise
    schedule.peak_found, schedule.peak_at = asdict(shown), now
    return shown


def refresh(now: datetime | None = None) -> int:
    """Look anew, once a day, at the history of every schedule that goes by it; returns how many have other times.

    One whose times cannot be told (a zone the world gave up) is left as it is; `coming_due` tells of it.
    """
    now = now or timezone.now()
    old = Q(peak_at__lt=now - AGAIN) | Q(peak_at__gt=now)  # or the clock was set back
    waiting = Schedule.objects.exclude(peak="").filter(old, paused=None)
    changed = 0
    for pk in list(waiting.order_by("peak_at").values_list("pk", flat=True)[:100]):
        try:
            with transaction.atomic():
                changed += _look_anew(pk, now)
        except NO_TIME:
            LOG.exception("the busiest hour of schedule %s", pk)
            Schedule.objects.filter(pk=pk).update(peak_at=now)
    return changed


def _look_anew(pk: int, now: datetime) -> bool:
    """Look at the history of one schedule; whether it has other times. Raises `NO_TIME`."""
    rows = Schedule.objects.select_for_update(of=("self",)).select_related("group", "system", "team")
    schedule = rows.filter(pk=pk, paused=None).exclude(peak="").first()
    if schedule is None:
        return False
    before = (schedule.cron, schedule.every_minutes)
    plan(schedule, now)
    moved = before != (schedule.cron, schedule.every_minutes)
    if moved:
        schedule.next_due = timing.next_after(schedule, now.replace(second=0, microsecond=0))
        what = f"{schedule.name}: {told(schedule)}"
        journal.note(None, "peak hour moved", what, system=schedule.system, team=schedule.team)
    schedule.save(update_fields=["cron", "every_minutes", "next_due", "peak_found", "peak_at"])
    return moved


def told(schedule: Schedule) -> str:
    """What a schedule goes by, in a sentence: the hour, from how many captures, and what these do not know."""
    if not schedule.peak or not schedule.peak_found:
        return ""
    shown = Shown(**schedule.peak_found)
    one = shown.captures == 1
    of = f"{shown.captures:,} {'capture' if one else 'captures'} of the last {WEEKS} weeks"
    hours = HOURS[shown.period]
    sampled = f"in {shown.hours} of the {hours} hours of the {shown.period}"
    if shown.hour is None:
        otherwise = timing.in_words(timing.Times(schedule.peak_otherwise, "", schedule.zone))
        none = f"no capture of the last {WEEKS} weeks says how busy it was"
        known = f"{of} {'says' if one else 'say'} how busy it was, {sampled}" if shown.captures else none
        return f"{PERIODS[shown.period]} is not known: {known}; {shown.why}. Until then {otherwise}"
    day = f"{DAYS[shown.weekday].capitalize()} " if shown.weekday is not None else ""
    at = f"{day}{shown.hour:02}:00 to {(shown.hour + 1) % 24:02}:00 ({schedule.zone})"
    unseen = hours - shown.counted
    beyond = f"; of the other {unseen} hours the history says too little" if unseen else ""
    return f"{PERIODS[shown.period]} is {at} by {shown.measure}: {of}, {sampled}{beyond}"
