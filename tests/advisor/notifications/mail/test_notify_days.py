"""Days without mail are made up for on the next day; the week is told on its day and hour, late ones once."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from advisor.audits.models import Audit
from advisor.notifications.models import Recipient
from advisor.notifications.services import notify, recipients, subscribers
from advisor.systems.models import System
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail.hearing import audited_again, hearer, kinds, mails, text_of, was
from tests.advisor.people import People

pytestmark = pytest.mark.postgres

shared = keeps("address_lock_storm")

WORKDAYS = (0, 1, 2, 3, 4)
FRIDAY, SATURDAY, SUNDAY, MONDAY = (datetime(2026, 1, day, 12, tzinfo=UTC) for day in (9, 10, 11, 12))


def tell(system: System) -> None:
    notify.notify(system.pk)
    notify.notify_due()


def test_what_comes_on_a_weekend_is_told_on_monday_as_one_mail(
    people: People, storm: System, storm_audit: Audit
) -> None:
    with time_machine.travel(FRIDAY, tick=False):
        Audit.objects.filter(pk=storm_audit.pk).update(shown=FRIDAY - timedelta(hours=1))
        hearer(people, days=WORKDAYS)
        was(storm_audit, address_lock_spinlock_contended=None)
    for day in (SATURDAY, SUNDAY):
        with time_machine.travel(day, tick=False):
            last = audited_again(storm)
            tell(storm)
    assert kinds() == []
    with time_machine.travel(MONDAY, tick=False):
        notify.notify_due()
        notify.notify_due()
    (mail,) = mails()
    assert mail.audit == last
    assert "new: CRITICAL: Address lock hash table spinlocks" in text_of(mail)


def test_the_day_is_that_of_the_recipient_s_own_zone(people: People, storm: System) -> None:
    """Saturday noon in UTC is Sunday already on Kiritimati, and Friday still nowhere."""
    hearer(people, "a@example.org", days=(6,), zone="Pacific/Kiritimati", everything=True)
    hearer(people, "b@example.org", days=(6,), zone="UTC", everything=True)
    with time_machine.travel(SATURDAY, tick=False):
        Recipient.objects.update(created=FRIDAY)
        audited_again(storm)
        tell(storm)
    assert [mail.to for mail in mails()] == ["a@example.org"]


@pytest.mark.parametrize(
    ("zone", "after", "due"),
    [
        ("UTC", "2026-01-12T06:59:00+00:00", "2026-01-12T07:00:00+00:00"),
        ("UTC", "2026-01-12T07:00:00+00:00", "2026-01-19T07:00:00+00:00"),
        ("Europe/Oslo", "2026-03-23T08:00:00+00:00", "2026-03-30T05:00:00+00:00"),
        ("Europe/Oslo", "2026-10-19T08:00:00+00:00", "2026-10-26T06:00:00+00:00"),
        ("Pacific/Auckland", "2026-01-11T10:00:00+00:00", "2026-01-11T18:00:00+00:00"),
    ],
)
def test_the_week_is_told_at_seven_by_the_clock_on_the_wall(zone: str, after: str, due: str) -> None:
    one = Recipient(zone=zone, digest_day=0, digest_hour=7)
    assert subscribers.next_digest(one, datetime.fromisoformat(after)) == datetime.fromisoformat(due)


def test_an_hour_the_clock_leaves_out_is_told_all_the_same_and_one_that_comes_twice_once() -> None:
    one = Recipient(zone="Europe/Oslo", digest_day=6, digest_hour=2)
    spring = subscribers.next_digest(one, datetime(2026, 3, 28, 12, tzinfo=UTC))
    assert spring == datetime(2026, 3, 29, 1, tzinfo=UTC)
    autumn = subscribers.next_digest(one, datetime(2026, 10, 24, 12, tzinfo=UTC))
    assert autumn == datetime(2026, 10, 25, 0, tzinfo=UTC)
    assert subscribers.next_digest(one, autumn) == datetime(2026, 11, 1, 1, tzinfo=UTC)


def test_the_week_is_told_once_and_a_late_one_is_caught_up_once(people: People, storm: System) -> None:
    with time_machine.travel(FRIDAY, tick=False):
        one = hearer(people, reports=False, not_audited=False, digest=True)
        notify.notify_due()
    assert kinds() == []
    with time_machine.travel(MONDAY + timedelta(weeks=3), tick=False):  # the service was away for three Mondays
        notify.notify_due()
        notify.notify_due()
    assert kinds() == ["digest"]
    one.refresh_from_db()
    assert one.digest_told == MONDAY + timedelta(weeks=3)
    assert one.digest_due == (MONDAY + timedelta(weeks=4)).replace(hour=7)
    with time_machine.travel(MONDAY + timedelta(weeks=4), tick=False):
        notify.notify_due()
    assert kinds() == ["digest", "digest"]


def test_a_clock_set_back_neither_stops_the_week_nor_tells_it_twice(people: People, storm: System) -> None:
    with time_machine.travel(SUNDAY, tick=False):
        hearer(people, digest=True)
    for moment in (MONDAY, MONDAY - timedelta(hours=6), MONDAY):
        with time_machine.travel(moment, tick=False):
            notify.notify_due()
            notify.notify_due()
    assert kinds(kind="digest") == ["digest"]
    with time_machine.travel(MONDAY + timedelta(weeks=1), tick=False):
        notify.notify_due()
    assert kinds(kind="digest") == ["digest", "digest"]


def test_a_week_that_a_clock_set_back_left_far_ahead_is_brought_forward(people: People, storm: System) -> None:
    with time_machine.travel(SUNDAY, tick=False):
        one = hearer(people, digest=True)
        Recipient.objects.update(digest_due=SUNDAY + timedelta(weeks=52))
        notify.notify_due()
    one.refresh_from_db()
    assert one.digest_due == MONDAY.replace(hour=7)
    assert kinds() == []


def test_no_week_is_told_where_there_is_no_system_nor_to_the_stopped(people: People, storm: System) -> None:
    with time_machine.travel(SUNDAY, tick=False):
        stopped = hearer(people, digest=True)
        recipients.stop(stopped, people.owner)
        System.objects.all().delete()
        hearer(people, "none@example.org", digest=True)
    with time_machine.travel(MONDAY, tick=False):
        notify.notify_due()
    assert kinds() == []


def test_another_day_or_hour_of_the_week_counts_from_now_on(people: People, storm: System) -> None:
    with time_machine.travel(SUNDAY, tick=False):
        one = hearer(people, digest=True)
        one.digest_day, one.digest_hour = 2, 18
        recipients.change(one, people.owner)
        one.refresh_from_db()
    assert one.digest_due == datetime(2026, 1, 14, 18, tzinfo=UTC)
