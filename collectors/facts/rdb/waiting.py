"""Who waited for what, and who held it: logs of RMU/SHOW STATISTICS, and RMU/SHOW LOCKS."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.base import ABSENT, Reading
from collectors.facts.rdb.database import OfDatabase

LOGS = (
    "a stall, lock timeout or deadlock log of the busy hour (RMU/SHOW STATISTICS/NOHISTOGRAM/TIME=1/NOINTERACTIVE"
    "/LOCK_TIMEOUT_LOG=TIMEOUT.LOG/DEADLOCK_LOG=DEADLOCK.LOG, the root file and /UNTIL)"
)


@dataclass(frozen=True, kw_only=True)
class EventLog(OfDatabase):
    """One log: which kind, from when to when, how many events."""

    COLLECTED_BY: ClassVar[str] = LOGS

    kind: str
    """`stall`, `lock timeout`, `deadlock` or `dbkey`; of a screen `lock timeout history` or `deadlock history`: the
    last event of each process, with those since its attach before it as `missed`."""
    created: datetime | None = None
    start: datetime | None = None
    end: datetime | None = None
    logged: int = 0
    missed: int = 0
    """Events that the log itself says it lost: the true count is `logged` + `missed`."""
    midnights: int = 0
    """How often the time of day went over midnight."""
    resources_left_out: int = 0
    """Different resources beyond those kept as `WaitGroup`."""


@dataclass(frozen=True, kw_only=True)
class WaitGroup(OfDatabase):
    """All waits of one log or screen for one resource in one mode: what was waited for, never who held it."""

    COLLECTED_BY: ClassVar[str] = LOGS

    kind: str
    """As in `EventLog`, or `stall messages` for a screen: a moment, not a count over time."""
    resource_kind: str
    """`page`, `record`, `logical area`, `snapshot`, `nowait`, `freeze`, `quiet`, `client`, `io`, … or `other`."""
    resource: str
    """`5:751`; with the text of the reason where the kind is `other`."""
    mode: str | None = None
    logged: int = 0
    missed: int = 0
    processes: int = 0
    pids: tuple[str, ...] = ()
    """The PIDs of the first of them, in order; not of a screen."""
    longest_seconds: Reading = ABSENT
    """Only logs and screens of stalls have it."""
    seconds: Reading = ABSENT
    """All stalls of the group together, where each has its length."""
    first: datetime | None = None
    last: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class HeldLock(OfDatabase):
    """One line of RMU/SHOW LOCKS: a process that owns, blocks or waits for a resource."""

    COLLECTED_BY: ClassVar[str] = "RMU/SHOW LOCKS/MODE=CULPRIT"

    resource: str
    """`page 533`, as printed behind `Resource:`."""
    role: str
    """`owner`, `blocker`, `waiting` or `requestor`."""
    pid: str
    process: str | None = None
    lock_id: str | None = None
    requested: str | None = None
    granted: str | None = None
    """`NL`: never granted."""
    system: str | None = None
    """`System ID`, hexadecimal: another one is another node of the cluster, or the same one after a boot."""
    display: str | None = None
    """`BLOCKING`, `CULPRIT`, `WAITING`, `LOCKS`."""
    below_title: int = 0
    """Lines from the title of its listing down to it; 0 without one."""

    @property
    def listing(self) -> int:
        """The line of its listing's title: a file may hold several, each of another moment; 0 without one."""
        return self.source.first - self.below_title if self.below_title else 0

    @property
    def by_design(self) -> bool:
        """Whether Rdb holds this lock in conflict for ever on purpose: there is no wait to report.

        vendor: RMU help, Show Locks, names the `termination` lock as one of them.
        """
        return self.resource.strip().lower().startswith("termination")


@dataclass(frozen=True, kw_only=True)
class NoLocksShown(OfDatabase):
    """RMU/SHOW LOCKS found nothing: with partitioned lock trees that is no proof of none."""

    COLLECTED_BY: ClassVar[str] = "RMU/SHOW LOCKS/MODE=CULPRIT"

    partitioning_warned: bool = False
