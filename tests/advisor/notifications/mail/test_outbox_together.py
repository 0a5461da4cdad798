"""Several processes at the outbox: each mail is sent by one of them."""

import threading

import pytest
from django.db import connection, connections

from advisor.core import job_queue
from advisor.core.models import Site
from advisor.notifications.models import Mail
from advisor.notifications.services import outbox
from tests.advisor.notifications.mail import mail_servers, posting
from tests.advisor.notifications.mail.mail_servers import Rude
from tests.advisor.notifications.mail.posting import after_sending, put, send_through
from tests.advisor.people import People

pytestmark = pytest.mark.postgres

rude, hurry = mail_servers.rude, posting.hurry


def test_a_mail_that_another_process_took_meanwhile_is_not_handed_over(people: People, rude: Rude) -> None:
    def steal() -> str:
        return "354 go on"

    server = rude({"data": [steal]})
    send_through(server.port)
    mail = put(people)
    claimed = job_queue.claim(Mail.objects.all(), mail.pk)
    assert claimed is not None
    Mail.objects.update(claimant="another machine/1.1/task")
    backend = outbox.Outgoing(Site.get())
    with pytest.raises(outbox.NotOurs):
        backend.send_messages([outbox._message(claimed, backend.site)])
    backend.close()
    assert server.mails == []


@pytest.mark.django_db(transaction=True)
def test_while_one_sends_another_leaves_all_to_it(people: People, rude: Rude) -> None:
    due: list[bool] = []

    def meanwhile() -> str:
        try:
            outbox.send_due()
            due.append(outbox.anything_due())
        finally:
            connections.close_all()
        return "250 taken"

    server = rude({"end": [meanwhile]})
    send_through(server.port)
    mails = [put(people, f"mail {n}") for n in range(3)]
    # put in within no transaction, the first one was sent at once and the others by the task of the first
    assert {mail.state for mail in after_sending(*mails)} == {"done"}
    assert len(server.mails) == len({taken.data for taken in server.mails}) == 3
    assert due == [False]


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="the database in memory has one writer, without a queue")
def test_any_number_of_senders_send_each_mail_once(people: People, rude: Rude) -> None:
    server = rude()
    mails = [put(people, f"mail {n}") for n in range(40)]
    send_through(server.port)

    def send() -> None:
        try:
            for _ in range(5):
                outbox.send_due()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {(mail.state, mail.tries) for mail in after_sending(*mails)} == {("done", 1)}
    assert len(server.mails) == len({taken.data for taken in server.mails}) == 40
