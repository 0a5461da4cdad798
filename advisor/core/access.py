"""Who may see and do what. Everything a door shows passes through here; what is not yours does not exist (404)."""

from django.db.models import Q, QuerySet, prefetch_related_objects

from advisor.accounts.models import Role, Team, User
from advisor.audits.models import Audit, Backtest, Capture
from advisor.core.models import JournalEntry
from advisor.findings.models import TrackedFinding
from advisor.notifications.models import Mail, Recipient, Webhook
from advisor.schedules.models import DataSource, Run, Schedule
from advisor.systems.models import Group, System
from advisor.uploads.models import Upload


def teams_of(user: User) -> QuerySet[Team]:
    """The teams this person works in; all for an administrator."""
    return Team.objects.all() if user.is_administrator else user.teams.all()


def _in_teams(user: User, path: str) -> Q:
    """The condition that the team at `path` is one of this person's.

    The teams are read once for a `user`, who is read for each request anew: a page asks this five times and more.
    """
    if user.is_administrator:
        return Q()
    prefetch_related_objects([user], "teams")
    return Q(**{f"{path}__in": [team.pk for team in user.teams.all()]})


def systems_of(user: User) -> QuerySet[System]:
    """The systems this person may see."""
    return System.objects.filter(_in_teams(user, "team"))


def uploads_of(user: User) -> QuerySet[Upload]:
    """The uploads this person may see."""
    return Upload.objects.filter(_in_teams(user, "team"))


def captures_of(user: User) -> QuerySet[Capture]:
    """The captures this person may see."""
    return Capture.objects.filter(_in_teams(user, "system__team"))


def audits_of(user: User) -> QuerySet[Audit]:
    """The audits this person may see."""
    return Audit.objects.filter(_in_teams(user, "system__team"))


def backtests_of(user: User) -> QuerySet[Backtest]:
    """The trials of limits this person may see: of their systems; those for all systems are the administrators'."""
    mine = _in_teams(user, "system__team") & Q(system__team__isnull=False)
    return Backtest.objects.filter(mine | Q(system=None) if user.is_administrator else mine)


def tracked_of(user: User) -> QuerySet[TrackedFinding]:
    """The findings followed over captures that this person may see."""
    return TrackedFinding.objects.filter(_in_teams(user, "system__team"))


def schedules_of(user: User) -> QuerySet[Schedule]:
    """The schedules this person may see."""
    return Schedule.objects.filter(_in_teams(user, "team"))


def sources_of(user: User) -> QuerySet[DataSource]:
    """The data sources this person may see: by their names; how each is reached is for those who may work for it."""
    return DataSource.objects.filter(_in_teams(user, "system__team"))


def groups_of(user: User) -> QuerySet[Group]:
    """The groups of systems this person may see."""
    return Group.objects.filter(_in_teams(user, "team"))


def runs_of(user: User) -> QuerySet[Run]:
    """The runs of schedules this person may see."""
    return Run.objects.filter(_in_teams(user, "schedule__team"))


def recipients_of(user: User) -> QuerySet[Recipient]:
    """The recipients of mail this person may see."""
    return Recipient.objects.filter(_in_teams(user, "team"))


def mails_of(user: User) -> QuerySet[Mail]:
    """The mails of the outbox this person may see; those of no team are the administrators'."""
    return Mail.objects.filter(_in_teams(user, "team"))


def webhooks_of(user: User) -> QuerySet[Webhook]:
    """The webhooks this person may see: changing them is an administrator's."""
    return Webhook.objects.filter(_in_teams(user, "team"))


def journal_of(user: User) -> QuerySet[JournalEntry]:
    """The journal this person may read: all of it for an administrator, else that of their teams' systems.

    Where data sources lead stands in it: that is for those who may work.
    """
    entries = JournalEntry.objects.filter(_in_teams(user, "team"))
    return entries if user.may_work else entries.exclude(action__startswith="data source")


def may_work_for(user: User, team: Team) -> bool:
    """Whether this person may upload, audit and set limits for this team."""
    return user.is_administrator or (user.role == Role.DBA and user.teams.filter(pk=team.pk).exists())
