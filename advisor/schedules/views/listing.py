"""Every schedule: for what, when, and what came of its last run."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import ceil

from django.db.models import Count, F, Q
from django.http import HttpResponse
from django.utils import timezone

from advisor.accounts.models import User
from advisor.core.access import schedules_of
from advisor.core.views import Asked, page, paged
from advisor.schedules.models import Schedule
from advisor.schedules.services import run_status, timing
from advisor.schedules.services.due_schedules import NO_TIME
from advisor.systems.models import System
from advisor.uploads.services.uploads import clean_text

FORESEEN = 32
"""Times that are looked ahead for what may be expected: those of a month, where there is one a day."""
MOST_HOURS = 8784
"""The longest time between two captures that can be expected: a year."""
IN_GROUP = Q(group__systems__troubled__isnull=False)
ONLY = {
    "trouble": Q(troubled__isnull=False) | Q(system__troubled__isnull=False) | IN_GROUP,
    "paused": Q(paused__isnull=False),
    "running": Q(runs__state__in=("waiting", "running")) | Q(runs__uploads__state__in=run_status.UNSETTLED),
}


@dataclass(frozen=True)
class Row:
    """A schedule as the list shows it."""

    schedule: Schedule
    last: run_status.Last | None
    when: str
    troubled: int
    """How many systems of its group are not audited; 1 where it is the schedule or its one system."""

    @property
    def since(self) -> datetime | None:
        """Since when the schedule or its one system brings nothing."""
        system = self.schedule.system
        return self.schedule.troubled or (system.troubled if system else None)

    @property
    def why(self) -> str:
        """Why, and what to do."""
        system = self.schedule.system
        return self.schedule.trouble or (system.trouble if system else "")


def rows_of(schedules: list[Schedule]) -> list[Row]:
    """Make the rows, in a few queries for all. The schedules are annotated with `in_group`."""
    last = run_status.last_runs(schedules)
    return [
        Row(
            one,
            last.get(one.pk),
            timing.in_words(one),
            one.in_group or int(bool(one.troubled or (one.system and one.system.troubled))),  # type: ignore[attr-defined]
        )
        for one in schedules
    ]


@dataclass(frozen=True)
class Feed:
    """A schedule that concerns one system, and how."""

    schedule: Schedule
    how: str
    last: run_status.Last | None
    when: str


def feeds_of(user: User, system: System) -> list[Feed]:
    """The schedules that bring exports of a system: its own, those of its groups, the one that brought its newest."""
    brought = system.latest.capture.upload_id if system.latest else None
    by_name = Q(runs__uploads=brought) if brought else Q(pk=None)
    mine = schedules_of(user).filter(Q(system=system) | Q(group__systems=system) | by_name).values("pk")
    found = list(Schedule.objects.filter(pk__in=mine).select_related("group"))
    last = run_status.last_runs(found, system) if found else {}
    return [
        Feed(
            one,
            "its own" if one.system_id else f"group {one.group}" if one.group else "delivered its newest exports",
            last.get(one.pk),
            timing.in_words(one),
        )
        for one in found
    ]


@dataclass(frozen=True)
class Proposed:
    """How often a capture of a system can be expected by one of its schedules."""

    hours: int
    """In whole hours, the next higher ones: an expectation is kept in these, one at least."""
    schedule: Schedule
    minutes: int

    @property
    def often(self) -> str:
        """As it is: `every 5 minutes`."""
        return timing.every(self.minutes)


def proposed(feeds: list[Feed], now: datetime) -> Proposed | None:
    """The longest wait between the next times of the schedule that brings exports of a system most often.

    None where no schedule runs, or only once in more than a year.
    """
    found = []
    for schedule in (feed.schedule for feed in feeds if not feed.schedule.paused):
        try:
            windows = timing.windows(schedule.blackouts, schedule.zone)
            times = [one.astimezone(UTC) for one in timing.preview(schedule, windows, now, FORESEEN)]
        except NO_TIME:  # valid when it was made; its trouble says so
            continue
        waits = [later - sooner for sooner, later in pairwise(times)]
        if waits and max(waits) <= timedelta(hours=MOST_HOURS):
            longest = max(waits)
            minutes = max(1, ceil(longest / timedelta(minutes=1)))
            found.append(Proposed(ceil(longest / timedelta(hours=1)), schedule, minutes))
    return min(found, key=lambda one: one.minutes, default=None)


def show(request: Asked) -> HttpResponse:
    """Show the schedules that the address asks for: `?q=` words, `?only=` one of `ONLY`, `?page=`."""
    words, only = clean_text(request.GET.get("q", ""), 100), request.GET.get("only", "")
    found = schedules_of(request.user).select_related("team", "system", "group")
    for word in words.split()[:8]:
        found = found.filter(
            Q(name__icontains=word)
            | Q(team__name__icontains=word)
            | Q(system__name__icontains=word)
            | Q(group__name__icontains=word)
        )
    if only in ONLY:
        found = found.filter(pk__in=schedules_of(request.user).filter(ONLY[only]).values("pk"))
    missing = Count("group__systems", filter=IN_GROUP)
    shown = paged(request, found.annotate(in_group=missing).order_by(F("team__name"), "name"))
    rows = rows_of(list(shown))
    context = {
        "rows": rows,
        "shown": shown,
        "words": words,
        "only": only,
        "several_teams": request.user.is_administrator or request.user.teams.count() > 1,
        "follows": run_status.unsettled(row.last for row in rows if row.last),
        "now": timezone.now(),
    }
    return page(request, "schedules/parts/table.html" if request.htmx else "schedules/list.html", context)
