"""Processes and statements: `monProcess` and its sisters, `monSysStatement`, `monCachedStatement`."""

from collections.abc import Collection
from dataclasses import replace

from collectors.facts.ase import (
    MonCachedStatement,
    MonProcess,
    MonProcessActivity,
    MonProcessLookup,
    MonProcessNetIO,
    MonProcessObject,
    MonProcessSQLText,
    MonProcessStatement,
    MonProcessWaits,
    MonSysSQLText,
    MonSysStatement,
)
from collectors.facts.base import ABSENT, Fact
from collectors.reports.ase.monitor_tables.cells import count, text, time, whole, words
from collectors.reports.ase.monitor_tables.tables import Column, Joined, MonitorTable, counts, marks

OF_PROCESS: dict[str, Column] = {
    "spid": ("spid", whole),
    "kpid": ("kpid", whole),
    "instanceid": ("instance", whole),
}
OF_DATABASE: dict[str, Column] = {"dbname": ("database", words), "dbid": ("db_id", whole)}
PROCEDURE: dict[str, Column] = dict.fromkeys(
    ("procname", "procedurename", "procedure", "objectname"), ("procedure", words)
)
"""As a question may call `object_name(ProcedureID, DBID)`: the tables of statements have the number alone."""

OF_CLIENT: dict[str, Column] = {
    "login": ("login", words),
    "application": ("application", words),
    "clienthost": ("host", words),
}
"""Of `monProcessLookup`; a question may join them to what another table counts for each session."""

OF_SYSPROCESSES: dict[str, Column] = {
    "blocked": ("blocking_spid", whole),
    **dict.fromkeys(("loginame", "susername"), ("login", words)),
    "programname": ("application", words),
    "cmd": ("command", words),
    "status": ("status", words),
    "tranname": ("transaction", words),
    **counts(seconds_waiting="timeblocked"),
}
"""What a question joins of `sysprocesses`, which says who blocks whom and since when, too."""


def of_blocked_alone(facts: list[Fact], columns: Collection[str]) -> list[Fact]:
    """Processes without the `time_blocked` of those that nobody blocks, of which it says nothing."""
    if "timeblocked" not in columns or "secondswaiting" in columns:
        return facts
    return [
        one if not isinstance(one, MonProcess) or one.blocking_spid else replace(one, seconds_waiting=ABSENT)
        for one in facts
    ]


PROCESSES = MonitorTable(
    name="monProcess",
    fact=MonProcess,
    columns={
        **OF_PROCESS,
        **OF_SYSPROCESSES,
        "dbname": ("database", words),
        "familyid": ("family", whole),
        "login": ("login", words),
        "application": ("application", words),
        "hostname": ("host", words),
        "command": ("command", words),
        "mastertransactionid": ("transaction", words),
        "waiteventid": ("wait_event", whole),
        "blockingspid": ("blocking_spid", whole),
        "batchid": ("batch", whole),
        "linenumber": ("line", whole),
        **counts(seconds_waiting="secondswaiting"),
    },
    marks=marks("spid blockingspid", "spid secondswaiting", "spid secondsconnected", "spid blocked waiteventid"),
    never=frozenset(("lockid", "locktype", "waits", "waittime", "sqltext", "objectid")),
    settle=of_blocked_alone,
)

PROCESS_WAITS = MonitorTable(
    name="monProcessWaits",
    fact=MonProcessWaits,
    columns={
        **OF_PROCESS,
        "waiteventid": ("event", whole),
        "application": ("application", words),
        "hostname": ("host", words),
        **counts(waits="waits", wait_milliseconds="waittime"),
    },
    marks=marks("spid waiteventid waits", "spid waiteventid waittime"),
    never=frozenset(("blockingspid", "secondswaiting", "lockid")),
)

PROCESS_NETWORK = MonitorTable(
    name="monProcessNetIO",
    fact=MonProcessNetIO,
    columns={
        **OF_PROCESS,
        **OF_CLIENT,
        "hostname": ("host", words),
        **counts(
            packet_bytes="networkpacketsize",
            packets_sent="packetssent",
            packets_received="packetsreceived",
            bytes_sent="bytessent",
            bytes_received="bytesreceived",
        ),
    },
    marks=marks("spid networkpacketsize packetssent", "spid packetssent bytessent"),
    never=frozenset(("waiteventid", "lockid")),
)

PROCESS_OBJECTS = MonitorTable(
    name="monProcessObject",
    fact=MonProcessObject,
    columns={
        **OF_PROCESS,
        **OF_DATABASE,
        "objectname": ("object_name", words),
        "objectid": ("object_id", whole),
        "indexid": ("index_id", whole),
        "objecttype": ("object_type", words),
        **counts(logical_reads="logicalreads", physical_reads="physicalreads", apf_reads="physicalapfreads"),
    },
    marks=marks(*(f"spid {one} {of}reads" for one in ("objectid", "objectname") for of in ("logical", "physical"))),
    never=frozenset(("lockid", "planid", "ssqlid")),
)

PROCESS_TEXT = MonitorTable(
    name="monProcessSQLText",
    fact=MonProcessSQLText,
    columns={
        **OF_PROCESS,
        "batchid": ("batch", whole),
        "linenumber": ("line", whole),
        "sequenceinline": ("sequence", whole),
        "sequenceinbatch": ("sequence", whole),
        "sqltext": ("text", text),
    },
    marks=marks("spid sequenceinline sqltext", "spid linenumber sqltext", "spid secondswaiting sqltext"),
    never=frozenset(("sequenceinbatch", "ssqlid", "logicalreads")),
    unless_asked=frozenset(("sequenceinbatch",)),  # a script that calls the order of the lines so
    joined=(Joined(PROCESSES, frozenset(("waiteventid", "secondswaiting", "blockingspid"))),),
)

ENDED_TEXT = MonitorTable(
    name="monSysSQLText",
    fact=MonSysSQLText,
    columns={
        **OF_PROCESS,
        "batchid": ("batch", whole),
        "sequenceinbatch": ("sequence", whole),
        "sqltext": ("text", text),
    },
    marks=marks("spid sequenceinbatch sqltext"),
    never=frozenset(("sequenceinline", "linenumber", "ssqlid", "logicalreads")),
)

CACHED_STATEMENTS = MonitorTable(
    name="monCachedStatement",
    fact=MonCachedStatement,
    columns={
        "ssqlid": ("statement", whole),
        "hashkey": ("hash_key", whole),
        "instanceid": ("instance", whole),
        **OF_DATABASE,
        "cacheddate": ("cached", time),
        "lastuseddate": ("last_used", time),
        "transactionisolationlevel": ("isolation", whole),
        "stmttype": ("kind", whole),
        **dict.fromkeys(("cachedtext", "showcachedtext", "statementtext", "sqltext"), ("text", text)),
        **counts(
            executions="usecount",
            mean_logical_reads="avglio",
            max_logical_reads="maxlio",
            mean_physical_reads="avgpio",
            mean_cpu_milliseconds="avgcputime",
            mean_elapsed_milliseconds="avgelapsedtime",
            mean_scan_rows="avgscanrows",
            mean_read_rows="avgqualifyingreadrows",
            max_write_rows="maxqualifyingwriterows",
            mean_write_rows="avgqualifyingwriterows",
            total_logical_reads="totallio",
            total_physical_reads="totalpio",
            total_cpu="totalcputime",
            cpu_milliseconds="cpumilliseconds",
            total_elapsed="totalelapsedtime",
            lock_waits="lockwaits",
            lock_wait_milliseconds="lockwaittime",
        ),
    },
    marks=marks(*(f"ssqlid {one}" for one in ("usecount", "avglio", "totallio", "avgelapsedtime", "lockwaits"))),
    never=frozenset(("spid", "kpid", "batchid")),
)

ENDED_STATEMENTS = MonitorTable(
    name="monSysStatement",
    fact=MonSysStatement,
    columns={
        **OF_PROCESS,
        **OF_DATABASE,
        "procedureid": ("procedure_id", whole),
        **PROCEDURE,
        "batchid": ("batch", whole),
        "linenumber": ("line", whole),
        "ssqlid": ("statement", whole),
        "hashkey": ("hash_key", whole),
        "starttime": ("started", time),
        "endtime": ("ended", time),
        **dict.fromkeys(("execs", "executions", "execcount", "numexecs", "cnt", "n"), ("executions", count)),
        **counts(
            cpu_milliseconds="cputime",
            wait_milliseconds="waittime",
            logical_reads="logicalreads",
            physical_reads="physicalreads",
            pages_modified="pagesmodified",
            rows_affected="rowsaffected",
        ),
    },
    marks=marks("spid endtime logicalreads", "spid endtime cputime", "ssqlid endtime logicalreads"),
    never=frozenset(("objectid", "waiteventid")),
)

RUNNING_STATEMENTS = MonitorTable(
    name="monProcessStatement",
    fact=MonProcessStatement,
    columns={
        **OF_PROCESS,
        **OF_DATABASE,
        "procedureid": ("procedure_id", whole),
        **PROCEDURE,
        "batchid": ("batch", whole),
        "linenumber": ("line", whole),
        "starttime": ("started", time),
        **counts(
            cpu_milliseconds="cputime",
            wait_milliseconds="waittime",
            logical_reads="logicalreads",
            physical_reads="physicalreads",
            pages_modified="pagesmodified",
        ),
    },
    marks=marks("spid planid starttime logicalreads", "spid linenumber starttime logicalreads"),
    never=frozenset(("objectid", "waiteventid", "endtime", "ssqlid")),
)

PROCESS_ACTIVITY = MonitorTable(
    name="monProcessActivity",
    fact=MonProcessActivity,
    columns={
        **OF_PROCESS,
        **OF_CLIENT,
        "dbname": ("database", words),
        "command": ("command", words),
        **counts(
            cpu_milliseconds="cputime",
            wait_milliseconds="waittime",
            logical_reads="logicalreads",
            physical_reads="physicalreads",
            pages_written="pageswritten",
            table_accesses="tableaccesses",
            index_accesses="indexaccesses",
            transactions="transactions",
            commits="commits",
            rollbacks="rollbacks",
            locks_held="locksheld",
            ulc_bytes_written="ulcbyteswritten",
            ulc_flushes="ulcflushes",
            ulc_flushes_full="ulcflushfull",
            ulc_max_usage="ulcmaxusage",
        ),
    },
    marks=marks(
        *("spid ulcflushes", "spid ulcbyteswritten", "spid ulcmaxusage", "spid ulcflushfull", "spid tableaccesses"),
        *("spid locksheld logicalreads", "spid logicalreads commits", "spid physicalreads commits"),
        "spid transactions commits",
        "spid command logicalreads physicalreads",
    ),
    never=frozenset(("objectid", "blockingspid", "starttime")),
)

PROCESS_CLIENTS = MonitorTable(
    name="monProcessLookup",
    fact=MonProcessLookup,
    columns={**OF_PROCESS, **OF_CLIENT},
    marks=marks("spid login clienthost", "spid application clienthost", "spid kpid clienthost"),
    never=frozenset(
        (
            *("ulcflushes", "ulcbyteswritten", "ulcmaxusage", "commits", "locksheld", "tableaccesses", "cputime"),
            *("blockingspid", "secondswaiting", "waiteventid", "waits", "waittime", "lockid", "sqltext", "objectid"),
            *("logicalreads", "linenumber", "batchid", "command"),
        )
    ),
)

TABLES = (
    PROCESS_ACTIVITY,
    PROCESS_CLIENTS,
    PROCESSES,
    PROCESS_WAITS,
    PROCESS_NETWORK,
    PROCESS_OBJECTS,
    PROCESS_TEXT,
    ENDED_TEXT,
    CACHED_STATEMENTS,
    ENDED_STATEMENTS,
    RUNNING_STATEMENTS,
)
