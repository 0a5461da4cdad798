"""The pages of webhooks: set up by administrators, every deed noted, what a stranger says shown as text."""

import re
import socket
import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.accounts.models import User
from advisor.core.models import JournalEntry
from advisor.notifications.models import Delivery, Webhook
from advisor.notifications.webhooks import deliveries, posting, setup
from advisor.notifications.webhooks.posting import BadAddress, checked_url
from advisor.systems.models import Group, System
from advisor.uploads.models import Upload
from tests.advisor.notifications.webhooks import receivers
from tests.advisor.notifications.webhooks.receivers import Receiver, delivery, hook_for
from tests.advisor.operations.administering import deeds
from tests.advisor.people import People, text_of
from tests.servers import PATIENCE

receiver = receivers.receiver
Commit = DjangoCaptureOnCommitCallbacks
EVIL = '"><script>alert(1)</script>'


@pytest.fixture
def client(people: People, as_user: Callable[[User], Client]) -> Client:
    return as_user(people.administrator)


def typed(**other: Any) -> dict[str, Any]:
    return {"name": "pager", "url": "https://pager.example.org/in", "severity": "3", **other}


def do(client: Client, what: str, hook: Webhook, *more: int, **held: Any) -> str:
    answer = client.post(reverse(f"administration-{what}", args=[hook.pk, *more]), held, follow=True)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_a_webhook_is_made_changed_paused_renewed_and_deleted_and_all_of_it_is_noted(
    client: Client, people: People, storm: System
) -> None:
    group = Group.objects.create(team=people.team, name="core")
    before = deeds().count()
    add = reverse("administration-webhook-add", args=[people.team.pk])
    assert "lwh_" in client.post(add, typed(systems=[storm.pk])).content.decode()
    hook = Webhook.objects.get()
    assert (hook.team, hook.by, hook.severity, list(hook.systems.all())) == (
        people.team, people.administrator, 3, [storm],
    )  # fmt: skip
    page = text_of(client, reverse("administration-webhook", args=[hook.pk]))
    assert "lwh_" not in page
    assert "Nothing has been sent yet" in page
    said = do(client, "webhook", hook, **typed(name="chat", severity="0", groups=[group.pk], only_changes="on"))
    assert "name pager to chat" in said
    assert "paused: nothing more is sent" in do(client, "webhook-pause", hook, do="pause")
    assert "Paused since" in do(client, "webhook-pause", hook, do="pause"), "twice is once"
    assert "is resumed" in do(client, "webhook-pause", hook, do="resume")
    assert "lwh_" in do(client, "webhook-secret", hook)
    assert "is deleted" in do(client, "webhook-delete", hook)
    noted = list(deeds().order_by("pk").values_list("action", "what", "team")[before:])
    team = people.team.pk
    assert noted == [
        (
            "webhook added",
            "pager: address https://pager.example.org/in; systems CLAIMS1; groups none; severity 3; tells every audit",
            team,
        ),
        (
            "webhook changed",
            "chat: name pager to chat; systems CLAIMS1 to none but the groups'; groups none to core; severity 3 to 0; "
            "tells every audit to changes",
            team,
        ),
        ("webhook paused", "chat", team),
        ("webhook resumed", "chat", team),
        ("webhook secret renewed", "chat", team),
        ("webhook deleted", "chat: https://pager.example.org/in", team),
    ]
    assert "lwh_" not in str(list(JournalEntry.objects.values_list("what", flat=True)))


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://host/", "begins with https://"),
        ("javascript:alert(1)", "begins with https://"),
        ("https://user:secret@host/", "Leave user and password out"),
        ("https://host/#part", "Leave out what follows #"),
        ("https:///path", "no host"),
        ("https://host:0/", "port 0"),
        ("https://host:99999/", "no address"),
        ("https://[::1/", "no address"),
        ("https://höst/", "ASCII letters"),
        ("https://host/a b", "ASCII letters"),
        ("https://host/\r\nX: y", "ASCII letters"),
        ("http://169.254.169.254/latest/meta-data/", "nothing is sent there"),
        ("http://[fe80::1]/", "nothing is sent there"),
        ("http://[fe80::1%25eth0]/", ""),
        ("http://[::ffff:169.254.169.254]/", "nothing is sent there"),
        ("http://[64:ff9b::a9fe:a9fe]/", "nothing is sent there"),
        ("http://[2002:a9fe:a9fe::]/", "nothing is sent there"),
        ("http://[fd00:ec2::254]/", "nothing is sent there"),
        ("http://168.63.129.16/machine", "nothing is sent there"),
        ("http://[fd20:ce::254]/", "nothing is sent there"),
        ("http://[fd00:c1::a9fe:a9fe]/", "nothing is sent there"),
        ("http://[64:ff9b:1::a9fe:a9fe]/", "nothing is sent there"),
        ("http://[2001:0:1::1]/", "nothing is sent there"),
        ("http://[::ffff:0:a9fe:a9fe]/", "nothing is sent there"),
        ("http://[::a9fe:a9fe]/", "nothing is sent there"),
        ("http://[2001:db8::5efe:169.254.169.254]/", "nothing is sent there"),
        ("http://2852039166/", "nothing is sent there"),
        ("http://0251.0376.0251.0376/", "nothing is sent there"),
        ("http://169.254.169.254./", "nothing is sent there"),
        ("http://[::ffff:127.0.0.1]/", "write it as 127.0.0.1"),
        ("http://[::ffff:7f00:1]/", "write it as 127.0.0.1"),
        ("http://[::ffff:0:7f00:1]/", "write it as 127.0.0.1"),
        ("http://[::7f00:1]/", "write it as 127.0.0.1"),
        ("http://[64:ff9b::7f00:1]/", "write it as 127.0.0.1"),
        ("http://[2002:7f00:1::]/", "write it as 127.0.0.1"),
        ("http://2130706433/", "write it as 127.0.0.1"),
        ("http://0x7f000001/", "write it as 127.0.0.1"),
        ("http://0177.0.0.01/", "write it as 127.0.0.1"),
        ("http://127.1/", "write it as 127.0.0.1"),
        ("http://a..b/", "is empty or longer than 63 letters"),
        ("http://.b/", "is empty or longer than 63 letters"),
        ("https://" + "x" * 64 + ".example.org/", "is empty or longer than 63 letters"),
        ("https://host/" + "x" * 500, ""),
        ("", "This field is required"),
    ],
)
def test_an_address_that_nothing_can_or_may_be_sent_to_is_refused(
    url: str, why: str, client: Client, people: People
) -> None:
    add = reverse("administration-webhook-add", args=[people.team.pk])
    page = client.post(add, typed(url=url)).content.decode()
    errors = " ".join(re.findall(r'<ul class="errorlist.*?</ul>', page, re.DOTALL))
    assert errors
    assert why in errors
    assert not Webhook.objects.exists()


@pytest.mark.parametrize(
    "host", ["2852039166", "0xa9fea9fe", "169.254.43518", "[::ffff:a9fe:a9fe]", "[::ffff:0:a9fe:a9fe]"]
)
def test_a_forbidden_address_is_seen_through_however_it_is_written(host: str, people: People) -> None:
    hook, _ = hook_for(people.team, people.owner, "http://127.0.0.1/")
    Webhook.objects.update(url=f"http://{host}/latest/")
    row = delivery(hook)
    deliveries.deliver(row.pk)
    row.refresh_from_db()
    assert (row.state, row.tries) == ("failed", 1)
    assert "nothing is sent there" in row.error


def test_what_the_name_server_says_later_makes_no_difference(
    people: People, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name is asked for once: an answer that was checked is the one that is used."""
    real, asked = socket.getaddrinfo, []

    def answers(host: str, *rest: Any, **more: Any) -> Any:
        asked.append(host)
        return real("127.0.0.1" if len(asked) == 1 else "169.254.169.254", *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", answers)
    hook, _ = hook_for(people.team, people.owner, f"http://rebound.example.org:{receiver.port}/")
    first, second = delivery(hook), delivery(hook, "ping 2")
    deliveries.deliver(first.pk)
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, second.state) == ("done", "failed")
    assert asked == ["rebound.example.org"] * 2, "once a try"
    assert receiver.taken[0].headers["Host"] == f"rebound.example.org:{receiver.port}"


@pytest.mark.parametrize(
    "url",
    [
        "http://alerts:8080/in",
        "https://a.b/c?d=e&f=%20",
        "http://10.0.0.7/",
        "https://[::1]/x",
        "https://a.b./",
        "https://[2001:db8::1]/",
    ],
)
def test_addresses_of_a_site_are_taken(url: str) -> None:
    assert checked_url(f" {url} ") == url


def test_a_host_of_several_addresses_is_reached_by_the_one_that_answers(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.getaddrinfo

    def both(host: str, port: int, *rest: Any, **more: Any) -> Any:
        return real("::1", port, *rest, **more) + real("127.0.0.1", port, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", both)
    assert posting.post(f"http://two.example.org:{receiver.port}/", b"{}", {}, seconds=PATIENCE).status == 200


def served_at_ipv6(monkeypatch: pytest.MonkeyPatch) -> socket.socket:
    """Serve at `::1`; on a machine without IPv6 that address leads to the other loopback."""
    try:
        return socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        real = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", lambda host, *rest, **more: real("127.0.0.1", *rest, **more))
        return socket.create_server(("127.0.0.1", 0))


def test_an_address_of_ipv6_is_named_in_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = []
    with served_at_ipv6(monkeypatch) as server:
        port = server.getsockname()[1]

        def answer() -> None:
            line, _ = server.accept()
            with line:
                heard.append(line.recv(10_000))
                line.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        assert posting.post(f"http://[::1]:{port}/in", b"{}", {}, seconds=PATIENCE).status == 204
        thread.join()
    assert f"\r\nHost: [::1]:{port}\r\n".encode() in heard[0]


def test_another_team_has_no_system_to_offer(client: Client, people: People, storm: System) -> None:
    add = reverse("administration-webhook-add", args=[people.other_team.pk])
    assert "CLAIMS1" not in text_of(client, add)
    assert "errorlist" in client.post(add, typed(systems=[storm.pk])).content.decode()
    with pytest.raises(setup.Refused):
        hook_for(people.other_team, people.stranger, "http://127.0.0.1/", systems=[storm])
    assert not Webhook.objects.exists()


def test_a_name_is_one_of_its_own_in_its_team(client: Client, people: People) -> None:
    hook_for(people.team, people.owner, "http://127.0.0.1/")
    add = reverse("administration-webhook-add", args=[people.team.pk])
    for name in ("pager", "PAGER", "\u202e"):
        assert "errorlist" in client.post(add, typed(name=name)).content.decode()
    other = reverse("administration-webhook-add", args=[people.other_team.pk])
    assert "lwh_" in client.post(other, typed()).content.decode()


def test_a_test_is_sent_and_what_the_receiver_said_stands_on_the_page_as_text(
    client: Client, people: People, receiver: Receiver, bring: Callable[..., Upload],
    django_capture_on_commit_callbacks: Commit,
) -> None:  # fmt: skip
    receiver.says = [(200, {}, EVIL.encode())]
    hook, _ = hook_for(people.team, people.owner, receiver.url, name=EVIL)
    with django_capture_on_commit_callbacks(execute=True):
        do(client, "webhook-test", hook)
    System.objects.update(name=EVIL)
    bring("lock_bound_node")
    System.objects.update(name=EVIL)
    page = text_of(client, reverse("administration-webhook", args=[hook.pk]))
    assert "taken" in page
    assert "a test" in page
    assert "&lt;script&gt;" in page
    assert EVIL not in page + text_of(client, reverse("administration-webhooks"))
    row = hook.deliveries.earliest("pk")
    with django_capture_on_commit_callbacks(execute=True):
        do(client, "delivery-again", hook, row.pk)
    sent = [one.headers["Lockwright-Delivery"] for one in receiver.taken]
    assert sent.count(str(row.number)) == 2
    assert deeds().filter(action="delivery sent again").count() == 1


def test_three_failures_in_a_row_are_said_and_one_that_is_taken_takes_that_back(
    client: Client, people: People, receiver: Receiver
) -> None:
    receiver.says = [(400, {}, b"")] * 3 + [receivers.TAKES]
    hook, _ = hook_for(people.team, people.owner, receiver.url)
    address = reverse("administration-webhook", args=[hook.pk])
    for number in range(3):
        assert "failed for good" not in text_of(client, address)
        deliveries.deliver(delivery(hook, f"ping {number}").pk)
    Delivery.objects.create(
        webhook=hook, key="audit 1", number=uuid4(), body=b"", state="skipped", finished=timezone.now()
    )
    assert "The last three deliveries failed for good" in text_of(client, address)
    assert "the last deliveries failed" in text_of(client, reverse("administration-webhooks"))
    hook.refresh_from_db()
    assert not hook.paused
    deliveries.deliver(delivery(hook, "ping 3").pk)
    assert "failed for good" not in text_of(client, address)


def test_a_webhook_that_its_receiver_paused_says_so(client: Client, people: People, receiver: Receiver) -> None:
    receiver.says = [(410, {}, b"")]
    hook, _ = hook_for(people.team, people.owner, receiver.url)
    deliveries.deliver(delivery(hook).pk)
    page = text_of(client, reverse("administration-webhook", args=[hook.pk]))
    assert "the receiver said that it is gone for good (410)" in page
    assert "Resume it first" in do(client, "webhook-test", hook)
    do(client, "webhook-pause", hook, do="resume")
    hook.refresh_from_db()
    do(client, "webhook-pause", hook, do="pause")
    page = text_of(client, reverse("administration-webhook", args=[hook.pk]))
    assert "paused since" in page.lower()


def test_a_delivery_of_another_webhook_is_not_found_by_this_one(
    client: Client, people: People, receiver: Receiver
) -> None:
    hook, _ = hook_for(people.team, people.owner, receiver.url)
    other, _ = hook_for(people.other_team, people.stranger, receiver.url)
    row = delivery(other)
    assert client.post(reverse("administration-delivery-again", args=[hook.pk, row.pk])).status_code == 404
    Delivery.objects.update(state="running")
    assert "being sent at this moment" in do(client, "delivery-again", other, row.pk)


def test_an_unusual_address_that_was_stored_is_refused_when_it_is_used(receiver: Receiver) -> None:
    with pytest.raises(BadAddress):
        posting.post(f"http://x:y@127.0.0.1:{receiver.port}/", b"{}", {}, seconds=PATIENCE)
    assert not receiver.taken
