"""Read an upload: bytes → inputs, captures, audits. Runs in a worker; may be started twice, and is done once."""

import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from advisor.models import Audit, Capture, FormerUpload, Input, System, Upload, User
from advisor.report.data import input_data
from advisor.services import aftermath, former, journal, working
from advisor.services.excerpts import Opener
from advisor.services.judging import Prepared, prepare_all
from advisor.services.outside import outside
from advisor.services.reading import Watched, captures_of
from advisor.services.remembering import remember_audit, remember_capture, renew_beside, restore, settle_system
from advisor.services.same import settle_again
from advisor.services.scheduling import troubles
from advisor.services.starting import start
from advisor.services.storing import room, spool
from collectors.faults import OURS
from collectors.grouping import name_of
from collectors.intake import MEGABYTE, Bounds, Named, open_all
from collectors.read import Input as Read
from collectors.read import read_all

TELL_EVERY = 0.5
"""Seconds between two notes of progress in the database."""
AT_A_TIME = 50
"""Captures written in one transaction: half a second, in which SQLite lets nobody else write."""
MOST_TRIES = 3
"""A worker that died is replaced; an upload that kills every worker is given up."""


def read_upload(upload_id: int) -> bool:
    """Read one upload that waits; returns whether this call did it."""
    upload = claim(upload_id)
    if upload is None:
        return False
    try:
        with spooled(upload) as files:
            Upload.objects.filter(pk=upload.pk).update(unpacked_bytes=files.unpacked())
            inputs = list(read_all(_told(upload, files.streams())))
            captures = captures_of(inputs, upload.system_name or None, names=upload.system_names)
            captures = former.by_today(captures, upload.team)
            _tell_faults(upload, inputs)
            prepared = prepare_all(captures, upload.team, files.streams, _counted(upload, len(captures)))
            _keep(upload, inputs, prepared, files.streams)
    except Exception as error:
        _fail(upload, error)
        raise
    return True


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
    dead = Q(claimed__lt=now - timedelta(seconds=settings.TASK_SECONDS))
    free = Q(state=Upload.State.WAITING) | Q(state=Upload.State.READING) & (
        dead | working.mine(Upload.objects.all(), upload_id)
    )
    mine = Upload.objects.filter(free, pk=upload_id, tries__lt=MOST_TRIES)
    afresh = {"read_bytes": 0, "unpacked_bytes": None, "captures_found": None, "captures_judged": 0, "error": ""}
    taken = {"state": Upload.State.READING, "claimed": now, "claimant": working.me(), "tries": F("tries") + 1}
    if mine.update(**taken, **afresh):
        return Upload.objects.select_related("team", "by").get(pk=upload_id)
    worn = Upload.objects.filter(free, pk=upload_id, tries__gte=MOST_TRIES)
    if worn.update(
        state=Upload.State.FAILED, finished=now, error=f"reading it ended {MOST_TRIES} workers: it is not tried again"
    ):
        journal.note(None, "reading failed", f"upload {upload_id}: given up after {MOST_TRIES} tries")
        troubles.upload_failed(Upload.objects.get(pk=upload_id))
    return None


class Spooled:
    """The files of an upload in a folder of their own, under the names they were brought with."""

    def __init__(self, upload: Upload | None, folder: Path, wanted: str | None = None) -> None:
        """Write the bytes out (an archive must be sought in): all, or those of the file `wanted` is or stands in."""
        self.names: dict[str, str] = {}
        for file in upload.files.select_related("blob") if upload else ():
            if file.blob is not None and _holds(file.name, wanted):
                path = folder / f"{file.number}"
                with path.open("wb") as target:
                    spool(file.blob, target)
                self.names[str(path)] = file.name

    def unpacked(self) -> int | None:
        """Bytes there are to read, unpacked; `None` where only unpacking tells."""
        sizes = [unpacked_size(Path(path)) for path in self.names]
        return None if None in sizes else sum(size or 0 for size in sizes)

    def streams(self, wanted: str | None = None) -> Iterator[Named]:
        """Every stream in order, or those of the file that `wanted` is or is a member of.

        What is shown and quoted is the name of the uploader, never ours.
        """
        bounds = Bounds(files=settings.UPLOAD_FILES * 4, unpacked_mb=settings.UPLOAD_UNPACKED_MB)
        for path, name in self.names.items():
            if not _holds(name, wanted):
                continue
            for named in open_all([path], None, bounds):  # type: ignore[arg-type]  # no standard input here
                yield replace(named, name=name + named.name.removeprefix(path), given=name)


def _holds(name: str, wanted: str | None) -> bool:
    """Whether the file of this name is the wanted one, or the archive it is a member of."""
    return wanted is None or wanted == name or wanted.startswith(f"{name}/")


def unpacked_size(path: Path) -> int | None:
    """Bytes a file unpacks to: 0 for an archive that intake refuses, `None` for gzip, which does not say it."""
    with path.open("rb") as stream:
        magic = stream.read(4)
    if magic[:2] == b"\x1f\x8b":
        return None
    if magic not in (b"PK\x03\x04", b"PK\x05\x06"):
        return path.stat().st_size
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return 0
    if any(member.filename.lower().endswith(".gz") for member in members):
        return None
    size = sum(member.file_size for member in members)
    return size if size <= settings.UPLOAD_UNPACKED_MB * MEGABYTE else 0


@contextmanager
def spooled(upload: Upload | None, wanted: str | None = None) -> Iterator[Spooled]:
    """The files of an upload as long as the context lasts; none without an upload, or where its bytes have gone."""
    with room() as folder:
        yield Spooled(upload, folder, wanted)


def _told(upload: Upload, streams: Iterator[Named]) -> Iterator[Named]:
    """Tell the database of progress, now and then."""
    last = 0.0
    before = 0
    at: tuple[str, int] = ("", 0)

    def hear(name: str, size: int) -> None:
        nonlocal last, before, at
        if name != at[0]:
            before, at = before + at[1], (name, 0)
        at = (name, at[1] + size)
        if time.monotonic() - last >= TELL_EVERY:
            last = time.monotonic()
            Upload.objects.filter(pk=upload.pk).update(read_bytes=before + at[1], reading_now=name[-300:])

    for named in streams:
        yield replace(named, stream=Watched(named, hear)) if named.stream else named  # type: ignore[arg-type]


def _counted(upload: Upload, found: int) -> Callable[[int], None]:
    """Tell the database how many captures there are, and now and then how many of them are judged."""
    last = time.monotonic()
    mine = Upload.objects.filter(pk=upload.pk)
    mine.update(captures_found=found)

    def hear(count: int) -> None:
        nonlocal last
        if time.monotonic() - last >= TELL_EVERY or count == found:
            last = time.monotonic()
            mine.update(captures_judged=count)

    return hear


def _keep(upload: Upload, inputs: list[Read], captures: list[Prepared], opener: Opener) -> None:
    """Remember everything that was read, in place of what an earlier reading or the extended upload left.

    In short transactions, so that others write between them; what it replaces goes with the last one. A worker that
    dies on the way leaves captures that the next try replaces.
    """
    gone = Capture.objects.filter(Q(upload=upload) | Q(upload__isnull=False, upload=upload.extends))
    before = list(gone.values_list("pk", "system_id"))
    touched = {system for _, system in before}
    with transaction.atomic():
        _keep_inputs(upload, inputs)
    for at in range(0, len(captures), AT_A_TIME):
        with transaction.atomic():
            for prepared in captures[at : at + AT_A_TIME]:
                touched.add(settle_again(remember_capture(prepared, upload, opener)).system_id)
    with transaction.atomic():
        aftermath.hold(upload)
        Capture.objects.filter(pk__in=[pk for pk, _ in before]).delete()
        if upload.extends is not None:
            FormerUpload.objects.filter(upload=upload.extends).update(upload=upload)
            FormerUpload.objects.create(number=upload.extends.pk, upload=upload)
            upload.extends.files.all().delete()
            upload.extends.delete()
        for system in System.objects.filter(pk__in=touched):
            settle_system(system)
        aftermath.audited(upload, System.objects.filter(pk__in=touched))
        if not captures:
            troubles.upload_failed(upload)
        Upload.objects.filter(pk=upload.pk).update(
            state=Upload.State.DONE,
            finished=datetime.now(UTC),
            read_bytes=upload.total_bytes,
            reading_now="",
            error="" if captures else "nothing usable was given",
        )


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
    Upload.objects.filter(pk=upload.pk).update(
        state=Upload.State.FAILED if worn else Upload.State.WAITING,
        error=f"{type(error).__name__}: {error}"[:1000],
        finished=timezone.now() if worn else None,
        tries=tries,
    )
    if worn:
        upload.refresh_from_db()
        troubles.upload_failed(upload)


def audit_again(capture_id: int, by: User | None = None, why: str = "asked for") -> Audit | None:
    """Audit a remembered capture by today's rules and limits; `None` where it has gone meanwhile."""
    capture = Capture.objects.select_related("system", "upload", "audit", "packed").filter(pk=capture_id).first()
    if capture is None:
        return None
    found, problems = restore(capture)
    before = set(capture.audit.findings_digest) if capture.audit else set()
    with spooled(capture.upload) as files:
        made = remember_audit(capture, found, files.streams, by=by, why=why, problems=problems)
    settle_system(capture.system)
    if before != set(made.findings_digest):  # what other nodes link to has changed; once theirs settle, this ends
        for other in renew_beside(capture, found):
            start("audit_again", other, None, "another node changed")
    if by:
        journal.note(by, "audit again", f"capture {capture_id}: {why}", system=capture.system)
    return made


def want_audit(capture: Capture, by: User) -> None:
    """Have a capture audited again in the background."""
    Capture.objects.filter(pk=capture.pk).update(audit_wanted=timezone.now())
    start("audit_again", capture.pk, by.pk, "asked for")


def audits_left() -> list[int]:
    """Captures whose new audit was asked for over a minute ago: its task may be lost."""
    lost = Capture.objects.filter(audit_wanted__lt=timezone.now() - timedelta(seconds=60))
    return list(lost.order_by("audit_wanted").values_list("pk", flat=True)[:200])


def left_waiting() -> list[int]:
    """Uploads that wait for a minute or whose worker died: their task may be lost."""
    now = timezone.now()
    for upload in Upload.objects.filter(state=Upload.State.READING):
        if working.lost(upload.claimant, upload.claimed, now):
            same = Upload.objects.filter(pk=upload.pk, claimant=upload.claimant, claimed=upload.claimed)
            same.filter(state=Upload.State.READING).update(state=Upload.State.WAITING, queued=None)
    soon = now - timedelta(seconds=60)
    waits = Q(at__lt=soon) | Q(at__gt=now) | Q(claimed__isnull=False)
    waiting = Upload.objects.filter(waits, working.unqueued(now), state=Upload.State.WAITING)
    found = list(waiting.order_by("at").values_list("pk", flat=True)[:200])
    Upload.objects.filter(pk__in=found).update(queued=now)
    return found
