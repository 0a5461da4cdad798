"""Programs as collectors: an executable file of a folder, called with a system's name as its one argument.

It is called in an empty folder, which is to hold its exports when it ends with status 0; what it prints becomes one
more, `output.txt`. It knows nothing of the service: its environment is `PATH`, `HOME`, `LANG`, `TZ`, the product in
`LOCKWRIGHT_PRODUCT` and the seconds it has in `LOCKWRIGHT_SECONDS`.

Who can write to such a file has what the service has. So it and its folder belong to root or to the user of the
service, and nobody else may write to them.
"""

import os
import re
import shlex
import shutil
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from collectors.live.processes import TimedOut, end_left_behind, marked, watch
from collectors.live.registry import CollectorFailed, Target

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
MOST_FILES = 10_000
"""Files and folders one call may write."""
MOST_SAID = 2000
"""Bytes kept of what it says on standard error: the last ones."""
OUTPUT = "output.txt"


@dataclass(frozen=True)
class Program:
    """One program as a collector."""

    path: Path

    @property
    def name(self) -> str:
        """The name of its file."""
        return self.path.name

    @property
    def title(self) -> str:
        """What a page calls it."""
        return f"the program {self.name}"

    @property
    def products(self) -> tuple[str, ...]:
        """Any: what it knows is between it and its operator."""
        return ()

    def collect(self, target: Target, folder: Path, seconds: float) -> None:
        """Call it. Raises `CollectorFailed`; then it and all it started have ended."""
        if refused := distrust(self.path.parent) or distrust(self.path):
            raise CollectorFailed(f"{self.path} is not called", refused)
        if not target.system or target.system.startswith("-") or not target.system.isprintable():
            do = "rename the system: its name must not begin with a hyphen, as options do, nor hold what controls"
            raise CollectorFailed(f"{target.system!r} cannot be given to a program", do)
        end_left_behind()
        with tempfile.TemporaryFile(dir=folder) as out, tempfile.TemporaryFile(dir=folder) as err:
            self._call(target, folder, seconds, out, err)
            if size_of(out):
                out.seek(0)
                with _unused(folder).open("xb") as kept:
                    shutil.copyfileobj(out, kept)

    def _call(self, target: Target, folder: Path, seconds: float, out: IO[bytes], err: IO[bytes]) -> None:
        by_hand = f"call it by hand in an empty folder: {self.path} {shlex.quote(target.system)}"
        told = {"LOCKWRIGHT_PRODUCT": target.product, "LOCKWRIGHT_SECONDS": f"{seconds:.0f}"}
        look = self._looker(target.most_bytes, folder, out, err)
        try:
            with marked([str(self.path), target.system], folder, told, target.most_bytes, out, err) as running:
                status = watch(running, seconds, look)
            look()
        except TimedOut:
            says = f"the program {self.name} did not end within {seconds:,.0f} s" + said_in(err)
            raise CollectorFailed(says, by_hand) from None
        except OSError as error:
            do = "it must begin with #! and its interpreter, or be a program of this machine"
            raise CollectorFailed(f"{self.path} cannot be started ({error.strerror})", do) from None
        if status:
            how = f"ended with status {status}" if status > 0 else f"was ended by signal {-status}"
            raise CollectorFailed(f"the program {self.name} {how}{said_in(err)}", by_hand)

    def _looker(self, most_bytes: int, folder: Path, *more: IO[bytes]) -> Callable[[], None]:
        def look() -> None:
            count, size = measure(folder)
            size += sum(map(size_of, more))
            if size >= most_bytes or count > MOST_FILES:
                much = f"{most_bytes / (1 << 20):,.0f} MB" if size >= most_bytes else f"{MOST_FILES:,} files"
                raise CollectorFailed(f"the program {self.name} wrote {much} or more", "have it write less at a time")

        return look


@dataclass(frozen=True)
class Programs:
    """What a folder holds: programs that may be called, and why others may not."""

    found: tuple[Program, ...] = ()
    refused: tuple[str, ...] = ()


def programs(folder: Path) -> Programs:
    """The programs of a folder, in order of name; none where there is no such folder."""
    try:
        paths = sorted(folder.iterdir())
    except FileNotFoundError:
        return Programs()
    except OSError as error:
        return Programs(refused=(f"{folder}: cannot be read ({error.strerror})",))
    if why := distrust(folder):
        return Programs(refused=(f"{folder}: {why}",))
    found, refused = [], []
    for path in paths:
        if path.name.startswith(".") or not (path.is_symlink() or (path.is_file() and os.access(path, os.X_OK))):
            continue
        bad = None if NAME.fullmatch(path.name) else "give it a name of letters, digits, dots and hyphens, at most 60"
        if why := bad or distrust(path):
            refused.append(f"{str(path)!a}: {why}")
        else:
            found.append(Program(path))
    return Programs(tuple(found), tuple(refused))


def distrust(path: Path) -> str:
    """Why a program or its folder is not to be trusted, as what to do about it; empty: it is."""
    try:
        state = path.lstat()
    except OSError as error:
        return f"it cannot be looked at ({error.strerror}): put it back"
    if stat.S_ISLNK(state.st_mode):
        return "it is a link: put the program itself there"
    if state.st_uid not in (0, os.geteuid()):
        return "it belongs to somebody else: give it to root (chown root)"
    if state.st_mode & 0o022:
        return "others may write to it: take that away (chmod go-w)"
    return ""


def measure(folder: Path) -> tuple[int, int]:
    """How many files and folders there are below a folder, and the bytes of the files; links are not followed."""
    count = size = 0
    for place, folders, files in os.walk(folder):
        count += len(folders) + len(files)
        for name in files:
            try:
                size += (Path(place) / name).lstat().st_size
            except OSError:  # gone meanwhile
                continue
        if count > MOST_FILES:
            break
    return count, size


def size_of(file: IO[bytes]) -> int:
    """The bytes of an open file, whoever wrote them."""
    return os.fstat(file.fileno()).st_size


def said_in(err: IO[bytes]) -> str:
    """The end of what a program said, to follow what became of it; nothing that controls a terminal."""
    err.seek(max(0, size_of(err) - MOST_SAID))
    text = err.read(MOST_SAID).decode("utf-8", "replace")
    lines = ("".join(c if c.isprintable() else " " for c in line).strip() for line in text.splitlines())
    kept = "\n".join(line for line in lines if line)
    return f": {kept}" if kept else ""


def _unused(folder: Path) -> Path:
    """A name for what was printed, unlike that of any file written."""
    path, number = folder / OUTPUT, 2
    while os.path.lexists(path):
        path, number = folder / f"{number}-{OUTPUT}", number + 1
    return path
