"""Open tables, indexes and partitions: `monOpenObjectActivity`, `monOpenPartitionActivity`."""

from collectors.facts.ase import IndexSize, MonOpenObjectActivity, MonOpenPartitionActivity, TableRows, TableScheme
from collectors.layouts.ase_catalog import SCHEMES, is_system
from collectors.layouts.figures import reading
from collectors.reports.ase.monitor_tables.cells import count, megabytes, time, whole, words
from collectors.reports.ase.monitor_tables.tables import Column, Joined, MonitorTable, counts, marks, order

SHARE = "pct percent sharepct sharepercent pctofall percentofall pctoftotal percentoftotal"
"""What scripts call the share of all logical reads beside the counts of one object."""
COLUMNS: dict[str, Column] = {
    "dbname": ("database", words),
    "dbid": ("db_id", whole),
    "ownername": ("owner", words),
    "objectname": ("object_name", words),
    "objectid": ("object_id", whole),
    "indexid": ("index_id", whole),
    "instanceid": ("instance", whole),
    "objectcachedate": ("cached_since", time),
    **dict.fromkeys(SHARE.split(), ("share_percent", reading)),
    **counts(
        logical_reads="logicalreads",
        physical_reads="physicalreads",
        apf_reads="apfreads",
        pages_read="pagesread",
        physical_writes="physicalwrites",
        pages_written="pageswritten",
        rows_inserted="rowsinserted",
        rows_deleted="rowsdeleted",
        rows_updated="rowsupdated",
        operations="operations",
        lock_requests="lockrequests",
        lock_waits="lockwaits",
        shared_lock_wait_time="sharedlockwaittime",
        exclusive_lock_wait_time="exclusivelockwaittime",
        update_lock_wait_time="updatelockwaittime",
        opt_select_count="optselectcount",
        used_count="usedcount",
        scans="scans",
        hkgc_requests="hkgcrequests",
        hkgc_pending="hkgcpending",
        hkgc_overflows="hkgcoverflows",
    ),
}
COUNTED = ("logicalreads", "physicalreads", "lockrequests", "lockwaits", "usedcount", "rowsupdated", "rowsinserted",
           "operations", "apfreads", "pagesread", "optselectcount", "scans", "exclusivelockwaittime",
           "hkgcrequests", "hkgcoverflows")  # fmt: skip
BY_DATABASE = "dbname logicalreads apfreads"
"""Sums of a question that groups by database: no other table has all three, and no counter of process or statement."""
OTHERS = frozenset(("spid", "kpid", "iobuffersize", "procedureid", "planid", "ssqlid"))
"""Columns of tables that count by process, procedure or statement."""
BEFORE = "DBID ObjectID IndexID"
COUNTS = (
    "LogicalReads PhysicalReads APFReads PagesRead PhysicalWrites PagesWritten RowsInserted RowsDeleted RowsUpdated "
    "Operations LockRequests LockWaits OptSelectCount LastOptSelectDate UsedCount LastUsedDate"
)
HOUSEKEEPER = "HkgcRequests HkgcPending HkgcOverflows"


def _scheme(cell: str) -> str | None:
    """A lock scheme as `lockscheme()` says it; nothing of anything else."""
    said = cell.strip().lower()
    return said if said in SCHEMES else None


def _users(cell: str) -> str | None:
    """The name of a table that can be altered: no system table."""
    name = words(cell)
    return None if name is None or is_system(name) else name


SCHEME_BESIDE = MonitorTable(
    name="lockscheme",
    fact=TableScheme,
    columns={
        "dbname": ("database", words),
        "ownername": ("owner", words),
        "objectname": ("table", _users),
        "objectid": ("object_id", whole),
        "scheme": ("scheme", _scheme),
        "lockscheme": ("scheme", _scheme),
    },
    marks=(),
)
"""No table of the server: what `lockscheme(ObjectID, DBID)` beside the counts says of their tables."""

SIZES_BESIDE = MonitorTable(
    name="size",
    fact=IndexSize,
    columns={
        "dbname": ("database", words),
        "ownername": ("owner", words),
        "objectname": ("table", words),
        "objectid": ("object_id", whole),
        "indexid": ("index_id", whole),
        "sizemb": ("size_kb", megabytes),
        "sizekb": ("size_kb", count),
    },
    marks=(),
    besides=("size_kb", "index_id"),
)
"""How large each table or index is on disk, where a script asks for it beside the counts."""

ROWS_BESIDE = MonitorTable(
    name="systabstats",
    fact=TableRows,
    columns={
        "dbname": ("database", words),
        "objectname": ("table", _users),
        "indexid": ("index_id", whole),
        **dict.fromkeys(("rowcount", "tablerows", "rowcnt"), ("rows", reading)),
        "forwrowcnt": ("forwarded", reading),
        "delrowcnt": ("deleted", reading),
        "pagecnt": ("pages", reading),
        "emptypgcnt": ("empty_pages", reading),
        "datarowsize": ("row_bytes", reading),
    },
    marks=(),
    besides=("rows",),
)
"""Rows of `systabstats` beside the counts, or what `row_count()` says of each table."""

OPEN_OBJECTS = MonitorTable(
    name="monOpenObjectActivity",
    fact=MonOpenObjectActivity,
    columns=COLUMNS,
    marks=marks(*(f"{who} {what}" for who in ("objectname", "objectid") for what in COUNTED), BY_DATABASE),
    never=OTHERS | {"partitionid", "partitionname"},
    joined=(
        Joined(SCHEME_BESIDE, frozenset(("lockscheme", "scheme"))),
        Joined(SIZES_BESIDE, frozenset(("sizekb", "sizemb"))),
        Joined(ROWS_BESIDE, frozenset(("delrowcnt", "emptypgcnt", "forwrowcnt", "rowcount", "tablerows"))),
    ),
    orders=(
        order(f"{BEFORE} {COUNTS}"),
        order(f"{BEFORE} DBName ObjectName {COUNTS}"),
        order(f"{BEFORE} DBName ObjectName {COUNTS} {HOUSEKEEPER}"),
        order(
            f"{BEFORE} DBName ObjectName {COUNTS} {HOUSEKEEPER} SharedLockWaitTime ExclusiveLockWaitTime "
            "UpdateLockWaitTime ObjectCacheDate"
        ),
    ),
)

OPEN_PARTITIONS = MonitorTable(
    name="monOpenPartitionActivity",
    fact=MonOpenPartitionActivity,
    columns={**COLUMNS, "partitionid": ("partition_id", whole), "partitionname": ("partition_name", words)},
    marks=marks(*(f"{who} {what}" for who in ("partitionname", "partitionid") for what in COUNTED)),
    never=OTHERS,
)
