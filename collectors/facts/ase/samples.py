"""What was sampled between two snapshots (`manage.py collect --every 5 --for 600`): series of short intervals.

Each series has one step from each sample to the next. A step whose counters cannot be believed (the server was started
anew, a counter fell) is ABSENT there, and so is one that a sample does not have.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.base import Fact, Reading

SAMPLED = "a series of samples of a live server (manage.py collect with --every and --for)"


@dataclass(frozen=True, kw_only=True)
class SampledWaits(Fact):
    """One wait event of `monSysWaits` from sample to sample; kept where it had a wait at all."""

    COLLECTED_BY: ClassVar[str] = SAMPLED
    NOT_JUDGED: ClassVar[str] = "shown by advisor.ase.services.sampled: what tasks wait for, step by step"

    event: int
    description: str | None = None
    starts: tuple[datetime, ...]
    """By the server's clock, when each step begins."""
    seconds: tuple[float, ...]
    """How long each step is."""
    waits: tuple[Reading, ...]
    wait_seconds: tuple[Reading, ...]
    """Whole seconds; booked when a wait ends, so one step may hold more than its own seconds for a single task."""


@dataclass(frozen=True, kw_only=True)
class SampledSpinlock(Fact):
    """The spinlocks of one name of `monSpinlockActivity`, all slots together; kept where anybody grabbed one."""

    COLLECTED_BY: ClassVar[str] = SAMPLED
    NOT_JUDGED: ClassVar[str] = "shown by advisor.ase.services.sampled: which spinlocks spin, step by step"

    name: str
    starts: tuple[datetime, ...]
    seconds: tuple[float, ...]
    grabs: tuple[Reading, ...]
    spins: tuple[Reading, ...]
    waits: tuple[Reading, ...]


@dataclass(frozen=True, kw_only=True)
class SampledBlocking(Fact):
    """How many sessions others held up at the moment of each sample: a state, so the first one has a value, too."""

    COLLECTED_BY: ClassVar[str] = SAMPLED
    NOT_JUDGED: ClassVar[str] = "shown by advisor.ase.services.sampled: sessions that others held up, step by step"

    taken: tuple[datetime, ...]
    blocked: tuple[float, ...]
    longest_seconds: tuple[Reading, ...]
    """Of the session that waited longest; ABSENT where nobody did."""
