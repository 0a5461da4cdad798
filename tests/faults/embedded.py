"""The embedded service as `manage.py up` starts it (SQLite, a private Redis), for tests that kill all of it."""

import os
import re
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.faults.plant import Part, Plant
from tests.servers import eventually

FIRST = re.compile(r"First login: (\S+)  password: (\S+)  .*\n")


class Embedded(Plant):
    """A folder with everything; `up` starts it."""

    first_said = ""
    """What it said at the first start, with the first login; a later start adds to what it `said`."""

    def __init__(self, folder: Path, static: Path, **more: str) -> None:
        """Take the folder, and the run folder `static` with static files to copy; nothing starts yet."""
        super().__init__(folder, "", "", **more)
        shutil.copytree(static, folder, dirs_exist_ok=True)
        for name in ("BROKER_URL", "SECRET_KEY", "SITE_URL", "DATABASE_URL"):
            del self.environment[name]
        self.listen = f"127.0.0.1:{self.port}"

    def up(self) -> Part:
        """Start it, and wait until it has said its last word."""
        before = self.said()
        command = ["manage", "up", "--listen", self.listen, "--no-examples"]
        part = self.start("up", *command)
        eventually(
            lambda: (
                part.process.poll() is not None or ("Lockwright is at" in self.said()[len(before) :] and self.answers())
            ),
            "up is up",
        )
        return part

    def said(self) -> str:
        """What it has said since the first start."""
        log = self.folder / "up.log"
        return log.read_text(errors="replace") if log.exists() else ""

    def living(self) -> dict[int, str]:
        """The processes of the service and what they start, by number, with their commands; not the test's shell."""
        found = {}
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                environment = (place / "environ").read_bytes().split(b"\0")
                command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                ours = f"RUN_DIR={self.folder}".encode() in environment or str(self.folder) in command
                ours = ours or (place / "cwd").readlink().is_relative_to(self.folder)
                if ours and "tests.faults.inside" not in command and command:
                    found[int(place.name)] = command
        return found

    def end(self) -> None:
        """End it as an operator does; what is left after that, at once."""
        for part in self.parts:
            if part.process.poll() is None:
                part.stop()
        for pid in self.living():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        super().end()


@contextmanager
def embedded(static: Path, **more: str) -> Iterator[Embedded]:
    """An embedded service in a folder with a short name: its socket has one. `static` is the fixture of this name."""
    with tempfile.TemporaryDirectory(prefix="lw-", ignore_cleanup_errors=True) as folder:
        plant = Embedded(Path(folder), static, **more)
        try:
            yield plant
        finally:
            plant.end()
