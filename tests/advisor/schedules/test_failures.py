"""What is not audited although it should be is said until it is audited, or nobody wants it any more."""

import io
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.audits.models import Capture
from advisor.core.models import JournalEntry
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services import failures, schedules
from advisor.systems.models import Group, System
from advisor.systems.services import groups
from advisor.uploads.models import Upload
from advisor.uploads.services.uploads import Brought, ingest
from tests.advisor.keeping import keeps
from tests.advisor.people import STORIES, People
from tests.advisor.schedules.scheduling import NOON, make_schedule, make_system

pytestmark = pytest.mark.postgres

shared = keeps("address_lock_storm")


def failed(schedule: Schedule, system: System | None = None, error: str = "no answer\ncall the server") -> Run:
    """A run that was given up, noted as a trouble."""
    run = Run.objects.create(
        schedule=schedule, system=system, due=timezone.now(), state="failed", error=error, finished=timezone.now()
    )
    failures.run_failed(run)
    return run


def trouble_of(one: System | Schedule) -> str:
    one.refresh_from_db()
    assert (one.troubled is None) == (not one.trouble)
    return one.trouble


def bring_bytes(run: Run, data: bytes, system_name: str = "") -> Upload:
    brought = [Brought("export.txt", io.BytesIO(data))]
    return ingest(brought, run.schedule.team, None, system_name=system_name, origin="schedule", run=run).upload


def test_a_system_is_not_audited_since_its_last_capture_and_as_long_as_it_lasts(people: People, storm: System) -> None:
    schedule = make_schedule(people.team, system=storm)
    run = failed(schedule, storm)
    assert storm.latest is not None
    storm.refresh_from_db()
    assert storm.troubled == storm.latest.capture.taken
    assert storm.trouble == f"run {run.pk} of hourly: no answer\ncall the server"
    System.objects.update(latest=None)
    again = failed(schedule, storm, "still no answer")
    storm.refresh_from_db()
    assert storm.latest is None
    assert storm.troubled is not None
    assert storm.troubled < schedule.created, "the beginning stays"
    assert storm.trouble.startswith(f"run {again.pk} of hourly: still no answer\nlook at the run")
    entries = JournalEntry.objects.filter(action="not audited")
    assert [(entry.who, entry.system) for entry in entries] == [("lockwright", storm)], "noted once"


@pytest.mark.usefixtures("nothing_brought")
def test_a_system_never_audited_is_missed_since_its_schedule_was_made(people: People) -> None:
    system = make_system(people.team)
    failed(make_schedule(people.team, system=system), system)
    system.refresh_from_db()
    assert system.troubled == NOON


def test_the_next_audit_ends_the_trouble(people: People, storm: System, bring: Callable[..., Upload]) -> None:
    failed(make_schedule(people.team, system=storm), storm)
    assert trouble_of(storm)
    storm.captures.all().delete()
    Upload.objects.all().delete()
    bring("address_lock_storm")
    assert not trouble_of(storm)


@pytest.mark.usefixtures("nothing_brought")
def test_an_audit_ends_the_trouble_of_the_schedule_that_brought_it(
    people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    schedule, other = make_schedule(people.team), make_schedule(people.team, "other")
    failed(schedule)
    failed(other)
    run = Run.objects.create(schedule=schedule, due=timezone.now())
    with django_capture_on_commit_callbacks(execute=True):
        bring_bytes(run, (STORIES / "address_lock_storm" / "sysmon.txt").read_bytes())
    assert System.objects.get().latest
    assert not trouble_of(schedule)
    assert trouble_of(other)


@pytest.mark.usefixtures("nothing_brought")
def test_an_upload_somebody_brought_by_hand_is_nobodys_trouble(
    people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        ingest([Brought("a.txt", io.BytesIO(b"hello"))], people.team, people.owner)
    assert Upload.objects.get().error == "nothing usable was given"
    assert failures.not_audited(people.team) == []


@pytest.mark.usefixtures("nothing_brought")
def test_a_run_that_works_ends_the_trouble_of_its_own_schedule_only(people: People) -> None:
    system = make_system(people.team)
    collecting, folder = make_schedule(people.team, "collecting"), make_schedule(people.team, "folder", system=system)
    failed(collecting, system)
    failures.schedule_works(folder)
    assert trouble_of(system)
    failures.schedule_works(collecting, system)
    assert not trouble_of(system)


@pytest.mark.parametrize("end", [schedules.pause, schedules.remove])
def test_a_schedule_that_rests_takes_its_troubles_along_unless_another_one_fails_as_well(
    people: People, end: Callable[..., object]
) -> None:
    alone, shared = make_system(people.team, "ALONE"), make_system(people.team, "SHARED")
    group = Group.objects.create(team=people.team, name="both")
    group.systems.set([alone, shared])
    first = make_schedule(people.team, "first", source="collector", group=group)
    second = make_schedule(people.team, "second", source="collector", system=shared)
    failed(second, shared)
    failed(first, alone)
    failed(first, shared)
    failed(first)
    others = make_system(people.team, "OTHERS", troubled=NOON, trouble="upload 1 of third: nothing usable\nlook at it")
    assert "of first: no answer" in trouble_of(shared)
    end(first, people.owner)
    assert not trouble_of(alone)
    assert "of second: no answer" in trouble_of(shared)
    if end is schedules.pause:
        assert not trouble_of(first)
    end(second, people.owner)
    assert not trouble_of(shared)
    assert trouble_of(others)


def test_a_system_taken_out_of_a_group_is_no_trouble_of_its_schedule_any_more(people: People) -> None:
    stays, goes = make_system(people.team, "STAYS"), make_system(people.team, "GOES")
    group = Group.objects.create(team=people.team, name="both")
    group.systems.set([stays, goes])
    schedule = make_schedule(people.team, group=group)
    failed(schedule, stays)
    failed(schedule, goes)
    groups.change(group, "both", [stays], people.owner)
    assert trouble_of(stays)
    assert not trouble_of(goes)


def test_what_is_not_audited_is_listed_longest_first_with_why_and_what_to_do(people: People, storm: System) -> None:
    now = timezone.now()
    fleet = make_schedule(people.team, "fleet", created=now)
    nightly = make_schedule(people.team, "nightly", system=storm)
    failed(fleet, error="there is no folder /x\nmake it")
    failed(nightly, storm)
    late = make_system(people.team, "LATE", expected_hours=2, created=now - timedelta(hours=30))
    make_system(people.team, "FINE", expected_hours=2, created=now - timedelta(hours=1))
    make_system(people.other_team, "THEIRS", expected_hours=1, created=now - timedelta(hours=30))
    found = failures.not_audited(people.team)
    assert [one.name for one in found] == ["CLAIMS1", "LATE", "fleet"]
    assert [(one.system, one.schedule) for one in found] == [(storm, nightly), (late, None), (None, fleet)]
    assert found[0].do == "call the server"
    assert found[1].why == "no capture yet; one is expected every 2 hours"
    assert found[1].since == late.created
    assert (found[2].why, found[2].do) == (f"run {fleet.runs.get().pk} of fleet: there is no folder /x", "make it")


def test_an_overdue_system_says_for_how_long(people: People, storm: System) -> None:
    assert storm.latest is not None
    System.objects.update(expected_hours=24)
    came = Upload.objects.get().at
    assert storm.latest.capture.taken < came - timedelta(days=2), "it was carried late"
    assert failures.not_audited(people.team, came + timedelta(hours=24)) == []
    for hours in (26, 27):
        (one,) = failures.not_audited(people.team, came + timedelta(hours=hours, minutes=5))
        assert (one.since, one.why) == (came, f"no capture for {hours} hours; one is expected every 24 hours")


@pytest.mark.parametrize(
    ("expected", "late", "said"),
    [
        (1, 2, "no capture for 2 hours; one is expected every hour"),
        (2, 48, "no capture for 48 hours; one is expected every 2 hours"),
        (24, 6661, "no capture for 277 days; one is expected every 24 hours"),
        (168, 200, "no capture for 8 days; one is expected every 7 days"),
        (50, 73, "no capture for 3 days; one is expected every 50 hours"),
    ],
)
def test_hours_are_told_as_people_say_them(people: People, storm: System, expected: int, late: int, said: str) -> None:
    System.objects.update(expected_hours=expected)
    (one,) = failures.not_audited(people.team, Upload.objects.get().at + timedelta(hours=late, minutes=5))
    assert one.why == said


def test_a_server_whose_clock_is_ahead_is_missed_from_its_own_time_on(people: People, storm: System) -> None:
    System.objects.update(expected_hours=1)
    now = timezone.now()
    Capture.objects.update(taken=now)
    Upload.objects.update(at=now - timedelta(days=3))
    assert failures.not_audited(people.team, now + timedelta(minutes=59)) == []
    Capture.objects.update(upload=None)
    (one,) = failures.not_audited(people.team, now + timedelta(minutes=61))
    assert one.since == now


def test_a_thousand_systems_are_listed_by_few_queries(people: People) -> None:
    schedule = make_schedule(people.team)
    System.objects.bulk_create(
        System(
            team=people.team, product="ase", name=f"S{number}", key=f"S{number}", expected_hours=1,
            created=NOON, troubled=NOON if number % 2 else None, trouble="run 1 of hourly: x\ny" if number % 2 else "",
        )
        for number in range(1000)
    )  # fmt: skip
    with CaptureQueriesContext(connection) as asked:
        assert len(failures.not_audited(people.team)) == 1000
    assert len(asked) <= 4
    assert schedule.troubled is None
