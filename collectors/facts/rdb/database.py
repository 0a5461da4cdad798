"""An Oracle Rdb database: its attributes, storage areas and row caches, and where it is open."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.base import ABSENT, Fact, Reading

HEADER = "an RMU/DUMP/HEADER listing of the database (RMU/DUMP/HEADER/OUTPUT=HEADER.TXT and the root file)"


@dataclass(frozen=True, kw_only=True)
class OfDatabase(Fact):
    """What is true of one database. `None` where the export names none: it then belongs to the one it came with."""

    database: str | None = None
    """The root file as printed, `DISK$DB:[PAY]PAYROLL.RDB;1`."""
    node: str | None = None
    """The OpenVMS node the display speaks of, where it names one: figures of one node are not those of the cluster."""


@dataclass(frozen=True, kw_only=True)
class Database(OfDatabase):
    """The attributes that touch locking, from RMU/DUMP/HEADER or the information tables. `None`: not in the export."""

    COLLECTED_BY: ClassVar[str] = HEADER

    called: str | None = None
    """The name of the banner, where the root file has another one for itself: by a logical name. Both are one file."""
    release: str | None = None
    """`V7.2-501`."""
    structure_level: str | None = None
    at: datetime | None = None
    maximum_users: Reading = ABSENT
    maximum_nodes: Reading = ABSENT
    """As printed. The trap: a header prints max(nodes, ceil(users ÷ 50)), so 41 may mean 4; the information tables
    print what is configured: then `nodes_configured` has it."""
    nodes_configured: Reading = ABSENT
    """The configured node count, where it is printed without that trap."""
    nodes_warned: Reading = ABSENT
    """As in `WARNING: Maximum node count is n instead of 1`: it may be the same derived number."""
    single_instance: bool | None = None
    open_mode: str | None = None
    """`AUTOMATIC` or `MANUAL`."""
    snapshot_mode: str | None = None
    """`immediate`, `deferred` or `disabled`."""
    statistics_enabled: bool | None = None
    global_buffers: bool | None = None
    global_buffer_count: Reading = ABSENT
    user_buffer_count: Reading = ABSENT
    user_limit: Reading = ABSENT
    """The most global buffers that one attach has (`Maximum global buffer count per user`)."""
    buffer_blocks: Reading = ABSENT
    """Blocks of 512 bytes of one buffer."""
    page_transfer: str | None = None
    """`memory` or `disk`."""
    adjustable_locking: bool | None = None
    adjustable_locking_count: Reading = ABSENT
    """Number of levels (fanout factors listed)."""
    carry_over_locks: bool | None = None
    lock_partitioning: bool | None = None
    lock_timeout_seconds: Reading = ABSENT
    """0: wait for ever (not set)."""
    after_image_journaling: bool | None = None
    log_server: str | None = None
    """`MANUAL` or `AUTOMATIC`: how the server that writes the after-image journal is started (wording recalled)."""
    fast_commit: bool | None = None
    checkpoint_blocks: Reading = ABSENT
    """Of fast commit, blocks of the journal; 0: no interval is set."""
    checkpoint_seconds: Reading = ABSENT
    """Of fast commit; 0: no time is set."""
    available_journals: Reading = ABSENT
    """As printed: no vendor's text says whether a journal that is full counts as available."""
    commit_to_journal: bool | None = None
    transaction_interval: Reading = ABSENT
    prestarted_transactions: bool | None = None
    """Whether the end of a transaction that writes reserves the number of the next one. The database's own setting: the
    logical name RDMS$BIND_PRESTART_TXN and a clause of ATTACH come before it, and no export shows those."""
    row_cache_enabled: bool | None = None
    active_row_caches: Reading = ABSENT
    reserved_row_caches: Reading = ABSENT
    page_level_locking: bool | None = None
    """The database's default for storage areas."""
    storage_areas: Reading = ABSENT
    """How many there are; 1 or a single-file database: no partitioning."""
    warnings: tuple[str, ...] = ()
    """The `WARNING:` lines as printed, each naming a prerequisite that is not met."""

    @property
    def nodes(self) -> float | None:
        """The configured node count where the export proves it, else `None`.

        A printed count that is not ceil(users ÷ 50) is the configured one; where both are the same it may be either
        (vendor: RMU Reference Manual; 2,032 users and 4 nodes print 41). So in the `WARNING:` line, too, which is
        believed below that count: then it was not derived.
        """
        if isinstance(self.nodes_configured, int | float):
            return self.nodes_configured
        if self.single_instance:
            return 1
        printed, warned, users = self.maximum_nodes, self.nodes_warned, self.maximum_users
        if printed == 1 and not isinstance(warned, int | float):
            return 1
        if not isinstance(users, int | float):
            return None
        derived = -(-users // 50)
        if isinstance(warned, int | float) and warned != derived:
            return warned
        return printed if isinstance(printed, int | float) and printed > derived else None


@dataclass(frozen=True, kw_only=True)
class StorageArea(OfDatabase):
    """One storage area."""

    COLLECTED_BY: ClassVar[str] = HEADER

    name: str
    number: Reading = ABSENT
    page_level_locking: bool | None = None
    row_cache: str | None = None
    """The cache its rows go to, where one is set; an empty text where the listing says that there is none."""
    extent_minimum_pages: Reading = ABSENT
    """By how many pages its file is extended at the least."""
    extent_maximum_pages: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class LogicalName(OfDatabase):
    """One logical name of OpenVMS by which Rdb is set (`RDMS$BIND_…`), as the process sees it that listed it."""

    COLLECTED_BY: ClassVar[str] = "SHOW LOGICAL RDMS$BIND_PRESTART_TXN"

    name: str
    value: str | None = None
    """Its translation; `None`: it is not defined."""
    table: str | None = None
    """`LNM$SYSTEM_TABLE`: of the whole node."""
    mode: str | None = None
    """Access mode, as SHOW LOGICAL/FULL prints it (`exec`); DEASSIGN takes away that of a supervisor unless told."""


@dataclass(frozen=True, kw_only=True)
class LogicalArea(OfDatabase):
    """One logical area: what a table or an index has in one storage area.

    Without numbers: a table of which a listing has nothing but how many rows it has.
    """

    COLLECTED_BY: ClassVar[str] = "an SQL listing of RDB$LOGICAL_AREAS (SELECT * FROM RDB$LOGICAL_AREAS)"

    name: str
    """That of the table or index."""
    number: Reading = ABSENT
    area_number: Reading = ABSENT
    """That of its storage area."""
    record_bytes: Reading = ABSENT
    """RDB$RECORD_LENGTH: bytes of a record; 0 for what has none."""
    rows: Reading = ABSENT
    """Rows of the table, where it has this one logical area and SELECT COUNT(*) of it stands beside; by RMU/ANALYZE the
    records of this logical area."""


@dataclass(frozen=True, kw_only=True)
class RowCache(OfDatabase):
    """One row cache that is defined."""

    COLLECTED_BY: ClassVar[str] = HEADER

    name: str
    slots: Reading = ABSENT
    row_bytes: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class DatabaseUse(OfDatabase):
    """A database as the monitor of one node has it open (RMU/SHOW SYSTEM, RMU/SHOW USERS, RMU/DUMP/USERS)."""

    COLLECTED_BY: ClassVar[str] = "RMU/SHOW SYSTEM ! on each node of the cluster"

    release: str | None = None
    """Of Rdb on that node."""
    at: datetime | None = None
    monitor_started: datetime | None = None
    opened: datetime | None = None
    opened_by_operator: bool | None = None
    active_users: Reading = ABSENT
    """As printed; the database's own servers count as users, too."""
    servers: int = 0
    """Of the users, the servers of Rdb itself: by their image (RDMALS, RDMLRS, …), or as many as are named as active.

    A layout that is recalled may hide some."""
    servers_listed: int | None = None
    """Those of them that stand in a list of the users; `None`: all. Others are named as active alone."""
    log_server: bool = False
    """Whether the journal's log server is named as active, or listed."""
    cluster_wide: bool = False
    """RMU/DUMP/USERS: all nodes; SHOW is of one node alone."""
    monitors: tuple[float, ...] = ()
    """The different `Monitor ID`s of the users that RMU/DUMP/USERS lists: one monitor per node that has it open."""

    @property
    def attached(self) -> float | None:
        """The users without Rdb's own servers; `None`: not in the export.

        Whether a server that is only named as active was counted is not seen: such are taken off where nobody else is.
        """
        printed = self.active_users
        if not isinstance(printed, int | float):
            return None
        own = self.servers if self.servers_listed is None or printed <= self.servers else self.servers_listed
        return max(0.0, printed - own)


@dataclass(frozen=True, kw_only=True)
class SeenOnNode(OfDatabase):
    """A node on which exports of another time of the same set show the database: made by `collectors.capture`.

    Of its figures nothing is told; but a setting for one node would lock that node out.
    """

    COLLECTED_BY: ClassVar[str] = "RMU/SHOW SYSTEM ! on each node of the cluster"

    at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class AttachedProcess(OfDatabase):
    """A process that RMU/SHOW USERS lists: what a PID of another display is called, and which image it runs."""

    COLLECTED_BY: ClassVar[str] = "RMU/SHOW USERS ! and the root file"

    pid: str
    process: str | None = None
    user: str | None = None
    image: str | None = None
    """The file as printed, `DISK$APP:[EXE]ORDERS.EXE;4`."""


@dataclass(frozen=True, kw_only=True)
class NodeDatabases(Fact):
    """Which databases the monitor of one node has open (RMU/SHOW SYSTEM); none at all is a fact, too."""

    COLLECTED_BY: ClassVar[str] = "RMU/SHOW SYSTEM ! on each node of the cluster"

    node: str
    at: datetime | None = None
    databases: tuple[str, ...] = ()
    """The root files as printed."""
    complete: bool = False
    """Whether these are all that the node has open. RMU/SHOW USERS with a root file lists that database alone, so one
    database below a heading proves nothing of another, unless the command above it is RMU/SHOW SYSTEM."""
    in_no_cluster: bool = False
    """Whether SHOW CLUSTER in the same session says that the node is no member of a cluster."""
