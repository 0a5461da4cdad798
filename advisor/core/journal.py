"""Who did what when."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from ipaddress import ip_address
from typing import Any

from axes.signals import user_locked_out
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models import F, Model
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import Team, User
from advisor.core.models import JournalEntry
from advisor.systems.models import System

ITSELF = "lockwright"
BURST, BURSTS = timedelta(minutes=15), 50
"""Failed logins of one address within this time are one entry, and so are those beyond so many addresses (this
project's figures)."""
ALSO, MOST_NAMES = "also as ", 300


def note(
    user: User | None,
    action: str,
    what: str = "",
    *,
    about: Model | None = None,
    system: System | None = None,
    team: Team | None = None,
    request: HttpRequest | None = None,
) -> JournalEntry:
    """Write one entry. Without a user it is the service's own doing.

    The system and team it belongs to are those of the row that it is `about`, where they are not said.
    """
    system = system or (about if isinstance(about, System) else getattr(about, "system", None))
    team = team or (about if isinstance(about, Team) else getattr(about, "team", None))
    return JournalEntry.objects.create(
        who=user.username if user else ITSELF,
        user=user,
        team=team or (system.team if system else None),
        system=system,
        action=action,
        what=what[:500],
        address=address_of(request),
    )


def changes(
    before: Mapping[str, str], after: Mapping[str, str], shown: Callable[[str, str], str] = lambda name, value: value
) -> list[str]:
    """What of a thing changed, in words: `severity warning to critical`.

    `shown` gives what an entry may tell of a value, by its name: an address without its secrets.
    """
    return [
        f"{name} {shown(name, old)} to {shown(name, after[name])}" for name, old in before.items() if old != after[name]
    ]


def address_of(request: HttpRequest | None) -> str | None:
    """The address a request came from, behind as many proxies of our own as the settings say (`up` tells waitress)."""
    if request is None:
        return None
    address = str(request.META.get("REMOTE_ADDR", "")).partition("%")[0]
    with suppress(ValueError):
        return str(ip_address(address))
    return None


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
    """A name somebody typed: as text only, and cut. Many in a short time are one entry with their count.

    A burst is what comes from one address within `BURST` of its first; of more than `BURSTS` addresses, what comes
    from all others. It names the first names.
    """
    shown = "".join(c if c.isprintable() else " " for c in str(name or ""))[:80]
    address = address_of(request)
    recent = JournalEntry.objects.filter(action=action, user=None, at__gt=timezone.now() - BURST)
    mine = recent.filter(address=address).order_by("pk").first()
    if mine is None and recent.count() >= BURSTS:
        address, mine = None, recent.filter(address=None).order_by("pk").first()
    if mine is None:
        JournalEntry.objects.create(who=shown, action=action, address=address)
        return
    told = mine.what
    if shown != mine.who and shown not in told.removeprefix(ALSO).split(", "):
        longer = f"{told}, {shown}" if told else f"{ALSO}{shown}"
        told = longer if len(longer) <= MOST_NAMES else told
    JournalEntry.objects.filter(pk=mine.pk).update(count=F("count") + 1, what=told)
