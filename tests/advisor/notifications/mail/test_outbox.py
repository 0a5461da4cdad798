"""The outbox: what is put in, how it is written, what is not sent any more, what people do with it."""

import email
from datetime import timedelta
from email.message import EmailMessage
from email.policy import default

import pytest
from django.core.mail import EmailMultiAlternatives
from django.db import IntegrityError, transaction
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.core.models import JournalEntry, Site
from advisor.notifications.mail.message import from_templates
from advisor.notifications.mail.rendering import Unsendable, envelope, message_id, one_line, rendered
from advisor.notifications.models import Mail, Recipient
from advisor.notifications.services import mail_server, outbox
from tests.advisor.notifications.mail import mail_servers
from tests.advisor.notifications.mail.mail_servers import Postbox, Rude, Serve
from tests.advisor.notifications.mail.posting import after_sending, put, recipient_of, send_through, written
from tests.advisor.people import People

pytestmark = pytest.mark.postgres

serve, rude = mail_servers.serve, mail_servers.rude


def read(mail: Mail) -> EmailMessage:
    return email.message_from_bytes(outbox.bytes_of(mail), policy=default)


def test_a_mail_is_never_put_in_twice(people: People) -> None:
    assert put(people).state == "waiting"
    assert outbox.put(written(), kind="report", key="one", team=people.team) is None
    assert Mail.objects.count() == 1


def test_a_mail_that_the_database_refuses_is_not_taken_for_one_that_is_there(people: People) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        outbox.put(written(), kind=None, key="one", team=people.team)  # type: ignore[arg-type]


def test_a_mail_is_put_in_with_what_it_belongs_to_or_not_at_all(
    people: People, rude: Rude, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    send_through(rude().port)

    def fail() -> None:
        with transaction.atomic():
            put(people)
            raise IntegrityError

    with django_capture_on_commit_callbacks() as started, pytest.raises(IntegrityError):
        fail()
    assert started == []
    assert not Mail.objects.exists()
    with django_capture_on_commit_callbacks(execute=True):
        put(people)
    assert Mail.objects.get().state == "done"


def test_a_mail_has_a_number_of_this_site_and_its_own_date(people: People, settings: Settings) -> None:
    settings.SITE_URL = "https://lockwright.example.org:8443"
    mail = put(people)
    got = read(mail)
    assert got["Message-ID"] == mail.message_id
    assert mail.message_id.endswith("@lockwright.example.org>")
    assert got["Date"]
    settings.SITE_URL = "http://[::1]:8000"
    assert message_id("system-5") == "<system-5@[IPv6:::1]>"
    settings.SITE_URL = "http://bücher.example"
    assert message_id("system-5") == "<system-5@xn--bcher-kva.example>"


@pytest.mark.parametrize(
    "body",
    ["Spinlöcke 52,3 %, ≥ 3", "x" * 2000, "ö" * 2000, "\0 and \x1b[31m", "one\r\ntwo\rthree\n", ".\n.\n.."],
)
def test_any_text_goes_through_a_server_that_takes_seven_bits_and_lines_of_998_characters(body: str) -> None:
    message = written(body=body)
    message.attach("apply.sql", "-- größer\r\nsp_configure 'x', 1\r\ngo\r\n", "text/plain")
    message.attach("picture.png", bytes(range(256)) * 9, "image/png")
    data = rendered(message)
    assert data.isascii()
    assert b"\0" not in data
    assert data.endswith(b"\r\n")
    assert len(data.splitlines()) == data.count(b"\r\n") == data.count(b"\r") == data.count(b"\n")
    assert max(len(line) for line in data.split(b"\r\n")) <= 998
    text, _, script, picture = (
        part for part in email.message_from_bytes(data, policy=default).walk() if not part.is_multipart()
    )
    assert text.get_content().rstrip("\r\n").splitlines() == body.rstrip("\r\n").splitlines()
    assert script.get_content().splitlines() == ["-- größer", "sp_configure 'x', 1", "go"]
    assert picture.get_content() == bytes(range(256)) * 9


def test_text_of_ascii_stays_as_it_is_for_a_reader_that_knows_no_mime() -> None:
    data = rendered(written(body="ratio = 52.3 %\nlimit = 10 %"))
    assert b"\r\nratio = 52.3 %\r\nlimit = 10 %\r\n" in data
    assert b"quoted-printable" not in data


def test_no_name_and_no_subject_brings_a_header_of_its_own_or_another_recipient(people: People) -> None:
    Site.objects.update_or_create(pk=1, defaults={"mail_from": "advisor@example.org"})
    hostile = "CLAIMS\r\nBcc: x@evil.example\r\n\r\nhello\x00\x1b[31m\u202egnp"
    message = from_templates(
        "test",
        "olga@example.org",
        {"site": Site.get(), "by": people.owner, "at": timezone.now(), "address": "http://here"},
        Site.get(),
        headers={"X-Lockwright-System": hostile, "List-Id": f"{hostile} <a.b>"},
        reference=message_id("system-5"),
    )
    message.subject = one_line(hostile, 300)
    mail = outbox.put(message, kind="test", key="one", team=people.team)
    assert mail is not None
    got = read(mail)
    assert got["Bcc"] is None
    assert got["Subject"] == "CLAIMS Bcc: x@evil.example hello [31m gnp"
    assert got["X-Lockwright-System"] == "CLAIMS Bcc: x@evil.example hello [31m gnp"
    assert got["References"] == got["In-Reply-To"] == message_id("system-5")
    assert got["Auto-Submitted"] == "auto-generated"
    assert got["To"] == "olga@example.org"


def test_a_header_with_a_line_break_of_its_own_is_not_stored(people: People) -> None:
    with pytest.raises(Unsendable, match="cannot be written"):
        put(people, subject="CLAIMS1\nBcc: x@evil.example")
    two = EmailMultiAlternatives("s", "b", "a@example.org", ["a@example.org"], bcc=["x@evil.example"])
    with pytest.raises(Unsendable, match="one address, not 2"):
        outbox.put(two, kind="test", key="two", team=people.team)
    assert not Mail.objects.exists()


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("olga", "has no @"),
        ("olga@example.org\r\nBcc: x@y.example", "line breaks"),
        ("olga@exam\u202eple.org", "characters that control text"),
        ("ölga@example.org", "letters before the @"),
        ("olga@", "is none"),
        ("@example.org", "is none"),
        ("olga@example..org", "is none"),
        ("a b@example.org", "is none"),
        ("olga@example.org, x@evil.example", "is none"),
        (f"{'o' * 300}@example.org", "control"),
        ("<olga@example.org>", "is none"),
        ("olga@straße.example", "written in two ways"),
    ],
)
def test_what_is_no_address_is_refused_and_not_stored(address: str, says: str, people: People) -> None:
    with pytest.raises(Unsendable, match=says):
        outbox.put(written(address), kind="test", key="one", team=people.team)
    assert not Mail.objects.exists()


def test_a_host_with_letters_of_its_own_is_written_as_servers_know_it(people: People, rude: Rude) -> None:
    server = rude()
    send_through(server.port)
    assert envelope("olga@bücher.example") == "olga@xn--bcher-kva.example"
    (mail,) = after_sending(put(people, to="olga@bücher.example"))
    assert (mail.state, mail.to) == ("done", "olga@bücher.example")
    assert server.mails[0].to == "olga@xn--bcher-kva.example"


def test_a_subject_of_other_letters_comes_as_it_was_written(people: People, serve: Serve) -> None:
    box = Postbox()
    send_through(serve(box))
    subject = "BÜCHER1: 3 kritische, schlimmster: Adreßsperren 52 % – " + "sehr lang " * 20
    after_sending(put(people, subject=subject.strip()))
    content = box.mails[0].content
    assert isinstance(content, bytes)
    assert email.message_from_bytes(content, policy=default)["Subject"] == subject.strip()


def test_a_mail_that_waited_is_sent_from_the_sender_the_site_has_now(people: People, serve: Serve) -> None:
    box = Postbox()
    send_through(serve(box), mail_from="lockwright-of-the-data-centre-in-oslo@mail-for-machines.example.net")
    (mail,) = after_sending(put(people, body="From: the beginning\n\nFrom: here"))
    got = read(mail)
    assert got["From"] == "Lockwright <lockwright-of-the-data-centre-in-oslo@mail-for-machines.example.net>"
    assert box.mails[0].original_content == outbox.bytes_of(mail)
    assert mail.size == len(outbox.bytes_of(mail))
    body = got.get_body(("plain",))
    assert body is not None
    assert body.get_content().splitlines() == ["From: the beginning", "", "From: here"]
    assert len(got.get_all("From", [])) == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"stopped": timezone.now(), "stopped_why": "unsubscribed"}, "unsubscribed"),
        ({"address": "other@example.org"}, "other@example.org by now"),
        ("delete", "the recipient was removed"),
        ("inactive", "olga may not log in any more"),
        ("left", "olga has left the team"),
    ],
)
def test_what_nobody_is_to_get_any_more_is_not_sent(
    change: dict[str, object] | str, says: str, people: People, rude: Rude
) -> None:
    server = rude()
    send_through(server.port)
    recipient = recipient_of(people, user=people.owner)
    mail = put(people)
    if isinstance(change, dict):
        Recipient.objects.update(**change)
    elif change == "delete":
        recipient.delete()
    elif change == "inactive":
        type(people.owner).objects.filter(pk=people.owner.pk).update(is_active=False)
    else:
        people.owner.teams.clear()
    (mail,) = after_sending(mail)
    assert mail.state == "skipped"
    assert says in mail.error
    assert server.mails == []


def test_an_administrator_need_be_in_no_team_and_a_test_goes_to_whoever_asked(people: People, rude: Rude) -> None:
    server = rude()
    send_through(server.port)
    recipient = recipient_of(people, "adam@example.org", user=people.administrator)
    report = put(people, to="adam@example.org")
    stopped = recipient_of(people, stopped=timezone.now())
    to_me = written("mats@example.org")
    test = outbox.put(to_me, kind="test", key="test", team=people.team, recipient=stopped)
    to_them = outbox.put(written(), kind="test", key="test 2", team=people.team, recipient=stopped)
    assert recipient.user == people.administrator
    assert test is not None
    assert to_them is not None
    assert [mail.state for mail in after_sending(report, test, to_them)] == ["done", "done", "skipped"]


def test_a_mail_is_sent_again_as_somebody_asks(people: People, rude: Rude) -> None:
    server = rude({"rcpt": ["550 no"]})
    send_through(server.port)
    (mail,) = after_sending(put(people))
    assert mail.state == "failed"
    assert outbox.send_again(mail, people.owner)
    (mail,) = after_sending(mail)
    assert (mail.state, mail.tries, mail.refused, mail.error) == ("done", 1, False, "")
    entry = JournalEntry.objects.get(action="mail sent again")
    assert (entry.who, entry.team, entry.what) == ("olga", people.team, "to olga@example.org: CLAIMS1: 3 critical")
    Mail.objects.update(state="running", claimed=timezone.now(), claimant="x/1.1/")
    assert not outbox.send_again(mail, people.owner)
    assert Mail.objects.get().state == "running"


def test_a_mail_that_is_put_off_goes_at_once_as_somebody_asks(people: People, rude: Rude) -> None:
    send_through(rude({"end": ["drop"]}).port)
    (mail,) = after_sending(put(people))
    assert mail.not_before > timezone.now()
    assert outbox.send_again(mail, people.owner)
    (mail,) = after_sending(mail)
    assert (mail.state, mail.tries, mail.again) == ("done", 2, 1)


def test_only_a_mail_that_waits_can_be_dropped(people: People, rude: Rude) -> None:
    server = rude()
    send_through(server.port)
    mail = put(people)
    assert outbox.drop(mail, people.owner)
    (mail,) = after_sending(mail)
    assert (mail.state, mail.error, server.mails) == ("skipped", "olga dropped it", [])
    assert JournalEntry.objects.filter(action="mail dropped", who="olga").count() == 1
    assert not outbox.drop(mail, people.owner)
    assert JournalEntry.objects.filter(action="mail dropped").count() == 1


def test_new_settings_are_tried_at_once(
    people: People, rude: Rude, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    send_through(1, mail_down_since=timezone.now(), mail_down_until=timezone.now() + timedelta(minutes=9))
    mail = put(people)
    assert after_sending(mail)[0].state == "waiting"
    site = Site.get()
    site.mail_port = rude().port
    with django_capture_on_commit_callbacks(execute=True):
        mail_server.store(site, ["port"], people.administrator)
    mail.refresh_from_db()
    assert mail.state == "done"


def test_a_server_that_is_away_is_tried_at_once_as_somebody_asks(
    people: People, rude: Rude, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    away = {"mail_down_since": timezone.now(), "mail_down_until": timezone.now() + timedelta(minutes=9)}
    send_through(rude().port, mail_down_tries=5, **away)
    mail = put(people)
    with django_capture_on_commit_callbacks(execute=True):
        mail_server.try_now(people.administrator)
    mail.refresh_from_db()
    assert mail.state == "done"
    assert JournalEntry.objects.filter(action="mail server tried", who="adam").count() == 1
