"""Systems and their captures."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Query, Router

from advisor.accounts.api_auth import Asked, needs
from advisor.audits.api.shapes import ComparisonRun
from advisor.audits.models import NEWEST_FIRST, Audit, Capture
from advisor.audits.services.comparing import Busy, compared, sides_of
from advisor.core.access import may_work_for, systems_of, tracked_of
from advisor.core.api import (
    ERRORS,
    WORDS,
    Error,
    Limit,
    Offset,
    SeverityName,
    part,
)
from advisor.core.api_errors import Problem
from advisor.core.records import Refused
from advisor.findings.services.pages import accepted_counts, with_open, worst_now
from advisor.systems.api.shapes import CapturePage, SnoozeWish, SystemPage, SystemRow, SystemWhole
from advisor.systems.models import System
from advisor.systems.services import snoozing
from advisor.systems.services.overview import HEAVY, HEAVY_CAPTURE, is_overdue
from advisor.uploads.services.uploads import clean_text

router = Router(tags=["systems"])
DIGEST = "latest__findings_digest"


@router.get("", auth=needs("read"), response={200: SystemPage, **ERRORS}, url_name="systems", summary="Systems")
def listing(
    request: Asked,
    q: Annotated[str, Query(max_length=200, description="In the name, the team or the version.")] = "",
    product: Annotated[
        str, Query(max_length=20, description="`ase`, `openvms`, `rdb`, `scaling`, `unix` or `zvm`.")
    ] = "",
    severity: Annotated[SeverityName | None, Query()] = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Any:
    """List systems by name; with `severity` those with an open finding as loud or louder in their newest audit."""
    found = _light(systems_of(request.user)).order_by("name", "id")
    for word in clean_text(q, 200).split()[:8]:
        found = found.filter(Q(name__icontains=word) | Q(team__name__icontains=word) | Q(version__icontains=word))
    if product:
        found = found.filter(product=clean_text(product, 20))
    if severity:
        found = found.filter(Q(worst_open__gte=WORDS.index(severity)))
    now = timezone.now()
    accepted = accepted_counts(tracked_of(request.user))
    return part(found, limit, offset, lambda system: _row(system, now, accepted))


@router.get(
    "/{int:system_id}", auth=needs("read"), response={200: SystemWhole, **ERRORS}, url_name="system", summary="A system"
)
def show(
    request: Asked,
    system_id: int,
    history: Annotated[int, Query(ge=1, le=400, description="Captures to take figures from.")] = 40,
) -> Any:
    """Give one system with its key figures over its newest captures. A figure that was not read has no point."""
    system = get_object_or_404(_light(systems_of(request.user).filter(pk=system_id)))
    newest = system.captures.order_by(*NEWEST_FIRST).values_list("taken", "figures")[:history]
    return {
        **_alone(system),
        "created": system.created,
        "captures": system.captures.count(),
        "figures": _series(list(newest)[::-1]),
    }


@router.get(
    "/{int:system_id}/captures",
    auth=needs("read"),
    response={200: CapturePage, **ERRORS},
    url_name="captures",
    summary="Captures of a system",
)
def captures(request: Asked, system_id: int, limit: Limit = 50, offset: Offset = 0) -> Any:
    """List the captures of a system, newest first, each with its key figures and its current audit."""
    system = get_object_or_404(systems_of(request.user), pk=system_id)
    heavy = [name.replace("latest__", "audit__") for name in (*HEAVY, DIGEST)]
    found = system.captures.annotate(worst_now=worst_now()).select_related("audit").defer(*heavy)
    return part(found.order_by(*NEWEST_FIRST), limit, offset, _capture)


@router.put(
    "/{int:system_id}/snooze",
    auth=needs("systems"),
    response={200: SystemRow, **ERRORS},
    url_name="system-snooze",
    summary="Snooze a system",
)
def snooze(request: Asked, system_id: int, new: SnoozeWish) -> Any:
    """Snooze it to the end of a day, for a reason: it starts no mail and is neither overdue nor not audited."""
    system = _mine(request, system_id)
    try:
        snoozing.snooze(system, new.until, new.why, request.user, request=request)
    except Refused as why:
        raise Problem(400, str(why), "Send `until`, a day in the future, and `why`.") from None
    return _alone(_mine(request, system_id))


@router.delete(
    "/{int:system_id}/snooze",
    auth=needs("systems"),
    response={200: SystemRow, **ERRORS},
    url_name="system-snooze",
    summary="Wake a system",
)
def wake(request: Asked, system_id: int) -> Any:
    """End its snooze now; that of a system that is not snoozed has ended already."""
    with suppress(Refused):
        snoozing.wake(_mine(request, system_id), request.user, request=request)
    return _alone(_mine(request, system_id))


@router.get(
    "/{int:system_id}/compare",
    auth=needs("read"),
    response={200: ComparisonRun, **ERRORS, 503: Error},
    url_name="compare",
    summary="Before and after",
)
def compare(
    request: Asked,
    system_id: int,
    before: Annotated[tuple[int, ...], Query(description="Captures; none: the one before those of `after`.")] = (),
    after: Annotated[tuple[int, ...], Query(description="Captures; none: the newest.")] = (),
) -> HttpResponse:
    """Hold captures of a system against each other, as `compare/1`; several on a side tell its noise."""
    system = get_object_or_404(systems_of(request.user), pk=system_id)
    try:
        return JsonResponse(compared(sides_of(system, before, after), wait=False).data)
    except Capture.DoesNotExist:
        raise Http404 from None
    except Refused as why:
        raise Problem(400, str(why), f"/api/systems/{system_id}/captures lists its captures.") from None
    except Busy as why:
        raise Problem(503, str(why), "Send the same request again in a moment.") from None


def _mine(request: Asked, system_id: int) -> System:
    """A system that this person may work for, as a row needs it. Raises `Http404`, `PermissionDenied`."""
    system = get_object_or_404(_light(systems_of(request.user).filter(pk=system_id)))
    if not may_work_for(request.user, system.team):
        raise PermissionDenied
    return system


def _light(systems: QuerySet[System]) -> QuerySet[System]:
    """With what a row needs, and without the large parts of the newest audit."""
    return with_open(systems).select_related("team", "latest__capture__upload").defer(*HEAVY, DIGEST, *HEAVY_CAPTURE)


def _alone(system: System) -> dict[str, Any]:
    return _row(system, timezone.now(), accepted_counts(system.tracked.all()))


def _row(system: System, now: datetime, accepted: Mapping[int, dict[str, int]]) -> dict[str, Any]:
    """One system; `accepted`: of each how many findings are, by severity."""
    latest = system.latest
    return {
        "id": system.pk,
        "name": system.name,
        "product": system.product,
        "team": system.team.name,
        "version": system.version or None,
        "platform": system.platform or None,
        "processors": system.processors,
        "expected_hours": system.expected_hours,
        "overdue": is_overdue(system, now),
        "not_audited_since": system.troubled,
        "trouble": system.trouble or None,
        "snoozed_until": system.snoozed_until if system.snoozed else None,
        "snoozed_why": system.snoozed_why if system.snoozed else None,
        "audit": latest.pk if latest else None,
        "taken": latest.capture.taken if latest else None,
        "severity": WORDS[system.worst_open] if latest else None,  # type: ignore[attr-defined]  # annotated
        "counts": latest.counts if latest else {},
        "accepted": accepted.get(system.pk, {}),
        **_account(latest),
    }


def _account(audit: Audit | None) -> dict[str, float | None]:
    """What the account of an audit sums up to."""
    return {
        "processors_lost": audit.processors_lost if audit else None,
        "lost_share": audit.lost_share if audit else None,
        "waiting_tasks": audit.waiting_tasks if audit else None,
    }


def _series(captures: list[tuple[datetime, list[Any]]]) -> list[dict[str, Any]]:
    """The figures of many captures, one line each."""
    found: dict[str, dict[str, Any]] = {}
    for taken, figures in captures:
        for key, label, unit, value, better in figures:
            points = found.get(key, {}).get("points", [])
            named = {"key": key, "label": label, "unit": unit, "better": better}
            found[key] = {**named, "points": [*points, (taken, value)]}
    return list(found.values())


def _capture(capture: Capture) -> dict[str, Any]:
    audit = capture.audit
    return {
        "id": capture.pk,
        "taken": capture.taken,
        "timed": capture.timed,
        "interval": capture.interval,
        "version": capture.version or None,
        "facts": capture.fact_count,
        "files": capture.files,
        "upload": capture.upload_id,
        "audit": audit.pk if audit else None,
        "severity": WORDS[(capture.worst_now or {}).get("severity") or 0],  # type: ignore[attr-defined]  # annotated
        **_account(audit),
        "figures": [
            {"key": key, "label": label, "unit": unit, "value": value, "better": better}
            for key, label, unit, value, better in capture.figures
        ],
    }
