"""What `sp_sysmon` prints. Counts are per sample; per cent as printed (may pass 100, may be negative: wrapped)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.base import ABSENT, Fact, Reading, known

SYSMON = 'sp_sysmon "00:10:00" -- at the busiest hour'


@dataclass(frozen=True, slots=True)
class SysmonRow:
    """One row of figures: the headings above it and its own label, then the four columns."""

    line: int
    path: tuple[str, ...]
    per_second: Reading
    per_xact: Reading
    count: Reading
    percent: Reading
    cells: tuple[tuple[str, Reading], ...] = ()
    """Column and figure, in the tables that have columns of their own (`User Busy`, `1 min`, `BucketSize`)."""


class LazyRows:
    """Holds rows, or how to get them: nobody pays for the rows of a section that nobody looks at."""

    def __get__(self, section: object, owner: type | None = None) -> tuple[SysmonRow, ...]:
        """Give the rows; make them the first time. On the class: the default, no rows."""
        if section is None:
            return ()
        rows = section.__dict__["rows"]
        if callable(rows):
            rows = section.__dict__["rows"] = rows()
        return rows  # type: ignore[no-any-return]  # what __set__ took, or what that gave

    def __set__(self, section: object, rows: "tuple[SysmonRow, ...] | Callable[[], tuple[SysmonRow, ...]]") -> None:
        """Take the rows, or a function that gives them."""
        section.__dict__["rows"] = rows


@dataclass(frozen=True, kw_only=True)
class SysmonSection(Fact):
    """Everything one section printed, row by row, whether or not a rule uses it."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    NOT_JUDGED: ClassVar[str] = "read by rules.cut: whether a report was cut before what a rule asks for"

    title: str
    rows: LazyRows = LazyRows()
    """`tuple[SysmonRow, ...]`, read from the section's text when first asked for."""


@dataclass(frozen=True, kw_only=True)
class SysmonSample(Fact):
    """The sample: when, how long, how much work."""

    COLLECTED_BY: ClassVar[str] = SYSMON

    start: datetime | None = None
    end: datetime | None = None
    seconds: float | None = None
    mode: str | None = None
    """`No Clear` (differences) or `Reset Counters` (other monitors were disturbed)."""
    counters_cleared: datetime | None = None
    committed_xacts: Reading = ABSENT
    complete: bool = True
    """Whether the End of Report line was there."""
    cpu_units: Reading = ABSENT
    """Processors' worth of time that all threads of the server used (threaded kernel only)."""
    xacts_per_cpu_unit: Reading = ABSENT
    """Committed transactions per such unit: falls when CPU is spent on something else than work."""


@dataclass(frozen=True, kw_only=True)
class EngineBusy(Fact):
    """One engine's tick utilisation, per cent. Spinning counts as busy; waiting for I/O does not."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the Engine Utilization rows (Kernel Utilization)"

    engine: int
    pool: str | None = None
    user_percent: Reading = ABSENT
    """Threaded kernel: User Busy. Process kernel: CPU Busy."""
    system_percent: Reading = ABSENT
    io_percent: Reading = ABSENT
    idle_percent: Reading = ABSENT

    @property
    def busy_percent(self) -> float | None:
        """User and system time; I/O Busy is an idle engine with I/O outstanding somewhere, so it is not counted."""
        if not known(self.user_percent):
            return None
        return self.user_percent + (self.system_percent if known(self.system_percent) else 0.0)


@dataclass(frozen=True, kw_only=True)
class ThreadBusy(Fact):
    """One thread's CPU as the operating system saw it, per cent (threaded kernel only)."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the Thread Utilization rows (Kernel Utilization, threaded kernel only)"

    thread: int
    name: str
    """What stands in the brackets: `Engine 0`, `DiskController`."""
    pool: str | None = None
    user_percent: Reading = ABSENT
    system_percent: Reading = ABSENT
    idle_percent: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class TaskSwitches(Fact):
    """Task context switches due to one cause."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "Task Context Switches Due To (Task Management)"

    cause: str
    per_second: Reading = ABSENT
    count: Reading = ABSENT
    percent: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class RowsChanged(Fact):
    """Rows inserted, updated or deleted in one way (Transaction Detail)."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the Transaction Detail rows (Transaction Profile)"

    operation: str
    """`Inserts`, `Updates`, `Deletes`; or `Data Only Locked Updates`, whose rows are counted among the updates too."""
    way: str
    """As printed: `APL Heap Table`, `DOL Direct`, `Data Only Lock Table`."""
    logging: str | None = None
    """`Fully Logged` or `Minimally Logged` from 15.7 on."""
    per_second: Reading = ABSENT
    count: Reading = ABSENT

    @property
    def allpages(self) -> bool:
        """Whether these rows live in tables with the allpages lock scheme."""
        return self.way.startswith("APL")


@dataclass(frozen=True, kw_only=True)
class LockSummary(Fact):
    """Lock requests of all kinds, and how many had to wait."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the Lock Summary (Lock Management)"

    requests: Reading = ABSENT
    requests_per_second: Reading = ABSENT
    waited: Reading = ABSENT
    waited_percent: Reading = ABSENT
    deadlocks: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class LockHashtable(Fact):
    """One of the three lock hash tables. One spinlock figure stands for all spinlocks of the table."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the rows of the lock hash tables (Lock Management)"

    table: str
    """`table`, `page and row` or `address`."""
    lookups: Reading = ABSENT
    """Counted in the sample. 16.0 prints 0 for the table hash table whatever happens there."""
    lookups_per_second: Reading = ABSENT
    chain_length: Reading = ABSENT
    """Average length of a hash chain, locks."""
    contention_percent: Reading = ABSENT
    """Share of grabs that had to wait. Negative: its 32-bit counters wrapped."""


@dataclass(frozen=True, kw_only=True)
class LockRequests(Fact):
    """Requests of one lock type. Rows that a report leaves out mean zero once the type itself is printed."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the Lock Detail rows (Lock Management)"

    lock_type: str
    """As printed: `Exclusive Page`, `Shared Address`, `Last Page Locks on Heaps`."""
    granted: Reading = ABSENT
    waited: Reading = ABSENT
    waited_percent: Reading = ABSENT
    total: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class MetadataCache(Fact):
    """Descriptors of one kind."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the rows of open objects, indexes and partitions (Metadata Cache Management)"

    kind: str
    """`object`, `index`, `partition` or `database`."""
    active: Reading = ABSENT
    max_used: Reading = ABSENT
    """Since boot."""
    free: Reading = ABSENT
    reuse_succeeded: Reading = ABSENT
    reuse_failed: Reading = ABSENT

    @property
    def configured(self) -> float | None:
        """Descriptors there are: active and free."""
        return self.active + self.free if known(self.active) and known(self.free) else None


@dataclass(frozen=True, kw_only=True)
class MetadataSpinlock(Fact):
    """Contention of one metadata spinlock."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the spinlock rows of Metadata Cache Management"

    name: str
    """`Object Manager`, `Object`, `Index`, `Index Hash`, `Partition` or `Partition Hash`."""
    contention_percent: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class CacheActivity(Fact):
    """One data cache during the sample. The spinlock figure is one for all its partitions."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the section Data Cache Management"

    name: str
    contention_percent: Reading = ABSENT
    utilization_percent: Reading = ABSENT
    """Share of all caches' searches."""
    searches: Reading = ABSENT
    searches_per_second: Reading = ABSENT
    hits: Reading = ABSENT
    misses: Reading = ABSENT
    found_in_wash: Reading = ABSENT
    grabbed: Reading = ABSENT
    """Buffers grabbed from the LRU end (Total Cache Turnover)."""
    grabbed_per_second: Reading = ABSENT
    grabbed_dirty: Reading = ABSENT
    """Of all pools together; anything above 0 means the wash is too small."""
    washed_dirty: Reading = ABSENT
    """`NOT_MEASURED` where the report says "Statistics Not Available"."""
    passed_clean: Reading = ABSENT
    cached_lru: Reading = ABSENT
    """Buffers put back to the LRU-MRU chain; `NOT_MEASURED` where none were displaced yet."""
    discarded_mru: Reading = ABSENT
    found_in_elc: Reading = ABSENT
    """Hits of a lockless data cache (16.0 SP02 on) that the engine's own cache answered."""
    hits_without_spinlock: Reading = ABSENT
    """Hits of a lockless data cache that took no spinlock."""
    large_io_requests: Reading = ABSENT
    large_io_denied: Reading = ABSENT
    """Large I/Os asked for and not done, for either reason; 0 where none was asked for."""
    large_io_without_room: Reading = ABSENT
    """Of these, those whose pool had no room for them (`Pool < Prefetch Size`), whatever lies in another pool."""
    advice: tuple[str, ...] = ()
    """What sp_sysmon itself recommends for this cache."""

    @property
    def hit_percent(self) -> float | None:
        """Share of searches that found the page; `None` without searches."""
        if not known(self.searches) or not known(self.hits) or not self.searches:
            return None
        return 100.0 * self.hits / self.searches


@dataclass(frozen=True, kw_only=True)
class SysmonAdvice(Fact):
    """One of sp_sysmon's own Tuning Recommendations."""

    COLLECTED_BY: ClassVar[str] = SYSMON
    PART: ClassVar[str] = "the Tuning Recommendations"

    area: str
    text: str
