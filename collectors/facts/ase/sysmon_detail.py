"""What `sp_sysmon` prints beside the figures that most rules judge by. Counts are per sample."""

from dataclasses import dataclass
from typing import ClassVar

from collectors.facts.ase.sysmon import SYSMON
from collectors.facts.base import ABSENT, Fact, Reading


@dataclass(frozen=True, kw_only=True)
class RunnableTasks(Fact):
    """Tasks that waited for an engine, as moving averages that know nothing of the sample (threaded kernel only)."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "Average Runnable Tasks (Kernel Utilization, threaded kernel only)"

    queue: str
    """`Global Queue` or `Engine 3`."""
    pool: str | None = None
    one_minute: Reading = ABSENT
    five_minutes: Reading = ABSENT
    fifteen_minutes: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class ControllerActivity(Fact):
    """How often the threads of one kind asked the operating system for finished I/O, and how much it had."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the controller activity (Kernel Utilization, threaded kernel only)"

    controller: str
    """`DiskController`, `NetController` or `CtlibController`."""
    polls: Reading = ABSENT
    polls_with_events: Reading = ABSENT
    polls_with_most: Reading = ABSENT
    """Polls that gave as many events as one can."""
    events: Reading = ABSENT
    events_per_poll: Reading = ABSENT
    """As printed, with three decimals."""


@dataclass(frozen=True, kw_only=True)
class RowsAffected(Fact):
    """All rows of one kind of work, whichever way they were changed. Printed even where it is zero."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the Transaction Detail rows (Transaction Profile)"

    operation: str
    """`Inserts`, `Updates`, `Data Only Locked Updates` (a part of the updates), `Deletes`, `Selects` or `All`."""
    per_second: Reading = ABSENT
    count: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class SemaphoreRequests(Fact):
    """Requests for the semaphore of a log: who waited could not write log records."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the semaphore rows (Transaction Management)"

    name: str
    """`ULC` (the user log cache, one for each task) or `Log` (the end of the transaction log)."""
    granted: Reading = ABSENT
    waited: Reading = ABSENT
    """From 16.0 on the sum of those that waited locally and globally."""
    waited_percent: Reading = ABSENT
    total: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class UserLogCacheFlushes(Fact):
    """How often user log caches were flushed to the transaction log for one reason."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the rows ULC Flushes to Xact Log (Transaction Management)"

    reason: str
    """As printed: `by Full ULC`, `by End Transaction`; `Total ULC Flushes` for all of them."""
    logging: str | None = None
    """From 16.0 on: `Fully Logged DMLs`, `Minimally Logged DMLs`, `Any Logging Mode DMLs`."""
    per_second: Reading = ABSENT
    count: Reading = ABSENT
    percent: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class LogWrites(Fact):
    """Writes of transaction log pages of all databases together."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the rows Transaction Log Writes and Alloc (Transaction Management)"

    per_second: Reading = ABSENT
    count: Reading = ABSENT
    """Writes."""
    pages: Reading = ABSENT
    """Pages that were allocated."""
    per_page: Reading = ABSENT
    """`Avg # Writes per Log Page` as printed: not always the quotient of the two rows above it."""


@dataclass(frozen=True, kw_only=True)
class LargestLogCache(Fact):
    """The most that any user log cache held: what a transaction writes between two flushes, at most."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the rows Max ULC Size During Sample (Transaction Management)"

    logging: str | None = None
    """From 15.7 on: `Fully Logged DMLs` or `Minimally Logged DMLs`."""
    size_bytes: Reading = ABSENT
    """0 in every report read, beside flushes of full caches too: then it was not measured."""


@dataclass(frozen=True, kw_only=True)
class LockEvents(Fact):
    """Deadlocks, lock promotions or lock timeouts of one kind; only the total is printed where there were none."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "deadlocks, promotions and timeouts (Lock Management)"

    event: str
    """`deadlock`, `promotion` or `timeout`."""
    kind: str
    """As printed: `Ex-Page to Ex-Table`, `Exclusive Row`, `Total Lock Promotions`."""
    count: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class WorkerRequests(Fact):
    """Requests of parallel queries for worker processes during the sample."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "requests for worker processes (Worker Process Management)"

    granted: Reading = ABSENT
    denied: Reading = ABSENT
    total: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class CachePoolActivity(Fact):
    """One buffer pool of a data cache during the sample. A pool that grabbed nothing is printed only if large."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the buffer pools of Data Cache Management"

    cache: str
    io_size_kb: float
    grabbed: Reading = ABSENT
    grabbed_dirty: Reading = ABSENT
    pages_cached: Reading = ABSENT
    """Large pools only."""
    pages_used: Reading = ABSENT
    """Of the pages cached by large I/O those that somebody read."""


@dataclass(frozen=True, kw_only=True)
class ProcedureCacheActivity(Fact):
    """The procedure cache and the statement cache. sp_sysmon prints nothing of their spinlocks."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the section Procedure Cache Management"

    requests: Reading = ABSENT
    reads_from_disk: Reading = ABSENT
    writes_to_disk: Reading = ABSENT
    removals: Reading = ABSENT
    recompilations: Reading = ABSENT
    statements_cached: Reading = ABSENT
    statements_found: Reading = ABSENT
    statements_not_found: Reading = ABSENT
    statements_dropped: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class Recompilations(Fact):
    """Plans of procedures that were made anew for one reason, or in one phase (15.7 on)."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the rows Recompilation Reasons (Procedure Cache Management)"

    reason: str
    """As printed: `Schema Change`, `Temporary Table Missing`; a phase: `Execution Phase`."""
    phase: bool = False
    """Whether it says when it was asked for, not why."""
    count: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class PageFaults(Fact):
    """Page faults of the server's process, as the operating system counted them (threaded kernel only)."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the rows Page Faults at OS (Kernel Utilization, threaded kernel only)"

    major: Reading = ABSENT
    """Faults that had to read the page from disk: the program's file, or memory that was swapped out."""
    major_per_second: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class PacketsSent(Fact):
    """Packets that were sent to clients."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the section Network I/O Management"

    packets_per_second: Reading = ABSENT
    bytes_each: Reading = ABSENT
    """Mean, as printed in whole bytes."""


@dataclass(frozen=True, kw_only=True)
class DeviceActivity(Fact):
    """I/O of one database device."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the section Disk I/O Management"

    device: str
    path: str | None = None
    reads: Reading = ABSENT
    """Other than asynchronous prefetch."""
    reads_apf: Reading = ABSENT
    writes: Reading = ABSENT
    total: Reading = ABSENT
    total_per_second: Reading = ABSENT
    semaphore_waited: Reading = ABSENT
    """Requests that waited for the device's semaphore (older releases)."""


@dataclass(frozen=True, kw_only=True)
class DelayedIO(Fact):
    """Disk I/Os that had to wait before they were asked of the operating system, for one reason."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the rows I/Os Delayed by (Disk I/O Management)"

    reason: str
    """As printed: `Disk I/O Structures`, `Server Config Limit`, `Engine Config Limit` or `Operating System Limit`."""
    count: Reading = ABSENT
    requested: Reading = ABSENT
    """All disk I/Os of the sample, those that were not delayed included."""
    outstanding: Reading = ABSENT
    """The most that the server had outstanding at a time."""
