"""Groups of systems that are treated alike."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from ninja import Router, Status

from advisor.accounts.api_auth import Asked, chosen_team, needs
from advisor.accounts.models import Team
from advisor.core.access import groups_of, may_work_for
from advisor.core.api import ERRORS, Limit, Offset, part
from advisor.core.api_errors import Problem
from advisor.core.api_forms import refusal_answered
from advisor.systems.api.shapes import (
    GroupPage,
    GroupRow,
    GroupWish,
    NewGroup,
)
from advisor.systems.models import Group, System
from advisor.systems.services import groups

router = Router(tags=["groups"])
ONE = "/{int:group_id}"
ROW: dict[int, Any] = {200: GroupRow, **ERRORS}


@router.get("", auth=needs("read"), response={200: GroupPage, **ERRORS}, url_name="groups", summary="Groups")
def listing(request: Asked, limit: Limit = 50, offset: Offset = 0) -> Any:
    """List groups of systems by team and name."""
    found = groups_of(request.user).select_related("team").prefetch_related("systems").order_by("team__name", "name")
    return part(found, limit, offset, _row)


@router.post("", auth=needs("schedules"), response={201: GroupRow, **ERRORS}, url_name="groups", summary="Make a group")
def make(request: Asked, new: NewGroup) -> Any:
    """Make a group of systems of a team."""
    team = chosen_team(request.user, new.team)
    with refusal_answered("made"):
        group = groups.make(team, new.name, _systems(team, new), request.user, request=request)
    return Status(201, _row(group))


@router.get(ONE, auth=needs("read"), response=ROW, url_name="group", summary="A group")
def show(request: Asked, group_id: int) -> Any:
    """Give one group."""
    return _row(_seen(request, group_id))


@router.put(ONE, auth=needs("schedules"), response=ROW, url_name="group", summary="Change a group")
def change(request: Asked, group_id: int, new: GroupWish) -> Any:
    """Give it this name and these systems."""
    group = _mine(request, group_id)
    with refusal_answered("changed"):
        groups.change(group, new.name, _systems(group.team, new), request.user, request=request)
    return _row(_seen(request, group_id))


@router.delete(ONE, auth=needs("schedules"), response=ROW, url_name="group", summary="Delete a group")
def delete(request: Asked, group_id: int) -> Any:
    """Delete a group that nothing uses; its systems stay. The answer is what it was."""
    group = _mine(request, group_id)
    was = _row(group)
    with refusal_answered("deleted"):
        groups.remove(group, request.user, request=request)
    return was


def _seen(request: Asked, group_id: int) -> Group:
    return get_object_or_404(groups_of(request.user).select_related("team"), pk=group_id)


def _mine(request: Asked, group_id: int) -> Group:
    """A group this person may see and change. Raises `Http404`, `PermissionDenied`."""
    group = _seen(request, group_id)
    if not may_work_for(request.user, group.team):
        raise PermissionDenied
    return group


def _systems(team: Team, wish: GroupWish) -> list[System]:
    """The systems of these numbers. Raises `Problem` for one the team does not have."""
    found = System.objects.filter(team=team).in_bulk(set(wish.systems))
    if lacking := sorted(set(wish.systems) - set(found)):
        shown = ", ".join(map(str, lacking[:10]))
        raise Problem(400, f"The team {team.name} has no system {shown}.", "GET /api/systems lists them.")
    return list(found.values())


def _row(group: Group) -> dict[str, Any]:
    systems = [system.pk for system in group.systems.all()]
    return {"id": group.pk, "name": group.name, "team": group.team.name, "systems": systems}
