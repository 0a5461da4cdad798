"""What the user names → streams: files, folders, `.zip`, `.gz`, standard input. Bounded in size and count."""

import gzip
import io
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Bounds:
    """How much one archive may unpack to (this project's figures: T4 and sp_sysmon text shrinks 10 to 40 times)."""

    files: int = 10_000
    unpacked_mb: int = 4096
    ratio: int = 250
    ratio_from_mb: int = 16
    """The ratio is looked at only beyond this size: a short file of blanks is no bomb."""


@dataclass(frozen=True)
class Named:
    """One stream to read, under the name to print; or, without a stream, why it cannot be read."""

    name: str
    stream: BinaryIO | None = None
    refused: str | None = None
    given: str = ""
    """The path it came from, as the user named it: exports that came together may speak of one system."""


class TooLarge(Exception):
    """An archive unpacks to more than the bounds allow."""


class Bounded(io.RawIOBase):
    """Counts what an archive member unpacks to, and stops a bomb before it fills memory or time."""

    def __init__(self, inner: BinaryIO, packed: int, bounds: Bounds) -> None:
        """Wrap `inner`, whose packed size in bytes is `packed`."""
        self.inner, self.packed, self.bounds, self.count = inner, max(packed, 1), bounds, 0

    def readable(self) -> bool:
        """Say yes, as io wants it."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read and count. Raises `TooLarge`."""
        data = self.inner.read(size)
        self.count += len(data)
        if self.count > self.bounds.unpacked_mb * MEGABYTE:
            raise TooLarge(f"unpacks to more than {self.bounds.unpacked_mb} MB")
        if self.count > self.bounds.ratio_from_mb * MEGABYTE and self.count > self.bounds.ratio * self.packed:
            raise TooLarge(f"unpacks to more than {self.bounds.ratio} times its size")
        return data


def open_all(paths: Iterable[str], stdin: BinaryIO, bounds: Bounds | None = None) -> Iterator[Named]:
    """Open what was named, one stream at a time; nothing raises, what cannot be read says why."""
    bounds = bounds or Bounds()
    for path in paths:
        if path == "-":
            yield Named("-", stdin, given=path)
            continue
        try:
            yield from _open_path(Path(path), path, bounds)
        except OSError as error:
            yield Named(path, refused=f"cannot be read: {error.strerror or error}", given=path)


def _open_path(path: Path, given: str, bounds: Bounds) -> Iterator[Named]:
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        yield from _open_folder(path, given, bounds)
    elif not stat.S_ISREG(mode):
        yield Named(str(path), refused="not a file or folder", given=given)
    else:
        yield from _open_file(path, given, bounds)


def _open_folder(folder: Path, given: str, bounds: Bounds) -> Iterator[Named]:
    """Every file below, in order of name; hidden ones and links to folders are passed over."""
    count = 0
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or not path.is_file():
            continue
        count += 1
        if count > bounds.files:
            yield Named(str(folder), refused=f"more than {bounds.files:,} files: name a smaller folder", given=given)
            return
        try:
            yield from _open_file(path, given, bounds)
        except OSError as error:
            yield Named(str(path), refused=f"cannot be read: {error.strerror or error}", given=given)
    if not count:
        yield Named(str(folder), refused="an empty folder", given=given)


def _open_file(path: Path, given: str, bounds: Bounds) -> Iterator[Named]:
    with path.open("rb") as stream:
        magic = stream.read(4)
        stream.seek(0)
        if magic == b"PK\x03\x04" or magic == b"PK\x05\x06":
            yield from _open_zip(path, given, bounds)
        elif magic[:2] == b"\x1f\x8b":
            yield _bounded(str(path), gzip.GzipFile(fileobj=stream), path.stat().st_size, given, bounds)
        else:
            yield Named(str(path), stream, given=given)


def _open_zip(path: Path, given: str, bounds: Bounds) -> Iterator[Named]:
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        yield Named(str(path), refused=f"a damaged zip: {error}", given=given)
        return
    with archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) > bounds.files:
            yield Named(str(path), refused=f"more than {bounds.files:,} files in one zip", given=given)
            return
        if not members:
            yield Named(str(path), refused="an empty zip", given=given)
        if sum(member.file_size for member in members) > bounds.unpacked_mb * MEGABYTE:
            yield Named(str(path), refused=f"unpacks to more than {bounds.unpacked_mb} MB", given=given)
            return
        for member in members:
            name = f"{path}/{member.filename}"
            if member.flag_bits & 1:
                yield Named(name, refused="encrypted: unpack it first", given=given)
                continue
            try:
                with archive.open(member) as stream:
                    inner: BinaryIO = stream  # type: ignore[assignment]  # IO[bytes] reads as a BinaryIO does
                    if member.filename.lower().endswith(".gz"):
                        inner = gzip.GzipFile(fileobj=stream)  # type: ignore[assignment]
                    yield _bounded(name, inner, member.compress_size, given, bounds)
            except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
                yield Named(name, refused=f"damaged inside the zip: {error}", given=given)


def _bounded(name: str, inner: "BinaryIO | gzip.GzipFile", packed: int, given: str, bounds: Bounds) -> Named:
    return Named(name, Bounded(inner, packed, bounds), given=given)  # type: ignore[arg-type]


UNREADABLE = (TooLarge, OSError, EOFError, zlib.error, zipfile.BadZipFile)
"""What reading one of these streams may raise: the file is reported, the others go on."""
