"""The service of the fleet benchmark: PostgreSQL, Redis, scheduler, workers as processes of their own; and meters."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers import ROOT, manage, postgres_server, redis

CORES = sorted(os.sched_getaffinity(0))
SERVICE, OTHERS = CORES[:2], CORES[2:4]
"""Cores of the one machine, and of the second one that the benchmark plays (and of whatever measures)."""
DURABLE = ("fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=512MB", "max_wal_size=4GB")
"""As a production database is: what is committed is on the disk."""
CELERY = ("-m", "celery", "-q", "-A", "advisor.config.celery")
WORKER = ("-l", "WARNING", "--without-gossip", "--without-mingle", "--max-tasks-per-child=200")
"""As `manage.py up` starts them."""
START_SECONDS = 300.0
BETWEEN_LOOKS = 0.5
MEGABYTE = 1 << 20


def pinned(cores: Iterable[int]) -> list[str]:
    """What goes before a command to keep it on these cores."""
    return ["taskset", "-c", ",".join(map(str, cores))]


@dataclass
class Used:
    """What a group of processes used while it was watched: seconds of a processor, and bytes of memory at the most."""

    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    largest_bytes: int = 0
    """Of its largest process."""


@dataclass
class Meter:
    """Watches processes with all their children, by name of the group."""

    groups: Mapping[str, int]
    used: dict[str, Used] = field(default_factory=dict)
    ended: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "Meter":
        """Begin."""
        self.used = {name: Used() for name in self.groups}
        self.before = {name: _cpu(pid) for name, pid in self.groups.items()}
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()
        return self

    @property
    def largest(self) -> int:
        """Bytes of the largest process of the workers."""
        return max(one.largest_bytes for name, one in self.used.items() if name not in ("database", "broker"))

    def __exit__(self, *error: object) -> None:
        """End."""
        self.ended.set()
        self.thread.join()
        for name, pid in self.groups.items():
            self.used[name].cpu_seconds = _cpu(pid) - self.before[name]

    def _watch(self) -> None:
        while not self.ended.wait(BETWEEN_LOOKS):
            for name, pid in self.groups.items():
                sizes = [_memory(one) for one in _tree(pid)]
                mine = self.used[name]
                mine.peak_bytes = max(mine.peak_bytes, sum(sizes))
                mine.largest_bytes = max(mine.largest_bytes, *sizes)


def _tree(pid: int) -> list[int]:
    """A process and all that descend from it."""
    found = [pid]
    for one in found:
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, children.read_text().split())
    return found


def _cpu(pid: int) -> float:
    """Seconds of a processor, also of children that have ended."""
    ticks = 0
    for one in _tree(pid):
        with suppress(OSError):
            ticks += sum(map(int, Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> int:
    """The share of a process in the memory it uses, with what it shares divided (PSS), in bytes."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    return 0


class Service:
    """Database and broker that stay, and workers that are started as they are wanted."""

    def __init__(self, database: int, broker: int, environment: Mapping[str, str], folder: Path) -> None:
        """Take the process ids of the first two."""
        self.environment, self.folder = environment, folder
        self.groups = {"database": database, "broker": broker}

    @contextmanager
    def working(self, auditors: int, elsewhere: int = 0) -> Iterator[dict[str, int]]:
        """Start the scheduler, the workers of `up` and so many processes that audit (here and on a second machine).

        Yields the process id of each group.
        """
        from advisor.operations.management.commands.up import LAST, WORKERS

        wanted = {
            "scheduler": (SERVICE, [*CELERY, "beat", "-l", "WARNING", "--pidfile="]),
            **{name: (SERVICE, _worker(name, queue, count)) for name, queue, count in WORKERS},
            "auditors": (SERVICE, _worker("audit", "celery", auditors)),
        }
        if elsewhere:
            wanted["second machine"] = (OTHERS, _worker("second", "celery", elsewhere))
        running: dict[str, subprocess.Popen[bytes]] = {}
        with (self.folder / "service.log").open("ab") as log:
            try:
                for name, (cores, words) in wanted.items():
                    queue = words[words.index("-Q") + 1] if "-Q" in words else ""
                    command = [*pinned(cores), *LAST.get(queue, ()), sys.executable, *words]
                    running[name] = subprocess.Popen(
                        command, cwd=ROOT, env={**os.environ, **self.environment}, stdout=log, stderr=log
                    )
                _wait_for_workers(len(wanted) - 1)
                yield {**self.groups, **{name: one.pid for name, one in running.items()}}
            finally:
                for one in running.values():
                    one.terminate()
                for one in running.values():
                    one.wait(120)


def _worker(name: str, queue: str, processes: int) -> list[str]:
    return [*CELERY, "worker", "-n", f"{name}@%h", "-Q", queue, "-c", str(processes), *WORKER]


def _wait_for_workers(count: int) -> None:
    """Wait until so many workers answer. Raises `SystemExit` where they do not."""
    from advisor.config.celery import app

    until = time.monotonic() + START_SECONDS
    while len(app.control.ping(timeout=1.0) or ()) < count:
        if time.monotonic() > until:
            raise SystemExit("the workers do not start")


@contextmanager
def service(keep: Path | None = None) -> Iterator[Service]:
    """A migrated database and a broker on the cores of the service, with Django set up in this process for them."""
    with (
        tempfile.TemporaryDirectory(prefix="lockwright-fleet-") as name,
        postgres_server(settings=DURABLE, before=pinned(SERVICE)) as database,
        redis(before=pinned(SERVICE)) as broker,
    ):
        folder = keep or Path(name)
        environment = {
            "DATABASE_URL": database.make("lockwright"),
            "BROKER_URL": broker.address,
            "RUN_DIR": str(folder),
            "SECRET_KEY": "of this benchmark alone " * 3,
            "DJANGO_SETTINGS_MODULE": "advisor.config.settings",
        }
        (folder / "spool").mkdir()
        manage("migrate", "-v0", environment=environment)
        os.environ.update(environment)
        import django

        django.setup()
        if OTHERS:
            os.sched_setaffinity(0, OTHERS)
        assert database.process
        assert broker.process
        yield Service(database.process.pid, broker.process.pid, environment, folder)
