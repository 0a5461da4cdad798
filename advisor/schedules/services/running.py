"""Runs of schedules: claimed when due, made by a worker, caught up once.

A run holds its system (or its schedule, where the exports say the system) while it is made: the next one of the same
system waits, and is started when this one ends. What fails is tried again after `WAITS`, then it is a trouble.
"""

import logging
from datetime import timedelta

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q
from django.utils import timezone

from advisor.core import job_queue
from advisor.core.job_queue import start
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services import (
    collecting,
    due_schedules,
    failures,
    timing,
)
from advisor.schedules.services.watch_folder import intake
from advisor.uploads.models import UploadFile

LOG = logging.getLogger(__name__)
WAITS = (60, 300, 900)
"""Seconds before each further try of a run that failed (this project's figures); after the last it is given up."""
LONGEST_LOOK = timedelta(hours=1)
"""A run held by a blackout looks again after so long at the latest."""
NOTHING = "nothing to take"
MOST_STARTED = 2_000
"""Runs put into the queue at one tick of the clock."""
CLAIMED_BY = ("state", "claimed", "claimant", "tries", "due", "system", "schedule__system")
"""What is read of a run before it is claimed, and of what it held after: whole rows of both take Django longest."""
UNEXPECTED = "look at the log of the worker: if it stays, this is a fault of Lockwright"


def claim_due() -> list[int]:
    """Make the runs of schedules that are due, and give all runs to be started now."""
    due_schedules.claim()
    return job_queue.to_start(Run.objects.all(), MOST_STARTED)


def make_run(run_id: int) -> None:
    """Make one run: take in what there is. Does nothing where another worker has it, or its system is held."""
    light = Run.objects.select_related("schedule").only(*CLAIMED_BY)
    waiting = light.filter(pk=run_id).first()
    if waiting is None or waiting.settled:
        return
    holds = holds_of(waiting)
    late = {} if waiting.claimed else {"late_seconds": due_schedules.late_seconds(waiting.due, timezone.now())}
    rows = Run.objects.select_related("schedule__team", "schedule__system", "schedule__group", "system")
    run = job_queue.claim(rows, run_id, holds=holds, **late)
    if run is None:
        return
    try:
        if _worn(waiting):
            _give_up(run, f"it ended {waiting.tries} workers: it is not tried again")
        else:
            _make(run)
    except (OperationalError, InterfaceError):
        raise  # the database is away: the task comes again, and this run is still its own
    except collecting.Busy:
        told = "waits: its server did not answer the last time, and other runs wait for theirs"
        job_queue.wait_on(run, collecting.BUSY_SECONDS, holds=None, told=told)
    except collecting.Failed as error:
        fail = _put_off if error.again else _give_up
        fail(run, f"{error.says}\n{error.do}")
    except intake.Unreadable as error:
        _put_off(run, f"{error.says}\n{error.do}")
    except SoftTimeLimitExceeded:
        seconds = f"{settings.CELERY_TASK_SOFT_TIME_LIMIT:,} seconds"
        _put_off(run, f"it was not done after {seconds}\nhave it collect less at a time, or set TASK_SECONDS higher")
    except Exception as error:
        if not Run.objects.filter(pk=run.pk).exists():
            LOG.debug("run %s was removed with its schedule while it was made", run.pk)
        else:
            LOG.exception("run %s", run.pk)
            _put_off(run, f"{type(error).__name__}: {error}"[:1000] + f"\n{UNEXPECTED}")
    now = light.filter(pk=run_id).first()
    for free in {holds, holds_of(now) if now else holds}:  # its system may have been merged into another one
        _start_next(free)


def holds_of(run: Run) -> str:
    """What a run has for itself while it is made: its system, else its schedule."""
    system = run.system_id or run.schedule.system_id
    return f"system {system}" if system else f"schedule {run.schedule_id}"


def reset_lost() -> None:
    """Free the runs whose worker has died; what they held up goes on."""
    running = Run.objects.filter(state=Run.State.RUNNING)
    held = set(running.values_list("holds", flat=True))
    if not held:
        return
    now = timezone.now()
    lost = {run.pk: run.schedule_id for run in running if job_queue.lost(run.claimant, run.claimed, now)}
    with transaction.atomic():
        _hold(*lost.values())
        for run in job_queue.reset_lost(Run.objects.filter(pk__in=lost), holds=None):
            failures.run_failed(run)
    for holds in held - set(running.values_list("holds", flat=True)):
        _start_next(holds or "")


def _worn(before: Run) -> bool:
    """Whether a run that comes back because its worker died has ended enough of them."""
    ended = before.state == Run.State.RUNNING and job_queue.gone(before.claimant) is not False
    return ended and before.tries >= job_queue.MOST_TRIES


def _make(run: Run) -> None:
    window = _blackout(run)
    if run.schedule.paused and run.why == Run.Why.DUE:  # it failed, and was paused before it was tried again
        job_queue.finish(run, Run.State.SKIPPED, told="the schedule was paused", holds=None)
    elif window:
        text, seconds = window
        job_queue.wait_on(run, seconds, holds=None, told=f"waits for the end of the blackout {text}"[:300])
    elif run.schedule.source == Schedule.Source.COLLECTOR:
        _collect(run)
    else:
        _look(run)


def _blackout(run: Run) -> tuple[str, float] | None:
    """The window it is now, and how long to wait; a run somebody asked for does not care."""
    now = timezone.now()
    schedule = run.schedule
    window = timing.blacked_out(timing.windows(schedule.blackouts, schedule.zone), now)
    until = window.until(now) if window else None
    if window is None or until is None or run.why == Run.Why.NOW:
        return None
    return window.text, max(1.0, min(until - now, LONGEST_LOOK).total_seconds())


def _collect(run: Run) -> None:
    upload = collecting.collect(run)
    told = f"fetched as upload {upload.pk}{collecting.unanswered(run)}"
    same = f"the same bytes as upload {upload.pk}: nothing new"
    _end(run, told=told if upload.run_id == run.pk else same)


def _look(run: Run) -> None:
    first = run.tries == 1 and not run.told  # nobody was at this run before
    before = 0 if first else UploadFile.objects.filter(upload__run=run).count()
    looked = intake.look(run.schedule, run)
    taken = before + looked.taken
    told = f"{taken:,} {'file' if taken == 1 else 'files'} taken" if taken else NOTHING
    if same := ", ".join(f"upload {one.pk}" for one in looked.uploads if one.run_id != run.pk):
        told += f", the same bytes as {same}: nothing new"
    if looked.refused:
        told += f"; {len(looked.refused):,} not taken: {'; '.join(looked.refused)}"
    if looked.wait_seconds is not None:
        told = f"{told}; waits for others to settle" if taken else "waits for files to settle"
        with transaction.atomic():
            _has_looked(run)
            failures.schedule_works(run.schedule)
            job_queue.wait_on(run, max(1.0, looked.wait_seconds), holds=None, error="", told=told[:300])
    elif _is_nothing(run, taken, told):
        with transaction.atomic():
            _has_looked(run)
            failures.schedule_works(run.schedule)
            job_queue.held(run).delete()
    else:
        _end(run, told=told, looked=True)


def _has_looked(run: Run) -> None:
    """Note when the folder was looked at; this has the schedule for the transaction, as `_hold` does."""
    Schedule.objects.filter(pk=run.schedule_id).update(looked=timezone.now())


def _is_nothing(run: Run, taken: int, told: str) -> bool:
    """Whether a look leaves nothing worth a row: it took nothing, made up for nothing, and was not asked for."""
    if taken or run.missed or run.why == Run.Why.NOW:
        return False
    if told == NOTHING:
        return True
    last = Run.objects.filter(schedule=run.schedule_id, state=Run.State.DONE).exclude(pk=run.pk).first()
    return last is not None and last.told == told[:300]  # refused for the same reason as the last time


def _hold(*schedules: int) -> None:
    """Have schedules for this transaction: before their systems and runs, as whoever changes a schedule has them."""
    list(Schedule.objects.select_for_update().filter(pk__in=schedules).order_by("pk").values_list("pk"))


def _as_it_is(run: Run) -> Run:
    """A run with its schedule and system as they are now: the system may have been merged or renamed meanwhile."""
    return Run.objects.select_related("schedule__system", "system").filter(pk=run.pk).first() or run


def _end(run: Run, told: str, *, looked: bool = False) -> None:
    with transaction.atomic():
        if looked:
            _has_looked(run)
        else:
            _hold(run.schedule_id)
        now = _as_it_is(run)
        failures.schedule_works(now.schedule, now.system)
        job_queue.finish(run, told=told[:300], error="", holds=None)


def _put_off(run: Run, error: str) -> None:
    """Have it tried again later; after the last time give it up."""
    if run.tries > len(WAITS):
        _give_up(run, error)
    else:
        job_queue.retry_later(run, error, WAITS, holds=None)


def _give_up(run: Run, error: str) -> None:
    """End it as failed: a trouble of its system."""
    with transaction.atomic():
        _hold(run.schedule_id)
        if job_queue.finish(run, Run.State.FAILED, error=error, holds=None):
            failures.run_failed(_as_it_is(run))


def _start_next(holds: str) -> None:
    """Start the run that waits longest for what has become free."""
    kind, _, number = holds.partition(" ")
    if kind == "system":
        same = Q(system=number) | Q(schedule__system=number)
    else:
        same = Q(schedule=number or 0, system=None, schedule__system=None)
    found = job_queue.due(Run.objects.filter(same)).order_by("not_before", "pk").values_list("pk", flat=True).first()
    if found:
        Run.objects.filter(pk=found).update(queued=timezone.now())
        start("schedules.make_run", found)
