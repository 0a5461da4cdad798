"""Make a schedule, change one, and see when it would be due before it is kept."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from advisor.accounts.models import Team
from advisor.core.access import may_work_for, teams_of
from advisor.core.concurrency import few_at_a_time
from advisor.core.views import Asked, page, workers_only
from advisor.schedules.forms import CRON, EXPORTS, ScheduleForm
from advisor.schedules.models import Schedule
from advisor.schedules.services import (
    collecting,
    peak,
    schedules,
    timing,
)
from advisor.schedules.services.watch_folder import intake
from advisor.schedules.views.one import for_work

NUMBER = 9
"""Digits of a number in an address, at most."""
MOST_TEXT = 4000
AT_A_TIME = 4
"""Requests of one process that look ahead at the same time."""


def team_of(request: Asked) -> Team | None:
    """The team that `?team=` names; the only one where nothing is asked; none: somebody has to choose."""
    teams, asked = teams_of(request.user), request.GET.get("team", "")
    if asked:
        found = teams.filter(pk=asked).first() if asked.isascii() and asked.isdigit() and len(asked) <= NUMBER else None
        if found is None or not may_work_for(request.user, found):
            raise Http404
        return found
    few = list(teams[:2])
    return few[0] if len(few) == 1 else None


@workers_only
def add(request: Asked) -> HttpResponse:
    """Make a schedule for the team `?team=`; `?system=` is what it is for, if the team has it."""
    team = team_of(request)
    if team is None:
        context = {"teams": list(teams_of(request.user)), "what": "schedule"}
        return page(request, "schedules/team.html", context)
    asked = request.GET.get("system", "")
    what = f"system:{asked}" if asked else EXPORTS
    return _answer(request, ScheduleForm(request.POST or None, team=team, what=what), team, None)


def change(request: Asked, pk: int) -> HttpResponse:
    """Change it."""
    schedule = for_work(request, pk)
    form = ScheduleForm(request.POST or None, team=schedule.team, schedule=schedule)
    return _answer(request, form, schedule.team, schedule)


def _answer(request: Asked, form: ScheduleForm, team: Team, schedule: Schedule | None) -> HttpResponse:
    """Show the form, with its next times where they are asked for, or do what it says."""
    if request.POST.get("do") == "times":
        return _foreseen(request, form, team, schedule)
    if form.is_valid():
        with form.refusal_shown():
            if schedule is None:
                schedule = schedules.make(team, form.wish(), request.user, request=request)
                messages.success(request, f"{schedule.name} is made.")
            else:
                schedules.change(schedule, form.wish(), request.user, request=request)
                messages.success(request, "The schedule is kept as you have it now.")
            return redirect("schedule", schedule.pk)
    return _form(request, form, team, schedule)


@few_at_a_time(AT_A_TIME)
def _foreseen(request: Asked, form: ScheduleForm, team: Team, schedule: Schedule | None) -> HttpResponse:
    """Show the form with its next times; nothing is to be kept yet, so nothing is complained about."""
    form.errors.clear()
    return _form(request, form, team, schedule, *_next(request.POST))


def _form(
    request: Asked,
    form: ScheduleForm,
    team: Team,
    schedule: Schedule | None,
    times: Sequence[datetime] = (),
    wrong: str = "",
) -> HttpResponse:
    context = {
        "form": form,
        "team": team,
        "schedule": schedule,
        "times": times,
        "wrong": wrong,
        "at_peak": peak.PERIODS.get(request.POST.get("when", "")),
        "own_folder": intake.own_folder(team),
        "not_offered": collecting.not_offered(),
    }
    return page(request, "schedules/form.html", context, 400 if form.errors else 200)


@few_at_a_time(AT_A_TIME)
def times(request: Asked) -> HttpResponse:
    """Give the next times of what stands in a form: `when`, `every_minutes`, `cron`, `zone`, `blackouts`."""
    found, wrong = _next(request.GET)
    context = {"times": found, "wrong": wrong, "at_peak": peak.PERIODS.get(request.GET.get("when", ""))}
    return page(request, "schedules/parts/times.html", context)


def _next(data: Any) -> tuple[list[datetime], str]:
    """The next times of what was typed, or what is wrong with it."""
    every = data.get("every_minutes", "").strip()
    minutes = int(every) if every.isascii() and every.isdigit() and len(every) <= NUMBER else None
    plan = timing.Times(None, data.get("cron", "")[:100].strip(), data.get("zone", "")[:60])
    if data.get("when") != CRON:
        plan = timing.Times(minutes, "", plan.zone)
    try:
        timing.check(plan)
        windows = timing.windows(data.get("blackouts", "")[:MOST_TEXT], plan.zone)
    except timing.BadTime as why:
        return [], f"{str(why)[:1].upper()}{str(why)[1:]}."
    found = timing.preview(plan, windows, timezone.now())
    return found, "" if found else "It would never run: the windows hold every time it is due."
