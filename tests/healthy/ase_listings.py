"""What a DBA brings beside sp_sysmon: settings, caches with their bindings, resources in use, tables, two snapshots."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from collectors.live.printing import Message, Part, ResultSet, printed
from tests.healthy.ase_load import BEGAN, SECONDS, VERSIONS, Cache, Load, Server, Spinlock

SNAPSHOT_APART = timedelta(seconds=SECONDS)
LONG_RUN = 0.6
"""The mean load since the start of the server, as a part of that of the sample: nights and Sundays are idle."""
DESCRIPTORS = {"Object": ("objects", 640, 26), "Index": ("indexes", 410, 14), "Partition": ("partitions", 430, 14)}
"""By the name in sp_sysmon: the name of the parameter, how many any server has, and how many more for each table that
is shown here, which stands for the smaller ones around it."""
FIRST_SESSION, KERNEL_ID = 71, 4_653_072
FIRST_DATABASE, FIRST_OBJECT, APART = 5, 512_001_824, 16_000_057


def descriptors(server: Server) -> dict[str, tuple[int, int, int]]:
    """Open now, at most since the start, and configured, by the name in sp_sysmon."""
    found = {}
    for name, (_, base, each) in DESCRIPTORS.items():
        if name == "Partition" and server.number < (15,):
            continue
        active = base + each * len(server.tables) * 4 + server.engines * 3
        most = round(active * 1.08)
        found[name] = (active, most, math.ceil(most * 1.4 / 500) * 500)
    return found | {"Database": (7, 7, 12)}


class Listings:
    """The files of one server beside sp_sysmon."""

    def __init__(self, load: Load) -> None:
        self.load, self.server = load, load.server
        dotted = next((one.bound for one in self.server.caches if "." in one.bound), "")
        self.database = dotted.partition(".")[0] or self.server.name.lower()

    def write(self) -> Iterator[tuple[str, str]]:
        """Give name and text of each file that the DBA brought."""
        makers: Mapping[str, Callable[[], str]] = {
            "configuration": self._configuration,
            "caches": self._caches,
            "usage": self._usage,
            "tables": self._tables,
            "snapshots": self._snapshots,
        }
        for name in self.server.brings:
            if name in makers:
                yield f"{name}.txt", self._who() + makers[name]()

    def _who(self) -> str:
        columns = ("", "", "")
        rows = [(self.server.name, VERSIONS[self.server.release], 1024 * self.server.page_kb)]
        return printed("select @@servername, @@version, @@maxpagesize", [ResultSet(columns, rows)])

    # settings

    def _parameters(self) -> Iterator[tuple[str, object, int, object, str, str]]:
        """Name, default, KB of memory, value, unit and type of each parameter that the release has."""
        server, since = self.server, self.server.number
        held = self.load.held_locks
        locks = max(10_000, math.ceil(held * 6 / 5000) * 5000)
        number, ratio, switch, pages = "number", "ratio", "switch", "memory pages(2k)"
        yield "lock address spinlock ratio", 100, 0, 100, ratio, "static"
        yield "lock spinlock ratio", 85, 0, 85, ratio, "static"
        yield "lock table spinlock ratio", 20, 0, 20, ratio, "static"
        yield "lock hashtable size", 2048, self.load.lock_buckets // 2, self.load.lock_buckets, "bytes", "static"
        yield "lock scheme", "allpages", 0, "datarows" if server.allpages < 50 else "allpages", "name", "dynamic"
        yield "number of locks", 10_000, locks // 7, locks, number, "dynamic"
        yield "open object spinlock ratio", 100, 0, 100, ratio, "dynamic"
        yield "open index spinlock ratio", 100, 0, 100, ratio, "dynamic"
        yield "open index hash spinlock ratio", 100, 0, 100, ratio, "dynamic"
        for kind, (_, _, there) in descriptors(server).items():
            plural = DESCRIPTORS[kind][0] if kind in DESCRIPTORS else "databases"
            yield f"number of open {plural}", 500 if kind in DESCRIPTORS else 12, there * 3, there, number, "dynamic"
        yield "user log cache spinlock ratio", 20, 0, 20, ratio, "dynamic"
        yield "user log cache size", 2048, 0, server.user_log_cache, "bytes", "static"
        yield "global cache partition number", 1, 0, 1, number, "static"
        yield "max online engines", 1, 640, server.engines, number, "static"
        yield "number of engines at startup", 1, 0, server.engines, number, "static"
        yield "number of user connections", 25, 164 * self._connections, self._connections, number, "dynamic"
        yield "max memory", 33_792, server.memory_mb * 1024, server.memory_mb * 512, pages, "dynamic"
        yield "total logical memory", 33_792, self._logical_mb * 1024, self._logical_mb * 512, pages, "read-only"
        yield "procedure cache size", 7_000, self._procedures_mb * 1024, self._procedures_mb * 512, pages, "dynamic"
        yield "statement cache size", 0, self._statements_mb * 1024, self._statements_mb * 512, pages, "dynamic"
        yield "enable monitoring", 0, 0, int("snapshots" in server.brings), switch, "dynamic"
        for name in ("wait event timing", "per object statistics active", "object lockwait timing"):
            yield name, 0, 0, int("snapshots" in server.brings), switch, "dynamic"
        if since >= (15,):
            yield "partition spinlock ratio", 10, 6, 10, ratio, "dynamic"
            yield "enable stmt cache monitoring", 0, 0, int("snapshots" in server.brings), switch, "dynamic"
        if since >= (15, 7):
            yield "kernel mode", "threaded", 0, "threaded", "not applicable", "static"
            yield "engine local cache percent", 50 if since >= (16,) else 25, 0, 50, "percent", "static"
            yield "enable spinlock monitoring", 0, 0, int("snapshots" in server.brings), switch, "dynamic"
        if since >= (15, 7, 0, 100):
            yield "enable large chunk elc", 0, 0, 1, switch, "static"

    @property
    def _connections(self) -> int:
        return math.ceil(self.server.connections * 1.5 / 25) * 25

    @property
    def _procedures_mb(self) -> int:
        return max(60, self.server.memory_mb // 25)

    @property
    def _statements_mb(self) -> int:
        return max(4, self.server.memory_mb // 200) if self.server.number >= (15,) else 0

    @property
    def _logical_mb(self) -> int:
        """Memory that is given out: caches with their overhead, and everything else."""
        caches = sum(round(one.mb * 1.045) for one in self.server.caches)
        return caches + self._procedures_mb + self._statements_mb + min(9_000, self.server.memory_mb // 10)

    def _configuration(self) -> str:
        columns = ("Parameter Name", "Default", "Memory Used", "Config Value", "Run Value", "Unit", "Type")
        rows = [
            (name, default, memory, value, value, unit, kind)
            for name, default, memory, value, unit, kind in sorted(self._parameters())
        ]
        free = (self.server.memory_mb - self._logical_mb) * 1024
        assert free > 0, f"{self.server.name} has given out more memory than it has"
        said = (
            f"An additional {free} K bytes of memory is available for reconfiguration. This is the difference between "
            "'max memory' and 'total logical memory'."
        )
        return printed("sp_configure", [ResultSet(columns, rows)]) + printed('sp_configure "memory"', [Message(said)])

    # caches

    def _caches(self) -> str:
        caches = self.server.caches
        mb = [f"{one.mb:.2f} Mb" for one in caches]
        parts: list[Part] = [
            ResultSet(
                ("Cache Name", "Status", "Type", "Config Value", "Run Value"),
                [(one.name, "Active", one.kind, size, size) for one, size in zip(caches, mb, strict=True)],
            )
        ]
        for one in caches:
            parts += self._cache(one)
        return printed("sp_cacheconfig", parts) + printed("sp_helpcache", list(self._bindings()))

    def _cache(self, one: Cache) -> Iterator[Part]:
        kb = self.server.page_kb
        pools = [(kb, one.mb - one.large)] + ([(8 * kb, one.large)] if one.large else [])
        yield Message(
            "\n".join(
                (
                    "=" * 74,
                    f"Cache: {one.name},   Status: Active,   Type: {one.kind}",
                    f"      Config Size: {one.mb:.2f} Mb,   Run Size: {one.mb:.2f} Mb",
                    f"      Config Replacement: {one.strategy},   Run Replacement: {one.strategy}",
                    f"      Config Partition:  {one.partitions:11d},   Run Partition:  {one.partitions:11d}",
                )
            )
        )
        yield ResultSet(
            ("IO Size", "Wash Size", "Config Size", "Run Size", "APF Percent"),
            [(f"{io} Kb", f"{_wash_kb(size)} Kb", f"{size:.2f} Mb", f"{size:.2f} Mb", "10") for io, size in pools],
        )

    def _bindings(self) -> Iterator[Part]:
        caches = self.server.caches
        columns = ("Cache Name", "Config Size", "Run Size", "Overhead")
        rows = [(one.name, f"{one.mb:.2f} Mb", f"{one.mb:.2f} Mb", f"{one.mb * 0.045:.2f} Mb") for one in caches]
        yield ResultSet(columns, rows)
        named = sum(one.mb for one in caches)
        yield Message(
            "\n\nMemory Available For      Memory Configured\nNamed Caches              To Named Caches\n"
            f"--------------------      -----------------\n  {named:.2f} Mb              {named:.2f} Mb\n\n"
            "------------------ Cache Binding Information: ------------------\n"
        )
        bound = [
            (one.name, one.bound, "table" if "." in one.bound else "database", "", "V") for one in caches if one.bound
        ]
        yield ResultSet(("Cache Name", "Entity Name", "Type", "Index Name", "Status"), bound)

    # resources

    def _usage(self) -> str:
        """sp_monitorconfig: 12.5 says Yes and No where later ones count."""
        old = self.server.number < (15,)
        held = self.load.held_locks
        values = {name: value for name, _, _, value, _, _ in self._parameters()}
        used: list[tuple[str, int, int]] = [("number of locks", held, held * 2)]
        for kind, (active, most, _) in descriptors(self.server).items():
            plural = DESCRIPTORS[kind][0] if kind in DESCRIPTORS else "databases"
            used.append((f"number of open {plural}", active, most))
        used += [
            ("number of user connections", self.server.connections, round(self.server.connections * 1.15)),
            ("procedure cache size", self._procedures_mb * 230, self._procedures_mb * 330),
            ("max online engines", self.server.engines, self.server.engines),
        ]
        rows = []
        for name, active, most in used:
            there = values[name]
            assert isinstance(there, int)
            share = f"{100 * active / there:.2f}"
            reused: tuple[object, ...] = ("No",) if old else (0, None)
            rows.append((name[:25], there - active, active, share, most, *reused))
        columns = ("Name", "Num_free", "Num_active", "Pct_act", "Max_Used", "Reuse_cnt", "Instance_Name")
        if old:
            columns = ("Name", "num_free", "num_active", "pct_act", "Max_Used", "Reused")  # type: ignore[assignment]
        ended = BEGAN + timedelta(minutes=11)
        said = Message(f"Usage information at date and time: {ended:%b} {ended.day:2d} {ended:%Y %I:%M%p}.\n")
        return printed('sp_monitorconfig "all"', [said, ResultSet(columns, rows)])

    # tables

    def _tables(self) -> str:
        sql = (
            "select db_name() DBName, user_name(o.uid) OwnerName, o.name ObjectName, o.id ObjectID,\n"
            "lockscheme(o.id) LockScheme, i.indid IndexID, i.name IndexName,\n"
            "data_pages(db_id(), o.id, i.indid) * (@@maxpagesize / 1024) SizeKB\n"
            "from sysobjects o, sysindexes i where o.id = i.id and o.type in ('U', 'S')"
        )
        rows = []
        for at, one in enumerate(self.server.tables):
            name, number = one.name, FIRST_OBJECT + at * APART
            for index, size in ((0, one.mb * 820), (2, one.mb * 204)):
                called = name if not index else f"{name}_ix1"
                rows.append((self.database, "dbo", name, number, one.scheme, index, called, size))
        columns = ("DBName", "OwnerName", "ObjectName", "ObjectID", "LockScheme", "IndexID", "IndexName", "SizeKB")
        return printed(f"use {self.database}", []) + printed(sql, [ResultSet(columns, rows)])

    # monitoring tables, twice

    def _snapshots(self) -> str:
        """Counters as they stood before and after the sample: since the start they grew at a part of its rates."""
        text = ""
        for moment, extra in ((BEGAN, 0), (BEGAN + SNAPSHOT_APART, 1)):
            columns, rows = ("", "", ""), [(self.server.name, moment, self.server.booted)]
            text += printed("select @@servername, getdate(), @@boottime", [ResultSet(columns, rows)])
            for name, (headings, found) in self._monitoring(extra, moment).items():
                text += printed(f"select * from master..{name}", [ResultSet(tuple(headings), found)])
        return text

    def _grown(self, count: float, extra: int) -> int:
        """A counter: what it had by the start of the sample, and what the sample added."""
        before = count * self.server.days * 86_400 / SECONDS * LONG_RUN
        return int(before) + (round(count) if extra else 0)

    def _int(self, count: float, extra: int) -> int:
        """A counter of 32 bits, which begins again after 2,147,483,647."""
        return self._grown(count, extra) % 2**31

    def _monitoring(self, extra: int, moment: datetime) -> dict[str, tuple[Sequence[str], list[Sequence[object]]]]:
        since = self.server.number
        found: dict[str, tuple[Sequence[str], list[Sequence[object]]]] = {
            "monState": self._state(extra),
            "monEngine": self._engines(extra),
            "monDataCache": self._data_caches(extra),
            "monSysWaits": self._sys_waits(extra),
            "monDeviceIO": self._device_io(extra),
            "monOpenObjectActivity": self._objects(extra, moment),
            "monProcedureCache": self._procedure_cache(extra),
        }
        if since >= (15, 7):
            found["monSpinlockActivity"] = self._spinlocks(extra)
            found["monThread"] = self._threads(extra)
        if since >= (15,):
            found["monCachePool"] = self._pools(extra)
            found["monStatementCache"] = self._statement_cache(extra)
            if extra:
                found |= {"monLocks": self._held_locks(), "monProcess": self._sessions()}
        return found

    def _held_locks(self) -> tuple[Sequence[str], list[Sequence[object]]]:
        """One session holds the row that others wait for, as on any server in some second."""
        columns = [
            "SPID",
            "KPID",
            "DBID",
            "ObjectID",
            "LockID",
            "LockState",
            "LockType",
            "LockLevel",
            "WaitTime",
            "PageNumber",
            "RowNumber",
        ]
        columns += ["BlockedState", "BlockedBy"]
        where = (FIRST_DATABASE, FIRST_OBJECT)
        held = (FIRST_SESSION, KERNEL_ID, *where, 132, "Granted", "exclusive row", "ROW", None, 91_177, 4)
        rows: list[Sequence[object]] = [(*held, "Blocking" if self.server.blocked else None, None)]
        for at in range(1, self.server.blocked + 1):
            asked = (FIRST_SESSION + at, KERNEL_ID + at, *where, 132 + 2 * at, "Requested", "exclusive row", "ROW")
            rows.append((*asked, 1, 91_177, 4, "Blocked", 132))
        return columns, rows

    def _sessions(self) -> tuple[Sequence[str], list[Sequence[object]]]:
        """The session that works, those that wait for it, and some whose client thinks."""
        columns = [
            "SPID",
            "KPID",
            "DBID",
            "DBName",
            "Login",
            "Application",
            "Command",
            "SecondsConnected",
            "SecondsWaiting",
            "WaitEventID",
        ]
        columns += ["BlockingSPID", "LineNumber"]
        rows: list[Sequence[object]] = []
        for at in range(min(self.server.connections, 8 + self.server.blocked)):
            told = ("UPDATE", 0, None, 0) if at == 0 else ("AWAITING COMMAND", 40 + at, 250, 0)
            told = ("UPDATE", 1, 150, FIRST_SESSION) if 0 < at <= self.server.blocked else told
            where = (FIRST_SESSION + at, KERNEL_ID + at, FIRST_DATABASE, self.database)
            rows.append((*where, "app", "clerk", told[0], 3_600 + at, *told[1:], 1))
        return columns, rows

    def _state(self, extra: int) -> tuple[Sequence[str], list[Sequence[object]]]:
        load, server = self.load, self.server
        columns = ["LockWaitThreshold", "LockWaits", "DaysRunning", "CheckPoints", "NumDeadlocks", "Connections"]
        row: list[object] = [5, 0, server.days, 0, 2 + server.deadlocks * extra, server.connections]
        if server.number >= (16,):
            rows = {name: sum(one.values()) for name, one in load.rows.items()}
            columns += ["Transactions", "Selects", "Inserts", "Updates", "Deletes", "LogicalReads"]
            counts = [load.commits, load.commits * 4, rows["inserts"], rows["updates"], rows["deletes"], load.searches]
            row += [self._grown(one, extra) for one in counts]
        return [*columns, "StartDate", "CountersCleared"], [[*row, server.booted, server.booted + timedelta(seconds=1)]]

    def _engines(self, extra: int) -> tuple[Sequence[str], list[Sequence[object]]]:
        """Seconds, whole ones, and as many as passed: user, system, idle and waiting for I/O."""
        rows: list[Sequence[object]] = []
        columns = ["EngineNumber", "CPUTime", "SystemCPUTime", "UserCPUTime", "IdleCPUTime", "Connections", "Status"]
        threaded = self.server.number >= (15, 5)
        for at, (user, system, waiting, _) in enumerate(self.load.engines):
            # the mean since the start is idler than the sample, yet all seconds are there
            shares = [part / 100 for part in (user, system, waiting)]
            past, now = self.server.days * 86_400 + 10_848, SECONDS * extra
            spent = [round(share * LONG_RUN * past) + round(share * now) for share in shares]
            idle = past + now - sum(spent) if threaded else past + now - spent[0] - spent[1]
            row = [at, spent[0] + spent[1], spent[1], spent[0], idle, self.server.connections // self.server.engines]
            rows.append([*row, "online", *([spent[2]] if threaded else [])])
        return [*columns, *(["IOCPUTime"] if threaded else [])], rows

    def _data_caches(self, extra: int) -> tuple[Sequence[str], list[Sequence[object]]]:
        new = self.server.number >= (15, 7)
        columns = (
            "CacheID RelaxedReplacement BufferPools CacheSearches PhysicalReads LogicalReads PhysicalWrites Stalls"
        )
        columns += " CachePartitions CacheName"
        columns += " Status Type CacheSize ReplacementStrategy APFReads Overhead" if new else ""
        columns += " CASGrabs CASSpins CASWaits" if self.server.number >= (16, 0, 0, 2) else ""
        rows: list[Sequence[object]] = []
        for at, one in enumerate(self.load.caches):
            cache, relaxed = one.cache, one.cache.strategy.startswith("relaxed")
            count = self._grown if new else self._int
            row: list[object] = [at, int(relaxed), 1 + bool(cache.large), count(one.searches, extra)]
            row += [count(one.physical if new else one.misses, extra), count(one.searches * 0.93, extra)]
            row += [count(self.load.washed if at == 0 else one.new, extra), 0, cache.partitions, cache.name]
            if new:
                row += ["Active", cache.kind, cache.mb * 1024, cache.strategy, count(one.prefetched, extra)]
                row.append(round(cache.mb * 46))
            if self.server.number >= (16, 0, 0, 2):
                row += [0, 0, 0]
            rows.append(row)
        return columns.split(), rows

    def _pools(self, extra: int) -> tuple[Sequence[str], list[Sequence[object]]]:
        columns = (
            "CacheID IOBufferSize AllocatedKB PhysicalReads Stalls PagesTouched PagesRead BuffersToMRU BuffersToLRU"
        )
        new, kb = self.server.number >= (15, 7), self.server.page_kb
        rows: list[Sequence[object]] = []
        for at, one in enumerate(self.load.caches):
            pools = [(kb, one.cache.mb - one.cache.large, one.physical, one.prefetched - one.large, 1)]
            pools += [(8 * kb, one.cache.large, 0, one.large, 8)] if one.cache.large else []
            for io, mb, physical, prefetched, pages in pools:
                reads = physical if new else physical + prefetched
                row: list[object] = [at, io * 1024, mb * 1024, self._int(reads, extra), 0, mb * 1024 // kb]
                row += [
                    self._int((physical + prefetched) * pages, extra),
                    self._int(physical, extra),
                    0,
                    one.cache.name,
                ]
                if new:
                    logical = one.searches * 0.93 if io == kb else 0
                    row += [self._grown(logical, extra), self._int(prefetched, extra), 10, _wash_kb(mb)]
                rows.append(row)
        columns += " CacheName" + (" LogicalReads APFReads APFPercentage WashSize" if new else "")
        return columns.split(), rows

    def _spinlocks(self, extra: int) -> tuple[Sequence[str], list[Sequence[object]]]:
        columns = [
            "SpinlockName",
            "Grabs",
            "Spins",
            "Waits",
            "OwnerPID",
            "LastOwnerPID",
            "Contention",
            "SpinlockSlotID",
        ]
        spinlocks: list[Spinlock] = [one for cache in self.load.caches for one in cache.spinlocks]
        rows: list[Sequence[object]] = []
        for one in (*spinlocks, *self.load.other_spinlocks):
            counts = [self._grown(count, extra) for count in (one.grabs, one.spins, one.waits)]
            rows.append([one.name, *counts, 0, 1_310_737, 100.0 * one.waits / max(1, one.grabs), one.slot])
        return columns, rows

    def _threads(self, extra: int) -> tuple[Sequence[str], list[Sequence[object]]]:
        columns = ["ThreadID", "KTID", "OSThreadID", "ThreadPoolName", "State", "TaskRuns", "TotalTicks", "IdleTicks"]
        columns += [
            "SleepTicks",
            "BusyTicks",
            "UserTime",
            "SystemTime",
            "VoluntaryCtxtSwitches",
            "NonVoluntaryCtxtSwitches",
        ]
        switches = sum(self.load.switches.values()) / len(self.load.engines)
        rows: list[Sequence[object]] = []
        for at, (user, system, _, _) in enumerate(self.load.engines):
            past, now = self.server.days * 86_400 + 10_848, SECONDS * extra
            busy = (user + system) / 100
            seconds = busy * (LONG_RUN * past + now)
            ticks, ran = round((past + now) * 10), round(seconds * 10)
            # a thread is given the processor nearly as long as it counts itself busy, in milliseconds
            os_ms = [round(seconds * 980 * part / max(0.1, user + system)) for part in (user, system)]
            row: list[object] = [at + 2, 65_538 + at, 4_302 + at, "syb_default_pool", "Running"]
            row += [self._grown(switches, extra), ticks, ticks - ran, 0, ran, *os_ms]
            rows.append([*row, self._grown(switches * 0.2, extra), self._grown(switches * 0.01, extra)])
        return columns, rows

    def _sys_waits(self, extra: int) -> tuple[Sequence[str], list[Sequence[object]]]:
        rows = [
            (0, event, self._int(seconds, extra), self._int(many, extra))
            for event, (many, seconds) in sorted(self.load.waits.items())
        ]
        return ["InstanceID", "WaitEventID", "WaitTime", "Waits"], list(rows)

    def _device_io(self, extra: int) -> tuple[Sequence[str], list[Sequence[object]]]:
        columns = [
            "Reads",
            "APFReads",
            "Writes",
            "DevSemaphoreRequests",
            "DevSemaphoreWaits",
            "IOTime",
            "LogicalName",
            "PhysicalName",
        ]
        rows: list[Sequence[object]] = []
        for device, (reads, prefetched, writes, ms) in self.load.devices.items():
            counts = [self._int(one, extra) for one in (reads + prefetched, prefetched, writes)]
            path = f"/dev/mapper/{self.server.name.lower()}_{device}"
            rows.append([*counts, 0, 0, self._int(ms, extra), device, path])
        return columns, rows

    def _objects(self, extra: int, moment: datetime) -> tuple[Sequence[str], list[Sequence[object]]]:
        """Tables, and an index of each: what they read is a part of what was asked of their cache."""
        named = self.server.number >= (15, 0, 2)
        columns = ["DBID", "ObjectID", "IndexID", *(["DBName", "ObjectName"] if named else [])]
        columns += ["LogicalReads", "PhysicalReads", "APFReads", "PagesRead", "PhysicalWrites", "RowsInserted"]
        columns += [
            "RowsDeleted",
            "RowsUpdated",
            "Operations",
            "LockRequests",
            "LockWaits",
            "UsedCount",
            "LastUsedDate",
        ]
        columns += ["ObjectCacheDate"] if self.server.number >= (15, 7) else []
        load, rows = self.load, list[Sequence[object]]()
        waits = load.lock_waits(address=False)
        changed = {name: sum(one.values()) for name, one in load.rows.items()}
        for at, table in enumerate(self.server.tables):
            cache = next(one for one in load.caches if one.cache.name == table.cache)
            share = (table.reads or 90.0) / 100
            for index, part in ((0, 0.45), (2, 0.55)):
                reads = cache.searches * 0.93 * share * part
                physical, prefetched = cache.physical * share * part, cache.prefetched * share * part
                mine = 1 / len(self.server.tables) if not index else 0.0
                scans = max(1, prefetched // 3000) if not index and prefetched else 0
                counts = [reads, physical, prefetched, physical + prefetched * 7, load.washed * share * part]
                counts += [changed["inserts"] * mine, changed["deletes"] * mine, changed["updates"] * mine]
                counts += [reads / 4, load.lock_requests * share * 0.7 if not index else 0]
                counts += [waits * share if not index else 0, reads / 3 if index else scans]
                database = [self.database, table.name] if named else []
                dated = [self.server.booted + timedelta(minutes=3 + at)] if self.server.number >= (15, 7) else []
                row = [FIRST_DATABASE, FIRST_OBJECT + at * APART, index, *database]
                rows.append([*row, *(self._int(one, extra) for one in counts), moment, *dated])
        return columns, rows

    def _procedure_cache(self, extra: int) -> tuple[Sequence[str], list[Sequence[object]]]:
        requests = round(self.load.commits * 1.7) + 1
        counts = [self._int(one, extra) for one in (requests, requests // 9000, 0)]
        return ["Requests", "Loads", "Writes", "Stalls"], [[*counts, 0]]

    def _statement_cache(self, extra: int) -> tuple[Sequence[str], list[Sequence[object]]]:
        columns = ["TotalSizeKB", "UsedSizeKB", "NumStatements", "NumSearches", "HitCount", "NumInserts", "NumRemovals"]
        hits = round(self.load.commits * 1.1)
        size = self._statements_mb * 1024
        counts = [self._int(one, extra) for one in (hits + hits // 800, hits, hits // 900, hits // 1000)]
        return columns, [[size, round(size * 0.7), size // 14, *counts]]


def _wash_kb(mb: int) -> int:
    """A fifth of a pool, and from 300 MB on a fifth of that."""
    return round(min(mb, 300) * 1024 / 5)
