"""Take in an upload: keep its bytes once, remember who brought it, have it read."""

import hashlib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

from django.conf import settings
from django.db import IntegrityError, transaction
from django.http import HttpRequest

from advisor.models import Blob, Team, Upload, UploadFile, User
from advisor.services import journal
from advisor.services.starting import start
from advisor.services.storing import Packed, TooMuch
from collectors.intake import MEGABYTE


class Refused(ValueError):
    """An upload that is not taken; the message says why and what to do."""


@dataclass(frozen=True)
class Brought:
    """One file as somebody brought it: the name they gave it, and its bytes."""

    name: str
    stream: BinaryIO


@dataclass(frozen=True)
class Taken:
    """The upload, and whether it is new: the same files twice are one upload."""

    upload: Upload
    new: bool


def take_in(
    brought: Iterable[Brought],
    team: Team,
    by: User | None,
    *,
    system_name: str = "",
    origin: str = "page",
    extends: Upload | None = None,
    request: HttpRequest | None = None,
) -> Taken:
    """Keep the files and have them read in the background. Raises `Refused`.

    `extends`: the files of that upload come with these, so that a listing joins the figures brought before it.
    """
    files = [(file.name, file.blob, file.size) for file in extends.files.select_related("blob")] if extends else []
    left = settings.UPLOAD_MB * MEGABYTE
    count = 0
    with transaction.atomic():
        for one in brought:
            count += 1
            if count > settings.UPLOAD_FILES:
                raise Refused(f"more than {settings.UPLOAD_FILES:,} files at a time: zip them, or bring some of them")
            blob = _keep(one, left)
            left -= blob.size
            files.append((safe_name(one.name), blob, blob.size))
        if not count:
            raise Refused("no file was given")
        if any(blob is None for _, blob, _ in files):
            raise Refused("the bytes of the earlier upload are no longer kept: bring its files again with these")
        digest = _digest(blob for _, blob, _ in files if blob)
        known = Upload.objects.filter(team=team, digest=digest).first()
        if known:
            return Taken(known, False)
        try:
            with transaction.atomic():
                upload = _remember(files, digest, team, by, system_name, origin, extends)
        except IntegrityError:  # somebody brought the very same files at this moment
            return Taken(Upload.objects.get(team=team, digest=digest), False)
        names = ", ".join(name for name, _, _ in files)
        journal.note(by, "upload", f"upload {upload.pk}: {names}", team=team, request=request)
        have_read(upload)
    return Taken(upload, True)


def have_read(upload: Upload) -> None:
    """Start the reading when the transaction is through."""
    start("read_upload", upload.pk)


def read_again(upload: Upload, by: User | None, system_name: str | None = None) -> None:
    """Read an upload once more, with today's readers, perhaps under another system's name. Raises `Refused`."""
    if upload.bytes_dropped or upload.files.filter(blob=None).exists():
        raise Refused("the bytes of this upload are no longer kept: bring its files again")
    changed = {"state": Upload.State.WAITING, "tries": 0, "error": "", "read_bytes": 0, "claimed": None}
    if system_name is not None:
        changed["system_name"] = clean_text(system_name, 120)
    updated = Upload.objects.filter(pk=upload.pk, state__in=(Upload.State.DONE, Upload.State.FAILED)).update(**changed)
    if not updated:
        raise Refused("this upload is being read just now")
    what = f"upload {upload.pk}" + (f" as {changed['system_name']}" if changed.get("system_name") else "")
    journal.note(by, "read again", what, team=upload.team)
    have_read(upload)


def _keep(one: Brought, left: int) -> Blob:
    try:
        packed = Packed(one.stream, left)
    except TooMuch:
        raise Refused(f"more than {settings.UPLOAD_MB:,} MB at a time: zip the files, or bring some of them") from None
    try:
        return packed.keep()
    finally:
        packed.close()


def _remember(
    files: list[tuple[str, Blob | None, int]],
    digest: str,
    team: Team,
    by: User | None,
    system_name: str,
    origin: str,
    extends: Upload | None,
) -> Upload:
    upload = Upload.objects.create(
        team=team,
        digest=digest,
        by=by,
        origin=origin,
        system_name=clean_text(system_name, 120) or (extends.system_name if extends else ""),
        extends=extends,
        total_bytes=sum(size for _, _, size in files),
    )
    taken: dict[str, int] = {}
    for number, (name, blob, size) in enumerate(files):
        taken[name] = again = taken.get(name, 0) + 1
        unlike = name if again == 1 else f"{again}-{name}"
        UploadFile.objects.create(upload=upload, number=number, name=unlike, blob=blob, size=size)
    return upload


def _digest(blobs: Iterable[Blob]) -> str:
    return hashlib.sha256("\n".join(sorted(blob.digest for blob in blobs)).encode()).hexdigest()


def clean_text(text: str, longest: int) -> str:
    """Make one line of what somebody typed or a file was called: nothing that controls, turns or hides text."""
    kept = "".join(c if not unicodedata.category(c).startswith(("C", "Z")) else " " for c in text)
    return " ".join(kept.split())[:longest]


def safe_name(name: str) -> str:
    """The last part of a file's name as its system writes it, never a path, never empty."""
    last = clean_text(name.replace("\\", "/").rsplit("/", 1)[-1], 200).lstrip(".")
    return last or "unnamed"
