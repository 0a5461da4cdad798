"""One run: so many processes do the same work at the same time, and afterwards not one update may be missing.

The file has no name, so nothing is left behind whatever ends us. Processes die with the one that started them.
"""

import contextlib
import errno
import os
import select
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from collectors.live.locklab.frequency import Frequency, Watch
from collectors.live.locklab.workload import (
    HEAD_BYTES,
    RECORD_BYTES,
    WARM_UP,
    Damaged,
    Done,
    Task,
    counter_of,
    process,
    record_of,
)
from collectors.live.registry import CollectorFailed

FIRST_LOOK, NEXT_LOOK = 0.02, 0.1
"""Seconds after which the clock of the processors is looked at: reading it takes time itself."""
READY_SECONDS = 30.0
GRACE_SECONDS = 5.0
"""Processes end themselves in time; so long after that they are ended from here."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
LOST = "use a local file system for the temporary folder (TMPDIR): on this one record locks do not exclude each other"


@dataclass(frozen=True)
class Run:
    """What all processes of one run did together. Seconds; frequencies in MHz, `None`: unknown."""

    variant: str
    processes: int
    user: float
    system: float
    clock: float
    operations: int
    calls: int
    blocked: int
    frequency: tuple[float, float, float] | None = None
    """Mean, lowest, highest."""


def fill(file: int, records: int) -> None:
    """Write every counter as zero."""
    record = record_of(0).ljust(RECORD_BYTES, b"\0")
    at = 0
    for first in range(0, records, 1024):
        at += os.pwrite(file, record * min(1024, records - first), at)
    if at != records * RECORD_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def counted(file: int, records: int) -> int:
    """The sum of all counters. Raises `CollectorFailed` where a record was torn."""
    try:
        return sum(counter_of(os.pread(file, HEAD_BYTES, number * RECORD_BYTES)) for number in range(records))
    except Damaged:
        raise CollectorFailed("a record was written by two processes at once", LOST) from None


def run(file: int, task: Task, processes: int, frequency: Frequency) -> Run:
    """Run it once. Raises `CollectorFailed`; no process is left then."""
    before = counted(file, task.records)
    watch = Watch(frequency)
    done = [_done(line) for line in _lines(file, task, processes, watch.look)]
    if len(done) != processes:
        says = f"{processes - len(done)} of {processes} processes did not end within {task.most_seconds:.0f} s"
        raise CollectorFailed(says, "measure when less else runs here, or with fewer processes")
    lost = processes * (task.updates + WARM_UP) - (counted(file, task.records) - before)
    if lost:
        raise CollectorFailed(f"{lost:,} updates of {task.variant} locking were lost", LOST)
    clock = max(one.end for one in done) - min(one.start for one in done)
    user, system = sum(one.user for one in done), sum(one.system for one in done)
    return Run(
        variant=task.variant,
        processes=processes,
        user=user,
        system=system,
        clock=clock,
        operations=processes * task.updates,
        calls=sum(one.calls for one in done),
        blocked=sum(one.blocked for one in done),
        frequency=watch.of_busy((user + system) / clock if clock > 0 else 1.0),
    )


def _done(line: str) -> Done:
    if line == "damaged":
        raise CollectorFailed("a record was written by two processes at once", LOST)
    if line.startswith("failed "):
        raise CollectorFailed(f"locking failed ({line.removeprefix('failed ')})", LOST)
    return Done.of(line)


def _lines(file: int, task: Task, processes: int, look: Callable[[], None]) -> list[str]:
    """Start the processes together, look now and then, and give what each of them said."""
    ready, go, results = os.pipe(), os.pipe(), os.pipe()
    ends = [*ready, *go, *results]
    try:
        with _started(file, task, processes, (ready[1], go[0], results[1]), (ready[0], go[1], results[0])):
            for end in (ready[1], go[0], results[1]):
                ends.remove(end)  # first: an interruption between the two must not close it twice
                os.close(end)
            _wait_for(ready[0], results[0], processes)
            ends.remove(go[1])
            os.close(go[1])
            return _heard(results[0], task.most_seconds + GRACE_SECONDS, look).decode("utf-8", "replace").splitlines()
    finally:
        for end in ends:
            os.close(end)


@contextmanager
def _started(
    file: int, task: Task, processes: int, theirs: tuple[int, int, int], ours: Sequence[int]
) -> Iterator[None]:
    """Start them; whatever happens, none of them is left."""
    parent, pids = os.getpid(), list[int]()
    try:
        for number in range(processes):
            # a signal that met the child before it is deaf to it would send it back into our code
            usual = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
            try:
                pid = os.fork()
                if pid == 0:
                    with contextlib.suppress(BaseException):
                        for end in ours:
                            os.close(end)
                        process(file, task, number, *theirs, parent)
                    os._exit(1)
                pids.append(pid)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, usual)
        yield
    except BlockingIOError:
        raise CollectorFailed(f"no {processes} processes can be started", "measure with fewer (--processes)") from None
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in pids:
            os.waitpid(pid, 0)


def _wait_for(ready: int, results: int, processes: int) -> None:
    """Wait until every process is ready, or one of them has failed already."""
    until, seen = time.monotonic() + READY_SECONDS, 0
    while seen < processes and (left := until - time.monotonic()) > 0:
        readable = select.select([ready, results], [], [], left)[0]
        said = os.read(ready, processes) if ready in readable else b""
        if readable and not said:
            return
        seen += len(said)


def _heard(results: int, seconds: float, look: Callable[[], None]) -> bytes:
    """Everything that is said until the last process has ended, or the time is over."""
    found, pause, until = b"", FIRST_LOOK, time.monotonic() + seconds
    while time.monotonic() < until:
        if not select.select([results], [], [], pause)[0]:
            look()
            pause = NEXT_LOOK
        elif said := os.read(results, 65_536):
            found += said
        else:
            break
    return found
