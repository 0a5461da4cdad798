"""Data caches, their pools, and what is in them: `monDataCache`, `monCachePool`, `monCachedObject`."""

from collectors.facts.ase import MonCachedObject, MonCachePool, MonDataCache
from collectors.reports.ase.monitor_tables.cells import kilobytes, megabytes, relaxed, whole, words, yes
from collectors.reports.ase.monitor_tables.objects import OPEN_OBJECTS
from collectors.reports.ase.monitor_tables.tables import Joined, MonitorTable, counts, marks, order

DATA_CACHES = MonitorTable(
    name="monDataCache",
    fact=MonDataCache,
    columns={
        "cachename": ("name", words),
        "cacheid": ("cache_id", whole),
        "instanceid": ("instance", whole),
        **counts(
            searches="cachesearches",
            logical_reads="logicalreads",
            physical_reads="physicalreads",
            apf_reads="apfreads",
            physical_writes="physicalwrites",
            stalls="stalls",
            cas_grabs="casgrabs",
            cas_spins="casspins",
            cas_waits="caswaits",
            partitions="cachepartitions",
            pools="bufferpools",
            size_kb="cachesize",
            overhead_kb="overhead",
        ),
        "relaxedreplacement": ("relaxed", yes),
        "replacementstrategy": ("relaxed", relaxed),
        "status": ("status", words),
        "type": ("kind", words),
    },
    marks=marks(
        "cachesearches", "cachename physicalreads", "cachename logicalreads", "cachename stalls",
        "cachename physicalwrites", "cachename apfreads", "cachename cachepartitions", "cachename casgrabs",
        "relaxedreplacement bufferpools",
    ),
    never=frozenset(("iobuffersize", "allocatedkb", "pagestouched", "bufferstomru", "objectid", "cachedkb", "spid")),
    orders=(
        order(
            "CacheID RelaxedReplacement BufferPools CacheSearches PhysicalReads LogicalReads PhysicalWrites Stalls "
            "CachePartitions CacheName"
        ),
        order(
            "CacheID InstanceID RelaxedReplacement BufferPools CacheSearches PhysicalReads LogicalReads PhysicalWrites "
            "Stalls CachePartitions CacheName"
        ),
        order(
            "CacheID RelaxedReplacement BufferPools CacheSearches PhysicalReads LogicalReads PhysicalWrites Stalls "
            "CachePartitions CacheName Status Type CacheSize ReplacementStrategy APFReads Overhead"
        ),
        order(
            "CacheID InstanceID RelaxedReplacement BufferPools CacheSearches PhysicalReads LogicalReads PhysicalWrites "
            "Stalls CachePartitions CacheName Status Type CacheSize ReplacementStrategy APFReads Overhead"
        ),
        order(
            "CacheID RelaxedReplacement BufferPools CacheSearches PhysicalReads LogicalReads PhysicalWrites Stalls "
            "CachePartitions CacheName Status Type CacheSize ReplacementStrategy APFReads Overhead CASGrabs CASSpins "
            "CASWaits"
        ),
        order(
            "CacheID InstanceID RelaxedReplacement BufferPools CacheSearches PhysicalReads LogicalReads PhysicalWrites "
            "Stalls CachePartitions CacheName Status Type CacheSize ReplacementStrategy APFReads Overhead CASGrabs "
            "CASSpins CASWaits"
        ),
    ),
)  # fmt: skip

CACHE_POOLS = MonitorTable(
    name="monCachePool",
    fact=MonCachePool,
    columns={
        "cachename": ("cache", words),
        "cacheid": ("cache_id", whole),
        "instanceid": ("instance", whole),
        "iobuffersize": ("io_size_kb", kilobytes),
        **counts(
            allocated_kb="allocatedkb",
            pages_touched="pagestouched",
            wash_size_kb="washsize",
            apf_percentage="apfpercentage",
            physical_reads="physicalreads",
            logical_reads="logicalreads",
            physical_writes="physicalwrites",
            apf_reads="apfreads",
            stalls="stalls",
            pages_read="pagesread",
            buffers_to_mru="bufferstomru",
            buffers_to_lru="bufferstolru",
        ),
    },
    marks=marks(
        "iobuffersize", "cachename pagestouched", "cachename allocatedkb", "cachename bufferstomru",
        "cacheid bufferstomru", "cacheid pagestouched",
    ),
    orders=(
        order(
            "CacheID IOBufferSize AllocatedKB PhysicalReads Stalls PagesTouched PagesRead BuffersToMRU BuffersToLRU "
            "CacheName"
        ),
        order(
            "CacheID InstanceID IOBufferSize AllocatedKB PhysicalReads Stalls PagesTouched PagesRead BuffersToMRU "
            "BuffersToLRU CacheName"
        ),
        order(
            "CacheID IOBufferSize AllocatedKB PhysicalReads Stalls PagesTouched PagesRead BuffersToMRU BuffersToLRU "
            "CacheName LogicalReads PhysicalWrites APFReads APFPercentage WashSize"
        ),
        order(
            "CacheID InstanceID IOBufferSize AllocatedKB PhysicalReads Stalls PagesTouched PagesRead BuffersToMRU "
            "BuffersToLRU CacheName LogicalReads PhysicalWrites APFReads APFPercentage WashSize"
        ),
    ),
)  # fmt: skip

CACHED_OBJECTS = MonitorTable(
    name="monCachedObject",
    fact=MonCachedObject,
    columns={
        "cachename": ("cache", words),
        "cacheid": ("cache_id", whole),
        "instanceid": ("instance", whole),
        "dbname": ("database", words),
        "dbid": ("db_id", whole),
        "ownername": ("owner", words),
        "objectname": ("object_name", words),
        "objectid": ("object_id", whole),
        "indexid": ("index_id", whole),
        "partitionid": ("partition_id", whole),
        "partitionname": ("partition_name", words),
        "objecttype": ("object_type", words),
        "cachedmb": ("cached_kb", megabytes),
        **counts(cached_kb="cachedkb", total_kb="totalsizekb", processes="processesaccessing"),
    },
    marks=marks(
        *(
            f"{size} {whose}"
            for size in ("cachedkb", "cachedmb")
            for whose in ("objectid", "objectname", "indexid", "cachename", "dbname")
        )
    ),
    joined=(Joined(OPEN_OBJECTS, frozenset(("logicalreads",))),),
    orders=(
        order(
            "CacheID DBID IndexID CachedKB CacheName ObjectID DBName OwnerUserID OwnerName ObjectName PartitionID "
            "PartitionName ObjectType TotalSizeKB ProcessesAccessing"
        ),
        order(
            "CacheID InstanceID DBID IndexID PartitionID CachedKB CacheName ObjectID DBName OwnerUserID OwnerName "
            "ObjectName PartitionName ObjectType TotalSizeKB ProcessesAccessing"
        ),
    ),
)
