"""One data source: what the last try found; try it, remove it; collect from a system now."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from advisor.core.access import may_work_for, sources_of, systems_of
from advisor.core.records import there
from advisor.core.views import Asked, page, refusal_told
from advisor.schedules.models import DataSource, SourceTry
from advisor.schedules.sources import (
    by_hand,
    connection_test,
    data_sources,
    identity,
)
from advisor.systems.services import aliases

READS = "Your role reads. Ask an administrator for the role of a DBA."


def find(request: Asked, pk: int) -> DataSource:
    """The data source; of another team it does not exist."""
    return get_object_or_404(sources_of(request.user).select_related("system__team", "by"), pk=pk)


def for_work(request: Asked, pk: int) -> DataSource:
    """The data source, for somebody who may change it."""
    source = find(request, pk)
    if not may_work_for(request.user, source.system.team):
        raise PermissionDenied(READS)
    return source


@never_cache
def show(request: Asked, pk: int) -> HttpResponse:
    """Show it with its newest try, which the page follows while it is made."""
    source = find(request, pk)
    tried = source.tries.select_related("by").first()
    context: dict[str, Any] = {
        "source": source,
        "tried": tried,
        "found": _found(tried),
        "says": tried.error.split("\n", 1) if tried else [],
        "known_as": aliases.collected_as(source.system),
        "may_work": may_work_for(request.user, source.system.team),
    }
    if request.htmx:
        return page(request, "schedules/parts/source_tried.html", context)
    context["place"] = data_sources.place(source)
    context["unopened"] = data_sources.unopened(sources_of(request.user).filter(pk=pk))
    return page(request, "schedules/source_one.html", context)


def _found(tried: SourceTry | None) -> connection_test.Found | None:
    return connection_test.Found(**tried.found) if tried and tried.found else None


@require_POST
@there
def try_it(request: Asked, pk: int) -> HttpResponse:
    """Have a worker try it; the page shows what comes of it."""
    source = for_work(request, pk)
    with refusal_told(request, "Not tried: {}."):
        connection_test.ask(source, request.user, request)
    return redirect("source", pk)


@require_POST
@there
def take_on(request: Asked, pk: int) -> HttpResponse:
    """Go on with the server that answers in place of the one before."""
    source = for_work(request, pk)
    with refusal_told(request, "Not taken on: {}."):
        identity.take_on(source, request.POST.get("seen", ""), request.user, request)
        messages.success(request, "It is taken on: the next collection goes on with it.")
    return redirect("source", pk)


@require_POST
def remove(request: Asked, pk: int) -> HttpResponse:
    """Remove it with its password."""
    source = for_work(request, pk)
    name, system = source.name, source.system_id
    schedule = by_hand.collects(source.system)
    data_sources.remove(source, request.user, request)
    if schedule and not schedule.paused and not DataSource.objects.filter(system=system).exists():
        says = f"The schedule {schedule.name} has no data source to ask any more: its next run fails."
        messages.warning(request, f"{says} Pause it, or add one.")
    messages.success(request, f"{name} is removed, with its password. What it delivered, with its audits, stays.")
    return redirect("system", system)


@require_POST
def collect_now(request: Asked, pk: int) -> HttpResponse:
    """Have the data sources of a system asked now; the page of the schedule shows what comes of it."""
    system = get_object_or_404(systems_of(request.user).select_related("team"), pk=pk)
    if not may_work_for(request.user, system.team):
        raise PermissionDenied(READS)
    with refusal_told(request, "Not started: {}."):
        schedule = by_hand.collect_now(system, request.user, request=request)
        messages.success(request, f"{system.name} is being asked. What comes of it stands below.")
        return redirect("schedule", schedule.pk)
    return redirect("system", pk)
