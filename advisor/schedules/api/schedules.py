"""Schedules, and the runs they made."""

from typing import Annotated, Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Query, Router, Status

from advisor.accounts.api_auth import Asked, chosen_team, needs
from advisor.accounts.models import Team
from advisor.core.access import may_work_for, schedules_of
from advisor.core.api import ERRORS, Limit, Offset, part
from advisor.core.api_errors import Problem
from advisor.core.api_forms import refusal_answered
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services import run_status, schedules, timing
from advisor.schedules.services.schedules import ScheduleSpec
from advisor.schedules.shapes import (
    NewSchedule,
    RunPage,
    RunsAsked,
    SchedulePage,
    ScheduleRow,
    ScheduleWish,
)
from advisor.systems.models import Group, System

router = Router(tags=["schedules"])
ONE = "/{int:schedule_id}"
ROW: dict[int, Any] = {200: ScheduleRow, **ERRORS}


@router.get("", auth=needs("read"), response={200: SchedulePage, **ERRORS}, url_name="schedules", summary="Schedules")
def listing(
    request: Asked,
    troubled: Annotated[bool, Query(description="Only those that deliver nothing although they should.")] = False,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Any:
    """List schedules by team and name."""
    found = schedules_of(request.user).select_related("team", "by").order_by("team__name", "name")
    return part(found.exclude(troubled=None) if troubled else found, limit, offset, _row)


@router.post(
    "",
    auth=needs("schedules"),
    response={201: ScheduleRow, **ERRORS},
    url_name="schedules",
    summary="Make a schedule",
)
def make(request: Asked, new: NewSchedule) -> Any:
    """Make a schedule; it is due for the first time at `next_due`."""
    team = chosen_team(request.user, new.team)
    with refusal_answered("made"):
        made = schedules.make(team, _wish(team, new), request.user, request=request)
    return Status(201, _row(made))


@router.get(ONE, auth=needs("read"), response=ROW, url_name="schedule", summary="A schedule")
def show(request: Asked, schedule_id: int) -> Any:
    """Give one schedule."""
    return _row(_seen(request, schedule_id))


@router.put(ONE, auth=needs("schedules"), response=ROW, url_name="schedule", summary="Change a schedule")
def change(request: Asked, schedule_id: int, new: ScheduleWish) -> Any:
    """Change it to what is sent; what is left out gets its default."""
    schedule = _mine(request, schedule_id)
    with refusal_answered("changed"):
        now = schedules.change(schedule, _wish(schedule.team, new), request.user, request=request)
    return _row(now)


@router.delete(ONE, auth=needs("schedules"), response=ROW, url_name="schedule", summary="Delete a schedule")
def delete(request: Asked, schedule_id: int) -> Any:
    """Delete it with its runs; what it brought, with its audits, stays. The answer is what it was."""
    schedule = _mine(request, schedule_id)
    was = _row(schedule)
    schedules.remove(schedule, request.user, request=request)
    return was


@router.post(
    ONE + "/run",
    auth=needs("schedules"),
    response={202: RunsAsked, **ERRORS},
    url_name="schedule-run",
    summary="Run a schedule now",
)
def run(request: Asked, schedule_id: int) -> Any:
    """Have it run now, also while it is paused or in a blackout window. A worker does it; the answer does not wait."""
    schedule = _mine(request, schedule_id)
    with refusal_answered("started"):
        runs = schedules.run_now(schedule, request.user, request=request)
    location = reverse("api:schedule-runs", args=[schedule.pk])
    return Status(202, {"runs": [one.pk for one in runs], "location": location})


@router.post(
    ONE + "/pause", auth=needs("schedules"), response=ROW, url_name="schedule-pause", summary="Pause a schedule"
)
def pause(request: Asked, schedule_id: int) -> Any:
    """Let it rest until it is resumed."""
    with refusal_answered("paused"):
        schedules.pause(_mine(request, schedule_id), request.user, request=request)
    return _row(_seen(request, schedule_id))


@router.post(
    ONE + "/resume", auth=needs("schedules"), response=ROW, url_name="schedule-resume", summary="Resume a schedule"
)
def resume(request: Asked, schedule_id: int) -> Any:
    """Have it run again from its next time on; what was due meanwhile is left."""
    with refusal_answered("resumed"):
        schedules.resume(_mine(request, schedule_id), request.user, request=request)
    return _row(_seen(request, schedule_id))


@router.get(
    ONE + "/runs",
    auth=needs("read"),
    response={200: RunPage, **ERRORS},
    url_name="schedule-runs",
    summary="Runs of a schedule",
)
def runs(request: Asked, schedule_id: int, limit: Limit = 50, offset: Offset = 0) -> Any:
    """List its runs, newest first, each with what came of it. A look into a folder that found nothing leaves none."""
    found = _seen(request, schedule_id).runs.select_related("schedule", "system", "by").order_by("-due", "-pk")
    some = run_status.status_of(found[offset : offset + limit])
    return {"count": found.count(), "items": [_run(one) for one in some]}


def _seen(request: Asked, schedule_id: int) -> Schedule:
    return get_object_or_404(schedules_of(request.user).select_related("team", "by"), pk=schedule_id)


def _mine(request: Asked, schedule_id: int) -> Schedule:
    """A schedule this person may see and change. Raises `Http404`, `PermissionDenied`."""
    schedule = _seen(request, schedule_id)
    if not may_work_for(request.user, schedule.team):
        raise PermissionDenied
    return schedule


def _wish(team: Team, new: ScheduleWish) -> ScheduleSpec:
    """What is asked for. Raises `Problem` for a system or group the team does not have."""
    values = new.dict(exclude={"team", "system", "group"})
    values["zone"] = values["zone"] or settings.TIME_ZONE
    system = System.objects.filter(team=team, pk=new.system or 0).first()
    group = Group.objects.filter(team=team, pk=new.group or 0).first()
    for name, asked, found in (("system", new.system, system), ("group", new.group, group)):
        if asked is not None and found is None:
            raise Problem(400, f"The team {team.name} has no such {name}.", f"GET /api/{name}s lists them.", field=name)
    return ScheduleSpec(system=system, group=group, **values)


def _row(schedule: Schedule) -> dict[str, Any]:
    columns = ("name", "source", "folder", "after", "settle_seconds", "collector", "every_minutes", "cron", "zone")
    times = ("peak", "blackouts", "paused", "next_due", "looked", "troubled", "trouble", "created")
    return {
        "id": schedule.pk,
        "team": schedule.team.name,
        "system": schedule.system_id,
        "group": schedule.group_id,
        "when": timing.in_words(schedule),
        "by": schedule.by.username if schedule.by else None,
        **{name: getattr(schedule, name) for name in (*columns, *times)},
    }


def _run(one: run_status.RunStatus) -> dict[str, Any]:
    run: Run = one.run
    columns = ("due", "why", "state", "told", "tries", "missed", "late_seconds", "finished")
    return {
        "id": run.pk,
        "schedule": run.schedule_id,
        "system": run.system_id,
        "by": run.by.username if run.by else None,
        "stage": one.stage,
        "says": one.says,
        "error": one.trouble,
        "begun": run.claimed,
        **{name: getattr(run, name) for name in columns},
        "uploads": [
            {
                "upload": taken.upload.pk,
                "state": taken.upload.state,
                "error": taken.upload.error,
                "audits": [found.audit_id for found in taken.found if found.audit_id],
            }
            for taken in one.uploads
        ],
        "mails": {"sent": one.sent, "waiting": one.to_send, "failed": one.mails["failed"]},
    }
