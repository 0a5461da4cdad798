"""The server's own clock: it starts at a fixed moment, when it is first looked at, and may run faster than ours.

A clock that runs faster makes the pauses of a busy machine longer, too: a tenth of a second between two questions is
six of the server's at a pace of 60. Where a test compares the counts of one answer with the time of another, the clock
stands `still` between two questions for the time.
"""

import time
from datetime import datetime, timedelta

STARTS = datetime(2026, 11, 20, 10, 15, 0)  # noqa: DTZ001 - a server's clock has no zone
"""What the clock shows when the server starts: the same in each run, so that two runs differ in nothing else."""
UP_SECONDS = 7_200.0
"""How long the server was up by then. No counter of 32 bits has wrapped: none counts more than 150,000 a second."""


class Clock:
    """Time as the server tells it; `pace` of its seconds pass in one of ours."""

    def __init__(self, pace: float = 1.0, *, still: bool = False) -> None:
        """Set it. Raises `ValueError` for a pace that is not above 0.

        `still`: all that is counted is counted up to the moment that `getdate()` last showed.
        """
        if not pace > 0:
            raise ValueError(f"a clock cannot run at the pace {pace}")
        self.pace, self._still, self._shown, self._started = pace, still, 0.0, 0.0

    @property
    def seconds(self) -> float:
        """Seconds of the server since it was first asked for them."""
        return self._shown if self._still else self._passed()

    def look(self) -> datetime:
        """What `getdate()` shows: now, also where the clock stands still between two looks."""
        if self._still:
            self._shown = self._passed()
        return self.moment()

    def _passed(self) -> float:
        self._started = self._started or time.monotonic()
        return (time.monotonic() - self._started) * self.pace

    @property
    def booted(self) -> datetime:
        """When the server was started, as long as nobody restarts it."""
        return STARTS - timedelta(seconds=UP_SECONDS)

    def moment(self, seconds: float | None = None) -> datetime:
        """What the clock shows so many seconds after the start; now, where none are given."""
        return STARTS + timedelta(seconds=self.seconds if seconds is None else seconds)
