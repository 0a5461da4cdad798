"""Recipients of mail, as their pages make and change them."""

from datetime import datetime
from typing import Annotated, Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.forms import model_to_dict
from django.shortcuts import get_object_or_404
from ninja import Router, Schema, Status
from pydantic import Field

from advisor.accounts.api_auth import Asked, chosen_team, needs
from advisor.core.access import recipients_of
from advisor.core.api import ERRORS, WORDS, Limit, Number, Offset, SeverityName, part
from advisor.core.api_forms import LEFT_OUT, WRITE_ERRORS, Wish, checked, refusal_by_field
from advisor.notifications.forms import AddForm, RecipientForm
from advisor.notifications.models import Recipient
from advisor.notifications.services import recipients
from advisor.notifications.services.preferences import WORDS as WANTED

router = Router(tags=["recipients"])
ONE = "/{int:recipient_id}"
SCOPE = "mail"
Day = Annotated[int, Field(ge=0, le=6)]
Systems = Annotated[list[Number], Field(max_length=10_000)]


class RecipientWish(Wish):
    """What a recipient gets. Of an existing one what is left out stays; of a new one it is the default of the page."""

    systems: Systems = Field(LEFT_OUT, description="Systems of the team; none, and no group: all of them.")
    groups: Systems = Field(LEFT_OUT, description="Groups of the team.")
    of_all: bool = Field(
        LEFT_OUT, description="For one whose last system or group is gone (`left_alone`): of all systems from now on."
    )
    reports: bool = Field(LEFT_OUT, description="The report after an audit.")
    severity: SeverityName = Field(LEFT_OUT, description="Findings from this one on.")
    everything: bool = Field(LEFT_OUT, description="A report after every audit; else only where something changed.")
    heartbeat: bool = Field(LEFT_OUT, description="A short mail after each audit that is worth no report.")
    scripts: bool = Field(LEFT_OUT, description="Scripts that apply and undo, as files.")
    not_audited: bool = Field(LEFT_OUT, description="When a system is not audited any more.")
    digest: bool = Field(LEFT_OUT, description="The week.")
    daily: bool = Field(LEFT_OUT, description="The day of the fleet.")
    days: list[Day] = Field(LEFT_OUT, max_length=7, description="0 Monday … 6 Sunday.")
    zone: str = Field(LEFT_OUT, max_length=60, description="As in `Europe/Oslo`.")
    digest_day: Day = Field(LEFT_OUT)
    digest_hour: int = Field(LEFT_OUT, ge=0, le=23)


class NewRecipient(RecipientWish):
    """A recipient to be added."""

    address: str = Field(max_length=254)
    team: str = Field("", max_length=80, description="Name or number of the team; needed in several.")


class RecipientRow(Schema):
    """A recipient of mail."""

    id: int
    address: str
    team: str
    systems: list[int]
    groups: list[int]
    left_alone: bool = Field(description="The last system or group it was about is gone: it is about nothing.")
    reports: bool
    severity: SeverityName
    everything: bool
    heartbeat: bool
    scripts: bool
    not_audited: bool
    digest: bool
    daily: bool
    days: list[int]
    zone: str
    digest_day: int
    digest_hour: int
    stopped: datetime | None = Field(description="Since when nothing is sent; null: it is.")
    stopped_why: str
    refused: str = Field(description="What the mail server said when it last refused this address.")
    created: datetime


class RecipientPage(Schema):
    """Some of the recipients, by team and address; `count`: how many there are."""

    count: int
    items: list[RecipientRow]


ROW: dict[int, Any] = {200: RecipientRow, **WRITE_ERRORS}


@router.get(
    "", auth=needs("read"), response={200: RecipientPage, **ERRORS}, url_name="recipients", summary="Recipients"
)
def listing(request: Asked, limit: Limit = 50, offset: Offset = 0) -> Any:
    """List the recipients of your teams by team and address."""
    found = recipients_of(request.user).select_related("team").prefetch_related("systems", "groups")
    return part(found.order_by("team__name", "address"), limit, offset, _row)


@router.post(
    "",
    auth=needs(SCOPE),
    response={201: RecipientRow, **WRITE_ERRORS},
    url_name="recipients",
    summary="Add a recipient",
)
def add(request: Asked, new: NewRecipient) -> Any:
    """Have mail of a team sent to an address, from the next audit on. A viewer only to the address of their account."""
    team = chosen_team(request.user, new.team, work=False)
    recipient = Recipient(team=team, zone=settings.TIME_ZONE)
    sent = _sent(new, {"address", "team"})
    form = AddForm({**_stored(recipient), **sent, "address": new.address}, instance=recipient)
    checked(form, [name for name, value in sent.items() if value], "added")
    systems, groups = form.chosen()
    with refusal_by_field("added"):
        made = recipients.make(recipient, request.user, systems=systems, groups=groups, request=request)
    return Status(201, _row(made))


@router.get(
    ONE, auth=needs("read"), response={200: RecipientRow, **ERRORS}, url_name="recipient", summary="A recipient"
)
def show(request: Asked, recipient_id: int) -> Any:
    """Give one recipient."""
    return _row(_seen(request, recipient_id))


@router.patch(ONE, auth=needs(SCOPE), response=ROW, url_name="recipient", summary="Change a recipient")
def change(request: Asked, recipient_id: int, new: RecipientWish) -> Any:
    """Change what is sent of it; its address stays."""
    recipient = _mine(request, recipient_id)
    sent = _sent(new, set())
    form = RecipientForm({**_stored(recipient), **sent}, instance=recipient)
    checked(form, [name for name, value in sent.items() if value and name != "of_all"], "changed")
    systems, groups = form.chosen()
    of_all = form.cleaned_data.get("of_all", False)
    with refusal_by_field("changed"):
        recipients.change(recipient, request.user, systems=systems, groups=groups, of_all=of_all, request=request)
    return _row(_seen(request, recipient_id))


@router.delete(ONE, auth=needs(SCOPE), response=ROW, url_name="recipient", summary="Remove a recipient")
def remove(request: Asked, recipient_id: int) -> Any:
    """Forget it: its links open nothing any more, and what waits for it is not sent. The answer is what it was."""
    recipient = _mine(request, recipient_id)
    was = _row(recipient)
    recipients.remove(recipient, request.user, request=request)
    return was


@router.post(ONE + "/stop", auth=needs(SCOPE), response=ROW, url_name="recipient-stop", summary="Stop a recipient")
def stop(request: Asked, recipient_id: int) -> Any:
    """Send it nothing more, until it is resumed; once more is fine."""
    recipients.stop(_mine(request, recipient_id), request.user, request=request)
    return _row(_seen(request, recipient_id))


@router.post(
    ONE + "/resume", auth=needs(SCOPE), response=ROW, url_name="recipient-resume", summary="Resume a recipient"
)
def resume(request: Asked, recipient_id: int) -> Any:
    """Send again from now on; what was audited meanwhile is not told afterwards."""
    with refusal_by_field("resumed"):
        recipients.resume(_mine(request, recipient_id), request.user, request=request)
    return _row(_seen(request, recipient_id))


def _seen(request: Asked, recipient_id: int) -> Recipient:
    return get_object_or_404(recipients_of(request.user).select_related("team"), pk=recipient_id)


def _mine(request: Asked, recipient_id: int) -> Recipient:
    """A recipient that this person may change. Raises `Http404`, `PermissionDenied`."""
    recipient = _seen(request, recipient_id)
    if not recipients.may_change(request.user, recipient):
        raise PermissionDenied("Your role has mail sent to yourself alone.")
    return recipient


def _sent(new: RecipientWish, but: set[str]) -> dict[str, Any]:
    """What was sent, as the form has it."""
    sent = new.dict(exclude_unset=True, exclude=but)
    if "severity" in sent:
        sent["severity"] = WORDS.index(sent["severity"])
    return sent


def _stored(recipient: Recipient) -> dict[str, Any]:
    """What a recipient has, as the form has it."""
    chosen = {"systems": [], "groups": []} if recipient.pk is None else _chosen(recipient)
    return {**model_to_dict(recipient, WANTED), **chosen}


def _chosen(recipient: Recipient) -> dict[str, list[int]]:
    return {name: sorted(one.pk for one in getattr(recipient, name).all()) for name in ("systems", "groups")}


def _row(recipient: Recipient) -> dict[str, Any]:
    same = ("address", "left_alone", "stopped", "stopped_why", "refused", "created")
    return {
        "id": recipient.pk,
        "team": recipient.team.name,
        **{name: getattr(recipient, name) for name in (*same, *WANTED)},
        "severity": WORDS[recipient.severity],
        **_chosen(recipient),
    }
