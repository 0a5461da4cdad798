"""Who is told of an audit: those it concerns, while they are in the team and not stopped, and never the past."""

from collections.abc import Callable

import pytest

from advisor.audits.models import Audit
from advisor.notifications.models import Recipient, Told
from advisor.notifications.services import notify, recipients
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail.hearing import audited_again, hearer, kinds, mails, shown_before
from tests.advisor.people import People

shared = keeps("address_lock_storm")

Bring = Callable[..., Upload]


def tell(system: System) -> None:
    notify.notify(system.pk)


def test_a_new_recipient_is_not_told_the_past(people: People, storm: System, storm_audit: Audit) -> None:
    shown_before(storm_audit, hours=1)
    hearer(people, everything=True, heartbeat=True)
    tell(storm)
    Told.objects.all().delete()
    tell(storm)
    notify.notify_due()
    assert kinds() == []


def test_who_changes_to_more_systems_is_not_told_the_past_of_them(people: People, storm: System) -> None:
    other = System.objects.create(team=people.team, product="ase", name="OTHER", key="OTHER")
    one = hearer(people, systems=[other], everything=True)
    audited_again(storm)
    tell(storm)
    notify.notify_due()
    recipients.change(one, people.owner, systems=[other, storm], groups=[])
    notify.notify_due()
    assert kinds() == []
    audited_again(storm)
    notify.notify_due()
    assert kinds() == ["report"]


def test_a_group_that_grows_tells_nobody_the_past_of_its_new_systems(people: People, storm: System) -> None:
    group = people.team.groups.create(name="claims")
    hearer(people, groups=[group], everything=True)
    audited_again(storm)
    notify.notify_due()
    group.systems.add(storm)
    notify.notify_due()
    assert kinds() == []
    storm.groups.set([])
    audited_again(storm)
    Told.objects.all().delete()
    storm.groups.add(group)
    notify.notify_due()
    assert kinds() == []
    audited_again(storm)
    notify.notify_due()
    assert kinds() == ["report"]


def test_who_chose_systems_or_groups_hears_of_these_alone(people: People, storm: System) -> None:
    other = System.objects.create(team=people.team, product="ase", name="OTHER", key="OTHER")
    group = people.team.groups.create(name="claims")
    group.systems.add(storm)
    hearer(people, "group@example.org", everything=True, groups=[group])
    hearer(people, "storm@example.org", everything=True, systems=[storm])
    hearer(people, "other@example.org", everything=True, systems=[other])
    hearer(people, "all@example.org", everything=True)
    audited_again(storm)
    notify.notify_due()
    assert {mail.to for mail in mails()} == {"group@example.org", "storm@example.org", "all@example.org"}


def test_nobody_of_another_team_hears_of_a_system(people: People, storm: System) -> None:
    recipients.make(Recipient(team=people.other_team, address="sten@example.org", everything=True), people.stranger)
    audited_again(storm)
    tell(storm)
    notify.notify_due()
    assert kinds() == []


def test_who_has_left_the_team_or_is_inactive_hears_nothing(people: People, storm: System) -> None:
    for who in (people.owner, people.mate, people.administrator):
        hearer(people, who.email, everything=True)
    people.owner.teams.clear()
    people.mate.is_active = False
    people.mate.save()
    audited_again(storm)
    tell(storm)
    notify.notify_due()
    assert [mail.to for mail in mails()] == ["adam@example.org"]


def test_the_stopped_hear_nothing_and_resumed_nothing_of_the_time_between(people: People, storm: System) -> None:
    one = hearer(people, everything=True)
    recipients.stop(one, people.owner)
    audited_again(storm)
    tell(storm)
    notify.notify_due()
    recipients.resume(one, people.owner)
    tell(storm)
    notify.notify_due()
    assert kinds() == []
    audited_again(storm)
    notify.notify_due()
    assert kinds() == ["report"]


@pytest.mark.usefixtures("nothing_brought")
def test_the_examples_of_the_service_are_told_to_nobody(people: People, bring: Bring) -> None:
    hearer(people, everything=True, heartbeat=True)
    bring("address_lock_storm", origin="example")
    tell(System.objects.get())
    notify.notify_due()
    assert kinds() == []
