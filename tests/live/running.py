"""Runs the server of `tests.live` in a process of its own, for as long as a `with` lasts.

In another process, because pyodbc holds Python's lock while it cleans up: a server in the process of its client may
never answer the last goodbye.
"""

import json
import select
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.live.fork_server import Forked
from tests.live.login import PASSWORD, USER
from tests.servers import KINDLY_SECONDS, PATIENCE

ROOT = Path(__file__).resolve().parent.parent.parent
HOST = "127.0.0.1"
DRIVER_ASKS = frozenset(("select @@spid",))
DRIVER_LOOKS_UP = "sp_datatype_info"
"""What FreeTDS sends at each connect before anything is asked of it."""


class CannotStart(RuntimeError):
    """The server did not come up; the message is what it said."""


@dataclass(frozen=True)
class Serving:
    """A server that runs: where, who may log in, and what it was sent."""

    port: int
    release: str
    user: str
    password: str
    host: str
    _record: Path
    _process: Forked

    def requests(self) -> list[dict[str, Any]]:
        """Give what was sent to it so far, oldest first: `spid`, `kind`, `text`, `seconds`, and more by the kind.

        Kinds: `login` (with `application`, `password`: `clear` or `encrypted`), `password in clear`, `batch`,
        `batch with parameters`, `procedure call`, `prepared statement`, `request`, `cancel`, `logout`, `gone`,
        `not a login`.
        """
        lines = self._record.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.endswith("}")]

    def batches(self) -> list[str]:
        """Give the batches that were sent, oldest first."""
        return [one["text"] for one in self.requests() if one["kind"] == "batch"]

    def asked(self) -> list[str]:
        """Give the batches but for those that FreeTDS sends of itself at each connect."""
        return [one for one in self.batches() if one.strip() not in DRIVER_ASKS and not one.startswith(DRIVER_LOOKS_UP)]

    def connection(self, **more: str) -> str:
        """Write a connection string for FreeTDS; `more` are further parts of it, by name, or other values of these."""
        parts = {
            "DRIVER": "{FreeTDS}",
            "SERVER": self.host,
            "PORT": str(self.port),
            "UID": self.user,
            "PWD": "{" + self.password.replace("}", "}}") + "}",
            "TDS_Version": "5.0",
            "ClientCharset": "UTF-8",
            **more,
        }
        return "".join(f"{name}={value};" for name, value in parts.items())

    def kill(self) -> None:
        """End it at once, as a machine that loses its power."""
        self._process.kill()
        self._process.wait(PATIENCE)


@contextmanager
def serving(
    release: str = "16.0",
    *,
    faults: Sequence[str] = (),
    pace: float = 1.0,
    still: bool = False,
    user: str = USER,
    password: str = PASSWORD,
    port: int = 0,
) -> Iterator[Serving]:
    """Run a server of this release (`15.7` or `16.0`) on the loopback and yield it. Raises `CannotStart`.

    `faults` are names of `tests.live.ase.faults`, some with a value: `("missing-table=monLocks", "no-sa-role")`.
    `pace`: how many seconds of the server pass in one of ours (`getdate()`, counters, `waitfor`, sp_sysmon).
    `still`: its counters are those of the moment that `getdate()` last showed.
    """
    with tempfile.TemporaryDirectory(prefix="lockwright-ase-") as folder:
        record, errors = Path(folder) / "record", Path(folder) / "errors"
        record.touch()
        command = ["--release", release, "--port", str(port), "--record", str(record)]
        command += ["--user", user, "--pace", str(pace), *(["--still"] if still else [])]
        command += [word for fault in faults for word in ("--fault", fault)]
        with errors.open("w+") as log:
            process = Forked(command, log)
            try:
                yield Serving(_port(process, password, errors), release, user, password, HOST, record, process)
            finally:
                _stop(process)


def _port(process: Forked, password: str, errors: Path) -> int:
    """Tell the server its password and wait for the port it prints. Raises `CannotStart`."""
    with suppress(BrokenPipeError):  # it ended already, and says why
        process.stdin.write(password + "\n")
        process.stdin.flush()
    ready = select.select([process.stdout], [], [], PATIENCE)[0]
    said = process.stdout.readline().strip() if ready else ""
    if not said.isdigit():
        _stop(process)
        raise CannotStart(f"the server said {said!r}: {errors.read_text()[-2000:]}")
    return int(said)


def _stop(process: Forked) -> None:
    """End it and close its pipes."""
    process.terminate()
    try:
        process.wait(KINDLY_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(PATIENCE)
    for pipe in (process.stdin, process.stdout):
        with suppress(BrokenPipeError):
            pipe.close()
