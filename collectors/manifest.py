"""The manifest of what was collected from a server: which files, their checksums, what was left out and why.

It is `manifest.json` beside the files, in a folder or a zip. `collectors.intake` holds the files against it, and the
reader `collected` of its product reads it.
"""

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, Protocol

NAME = "manifest.json"
FORMAT = "lockwright-collected/1"
FIRST_LINE = f'{{"format": "{FORMAT}",'
"""By this it is known from the manifests of others."""
LARGEST = 4 << 20
PIECE = 1 << 18
CHANGED = (
    f"changed since it was collected: its checksum is not the one in {NAME}, so it was not read; upload the files as "
    f"they were collected, or, if the change is meant, without {NAME}"
)
GONE = f"named in {NAME}, but not there: upload all files as they were collected"


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """Read at most so many bytes; none at the end."""


@dataclass(frozen=True)
class Manifest:
    """A manifest as read."""

    data: Mapping[str, Any]

    @property
    def checksums(self) -> dict[str, str]:
        """The SHA-256 of each file, by its name; a name with a path, or with what controls a terminal, is none."""
        named = {str(one["file"]): str(one["sha256"]).lower() for one in self.entries}
        return {name: digest for name, digest in named.items() if _is_name(name)}

    @property
    def entries(self) -> list[Mapping[str, Any]]:
        """What it says of each file that it names with its checksum."""
        return [one for one in _list(self.data.get("files")) if "file" in one and "sha256" in one]

    @property
    def left_out(self) -> list[Mapping[str, Any]]:
        """Questions that were not asked or not answered."""
        return _list(self.data.get("left_out"))

    @property
    def missing(self) -> list[Mapping[str, Any]]:
        """Roles and switches that are missing, and how to give them."""
        return _list(self.data.get("missing"))


def read(text: bytes) -> Manifest | None:
    """Read a manifest; `None` where these bytes are none of ours."""
    if len(text) > LARGEST or not text.startswith(FIRST_LINE.encode()):
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return Manifest(data) if isinstance(data, dict) else None


def written(data: Mapping[str, Any]) -> bytes:
    """A manifest as bytes, on the first line its format and a product other than SAP ASE, which had it first."""
    product = data.get("product", "ase")
    more = "" if product == "ase" else f' "product": {json.dumps(product)},'
    text = json.dumps(data, ensure_ascii=False, indent=1)
    return f"{FIRST_LINE}{more}{text.removeprefix('{')}\n".encode()


def checksum(stream: Readable) -> str:
    """The SHA-256 of what is left of a stream."""
    digest = hashlib.sha256()
    while piece := stream.read(PIECE):
        digest.update(piece)
    return digest.hexdigest()


def of_file(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as stream:
        return checksum(stream)


def beside(members: Iterable[str]) -> dict[str, str]:
    """The manifests among the members of a zip: the folder each stands in → its own name."""
    found: dict[str, str] = {}
    for member in members:
        path = PurePosixPath(member)
        if path.name == NAME:
            found.setdefault(str(path.parent), member)
    return found


def joined(folder: str, file: str) -> str:
    """The name of a member beside a manifest that stands in `folder` of a zip."""
    return file if folder in (".", "") else f"{folder}/{file}"


def of_folder(folder: Path) -> dict[str, str]:
    """The checksums that the manifest of a folder gives, by file name; none where there is no manifest of ours."""
    path = folder / NAME
    try:
        state = path.stat()
    except OSError:
        return {}
    return _of_folder(path, state.st_mtime_ns, state.st_size)


@functools.lru_cache(maxsize=16)
def _of_folder(path: Path, changed: int, size: int) -> dict[str, str]:
    """Read it once for all files beside it; `changed` and `size` tell it from a later one."""
    if not path.is_file() or size > LARGEST:
        return {}
    try:
        with path.open("rb") as stream:
            one = read(stream.read(LARGEST + 1))
    except OSError:  # it is reported when its turn comes
        return {}
    return one.checksums if one else {}


def _is_name(text: str) -> bool:
    return PurePath(text).name == text and text not in ("", "..") and text.isprintable()


def _list(what: object) -> list[Mapping[str, Any]]:
    return [one for one in what if isinstance(one, dict)] if isinstance(what, list) else []
