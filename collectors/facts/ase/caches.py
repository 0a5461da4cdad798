"""Named caches and their pools: as configured and running, and as the monitoring tables count them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from collectors.facts.ase.snapshots import twice
from collectors.facts.base import ABSENT, Fact, Reading, known
from collectors.facts.counted import Counted, Width


@dataclass(frozen=True, kw_only=True)
class NamedCache(Fact):
    """One data cache. Sizes in megabytes; a configured size of 0 means "not configured, the run size counts"."""

    COLLECTED_BY: ClassVar[str] = "sp_cacheconfig"

    name: str
    status: str | None = None
    """`Active`, `Pend/Act`, `Act/Del`, `Pend/Del`."""
    kind: str | None = None
    """`Default`, `Mixed`, `Log Only`, `Mixed, HK Ignore`, `In-Memory`, `Lockless Data Cache`."""
    config_size_mb: Reading = ABSENT
    run_size_mb: Reading = ABSENT
    config_replacement: str | None = None
    """`strict LRU` or `relaxed LRU`."""
    run_replacement: str | None = None
    config_partitions: Reading = ABSENT
    run_partitions: Reading = ABSENT
    overhead_mb: Reading = ABSENT
    instance: int | None = None
    """Cluster Edition: the instance a local cache belongs to; `None` for a global one."""

    @property
    def is_default(self) -> bool:
        """Whether this is the default data cache, where everything unbound and recovery live."""
        return self.name == "default data cache" or (self.kind or "").lower() == "default"

    @property
    def relaxed(self) -> bool | None:
        """Whether relaxed LRU replacement is in force; `None` where not printed."""
        return None if self.run_replacement is None else "relaxed" in self.run_replacement.lower()

    @property
    def pending(self) -> bool:
        """Whether size, replacement or partitions are configured otherwise than they run: a restart will change them.

        A configured size of 0 is not pending: it says that none was configured.
        """
        numbers = ((self.config_size_mb or ABSENT, self.run_size_mb), (self.config_partitions, self.run_partitions))
        if any(known(config) and known(run) and config != run for config, run in numbers):
            return True
        config, run = self.config_replacement, self.run_replacement
        return config is not None and run is not None and config.lower() != run.lower()


@dataclass(frozen=True, kw_only=True)
class CachePool(Fact):
    """One buffer pool of a cache."""

    COLLECTED_BY: ClassVar[str] = "sp_cacheconfig"

    cache: str
    io_size_kb: float
    wash_size_kb: Reading = ABSENT
    config_size_mb: Reading = ABSENT
    run_size_mb: Reading = ABSENT
    apf_percent: Reading = ABSENT
    instance: int | None = None
    """As in `NamedCache`."""


@dataclass(frozen=True, kw_only=True)
class CacheOverhead(Fact):
    """What managing a cache of some size takes on this server: the answer of `sp_helpcache` to a size."""

    COLLECTED_BY: ClassVar[str] = 'sp_helpcache "500M"'

    size_mb: float
    overhead_mb: float


@dataclass(frozen=True, kw_only=True, slots=True)
class MonDataCache(Counted, Fact):
    """One data cache."""

    COLLECTED_BY: ClassVar[str] = twice("monDataCache")
    KEY: ClassVar[tuple[str, ...]] = ("instance", "name")
    COUNTERS: ClassVar[Mapping[str, Width]] = {
        **dict.fromkeys(
            ("searches", "physical_reads", "logical_reads", "physical_writes", "stalls", "apf_reads"), "int"
        ),
        # columns of 16.0 SP02, years after the monitoring tables' spinlock counters were made 64 bits wide (inference)
        **dict.fromkeys(("cas_grabs", "cas_spins", "cas_waits"), "bigint"),
    }

    name: str
    cache_id: int | None = None
    instance: int | None = None
    searches: Reading = ABSENT
    logical_reads: Reading = ABSENT
    physical_reads: Reading = ABSENT
    """Misses; from 15.7 on asynchronous prefetch counts beside them, in `apf_reads`."""
    apf_reads: Reading = ABSENT
    physical_writes: Reading = ABSENT
    stalls: Reading = ABSENT
    cas_grabs: Reading = ABSENT
    """Of a lockless data cache (16.0 SP02 on), as are the next two."""
    cas_spins: Reading = ABSENT
    cas_waits: Reading = ABSENT
    partitions: Reading = ABSENT
    pools: Reading = ABSENT
    size_kb: Reading = ABSENT
    overhead_kb: Reading = ABSENT
    relaxed: bool | None = None
    """Whether replacement is relaxed LRU, in force."""
    status: str | None = None
    kind: str | None = None

    @property
    def misses(self) -> float | None:
        """Searches that had to read: physical and prefetched reads."""
        if not known(self.physical_reads):
            return None
        return self.physical_reads + (self.apf_reads if known(self.apf_reads) else 0.0)

    @property
    def hit_percent(self) -> float | None:
        """Share of searches that found their page; `None` without searches."""
        misses = self.misses
        if misses is None or not known(self.searches) or not self.searches:
            return None
        return 100.0 * (1.0 - misses / self.searches)


@dataclass(frozen=True, kw_only=True, slots=True)
class MonCachePool(Counted, Fact):
    """One buffer pool of a data cache."""

    COLLECTED_BY: ClassVar[str] = twice("monCachePool")
    KEY: ClassVar[tuple[str, ...]] = ("instance", "cache", "cache_id", "io_size_kb")
    COUNTERS: ClassVar[Mapping[str, Width]] = dict.fromkeys(
        (
            "physical_reads",
            "logical_reads",
            "physical_writes",
            "apf_reads",
            "stalls",
            "pages_read",
            "buffers_to_mru",
            "buffers_to_lru",
        ),
        "int",
    )

    cache: str | None = None
    cache_id: int | None = None
    instance: int | None = None
    io_size_kb: float
    allocated_kb: Reading = ABSENT
    pages_touched: Reading = ABSENT
    """Pages used since boot: how full the pool has ever been."""
    wash_size_kb: Reading = ABSENT
    apf_percentage: Reading = ABSENT
    physical_reads: Reading = ABSENT
    logical_reads: Reading = ABSENT
    physical_writes: Reading = ABSENT
    apf_reads: Reading = ABSENT
    stalls: Reading = ABSENT
    pages_read: Reading = ABSENT
    buffers_to_mru: Reading = ABSENT
    buffers_to_lru: Reading = ABSENT
