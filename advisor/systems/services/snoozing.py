"""A system is snoozed until a day: it starts no mail and no capture of it is expected, but it stays in view as snoozed.

A server that is being rebuilt, or waits for an upgrade, need not remind anybody of what is known. Nothing has to end a
snooze: whoever reads it compares it with the day.
"""

from datetime import date

from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import User
from advisor.core import journal
from advisor.core.records import Refused
from advisor.systems.models import System
from advisor.uploads.services.uploads import clean_text

LONGEST_WHY = 500


def snoozed_now() -> Q:
    """The condition of a query of systems that they are snoozed today, by the site's calendar (`System.snoozed`)."""
    return Q(snoozed_until__gte=timezone.localdate())


def snooze(system: System, until: date | None, why: str, by: User, *, request: HttpRequest | None = None) -> None:
    """Snooze a system to the end of a day, by the site's calendar, for a reason. Raises `Refused`.

    Where it is so already, nothing is noted.
    """
    why = clean_text(why, LONGEST_WHY)
    if until is None or until <= timezone.localdate():
        raise Refused("Choose a day in the future until which it is snoozed.")
    if not why:
        raise Refused("Say why it is snoozed: the reason stands beside the system.")
    if (system.snoozed_until, system.snoozed_why) == (until, why):
        return
    System.objects.filter(pk=system.pk).update(snoozed_until=until, snoozed_why=why, snoozed_by=by)
    was = f" (before: until {system.snoozed_until}: {system.snoozed_why})" if system.snoozed else ""
    journal.note(by, "system snoozed", f"until {until}: {why}{was}", system=system, request=request)


def wake(system: System, by: User, *, request: HttpRequest | None = None) -> None:
    """End the snooze of a system now. Raises `Refused` where it is not snoozed."""
    ended = System.objects.filter(snoozed_now(), pk=system.pk)
    if not ended.update(snoozed_until=None, snoozed_why="", snoozed_by=None):
        raise Refused("It is not snoozed any more.")
    journal.note(by, "snooze ended", f"it was until {system.snoozed_until}", system=system, request=request)
