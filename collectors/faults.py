"""A fault in a reader, or in a step after it, ends that one report or that one system; everything else goes on.

What is no fault of theirs goes through: the disk, the memory, the time that a worker has.
"""

import traceback
from pathlib import PurePath
from types import TracebackType
from typing import Self

from collectors.registry import NotThisReport

OURS = "a fault of Lockwright"
"""In every problem that tells of one."""
LONGEST = 160
"""Characters of an error's own text: it may quote the export."""


def is_fault(error: Exception) -> bool:
    """Whether the code that raised it is to blame; else it must end the whole work.

    Celery interrupts a task with an exception, too. It is told by its name, for collectors run without Celery.
    """
    interrupted = any(one.__name__ == "SoftTimeLimitExceeded" for one in type(error).__mro__)
    return not interrupted and not isinstance(error, OSError | MemoryError | NotThisReport)


class Guarded:
    """What is done under it may raise: a fault is kept as `error` and ends the block, anything else goes through."""

    def __init__(self) -> None:
        """Nothing was raised yet."""
        self.error: Exception | None = None

    def __enter__(self) -> Self:
        """Begin the block."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> bool:
        """Keep a fault."""
        if not isinstance(error, Exception) or not is_fault(error):
            return False
        self.error = error
        return True


def told(error: Exception) -> str:
    """What was raised and where, for whoever mends it: `ValueError in sysgen.py:205: could not convert …`."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    said = " ".join(str(error).split())[:LONGEST]
    return f"{type(error).__name__}{where}" + (f": {said}" if said else "")
