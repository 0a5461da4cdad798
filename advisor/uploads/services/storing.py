"""The bytes of uploads: in the database, compressed, once each, written and read as streams."""

import fcntl
import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from typing import IO, BinaryIO

from django.conf import settings
from django.db import transaction

from advisor.uploads.models import Blob, BlobChunk
from advisor.uploads.services.packing import PIECE, packer, packing_of, unpacked

ROOM, MAKING = "lockwright-room-", "lockwright-making-"
"""How the folders begin in which a task keeps files while it lives."""
IN_MEMORY = 8 << 20


class TooMuch(ValueError):
    """An upload is larger than the site allows; the message says by how much and what to do."""


class Packed:
    """A stream that was read to its end: its digest, its size, and its bytes compressed at the end of a file."""

    def __init__(self, stream: BinaryIO, most_bytes: int, file: IO[bytes]) -> None:
        """Read `stream` into `file`. Raises `TooMuch` beyond `most_bytes`."""
        digest = hashlib.sha256()
        file.seek(0, io.SEEK_END)
        self.file, self.start, self.size = file, file.tell(), 0
        piece = stream.read(PIECE)
        after = stream.read(PIECE)
        self.packing = packing_of(piece, is_whole=not after)
        packing = packer(self.packing, None if after else len(piece))
        while piece:
            self.size += len(piece)
            if self.size > most_bytes:
                raise TooMuch(f"more than {most_bytes / 1e6:,.0f} MB: upload fewer files at a time, or zip them")
            digest.update(piece)
            file.write(packing.compress(piece))
            piece, after = after, stream.read(PIECE)
        file.write(packing.flush())
        self.digest, self.packed = digest.hexdigest(), file.tell() - self.start

    def keep(self) -> Blob:
        """Store it, unless the same bytes are stored already; by itself or within a transaction, undone with that."""
        with transaction.atomic(savepoint=False):
            known = {"size": self.size, "packed": self.packed, "packing": self.packing}
            blob, new = Blob.objects.get_or_create(digest=self.digest, defaults=known)
            if new:
                self.file.seek(self.start)
                for number, at in enumerate(range(0, self.packed, PIECE)):
                    data = self.file.read(min(PIECE, self.packed - at))
                    BlobChunk.objects.create(blob=blob, number=number, data=data)
        return blob


class BlobReader(io.RawIOBase):
    """The bytes of a blob as a stream, one row in memory at a time."""

    def __init__(self, blob: Blob) -> None:
        """Begin at the first byte."""
        self.pieces, self.ready = unpacked(blob.packing, blob.size, _pieces(blob)), memoryview(b"")

    def readable(self) -> bool:
        """Say yes, as io wants it."""
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]  # io allows any buffer
        """Fill the buffer as far as there is anything. Raises `DamagedBlob`, `UnknownDictionary`."""
        while not self.ready:
            piece = next(self.pieces, None)
            if piece is None:
                return 0
            self.ready = memoryview(piece)
        taken = self.ready[: len(buffer)]
        self.ready = self.ready[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)


def _pieces(blob: Blob) -> Iterator[bytes]:
    """The compressed bytes, a row in memory at a time, by a query each: a cursor on the server takes three more."""
    rows = BlobChunk.objects.filter(blob=blob).values_list("data", flat=True)
    given = number = 0
    while given < blob.packed and (row := rows.filter(number=number).first()) is not None:
        yield bytes(row)
        given, number = given + len(row), number + 1


def open_blob(blob: Blob) -> BinaryIO:
    """Open a blob for reading."""
    return io.BufferedReader(BlobReader(blob), PIECE)


def spool(blob: Blob, target: BinaryIO) -> None:
    """Copy a blob to a file: an archive must be sought in."""
    with open_blob(blob) as source:
        while piece := source.read(PIECE):
            target.write(piece)


def drop_unused() -> int:
    """Delete every blob that no file of an upload needs any more; returns how many."""
    unused = Blob.objects.filter(files__isnull=True)
    count = unused.count()
    unused.delete()
    return count


@contextmanager
def room() -> Iterator[Path]:
    """An empty folder of our own as long as the context lasts; what a worker that was ended left behind goes.

    A room is locked while somebody is in it, and the lock ends with the process: no clock is asked.
    """
    place = settings.SPOOL_DIR if settings.SPOOL_DIR.is_dir() else Path(gettempdir())
    for left in place.glob(f"{ROOM}*"):
        if _left_behind(left):
            rmtree(left, ignore_errors=True)
    making = Path(mkdtemp(prefix=MAKING, dir=place))
    held = os.open(making, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        ours = making.rename(place / making.name.replace(MAKING, ROOM))  # nobody sees it before it is locked
        try:
            yield ours
        finally:
            rmtree(ours, ignore_errors=True)
    finally:
        os.close(held)


def _left_behind(room: Path) -> bool:
    """Whether a room is of a process of ours that has ended."""
    try:
        found = os.open(room, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        if os.fstat(found).st_uid != os.getuid():
            return False
        fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(found)
    return True
