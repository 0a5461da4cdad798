"""A cache for logs without a pool of the log I/O size: each larger write is denied and goes page by page.

By `sp_logiosize` in the database, the pools of the cache that its `syslogs` is bound to, and the large I/Os that
sp_sysmon counts as denied to that cache. Only of a cache of type log only: what else asks for large I/O in a mixed one
is not told apart. Sources: knowledge/ase-waits-caches.md, 5.3; System Procedures (16.0), sp_logiosize.
"""

from dataclasses import dataclass

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import CacheActivity, CacheBinding, CachePool, LogIoSize, NamedCache, SysmonSample
from rules.ase._evidence.caches.figures import kind_of, latest_caches, named_of, pool_kb, pools_of, seconds_of
from rules.ase._evidence.caches.large_io import DENIED_PERCENT, PER_SECOND
from rules.changes.ase_cache import DEFAULT_CACHE, add_pool
from rules.changes.quoting import comment
from rules.finding import Change, Evidence

UNSERVED_FACTS: tuple[type[Fact], ...] = (CacheActivity, CacheBinding, CachePool, LogIoSize, NamedCache, SysmonSample)
POOL_SHARE = 0.5
"""This project: half of a cache for logs goes to the pool of their I/O size; the other stays for what reads the log."""


@dataclass(frozen=True)
class Unserved:
    """One log whose writes of the size in force find no pool."""

    title: str
    seen: str
    do: str
    change: Change
    evidence: tuple[Evidence, ...]


def cache_of_log(facts: Facts, database: str) -> str:
    """The cache that the log of a database is bound to, itself or with the database."""
    mine = [one for one in facts.every(CacheBinding) if one.database == database and one.valid is not False]
    bound = [one.cache for one in mine if (one.table or "").lower() == "syslogs"]
    whole = [one.cache for one in mine if one.table is None]
    return (bound or whole or [DEFAULT_CACHE])[-1]


def unserved(facts: Facts) -> Unserved | None:
    """The log with the most large I/Os denied for want of a pool; `None` where none is shown."""
    seconds = seconds_of(facts)
    active = {one.name: one for one in latest_caches(facts)}
    found: list[tuple[float, Unserved]] = []
    for said in {one.database: one for one in facts.every(LogIoSize) if one.database}.values():
        database, kilobytes = said.database or "", said.kilobytes
        name = cache_of_log(facts, database)
        counted, named, pools = active.get(name), named_of(facts, name), pools_of(facts, name)
        if not (seconds and counted and pools) or kind_of(named) != "log" or (named and named.pending):
            continue
        asked, denied = counted.large_io_requests, counted.large_io_denied
        sizes = [pool.io_size_kb for pool in pools]
        whole = (pool_kb(pools[0]) or 0.0) / 1024
        missing = sizes[0] < kilobytes and kilobytes not in sizes and whole * POOL_SHARE >= 1
        if not missing or not known(asked) or not known(denied) or not 0 < denied <= asked:
            continue
        if 100 * denied < DENIED_PERCENT * asked or denied < PER_SECOND * seconds:
            continue
        there = ", ".join(f"{kb:g}K" for kb in sizes)
        mb, size, log = int(whole * POOL_SHARE), f"{kilobytes:g}K", comment(database)
        one = Unserved(
            f"The log of {log} is to be written {kilobytes:g} KB at a time, and {comment(name)} has no pool of that",
            f"sp_logiosize says {kilobytes:g} KB, {comment(name)} has pools of {there}, and "
            f"{denied:,.0f} of its {asked:,.0f} large I/Os were denied.",
            f'Give it the pool: sp_poolconfig "{comment(name)}", "{mb}M", "{size}", dynamic; the size in force stays. '
            "Then measure again: how many fewer writes it makes of short transactions is not known before.",
            add_pool(name, kilobytes, mb, whole),
            (
                Evidence(f"large I/Os denied to {comment(name)}", denied, "", counted.source),
                Evidence(f"log I/O size of {log}", kilobytes, "KB", said.source),
            ),
        )
        found.append((denied, one))
    return max(found, key=lambda pair: pair[0])[1] if found else None
