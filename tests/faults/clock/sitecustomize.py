"""Loaded by Python at the start of every process of the service: its wall clock is what the file `CLOCK` says.

The file holds seconds (`+0`, `-10800`) and is read all the time, so the clock is set while the process runs. The
monotonic clock stays the real one, as it does when an operator sets the clock of a machine.
"""

import os
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import time_machine

CLOCK = Path(os.environ["CLOCK"])
LOOK = 0.02


class Clock:
    """How far this process's wall clock is set off; a forked one has it from its parent."""

    seconds = 0.0
    travel: "time_machine.travel | None" = None

    def follow(self) -> None:
        """Set it whenever the file says something new."""
        while True:
            if (seconds := float(CLOCK.read_text())) != self.seconds:
                self.set(seconds)
            time.sleep(LOOK)

    def set(self, seconds: float) -> None:
        """Set it off the real clock."""
        if self.travel is not None:
            self.travel.stop()
        self.seconds = seconds
        self.travel = time_machine.travel(datetime.now(UTC) + timedelta(seconds=seconds), tick=True)
        self.travel.start()

    def begin(self) -> None:
        """Follow the file in a thread, which a forked process needs one of its own of."""
        threading.Thread(target=self.follow, daemon=True).start()


clock = Clock()
os.register_at_fork(after_in_child=clock.begin)
clock.begin()
