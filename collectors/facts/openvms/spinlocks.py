"""What SDA says of spinlocks and of the lock database."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.base import ABSENT, Reading
from collectors.facts.openvms.processors import OfNode

TRACE = (
    "a spinlock trace under load (ANALYZE/SYSTEM, then SPL LOAD, SPL START TRACE, SPL SHOW TRACE/SUMMARY, "
    "SPL STOP TRACE, SPL UNLOAD)"
)


@dataclass(frozen=True, kw_only=True)
class SpinlockTrace(OfNode):
    """One spinlock of SPL SHOW TRACE/SUMMARY, SPL ANALYZE or SPL SHOW COLLECT.

    `hold_percent` and `spin_percent` are per cent of the time of the trace; whether the latter is of one CPU (then it
    may be over 100) or of all of them, no source says: `SpinlockTraceRun.percent_of` where the output does.
    """

    COLLECTED_BY: ClassVar[str] = TRACE

    spinlock: str
    """`LCKMGR`, `IOLOCK8`, `MMG`, `PCB$…`, as printed."""
    command: str
    """`SHOW TRACE/SUMMARY`, `ANALYZE` or `SHOW COLLECT`."""
    cpu: int | None = None
    """Where the line is of one CPU; `None`: all of them."""
    acquires_per_second: Reading = ABSENT
    spins_per_second: Reading = ABSENT
    acquires: Reading = ABSENT
    """A count: the summary was made with /TOTALS."""
    spins: Reading = ABSENT
    hold_percent: Reading = ABSENT
    spin_percent: Reading = ABSENT
    hold_microseconds: Reading = ABSENT
    """Mean of one hold."""
    spin_microseconds: Reading = ABSENT
    """Mean of one wait."""
    callers: tuple[str, ...] = ()
    """The program counters that hold or spin most, as printed, the first few."""


@dataclass(frozen=True, kw_only=True)
class SpinlockTraceRun(OfNode):
    """One output of SPL: what it covers."""

    COLLECTED_BY: ClassVar[str] = TRACE

    command: str
    seconds: float | None = None
    unit: str | None = None
    """`rates`, `totals`, or `None` where the heading does not tell: then counts are no rates."""
    listed_from_percent: Reading = ABSENT
    """Of ANALYZE: spinlocks with less hold and spin than this are not listed (10 unless told otherwise)."""
    percent_of: str | None = None
    """What its words say that the shares are of: `one CPU` or `all CPUs`; `None`: nothing says it."""
    cpus: int | None = None
    """How many CPUs those words name: `of the time of all 16 CPUs`."""
    at: datetime | None = None
    """The time in its title."""


@dataclass(frozen=True, kw_only=True)
class SpinlockState(OfNode):
    """One spinlock of SHOW SPINLOCKS: the state of one moment, no measure of contention. Numbers are hexadecimal there.

    The counts are there only with full-checking multiprocessing.
    """

    COLLECTED_BY: ClassVar[str] = "an SDA listing of SHOW SPINLOCKS (ANALYZE/SYSTEM)"

    spinlock: str
    dynamic: bool = False
    owner_cpu: int | None = None
    ipl: Reading = ABSENT
    rank: Reading = ABSENT
    index: Reading = ABSENT
    depth: Reading = ABSENT
    cpus_waiting: Reading = ABSENT
    timeout_seconds: Reading = ABSENT
    acquire_count: Reading = ABSENT
    spin_count: Reading = ABSENT
    wait_count: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class LockSummaryItem(OfNode):
    """One figure of SDA SHOW LOCK/SUMMARY, SHOW RESOURCE/SUMMARY or LCK: label and value as printed."""

    COLLECTED_BY: ClassVar[str] = "an SDA listing of SHOW LOCK/SUMMARY (ANALYZE/SYSTEM)"

    group: str
    """The heading above it: `Lock Remaster Counters`."""
    label: str
    value: Reading = ABSENT
