"""Sending: what is taken is sent once, on one line; what is refused is said, tried again or given up."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from advisor.core.models import Site
from advisor.core.sealing import seal
from advisor.notifications.backends import PER_CONNECTION
from advisor.notifications.models import Mail
from advisor.notifications.services import (
    mail_server,
    outbox,
)
from tests.advisor.notifications.mail import mail_servers, posting
from tests.advisor.notifications.mail.mail_servers import SECRET, Postbox, Rude, Serve, free_port, login_wanted
from tests.advisor.notifications.mail.posting import after_sending, put, recipient_of, send_through
from tests.advisor.people import People

pytestmark = pytest.mark.postgres

serve, rude, hurry = mail_servers.serve, mail_servers.rude, posting.hurry


def minutes(count: float) -> time_machine.travel:
    """So much later."""
    return time_machine.travel(timezone.now() + timedelta(minutes=count))


def test_a_mail_that_is_taken_is_sent_with_the_words_of_the_server(people: People, serve: Serve) -> None:
    box = Postbox()
    send_through(serve(box))
    (mail,) = after_sending(put(people))
    assert (mail.state, mail.answer, mail.error, mail.tries) == ("done", "250 2.0.0 queued as 4711", "", 1)
    assert mail.handed_over is not None
    assert mail.finished is not None
    (envelope,) = box.mails
    assert (envelope.mail_from, envelope.rcpt_tos) == ("advisor@example.org", ["olga@example.org"])
    assert not outbox.anything_due()
    outbox.send_due()
    assert len(box.mails) == 1


def test_the_bytes_that_come_are_the_bytes_that_are_stored(people: People, serve: Serve) -> None:
    box = Postbox()
    send_through(serve(box, decode_data=False))
    body = ".\n..two\n.three\nFrom here\n" + "x" * 2000 + "\nSpinlöcke 52,3 %\n.\n"
    (mail,) = after_sending(put(people, body=body))
    assert box.mails[0].original_content == outbox.bytes_of(mail)
    assert len(outbox.bytes_of(mail)) == mail.size


def test_many_mails_go_over_one_line_and_it_is_renewed_after_twenty(people: People, rude: Rude) -> None:
    server = rude()
    send_through(server.port)
    mails = [put(people, f"mail {n}", to=f"dba{n}@example.org") for n in range(PER_CONNECTION + 3)]
    assert {mail.state for mail in after_sending(*mails)} == {"done"}
    assert [taken.to for taken in server.mails] == [mail.to for mail in mails]
    assert server.lines == 2
    assert server.said.count("quit") == 2


def test_a_server_that_drops_the_line_after_three_mails_gets_the_rest_on_another(people: People, rude: Rude) -> None:
    server = rude(most=3)
    send_through(server.port)
    mails = after_sending(*[put(people, f"mail {n}") for n in range(8)])
    assert {(mail.state, mail.tries, mail.again) for mail in mails} == {("done", 1, 0)}
    assert (len(server.mails), server.lines) == (8, 3)
    assert Site.get().mail_down_since is None


@pytest.mark.parametrize("step", ["mail", "rcpt", "end"])
def test_the_first_digit_of_an_answer_says_that_it_was_taken(step: str, people: People, rude: Rude) -> None:
    server = rude({step: ["252 cannot verify, but takes it"]})
    send_through(server.port)
    (mail,) = after_sending(put(people))
    assert (mail.state, mail.tries, len(server.said)) == ("done", 1, 5), server.said
    assert mail.answer == ("252 cannot verify, but takes it" if step == "end" else "250 2.0.0 OK")


@pytest.mark.parametrize("answer", ["421 4.4.2 idle too long", "drop"])
def test_a_line_that_was_idle_too_long_is_renewed(answer: str, people: People, rude: Rude) -> None:
    server = rude({"rset": [answer]})
    send_through(server.port)
    mails = after_sending(put(people, "one"), put(people, "two"))
    assert {(mail.state, mail.tries) for mail in mails} == {("done", 1)}
    assert (len(server.mails), server.lines) == (2, 2)


def test_a_refused_recipient_is_remembered_and_the_next_mail_goes_over_the_same_line(
    people: People, rude: Rude
) -> None:
    server = rude({"rcpt": ["550 5.1.1 no such user <b>here</b>"]})
    send_through(server.port)
    wrong, right = after_sending(put(people, "one"), put(people, "two", to="mats@example.org"))
    assert (wrong.state, wrong.refused, right.state) == ("failed", True, "done")
    assert "The server refused the recipient. olga@example.org: 550 5.1.1 no such user" in wrong.error
    assert "Check the address." in wrong.error
    refused = recipient_of(people)
    assert refused.refused == "550 5.1.1 no such user <b>here</b>"
    assert refused.refused_at is not None
    assert server.lines == 1
    assert after_sending(put(people, "three"))[0].state == "done"
    assert recipient_of(people).refused == ""
    assert recipient_of(people).refused_at is None


def test_a_mail_that_is_refused_itself_is_given_up(people: People, rude: Rude) -> None:
    server = rude({"end": ["554 5.7.1 looks like spam"]})
    send_through(server.port)
    (mail,) = after_sending(put(people))
    assert (mail.state, mail.refused, mail.handed_over) == ("failed", True, None)
    assert "554 5.7.1 looks like spam" in mail.error
    assert not server.mails


def test_a_mail_that_is_too_large_is_given_up_and_holds_up_no_other(people: People, rude: Rude) -> None:
    server = rude({"mail": ["552 5.3.4 too big"]})
    send_through(server.port)
    large, small = after_sending(put(people, "one"), put(people, "two"))
    assert (large.state, large.refused, small.state) == ("failed", True, "done")
    assert any(said.startswith("mail FROM:<advisor@example.org> size=") for said in server.said)


@pytest.mark.parametrize("step", ["rcpt", "data", "end"])
def test_a_mail_that_is_refused_for_now_is_tried_again_later(step: str, people: People, rude: Rude) -> None:
    server = rude({step: ["451 4.7.1 greylisted, come back"]})
    send_through(server.port)
    (mail,) = after_sending(put(people))
    assert (mail.state, mail.tries, mail.handed_over, mail.refused) == ("waiting", 1, None, False)
    assert "451 4.7.1 greylisted" in mail.error
    assert Site.get().mail_down_since is None
    assert after_sending(mail)[0].tries == 1
    with minutes(1.1):
        (mail,) = after_sending(mail)
    assert (mail.state, mail.tries, mail.again, mail.error) == ("done", 2, 0, "")
    assert len(server.mails) == 1


def test_a_mail_that_is_refused_for_now_is_given_up_after_two_days(people: People, rude: Rude) -> None:
    server = rude({"rcpt": ["452 4.2.2 mailbox full", ...]})
    send_through(server.port)
    put(people)
    begun = timezone.now()
    mail = Mail.objects.get()
    while not mail.settled:
        with time_machine.travel(max(mail.not_before, begun) + timedelta(seconds=1)):
            (mail,) = after_sending(mail)
    assert (mail.state, mail.tries, mail.refused) == ("failed", len(outbox.WAITS) + 1, False)
    assert "452 4.2.2 mailbox full" in mail.error
    assert mail.finished is not None
    assert timedelta(hours=47) < mail.finished - begun < timedelta(hours=49)


def away(people: People, script: dict[str, list[Any]], rude: Rude) -> tuple[Mail, Site]:
    """What becomes of a mail and the site with a server that takes nothing from anybody."""
    login = {"mail_user": "mailer", "mail_password_sealed": seal(SECRET)} if "auth" in script else {}
    send_through(rude(script).port, **login)
    (mail, other) = after_sending(put(people), put(people, "two"))
    assert {(one.state, one.tries, one.handed_over) for one in (mail, other)} == {("waiting", 0, None)}
    return mail, Site.get()


@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize(
    ("script", "says"),
    [
        ({"greeting": ["hang"]}, "did not answer within 0.7 s"),
        ({"greeting": ["2|slow|2|slow|0|slow|-|slow|r|slow|u|slow|d|slow|e|slow|r|slow|r|slow|r"]}, "did not answer"),
        ({"greeting": ["554 no service for you"]}, "took the connection and then refused to talk: 554"),
        ({"greeting": ["drop"]}, "the connection"),
        ({"greeting": ["SSH-2.0-OpenSSH_9.2"]}, "refused to talk"),
        ({"greeting": ["220-x\r\n" * 20000]}, "ended the connection"),
        ({"ehlo": ["hang"]}, "did not answer within 0.7 s"),
        ({"mail": ["550 5.1.8 who are you"]}, "refused the sender advisor@example.org: 550 5.1.8"),
        ({"mail": ["451 4.3.2 not now"]}, "451 4.3.2 not now"),
        ({"ehlo": ["250-rude\r\n250 AUTH CRAM-MD5"], "auth": ["334 a"]}, "is no SMTP"),
        ({"greeting": ["554 a \0 b \x1b[31m c \u202e d"]}, "refused to talk: 554 a b [31m c d"),
        ({"mail": ["hang"]}, "did not answer within 0.7 s"),
        ({"rcpt": ["530 5.7.0 log in first"]}, "530 5.7.0 log in first"),
    ],
)
def test_a_server_that_takes_nothing_has_all_mails_wait_without_losing_a_try(
    script: dict[str, list[Any]], says: str, people: People, rude: Rude
) -> None:
    mail, site = away(people, script, rude)
    assert site.mail_down_since is not None
    assert site.mail_down_until is not None
    assert says in site.mail_down_says
    assert says in mail.error
    assert not outbox.anything_due()
    state = mail_server.state_of_server(site)
    assert (state.well, state.since, state.again) == (False, site.mail_down_since, site.mail_down_until)
    assert says in state.says
    assert state.do


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
def test_a_refused_login_has_all_mails_wait(people: People, serve: Serve) -> None:
    port = serve(Postbox(), **login_wanted("mailer", SECRET))
    send_through(port, mail_user="mailer", mail_password_sealed=seal("wrong"))
    (mail,) = after_sending(put(people))
    assert (mail.state, mail.tries) == ("waiting", 0)
    assert "refused the login of mailer: 535" in Site.get().mail_down_says
    Site.objects.update(mail_password_sealed=seal(SECRET))
    mail_server.settings_changed()
    assert after_sending(mail)[0].state == "done"


def test_a_password_that_cannot_be_read_has_all_mails_wait(people: People, serve: Serve) -> None:
    send_through(serve(Postbox()), mail_user="mailer", mail_password_sealed="broken")
    (mail,) = after_sending(put(people))
    assert (mail.state, mail.tries) == ("waiting", 0)
    assert mail_server.state_of_server(Site.get()).do == "Type the password again."


def test_a_server_that_is_away_is_tried_less_and_less_often_and_everything_goes_when_it_is_back(
    people: People, serve: Serve
) -> None:
    port = free_port()
    send_through(port)
    mails = [put(people, f"mail {n}") for n in range(3)]
    now = since = timezone.now()
    waits = []
    for _ in range(8):
        with time_machine.travel(now, tick=False):
            assert outbox.anything_due()
            outbox.send_due()
            site = Site.get()
            assert site.mail_down_until is not None
            waits.append((site.mail_down_until - now).total_seconds())
            assert site.mail_down_since == since if _ else site.mail_down_since is not None
            since = site.mail_down_since or since
        with time_machine.travel(site.mail_down_until - timedelta(seconds=1)):
            assert not outbox.anything_due()
        now = site.mail_down_until
    assert waits == [30, 60, 120, 300, 600, 1800, 1800, 1800]
    assert {mail.tries for mail in Mail.objects.all()} == {0}
    box = Postbox()
    send_through(serve(box, port=port))
    with time_machine.travel(now):
        assert {mail.state for mail in after_sending(*mails)} == {"done"}
    assert len(box.mails) == 3
    site = Site.get()
    assert (site.mail_down_since, site.mail_down_until, site.mail_down_tries) == (None, None, 0)
    assert mail_server.state_of_server(site).well


def test_a_clock_that_was_set_back_keeps_no_mail_waiting(people: People, serve: Serve) -> None:
    box = Postbox()
    send_through(serve(box), mail_down_until=timezone.now() + timedelta(days=3), mail_down_tries=2)
    mail = put(people)
    Mail.objects.update(not_before=timezone.now() + timedelta(days=3))
    assert outbox.anything_due()
    assert after_sending(mail)[0].state == "done"


def test_without_mail_settings_mails_wait_and_it_is_said(people: People) -> None:
    (mail,) = after_sending(put(people))
    assert (mail.state, mail.tries) == ("waiting", 0)
    assert not outbox.anything_due()
    assert mail_server.state_of_server(Site.get()).says == "No mail server is set: mails wait."
