"""All runs of an order: how much work fits into the time, then every variant with every number of processes, in turn.

Every process of every run does the same number of updates, so that user times of two variants compare, and throughput
by number of processes is that of one kind of work. Variants follow each other directly, and change places from round
to round: what drifts on the machine meets both.
"""

import os
import platform
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

from collectors.live.locklab.frequency import Frequency
from collectors.live.locklab.load import Others, moment, others
from collectors.live.locklab.run_request import RunRequest
from collectors.live.locklab.running import Run, fill, run
from collectors.live.locklab.workload import COARSE, FINE, VARIANTS, Task
from collectors.live.registry import CollectorFailed

LEAST_UPDATES, MOST_UPDATES = 20, 1_000_000
TRIAL_UPDATES = 50
TRIAL_SHARE = 0.01
"""Of the time: a trial run that took so much is long enough to plan by."""
SLACK_SECONDS = 10.0
"""Beyond five times what a run should take, until it is ended: other work may hold it up (this project)."""
OVERRUN = 2.0
"""Times the seconds asked for, after which no further round is begun."""


@dataclass(frozen=True)
class Measured:
    """What was measured, and on what."""

    machine: str
    system: str
    processors: int
    order: RunRequest
    updates: int
    """Of each process in each run."""
    runs: tuple[Run, ...]
    settings: tuple[tuple[str, str], ...]
    """Path and content of the files that say who may set the processors' clock."""
    watched: str
    """How the clock was watched: `cpufreq`, `/proc/cpuinfo`, `unknown`."""
    before: tuple[float, ...]
    """MHz of the processors before the first run, fastest first; empty: unknown."""
    after: tuple[float, ...]
    others: Others | None
    """What else ran meanwhile; `None`: unknown."""


def measure(order: RunRequest, on_progress: Callable[[str], None], frequency: Frequency | None = None) -> Measured:
    """Measure; `hear` is told what is done. Raises `CollectorFailed`. Leaves no process and no file behind."""
    clock = frequency or Frequency()
    load = moment()
    watched, settings, before = clock.how, tuple(clock.settings()), tuple(clock.now())
    try:
        with tempfile.TemporaryFile(prefix="lockwright-") as file:
            fill(file.fileno(), order.records)
            updates = _updates(file.fileno(), order, on_progress)
            runs = _rounds(file.fileno(), order, updates, clock, on_progress)
    except OSError as error:
        says = f"this machine could not be measured ({error.strerror})"
        raise CollectorFailed(says, "see that the temporary folder (TMPDIR) may be written to and has room") from None
    return Measured(
        machine=platform.node() or "this machine",
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        processors=_processors(),
        order=order,
        updates=updates,
        runs=runs,
        settings=settings,
        watched=watched,
        before=before,
        after=tuple(clock.now()),
        others=others(load, moment()),
    )


def _processors() -> int:
    """Those this process may run on: what a container leaves of the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _updates(file: int, order: RunRequest, on_progress: Callable[[str], None]) -> int:
    """How many updates of each process fill the time: from trial runs with one and with most processes."""
    most = order.processes[-1]
    on_progress("a trial")
    alone = _trial(file, order, FINE, order.processes[0])
    each = {variant: _trial(file, order, variant, most) for variant in VARIANTS}
    # a lock on the whole file lets one update through at a time, however many ask
    seconds = sum(count * each[COARSE] + max(alone, count * each[FINE]) for count in order.processes)
    fitting = order.seconds / (order.repeat * max(seconds, 1e-9))
    return max(LEAST_UPDATES, min(MOST_UPDATES, int(fitting)))


def _trial(file: int, order: RunRequest, variant: str, processes: int) -> float:
    """Seconds of the clock for one update, whoever does it, where so many processes do them."""
    updates = TRIAL_UPDATES
    while True:
        task = Task(variant, order.records, updates, order.seconds + SLACK_SECONDS)
        done = run(file, task, processes, _UNWATCHED)
        if done.clock >= TRIAL_SHARE * order.seconds or updates >= MOST_UPDATES:
            return done.clock / done.operations
        updates *= 4


def _rounds(
    file: int, order: RunRequest, updates: int, frequency: Frequency, on_progress: Callable[[str], None]
) -> tuple[Run, ...]:
    found: list[Run] = []
    started, all_runs = time.monotonic(), order.repeat * len(order.processes) * len(VARIANTS)
    most = 5 * order.seconds + SLACK_SECONDS
    for turn in range(order.repeat):
        if turn and time.monotonic() - started > OVERRUN * order.seconds:
            break
        for processes in order.processes:
            for variant in VARIANTS if turn % 2 == 0 else VARIANTS[::-1]:
                on_progress(f"run {len(found) + 1} of {all_runs}: {variant}, {processes} processes")
                found.append(run(file, Task(variant, order.records, updates, most), processes, frequency))
    return tuple(sorted(found, key=lambda one: (one.processes, one.variant)))


class _Unwatched(Frequency):
    """Trials are not watched."""

    def now(self) -> list[float]:
        """Nothing."""
        return []


_UNWATCHED = _Unwatched()
