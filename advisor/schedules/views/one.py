"""One schedule: its runs and what came of them, the files of its folder; run it now, pause it, delete it."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db.models import Count, F, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from advisor.core.access import may_work_for, schedules_of
from advisor.core.views import Asked, page, paged, refusal_told
from advisor.schedules.models import DropFile, Schedule
from advisor.schedules.services import (
    peak,
    run_status,
    schedules,
    timing,
)
from advisor.schedules.services.due_schedules import NO_TIME
from advisor.systems.models import System

RUNS = 25
FILES = 25
MISSING = 20
"""Systems of a group that are named as not audited; their number is said in any case."""


def find(request: Asked, pk: int) -> Schedule:
    """The schedule; of another team it does not exist."""
    return get_object_or_404(schedules_of(request.user).select_related("team", "system", "group", "by"), pk=pk)


def for_work(request: Asked, pk: int) -> Schedule:
    """The schedule, for somebody who may change it."""
    schedule = find(request, pk)
    if not may_work_for(request.user, schedule.team):
        raise PermissionDenied("Your role reads. Ask an administrator for the role of a DBA.")
    return schedule


def show(request: Asked, pk: int) -> HttpResponse:
    """Show it: `?page=` of its runs, `?files=` page of its files."""
    schedule = find(request, pk)
    runs = schedule.runs.select_related("schedule", "system", "by").order_by("-due", "-pk")
    shown = paged(request, runs, RUNS)
    rows = run_status.status_of(shown)
    context = {
        "schedule": schedule,
        "shown": shown,
        "rows": rows,
        "under_way": any(row.under_way for row in rows),
        "follows": run_status.unsettled(rows),
        "lateness": run_status.lateness,
        "may_work": may_work_for(request.user, schedule.team),
    }
    if request.htmx:
        return page(request, "schedules/parts/runs.html", context)
    now = timezone.now()
    in_group = schedule.group.systems.exclude(troubled=None) if schedule.group else System.objects.none()
    more = {
        "now": now,
        "when": timing.in_words(schedule),
        "peak_told": peak.told(schedule),
        **_coming(schedule, now),
        "files": _files(request, schedule),
        "counts": schedule.files.aggregate(
            seen=Count("pk"),
            taken=Count("pk", filter=Q(taken__isnull=False)),
            refused=Count("pk", filter=~Q(refused="")),
        ),
        "missing": in_group.only("name", "troubled", "trouble")[: MISSING + 1],
        "most_missing": MISSING,
    }
    return page(request, "schedules/one.html", {**context, **more})


def _coming(schedule: Schedule, now: datetime) -> dict[str, Any]:
    """The next times it will run (those of an interval count from the next one), and the windows it is kept by."""
    after = now
    if schedule.every_minutes and schedule.next_due and schedule.next_due > now:
        after = schedule.next_due - timedelta(minutes=schedule.every_minutes)
    try:
        windows = timing.windows(schedule.blackouts, schedule.zone)
        return {
            "times": [] if schedule.paused else timing.preview(schedule, windows, after),
            "blackout": timing.blacked_out(windows, now),
            "skips_next": schedule.next_due and timing.blacked_out(windows, schedule.next_due),
        }
    except NO_TIME:  # valid when it was made; its trouble says so
        return {"times": [], "blackout": None, "skips_next": None}


def _files(request: Asked, schedule: Schedule) -> "Page[DropFile]":
    """The files of its folder: those refused first, then those that wait, then the newest taken."""
    found = schedule.files.select_related("upload").order_by(
        F("refused").desc(), F("taken").desc(nulls_first=True), "path"
    )
    return Paginator(found, FILES).get_page(request.GET.get("files"))


@require_POST
def run_now(request: Asked, pk: int) -> HttpResponse:
    """Have it run now."""
    schedule = for_work(request, pk)
    with refusal_told(request, "Not started: {}."):
        runs = schedules.run_now(schedule, request.user, request=request)
        of = f" for {len(runs):,} systems" if len(runs) > 1 else ""
        messages.success(request, f"{schedule.name} runs now{of}. What comes of it stands below.")
    return redirect("schedule", pk)


@require_POST
def pause(request: Asked, pk: int) -> HttpResponse:
    """Let it rest."""
    schedule = for_work(request, pk)
    with refusal_told(request, "Not paused: {}."):
        if schedules.pause(schedule, request.user, request=request):
            messages.success(request, f"{schedule.name} is paused. It can still be run by hand.")
    return redirect("schedule", pk)


@require_POST
def resume(request: Asked, pk: int) -> HttpResponse:
    """Have it run again from its next time on."""
    schedule = for_work(request, pk)
    with refusal_told(request, "Not resumed: {}."):
        if schedules.resume(schedule, request.user, request=request):
            messages.success(request, f"{schedule.name} goes on from its next time. What was due meanwhile is left.")
    return redirect("schedule", pk)


@require_POST
def delete(request: Asked, pk: int) -> HttpResponse:
    """Delete it with its runs."""
    schedule = for_work(request, pk)
    schedules.remove(schedule, request.user, request=request)
    messages.success(request, f"{schedule.name} is deleted. What it delivered, with its audits, stays.")
    return redirect("schedules")
