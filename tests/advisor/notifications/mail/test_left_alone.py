"""Who was about systems that are gone is about nothing, until somebody chooses: never about all of the team."""

import pytest
from django.test import Client
from django.urls import reverse

from advisor.core.records import Refused
from advisor.notifications.mail import links
from advisor.notifications.models import Recipient
from advisor.notifications.services import (
    notify,
    overdue_alerts,
    recipients,
    subscribers,
)
from advisor.systems.models import System
from advisor.systems.services.systems import forget_system
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail.hearing import audited_again, hearer, mails
from tests.advisor.notifications.mail.test_letter_pages import typed
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.seen import words_of

shared = keeps("address_lock_storm")


@pytest.fixture
def other(people: People) -> System:
    return System.objects.create(team=people.team, product="ase", name="OTHER", key="OTHER")


@pytest.fixture
def alone(people: People, storm: System, other: System) -> Recipient:
    """A recipient whose only system was forgotten."""
    one = hearer(people, systems=[other], everything=True)
    forget_system(other, "OTHER", people.owner)
    one.refresh_from_db()
    return one


def hears_nothing(one: Recipient, system: System) -> bool:
    """Even as if nobody had stopped it."""
    Recipient.objects.update(stopped=None)
    audited_again(system)
    notify.notify(system.pk)
    notify.notify_due()
    untold = list(subscribers.untold([one], ()))
    return not (mails() or untold or subscribers.about(one) or overdue_alerts._about(one)[0])


def test_who_is_left_alone_cannot_be_resumed_and_hears_of_nothing(
    people: People, storm: System, alone: Recipient
) -> None:
    assert alone.left_alone
    for by in (people.owner, None):
        with pytest.raises(Refused, match="choose its systems first"):
            recipients.resume(alone, by)
    assert hears_nothing(alone, storm)


def test_who_had_unsubscribed_before_is_left_alone_as_well(people: People, storm: System, other: System) -> None:
    one = hearer(people, systems=[other], everything=True)
    recipients.stop(one, None)
    forget_system(other, "OTHER", people.owner)
    with pytest.raises(Refused):
        recipients.resume(one, None)
    one.refresh_from_db()
    assert hears_nothing(one, storm)


def test_the_link_of_who_is_left_alone_says_so_and_begins_nothing(storm: System, alone: Recipient) -> None:
    client = Client(enforce_csrf_checks=True)
    for view in ("letter-settings", "letter-unsubscribe", "letter-resume"):
        page = text_of(client, reverse(view, args=[links.token(alone)]))
        assert "Send mail again" not in page
    settings = reverse("letter-settings", args=[links.token(alone)])
    assert "About nothing any more." in words_of(text_of(client, settings))
    assert client.post(reverse("letter-resume", args=[links.token(alone)])).status_code == 200
    client.post(settings, typed(severity="1", of_all="on"))
    alone.refresh_from_db()
    assert alone.left_alone
    assert alone.stopped


def test_pages_say_that_it_is_about_nothing_and_do_not_resume_it(
    people: People, as_user: AsUser, alone: Recipient
) -> None:
    client = as_user(people.owner)
    listed = words_of(text_of(client, reverse("letters")))
    assert "nothing any more" in listed
    assert "all systems" not in listed
    page = text_of(client, reverse("letter-recipient", args=[alone.pk]))
    assert "choose its systems, then resume it" in page
    assert ">Resume<" not in page
    answer = client.post(reverse("letter-recipient-resume", args=[alone.pk]), follow=True)
    assert "choose its systems first" in answer.content.decode()
    alone.refresh_from_db()
    assert alone.stopped


def test_storing_something_else_does_not_make_it_about_all_of_the_team(
    people: People, as_user: AsUser, storm: System, alone: Recipient
) -> None:
    address = reverse("letter-recipient", args=[alone.pk])
    client = as_user(people.owner)
    client.post(address, typed(severity="4"))
    alone.refresh_from_db()
    assert (alone.severity, alone.left_alone) == (4, True)
    assert list(subscribers.about(alone)) == []
    said = words_of(client.post(address, typed(severity="4", of_all="on"), follow=True).content.decode())
    assert "about all systems" in said
    alone.refresh_from_db()
    assert not alone.left_alone
    assert list(subscribers.about(alone)) == [storm]
    assert "All systems of the team" not in text_of(client, address)


def test_who_gets_another_system_is_resumed_with_that_one(people: People, storm: System, alone: Recipient) -> None:
    alone.severity = 4
    assert (
        recipients.change(alone, people.owner, systems=[storm], groups=[])[-1]
        == "about CLAIMS1 (before: nothing any more)"
    )
    assert recipients.resume(alone, people.owner)
    alone.refresh_from_db()
    assert not alone.left_alone
    audited_again(storm)
    notify.notify(storm.pk)
    assert [mail.system for mail in mails()] == [storm]
