"""The week and the day of a fleet, each told once when it is due: a late one is caught up once."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from celery.exceptions import SoftTimeLimitExceeded
from django.db import Error, transaction

from advisor.notifications.mail.daily import daily_message
from advisor.notifications.mail.digest import digest_message
from advisor.notifications.mail.message import ReportMessage
from advisor.notifications.mail.rendering import Unsendable
from advisor.notifications.models import Mail, Recipient
from advisor.notifications.services import (
    outbox,
    recipients,
    subscribers,
)

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Rhythm:
    """What is told again and again: `Recipient` has a wish of this name, when it is due, and when it was told last."""

    name: str
    kind: str
    following: Callable[[Recipient, datetime], datetime]
    message: Callable[[Recipient, datetime], ReportMessage]


WEEKLY = Rhythm("digest", Mail.Kind.DIGEST, subscribers.next_digest, digest_message)
DAILY = Rhythm("daily", Mail.Kind.DAILY, subscribers.next_daily, daily_message)


def tell_weeks(now: datetime) -> None:
    """Put the digests that are due into the outbox."""
    _tell_due(WEEKLY, now)


def tell_days(now: datetime) -> None:
    """Put the daily mails that are due into the outbox."""
    _tell_due(DAILY, now)


def _tell_due(what: Rhythm, now: datetime) -> None:
    column = f"{what.name}_due"
    for recipient in subscribers.live().filter(**{what.name: True}).select_related("team"):
        following = what.following(recipient, now)
        due = getattr(recipient, column)
        if due is None or due > following:  # not set yet; or the clock, or the rules of the zone, were changed
            Recipient.objects.filter(pk=recipient.pk, **{column: due}).update(**{column: following})
        elif due <= now:
            try:
                _tell(what, recipient, due, following, now)
            except (Error, SoftTimeLimitExceeded):
                raise
            except Exception:  # nobody else goes without theirs; the next sweep tries it again
                LOG.exception("the %s could not be reported to recipient %s", what.name, recipient.pk)


def _tell(what: Rhythm, recipient: Recipient, due: datetime, following: datetime, now: datetime) -> None:
    """Tell one: whoever moves the due time on puts the mail in, in the same transaction."""
    mail = _rendered(what, recipient, now)
    column = f"{what.name}_due"
    with transaction.atomic():
        same = Recipient.objects.filter(pk=recipient.pk, stopped=None, **{column: due, what.name: True})
        told = {f"{what.name}_told": now} if mail is not None else {}
        if same.update(**{column: following}, **told) and mail is not None:
            key = f"{what.name}:{recipient.pk}:{due.isoformat()}"
            outbox.put(mail, kind=what.kind, key=key, team=recipient.team, recipient=recipient)


def _rendered(what: Rhythm, recipient: Recipient, now: datetime) -> outbox.Rendered | None:
    """Make the mail; `None` where there is nothing to tell of, or no server can be given it."""
    if not subscribers.about(recipient).exists():
        return None
    try:
        return outbox.render(what.message(recipient, now))
    except Unsendable as why:
        recipients.cannot_be_sent(recipient, why)
    return None
