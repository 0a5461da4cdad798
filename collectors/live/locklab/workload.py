"""What one process does: updates of counters under a lock, always the same work, in whatever it locks.

An update reads a record, checks it, adds one to its counter and writes it back. So that reading and waking up do not
hide the locking, each update also sums up a block of memory twice, once while it holds the lock and once without.
"""

import fcntl
import gc
import os
import resource
import signal
import sys
import time
import zlib
from dataclasses import astuple, dataclass

RECORD_BYTES = 1024
HEAD_BYTES = 12
"""Of a record: its counter, and the sum that tells a torn one."""
BLOCK = bytes(range(256)) * 128
"""Some microseconds of work that stays in the nearest cache (this project)."""
WARM_UP = 32
"""Updates before the clock starts: the pages of a new process are copied when it first writes to them."""
COARSE, FINE = "coarse", "fine"
VARIANTS = (COARSE, FINE)
KILL_AT_OUR_DEATH = 1
"""PR_SET_PDEATHSIG of Linux."""


class Damaged(Exception):
    """A record that two processes wrote at once."""


@dataclass(frozen=True)
class Task:
    """What every process of a run does."""

    variant: str
    records: int
    updates: int
    most_seconds: float
    """Then it is ended, wherever it hangs."""


@dataclass(frozen=True)
class Done:
    """What one process did: times of the monotonic clock, CPU seconds, calls of fcntl."""

    start: float
    end: float
    user: float
    system: float
    calls: int
    blocked: int

    def line(self) -> str:
        """As it goes through the pipe."""
        return " ".join(map(repr, astuple(self)))

    @classmethod
    def of(cls, line: str) -> "Done":
        """Read it again. Raises `ValueError`."""
        start, end, user, system, calls, blocked = line.split()
        return cls(float(start), float(end), float(user), float(system), int(calls), int(blocked))


def record_of(counter: int) -> bytes:
    """The head of a record with this counter."""
    number = counter.to_bytes(8, "big")
    return number + zlib.crc32(number).to_bytes(4, "big")


def counter_of(head: bytes) -> int:
    """The counter of a record. Raises `Damaged`."""
    counter = int.from_bytes(head[:8], "big")
    if head != record_of(counter):
        raise Damaged
    return counter


def update(file: int, task: Task, seed: int, updates: int) -> tuple[int, int]:
    """Do so many updates; give the calls of fcntl, and how many of them had to wait. Raises `Damaged`, `OSError`.

    Each lock is tried without waiting first, so that waiting is counted; who has to wait calls twice. Records follow
    each other as the seed has it, the same in every variant.
    """
    lock, exclusive, at_once, free = fcntl.lockf, fcntl.LOCK_EX, fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.LOCK_UN
    coarse, blocked, state = task.variant == COARSE, 0, seed
    for _ in range(updates):
        state = (state * 1_103_515_245 + 12_345) & 0x7FFF_FFFF
        place = (state >> 8) % task.records * RECORD_BYTES
        start, length = (0, 0) if coarse else (place, RECORD_BYTES)
        try:
            lock(file, at_once, length, start)
        except (BlockingIOError, PermissionError):  # EAGAIN or EACCES, as the system likes
            blocked += 1
            lock(file, exclusive, length, start)
        counter = counter_of(os.pread(file, HEAD_BYTES, place))
        zlib.crc32(BLOCK)
        os.pwrite(file, record_of(counter + 1), place)
        lock(file, free, length, start)
        zlib.crc32(BLOCK)
    return 2 * updates + blocked, blocked


def process(file: int, task: Task, number: int, ready: int, go: int, results: int, parent: int) -> None:
    """Be one process of a run, and end. Its last word is a line in the pipe of results."""
    try:
        _alone(task.most_seconds, parent)
        update(file, task, number * 7_919 + 1, WARM_UP)
        os.write(ready, b".")
        os.read(go, 1)  # ends when the one who started us closes it
        before, start = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
        calls, blocked = update(file, task, number * 7_919 + 2, task.updates)
        end, after = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
        user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
        os.write(results, f"{Done(start, end, user, system, calls, blocked).line()}\n".encode())
    except Damaged:
        os.write(results, b"damaged\n")
    except OSError as error:
        os.write(results, f"failed {error.strerror}\n".encode("utf-8", "replace"))
    finally:
        os._exit(0)


def _alone(most_seconds: float, parent: int) -> None:
    """See to it that this process ends with the one that started it, and in time whatever it waits for."""
    gc.disable()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the one who started us, who ends us
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.setitimer(signal.ITIMER_REAL, most_seconds)
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(KILL_AT_OUR_DEATH, signal.SIGKILL)
        if os.getppid() != parent:  # it died before we asked
            os._exit(0)
