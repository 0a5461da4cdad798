"""Bounds of time for what must not take quadratic time: by the processor time of this process, and by how fast it is.

Neither other programs nor a slow machine make such a test fail; what hangs does.
"""

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

YARDSTICK_SECONDS = 0.1
"""What the yardstick takes on the machine on which the bounds were chosen."""
ROOM = 4


@contextmanager
def no_longer_than(seconds: float) -> Iterator[None]:
    """Fail where what is done in it takes longer than this on such a machine, with room."""
    began = time.process_time()
    yield
    took = time.process_time() - began
    if took > seconds:
        slower = max(1.0, _yardstick() / YARDSTICK_SECONDS)
        assert took <= seconds * slower * ROOM, f"{took:.1f} s of processor time, on one {slower:.1f} times slower"


def _yardstick() -> float:
    """Seconds of processor time for some work on texts."""
    began = time.process_time()
    for number in range(60_000):
        re.search(r"(\w+) +(\d+)$", f"a line of a report, number {number}")
    return time.process_time() - began


def work_of(do: Callable[[], object]) -> int:
    """How many instructions of Python `do` takes: the same on every machine, whatever else it is at."""
    count = 0

    def note(frame: FrameType, event: str, given: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        do()
    finally:
        sys.settrace(before)
    return count
