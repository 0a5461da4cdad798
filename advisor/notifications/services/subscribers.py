"""Who hears of which systems, on which days, and when the week is told."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from advisor.accounts.models import Role, User
from advisor.notifications.models import Recipient, Told
from advisor.systems.models import System
from advisor.systems.services.snoozing import snoozed_now

A_DAY = timedelta(days=1)


def belonging() -> QuerySet[Recipient]:
    """Those who may know of the systems: known users only while active and in the team, or administrators."""
    in_team = Exists(User.teams.through.objects.filter(user=OuterRef("user"), team=OuterRef("team")))
    known = Q(user__is_active=True) & (Q(user__role=Role.ADMINISTRATOR) | Q(in_team))
    return Recipient.objects.filter(Q(user=None) | known)


def belongs(recipient: Recipient) -> bool:
    """Whether this one is still one of them."""
    return belonging().filter(pk=recipient.pk).exists()


def live() -> QuerySet[Recipient]:
    """Those who get mail: of those who may know of the systems, whoever is not stopped."""
    return belonging().filter(stopped=None)


def hears() -> Q:
    """The condition that a recipient is told of audits at all: in reports, or that a lost system is back."""
    return Q(reports=True) | Q(not_audited=True)


def is_told(recipient: Recipient) -> bool:
    """Whether `hears` holds for this one."""
    return recipient.reports or recipient.not_audited


def choosing() -> QuerySet[Recipient]:
    """Recipients that are about some systems or groups, or have lost the last; every other one is about all."""
    chosen = Q(systems__isnull=False) | Q(groups__isnull=False)
    return Recipient.objects.filter(chosen | Q(left_alone=True)).distinct()


def concerned(system: System) -> QuerySet[Recipient]:
    """The live recipients who are told of audits of this system."""
    chosen = Q(systems=system) | Q(groups__systems=system) | ~Q(pk__in=choosing().values("pk"))
    return live().filter(hears(), chosen, team=system.team_id).distinct()


def about(recipient: Recipient) -> QuerySet[System]:
    """The systems a recipient is about, by name."""
    team = System.objects.filter(team=recipient.team_id)
    if not choosing().filter(pk=recipient.pk).exists():
        return team
    return team.filter(Q(recipients=recipient) | Q(groups__recipients=recipient)).distinct()


def its_day(recipient: Recipient, now: datetime) -> bool:
    """Whether mail of audits is made for them today, by the calendar of their zone."""
    return now.astimezone(ZoneInfo(recipient.zone)).weekday() in recipient.days


def next_digest(recipient: Recipient, after: datetime) -> datetime:
    """When the week is told next: its day and hour in their zone, later than `after`."""
    return _next(recipient, after, {recipient.digest_day})


def next_daily(recipient: Recipient, after: datetime) -> datetime:
    """When the day is told next: the hour of the digest on one of their days, in their zone, later than `after`."""
    return _next(recipient, after, set(recipient.days) & set(range(7)) or set(range(7)))


def _next(recipient: Recipient, after: datetime, days: set[int]) -> datetime:
    """Give the next time on one of these days of the week, of which there is one at least.

    An hour that the clock leaves out is told as long after midnight as it would have been; of one that comes twice
    the first counts.
    """
    zone = ZoneInfo(recipient.zone)
    day = after.astimezone(zone).date()
    while True:
        while day.weekday() not in days:
            day += A_DAY
        due = datetime.combine(day, time(recipient.digest_hour), tzinfo=zone).astimezone(UTC)
        if due > after:
            return due
        day += A_DAY


def silently(recipient: Recipient, systems: QuerySet[System], now: datetime) -> None:
    """Take the systems' newest audits as told: what came before somebody asked for mail is no news to them."""
    latest = systems.exclude(latest=None).values_list("pk", "latest_id")
    Told.objects.bulk_create(
        [Told(recipient=recipient, system_id=pk, audit_id=audit, at=now) for pk, audit in latest],
        batch_size=200,
        update_conflicts=True,
        unique_fields=["recipient", "system"],
        update_fields=["audit", "at"],
    )


def untold(recipients: list[Recipient], quiet: tuple[str, ...]) -> QuerySet[System, tuple[int, int]]:
    """Give (system, recipient) where the newest audit was not looked at for them: one query for all.

    Audits from before the recipient was there do not count, nor those of uploads of these origins; those of a snoozed
    system wait for its end.
    """
    ours = [one.pk for one in recipients]
    choose = choosing().filter(pk__in=ours).values_list("pk", flat=True)
    of_all = set(ours) - set(choose)
    mine = {"recipient": OuterRef("hearer")}
    chosen = Recipient.systems.through.objects.filter(**mine, system=OuterRef("pk"))
    grouped = Recipient.groups.through.objects.filter(**mine, group__systems=OuterRef("pk"))
    told = Told.objects.filter(**mine, system=OuterRef("pk"), audit=OuterRef("latest"))
    pairs = System.objects.filter(team__recipients__in=ours, latest__shown__gt=F("team__recipients__created"))
    return (
        pairs.exclude(latest__capture__upload__origin__in=quiet)
        .exclude(snoozed_now())
        .annotate(hearer=F("team__recipients"))
        .filter(Q(hearer__in=of_all) | Exists(chosen) | Exists(grouped), ~Exists(told))
        .order_by("pk", "hearer")
        .values_list("pk", "hearer")
    )
