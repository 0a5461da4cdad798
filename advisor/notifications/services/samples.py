"""What a recipient would get now: to look at, or sent as a test. Nothing is noted as told by it."""

from datetime import datetime, timedelta
from uuid import uuid4

from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import User
from advisor.audits.models import Audit, Capture
from advisor.core import journal
from advisor.core.models import Site
from advisor.core.records import Refused
from advisor.notifications.mail.daily import daily_message
from advisor.notifications.mail.digest import digest_message
from advisor.notifications.mail.heartbeat import heartbeat_message
from advisor.notifications.mail.not_audited import not_audited_message
from advisor.notifications.mail.report import report_message
from advisor.notifications.models import Mail, Recipient, Told
from advisor.notifications.services import (
    notify,
    outbox,
    subscribers,
)
from advisor.schedules.services import failures
from advisor.schedules.services.failures import Missing
from advisor.systems.models import System

KINDS = {
    Mail.Kind.REPORT: "the report after an audit",
    Mail.Kind.HEARTBEAT: "“nothing changed”",
    Mail.Kind.NOT_AUDITED: "not audited any more",
    Mail.Kind.DIGEST: "the week",
    Mail.Kind.DAILY: "the day",
}
MOST_TESTS, AN_HOUR = 10, timedelta(hours=1)
"""So many test mails an hour for each who asks, and for each address (this project's figure)."""
ABOUT_ONE = (Mail.Kind.REPORT, Mail.Kind.HEARTBEAT, Mail.Kind.NOT_AUDITED)
"""Kinds that are about one system."""


def sample(recipient: Recipient, kind: str, system: System | None) -> EmailMultiAlternatives:
    """Render what a recipient would get now. Raises `Refused` where there is nothing to tell yet."""
    if kind not in ABOUT_ONE:
        if not subscribers.about(recipient).exists():
            raise Refused("There is no system to tell of yet.")
        message = daily_message if kind == Mail.Kind.DAILY else digest_message
        return message(recipient, timezone.now())
    if system is None:
        raise Refused("There is no system to tell of yet.")
    if kind == Mail.Kind.NOT_AUDITED:
        return not_audited_message(recipient, _missing(system))
    latest = Audit.objects.select_related("system__team", "capture__upload").filter(pk=system.latest_id or 0).first()
    if latest is None:
        raise Refused(f"{system.name} has no audit yet: upload exports of it.")
    before = _before(recipient, latest)
    if kind == Mail.Kind.HEARTBEAT:
        return heartbeat_message(recipient, latest, before)
    return report_message(recipient, latest, before)


def send(
    recipient: Recipient, kind: str, system: System | None, by: User, *, own: bool, request: HttpRequest | None = None
) -> Mail:
    """Put the sample into the outbox, to the recipient or (`own`) to who asks. Raises `Refused`.

    At most `MOST_TESTS` an hour: whoever may ask for tests must not flood an address with them.
    """
    to = by.email if own else recipient.address
    if not to:
        raise Refused("Your account has no e-mail address: ask an administrator to write it there.")
    if not own and not subscribers.live().filter(pk=recipient.pk).exists():
        raise Refused(f"{recipient.address} gets nothing: resume it first, or send the test to yourself.")
    _not_too_many(by, to)
    message = sample(recipient, kind, system)
    message.to = [to]
    message.subject = f"Test: {message.subject}"
    made = outbox.render(message)
    with transaction.atomic():
        Site.objects.select_for_update().get(pk=Site.get().pk)  # who asks twice at once is counted twice
        _not_too_many(by, to)
        mail = outbox.put(
            made,
            kind=Mail.Kind.TEST,
            key=f"{_asked_by(by)}{uuid4().hex}",
            team=recipient.team,
            recipient=None if own else recipient,
            system=system,
        )
        if mail is None:
            raise Refused("It is in the outbox already.")
        what = f"{kind} for {recipient.address}, to {to}"
        journal.note(by, "test mail put in", what, system=system, team=recipient.team, request=request)
    return mail


def _asked_by(user: User) -> str:
    """How the keys of the tests that somebody asked for begin."""
    return f"test:{user.pk}:"


def _not_too_many(by: User, to: str) -> None:
    lately = Mail.objects.filter(kind=Mail.Kind.TEST, created__gt=timezone.now() - AN_HOUR)
    if lately.filter(key__startswith=_asked_by(by)).count() >= MOST_TESTS:
        raise Refused(f"You sent {MOST_TESTS} test mails within the last hour: wait, or look at the preview.")
    if lately.filter(to__iexact=to).count() >= MOST_TESTS:
        raise Refused(f"{to} got {MOST_TESTS} test mails within the last hour: wait, or look at the preview.")


def _before(recipient: Recipient, latest: Audit) -> Audit | None:
    """What the newest audit would be told against; where they know it already, the audit of the capture before it."""
    told = Told.objects.filter(recipient=recipient, system=latest.system).select_related("audit", "mailed").first()
    known = notify.known(recipient, told, latest)
    if known and known.pk != latest.pk:
        return known
    return notify.before_of(latest)


def _missing(system: System, now: datetime | None = None) -> Missing:
    """How a system is missed; of one that is audited as it should be, an example that says so."""
    for one in failures.not_audited(system.team, now, snoozed=True):
        if one.system and one.system.pk == system.pk:
            return one
    latest = Capture.objects.filter(system=system).first()
    since = latest.taken if latest else system.created
    why = "This is an example: the system is audited as it should be."
    return Missing(system, None, since, why, "Nothing.")
