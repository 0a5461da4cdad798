"""Webhooks whose receiver is away, busy, slow, wrong or hostile: tried again in time, given up in time, said."""

import socket
import ssl
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.utils import timezone

from advisor.core.models import JournalEntry
from advisor.notifications.models import Delivery
from advisor.notifications.webhooks import deliveries, posting, setup
from advisor.notifications.webhooks.setup import ended, failing
from tests.advisor.notifications.mail import test_mail_settings_failures
from tests.advisor.notifications.mail.mail_servers import free_port
from tests.advisor.notifications.webhooks import receivers
from tests.advisor.notifications.webhooks.receivers import (
    Receiver,
    delivery,
    drip,
    hang,
    hook_for,
    later,
    raw,
    receiving,
    waits,
)
from tests.advisor.people import People
from tests.servers import PATIENCE

pytestmark = pytest.mark.postgres

receiver = receivers.receiver
tls = test_mail_settings_failures.tls


def tried(row: Delivery) -> Delivery:
    deliveries.deliver(row.pk)
    row.refresh_from_db()
    return row


def test_a_receiver_that_fails_is_asked_again_later_and_later_for_a_day(people: People, receiver: Receiver) -> None:
    receiver.says = [(500, {}, b"database is away")]
    waited = []
    with time_machine.travel(timezone.now(), tick=False) as clock:
        row = delivery(hook_for(people.team, people.owner, receiver.url)[0])
        while tried(row).state == "waiting":
            waited.append(waits(row))
            clock.shift(waited[-1])
    assert waited[:6] == [30, 120, 600, 1800, 3600, 7200]
    assert set(waited[6:]) == {7200}
    assert 22 * 3600 < sum(waited) <= 24 * 3600
    assert (row.state, row.status, row.answer) == ("failed", 500, "database is away")
    assert "could not take it (500)" in row.error


def test_what_fails_and_is_taken_later_came_once_under_one_number(people: People, receiver: Receiver) -> None:
    receiver.says = [(500, {}, b""), receivers.TAKES]
    row = delivery(hook_for(people.team, people.owner, receiver.url)[0])
    assert tried(row).state == "waiting"
    assert tried(row).tries == 1, "not before its time"
    later(31)
    assert (tried(row).state, row.tries, row.error) == ("done", 2, "")
    assert tried(row).tries == 2
    assert [one.headers["Lockwright-Delivery"] for one in receiver.taken] == [str(row.number)] * 2


def test_gone_pauses_the_webhook_and_resuming_sends_what_waited(people: People, receiver: Receiver) -> None:
    receiver.says = [(410, {}, b"moved"), receivers.TAKES]
    hook, _ = hook_for(people.team, people.owner, receiver.url)
    first, second = delivery(hook), delivery(hook, "ping 2")
    assert tried(first).state == "failed"
    hook.refresh_from_db()
    assert hook.paused
    assert JournalEntry.objects.get(action="webhook paused").who == "lockwright"
    assert tried(second).state == "waiting"
    assert not deliveries.due_now()
    with pytest.raises(setup.Refused):
        setup.send_again(first, people.owner)
    Delivery.objects.filter(pk=second.pk).update(not_before=timezone.now() + timedelta(hours=1))
    setup.resume(hook, people.owner)
    assert deliveries.due_now() == [second.pk]
    assert tried(second).state == "done"


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_what_is_refused_is_not_tried_again(status: int, people: People, receiver: Receiver) -> None:
    receiver.says = [(status, {}, b"no such hook\r\nSet-Cookie: x")]
    row = tried(delivery(hook_for(people.team, people.owner, receiver.url)[0]))
    assert (row.state, row.status, row.answer) == ("failed", status, "no such hook Set-Cookie: x")
    assert f"refuses it ({status})" in row.error


@pytest.mark.parametrize(
    ("asked", "least", "most"),
    [
        ("120", 115, 121),
        ("999999", 3590, 3601),
        ("1", 25, 31),
        ("soon", 25, 31),
        ("-5", 25, 31),
        ("9" * 400, 3590, 3601),
        ("Mon, 01 Jan 99999 00:00:00 GMT", 25, 31),
        ("Mon, 01 Jan 0001 00:00:00 +2359", 25, 31),
        ("Fri, 31 Dec 9999 23:59:59 -2359", 3590, 3601),
        ("Mon, 01 Jan 2030 00:00:00 +99999999999999999999", 25, 31),
    ],
)
def test_a_receiver_that_is_busy_is_left_alone_as_long_as_it_asks_up_to_an_hour(
    asked: str, least: float, most: float, people: People, receiver: Receiver
) -> None:
    receiver.says = [(429, {"Retry-After": asked}, b"slow down")]
    hook, _ = hook_for(people.team, people.owner, receiver.url)
    first, second = delivery(hook), delivery(hook, "ping 2")
    tried(first)
    assert least < waits(first) <= most
    assert least < waits(second) <= most, "the others wait with it"
    assert len(receiver.taken) == 1


def test_a_date_to_come_again_is_understood(people: People, receiver: Receiver) -> None:
    date = timezone.now() + timedelta(minutes=10)
    receiver.says = [(503, {"Retry-After": date.strftime("%a, %d %b %Y %H:%M:%S GMT")}, b"")]
    row = tried(delivery(hook_for(people.team, people.owner, receiver.url)[0]))
    assert 590 < waits(row) <= 600


def test_a_redirect_is_not_followed_and_where_it_points_is_said(people: People, receiver: Receiver) -> None:
    with receiving() as other:
        receiver.says = [(307, {"Location": other.url}, b"")]
        row = tried(delivery(hook_for(people.team, people.owner, receiver.url)[0]))
        assert not other.taken
    assert row.state == "waiting"
    assert f"redirects (307) to {other.url}, which is not followed" in row.error


def test_a_huge_answer_is_read_no_further_than_it_is_worth(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = 0

    def flood(line: socket.socket) -> None:
        nonlocal sent
        line.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            line.sendall(b"x" * 65536)
            sent += 65536

    monkeypatch.setattr(posting, "BODY", PATIENCE)
    with raw(flood) as url:
        row = tried(delivery(hook_for(people.team, people.owner, url)[0]))
    assert (row.state, row.answer) == ("done", "x" * 200)
    assert sent < 64 << 20, "what the system holds between them, and no more"


def test_headers_without_end_are_no_answer(people: People) -> None:
    def flood(line: socket.socket) -> None:
        line.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            line.sendall(b"X-More: " + b"x" * 8000 + b"\r\n")

    with raw(flood) as url:
        row = tried(delivery(hook_for(people.team, people.owner, url)[0]))
    assert row.state == "waiting"
    assert "is no HTTP" in row.error


@pytest.mark.parametrize("speak", [drip, hang])
def test_no_receiver_can_hold_a_worker(
    speak: Callable[[socket.socket], None], people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "SECONDS", 0.7)
    since = time.monotonic()
    with raw(speak) as url:
        row = tried(delivery(hook_for(people.team, people.owner, url)[0]))
    assert time.monotonic() - since > 0.6
    assert row.state == "waiting"
    assert "did not answer in time" in row.error


def test_a_receiver_that_drips_its_text_has_taken_it(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(line: socket.socket) -> None:
        line.sendall(b"HTTP/1.1 202 Accepted\r\n\r\n")
        while True:
            line.sendall(b"y")
            time.sleep(0.05)

    monkeypatch.setattr(posting, "BODY", 0.3)
    with raw(slow) as url:
        row = tried(delivery(hook_for(people.team, people.owner, url)[0]))
    assert (row.state, row.status) == ("done", 202)


def test_a_receiver_that_hangs_costs_one_wait_however_many_deliveries_there_are(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posting, "ANSWER", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hook, _ = hook_for(people.team, people.owner, f"http://127.0.0.1:{silent.getsockname()[1]}/")
        rows = [delivery(hook, f"ping {n}") for n in range(20)]
        for row in rows:
            deliveries.deliver(row.pk)
        silent.setblocking(False)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()
        assert {round(waits(row)) for row in rows} == {30}
        new = delivery(hook, "ping new")
        deliveries.deliver(new.pk)
        assert 25 < waits(new) <= 30, "what is put in meanwhile waits with the others"
        assert Delivery.objects.filter(tries__gt=0).count() == 1
        later(31)
        deliveries.deliver(rows[0].pk)
        assert {round(waits(row)) for row in rows} == {120}


def test_a_receiver_that_comes_back_gets_everything_at_once(people: People, receiver: Receiver) -> None:
    hook, _ = hook_for(people.team, people.owner, f"http://127.0.0.1:{free_port()}/")
    rows = [delivery(hook, f"ping {n}") for n in range(5)]
    assert "refuses the connection" in tried(rows[0]).error
    hook.url = receiver.url
    hook.save()
    later(31)
    tried(rows[3])
    assert set(Delivery.objects.values_list("state", flat=True)) == {"done"}
    assert len(receiver.taken) == 5


def test_the_longer_a_receiver_is_away_the_later_it_is_asked_whichever_delivery_asks(people: People) -> None:
    hook, _ = hook_for(people.team, people.owner, f"http://127.0.0.1:{free_port()}/")
    rows = [delivery(hook, f"ping {n}") for n in range(4)]
    waited = []
    for _ in range(6):
        deliveries.deliver(rows[0].pk)
        waited.append(round(waits(rows[3])))
        later(waited[-1])
    assert waited == [30, 120, 600, 1800, 3600, 7200]
    assert sorted(Delivery.objects.values_list("tries", flat=True)) == [1, 1, 2, 2]


def test_what_waited_a_day_for_a_receiver_that_is_away_is_given_up_together(people: People) -> None:
    hook, _ = hook_for(people.team, people.owner, f"http://127.0.0.1:{free_port()}/")
    rows = [delivery(hook, f"ping {n}") for n in range(4)]
    young = delivery(hook, "ping young")
    Delivery.objects.exclude(pk=young.pk).update(created=timezone.now() - timedelta(hours=24))
    assert not failing(ended([hook])[hook.pk])
    tried(rows[0])
    assert sorted(Delivery.objects.values_list("state", flat=True)) == ["failed"] * 4 + ["waiting"]
    assert failing(ended([hook])[hook.pk])
    assert not JournalEntry.objects.filter(action="webhook paused").exists()


def test_one_delivery_that_its_receiver_cannot_bear_does_not_hold_up_the_others(
    people: People, receiver: Receiver
) -> None:
    receiver.says = [(503, {}, b""), receivers.TAKES, receivers.TAKES, (503, {}, b"")]
    hook, _ = hook_for(people.team, people.owner, receiver.url)
    poison = delivery(hook)
    tried(poison)
    for number in (2, 3):
        delivery(hook, f"ping {number}")
    later(31)
    (pk,) = deliveries.due_now()
    deliveries.deliver(pk)
    assert {row.state for row in Delivery.objects.exclude(pk=poison.pk)} == {"done"}
    assert tried(poison).tries == 2


def test_a_certificate_that_is_not_trusted_is_said_and_one_that_is_takes_it(
    people: People, tls: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    context, certificate = tls
    with receiving(context) as secure:
        hook, _ = hook_for(people.team, people.owner, f"https://localhost:{secure.port}/")
        row = tried(delivery(hook))
        assert "is not trusted" in row.error
        assert not secure.taken
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        later(31)
        assert tried(row).state == "done", row.error
        hook.url = f"https://127.0.0.1:{secure.port}/"
        hook.save()
        assert "is not trusted" in tried(delivery(hook, "ping 2")).error, "another name than in the certificate"


def test_a_proxy_of_the_environment_is_not_asked(
    people: People, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    assert tried(delivery(hook_for(people.team, people.owner, receiver.url)[0])).state == "done"


def test_a_worker_that_died_on_it_leaves_it_to_the_next(people: People, receiver: Receiver) -> None:
    row = delivery(hook_for(people.team, people.owner, receiver.url)[0])
    for tries in (1, 7):
        long_ago = timezone.now() - timedelta(days=1)
        Delivery.objects.update(state="running", claimed=long_ago, claimant="x/1.1/t", tries=tries)
        deliveries.reset_lost()
        row.refresh_from_db()
        assert row.state == "waiting"
    assert tried(row).state == "done"
