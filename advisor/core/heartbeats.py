"""Heartbeats of workers: how the workers of one machine learn that those of another one have died.

Each worker notes every few seconds, in the database and by its clock, that it lives. Whose notes stop is dead, and its
work is free: `job_queue.lost` asks here. Only silence that was listened to counts: where the database was away, nobody
could be heard, and everybody has the whole time again.

A database of one machine (SQLite) needs none of this: there it is seen whether a process lives.
"""

import logging
import os
import socket
import threading
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from django.db import DatabaseError, connection
from django.db.models import Case, F, Q, QuerySet, When
from django.db.models.functions import Now

from advisor.core import journal
from advisor.core.models import Worker
from advisor.core.version import VERSION
from collectors.live.processes import namespace, started

LOG = logging.getLogger(__name__)
EVERY = 5.0
"""Seconds between two notes of a worker (this project's figure)."""
SILENT = timedelta(seconds=35)
"""Who was not heard of for so long is dead (this project's figure): six notes in a row are missing. With a look every
ten seconds, what it had is free within a minute."""
LISTENING = timedelta(seconds=15)
"""Who has noted nothing itself for so long could hear nobody meanwhile, and listens anew (this project's figure): less
than `SILENT` by the time in which everybody is back where the database was away, a connection that times out after 10
seconds and the pause after it. Else who comes back first would take those for dead who are still on their way."""
_ours = ""
"""The process of the worker that this process is, or does tasks for; empty: it belongs to none that is listened to."""
_end = threading.Event()
_thread: threading.Thread | None = None


def begin() -> None:
    """Note from now on that this worker lives. Called once, in the worker, before it starts processes for tasks.

    A thread does it, not the worker's loop: that one stands still while the broker is away.
    """
    global _ours, _thread
    if connection.vendor == "sqlite":
        return
    _ours = process(os.getpid())
    _thread = threading.Thread(target=_beat_until_the_end, name="heartbeats", daemon=True)
    _thread.start()


def worker() -> str:
    """The process of the worker this process does tasks for, as claims name it; empty: of none that is listened to."""
    return _ours


def beat() -> None:
    """Note that our worker lives. Raises what the database raises."""
    name = _name()
    broken = Q(seen__lt=Now() - LISTENING) | Q(seen__gt=Now())  # it was silent, or the clock was set back
    if not Worker.objects.filter(pk=name).update(since=Case(When(broken, then=Now()), default=F("since")), seen=Now()):
        host = socket.gethostname()[:120]
        Worker.objects.create(pk=name, host=host, version=VERSION[:40], since=Now(), seen=Now())


def silent(claimant: str, claimed: datetime | None) -> bool:
    """Whether the worker of a claim is dead, as far as our own worker could have heard of it.

    The claim itself tells that it lived then: its first note may come a moment later.
    """
    parts = claimant.split("/")
    if len(parts) != 4 or not parts[2] or not _ours:
        return False
    name = f"{parts[0]}/{parts[2]}"
    return name in _dead(Worker.objects.filter(pk__in=[name, _name()]), name, claimed)


def dead() -> list[str]:
    """Workers that have died and are not forgotten yet."""
    return _dead(Worker.objects.all()) if _ours else []


def forget(name: str) -> None:
    """Forget a dead worker once its work is free, and tell the journal; nothing where it was heard of meanwhile."""
    known = Worker.objects.filter(pk=name, seen__lt=Now() - SILENT).first()
    if known and Worker.objects.filter(pk=name, seen=known.seen).delete()[0]:
        seconds = SILENT.total_seconds()
        what = f"{known.host}: not heard of for {seconds:.0f} seconds, what it had is given to others"
        LOG.warning("worker lost: %s", what)
        journal.note(None, "worker lost", what)


def ended() -> None:
    """Note that our worker has ended in order: it has nothing any more."""
    _end.set()
    if _thread is not None:
        _thread.join(EVERY)
        with suppress(DatabaseError):  # it is found dead, then
            Worker.objects.filter(pk=_name()).delete()


@cache
def place() -> str:
    """The machine since its boot and the namespace of its process numbers; empty where the system does not tell."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
    return f"{boot}:{space}" if (space := namespace()) else ""


def process(pid: int) -> str:
    """A process as nobody else was or will be: its number and when it started; empty: there is none."""
    since = started(pid)
    return f"{pid}.{since}" if since else ""


def _name() -> str:
    return f"{place()}/{_ours}"


def _dead(workers: QuerySet[Worker], asked: str = "", claimed: datetime | None = None) -> list[str]:
    """Names of those that are dead; `asked` need not be known, and lived when it claimed."""
    found = {one.name: one for one in workers.annotate(now=Now())}
    us = found.get(_name())
    if us is None or not timedelta(0) <= us.now - us.seen <= SILENT:
        return []  # we could not have heard of anybody
    now: datetime = us.now
    heard = {name: [us.since, one.seen] for name, one in found.items()}
    if asked and claimed is not None:
        heard.setdefault(asked, [us.since]).append(claimed)
    # A claim is noted by its host's clock, which may be ahead of the database's by a little. What is further ahead was
    # noted before the clock was set back, and tells nothing.
    return [name for name, times in heard.items() if now - max(time for time in times if time <= now + SILENT) > SILENT]


def _beat_until_the_end() -> None:
    going, well = True, True
    while going:
        try:
            beat()
            well = True
        except Exception as error:  # noqa: BLE001 - whatever it is, the next note is tried
            if well:
                LOG.warning("no heartbeat, tried again every %.0f s: %s: %s", EVERY, type(error).__name__, error)
            well = False
            connection.close()
        going = not _end.wait(EVERY)
