"""The pages of the outbox: mails with their state, taken apart; sent again, dropped; previews and tests."""

import re
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.core.models import Site
from advisor.notifications.models import Mail, Recipient, Told
from advisor.notifications.services import notify
from advisor.systems.models import System
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail import mail_servers
from tests.advisor.notifications.mail.hearing import audited_again, hearer, kinds, mails
from tests.advisor.notifications.mail.mail_servers import Postbox, Serve
from tests.advisor.operations.administering import deeds
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.seen import words_of

shared = keeps("address_lock_storm")

serve = mail_servers.serve
LINK = re.compile(r"/mail/for/\d+\.")


@pytest.fixture
def mail(people: People, storm: System) -> Mail:
    """A report on CLAIMS1 to the owner, that waits."""
    hearer(people, everything=True)
    audited_again(storm)
    notify.notify(storm.pk)
    return mails()[0]


def page_of(client: Client, mail: Mail, name: str = "outbox-mail", *more: int) -> str:
    return text_of(client, reverse(name, args=[mail.pk, *more]))


def test_the_outbox_lists_mails_by_state_kind_and_recipient(people: People, as_user: AsUser, mail: Mail) -> None:
    client = as_user(people.colleague)
    listing = reverse("outbox")
    assert mail.subject in unescape(text_of(client, listing))
    for query, there in (
        ("state=waiting", True),
        ("state=done", False),
        ("kind=report", True),
        ("kind=digest", False),
        (f"recipient={mail.recipient_id}", True),
        ("recipient=4711", False),
        ("recipient=x&state=%00&kind=%27", True),
        ("recipient=" + "9" * 40, True),
    ):
        assert (reverse("outbox-mail", args=[mail.pk]) in text_of(client, f"{listing}?{query}")) is there, query


def test_rows_that_hold_no_mail_are_not_listed(people: People, as_user: AsUser, mail: Mail) -> None:
    Mail.objects.filter(pk=mail.pk).update(size=0, message=b"")
    client = as_user(people.owner)
    assert "0 mails" in text_of(client, reverse("outbox")) or "was made yet" in text_of(client, reverse("outbox"))
    assert client.get(reverse("outbox-mail", args=[mail.pk])).status_code == 404


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"state": "done", "answer": "250 queued as 1"}, "250 queued as 1"),
        ({"state": "failed", "refused": True, "error": "550 no such user"}, "refused"),
        ({"state": "waiting", "tries": 2, "error": "451 later"}, "next try"),
        ({"state": "skipped", "error": "olga dropped it"}, "olga dropped it"),
        ({"state": "waiting", "again": 1}, "without knowing whether the server had taken it"),
    ],
)
def test_a_mail_s_page_says_how_it_stands(
    people: People, as_user: AsUser, mail: Mail, state: dict[str, object], words: str
) -> None:
    Mail.objects.filter(pk=mail.pk).update(finished=mail.created, **state)
    assert words in words_of(page_of(as_user(people.owner), mail))
    assert as_user(people.owner).get(reverse("outbox")).status_code == 200


def test_a_mail_is_shown_as_text_and_as_html_in_a_frame_where_nothing_runs(
    people: People, as_user: AsUser, mail: Mail
) -> None:
    client = as_user(people.owner)
    answer = client.get(reverse("outbox-mail", args=[mail.pk]))
    page = answer.content.decode()
    assert "WHAT CHANGED" in page
    assert f'src="{reverse("outbox-mail-html", args=[mail.pk])}" sandbox=""' in page
    assert "frame-src 'self'" in answer["Content-Security-Policy"]
    framed = client.get(reverse("outbox-mail-html", args=[mail.pk]))
    assert framed["Content-Security-Policy"] == (
        "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'"
    )
    assert framed["X-Frame-Options"] == "SAMEORIGIN"
    html = framed.content.decode()
    assert "cid:" not in html
    assert "CLAIMS1" in html
    assert "frame-src" not in client.get(reverse("outbox"))["Content-Security-Policy"]


def test_its_files_are_handed_over_to_be_kept_never_shown(people: People, as_user: AsUser, mail: Mail) -> None:
    client = as_user(people.owner)
    assert "CLAIMS1-apply.sql" in page_of(client, mail)
    answer = client.get(reverse("outbox-mail-file", args=[mail.pk, 0]))
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith('attachment; filename="CLAIMS1-')
    assert b"sp_configure" in answer.content
    assert client.get(reverse("outbox-mail-file", args=[mail.pk, 99])).status_code == 404


def test_who_may_not_change_a_recipient_does_not_see_its_links(people: People, as_user: AsUser, mail: Mail) -> None:
    for name in ("outbox-mail", "outbox-mail-html"):
        assert not LINK.search(page_of(as_user(people.colleague), mail, name))
        assert LINK.search(page_of(as_user(people.mate), mail, name))


def test_another_team_s_mail_does_not_exist_and_a_viewer_s_write_is_refused(
    people: People, as_user: AsUser, mail: Mail
) -> None:
    views = [("outbox-mail", []), ("outbox-mail-html", []), ("outbox-mail-file", [0])]
    for name, more in views:
        assert as_user(people.stranger).get(reverse(name, args=[mail.pk, *more])).status_code == 404
    for name in ("outbox-mail-again", "outbox-mail-drop"):
        assert as_user(people.stranger).post(reverse(name, args=[mail.pk])).status_code == 404
        assert as_user(people.colleague).post(reverse(name, args=[mail.pk])).status_code == 403
        assert as_user(people.owner).get(reverse(name, args=[mail.pk])).status_code == 405
    assert as_user(people.owner).post(reverse("outbox-try")).status_code == 403
    assert mail.subject not in text_of(as_user(people.stranger), reverse("outbox"))


def test_a_mail_is_dropped_and_sent_again(people: People, as_user: AsUser, mail: Mail) -> None:
    client = as_user(people.owner)
    client.post(reverse("outbox-mail-drop", args=[mail.pk]))
    mail.refresh_from_db()
    assert mail.state == "skipped"
    client.post(reverse("outbox-mail-again", args=[mail.pk]))
    mail.refresh_from_db()
    assert mail.state == "waiting"
    assert {"mail dropped", "mail sent again"} <= set(deeds().values_list("action", flat=True))


def test_a_mail_server_that_is_away_is_said_on_the_page(people: People, as_user: AsUser, mail: Mail) -> None:
    site = Site.get()
    site.mail_host, site.mail_from = "mail.example.org", "a@example.org"
    site.mail_down_since = site.mail_down_until = mail.created
    site.mail_down_says = "It refuses the connection.\nCheck the port."
    site.save()
    client = as_user(people.administrator)
    words = words_of(text_of(client, reverse("outbox")))
    assert "The mail server takes nothing since" in words
    assert "It refuses the connection. Check the port." in words
    client.post(reverse("outbox-try"))
    assert deeds().filter(action="mail server tried").exists()


@pytest.mark.parametrize("kind", ["report", "heartbeat", "not_audited", "digest"])
def test_what_a_recipient_would_get_now_is_shown_and_told_to_nobody(
    people: People, as_user: AsUser, storm: System, kind: str
) -> None:
    one = hearer(people)
    told = list(Told.objects.values())
    client = as_user(people.mate)
    address = reverse("letter-preview", args=[one.pk])
    answer = client.get(f"{address}?kind={kind}&system={storm.pk}")
    assert "CLAIMS1" in words_of(answer.content.decode())
    assert "frame-src 'self'" in answer["Content-Security-Policy"]
    framed = client.get(f"{address}html/?kind={kind}&system={storm.pk}")
    assert framed["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert "<table" in framed.content.decode()
    assert not Mail.objects.exists()
    assert list(Told.objects.values()) == told
    one.refresh_from_db()
    assert one.digest_told is None


@pytest.mark.usefixtures("nothing_brought")
def test_a_preview_of_nothing_says_so(people: People, as_user: AsUser) -> None:
    one = hearer(people)
    client = as_user(people.owner)
    address = reverse("letter-preview", args=[one.pk])
    assert "no system to tell of yet" in text_of(client, address)
    assert client.get(f"{address}html/").status_code == 404
    System.objects.create(team=people.team, product="ase", name="FRESH", key="FRESH")
    assert "no audit yet" in text_of(client, address)
    theirs = System.objects.create(team=people.other_team, product="ase", name="PAY", key="PAY")
    for query in ("kind=x", f"system={theirs.pk}", "system=x", "system=" + "9" * 30):
        assert client.get(f"{address}?{query}").status_code == 404


@pytest.mark.parametrize(("to", "address"), [("me", "mats@example.org"), ("recipient", "olga@example.org")])
def test_a_test_goes_through_the_outbox_and_is_told_as_nothing(
    people: People,
    as_user: AsUser,
    storm: System,
    serve: Serve,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    to: str,
    address: str,
) -> None:
    box = Postbox()
    Site.get()
    Site.objects.update(mail_host="127.0.0.1", mail_port=serve(box), mail_from="advisor@example.org")
    one = hearer(people)
    told = list(Told.objects.values())
    data = {"kind": "report", "system": storm.pk, "to": to}
    with django_capture_on_commit_callbacks(execute=True):
        answer = as_user(people.mate).post(reverse("letter-test", args=[one.pk]), data, follow=True)
    assert "The test is in the outbox" in answer.content.decode()
    assert [envelope.rcpt_tos for envelope in box.mails] == [[address]]
    (mail,) = mails()
    assert (mail.kind, mail.state, mail.to) == ("test", "done", address)
    assert mail.subject.startswith("Test: CLAIMS1")
    assert list(Told.objects.values()) == told
    assert deeds().filter(action="test mail put in", who="mats").exists()


def test_a_test_to_the_stopped_or_to_nobody_is_refused(people: People, as_user: AsUser, storm: System) -> None:
    one = hearer(people)
    Recipient.objects.update(stopped=one.created)
    client = as_user(people.owner)
    data = {"kind": "report", "to": "recipient"}
    assert "resume it first" in client.post(reverse("letter-test", args=[one.pk]), data, follow=True).content.decode()
    people.owner.email = ""
    people.owner.save()
    data["to"] = "me"
    answer = client.post(reverse("letter-test", args=[one.pk]), data, follow=True)
    assert "has no e-mail address" in answer.content.decode()
    assert kinds() == []
