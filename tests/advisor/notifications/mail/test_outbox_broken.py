"""Lines that break and workers that die in the middle of a mail: nothing lost, nothing twice that can be avoided."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from celery.exceptions import SoftTimeLimitExceeded
from django.db import OperationalError, connection
from django.utils import timezone
from pytest_django import Settings

from advisor.core import job_queue
from advisor.core.models import Lease, Site
from advisor.notifications.models import Mail
from advisor.notifications.services import outbox
from tests.advisor.notifications.mail import mail_servers, posting
from tests.advisor.notifications.mail.mail_servers import Rude
from tests.advisor.notifications.mail.posting import after_sending, put, send_through
from tests.advisor.people import People
from tests.servers import eventually

pytestmark = pytest.mark.postgres

rude, hurry = mail_servers.rude, posting.hurry
DEAD = f"{job_queue.me().partition('/')[0]}/999999.1/"
"""A process of this machine that has ended."""
LARGE = "Too much for the buffers of a line between here and there.\n" * 120_000
"""Only of a large mail it is noticed before its end that nobody takes it."""


def later(**much: float) -> time_machine.travel:
    return time_machine.travel(timezone.now() + timedelta(**much))


@pytest.mark.parametrize("step", ["rcpt", "data", "middle"])
def test_a_line_that_breaks_before_the_end_of_a_mail_costs_a_try_and_holds_up_no_other(
    step: str, people: People, rude: Rude
) -> None:
    server = rude({step: ["drop"]})
    send_through(server.port)
    body = LARGE if step == "middle" else "Look at it."
    first, second = after_sending(put(people, "one", body=body), put(people, "two"))
    assert (first.state, first.tries, first.handed_over) == ("waiting", 1, None)
    assert "ended the connection in the middle" in first.error
    assert second.state == "done"
    assert Site.get().mail_down_since is None
    with later(minutes=2):
        (first,) = after_sending(first)
    assert (first.state, first.again, len(server.mails)) == ("done", 0, 2)


def test_a_line_that_breaks_after_the_last_line_has_the_mail_sent_again_under_the_same_number(
    people: People, rude: Rude
) -> None:
    server = rude({"end": ["drop"]})
    send_through(server.port)
    (mail,) = after_sending(put(people))
    assert (mail.state, mail.again) == ("waiting", 0)
    assert mail.handed_over is not None
    assert "Whether the server has taken the mail is not known." in mail.error
    stored = outbox.bytes_of(mail)
    with later(minutes=2):
        (mail,) = after_sending(mail)
    assert (mail.state, mail.again, mail.error) == ("done", 1, "")
    assert server.mails[0].data == stored
    assert mail.message_id.encode() in stored


def test_rubbish_in_place_of_an_answer_leaves_it_open_whether_the_mail_was_taken(people: People, rude: Rude) -> None:
    send_through(rude({"end": ["well, well"]}).port)
    (mail,) = after_sending(put(people))
    assert (mail.state, mail.tries, mail.refused) == ("waiting", 1, False)
    assert mail.handed_over is not None


def test_an_answer_of_several_lines_is_an_answer(people: People, rude: Rude) -> None:
    send_through(rude({"end": ["250-thank you\r\n250-very much\r\n250 queued"]}).port)
    (mail,) = after_sending(put(people))
    assert (mail.state, mail.answer) == ("done", "250 thank you very much queued")


def test_a_server_that_is_slow_but_answers_is_waited_for(people: People, rude: Rude) -> None:
    send_through(rude({"rcpt": ["2|slow|5|slow|0 |slow|OK"], "end": ["2|slow|50 |slow|taken"]}).port)
    (mail,) = after_sending(put(people))
    assert (mail.state, mail.answer, mail.tries) == ("done", "250 taken", 1)


@pytest.mark.usefixtures("hurry")
def test_a_server_that_thinks_longer_about_a_whole_mail_is_waited_for_longer(
    people: People, rude: Rude, settings: Settings
) -> None:
    settings.MAIL_ANSWER_SECONDS = 20
    send_through(rude({"end": ["|slow|" * 20 + "250 taken"]}).port)
    (mail,) = after_sending(put(people))
    assert (mail.state, mail.again) == ("done", 0)


@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize("step", ["rcpt", "middle", "end"])
def test_a_server_that_hangs_within_a_mail_has_the_others_wait(step: str, people: People, rude: Rude) -> None:
    server = rude({step: ["hang", ...]})
    send_through(server.port)
    body = LARGE if step == "middle" else "Look at it."
    first, second = after_sending(put(people, "one", body=body), put(people, "two"))
    assert (first.state, first.tries) == ("waiting", 1)
    assert (second.state, second.tries) == ("waiting", 0)
    assert "did not answer within" in first.error
    assert (first.handed_over is None) is (step != "end")
    assert Site.get().mail_down_since is not None
    assert not outbox.anything_due()


def test_a_server_that_drops_every_mail_is_away_after_two(people: People, rude: Rude) -> None:
    server = rude({"data": ["drop", ...]})
    send_through(server.port)
    mails = after_sending(*[put(people, f"mail {n}") for n in range(4)])
    assert [mail.tries for mail in mails] == [1, 1, 0, 0]
    assert server.lines == 2
    assert not outbox.anything_due()


def test_one_mail_that_always_breaks_the_line_comes_to_an_end_and_the_others_go(people: People, rude: Rude) -> None:
    server = rude({"end": ["drop", ...]})
    send_through(server.port)
    bad = put(people, "bad")
    now = timezone.now()
    while not bad.settled:
        with time_machine.travel(max(now, bad.not_before) + timedelta(hours=1)):
            now = timezone.now()
            (bad,) = after_sending(bad)
    assert (bad.state, bad.again) == ("failed", outbox.MOST_AGAIN)
    assert "handed over 6 times without an answer: it may have come" in bad.error
    server.script["end"].clear()
    with later(hours=40):
        assert after_sending(put(people, "good"))[0].state == "done"


def test_a_task_that_comes_to_its_soft_limit_gives_the_mail_back(
    people: People, rude: Rude, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_through(rude().port)

    def too_late(*ignored: Any) -> None:
        raise SoftTimeLimitExceeded

    monkeypatch.setattr(outbox, "_handing_over", too_late)
    (mail,) = after_sending(put(people))
    assert (mail.state, mail.tries, mail.handed_over) == ("waiting", 1, None)
    assert "takes too long over everything" in mail.error
    assert not Lease.objects.exists()
    assert Site.get().mail_down_since is not None


def test_a_database_that_goes_away_before_the_last_line_keeps_the_server_from_having_the_mail(
    people: People, rude: Rude, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = rude()
    send_through(server.port)
    mail = put(people)

    def away(*ignored: Any) -> None:
        raise OperationalError("the connection is closed")

    monkeypatch.setattr(outbox, "_handing_over", away)
    with pytest.raises(OperationalError):
        outbox.send_due()
    (last,) = eventually(lambda: server.cut_off)
    assert b"quit" not in last.lower(), "no farewell in the middle of a mail, which nobody would answer"
    mail.refresh_from_db()
    assert (mail.state, mail.tries, mail.handed_over, server.mails) == ("waiting", 0, None, [])
    assert not Lease.objects.exists()
    monkeypatch.undo()
    assert after_sending(mail)[0].state == "done"
    assert len(server.mails) == 1


@pytest.mark.django_db(transaction=True)
def test_an_answer_is_remembered_even_if_the_database_is_away_when_it_comes(
    people: People, rude: Rude, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = rude()
    send_through(server.port)
    real, calls = job_queue.finish, []

    def late(*words: Any, **more: Any) -> bool:
        calls.append(words)
        if len(calls) < 2:
            raise OperationalError("the connection is closed")
        return real(*words, **more)

    monkeypatch.setattr(job_queue, "finish", late)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(connection, "close", lambda: None)
    (mail,) = after_sending(put(people))
    assert (mail.state, mail.again, len(server.mails)) == ("done", 0, 1)


@pytest.mark.django_db(transaction=True)
def test_a_task_waits_for_the_database_to_give_the_lease_back(
    people: People, rude: Rude, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = rude()
    asked: list[int] = []
    there = Site.get

    def away(*ignored: Any, **more: Any) -> None:
        monkeypatch.setattr(Site, "get", soon_back)
        raise OperationalError("the connection is closed")

    def soon_back() -> Site:
        asked.append(1)
        if len(asked) < 3:
            raise OperationalError("the connection is closed")
        return there()

    put(people)
    send_through(server.port)
    monkeypatch.setattr(job_queue, "claim", away)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(connection, "close", lambda: None)
    with pytest.raises(OperationalError):
        outbox.send_due()
    assert len(asked) == 3
    assert not Lease.objects.exists()


def test_what_a_worker_had_when_it_died_is_sent_by_another(people: People, rude: Rude) -> None:
    server = rude()
    send_through(server.port)
    before, after = put(people, "before"), put(people, "after")
    died = {"state": "running", "claimed": timezone.now(), "claimant": DEAD, "tries": 7}
    Mail.objects.update(**died)
    Mail.objects.filter(pk=after.pk).update(handed_over=timezone.now())
    Lease.objects.create(name=outbox.LEASE, claimant=DEAD, claimed=timezone.now())
    assert {mail.state for mail in after_sending(before, after)} == {"running"}
    outbox.reset_lost()
    assert outbox.anything_due()
    before, after = after_sending(before, after)
    assert (before.state, before.again, after.state, after.again) == ("done", 0, "done", 1)
    assert len(server.mails) == 2
    assert not Lease.objects.exists()
