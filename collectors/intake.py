"""What the user names → streams: files, folders, `.zip`, `.gz`, standard input. Bounded in size and count.

Files that were collected with a manifest (`collectors.manifest`) are held against it: one that was changed is refused.
"""

import gzip
import io
import lzma
import os
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from collectors import manifest

MEGABYTE = 1 << 20
STORY = frozenset({"story.yml", "verdicts.yml"})
"""What lies beside the exports of an example of the product (`advisor/examples/audits`): no exports. Passed over where
both are in a folder."""
MOST_GONE = 100
"""Files named one by one that a manifest names and that are not there."""


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


UNREADABLE = (TooLarge, OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
"""What reading one of these streams may raise: the file is reported, the others go on."""


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
        # read1 hands over what came before the damage of an archive; read would lose it all
        data = self.inner.read1(size) if hasattr(self.inner, "read1") else self.inner.read(size)
        self.count += len(data)
        if self.count > self.bounds.unpacked_mb * MEGABYTE:
            raise TooLarge(f"unpacks to more than {self.bounds.unpacked_mb} MB")
        if self.count > self.bounds.ratio_from_mb * MEGABYTE and self.count > self.bounds.ratio * self.packed:
            raise TooLarge(f"unpacks to more than {self.bounds.ratio} times its size")
        return data


OFFICE = "[Content_Types].xml"
"""A member that every document of Office has."""
OF_OFFICE = "a document of Office (.xlsx, .docx): save the sheet as CSV, or a text as plain text, and upload that"


def open_all(paths: Iterable[str], stdin: BinaryIO, bounds: Bounds | None = None) -> Iterator[Named]:
    """Open what was named, one stream at a time; nothing raises, what cannot be read says why."""
    bounds = bounds or Bounds()
    for path in paths:
        if path == "-":
            yield _standard_input(stdin, bounds)
            continue
        if not path:
            yield Named("(empty path)", refused="an empty path names nothing", given=path)
            continue
        try:
            yield from _open_path(Path(path), path, bounds)
        except (OSError, ValueError) as error:
            yield Named(shown(path), refused=_why(error), given=path)


def shown(path: str | Path) -> str:
    """A path as text that can be printed and written as UTF-8: bytes of a name that are none become a mark."""
    return os.fsencode(path).decode("utf-8", "replace")


def _why(error: Exception) -> str:
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def _standard_input(stdin: BinaryIO, bounds: Bounds) -> Named:
    start = stdin.peek(4)[:4] if hasattr(stdin, "peek") else b""
    if start[:2] == b"PK":
        return Named("-", refused="a zip on standard input: name the file instead", given="-")
    if start[:2] == b"\x1f\x8b":
        return _bounded("-", gzip.GzipFile(fileobj=stdin), bounds.unpacked_mb * MEGABYTE // bounds.ratio, "-", bounds)
    return Named("-", stdin, given="-")


def _open_path(path: Path, given: str, bounds: Bounds) -> Iterator[Named]:
    mode = path.stat().st_mode
    handed_over = stat.S_ISFIFO(mode) and str(path).startswith(("/dev/fd/", "/dev/stdin", "/proc/self/fd/"))
    if stat.S_ISDIR(mode):
        yield from _open_folder(path, given, bounds)
    elif handed_over:  # a shell's <(command): it ends when the command does
        with path.open("rb") as stream:
            yield Named(shown(path), stream, given=given)
    elif not stat.S_ISREG(mode):
        yield Named(shown(path), refused="not a file or folder", given=given)
    else:
        yield from _open_file(path, given, bounds)


def _open_folder(folder: Path, given: str, bounds: Bounds) -> Iterator[Named]:
    """Every file below, in order of name; hidden ones are passed over, links to folders are not followed."""
    count = hidden = 0
    places: list[Path] = []
    for path in _walk(folder, failed := list[Named](), given):
        if path.name.startswith("."):
            hidden += 1
            continue
        count += 1
        if count > bounds.files:
            yield Named(shown(folder), refused=f"more than {bounds.files:,} files: name a smaller folder", given=given)
            return
        if path.name == manifest.NAME:
            places.append(path.parent)
        try:
            if not path.exists():
                yield Named(shown(path), refused="a link to nothing", given=given)
            elif not path.is_dir():
                yield from _open_path(path, given, bounds)
        except (OSError, ValueError) as error:
            yield Named(shown(path), refused=_why(error), given=given)
    yield from failed
    for place in places:
        yield from _gone(
            place, (name for name in sorted(manifest.of_folder(place)) if not (place / name).exists()), given
        )
    if not count and not failed:
        why = "nothing but hidden files" if hidden else "an empty folder"
        yield Named(shown(folder), refused=why, given=given)


def _walk(folder: Path, failed: list[Named], given: str) -> Iterator[Path]:
    """Walk a tree in order without first listing all of it; what cannot be listed goes to `failed`."""

    def fail(error: OSError) -> None:
        failed.append(Named(shown(error.filename or folder), refused=_why(error), given=given))

    for place, folders, files in os.walk(folder, onerror=fail):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        told = STORY if STORY.issubset(files) else frozenset()
        yield from (Path(place) / name for name in sorted(files) if name not in told)


def _open_file(path: Path, given: str, bounds: Bounds) -> Iterator[Named]:
    checksum = manifest.of_folder(path.parent).get(path.name)
    if checksum and checksum != manifest.of_file(path):
        yield Named(shown(path), refused=manifest.CHANGED, given=given)
        return
    with path.open("rb") as stream:
        magic = stream.read(4)
        stream.seek(0)
        if magic == b"PK\x03\x04" or magic == b"PK\x05\x06":
            yield from _open_zip(path, given, bounds)
        elif magic[:2] == b"\x1f\x8b":
            yield _bounded(shown(path), gzip.GzipFile(fileobj=stream), path.stat().st_size, given, bounds)
        else:
            yield Named(shown(path), stream, given=given)


def _open_zip(path: Path, given: str, bounds: Bounds) -> Iterator[Named]:
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        yield Named(shown(path), refused=f"a damaged zip: {error}", given=given)
        return
    with archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) > bounds.files:
            yield Named(shown(path), refused=f"more than {bounds.files:,} files in one zip", given=given)
            return
        if any(member.filename == OFFICE for member in members):
            yield Named(shown(path), refused=OF_OFFICE, given=given)
            return
        if not members:
            yield Named(shown(path), refused="an empty zip", given=given)
        if sum(member.file_size for member in members) > bounds.unpacked_mb * MEGABYTE:
            yield Named(shown(path), refused=f"unpacks to more than {bounds.unpacked_mb} MB", given=given)
            return
        checksums = _checksums(archive, bounds)
        yield from _gone(path, sorted(checksums.keys() - {member.filename for member in members}), given)
        seen: dict[str, int] = {}
        for member in members:
            seen[member.filename] = seen.get(member.filename, 0) + 1
            again = f"#{seen[member.filename]}" if seen[member.filename] > 1 else ""
            name = f"{shown(path)}/{shown(member.filename.encode('utf-8', 'replace').decode())}{again}"
            if member.flag_bits & 1:
                yield Named(name, refused="encrypted: unpack it first", given=given)
                continue
            try:
                if not _as_collected(archive, member, checksums.get(member.filename), bounds):
                    yield Named(name, refused=manifest.CHANGED, given=given)
                    continue
                with archive.open(member) as stream:
                    inner: BinaryIO = stream  # type: ignore[assignment]  # IO[bytes] reads as a BinaryIO does
                    if member.filename.lower().endswith(".gz"):
                        inner = gzip.GzipFile(fileobj=stream)  # type: ignore[assignment]
                    yield _bounded(name, inner, member.compress_size, given, bounds)
            except (*UNREADABLE, NotImplementedError, RuntimeError) as error:
                yield Named(name, refused=f"damaged inside the zip: {error}", given=given)


def _gone(place: Path, names: Iterable[str], given: str) -> Iterator[Named]:
    """Say which files a manifest names that are not there; of very many the first ones, and how many more."""
    names = list(names)
    for name in names[:MOST_GONE]:
        yield Named(f"{shown(place)}/{shown(name)}", refused=manifest.GONE, given=given)
    if (more := len(names) - MOST_GONE) > 0:
        yield Named(shown(place), refused=f"{more:,} more files are {manifest.GONE}", given=given)


def _checksums(archive: zipfile.ZipFile, bounds: Bounds) -> dict[str, str]:
    """The checksums that the manifests in a zip give, by the whole names of the members."""
    found: dict[str, str] = {}
    for folder, name in manifest.beside(archive.namelist()).items():
        member = archive.getinfo(name)
        try:
            with archive.open(member) as stream:
                text = Bounded(cast(BinaryIO, stream), member.compress_size, bounds).read(manifest.LARGEST + 1)
        except (*UNREADABLE, NotImplementedError, RuntimeError):  # it is reported when its turn comes
            continue
        if one := manifest.read(text):
            found |= {manifest.joined(folder, file): digest for file, digest in one.checksums.items()}
    return found


def _as_collected(archive: zipfile.ZipFile, member: zipfile.ZipInfo, checksum: str | None, bounds: Bounds) -> bool:
    """Whether a member is what its manifest says; one without a checksum is."""
    if checksum is None:
        return True
    with archive.open(member) as stream:
        return manifest.checksum(Bounded(cast(BinaryIO, stream), member.compress_size, bounds)) == checksum


def _bounded(name: str, inner: "BinaryIO | gzip.GzipFile", packed: int, given: str, bounds: Bounds) -> Named:
    return Named(name, Bounded(inner, packed, bounds), given=given)  # type: ignore[arg-type]
