"""The limits rules judge by: of one system, and of the site."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.shortcuts import get_object_or_404
from ninja import Router

from advisor.accounts.api_auth import Asked, needs
from advisor.audits.api.shapes import Limit, NewLimit
from advisor.audits.models import LimitSetting
from advisor.audits.services.limits import BadLimit, set_limit, take_back_limit
from advisor.audits.services.rulebook import rulebook
from advisor.core.access import may_work_for, systems_of
from advisor.core.api import ERRORS
from advisor.core.api_errors import Problem
from advisor.systems.models import System

router = Router(tags=["limits"])
SYSTEM = "/systems/{int:system_id}/limits"
ONE: dict[int, Any] = {200: Limit, **ERRORS}


@router.get(
    SYSTEM,
    auth=needs("read"),
    response={200: list[Limit], **ERRORS},
    url_name="system-limits",
    summary="Limits of a system",
)
def of_system(request: Asked, system_id: int) -> Any:
    """List the limits that are not the rules' own for this system: its own, and the site's."""
    return _set(get_object_or_404(systems_of(request.user), pk=system_id))


@router.get(
    SYSTEM + "/{path:name}", auth=needs("read"), response=ONE, url_name="system-limit", summary="A limit of a system"
)
def show(request: Asked, system_id: int, name: str) -> Any:
    """Give one limit as this system is judged by it."""
    return _limit(name, get_object_or_404(systems_of(request.user), pk=system_id))


@router.put(
    SYSTEM + "/{path:name}",
    auth=needs("limits"),
    response=ONE,
    url_name="system-limit",
    summary="Set a limit of a system",
)
def change(request: Asked, system_id: int, name: str, new: NewLimit) -> Any:
    """Set a limit for this system; its newest capture is audited again."""
    return _change(request, name, new, _mine(request, system_id))


@router.delete(
    SYSTEM + "/{path:name}",
    auth=needs("limits"),
    response=ONE,
    url_name="system-limit",
    summary="Take back a limit of a system",
)
def take_back(request: Asked, system_id: int, name: str) -> Any:
    """Go back to the site's limit, or the rule's own."""
    return _take_back(request, name, _mine(request, system_id))


@router.get(
    "/limits",
    auth=needs("read"),
    response={200: list[Limit], **ERRORS},
    url_name="limits",
    summary="Limits of the site",
)
def of_site(request: Asked) -> Any:
    """List the limits the site has set in place of the rules' own."""
    return _set(None)


@router.get("/limits/{path:name}", auth=needs("read"), response=ONE, url_name="limit", summary="A limit of the site")
def show_of_site(request: Asked, name: str) -> Any:
    """Give one limit as the site has it."""
    return _limit(name, None)


@router.put(
    "/limits/{path:name}", auth=needs("limits"), response=ONE, url_name="limit", summary="Set a limit of the site"
)
def change_of_site(request: Asked, name: str, new: NewLimit) -> Any:
    """Set a limit for all systems that have none of their own. An administrator's."""
    _administrator(request)
    return _change(request, name, new, None)


@router.delete(
    "/limits/{path:name}", auth=needs("limits"), response=ONE, url_name="limit", summary="Take back a limit of the site"
)
def take_back_of_site(request: Asked, name: str) -> Any:
    """Go back to the rule's own limit. An administrator's."""
    _administrator(request)
    return _take_back(request, name, None)


def _administrator(request: Asked) -> None:
    if not request.user.is_administrator:
        raise PermissionDenied("Only an administrator sets the limits of the site.")


def _mine(request: Asked, system_id: int) -> System:
    """A system this person may see and set limits of. Raises `Http404`, `PermissionDenied`."""
    system = get_object_or_404(systems_of(request.user).select_related("team"), pk=system_id)
    if not may_work_for(request.user, system.team):
        raise PermissionDenied
    return system


def _change(request: Asked, name: str, new: NewLimit, system: System | None) -> dict[str, Any]:
    found = _rules_own(name)
    try:
        set_limit(name, new.value, request.user, system=system, why=new.why, request=request)
    except BadLimit as error:
        high = "no upper bound" if found["high"] is None else f"{found['high']:g}"
        raise Problem(400, f"{error}.", f"Send a value from {found['low']:g} to {high}.") from None
    return _limit(name, system)


def _take_back(request: Asked, name: str, system: System | None) -> dict[str, Any]:
    _rules_own(name)
    take_back_limit(name, request.user, system=system, request=request)
    return _limit(name, system)


def _rules_own(name: str) -> dict[str, Any]:
    """What the rule says of its limit. Raises `Http404` where no rule has it."""
    rule, _, limit = name.rpartition(".")
    for entry in rulebook(rule) if rule else ():
        for found in entry["limits"]:
            if entry["rule"] == rule and found["limit"] == limit:
                return dict(found)
    raise Http404


def _limit(name: str, system: System | None) -> dict[str, Any]:
    """A limit as it is now: the system's, else the site's, else the rule's own."""
    found = _rules_own(name)
    settings = LimitSetting.objects.filter(name=name).select_related("by")
    own = settings.filter(system=system).first() if system else None
    setting = own or settings.filter(system=None).first()
    return {
        "name": name,
        "value": setting.value if setting else found["value"],
        "set_for": None if setting is None else "system" if own else "site",
        "why": setting.why if setting else "",
        "by": setting.by.username if setting and setting.by else None,
        "at": setting.at if setting else None,
        "default": found["value"],
        "unit": found["unit"],
        "low": found["low"],
        "high": found["high"],
        "origin": found["origin"],
    }


def _set(system: System | None) -> list[dict[str, Any]]:
    """Every limit that was set and that some rule still has."""
    names = set(LimitSetting.objects.filter(system=None).values_list("name", flat=True))
    if system is not None:
        names |= set(LimitSetting.objects.filter(system=system).values_list("name", flat=True))
    found = []
    for name in sorted(names):
        try:
            found.append(_limit(name, system))
        except Http404:  # an old setting of a rule that is gone judges nothing
            continue
    return found
