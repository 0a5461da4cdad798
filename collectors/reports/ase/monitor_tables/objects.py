"""Open tables, indexes and partitions: `monOpenObjectActivity`, `monOpenPartitionActivity`."""

from collectors.facts.ase import MonOpenObjectActivity, MonOpenPartitionActivity
from collectors.reports.ase.monitor_tables.cells import time, whole, words
from collectors.reports.ase.monitor_tables.tables import Column, MonitorTable, counts, marks, order

COLUMNS: dict[str, Column] = {
    "dbname": ("database", words),
    "dbid": ("db_id", whole),
    "ownername": ("owner", words),
    "objectname": ("object_name", words),
    "objectid": ("object_id", whole),
    "indexid": ("index_id", whole),
    "instanceid": ("instance", whole),
    "objectcachedate": ("cached_since", time),
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
           "operations", "apfreads", "pagesread", "optselectcount", "scans", "exclusivelockwaittime")  # fmt: skip
OTHERS = frozenset(("spid", "kpid", "cachedkb", "iobuffersize", "procedureid", "planid", "ssqlid"))
"""Columns of tables that count by process, procedure or statement."""
BEFORE = "DBID ObjectID IndexID"
COUNTS = (
    "LogicalReads PhysicalReads APFReads PagesRead PhysicalWrites PagesWritten RowsInserted RowsDeleted RowsUpdated "
    "Operations LockRequests LockWaits OptSelectCount LastOptSelectDate UsedCount LastUsedDate"
)
HOUSEKEEPER = "HkgcRequests HkgcPending HkgcOverflows"

OPEN_OBJECTS = MonitorTable(
    name="monOpenObjectActivity",
    fact=MonOpenObjectActivity,
    columns=COLUMNS,
    marks=marks(*(f"{who} {what}" for who in ("objectname", "objectid") for what in COUNTED)),
    never=OTHERS | {"partitionid", "partitionname"},
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
