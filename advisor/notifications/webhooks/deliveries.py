"""Webhooks: the JSON of audits, signed, delivered until taken or given up.

One process at a time speaks for a webhook and sends what is due, one after the other. Where a receiver does not
answer, or says that it is too busy, that is no fault of one delivery: all wait for the next try, so that a dead
receiver costs one wait for a connection now and then, however many deliveries there are, and never the mail its turn.
"""

import json
import logging
import time
import zlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Max, Q, QuerySet, Sum
from django.urls import reverse
from django.utils import timezone

from advisor.audits.models import Audit
from advisor.audits.services.contract import audit_json
from advisor.core import job_queue, journal
from advisor.core.job_queue import start
from advisor.core.sealing import Unsealable
from advisor.core.version import VERSION
from advisor.findings.services.pages import accepted_in
from advisor.notifications.models import Delivery, Webhook
from advisor.notifications.webhooks import signing
from advisor.notifications.webhooks.posting import (
    Answer,
    BadAddress,
    NoAnswer,
    post,
)
from advisor.systems.models import System
from advisor.systems.services.overview import COMPARED, difference

LOG = logging.getLogger(__name__)
WAITS = (30, 120, 600, 1800, 3600, 7200)
"""Seconds until the next try; the last one again and again (this project's figures)."""
GIVE_UP = timedelta(hours=24)
SECONDS = 30.0
"""The longest that one try may take."""
TURN = 60.0
"""Seconds after which a process lets others have their turn."""
LONGEST_ASKED = 3600.0
"""How long a receiver may ask us to wait (`Retry-After`)."""
BUSY = (429, 503)
"""Answers that speak of the receiver, not of the delivery."""
TRY_LATER = (408, 425, 429)
GONE = 410
OURS = 0
"""In the place of a status: the fault was our own, the receiver has no part in it and the others go on."""


def audited(audit: Audit) -> None:
    """Make the deliveries of a system's new audit, in the transaction that remembers it.

    Their bodies are made at the first try: an upload may hold a hundred systems, and their JSON would keep all other
    writers waiting (SQLite) for what a worker can do afterwards. It is made once and then stays what it is.
    """
    hooks = Webhook.objects.filter(team=audit.system.team_id, paused=None).prefetch_related(
        "systems", "groups__systems"
    )
    for hook in hooks:
        if _concerns(hook, audit.system_id) and _worth(hook, audit):
            put(hook, f"audit {audit.pk}", audit)


def put(hook: Webhook, key: str, audit: Audit | None = None) -> Delivery:
    """Make a delivery, once for a webhook and a key, and start it on commit."""
    named = {"audit": audit, "system": audit.system if audit else None, "number": uuid4(), "body": b""}
    row, _ = Delivery.objects.get_or_create(webhook=hook, key=key, defaults=named)
    start("notifications.deliver", row.pk)
    return row


def due_now() -> list[int]:
    """Deliveries to start now, one of each webhook: who sends that one sends the others as well."""
    due = job_queue.to_start(_live())
    first: dict[int, int] = {}
    for pk, hook in Delivery.objects.filter(pk__in=due).order_by("-pk").values_list("pk", "webhook"):
        first[hook] = pk
    return list(first.values())


def deliver(delivery_id: int) -> None:
    """Send one delivery, and what else is due of its webhook."""
    row = Delivery.objects.select_related("webhook").filter(pk=delivery_id).first()
    if row is None:
        return
    with job_queue.leased(f"webhook {row.webhook_id}") as ours:
        if not ours:  # who has it sends this one too, or the next tick starts it
            Delivery.objects.filter(pk=row.pk, state=Delivery.State.WAITING).update(queued=None)
            return
        # one that is being sent is ours if our own task comes back; else the least tried goes first, so that one which
        # its receiver cannot bear does not hold up the others
        next_one = row.pk if row.state == Delivery.State.RUNNING else _next(row.webhook_id)
        until = time.monotonic() + min(TURN, (settings.TASK_SECONDS - 5) / 3)
        while next_one is not None and time.monotonic() < until:
            if not _held_back(row.webhook_id) and (taken := job_queue.claim(_live(), next_one)):
                _send(taken)
            next_one = _next(row.webhook_id)
    if next_one is not None:
        start("notifications.deliver", next_one)


def reset_lost() -> None:
    """Free the deliveries whose worker has died: a day ends one, not a number of deaths, as tries are many here."""
    for row in job_queue.reset_lost(Delivery.objects.all()):
        young = timezone.now() - GIVE_UP
        lost = Delivery.objects.filter(pk=row.pk, state=Delivery.State.FAILED, created__gt=young)
        lost.update(state=Delivery.State.WAITING, finished=None, error="its worker ended before the answer came")


def let_go(hook: Webhook) -> None:
    """Have everything that waits for a webhook tried now."""
    Delivery.objects.filter(webhook=hook, state=Delivery.State.WAITING).update(not_before=timezone.now(), queued=None)


def _next(hook: int) -> int | None:
    """The delivery of a webhook to be sent next; `None`: none is due."""
    due = job_queue.due(_live().filter(webhook=hook))
    return due.order_by("tries", "pk").values_list("pk", flat=True).first()


def _live() -> QuerySet[Delivery]:
    """Deliveries that may be sent: what waits for a paused webhook waits on.

    Without a join: an update that finds its rows by one is no guard on PostgreSQL, which looks at the row alone again.
    """
    return Delivery.objects.select_related("webhook").filter(webhook__in=Webhook.objects.filter(paused=None))


def _concerns(hook: Webhook, system: int) -> bool:
    systems, groups = list(hook.systems.all()), list(hook.groups.all())
    named = systems + [one for group in groups for one in group.systems.all()]
    return not (systems or groups) or any(one.pk == system for one in named)


def _worth(hook: Webhook, audit: Audit) -> bool:
    """Whether a webhook wants this audit, held against what it was last told or the audit before.

    What is accepted is no news, whatever becomes of it meanwhile (as for mail).
    """
    never = (Delivery.State.FAILED, Delivery.State.SKIPPED)
    last = hook.deliveries.filter(system=audit.system_id).exclude(audit=None).exclude(state__in=never).order_by("-pk")
    told = last.values_list("audit", flat=True).first()
    light = Audit.objects.only("worst", *COMPARED).filter(system=audit.system_id)
    shown = light.filter(shown__lt=audit.shown or audit.at).exclude(pk=audit.pk).order_by("-shown")
    before = light.get(pk=told) if told else shown.first()
    accepted = accepted_in(audit)
    if not accepted and (before is None or not hook.only_changes):
        return max(audit.worst, before.worst if before else 0) >= hook.severity
    old, new = before.findings_digest if before else {}, audit.findings_digest
    keys: Iterable[str] = (*old, *new)
    if before and hook.only_changes:
        changed = difference(before, audit)
        keys = (*changed.new, *changed.worse, *changed.better, *changed.gone)
    levels = (max(old.get(key, 0), new.get(key, 0)) for key in keys if key[:400] not in accepted)
    return any(level >= hook.severity for level in levels) or (hook.severity == 0 and not hook.only_changes)


def _send(row: Delivery) -> None:
    """One try of a delivery that we have; whatever goes wrong, it does not stay as being sent."""
    try:
        _try(row)
    except (OperationalError, InterfaceError):  # the database is away: the task comes again
        raise
    except Exception:
        LOG.exception("delivery %s failed by a fault of ours", row.number)
        error = "A fault of this service kept it from being sent. Its log says which: report it."
        _again(row, error, status=OURS, answer="")


def _try(row: Delivery) -> None:
    """Post it, and note what came of it."""
    hook, body = row.webhook, _body(row)
    if body is None:
        why = "the audit it was to tell of is no longer remembered"
        job_queue.finish(row, Delivery.State.SKIPPED, error=why)
        return
    try:
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"Lockwright/{VERSION}",
            "Lockwright-Event": json.loads(body)["event"],
            "Lockwright-Delivery": str(row.number),
            "Lockwright-Signature": signing.signature(hook, body),
        }
        said = post(hook.url, body, headers, seconds=min(SECONDS, (settings.TASK_SECONDS - 5) / 2))
    except Unsealable:
        error = "The secret cannot be read: the secret key of this site has changed. Renew the secret, then send again."
        job_queue.finish(row, Delivery.State.FAILED, status=None, answer="", error=error)
    except BadAddress as refused:
        job_queue.finish(row, Delivery.State.FAILED, status=None, answer="", error=f"{refused} Change the address.")
    except NoAnswer as none:
        _again(row, str(none), status=None, answer="")
    else:
        _answered(row, said)


def _answered(row: Delivery, said: Answer) -> None:
    """The receiver took it, wants it later, or refuses it."""
    told: dict[str, Any] = {"status": said.status, "answer": said.text}
    if 200 <= said.status < 300:
        job_queue.finish(row, error="", **told)
    elif said.status == GONE:
        error = "The receiver says that it is gone for good (410): the webhook is paused. Correct its address, resume."
        with transaction.atomic():
            if job_queue.finish(row, Delivery.State.FAILED, error=error, **told):
                Webhook.objects.filter(pk=row.webhook_id, paused=None).update(paused=timezone.now())
                journal.note(None, "webhook paused", f"{row.webhook}: it answered 410 Gone", team=row.webhook.team)
    elif 400 <= said.status < 500 and said.status not in TRY_LATER:
        error = f"The receiver refuses it ({said.status}). Look into its log, then send it again."
        job_queue.finish(row, Delivery.State.FAILED, error=error, **told)
    elif 300 <= said.status < 400:
        where = f" to {said.location}" if said.location else ""
        _again(row, f"It redirects ({said.status}){where}, which is not followed. Write that address.", **told)
    else:
        error = f"The receiver could not take it ({said.status}). Its log may say why."
        _again(row, error, asked=min(said.retry_after or 0, LONGEST_ASKED), **told)


def _again(row: Delivery, error: str, *, asked: float = 0, **told: Any) -> None:
    """Have it tried again later, and others of a receiver that is away or busy no sooner (`_held_back`); or give up."""
    now, away = timezone.now(), told["status"] is None or told["status"] in BUSY
    others = _those_held(row.webhook_id).aggregate(n=Sum("tries"))["n"] if away else 0
    wait = max(asked, WAITS[min(row.tries + (others or 0), len(WAITS)) - 1])
    too_old = now + timedelta(seconds=wait) - GIVE_UP
    job_queue.retry_later(row, error, [wait] * row.tries if row.created > too_old else (), **told)
    if away:
        waiting = Delivery.objects.filter(webhook=row.webhook_id, state=Delivery.State.WAITING)
        given_up = waiting.filter(created__lte=too_old).exclude(pk=row.pk)
        given_up.update(state=Delivery.State.FAILED, finished=now, error=error)


def _those_held(hook: int) -> QuerySet[Delivery]:
    """Deliveries that wait because a receiver was away or busy when they were tried."""
    spoke = Q(status=None) | Q(status__in=BUSY)
    return Delivery.objects.filter(spoke, webhook=hook, state=Delivery.State.WAITING, tries__gt=0)


def _held_back(hook: int) -> bool:
    """Whether the receiver was away a moment ago: then what is due waits with what was tried."""
    now = timezone.now()
    held = _those_held(hook).filter(not_before__gt=now, not_before__lte=now + job_queue.MOST_WAIT)
    until: datetime | None = held.aggregate(until=Max("not_before"))["until"]
    if until is None:
        return False
    due = Delivery.objects.filter(webhook=hook, state=Delivery.State.WAITING, not_before__lt=until)
    due.update(not_before=until, queued=None)
    return True


def _body(row: Delivery) -> bytes | None:
    """What is sent, made at the first try; `None` where the audit has gone meanwhile."""
    held = bytes(row.body)
    if not held:
        made = _compose(row)
        if made is None:
            return None
        Delivery.objects.filter(pk=row.pk, body=b"").update(body=zlib.compress(made))
        held = bytes(Delivery.objects.values_list("body", flat=True).get(pk=row.pk))
    return zlib.decompress(held)


def _compose(row: Delivery) -> bytes | None:
    """The JSON `webhook/1`: of an audit, or of a ping, which tells of none."""
    told: dict[str, Any] = {"contract": "webhook/1", "event": "ping", "delivery": str(row.number)}
    told |= {"system": None, "audit": None, "address": f"{settings.SITE_URL}/"}
    if not row.key.startswith("ping "):
        whole = Audit.objects.select_related("capture__system__team", "capture__upload")
        audit = whole.filter(pk=row.audit_id).first() if row.audit_id else None
        if audit is None:
            return None
        told |= {"event": "audit", "system": _system(audit.capture.system), "audit": audit_json(audit, states=True)}
        told["address"] = settings.SITE_URL + reverse("audit", args=[audit.pk])
    return json.dumps(told, cls=DjangoJSONEncoder, separators=(",", ":")).encode()


def _system(system: System) -> dict[str, Any]:
    return {"id": system.pk, "name": system.name, "product": system.product, "team": system.team.name}
