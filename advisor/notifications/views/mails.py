"""The outbox, every mail with its state, taken apart, sent again or dropped; and the mail server, set and tried out."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_POST

from advisor.accounts.models import User
from advisor.core.access import mails_of, may_work_for, recipients_of
from advisor.core.models import Site
from advisor.core.sealing import seal
from advisor.core.views import (
    Asked,
    administrators_only,
    page,
    paged,
)
from advisor.notifications.forms import MailForm
from advisor.notifications.models import Mail
from advisor.notifications.services import mail_server, outbox, recipients
from advisor.notifications.views import parts
from advisor.uploads.services.uploads import safe_name

STATES = {
    "waiting": "waits to be sent",
    "running": "is being sent",
    "done": "sent",
    "failed": "not sent, given up",
    "skipped": "not sent, not wanted any more",
}
LONG = "1000000000000000000"
"""No number of a row is longer."""


def listing(request: Asked) -> HttpResponse:
    """List them, newest first: `?state=`, `?kind=`, `?recipient=`."""
    get = request.GET
    state, kind, whose = get.get("state", ""), get.get("kind", ""), get.get("recipient", "")
    found = mails_of(request.user).filter(size__gt=0).select_related("recipient", "system", "team").defer("message")
    if state in STATES:
        found = found.filter(state=state)
    if kind in Mail.Kind.values:
        found = found.filter(kind=kind)
    if whose.isascii() and whose.isdigit() and len(whose) < len(LONG):
        found = found.filter(recipient=int(whose))
    context = {
        "shown": paged(request, found),
        "state": state,
        "kind": kind,
        "whose": whose,
        "states": STATES,
        "kinds": dict(Mail.Kind.choices),
        "recipients": recipients_of(request.user).select_related("team"),
        "server": mail_server.state_of_server(Site.get()),
    }
    return page(request, "notifications/outbox.html", context)


def _mail(request: Asked, pk: int) -> Mail:
    mails = mails_of(request.user).filter(size__gt=0).select_related("recipient__team", "system", "team", "audit")
    return get_object_or_404(mails, pk=pk)


def _may_change(user: User, mail: Mail) -> bool:
    if mail.recipient is not None:
        return recipients.may_change(user, mail.recipient)
    return user.is_administrator or (mail.team is not None and may_work_for(user, mail.team))


def _parts(request: Asked, mail: Mail) -> parts.Parts:
    return parts.read(outbox.bytes_of(mail), links=_may_change(request.user, mail))


@parts.framing
def show(request: Asked, pk: int) -> HttpResponse:
    """Show one: its state, what the server said, and what it says itself."""
    mail = _mail(request, pk)
    context = {
        "mail": mail,
        "states": STATES,
        "shown": _parts(request, mail),
        "allowed": _may_change(request.user, mail),
        "server": mail_server.state_of_server(Site.get()),
    }
    return page(request, "notifications/mail.html", context)


@xframe_options_sameorigin
def html(request: Asked, pk: int) -> HttpResponse:
    """Its HTML part alone, for the frame."""
    return parts.framed_page(_parts(request, _mail(request, pk)).html)


def file(request: Asked, pk: int, number: int) -> HttpResponse:
    """One of its files, to be kept and never shown: it holds what an export named."""
    files = _parts(request, _mail(request, pk)).files
    if number >= len(files):
        raise Http404
    answer = HttpResponse(files[number].data, content_type="application/octet-stream")
    answer["Content-Disposition"] = f'attachment; filename="{ascii_name(files[number].name)}"'
    answer["Content-Security-Policy"] = parts.CSP
    return answer


def ascii_name(name: str) -> str:
    """A file's name as any header takes it."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in safe_name(name))


def _to_change(request: Asked, pk: int) -> Mail:
    mail = _mail(request, pk)
    if not _may_change(request.user, mail):
        raise PermissionDenied("Your role reads. Ask somebody with the role of a DBA.")
    return mail


@require_POST
def again(request: Asked, pk: int) -> HttpResponse:
    """Send a mail once more."""
    mail = _to_change(request, pk)
    if outbox.send_again(mail, request.user, request):
        messages.success(request, "It is sent again in a moment.")
    else:
        messages.error(request, "It is not settled yet: it is sent by itself.")
    return redirect("outbox-mail", pk)


@require_POST
def drop(request: Asked, pk: int) -> HttpResponse:
    """Have a waiting mail not sent."""
    mail = _to_change(request, pk)
    if outbox.drop(mail, request.user, request):
        messages.success(request, "It is not sent.")
    else:
        messages.error(request, "It does not wait any more: it is sent, or being sent.")
    return redirect("outbox-mail", pk)


@administrators_only
@require_POST
def try_now(request: Asked) -> HttpResponse:
    """Try a mail server that was away at once."""
    mail_server.try_now(request.user, request)
    messages.success(request, "The mail server is tried now; this page says in a moment how it went.")
    return redirect("outbox")


@administrators_only
@never_cache
def server(request: Asked) -> HttpResponse:
    """Show, store or try out the settings. A try stores nothing."""
    form = MailForm(request.POST or None, by=request.user, stored=Site.get())
    outcome = None
    if request.method == "POST" and form.is_valid():
        site = form.settings()
        if not form.testing:
            mail_server.store(site, form.words(), request.user, request)
            messages.success(request, "The mail settings are stored. A test shows whether they work.")
            return redirect("administration-mail")
        to = form.cleaned_data["test_to"] or request.user.email
        outcome = mail_server.try_out(site, to, request.user, request)
    carried = seal(form.typed, form.purpose) if form.typed else ""
    context = {"form": form, "outcome": outcome, "carried": carried, "site": Site.get()}
    return page(request, "notifications/mail_settings.html", context)
