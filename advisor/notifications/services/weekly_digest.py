"""The week of a fleet, told once a week: a late one is caught up once."""

import logging
from datetime import datetime

from celery.exceptions import SoftTimeLimitExceeded
from django.db import Error, transaction

from advisor.notifications.mail.digest import digest_message
from advisor.notifications.mail.rendering import Unsendable
from advisor.notifications.models import Mail, Recipient
from advisor.notifications.services import (
    outbox,
    recipients,
    subscribers,
)

LOG = logging.getLogger(__name__)


def tell_weeks(now: datetime) -> None:
    """Put the digests that are due into the outbox."""
    for recipient in subscribers.live().filter(digest=True).select_related("team"):
        following = subscribers.next_digest(recipient, now)
        due = recipient.digest_due
        if due is None or due > following:  # not set yet; or the clock, or the rules of the zone, were changed
            Recipient.objects.filter(pk=recipient.pk, digest_due=due).update(digest_due=following)
        elif due <= now:
            try:
                _tell(recipient, due, following, now)
            except (Error, SoftTimeLimitExceeded):
                raise
            except Exception:  # nobody else goes without theirs; the next sweep tries it again
                LOG.exception("the week could not be told to recipient %s", recipient.pk)


def _tell(recipient: Recipient, due: datetime, following: datetime, now: datetime) -> None:
    """Tell one: whoever moves `digest_due` on puts the mail in, in the same transaction."""
    mail = _rendered(recipient, now)
    with transaction.atomic():
        same = Recipient.objects.filter(pk=recipient.pk, digest_due=due, digest=True, stopped=None)
        told = {"digest_told": now} if mail is not None else {}
        if same.update(digest_due=following, **told) and mail is not None:
            key = f"digest:{recipient.pk}:{due.isoformat()}"
            outbox.put(mail, kind=Mail.Kind.DIGEST, key=key, team=recipient.team, recipient=recipient)


def _rendered(recipient: Recipient, now: datetime) -> outbox.Rendered | None:
    """Make the mail; `None` where there is nothing to tell of, or no server can be given it."""
    if not subscribers.about(recipient).exists():
        return None
    try:
        return outbox.render(digest_message(recipient, now))
    except Unsendable as why:
        recipients.cannot_be_sent(recipient, why)
    return None
