"""Audits and their findings."""

from typing import Annotated, Any

from django.core.exceptions import PermissionDenied
from django.db.models import F
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Query, Router, Status

from advisor.accounts.api_auth import Asked, needs
from advisor.audits.api.shapes import Again, AuditRun, FindingPage
from advisor.audits.models import Finding
from advisor.audits.services.contract import audit_json
from advisor.audits.services.renewal import want_audit
from advisor.core.access import audits_of, may_work_for, systems_of
from advisor.core.api import ERRORS, WORDS, Limit, Offset, SeverityName
from advisor.findings.services.pages import with_states
from advisor.uploads.services.uploads import clean_text

router = Router()


@router.get(
    "/audits/{int:audit_id}",
    auth=needs("read"),
    response={200: AuditRun, **ERRORS},
    by_alias=True,
    url_name="audit",
    summary="An audit",
    tags=["audits"],
)
def show(request: Asked, audit_id: int) -> HttpResponse:
    """Give one audit as `audit/1`; evidence quotes the lines of the export as `excerpt`, findings have their state."""
    found = audits_of(request.user).select_related("capture__system", "capture__upload")
    return JsonResponse(audit_json(get_object_or_404(found, pk=audit_id), states=True))


@router.post(
    "/audits/{int:audit_id}/again",
    auth=needs("upload"),
    response={202: Again, **ERRORS},
    url_name="audit-again",
    summary="Audit again",
    tags=["audits"],
)
def again(request: Asked, audit_id: int) -> Any:
    """Have the capture of an audit judged by today's rules and limits. A worker does it; the answer does not wait."""
    audit = get_object_or_404(audits_of(request.user).select_related("system__team"), pk=audit_id)
    if not may_work_for(request.user, audit.system.team):
        raise PermissionDenied
    want_audit(audit.capture, request.user)
    location = reverse("api:captures", args=[audit.system_id])
    return Status(202, {"capture": audit.capture_id, "location": location})


@router.get(
    "/findings",
    auth=needs("read"),
    response={200: FindingPage, **ERRORS},
    url_name="findings",
    summary="Findings of all systems",
    tags=["findings"],
)
def findings(
    request: Asked,
    system: Annotated[int | None, Query(description="Of this system.")] = None,
    rule: Annotated[str, Query(max_length=80, description="Of this rule (`ase/…`).")] = "",
    severity: Annotated[SeverityName | None, Query()] = None,
    current: Annotated[bool, Query(description="False: of every audit that is kept.")] = True,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Any:
    """List findings as loud as `severity` or louder: the newest audit of each system, or with `current=false` all."""
    found = Finding.objects.filter(system__in=systems_of(request.user)).select_related("system", "audit__capture")
    if current:
        found = found.filter(audit=F("system__latest"))
    if system is not None:
        found = found.filter(system=get_object_or_404(systems_of(request.user), pk=system))
    if rule:
        found = found.filter(rule=clean_text(rule, 80))
    if severity:
        found = found.filter(severity__gte=WORDS.index(severity))
    light = found.only("number", "key", "data", "system__name", "audit__capture__taken").order_by("-audit", "number")
    some = list(light[offset : offset + limit])
    return {"count": found.count(), "items": [_row(*pair) for pair in zip(some, with_states(some), strict=True)]}


def _row(finding: Finding, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": finding.pk,
        "system": finding.system_id,
        "system_name": finding.system.name,
        "audit": finding.audit_id,
        "taken": finding.audit.capture.taken,
        "finding": data,
    }
