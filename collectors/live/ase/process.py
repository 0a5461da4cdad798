"""Starts the collecting process, listens to it, and ends it when it is late."""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from collectors.live.ase.connection import Connection, scrub
from collectors.live.kit import CollectorFailed
from collectors.live.processes import TimedOut, end_left_behind, marked, watch
from collectors.live.program import measure, said_in

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

ROOT = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "-P", "-m"]
"""`-P`: modules are looked for in our folder alone, never in the one it runs in."""
PASSED_ON = (
    "ODBCSYSINI",
    "ODBCINI",
    "ODBCINSTINI",
    "FREETDS",
    "FREETDSCONF",
    "SYBASE",
    "SYBASE_OCS",
    "LD_LIBRARY_PATH",
)
"""Of our environment: where drivers find themselves and their settings. Not `TDSDUMP`: it would log the password."""
START_SECONDS = 30.0
"""Until the process has said its first word."""


@dataclass(frozen=True)
class Asker:
    """A collecting process: its module, and what it asks as messages call it."""

    module: str
    called: str


ASE = Asker("collectors.live.ase.child", "an SAP ASE")


def run(
    connection: Connection,
    order: "DataclassInstance",
    folder: Path,
    seconds: float,
    most_bytes: int,
    hear: Callable[[str], None],
    *,
    write: bool,
    asker: Asker = ASE,
) -> dict[str, Any]:
    """Ask, within `seconds`; give what the process says it did. Raises `CollectorFailed`; then it has ended."""
    end_left_behind()
    told = {"parts": connection.parts, "password": connection.password, "order": asdict(order), "write": write}
    environment = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **_passed_on(os.environ)}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _pipe(told) as stdin:
        listener = _Listener(connection, out, hear, folder, most_bytes, asker.called)
        try:
            with marked([*COMMAND, asker.module], folder, environment, most_bytes, out, err, stdin) as running:
                status = watch(running, seconds, listener.look)
        except TimedOut:
            says = f"{connection.where} was not through within {seconds:,.0f} s, at {listener.doing}"
            raise CollectorFailed(says, "ask for less (--without), or give it more time") from None
        except OSError as error:
            says = f"the collecting process cannot be started ({error.strerror})"
            raise CollectorFailed(says, "see that Python runs on this machine") from None
        listener.read()
        return _outcome(listener, status, scrub(said_in(err), connection.password))


class _Listener:
    """Reads what the process prints, and knows by when it is to print the next line."""

    def __init__(
        self,
        connection: Connection,
        out: IO[bytes],
        hear: Callable[[str], None],
        folder: Path,
        most_bytes: int,
        called: str,
    ) -> None:
        self.connection, self.hear, self.folder, self.most_bytes = connection, hear, folder, most_bytes
        self.called = called
        self.out, self.at = out, 0
        self.doing, self.until = "its start", time.monotonic() + START_SECONDS
        self.last: dict[str, Any] = {}

    def read(self) -> None:
        """Take every whole line since the last look; where the process writes on is left as it is."""
        text = os.pread(self.out.fileno(), 1 << 24, self.at)
        whole = text[: text.rfind(b"\n") + 1]
        self.at += len(whole)
        for line in whole.splitlines():
            self.last = json.loads(line)
            if "doing" in self.last:
                self.doing, self.until = self.last["doing"], time.monotonic() + self.last["within"]
                self.hear(self.doing)

    def look(self) -> None:
        """Raise `CollectorFailed` when it is late or has written too much."""
        self.read()
        if time.monotonic() > self.until:
            says = f"{self.connection.where} took the connection and then said nothing more, at {self.doing}"
            do = f"see that it is {self.called} that is not stopped or overloaded, and try again"
            raise CollectorFailed(says, do)
        _, size = measure(self.folder)
        if size >= self.most_bytes:
            says = f"{self.connection.where} answered with {self.most_bytes / (1 << 20):,.0f} MB or more"
            raise CollectorFailed(says, "ask for less (--without)")


def _outcome(listener: _Listener, status: int, said: str) -> dict[str, Any]:
    """What the process did. Raises `CollectorFailed`."""
    if failed := listener.last.get("failed"):
        raise CollectorFailed(failed["says"], failed["do"], again=failed.get("again", True))
    result: dict[str, Any] | None = listener.last.get("result")
    if status or result is None:
        how = f"ended with status {status}" if status >= 0 else f"was ended by signal {-status}"
        says = f"the collecting process {how} at {listener.doing}{said}"
        raise CollectorFailed(says, "update the ODBC driver; if it stays, tell who maintains Lockwright")
    return result


@contextmanager
def _pipe(told: Mapping[str, Any]) -> Iterator[int]:
    """A pipe with the order in it, open for reading; small enough to fit whole."""
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "wb") as stream:
            stream.write(json.dumps(told).encode())
        yield reading
    finally:
        os.close(reading)


def _passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: environment[name] for name in PASSED_ON if name in environment}
