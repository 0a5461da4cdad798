"""Collect from a system now: by the schedule that does it anyway, else by one that is paused and runs when asked."""

from django.conf import settings
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import User
from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.schedules.models import Schedule
from advisor.schedules.services import schedules
from advisor.schedules.services.schedules import ScheduleSpec
from advisor.schedules.sources.connection_test import HOUR, MOST_OF_SOURCE
from advisor.schedules.sources.queries import COLLECTORS
from advisor.systems.models import System

EVERY_MINUTES = 1_440
"""How often the made schedule would run, were it resumed: once a day."""


def collects(system: System) -> Schedule | None:
    """The schedule of this one system that asks its data sources; one that runs by itself before a paused one."""
    collector = COLLECTORS.get(system.product, "")
    mine = Schedule.objects.filter(system=system, source=Schedule.Source.COLLECTOR, collector=collector)
    return mine.order_by(F("paused").asc(nulls_first=True), "pk").first()


def collect_now(system: System, by: User, *, request: HttpRequest | None = None) -> Schedule:
    """Have the data sources of a system asked now; gives the schedule whose page shows it. Raises `Refused`."""
    if not system.sources.exists():
        raise Refused(f"{system.name} has no data source: add one first")
    since = timezone.now() - HOUR
    if JournalEntry.objects.filter(system=system, action="run asked for", at__gt=since).count() >= MOST_OF_SOURCE:
        raise Refused(f"it was asked for {MOST_OF_SOURCE} times within the hour: a server may lock its login. Wait")
    found = collects(system)
    if found is None:
        wish = ScheduleSpec(
            name=_free_name(system),
            source=Schedule.Source.COLLECTOR,
            system=system,
            collector=COLLECTORS[system.product],
            every_minutes=EVERY_MINUTES,
            zone=settings.TIME_ZONE,
        )
        found = schedules.make(system.team, wish, by, paused=True, request=request)
    schedules.run_now(found, by, request=request)
    return found


def _free_name(system: System) -> str:
    """`CLAIMS1 by hand`, or with a number after it."""
    first = f"{system.name[: schedules.LONGEST - 14]} by hand"
    taken = {name.lower() for name in system.team.schedules.values_list("name", flat=True)}
    names = (first, *(f"{first} {number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name.lower() not in taken)
