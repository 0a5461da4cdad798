"""Who is told what of which audit.

Nothing is queued: what somebody is to be told follows from what they were told last (`Told`) and the newest audit. So
a task that is lost is made up for by the sweep of the next minute, and one that comes twice finds nothing left to do.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import Error, IntegrityError, transaction
from django.utils import timezone

from advisor.audits.models import NEWEST_FIRST, Audit, Capture
from advisor.audits.services.post_audit import QUIET_ORIGINS
from advisor.core import job_queue
from advisor.findings.services.pages import accepted_in, opened_again
from advisor.notifications.mail.heartbeat import heartbeat_message
from advisor.notifications.mail.rendering import Unsendable
from advisor.notifications.mail.report import report_message
from advisor.notifications.models import Mail, Recipient, Told
from advisor.notifications.services import (
    outbox,
    overdue_alerts,
    recipients,
    subscribers,
    weekly_digest,
)
from advisor.systems.models import System
from advisor.systems.services.overview import COMPARED, difference

LOG = logging.getLogger(__name__)
MOST_LOOKS = 3
"""So often a telling that was overtaken looks again; then the sweep does."""
SWEEP_SECONDS = 40.0
"""A sweep ends before the next one begins; what is left waits for it (this project's figure)."""


@dataclass(frozen=True)
class Notification:
    """What a recipient is to get of an audit: a report or "nothing changed", against what they know."""

    kind: str
    before: Audit | None
    after_trouble: str = ""


def notify(system_id: int, only: Collection[int] | None = None) -> None:
    """Put the mails about a system's newest audit into the outbox; of these recipients only, where given."""
    for _ in range(MOST_LOOKS):
        if _told_all(system_id, only):
            return


def notify_due() -> None:
    """Put into the outbox what was held back, digests that are due, and systems not audited any more."""
    with job_queue.leased("telling") as ours:
        if not ours:
            return
        until = time.monotonic() + min(SWEEP_SECONDS, settings.TASK_SECONDS / 3)
        now = timezone.now()
        weekly_digest.tell_weeks(now)
        weekly_digest.tell_days(now)
        _tell_held_back(now, until)  # before what is lost now: who hears of both hears of them in their order
        overdue_alerts.tell_silent(now)


def letter_of(recipient: Recipient, told: Told | None, latest: Audit) -> Notification | None:
    """What a recipient is to get of the newest audit of a system; `None`: nothing."""
    before = known(recipient, told, latest)
    trouble = overdue_alerts.told_of(recipient, latest, told.at if told else None)
    if recipient.reports:
        again = opened_again(latest.system_id, told.at) if told else {}
        loud = any(level >= recipient.severity for level in again.values())
        if recipient.everything or loud or news(recipient, before, latest):
            return Notification(Mail.Kind.REPORT, before, trouble)
        if told and told.audit and _news_by_new_limits(recipient, before, told.audit, latest):
            return Notification(Mail.Kind.REPORT, told.audit, trouble)
    if trouble:
        return Notification(Mail.Kind.REPORT, before, trouble)
    if before and before.capture_id == latest.capture_id and not difference(before, latest):
        return None  # no capture has come: the same one was judged anew
    return Notification(Mail.Kind.HEARTBEAT, before) if recipient.heartbeat else None


def known(recipient: Recipient, told: Told | None, latest: Audit) -> Audit | None:
    """The audit a recipient knows: the last one mailed, or the one they began with; `None` of a system new to them.

    Where that has gone (its upload was read again, retention), it is that of the capture before.
    """
    if told and (told.mailed or told.audit):
        return told.mailed or told.audit
    if told and (before := before_of(latest)):
        return before
    earlier = Audit.objects.filter(system=latest.system_id, shown__lte=recipient.created).exclude(pk=latest.pk)
    return earlier.order_by("-shown").first()


def before_of(latest: Audit) -> Audit | None:
    """The audit of the capture before, if any."""
    earlier = Capture.objects.filter(latest.capture.earlier(), system=latest.system_id).exclude(audit=None)
    capture = earlier.select_related("audit").order_by(*NEWEST_FIRST).first()
    return capture.audit if capture else None


def news(recipient: Recipient, before: Audit | None, latest: Audit) -> set[str]:
    """The findings, as keys, that are news for a recipient, at their level then or now.

    New, worse, better, gone, or not judged any more: nobody watches that one now. The audit this is mailed with is
    what the next is held against, so it is told once. What is judged by another limit says nothing of the server: it
    is no news. What is accepted is none either, whatever becomes of it meanwhile.
    """
    found = _changed(recipient, before, latest)
    accepted = accepted_in(latest) if found else {}
    return {key for key in found if key[:400] not in accepted}


def _changed(recipient: Recipient, before: Audit | None, latest: Audit) -> set[str]:
    """What differs at the recipient's level."""
    if before is None:
        return {key for key, level in latest.findings_digest.items() if level >= recipient.severity}
    found = difference(before, latest)
    changed = (*found.new, *found.worse, *found.better, *found.gone, *found.not_judged)
    levels = (before.findings_digest, latest.findings_digest)
    return {key for key in changed if max(digest.get(key, 0) for digest in levels) >= recipient.severity}


def _news_by_new_limits(recipient: Recipient, before: Audit | None, seen: Audit, latest: Audit) -> bool:
    """Whether something changed since the limits did: against an audit by other limits that cannot be told."""
    if before is None or before == seen:
        return False
    return bool(news(recipient, seen, latest) & set(difference(before, latest).limits))


def _told_all(system_id: int, only: Collection[int] | None) -> bool:
    """Tell everybody concerned of the newest audit; returns False where somebody else told one of them meanwhile."""
    system = System.objects.filter(pk=system_id).first()
    if system is None or system.snoozed:  # the sweep tells what differs when the snooze is over
        return True
    concerned = subscribers.concerned(system).select_related("team")
    hearers = [one for one in concerned if only is None or one.pk in only]
    tolds = _tolds(system, hearers)
    # Read after what was told: nobody has told of a newer audit than this one, or the guard below sees it.
    latest = _latest(system_id)
    if latest is None or _is_quiet(latest):
        return True
    now = timezone.now()
    all_told = True
    for one in hearers:
        told = tolds.get(one.pk)
        if (told and told.audit_id == latest.pk) or _is_past(one, latest) or not subscribers.its_day(one, now):
            continue
        all_told &= _tell_one(one, told, latest)
    return all_told


def _tell_one(recipient: Recipient, told: Told | None, latest: Audit) -> bool:
    """Tell one recipient; a fault in one letter keeps nobody else from theirs, and the next sweep tries it again."""
    try:
        letter = letter_of(recipient, told, latest)
        mail = _rendered(recipient, letter, latest) if letter else None
        with transaction.atomic():
            if not _advance(recipient, told, latest, sent=mail is not None):
                return False
            if mail is not None and letter is not None:
                _put(mail, letter, recipient, latest)
    except (Error, SoftTimeLimitExceeded):
        raise
    except Exception:
        LOG.exception("audit %s could not be reported to recipient %s", latest.pk, recipient.pk)
    return True


def _rendered(recipient: Recipient, letter: Notification, latest: Audit) -> outbox.Rendered | None:
    """Make the mail; `None` where no server can be given it, which is said beside the recipient."""
    if letter.kind == Mail.Kind.REPORT:
        message = report_message(recipient, latest, letter.before, after_trouble=letter.after_trouble)
    else:
        message = heartbeat_message(recipient, latest, letter.before)
    try:
        return outbox.render(message)
    except Unsendable as why:
        recipients.cannot_be_sent(recipient, why)
    return None


def _put(mail: outbox.Rendered, letter: Notification, recipient: Recipient, latest: Audit) -> None:
    outbox.put(
        mail,
        kind=letter.kind,
        key=f"audit:{recipient.pk}:{latest.pk}",
        team=recipient.team,
        recipient=recipient,
        system=latest.system,
        audit=latest,
    )


def _advance(recipient: Recipient, told: Told | None, latest: Audit, *, sent: bool) -> bool:
    """Note that the audit was looked at for them, as long as nobody else has; gives whether it was us.

    What was worth no mail moves nothing: the next audit is held against the same one as this.
    """
    before = told and (told.mailed_id or told.audit_id)
    values = {"audit": latest, "mailed_id": latest.pk if sent else before, "at": timezone.now()}
    if told is not None:
        return bool(Told.objects.filter(pk=told.pk, audit=told.audit_id).update(**values))
    try:
        with transaction.atomic():
            Told.objects.create(recipient=recipient, system=latest.system, **values)
    except IntegrityError:
        return False
    return True


def _tolds(system: System, hearers: list[Recipient]) -> dict[int, Told]:
    """What each of them was told last of the system."""
    compared = [f"{which}__{name}" for which in ("audit", "mailed") for name in ("capture", *COMPARED)]
    tolds = Told.objects.filter(system=system, recipient__in=hearers).select_related("audit", "mailed")
    return {one.recipient_id: one for one in tolds.only("recipient", "system", "at", *compared)}


def _latest(system_id: int) -> Audit | None:
    newest = System.objects.filter(pk=system_id).values("latest")
    return Audit.objects.select_related("system__team", "capture__upload").filter(pk__in=newest).first()


def _is_quiet(audit: Audit) -> bool:
    upload = audit.capture.upload
    return upload is not None and upload.origin in QUIET_ORIGINS


def _is_past(recipient: Recipient, audit: Audit) -> bool:
    """Whether an audit is from before somebody asked for mail."""
    return (audit.shown or audit.at) <= recipient.created


def _tell_held_back(now: datetime, until: float) -> None:
    """Tell what fell on a day without mail, or was lost on the way."""
    today = [one for one in subscribers.live().filter(subscribers.hears()) if subscribers.its_day(one, now)]
    waiting: defaultdict[int, set[int]] = defaultdict(set)
    for system_id, recipient_id in subscribers.untold(today, QUIET_ORIGINS):
        waiting[system_id].add(recipient_id)
    for system_id, hearers in waiting.items():
        if time.monotonic() > until:
            return
        notify(system_id, hearers)
