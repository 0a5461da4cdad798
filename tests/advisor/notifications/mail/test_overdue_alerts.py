"""A system that is not audited any more is told once an episode, to whom it concerns."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from advisor.audits.models import Audit, Capture
from advisor.notifications.models import Mail, Recipient
from advisor.notifications.services import notify, overdue_alerts, recipients
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services.failures import not_audited
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail.hearing import audited_again, hearer, kinds, mails, text_of
from tests.advisor.people import People

pytestmark = pytest.mark.postgres

shared = keeps("address_lock_storm")


@pytest.fixture
def silent(people: People) -> System:
    """A system that is overdue: hourly captures were expected from five hours ago on."""
    return overdue(people, "SILENT1")


def overdue(people: People, name: str) -> System:
    since = timezone.now() - timedelta(hours=5)
    system = System.objects.create(
        team=people.team, product="ase", name=name, key=name, created=since, expected_hours=1
    )
    assert any(one.system == system for one in not_audited(people.team))
    return system


def came(*, hours: float) -> None:
    """Have every capture taken and brought so long ago."""
    Capture.objects.update(taken=timezone.now() - timedelta(hours=hours))
    Upload.objects.update(at=timezone.now() - timedelta(hours=hours))


def newest(system: System) -> Audit:
    system.refresh_from_db()
    assert system.latest is not None
    return system.latest


def test_a_system_that_is_not_audited_any_more_is_told_once(people: People, silent: System) -> None:
    hearer(people)
    for _ in range(3):
        notify.notify_due()
    (mail,) = mails()
    assert (mail.kind, mail.system) == ("not_audited", silent)
    assert "SILENT1" in mail.subject


def test_the_next_episode_is_told_again(people: People, storm: System) -> None:
    hearer(people)
    came(hours=9)
    System.objects.update(expected_hours=1)
    notify.notify_due()
    came(hours=0)
    notify.notify_due()
    came(hours=3)
    notify.notify_due()
    assert kinds(kind="not_audited") == ["not_audited"] * 2


def test_who_heard_of_it_hears_that_the_system_is_audited_again(people: People, storm: System) -> None:
    hearer(people, reports=False)
    came(hours=9)
    System.objects.update(expected_hours=1)
    notify.notify_due()
    came(hours=0)
    audited_again(storm)
    notify.notify(storm.pk)
    notify.notify_due()
    assert kinds() == ["not_audited", "report"]
    assert "had not been audited since" in text_of(mails()[-1])


def test_only_whom_it_concerns_and_who_asked_for_it_is_told(people: People, silent: System) -> None:
    other = System.objects.create(team=people.team, product="ase", name="OTHER", key="OTHER")
    hearer(people, "all@example.org")
    hearer(people, "its@example.org", systems=[silent])
    hearer(people, "other@example.org", systems=[other])
    hearer(people, "no@example.org", not_audited=False)
    hearer(people, "today-not@example.org", days=((timezone.now().weekday() + 2) % 7,))
    recipients.stop(hearer(people, "stopped@example.org"), people.owner)
    recipients.make(Recipient(team=people.other_team, address="sten@example.org"), people.stranger)
    notify.notify_due()
    assert {mail.to for mail in mails()} == {"all@example.org", "its@example.org"}


def test_many_at_once_are_one_mail_and_each_is_told_once(people: People) -> None:
    one = hearer(people)
    lost = [overdue(people, f"LOST{n}") for n in range(overdue_alerts.MOST_MAILS + 1)]
    notify.notify_due()
    notify.notify_due()
    (mail,) = mails()
    assert all(system.name in text_of(mail) for system in lost)
    assert Mail.objects.filter(recipient=one, size=0, state="skipped").count() == len(lost) - 1
    overdue(people, "LATER")
    notify.notify_due()
    assert len(mails()) == 2


def test_a_schedule_without_a_system_that_fails_is_told_to_who_is_about_everything(people: People) -> None:
    system = System.objects.create(team=people.team, product="ase", name="OTHER", key="OTHER")
    Schedule.objects.create(
        team=people.team,
        name="nightly",
        folder="/nowhere",
        every_minutes=60,
        next_due=timezone.now() + timedelta(hours=1),
        troubled=timezone.now() - timedelta(hours=3),
        trouble="run 1 of nightly: the folder is not there\nMount it.",
    )
    hearer(people, "all@example.org")
    hearer(people, "other@example.org", systems=[system])
    notify.notify_due()
    assert [mail.to for mail in mails()] == ["all@example.org"]
    assert "nightly" in text_of(mails()[0])


@pytest.mark.parametrize("caught_up", [True, False])
def test_what_is_being_made_up_for_after_the_service_was_away_is_not_called_lost(
    people: People, silent: System, caught_up: bool
) -> None:
    hearer(people)
    schedule = Schedule.objects.create(
        team=people.team, name="hourly", system=silent, every_minutes=60, next_due=timezone.now() - timedelta(hours=4)
    )
    notify.notify_due()
    assert kinds() == []
    Schedule.objects.update(next_due=timezone.now() + timedelta(hours=1))
    run = Run.objects.create(schedule=schedule, due=timezone.now(), missed=3)
    notify.notify_due()
    assert kinds() == []
    if caught_up:  # it brought nothing
        Run.objects.update(state=Run.State.DONE)
    else:  # it takes too long
        Run.objects.filter(pk=run.pk).update(created=timezone.now() - timedelta(minutes=11))
    notify.notify_due()
    assert kinds() == ["not_audited"]


def test_what_was_not_sent_is_not_taken_as_told(people: People, storm: System) -> None:
    one = hearer(people)
    came(hours=9)
    System.objects.update(expected_hours=1)
    notify.notify_due()
    came(hours=0)
    latest = audited_again(storm)
    assert overdue_alerts.told_of(one, latest, None)
    Mail.objects.update(state=Mail.State.SKIPPED)
    assert not overdue_alerts.told_of(Recipient.objects.get(), latest, None)


def test_what_was_held_back_and_then_lost_is_told_once_as_not_audited(people: People, storm: System) -> None:
    """An audit of a day without mail, then a failure: the sweep of the next day tells of both, in their order."""
    workdays = hearer(people, days=(0,), everything=True)
    friday, monday = datetime(2026, 1, 9, 12, tzinfo=UTC), datetime(2026, 1, 12, 12, tzinfo=UTC)
    with time_machine.travel(friday, tick=False):
        Recipient.objects.update(created=friday - timedelta(days=9))
        audited_again(storm)
        notify.notify(storm.pk)
        System.objects.update(troubled=friday, trouble="run 3 of nightly: it failed\nLook at it.")
        notify.notify_due()
    assert kinds() == []
    with time_machine.travel(monday, tick=False):
        notify.notify_due()
        assert kinds() == ["report", "not_audited"]
        assert not any("audited again" in mail.subject + text_of(mail) for mail in mails(kind="report"))
        audited_again(storm)
        notify.notify(storm.pk)
        assert "audited again" not in mails()[-1].subject, "it is not audited still"
        System.objects.update(troubled=None, trouble="")
    with time_machine.travel(monday + timedelta(hours=1), tick=False):
        audited_again(storm)
        Mail.objects.filter(kind="not_audited").update(created=monday + timedelta(minutes=30))
        notify.notify(storm.pk)
        assert "audited again" in mails()[-1].subject
        assert Mail.objects.filter(recipient=workdays, kind="not_audited").count() == 1


def test_a_mail_younger_than_the_audit_says_nothing_of_it(people: People, storm: System) -> None:
    one = hearer(people)
    came(hours=9)
    System.objects.update(expected_hours=1)
    notify.notify_due()
    came(hours=0)
    assert not overdue_alerts.told_of(one, newest(storm), None)
    assert overdue_alerts.told_of(one, audited_again(storm), None)
