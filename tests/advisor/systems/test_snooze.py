"""A system that is snoozed until a day: it starts no mail, is not called overdue, and stays in view as snoozed."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from advisor.accounts.services.tokens import make_token
from advisor.core.models import JournalEntry
from advisor.notifications.models import Mail
from advisor.notifications.services import notify
from advisor.operations.services import retention
from advisor.schedules.services import failures
from advisor.systems.models import System
from advisor.systems.services import overview, snoozing
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail.hearing import audited_again, hearer, kinds, mails, text_of
from tests.advisor.people import AsUser, People
from tests.advisor.seen import words_of

shared = keeps("address_lock_storm")

UNTIL = date(2027, 3, 10)


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    """Noon of 1 March 2027, by the site's clock."""
    with time_machine.travel(datetime(2027, 3, 1, 12, tzinfo=ZoneInfo(settings.TIME_ZONE)), tick=True) as travelled:
        yield travelled


def snooze(client: Client, system: System, **data: str) -> int:
    given = data or {"until": UNTIL.isoformat(), "why": "moves to the new machine"}
    return client.post(reverse("system-snooze", args=[system.pk]), given).status_code


def day_of(system: System) -> date | None:
    system.refresh_from_db()
    return system.snoozed_until


def overdue(system: System) -> None:
    """Hourly captures were expected since it was made, a day ago; nothing came."""
    since = timezone.now() - timedelta(days=1)
    System.objects.filter(pk=system.pk).update(expected_hours=1, created=since, latest=None)


def test_a_dba_snoozes_a_system_by_the_form_of_its_page_and_ends_it_there(
    people: People, storm: System, as_user: AsUser
) -> None:
    olga, address = as_user(people.owner), reverse("system", args=[storm.pk])
    assert "snoozed until 20" not in words_of(olga.get(address).content.decode())
    assert snooze(olga, storm) == 302
    words = words_of(as_user(people.colleague).get(address).content.decode())
    assert "snoozed until 2027-03-10 by olga: moves to the new machine" in words
    assert snooze(olga, storm, end="1") == 302
    assert day_of(storm) is None
    assert [(one.action, one.what) for one in JournalEntry.objects.filter(system=storm).order_by("pk")][-2:] == [
        ("system snoozed", "until 2027-03-10: moves to the new machine"),
        ("snooze ended", "it was until 2027-03-10"),
    ]
    assert snooze(olga, storm, end="1") == 400


@pytest.mark.parametrize(
    ("until", "why", "said"),
    [
        ("2027-03-01", "upgrade", "Choose a day in the future"),
        ("", "upgrade", "Choose a day in the future"),
        ("soon", "upgrade", "Enter a valid date"),
        ("2027-03-10", " ", "Say why it is snoozed"),
        ("2027-03-10", "x" * 501, "at most 500 characters"),
    ],
)
def test_what_is_not_taken_says_why_and_keeps_what_was_typed(
    people: People, storm: System, as_user: AsUser, until: str, why: str, said: str
) -> None:
    answer = as_user(people.owner).post(reverse("system-snooze", args=[storm.pk]), {"until": until, "why": why})
    page = answer.content.decode()
    assert answer.status_code == 400
    assert said in page
    assert f'value="{until}"' in page
    assert day_of(storm) is None


def test_who_only_reads_or_is_of_another_team_snoozes_nothing(people: People, storm: System, as_user: AsUser) -> None:
    assert snooze(as_user(people.colleague), storm) == 403
    assert snooze(as_user(people.stranger), storm) == 404
    assert as_user(people.owner).get(reverse("system-snooze", args=[storm.pk])).status_code == 405
    assert reverse("system-snooze", args=[storm.pk]) not in (
        as_user(people.colleague).get(reverse("system", args=[storm.pk])).content.decode()
    )
    assert day_of(storm) is None


def test_the_reason_is_text(people: People, storm: System, as_user: AsUser) -> None:
    olga = as_user(people.owner)
    snooze(olga, storm, until=UNTIL.isoformat(), why="<b onclick=x>why</b>")
    page = olga.get(reverse("system", args=[storm.pk])).content.decode()
    assert "&lt;b onclick=x&gt;why&lt;/b&gt;" in page
    assert "<b onclick" not in page


def test_its_findings_start_no_mail_until_the_day_has_passed_then_one(
    people: People, storm: System, clock: time_machine.Traveller
) -> None:
    hearer(people, everything=True)
    snoozing.snooze(storm, UNTIL, "upgrade", people.owner)
    for _ in range(2):
        audited_again(storm)
        notify.notify(storm.pk)
        notify.notify_due()
    clock.move_to(datetime(2027, 3, 10, 23, 59, tzinfo=ZoneInfo(settings.TIME_ZONE)))
    notify.notify_due()
    assert not mails()
    clock.move_to(datetime(2027, 3, 11, 0, 1, tzinfo=ZoneInfo(settings.TIME_ZONE)))
    for _ in range(2):
        notify.notify_due()
    assert kinds() == ["report"]


def test_it_is_not_told_to_be_overdue_until_the_day_has_passed(
    people: People, storm: System, clock: time_machine.Traveller
) -> None:
    hearer(people)
    overdue(storm)
    snoozing.snooze(storm, UNTIL, "upgrade", people.owner)
    notify.notify_due()
    assert not mails()
    clock.move_to(datetime(2027, 3, 11, 0, 1, tzinfo=ZoneInfo(settings.TIME_ZONE)))
    notify.notify_due()
    assert kinds() == ["not_audited"]


def test_what_was_told_before_is_not_told_again_though_old_mails_are_taken_away(
    people: People, storm: System, clock: time_machine.Traveller
) -> None:
    hearer(people)
    overdue(storm)
    notify.notify_due()
    Mail.objects.update(state="done", finished=timezone.now() - timedelta(days=4000))
    snoozing.snooze(storm, UNTIL, "upgrade", people.owner)
    assert retention.clear_up().mails == 0
    assert kinds() == ["not_audited"]
    clock.move_to(datetime(2027, 3, 11, 0, 1, tzinfo=ZoneInfo(settings.TIME_ZONE)))
    notify.notify_due()
    assert kinds() == ["not_audited"]


def test_the_overview_counts_it_as_snoozed_in_place_of_overdue_and_lists_it(
    people: People, storm: System, as_user: AsUser, clock: time_machine.Traveller
) -> None:
    overdue(storm)
    failed = System.objects.create(team=people.team, product="ase", name="FAILED1", key="FAILED1")
    System.objects.filter(pk=failed.pk).update(troubled=timezone.now(), trouble="run 1 of nightly: it failed\nlook")
    olga = as_user(people.owner)

    def counted() -> tuple[int, int, int]:
        told = overview.summary(people.owner)
        return told["overdue"], told["not_audited"], told["snoozed"]

    assert counted() == (1, 2, 0)
    for one in (storm, failed):
        snoozing.snooze(one, UNTIL, "upgrade", people.owner)
    assert counted() == (0, 0, 2)
    assert overview.summary(people.owner)["systems"] == 2
    page = olga.get("/").content.decode()
    assert '<a href="?only=snoozed">2 snoozed</a>' in page
    assert "overdue</span>" not in page
    assert page.count("snoozed until 2027-03-10") == 2
    assert "not audited since" in page, "the fact itself is not hidden"
    for only, shown in (("snoozed", True), ("overdue", False), ("not_audited", False)):
        listed = olga.get(f"/?only={only}").content.decode()
        assert (f'href="/systems/{storm.pk}/"' in listed) == (f'href="/systems/{failed.pk}/"' in listed) == shown
    clock.move_to(datetime(2027, 3, 11, 0, 1, tzinfo=ZoneInfo(settings.TIME_ZONE)))
    assert counted() == (1, 2, 0)
    assert failures.not_audited(people.team)
    assert "snoozed until" not in olga.get("/").content.decode()


def test_the_api_tells_until_when_and_why_while_it_lasts(
    people: People, storm: System, clock: time_machine.Traveller
) -> None:
    overdue(storm)
    _, secret = make_token(people.owner, "script", ["read"], None)
    client = Client(headers={"authorization": f"Bearer {secret}"})

    def told() -> tuple[str | None, str | None, bool]:
        row = client.get(f"/api/systems/{storm.pk}").json()
        assert client.get("/api/systems").json()["items"][0]["snoozed_until"] == row["snoozed_until"]
        return row["snoozed_until"], row["snoozed_why"], row["overdue"]

    assert told() == (None, None, True)
    snoozing.snooze(storm, UNTIL, "upgrade", people.owner)
    assert told() == ("2027-03-10", "upgrade", False)
    clock.move_to(datetime(2027, 3, 11, 0, 1, tzinfo=ZoneInfo(settings.TIME_ZONE)))
    assert told() == (None, None, True)


def test_the_digest_names_what_is_snoozed(people: People, storm: System) -> None:
    hearer(people, reports=False, not_audited=False, digest=True)
    overdue(storm)
    for number in range(11):
        name = f"NODE{number:02}"
        made = System.objects.create(team=people.team, product="ase", name=name, key=name)
        snoozing.snooze(made, UNTIL + timedelta(days=1), "upgrade", people.owner)
    snoozing.snooze(storm, UNTIL, "upgrade", people.owner)
    notify.notify_due()
    with time_machine.travel(timezone.now() + timedelta(days=8)):
        notify.notify_due()
    (mail,) = mails(kind="digest")
    text = text_of(mail)
    assert "Snoozed: CLAIMS1 until 2027-03-10, NODE00 until 2027-03-11, NODE01" in text
    assert "NODE08 until 2027-03-11 and 2 others." in text
    assert "NOT AUDITED" not in text
