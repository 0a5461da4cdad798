"""The bytes of uploads: in the database, compressed, once each, written and read as streams."""

import hashlib
import io
import zlib
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import BinaryIO

from django.db import transaction

from advisor.models import Blob, BlobChunk

PIECE = 1 << 20
"""Bytes read at a time, and about the size of one row of compressed bytes."""
IN_MEMORY = 8 << 20


class TooMuch(ValueError):
    """An upload is larger than the site allows; the message says by how much and what to do."""


class Packed:
    """A stream that was read to its end: its digest, its size, and its bytes compressed in a temporary file."""

    def __init__(self, stream: BinaryIO, most_bytes: int) -> None:
        """Read `stream`. Raises `TooMuch` beyond `most_bytes`."""
        digest, packer = hashlib.sha256(), zlib.compressobj(6)
        self.size = 0
        self.file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed by close()
        while piece := stream.read(PIECE):
            self.size += len(piece)
            if self.size > most_bytes:
                self.file.close()
                raise TooMuch(f"more than {most_bytes / 1e6:,.0f} MB: bring fewer files at a time, or zip them")
            digest.update(piece)
            self.file.write(packer.compress(piece))
        self.file.write(packer.flush())
        self.digest = digest.hexdigest()

    def keep(self) -> Blob:
        """Store it, unless the same bytes are stored already."""
        packed = self.file.tell()
        with transaction.atomic():
            blob, new = Blob.objects.get_or_create(digest=self.digest, defaults={"size": self.size, "packed": packed})
            if new:
                self.file.seek(0)
                pieces = iter(lambda: self.file.read(PIECE), b"")
                for number, data in enumerate(pieces):
                    BlobChunk.objects.create(blob=blob, number=number, data=data)
        return blob

    def close(self) -> None:
        """Let go of the temporary file."""
        self.file.close()


class BlobReader(io.RawIOBase):
    """The bytes of a blob as a stream, one row in memory at a time."""

    def __init__(self, blob: Blob) -> None:
        """Begin at the first byte."""
        self.rows: Iterator[bytes | memoryview] = (
            BlobChunk.objects.filter(blob=blob).order_by("number").values_list("data", flat=True).iterator(chunk_size=1)
        )
        self.unpacker, self.ready = zlib.decompressobj(), b""

    def readable(self) -> bool:
        """Say yes, as io wants it."""
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]  # io allows any buffer
        """Fill the buffer as far as there is anything. Raises `zlib.error` for damaged rows."""
        wanted = len(buffer)
        while not self.ready:
            source = self.unpacker.unconsumed_tail
            if not source:
                row = next(self.rows, None)
                if row is None:
                    return 0
                source = bytes(row)
            self.ready = self.unpacker.decompress(source, wanted)
        taken, self.ready = self.ready[:wanted], self.ready[wanted:]
        buffer[: len(taken)] = taken
        return len(taken)


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
