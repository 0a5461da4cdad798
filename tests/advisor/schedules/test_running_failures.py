"""A run that fails is tried again, given up in the end, and then a trouble that is said."""

from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from celery.exceptions import SoftTimeLimitExceeded
from django.db import OperationalError
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.core import job_queue
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services import collecting, running
from advisor.schedules.tasks import make_run
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.people import STORIES, People
from tests.advisor.schedules.scheduling import NOON, Probe, collected, due_run, made, make_schedule, make_system

pytestmark = pytest.mark.postgres

SYSMON = STORIES / "address_lock_storm" / "sysmon.txt"
MINUTE = timedelta(minutes=1)


def test_a_collector_that_fails_is_tried_again_later_and_given_up_in_the_end(
    people: People, probe: Probe, noon: time_machine.Traveller
) -> None:
    probe("echo no such login >&2; exit 3")
    system = make_system(people.team)
    run = collected(people.team, system)
    for wait in running.WAITS:
        made(run)
        assert run.state == "waiting"
        assert run.holds is None
        assert run.not_before == timezone.now() + timedelta(seconds=wait)
        assert "no such login" in run.error
        made(run)
        assert run.state == "waiting", "it is not tried before its time"
        system.refresh_from_db()
        assert system.troubled is None
        noon.shift(wait)
    made(run)
    assert (run.state, run.tries) == ("failed", len(running.WAITS) + 1)
    system.refresh_from_db()
    assert system.troubled is not None
    assert system.trouble.startswith(f"run {run.pk} of hourly: ")
    assert "no such login" in system.trouble
    assert made(run).tries == len(running.WAITS) + 1, "what was given up is not made again"


def test_what_failed_once_and_then_worked_is_no_trouble(
    people: People, probe: Probe, noon: time_machine.Traveller
) -> None:
    probe("exit 3")
    run = collected(people.team, make_system(people.team))
    made(run)
    probe(f"cat {SYSMON}")
    noon.shift(running.WAITS[0])
    made(run)
    assert (run.state, run.error) == ("done", "")
    assert not System.objects.filter(troubled__isnull=False).exists()


def test_a_later_run_that_works_ends_the_trouble_of_the_one_that_failed(
    people: People, probe: Probe, noon: time_machine.Traveller
) -> None:
    probe("exit 3")
    system = make_system(people.team)
    run = collected(people.team, system, tries=len(running.WAITS))
    made(run)
    assert System.objects.filter(troubled__isnull=False).exists()
    probe(f"cat {SYSMON}")
    made(due_run(run.schedule, system=system, due=NOON + MINUTE))
    assert not System.objects.filter(troubled__isnull=False).exists()


def test_a_folder_that_is_away_is_a_trouble_of_the_schedule_until_it_is_back(
    people: People, drop: Path, noon: time_machine.Traveller
) -> None:
    schedule = make_schedule(people.team, folder=str(drop / "mount"))
    run = due_run(schedule, tries=len(running.WAITS))
    assert made(run).state == "failed"
    schedule.refresh_from_db()
    assert schedule.troubled == NOON
    assert str(drop / "mount") in schedule.trouble
    (drop / "mount").mkdir()
    running.make_run(due_run(schedule, due=NOON + MINUTE).pk)
    assert not Schedule.objects.exclude(troubled=None, trouble="").exists()


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (SoftTimeLimitExceeded(), "it was not done after"),
        (RuntimeError("odd <b>thing</b>"), "RuntimeError: odd <b>thing</b>"),
    ],
)
def test_whatever_goes_wrong_is_said_and_tried_again(
    people: People, monkeypatch: pytest.MonkeyPatch, error: Exception, says: str
) -> None:
    def fail(_: Run) -> Upload:
        raise error

    run = collected(people.team, make_system(people.team))
    monkeypatch.setattr(collecting, "collect", fail)
    made(run)
    assert run.state == "waiting"
    assert run.error.startswith(says)
    assert "\n" in run.error, "with what to do"


def test_a_database_that_is_away_leaves_the_run_to_its_own_task(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Run) -> Upload:
        raise OperationalError("server closed the connection")

    run = collected(people.team, make_system(people.team))
    monkeypatch.setattr(collecting, "collect", fail)
    with pytest.raises(OperationalError):
        running.make_run(run.pk)
    run.refresh_from_db()
    assert run.state == "running"


def test_a_run_whose_worker_died_is_made_by_another_and_three_deaths_are_a_trouble(people: People) -> None:
    system = make_system(people.team)
    run = collected(people.team, system)
    for death in range(job_queue.MOST_TRIES):
        assert job_queue.claim(Run.objects.all(), run.pk, holds=running.holds_of(run))
        running.reset_lost()
        run.refresh_from_db()
        assert run.state == "running", "a worker that lives is left alone"
        Run.objects.update(claimed=timezone.now() - timedelta(days=1), claimant="elsewhere")
        running.reset_lost()
        run.refresh_from_db()
        assert (run.state, run.holds) == ("failed" if death == job_queue.MOST_TRIES - 1 else "waiting", None)
    system.refresh_from_db()
    assert "it ended 3 workers" in system.trouble


@pytest.mark.parametrize(("tries", "state"), [(2, "done"), (3, "failed")])
def test_a_run_that_comes_back_each_time_its_worker_dies_is_given_up_as_well(
    people: People, probe: Probe, tries: int, state: str
) -> None:
    probe(f"cat {SYSMON}")
    system = make_system(people.team)
    dead = job_queue.me().split("/")[0] + "/4194305.1/the-task"
    run = collected(people.team, system, state="running", tries=tries, claimant=dead, claimed=timezone.now())
    make_run.apply((run.pk,), task_id="the-task")
    run.refresh_from_db()
    assert (run.state, run.holds) == (state, None)
    system.refresh_from_db()
    assert ("it ended 3 workers" in system.trouble) is (state == "failed")


def test_what_a_dead_worker_held_up_is_started_when_it_is_found_dead(
    people: People, probe: Probe, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    probe(f"cat {SYSMON}")
    system = make_system(people.team)
    run = collected(people.team, system)
    held_up = collected(people.team, system, "two", queued=timezone.now())
    assert job_queue.claim(Run.objects.all(), run.pk, holds=running.holds_of(run))
    assert made(held_up).state == "waiting"
    Run.objects.filter(pk=run.pk).update(claimed=timezone.now() - timedelta(days=1), claimant="elsewhere")
    with django_capture_on_commit_callbacks(execute=True):
        running.reset_lost()
    held_up.refresh_from_db()
    assert held_up.state == "done"


def test_a_run_that_failed_is_not_tried_again_by_a_schedule_paused_meanwhile(people: People, probe: Probe) -> None:
    probe("exit 3")
    system = make_system(people.team)
    run = collected(people.team, system)
    Schedule.objects.update(paused=NOON)
    assert made(run).told == "the schedule was paused"
    assert (run.state, run.holds) == ("skipped", None)
    asked = made(due_run(run.schedule, system=system, why="now", tries=len(running.WAITS)))
    assert asked.state == "failed"
    assert not System.objects.filter(troubled__isnull=False).exists(), "nobody expects it to be audited"


def test_a_schedule_that_goes_while_its_run_is_made_takes_it_along_without_a_fault(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget(run: Run) -> Upload:
        Schedule.objects.all().delete()
        raise collecting.Failed("too late", "nothing")

    run = collected(people.team, make_system(people.team), tries=len(running.WAITS))
    monkeypatch.setattr(collecting, "collect", forget)
    running.make_run(run.pk)
    assert not Run.objects.exists()
