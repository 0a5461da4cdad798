"""Webhooks, as the administration sets them up. Neither a secret nor a whole address is ever read back."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Router, Schema, Status
from pydantic import Field

from advisor.accounts.api_auth import Asked, chosen_team, needs
from advisor.core.access import webhooks_of
from advisor.core.api import ERRORS, WORDS, Limit, Number, Offset, SeverityName, part
from advisor.core.api_forms import LEFT_OUT, WRITE_ERRORS, Wish, checked, refusal_by_field
from advisor.core.records import there
from advisor.notifications.forms import WebhookForm
from advisor.notifications.models import Webhook
from advisor.notifications.webhooks import setup
from advisor.notifications.webhooks.posting import LONGEST_URL

router = Router(tags=["webhooks"])
ONE = "/{int:webhook_id}"
SCOPE = "administration"
Chosen = Annotated[list[Number], Field(max_length=10_000)]


class WebhookWish(Wish):
    """What a webhook is to be. Of an existing one what is left out stays."""

    name: str = Field(LEFT_OUT, max_length=80, description="What receives it.")
    url: str = Field(LEFT_OUT, max_length=LONGEST_URL, description="https://host/path. It is never read back.")
    systems: Chosen = Field(LEFT_OUT, description="Systems of the team; none, and no group: all of them.")
    groups: Chosen = Field(LEFT_OUT, description="Groups of the team.")
    severity: SeverityName | None = Field(LEFT_OUT, description="Audits with a finding as loud or louder; null: all.")
    only_changes: bool = Field(LEFT_OUT, description="Only where findings are new, worse, better or gone.")


class NewWebhook(WebhookWish):
    """A webhook to be added."""

    name: str = Field(max_length=80, description="What receives it.")
    url: str = Field(max_length=LONGEST_URL, description="https://host/path. It is never read back.")
    severity: SeverityName | None = Field("note", description="Audits whose worst finding is this or worse.")
    team: str = Field("", max_length=80, description="Name or number of the team; needed in several.")


class WebhookRow(Schema):
    """A webhook."""

    id: int
    name: str
    team: str
    leads_to: str = Field(description="The address without what may be a secret: host and first part of the path.")
    systems: list[int]
    groups: list[int]
    severity: SeverityName | None
    only_changes: bool
    paused: datetime | None = Field(description="Since when nothing is sent; null: it is.")
    created: datetime


class WebhookMade(WebhookRow):
    """A webhook with its secret, by which its posts are signed: it is shown this once."""

    secret: str


class WebhookPage(Schema):
    """Some of the webhooks, by team and name; `count`: how many there are."""

    count: int
    items: list[WebhookRow]


class Ping(Schema):
    """A delivery that tells of no audit."""

    delivery: str = Field(description="Its number, the same in every try.")


ROW: dict[int, Any] = {200: WebhookRow, **WRITE_ERRORS}


@router.get("", auth=needs(SCOPE), response={200: WebhookPage, **ERRORS}, url_name="webhooks", summary="Webhooks")
def listing(request: Asked, limit: Limit = 50, offset: Offset = 0) -> Any:
    """List webhooks by team and name."""
    found = webhooks_of(request.user).select_related("team").prefetch_related("systems", "groups")
    return part(found.order_by("team__name", "name"), limit, offset, _row)


@router.post(
    "", auth=needs(SCOPE), response={201: WebhookMade, **WRITE_ERRORS}, url_name="webhooks", summary="Add a webhook"
)
def add(request: Asked, new: NewWebhook, response: HttpResponse) -> Any:
    """Add one to a team; its secret is in this answer and nowhere else."""
    hook = Webhook(team=chosen_team(request.user, new.team))
    form = _form(hook, new.dict(exclude_unset=True, exclude={"team"}), "added")
    with refusal_by_field("added"):
        secret = setup.make(form.instance, request.user, *form.chosen(), request)
    return Status(201, _with_secret(form.instance, secret, response))


@router.get(ONE, auth=needs(SCOPE), response={200: WebhookRow, **ERRORS}, url_name="webhook", summary="A webhook")
def show(request: Asked, webhook_id: int) -> Any:
    """Give one webhook."""
    return _row(_hook(request, webhook_id))


@router.patch(ONE, auth=needs(SCOPE), response=ROW, url_name="webhook", summary="Change a webhook")
@there
def change(request: Asked, webhook_id: int, new: WebhookWish) -> Any:
    """Change what is sent of it; its secret stays."""
    hook = _hook(request, webhook_id)
    form = _form(hook, new.dict(exclude_unset=True), "changed")
    with refusal_by_field("changed"):
        setup.change(hook, request.user, *form.chosen(), request)
    return _row(_hook(request, webhook_id))


@router.delete(ONE, auth=needs(SCOPE), response=ROW, url_name="webhook", summary="Delete a webhook")
@there
def remove(request: Asked, webhook_id: int) -> Any:
    """Delete it and its deliveries, sent or not. The answer is what it was."""
    hook = _hook(request, webhook_id)
    was = _row(hook)
    setup.remove(hook, request.user, request)
    return was


@router.post(ONE + "/pause", auth=needs(SCOPE), response=ROW, url_name="webhook-pause", summary="Pause a webhook")
@there
def pause(request: Asked, webhook_id: int) -> Any:
    """Make and send nothing more for it; what waits is kept. Once more is fine."""
    setup.pause(_hook(request, webhook_id), request.user, request)
    return _row(_hook(request, webhook_id))


@router.post(ONE + "/resume", auth=needs(SCOPE), response=ROW, url_name="webhook-resume", summary="Resume a webhook")
@there
def resume(request: Asked, webhook_id: int) -> Any:
    """Send what waits, and tell of audits again; those of the pause are not told afterwards."""
    setup.resume(_hook(request, webhook_id), request.user, request)
    return _row(_hook(request, webhook_id))


@router.post(
    ONE + "/secret",
    auth=needs(SCOPE),
    response={200: WebhookMade, **ERRORS},
    url_name="webhook-secret",
    summary="Renew the secret of a webhook",
)
@there
def renew_secret(request: Asked, webhook_id: int, response: HttpResponse) -> Any:
    """Make a new secret, shown this once; the one before signs as well for a day."""
    hook = _hook(request, webhook_id)
    return _with_secret(hook, setup.renew_secret(hook, request.user, request), response)


@router.post(
    ONE + "/ping",
    auth=needs(SCOPE),
    response={202: Ping, **WRITE_ERRORS},
    url_name="webhook-ping",
    summary="Try it out",
)
@there
def ping(request: Asked, webhook_id: int) -> Any:
    """Send a delivery that tells of no audit; the page of the webhook shows what came of it."""
    with refusal_by_field("sent"):
        delivery = setup.ping(_hook(request, webhook_id), request.user, request)
    return Status(202, {"delivery": str(delivery.number)})


def _hook(request: Asked, webhook_id: int) -> Webhook:
    return get_object_or_404(webhooks_of(request.user).select_related("team"), pk=webhook_id)


def _form(hook: Webhook, sent: dict[str, Any], what: str) -> WebhookForm:
    """The form of the page with what is stored and what was sent. Raises `Problem`."""
    if "severity" in sent:
        sent["severity"] = WORDS.index(sent["severity"])
    stored = {name: getattr(hook, name) for name in ("name", "url", "severity", "only_changes")}
    chosen = {"systems": [], "groups": []} if hook.pk is None else _chosen(hook)
    form = WebhookForm({**stored, **chosen, **sent}, instance=hook)
    checked(form, [name for name, value in sent.items() if value], what)
    return form


def _chosen(hook: Webhook) -> dict[str, list[int]]:
    return {name: sorted(one.pk for one in getattr(hook, name).all()) for name in ("systems", "groups")}


def _with_secret(hook: Webhook, secret: str, response: HttpResponse) -> dict[str, Any]:
    response["Cache-Control"] = "no-store"
    return {**_row(hook), "secret": secret}


def _row(hook: Webhook) -> dict[str, Any]:
    return {
        "id": hook.pk,
        "team": hook.team.name,
        **{name: getattr(hook, name) for name in ("name", "only_changes", "paused", "created")},
        "leads_to": setup.in_short(hook.url),
        "severity": WORDS[hook.severity],
        **_chosen(hook),
    }
