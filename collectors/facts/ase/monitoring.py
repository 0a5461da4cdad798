"""Monitoring tables of SAP ASE (MDA tables): spinlocks, caches, engines, waits. Each fact is one row of one table.

A fact is called as its table is. Columns and types: knowledge/ase-formats.md, 2.2. Totals have `COUNTERS`, see
`collectors.facts.counted`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.ase.snapshots import twice
from collectors.facts.base import ABSENT, Fact, Reading, known
from collectors.facts.counted import Counted, Width

QUEUES = ("Sched Q", "global sched", "syb_default_pool", "Deferred Queue")
"""Queues of the threaded kernel: very many spins with a low share of waits are normal for them (knowledge 5)."""
ROUNDED_SHARES = 3.0
"""By how many points four shares, each rounded to a whole per cent or cut to it, may miss 100 together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MonSpinlockActivity(Counted, Fact):
    """One spinlock, or one of several of the same name; from `monSpinlockActivity` or the rows of `sysmonitors`."""

    COLLECTED_BY: ClassVar[str] = twice("monSpinlockActivity")
    KEY: ClassVar[tuple[str, ...]] = ("instance", "name", "slot")
    COUNTERS: ClassVar[Mapping[str, Width]] = {"grabs": "bigint", "spins": "bigint", "waits": "bigint"}

    name: str
    """As printed: `fglockspins`, `Resource->rdesmgr_spin`, `default data cache`."""
    slot: int | None = None
    """Which of several of one name (a cache's partition, an engine's queue); from 15.7 SP100 on."""
    instance: int | None = None
    grabs: Reading = ABSENT
    """Attempts to take it, those that waited included."""
    spins: Reading = ABSENT
    """Turns of the loop while waiting: what the waiting cost the CPU."""
    waits: Reading = ABSENT
    """Grabs that did not get it at once."""
    contention_percent: Reading = ABSENT
    """The table's own column: since boot, whatever the interval."""
    rows: int = 1
    """How many rows of one name this is the sum of, where no slot tells them apart."""
    nth: int = 0
    """Where no slot tells rows of one name apart: which of them it is in its snapshot, counted from 0. It says nothing
    of another snapshot: nobody promises an order."""
    wide: bool = True
    """Whether the counters are 64 bits wide. `False`: read from `sysmonitors`, whose counters are 32 bits, printed
    signed, and wrap, whatever `COUNTERS` says; a sum of such rows is the sum of them taken as unsigned."""

    @property
    def waited_percent(self) -> float | None:
        """Share of the grabs that waited, per cent; `None` without grabs."""
        return 100.0 * self.waits / self.grabs if known(self.waits) and known(self.grabs) and self.grabs else None

    @property
    def spins_per_wait(self) -> float | None:
        """Turns of the loop for each wait; `None` without waits."""
        return self.spins / self.waits if known(self.spins) and known(self.waits) and self.waits else None


@dataclass(frozen=True, kw_only=True, slots=True)
class MonEngine(Counted, Fact):
    """One engine. Times are seconds."""

    COLLECTED_BY: ClassVar[str] = twice("monEngine")
    KEY: ClassVar[tuple[str, ...]] = ("instance", "engine")
    COUNTERS: ClassVar[Mapping[str, Width]] = dict.fromkeys(
        ("cpu_seconds", "system_seconds", "user_seconds", "idle_seconds", "io_seconds", "context_switches"), "int"
    )

    engine: int
    instance: int | None = None
    status: str | None = None
    """`online`, `offline`, …"""
    started: datetime | None = None
    cpu_seconds: Reading = ABSENT
    system_seconds: Reading = ABSENT
    user_seconds: Reading = ABSENT
    idle_seconds: Reading = ABSENT
    io_seconds: Reading = ABSENT
    """Idle with I/O outstanding: not work (ase-formats.md 1.5)."""
    context_switches: Reading = ABSENT
    connections: Reading = ABSENT
    user_percent: Reading = ABSENT
    system_percent: Reading = ABSENT
    idle_percent: Reading = ABSENT
    io_percent: Reading = ABSENT
    """Shares that a script computed of the times: of the interval only where its rows are differences already."""

    @property
    def busy_percent(self) -> float | None:
        """User and system time as a share of all time counted; spinning counts as busy."""
        user, system, idle = self.user_seconds, self.system_seconds, self.idle_seconds
        if not known(user) or not known(idle):
            return self._printed_busy()
        work = user + (system if known(system) else 0.0)
        whole = work + idle + (self.io_seconds if known(self.io_seconds) else 0.0)
        return 100.0 * work / whole if whole > 0 else None

    def _printed_busy(self) -> float | None:
        """User and system time as printed, where the shares are of the interval and make up the whole together."""
        if not self.of_interval or self.earlier is not None:  # shares of a later snapshot are those since boot
            return None
        user, system, idle, io = (
            one if known(one) else 0.0
            for one in (self.user_percent, self.system_percent, self.idle_percent, self.io_percent)
        )
        if not known(self.user_percent) or not known(self.idle_percent):
            return None
        return user + system if abs(user + system + idle + io - 100.0) <= ROUNDED_SHARES else None


@dataclass(frozen=True, kw_only=True, slots=True)
class MonThread(Counted, Fact):
    """One thread of the threaded kernel (15.7 on).

    Ticks are 100 ms; user and system time are what the operating system counts, in milliseconds.
    """

    COLLECTED_BY: ClassVar[str] = twice("monThread")
    KEY: ClassVar[tuple[str, ...]] = ("instance", "thread", "os_thread")
    COUNTERS: ClassVar[Mapping[str, Width]] = dict.fromkeys(
        (
            "task_runs",
            "total_ticks",
            "idle_ticks",
            "sleep_ticks",
            "busy_ticks",
            "user_time",
            "system_time",
            "voluntary_switches",
            "involuntary_switches",
        ),
        "bigint",
    )

    thread: int
    os_thread: int | None = None
    instance: int | None = None
    pool: str | None = None
    state: str | None = None
    task_runs: Reading = ABSENT
    total_ticks: Reading = ABSENT
    idle_ticks: Reading = ABSENT
    sleep_ticks: Reading = ABSENT
    busy_ticks: Reading = ABSENT
    user_time: Reading = ABSENT
    system_time: Reading = ABSENT
    voluntary_switches: Reading = ABSENT
    involuntary_switches: Reading = ABSENT


@dataclass(frozen=True, kw_only=True, slots=True)
class MonSysWaits(Counted, Fact):
    """Waits for one event, over all tasks. Spinning is no wait event: it burns the CPU instead."""

    COLLECTED_BY: ClassVar[str] = twice("monSysWaits")
    KEY: ClassVar[tuple[str, ...]] = ("instance", "event")
    COUNTERS: ClassVar[Mapping[str, Width]] = dict.fromkeys(("waits", "wait_seconds"), "int")

    event: int
    description: str | None = None
    """From `monWaitEventInfo`, where that was collected too."""
    wait_class: int | None = None
    """Number of its class, from the same table. Class 9 mixes idle daemons with latches: nothing is judged by it."""
    class_name: str | None = None
    """From `monWaitClassInfo`, where that was collected too."""
    instance: int | None = None
    waits: Reading = ABSENT
    wait_seconds: Reading = ABSENT
    """Whole seconds, of all tasks together, booked when a wait ends; some releases book 0 for short waits."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MonState(Counted, Fact):
    """The server as a whole."""

    COLLECTED_BY: ClassVar[str] = twice("monState")
    KEY: ClassVar[tuple[str, ...]] = ("instance",)
    COUNTERS: ClassVar[Mapping[str, Width]] = dict.fromkeys(
        ("deadlocks", "transactions", "selects", "inserts", "updates", "deletes", "logical_reads"), "int"
    )

    instance: int | None = None
    started: datetime | None = None
    counters_cleared: datetime | None = None
    days_running: Reading = ABSENT
    connections: Reading = ABSENT
    lock_wait_threshold: Reading = ABSENT
    lock_waits: Reading = ABSENT
    """Tasks that wait for a lock longer than the threshold now: a state."""
    deadlocks: Reading = ABSENT
    transactions: Reading = ABSENT
    """From 16.0 on, as are the next five."""
    selects: Reading = ABSENT
    inserts: Reading = ABSENT
    updates: Reading = ABSENT
    deletes: Reading = ABSENT
    logical_reads: Reading = ABSENT


@dataclass(frozen=True, kw_only=True, slots=True)
class MonNetworkIO(Counted, Fact):
    """What the server sent and received over the network, all clients together."""

    COLLECTED_BY: ClassVar[str] = twice("monNetworkIO")
    KEY: ClassVar[tuple[str, ...]] = ("instance",)
    COUNTERS: ClassVar[Mapping[str, Width]] = dict.fromkeys(
        ("packets_sent", "packets_received", "bytes_sent", "bytes_received"), "int"
    )

    instance: int | None = None
    packets_sent: Reading = ABSENT
    packets_received: Reading = ABSENT
    bytes_sent: Reading = ABSENT
    bytes_received: Reading = ABSENT


@dataclass(frozen=True, kw_only=True, slots=True)
class MonProcedureCache(Counted, Fact):
    """The procedure cache."""

    COLLECTED_BY: ClassVar[str] = twice("monProcedureCache")
    KEY: ClassVar[tuple[str, ...]] = ("instance",)
    COUNTERS: ClassVar[Mapping[str, Width]] = dict.fromkeys(("requests", "loads", "writes", "stalls"), "int")

    instance: int | None = None
    requests: Reading = ABSENT
    loads: Reading = ABSENT
    """Requests that had to read the procedure from its database."""
    writes: Reading = ABSENT
    stalls: Reading = ABSENT


@dataclass(frozen=True, kw_only=True, slots=True)
class MonProcELC(Counted, Fact):
    """One of the local caches that an engine has for the memory of procedures (16.0 SP03 PL08 on)."""

    COLLECTED_BY: ClassVar[str] = twice("monProcELC")
    KEY: ClassVar[tuple[str, ...]] = ("instance", "engine", "number")
    COUNTERS: ClassVar[Mapping[str, Width]] = dict.fromkeys(("allocations", "frees", "empty", "full", "flushes"), "int")

    engine: int
    number: int = 0
    """Which of the engine's four, from 0."""
    instance: int | None = None
    chunk_pages: Reading = ABSENT
    """Pages of 2 KB in one chunk of it."""
    chunks: Reading = ABSENT
    """Chunks in it now."""
    most_chunks: Reading = ABSENT
    """Chunks it can hold."""
    allocations: Reading = ABSENT
    frees: Reading = ABSENT
    empty: Reading = ABSENT
    """How often it was found empty: then the memory comes from the pool of all engines, under its spinlock."""
    full: Reading = ABSENT
    flushes: Reading = ABSENT


@dataclass(frozen=True, kw_only=True, slots=True)
class MonStatementCache(Counted, Fact):
    """The statement cache."""

    COLLECTED_BY: ClassVar[str] = twice("monStatementCache")
    KEY: ClassVar[tuple[str, ...]] = ("instance",)
    COUNTERS: ClassVar[Mapping[str, Width]] = dict.fromkeys(("searches", "hits", "inserts", "removals"), "int")

    instance: int | None = None
    total_kb: Reading = ABSENT
    used_kb: Reading = ABSENT
    statements: Reading = ABSENT
    searches: Reading = ABSENT
    hits: Reading = ABSENT
    inserts: Reading = ABSENT
    removals: Reading = ABSENT


@dataclass(frozen=True, kw_only=True, slots=True)
class MonDeviceIO(Counted, Fact):
    """I/O of one database device. Columns as the server's own documentation names them; no real listing was read."""

    COLLECTED_BY: ClassVar[str] = twice("monDeviceIO")
    KEY: ClassVar[tuple[str, ...]] = ("instance", "device")
    COUNTERS: ClassVar[Mapping[str, Width]] = dict.fromkeys(
        ("reads", "apf_reads", "writes", "io_milliseconds", "read_milliseconds", "write_milliseconds"), "int"
    )

    device: str
    """Its logical name."""
    path: str | None = None
    instance: int | None = None
    reads: Reading = ABSENT
    """Other than asynchronous prefetch."""
    apf_reads: Reading = ABSENT
    writes: Reading = ABSENT
    io_milliseconds: Reading = ABSENT
    """Time that requests waited to be served, of all of them together."""
    read_milliseconds: Reading = ABSENT
    """Of reads alone, as the next of writes, where a release or a script tells them apart."""
    write_milliseconds: Reading = ABSENT

    @property
    def requests(self) -> float | None:
        """Reads and writes; `None` where one of them was not counted."""
        counts = (self.reads, self.apf_reads, self.writes)
        return sum(one for one in counts if known(one)) if all(known(one) for one in counts) else None

    @property
    def mean_milliseconds(self) -> float | None:
        """Mean time of a request; `None` without requests."""
        requests = self.requests
        return self.io_milliseconds / requests if requests and known(self.io_milliseconds) else None

    @property
    def of_writes(self) -> tuple[float, float] | None:
        """How many writes, and mean milliseconds of one; `None` where their time is not told apart, or without any."""
        return self._of(self.writes, self.write_milliseconds)

    @property
    def of_reads(self) -> tuple[float, float] | None:
        """The same of reads."""
        return self._of(self.reads, self.read_milliseconds)

    @staticmethod
    def _of(count: Reading, time: Reading) -> tuple[float, float] | None:
        return (count, time / count) if known(count) and known(time) and count > 0 else None


@dataclass(frozen=True, kw_only=True, slots=True)
class MonIOQueue(Counted, Fact):
    """I/O of one kind on one database device, reads and writes together."""

    COLLECTED_BY: ClassVar[str] = twice("monIOQueue")
    KEY: ClassVar[tuple[str, ...]] = ("instance", "device", "kind")
    COUNTERS: ClassVar[Mapping[str, Width]] = dict.fromkeys(("requests", "io_milliseconds"), "int")
    USER_LOG, TEMPDB_LOG = "User Log", "Tempdb Log"

    device: str
    """Its logical name."""
    kind: str
    """As printed: `User Data`, `User Log`, `Tempdb Data`, `Tempdb Log`, `System`."""
    instance: int | None = None
    requests: Reading = ABSENT
    io_milliseconds: Reading = ABSENT
    """Time that these requests waited to be served, of all of them together."""

    @property
    def of_log(self) -> bool:
        """Whether it is I/O of a transaction log."""
        return self.kind in (self.USER_LOG, self.TEMPDB_LOG)

    @property
    def mean_milliseconds(self) -> float | None:
        """Mean time of a request; `None` without requests."""
        return (
            self.io_milliseconds / self.requests
            if known(self.requests) and self.requests and known(self.io_milliseconds)
            else None
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class MonOpenDatabases(Counted, Fact):
    """One open database: requests for the end of its log, and what holds it up now."""

    COLLECTED_BY: ClassVar[str] = twice("monOpenDatabases")
    KEY: ClassVar[tuple[str, ...]] = ("instance", "database")
    COUNTERS: ClassVar[Mapping[str, Width]] = dict.fromkeys(("append_requests", "append_waits"), "int")

    database: str
    db_id: int | None = None
    instance: int | None = None
    append_requests: Reading = ABSENT
    """Requests for the semaphore of its log, to append to it."""
    append_waits: Reading = ABSENT
    """Those of them that had to wait."""
    log_full: Reading = ABSENT
    """A state: 1 while its log is full."""
    suspended: Reading = ABSENT
    """A state: processes that sleep because its log is full."""
    backup: Reading = ABSENT
    """A state: 1 while it is dumped."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MonSysExecutionTime(Counted, Fact):
    """Time that all engines together spent on one kind of work, spinning for it included (16.0 on)."""

    COLLECTED_BY: ClassVar[str] = twice("monSysExecutionTime")
    KEY: ClassVar[tuple[str, ...]] = ("instance", "operation", "name")
    COUNTERS: ClassVar[Mapping[str, Width]] = dict.fromkeys(("microseconds", "times"), "bigint")

    operation: int | None = None
    """Its id: 0 unknown, 1 execution, 2 sorting, 3 compilation, 4 network I/O, 5 device I/O."""
    name: str | None = None
    """As printed: `Execution`, `DeviceIO`."""
    instance: int | None = None
    microseconds: Reading = ABSENT
    times: Reading = ABSENT
    """How often it was done; 0 for what is not known."""


@dataclass(frozen=True, kw_only=True)
class SpinLoad(Fact):
    """What the engines of one capture did, spun and committed; made by `collectors.spin_loads`.

    A capture has it of itself and of the other captures of its server that were read together with it.
    """

    COLLECTED_BY: ClassVar[str] = twice("monSpinlockActivity")
    NOT_JUDGED: ClassVar[str] = "read by rules.ase._evidence.spinlocks.site_cost: what a spin costs at this site"

    start: datetime | None
    own: bool = False
    """Whether it is of this very capture."""
    seconds: float
    """Of the interval."""
    engines: int
    busy_seconds: float
    """Of all engines together; spinning is in it."""
    busy_error: float
    """How far these may be off by the rounding of the export."""
    spins: float
    """Of all spinlocks but the queues of the scheduler."""
    transactions: float
    transactions_error: float
    differs: str = ""
    """Why it cannot be held against this capture; empty: it can."""
