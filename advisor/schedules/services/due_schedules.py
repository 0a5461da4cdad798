"""Claim the schedules that are due: each due time becomes one run, however many schedulers ask at once.

A schedule is claimed by its `next_due`: held by the lock of its row, looked at again, and moved on by an update that
still finds the old time. What stands in the row decides, so a second scheduler finds nothing left to claim. What to
count is counted before, so that the transaction, which on SQLite keeps all others from writing, is short.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cronsim import CronSimError
from django.db import transaction
from django.utils import timezone

from advisor.schedules.models import Run, Schedule
from advisor.schedules.services import failures, timing
from advisor.systems.models import Group

LOG = logging.getLogger(__name__)
AT_A_TIME = 100
"""Schedules claimed in one transaction."""
LATE = timedelta(minutes=1)
"""What starts later than this after it was due is said to be late (this project's figure)."""
ONE_NIGHT = timedelta(hours=20)
"""Runs skipped in one window are told as one row as long as it is not older."""
NO_TIME = (timing.BadTime, CronSimError, ValueError, KeyError, OverflowError)
"""What a plan raises that was valid when it was made (a zone the world gave up)."""
Key = tuple[int, int | None]
"""A schedule and the system it collects from, `None` for a folder."""


PLAN = ("paused", "next_due", "every_minutes", "cron", "zone", "blackouts")
"""What the times of a schedule follow from."""


@dataclass(frozen=True)
class Planned:
    """What is to become of a schedule as it stood when it was looked at."""

    pk: int
    seen: tuple[object, ...]
    """Its columns of `PLAN` then: with others, nothing of this holds."""
    passed: timing.Dues | None = None
    """The times that have come; `None`: they cannot be told."""
    comes: datetime | None = None
    """When it is due next."""
    error: str = ""


def claim(now: datetime | None = None) -> None:
    """Make the runs of all schedules that are due."""
    now = now or timezone.now()
    due = _due(now)
    for at in range(0, len(due), AT_A_TIME):
        planned = _plan(due[at : at + AT_A_TIME], now)
        if planned:
            with transaction.atomic():
                _claim(planned, now)


def late_seconds(due: datetime, now: datetime) -> int:
    """How late something that was due then starts, where that is worth saying; else 0."""
    return int((now - due).total_seconds()) if now - due > LATE else 0


def _due(now: datetime) -> list[int]:
    """The schedules to claim: due, or due later than their plan can be, because the clock was set back."""
    planned = Schedule.objects.filter(paused=None, next_due__isnull=False).order_by("next_due", "pk")
    light = planned.only("next_due", "every_minutes", "cron", "zone")
    return [schedule.pk for schedule in light if _is_due(schedule, now) or _misplaced(schedule, now)]


def _is_due(schedule: Schedule, now: datetime) -> bool:
    return schedule.next_due is not None and schedule.next_due <= now


def _misplaced(schedule: Schedule, now: datetime) -> bool:
    """Whether a plan would come earlier than it is noted to; so does one that cannot be read any more."""
    try:
        comes = timing.next_after(schedule, now, schedule.next_due)
    except NO_TIME:
        return True
    return comes is not None and schedule.next_due is not None and comes < schedule.next_due


def _plan(ids: list[int], now: datetime) -> list[Planned]:
    """Count what has come for some schedules; those are left out that wait for the end of the blackout it is now."""
    planned: list[Planned] = []
    for one in Schedule.objects.filter(pk__in=ids, paused=None, next_due__isnull=False).only(*PLAN):
        try:
            passed = _passed(one, now)
            if passed is not None:
                comes = timing.next_after(one, now, one.next_due)
                planned.append(Planned(one.pk, _seen(one), passed, comes))
        except NO_TIME as error:
            LOG.exception("schedule %s cannot be planned", one.pk)
            planned.append(Planned(one.pk, _seen(one), error=str(error)))
    return planned


def _seen(schedule: Schedule) -> tuple[object, ...]:
    return tuple(getattr(schedule, field) for field in PLAN)


def _claim(planned: Sequence[Planned], now: datetime) -> None:
    """Claim some schedules: move their next time on, and make the runs of the times that have come."""
    plans = {one.pk: one for one in planned}
    locked = Schedule.objects.select_for_update(skip_locked=True).filter(pk__in=plans, paused=None)
    schedules = [one for one in locked.order_by("pk") if _seen(one) == plans[one.pk].seen]
    wanted: list[Run] = []
    skipped: list[Run] = []
    moved: list[Schedule] = []
    members = _members(schedules)
    before = {one.next_due for one in schedules}
    for one in schedules:
        plan = plans[one.pk]
        one.next_due, passed = plan.comes, plan.passed
        moved.append(one)
        if passed is None:
            failures.schedule_failed(one, f"when it is due is not known: {plan.error}"[:300], "change its times")
            continue
        systems = members.get(one.pk, [one.system_id if one.source == Schedule.Source.COLLECTOR else None])
        if passed.free and systems:
            late = late_seconds(passed.free, now)
            wanted += [
                Run(schedule=one, system_id=system, due=passed.free, missed=passed.missed, late_seconds=late)
                for system in systems
            ]
        elif passed.free:
            told = "the group has no systems"
            failures.schedule_failed(one, told, "put systems into it, or remove the schedule")
            skipped.append(_skip(one, passed.free, passed.missed, told, now))
        elif passed.shut and passed.window:
            told = f"in the blackout {passed.window.text}"
            skipped.append(_skip(one, passed.shut, passed.shut_before, told, now))
    Schedule.objects.filter(paused=None, next_due__in=before).bulk_update(moved, ["next_due"])
    _make(wanted)
    _note_skipped(skipped, now)


def _passed(schedule: Schedule, now: datetime) -> timing.Dues | None:
    """The times that have come; `None`: they are left as they are until the blackout it is now ends."""
    windows = timing.windows(schedule.blackouts, schedule.zone)
    passed = timing.dues(schedule, windows, schedule.next_due or now, now)
    return None if passed.free and timing.blacked_out(windows, now) else passed


def _members(schedules: Iterable[Schedule]) -> dict[int, list[int | None]]:
    """The systems of each schedule that collects from a group."""
    collecting = [one for one in schedules if one.source == Schedule.Source.COLLECTOR and one.group_id]
    if not collecting:
        return {}
    through = Group.systems.through.objects.filter(group__in={one.group_id for one in collecting})
    systems: dict[int, list[int | None]] = {}
    for group_id, system_id in through.order_by("system").values_list("group", "system"):
        systems.setdefault(group_id, []).append(system_id)
    return {one.pk: systems.get(one.group_id or 0, []) for one in collecting}


def _make(wanted: list[Run]) -> None:
    """Make runs, unless one of the same schedule and system is still waiting: it makes up for these as well."""
    schedules = {run.schedule_id for run in wanted}
    waits = Run.objects.select_for_update().filter(schedule__in=schedules, state=Run.State.WAITING)
    waiting: dict[Key, Run] = {(run.schedule_id, run.system_id): run for run in waits} if wanted else {}
    late: list[Run] = []
    fresh: list[Run] = []
    for run in wanted:
        other = waiting.get((run.schedule_id, run.system_id))
        if other is None:
            fresh.append(run)
        elif other.claimed is None or other.error:  # one that waits for its files to settle has not missed anything
            other.missed = min(timing.MOST_COUNTED, other.missed + run.missed + 1)
            late.append(other)
    Run.objects.bulk_update(late, ["missed"], batch_size=AT_A_TIME)
    # a time that has its run already (the clock was set back) is not run twice: the database says so
    Run.objects.bulk_create(fresh, batch_size=AT_A_TIME, ignore_conflicts=True)


def _skip(schedule: Schedule, due: datetime, before: int, told: str, now: datetime) -> Run:
    state = Run.State.SKIPPED
    return Run(schedule=schedule, due=due, missed=before, state=state, told=told[:300], finished=now)


def _note_skipped(skipped: list[Run], now: datetime) -> None:
    """Tell of runs that were skipped; those of one window in one row, which counts them."""
    if not skipped:
        return
    recent = Run.objects.filter(
        schedule__in={run.schedule_id for run in skipped}, state=Run.State.SKIPPED, due__gt=now - ONE_NIGHT
    )
    known = {(run.schedule_id, run.told): run for run in recent.order_by("due")}
    again: list[Run] = []
    fresh: list[Run] = []
    for run in skipped:
        if same := known.get((run.schedule_id, run.told)):
            same.missed = min(timing.MOST_COUNTED, same.missed + run.missed + 1)
            again.append(same)
        else:
            fresh.append(run)
    Run.objects.bulk_update(again, ["missed"], batch_size=AT_A_TIME)
    Run.objects.bulk_create(fresh, batch_size=AT_A_TIME, ignore_conflicts=True)
