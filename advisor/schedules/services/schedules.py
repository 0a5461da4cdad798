"""Make, change, pause, resume and remove schedules, and have one run now. Everything is checked and noted."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import Team, User
from advisor.core import journal
from advisor.core.job_queue import start
from advisor.core.records import Gone, Records, Refused
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services import (
    collecting,
    failures,
    peak,
    timing,
)
from advisor.schedules.services.watch_folder import intake
from advisor.schedules.sources.queries import COLLECTORS
from advisor.systems.models import Group, System
from advisor.uploads.services.uploads import clean_text

LONGEST = 80
SETTLE = (1, 3600)
"""Seconds a file may be asked to have been still (this project's bounds)."""
PLANNED = ("every_minutes", "cron", "zone", "blackouts", "peak", "peak_otherwise")
WHAT = ("source", "system", "group", "folder", "collector")
FIELDS = ("name", *WHAT, "after", "settle_seconds", *PLANNED)
FOUND_AT_PEAK = ("every_minutes", "cron")
"""What says when a schedule at the peak hour is due: the history, not somebody."""


@dataclass(frozen=True)
class ScheduleSpec:
    """What somebody wants of a schedule, as typed.

    Exactly one of `every_minutes` and `cron` says when; with `peak` the interval is what it goes by meanwhile.
    """

    name: str
    source: str = Schedule.Source.FOLDER
    system: System | None = None
    group: Group | None = None
    folder: str = ""
    """Empty: the team's own."""
    after: str = Schedule.After.LEAVE
    settle_seconds: int = 60
    collector: str = ""
    every_minutes: int | None = None
    cron: str = ""
    zone: str = "UTC"
    blackouts: str = ""
    peak: str = ""
    """`day` or `week`: at its busiest hour, as the history shows it (`peak`)."""
    peak_otherwise: int | None = None
    """Filled in here, from `every_minutes`."""


class Schedules(Records[Schedule]):
    """Schedules as they are kept."""

    model, kind, added = Schedule, "schedule", "made"
    related = ("team", "system", "group")
    taken, taken_field = "there is a schedule of this name: choose another one", "name"
    gone = "this schedule has been removed meanwhile"

    def told(self, deed: str, row: Schedule) -> str:
        """What it does where it comes or goes, else its name."""
        return told(row) if deed in (self.added, self.removed) else row.name

    def words(self, row: Schedule) -> dict[str, str]:
        """Every field that somebody has a say in."""
        found = dict.fromkeys(FOUND_AT_PEAK, "by the history") if row.peak else {}
        return {name: _shown(getattr(row, name)) for name in FIELDS} | found

    def told_change(self, row: Schedule, before: Mapping[str, str], said: list[str]) -> str:
        """What it does now, and what it did before."""
        return f"{told(row)} (changed: {', '.join(said)})" if said else ""

    def turned(self, row: Schedule) -> None:
        """Plan its next time, or let what waits to run go."""
        row.next_due = None if row.paused else _first_due(row)
        row.save(update_fields=["next_due"])
        if row.paused:
            _end_waiting(row.runs.filter(why=Run.Why.DUE), "the schedule was paused")
            failures.schedule_rests(row)

    def leaves(self, row: Schedule) -> None:
        """Take back the troubles that it has brought about."""
        failures.schedule_rests(row)


SCHEDULES = Schedules()
pause, resume = SCHEDULES.pause, SCHEDULES.resume


def make(
    team: Team, wish: ScheduleSpec, by: User, *, paused: bool = False, request: HttpRequest | None = None
) -> Schedule:
    """Make a schedule of a team; `paused`: it runs when somebody asks for it. Raises `Refused`."""
    wish = _checked(team, wish, by, None)
    made = Schedule(team=team, by=by, **{field: getattr(wish, field) for field in FIELDS})
    with SCHEDULES.adding(made, by, request):
        if made.peak:
            peak.plan(made, _minute())
        made.next_due = None if paused else _first_due(made)
        made.paused = timezone.now() if paused else None
        made.save()
    return made


def change(schedule: Schedule, wish: ScheduleSpec, by: User, *, request: HttpRequest | None = None) -> Schedule:
    """Change a schedule to what is wished; its times count from now on where they are others. Raises `Refused`."""
    wish = _checked(schedule.team, wish, by, schedule)
    with SCHEDULES.changing(schedule, by, request) as change:
        now = change.row
        changed = [field for field in _compared(wish) if getattr(now, field) != getattr(wish, field)]
        if not changed:
            return now
        if set(changed) & set(WHAT):
            _end_waiting(now.runs.all(), "the schedule was changed")
            failures.schedule_rests(now)
            now.refresh_from_db(fields=["troubled", "trouble"])
        times = (now.cron, now.every_minutes)
        for field in changed:
            setattr(now, field, getattr(wish, field))
        if now.peak:
            peak.plan(now, _minute())
        else:
            now.peak_found, now.peak_at = {}, None
        other_times = set(changed) & set(PLANNED) or times != (now.cron, now.every_minutes)
        if other_times and not now.paused:
            if now.next_due is None:  # its old times could not be read any more
                now.troubled, now.trouble = None, ""
            now.next_due = _first_due(now)
        now.save()
    return now


def remove(schedule: Schedule, by: User, *, request: HttpRequest | None = None) -> None:
    """Remove it with its runs; what it took in stays. One that has gone already is fine."""
    with suppress(Gone):
        SCHEDULES.remove(schedule, by, request)


def run_now(schedule: Schedule, by: User, *, request: HttpRequest | None = None) -> list[Run]:
    """Have it run now, also while it is paused or in a blackout; what waits already is started. Raises `Refused`."""
    with SCHEDULES.held(schedule) as now:
        systems = _collected(now)
        moment = timezone.now()
        waits = Run.objects.select_for_update().filter(schedule=now, state=Run.State.WAITING)
        waiting = {run.system_id: run for run in waits}
        runs = [waiting.get(system) or Run(schedule=now, system_id=system, due=moment) for system in systems]
        for run in runs:
            run.why, run.by, run.not_before, run.queued = Run.Why.NOW, by, moment, moment
            run.save()
            start("schedules.make_run", run.pk)
        journal.note(by, "run asked for", now.name, about=now, request=request)
    return runs


def told(schedule: Schedule) -> str:
    """What a schedule does, in a line: `nightly: collector sysmon for CLAIMS1, every hour`."""
    whom = schedule.system or (f"group {schedule.group}" if schedule.group else "")
    source = f"collector {schedule.collector}" if schedule.source == Schedule.Source.COLLECTOR else schedule.folder
    at_peak = f" ({peak.PERIODS[schedule.peak]})" if schedule.peak else ""
    return f"{schedule.name}: {source}{f' for {whom}' if whom else ''}, {timing.in_words(schedule)}{at_peak}"


def _checked(team: Team, wish: ScheduleSpec, by: User, schedule: Schedule | None) -> ScheduleSpec:
    """What is wished, cleaned, with what does not belong to its source left out. Raises `Refused`."""
    name = clean_text(wish.name, LONGEST)
    if not name:
        raise Refused("a schedule needs a name", "name")
    same = Schedule.objects.filter(team=team, name__iexact=name)
    if same.exclude(pk=schedule.pk if schedule else 0).exists():
        raise Refused("there is a schedule of this name: choose another one", "name")
    wish = replace(wish, name=name, cron=" ".join(wish.cron.split()), zone=wish.zone.strip())
    if wish.system and wish.group:
        raise Refused("a system and a group at once: choose one of them", "group")
    if any(one.team_id != team.pk for one in (wish.system, wish.group) if one):
        raise Refused("this is of another team: choose one of the schedule's own team", "system")
    wish = _checked_peak(_checked_source(team, wish, by, schedule), schedule)
    try:
        timing.check(wish)
        windows = timing.windows(wish.blackouts, wish.zone)
    except timing.BadTime as why:
        raise Refused(str(why), why.field, why.line) from None
    if timing.next_free(wish, windows, _minute()) is None:
        raise Refused("the blackouts leave it no time to run: make them shorter, or choose other times", "blackouts")
    return replace(wish, blackouts="\n".join(window.text for window in windows))


def _checked_peak(wish: ScheduleSpec, schedule: Schedule | None) -> ScheduleSpec:
    """What is wished of the peak hour, checked: the interval is kept apart, what the history shows is found later."""
    if not wish.peak:
        return replace(wish, peak_otherwise=None)
    if wish.peak not in peak.PERIODS:
        raise Refused("the busiest hour is that of a day or of a week", "peak")
    if wish.source != Schedule.Source.COLLECTOR:
        raise Refused("the busiest hour is for collectors: a drop folder is looked into at fixed times", "peak")
    otherwise = wish.every_minutes or (schedule.peak_otherwise if schedule else None)
    if otherwise is None:
        raise Refused("say the interval it goes by while the history does not show that hour", "every_minutes")
    return replace(wish, cron="", every_minutes=otherwise, peak_otherwise=otherwise)


def _compared(wish: ScheduleSpec) -> tuple[str, ...]:
    """The fields a wish has a say in: when it is due at the peak hour follows from the history."""
    return tuple(field for field in FIELDS if not wish.peak or field not in FOUND_AT_PEAK)


def _checked_source(team: Team, wish: ScheduleSpec, by: User, schedule: Schedule | None) -> ScheduleSpec:
    """Where exports come from, checked: a folder the person may choose, or a collector for the systems."""
    if wish.source == Schedule.Source.FOLDER:
        if wish.after not in Schedule.After.values:
            raise Refused("choose what becomes of a file that was taken", "after")
        if not SETTLE[0] <= wish.settle_seconds <= SETTLE[1]:
            raise Refused(f"a file settles in {SETTLE[0]} to {SETTLE[1]:,} seconds", "settle_seconds")
        if schedule and wish.folder == schedule.folder and schedule.source == wish.source:
            return replace(wish, collector="")  # as an administrator may have chosen it
        try:
            folder = intake.allowed(wish.folder.strip() or str(intake.own_folder(team)), by, team)
        except intake.NotAllowed as why:
            raise Refused(str(why), "folder") from None
        return replace(wish, folder=str(folder), collector="")
    if wish.source != Schedule.Source.COLLECTOR:
        raise Refused("choose where exports come from: a drop folder or a collector", "source")
    if not (wish.system or wish.group):
        raise Refused("a collector needs a system or a group to collect from", "system")
    if wish.collector not in collecting.names():
        raise Refused("there is no collector of this name: choose one of the list", "collector")
    if wish.collector in COLLECTORS.values() and wish.system and not wish.system.sources.exists():
        raise Refused(f"{wish.system.name} has no data source to be asked by: add one on its page first", "system")
    systems = [wish.system] if wish.system else wish.group.systems.all() if wish.group else []
    for product in sorted({system.product for system in systems}):
        if wish.collector not in [one.name for one in collecting.offered(product)]:
            raise Refused(f"{wish.collector} does not collect from {product}: choose another collector", "collector")
    return replace(wish, folder="", after=Schedule.After.LEAVE, settle_seconds=60)


def _collected(schedule: Schedule) -> list[int | None]:
    """The systems a run of it is made for: one a system of a collector, else one for the folder."""
    if schedule.source == Schedule.Source.FOLDER:
        return [None]
    if schedule.group is None:
        return [schedule.system_id]
    systems = list(schedule.group.systems.values_list("pk", flat=True))
    if not systems:
        raise Refused("the group has no systems: put systems into it first")
    return list(systems)


def _end_waiting(runs: QuerySet[Run], told: str) -> None:
    """Skip those of the runs that wait; one that has begun goes on."""
    runs.filter(state=Run.State.WAITING).update(state=Run.State.SKIPPED, finished=timezone.now(), told=told)


def _shown(value: Any) -> str:
    """A value of a field in one line of the journal, which holds several."""
    text = "; ".join(str(value).splitlines()) if value is not None else ""
    return f"{text[: LONGEST - 1]}…" if len(text) > LONGEST else text or "none"


def _minute() -> datetime:
    return timezone.now().replace(second=0, microsecond=0)


def _first_due(schedule: Schedule) -> datetime | None:
    """The next time from now on; an interval counts from this minute."""
    return timing.next_after(schedule, _minute())
