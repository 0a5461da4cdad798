"""The scheduler of the tasks by the clock: that of django-celery-beat, which goes on when the clock is set back.

It notes when a task was started last and when it is next by the wall clock, and by itself would wait for that time to
come again: hours in which nothing is audited or sent.
"""

import time
from typing import Any

from django_celery_beat.schedulers import DatabaseScheduler, ModelEntry

SET_BACK = 1.0
"""Seconds; less is the clock being kept right."""


class Entry(ModelEntry):  # type: ignore[misc]  # django-celery-beat has no types
    """A task and its times."""

    def __init__(self, *args: Any, **more: Any) -> None:
        """Read it; what was started in a time to come was started now."""
        super().__init__(*args, **more)
        self.last_run_at = self.model.last_run_at = min(self.model.last_run_at, self._default_now())


class Scheduler(DatabaseScheduler):  # type: ignore[misc]
    """All of them."""

    Entry = Entry
    clock = 0.0
    """How far the wall clock was before the one that nobody sets, at the last look."""

    def tick(self, *args: Any, **more: Any) -> float:
        """Start what is due; gives the seconds until the next look."""
        before, self.clock = self.clock, time.time() - time.monotonic()
        if self.clock < before - SET_BACK:
            self._initial_read, self._heap = True, None  # everything is read again, and planned from now
        wait: float = super().tick(*args, **more)
        return wait
