"""The files of a drop folder: listed, copied and moved without ever following a link.

Others write to these folders while we look. So a folder is opened once, step by step from the drop folder the
settings name, and all below it is reached from there, never by its path: what was checked is what is read.
"""

import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from advisor.schedules.services.watch_folder.names import told
from advisor.schedules.services.watch_folder.roots import bases, is_private

TAKEN = "taken"
"""The folder beside them that files are moved into."""
UNFINISHED = (".tmp", ".part", ".filepart")
"""How names end while a file is still being sent."""
PIECE = 1 << 20
MOST_ALIKE = 9
"""Up to here names are counted: a look into a full folder must not ask for thousands of them."""
LATEST_NS = (1 << 63) - 1
"""What `DropFile.mtime_ns` holds: 11 April 2262; the same in the past."""
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""A named pipe put there meanwhile must not hold us up."""
AWAY = {errno.EIO, errno.ENOTCONN, errno.ESTALE, errno.ETIMEDOUT, errno.EHOSTDOWN, errno.EHOSTUNREACH}
AWAY |= {errno.ECONNRESET, errno.ECONNABORTED, errno.ENODEV}
"""What a mounted folder answers whose server is away."""
FULL = (errno.ENOSPC, errno.EDQUOT)


class Unreadable(Exception):
    """A folder that cannot be looked into now; says what is wrong and what to do."""

    def __init__(self, says: str, do: str) -> None:
        """Take both, each without a full stop."""
        super().__init__(f"{says}: {do}")
        self.says, self.do = says, do


class Refused(Exception):
    """A file that cannot be taken now; the message says why and what to do."""


@dataclass(frozen=True)
class Seen:
    """A file as it was when the folder was listed."""

    name: str
    size: int
    mtime_ns: int
    inode: int
    links: int = 1

    def is_in(self, state: os.stat_result) -> bool:
        """Whether a file has this very state."""
        of_file = (state.st_size, changed(state), state.st_ino)
        return stat.S_ISREG(state.st_mode) and of_file == (self.size, self.mtime_ns, self.inode)


class Folder:
    """An open folder."""

    def __init__(self, descriptor: int, name: str) -> None:
        """Take an open descriptor, which the giver closes, and the name to tell."""
        self.descriptor, self.name = descriptor, name

    def listed(self) -> tuple[list[Seen], list[str]]:
        """Its files and its folders that may hold exports, in order of name. Raises `OSError`."""
        files, folders = [], []
        with os.scandir(self.descriptor) as entries:
            for entry in entries:
                if entry.name.startswith(".") or entry.name.lower().endswith(UNFINISHED):
                    continue
                with suppress(FileNotFoundError):  # gone meanwhile
                    state = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(state.st_mode) and entry.name != TAKEN:
                        folders.append(entry.name)
                    elif stat.S_ISREG(state.st_mode):
                        of_file = (state.st_size, changed(state), state.st_ino, state.st_nlink)
                        files.append(Seen(entry.name, *of_file))
        return sorted(files, key=lambda seen: seen.name), sorted(folders)

    @contextmanager
    def below(self, name: str) -> Iterator["Folder"]:
        """A folder in it; an empty name is this one. Raises `OSError`."""
        if not name:
            yield self
            return
        descriptor = os.open(name, FOLDER, dir_fd=self.descriptor)
        try:
            yield Folder(descriptor, f"{self.name}/{name}")
        finally:
            os.close(descriptor)

    def copy(self, seen: Seen, target: BinaryIO) -> str | None:
        """Copy a file to one without a buffer and return its SHA-256; `None`: it is gone, or not as it was seen.

        Raises `Refused` where it cannot be read, `Unreadable` where the folder is away.
        """
        try:
            descriptor = os.open(seen.name, FILE, dir_fd=self.descriptor)
        except OSError as error:
            self._cannot_read(error)
            return None
        try:
            return _copied(descriptor, seen, target)
        except _ReadError as error:
            self._cannot_read(error.error)
            return None
        finally:
            os.close(descriptor)

    def move(self, seen: Seen) -> str:
        """Move a file into `taken/`, if it is still as it was seen; returns why that cannot be, or nothing."""
        try:
            with suppress(FileExistsError):
                os.mkdir(TAKEN, dir_fd=self.descriptor)
            with self.below(TAKEN) as taken:
                name = taken.unused(seen.name)
                if not seen.is_in(self._state(seen.name)):
                    return ""
                os.rename(seen.name, name, src_dir_fd=self.descriptor, dst_dir_fd=taken.descriptor)
                now = taken._state(name)
                if (now.st_size, changed(now)) != (seen.size, seen.mtime_ns):  # a new one came at that moment
                    back = self.unused(seen.name)
                    os.rename(name, back, src_dir_fd=taken.descriptor, dst_dir_fd=self.descriptor)
        except FileNotFoundError:
            return ""
        except OSError as error:
            if error.errno in AWAY:
                raise away(error, self.name) from None
            why = "taken/ is no folder" if error.errno in (errno.ENOTDIR, errno.ELOOP) else error.strerror
            return (
                f"was taken, but cannot be moved into taken/ ({why}): let {user()} write to the folder, "
                "or have files stay where they are"
            )
        return ""

    def unused(self, name: str) -> str:
        """A name like this one that no file here has: `x.txt`, `x-2.txt`, then one with the time."""
        stem, dot, ending = name.rpartition(".")
        if not stem:
            stem, dot, ending = name, "", ""
        found, number = name, 2
        while self._is_there(found):
            mark = f"{number}" if number <= MOST_ALIKE else f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
            found, number = f"{stem}-{mark}{dot}{ending}", number + 1
        return found

    def _is_there(self, name: str) -> bool:
        try:
            self._state(name)
        except FileNotFoundError:
            return False
        return True

    def _state(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)

    def _answers(self) -> bool:
        try:
            with os.scandir(self.descriptor) as entries:
                next(entries, None)
        except OSError:
            return False
        return True

    def _cannot_read(self, error: OSError) -> None:
        """Raise `Refused` or `Unreadable`; a file that is gone, or has become a link, is passed over."""
        if error.errno == errno.EIO and self._answers():
            raise Refused(f"cannot be read ({error.strerror}): see to the disk it lies on, or upload it again")
        if error.errno in AWAY:
            raise away(error, self.name)
        if error.errno not in (errno.ENOENT, errno.ELOOP, errno.ENXIO):
            raise Refused(f"cannot be read ({error.strerror}): let {user()} read it")


class _ReadError(Exception):
    def __init__(self, error: OSError) -> None:
        self.error = error


def _copied(descriptor: int, seen: Seen, target: BinaryIO) -> str | None:
    if not seen.is_in(os.fstat(descriptor)):
        return None
    digest, size = hashlib.sha256(), 0
    while True:
        try:
            piece = os.read(descriptor, PIECE)
        except OSError as error:  # writing raises it, too: that is another fault
            raise _ReadError(error) from None
        if not piece:
            break
        size += len(piece)
        if size > seen.size:
            return None
        digest.update(piece)
        _write(piece, seen, target)
    same = size == seen.size and seen.is_in(os.fstat(descriptor))
    return digest.hexdigest() if same else None


def _write(piece: bytes, seen: Seen, target: BinaryIO) -> None:
    try:
        rest = memoryview(piece)
        while rest:
            rest = rest[target.write(rest) :]
    except OSError as error:
        if error.errno not in FULL:
            raise
        says = f"there is no room to copy {told(seen.name)}"
        raise Unreadable(says, f"free some where {target.name} was to be written") from None


@contextmanager
def opened(folder: str) -> Iterator[Folder]:
    """Open a drop folder. Raises `Unreadable` where it is not there, is away, or lies elsewhere."""
    path = Path(folder)
    base = next(bases(path), None)
    if base is None:
        do = "choose another one, or have the operator of this machine add it to DROP_FOLDERS"
        raise Unreadable(f"{told(folder)} lies in none of the folders that may be drop folders", do)
    if is_private(Path(os.path.realpath(base)) / path.relative_to(base)):
        raise Unreadable(
            f"{told(folder)} lies among the files of the service itself, or holds them", "choose another one"
        )
    descriptor = _step_by_step(base, path)
    try:
        yield Folder(descriptor, told(folder))
    finally:
        os.close(descriptor)


def _step_by_step(base: Path, path: Path) -> int:
    """Open a folder from the drop folder on, which alone may be reached through links."""
    try:
        descriptor = os.open(base, FOLDER & ~os.O_NOFOLLOW)
        for part in path.relative_to(base).parts:
            above = descriptor
            try:
                descriptor = os.open(part, FOLDER, dir_fd=above)
            finally:
                os.close(above)
    except OSError as error:
        raise away(error, told(str(path))) from None
    return descriptor


def away(error: OSError, name: str) -> Unreadable:
    """What a folder that cannot be read says, and what to do."""
    if error.errno == errno.ENOENT:
        return Unreadable(f"there is no folder {name}", "make it or mount it, or choose another one")
    if error.errno in (errno.ENOTDIR, errno.ELOOP):
        return Unreadable(f"{name} is no folder, or leads through a link", "put a folder there, or choose another one")
    if error.errno in (errno.EACCES, errno.EPERM):
        return Unreadable(f"{name} may not be read", f"let {user()} list and read it (chmod, setfacl)")
    return Unreadable(f"{name} does not answer ({error.strerror})", "mount it again, and see that its server is up")


def changed(state: os.stat_result) -> int:
    """When a file was changed, in ns of the epoch, within 64 bits: whoever writes it may set any time."""
    return max(-LATEST_NS, min(state.st_mtime_ns, LATEST_NS))


def user() -> str:
    """Whom to give rights to."""
    return f"the user of the service (uid {os.geteuid()})"
