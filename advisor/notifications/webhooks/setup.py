"""Webhooks as an administrator sets them up: made, changed, paused, renewed, tried out. Everything is noted."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction
from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.db.models.signals import pre_delete
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import User
from advisor.core import journal
from advisor.core.job_queue import start
from advisor.core.sealing import Unsealable
from advisor.notifications.models import Delivery, Webhook
from advisor.notifications.webhooks import deliveries, signing
from advisor.notifications.webhooks.posting import BadAddress, checked_url
from advisor.systems.models import Group, System
from advisor.uploads.services.uploads import clean_text

IN_A_ROW = 3
"""So many deliveries that failed for good, one after the other, are trouble (this project's figure)."""

LOOKED_AT = 100


class Refused(ValueError):
    """What may not be done, and why, for the person who asked."""


def make(
    hook: Webhook,
    by: User,
    systems: Iterable[System] = (),
    groups: Iterable[Group] = (),
    request: HttpRequest | None = None,
) -> str:
    """Store a new webhook and give its secret, which nobody is shown again. Raises `Refused`.

    No systems and no groups: every system of the team.
    """
    secret = signing.new_secret()
    hook.by, hook.secret_sealed = by, signing.sealed(secret)
    with _checked(), transaction.atomic():
        _store(hook, systems, groups)
        journal.note(by, "webhook added", f"{hook}: {in_words(hook)}", team=hook.team, request=request)
    return secret


def change(
    hook: Webhook,
    by: User,
    systems: Iterable[System] = (),
    groups: Iterable[Group] = (),
    request: HttpRequest | None = None,
) -> list[str]:
    """Store a changed webhook; gives what is other than before, in words. Raises `Refused`, `Webhook.DoesNotExist`."""
    with _checked(), _held(hook) as stored:
        before = _words(stored)
        _store(hook, systems, groups)
        changed = journal.changes(before, _words(hook), _told)
        what = f"{hook}: {'; '.join(changed) or 'nothing'}"
        journal.note(by, "webhook changed", what, team=hook.team, request=request)
    return changed


def pause(hook: Webhook, by: User, request: HttpRequest | None = None) -> None:
    """Make and send nothing more for it; what waits is kept. Raises `Webhook.DoesNotExist`."""
    with _held(hook):
        if Webhook.objects.filter(pk=hook.pk, paused=None).update(paused=timezone.now()):
            journal.note(by, "webhook paused", str(hook), team=hook.team, request=request)


def resume(hook: Webhook, by: User, request: HttpRequest | None = None) -> None:
    """Send what waits, and tell of audits again; those of the pause are not told afterwards.

    Raises `Webhook.DoesNotExist`.
    """
    with _held(hook):
        if Webhook.objects.filter(pk=hook.pk).exclude(paused=None).update(paused=None):
            deliveries.let_go(hook)
            journal.note(by, "webhook resumed", str(hook), team=hook.team, request=request)


def remove(hook: Webhook, by: User, request: HttpRequest | None = None) -> None:
    """Delete a webhook and its deliveries, sent or not. Raises `Webhook.DoesNotExist`."""
    with _held(hook):
        journal.note(by, "webhook deleted", f"{hook}: {in_short(hook.url)}", team=hook.team, request=request)
        hook.delete()


def renew_secret(hook: Webhook, by: User, request: HttpRequest | None = None) -> str:
    """Make a new secret, shown this once; the one before signs as well for a day, if it can still be read.

    Raises `Webhook.DoesNotExist`.
    """
    secret = signing.new_secret()
    with _held(hook) as stored:
        try:
            hook.secret_sealed = signing.renewed(stored, secret)
        except Unsealable:
            hook.secret_sealed = signing.sealed(secret)
        hook.save(update_fields=["secret_sealed"])
        journal.note(by, "webhook secret renewed", str(hook), team=hook.team, request=request)
    return secret


def ping(hook: Webhook, by: User, request: HttpRequest | None = None) -> Delivery:
    """Send a delivery that tells of no audit, and have what waits tried with it.

    Raises `Refused`, `Webhook.DoesNotExist`.
    """
    with _held(hook) as stored:
        _live(stored)
        deliveries.let_go(hook)
        journal.note(by, "webhook tried out", str(hook), team=hook.team, request=request)
        return deliveries.put(hook, f"ping {token_hex(8)}")


def send_again(row: Delivery, by: User, request: HttpRequest | None = None) -> None:
    """Send a delivery once more, or now instead of later: the same number, the same body.

    Raises `Refused`, `Webhook.DoesNotExist`.
    """
    now = timezone.now()
    afresh = {"state": Delivery.State.WAITING, "created": now, "tries": 0, "finished": None, "error": ""}
    with _held(row.webhook) as stored:
        _live(stored)
        free = Delivery.objects.filter(pk=row.pk).exclude(state=Delivery.State.RUNNING)
        if not free.update(**afresh, status=None, answer=""):
            raise Refused("It is being sent at this moment.")
        deliveries.let_go(row.webhook)
        journal.note(
            by, "delivery sent again", f"{row.webhook}: {row.key}", system=row.system, team=row.webhook.team,
            request=request,
        )  # fmt: skip
        start("notifications.deliver", row.pk)


def ended(hooks: Iterable[Webhook]) -> dict[int, list[Delivery]]:
    """For each webhook, by its key, the deliveries that ended of its last hundred, the last one first.

    Two queries, however many webhooks: from where on a hundred are, and these. Sorted here: no index is by their end.
    """
    found: dict[int, list[Delivery]] = {hook.pk: [] for hook in hooks}
    hundredth = Delivery.objects.filter(webhook=OuterRef("pk")).order_by("-pk").values("pk")[LOOKED_AT - 1 : LOOKED_AT]
    since = Webhook.objects.filter(pk__in=found).annotate(since=Coalesce(Subquery(hundredth), 0))
    last = Q(pk__in=[])
    for pk, number in since.values_list("pk", "since"):
        last |= Q(webhook=pk, pk__gte=number)
    for row in Delivery.objects.filter(last, finished__isnull=False).only("state", "finished", "webhook"):
        if row.settled:
            found[row.webhook_id].append(row)
    for rows in found.values():
        rows.sort(key=lambda row: row.finished or row.created, reverse=True)
    return found


def failing(ended: Iterable[Delivery]) -> bool:
    """Whether of these, the last one first, the last ones failed for good, one after the other."""
    states = [row.state for row in ended if row.state != Delivery.State.SKIPPED][:IN_A_ROW]
    return states == [Delivery.State.FAILED] * IN_A_ROW


def in_short(url: str) -> str:
    """Where an address leads, without what may be a secret: the host, and its path up to the first part."""
    parts = urlsplit(url)
    first, _, more = parts.path[1:].partition("/")
    shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/{first}"
    return f"{shown}/…" if more else f"{shown}…" if parts.query else shown


def in_words(hook: Webhook) -> str:
    """What a webhook is, for the journal; never its secret."""
    return "; ".join(f"{name} {_told(name, said)}" for name, said in _words(hook).items() if name != "name")


def _told(name: str, said: str) -> str:
    """One of the words as the journal has it, which more people read than set up webhooks."""
    return in_short(said) if name == "address" else said


def _words(hook: Webhook) -> dict[str, str]:
    systems = ", ".join(sorted(one.name for one in hook.systems.all()))
    groups = ", ".join(sorted(one.name for one in hook.groups.all()))
    return {
        "name": hook.name,
        "address": hook.url,
        "systems": systems or ("none but the groups'" if groups else "all"),
        "groups": groups or "none",
        "severity": str(hook.severity),
        "tells": "changes" if hook.only_changes else "every audit",
    }


def _store(hook: Webhook, systems: Iterable[System], groups: Iterable[Group]) -> None:
    """Store what may be. Raises `Refused`."""
    systems, groups = list(systems), list(groups)
    hook.name = clean_text(hook.name, 80)
    if not hook.name:
        raise Refused("A webhook needs a name: say what receives it.")
    if Webhook.objects.filter(team=hook.team, name__iexact=hook.name).exclude(pk=hook.pk).exists():
        raise Refused("The team has a webhook of this name. Choose another name.")
    if ({one.team_id for one in systems} | {one.team_id for one in groups}) - {hook.team_id}:
        raise Refused("A webhook tells of systems of its own team alone.")
    try:
        hook.url = checked_url(hook.url)
    except BadAddress as bad:
        raise Refused(str(bad)) from None
    hook.severity = min(max(hook.severity, 0), 4)
    if hook.pk is None:
        hook.save()
    else:
        hook.save(update_fields=["name", "url", "severity", "only_changes"])
    hook.systems.set(systems)
    hook.groups.set(groups)


@contextmanager
def _held(hook: Webhook) -> Iterator[Webhook]:
    """A transaction in which nobody else changes or deletes the webhook; gives it as it is stored.

    Raises `Webhook.DoesNotExist` where it was deleted meanwhile.
    """
    with transaction.atomic():
        yield Webhook.objects.select_for_update(no_key=True).get(pk=hook.pk)


@contextmanager
def _checked() -> Iterator[None]:
    """Raises `Refused` where the database found what a look beforehand could not: somebody was quicker."""
    try:
        yield
    except IntegrityError:
        says = "Meanwhile somebody gave this name to another webhook, or deleted what was chosen. Load this page again."
        raise Refused(says) from None


def _live(hook: Webhook) -> None:
    if hook.paused:
        raise Refused("The webhook is paused. Resume it first.")


def listen() -> None:
    """Hear of systems and groups that go: a webhook about nothing else must not be about everything then."""
    pre_delete.connect(_left_alone, sender=System, dispatch_uid="webhooks of a system")
    pre_delete.connect(_left_alone, sender=Group, dispatch_uid="webhooks of a group")


def _left_alone(sender: type[System | Group], instance: System | Group, **rest: Any) -> None:
    for hook in instance.webhooks.filter(paused=None):
        if hook.systems.count() + hook.groups.count() == 1:
            Webhook.objects.filter(pk=hook.pk).update(paused=timezone.now())
            what = f"{hook}: the last it was about, {instance.name}, is gone"
            journal.note(None, "webhook paused", what, team=hook.team)
