"""Settings of webhooks while others change them too, in a list of many, and what of them the journal tells."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from advisor.accounts.models import Team, User
from advisor.core.models import JournalEntry
from advisor.notifications.models import Delivery, Webhook
from advisor.notifications.views import webhooks as doors
from advisor.notifications.webhooks import deliveries, posting, setup
from advisor.notifications.webhooks.setup import LOOKED_AT, Refused
from tests.advisor.notifications.webhooks import receivers
from tests.advisor.notifications.webhooks.receivers import Receiver, delivery, hook_for
from tests.advisor.people import People, text_of

receiver = receivers.receiver
SECRET = "https://user:pass@chat.example.org:8443/services/T0SECRET/B0SECRET?token=SECRET"


@pytest.fixture
def client(people: People, as_user: Callable[[User], Client]) -> Client:
    return as_user(people.administrator)


def end(hook: Webhook, *states: str) -> None:
    """Deliveries that ended so, one after the other."""
    base, now = hook.deliveries.count(), timezone.now()
    for number, state in enumerate(states, base):
        Delivery.objects.create(
            webhook=hook, key=f"ping {number}", number=uuid4(), body=b"", state=state,
            finished=now + timedelta(seconds=number),
        )  # fmt: skip


def other_makes(name: str, team: Team, by: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have somebody else make a webhook of this name after the look whether there is one."""
    real = posting.checked_url

    def meanwhile(url: str) -> str:
        monkeypatch.setattr(setup, "checked_url", real)
        hook_for(team, by, "http://127.0.0.1/", name=name)
        return real(url)

    monkeypatch.setattr(setup, "checked_url", meanwhile)


def test_who_is_second_with_a_name_is_told_so(client: Client, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    other_makes("pager", people.team, people.owner, monkeypatch)
    add = reverse("administration-webhook-add", args=[people.team.pk])
    answer = client.post(add, {"name": "pager", "url": "https://pager.example.org/in", "severity": "3"})
    assert answer.status_code == 200
    assert "Meanwhile somebody gave this name to another webhook" in answer.content.decode()
    hook, _ = hook_for(people.team, people.owner, "http://127.0.0.1/", name="chat")
    other_makes("siren", people.team, people.owner, monkeypatch)
    hook.name = "siren"
    with pytest.raises(Refused, match="Meanwhile"):
        setup.change(hook, people.owner)
    hook.refresh_from_db()
    assert hook.name == "chat"


@pytest.mark.parametrize(
    ("door", "held"),
    [
        ("webhook", {"name": "chat", "url": "https://chat.example.org/in", "severity": "3"}),
        ("webhook-pause", {"do": "pause"}),
        ("webhook-pause", {"do": "resume"}),
        ("webhook-delete", {}),
        ("webhook-secret", {}),
        ("webhook-test", {}),
    ],
)
def test_a_webhook_that_is_deleted_meanwhile_is_not_found(
    door: str, held: dict[str, str], client: Client, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook, _ = hook_for(people.team, people.owner, "http://127.0.0.1/")
    real, noted = doors._hook, JournalEntry.objects.filter(action__startswith="webhook").count()

    def meanwhile(pk: int) -> Webhook:
        found = real(pk)
        Webhook.objects.filter(pk=pk).delete()
        return found

    monkeypatch.setattr(doors, "_hook", meanwhile)
    assert client.post(reverse(f"administration-{door}", args=[hook.pk]), held).status_code == 404
    assert JournalEntry.objects.filter(action__startswith="webhook").count() == noted


def test_a_delivery_whose_webhook_is_deleted_meanwhile_is_not_sent_again(people: People) -> None:
    hook, _ = hook_for(people.team, people.owner, "http://127.0.0.1/")
    row = Delivery.objects.select_related("webhook").get(pk=delivery(hook).pk)
    Webhook.objects.all().delete()
    with pytest.raises(Webhook.DoesNotExist):
        setup.send_again(row, people.owner)


def test_the_list_costs_the_same_for_one_webhook_and_for_many(client: Client, people: People) -> None:
    address = reverse("administration-webhooks")
    costs = []
    for wanted in (1, 6):
        while Webhook.objects.count() < wanted:
            hook, _ = hook_for(people.team, people.owner, "http://127.0.0.1/", name=f"hook {Webhook.objects.count()}")
            end(hook, "failed", "done")
        with CaptureQueriesContext(
            connection,
        ) as asked:
            text_of(client, address)
        costs.append(len(asked))
    assert costs[0] == costs[1]


def test_of_each_webhook_the_last_hundred_deliveries_say_how_it_fares(people: People) -> None:
    fails, well, none = (hook_for(people.team, people.owner, "http://127.0.0.1/", name=name)[0] for name in "abc")
    end(well, "failed", "failed", "failed", "done")
    end(fails, *["done"] * (LOOKED_AT + 3), "failed", "failed", "skipped", "failed")
    end(well, "running", "waiting")
    found = setup.ended([fails, well, none])
    assert {pk: setup.failing(rows) for pk, rows in found.items()} == {
        fails.pk: True, well.pk: False, none.pk: False,
    }  # fmt: skip
    assert len(found[fails.pk]) == LOOKED_AT
    assert [row.state for row in found[well.pk]] == ["done", "failed", "failed", "failed"]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://chat.example.org:8443/services/T0/B0?token=x", "https://chat.example.org:8443/services/…"),
        ("https://user:pass@chat.example.org/in", "https://chat.example.org/in"),
        ("https://chat.example.org/in?token=x", "https://chat.example.org/in…"),
        ("https://chat.example.org", "https://chat.example.org/"),
        ("http://[::1]:8080/a/", "http://[::1]:8080/a"),
    ],
)
def test_an_address_in_short_tells_no_secret(url: str, shown: str) -> None:
    assert setup.in_short(url) == shown


def test_the_journal_tells_no_secret_of_an_address(people: People) -> None:
    url = SECRET.replace("user:pass@", "")
    hook, _ = hook_for(people.team, people.owner, url)
    hook.url = url + "2"
    setup.change(hook, people.owner)
    setup.remove(hook, people.owner)
    said = "\n".join(JournalEntry.objects.filter(action__startswith="webhook").values_list("what", flat=True))
    assert said.count("https://chat.example.org:8443/services/…") == 4, "added, changed from and to, deleted"
    assert "SECRET" not in said


def test_a_fault_of_ours_leaves_no_delivery_as_being_sent_and_holds_up_no_other(
    people: People, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = posting.post

    def falls(url: str, body: bytes, headers: Any, **more: Any) -> Any:
        if headers["Lockwright-Delivery"] == str(bad.number):
            raise RecursionError("unforeseen")
        return real(url, body, headers, **more)

    monkeypatch.setattr(deliveries, "post", falls)
    hook, _ = hook_for(people.team, people.owner, receiver.url)
    bad, good = delivery(hook), delivery(hook, "ping 2")
    deliveries.deliver(bad.pk)
    assert 25 < receivers.waits(bad) <= 30
    assert "A fault of this service" in bad.error
    good.refresh_from_db()
    assert good.state == "done"
    assert "unforeseen" in caplog.text
