"""The files of an upload, unpacked into a folder for as long as they are read."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from django.conf import settings

from advisor.uploads.models import Upload
from advisor.uploads.services.storing import room, spool
from collectors.intake import MEGABYTE, Bounds, Named, open_all


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
