"""Recipients of mail: made, changed, stopped, removed. Every change is noted."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Model
from django.db.models.signals import m2m_changed, pre_delete
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import Role, Team, User
from advisor.core.access import may_work_for
from advisor.core.models import JournalEntry
from advisor.core.records import Gone, Records, Refused
from advisor.notifications.models import Mail, Recipient
from advisor.notifications.services import subscribers
from advisor.notifications.services.preferences import WORDS, check, in_words, wanted_words
from advisor.systems.models import Group, System
from advisor.uploads.services.uploads import clean_text

BY_LINK = "by the link in a mail"
A_MINUTE = timedelta(minutes=1)
NOTHING = "nothing any more"


def may_change(user: User, recipient: Recipient) -> bool:
    """Whether this person may change what that one gets: a DBA any of the team, a viewer only themselves."""
    own = recipient.user_id == user.pk and user.teams.filter(pk=recipient.team_id).exists()
    return own or may_work_for(user, recipient.team)


class Recipients(Records[Recipient]):
    """Recipients as they are kept."""

    model, kind = Recipient, "recipient"
    taken = "{row} gets mail of this team already: change that."
    gone = "This recipient was removed meanwhile."

    def told(self, deed: str, row: Recipient) -> str:
        """What it is about and gets, too, where it is added."""
        about = _about(row.systems.all(), row.groups.all())
        return f"{row}: {about}; {in_words(row)}" if deed == self.added else row.address

    def words(self, row: Recipient) -> dict[str, str]:
        """What is wanted; what it is about is told by who chooses it."""
        return wanted_words(row)

    def leaves(self, row: Recipient) -> None:
        """Send nothing of what waits in the outbox for it."""
        _drop_mails(row, "The recipient was removed.")

    def told_change(self, row: Recipient, before: Mapping[str, str], said: list[str]) -> str:
        """What changed."""
        return f"{row}: {'; '.join(said)}" if said else ""

    def note(
        self, by: User | None, deed: str, row: Recipient, request: HttpRequest | None, what: str | None = None
    ) -> None:
        """Write the entry; of what is done by a link once a minute, or whoever has one could fill the journal."""
        what = self.told(deed, row) if what is None else what
        if by is None and deed in ("changed", "resumed"):
            what = f"{row} {BY_LINK}{what.removeprefix(str(row))}"
        begins, by_link, _ = what.partition(BY_LINK)
        if by is None and by_link:
            lately = JournalEntry.objects.filter(at__gt=timezone.now() - A_MINUTE, team=row.team, user=None)
            same = lately.filter(action=f"{self.kind} {deed}", what__startswith=begins + by_link)
            if same.exists():
                return
        super().note(by, deed, row, request, what)


RECIPIENTS = Recipients()


def make(
    recipient: Recipient,
    by: User,
    *,
    systems: Collection[System] = (),
    groups: Collection[Group] = (),
    request: HttpRequest | None = None,
) -> Recipient:
    """Store a new recipient: its team's mail (all of it, without systems and groups) goes there. Raises `Refused`.

    Audits from before now are not told. A viewer has it sent only to the address of their account.
    """
    team = recipient.team
    address = recipient.address = _address(recipient.address)
    check(recipient)
    recipient.by, recipient.user = by, _whose(address, team, by)
    if not may_work_for(by, team) and not (recipient.user == by and by.teams.filter(pk=team.pk).exists()):
        raise Refused(f"Your role has mail sent to your own address alone: {by.email or 'your account has none yet'}.")
    with RECIPIENTS.adding(recipient, by, request):
        _is_free(address, team)
        recipient.days = sorted(recipient.days)
        _plan_digest(recipient)
        _plan_daily(recipient)
        recipient.save()
        _choose(recipient, systems, groups)
        subscribers.silently(recipient, subscribers.about(recipient), recipient.created)
    return recipient


def change(
    wishes: Recipient,
    by: User | None,
    *,
    systems: Collection[System] | None = None,
    groups: Collection[Group] | None = None,
    of_all: bool = False,
    request: HttpRequest | None = None,
) -> list[str]:
    """Have a recipient get what `wishes` says, itself as it is to be; gives what changed, in words. Raises `Refused`.

    Without `by` it is the recipient's own link that asks. Of systems they were not told of before, what was audited
    until now is no news. Who is left alone stays so until systems or groups are chosen, or all (`of_all`).
    """
    check(wishes)
    with RECIPIENTS.changing(wishes, by, request) as change:
        now = change.row
        before = _told_of(now)
        again = any(getattr(now, name) != getattr(wishes, name) for name in ("zone", "digest_day", "digest_hour"))
        again |= not now.digest
        daily_again = any(
            getattr(now, name) != getattr(wishes, name) for name in ("zone", "days", "digest_hour", "daily")
        )
        for name in WORDS:
            setattr(now, name, getattr(wishes, name))
        now.days = sorted(wishes.days)
        if again or not now.digest:
            _plan_digest(now)
        if daily_again:
            _plan_daily(now)
        now.save()
        change.said += [] if systems is None or groups is None else _chosen(now, systems, groups, of_all)
        new = subscribers.about(now).exclude(pk__in=before) if subscribers.is_told(now) else System.objects.none()
        subscribers.silently(now, new, timezone.now())
    return change.said


def stop(recipient: Recipient, by: User | None, why: str = "", *, request: HttpRequest | None = None) -> bool:
    """Send this recipient nothing more; what waits in the outbox is not sent. Gives whether it was not stopped yet."""
    by_link = by is None and not why
    why = clean_text(why, 200) or (f"stopped by {by.username}" if by else f"unsubscribed {BY_LINK}")
    with transaction.atomic():
        running = Recipient.objects.filter(pk=recipient.pk, stopped=None)
        if not running.update(stopped=timezone.now(), stopped_why=why, stopped_by_link=by_link):
            return False
        _drop_mails(recipient, f"The recipient was stopped: {why}.")
        RECIPIENTS.note(by, "stopped", recipient, request, f"{recipient.address}: {why}")
    return True


def resume(recipient: Recipient, by: User | None, *, request: HttpRequest | None = None) -> bool:
    """Send again from now on; what was audited meanwhile is not caught up. Gives whether it was stopped.

    Raises `Refused` for one that is left alone. By the link (nobody is logged in) only what was stopped by it: what a
    DBA stopped stays so.
    """
    with transaction.atomic():
        now = Recipient.objects.select_for_update().exclude(stopped=None).filter(pk=recipient.pk).first()
        if now is not None and now.left_alone:
            raise Refused(f"{now.address} is about {NOTHING}: choose its systems first.")
        if now is None or (by is None and not now.stopped_by_link):
            return False
        now.stopped, now.stopped_why, now.refused, now.refused_at = None, "", "", None
        _plan_digest(now)
        _plan_daily(now)
        now.save(update_fields=["stopped", "stopped_why", "refused", "refused_at", "digest_due", "daily_due"])
        subscribers.silently(now, subscribers.about(now), timezone.now())
        RECIPIENTS.note(by, "resumed", now, request)
    return True


def remove(recipient: Recipient, by: User, *, request: HttpRequest | None = None) -> None:
    """Forget a recipient: its links open nothing any more, and what waits in the outbox for it is not sent."""
    with suppress(Gone):
        RECIPIENTS.remove(recipient, by, request)


def follow(system: System, other: System) -> None:
    """Have the recipients of a system that is merged into another one hear of that one, from now on."""
    for one in system.recipients.all():
        subscribers.silently(one, System.objects.filter(pk=other.pk).exclude(told__recipient=one), timezone.now())
        one.systems.add(other)


def cannot_be_sent(recipient: Recipient, why: Exception) -> None:
    """Say beside a recipient that a mail to them was not even tried."""
    Recipient.objects.filter(pk=recipient.pk).update(refused=str(why)[:300], refused_at=timezone.now())


def listen() -> None:
    """Hear of systems and groups that go: who was about nothing else must not be about everything then.

    And of groups that grow: what was audited before a system was in one is no news to its recipients.
    """
    m2m_changed.connect(_grown, sender=Group.systems.through, dispatch_uid="recipients of a group that grows")
    pre_delete.connect(_left_alone, sender=System, dispatch_uid="recipients of a system")
    pre_delete.connect(_left_alone, sender=Group, dispatch_uid="recipients of a group")


def _address(text: str) -> str:
    """One address that mail can be sent to; the domain in small letters. Raises `Refused`."""
    address = clean_text(text, 254)
    try:
        validate_email(address)
    except ValidationError:
        raise Refused("This is no e-mail address: write one like dba@example.org.") from None
    name, _, domain = address.rpartition("@")
    return f"{name}@{domain.lower()}"


def _is_free(address: str, team: Team) -> None:
    if Recipient.objects.filter(team=team, address__iexact=address).exists():
        raise Refused(f"{address} gets mail of this team already: change that.")


def _whose(address: str, team: Team, by: User) -> User | None:
    """The person of the team (or an administrator) whose account has this address; of several, who asks."""
    same = User.objects.filter(email__iexact=address)
    owners = same.filter(is_active=True)
    if same.exists() and not owners.exists():
        raise Refused(f"{address} belongs to an account that is inactive: nothing is sent there.")
    known = [*owners.filter(teams=team), *owners.filter(role=Role.ADMINISTRATOR)]
    return by if by in known else next(iter(known), None)


def _plan_digest(recipient: Recipient) -> None:
    recipient.digest_due = subscribers.next_digest(recipient, timezone.now()) if recipient.digest else None


def _plan_daily(recipient: Recipient) -> None:
    recipient.daily_due = subscribers.next_daily(recipient, timezone.now()) if recipient.daily else None


def _choose(recipient: Recipient, systems: Iterable[System], groups: Iterable[Group]) -> None:
    """Set what a recipient is about; what is another team's does not exist."""
    teams = {one.team_id for one in systems} | {one.team_id for one in groups}
    if teams - {recipient.team_id}:
        raise Refused("There is no such system or group in this team.")
    recipient.systems.set(systems)
    recipient.groups.set(groups)


def _chosen(recipient: Recipient, systems: Collection[System], groups: Collection[Group], of_all: bool) -> list[str]:
    if recipient.left_alone and not (systems or groups or of_all):
        return []
    before = NOTHING if recipient.left_alone else _about(recipient.systems.all(), recipient.groups.all())
    _choose(recipient, systems, groups)
    recipient.left_alone = False
    recipient.save(update_fields=["left_alone"])
    after = _about(systems, groups)
    return [f"about {after} (before: {before})"] if before != after else []


def _about(systems: Iterable[System], groups: Iterable[Group]) -> str:
    names = [*sorted(one.name for one in systems), *(f"group {one}" for one in sorted(one.name for one in groups))]
    return ", ".join(names) or "all systems"


def _told_of(recipient: Recipient) -> set[int]:
    """The systems this recipient is told of so far."""
    return set(subscribers.about(recipient).values_list("pk", flat=True)) if subscribers.is_told(recipient) else set()


def _drop_mails(recipient: Recipient, why: str) -> None:
    """Skip what waits for them: no worker has it."""
    waiting = Mail.objects.filter(recipient=recipient, state=Mail.State.WAITING)
    waiting.update(state=Mail.State.SKIPPED, error=why, finished=timezone.now())


def _left_alone(sender: type[System | Group], instance: System | Group, **rest: Any) -> None:
    for one in instance.recipients.all():
        others = one.systems.count() + one.groups.count() - 1
        if not others:  # who is stopped already, too: resumed later, it must not be about everything
            Recipient.objects.filter(pk=one.pk).update(left_alone=True)
            stop(one, None, f"the last it was about, {instance.name}, is gone")


def _grown(
    sender: type[Model], instance: System | Group, action: str, reverse: bool, pk_set: set[int] | None, **rest: Any
) -> None:
    if action != "post_add" or not pk_set:
        return
    groups, systems = (pk_set, {instance.pk}) if reverse else ({instance.pk}, pk_set)
    for one in Recipient.objects.filter(groups__in=groups).distinct():
        new = System.objects.filter(pk__in=systems).exclude(told__recipient=one).exclude(recipients=one)
        subscribers.silently(one, new, timezone.now())
