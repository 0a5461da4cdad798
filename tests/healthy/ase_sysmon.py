"""sp_sysmon of a healthy server, laid out as its release prints it (knowledge/ase-formats.md, 1)."""

from collections.abc import Iterator, Mapping
from datetime import timedelta

from tests.healthy.ase_listings import descriptors
from tests.healthy.ase_load import BEGAN, SECONDS, VERSIONS, CacheLoad, Load, percent
from tests.live.ase.paper import DASHES, RULE, SHORT_DASHES, Paper

VERSION_WIDTH = 56
DATE = "%b %d, %Y"
TABLE_LOCKS = (
    ("Exclusive Table", "EX-Table Requests"),
    ("Shared Table", "SH-Table Requests"),
    ("Exclusive Intent", "EX-Intent Requests"),
    ("Shared Intent", "SH-Intent Requests"),
)
PARTITION_LOCKS = (
    ("Exclusive Partition", "EX-Partition Reqs"),
    ("Shared Partition", "SH-Partition Reqs"),
    ("Exclusive Partition Intent", "EX-Ptn_Intent Reqs"),
    ("Shared Partition Intent", "SH-Ptn_Intent Reqs"),
)
ROW_LOCKS = (
    ("Exclusive Page", "EX-Page Requests"),
    ("Update Page", "UP-Page Requests"),
    ("Shared Page", "SH-Page Requests"),
    ("Exclusive Row", "EX-Row Requests"),
    ("Update Row", "UP-Row Requests"),
    ("Shared Row", "SH-Row Requests"),
    ("Next-Key", "Next-Key Requests"),
)
ADDRESS_LOCKS = (("Exclusive Address", "EX-Address Requests"), ("Shared Address", "SH-Address Requests"))
SINCE = {
    "Physical Lock Transition": (16,),
    "Logical Lock Transition": (16,),
    "Object Lock Transition": (16,),
    "IMRSLog Semaphore Contention": (16, 0, 0, 2),
    "PLCBLOCK flush": (16, 0, 0, 2),
    "Interconnect Message Sleeps": (16,),
}
"""Causes of task switches that not every release prints; nothing of them happens on a server of one instance."""
SWITCHES = (
    "Voluntary Yields",
    "Cache Search Misses",
    "Exceeding I/O batch size",
    "System Disk Writes",
    "Logical Lock Contention",
    "Address Lock Contention",
    "Latch Contention",
    "Physical Lock Transition",
    "Logical Lock Transition",
    "Object Lock Transition",
    "Log Semaphore Contention",
    "IMRSLog Semaphore Contention",
    "PLCBLOCK flush",
    "PLC Lock Contention",
    "Group Commit Sleeps",
    "Last Log Page Writes",
    "Modify Conflicts",
    "I/O Device Contention",
    "Network Packet Received",
    "Network Packet Sent",
    "Interconnect Message Sleeps",
    "Network services",
    "Other Causes",
)


class Sysmon(Paper):
    """A report of counts."""

    def __init__(self, load: Load) -> None:
        super().__init__(SECONDS, load.commits)
        self.load, self.server = load, load.server

    def row(self, label: str, count: float, of: float | None = None) -> None:
        """Write a row of a count; `of`: the count that it is a share of."""
        self.counted(label, count / SECONDS, None if of is None else of / SECONDS)

    def sum(self, label: str, count: float, of: float | None = None) -> None:
        """Write a total below its line."""
        self.total(label, count / SECONDS, None if of is None else of / SECONDS)

    def since(self, *number: int) -> bool:
        """Whether the release is this one or newer."""
        return self.server.number >= number

    def write(self) -> str:
        """Write all of it."""
        self._header()
        self.section("Kernel Utilization")
        self._threaded() if self.server.threaded else self._processes()
        self._tasks()
        self._transactions()
        self._log()
        if self.server.release != "15.0.3":  # the real reports of it have no such section
            self._metadata()
        self._locks()
        self._caches()
        self._procedures()
        self._disks()
        self.say("=============================== End of Report =================================")
        return "".join(f"{line}\n" for line in self.lines())

    def _header(self) -> None:
        title = "      Sybase Adaptive Server Enterprise System Performance Report"
        version = VERSIONS[self.server.release]
        cut = [version[at : at + VERSION_WIDTH] for at in range(0, len(version), VERSION_WIDTH)]
        cut = cut if self.since(16) else cut[:1]
        name = ("Server Name:", self.server.name)
        ended = BEGAN + timedelta(seconds=SECONDS)
        rows = [(label, text) for label, text in zip(["Server Version:", *[""] * len(cut)], cut, strict=False)]
        rows += [] if self.since(15, 7) else [name]
        rows += [
            ("Run Date:", f"{BEGAN:{DATE}}"),
            ("Sampling Started at:", f"{BEGAN:{DATE} %H:%M:%S}"),
            ("Sampling Ended at:", f"{ended:{DATE} %H:%M:%S}"),
            ("Sample Interval:", "00:10:00"),
        ]
        if self.since(15):
            rows += [("Sample Mode:", "No Clear"), ("Counters Last Cleared:", f"{self.server.booted:{DATE} %H:%M:%S}")]
        rows += [name] if self.since(15, 7) else []
        self.say(RULE, title, RULE, "", *(f"{label:<23}{text}" for label, text in rows), RULE, "")

    # kernel

    def _processes(self) -> None:
        """Engines as the process kernel prints them: I/O busy is an idle engine with reads of its own under way."""
        self.say("", "  Engine Busy Utilization        CPU Busy   I/O Busy       Idle")
        line = "  ------------------------       --------   --------   --------"
        rows = [(user + system, waiting, idle) for user, system, waiting, idle in self.load.engines]
        self.say(line, *(shares(f"    Engine {at}", row, (39, 50, 61)) for at, row in enumerate(rows)))
        if len(rows) > 1:
            sums = [sum(column) for column in zip(*rows, strict=True)]
            self.say(line, shares("  Summary           Total", sums, (39, 50, 61)))
            self.say(shares("                  Average", [one / len(rows) for one in sums], (39, 50, 61)))
        self.say("")

    def _threaded(self) -> None:
        load, ends = self.load, (39, 53, 65, 77)
        pool = "  ThreadPool : syb_default_pool"
        self.say("", "  Engine Utilization (Tick %)   User Busy   System Busy    I/O Busy        Idle", DASHES, pool)
        self.say(*(shares(f"   Engine {at}", row, ends) for at, row in enumerate(load.engines)))
        if len(load.engines) > 1:
            self.say(DASHES, *_summary("  Pool Summary ", load.engines, ends), "", DASHES)
            self.say(*_summary("  Server Summary", load.engines, ends))
        self.say("", "  Average Runnable Tasks            1 min         5 min      15 min  % of total", DASHES, pool)
        each = load.queued / len(load.engines)
        rows = [("Global Queue", 0.0), *((f"Engine {at}", each) for at in range(len(load.engines)))]
        for name, tasks in rows:
            self._row(
                f"   {name}", f"{tasks:.1f}", f"{tasks:.1f}", f"{tasks:.1f}", f"{percent(tasks, load.queued):.1f} %"
            )
        self.say("", "  Thread Utilization (OS %)     User Busy   System Busy        Idle", SHORT_DASHES)
        self.say("  ThreadPool : syb_blocking_pool : no activity during sample", "", pool)
        threads = [(user * 0.98, system * 0.98, 100 - (user + system) * 0.98) for user, system, _, _ in load.engines]
        self.say(
            *(shares(f"   Thread {at + 2:<4} (Engine {at})", row, (39, 53, 65)) for at, row in enumerate(threads)),
            SHORT_DASHES,
            *_summary("  Pool Summary", threads, (39, 53, 65)),
            "",
            "  ThreadPool : syb_system_pool",
            shares("   Thread 1    (Signal Handler)", (0.0, 0.0, 100.0), (39, 53, 65)),
            shares(f"   Thread {len(threads) + 2:<4} (NetController)", (2.1, 3.0, 94.9), (39, 53, 65)),
            shares(f"   Thread {len(threads) + 3:<4} (DiskController)", (1.2, 1.9, 96.9), (39, 53, 65)),
            "",
        )
        units = sum(user + system for user, system, _ in threads) / 100
        self.say(f"  Adaptive Server threads are consuming {units:.1f} CPU units.")
        self.say(f"  Throughput (committed xacts per CPU unit) : {load.commits / SECONDS / max(0.1, units):.1f}", "")

    def _tasks(self) -> None:
        switches, engines = self.load.switches, len(self.load.engines)
        whole = sum(switches.values())
        self.say(RULE, "", "Task Management                   per sec      per xact       count  % of total")
        self.say("---------------------------  ------------  ------------  ----------  ----------", "")
        self.row("  Connections Opened", 3 + self.server.connections // 100)
        self.say("", "  Task Context Switches by Engine", "")
        each = [whole // engines + (at < whole % engines) for at in range(engines)]
        for at, count in enumerate(each):
            self.row(f"    Engine {at}", count, whole)
        if engines > 1:
            self.sum("    Total Task Switches:", whole)
        self.say("", "  Task Context Switches Due To:")
        for cause in SWITCHES:
            if self.since(*SINCE.get(cause, (0,))):
                self.row(f"    {cause}", switches.get(cause, 0), whole)
        self.say("", "")

    # transactions and their log

    def _transactions(self) -> None:
        load, new = self.load, self.since(15, 7)
        self.section("Transaction Profile")
        self.table("  Transaction Summary")
        self.say(f"    Committed Xacts{load.commits / SECONDS:>22.1f}{'n/a':>14}{load.commits:>12}{'n/a':>8}", "")
        self.table("  Transaction Detail")
        names = {
            "inserts": {"heap": "APL Heap Table", "allpages": "APL Clustered Table", "dol": "Data Only Lock Table"},
            "updates": {"allpages": "APL Direct In-place", "dol": "DOL Direct"},
            "deletes": {"allpages": "APL Direct", "dol": "DOL"},
        }
        totals = {"inserts": "Inserted", "updates": "Updated", "deletes": "Deleted"}
        for operation, rows in load.rows.items():
            whole = sum(rows.values())
            self.say(f"  {operation.capitalize()}")
            if whole:
                self.say(*(["    Fully Logged"] if new else []))
                for way, count in rows.items():
                    self.row(f"      {names[operation][way]}", count, whole)
                self.sum(f"  Total Rows {totals[operation]}", whole, load.changed)
            else:
                self.row(f"    Total Rows {totals[operation]}", 0)
            self.say("")
            if operation == "updates" and rows["dol"]:
                self._dol_updates(rows["dol"])
        if new:
            self.say("  Selects")
            self.row("    Total Rows Selected", load.selected, load.selected)
            self.say("")
        self.say("")

    def _dol_updates(self, updated: int) -> None:
        self.say("  Data Only Locked Updates")
        forwarded = self.load.forwarded
        for way, count in (
            ("DOL Replace", updated - forwarded),
            ("DOL Expand & Forward", forwarded),
            ("DOL Fwd Row Returned", 0),
        ):
            self.row(f"    {way}", count, updated)
        self.sum("  Total DOL Rows Updated", updated, updated)
        self.say("")

    def _log(self) -> None:
        load, flushes = self.load, self.load.flushes
        whole = sum(flushes.values())
        self.section("Transaction Management")
        self.table("  ULC Flushes to Xact Log")
        groups: Mapping[str, tuple[str, ...]] = {"": tuple(flushes)}
        if self.since(16):
            first = ["by End Transaction", "by Change of Database", "by Unpin", "by Other"]
            fully = ["by Full ULC", "by Single Log Record"]
            groups = {"  Any Logging Mode DMLs": tuple(first), "  Fully Logged DMLs": tuple(fully)}
        for title, reasons in groups.items():
            self.say(*([title] if title else []))
            for reason in reasons:
                self.row(f"    {reason}", flushes[reason], whole)
            if self.since(16, 0, 0, 4) and title.startswith("  Fully"):
                self.row("    by No Free Plcblock", 0, whole)
            self.say("")
        self.sum("  Total ULC Flushes", whole)
        self.say("")
        self.table("  ULC Flushes Skipped")
        if self.since(16):
            self.say("  Fully Logged DMLs")
        self.row("    by ULC Discards" if self.since(16) else "    by PLC Discards", 0, 1)
        self.sum("  Total ULC Flushes Skips" if self.since(16) else "  Total ULC Discards", 0)
        self.say("")
        if not self.since(16):
            self.row("  ULC Log Records", load.log_records)
        self.say("")
        self._semaphore("ULC Semaphore Requests", load.ulc_semaphore)
        self._semaphore("Log Semaphore Requests", load.log_semaphore, local=self.since(16))
        self.row("  Transaction Log Writes", load.log_writes)
        self.row("  Transaction Log Alloc", load.log_pages)
        self.state("  Avg # Writes per Log Page", load.log_writes / load.log_pages, decimals=5)
        self.say("")

    def _semaphore(self, name: str, figures: tuple[int, int], *, local: bool = False) -> None:
        granted, waited = figures
        self.say(f"  {name}")
        self.row("    Granted", granted, granted + waited)
        self.row("    Local Waited" if local else "    Waited", waited, granted + waited)
        if local:
            self.row("    Global Waited", 0, granted + waited)
        self.sum(f"  Total {name.replace('Semaphore', 'Sem').replace('Requests', 'Req')}", granted + waited)
        self.say("")

    # descriptors and locks

    def _metadata(self) -> None:
        load = self.load
        self.section("Metadata Cache Management")
        self.table("  Metadata Cache Summary")
        for kind, (active, most, there) in descriptors(self.server).items():
            self.say("", f"  Open {kind} Usage")
            self.state("    Active", active)
            self.state("    Max Ever Used Since Boot", most)
            self.state("    Free", there - active)
            self.say("    Reuse Requests")
            self.state("      Succeeded", 0)
            self.state("      Failed", 0)
        self.say("")
        names = [
            ("Object Manager", "Resource->rdesmgr_spin"),
            ("Object", "Des Upd Spinlocks"),
            ("Index", "Ides Spinlocks"),
            ("Index Hash", "Ides Chain Spinlocks"),
        ]
        names = names if self.since(15) else names[1:]
        names += [("Partition", "Pdes Spinlocks"), ("Partition Hash", "Pdes Chain Spinlocks")] if self.since(15) else []
        for name, spinlock in names:
            self.share(f"  {name} Spinlock Contention", load.contention(spinlock))
            self.say("")

    def _locks(self) -> None:
        load, new = self.load, self.since(16)
        whole, waited = load.lock_requests, load.lock_waits(address=False) + load.lock_waits(address=True)
        self.section("Lock Management")
        self.table("  Lock Summary")
        self.row("  Total Lock Requests", whole)
        self.row("  Avg Lock Contention", waited, whole)
        if new:
            self.row("  Cluster Locks Retained", 0, whole)
        self.row("  Deadlock Percentage", self.server.deadlocks, whole)
        self.say("")
        self.table("  Lock Detail")
        self.say("")
        tables = 0 if new else self._lookups(TABLE_LOCKS)
        chain = None if new or not self.since(15) else 0.02
        self._hashtable(
            "Table & Partition Lock Hashtable" if new else "Table Lock Hashtable", tables, chain, "tablockspins"
        )
        self._types(TABLE_LOCKS)
        if new:
            self._types(PARTITION_LOCKS)
        chain = load.held_locks / load.lock_buckets
        self._hashtable("Page & Row Lock HashTable", self._lookups(ROW_LOCKS), chain, "fglockspins")
        self._types(ROW_LOCKS)
        self._hashtable("Address Lock Hashtable", self._lookups(ADDRESS_LOCKS), 0.001, "addrlockspins")
        self._types(ADDRESS_LOCKS)
        self.say("")
        self._type("Last Page Locks on Heaps", "Last Pg Locks", (load.heap_locks, 0), load.heap_locks)
        self.say("")
        deadlocks = self.server.deadlocks
        self.table("  Deadlocks by Lock Type")
        if deadlocks:
            self.row("    Exclusive Row", deadlocks, deadlocks)
            self.sum("  Total Deadlocks", deadlocks)
        else:
            self.row("  Total Deadlocks", 0)
        self.say("", "  Deadlock Detection")
        self.row("    Deadlock Searches", deadlocks * 3)
        self.say("", "  Lock Promotions")
        self.row("    Total Lock Promotions", 0)
        self.say("")
        self.table("  Lock Timeouts by Lock Type")
        self.row("  Total Timeouts", 0)
        self.say("")

    def _lookups(self, types: tuple[tuple[str, str], ...]) -> int:
        return sum(sum(self.load.locks.get(name, (0, 0))) for name, _ in types)

    def _hashtable(self, title: str, lookups: int, chain: float | None, spinlock: str) -> None:
        self.say(f"  {title}")
        self.row("    Lookups", lookups)
        if chain is not None:
            self.state("    Avg Chain Length", chain, decimals=5)
        self.share("    Spinlock Contention", self.load.contention(spinlock))
        self.say("")

    def _types(self, types: tuple[tuple[str, str], ...]) -> None:
        for name, total in types:
            self._type(name, total, self.load.locks.get(name, (0, 0)), self.load.lock_requests)

    def _type(self, name: str, total: str, figures: tuple[int, int], whole: int) -> None:
        granted, waited = figures
        self.say(f"  {name}")
        if granted or waited:
            self.row("    Granted", granted, granted + waited)
            self.row("    Waited", waited, granted + waited)
            self.sum(f"  Total {total}", granted + waited, whole)
        else:
            self.row(f"    Total {total}", 0)
        self.say("")

    # data caches

    def _caches(self) -> None:
        load = self.load
        taken = sum(sum(one.grabs(self.server).values()) for one in load.caches)
        self.section("Data Cache Management")
        self.say("  Cache Statistics Summary (All Caches)", "  -------------------------------------")
        self.table("")
        self.say("", "    Cache Search Summary")
        self.row("      Total Cache Hits", load.searches - load.misses, load.searches)
        self.row("      Total Cache Misses", load.misses, load.searches)
        self.sum("    Total Cache Searches", load.searches)
        self.say("", "    Cache Turnover")
        self.row("      Buffers Grabbed", taken)
        self.row("      Buffers Grabbed Dirty", 0, taken)
        self.say("", "    Cache Strategy Summary")
        self._strategy("  ", load.searches, sum(one.large for one in load.caches) // 4)
        self.say("")
        for one in sorted(load.caches, key=lambda found: found.cache.name):
            self._cache(one)

    def _strategy(self, indent: str, cached: int, discarded: int) -> None:
        self.row(f"    {indent}Cached (LRU) Buffers", cached - discarded, cached)
        self.row(f"    {indent}Discarded (MRU) Buffers", discarded, cached)

    def _cache(self, one: CacheLoad) -> None:
        self.say("-" * 79, f"  Cache: {one.cache.name}")
        self.table("")
        self.share("    Spinlock Contention", one.contention)
        self.say("")
        self.share("    Utilization", percent(one.searches, self.load.searches))
        self.say("", "    Cache Searches")
        self.row("      Cache Hits", one.hits, one.searches)
        self.row("         Found in Wash", one.misses // 20, one.hits)
        self.row("      Cache Misses", one.misses, one.searches)
        self.sum("    Total Cache Searches", one.searches)
        self.say("")
        grabs = one.grabs(self.server)
        taken = sum(grabs.values())
        if taken:
            self.say("    Pool Turnover")
            for kilobytes, count in grabs.items():
                self.say(f"      {kilobytes:<2} Kb Pool")
                self.row("          LRU Buffer Grab", count, taken)
                if self.since(15, 5):
                    self.row("            Grabbed Locked Buffer", 0, taken)
                self.row("            Grabbed Dirty", 0, taken)
            self.sum("    Total Cache Turnover", taken)
        else:
            self.row("    Pool Turnover", 0)
        self.say("")
        if self.since(15, 5):
            self.say("    Cluster Cache Behavior", "      No physical locks are acquired on buffers in this cache", "")
        self.say("    Buffer Wash Behavior")
        if taken and one.cache.strategy == "strict LRU":
            dirty = min(taken // 2, self.load.washed // 40 if one.cache.kind == "Default" else 0)
            self.row("      Buffers Passed Clean", taken - dirty, taken)
            self.row("      Buffers Already in I/O", 0, taken)
            self.row("      Buffers Washed Dirty", dirty, taken)
        else:
            self.say("      Statistics Not Available - No Buffers Entered Wash Section Yet")
        self.say("", "    Cache Strategy")
        self._strategy("  ", one.searches, one.large // 4)
        self.say("", "    Large I/O Usage")
        if one.large:
            self.row("      Large I/Os Performed", one.large, one.large)
            self.sum("    Total Large I/O Requests", one.large)
        else:
            self.row("      Total Large I/O Requests", 0)
        self.say("", "    Large I/O Detail")
        if one.cache.large:
            self.say(f"     {8 * self.server.page_kb:<3} Kb Pool")
            self.row("        Pages Cached", 8 * one.large)
            self.row("        Pages Used", 7 * one.large, 8 * one.large if one.large else None)
        else:
            self.say("      No Large Pool(s) In This Cache")
        self.say("", "    Dirty Read Behavior")
        self.row("\t  Page Requests", 0)
        self.say("")

    # the rest

    def _procedures(self) -> None:
        requests = round(self.load.commits * 1.7) + 1
        self.say(RULE, "", "Procedure Cache Management        per sec      per xact       count  % of total")
        self.say("---------------------------  ------------  ------------  ----------  ----------")
        self.row("  Procedure Requests", requests)
        self.row("  Procedure Reads from Disk", requests // 9000, requests)
        self.row("  Procedure Writes to Disk", 0, requests)
        self.row("  Procedure Removals", requests // 8000)
        self.row("  Procedure Recompilations", requests // 20000)
        self.say("")
        if self.since(15):
            found = round(self.load.commits * 1.1)
            self.say("  SQL Statement Cache:")
            self.row("    Statements Cached", found // 900)
            self.row("    Statements Found in Cache", found)
            self.row("    Statements Not Found", found // 800)
            self.row("    Statements Dropped", found // 1000)
            self.row("    Statements Restored", 0)
            self.row("    Statements Not Cached", 0)
        self.say("", "")

    def _disks(self) -> None:
        devices = self.load.devices
        whole = sum(reads + prefetched + writes for reads, prefetched, writes, _ in devices.values())
        self.section("Disk I/O Management")
        self.say("  Device Activity Detail", "  ----------------------", "")
        for device, (reads, prefetched, writes, _) in devices.items():
            mine = reads + prefetched + writes
            self.say("  Device:", f"    /dev/mapper/{self.server.name.lower()}_{device}")
            self.table(f"    {device}")
            if mine:
                self.say("    Reads")
                self.row("      APF", prefetched, mine)
                self.row("      Non-APF", reads, mine)
                self.row("    Writes", writes, mine)
            else:
                self.row("  Total I/Os", 0)
            self.sum("  Total I/Os", mine, whole)
            self.say("", "  " + "-" * 77, "")


def shares(label: str, row: Iterator[float] | tuple[float, ...] | list[float], ends: tuple[int, ...]) -> str:
    """Write a row of percentages, each ending in its column."""
    line = label
    for value, end in zip(row, ends, strict=True):
        line += f"{value:>{end - len(line)}.1f} %"
    return line


def _summary(
    label: str, rows: list[tuple[float, float, float, float]] | list[tuple[float, float, float]], ends: tuple[int, ...]
) -> list[str]:
    sums = [sum(column) for column in zip(*rows, strict=True)]
    means = [one / len(rows) for one in sums]
    return [shares(f"{label:<20}Total", sums, ends), shares(f"{'':<18}Average", means, ends)]
