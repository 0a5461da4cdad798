"""Monitoring tables of SAP ASE by process and by statement: who waits, who reads what, which statements cost most.

Columns and releases: knowledge/ase-waits-caches.md, sections 1 and 10. Text of statements is as a client sent it: it is
hostile until quoted, may hold anything, and is kept up to `collectors.statement_text.LONGEST`
characters.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.ase.snapshots import twice
from collectors.facts.base import ABSENT, Fact, Reading, known
from collectors.facts.columns import TableRow
from collectors.facts.counted import Counted, Width


@dataclass(frozen=True, kw_only=True, slots=True)
class MonProcess(TableRow, Fact):
    """One process at this moment: what it waits for, since when, and who blocks it."""

    COLLECTED_BY: ClassVar[str] = "select * from master..monProcess"

    spid: int
    kpid: int | None = None
    instance: int | None = None
    family: int | None = None
    """SPID of the coordinator of a parallel query; 0 or absent: none."""
    login: str | None = None
    application: str | None = None
    host: str | None = None
    command: str | None = None
    """`SELECT`, `AWAITING COMMAND`, …"""
    database: str | None = None
    transaction: str | None = None
    """Name of the open master transaction, where the release prints it."""
    wait_event: int | None = None
    seconds_waiting: Reading = ABSENT
    blocking_spid: int | None = None
    """Who blocks it; 0 or absent: nobody."""
    batch: int | None = None
    line: int | None = None
    status: str | None = None
    """What it does or sleeps for, as `sp_who` and `sysprocesses` say it: `running`, `lock sleep`, `log suspend`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MonProcessWaits(Counted, Fact):
    """Waits of one process for one event. Milliseconds here, while `monSysWaits` counts seconds."""

    COLLECTED_BY: ClassVar[str] = twice("monProcessWaits")
    KEY: ClassVar[tuple[str, ...]] = ("instance", "spid", "kpid", "event")
    COUNTERS: ClassVar[Mapping[str, Width]] = dict.fromkeys(("waits", "wait_milliseconds"), "int")

    spid: int
    kpid: int | None = None
    event: int
    instance: int | None = None
    waits: Reading = ABSENT
    wait_milliseconds: Reading = ABSENT
    """Booked when a wait ends, so it may reach back before the interval."""
    application: str | None = None
    """Of `monProcess`, as the next, where a question joins them."""
    host: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MonProcessNetIO(Counted, Fact):
    """What one session sent and received over the network."""

    COLLECTED_BY: ClassVar[str] = twice("monProcessNetIO")
    KEY: ClassVar[tuple[str, ...]] = ("instance", "spid", "kpid")
    COUNTERS: ClassVar[Mapping[str, Width]] = dict.fromkeys(
        ("packets_sent", "packets_received", "bytes_sent", "bytes_received"), "int"
    )

    spid: int
    kpid: int | None = None
    instance: int | None = None
    packet_bytes: Reading = ABSENT
    """`NetworkPacketSize`, bytes: what the session asked for, or the default of the server."""
    packets_sent: Reading = ABSENT
    packets_received: Reading = ABSENT
    bytes_sent: Reading = ABSENT
    bytes_received: Reading = ABSENT
    login: str | None = None
    """Of `monProcess`, as the next two, where a question joins them."""
    application: str | None = None
    host: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MonProcessObject(TableRow, Fact):
    """Pages that the running statement of one process asked of one table or index: the only table that ties the two."""

    COLLECTED_BY: ClassVar[str] = (
        "select * from master..monProcessObject /* several times: it shows running statements alone */"
    )

    spid: int
    kpid: int | None = None
    instance: int | None = None
    database: str | None = None
    db_id: int | None = None
    object_name: str | None = None
    object_id: int | None = None
    index_id: int = 0
    object_type: str | None = None
    logical_reads: Reading = ABSENT
    physical_reads: Reading = ABSENT
    apf_reads: Reading = ABSENT


@dataclass(frozen=True, kw_only=True, slots=True)
class MonProcessSQLText(TableRow, Fact):
    """One piece of the batch that a process runs now."""

    COLLECTED_BY: ClassVar[str] = "select * from master..monProcessSQLText"

    spid: int
    kpid: int | None = None
    instance: int | None = None
    batch: int | None = None
    line: int | None = None
    sequence: int | None = None
    """Which piece of its line."""
    text: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MonSysSQLText(TableRow, Fact):
    """One piece of a batch that was run (a pipe: each reader is given the rows that are new to it)."""

    COLLECTED_BY: ClassVar[str] = (
        "select * from master..monSysSQLText /* needs SQL batch capture, sql text pipe active, sql text pipe max "
        "messages */"
    )

    spid: int
    kpid: int | None = None
    instance: int | None = None
    batch: int | None = None
    sequence: int | None = None
    """Which piece of its batch."""
    text: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MonProcessStatement(TableRow, Fact):
    """The statement that one process runs at this moment, with what it took until now. Times are milliseconds."""

    COLLECTED_BY: ClassVar[str] = (
        "select * from master..monProcessStatement /* needs statement statistics active; running statements alone */"
    )

    spid: int
    kpid: int | None = None
    instance: int | None = None
    database: str | None = None
    db_id: int | None = None
    procedure_id: int | None = None
    """0: not in a procedure."""
    procedure: str | None = None
    """Its name, where the question asked for it: `object_name(ProcedureID, DBID) ProcName`."""
    batch: int | None = None
    line: int | None = None
    cpu_milliseconds: Reading = ABSENT
    wait_milliseconds: Reading = ABSENT
    logical_reads: Reading = ABSENT
    physical_reads: Reading = ABSENT
    pages_modified: Reading = ABSENT
    started: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MonProcessActivity(Counted, Fact):
    """What one session did since its login: who does the work, and who fills its user log cache."""

    COLLECTED_BY: ClassVar[str] = twice("monProcessActivity")
    KEY: ClassVar[tuple[str, ...]] = ("instance", "spid", "kpid")
    COUNTERS: ClassVar[Mapping[str, Width]] = dict.fromkeys(
        (
            "cpu_milliseconds",
            "wait_milliseconds",
            "logical_reads",
            "physical_reads",
            "pages_written",
            "table_accesses",
            "index_accesses",
            "transactions",
            "commits",
            "rollbacks",
            "ulc_bytes_written",
            "ulc_flushes",
            "ulc_flushes_full",
        ),
        "int",
    )

    spid: int
    kpid: int | None = None
    instance: int | None = None
    cpu_milliseconds: Reading = ABSENT
    wait_milliseconds: Reading = ABSENT
    logical_reads: Reading = ABSENT
    physical_reads: Reading = ABSENT
    pages_written: Reading = ABSENT
    table_accesses: Reading = ABSENT
    """Pages read without an index, as recalled."""
    index_accesses: Reading = ABSENT
    transactions: Reading = ABSENT
    commits: Reading = ABSENT
    rollbacks: Reading = ABSENT
    locks_held: Reading = ABSENT
    """At this moment."""
    ulc_bytes_written: Reading = ABSENT
    ulc_flushes: Reading = ABSENT
    ulc_flushes_full: Reading = ABSENT
    """`ULCFlushFull`: because the cache was full."""
    ulc_max_usage: Reading = ABSENT
    """Bytes of the user log cache that were in use at most, since the login."""
    login: str | None = None
    """No column of the table, nor are those below: of `monProcessLookup` beside it, where a question joins them."""
    application: str | None = None
    host: str | None = None
    command: str | None = None
    """Of `monProcess`: `REP AGENT`, `SELECT`, …"""
    database: str | None = None
    """Of `monProcess`, likewise."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MonProcessLookup(TableRow, Fact):
    """Who one session is: all that `monProcess` says of its client, without what it does."""

    COLLECTED_BY: ClassVar[str] = "select * from master..monProcessLookup"

    spid: int
    kpid: int | None = None
    instance: int | None = None
    login: str | None = None
    application: str | None = None
    host: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MonCachedStatement(Counted, Fact):
    """One statement in the statement cache. Times are milliseconds, except of the two totals (see there)."""

    COLLECTED_BY: ClassVar[str] = (
        "select *, show_cached_text(SSQLID) SQLText from master..monCachedStatement "
        "/* needs enable stmt cache monitoring */"
    )
    KEY: ClassVar[tuple[str, ...]] = ("instance", "statement", "cached")
    COUNTERS: ClassVar[Mapping[str, Width]] = {
        "executions": "int",
        "lock_waits": "int",
        "lock_wait_milliseconds": "int",
        "total_logical_reads": "bigint",
        "total_physical_reads": "bigint",
        "total_cpu": "bigint",
        "total_elapsed": "bigint",
    }

    statement: int
    """SSQLID: the key of the statement cache."""
    hash_key: int | None = None
    instance: int | None = None
    database: str | None = None
    db_id: int | None = None
    cached: datetime | None = None
    last_used: datetime | None = None
    isolation: int | None = None
    """`TransactionIsolationLevel`, 0 to 3, that it was compiled for; a clause of its own text goes before it."""
    kind: int | None = None
    """`StmtType`, from 15.7: 1 batch, 2 cursor, 3 dynamic SQL."""
    executions: Reading = ABSENT
    """`UseCount`."""
    mean_logical_reads: Reading = ABSENT
    """`AvgLIO`: since it was cached, whatever the interval; so are the next four."""
    max_logical_reads: Reading = ABSENT
    mean_physical_reads: Reading = ABSENT
    mean_cpu_milliseconds: Reading = ABSENT
    mean_elapsed_milliseconds: Reading = ABSENT
    mean_scan_rows: Reading = ABSENT
    """`AvgScanRows`, rows scanned by one execution; from 15.7 ESD#2, as are the next two; since it was cached, all."""
    mean_read_rows: Reading = ABSENT
    """`AvgQualifyingReadRows`, rows that one execution looked for and found."""
    max_write_rows: Reading = ABSENT
    """`MaxQualifyingWriteRows`, the most rows that one execution changed."""
    mean_write_rows: Reading = ABSENT
    """`AvgQualifyingWriteRows`, rows that one execution changed on average."""
    total_logical_reads: Reading = ABSENT
    """From 15.7 SP130, as are the next three."""
    total_physical_reads: Reading = ABSENT
    total_cpu: Reading = ABSENT
    """The manual says seconds, the columns beside it are milliseconds: not to be judged by."""
    total_elapsed: Reading = ABSENT
    """As `total_cpu`."""
    cpu_milliseconds: Reading = ABSENT
    """Of all executions of an interval, as a script counts that names the unit in its column (`d_cpu_ms`)."""
    lock_waits: Reading = ABSENT
    """From 15.7 ESD#2, as is the next."""
    lock_wait_milliseconds: Reading = ABSENT
    text: str | None = None
    """No column of the table: `show_cached_text(SSQLID)` beside it."""

    @property
    def logical_reads(self) -> float | None:
        """Pages asked of the caches: the total, else executions × mean of one snapshot; `None` where neither is."""
        if known(self.total_logical_reads):
            return self.total_logical_reads
        if self.of_interval or not known(self.executions) or not known(self.mean_logical_reads):
            return None
        return self.executions * self.mean_logical_reads

    @property
    def cpu_each(self) -> Reading:
        """Milliseconds of processor time for each execution: of the interval where it is counted, else `AvgCpuTime`."""
        if known(self.cpu_milliseconds) and known(self.executions) and self.executions > 0:
            return self.cpu_milliseconds / self.executions
        return self.mean_cpu_milliseconds


@dataclass(frozen=True, kw_only=True)
class CachedText(Fact):
    """The text of one statement of the statement cache, asked for by its number alone."""

    COLLECTED_BY: ClassVar[str] = "a text as `show_cached_text` prints it, with the question echoed (isql -e)"
    NOT_JUDGED: ClassVar[str] = "read by collectors.intervals.texts: the text of its row of monCachedStatement"

    statement: int
    """SSQLID."""
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MonSysStatement(TableRow, Fact):
    """One statement that ended (a pipe: each reader is given the rows that are new to it)."""

    COLLECTED_BY: ClassVar[str] = (
        "select * from master..monSysStatement /* needs statement pipe active, statement pipe max messages, "
        "statement statistics active */"
    )

    spid: int | None = None
    kpid: int | None = None
    instance: int | None = None
    database: str | None = None
    db_id: int | None = None
    procedure_id: int | None = None
    procedure: str | None = None
    """Its name, where the question asked for it: `object_name(ProcedureID, DBID) ProcName`."""
    batch: int | None = None
    line: int | None = None
    statement: int | None = None
    """SsqlId: of a statement in the statement cache; 0 or absent: of none."""
    hash_key: int | None = None
    executions: Reading = ABSENT
    """How many the row sums, where the question groups and counts them; else the row is one."""
    cpu_milliseconds: Reading = ABSENT
    wait_milliseconds: Reading = ABSENT
    logical_reads: Reading = ABSENT
    physical_reads: Reading = ABSENT
    pages_modified: Reading = ABSENT
    rows_affected: Reading = ABSENT
    started: datetime | None = None
    ended: datetime | None = None
