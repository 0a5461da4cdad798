"""The embedded service: its processes, its lock."""

import fcntl
import os
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from collectors.live.processes import dying_with_us, started

REDIS_WAIT = 10.0
LONGEST_PAUSE = 30.0
"""Seconds before what keeps dying is started again."""
STEADY = 60.0
"""Seconds after which a process counts as steady: its next death is a first one."""
STOP_WAIT = 20.0
DYING = 10.0
"""Seconds that are waited for the processes of a supervisor that was killed."""


class Process:
    """One process of the service, started again when it ends."""

    def __init__(self, name: str, command: list[str], lock: int | None = None) -> None:
        """Take the command; nothing starts yet. `lock`: an open file that the process and its children hold, too."""
        self.name, self.command, self.lock = name, command, lock
        self.running: subprocess.Popen[bytes] | None = None
        self.pause, self.since, self.again_at = 0.5, 0.0, 0.0

    def start(self) -> None:
        """Start it, in a session of its own: a Ctrl+C reaches the supervisor alone, which stops all in order.

        It is killed when the supervisor is. Where the system cannot do that, it goes on holding the lock.
        """
        self.running = subprocess.Popen(  # noqa: S603 - our own commands
            self.command,
            start_new_session=True,
            preexec_fn=dying_with_us(),
            pass_fds=() if self.lock is None else (self.lock,),
        )
        self.since, self.again_at = time.monotonic(), 0.0

    @property
    def ended(self) -> bool:
        """Whether it is not running."""
        return self.running is None or self.running.poll() is not None

    def watch(self, say: Callable[[str], None]) -> None:
        """Start it again if it ended: at once the first time, later and later if it keeps ending."""
        if not self.ended:
            return
        now = time.monotonic()
        if not self.again_at:
            self.pause = 1.0 if now - self.since > STEADY else min(LONGEST_PAUSE, self.pause * 2)
            self.again_at = now + self.pause
            code = self.running.returncode if self.running else None
            say(f"{self.name} ended with status {code}; starting it again in {self.pause:.0f} s")
        elif now >= self.again_at:
            self.start()

    def terminate(self) -> None:
        """Ask it to end, and wait for nothing."""
        if self.running is not None and not self.ended:
            self.running.terminate()

    def stop(self) -> None:
        """End it: politely, then not."""
        if self.running is None or self.ended:
            return
        self.terminate()
        try:
            self.running.wait(STOP_WAIT)
        except subprocess.TimeoutExpired:
            self.running.kill()
            self.running.wait()


class Held(Exception):
    """Another service writes to this folder; says which, and what to do."""


def only_one(run: Path, patience: float = DYING) -> IO[str]:
    """Take the lock of this folder. It is held until the file is closed here and in every process that was given it.

    A supervisor that was killed takes its processes with it: until they have ended, `patience` seconds at most, this
    waits. Raises `Held`: two services would write to one append-only file and to one database.
    """
    file = (run / "lock").open("a+")
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            whose = file.read(20).strip()
            if whose.isdecimal() and started(int(whose)):
                file.close()
                raise Held(f"Lockwright is running already from {run} (process {whose})") from None
            if time.monotonic() > until:
                file.close()
                raise Held(_left_over(run)) from None
            time.sleep(0.1)
        else:
            file.truncate(0)
            file.write(f"{os.getpid()}\n")
            file.flush()
            return file


def _left_over(run: Path) -> str:
    """That processes hold the lock whose supervisor has ended, with their numbers where the system tells them."""
    lock, pids = (run / "lock").resolve(), list[str]()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if place.name != f"{os.getpid()}" and any(one.readlink() == lock for one in (place / "fd").iterdir()):
                pids.append(place.name)
    which = f" (processes {', '.join(sorted(pids, key=int))})" if pids else ""
    return f"parts of a service whose supervisor has ended still run from {run}{which}: end them first"
