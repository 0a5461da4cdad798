"""Read an upload: bytes → inputs, captures, audits. Runs in a worker; may be started twice, and is done once."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from advisor.audits.models import Capture
from advisor.audits.report.data import input_data
from advisor.audits.services import post_audit
from advisor.audits.services.deduplicate import settle_again
from advisor.audits.services.excerpts import Opener
from advisor.audits.services.judging import Prepared, prepare_all
from advisor.audits.services.persistence import (
    remember_capture,
    settle_system,
)
from advisor.core import job_queue, journal
from advisor.core.infrastructure_errors import outside
from advisor.schedules.services import failures
from advisor.systems.models import System
from advisor.systems.services import aliases
from advisor.uploads.models import FormerUpload, Input, Upload
from advisor.uploads.services.examples import gather
from advisor.uploads.services.naming import unnamed_files
from advisor.uploads.services.reading import Watched, captures_of
from advisor.uploads.services.spooling import spooled
from collectors.facts import Capture as ReadCapture
from collectors.faults import OURS
from collectors.grouping import name_of
from collectors.intake import Named
from collectors.read import Input as Read
from collectors.read import read_all

LOG = logging.getLogger(__name__)
TELL_EVERY = 0.5
"""Seconds between two notes of progress in the database."""
AT_A_TIME = 50
"""Captures written in one transaction: half a second, in which SQLite lets nobody else write."""
FEW = 10
"""Reports and captures of an upload that is kept in a single transaction (this project's figure)."""
OTHER_NAME = "names {0}, and is counted to {1}: the name that was given with the upload goes before it"
MOST_TRIES = 3
"""A worker that died is replaced; an upload that kills every worker is given up."""


def read_upload(upload_id: int) -> bool:
    """Read one upload that waits; returns whether this call did it."""
    upload = claim(upload_id)
    if upload is None:
        return False
    try:
        with spooled(upload) as files:
            progress = Progress(upload, unpacked_bytes=files.unpacked())
            inputs = list(read_all(_told(progress, files.streams())))
            captures = captures_of(inputs, upload.system_name or None, names=upload.system_names)
            _tell_names(upload, inputs, captures)
            captures = aliases.by_today(captures, upload.team)
            _tell_faults(upload, inputs)
            prepared = prepare_all(captures, upload.team, files.streams, _counted(progress, len(captures)))
            _keep(progress, inputs, prepared, files.streams)
    except Superseded:
        LOG.warning("upload %s was taken over by another worker, or has gone: what was read here is dropped", upload.pk)
        return False
    except Exception as error:
        _fail(upload, error)
        raise
    return True


class Superseded(Exception):
    """Another worker has the upload by now: this one was taken for dead, cut off from the database or stopped."""


def _ours(upload: Upload) -> QuerySet[Upload]:
    """The row of an upload as long as this claim on it holds."""
    return Upload.objects.filter(
        pk=upload.pk, state=Upload.State.READING, claimant=upload.claimant, claimed=upload.claimed
    )


def _tell_names(upload: Upload, inputs: Sequence[Read], captures: Sequence[ReadCapture]) -> None:
    """Tell each export that names another system than the one it is counted to, as somebody gave a name.

    A name given for all goes before that of exports that name one system only (`collectors.grouping`); of several
    systems each keeps its own. A data source has its name by what was set up, so nothing is told of it.
    """
    given = upload.system_name.upper()
    judged = {one.system.name.upper() for one in captures}
    if upload.collected_from or given not in judged:
        return
    for one in inputs:
        own = name_of(one)
        if own and own.upper() not in judged:
            one.problems.append(OTHER_NAME.format(own, upload.system_name))


def _tell_faults(upload: Upload, inputs: Sequence[Read]) -> None:
    """Tell the journal of reports that a fault of ours ended: an upload by schedule is looked at by nobody."""
    for one in inputs:
        for problem in one.problems:
            if OURS in problem:
                journal.note(
                    None, "report not read", f"upload {upload.pk}, {one.file}: {problem}"[:500], team=upload.team
                )


def claim(upload_id: int) -> Upload | None:
    """Take an upload for reading by a guarded update: of any number of workers exactly one gets it.

    One whose worker died is taken again: at once by the task that comes back, else when a sweep has seen it or the
    hard limit of a task has passed; three times at most.
    """
    now = timezone.now()
    afresh = {"read_bytes": 0, "unpacked_bytes": None, "captures_found": None, "captures_judged": 0, "error": ""}
    taken = {"state": Upload.State.READING, "claimed": now, "claimant": job_queue.me(), "tries": F("tries") + 1}
    known = Upload.objects.filter(pk=upload_id)
    fresh = known.filter(tries__lt=MOST_TRIES)
    waits = Q(state=Upload.State.WAITING)
    had = fresh.filter(waits).update(**taken, **afresh)
    if not had:
        dead = Q(claimed__lt=now - timedelta(seconds=settings.TASK_SECONDS))
        lost = Q(state=Upload.State.READING) & (dead | job_queue.mine(Upload.objects.all(), upload_id))
        had = fresh.filter(lost).update(**taken, **afresh)
    if had:
        return known.select_related("team", "by").get()
    worn = known.filter(waits | lost, tries__gte=MOST_TRIES)
    if worn.update(
        state=Upload.State.FAILED, finished=now, error=f"reading it ended {MOST_TRIES} workers: it is not tried again"
    ):
        journal.note(None, "reading failed", f"upload {upload_id}: given up after {MOST_TRIES} tries")
        failures.upload_failed(Upload.objects.get(pk=upload_id))
    return None


class Progress:
    """What the page shows of a reading, noted at most every `TELL_EVERY`; what comes between waits for the next note.

    Each note is a commit: a small upload has one.
    """

    def __init__(self, upload: Upload, **known: Any) -> None:
        """Begin with columns that go with the first note."""
        self.upload, self.rows = upload, _ours(upload)
        self.values, self.last = known, float("-inf")

    def note(self, **columns: Any) -> None:
        """Write these columns now, or with a later note."""
        self.values |= columns
        if time.monotonic() - self.last >= TELL_EVERY:
            self.write()

    def write(self) -> None:
        """Write what waits."""
        if self.values:
            self.rows.update(**self.values)
        self.values, self.last = {}, time.monotonic()


def _told(progress: Progress, streams: Iterator[Named]) -> Iterator[Named]:
    """Note how much is read."""
    before = 0
    at: tuple[str, int] = ("", 0)

    def on_progress(name: str, size: int) -> None:
        nonlocal before, at
        if name != at[0]:
            before, at = before + at[1], (name, 0)
        at = (name, at[1] + size)
        progress.note(read_bytes=before + at[1], reading_now=name[-300:])

    for named in streams:
        yield replace(named, stream=Watched(named, on_progress)) if named.stream else named  # type: ignore[arg-type]


def _counted(progress: Progress, found: int) -> Callable[[int], None]:
    """Note how many captures there are, and how many of them are judged."""
    progress.note(captures_found=found)
    return lambda count: progress.note(captures_judged=count)


def _keep(progress: Progress, inputs: list[Read], captures: list[Prepared], opener: Opener) -> None:
    """Remember everything that was read, in place of what an earlier reading or the extended upload left.

    In short transactions, so that others write between them, or, of a small upload, in a single one; what it replaces
    goes with the last one. A worker that dies on the way leaves captures that the next try replaces; one that lost its
    claim writes nothing more (`Superseded`).
    """
    upload = progress.upload
    if len(inputs) + len(captures) <= FEW:
        with transaction.atomic():
            post_audit.hold(upload)
            _keep_parts(progress, inputs, captures, opener, nullcontext, held=True)
    else:
        progress.write()
        _keep_parts(progress, inputs, captures, opener, partial(_short, upload))


@contextmanager
def _short(upload: Upload) -> Iterator[None]:
    """A transaction that is undone where somebody took the upload over. Raises `Superseded`.

    It looks at its end, so that the row of the upload is locked last: who renames a system or removes a schedule has
    those first, and then their uploads.
    """
    with transaction.atomic():
        yield
        if not _ours(upload).select_for_update().values_list("pk"):
            raise Superseded


def _keep_parts(
    progress: Progress,
    inputs: list[Read],
    captures: list[Prepared],
    opener: Opener,
    part: Callable[[], AbstractContextManager[None]],
    *,
    held: bool = False,
) -> None:
    """Do it, all but the end in `part`s. The end is a transaction, or a part of the one that is open.

    `held`: that one has the schedule already (`post_audit.hold`).
    """
    upload = progress.upload
    gone = Capture.objects.filter(Q(upload=upload) | Q(upload__isnull=False, upload=upload.extends))
    before = list(gone.values_list("pk", "system_id"))
    touched = {system for _, system in before}
    with part():
        _keep_inputs(upload, inputs)
    for at in range(0, len(captures), AT_A_TIME):
        with part():
            for prepared in captures[at : at + AT_A_TIME]:
                touched.add(settle_again(remember_capture(prepared, upload, opener)).system_id)
    with transaction.atomic(savepoint=False):
        if not held:
            post_audit.hold(upload)
        if before:
            Capture.objects.filter(pk__in=[pk for pk, _ in before]).delete()
        if upload.extends is not None:
            FormerUpload.objects.filter(upload=upload.extends).update(upload=upload)
            FormerUpload.objects.create(number=upload.extends.pk, upload=upload)
            upload.extends.files.all().delete()
            upload.extends.delete()
        for system in System.objects.filter(pk__in=touched):
            settle_system(system)
        gather(upload, touched)
        post_audit.audited(upload, System.objects.filter(pk__in=touched))
        if not captures:
            failures.upload_failed(upload)
        ended = {
            "state": Upload.State.DONE,
            "finished": datetime.now(UTC),
            "read_bytes": upload.total_bytes,
            "reading_now": "",
            "unnamed": len(unnamed_files(upload)),
            "error": "" if captures else "nothing usable was given",
        }
        if not progress.rows.update(**progress.values | ended):
            raise Superseded


def _keep_inputs(upload: Upload, inputs: list[Read]) -> None:
    """Remember which report was found where, in place of what was remembered before."""
    upload.inputs.all().delete()
    Input.objects.bulk_create(
        Input(
            upload=upload,
            number=number,
            file=one.file[:1000],
            report=one.report,
            facts=len(one.facts),
            names_system=name_of(one) is not None if one.facts else None,
            problems=one.problems,
            leftovers=input_data(one)["leftovers"],
        )
        for number, one in enumerate(inputs)
    )


def _fail(upload: Upload, error: Exception) -> None:
    """Say on the page what went wrong; the next try may still do it.

    A full disk or a database that is away is no fault of the upload: it does not end its tries.
    """
    tries = min(upload.tries, MOST_TRIES - 1) if outside(error) else upload.tries
    worn = tries >= MOST_TRIES
    failed = _ours(upload).update(
        state=Upload.State.FAILED if worn else Upload.State.WAITING,
        error=f"{type(error).__name__}: {error}"[:1000],
        finished=timezone.now() if worn else None,
        tries=tries,
    )
    if failed and worn:
        upload.refresh_from_db()
        failures.upload_failed(upload)


def left_waiting(lost: bool = False) -> list[int]:
    """Uploads that wait for a minute or whose worker died: their task may be lost.

    With `lost` all that wait: a worker has died, and may have had their tasks.
    """
    now = timezone.now()
    for upload in Upload.objects.filter(state=Upload.State.READING):
        if job_queue.lost(upload.claimant, upload.claimed, now):
            same = Upload.objects.filter(pk=upload.pk, claimant=upload.claimant, claimed=upload.claimed)
            same.filter(state=Upload.State.READING).update(state=Upload.State.WAITING, queued=None)
    soon = now - timedelta(seconds=60)
    waiting = Upload.objects.filter(state=Upload.State.WAITING)
    if not lost:
        waits = Q(at__lt=soon) | Q(at__gt=now) | Q(claimed__isnull=False)
        waiting = waiting.filter(waits, job_queue.unqueued(now))
    found = list(waiting.order_by("at").values_list("pk", flat=True)[:200])
    Upload.objects.filter(pk__in=found).update(queued=now)
    return found
