"""Columns of the tables that the server has, as the releases have them.

Monitoring tables: knowledge/ase-formats.md, 2.2, and for the others what the manuals of Adaptive Server list. Written
as `name:type`; behind the type `+` is a counter (bit 1 of `monTableColumns.Indicators`), `*` a counter that sp_sysmon's
clearing resets (bits 1 and 2), `@16` a column that release 15.7 has not.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.live.tds.types import Column

COUNTS, CLEARED = 1, 2
"""Bits of `Indicators`."""

OBJECT_COUNTERS = """
    LogicalReads:int* PhysicalReads:int* APFReads:int* PagesRead:int* PhysicalWrites:int* PagesWritten:int*
    RowsInserted:int* RowsDeleted:int* RowsUpdated:int* Operations:int* LockRequests:int* LockWaits:int*
    OptSelectCount:int* LastOptSelectDate:datetime UsedCount:int* LastUsedDate:datetime
    HkgcRequests:int* HkgcPending:int HkgcOverflows:int*
    SharedLockWaitTime:int* ExclusiveLockWaitTime:int* UpdateLockWaitTime:int* ObjectCacheDate:datetime
    NumLevel0Waiters:int AvgLevel0WaitTime:int
    Scans:int*@16 LastScanDate:datetime@16 Updates:int*@16 LastUpdateDate:datetime@16
    Inserts:int*@16 LastInsertDate:datetime@16 Deletes:int*@16 LastDeleteDate:datetime@16
"""

MONITORING = {
    "monSpinlockActivity": """
        SpinlockName:varchar(255) Grabs:bigint+ Spins:bigint+ Waits:bigint+ OwnerPID:int LastOwnerPID:int
        Contention:real InstanceID:tinyint SpinlockSlotID:int""",
    "monDataCache": """
        CacheID:int RelaxedReplacement:int BufferPools:int CacheSearches:int* PhysicalReads:int*
        LogicalReads:int* PhysicalWrites:int* Stalls:int* CachePartitions:smallint InstanceID:tinyint
        CacheName:varchar(30) Status:varchar(30) Type:varchar(30) CacheSize:int ReplacementStrategy:varchar(30)
        APFReads:int* Overhead:int CASGrabs:bigint+@16 CASSpins:bigint+@16 CASWaits:bigint+@16""",
    "monCachePool": """
        CacheID:int InstanceID:tinyint IOBufferSize:int AllocatedKB:int PhysicalReads:int* Stalls:int*
        PagesTouched:int PagesRead:int* BuffersToMRU:int* BuffersToLRU:int* CacheName:varchar(30)
        LogicalReads:int* PhysicalWrites:int* APFReads:int* APFPercentage:int WashSize:int""",
    "monCachedObject": """
        CacheID:int InstanceID:tinyint DBID:int IndexID:int PartitionID:int CachedKB:int CacheName:varchar(30)
        ObjectID:int DBName:varchar(30) OwnerUserID:int OwnerName:varchar(30) ObjectName:varchar(255)
        PartitionName:varchar(255) ObjectType:varchar(30) TotalSizeKB:int ProcessesAccessing:int""",
    "monOpenObjectActivity": f"""DBID:int ObjectID:int IndexID:int InstanceID:tinyint DBName:varchar(30)
        ObjectName:varchar(255) {OBJECT_COUNTERS}""",
    "monOpenPartitionActivity": f"""DBID:int ObjectID:int IndexID:int PartitionID:int InstanceID:tinyint
        DBName:varchar(30) ObjectName:varchar(255) PartitionName:varchar(255) {OBJECT_COUNTERS}""",
    "monEngine": """
        EngineNumber:smallint InstanceID:tinyint CurrentKPID:int PreviousKPID:int CPUTime:int+
        SystemCPUTime:int+ UserCPUTime:int+ IOCPUTime:int+ IdleCPUTime:int+ Yields:int+ Connections:int
        DiskIOChecks:int+ DiskIOPolled:int+ DiskIOCompleted:int+ MaxOutstandingIOs:int ProcessesAffinitied:int
        ContextSwitches:int+ HkgcMaxQSize:int HkgcPendingItems:int HkgcHWMItems:int HkgcOverflows:int+
        Status:varchar(20) StartTime:datetime StopTime:datetime AffinitiedToCPU:int OSPID:int ThreadID:int""",
    "monThread": """
        InstanceID:tinyint ThreadID:int KTID:int OSThreadID:bigint AltOSThreadID:int ThreadPoolID:int
        State:varchar(30) ThreadAffinity:int ThreadPoolName:varchar(30) TaskRuns:bigint+ TotalTicks:bigint+
        IdleTicks:bigint+ SleepTicks:bigint+ BusyTicks:bigint+ UserTime:bigint+ SystemTime:bigint+
        MinorFaults:bigint+ MajorFaults:bigint+ VoluntaryCtxtSwitches:bigint+ NonVoluntaryCtxtSwitches:bigint+""",
    "monSysWaits": "InstanceID:tinyint WaitEventID:smallint WaitTime:int+ Waits:int+",
    "monWaitEventInfo": "WaitEventID:smallint WaitClassID:smallint Description:varchar(50)",
    "monWaitClassInfo": "WaitClassID:smallint Description:varchar(50)",
    "monState": """
        InstanceID:tinyint LockWaitThreshold:int LockWaits:int DaysRunning:int CheckPoints:int NumDeadlocks:int+
        DiagnosticDumps:int Connections:int MaxRecovery:int Transactions:bigint+@16 Rollbacks:bigint+@16
        Selects:bigint+@16 Updates:bigint+@16 Inserts:bigint+@16 Deletes:bigint+@16 Merges:bigint+@16
        TableAccesses:bigint+@16 IndexAccesses:bigint+@16 StartDate:datetime CountersCleared:datetime""",
    "monLocks": """
        SPID:int InstanceID:tinyint KPID:int DBID:int ParentSPID:int LockID:int Context:int ObjectID:int
        LockState:varchar(20) LockType:varchar(20) LockLevel:varchar(30) WaitTime:int PageNumber:unsigned_int
        RowNumber:int BlockedState:varchar(64) BlockedBy:int SourceCodeID:varchar(30) PartitionID:int@16""",
    "monDeadLock": """
        DeadlockID:int VictimKPID:int InstanceID:tinyint ResolveTime:datetime ObjectDBID:int ObjectID:int
        PageNumber:unsigned_int RowNumber:int HeldFamilyID:int HeldSPID:int HeldKPID:int HeldProcDBID:int
        HeldProcedureID:int HeldBatchID:int HeldContextID:int HeldLineNumber:int WaitFamilyID:int WaitSPID:int
        WaitKPID:int WaitTime:int ObjectName:varchar(255) HeldUserName:varchar(30) HeldApplName:varchar(30)
        HeldTranName:varchar(255) HeldLockType:varchar(20) HeldCommand:varchar(30) WaitUserName:varchar(30)
        WaitLockType:varchar(20) WaitTranName:varchar(255) WaitCommand:varchar(30) ObjectDBName:varchar(30)
        HeldProcDBName:varchar(30) HeldProcedureName:varchar(255) WaitProcDBName:varchar(30)
        WaitProcedureName:varchar(255)""",
    "monDeviceIO": """
        InstanceID:tinyint Reads:int* APFReads:int* Writes:int* DevSemaphoreRequests:int+ DevSemaphoreWaits:int+
        IOTime:int* LogicalName:varchar(30) PhysicalName:varchar(128)""",
    "monIOQueue": "InstanceID:tinyint IOs:int* IOTime:int* LogicalName:varchar(30) IOType:varchar(12)",
    "monOpenDatabases": """
        DBID:int InstanceID:tinyint AppendLogRequests:int* AppendLogWaits:int* BackupInProgress:int
        LastBackupFailed:int TransactionLogFull:int SuspendedProcesses:int PRSUpdateCount:int+ DBName:varchar(30)
        BackupStartTime:datetime QuiesceTag:varchar(30)""",
    "monSysExecutionTime": """
        InstanceID:tinyint@16 OperationID:int@16 OperationName:varchar(30)@16 ExecutionTime:bigint+@16
        ExecutionCnt:bigint+@16""",
    "monProcedureCache": "InstanceID:tinyint Requests:int* Loads:int* Writes:int* Stalls:int*",
    "monProcELC": """
        EngineID:int@16 InstanceID:tinyint@16 ProcELCNum:int@16 ProcELCChunkSize:int@16 ProcELCCount:int@16
        ProcELCMaxCount:int@16 ProcELCAllocs:int+@16 ProcELCFrees:int+@16 ProcELCEmpty:int+@16 ProcELCFull:int+@16
        ProcELCFlushes:int+@16""",
    "monStatementCache": """
        InstanceID:tinyint TotalSizeKB:int UsedSizeKB:int NumStatements:int NumSearches:int* HitCount:int*
        NumInserts:int* NumRemovals:int* NumRecompilesSchemaChanges:int+ NumRecompilesPlanFlushes:int+""",
    "monProcess": """
        SPID:int InstanceID:tinyint KPID:int ServerUserID:int BatchID:int ContextID:int LineNumber:int
        SecondsConnected:int DBID:int EngineNumber:smallint Priority:int FamilyID:int Login:varchar(30)
        Application:varchar(30) Command:varchar(30) NumChildren:int SecondsWaiting:int WaitEventID:smallint
        BlockingSPID:int BlockingXLOID:int DBName:varchar(30) EngineGroupName:varchar(30)
        ExecutionClass:varchar(30) MasterTransactionID:varchar(255) HostName:varchar(30)@16""",
    "monProcessWaits": """
        SPID:int InstanceID:tinyint KPID:int ServerUserID:int WaitEventID:smallint Waits:int+ WaitTime:int+""",
    "monProcessObject": """
        SPID:int InstanceID:tinyint KPID:int DBID:int ObjectID:int PartitionID:int IndexID:int OwnerUserID:int
        LogicalReads:int PhysicalReads:int PhysicalAPFReads:int DBName:varchar(30) ObjectName:varchar(255)
        PartitionName:varchar(255) ObjectType:varchar(30) PartitionSize:int""",
    "monProcessStatement": """
        SPID:int InstanceID:tinyint KPID:int DBID:int ProcedureID:int PlanID:int BatchID:int ContextID:int
        LineNumber:int CpuTime:int+ WaitTime:int+ MemUsageKB:int PhysicalReads:int+ LogicalReads:int+
        PagesModified:int+ PacketsSent:int+ PacketsReceived:int+ NetworkPacketSize:int PlansAltered:int+
        RowsAffected:int DBName:varchar(30) StartTime:datetime""",
    "monProcessActivity": """
        SPID:int InstanceID:tinyint KPID:int ServerUserID:int CPUTime:int+ WaitTime:int+ PhysicalReads:int+
        LogicalReads:int+ PagesRead:int+ PhysicalWrites:int+ PagesWritten:int+ MemUsageKB:int LocksHeld:int
        TableAccesses:int+ IndexAccesses:int+ WorkTables:int+ TempDbObjects:int+ ULCBytesWritten:int+
        ULCFlushes:int+ ULCFlushFull:int+ ULCMaxUsage:int ULCCurrentUsage:int Transactions:int+ Commits:int+
        Rollbacks:int+""",
    "monProcessNetIO": """
        SPID:int InstanceID:tinyint KPID:int NetworkPacketSize:int PacketsSent:int+ PacketsReceived:int+
        BytesSent:int+ BytesReceived:int+ NetworkEngineNumber:smallint""",
    "monCachedStatement": """
        InstanceID:tinyint SSQLID:int Hashkey:int UserID:int SUserID:int DBID:int UseCount:int+
        StatementSize:int MinPlanSizeKB:int MaxPlanSizeKB:int CurrentUsageCount:int MaxUsageCount:int
        NumRecompilesSchemaChanges:int+ NumRecompilesPlanFlushes:int+ HasAutoParams:tinyint
        AvgPIO:int AvgLIO:int AvgCpuTime:int AvgElapsedTime:int MinLIO:int MaxLIO:int
        CachedDate:datetime LastUsedDate:datetime DBName:varchar(30) LockWaits:int+ LockWaitTime:int+
        TotalLIO:bigint+@16 TotalPIO:bigint+@16 TotalCpuTime:bigint+@16 TotalElapsedTime:bigint+@16""",
    "monSysStatement": """
        SPID:int InstanceID:tinyint KPID:int DBID:int ProcedureID:int PlanID:int BatchID:int ContextID:int
        LineNumber:int CpuTime:int WaitTime:int MemUsageKB:int PhysicalReads:int LogicalReads:int
        PagesModified:int PacketsSent:int PacketsReceived:int NetworkPacketSize:int PlansAltered:int
        RowsAffected:int ErrorStatus:int HashKey:int SsqlId:int ProcNestLevel:int StatementNumber:int
        DBName:varchar(30) StartTime:datetime EndTime:datetime""",
    "monTables": """
        TableID:int Columns:tinyint Parameters:tinyint Indicators:int Size:int TableName:varchar(30)
        Description:varchar(368)""",
    "monTableColumns": """
        TableID:int ColumnID:int TypeID:int Precision:tinyint Scale:tinyint Length:smallint Indicators:int
        TableName:varchar(30) ColumnName:varchar(30) TypeName:varchar(20) Description:varchar(368)""",
}
"""Tables that need mon_role, with the columns of release 16.0."""

MASTER = {
    "sysdatabases": """
        name:varchar(30) dbid:smallint suid:int status:smallint version:smallint logptr:int crdate:datetime
        dumptrdate:datetime status2:int audflags:int deftabaud:int defvwaud:int defpraud:int
        def_remote_type:smallint def_remote_loc:varchar(349) status3:int status4:int durability:int""",
    "sysconfigures": """
        config:smallint value:int comment:varchar(255) status:int name:varchar(255) parent:smallint
        value2:varchar(255) value3:int value4:int instanceid:tinyint""",
    "syscurconfigs": """
        config:smallint value:int comment:varchar(255) status:int value2:varchar(255) defvalue:varchar(255)
        minimum_value:int maximum_value:int memory_used:varchar(30) display_level:int datatype:int
        message_num:int apf_percent:int type:varchar(20) unit:varchar(20) instanceid:tinyint""",
    "syscacheinfo": """
        cache_name:varchar(30) cache_status:varchar(20) cache_type:varchar(30) config_size:numeric(18,2)
        run_size:numeric(18,2) config_replacement:varchar(20) run_replacement:varchar(20)
        config_partitions:smallint run_partitions:smallint overhead:numeric(18,2) cacheid:int instanceid:int
        scope:varchar(10)""",
    "syspoolinfo": """
        cache_name:varchar(30) io_size:varchar(6) config_size:numeric(18,2) run_size:numeric(18,2)
        apf_percent:int wash_size:varchar(10) cacheid:int instanceid:int scope:varchar(10)""",
    "sysusages": """
        dbid:smallint segmap:int lstart:unsigned_int size:unsigned_int vstart:int unreservedpgs:unsigned_int
        crdate:datetime vdevno:int""",
    "sysengines": """
        engine:smallint osprocid:int osprocname:varchar(255) status:varchar(12) affinitied:int cur_kpid:int
        last_kpid:int idle_1:tinyint idle_2:tinyint idle_3:tinyint idle_4:tinyint starttime:datetime
        nodeid:tinyint""",
    "sysprocesses": """
        spid:int kpid:int enginenum:int status:varchar(12) suid:int hostname:varchar(30)
        program_name:varchar(30) hostprocess:varchar(30) cmd:varchar(30) cpu:int physical_io:int memusage:int
        blocked:int dbid:int uid:int gid:int""",
    "syslogins": "suid:int status:smallint accdate:datetime totcpu:int totio:int name:varchar(30)",
}
"""Tables of `master` alone that anybody may read."""

EVERYWHERE = {
    "sysobjects": """
        name:varchar(255) id:int uid:int type:char(2) userstat:smallint sysstat:smallint indexdel:smallint
        schemacnt:smallint sysstat2:unsigned_int crdate:datetime expdate:datetime deltrig:int instrig:int
        updtrig:int seltrig:int ckfirst:int cache:smallint audflags:int objspare:unsigned_int
        versionts:varchar(12) loginame:varchar(30)""",
    "sysindexes": """
        name:varchar(255) id:int indid:smallint doampg:int ioampg:int oampgtrips:int status3:smallint
        status2:smallint ipgtrips:int first:int root:int distribution:int usagecnt:smallint segment:smallint
        status:smallint maxrowsperpage:smallint minlen:smallint maxlen:smallint maxirow:smallint keycnt:smallint
        soid:tinyint csid:tinyint crdate:datetime""",
    "sysusers": "suid:int uid:int gid:int name:varchar(30) environ:varchar(255)",
}
"""Tables that each database has."""


@dataclass(frozen=True)
class Made:
    """A column of a table: how it is sent, how the catalogue calls it, and its `Indicators`."""

    column: Column
    type: str
    indicators: int

    @property
    def counts(self) -> bool:
        """Whether it is a counter."""
        return bool(self.indicators & COUNTS)


def tables(release: str) -> Mapping[str, tuple[Made, ...]]:
    """Give every table's columns in this release (`15.7` or `16.0`)."""
    made = {
        name: tuple(_made(word) for word in text.split() if release.startswith("16") or not word.endswith("@16"))
        for group in (MONITORING, MASTER, EVERYWHERE)
        for name, text in group.items()
    }
    return {name: columns for name, columns in made.items() if columns}


def typed(name: str, text: str) -> Column:
    """Make a column of a type as it is declared: `varchar(30)`, `numeric(18,2)`, `unsigned int`. Raises `KeyError`."""
    kind, _, rest = text.lower().replace("_", " ").partition("(")
    figures = [int(one) for one in rest.rstrip(") ").split(",")] if rest else []
    kind = " ".join(kind.split())
    kind = {"integer": "int", "decimal": "numeric", "nvarchar": "varchar", "nchar": "char"}.get(kind, kind)
    if kind == "numeric":
        return Column(name, kind, precision=figures[0] if figures else 18, scale=figures[1] if len(figures) > 1 else 0)
    if kind in ("char", "varchar"):
        return Column(name, kind, size=figures[0] if figures else 30)
    return Column(name, kind)


def _made(word: str) -> Made:
    name, _, kind = word.removesuffix("@16").partition(":")
    indicators = {"+": COUNTS, "*": COUNTS | CLEARED}.get(kind[-1], 0)
    kind = kind.rstrip("+*").replace("_", " ")
    return Made(typed(name, kind), kind.partition("(")[0], indicators)
