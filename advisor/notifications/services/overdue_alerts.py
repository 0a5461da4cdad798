"""Systems not audited any more: each recipient is told once an episode."""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import uuid4

from celery.exceptions import SoftTimeLimitExceeded
from django.db import Error, transaction
from django.db.models import Q
from django.utils import timezone

from advisor.accounts.models import Team
from advisor.audits.models import Audit
from advisor.notifications.mail.not_audited import not_audited_message
from advisor.notifications.models import Mail, Recipient
from advisor.notifications.services import outbox, subscribers
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services import failures
from advisor.schedules.services.failures import Missing
from advisor.systems.models import System
from advisor.systems.services.overview import is_overdue
from advisor.uploads.models import Upload

LOG = logging.getLogger(__name__)
MOST_MAILS = 5
"""More systems that are lost at once are told in one mail (this project's figure)."""
CATCHING_UP = timedelta(minutes=10)
"""So long a run that makes up for missed ones may take before what it is to audit counts as not audited."""
UNCLAIMED = timedelta(seconds=30)
"""A schedule that is due for longer was not looked at: the service was away, and makes up for it now."""
KEYS_AT_A_TIME = 500


def tell_silent(now: datetime) -> None:
    """Put into the outbox what is to be told of systems and schedules that bring no audit any more."""
    hearers = subscribers.live().filter(not_audited=True)
    for team in Team.objects.filter(recipients__in=hearers).distinct():
        missing = failures.not_audited(team, now)
        if not missing:
            continue
        soon = _caught_up_soon(team, now)
        lost = [one for one in missing if one.system is None or one.system.pk not in soon]
        for recipient in hearers.filter(team=team).select_related("team"):
            if subscribers.its_day(recipient, now):
                _tell(recipient, lost)


def told_of(recipient: Recipient, latest: Audit, since: datetime | None) -> str:
    """Since when a system was not audited, where a recipient was told so after `since` and before this audit.

    Empty as well while the system is not audited now: an older audit that is told late ends nothing.
    """
    told = Mail.objects.filter(kind=Mail.Kind.NOT_AUDITED, recipient=recipient, system=latest.system_id)
    told = told.filter(created__lt=latest.shown or latest.at).exclude(state=Mail.State.SKIPPED, size__gt=0)
    if since is not None:
        told = told.filter(created__gt=since)
    key = told.order_by("-created").values_list("key", flat=True).first()
    if key is None or latest.system.troubled or is_overdue(latest.system, timezone.now()):
        return ""
    began = datetime.fromisoformat(key.split(":", 3)[3])
    return f"It had not been audited since {timezone.localtime(began):%Y-%m-%d %H:%M}."


def key_of(recipient: Recipient, missing: Missing) -> str:
    """What a mail that something is not audited is known by: one an episode and recipient."""
    what = f"system {missing.system.pk}" if missing.system else f"schedule {missing.schedule and missing.schedule.pk}"
    return f"not-audited:{recipient.pk}:{what}:{missing.since.isoformat()}"


def _tell(recipient: Recipient, lost: list[Missing]) -> None:
    try:
        fresh = _fresh(recipient, lost)
        together = len(fresh) > MOST_MAILS
        for some in [fresh] if together else [[one] for one in fresh]:
            _put(recipient, some)
    except (Error, SoftTimeLimitExceeded):
        raise
    except Exception:  # nobody else goes without theirs; the next sweep tries it again
        LOG.exception("what is not audited could not be reported to recipient %s", recipient.pk)


def _fresh(recipient: Recipient, lost: list[Missing]) -> list[Missing]:
    """What of it concerns a recipient and was not told to them yet."""
    systems, schedules = _about(recipient)
    found = {}
    for one in lost:
        known = systems is None or (one.system.pk in systems if one.system else _of(one.schedule, schedules))
        if known:
            found[key_of(recipient, one)] = one
    told: set[str] = set()
    keys = list(found)
    for at in range(0, len(keys), KEYS_AT_A_TIME):
        some = keys[at : at + KEYS_AT_A_TIME]
        told |= set(Mail.objects.filter(key__in=some).values_list("key", flat=True))
    return [one for key, one in found.items() if key not in told]


def _about(recipient: Recipient) -> tuple[set[int] | None, set[int]]:
    """The systems and the schedules a recipient is about; `None` for all of the team."""
    if not subscribers.choosing().filter(pk=recipient.pk).exists():
        return None, set()
    systems = set(subscribers.about(recipient).values_list("pk", flat=True))
    theirs = Schedule.objects.filter(Q(group__recipients=recipient) | Q(system__in=systems), team=recipient.team)
    return systems, set(theirs.values_list("pk", flat=True))


def _of(schedule: Schedule | None, schedules: set[int]) -> bool:
    return schedule is not None and schedule.pk in schedules


def _put(recipient: Recipient, fresh: list[Missing]) -> None:
    """Tell of these in one mail, known by the first; the others are remembered by rows that hold no mail."""
    first, *others = fresh
    made = outbox.render(not_audited_message(recipient, fresh if others else first))
    with transaction.atomic():
        mail = outbox.put(
            made,
            kind=Mail.Kind.NOT_AUDITED,
            key=key_of(recipient, first),
            team=recipient.team,
            recipient=recipient,
            system=first.system,
        )
        if mail is not None:
            Mail.objects.bulk_create(_marks(recipient, others, mail), batch_size=200, ignore_conflicts=True)


def _marks(recipient: Recipient, others: list[Missing], mail: Mail) -> Iterator[Mail]:
    for one in others:
        yield Mail(
            key=key_of(recipient, one),
            kind=Mail.Kind.NOT_AUDITED,
            team=recipient.team,
            recipient=recipient,
            system=one.system,
            to=mail.to,
            subject=mail.subject,
            message_id=f"with-{mail.pk}-{uuid4()}",
            message=b"",
            size=0,
            state=Mail.State.SKIPPED,
            finished=mail.created,
            error=f"Reported by mail {mail.pk}, with others.",
        )


def _caught_up_soon(team: Team, now: datetime) -> set[int]:
    """The systems whose schedules make up just now for what was missed while the service was away."""
    ours = Schedule.objects.filter(team=team, paused=None)
    late = Q(missed__gt=0) | Q(late_seconds__gt=0)
    at_it = Q(state__in=(Run.State.WAITING, Run.State.RUNNING)) | Q(
        uploads__state__in=(Upload.State.WAITING, Upload.State.READING)
    )
    runs = Run.objects.filter(late, at_it, schedule__team=team, created__gt=now - CATCHING_UP)
    busy = ours.filter(Q(next_due__lt=now - UNCLAIMED) | Q(pk__in=runs.values("schedule"))).values(
        "pk", "system", "group"
    )
    pks = {one["pk"] for one in busy}
    if not pks:
        return set()
    systems = System.objects.filter(team=team)
    if not any(one["system"] is None and one["group"] is None for one in busy):
        systems = systems.filter(Q(schedules__in=pks) | Q(groups__schedules__in=pks))
    return set(systems.values_list("pk", flat=True))
