"""What a healthy SAP ASE does in ten minutes: every count of its reports, made of the few figures of `ase_servers.yml`.

All counts are whole numbers of one interval, and each is made once: what two reports show is the same count in both,
and totals are sums. What is drawn is drawn by the server's name. The laws are simple on purpose: a spinlock of a cache
waits by how often its partition is asked for, a run queue is that of a queue with several servers, a transaction's log
is its rows.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

from tests.facts_yml import load

SERVERS = Path(__file__).resolve().parent / "ase_servers.yml"
SECONDS = 600
"""Of the sample: ten minutes, as vendor and this project ask for."""
BEGAN = datetime(2026, 6, 9, 11, 0, 0)  # noqa: DTZ001 - a server's clock has no zone
HELD_MICROSECONDS = 2.5
"""How long a task holds a cache's spinlock: with it, partitions asked for 13,000 times a second wait for 3 %."""
CACHE_SPINS, LOCK_SPINS = 130, 420
"""Spins of a wait, as a published benchmark on 16.0 had them for caches (134), and fewer than for locks (744)."""
ROW_BYTES = 260
"""Of the log, for a changed row with its index entries."""
VERSIONS = {
    "12.5.4": "Adaptive Server Enterprise/12.5.4/EBF 15446 ESD#8/P/Sun_svr4/OS 5.8/ase1254/2105/64-bit/FBO/"
    "Sat Mar 22 14:38:37 2008",
    "15.0.3": "Adaptive Server Enterprise/15.0.3/EBF 17690 ESD#3/P/x86_64/Enterprise Linux/ase1503/2763/64-bit/FBO/"
    "Fri Apr  9 11:20:14 2010",
    "15.7 SP110": "Adaptive Server Enterprise/15.7/EBF 21709 SMP SP110 /P/x86_64/Enterprise Linux/ase157sp11x/3546/"
    "64-bit/FBO/Fri Nov  8 05:39:38 2013",
    "15.7 SP138": "Adaptive Server Enterprise/15.7/EBF 26294 SMP SP138 /P/x86_64/Enterprise Linux/ase157sp138x/4102/"
    "64-bit/FBO/Thu Jul 21 17:40:30 2016",
    "16.0 SP02": "Adaptive Server Enterprise/16.0 SP02 PL05/EBF 26518 SMP/P/x86_64/SuSE Linux/ase160sp02pl05x/2701/"
    "64-bit/FBO/Sun Nov 20 02:11:08 2016",
    "16.0 SP03": "Adaptive Server Enterprise/16.0 SP03 PL08/EBF 28901 SMP/P/x86_64/SLES 12.4/ase160sp03pl08x/3561/"
    "64-bit/FBO/Mon Sep  2 01:21:44 2019",
    "16.0 SP04": "Adaptive Server Enterprise/16.0 SP04 PL03/EBF 30398 SMP/P/x86_64/SLES 12.4/ase160sp04pl03x/3587/"
    "64-bit/FBO/Wed Aug 24 01:39:32 2022",
    "16.1": "Adaptive Server Enterprise/16.1 SP01 PL01/EBF 31210 SMP/P/x86_64/SLES 15.4/ase161sp01pl01x/4012/"
    "64-bit/FBO/Tue Mar 11 04:12:55 2025",
}


@dataclass(frozen=True, kw_only=True)
class Cache:
    """A data cache of a server, as the DBA set it up."""

    name: str
    mb: int
    partitions: int
    searches: float
    """Per cent of all searches of the server."""
    hits: float
    """Per cent of its own searches."""
    scanned: float = 0.0
    """Per cent of its misses that are asynchronous prefetch."""
    large: int = 0
    """MB of its pool of eight pages an I/O."""
    kind: str = "Mixed"
    strategy: str = "strict LRU"
    bound: str = ""
    """A database, or `database.owner.table`; empty: what is bound nowhere."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A user table, with an index of a fifth of its size."""

    name: str
    scheme: str
    mb: int
    reads: float
    """Per cent of the reads of the default data cache; 0: it is bound to another cache, which it has for itself."""
    cache: str = "default data cache"


@dataclass(frozen=True, kw_only=True)
class Server:
    """One healthy server: `ase_servers.yml` says what each figure means."""

    name: str
    story: str
    release: str
    engines: int
    busy: float
    page_kb: int
    memory_mb: int
    days: int
    commits: float
    searches: float
    inserts: float
    updates: float
    deletes: float
    allpages: float
    connections: int
    read_ms: float
    write_ms: float
    log_ms: float
    caches: tuple[Cache, ...]
    tables: tuple[Table, ...]
    brings: tuple[str, ...]
    ulc_kb: int = 0
    """Size of a user log cache; 0: four pages on 16.0 and newer, one page before."""
    latches: float = 0.0
    """Waits for latches a second, beside the few that any server has."""
    lock_waits: float = 0.0
    """Waits for locks a second, likewise; each takes `lock_ms`."""
    lock_ms: float = 6.0
    blocked: int = 0
    """Sessions that wait for a lock when the second snapshot is taken: for a second or two, behind one that works."""
    deadlocks: int = 0
    """In the sample; the victims try again."""
    replicated: bool = False

    @property
    def number(self) -> tuple[int, ...]:
        """The release as numbers: `15.7 SP110` → (15, 7, 0, 110); before 15.7 service packs had other names."""
        version, _, pack = self.release.partition(" SP")
        parts = [int(part) for part in version.split(".")]
        return (*parts, *[0] * (3 - len(parts)), int(pack or 0))

    @property
    def threaded(self) -> bool:
        """Whether the kernel is the threaded one, which 15.7 brought and made the default."""
        return self.number >= (15, 7)

    @property
    def user_log_cache(self) -> int:
        """Bytes of a user log cache."""
        return 1024 * (self.ulc_kb or self.page_kb * (4 if self.number >= (16,) else 1))

    @property
    def booted(self) -> datetime:
        """When it was started."""
        return BEGAN - timedelta(days=self.days, hours=3, seconds=48)


def servers() -> dict[str, Server]:
    """Every healthy server, by name."""
    return {name: _server(name, told) for name, told in load(SERVERS).items()}


def _server(name: str, told: Mapping[str, Any]) -> Server:
    lists = {
        "caches": tuple(_cache(one, first=at == 0) for at, one in enumerate(told["caches"])),
        "tables": tuple(Table(**one) for one in told["tables"]),
        "brings": tuple(told["brings"]),
    }
    return Server(name=name, **{**told, **lists})


def _cache(told: Mapping[str, Any], *, first: bool) -> Cache:
    return Cache(**{"kind": "Default" if first else "Mixed", **told})


@dataclass(frozen=True)
class Spinlock:
    """One spinlock, or one slot of several of a name."""

    name: str
    slot: int
    grabs: int
    spins: int
    waits: int


@dataclass
class CacheLoad:
    """What a data cache did: pages asked for and found, buffers taken, its spinlocks."""

    cache: Cache
    searches: int
    physical: int
    """Misses that a task waited for."""
    prefetched: int
    """Misses that prefetch read."""
    large: int
    """Of the prefetched, those by the large pool."""
    new: int
    """Buffers taken for pages that were not read: new ones of tables, temporary tables and logs."""
    spinlocks: list[Spinlock] = field(default_factory=list)

    @property
    def misses(self) -> int:
        return self.physical + self.prefetched

    @property
    def hits(self) -> int:
        return self.searches - self.misses

    def grabs(self, server: Server) -> dict[int, int]:
        """Buffers taken, by the KB of an I/O of the pool."""
        small = self.misses - self.large + self.new
        return {server.page_kb: small} | ({8 * server.page_kb: self.large} if self.cache.large else {})

    @property
    def contention(self) -> float:
        """Per cent of the grabs of its spinlock that waited."""
        return percent(sum(one.waits for one in self.spinlocks), sum(one.grabs for one in self.spinlocks))


def percent(part: float, whole: float) -> float:
    """Per cent; 0 of nothing."""
    return 100.0 * part / whole if whole else 0.0


class Load:
    """Ten minutes of a server."""

    def __init__(self, server: Server, seed: int = 0) -> None:
        self.server, self._random = server, Random(f"{server.name} {seed}")
        self._make_rows()
        self.caches = [self._cache_load(cache) for cache in server.caches]
        self._make_locks()
        self._make_log()
        self._make_devices()

    def count(self, per_second: float, spread: float = 0.08) -> int:
        """How often it happened in the sample, where it happens so often a second on average."""
        return round(per_second * SECONDS * self._random.uniform(1 - spread, 1 + spread))

    # what is changed

    def _make_rows(self) -> None:
        server = self.server
        self.commits = self.count(server.commits, 0.02)
        old = server.allpages / 100
        self.rows = {
            "inserts": {"heap": self.count(0.2), "allpages": self.count(server.inserts * old)},
            "updates": {"allpages": self.count(server.updates * old)},
            "deletes": {"allpages": self.count(server.deletes * old)},
        }
        for name in self.rows:
            self.rows[name]["dol"] = self.count(getattr(server, name) * (1 - old))
        self.changed = sum(sum(one.values()) for one in self.rows.values())
        self.changed_dol = sum(one["dol"] for one in self.rows.values())
        self.changed_allpages = self.changed - self.changed_dol
        self.forwarded = round(self.rows["updates"]["dol"] * 0.003)
        self.selected = round(server.searches * SECONDS * 0.11)
        self.writing = min(self.commits, self.changed)
        """Transactions that wrote something."""

    # data caches

    def _cache_load(self, cache: Cache) -> CacheLoad:
        server = self.server
        searches = self.count(server.searches * cache.searches / 100, 0.02)
        misses = round(searches * (100 - cache.hits) / 100)
        prefetched = round(misses * cache.scanned / 100)
        large = round(prefetched * 0.9) if cache.large else 0
        pages = self.changed * ROW_BYTES // (1024 * server.page_kb)
        if cache.kind == "Log Only":
            new = pages
        elif cache.bound.endswith("tempdb"):
            new = round(searches * 0.0004)
        else:
            new = pages if not cache.bound else 0
        load_ = CacheLoad(cache, searches, misses - prefetched, prefetched, large, new)
        per_partition = searches / SECONDS / cache.partitions
        share = per_partition * HELD_MICROSECONDS / 1e6
        if cache.strategy == "relaxed LRU":
            share *= 0.5  # nothing is moved in the chain
        load_.spinlocks = list(self._slots(cache.name, searches * 1.3, cache.partitions, share, CACHE_SPINS))
        return load_

    def _slots(self, name: str, grabs: float, slots: int, share: float, spins: float) -> Iterator[Spinlock]:
        """Spinlocks of a name: `share` of the grabs wait, where others run beside the one that holds it."""
        share *= 1 - 1 / self.server.engines
        for slot in range(slots):
            mine = round(grabs / slots * self._random.uniform(0.8, 1.2))
            waits = round(mine * share * self._random.uniform(0.8, 1.2))
            yield Spinlock(name, slot, mine, round(waits * spins * self._random.uniform(0.8, 1.2)), waits)

    @property
    def searches(self) -> int:
        return sum(one.searches for one in self.caches)

    @property
    def misses(self) -> int:
        return sum(one.misses for one in self.caches)

    @property
    def physical(self) -> int:
        return sum(one.physical for one in self.caches)

    @property
    def washed(self) -> int:
        """Pages written by the housekeeper, checkpoints and the wash."""
        return round(self.changed * 0.11) + self.count(0.4)

    # locks

    def _make_locks(self) -> None:
        server, rows = self.server, self.rows
        dol, old = self.changed_dol, self.changed_allpages
        waited = round(self.writing * 0.0004) + round(server.lock_waits * SECONDS)
        granted = {
            "Exclusive Table": self.count(0.05),
            "Shared Table": 0,
            "Exclusive Intent": round(self.writing * 2.2),
            "Shared Intent": round(self.commits * 3.1),
            "Exclusive Page": round(old * 1.4) + self.count(0.3),
            "Update Page": rows["updates"]["allpages"] + rows["deletes"]["allpages"],
            "Shared Page": round(self.selected * 0.05 * server.allpages / 100) + self.count(0.5),
            "Exclusive Row": dol,
            "Update Row": round((rows["updates"]["dol"] + rows["deletes"]["dol"]) * 1.05),
            "Shared Row": round(self.selected * 0.14 * (1 - server.allpages / 100)),
            "Next-Key": 0,
            "Exclusive Address": round(old * 0.4) + self.count(0.2),
            "Shared Address": round(self.selected * 0.06 * server.allpages / 100) + self.count(1.5),
        }
        share = {"Exclusive Row": 0.6, "Update Row": 0.3, "Exclusive Intent": 0.1}
        if server.allpages > 50:
            share = {"Exclusive Page": 0.5, "Update Page": 0.3, "Shared Page": 0.1, "Shared Address": 0.1}
        self.locks = {name: (many, min(many, round(waited * share.get(name, 0.0)))) for name, many in granted.items()}
        """By type of lock: granted at once, and waited for."""
        self.heap_locks = rows["inserts"]["heap"]
        self.held_locks = round(40 + server.connections * 1.5 + self.writing / SECONDS * 6)
        self.lock_buckets = max(8_192, 2 ** math.ceil(math.log2(self.held_locks)))
        """`lock hashtable size`: the DBA gave it a bucket for each lock that is held at a time."""

    @property
    def lock_requests(self) -> int:
        return sum(sum(one) for one in self.locks.values())

    def lock_waits(self, *, address: bool) -> int:
        """Waits for address locks, or for all others."""
        return sum(waited for name, (_, waited) in self.locks.items() if name.endswith("Address") is address)

    # the log

    def _make_log(self) -> None:
        server = self.server
        full = round(self.writing * max(0.0, self.log_bytes / max(1, self.writing) / server.user_log_cache - 0.6))
        self.flushes = {
            "by Full ULC": full,
            "by End Transaction": round(self.writing * 0.97),
            "by Change of Database": self.count(0.05),
            "by Single Log Record": self.count(0.3),
            "by Unpin": round(self.writing * 0.03 * self.changed_dol / max(1, self.changed)),
            "by Other": self.count(0.2),
        }
        asked = sum(self.flushes.values())
        contended = min(0.06, 0.004 + server.commits / 200_000) * (1 - 1 / server.engines)
        waited = round(asked * contended)
        self.log_semaphore = (asked - waited, waited)
        records = round(self.changed * 2.1 + self.writing * 2)
        waited = round(records * 0.0003)
        self.log_records, self.ulc_semaphore = records, (records * 2 - waited, waited)
        own = round(self.writing * (0.95 if server.commits < 300 else 0.6))
        self.log_writes, self.group_commits = own, self.writing - own
        self.log_pages = max(1, round(self.log_bytes / (1024 * server.page_kb)) + round(self.writing * 0.1))

    @property
    def log_bytes(self) -> int:
        return self.changed * ROW_BYTES + self.writing * 120

    # devices

    def _make_devices(self) -> None:
        temp = [one for one in self.caches if one.cache.bound.endswith("tempdb")]
        temp_reads = [sum(getattr(one, name) for one in temp) for name in ("physical", "prefetched")]
        reads = [self.physical - temp_reads[0], sum(one.prefetched for one in self.caches) - temp_reads[1]]
        self.devices = {
            "data01": self._device([one // 2 for one in reads], self.washed // 2, self.server.write_ms),
            "data02": self._device([one - one // 2 for one in reads], self.washed - self.washed // 2, 0),
            "log01": self._device([0, 0], self.log_writes, self.server.log_ms),
            "temp01": self._device(temp_reads, self.count(0.3), self.server.write_ms),
        }
        """By device: reads, reads by prefetch, writes, and milliseconds of all of them."""

    def _device(self, reads: list[int], writes: int, write_ms: float) -> tuple[int, int, int, int]:
        slow = sum(reads) * self.server.read_ms + writes * (write_ms or self.server.write_ms)
        return reads[0], reads[1], writes, round(slow * self._random.uniform(0.95, 1.05))

    # engines, tasks and waits

    @cached_property
    def engines(self) -> list[tuple[float, float, float, float]]:
        """User, system, I/O and idle per cent of each engine, of one decimal, together 100."""
        found = []
        reading = min(20.0, percent(self.misses / SECONDS * self.server.read_ms / 1000, self.server.engines))
        for _ in range(self.server.engines):
            busy = min(99.0, self.server.busy * self._random.uniform(0.94, 1.06))
            system = round(busy * 0.11, 1)
            waiting = round((100 - busy) / 100 * min(90.0, reading), 1)
            user = round(busy - system, 1)
            found.append((user, system, waiting, round(100 - user - system - waiting, 1)))
        return found

    @property
    def busy(self) -> float:
        """Engines that are busy, on average."""
        return sum(user + system for user, system, _, _ in self.engines) / 100

    @property
    def queued(self) -> float:
        """Tasks that are runnable and do not run, on average (Sakasegawa's law for a queue with several servers)."""
        load_ = self.busy / self.server.engines
        return float(load_ ** math.sqrt(2 * (self.server.engines + 1)) / (1 - load_))

    @cached_property
    def switches(self) -> dict[str, int]:
        """Task switches by cause, under the names of sp_sysmon."""
        packets = round(self.commits * 2.6) + self.count(1.0)
        causes = {
            "Voluntary Yields": round(self.busy * SECONDS * 14) + round(self.commits * 0.4),
            "Cache Search Misses": self.physical,
            "Exceeding I/O batch size": round(self.washed * 0.001),
            "System Disk Writes": round(self.washed * 0.02),
            "Logical Lock Contention": self.lock_waits(address=False),
            "Address Lock Contention": self.lock_waits(address=True),
            "Latch Contention": round(self.writing * 0.001) + round(self.server.latches * SECONDS),
            "Log Semaphore Contention": self.log_semaphore[1],
            "PLC Lock Contention": self.ulc_semaphore[1],
            "Group Commit Sleeps": self.group_commits,
            "Last Log Page Writes": self.log_writes,
            "Modify Conflicts": round(self.washed * 0.002),
            "I/O Device Contention": 0,
            "Network Packet Received": packets,
            "Network Packet Sent": round(packets * 0.03),
            "Network services": round(packets * 0.02),
        }
        return causes | {"Other Causes": round(sum(causes.values()) * 0.04)}

    @cached_property
    def waits(self) -> dict[int, tuple[int, float]]:
        """Waits, and seconds of them, by number of the event. Sessions with nothing to do wait for clients (250)."""
        server, made = self.server, self.switches
        after_sleep = sum(made.values()) - made["Voluntary Yields"]
        found: dict[int, tuple[int, float]] = {
            29: (self.physical, self.physical * server.read_ms / 1000),
            31: (round(self.washed * 0.002), round(self.washed * 0.002) * server.write_ms / 1000),
            36: (made["Modify Conflicts"], made["Modify Conflicts"] * server.write_ms / 1000),
            41: (made["Latch Contention"], made["Latch Contention"] * 0.0009),
            51: (made["System Disk Writes"], made["System Disk Writes"] * server.write_ms / 1000),
            54: (self.group_commits, self.group_commits * server.log_ms / 1500),
            55: (self.log_writes, self.log_writes * server.log_ms / 1000),
            150: (self.lock_waits(address=False) + self.lock_waits(address=True), 0.0),
            214: (made["Voluntary Yields"], self.queued * SECONDS * 0.25),
            215: (after_sleep, self.queued * SECONDS * 0.75),
            251: (made["Network Packet Sent"], made["Network Packet Sent"] * 0.0007),
            272: (self.ulc_semaphore[1], self.ulc_semaphore[1] * 0.0004),
            57: (SECONDS // 60, float(SECONDS)),
            61: (SECONDS // 60, float(SECONDS)),
            104: (10, float(SECONDS)),
            178: (4, float(SECONDS)),
            260: (60, float(SECONDS)),
        }
        found[150] = (found[150][0], found[150][0] * server.lock_ms / 1000)
        working = self.busy + sum(seconds for event, (_, seconds) in found.items() if event not in IDLE) / SECONDS
        thinking = max(0.0, server.connections - working)
        found[250] = (made["Network Packet Received"], thinking * SECONDS)
        return {event: (many, seconds) for event, (many, seconds) in found.items() if many}

    # spinlocks that are no cache's

    @cached_property
    def other_spinlocks(self) -> list[Spinlock]:
        """Those of locks, descriptors, procedures, logs and the kernel: more wait where more engines are busier."""
        server = self.server
        crowd = server.busy / 100 * math.sqrt(server.engines - 1)
        lookups = sum(sum(self.locks[name]) for name in self.locks if name.endswith(("Page", "Row")))
        address = sum(sum(self.locks[name]) for name in self.locks if name.endswith("Address"))
        tables = sum(sum(self.locks[name]) for name in self.locks if name.endswith(("Table", "Intent")))
        ratio = math.ceil(server.connections / 20)
        asked: list[tuple[str, float, int, float, float]] = [
            ("fglockspins", lookups * 2.1, 1, 0.35, LOCK_SPINS),
            ("addrlockspins", address * 2, 1, 0.12, 60),
            ("tablockspins", tables * 2, 1, 0.25, 180),
            ("Resource->rdesmgr_spin", self.commits * 0.9, 1, 0.10, 90),
            ("Des Upd Spinlocks", self.commits * 7, 1, 0.06, 60),
            ("Ides Spinlocks", self.commits * 8, 1, 0.06, 60),
            ("Ides Chain Spinlocks", self.commits * 2, 1, 0.03, 60),
            ("Pdes Spinlocks", self.commits * 6, 1, 0.04, 60),
            ("Pdes Chain Spinlocks", self.commits * 2, 1, 0.03, 60),
            ("Resource->rproccache_spin", self.commits * 1.8, 1, 0.20, 140),
            ("Resource->rprocmgr_spin", self.commits * 2.2, 1, 0.12, 90),
            ("SSQLCACHE_SPIN" + ("[i]" if server.number >= (16,) else ""), self.commits * 1.9, 1, 0.08, 80),
            ("User Log Cache Spinlocks", self.log_records * 1.4, ratio, 0.02, 60),
            ("Dbtable->dbt_xdesqueue_spin", self.commits * 2.4, 1, 0.10, 300),
        ]
        if server.number >= (16,):
            asked.append(("bufspin default data cache", self.caches[0].searches * 0.5, 1, 0.05, 60))
            asked.append(("DES Name Hash Bucket Spin", self.commits * 3, 1, 0.04, 60))
        if server.threaded:
            asked.append(("Sched Q", sum(self.switches.values()) * 1.9, server.engines, 0.03, 2_400))
        found: list[Spinlock] = []
        for name, grabs, slots, weight, spins in asked:
            found += self._slots(name, grabs, slots, weight * crowd / 100, spins)
        return found

    def contention(self, name: str) -> float:
        """Per cent of the grabs of a spinlock that waited, over all its slots."""
        found = [one for one in self.other_spinlocks if one.name == name]
        return percent(sum(one.waits for one in found), sum(one.grabs for one in found))


IDLE = frozenset((57, 61, 104, 178, 260, 250))
"""Events of daemons and of clients that think."""
