"""What scripts call the columns of a table of their own: `d_Grabs`, `waits_diff` and `d_time_s` for differences.

A DBA who subtracts two snapshots names what comes out of it as he likes. The mark of a difference in front of a counter
or behind it, and a unit behind that, are taken off; a few short names (`ev`, `spinlock`) are those of one table alone.
A time in another unit than the table's own keeps its name, and so is not read.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from collectors.layouts.tables import key
from collectors.reports.ase.monitor_tables import caches, locks, objects, processes, server, spinlocks
from collectors.reports.ase.monitor_tables.tables import MonitorTable

BEFORE = re.compile(r"(?:[dD]elta|DELTA|[dD]iff|DIFF|d(?=_|[A-Z])|D(?=_))(?:_|(?=[A-Z]))")
AFTER = re.compile(r"(?:_(?:delta|diff|d)|(?-i:Delta|Diff))$", re.IGNORECASE)
LASTING = re.compile(r"(?<=[A-Za-z])_?[0-9]{1,4}(?:min|h)$", re.IGNORECASE)
"""What stands behind a counter that was subtracted over that time: `logical_reads_15min`. Not seconds: `waits_10s` may
be those that took longer."""
UNIT = re.compile(r"_(?P<unit>ms|msec|s|sec|secs)$", re.IGNORECASE)
MILLISECONDS = ("ms", "msec")
LENGTH = frozenset(("secs", "sec", "seconds", "interval", "intervalsec", "intervalsecs", "durationsec", "elapsedsec"))
"""Columns of differences that tell how long it was, in seconds or from when to when."""
COUNTERS = frozenset(
    column
    for table in (
        *(spinlocks.SPINLOCKS, caches.CACHE_POOLS, caches.DATA_CACHES, *processes.TABLES, objects.OPEN_OBJECTS),
        *(server.SYSTEM_WAITS, server.DEVICES, server.IO_QUEUES, server.STATEMENT_CACHE, server.PROCEDURE_CACHE),
        server.ENGINE_LOCAL_CACHES,
        *(server.NETWORK, server.ENGINES, server.THREADS, locks.LOCKS),
    )
    for column, (name, _) in table.columns.items()
    if name in table.counters
)
"""What counts in a table read here, as `key` writes it."""


NOW = re.compile(r"_now$", re.IGNORECASE)
"""What a script puts behind a state that it asks for beside its differences: `CachedMB_now`."""
STATES = frozenset(column for column in caches.CACHED_OBJECTS.columns if column not in COUNTERS)


@dataclass(frozen=True)
class OwnNames:
    """Short names of the columns of one table."""

    table: MonitorTable
    names: Mapping[str, str]
    milliseconds: bool = False
    """The unit in which the table counts time: milliseconds, else seconds."""
    told: Mapping[str, str] = field(default_factory=dict)
    """Columns whose unit is in doubt, and what they are where a script tells that it is milliseconds."""
    of_differences: bool = False
    """Whether `names` are known in differences alone: totals may be called so, and means, too."""
    common: Mapping[str, str] = field(default_factory=dict)
    """Names that columns of many tables have: known only where the heading has one of `beside`, too."""
    beside: tuple[frozenset[str], ...] = ()

    def called(self, one: "_Bare", have: Set[str]) -> str:
        """The column that has this short name, if it is not there itself."""
        name = self.names.get(one.name, "") if one.marked or not self.of_differences else ""
        if not name and any(columns <= have for columns in self.beside):
            name = self.common.get(one.name, "")
        return "" if name in have else name

    def in_unit(self, one: "_Bare") -> bool:
        """Whether a time is in the unit of the table, or names none."""
        return not one.unit or (one.unit in MILLISECONDS) == self.milliseconds


WAIT_COUNTS = ("waits", "count", "cnt")
WAIT_TIMES = ("waittime", "wait", "time", "sec", "secs", "seconds")
COUNTED_WAITS = {**dict.fromkeys(WAIT_COUNTS, "waits"), **dict.fromkeys(WAIT_TIMES, "waittime")}
"""What scripts call the waits and the time of an event: plain words, which are known side by side alone."""
OF_TABLES = (
    OwnNames(
        spinlocks.SPINLOCKS,
        {
            **dict.fromkeys(("spinlock", "spinname", "lockname"), "spinlockname"),
            **dict.fromkeys(("slot", "slotid"), "spinlockslotid"),
        },
        common=dict.fromkeys(("lock", "name", "spin"), "spinlockname"),
        beside=(frozenset(("grabs", "waits")), frozenset(("grabs", "spins"))),
    ),
    OwnNames(
        server.SYSTEM_WAITS,
        {"id": "waiteventid", **dict.fromkeys(("event", "text", "descr"), "description")},
        common=COUNTED_WAITS,
        beside=tuple(frozenset(("id", count, time)) for count in WAIT_COUNTS for time in WAIT_TIMES),
    ),
    OwnNames(
        server.SYSTEM_WAITS,
        {
            **dict.fromkeys(("ev", "event", "eventid", "evt", "evtid", "waitevent"), "waiteventid"),
            **dict.fromkeys(("text", "evtext", "evttext", "eventtext", "descr"), "description"),
            "time": "waittime",
        },
        common=COUNTED_WAITS,
        beside=tuple(frozenset((count, time)) for count in WAIT_COUNTS for time in WAIT_TIMES),
    ),
    OwnNames(
        processes.CACHED_STATEMENTS,
        {
            "lio": "totallio",
            "pio": "totalpio",
            **dict.fromkeys(("cpu", "cputime"), "totalcputime"),
            **dict.fromkeys(("elapsed", "elapsedtime"), "totalelapsedtime"),
        },
        milliseconds=True,
        told={"totalcputime": "cpumilliseconds"},
        of_differences=True,
        common=dict.fromkeys(("text", "sql", "stmt", "stmttext"), "cachedtext"),
        beside=(frozenset(("ssqlid",)),),
    ),
    OwnNames(
        objects.OPEN_OBJECTS,
        {
            "db": "dbname",
            **dict.fromkeys(("object", "obj", "objname", "tab", "tabname", "table", "tablename"), "objectname"),
            **dict.fromkeys(("ix", "ixid", "indid", "index"), "indexid"),
            **dict.fromkeys(("lockreq", "lockreqs"), "lockrequests"),
            **dict.fromkeys(("lreads", "logreads"), "logicalreads"),
            **dict.fromkeys(("preads", "physreads"), "physicalreads"),
            **dict.fromkeys(("shwait", "sharedwait"), "sharedlockwaittime"),
            **dict.fromkeys(("exwait", "exclusivewait"), "exclusivelockwaittime"),
            **dict.fromkeys(("updwait", "updatewait"), "updatelockwaittime"),
        },
        milliseconds=True,
    ),
    OwnNames(
        locks.LOCKS,
        {
            **dict.fromkeys(("db", "database"), "dbname"),
            **dict.fromkeys(("object", "obj", "objname", "tab", "tabname", "table", "tablename"), "objectname"),
        },
    ),
    OwnNames(server.DEVICES, {**dict.fromkeys(("device", "devname"), "logicalname")}, milliseconds=True),
    OwnNames(
        server.ENGINE_LOCAL_CACHES,
        {
            name: f"procelc{name}"
            for name in ("chunksize", "count", "maxcount", "allocs", "frees", "empty", "full", "flushes")
        },
    ),
    OwnNames(
        processes.PROCESS_ACTIVITY,
        {
            **dict.fromkeys(("host", "hostname"), "clienthost"),
            **dict.fromkeys(("program", "programname", "app"), "application"),
            **dict.fromkeys(("db", "database"), "dbname"),
            "loginname": "login",
        },
        milliseconds=True,
    ),
    OwnNames(processes.PROCESS_NETWORK, {"program": "application", "programname": "application"}),
)


def as_known(columns: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The columns by the names they have in the table that they are of, and whether some are marked as differences."""
    bare = [_bare(column) for column in columns]
    have = {one.name for one in bare}
    of = next((own for own in OF_TABLES if _is_of(own, bare, have)), None)
    names = [_name(one, of, have) for one in bare]
    names = [
        "" if one.name in LENGTH and names.count(name) > 1 else name for one, name in zip(bare, names, strict=True)
    ]
    marked = any(one.marked and name for one, name in zip(bare, names, strict=True))
    found = [name or column for name, column in zip(names, columns, strict=True)]
    if marked:
        found = ["sampleseconds" if key(one) in LENGTH else one for one in found]
    return tuple(found), marked


def _is_of(own: OwnNames, bare: Sequence["_Bare"], have: set[str]) -> bool:
    """Whether these are columns of this table, be it by short names."""
    named = {own.called(one, have) or one.name for one in bare}
    return any(mark <= named for mark in own.table.marks) and not named & own.table.never


def _name(one: "_Bare", of: OwnNames | None, have: set[str]) -> str:
    """What a column is called in its table, where that is not what it is called here."""
    if of and (short := of.called(one, have)):
        return (of.told.get(short, short) if one.unit else short) if of.in_unit(one) else ""
    if one.now and one.name in STATES:
        return one.name
    if not (one.marked or one.unit) or one.name not in COUNTERS:
        return ""
    return one.name if not one.unit or (of and of.in_unit(one)) else ""


@dataclass(frozen=True)
class _Bare:
    name: str
    """As `key` writes it."""
    marked: bool
    unit: str
    now: bool = False


def _bare(column: str) -> _Bare:
    """A column without its unit and its mark, if it is not known as it is."""
    rest = column.strip()
    state = NOW.sub("", rest)
    if state != rest:
        return _Bare(key(state), False, "", now=True)
    unit = UNIT.search(rest)
    rest = rest[: unit.start()] if unit else rest
    bare = AFTER.sub("", BEFORE.sub("", rest, count=1) if BEFORE.match(rest) else rest)
    lasting = LASTING.sub("", bare)
    if key(lasting) in COUNTERS:
        bare = lasting
    return _Bare(key(bare), bare != rest, unit["unit"].lower() if unit else "")
