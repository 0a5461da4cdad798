"""The default data cache still has the size it was installed with.

Finds: a default data cache whose size nobody configured (Config 0.00), that runs with 10 MB or less, or that misses
much while more memory than it has lies free.

Why it matters: as installed the default data cache has 8 MB, whatever memory the server has. All that is not bound to a
cache of its own, and recovery, goes through it; what does not fit is read from disk again and again.

What to do: give it a size of its own; it may grow without a restart. How large it has to be no export shows: a first
step of this project is half of the memory that is free for reconfiguration, where that at least doubles it, and the
other half stays for what comes after it. Then the misses of the busiest hour tell whether it goes on. Set it before
partitions, named caches or bindings, which are judged by figures that change with it.

When to ignore it: on a server that does nothing, or where everything that is used is bound to named caches. What is
read once, as by a load or a report over all, misses in a cache of any size.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import CacheActivity, CachePool, MonDataCache, NamedCache, SysmonSample
from rules.ase._evidence.caches.figures import doubt, is_default, latest_caches, seconds_of
from rules.ase._evidence.caches.growth import MissLimits, larger, misses
from rules.ase._evidence.caches.memory import (
    MEMORY_FACTS,
    OVERHEAD_FACTS,
    PAGE_KB,
    FreeMemory,
    free_evidence,
    free_memory,
)
from rules.ase._evidence.caches.monitored import MONITORED
from rules.ase._evidence.caches.partitions import as_installed, never_sized
from rules.ase._evidence.server import ENGINE_FACTS, offers, setting_of
from rules.ase._evidence.times import without_head
from rules.changes.ase_cache import show_cache
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown, Untrusted

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158538035.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc36273.1600/doc/html/san1393051979352.html",
)
USES: tuple[type[Fact], ...] = (CacheActivity, CachePool, MonDataCache, NamedCache, SysmonSample)
THROUGH = (
    "Everything that is not bound to a named cache goes through it, and so does recovery; what does not fit is read "
    "from disk again and again."
)
FIRST = "Set it before any partitions, named caches or bindings: they are judged by figures that change with it."
SIZES = (
    "No export shows how large it must be: what the databases use at the busiest hour{0} and the memory of the machine "
    "determine that."
)
BY_HOST = (
    "How large it must be, what the databases use at the busiest hour{0} determines. The host has {1:,.0f} MB "
    "available by free, and max memory leaves {2:,.0f}: "
    '`sp_configure "max memory", {3:.0f}` (dynamic, now {4:.0f} pages of 2 KB) '
    "gives the server half of the rest first, for a larger step."
)
HALF = 0.5
"""Of what the host has beside it (this project: `free` shows one moment, and the host is not this server's alone)."""
CACHED = " (monCachedObject, the misses afterwards)"


@dataclass(frozen=True)
class Limits(MissLimits):
    """How small it is, and from how many misses on that costs something."""

    size_mb: float = limit(10.0, "practice: 10 MB or less was never configured (DbxTune)", low=1, unit="MB")


@rule(
    needs=(NamedCache,),
    uses=(*USES, *MONITORED, *MEMORY_FACTS, *OVERHEAD_FACTS, *ENGINE_FACTS),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look at the size of the default data cache, then at what it misses."""
    listed = [one for one in facts.every(NamedCache) if never_sized(one) or as_installed(one)]
    if not listed:
        yield Clean("the default data cache has a size of its own, or is not among the caches that were listed")
        return
    named = listed[-1]
    if not known(named.run_size_mb):
        yield Unknown.of(NamedCache)
    else:
        yield from _small(facts, limits, named, named.run_size_mb)


def _small(facts: Facts, limits: Limits, named: NamedCache, size_mb: float) -> Iterator[Outcome]:
    seen = next((one for one in latest_caches(facts) if is_default(one, named)), None)
    if seen and (why := doubt(seen)):
        yield Untrusted(why)
        return
    severity, told, evidence = misses(facts, limits, seen)
    free = free_memory(facts)
    grown = larger(facts, named, size_mb, free) if severity > Severity.NOTE else None
    change = grown.change if grown else None
    installed = as_installed(named)
    if installed and severity <= Severity.NOTE:
        yield Clean(f"{named.name} is configured to {size_mb:g} MB, the size as installed{';' if told else ''}{told}")
        return
    if size_mb > limits.size_mb and severity is Severity.ADVICE and not seconds_of(facts):
        yield without_head(f"{named.name} runs with {size_mb:g} MB, Config 0.00;{told.rstrip('.')}")
        return
    if size_mb > limits.size_mb and (severity < Severity.WARNING or change is None):
        yield Clean(
            f"{named.name}: Config 0.00, runs with {size_mb:g} MB (limits {limits.size_mb:g} MB, or "
            f"{limits.misses_per_second:g} misses a second while as much memory is free){told}"
        )
        return
    room = f"; {free.mb:,.0f} MB are free for reconfiguration" if free else ""
    it = f"a size of its own, {change.new} to begin with," if change else "a size of its own"
    yield Finding(
        subject=named.name,
        severity=severity if size_mb <= limits.size_mb else Severity.ADVICE,  # above it is this project's inference
        title=f"{named.name}: {size_mb:g} MB, {'as installed' if installed else 'a size that nobody configured'}",
        seen=f"It is configured to {size_mb:g} MB, the size as installed.{told}"
        if installed
        else f"Its size was never configured (Config 0.00): it runs with {size_mb:g} MB.{told}",
        because=THROUGH,
        do=f"Give it {it} with sp_cacheconfig, larger without a restart ({show_cache(named.name)} shows "
        f"it now{room}). {FIRST}",
        unknown=_sizes(facts, free),
        changes=(change,) if change else (),
        explains=(
            *(("ase/reads_slow",) if severity > Severity.NOTE else ()),
            *((f"ase/data_cache_spinlock_contended:{named.name}",) if severity > Severity.NOTE else ()),
        ),
        evidence=(
            Evidence(f"size of {named.name} in force", size_mb, "MB", named.source, limits.size_mb),
            *evidence,
            *free_evidence(facts),
        ),
    )
    if seen is None:
        yield Unknown.of(CacheActivity, MonDataCache)


def _sizes(facts: Facts, free: FreeMemory | None) -> str:
    """What determines its size; with the step of `max memory` where the host has more than that leaves free."""
    cached = CACHED if offers(facts, "monCachedObject") else ""
    most, host = setting_of(facts, "max memory"), free.host if free else None
    now = most.run_number if most else None
    if free is None or host is None or not now:
        return SIZES.format(cached)
    more = (host.available_mb - free.mb) * HALF
    if more <= free.mb or not host.has(free.mb + more):
        return SIZES.format(cached)
    return BY_HOST.format(cached, host.available_mb, free.mb, now + floor(more) * 1024 / PAGE_KB, now)
