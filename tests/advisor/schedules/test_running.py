"""A run is made: what there is is taken in, one run of a system at a time. Real folders, real programs."""

from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.core import job_queue
from advisor.schedules.models import Run
from advisor.schedules.services import collecting, running
from advisor.schedules.services.watch_folder import intake
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.people import STORIES, People
from tests.advisor.schedules.scheduling import NOON, Probe, collected, due_run, made, make_schedule, make_system

pytestmark = pytest.mark.postgres

SYSMON = STORIES / "address_lock_storm" / "sysmon.txt"
MINUTE = timedelta(minutes=1)


def test_a_collectors_export_becomes_an_upload_an_audit_and_a_run_that_is_done(
    people: People,
    probe: Probe,
    noon: time_machine.Traveller,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    probe(f"cat {SYSMON}")
    run = collected(people.team, make_system(people.team))
    noon.shift(150)
    with django_capture_on_commit_callbacks(execute=True):
        made(run)
    upload = Upload.objects.get()
    assert (run.state, run.told, run.error, run.holds) == ("done", f"fetched as upload {upload.pk}", "", None)
    assert run.late_seconds == 150
    assert (upload.run, upload.origin, upload.state) == (run, "schedule", "done")
    assert System.objects.get().latest


def test_the_same_bytes_a_second_time_are_done_and_nothing_new(
    people: People, probe: Probe, noon: time_machine.Traveller
) -> None:
    probe(f"cat {SYSMON}")
    system = make_system(people.team)
    first = made(collected(people.team, system))
    second = made(due_run(first.schedule, system=system, due=NOON + MINUTE))
    assert second.state == "done"
    assert second.told == f"the same bytes as upload {Upload.objects.get().pk}: nothing new"


def test_a_second_run_of_a_system_waits_until_the_first_has_ended_and_is_started_then(
    people: People,
    probe: Probe,
    noon: time_machine.Traveller,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    probe(f"cat {SYSMON}")
    system = make_system(people.team)
    first = collected(people.team, system, "one")
    second = collected(people.team, system, "two", queued=NOON)
    other = collected(people.team, make_system(people.team, "PROD2"), "other")
    collect = collecting.collect

    def collect_while_others_come(run: Run) -> Upload:
        monkeypatch.undo()
        assert (made(second).state, second.tries) == ("waiting", 0)
        assert made(other).state == "done", "another system's run is not held up"
        return collect(run)

    monkeypatch.setattr(collecting, "collect", collect_while_others_come)
    with django_capture_on_commit_callbacks(execute=True):
        assert made(first).state == "done"
    second.refresh_from_db()
    assert second.state == "done"


def test_two_looks_into_one_folder_of_a_schedule_are_made_one_after_the_other(people: People, drop: Path) -> None:
    schedule = make_schedule(people.team, folder=str(drop))
    first, second = due_run(schedule), due_run(schedule, due=NOON + MINUTE)
    assert job_queue.claim(Run.objects.all(), first.pk, holds=running.holds_of(first))
    assert made(second).state == "waiting"


def test_a_look_that_finds_nothing_leaves_no_run_unless_somebody_asked_or_it_made_up_for_others(
    people: People, drop: Path, noon: time_machine.Traveller
) -> None:
    schedule = make_schedule(people.team, folder=str(drop))
    running.make_run(due_run(schedule).pk)
    assert not Run.objects.exists()
    schedule.refresh_from_db()
    assert schedule.looked == NOON
    assert made(due_run(schedule, why="now")).told == "nothing to take"
    assert made(due_run(schedule, missed=2)).state == "done"
    assert Run.objects.count() == 2


def test_files_are_taken_when_they_have_settled_and_the_run_waits_for_them(
    people: People,
    drop: Path,
    noon: time_machine.Traveller,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    (drop / "sysmon.txt").write_bytes(SYSMON.read_bytes())
    schedule = make_schedule(people.team, folder=str(drop), next_due=NOON + timedelta(hours=1))
    run = due_run(schedule)
    made(run)
    assert (run.state, run.tries, run.holds, run.told) == ("waiting", 0, None, "waits for files to settle")
    assert NOON < run.not_before <= NOON + timedelta(seconds=61)
    noon.shift(61)
    with django_capture_on_commit_callbacks(execute=True):
        made(run)
    assert (run.state, run.told) == ("done", "1 file taken")
    assert Upload.objects.get().run == run
    assert System.objects.get().name == "CLAIMS1"


def test_what_is_refused_at_each_look_is_told_once(
    people: People, drop: Path, noon: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    (drop / "empty.txt").touch()
    (drop / "nothing.txt").touch()
    monkeypatch.setattr(intake, "MOST_SEEN", 1)
    schedule = make_schedule(people.team, folder=str(drop))
    for minute in range(4):
        noon.move_to(NOON + minute * MINUTE)
        running.make_run(due_run(schedule, due=NOON + minute * MINUTE).pk)
    told = [run.told for run in Run.objects.order_by("due")]
    assert len(told) == len(set(told)) == 2, "the file at its first look, and the folder that holds too much once"


def test_a_run_that_comes_up_in_a_blackout_waits_for_its_end_and_one_asked_for_does_not(
    people: People, drop: Path, noon: time_machine.Traveller
) -> None:
    schedule = make_schedule(people.team, folder=str(drop), blackouts="wed 11:00-12:30")
    run = made(due_run(schedule))
    assert (run.state, run.tries, run.holds) == ("waiting", 0, None)
    assert run.not_before == NOON + timedelta(minutes=30)
    assert run.told == "waits for the end of the blackout wed 11:00-12:30"
    assert made(due_run(schedule, why="now")).state == "done"
