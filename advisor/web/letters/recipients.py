"""Who gets mail: the recipients of one's teams, stopped, resumed and removed."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, Subquery
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from advisor.models import Mail, Recipient, Site
from advisor.services.access import recipients_of, teams_of
from advisor.services.mailing import audience, outbox, recipients
from advisor.services.mailing.wishes import Refused, in_words, wishes_of
from advisor.web.kit import Asked, page, paged
from advisor.web.letters.changing import OWN_ALONE

NAMES = 4
"""Systems and groups that are named in a row of the list."""


def listing(request: Asked) -> HttpResponse:
    """List the recipients of one's teams: what each gets, and what became of the last mail."""
    last = Mail.objects.filter(recipient=OuterRef("pk"), size__gt=0).order_by("-created", "-pk").values("pk")[:1]
    found = recipients_of(request.user).select_related("team", "user").prefetch_related("systems", "groups")
    shown = paged(request, found.annotate(last=Subquery(last)).order_by("team__name", "address"))
    some: list[Any] = list(shown)
    context = {
        "rows": [_row(one) for one in some],
        "shown": shown,
        "last": Mail.objects.defer("message").in_bulk([one.last for one in some if one.last]),
        "belonging": set(audience.belonging().filter(pk__in=[one.pk for one in some]).values_list("pk", flat=True)),
        "server": outbox.state_of_server(Site.get()),
        "teams": teams_of(request.user).count(),
    }
    return page(request, "letters/recipients.html", context)


def _row(recipient: Recipient) -> dict[str, Any]:
    """One row: the recipient, and in words what it is about and gets."""
    names = [one.name for one in recipient.systems.all()] + [f"group {one.name}" for one in recipient.groups.all()]
    more = [f"and {len(names) - NAMES} more"] if len(names) > NAMES else []
    of_none = recipients.NOTHING if recipient.left_alone else "all systems"
    about = ", ".join([*names[:NAMES], *more]) or of_none
    return {"one": recipient, "about": about, "gets": in_words(wishes_of(recipient))}


def _to_change(request: Asked, pk: int) -> Recipient:
    """The recipient, for somebody who may change it; of another team it does not exist."""
    recipient = get_object_or_404(recipients_of(request.user).select_related("team"), pk=pk)
    if not recipients.may_change(request.user, recipient):
        raise PermissionDenied(OWN_ALONE)
    return recipient


@require_POST
def stop(request: Asked, pk: int) -> HttpResponse:
    """Send nothing more."""
    recipient = _to_change(request, pk)
    if recipients.stop(recipient, request.user, request=request):
        messages.success(request, f"{recipient.address} gets nothing more, until it is resumed.")
    return redirect("letter-recipient", pk)


@require_POST
def resume(request: Asked, pk: int) -> HttpResponse:
    """Send again from now on."""
    recipient = _to_change(request, pk)
    try:
        if recipients.resume(recipient, request.user, request=request):
            messages.success(request, f"{recipient.address} gets mail again, from the next audit on.")
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect("letter-recipient", pk)


@require_POST
def remove(request: Asked, pk: int) -> HttpResponse:
    """Forget one."""
    recipient = _to_change(request, pk)
    recipients.remove(recipient, request.user, request=request)
    messages.success(request, f"{recipient.address} is removed: the links in its mails open nothing any more.")
    return redirect("letters")
