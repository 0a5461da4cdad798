"""Work is claimed by a guarded update: one worker has it, and a dead worker's work is free again."""

import os
from datetime import timedelta

import pytest
import time_machine
from celery import shared_task
from django.utils import timezone
from pytest_django import Settings

from advisor.accounts.models import Team
from advisor.core import heartbeats, job_queue
from advisor.core.models import Lease
from advisor.schedules.models import Run, Schedule

pytestmark = pytest.mark.postgres

DAY = timedelta(days=1)


@pytest.fixture
def run(db: None) -> Run:
    team = Team.objects.create(name="Claims")
    schedule = Schedule.objects.create(team=team, name="nightly", every_minutes=60)
    return Run.objects.create(schedule=schedule, due=timezone.now())


def claimed(run: Run) -> Run:
    taken = job_queue.claim(Run.objects.all(), run.pk)
    assert taken
    return taken


def state(run: Run) -> str:
    return str(Run.objects.get(pk=run.pk).state)


def dead(claimant: str) -> str:
    """A claim of this machine by a process that has ended: no process has so high a number."""
    return claimant.replace(f"/{os.getpid()}.", "/99999999.")


def test_one_worker_has_it(run: Run) -> None:
    assert claimed(run).tries == 1
    assert job_queue.claim(Run.objects.all(), run.pk) is None


def test_what_is_put_off_is_not_taken_before_its_time(run: Run) -> None:
    assert job_queue.retry_later(claimed(run), "the line was busy", (60, 300))
    assert job_queue.claim(Run.objects.all(), run.pk) is None
    with time_machine.travel(timezone.now() + timedelta(seconds=61), tick=False):
        assert claimed(run).tries == 2


def test_after_the_last_wait_it_has_failed_and_says_why(run: Run) -> None:
    for tries in range(3):
        Run.objects.update(not_before=timezone.now())
        assert job_queue.retry_later(claimed(run), "still busy", (60, 300)) == (tries < 2)
    failed = Run.objects.get()
    assert (failed.state, failed.error, failed.tries) == ("failed", "still busy", 3)
    assert failed.finished


def test_to_wait_on_is_no_try(run: Run) -> None:
    assert job_queue.wait_on(claimed(run), 5)
    assert Run.objects.get().tries == 0


def test_work_put_off_before_the_clock_was_set_back_does_not_wait_for_the_old_time(run: Run) -> None:
    with time_machine.travel(timezone.now() + 400 * DAY, tick=False):
        job_queue.retry_later(claimed(run), "busy", (60,))
    assert claimed(run)


def test_the_work_of_a_process_that_has_ended_is_free_again(run: Run) -> None:
    Run.objects.filter(pk=claimed(run).pk).update(claimant=dead(job_queue.me()))
    assert job_queue.reset_lost(Run.objects.all()) == []
    assert state(run) == "waiting"


def test_the_work_of_a_process_that_lives_is_left_alone(run: Run) -> None:
    claimed(run)
    assert job_queue.reset_lost(Run.objects.all()) == []
    assert state(run) == "running"


def test_the_work_of_another_machine_is_free_when_no_task_can_live_any_more(run: Run, settings: Settings) -> None:
    claimed(run)
    Run.objects.update(claimant="another-boot:1/77.5/task")
    assert job_queue.gone("another-boot:1/77.5/task") is None
    job_queue.reset_lost(Run.objects.all())
    assert state(run) == "running"
    with time_machine.travel(timezone.now() + timedelta(seconds=settings.TASK_SECONDS + 31), tick=False):
        job_queue.reset_lost(Run.objects.all())
    assert state(run) == "waiting"


def test_work_that_ended_three_workers_is_given_up(run: Run) -> None:
    for _ in range(2):
        Run.objects.filter(pk=claimed(run).pk).update(claimant=dead(job_queue.me()))
        assert job_queue.reset_lost(Run.objects.all()) == []
    Run.objects.filter(pk=claimed(run).pk).update(claimant=dead(job_queue.me()))
    (given_up,) = job_queue.reset_lost(Run.objects.all())
    assert "ended 3 workers" in given_up.error
    assert state(run) == "failed"


def test_who_lost_the_claim_can_no_longer_end_the_work(run: Run) -> None:
    late = claimed(run)
    Run.objects.update(claimant=dead(job_queue.me()))
    job_queue.reset_lost(Run.objects.all())
    assert not job_queue.finish(late)
    assert state(run) == "waiting"


def test_what_holds_the_same_thing_waits(run: Run) -> None:
    other = Run.objects.create(schedule=run.schedule, due=timezone.now() + DAY)
    first = job_queue.claim(Run.objects.all(), run.pk, holds="system 7")
    assert first
    assert job_queue.claim(Run.objects.all(), other.pk, holds="system 7") is None
    assert state(other) == "waiting"
    job_queue.finish(first, holds=None)
    assert job_queue.claim(Run.objects.all(), other.pk, holds="system 7")


@shared_task
def claim_in_a_task(pk: int) -> bool:
    return job_queue.claim(Run.objects.all(), pk) is not None


def test_a_task_that_comes_back_takes_up_its_own_work_and_no_other_does(run: Run) -> None:
    assert claim_in_a_task.apply((run.pk,), task_id="one").get()
    assert not claim_in_a_task.apply((run.pk,), task_id="two").get()
    assert claim_in_a_task.apply((run.pk,), task_id="one").get()


def test_a_task_delivered_once_more_while_its_process_lives_is_not_taken_from_it(run: Run) -> None:
    """A line to the broker that breaks has it delivered again; the parent of this process stands for the other one."""
    assert claim_in_a_task.apply((run.pk,), task_id="one").get()
    held = Run.objects.get().claimant
    ours = job_queue.me().split("/")[1]
    Run.objects.update(claimant=held.replace(ours, heartbeats.process(os.getppid())))
    assert not claim_in_a_task.apply((run.pk,), task_id="one").get()
    assert claim_in_a_task.apply((run.pk,), task_id="one", retries=1).get()


def test_what_is_due_is_queued_once_and_again_only_when_it_may_be_lost(run: Run) -> None:
    assert job_queue.to_start(Run.objects.all()) == [run.pk]
    assert job_queue.to_start(Run.objects.all()) == []
    with time_machine.travel(timezone.now() + job_queue.REQUEUE + timedelta(seconds=1), tick=False):
        assert job_queue.to_start(Run.objects.all()) == [run.pk]


def test_a_lease_is_held_by_one(db: None) -> None:
    with job_queue.leased("mail") as first, job_queue.leased("mail") as second:
        assert (first, second) == (True, False)
    assert not Lease.objects.exists()


def test_the_lease_of_a_process_that_has_ended_is_taken_over(db: None) -> None:
    Lease.objects.create(name="mail", claimant=dead(job_queue.me()), claimed=timezone.now())
    with job_queue.leased("mail") as held:
        assert held
    assert not Lease.objects.exists()
