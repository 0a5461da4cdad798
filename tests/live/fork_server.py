"""Starts servers of `tests.live` as forks of one process that has loaded all they need: importing it costs more.

`python -m tests.live.fork_server` takes on standard input, which is a Unix socket, the words of a command line with
what is to be standard input, output and error, and answers with the number of the process. It ends with who started it.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parent.parent.parent


class Forked:
    """A server: what `subprocess.Popen` would be of it, as far as it is used here."""

    def __init__(self, words: Sequence[str], errors: IO[Any]) -> None:
        """Start it with these words of a command line."""
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        line = _fork_server()
        socket.send_fds(line, [json.dumps(list(words)).encode()], [theirs_in, theirs_out, errors.fileno()])
        os.close(theirs_in)
        os.close(theirs_out)
        self.stdin, self.stdout = os.fdopen(ours_in, "w"), os.fdopen(ours_out)
        try:
            self._handle: int | None = os.pidfd_open(int(line.recv(100)))
        except ProcessLookupError:  # it ended already
            self._handle = None

    def terminate(self) -> None:
        """Ask it to end."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self._send(signal.SIGKILL)

    def wait(self, timeout: float) -> None:
        """Wait for its end. Raises `subprocess.TimeoutExpired`."""
        if self._handle is None:
            return
        if not select.select([self._handle], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("tests.live", timeout)
        os.close(self._handle)
        self._handle = None

    def _send(self, what: signal.Signals) -> None:
        if self._handle is not None and not select.select([self._handle], [], [], 0)[0]:
            signal.pidfd_send_signal(self._handle, what)


@cache
def _fork_server() -> socket.socket:
    """The line to the process that forks them, of this process."""
    ours, theirs = socket.socketpair()
    running = subprocess.Popen([sys.executable, "-m", "tests.live.fork_server"], cwd=ROOT, stdin=theirs.fileno())
    theirs.close()

    def end() -> None:
        ours.close()
        running.wait()

    atexit.register(end)
    return ours


def _reap() -> None:
    """Wait for those that have ended, so that nobody is left behind and their time is counted."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def main() -> None:
    """Fork one for each command line, until the socket is closed."""
    from tests.live.__main__ import main as serve

    line = socket.socket(fileno=os.dup(0))
    signal.signal(signal.SIGCHLD, lambda *_: _reap())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ends by its line
    while True:
        order, descriptors, _, _ = socket.recv_fds(line, 1 << 16, 3)
        if not order:
            return
        number = os.fork()
        if number:
            line.sendall(str(number).encode())
            for one in descriptors:
                os.close(one)
            continue
        status = 1
        try:
            line.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for place, one in enumerate(descriptors):
                os.dup2(one, place)
                os.close(one)
            sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
            sys.argv = ["tests.live", *json.loads(order)]
            serve()
            status = 0
        except SystemExit as end:
            status = 0 if end.code is None else 1
        except BaseException:  # noqa: BLE001 - whatever it is, it is told where its output goes
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)


if __name__ == "__main__":
    main()
