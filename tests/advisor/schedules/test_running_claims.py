"""A schedule that is due becomes one run, whoever asks and however late."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from advisor.core import job_queue
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services import due_schedules, running
from advisor.systems.models import Group
from tests.advisor.people import People, make_people
from tests.advisor.schedules.scheduling import NOON, make_schedule, make_system, runs_of

pytestmark = pytest.mark.postgres

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def next_of(schedule: Schedule) -> datetime | None:
    schedule.refresh_from_db()
    return schedule.next_due


def test_what_is_due_becomes_one_run_and_is_due_again_an_hour_later(people: People) -> None:
    schedule = make_schedule(people.team)
    with time_machine.travel(NOON - MINUTE, tick=False):
        assert running.claim_due() == []
    with time_machine.travel(NOON + timedelta(seconds=7), tick=False):
        first = running.claim_due()
        again = running.claim_due()
    run = Run.objects.get()
    assert (first, again) == ([run.pk], [])
    assert (run.due, run.why, run.missed, run.late_seconds, run.system) == (NOON, "due", 0, 0, None)
    assert next_of(schedule) == NOON + HOUR


def test_a_scheduler_that_comes_second_finds_nothing_although_it_looked_at_the_same_time(people: People) -> None:
    schedule = make_schedule(people.team)
    now = NOON + timedelta(seconds=3)
    planned = due_schedules._plan(due_schedules._due(now), now)
    due_schedules._claim(planned, now)
    due_schedules._claim(planned, now)
    assert runs_of(schedule) == [("waiting", "06 12:00", 0)]


@pytest.mark.django_db(transaction=True)
def test_many_schedulers_at_once_make_each_run_once() -> None:
    if connection.vendor == "sqlite":
        pytest.skip("a database in memory has one connection")
    team = make_people().team
    for number in range(40):
        make_schedule(team, f"s{number}")
    barrier = threading.Barrier(6)
    given: list[int] = []
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            barrier.wait()
            due_schedules.claim(NOON + timedelta(seconds=1))
            given.extend(running.claim_due())
        except BaseException as error:  # noqa: BLE001 - told below
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert Run.objects.filter(due=NOON).count() == 40
    assert Schedule.objects.filter(next_due__gt=NOON).count() == 40


def test_three_hours_away_are_made_up_for_by_one_run_that_says_so(people: People) -> None:
    schedule = make_schedule(people.team)
    with time_machine.travel(NOON + 3 * HOUR + 10 * MINUTE, tick=False):
        assert len(running.claim_due()) == 1
    run = Run.objects.get()
    assert (run.due, run.missed, run.late_seconds) == (NOON + 3 * HOUR, 3, 600)
    assert next_of(schedule) == NOON + 4 * HOUR


def test_a_run_that_still_waits_makes_up_for_the_next_times_as_well(people: People) -> None:
    schedule = make_schedule(people.team)
    for hour in range(3):
        with time_machine.travel(NOON + hour * HOUR, tick=False):
            running.claim_due()
    assert runs_of(schedule) == [("waiting", "06 12:00", 2)]


def test_a_run_that_waits_for_files_to_settle_has_missed_nothing(people: People) -> None:
    schedule = make_schedule(people.team, every_minutes=1)
    Run.objects.create(schedule=schedule, due=NOON - MINUTE, claimed=NOON - MINUTE, not_before=NOON + MINUTE)
    with time_machine.travel(NOON, tick=False):
        assert running.claim_due() == []
    assert runs_of(schedule) == [("waiting", "06 11:59", 0)]


@pytest.mark.parametrize(("ahead", "taken"), [(timedelta(seconds=2), True), (MINUTE, False)])
def test_a_worker_whose_clock_is_behind_by_seconds_takes_what_another_put_into_the_queue(
    people: People, ahead: timedelta, taken: bool
) -> None:
    run = Run.objects.create(schedule=make_schedule(people.team), due=NOON, not_before=NOON + ahead)
    with time_machine.travel(NOON, tick=False):
        assert (job_queue.claim(Run.objects.all(), run.pk) is not None) is taken


def test_a_run_that_is_being_made_does_not_keep_the_next_one_from_waiting(people: People) -> None:
    schedule = make_schedule(people.team)
    Run.objects.create(schedule=schedule, due=NOON - HOUR, state="running", claimed=NOON - HOUR)
    with time_machine.travel(NOON, tick=False):
        running.claim_due()
    assert runs_of(schedule) == [("running", "06 11:00", 0), ("waiting", "06 12:00", 0)]


def test_a_clock_set_back_brings_the_next_time_forward_and_repeats_no_run(people: People) -> None:
    hourly = make_schedule(people.team, "interval")
    daily = make_schedule(people.team, "cron", cron="0 12 * * *")
    with time_machine.travel(NOON + 30 * DAY, tick=False):  # the clock was wrong
        running.claim_due()
    Run.objects.update(state="done")
    with time_machine.travel(NOON + 10 * MINUTE, tick=False):  # and is put right
        assert running.claim_due() == []
        assert next_of(hourly) == NOON + HOUR
        assert next_of(daily) == NOON + DAY
    Run.objects.filter(schedule=hourly).update(due=NOON + HOUR)
    with time_machine.travel(NOON + HOUR, tick=False):
        assert running.claim_due() == []
    assert runs_of(hourly) == [("done", "06 13:00", 30 * 24)], "the time that has its run is not run twice"
    with time_machine.travel(NOON + 2 * HOUR, tick=False):
        assert len(running.claim_due()) == 1


def test_a_run_due_in_a_blackout_is_skipped_said_and_not_caught_up(people: People) -> None:
    schedule = make_schedule(people.team, blackouts="wed 12:00-14:30")
    for hour in range(3):
        with time_machine.travel(NOON + hour * HOUR + timedelta(seconds=5), tick=False):
            assert running.claim_due() == []
    skipped = Run.objects.get()
    assert (skipped.state, skipped.told, skipped.missed) == ("skipped", "in the blackout wed 12:00-14:30", 2)
    with time_machine.travel(NOON + 3 * HOUR, tick=False):
        assert len(running.claim_due()) == 1
    assert runs_of(schedule) == [("skipped", "06 12:00", 2), ("waiting", "06 15:00", 0)]


def test_another_night_of_the_same_blackout_is_told_apart(people: People) -> None:
    schedule = make_schedule(people.team, cron="0 12 * * *", blackouts="daily 11:00-13:00\n")
    for day in range(2):
        with time_machine.travel(NOON + day * DAY, tick=False):
            running.claim_due()
    assert runs_of(schedule) == [("skipped", "06 12:00", 0), ("skipped", "07 12:00", 0)]


def test_a_blackout_that_passed_while_the_service_was_away_is_told_as_well(people: People) -> None:
    schedule = make_schedule(people.team, cron="0 12 * * *", blackouts="daily 11:00-13:00")
    with time_machine.travel(NOON + 5 * HOUR, tick=False):
        assert running.claim_due() == []
    assert runs_of(schedule) == [("skipped", "06 12:00", 0)]


def test_what_was_missed_before_a_blackout_is_caught_up_after_it(people: People) -> None:
    schedule = make_schedule(people.team, cron="0 12 * * *", blackouts="daily 13:00-15:00")
    with time_machine.travel(NOON + 2 * HOUR, tick=False):
        assert running.claim_due() == []
        assert next_of(schedule) == NOON, "it stays due until the blackout ends"
    with time_machine.travel(NOON + 3 * HOUR, tick=False):
        assert len(running.claim_due()) == 1
    run = Run.objects.get()
    assert (run.due, run.missed, run.late_seconds) == (NOON, 0, 3 * 3600)


@pytest.mark.parametrize(
    ("first", "dues"),
    [
        (datetime(2026, 3, 28, 5, tzinfo=UTC), ["28 05:00", "29 04:00", "30 04:00"]),
        (datetime(2026, 10, 24, 4, tzinfo=UTC), ["24 04:00", "25 05:00", "26 05:00"]),
    ],
)
def test_six_in_the_morning_in_oslo_is_six_on_either_side_of_daylight_saving(
    people: People, first: datetime, dues: list[str]
) -> None:
    schedule = make_schedule(people.team, cron="0 6 * * *", zone="Europe/Oslo", next_due=first)
    for day in range(3):
        for hour in range(-2, 3):
            with time_machine.travel(first + day * DAY + hour * HOUR, tick=False):
                running.claim_due()
            Run.objects.update(state="done")
    assert runs_of(schedule) == [("done", due, 0) for due in dues]


def test_a_schedule_that_collects_from_a_group_makes_a_run_a_system(people: People) -> None:
    group = Group.objects.create(team=people.team, name="fleet")
    systems = [make_system(people.team, name) for name in ("ALPHA", "BETA", "GAMMA")]
    group.systems.set(systems)
    schedule = make_schedule(people.team, source="collector", collector="x", group=group)
    with time_machine.travel(NOON, tick=False):
        assert len(running.claim_due()) == 3
    assert set(Run.objects.values_list("system", flat=True)) == {one.pk for one in systems}
    Run.objects.filter(system=systems[0]).update(state="done")
    with time_machine.travel(NOON + HOUR, tick=False):
        running.claim_due()
    found = Run.objects.filter(schedule=schedule).values_list("system__name", "state", "missed").order_by("pk")
    assert list(found) == [
        ("ALPHA", "done", 0),
        ("BETA", "waiting", 1),
        ("GAMMA", "waiting", 1),
        ("ALPHA", "waiting", 0),
    ]


def test_a_folder_of_a_group_is_looked_into_once(people: People) -> None:
    group = Group.objects.create(team=people.team, name="fleet")
    group.systems.set([make_system(people.team, name) for name in ("ALPHA", "BETA")])
    make_schedule(people.team, group=group)
    with time_machine.travel(NOON, tick=False):
        assert len(running.claim_due()) == 1


def test_a_group_without_systems_is_a_trouble_and_no_run(people: People) -> None:
    group = Group.objects.create(team=people.team, name="fleet")
    schedule = make_schedule(people.team, source="collector", collector="x", group=group)
    for hour in range(2):
        with time_machine.travel(NOON + hour * HOUR, tick=False):
            assert running.claim_due() == []
    assert [(run.state, run.told, run.missed) for run in Run.objects.all()] == [
        ("skipped", "the group has no systems", 1)
    ]
    schedule.refresh_from_db()
    assert schedule.troubled == NOON
    assert "put systems into it" in schedule.trouble


def test_a_zone_the_world_gave_up_stops_its_own_schedule_alone(people: People) -> None:
    broken = make_schedule(people.team, "broken", cron="0 12 * * *", zone="Europe/Atlantis")
    make_schedule(people.team, "sound")
    with time_machine.travel(NOON, tick=False):
        assert len(running.claim_due()) == 1
        assert running.claim_due() == []
    broken.refresh_from_db()
    assert broken.next_due is None
    assert "Europe/Atlantis" in broken.trouble


def test_what_is_paused_is_never_due(people: People) -> None:
    make_schedule(people.team, paused=NOON)
    with time_machine.travel(NOON + DAY, tick=False):
        assert running.claim_due() == []


def test_a_thousand_due_at_the_same_second_cost_few_queries(people: People) -> None:
    systems = [make_system(people.team, f"S{number}") for number in range(1000)]
    Schedule.objects.bulk_create(
        Schedule(
            team=people.team, name=one.name, system=one, source="collector", collector="x", cron="0 * * * *",
            zone="Europe/Oslo", blackouts="sat,sun 22:00-04:00", next_due=NOON,
        )
        for one in systems
    )  # fmt: skip
    with time_machine.travel(NOON + timedelta(seconds=1), tick=False), CaptureQueriesContext(connection) as asked:
        assert len(running.claim_due()) == 1000
    assert Run.objects.filter(due=NOON, state="waiting").count() == 1000
    assert len(asked) < 100, f"{len(asked)} queries"
    with time_machine.travel(NOON + timedelta(seconds=11), tick=False), CaptureQueriesContext(connection) as asked:
        assert running.claim_due() == []
    assert len(asked) <= 3
