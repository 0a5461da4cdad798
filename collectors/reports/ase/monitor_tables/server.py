"""The server as a whole, engines, threads, waits, caches of code: one row each or a few."""

from collectors.facts.ase import (
    DatabaseFragment,
    MonDeviceIO,
    MonEngine,
    MonIOQueue,
    MonNetworkIO,
    MonOpenDatabases,
    MonProcedureCache,
    MonProcELC,
    MonState,
    MonStatementCache,
    MonSysExecutionTime,
    MonSysWaits,
    MonThread,
)
from collectors.reports.ase.monitor_tables.cells import count, percent, time, whole, words
from collectors.reports.ase.monitor_tables.tables import Column, MonitorTable, counts, marks, order

INSTANCE: dict[str, Column] = {"instanceid": ("instance", whole)}

FRAGMENTS = MonitorTable(
    name="sysusages",
    fact=DatabaseFragment,
    columns={
        "dbname": ("database", words),
        "database": ("database", words),
        "dbid": ("db_id", whole),
        "segmap": ("segments", whole),
        **counts(pages="size"),
    },
    marks=marks("dbid segmap", "dbname segmap", "database segmap"),
)
"""Not a monitoring table: who looks for mixed data and log selects it beside them."""

ENGINES = MonitorTable(
    name="monEngine",
    fact=MonEngine,
    columns={
        "enginenumber": ("engine", whole),
        **INSTANCE,
        "status": ("status", words),
        "starttime": ("started", time),
        **counts(
            cpu_seconds="cputime",
            system_seconds="systemcputime",
            user_seconds="usercputime",
            idle_seconds="idlecputime",
            io_seconds="iocputime",
            context_switches="contextswitches",
            connections="connections",
        ),
        **{
            f"{what}{share}": (f"{field}_percent", percent)
            for what, field in (
                ("user", "user"), ("usercpu", "user"), ("system", "system"), ("sys", "system"), ("systemcpu", "system"),
                ("idle", "idle"), ("idlecpu", "idle"), ("io", "io"), ("iocpu", "io"),
            )
            for share in ("pct", "percent")
        },
    },
    marks=marks(
        "enginenumber userpct", "enginenumber idlepct", "enginenumber userpercent", "enginenumber idlepercent",
        "enginenumber cputime", "enginenumber usercputime", "enginenumber systemcputime", "enginenumber idlecputime",
        "enginenumber contextswitches", "enginenumber affinitiedtocpu", "enginenumber status connections",
    ),
    never=frozenset(("spid", "kpid")),
    orders=(
        order(
            "EngineNumber CurrentKPID PreviousKPID CPUTime SystemCPUTime UserCPUTime IdleCPUTime ContextSwitches "
            "Connections ProcessesAffinitied Status StartTime StopTime AffinitiedToCPU OSPID"
        ),
    ),
)  # fmt: skip

THREADS = MonitorTable(
    name="monThread",
    fact=MonThread,
    columns={
        "threadid": ("thread", whole),
        "osthreadid": ("os_thread", whole),
        **INSTANCE,
        "threadpoolname": ("pool", words),
        "state": ("state", words),
        **counts(
            task_runs="taskruns",
            total_ticks="totalticks",
            idle_ticks="idleticks",
            sleep_ticks="sleepticks",
            busy_ticks="busyticks",
            user_time="usertime",
            system_time="systemtime",
            voluntary_switches="voluntaryctxtswitches",
            involuntary_switches="nonvoluntaryctxtswitches",
        ),
    },
    marks=marks(
        "threadid totalticks", "threadid busyticks", "threadid idleticks", "threadid taskruns", "threadid usertime",
        "threadid threadpoolname", "threadpoolname totalticks",
    ),
    never=frozenset(("enginenumber", "spid", "kpid")),
    orders=(
        order(
            "InstanceID ThreadID KTID OSThreadID AltOSThreadID ThreadPoolID ThreadPoolName State ThreadAffinity "
            "TaskRuns TotalTicks IdleTicks SleepTicks BusyTicks UserTime SystemTime MinorFaults MajorFaults "
            "VoluntaryCtxtSwitches NonVoluntaryCtxtSwitches"
        ),
    ),
)  # fmt: skip

SYSTEM_WAITS = MonitorTable(
    name="monSysWaits",
    fact=MonSysWaits,
    columns={
        "waiteventid": ("event", whole),
        "description": ("description", words),
        **INSTANCE,
        **counts(waits="waits", wait_seconds="waittime"),
    },
    marks=marks("waiteventid waits", "waiteventid waittime", "description waits waittime"),
    never=frozenset(("spid", "kpid")),
    orders=(order("InstanceID WaitEventID WaitTime Waits"), order("WaitEventID WaitTime Waits")),
)

WAIT_EVENTS = MonitorTable(
    name="monWaitEventInfo",
    fact=MonSysWaits,
    columns={
        "waiteventid": ("event", whole),
        "waitclassid": ("wait_class", whole),
        "description": ("description", words),
    },
    marks=marks("waiteventid description"),
    never=frozenset(("spid", "kpid", "waits", "waittime")),
    orders=(order("WaitEventID WaitClassID Description"),),
)
"""No facts of its own: it gives the waits their words."""

WAIT_CLASSES = MonitorTable(
    name="monWaitClassInfo",
    fact=MonSysWaits,
    columns={"waitclassid": ("event", whole), "description": ("class_name", words)},
    marks=marks("waitclassid description"),
    never=frozenset(("waiteventid", "spid", "kpid", "waits", "waittime")),
)
"""No facts of its own: it gives the waits the words of their class."""
WORDS_ALONE = (WAIT_EVENTS, WAIT_CLASSES)

NETWORK = MonitorTable(
    name="monNetworkIO",
    fact=MonNetworkIO,
    columns={
        "instanceid": ("instance", whole),
        **counts(
            packets_sent="packetssent",
            packets_received="packetsreceived",
            bytes_sent="bytessent",
            bytes_received="bytesreceived",
        ),
    },
    marks=marks("packetssent packetsreceived bytessent", "packetssent bytessent"),
    never=frozenset(("spid", "kpid", "networkpacketsize")),
)

STATE = MonitorTable(
    name="monState",
    fact=MonState,
    columns={
        **INSTANCE,
        "startdate": ("started", time),
        "counterscleared": ("counters_cleared", time),
        **counts(
            days_running="daysrunning",
            connections="connections",
            lock_wait_threshold="lockwaitthreshold",
            lock_waits="lockwaits",
            deadlocks="numdeadlocks",
            transactions="transactions",
            selects="selects",
            inserts="inserts",
            updates="updates",
            deletes="deletes",
            logical_reads="logicalreads",
        ),
    },
    marks=marks(
        "lockwaitthreshold", "counterscleared", "daysrunning", "numdeadlocks", "startdate connections",
        "diagnosticdumps", "maxrecovery checkpoints",
    ),
    never=frozenset(("spid", "objectid", "enginenumber")),
    orders=(
        order(
            "LockWaitThreshold LockWaits DaysRunning CheckPoints NumDeadlocks DiagnosticDumps Connections MaxRecovery "
            "StartDate CountersCleared"
        ),
        order(
            "InstanceID LockWaitThreshold LockWaits DaysRunning CheckPoints NumDeadlocks DiagnosticDumps Connections "
            "MaxRecovery StartDate CountersCleared"
        ),
    ),
)  # fmt: skip

PROCEDURE_CACHE = MonitorTable(
    name="monProcedureCache",
    fact=MonProcedureCache,
    columns={**INSTANCE, **counts(requests="requests", loads="loads", writes="writes", stalls="stalls")},
    marks=marks("requests loads", "loads stalls writes", "requests stalls writes"),
    never=frozenset(("cachename", "spid", "objectid")),
    orders=(order("Requests Loads Writes Stalls"), order("InstanceID Requests Loads Writes Stalls")),
)

ENGINE_LOCAL_CACHES = MonitorTable(
    name="monProcELC",
    fact=MonProcELC,
    columns={
        "engineid": ("engine", whole),
        "procelcnum": ("number", whole),
        **INSTANCE,
        **counts(
            chunk_pages="procelcchunksize",
            chunks="procelccount",
            most_chunks="procelcmaxcount",
            allocations="procelcallocs",
            frees="procelcfrees",
            empty="procelcempty",
            full="procelcfull",
            flushes="procelcflushes",
        ),
    },
    marks=marks("engineid procelcnum", "engineid procelcallocs", "engineid procelcempty"),
)

STATEMENT_CACHE = MonitorTable(
    name="monStatementCache",
    fact=MonStatementCache,
    columns={
        **INSTANCE,
        **counts(
            total_kb="totalsizekb",
            used_kb="usedsizekb",
            statements="numstatements",
            searches="numsearches",
            hits="hitcount",
            inserts="numinserts",
            removals="numremovals",
        ),
    },
    marks=marks("numsearches", "hitcount numstatements", "totalsizekb usedsizekb", "numinserts numremovals"),
    orders=(
        order(
            "TotalSizeKB UsedSizeKB NumStatements NumSearches HitCount NumInserts NumRemovals "
            "NumRecompilesSchemaChanges NumRecompilesPlanFlushes"
        ),
        order(
            "InstanceID TotalSizeKB UsedSizeKB NumStatements NumSearches HitCount NumInserts NumRemovals "
            "NumRecompilesSchemaChanges NumRecompilesPlanFlushes"
        ),
    ),
)

DEVICES = MonitorTable(
    name="monDeviceIO",
    fact=MonDeviceIO,
    columns={
        "logicalname": ("device", words),
        "physicalname": ("path", words),
        **INSTANCE,
        **counts(reads="reads", apf_reads="apfreads", writes="writes", io_milliseconds="iotime"),
        **counts(read_milliseconds="readtime", write_milliseconds="writetime"),
    },
    marks=marks("logicalname iotime", "logicalname devsemaphorerequests", "logicalname writes writetime"),
    never=frozenset(("iotype",)),  # that one is monIOQueue
)

IO_QUEUES = MonitorTable(
    name="monIOQueue",
    fact=MonIOQueue,
    columns={
        "logicalname": ("device", words),
        "iotype": ("kind", words),
        **INSTANCE,
        **counts(requests="ios", io_milliseconds="iotime"),
    },
    marks=marks("logicalname iotype", "iotype ios iotime"),
    orders=(order("IOs IOTime LogicalName IOType"), order("InstanceID IOs IOTime LogicalName IOType")),
)

DATABASES = MonitorTable(
    name="monOpenDatabases",
    fact=MonOpenDatabases,
    columns={
        "dbname": ("database", words),
        "dbid": ("db_id", whole),
        **INSTANCE,
        **counts(
            append_requests="appendlogrequests",
            append_waits="appendlogwaits",
            log_full="transactionlogfull",
            suspended="suspendedprocesses",
            backup="backupinprogress",
        ),
    },
    marks=marks("dbname appendlogrequests", "dbname appendlogwaits", "dbname transactionlogfull"),
    never=frozenset(("catlockrequests",)),  # that one is monTempdbActivity
)

EXECUTION_TIME = "executiontime executiontimeus"
"""As the server calls it, and with its unit, as scripts do."""
EXECUTION_TIMES = MonitorTable(
    name="monSysExecutionTime",
    fact=MonSysExecutionTime,
    columns={
        "operationid": ("operation", whole),
        "operationname": ("name", words),
        **INSTANCE,
        "executiontimeus": ("microseconds", count),
        **counts(microseconds="executiontime", times="executioncnt"),
    },
    marks=marks(
        *(f"operation{which} {what}" for which in ("id", "name") for what in (*EXECUTION_TIME.split(), "executioncnt"))
    ),
    never=frozenset(("spid", "kpid")),  # those are of monProcess…
)
