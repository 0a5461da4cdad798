"""Groups of systems that are treated alike."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from advisor.core.access import groups_of, may_work_for, teams_of
from advisor.core.views import Asked, page, paged, refusal_in, refusal_told, workers_only
from advisor.schedules.forms import GroupForm
from advisor.schedules.views.changing import team_of
from advisor.systems.models import Group
from advisor.systems.services import groups


def listing(request: Asked) -> HttpResponse:
    """Show every group."""
    found = groups_of(request.user).select_related("team").order_by("team__name", "name")
    found = found.annotate(
        size=Count("systems", distinct=True),
        schedule_count=Count("schedules", distinct=True),
        recipient_count=Count("recipients", distinct=True),
    )
    return page(request, "systems/groups.html", {"shown": paged(request, found)})


@workers_only
def add(request: Asked) -> HttpResponse:
    """Make a group in the team `?team=`."""
    team = team_of(request)
    if team is None:
        return page(request, "schedules/team.html", {"teams": list(teams_of(request.user)), "what": "group"})
    form = GroupForm(request.POST or None, team=team)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        with refusal_in(form, says="Not kept: {}."):
            group = groups.make(team, given["name"], given["systems"], request.user, request=request)
            messages.success(request, f"The group {group.name} is made.")
            return redirect("groups")
    context = {"form": form, "team": team, "group": None, "may_work": True}
    return page(request, "systems/group.html", context, 400 if form.errors else 200)


def show(request: Asked, pk: int) -> HttpResponse:
    """Show one, and change its name and its systems."""
    group = _find(request, pk)
    may_work = may_work_for(request.user, group.team)
    if request.method == "POST" and not may_work:
        raise PermissionDenied("Your role reads. Ask an administrator for the role of a DBA.")
    form = GroupForm(request.POST or None, team=group.team, group=group)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        with refusal_in(form, says="Not kept: {}."):
            groups.change(group, given["name"], given["systems"], request.user, request=request)
            messages.success(request, f"The group {given['name']} is kept as you have it now.")
            return redirect("group", pk)
    context = {
        "form": form,
        "team": group.team,
        "group": group,
        "may_work": may_work,
        "systems": group.systems.only("name", "product", "troubled"),
        "schedules": group.schedules.only("name"),
        "recipients": group.recipients.count(),
        "webhooks": group.webhooks.count(),
    }
    return page(request, "systems/group.html", context, 400 if form.errors else 200)


@require_POST
def delete(request: Asked, pk: int) -> HttpResponse:
    """Delete a group that nothing uses; its systems stay."""
    group = _find(request, pk)
    if not may_work_for(request.user, group.team):
        raise PermissionDenied("Your role reads. Ask an administrator for the role of a DBA.")
    with refusal_told(request, "Not deleted: {}."):
        groups.remove(group, request.user, request=request)
        messages.success(request, f"The group {group.name} is deleted. Its systems stay.")
        return redirect("groups")
    return redirect("group", pk)


def _find(request: Asked, pk: int) -> Group:
    return get_object_or_404(groups_of(request.user).select_related("team"), pk=pk)
