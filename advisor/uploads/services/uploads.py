"""Take in an upload: keep its bytes once, remember who brought it, have it read."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Any, BinaryIO

from django.conf import settings
from django.db import IntegrityError, transaction
from django.http import HttpRequest

from advisor.accounts.models import Team, User
from advisor.core import journal
from advisor.core.job_queue import start
from advisor.core.records import Refused
from advisor.notifications.mail.rendering import one_line
from advisor.schedules.models import Run
from advisor.uploads.models import Blob, Upload, UploadFile
from advisor.uploads.services.storing import IN_MEMORY, Packed, TooMuch
from collectors.intake import MEGABYTE


@dataclass(frozen=True)
class Brought:
    """One file as somebody brought it: the name they gave it, and its bytes."""

    name: str
    stream: BinaryIO


@dataclass(frozen=True)
class Taken:
    """The upload, and whether it is new: the same files for the same system twice are one upload."""

    upload: Upload
    new: bool


def ingest(
    brought: Iterable[Brought],
    team: Team,
    by: User | None,
    *,
    system_name: str = "",
    origin: str = "page",
    extends: Upload | None = None,
    run: Run | None = None,
    also: Callable[[Upload], None] = lambda upload: None,
    request: HttpRequest | None = None,
) -> Taken:
    """Keep the files and have them read in the background. Raises `Refused`.

    `extends`: the files of that upload come with these, so that a listing joins the figures brought before it.
    `also`: what else is to be remembered in the same transaction, of the new upload or the one that was there.
    """
    files = [(file.name, file.blob, file.size) for file in extends.files.select_related("blob")] if extends else []
    name = clean_text(system_name, 120) or (extends.system_name if extends else "")
    names = extends.system_names if extends else {}
    with SpooledTemporaryFile(max_size=IN_MEMORY) as spool:
        packed = _pack(brought, spool)  # before the transaction: it may take long
        with transaction.atomic():
            files += [(safe_name(given), one.keep(), one.size) for given, one in packed]
            if any(blob is None for _, blob, _ in files):
                raise Refused("the bytes of the earlier upload are no longer kept: upload its files again with these")
            digest = digest_of((blob.digest for _, blob, _ in files if blob), name, names)
            upload = Upload.objects.filter(team=team, digest=digest).first()
            new = upload is None
            if upload is None:
                try:
                    with transaction.atomic():
                        upload = _remember(files, digest, team, by, name, names, origin, extends, run)
                except IntegrityError:  # somebody brought the very same files at this moment
                    upload, new = Upload.objects.get(team=team, digest=digest), False
            also(upload)
            if new and run is None:  # what a run took in is told by the run
                told = ", ".join(file for file, _, _ in files)
                journal.note(by, "upload", f"upload {upload.pk}: {told}", team=team, request=request)
            if new:
                enqueue_read(upload)
    return Taken(upload, new)


def enqueue_read(upload: Upload) -> None:
    """Start the reading when the transaction is through."""
    start("uploads.read_upload", upload.pk)


def read_again(
    upload: Upload, by: User | None, system_name: str | None = None, names: Mapping[str, str] | None = None
) -> None:
    """Read an upload once more, with today's readers, perhaps under other systems' names. Raises `Refused`.

    `names`: `Input.file` → the system it belongs to, empty for none; files it does not speak of keep theirs.
    """
    if upload.bytes_dropped or upload.files.filter(blob=None).exists():
        raise Refused("the bytes of this upload are no longer kept: upload its files again")
    name = upload.system_name if system_name is None else clean_text(system_name, 120)
    given = {file: clean_text(one, 120) for file, one in (names or {}).items()}
    known = set(upload.inputs.filter(file__in=given).values_list("file", flat=True))
    merged = {**upload.system_names, **{file: one for file, one in given.items() if file in known}}
    of_files = {file: one for file, one in merged.items() if one}
    changed: dict[str, Any] = {"state": Upload.State.WAITING, "tries": 0, "error": "", "read_bytes": 0, "claimed": None}
    if (name.upper(), of_files) != (upload.system_name.upper(), upload.system_names):
        digests = upload.files.values_list("blob_id", flat=True)
        changed["digest"] = digest_of([digest for digest in digests if digest], name, of_files)
        same = Upload.objects.filter(team=upload.team, digest=changed["digest"]).exclude(pk=upload.pk).first()
        if same:
            raise Refused(f"the same files were uploaded for the same system before: see upload {same.pk}")
    changed.update(system_name=name, system_names=of_files)
    settled = Upload.objects.filter(pk=upload.pk, state__in=(Upload.State.DONE, Upload.State.FAILED))
    if not settled.update(**changed):
        raise Refused("this upload is being read just now")
    told = [name] if name else []
    told += [f"{file}: {one}" for file, one in of_files.items() if upload.system_names.get(file) != one]
    what = f"upload {upload.pk}" + (f" as {', '.join(told)}" if told else "")
    journal.note(by, "read again", what, team=upload.team)
    enqueue_read(upload)


def _pack(brought: Iterable[Brought], spool: IO[bytes]) -> list[tuple[str, Packed]]:
    left = settings.UPLOAD_MB * MEGABYTE
    found: list[tuple[str, Packed]] = []
    for one in brought:
        if len(found) == settings.UPLOAD_FILES:
            raise Refused(f"more than {settings.UPLOAD_FILES:,} files at a time: zip them, or upload some of them")
        try:
            found.append((one.name, Packed(one.stream, left, spool)))
        except TooMuch:
            text = f"more than {settings.UPLOAD_MB:,} MB at a time: zip the files, or upload some of them"
            raise Refused(text) from None
        left -= found[-1][1].size
    if not found:
        raise Refused("no file was given")
    return found


def _remember(
    files: list[tuple[str, Blob | None, int]],
    digest: str,
    team: Team,
    by: User | None,
    name: str,
    names: dict[str, str],
    origin: str,
    extends: Upload | None,
    run: Run | None,
) -> Upload:
    upload = Upload.objects.create(
        team=team,
        digest=digest,
        by=by,
        origin=origin,
        system_name=name,
        system_names=names,
        extends=extends,
        run=run,
        total_bytes=sum(size for _, _, size in files),
    )
    taken: dict[str, int] = {}
    rows = []
    for number, (file, blob, size) in enumerate(files):
        taken[file] = again = taken.get(file, 0) + 1
        unlike = file if again == 1 else f"{again}-{file}"
        rows.append(UploadFile(upload=upload, number=number, name=unlike, blob=blob, size=size))
    UploadFile.objects.bulk_create(rows)
    return upload


def digest_of(blobs: Iterable[str], name: str, names: Mapping[str, str]) -> str:
    """What makes an upload the same: the digests of its files, and the systems somebody chose for them.

    Two servers may well have listings alike to the byte, so a listing brought for another one is another upload.
    """
    parts = sorted(blobs)
    if name or names:
        parts.append(json.dumps([name.upper(), sorted((file, one.upper()) for file, one in names.items())]))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def clean_text(text: str, longest: int) -> str:
    """Make one line of what somebody typed or a file was called: nothing that controls, turns or hides text."""
    return one_line(text, longest)


def file_part(name: str) -> str:
    """What of a system's name any file system and any header takes: ASCII letters, digits and hyphens, never empty."""
    kept = "".join(c if c.isascii() and c.isalnum() else "-" for c in clean_text(name, 60))
    return kept.strip("-") or "system"


def safe_name(name: str) -> str:
    """The last part of a file's name as its system writes it, never a path, never empty."""
    last = clean_text(name.replace("\\", "/").rsplit("/", 1)[-1], 200).lstrip(".")
    return last or "unnamed"
