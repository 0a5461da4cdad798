"""The pages of schedules: one zone on a page, what an empty folder means, what is under way, what of mail is said."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from advisor.audits.models import Audit
from advisor.schedules.models import DropFile, Run, Schedule
from advisor.schedules.services.timing import in_zone
from advisor.schedules.views.listing import feeds_of, proposed
from advisor.systems.models import Group, System
from advisor.uploads.models import Upload
from tests.advisor.keeping import keeps
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.schedules.scheduled import mail_of, make_schedule, run_of, taken_by
from tests.advisor.seen import words_of

shared = keeps("address_lock_storm")

STAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?(?: [A-Z]{3,4})?")


def test_a_page_of_a_schedule_tells_its_times_in_the_zone_of_the_schedule(
    people: People, storm: System, as_user: AsUser
) -> None:
    now = timezone.now()
    due = datetime(2031, 1, 6, 23, 30, tzinfo=UTC)
    schedule = make_schedule(people, system=storm, zone="Asia/Tokyo", next_due=due, looked=now)
    System.objects.update(troubled=now, trouble="its collector failed")
    run_of(schedule, Run.State.WAITING, not_before=now + timedelta(hours=1))
    run_of(schedule, ago=90, why=Run.Why.NOW)
    DropFile.objects.create(
        schedule=schedule, size=1, mtime_ns=1, inode=1, since=now, seen=now, path="x.txt", taken=now
    )
    client = as_user(people.colleague)
    page = text_of(client, f"/schedules/{schedule.pk}/")
    page = page[page.index("<h1>") :]
    assert "2031-01-07 08:30 JST" in page
    stamps = STAMP.findall(page)
    assert len(stamps) >= 8
    assert [one for one in stamps if not one.endswith(" JST")] == []
    assert re.search(r"looks again at|again at \d\d:\d\d:\d\d JST", words_of(page))
    table = text_of(client, "/schedules/")
    table = table[table.index("<tbody>") :]
    assert [one for one in STAMP.findall(table) if not one.endswith(" JST")] == []
    assert "2031-01-07 08:30 JST" in text_of(client, f"/systems/{storm.pk}/")


def test_a_zone_there_is_no_more_is_told_in_utc() -> None:
    at = datetime(2031, 1, 6, 23, 30, tzinfo=UTC)
    assert f"{in_zone(at, 'Mars/Base'):%H:%M %Z}" == "23:30 UTC"
    assert f"{in_zone(at, 'Europe/Oslo'):%H:%M %Z}" == "00:30 CET"


def test_under_way_is_a_run_or_an_upload_and_no_mail_that_waits(
    people: People, storm_audit: Audit, as_user: AsUser
) -> None:
    schedule = make_schedule(people, system=storm_audit.system)
    upload = storm_audit.capture.upload
    assert upload
    run = run_of(schedule)
    taken_by(run, upload)
    mail_of(storm_audit, "waiting")
    client, address = as_user(people.colleague), f"/schedules/{schedule.pk}/"
    page = text_of(client, address)
    assert "Nothing is under way." in page
    assert "1 mail : 0 sent, 1 waiting" in words_of(page)
    assert "hx-trigger" in page, "the mail is followed all the same"
    assert "nightly" not in text_of(client, "/schedules/?only=running")
    Upload.objects.filter(pk=upload.pk).update(state=Upload.State.READING)
    assert "Under way; this list follows by itself." in text_of(client, address)
    assert "nightly" in text_of(client, "/schedules/?only=running")
    Upload.objects.filter(pk=upload.pk).update(state=Upload.State.DONE)
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING)
    assert "Under way; this list follows by itself." in text_of(client, address)


@pytest.mark.parametrize(("state", "said"), [(Run.State.FAILED, False), (Run.State.DONE, True)])
def test_of_the_mails_of_a_run_that_failed_for_good_nothing_is_said(
    people: People, storm: System, as_user: AsUser, state: str, said: bool
) -> None:
    schedule = make_schedule(people, system=storm)
    run_of(schedule, state, error="the folder is away" if state == Run.State.FAILED else "")
    page = text_of(as_user(people.colleague), f"/schedules/{schedule.pk}/")
    cell = page[page.index('data-label="Mail">') :]
    assert ("none" in cell[: cell.index("</td>")]) == said


def test_the_page_and_the_form_say_that_an_empty_folder_is_no_alarm(
    people: People, storm: System, as_user: AsUser
) -> None:
    own, any_system = make_schedule(people, system=storm), make_schedule(people, "whatever")
    collecting = make_schedule(people, "asks", system=storm, source="collector", collector="x", folder="")
    olga = as_user(people.owner)
    page = text_of(olga, f"/schedules/{own.pk}/")
    assert "An empty folder alone is no alarm" in page
    assert f'href="/systems/{storm.pk}/#captures">Say how often a capture of CLAIMS1 is expected' in page
    assert "on the page of each system" in text_of(olga, f"/schedules/{any_system.pk}/")
    assert "no alarm" not in text_of(olga, f"/schedules/{collecting.pk}/")
    assert "An empty folder alone is no alarm" in text_of(olga, f"/schedules/new/?team={people.team.pk}")


def test_the_interval_of_its_schedule_is_proposed_as_what_is_expected(
    people: People, storm: System, as_user: AsUser
) -> None:
    olga, address = as_user(people.owner), f"/systems/{storm.pk}/"
    before = text_of(olga, address)
    assert '<a href="#schedules">schedules</a>, with uploads' in before
    assert "By the schedule" not in before
    schedule = make_schedule(people, system=storm, every_minutes=200)
    page = text_of(olga, address)
    assert 'size="5" value="4"' in page
    assert "By the schedule nightly one comes every 200 minutes; with Keep one is expected every 4 h." in words_of(page)
    Schedule.objects.filter(pk=schedule.pk).update(every_minutes=5)
    assert "one comes every 5 minutes; with Keep one is expected every 1 h." in words_of(text_of(olga, address))
    assert "By the schedule" not in text_of(as_user(people.colleague), address)
    assert olga.post(f"{address}expected/", {"hours": "0"}).status_code == 400
    System.objects.update(expected_hours=30)
    page = text_of(olga, address)
    assert 'size="5" value="30"' in page
    assert "By the schedule" not in page
    assert schedule.every_minutes == 200


@pytest.mark.parametrize(
    ("columns", "hours"),
    [
        ({"every_minutes": 60}, 1),
        ({"every_minutes": 61}, 2),
        ({"every_minutes": None, "cron": "0 6 * * mon-fri"}, 72),
        ({"every_minutes": 60, "blackouts": "daily 01:00-05:30"}, 6),
        ({"every_minutes": None, "cron": "0 6 29 2 *"}, None),
        ({"every_minutes": None, "cron": "nonsense"}, None),
        ({"paused": datetime(2026, 1, 1, tzinfo=UTC)}, None),
    ],
)
def test_the_longest_wait_of_the_most_frequent_schedule_is_proposed(
    people: People, storm: System, columns: dict[str, Any], hours: int | None
) -> None:
    now = datetime(2026, 6, 3, 12, tzinfo=UTC)
    group = Group.objects.create(team=people.team, name="all")
    group.systems.add(storm)
    make_schedule(people, "monthly", group=group, every_minutes=None, cron="0 0 1 * *")
    make_schedule(people, system=storm, **columns)
    found = proposed(feeds_of(people.owner, storm), now)
    assert found
    assert found.hours == (hours or 744)
