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

from collectors.live.ase.collect_request import SECOND, STOP, TOTAL, WITHOUT
from collectors.live.ase.connection import Connection, scrub
from collectors.live.identity import Identity, Silent
from collectors.live.processes import TimedOut, end_left_behind, marked, watch
from collectors.live.program import measure, said_in
from collectors.live.registry import CollectorFailed

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
    on_progress: Callable[[str], None],
    *,
    write: bool,
    asker: Asker = ASE,
    admit: Callable[[Identity], None] = lambda found: None,
    stop: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Ask, within `seconds`; give what the process says it did. Raises `CollectorFailed`; then it has ended.

    Where it does not come to its end, what was answered until then is kept: what is missing is named in `left_out`.
    `admit` is told who answers as soon as that is known; what it raises ends all of it, and nothing is kept. `stop`:
    whether its samples are to end, and the last snapshot to be taken.
    """
    end_left_behind()
    told = {"parts": connection.parts, "password": connection.password, "order": asdict(order), "write": write}
    environment = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **_passed_on(os.environ)}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _pipe(told) as stdin:
        listener = _Listener(connection, out, on_progress, folder, most_bytes, asker, admit, stop)
        try:
            with marked([*COMMAND, asker.module], folder, environment, most_bytes, out, err, stdin) as running:
                status = watch(running, seconds, listener.look)
        except TimedOut:
            listener.read()
            says = f"{connection.where} was not through within {seconds:,.0f} s, at {listener.doing}"
            return listener.salvaged(CollectorFailed(says, f"{WITHOUT}, or {TOTAL}"))
        except (Late, TooMuch) as error:
            return listener.salvaged(error)
        except OSError as error:
            says = f"the collecting process cannot be started ({error.strerror})"
            raise CollectorFailed(says, "see that Python runs on this machine") from None
        listener.read()
        try:
            return _outcome(listener, status, scrub(said_in(err), connection.password))
        except CollectorFailed as error:
            return listener.salvaged(error)


class Late(Silent):
    """It took the connection and then said nothing more."""


class TooMuch(CollectorFailed):
    """It answered with more than is taken."""


class _Listener:
    """Reads what the process prints, and knows by when it is to print the next line."""

    def __init__(
        self,
        connection: Connection,
        out: IO[bytes],
        on_progress: Callable[[str], None],
        folder: Path,
        most_bytes: int,
        asker: Asker,
        admit: Callable[[Identity], None],
        stop: Callable[[], bool],
    ) -> None:
        self.connection, self.on_progress, self.folder, self.most_bytes = connection, on_progress, folder, most_bytes
        self.called, self.admit, self.stop = asker.called, admit, stop
        self.kept: dict[str, Any] = {}
        self.out, self.at = out, 0
        self.doing, self.until = "its start", time.monotonic() + START_SECONDS
        self.last: dict[str, Any] = {}

    def read(self) -> None:
        """Take every whole line since the last look; where the process writes on is left as it is."""
        while whole := self._whole_lines():
            self.at += len(whole)
            for line in whole.splitlines():
                self._take(json.loads(line))

    def _whole_lines(self) -> bytes:
        text = os.pread(self.out.fileno(), 1 << 24, self.at)
        return text[: text.rfind(b"\n") + 1]

    def _take(self, line: dict[str, Any]) -> None:
        self.last = line
        if "doing" in line:
            self.doing, self.until = line["doing"], time.monotonic() + line["within"]
            self.on_progress(self.doing)
        if said := line.get("kept") or line.get("result"):
            if not self.kept:
                self.admit(Identity(**said["identity"]))
            self.kept = said

    def salvaged(self, error: CollectorFailed) -> dict[str, Any]:
        """What was answered before it failed, with what is missing named. Raises the failure where there is nothing."""
        if not self.kept.get("files"):
            raise error
        for one in self.kept["files"]:
            os.truncate(self.folder / one["file"], one["bytes"])  # half an answer would be taken for a whole one
        planned: list[str] = self.kept.pop("planned")
        answered = [name for one in self.kept["files"] for name in one["questions"]]
        if any(name.endswith(SECOND) for name in planned) and not any(name.endswith(SECOND) for name in answered):
            planned = [*(name for name in planned if not name.endswith(SECOND)), "the second snapshot"]
        why = f"not answered any more: {error.says}"
        left = [{"question": name, "why": why, "do": error.do} for name in planned]
        return {**self.kept, "left_out": [*self.kept["left_out"], *left]}

    def look(self) -> None:
        """Raise `CollectorFailed` when it is late or has written too much; tell it where it is to stop."""
        self.read()
        if self.stop():
            (self.folder / STOP).touch()
        if time.monotonic() > self.until:
            says = f"{self.connection.where} took the connection and then said nothing more, at {self.doing}"
            do = f"see that it is {self.called} that is not stopped or overloaded, and try again"
            raise Late(says, do)
        _, size = measure(self.folder)
        if size >= self.most_bytes:
            says = f"{self.connection.where} answered with {self.most_bytes / (1 << 20):,.0f} MB or more"
            raise TooMuch(says, WITHOUT)


def _outcome(listener: _Listener, status: int, said: str) -> dict[str, Any]:
    """What the process did. Raises `CollectorFailed`."""
    if failed := listener.last.get("failed"):
        if failed.get("silent"):
            raise Silent(failed["says"], failed["do"])
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
