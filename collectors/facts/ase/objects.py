"""Tables and indexes of SAP ASE: how often they are used, where they are cached and bound, how they are locked."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.ase.snapshots import twice
from collectors.facts.base import ABSENT, Fact, Reading, known
from collectors.facts.columns import TableRow
from collectors.facts.counted import Counted, Width

OBJECT_COUNTERS: Mapping[str, Width] = dict.fromkeys(
    (
        "logical_reads",
        "physical_reads",
        "apf_reads",
        "pages_read",
        "physical_writes",
        "pages_written",
        "rows_inserted",
        "rows_deleted",
        "rows_updated",
        "operations",
        "lock_requests",
        "lock_waits",
        "opt_select_count",
        "used_count",
        "shared_lock_wait_time",
        "exclusive_lock_wait_time",
        "update_lock_wait_time",
        "scans",
        "hkgc_requests",
        "hkgc_overflows",
    ),
    "int",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class MonOpenObjectActivity(Counted, Fact):
    """One open table or index. A row vanishes when its descriptor is reused, and begins at 0 when it comes back."""

    COLLECTED_BY: ClassVar[str] = twice("monOpenObjectActivity")
    KEY: ClassVar[tuple[str, ...]] = ("instance", "database", "db_id", "object_id", "object_name", "index_id")
    COUNTERS: ClassVar[Mapping[str, Width]] = OBJECT_COUNTERS

    database: str | None = None
    db_id: int | None = None
    owner: str | None = None
    object_name: str | None = None
    object_id: int | None = None
    index_id: int = 0
    """0: the data of a heap or of a data-only-locked table. 1: an allpages clustered index with its data. 2 and more:
    nonclustered, or the placement index of a data-only-locked table. 255: text and image."""
    instance: int | None = None
    cached_since: datetime | None = None
    """`ObjectCacheDate`: when the descriptor came into memory. Another one in the next snapshot: a new count."""
    logical_reads: Reading = ABSENT
    """Pages asked of the cache: what a cache search is, counted by object."""
    physical_reads: Reading = ABSENT
    apf_reads: Reading = ABSENT
    """Reads by asynchronous prefetch: scanning."""
    pages_read: Reading = ABSENT
    physical_writes: Reading = ABSENT
    pages_written: Reading = ABSENT
    rows_inserted: Reading = ABSENT
    rows_deleted: Reading = ABSENT
    rows_updated: Reading = ABSENT
    operations: Reading = ABSENT
    lock_requests: Reading = ABSENT
    lock_waits: Reading = ABSENT
    shared_lock_wait_time: Reading = ABSENT
    """Milliseconds, as recalled; so are the next two."""
    exclusive_lock_wait_time: Reading = ABSENT
    update_lock_wait_time: Reading = ABSENT
    opt_select_count: Reading = ABSENT
    used_count: Reading = ABSENT
    """How often a plan used it; of index 0 about the number of table scans."""
    scans: Reading = ABSENT
    """16.0 on."""
    hkgc_requests: Reading = ABSENT
    """Clean-ups of deleted rows asked of the housekeeper; 15.0.2 on, as are the next two."""
    hkgc_pending: Reading = ABSENT
    """Of these, those that wait now: a state, and no count."""
    hkgc_overflows: Reading = ABSENT
    """Of these, those that found the housekeeper's list full (recalled): nobody comes back to these pages."""
    share_percent: Reading = ABSENT
    """A per cent that a script puts beside the counts, most often of the logical reads of all objects. Of what it is
    has to be shown by the counts: see `rules.ase._evidence.objects.seen.reads_of_all`."""

    @property
    def rows_changed(self) -> float | None:
        """Rows inserted, deleted and updated; `None` where none of the three is there."""
        read = [one for one in (self.rows_inserted, self.rows_deleted, self.rows_updated) if known(one)]
        return sum(read) if read else None


@dataclass(frozen=True, kw_only=True, slots=True)
class MonOpenPartitionActivity(MonOpenObjectActivity):
    """One open partition of a table or index."""

    COLLECTED_BY: ClassVar[str] = twice("monOpenPartitionActivity")
    KEY: ClassVar[tuple[str, ...]] = (*MonOpenObjectActivity.KEY, "partition_id", "partition_name")

    partition_id: int | None = None
    partition_name: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MonCachedObject(TableRow, Fact):
    """What of one object is in a cache now. A state, and dear to ask for on large caches."""

    COLLECTED_BY: ClassVar[str] = "select * from master..monCachedObject /* costs CPU on large caches */"

    cache: str | None = None
    cache_id: int | None = None
    database: str | None = None
    db_id: int | None = None
    owner: str | None = None
    object_name: str | None = None
    object_id: int | None = None
    index_id: int = 0
    partition_id: int | None = None
    partition_name: str | None = None
    object_type: str | None = None
    cached_kb: Reading = ABSENT
    total_kb: Reading = ABSENT
    """Of the object or partition on disk; equal to `cached_kb`: all of it is in memory."""
    processes: Reading = ABSENT
    instance: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DatabaseFragment(TableRow, Fact):
    """One piece of a device that a database has, and what may be stored there.

    Of `sysusages` of master, or of `sp_helpdb <database>`.
    """

    COLLECTED_BY: ClassVar[str] = "select db_name(dbid) DBName, dbid, segmap, size from master..sysusages"
    LOG, DATA_AND_LOG = 4, 7

    database: str | None = None
    db_id: int | None = None
    segments: int
    """Bits: 1 system, 2 default, 4 log, higher ones of users; 7 is data and log."""
    pages: Reading = ABSENT
    """Logical pages."""
    device: str | None = None
    """Its logical name; of `sp_helpdb` alone."""

    @property
    def mixed(self) -> bool:
        """Whether the log shares this piece with data (vendor: 3 is data, 4 log, 7 both)."""
        return bool(self.segments & self.LOG) and bool(self.segments & ~self.LOG)


@dataclass(frozen=True, kw_only=True)
class SegmentUse(Fact):
    """On which devices one segment of a database lies, and which tables are put there (`sp_helpsegment`)."""

    COLLECTED_BY: ClassVar[str] = "an sp_helpsegment of the segment, run in its database"

    segment: str
    devices: tuple[str, ...]
    tables: tuple[str, ...]
    """Without their database, which the listing does not name."""


@dataclass(frozen=True, kw_only=True)
class CacheBinding(Fact):
    """A database, table or index bound to a named cache (`sp_helpcache`)."""

    COLLECTED_BY: ClassVar[str] = "sp_helpcache"

    cache: str
    database: str
    owner: str | None = None
    table: str | None = None
    index: str | None = None
    kind: str | None = None
    """`database`, `table` or `index`."""
    valid: bool | None = None


@dataclass(frozen=True, kw_only=True)
class BindingList(Fact):
    """That the bindings were listed in full (`sp_helpcache`): what is not among them is not bound."""

    COLLECTED_BY: ClassVar[str] = CacheBinding.COLLECTED_BY

    bindings: int
    """How many the list has; 0: nothing is bound."""
    caches: tuple[str, ...] = ()
    """The caches the listing speaks of, where it names them: `sp_helpcache` of one cache lists its bindings alone."""


@dataclass(frozen=True, kw_only=True)
class TemporaryDatabase(Fact):
    """A database that is a temporary one, by its group (`sp_tempdb "show"`)."""

    COLLECTED_BY: ClassVar[str] = 'sp_tempdb "show"'

    name: str
    group: str | None = None


@dataclass(frozen=True, kw_only=True)
class TableScheme(Fact):
    """The lock scheme of one table."""

    COLLECTED_BY: ClassVar[str] = (
        "select db_name() DBName, user_name(uid) OwnerName, name ObjectName, id ObjectID, lockscheme(id) LockScheme, "
        "sysstat2 from sysobjects where type in ('U', 'S') /* in each database */"
    )

    database: str | None = None
    owner: str | None = None
    table: str
    object_id: int | None = None
    scheme: str
    """`allpages`, `datapages` or `datarows`."""
    system: bool = False
    clustered: bool | None = None
    """Whether it has a clustered or placement index; `None` where the listing does not say."""
    identity_gap: Reading = ABSENT
    """Numbers of an IDENTITY column that are taken at once, by `sp_help`; 0: by identity burning set factor."""
    rows: Reading = ABSENT
    """Rows of the table, where the query counts them, too (`row_count`)."""
    pages: Reading = ABSENT
    """Pages of its data (`data_pages`)."""


@dataclass(frozen=True, kw_only=True)
class ObjectId(Fact):
    """The name of one object by its number, of `sysobjects` of a database or by `object_name`."""

    COLLECTED_BY: ClassVar[str] = (
        "select db_name() DBName, user_name(uid) OwnerName, name, id from sysobjects /* in each database */"
    )

    database: str | None = None
    db_id: int | None = None
    """Where the database is known by its number alone (`object_name`)."""
    owner: str | None = None
    table: str
    object_id: int


@dataclass(frozen=True, kw_only=True)
class IndexSize(Fact):
    """How large the data or one index of a table is."""

    COLLECTED_BY: ClassVar[str] = (
        "select db_name() DBName, user_name(o.uid) OwnerName, o.name ObjectName, o.id ObjectID, "
        "lockscheme(o.id) LockScheme, i.indid IndexID, i.name IndexName, "
        "data_pages(db_id(), o.id, i.indid) * (@@maxpagesize / 1024) SizeKB "
        "from sysobjects o inner join sysindexes i on o.id = i.id where o.type in ('U', 'S') /* in each database */"
    )

    database: str | None = None
    owner: str | None = None
    table: str
    object_id: int | None = None
    index_id: int = 0
    index_name: str | None = None
    size_kb: Reading = ABSENT
    rows: Reading = ABSENT
    """Rows of the table, where the listing counts them (`sp_spaceused`)."""
    indexes_kb: Reading = ABSENT
    """All indexes of the table together, where the listing adds them up (`sp_spaceused`)."""
    system: bool = False


@dataclass(frozen=True, kw_only=True)
class ResourceUsage(Fact):
    """One line of `sp_monitorconfig`: how much of a configured resource is used."""

    COLLECTED_BY: ClassVar[str] = 'sp_monitorconfig "all"'

    name: str
    """As printed: cut at 25 characters."""
    free: Reading = ABSENT
    active: Reading = ABSENT
    active_percent: Reading = ABSENT
    max_used: Reading = ABSENT
    reused: Reading = ABSENT
    """How often one was taken from another; `ABSENT` where the release prints words, see `was_reused`."""
    was_reused: bool | None = None
    """`True` or `False`, from a count or from Yes and No; `None` for NA: it cannot be reused."""
    taken: datetime | None = None
    instance: str | None = None


@dataclass(frozen=True, kw_only=True)
class MetadataCount(Fact):
    """How many objects, indexes or partitions all databases hold, or databases there are: so many descriptors do."""

    COLLECTED_BY: ClassVar[str] = 'sp_countmetadata "open objects" -- at a quiet time; also "open indexes"'

    kind: str
    """`object`, `index`, `partition` or `database`."""
    count: float
    memory_kb: Reading = ABSENT
    """What their descriptors take."""
    configured: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class MemoryHeadroom(Fact):
    """What is free for reconfiguration: `max memory` less `total logical memory`."""

    COLLECTED_BY: ClassVar[str] = 'sp_configure "memory"'

    available_kb: float


@dataclass(frozen=True, kw_only=True)
class ObjectLockContention(Fact):
    """Lock requests and waits of one table over the sample of `sp_object_stats`, by lock type."""

    COLLECTED_BY: ClassVar[str] = 'sp_object_stats "00:10:00" -- at the busiest hour'

    database: str | None = None
    db_id: int | None = None
    owner: str | None = None
    table: str
    object_id: int | None = None
    scheme: str | None = None
    lock_type: str | None = None
    """As printed: `EX_PAGE`, `SH_ROW`; `None` for the whole table."""
    granted: Reading = ABSENT
    waited: Reading = ABSENT
    deadlocks: Reading = ABSENT
    wait_milliseconds: Reading = ABSENT
    contention_percent: Reading = ABSENT
    seconds: float | None = None
    """Length of the sample by the command echoed above (`isql -e`); `None` where it was not echoed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldLock(TableRow, Fact):
    """One lock held or asked for at this moment (`sp_lock`, `monLocks`)."""

    COLLECTED_BY: ClassVar[str] = "select * from master..monLocks"

    spid: int | None = None
    kpid: int | None = None
    database: str | None = None
    db_id: int | None = None
    object_id: int | None = None
    object_name: str | None = None
    lock_type: str
    """As printed: `Ex_page`, `Sh_intent`, `exclusive row`."""
    level: str | None = None
    """`table`, `page`, `row` or `address`, in small letters."""
    waiting: bool | None = None
    blocking: bool | None = None
    wait_seconds: Reading = ABSENT
    page: Reading = ABSENT
    row: Reading = ABSENT
    context: str | None = None
    """As `sp_lock` prints it: `Fam dur, Range`; `Range` and `Inf key` are locks of isolation level 3 (vendor)."""
    cursor: str | None = None
    """The name of the cursor it belongs to, or its number where that is one of another user (`class`)."""
    lock_id: int | None = None
    """`LockID`: of the owner's lock object; processes of one family share it."""
    blocked_by: int | None = None
    """`BlockedBy`: up to 15.7 the SPID of the holder, from 16.0 its `LockID`, as the manuals say."""


@dataclass(frozen=True, kw_only=True)
class SessionLocks(Fact):
    """How many locks of a kind or table a session holds, by a question that counts `syslocks` or `monLocks`."""

    COLLECTED_BY: ClassVar[str] = (
        "select spid, db_name(dbid) dbname, object_name(id, dbid) tab, type, count(*) locks from master..syslocks "
        "group by spid, dbid, id, type"
    )

    spid: int
    locks: Reading = ABSENT
    lock_type: str | None = None
    """As printed: `Ex_row`, `exclusive row`, or a number; `None` where locks of every kind are counted together."""
    database: str | None = None
    table: str | None = None
    login: str | None = None
    application: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Deadlock(TableRow, Fact):
    """One edge of one deadlock (`monDeadLock`): who held what the other waited for."""

    COLLECTED_BY: ClassVar[str] = (
        "select * from master..monDeadLock /* needs deadlock pipe active; one reader empties it */"
    )

    deadlock_id: int | None = None
    resolved: datetime | None = None
    victim_kpid: int | None = None
    """KPID of the process whose transaction was rolled back to end it."""
    database: str | None = None
    db_id: int | None = None
    object_name: str | None = None
    page: Reading = ABSENT
    row: Reading = ABSENT
    held_spid: int | None = None
    held_kpid: int | None = None
    wait_spid: int | None = None
    wait_kpid: int | None = None
    held_lock: str | None = None
    waited_lock: str | None = None
    held_command: str | None = None
    wait_command: str | None = None
    held_procedure: str | None = None
    wait_procedure: str | None = None
    held_procedure_id: int | None = None
    """`object_name` of it is the procedure; 0: none ran."""
    wait_procedure_id: int | None = None
    held_line: int | None = None
    """Line of its procedure or batch at which the holder was when the deadlock ended: there it waited, too."""
    wait_line: int | None = None
    """Line of its procedure or batch at which it waited."""
    held_application: str | None = None
    wait_application: str | None = None
    held_transaction: str | None = None
    """Name of the transaction, which the application chose: hostile until quoted, as all text here."""
    wait_transaction: str | None = None
    wait_milliseconds: Reading = ABSENT
    logged: bool = False
    """Whether it was read in the error log, which has no KPIDs and no time of the wait."""
    victim_spid: int | None = None
    """The victim as the error log names it."""


@dataclass(frozen=True, kw_only=True)
class WithoutIndexes(Fact):
    """A table that has no index at all: a heap."""

    COLLECTED_BY: ClassVar[str] = "an sp_helpindex of the table, run in its database"

    table: str
    """No export says of which database."""


@dataclass(frozen=True, kw_only=True)
class IndexKeys(Fact):
    """One index of a table, with the columns it is of."""

    COLLECTED_BY: ClassVar[str] = "an sp_helpindex of the table, run in its database"

    table: str | None = None
    """`None` where no command above the listing says whose indexes they are; no export says of which database."""
    index: str
    keys: str
    """Its columns in their order, as printed: `last_name, post_code`; `DESC` may follow one."""
    clustered: bool = False
    unique: bool = False
    first_type: str = ""
    """Type of its first column as `sp_help` prints it, `identity` where that numbers the rows; empty: not listed."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns, in small letters."""
        words = [piece.split() for piece in self.keys.lower().split(",")]
        return tuple(piece[0] for piece in words if piece)
