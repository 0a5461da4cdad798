"""Who did what when."""

from typing import Any

from axes.helpers import get_client_ip_address
from axes.signals import user_locked_out
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.http import HttpRequest

from advisor.models import JournalEntry, System, Team, User

ITSELF = "lockwright"


def note(
    user: User | None,
    action: str,
    what: str = "",
    *,
    system: System | None = None,
    team: Team | None = None,
    request: HttpRequest | None = None,
) -> JournalEntry:
    """Write one entry. Without a user it is the service's own doing."""
    return JournalEntry.objects.create(
        who=user.username if user else ITSELF,
        user=user,
        team=team or (system.team if system else None),
        system=system,
        action=action,
        what=what[:500],
        address=address_of(request),
    )


def address_of(request: HttpRequest | None) -> str | None:
    """The address a request came from, behind as many proxies of our own as the settings say."""
    return get_client_ip_address(request) or None if request is not None else None


def listen() -> None:
    """Hear of logins from Django itself, so that no door forgets to tell."""
    user_logged_in.connect(_logged_in, dispatch_uid="journal")
    user_logged_out.connect(_logged_out, dispatch_uid="journal")
    user_login_failed.connect(_failed, dispatch_uid="journal")
    user_locked_out.connect(_locked_out, dispatch_uid="journal")


def _logged_in(sender: Any, request: HttpRequest, user: User, **rest: Any) -> None:
    note(user, "login", request=request)


def _logged_out(sender: Any, request: HttpRequest, user: User | None, **rest: Any) -> None:
    if user is not None:
        note(user, "logout", request=request)


def _failed(sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **rest: Any) -> None:
    _stranger(credentials.get("username"), "login failed", request)


def _locked_out(sender: Any, request: HttpRequest, username: str | None = None, **rest: Any) -> None:
    _stranger(username, "locked out", request)


def _stranger(name: Any, action: str, request: HttpRequest | None) -> None:
    """A name somebody typed: as text only, and cut."""
    shown = "".join(c if c.isprintable() else " " for c in str(name or ""))[:80]
    JournalEntry.objects.create(who=shown, action=action, address=address_of(request))
