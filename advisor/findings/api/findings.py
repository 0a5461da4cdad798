"""Findings as work: their state, who sees to them, comments."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from ninja import Router

from advisor.accounts.api_auth import Asked, needs
from advisor.core.access import may_work_for, tracked_of
from advisor.core.api import ERRORS, WORDS
from advisor.core.api_errors import Problem
from advisor.core.records import Refused
from advisor.findings.api.shapes import FollowedFinding, NewComment, NewOwner, NewState
from advisor.findings.models import TrackedFinding
from advisor.findings.services import states
from advisor.findings.services.finding_page import MOST_EVENTS
from advisor.findings.services.pages import state_of

router = Router(tags=["findings"])
ONE = "/{int:finding_id}"
WHOLE: dict[int, Any] = {200: FollowedFinding, **ERRORS}
VERBS = {"open": states.reopen, "planned": states.plan, "change-made": states.change_made}


@router.get(ONE, auth=needs("read"), response=WHOLE, url_name="finding", summary="A finding over its captures")
def show(request: Asked, finding_id: int) -> Any:
    """Give one finding with its activity; `followed` of a finding in an audit is its number."""
    return _told(_seen(request, finding_id))


@router.post(
    f"{ONE}/state", auth=needs("findings"), response=WHOLE, url_name="finding-state", summary="Give a finding a state"
)
def change_state(request: Asked, finding_id: int, new: NewState) -> Any:
    """Accept it until a day, plan its change, say that the change was made, or open it again."""
    _mine(request, finding_id)
    if new.state == "accepted":
        try:
            states.accept(request.user, [finding_id], new.until, new.why, new.back_if, request=request)
        except Refused as why:
            raise Problem(400, str(why), "Send `until`, a day in the future, and `why`.") from None
    else:
        VERBS[new.state](request.user, [finding_id], new.why, request=request)
    return _told(_seen(request, finding_id))


@router.post(
    f"{ONE}/owner",
    auth=needs("findings"),
    response=WHOLE,
    url_name="finding-owner",
    summary="Give a finding to somebody",
)
def change_owner(request: Asked, finding_id: int, new: NewOwner) -> Any:
    """Give it to a person, or to nobody."""
    row = _mine(request, finding_id)
    may = states.owners_for(row.system.team)
    owner = may.filter(username=new.owner).first() if new.owner is not None else None
    if new.owner is not None and owner is None:
        raise Problem(400, "Nobody of that name may work for its team.", "Send the name of a DBA of the team.")
    states.assign(request.user, [finding_id], owner, request=request)
    return _told(_seen(request, finding_id))


@router.post(
    f"{ONE}/comments", auth=needs("findings"), response=WHOLE, url_name="finding-comments", summary="Comment a finding"
)
def comment(request: Asked, finding_id: int, new: NewComment) -> Any:
    """Write a comment into its activity."""
    _mine(request, finding_id)
    try:
        states.comment(request.user, [finding_id], new.text, request=request)
    except Refused as why:
        raise Problem(400, str(why), "Send a `text`.") from None
    return _told(_seen(request, finding_id))


def _seen(request: Asked, finding_id: int) -> TrackedFinding:
    """A finding this person may see. Raises `Http404`."""
    return get_object_or_404(tracked_of(request.user).select_related("system__team", "owner"), pk=finding_id)


def _mine(request: Asked, finding_id: int) -> TrackedFinding:
    """A finding this person may decide about. Raises `Http404`, `PermissionDenied`."""
    row = _seen(request, finding_id)
    if not may_work_for(request.user, row.system.team):
        raise PermissionDenied
    return row


def _told(row: TrackedFinding) -> dict[str, Any]:
    same = ("key", "rule", "title", "presence", "value", "unit", "limit", "first_seen", "last_seen", "seen")
    return {
        **{name: getattr(row, name) for name in same},
        "id": row.pk,
        "system": row.system_id,
        "system_name": row.system.name,
        "severity": WORDS[row.severity],
        "state_since": row.state_since,
        **state_of(row),
        "events": [
            {"at": one.at, "who": one.who or None, "kind": one.kind, "text": one.text, "value": one.value}
            for one in row.events.all()[:MOST_EVENTS]
        ],
    }
