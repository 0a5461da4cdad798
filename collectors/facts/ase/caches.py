"""Named caches and their pools, as configured and as running (`sp_cacheconfig`, `syscacheinfo`)."""

from dataclasses import dataclass
from typing import ClassVar

from collectors.facts.base import ABSENT, Fact, Reading, known


@dataclass(frozen=True, kw_only=True)
class NamedCache(Fact):
    """One data cache. Sizes in megabytes; a configured size of 0 means "not configured, the run size counts"."""

    BRING: ClassVar[str] = "sp_cacheconfig"

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

    BRING: ClassVar[str] = "sp_cacheconfig"

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

    BRING: ClassVar[str] = 'sp_helpcache "500M"'

    size_mb: float
    overhead_mb: float
