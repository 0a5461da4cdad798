"""What the signed links of a mail open, without a login: the settings of that one recipient, and the way out.

Whoever has the mail has the link; so it changes what that one address gets, and shows nothing but the names of its
team and of the systems it chose. The link is the right to do it: no session is begun, and no cookie is asked for.
"""

from collections.abc import Callable
from functools import wraps

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from advisor.core.records import Refused
from advisor.core.views import page, refusal_in
from advisor.notifications.forms import WishesForm
from advisor.notifications.mail import links
from advisor.notifications.models import Recipient
from advisor.notifications.services import recipients, subscribers

MOST_NAMES = 50
"""Systems that are named on the page."""
By = Callable[[HttpRequest, Recipient], HttpResponse]


def _by_link(view: By) -> Callable[[HttpRequest, str], HttpResponse]:
    """Let whoever has a link that is still good through, and say the same of every other one."""

    @wraps(view)
    def opened(request: HttpRequest, token: str) -> HttpResponse:
        recipient = links.recipient_of(token)
        if recipient is None or not subscribers.belongs(recipient):
            answer = page(request, "notifications/link_dead.html", {}, 404)
        else:
            answer = view(request, recipient)
        answer["Referrer-Policy"] = "no-referrer"
        answer["X-Robots-Tag"] = "noindex, nofollow"
        return answer

    return login_not_required(csrf_exempt(require_http_methods(["GET", "HEAD", "POST"])(opened)))


def _page(request: HttpRequest, recipient: Recipient, done: str = "", form: WishesForm | None = None) -> HttpResponse:
    recipient.refresh_from_db(fields=["stopped", "stopped_why", "stopped_by_link", "left_alone"])
    names = [str(name) for name in recipient.groups.values_list("name", flat=True)]
    context = {
        "recipient": recipient,
        "token": links.token(recipient),
        "systems": list(recipient.systems.values_list("name", flat=True)[: MOST_NAMES + 1]),
        "groups": names,
        "most": MOST_NAMES,
        "done": done,
        "form": form or WishesForm(None, instance=recipient),
    }
    return page(request, "notifications/link.html", context, 400 if form and form.errors else 200)


@_by_link
def settings(request: HttpRequest, recipient: Recipient) -> HttpResponse:
    """Show what this recipient gets, or change it."""
    if request.method != "POST":
        return _page(request, recipient)
    form = WishesForm(request.POST, instance=recipient)
    if form.is_valid():
        with refusal_in(form):
            said = recipients.change(recipient, None, request=request)
            recipient.refresh_from_db()
            return _page(request, recipient, f"Stored: {'; '.join(said)}." if said else "Nothing was changed.")
    return _page(request, recipient, form=form)


@_by_link
def unsubscribe(request: HttpRequest, recipient: Recipient) -> HttpResponse:
    """Ask whether nothing more shall be sent; a POST, a mail program's one click too (RFC 8058), does it."""
    if request.method != "POST":
        return page(request, "notifications/link_stop.html", {"recipient": recipient, "token": links.token(recipient)})
    recipients.stop(recipient, None, request=request)
    return _page(request, recipient, f"{recipient.address} gets nothing more about {recipient.team.name}.")


@_by_link
def resume(request: HttpRequest, recipient: Recipient) -> HttpResponse:
    """Send again from now on."""
    if request.method != "POST":
        return _page(request, recipient)
    try:
        done = recipients.resume(recipient, None, request=request)
    except Refused:  # the page says why
        done = False
    recipient.refresh_from_db()
    return _page(request, recipient, "Mail is sent again, from the next audit on." if done else "Nothing was changed.")
