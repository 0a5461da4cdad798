"""What is to be measured: how many processes, for how long, on how many records; and the bounds of it all."""

import os
import re
from dataclasses import dataclass

from collectors.live.registry import CollectorFailed

MOST_PROCESSES = 64
"""This project: a whole-file lock is long past its peak there, and each process takes memory."""
MOST_SECONDS = 600.0
MOST_RECORDS = 65_536
"""With records of 1,024 bytes a file of 64 MB."""
MOST_REPEATS = 20
DEFAULT_SECONDS, DEFAULT_RECORDS, DEFAULT_REPEAT = 10.0, 1_000, 3
LEAST_SECONDS = 0.05
STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Six numbers up to 8: with fewer no law of scaling is believed."""


@dataclass(frozen=True)
class RunRequest:
    """What is to be measured."""

    processes: tuple[int, ...]
    seconds: float = DEFAULT_SECONDS
    """Of all runs together, about."""
    records: int = DEFAULT_RECORDS
    repeat: int = DEFAULT_REPEAT
    """Runs of each variant with each number of processes."""


def request_of(processes: str, seconds: float, records: int, repeat: int) -> RunRequest:
    """Read an order as the command line gives it. Raises `CollectorFailed` for what is not within bounds."""
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise CollectorFailed(f"{seconds:g} s of measuring", f"give {LEAST_SECONDS:g} to {MOST_SECONDS:g} seconds")
    if not 1 <= records <= MOST_RECORDS:
        raise CollectorFailed(f"{records} records", f"give 1 to {MOST_RECORDS:,}")
    if not 1 <= repeat <= MOST_REPEATS:
        raise CollectorFailed(f"{repeat} runs of each", f"give 1 to {MOST_REPEATS}")
    return RunRequest(_numbers(processes) if processes else usual(os.cpu_count() or 1), seconds, records, repeat)


def usual(processors: int) -> tuple[int, ...]:
    """From one process to twice as many as there are processors, at least to 8."""
    return tuple(step for step in STEPS if step <= max(8, 2 * processors))


def _numbers(text: str) -> tuple[int, ...]:
    """`1-8` or `1,2,4`, or both: each number once, rising."""
    found: set[int] = set()
    for part in text.split(","):
        read = re.fullmatch(r"\s*([0-9]{1,4})(?:-([0-9]{1,4}))?\s*", part)
        first, last = (int(read[1]), int(read[2] or read[1])) if read else (0, 0)
        if not 1 <= first <= last <= MOST_PROCESSES:
            raise CollectorFailed(
                f"{part.strip()!a} processes", f"give numbers from 1 to {MOST_PROCESSES}, as 1-8 or 1,2,4"
            )
        found.update(range(first, last + 1))
    return tuple(sorted(found))
