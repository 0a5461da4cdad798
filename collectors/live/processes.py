"""Processes that end with all they started: at their time-out, when they write too much, and when we die.

A process may leave its group and outlive its parent. So each one carries a mark in its environment, which its children
inherit: who has the mark is ended. The mark names us, too: what a killed worker left behind is ended by the next one.
"""

import ctypes
import os
import pwd
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

MARK = "LOCKWRIGHT_COLLECTING"
POLITE = 2.0
"""Seconds between the request to end and the end."""
LONGEST_PAUSE = 0.2
"""Seconds between two looks at what is running."""
KILL_AT_OUR_DEATH = 1
"""PR_SET_PDEATHSIG of Linux."""
PROC = Path("/proc")


class TimedOut(Exception):
    """It ran longer than it may."""


@contextmanager
def marked(
    command: list[str],
    folder: Path,
    more: Mapping[str, str],
    most_bytes: int,
    out: IO[bytes],
    err: IO[bytes],
    stdin: int = subprocess.DEVNULL,
) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a command in `folder` with a small environment and `more`; it and its children end with the context.

    No file it writes grows beyond `most_bytes`; `stdin` is an open file it may read what only it is to know from.
    Raises `OSError` where it cannot be started.
    """
    mark = f"{_us()}.{uuid4().hex}"
    running = subprocess.Popen(  # noqa: S603 - a program the operator of this machine chose
        command,
        cwd=folder,
        env={**_environment(), **more, MARK: mark},
        stdin=stdin,
        stdout=out,
        stderr=err,
        start_new_session=True,
        umask=0o077,
        preexec_fn=_bounds(most_bytes),
    )
    try:
        yield running
    finally:
        _end(running, mark)


def watch(running: "subprocess.Popen[bytes]", seconds: float, look: Callable[[], None]) -> int:
    """Wait for the end and return the status; `look` is called now and then and may raise. Raises `TimedOut`."""
    until, pause = time.monotonic() + seconds, 0.01
    while not _has_ended(running):
        if time.monotonic() >= until:
            raise TimedOut
        look()
        time.sleep(pause)
        pause = min(LONGEST_PAUSE, pause * 2)
    with suppress(ProcessLookupError):  # children that stayed; the number is still its own: it is not yet waited for
        os.killpg(running.pid, signal.SIGKILL)
    return running.wait()


def end_left_behind() -> None:
    """End what a worker of this machine started that has died meanwhile."""
    here = _us().partition(".")[0]

    def left(mark: str) -> bool:
        place, pid, since, *_ = [*mark.split("."), "", "", ""]
        return place == here != "" and pid.isdecimal() and started(int(pid)) != since

    _kill_marked(left)


def _end(running: "subprocess.Popen[bytes]", mark: str) -> None:
    if running.returncode is None and not _has_ended(running):
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGTERM)
        until = time.monotonic() + POLITE
        while not _has_ended(running) and time.monotonic() < until:
            time.sleep(0.02)
    if running.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
    _kill_marked(mark.__eq__)
    with suppress(subprocess.TimeoutExpired):  # one that hangs in the kernel ends when the kernel lets it
        running.wait(POLITE)


def _has_ended(running: "subprocess.Popen[bytes]") -> bool:
    """Whether it has ended; it is not yet waited for, so that its number stays its own."""
    return os.waitid(os.P_PID, running.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _kill_marked(which: Callable[[str], bool]) -> None:
    """End every process whose mark is one of these, until there is none (they may start others meanwhile)."""
    until = time.monotonic() + POLITE
    while time.monotonic() < until:
        found = [pid for pid, mark in _marks() if which(mark)]
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def _marks() -> Iterator[tuple[int, str]]:
    """Every process with a mark that we may see and that has not ended."""
    start = f"{MARK}=".encode()
    for place in PROC.glob("[0-9]*"):
        with suppress(OSError):
            for one in (place / "environ").read_bytes().split(b"\0"):
                if one.startswith(start):
                    yield int(place.name), one.removeprefix(start).decode("ascii", "replace")


def _us() -> str:
    """Name this process as nobody else is: its namespace of process numbers, its number, when it started."""
    return f"{namespace()}.{os.getpid()}.{started(os.getpid())}"


def namespace() -> str:
    """Name the namespace that the numbers of our processes are of; empty where the system does not tell."""
    try:
        return f"{os.stat('/proc/self/ns/pid').st_ino}"  # noqa: PTH116 - a link of the kernel, not a path
    except OSError:
        return ""


def started(pid: int) -> str:
    """When a process started, in ticks of the kernel; empty: there is none."""
    try:
        fields = (PROC / f"{pid}" / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def _environment() -> dict[str, str]:
    """As little as programs can do with: nothing of ours, no secret."""
    try:
        home = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        home = "/"
    kept = {name: os.environ[name] for name in ("TZ",) if name in os.environ}
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8", **kept}


def _bounds(most_bytes: int) -> Callable[[], None]:
    """What the new process does to itself: bounds on what it writes, and to die with us."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    most = most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, hard)
    die = dying_with_us()

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        die()

    return bound


def dying_with_us() -> Callable[[], None]:
    """What a new process calls before it becomes another program: it is killed when we end, however we end.

    Linux alone can do that; elsewhere nothing happens. We are the thread that starts the process.
    """
    library, us = ctypes.CDLL(None), os.getpid()

    def bind() -> None:
        if hasattr(library, "prctl"):
            library.prctl(KILL_AT_OUR_DEATH, signal.SIGKILL)
            if os.getppid() != us:  # we ended before it could ask for that
                os._exit(1)

    return bind


def die_with_parent() -> None:
    """Be killed when the thread that started this process ends; nothing where the system is not Linux."""
    library = ctypes.CDLL(None)
    if hasattr(library, "prctl"):
        library.prctl(KILL_AT_OUR_DEATH, signal.SIGKILL)
