"""Webhooks with several workers at once: each delivery is sent by one of them."""

import threading
from contextlib import nullcontext

import pytest
from django.db import connection, connections, transaction

from advisor.core import job_queue
from advisor.notifications.models import Delivery
from advisor.notifications.webhooks import deliveries
from tests.advisor.notifications.webhooks import receivers
from tests.advisor.notifications.webhooks.receivers import Receiver, delivery, hook_for
from tests.advisor.people import make_people
from tests.servers import eventually

receiver = receivers.receiver
pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor == "sqlite", reason="threads share the one SQLite connection of a test"),
]


@pytest.fixture(autouse=True)
def _unstarted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks run at once in these tests: here the workers are the test's own."""
    monkeypatch.setattr(deliveries, "start", lambda *of: None)


@pytest.mark.parametrize("leases", [True, False], ids=["leased", "by guarded updates alone"])
def test_three_workers_deliver_each_once(leases: bool, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    people = make_people()
    if not leases:
        monkeypatch.setattr(job_queue, "leased", lambda name: nullcontext(enter_result=True))
    receiver.seconds = 0.05
    hook, _ = hook_for(people.team, people.owner, receiver.url)
    rows = [delivery(hook, f"ping {n}") for n in range(10)]

    def work(order: list[Delivery]) -> None:
        for row in order:
            deliveries.deliver(row.pk)
        connections.close_all()

    threads = [threading.Thread(target=work, args=(order,)) for order in (rows, rows[::-1], rows)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sent = [one.headers["Lockwright-Delivery"] for one in receiver.taken]
    assert sorted(sent) == sorted(str(row.number) for row in rows)
    assert not Delivery.objects.exclude(state="done").exists()
    if leases:
        assert receiver.most_at_once == 1


def test_who_waits_for_a_claim_that_is_not_yet_committed_does_not_get_it() -> None:
    people = make_people()
    row = delivery(hook_for(people.team, people.owner, "http://127.0.0.1:1/")[0])
    got: list[bool] = []

    def second() -> None:
        got.append(job_queue.claim(deliveries._live(), row.pk) is not None)
        connections.close_all()

    thread = threading.Thread(target=second)
    with transaction.atomic():
        assert job_queue.claim(deliveries._live(), row.pk)
        thread.start()
        eventually(_waits_for_a_lock)
    thread.join()
    assert got == [False]


def _waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # else a transaction sees what it saw first
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        return bool(cursor.fetchone()[0])
