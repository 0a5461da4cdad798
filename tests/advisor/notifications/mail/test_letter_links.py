"""What the signed links of a mail open without a login: that recipient's settings and the way out, nothing else."""

import pytest
from django.test import Client
from django.urls import reverse

from advisor.notifications.mail import links
from advisor.notifications.models import Recipient
from advisor.notifications.services import notify, recipients
from advisor.systems.models import System
from tests.advisor.notifications.mail.hearing import audited_again, hearer, link_of, mails
from tests.advisor.notifications.mail.test_letter_pages import typed
from tests.advisor.people import People, text_of
from tests.advisor.seen import words_of

VIEWS = ("letter-settings", "letter-unsubscribe", "letter-resume")


@pytest.fixture
def stranger() -> Client:
    """A browser of nobody, which sends no token of a form either."""
    return Client(enforce_csrf_checks=True)


def address(one: Recipient, view: str = "letter-settings") -> str:
    return reverse(view, args=[links.token(one)])


def test_the_links_of_a_mail_open_the_settings_and_the_way_out(people: People, storm: System, stranger: Client) -> None:
    one = hearer(people, everything=True)
    audited_again(storm)
    notify.notify(storm.pk)
    (mail,) = mails()
    page = text_of(stranger, link_of(mail))
    assert "Mail to olga@example.org" in page
    assert "all systems of Claims" in page
    assert "CLAIMS1" not in page
    assert "Send nothing more" in text_of(stranger, link_of(mail, "unsubscribe/"))
    one.refresh_from_db()
    assert one.stopped is None


def test_the_settings_are_changed_by_the_link_alone(people: People, stranger: Client) -> None:
    one = hearer(people)
    answer = stranger.post(address(one), typed(severity="4", digest="on", days=["0"]))
    assert "Stored: from warning to critical" in words_of(answer.content.decode())
    one.refresh_from_db()
    assert (one.severity, one.digest, one.days) == (4, True, [0])


def test_the_link_changes_neither_address_nor_systems_nor_team(people: People, storm: System, stranger: Client) -> None:
    one = hearer(people, systems=[storm])
    data = typed(address="x@example.org", systems=[], groups=[], team=people.other_team.pk, user=people.stranger.pk)
    assert stranger.post(address(one), data).status_code == 200
    one.refresh_from_db()
    assert (one.address, one.team, one.user) == ("olga@example.org", people.team, people.owner)
    assert list(one.systems.all()) == [storm]
    assert "CLAIMS1" in text_of(stranger, address(one))


def test_wishes_that_cannot_be_are_told_on_the_page(people: People, stranger: Client) -> None:
    one = hearer(people)
    answer = stranger.post(address(one), typed(reports=None, not_audited=None))
    assert answer.status_code == 400
    assert "Choose something to be sent" in answer.content.decode()


def test_one_click_of_a_mail_program_unsubscribes(people: People, storm: System, stranger: Client) -> None:
    one = hearer(people, everything=True, digest=True)
    answer = stranger.post(address(one, "letter-unsubscribe"), {"List-Unsubscribe": "One-Click"})
    assert answer.status_code == 200
    one.refresh_from_db()
    assert one.stopped
    assert one.stopped_why == "unsubscribed by the link in a mail"
    audited_again(storm)
    notify.notify(storm.pk)
    notify.notify_due()
    assert not mails()
    assert stranger.post(address(one, "letter-unsubscribe")).status_code == 200


def test_who_unsubscribed_by_mistake_comes_back_by_the_same_link(people: People, stranger: Client) -> None:
    one = hearer(people)
    stranger.post(address(one, "letter-unsubscribe"))
    assert address(one, "letter-resume") in text_of(stranger, address(one))
    stranger.post(address(one, "letter-resume"))
    one.refresh_from_db()
    assert one.stopped is None


def test_who_was_stopped_by_a_dba_does_not_come_back_by_the_link(people: People, stranger: Client) -> None:
    one = hearer(people)
    recipients.stop(one, people.owner)
    assert address(one, "letter-resume") not in text_of(stranger, address(one))
    stranger.post(address(one, "letter-resume"))
    one.refresh_from_db()
    assert one.stopped
    assert recipients.resume(one, people.owner)


def test_to_look_changes_nothing(people: People, stranger: Client) -> None:
    one = hearer(people)
    for view in VIEWS:
        assert stranger.get(address(one, view)).status_code == 200
        assert stranger.head(address(one, view)).status_code == 200
        assert stranger.put(address(one, view)).status_code == 405
    one.refresh_from_db()
    assert one.stopped is None


def test_a_link_of_a_removed_recipient_a_wrong_and_an_old_one_all_say_the_same(
    people: People, stranger: Client
) -> None:
    gone, left, renewed = (hearer(people, f"{name}@example.org") for name in ("gone", "mats", "renewed"))
    tokens = [links.token(one) for one in (gone, left, renewed)]
    recipients.remove(gone, people.owner)
    people.mate.teams.clear()
    Recipient.objects.filter(pk=renewed.pk).update(nonce="another")
    said = set()
    for token in [*tokens, "1.x", f"{left.pk}.", "x", tokens[2][:-1], "9" * 30 + ".abc"]:
        for view in VIEWS:
            for answer in (stranger.get(reverse(view, args=[token])), stranger.post(reverse(view, args=[token]))):
                assert answer.status_code == 404
                said.add(answer.content)
    assert len(said) == 1
    assert not Recipient.objects.exclude(stopped=None).exists()


def test_a_link_logs_nobody_in_and_leaves_no_trace_with_others(people: People, stranger: Client) -> None:
    one = hearer(people)
    for answer in (stranger.get(address(one)), stranger.post(address(one), typed())):
        assert not answer.cookies
        assert answer["Referrer-Policy"] == "no-referrer"
        assert "noindex" in answer["X-Robots-Tag"]
        assert answer["Cache-Control"] == "private, no-store"
    assert stranger.get(reverse("overview")).status_code == 302
    assert stranger.get(reverse("letters")).status_code == 302
    assert stranger.get(reverse("letter-recipient", args=[one.pk])).status_code == 302
