"""Waitress in several processes over one port: `python -m advisor.operations.web_server.waitress_prefork …`.

It takes what `python -m waitress` takes. Python runs one thread at a time, so one process serves no faster on many
cores than on one. Here the application is loaded once; `WEB_PROCESSES` copies of the process then take connections
from the same socket, whichever is free. What the options and settings allow (threads, connections) holds for all
processes together. With one process this is waitress alone.
"""

import mmap
import os
import pkgutil
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import waitress
from waitress import runner
from waitress.adjustments import Adjustments
from waitress.server import BaseWSGIServer

from collectors.live.processes import die_with_parent, started

STEADY = 5.0
"""Seconds; a process that ends earlier would end again: all end, and whoever started them tells of it and tries again
later and later."""
WAIT = 0.002
"""Seconds that a process waits for one that holds fewer connections to take the next (this project's figure)."""
SHARED = ("threads", "connection_limit")
"""Options whose number is that of all processes together."""
FOLDER = "lockwright-metrics-"
"""How the folder begins in which the processes count requests; the number of the process that made it follows."""


def main(words: Sequence[str] | None = None) -> int:
    """Serve until a signal comes; returns the exit status of what cannot serve."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "advisor.config.settings")
    from django.conf import settings

    given = list(sys.argv[1:] if words is None else words)
    processes = settings.WEB_PROCESSES
    if processes == 1:
        return int(runner.run(["waitress", *given]))
    options, applications = Adjustments.parse_args(given)
    if options.pop("help") or options.pop("call") or len(applications) != 1:
        runner.show_help(sys.stderr, "waitress_prefork", "Specify one application only")
        return 1
    for name in SHARED:
        options[name] = share(int(options.get(name, getattr(Adjustments, name))), processes)
    # before the application is loaded, which reads them
    settings.WEB_THREADS = options["threads"]
    settings.CONNECTIONS_PER_ADDRESS = share(settings.CONNECTIONS_PER_ADDRESS, processes)
    signal.signal(signal.SIGTERM, _end)
    with counting_together():
        application = pkgutil.resolve_name(applications[0])
        sockets = bound(Adjustments(**options))
        for name in ("listen", "host", "port"):
            options.pop(name, None)
        held = Held(processes)

        def work(place: int) -> None:
            held.even_out(place)
            waitress.serve(application, sockets=sockets, **options)

        return serve(processes, work)


def share(number: int, processes: int) -> int:
    """What one of so many processes has of a bound, rounded up; 0, which is none, stays 0."""
    return -(-number // processes)


def bound(options: Adjustments) -> list[socket.socket]:
    """The sockets to listen at, as waitress binds them. Raises `OSError` where another program has the port."""
    with ExitStack() as opened:
        found = []
        for family, kind, protocol, address in options.listen:
            one = opened.enter_context(socket.socket(family, kind, protocol))
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            one.setblocking(False)
            one.bind(address)
            one.listen(options.backlog)
            found.append(one)
        opened.pop_all()  # all are bound: they stay open
    return found


class Held:
    """How many connections each process holds, in memory that all of them see.

    A browser keeps its connection, and the process that took it answers all it asks. Of several that are free the same
    one would take nearly all: one that holds more than another waits for a moment before it takes one more.
    """

    def __init__(self, processes: int) -> None:
        """Begin with none; made before the processes are."""
        self.counts = memoryview(mmap.mmap(-1, processes * 4)).cast("I")

    def even_out(self, place: int) -> None:
        """Have waitress in the process at `place` note what it holds, and leave the next one to who holds less."""
        ready, accept = BaseWSGIServer.readable, BaseWSGIServer.handle_accept

        def readable(server: Any) -> bool:
            self.counts[place] = len(server.active_channels)
            return bool(ready(server))

        def handle_accept(server: Any) -> None:
            if len(server.active_channels) > min(self.counts):
                time.sleep(WAIT)
            accept(server)  # none is there any more where another process took it
            self.counts[place] = len(server.active_channels)

        BaseWSGIServer.readable, BaseWSGIServer.handle_accept = readable, handle_accept


@contextmanager
def counting_together() -> Iterator[Path]:
    """Have the processes count requests in a folder, of which whichever is asked tells the sums (`prometheus_client`).

    It lies in memory where the system has such a place: a disk that is full would end who writes to a mapped file.
    Folders of services that were killed go.
    """
    memory = Path("/dev/shm")  # noqa: S108 - the folder in it is for its owner alone
    place = memory if os.access(memory, os.W_OK) else Path(tempfile.gettempdir())
    for left in place.glob(f"{FOLDER}*"):
        pid = left.name.removeprefix(FOLDER).partition("-")[0]
        if pid.isdecimal() and not started(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-", dir=place))
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def serve(processes: int, work: Callable[[int], object]) -> int:
    """Have so many processes do `work`, one that ends being replaced, until one ends at once or a signal comes.

    Each is told its place among them, from 0 on; who replaces another one has that one's.
    """
    from django.db import connections

    connections.close_all()  # two processes must not share one
    running: dict[int, tuple[int, float]] = {}
    try:
        while True:
            for place in set(range(processes)) - {place for place, _ in running.values()}:
                running[_copy(work, place)] = place, time.monotonic()
            pid, _ = os.wait()
            _, since = running.pop(pid)
            if time.monotonic() - since < STEADY:
                return 1
    finally:
        for pid in running:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        for pid in running:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _copy(work: Callable[[int], object], place: int) -> int:
    """Start a copy of this process that does `work` and nothing of what this one has to do; gives its number."""
    if pid := os.fork():
        return pid
    status = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        die_with_parent()
        work(place)
        status = 0
    except Exception:  # noqa: BLE001 - it is told here, as nobody above will
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(status)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
