"""What else ran on this machine while it was measured, and what its host took away, from `/proc/stat`."""

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

STAT = Path("/proc/stat")
BUSY = (0, 1, 2, 5, 6)
"""user, nice, system, irq, softirq; 3 and 4 are idle, 7 is stolen by the host."""
STOLEN = 7


@dataclass(frozen=True)
class Moment:
    """CPU seconds since boot, of all processors together, and ours."""

    at: float
    busy: float
    stolen: float
    ours: float


@dataclass(frozen=True)
class Others:
    """How many processors others kept busy, and how many the host took."""

    busy: float
    stolen: float


def moment(stat: Path = STAT) -> Moment | None:
    """Read it now; `None` where this system does not tell."""
    try:
        fields = stat.read_text(encoding="ascii", errors="replace").split("\n", 1)[0].split()[1:]
        ticks = os.sysconf("SC_CLK_TCK")
        numbers = [int(field) / ticks for field in fields]
        usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        ours = sum(usage.ru_utime + usage.ru_stime for usage in usages)
        return Moment(time.monotonic(), sum(numbers[one] for one in BUSY), numbers[STOLEN], ours)
    except (OSError, ValueError, IndexError):
        return None


def others(before: Moment | None, after: Moment | None) -> Others | None:
    """What happened between two moments; `None` where one is not known or no time passed."""
    if before is None or after is None or after.at <= before.at:
        return None
    seconds = after.at - before.at
    busy = (after.busy - before.busy) - (after.ours - before.ours)
    return Others(max(0.0, busy / seconds), max(0.0, (after.stolen - before.stolen) / seconds))
