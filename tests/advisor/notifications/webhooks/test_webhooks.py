"""Webhooks: which audits are told to whom, what is sent, and that the receiver can be sure of it."""

import html
import re
import time
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.accounts.services.tokens import make_token
from advisor.audits.models import Audit
from advisor.notifications.models import Webhook
from advisor.notifications.webhooks import deliveries, setup, signing
from advisor.systems.models import Group, System
from advisor.uploads.models import Upload
from tests.advisor.notifications.webhooks import receivers
from tests.advisor.notifications.webhooks.receivers import Receiver, hook_for
from tests.advisor.people import AsUser, People

pytestmark = pytest.mark.postgres

Bring = Callable[..., Upload]
receiver = receivers.receiver
SECRET = re.compile(r'<pre id="made-secret">([^<]+)</pre>')


def test_an_audit_is_delivered_as_the_api_gives_it(
    people: People, bring: Bring, receiver: Receiver, settings: Settings
) -> None:
    settings.SITE_URL = "https://locks.example.org"
    hook, _ = hook_for(people.team, people.owner, receiver.url)
    bring("address_lock_storm")
    (sent,) = receiver.taken
    audit = Audit.objects.get()
    _, token = make_token(people.owner, "script", ["read"], None)
    given = Client().get(f"/api/audits/{audit.pk}", headers={"authorization": f"Bearer {token}"})
    row = hook.deliveries.get()
    assert sent.path == "/hook?who=us"
    assert sent.told == {
        "contract": "webhook/1",
        "event": "audit",
        "delivery": str(row.number),
        "system": {"id": audit.system_id, "name": "CLAIMS1", "product": audit.system.product, "team": "Claims"},
        "audit": given.json(),
        "address": f"https://locks.example.org/audits/{audit.pk}/",
    }
    assert sent.headers["Host"] == f"127.0.0.1:{receiver.port}"
    assert sent.headers["Content-Type"] == "application/json"
    assert sent.headers["User-Agent"].startswith("Lockwright/")
    assert sent.headers["Lockwright-Event"] == "audit"
    assert sent.headers["Lockwright-Delivery"] == str(row.number)
    assert (row.state, row.status, row.answer, row.tries) == ("done", 200, "thank you", 1)


def test_the_lines_shown_on_the_page_check_the_signature(
    people: People,
    receiver: Receiver,
    as_user: AsUser,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    client = as_user(people.administrator)
    add = reverse("administration-webhook-add", args=[people.team.pk])
    made = client.post(add, {"name": "pager", "url": receiver.url, "severity": "1"}).content.decode()
    secret = html.unescape(SECRET.findall(made)[0])
    hook = Webhook.objects.get()
    assert secret not in hook.secret_sealed
    page = client.get(reverse("administration-webhook", args=[hook.pk])).content.decode()
    assert secret not in page
    shown = re.search(r'<pre id="check"[^>]*>(.*?)</pre>', page, re.DOTALL)
    assert shown
    names: dict[str, Callable[[str, str, bytes], bool]] = {}
    exec(html.unescape(shown[1]), names)
    genuine = names["genuine"]
    with django_capture_on_commit_callbacks(execute=True):
        setup.ping(hook, people.administrator)
    (sent,) = receiver.taken
    said = sent.headers["Lockwright-Signature"]
    assert sent.told["event"] == "ping"
    assert genuine(secret, said, sent.body)
    assert not genuine(secret, said, sent.body + b" ")
    assert not genuine("another", said, sent.body)
    at = int(said.split(",")[0][2:])
    assert not genuine(secret, said.replace(str(at), str(at + 1)), sent.body)
    for nonsense in ("", "t=", "v1=", "t=x,v1=y", "=,=,=", "t"):
        assert not genuine(secret, nonsense, sent.body)


def test_a_signature_that_was_overheard_is_of_no_use_later(
    people: People, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook, secret = hook_for(people.team, people.owner, receiver.url)
    old = signing.signature(hook, b"{}")
    names: dict[str, Callable[[str, str, bytes], bool]] = {}
    exec(signing.CHECK, names)
    assert names["genuine"](secret, old, b"{}")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 301)
    assert not names["genuine"](secret, old, b"{}")


def test_a_renewed_secret_signs_at_once_and_the_one_before_for_a_day_more(
    people: People, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook, old = hook_for(people.team, people.owner, receiver.url)
    new = setup.renew_secret(hook, people.administrator)
    assert new != old
    names: dict[str, Callable[[str, str, bytes], bool]] = {}
    exec(signing.CHECK, names)
    said = signing.signature(hook, b"{}")
    assert names["genuine"](new, said, b"{}")
    assert names["genuine"](old, said, b"{}")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86401)
    said = signing.signature(hook, b"{}")
    assert names["genuine"](new, said, b"{}")
    assert not names["genuine"](old, said, b"{}")


def test_only_the_systems_of_the_webhook_are_told(people: People, storm: System, bring: Bring) -> None:
    every, _ = hook_for(people.team, people.owner, "http://127.0.0.1:1/")
    this, _ = hook_for(people.team, people.owner, "http://127.0.0.1:1/", name="this", systems=[storm])
    group = Group.objects.create(team=people.team, name="nodes")
    grouped, _ = hook_for(people.team, people.owner, "http://127.0.0.1:1/", name="grouped", groups=[group])
    other, _ = hook_for(people.other_team, people.stranger, "http://127.0.0.1:1/")
    bring("lock_bound_node")
    assert [hook.deliveries.count() for hook in (every, this, grouped, other)] == [1, 0, 0, 0]
    group.systems.add(storm)
    assert storm.latest
    deliveries.audited(storm.latest)
    assert [hook.deliveries.count() for hook in (every, this, grouped, other)] == [2, 1, 1, 0]


def test_a_severity_lets_less_pass_until_it_was_reached_and_is_over(people: People, storm_audit: Audit) -> None:
    hook, _ = hook_for(people.team, people.owner, "http://127.0.0.1:1/", severity=4)
    every, _ = hook_for(people.team, people.owner, "http://127.0.0.1:1/", name="every", severity=0)

    def audit(worst: int, **digest: int) -> int:
        made = Audit.objects.get(pk=storm_audit.pk)
        made.pk, made.worst, made.findings_digest = None, worst, digest
        made.shown = made.at = storm_audit.at.replace(year=2100 + Audit.objects.count())
        made.save()
        deliveries.audited(made)
        return hook.deliveries.count()

    Audit.objects.filter(pk=storm_audit.pk).update(worst=3)
    assert audit(3) == 0
    assert audit(4) == 1
    assert audit(3) == 2, "that it is over is told as well"
    assert audit(3) == 2
    assert every.deliveries.count() == 4


def test_only_changes_of_findings_are_told_where_that_is_asked_for(people: People, storm_audit: Audit) -> None:
    hook, _ = hook_for(people.team, people.owner, "http://127.0.0.1:1/", severity=3, only_changes=True)

    def audit(**digest: int) -> int:
        made = Audit.objects.get(pk=storm_audit.pk)
        made.pk, made.worst, made.findings_digest = None, max(digest.values(), default=0), digest
        made.shown = made.at = storm_audit.at.replace(year=2100 + Audit.objects.count())
        made.save()
        deliveries.audited(made)
        return hook.deliveries.count()

    Audit.objects.filter(pk=storm_audit.pk).update(findings_digest={"a": 3})
    assert audit(a=3) == 0
    assert audit(a=3, b=2) == 0, "new, and less than asked for"
    assert audit(a=4, b=2) == 1
    assert audit(a=4) == 1
    assert audit() == 2
    hook.deliveries.filter(audit__findings_digest={}).update(state="failed")
    assert audit() == 3, "what failed for good was never told"


def test_examples_are_told_to_nobody_and_an_audit_once(people: People, bring: Bring) -> None:
    hook, _ = hook_for(people.team, people.owner, "http://127.0.0.1:1/")
    bring("address_lock_storm", origin="example")
    assert not hook.deliveries.exists()
    bring("lock_bound_node")
    audit = System.objects.exclude(name="CLAIMS1").get().latest
    assert audit
    deliveries.audited(audit)
    assert hook.deliveries.count() == 1


def test_a_body_is_made_once_whatever_the_system_is_called_later(
    people: People, bring: Bring, receiver: Receiver, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    receiver.says = [(500, {}, b""), receivers.TAKES]
    hook, _ = hook_for(people.team, people.owner, receiver.url)
    bring("address_lock_storm")
    System.objects.update(name="RENAMED")
    receivers.later(60)
    (pk,) = deliveries.due_now()
    deliveries.deliver(pk)
    with django_capture_on_commit_callbacks(execute=True):
        setup.send_again(hook.deliveries.get(), people.owner)
    assert [one.body for one in receiver.taken] == [receiver.taken[0].body] * 3
    assert len({one.headers["Lockwright-Delivery"] for one in receiver.taken}) == 1


def test_an_audit_that_is_gone_before_it_was_sent_is_skipped_and_said(people: People, storm_audit: Audit) -> None:
    hook, _ = hook_for(people.team, people.owner, "http://127.0.0.1:1/")
    deliveries.audited(storm_audit)
    Audit.objects.all().delete()
    deliveries.deliver(hook.deliveries.get().pk)
    row = hook.deliveries.get()
    assert (row.state, row.error) == ("skipped", "the audit it was to tell of is no longer remembered")


def test_a_secret_that_cannot_be_read_any_more_is_said(people: People, receiver: Receiver, settings: Settings) -> None:
    hook, _ = hook_for(people.team, people.owner, receiver.url)
    row = receivers.delivery(hook)
    settings.SECRET_KEY = "another key, long enough for every check of it 0123456789 0123456789"
    deliveries.deliver(row.pk)
    row.refresh_from_db()
    assert "Renew the secret" in row.error
    assert not receiver.taken
    setup.renew_secret(hook, people.owner)
    setup.send_again(row, people.owner)
    deliveries.deliver(row.pk)
    row.refresh_from_db()
    assert row.state == "done"
