"""The section Data Cache Management of sp_sysmon."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tests.live.ase.paper import Paper
from tests.live.ase.sysmon_locks import contention

if TYPE_CHECKING:
    from tests.live.ase.world import World

ADVISED_FROM = 95.0
"""Per cent of hits from which sp_sysmon proposes relaxed replacement, whatever the turnover (ase-rules.md, 3.4)."""
PARTITIONS_FROM = 10.0
"""Per cent of spinlock contention from which it proposes named caches or partitions."""
IN_WASH = 0.018
"""Share of the hits that were in the wash section."""


def write(world: "World", paper: Paper) -> None:
    """Write the section: all caches, and each by name."""
    searches = sum(one["CacheSearches"].per_second for one in world.caches)
    misses = sum(_misses(one) for one in world.caches)
    paper.section("Data Cache Management")
    paper.say("  Cache Statistics Summary (All Caches)", "  -------------------------------------")
    paper.table("")
    paper.say("", "    Cache Search Summary")
    paper.counted("      Total Cache Hits", searches - misses, searches)
    paper.counted("      Total Cache Misses", misses, searches)
    paper.total("    Total Cache Searches", searches)
    paper.say("", "    Cache Turnover")
    paper.counted("      Buffers Grabbed", sum(_grabbed(pool) for pool in world.pools))
    paper.counted("      Buffers Grabbed Dirty", 0.0, sum(_grabbed(pool) for pool in world.pools))
    paper.say("", "    Cache Strategy Summary")
    paper.counted("      Cached (LRU) Buffers", searches - misses, searches)
    paper.counted("      Discarded (MRU) Buffers", misses, searches)
    paper.say("")
    for cache in sorted(world.caches, key=lambda one: str(one["CacheName"])):
        _cache(world, paper, cache, searches)


def _cache(world: "World", paper: Paper, cache: Mapping[str, Any], whole: float) -> None:
    """Write the block of one cache."""
    searches, misses = cache["CacheSearches"].per_second, _misses(cache)
    hits = searches - misses
    pools = [pool for pool in world.pools if pool["CacheName"] == cache["CacheName"]]
    spinning = contention(world, cache["CacheName"])
    paper.say("-" * 79, f"  Cache: {cache['CacheName']}")
    paper.table("")
    paper.share("    Spinlock Contention", spinning)
    paper.say("")
    paper.share("    Utilization", 100 * searches / whole)
    paper.say("", "    Cache Searches")
    paper.counted("      Cache Hits", hits, searches)
    paper.counted("         Found in Wash", hits * IN_WASH, hits)
    paper.counted("      Cache Misses", misses, searches)
    paper.total("    Total Cache Searches", searches)
    _turnover(paper, pools)
    paper.say("    Cluster Cache Behavior", "      No physical locks are acquired on buffers in this cache", "")
    paper.say("    Buffer Wash Behavior")
    paper.say("      Statistics Not Available - No Buffers Entered Wash Section Yet", "")
    paper.say("    Cache Strategy")
    if misses:
        paper.counted("      Cached (LRU) Buffers", hits, searches)
        paper.counted("      Discarded (MRU) Buffers", misses, searches)
    else:
        paper.say("      Statistics Not Available - No Buffers Displaced Yet")
    paper.say("", "    Large I/O Usage")
    paper.counted("      Total Large I/O Requests", 0.0)
    paper.say("", "    Dirty Read Behavior")
    paper.counted("\t  Page Requests", 0.0)
    paper.say("")
    strict = str(cache["Replacement"]).startswith("strict")
    advice = []
    if strict and 100 * hits / searches >= ADVISED_FROM and world.release.engines > 1:
        advice += ["    - Consider using 'relaxed LRU replacement policy'", "      for this cache."]
    if spinning >= PARTITIONS_FROM:
        advice += ["    - Consider using Named Caches or Cache partitions or both."]
    if advice:
        name = cache["CacheName"]
        paper.say(f"    Tuning Recommendations for Data cache : {name}", "    -------------------------------------")
        paper.say(*advice, "")


def _turnover(paper: Paper, pools: list[dict[str, Any]]) -> None:
    whole = sum(_grabbed(pool) for pool in pools)
    paper.say("")
    if not whole:
        paper.counted("    Pool Turnover", 0.0)
        paper.say("")
        return
    paper.say("    Pool Turnover")
    for pool in pools:
        paper.say(f"      {pool['KB']:<2} Kb Pool")
        paper.counted("          LRU Buffer Grab", _grabbed(pool), whole)
        paper.counted("            Grabbed Locked Buffer", 0.0, whole)
        paper.counted("            Grabbed Dirty", 0.0, whole)
    paper.total("    Total Cache Turnover", whole)
    paper.say("")


def _misses(cache: Mapping[str, Any]) -> float:
    return float(cache["PhysicalReads"].per_second + cache["APFReads"].per_second)


def _grabbed(pool: Mapping[str, Any]) -> float:
    """A buffer is grabbed for each read."""
    return float(pool["PhysicalReads"].per_second + pool["APFReads"].per_second)
