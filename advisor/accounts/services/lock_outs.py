"""Who is locked out after too many wrong passwords, and the way back in (django-axes keeps the count)."""

from collections import defaultdict
from datetime import datetime

from axes.helpers import get_cool_off
from axes.models import AccessAttempt
from axes.utils import reset
from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import User
from advisor.core import journal


def locked_out() -> dict[str, datetime]:
    """Names in small letters that are locked from some address, and when the last lock of each ends by itself.

    A name and address are locked while the failures within the cooling time reach the limit.
    """
    cooling = get_cool_off()
    if cooling is None:
        return {}
    failures: dict[tuple[str, str | None], list[tuple[datetime, int]]] = defaultdict(list)
    recent = AccessAttempt.objects.filter(attempt_time__gte=timezone.now() - cooling, username__isnull=False)
    for name, address, at, count in recent.values_list(
        "username", "ip_address", "attempt_time", "failures_since_start"
    ):
        failures[name, address].append((at, count))
    found: dict[str, datetime] = {}
    for (name, _), attempts in failures.items():
        left = sum(count for _, count in attempts)
        for at, count in sorted(attempts):
            if left < settings.AXES_FAILURE_LIMIT:
                break
            left -= count
            if left < settings.AXES_FAILURE_LIMIT:
                ends = at + cooling
                found[name.lower()] = max(ends, found.get(name.lower(), ends))
    return found


def unlock(user: User, by: User | None, request: HttpRequest | None = None) -> int:
    """Forget the wrong passwords of a person, in whatever case the name was typed; gives how many counts went.

    `by`: `None` where an operator does it at the machine.
    """
    typed = AccessAttempt.objects.filter(username__iexact=user.username).order_by().values_list("username", flat=True)
    gone = sum(int(reset(username=name)) for name in set(typed) if name)
    journal.note(by, "unlocked", user.username, request=request)
    return gone
