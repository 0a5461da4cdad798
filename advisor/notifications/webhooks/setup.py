"""Webhooks as an administrator sets them up: made, changed, paused, renewed, tried out. Everything is noted."""

from collections.abc import Iterable
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.db.models.signals import pre_delete
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import User
from advisor.core import journal
from advisor.core.job_queue import start
from advisor.core.records import Records
from advisor.core.records import Refused as Refused  # which the tests of its faults name here
from advisor.core.sealing import Unsealable
from advisor.notifications.models import Delivery, Webhook
from advisor.notifications.webhooks import deliveries, signing
from advisor.notifications.webhooks.posting import BadAddress, checked_url
from advisor.systems.models import Group, System
from advisor.uploads.services.uploads import clean_text

IN_A_ROW = 3
"""So many deliveries that failed for good, one after the other, are trouble (this project's figure)."""

LOOKED_AT = 100
WRITTEN = ("name", "url", "severity", "only_changes")


class Webhooks(Records[Webhook]):
    """Webhooks as they are kept."""

    model, kind, removed, no_key = Webhook, "webhook", "deleted", True
    taken = "Meanwhile somebody gave this name to another webhook, or deleted what was chosen. Load this page again."
    lost = taken

    def told(self, deed: str, row: Webhook) -> str:
        """What it is where it comes, where it led where it goes; never its secret."""
        if deed == self.added:
            return f"{row}: " + "; ".join(
                f"{name} {self.shown(name, said)}" for name, said in self.words(row).items() if name != "name"
            )
        return f"{row}: {in_short(row.url)}" if deed == self.removed else str(row)

    def words(self, row: Webhook) -> dict[str, str]:
        """All but its secret."""
        systems = ", ".join(sorted(one.name for one in row.systems.all()))
        groups = ", ".join(sorted(one.name for one in row.groups.all()))
        return {
            "name": row.name,
            "address": row.url,
            "systems": systems or ("none but the groups'" if groups else "all"),
            "groups": groups or "none",
            "severity": str(row.severity),
            "tells": "changes" if row.only_changes else "every audit",
        }

    def shown(self, name: str, value: str) -> str:
        """As the journal has it, which more people read than set up webhooks."""
        return in_short(value) if name == "address" else value

    def turned(self, row: Webhook) -> None:
        """Send what waits; audits of the pause are not told afterwards."""
        if not row.paused:
            deliveries.let_go(row)


WEBHOOKS = Webhooks()
pause, resume, remove = WEBHOOKS.pause, WEBHOOKS.resume, WEBHOOKS.remove
"""Paused, nothing more is made and sent for it, and what waits is kept; removed, its deliveries go with it."""


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
    with WEBHOOKS.adding(hook, by, request):
        _store(hook, systems, groups)
    return secret


def change(
    hook: Webhook,
    by: User,
    systems: Iterable[System] = (),
    groups: Iterable[Group] = (),
    request: HttpRequest | None = None,
) -> list[str]:
    """Store a changed webhook; gives what is other than before, in words. Raises `Refused`, `Webhook.DoesNotExist`."""
    with WEBHOOKS.changing(hook, by, request) as change:
        for name in WRITTEN:
            setattr(change.row, name, getattr(hook, name))
        _store(change.row, systems, groups)
    return change.said


def renew_secret(hook: Webhook, by: User, request: HttpRequest | None = None) -> str:
    """Make a new secret, shown this once; the one before signs as well for a day, if it can still be read.

    Raises `Webhook.DoesNotExist`.
    """
    secret = signing.new_secret()
    with WEBHOOKS.held(hook) as stored:
        try:
            hook.secret_sealed = signing.renewed(stored, secret)
        except Unsealable:
            hook.secret_sealed = signing.sealed(secret)
        hook.save(update_fields=["secret_sealed"])
        journal.note(by, "webhook secret renewed", str(hook), about=hook, request=request)
    return secret


def ping(hook: Webhook, by: User, request: HttpRequest | None = None) -> Delivery:
    """Send a delivery that tells of no audit, and have what waits tried with it.

    Raises `Refused`, `Webhook.DoesNotExist`.
    """
    with WEBHOOKS.held(hook) as stored:
        _live(stored)
        deliveries.let_go(hook)
        journal.note(by, "webhook tried out", str(hook), about=hook, request=request)
        return deliveries.put(hook, f"ping {token_hex(8)}")


def send_again(row: Delivery, by: User, request: HttpRequest | None = None) -> None:
    """Send a delivery once more, or now instead of later: the same number, the same body.

    Raises `Refused`, `Webhook.DoesNotExist`.
    """
    now = timezone.now()
    afresh = {"state": Delivery.State.WAITING, "created": now, "tries": 0, "finished": None, "error": ""}
    with WEBHOOKS.held(row.webhook) as stored:
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
        hook.save(update_fields=WRITTEN)
    hook.systems.set(systems)
    hook.groups.set(groups)


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
            WEBHOOKS.note(None, "paused", hook, None, what)
