"""Start work by a task, claim it, give it back, end it: guarded updates, so that of many workers exactly one has a row.

A claim names the machine since its boot, the process, its worker and the task. So a row is free again
* when the very task that had it comes once more (its next try, or a redelivery because its worker died),
* when its process is seen to have ended, by a sweep on the same machine,
* when its worker is not heard of any more, by a sweep on another one (`heartbeats`),
* and in any case when the hard limit of a task has passed, which lets no task live.
Who lost a claim may be alive all the same, cut off or stopped: it writes nothing more of that work (`_give`,
`process_upload.Superseded`).
The clock may be set: differences count by their size, and what waits longer than anything waits is due.
"""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime, timedelta
from typing import Any, TypeVar

from celery import current_app, current_task
from django.conf import settings
from django.db import IntegrityError, InterfaceError, OperationalError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from advisor.core import heartbeats
from advisor.core.heartbeats import place, process
from advisor.core.models import Lease, Work

LOG = logging.getLogger(__name__)

AWAY = (OperationalError, InterfaceError)
"""The database is away: a task stays, and comes again until it is back or the sweep takes over."""
MOST_WAIT = timedelta(hours=3)
"""Nothing is put off for so long (for two hours at most; clocks of machines differ): what seems to be was put off
before the clock was set back."""
REQUEUE = timedelta(minutes=5)
"""A task that was not begun so long after it was queued may be lost; to queue it twice costs one look."""
GRACE = timedelta(seconds=30)
MOST_TRIES = 3
"""Work that ended so many workers is given up."""
W = TypeVar("W", bound=Work)


def me() -> str:
    """Name this process, its worker, the task it is at and which try of it.

    `boot:namespace/pid.start/pid.start/task+retries`; what of it is not known, or there is not, is empty.
    """
    request = current_task.request if current_task else None
    task = f"{request.id}+{request.retries}" if request and request.id else ""
    return f"{place()}/{process(os.getpid())}/{heartbeats.worker()}/{task}"


def gone(claimant: str) -> bool | None:
    """Whether the process of a claim has ended; `None` where that cannot be seen from here."""
    where, _, rest = claimant.partition("/")
    which = rest.partition("/")[0]
    if not place() or where != place() or "." not in which:
        return None
    return process(int(which.partition(".")[0])) != which


def mine(rows: QuerySet[Any], pk: int) -> Q:
    """The condition that the row is claimed by the task we are at, and nobody else is at it.

    So it is where this is its next try, or its redelivery because its worker died. A line to the broker that breaks
    has a task delivered once more while its process lives and is at it: then it is not.
    """
    nothing = Q(pk__in=())
    held = rows.filter(pk=pk).values_list("claimant", flat=True).first() or ""
    task, _, tried = held.rpartition("/")[2].partition("+")
    ours, _, tries = me().rpartition("/")[2].partition("+")
    if not task or task != ours:
        return nothing
    over = int(tries) > int(tried or 0) or held == me() or gone(held)
    return Q(claimant=held) if over else nothing


def overdue(claimed: datetime | None, now: datetime) -> bool:
    """Whether a claim is older than any task can be, by a clock that may have been set."""
    return claimed is None or abs(now - claimed) > timedelta(seconds=settings.TASK_SECONDS) + GRACE


def lost(claimant: str, claimed: datetime | None, now: datetime) -> bool:
    """Whether nobody works on a claimed row any more."""
    ended = gone(claimant)
    if ended is None:
        ended = heartbeats.silent(claimant, claimed)
    return ended or overdue(claimed, now)


CLOCKS_APART = timedelta(seconds=5)
"""By how much the clocks of two machines may differ (this project's figure)."""


def due(rows: QuerySet[W], now: datetime | None = None) -> QuerySet[W]:
    """Those of the rows that wait and may be tried now."""
    now = now or timezone.now()
    return rows.filter(_due(now))


def claim(rows: QuerySet[W], pk: int, **more: Any) -> W | None:
    """Take a row that is due, or that this very task had before; `None`: it is somebody else's, or is not to be done.

    `more` is set with it. `rows` must not be filtered across a join: Django would then choose by a subselect, which a
    second worker that waits for the row does not look at again, and both had it (PostgreSQL). A row of `Run` may be
    held up by another one's hold (`IntegrityError`): then it waits on.
    """
    now = timezone.now()
    taken = {"state": Work.State.RUNNING, "claimed": now, "claimant": me(), "tries": F("tries") + 1, **more}
    # put into the queue by a clock that may be ahead of this one: turned away here it would wait for the next sweep
    waiting = _due(now + CLOCKS_APART)
    try:
        with transaction.atomic() if connection.in_atomic_block else nullcontext():
            had = rows.filter(waiting, pk=pk).update(**taken)
            if not had and not rows.filter(Q(state=Work.State.RUNNING) & mine(rows, pk), pk=pk).update(**taken):
                return None
    except IntegrityError:
        return None
    return rows.filter(pk=pk).first()


def to_start(rows: QuerySet[W], most: int = 500) -> list[int]:
    """Rows whose task is to be put into the queue: due, and not put there within `REQUEUE`. Notes that they are."""
    now = timezone.now()
    waiting = due(rows, now).filter(unqueued(now))
    found = list(waiting.order_by("not_before", "pk").values_list("pk", flat=True)[:most])
    rows.filter(pk__in=found).update(queued=now)
    return found


def unqueued(now: datetime) -> Q:
    """The condition that the task of a row is in no queue, or may have been lost there."""
    return Q(queued=None) | Q(queued__lt=now - REQUEUE) | Q(queued__gt=now)


def queue_again(rows: QuerySet[W]) -> None:
    """Have the tasks of all that wait put into the queue once more: a worker has died, and may have had some."""
    rows.filter(state=Work.State.WAITING).exclude(queued=None).update(queued=None)


def finish(row: Work, state: str = Work.State.DONE, **more: Any) -> bool:
    """End a row that this process has; returns whether it still had it."""
    return _give(row, state=state, finished=timezone.now(), **more)


def retry_later(row: Work, error: str, waits: Sequence[float], **more: Any) -> bool:
    """Have a row tried again after the next of these seconds, or end it as failed where none is left.

    Returns whether it will be tried again.
    """
    if row.tries > len(waits):
        finish(row, Work.State.FAILED, error=error, **more)
        return False
    later = timezone.now() + timedelta(seconds=waits[row.tries - 1])
    _give(row, state=Work.State.WAITING, not_before=later, queued=None, error=error, **more)
    return True


def wait_on(row: Work, seconds: float, **more: Any) -> bool:
    """Have a row tried again later, without counting this as a try: nothing was wrong."""
    later = timezone.now() + timedelta(seconds=seconds)
    tries = max(0, row.tries - 1)
    return _give(row, state=Work.State.WAITING, not_before=later, queued=None, tries=tries, **more)


def reset_lost(rows: QuerySet[W], most: int = MOST_TRIES, **more: Any) -> list[W]:
    """Free the rows whose worker has died, and end those that were tried `most` times; returns these last."""
    now = timezone.now()
    ended = []
    for row in rows.filter(state=Work.State.RUNNING):
        if not lost(row.claimant, row.claimed, now):
            continue
        worn = row.tries >= most
        state = Work.State.FAILED if worn else Work.State.WAITING
        said = {"error": f"it ended {row.tries} workers: it is not tried again", "finished": now} if worn else {}
        if _give(row, state=state, not_before=now, queued=None, **said, **more) and worn:
            row.refresh_from_db()
            ended.append(row)
    return ended


@contextmanager
def leased(name: str) -> Iterator[bool]:
    """Have something for this process alone; gives False where another process has it."""
    now = timezone.now()
    holder = me()
    taken = False
    with suppress(IntegrityError), transaction.atomic():
        Lease.objects.create(name=name, claimant=holder, claimed=now)
        taken = True
    if not taken:
        held = Lease.objects.filter(name=name).first()
        if held and lost(held.claimant, held.claimed, now):
            same = Lease.objects.filter(name=name, claimant=held.claimant, claimed=held.claimed)
            taken = bool(same.update(claimant=holder, claimed=now))
    try:
        yield taken
    finally:
        if taken:
            Lease.objects.filter(name=name, claimant=holder).delete()


def _due(now: datetime) -> Q:
    return Q(state=Work.State.WAITING) & (Q(not_before__lte=now) | Q(not_before__gt=now + MOST_WAIT))


def held(row: W) -> QuerySet[W]:
    """The row as long as the claim on it is the one we know."""
    same = type(row)._default_manager.filter(pk=row.pk, state=Work.State.RUNNING, claimant=row.claimant)
    return same.filter(claimed=row.claimed)


def _give(row: Work, **values: Any) -> bool:
    """Write to a row as long as the claim on it is the one we know."""
    return bool(held(row).update(**values))


def start(task: str, *ids: Any) -> None:
    """Start the task `<app>.<task>` (`uploads.read_upload`) with these ids on commit.

    Tasks are named, not imported: they are a door to the services, and no service knows its doors. A broker that is
    away loses nothing, the sweep of a minute starts them:
    what is to be done must stand in the database already, as `waiting` or `wanted`.
    """
    transaction.on_commit(lambda: _send(task, ids))


def _send(task: str, ids: tuple[Any, ...]) -> None:
    try:
        app, name = task.split(".")
        current_app.tasks[f"advisor.{app}.tasks.{name}"].apply_async(ids, retry=False)
    except (BrokerError, OSError) as error:
        LOG.warning("the broker is away (%s): %s%s waits for the next sweep", error, task, ids)


TICK = "tick"
"""Name of the row that says when a worker last looked for what is due: by it monitoring sees that the clock stands."""


def note_tick() -> None:
    """Note that one looks now: a small row, every ten seconds. A busy database has it wait for the next time."""
    with suppress(OperationalError):
        Lease.objects.update_or_create(name=TICK, defaults={"claimed": timezone.now(), "claimant": me()})


def last_tick() -> datetime | None:
    """When one looked last; `None`: never."""
    return Lease.objects.filter(name=TICK).values_list("claimed", flat=True).first()
