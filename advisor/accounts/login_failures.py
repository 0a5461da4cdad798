"""How failed logins are counted: by name and place, by place over all names, and by the browser that is known.

A place is an address (of IPv6 its first 64 bits, which one customer has). Failures of a name lock that name for that
place alone. Failures of many names slow the place: it may fail `OF_PLACE` times within the cooling time, and fewer
while the whole site is tried from many places. A browser in which somebody has logged in before is a place of its own
for that name: whatever others do behind the same address neither locks nor slows it (OWASP calls this device cookies).
"""

import ipaddress
import secrets
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_cool_off
from axes.models import AccessAttempt
from django.conf import settings
from django.core import signing
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from advisor.accounts.models import User

COOKIE = "lockwright_known"
DAYS = 180
OF_PLACE, OF_SITE = 4, 40
"""Wrong passwords, as multiples of LOGIN_FAILURES: of one place over all names, and of the whole site, above which a
place has only LOGIN_FAILURES (this project's figures)."""
BROWSERS = ipaddress.IPv6Network("100::/64")
"""Known browsers are counted as addresses of this net, which no visitor has (RFC 6666: discarded everywhere)."""


def name_typed(request: HttpRequest | None, credentials: dict[str, Any] | None = None) -> str:
    """The name somebody tried to log in by, in one spelling: `Olga` and `olga` are one person, and one lock-out."""
    typed = (credentials or {}).get("username") or (request.POST.get("username", "") if request is not None else "")
    return _one_spelling(str(typed))


def place(request: HttpRequest) -> str | None:
    """Where somebody tries to log in from: a browser that is known by this name, else the address."""
    if number := _browser(request):
        return str(BROWSERS[number])
    address = request.META.get("REMOTE_ADDR")
    try:
        found = ipaddress.ip_address(str(address).partition("%")[0])
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv6Address):
        return str(found.ipv4_mapped or ipaddress.IPv6Address(int(found) >> 64 << 64))
    return str(found)


def remember(response: HttpResponse, user: User) -> None:
    """Have the browser known by this name; a password that is changed ends it."""
    told = {"name": _one_spelling(user.username), "number": secrets.randbits(63) + 1, "hash": _mark(user)}
    response.set_cookie(
        COOKIE,
        signing.dumps(told, salt=COOKIE),
        max_age=DAYS * 86400,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


class Handler(AxesDatabaseHandler):  # type: ignore[misc]  # axes has no types
    """Locks a name and place, and slows a place that tries many names."""

    def is_locked(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> bool:
        """Whether this try is refused without a look at the password."""
        return bool(super().is_locked(request, credentials)) or is_slowed(place(request))


def is_slowed(where: str | None) -> bool:
    """Whether a place has failed too often, by whatever names, to try again yet."""
    cooling = get_cool_off()
    if cooling is None or where is None:
        return False
    recent = AccessAttempt.objects.filter(attempt_time__gte=timezone.now() - cooling)
    of_place = recent.filter(ip_address=where).aggregate(sum=Sum("failures_since_start"))["sum"] or 0
    most = settings.AXES_FAILURE_LIMIT
    if of_place < most:
        return False
    of_site = recent.aggregate(sum=Sum("failures_since_start"))["sum"] or 0
    return bool(of_place >= (most if of_site >= most * OF_SITE else most * OF_PLACE))


def _browser(request: HttpRequest) -> int:
    """The number of a browser in which the name that is typed has logged in before; 0: it is not known."""
    try:
        told = signing.loads(request.COOKIES.get(COOKIE, ""), salt=COOKIE, max_age=DAYS * 86400)
        name, number, mark = told["name"], int(told["number"]), told["hash"]
    except (signing.BadSignature, KeyError, TypeError, ValueError):
        return 0
    if name != name_typed(request) or not 0 < number < 1 << 64:
        return 0
    user = User.objects.filter(username__iexact=name, is_active=True).first()
    return number if user is not None and _mark(user) == mark else 0


def _mark(user: User) -> str:
    return str(user.get_session_auth_hash())[:16]


def _one_spelling(name: str) -> str:
    return name.upper().lower()  # the dotless i of Turkish is an I in capitals, and so the same name
