"""What a recipient would get now, looked at and sent as a test."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_POST

from advisor.core.access import recipients_of
from advisor.core.concurrency import few_at_a_time
from advisor.core.records import Refused
from advisor.core.views import Asked, page, refusal_told
from advisor.notifications.models import Mail, Recipient
from advisor.notifications.services import recipients, samples, subscribers
from advisor.notifications.views import parts
from advisor.notifications.views.recipients import OWN_ALONE
from advisor.systems.models import System

AT_A_TIME = 3
"""Letters made for a look at the same time: one costs up to a second."""


def _recipient(request: Asked, pk: int) -> Recipient:
    """The recipient, for somebody who may change it: its letters hold its own signed links."""
    recipient = get_object_or_404(recipients_of(request.user).select_related("team", "user"), pk=pk)
    if not recipients.may_change(request.user, recipient):
        raise PermissionDenied(OWN_ALONE)
    return recipient


def _asked(recipient: Recipient, given: Any) -> tuple[str, System | None]:
    """The kind of letter that was asked for, and the system: of those it is about the first, if none is named."""
    kind = given.get("kind", Mail.Kind.REPORT)
    if kind not in samples.KINDS:
        raise Http404
    about = subscribers.about(recipient).select_related("team")
    if kind not in samples.ABOUT_ONE:
        return kind, None
    number = given.get("system", "")
    if not number:
        return kind, about.exclude(latest=None).first() or about.first()
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        raise Http404
    return kind, get_object_or_404(about, pk=int(number))


@parts.framing
@few_at_a_time(AT_A_TIME)
def show(request: Asked, pk: int) -> HttpResponse:
    """Show it: `?kind=report|heartbeat|not_audited|digest|daily`, `?system=`."""
    recipient = _recipient(request, pk)
    kind, system = _asked(recipient, request.GET)
    shown, refused = None, ""
    try:
        shown = parts.read(samples.sample(recipient, kind, system).message().as_bytes(), links=True)
    except Refused as why:
        refused = str(why)
    context = {
        "recipient": recipient,
        "kind": kind,
        "kinds": samples.KINDS,
        "about_one": kind in samples.ABOUT_ONE,
        "system": system,
        "systems": subscribers.about(recipient),
        "shown": shown,
        "refused": refused,
        "frame": f"html/?kind={kind}" + (f"&system={system.pk}" if system else ""),
    }
    return page(request, "notifications/preview.html", context)


@xframe_options_sameorigin
@few_at_a_time(AT_A_TIME)
def html(request: Asked, pk: int) -> HttpResponse:
    """The HTML part alone, for the frame."""
    recipient = _recipient(request, pk)
    kind, system = _asked(recipient, request.GET)
    try:
        shown = parts.read(samples.sample(recipient, kind, system).message().as_bytes(), links=True)
    except Refused as why:
        raise Http404 from why
    return parts.framed_page(shown.html)


@require_POST
@few_at_a_time(AT_A_TIME)
def test(request: Asked, pk: int) -> HttpResponse:
    """Send it as a test, to the recipient or to who asks."""
    recipient = _recipient(request, pk)
    kind, system = _asked(recipient, request.POST)
    with refusal_told(request):
        mail = samples.send(recipient, kind, system, request.user, own=request.POST.get("to") == "me", request=request)
        messages.success(request, f"The test is in the outbox, to {mail.to}. This page tells what becomes of it.")
        return redirect("outbox-mail", mail.pk)
    return redirect("letter-preview", pk)
