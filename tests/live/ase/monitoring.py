"""Rows of the monitoring tables, made of what the server is. Counters stay rates; the world lets them grow."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tests.live.ase.schema import MASTER, MONITORING
from tests.live.ase.tabled import Rate

if TYPE_CHECKING:
    from tests.live.ase.world import World

SWITCHES = {
    "monSpinlockActivity": ("enable spinlock monitoring",),
    "monSysWaits": ("wait event timing",),
    "monOpenObjectActivity": ("per object statistics active",),
    "monOpenPartitionActivity": ("per object statistics active",),
    "monDeadLock": ("deadlock pipe active", "deadlock pipe max messages"),
    "monStatementCache": ("enable stmt cache monitoring",),
    "monCachedStatement": ("enable stmt cache monitoring",),
    "monProcess": ("wait event timing",),
    "monProcessWaits": ("process wait events",),
    "monProcessObject": ("per object statistics active",),
    "monProcessStatement": ("statement statistics active",),
    "monSysExecutionTime": ("execution time monitoring",),
    "monSysStatement": ("statement statistics active", "statement pipe active", "statement pipe max messages"),
}
"""The switches that a table needs beside `enable monitoring`: knowledge/ase-formats.md, 2.3."""
ALWAYS = frozenset(("monTables", "monTableColumns", "monState", "monWaitEventInfo", "monWaitClassInfo", "monLocks"))
"""Tables that have rows while `enable monitoring` is 0."""
TICKS_A_SECOND = 10
UNEVEN = (0.0, 0.24, -0.18, 0.09, -0.12, 0.3, -0.06, -0.27)
"""How far the slots of one spinlock are from their mean, in turn: no two engines hash alike."""
POWERS = {"Grabs": 1, "Waits": 2, "Spins": 2}
"""Who is grabbed more often waits more often for each grab, too."""
FIRST_TABLE_ID = 301


def switched_off(world: "World", table: str) -> bool:
    """Whether the table is empty because a switch is off."""
    if table in ALWAYS:
        return False
    return not all(world.running(one) for one in ("enable monitoring", *SWITCHES.get(table, ())))


def spinlocks(world: "World") -> Iterator[Mapping[str, Any]]:
    """One row for each slot of a spinlock. The rates of the data are those of all its slots together."""
    for row in world.activity["monSpinlockActivity"]:
        slots = row["Slots"]
        for slot in range(slots):
            uneven = 1 + (UNEVEN[slot % len(UNEVEN)] if slots > 1 else 0)
            rates = {name: Rate(row[name].per_second * uneven**power / slots) for name, power in POWERS.items()}
            grabs, waits = (world.grown(rates[name]) for name in ("Grabs", "Waits"))
            yield {
                "SpinlockName": row["SpinlockName"],
                "SpinlockSlotID": slot,
                **rates,
                "OwnerPID": 0,
                "LastOwnerPID": 1_310_737 + slot,
                "Contention": 100 * waits / grabs if grabs else 0.0,
                "InstanceID": 0,
            }


def data_caches(world: "World") -> Iterator[Mapping[str, Any]]:
    """One row for each cache."""
    for cache in world.caches:
        yield {
            **cache,
            "InstanceID": 0,
            "RelaxedReplacement": int(cache["Replacement"].lower().startswith("relaxed")),
            "ReplacementStrategy": cache["Replacement"],
            "BufferPools": sum(pool["CacheName"] == cache["CacheName"] for pool in world.pools),
            "CachePartitions": cache["Partitions"],
            "CacheSize": round(cache["RunMB"] * 1024),
            "Overhead": cache["OverheadKB"],
        }


def cache_pools(world: "World") -> Iterator[Mapping[str, Any]]:
    """One row for each pool of each cache."""
    for pool in world.pools:
        yield {
            **pool,
            "CacheID": cache_id(world, pool["CacheName"]),
            "InstanceID": 0,
            "IOBufferSize": pool["KB"] * 1024,
            "AllocatedKB": round(pool["RunMB"] * 1024),
            "WashSize": pool["WashKB"],
        }


def objects(world: "World") -> Iterator[Mapping[str, Any]]:
    """One row for each open table and index; the fault `vanish` takes the hottest table away for a while."""
    given = world.activity["monOpenObjectActivity"]
    hottest = max(given, key=lambda row: float(row["LogicalReads"].per_second))
    gone = world.faults.number("vanish")
    for number in range(int(world.faults.number("crowded") or 0)):
        name = f"never_used_{number}"
        yield {"DBID": 4, "DBName": "orders", "ObjectID": 2_000_000 + number, "IndexID": 0, "ObjectName": name}
    for row in given:
        back: float | None = None
        if gone is not None and row is hottest and world.clock.seconds >= gone:
            if world.clock.seconds < 2 * gone:
                continue
            back = 2 * gone
        opened = world.booted if back is None else world.clock.moment(back)
        used = world.clock.moment() if row["UsedCount"].per_second else None
        yield {
            **row,
            **_where(world, row),
            "InstanceID": 0,
            "since": back,
            "ObjectCacheDate": opened,
            "LastUsedDate": used,
            "LastOptSelectDate": used,
            "HkgcPending": 0,
            "NumLevel0Waiters": 0,
            "AvgLevel0WaitTime": 0,
        }


def partitions(world: "World") -> Iterator[Mapping[str, Any]]:
    """One row for each open partition: no table of this server has more than one."""
    for row in objects(world):
        name = f"{row['ObjectName']}_{row['ObjectID']}"[:255]
        yield {**row, "PartitionID": row["ObjectID"] + row["IndexID"], "PartitionName": name}


def cached_objects(world: "World") -> Iterator[Mapping[str, Any]]:
    """One row for each object that has pages in a cache."""
    for row in world.activity["monCachedObject"]:
        where = _where(world, row)
        yield {
            **row,
            **where,
            "InstanceID": 0,
            "CacheID": cache_id(world, row["CacheName"]),
            "OwnerUserID": 1,
            "OwnerName": "dbo",
            "PartitionID": where["ObjectID"] + row["IndexID"],
            "PartitionName": f"{row['ObjectName']}_{where['ObjectID']}"[:255],
            "ObjectType": "system table" if where["ObjectID"] < 100 else "user table",
        }


def engines(world: "World") -> Iterator[Mapping[str, Any]]:
    """One row for each engine. User, system and idle time make a second of each second."""
    load = world.activity["monEngine"][0]
    for engine in range(world.release.engines):
        lean = UNEVEN[engine % len(UNEVEN)] / 20
        user, system, waiting = load["User"] + lean, load["System"], load["WaitingForIO"]
        yield {
            "EngineNumber": engine,
            "InstanceID": 0,
            "CPUTime": Rate(user + system),
            "UserCPUTime": Rate(user),
            "SystemCPUTime": Rate(system),
            "IOCPUTime": Rate(waiting),
            "IdleCPUTime": Rate(1 - user - system - waiting),
            "Yields": Rate(load["YieldsEach"]),
            "Connections": load["ConnectionsEach"],
            "DiskIOChecks": Rate(4_100),
            "DiskIOPolled": Rate(180),
            "DiskIOCompleted": Rate(180),
            "ProcessesAffinitied": 0,
            "ContextSwitches": Rate(load["SwitchesEach"]),
            "Status": "online",
            "StartTime": world.booted,
            "OSPID": 4_242,
            "ThreadID": engine + 2,
        }


def threads(world: "World") -> Iterator[Mapping[str, Any]]:
    """One row for each engine's thread, and one for the disk controller."""
    load = world.activity["monEngine"][0]
    for row in engines(world):
        busy = row["CPUTime"].per_second
        yield {
            "InstanceID": 0,
            "ThreadID": row["ThreadID"],
            "KTID": 65_537 + row["ThreadID"],
            "OSThreadID": 4_300 + row["ThreadID"],
            "ThreadPoolID": 1,
            "ThreadPoolName": "syb_default_pool",
            "State": "Running",
            "TaskRuns": Rate(load["SwitchesEach"]),
            "TotalTicks": Rate(TICKS_A_SECOND),
            "BusyTicks": Rate(TICKS_A_SECOND * busy),
            "IdleTicks": Rate(TICKS_A_SECOND * (1 - busy)),
            "UserTime": Rate(1_000 * busy * load["SystemSees"] * 0.9),
            "SystemTime": Rate(1_000 * busy * load["SystemSees"] * 0.1),
            "VoluntaryCtxtSwitches": Rate(310),
            "NonVoluntaryCtxtSwitches": Rate(24),
        }
    yield {
        "InstanceID": 0,
        "ThreadID": 1,
        "KTID": 65_538,
        "OSThreadID": 4_290,
        "ThreadPoolID": 2,
        "ThreadPoolName": "syb_system_pool",
        "State": "Running",
        "TaskRuns": Rate(880),
        "TotalTicks": Rate(TICKS_A_SECOND),
        "BusyTicks": Rate(0.4),
        "IdleTicks": Rate(TICKS_A_SECOND - 0.4),
        "UserTime": Rate(31),
        "SystemTime": Rate(52),
    }


def state(world: "World") -> Iterator[Mapping[str, Any]]:
    """The one row of the server."""
    (given,) = world.activity["monState"]
    days = (world.clock.moment() - world.booted).days
    yield {**given, "InstanceID": 0, "DaysRunning": days, "StartDate": world.booted, "CountersCleared": world.cleared}


def deadlocks(world: "World") -> Iterator[Mapping[str, Any]]:
    """The deadlocks in the pipe, each as long ago as the data say."""
    for row in world.activity["monDeadLock"]:
        where = _where(world, {"DBName": row["ObjectDBName"], "ObjectName": row["ObjectName"]})
        moment = world.clock.moment(row["Ago"] * -1.0)
        yield {**row, "ObjectDBID": where["DBID"], "ObjectID": where["ObjectID"], "ResolveTime": moment}


def locks(world: "World") -> Iterator[Mapping[str, Any]]:
    """The locks that are held or waited for."""
    for row in world.activity["monLocks"]:
        yield {**row, **_where(world, row), "InstanceID": 0, "ParentSPID": 0, "Context": 0}


def processes(world: "World") -> Iterator[Mapping[str, Any]]:
    """The sessions of the data; their seconds stand still."""
    for row in world.activity["monProcess"]:
        database = next(one["dbid"] for one in world.databases if one["name"] == row["DBName"])
        yield {**row, "DBID": database, "InstanceID": 0, "FamilyID": 0, "NumChildren": 0, "BatchID": 1}


def process_objects(world: "World") -> Iterator[Mapping[str, Any]]:
    """What the running statements read; a state, no counter."""
    for row in world.activity["monProcessObject"]:
        yield {**row, **_where(world, row), "InstanceID": 0, "OwnerUserID": 1, "ObjectType": "user table"}


def cached_statements(world: "World") -> Iterator[Mapping[str, Any]]:
    """One row for each cached statement, whose executions grow and whose means stand still."""
    for row in world.activity["monCachedStatement"]:
        database = next(one["dbid"] for one in world.databases if one["name"] == row["DBName"])
        uses = row["UseCount"].per_second
        yield {
            **row,
            "InstanceID": 0,
            "DBID": database,
            "CachedDate": world.booted,
            "LastUsedDate": world.clock.moment(),
            "TotalLIO": Rate(uses * row["AvgLIO"]),
            "TotalPIO": Rate(uses * row["AvgPIO"]),
            "TotalElapsedTime": Rate(uses * row["AvgElapsedTime"]),
            "TotalCpuTime": Rate(uses * row["AvgCpuTime"]),
        }


def ended_statements(world: "World") -> Iterator[Mapping[str, Any]]:
    """The statements in the pipe, each as long ago as the data say."""
    for row in world.activity["monSysStatement"]:
        database = next(one["dbid"] for one in world.databases if one["name"] == row["DBName"])
        ended = world.clock.moment(row["Ago"] * -1.0)
        yield {**row, "InstanceID": 0, "DBID": database, "StartTime": ended, "EndTime": ended}


def running_statements(world: "World") -> Iterator[Mapping[str, Any]]:
    """The statements that run now, each begun as long ago as the data say."""
    for row in world.activity["monProcessStatement"]:
        database = next(one["dbid"] for one in world.databases if one["name"] == row["DBName"])
        yield {**row, "InstanceID": 0, "DBID": database, "StartTime": world.clock.moment(row["Ago"] * -1.0)}


def table_list(world: "World") -> Iterator[Mapping[str, Any]]:
    """The monitoring tables themselves."""
    for at, name in enumerate(MONITORING):
        if name not in world.columns:
            continue
        columns = len(world.columns[name])
        yield {"TableID": FIRST_TABLE_ID + at, "Columns": columns, "Parameters": 0, "Indicators": 0, "TableName": name}


def column_list(world: "World") -> Iterator[Mapping[str, Any]]:
    """The columns of the monitoring tables."""
    for at, name in enumerate(MONITORING):
        for place, made in enumerate(world.columns.get(name, ()), 1):
            yield {
                "TableID": FIRST_TABLE_ID + at,
                "ColumnID": place,
                "TypeID": 0,
                "Precision": 0,
                "Scale": 0,
                "Length": made.column.size if "char" in made.type else 4,
                "Indicators": made.indicators,
                "TableName": name,
                "ColumnName": made.column.name,
                "TypeName": made.type,
            }


def cache_id(world: "World", name: str) -> int:
    """The id of a cache. Raises `StopIteration` where there is none of the name."""
    return next(int(one["CacheID"]) for one in world.caches if one["CacheName"] == name)


def _where(world: "World", row: Mapping[str, Any]) -> dict[str, Any]:
    """The ids of a row's database and object."""
    database = next(one["dbid"] for one in world.databases if one["name"] == row["DBName"])
    known = (
        one for one in world.objects if one["Name"] == row["ObjectName"] and one["Database"] in (row["DBName"], "*")
    )
    return {"DBID": database, "ObjectID": next(one["ID"] for one in known)}


MAKERS: Mapping[str, Callable[["World"], Iterator[Mapping[str, Any]]]] = {
    "monSpinlockActivity": spinlocks,
    "monDataCache": data_caches,
    "monCachePool": cache_pools,
    "monOpenObjectActivity": objects,
    "monOpenPartitionActivity": partitions,
    "monCachedObject": cached_objects,
    "monEngine": engines,
    "monThread": threads,
    "monState": state,
    "monDeadLock": deadlocks,
    "monLocks": locks,
    "monProcess": processes,
    "monProcessObject": process_objects,
    "monCachedStatement": cached_statements,
    "monSysStatement": ended_statements,
    "monProcessStatement": running_statements,
    "monTables": table_list,
    "monTableColumns": column_list,
}
"""Tables whose rows are made; of the others the data are the rows."""
assert not MAKERS.keys() & MASTER.keys()
