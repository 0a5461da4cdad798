"""A data cache misses much beside memory that nothing uses.

Finds: a data cache with a configured size of which more than one search in ten misses, a thousand times a second and
more, and which replaces its buffers, while half of the memory that is free for reconfiguration would make it larger by
half at least. Of a cache that misses less than that, too, where more tasks wait for reads than there are engines, a
third of all, and nearly none of the reads are of scans or of prefetch: the waits say what the misses cost.
Of a cache for logs alone, where as much is missed, that who reads the log is further behind than it reaches back.
Where no such memory is free, a named cache beside it that nobody searches and that is half as large or more is named as
the place to take it from; a script only where it was hardly touched since the start, as it takes a restart. One
to which nothing is bound and in which nothing ever was is deleted by the script. A cache that is as much larger than
all that is bound to it is named, too, however much it is searched.
Where `max memory` is used up and `free` shows that the host has memory, it is to be raised first: a step, no script.

Why it matters: each miss is a read from disk for which a task waits. Memory below `max memory` that nothing was
configured to use helps nobody.

What to do: make the cache larger with `sp_cacheconfig`; growing takes effect at once, the way back is a restart. How
large it has to be no export shows: half of what is free is a first step of this project, and the misses of the same
hour tell whether it goes on. Pools for large I/O keep their size: what is new goes to the pool of the logical page.

When to ignore it: where one statement or the scans of one table make the reads, the statement comes first, and no size
is set here. What is read once, as by a load or a report over all, misses in a cache of any size.

How loud it is: a warning where tasks wait for physical reads, by monSysWaits or by task switches; advice otherwise.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor
from typing import NamedTuple

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import (
    BindingList,
    CacheActivity,
    CacheBinding,
    CachePool,
    HostMemory,
    MonDataCache,
    MonOpenObjectActivity,
    NamedCache,
    SysmonSample,
)
from rules.ase._evidence.caches.figures import (
    doubt,
    kind_of,
    latest_caches,
    named_of,
    set_apart,
    turnover_percent,
)
from rules.ase._evidence.caches.growth import STEP, Larger, MissLimits, larger, misses
from rules.ase._evidence.caches.idle import SEARCHES_PER_SECOND, TOUCHED_PERCENT, Idle, idle_beside, moved
from rules.ase._evidence.caches.memory import (
    MEMORY_FACTS,
    MEMORY_MISSING,
    OVERHEAD_FACTS,
    PAGE_KB,
    FreeMemory,
    free_evidence,
    free_memory,
    overhead_of,
)
from rules.ase._evidence.caches.monitored import MONITORED
from rules.ase._evidence.caches.partitions import as_installed, never_sized
from rules.ase._evidence.caches.temporary import TEMPORARY_FACTS
from rules.ase._evidence.log.read_behind import READ_BEHIND_FACTS, read_behind
from rules.ase._evidence.objects.costliest import COSTLIEST_FACTS, costliest
from rules.ase._evidence.objects.scans import scans_of
from rules.ase._evidence.objects.seen import USES as SIZED
from rules.ase._evidence.objects.seen import activity, name_of, sizes
from rules.ase._evidence.server import ENGINE_FACTS, page_kb, setting_of
from rules.ase._evidence.waits.events import READS
from rules.ase._evidence.waits.switches import SWITCH_FACTS
from rules.ase._evidence.waits.tasks import WAIT_FACTS
from rules.ase._evidence.waits.verdict import WaitLimits, unless_few, waits_too_long
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown, Untrusted, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158538035.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/X77192.htm",
)
USES: tuple[type[Fact], ...] = (
    BindingList,
    CacheActivity,
    CacheBinding,
    CachePool,
    MonDataCache,
    NamedCache,
    SysmonSample,
    MonOpenObjectActivity,
)
UNUSED = "Each miss is a read from disk that a task waits for, while memory that max memory allows is used by nothing."
UNUSED_CACHE = "Memory of one cache serves no other: each miss is a read from disk beside memory that nobody searches."
EMPTY_CACHE = (
    "Memory of one cache serves no other, and what is bound to {0} has {1:,.0f} MB at most: nothing else comes into "
    "its {2:,.0f} MB."
)
MAY_GROW = "Whether a table that is bound to {0} is larger at another time, as before it is emptied, no export shows."
SCANNED = (
    "Reads that one statement makes by scanning come back in a cache of any size that does not hold the whole table."
)
AT_RANDOM = "At most {0:.0f} % of the reads from disk are of scans or prefetch, so they are of pages that come back."
OF_HOST = "Max memory is used up while the host has memory: each miss is a read from disk for which a task waits."
FROM_HOST = (
    "The new size is twice the old one, or as much as half of the host's memory allows (this project); others may need "
    "that memory."
)
LARGE_ENOUGH = "No export shows how large it must be: look at the misses of the same hour afterwards."
LOG_READ = "What newer pages of the log took the place of is read from disk, and its reader falls further behind."
LOG_GROW = (
    'Make it as large as the log grows while its reader lags{1}: sp_cacheconfig "{0}", "<size>M", in force at once. '
    'The pool of the page gets it: move it by sp_poolconfig "{0}".'
)
LOG_READER = "Who that is, monProcessActivity joined with Command of monProcess shows (PhysicalReads)."
LOG_LAG = "How far the reader is behind is not in the exports: for a RepAgent sp_help_rep_agent and rs_ticket tell."
SIZES = (
    "No export shows how large it must be, nor whether one statement scans: monSysStatement and monOpenObjectActivity "
    "show who reads; look at the misses of the same hour afterwards."
)
AFTERWARDS = "Look at the misses of the same hour afterwards."
READERS = (
    f"Whether one statement scans is in no export: monSysStatement and monOpenObjectActivity show it. {AFTERWARDS}"
)


@dataclass(frozen=True)
class Limits(MissLimits):
    """From how many misses, what turnover and which growth on the rule speaks."""

    times_an_hour: float = limit(
        1.0, "this project: a cache that is not replaced once an hour is still filling", low=0.01, unit="times"
    )
    growth: float = limit(1.5, "this project: with less to gain the statements come first", low=1.1, unit="times")
    reads_percent: float = percent(
        50.0, "this project: one table with half of all physical reads is looked at before the cache", low=1
    )
    scanned_percent: float = percent(
        10.0, "this project: with more reads of scans and prefetch, hits above the limit say nothing against the cache"
    )


@rule(
    needs=(NamedCache,),
    uses=(
        *USES,
        *SIZED,
        *MONITORED,
        *TEMPORARY_FACTS,
        *MEMORY_FACTS,
        *OVERHEAD_FACTS,
        *ENGINE_FACTS,
        *COSTLIEST_FACTS,
        *WAIT_FACTS,
        *SWITCH_FACTS,
        *READ_BEHIND_FACTS,
    ),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold what each cache misses against the memory that is free."""
    seen = latest_caches(facts)
    if not seen:
        yield Unknown.of(CacheActivity, MonDataCache)
    quiet = []
    for cache in seen:
        named = named_of(facts, cache.name)
        if named is None or not known(named.run_size_mb) or named.run_size_mb <= 0:
            quiet.append(f"{cache.name}: its size is not in the export")
        elif never_sized(named) or as_installed(named) or named.pending or set_apart(named):
            quiet.append(f"{cache.name}: nothing is added to it as it is configured")
        elif why := doubt(cache):
            yield Untrusted(why)
        elif kind_of(named) == "log":
            of_log = _of_log(facts, limits, cache, named, named.run_size_mb)
            if isinstance(of_log, str):
                quiet.append(of_log)
            else:
                yield of_log
        elif isinstance(said := _held(facts, limits, cache, named, named.run_size_mb), str):
            quiet.append(said)
        else:
            yield said
    if quiet:
        yield Clean("; ".join(quiet))


def _held(facts: Facts, limits: Limits, cache: CacheActivity, named: NamedCache, size_mb: float) -> Outcome | str:
    """What is to be said of one cache, or why it is in order."""
    severity, told, figures = misses(facts, limits, cache)
    waits = waits_too_long(facts, WaitLimits(), what="physical reads", events=READS, cause="Cache Search Misses")
    rate = next((float(one.value) for one in figures if one.unit == "/s"), 0.0)
    first, more = _scanning(facts, limits)
    scanned = _scanned_percent(facts)
    at_random = scanned is not None and scanned <= limits.scanned_percent and not first
    costly = at_random and waits is not None and unless_few(facts, waits) is Severity.CRITICAL
    if severity is not Severity.WARNING and not (costly and rate >= limits.misses_per_second):
        return f"{cache.name}:{told or ' its misses are not in the export'}"
    turned = turnover_percent(facts, cache, named)
    if turned and turned[1] < 100 * limits.times_an_hour:
        return f"{cache.name}: at most {turned[1]:,.0f} % of it is replaced in an hour"
    free, name = free_memory(facts), comment(cache.name)
    grown = larger(facts, named, size_mb, free, least=limits.growth)
    idle = None if grown else idle_beside(facts, cache.name, size_mb * (limits.growth - 1))
    beyond = None if grown or idle or free is None else _of_host(facts, size_mb, free, limits)
    if idle:
        lies = comment(idle.name)
        beside, unused = f"{idle.size_mb:,.0f} MB of {lies} lie idle", UNUSED_CACHE
        if idle.bound_mb is not None:
            beside = f"{idle.gives_mb:,} MB of {lies} hold nothing"
            unused = EMPTY_CACHE.format(lies, idle.bound_mb, idle.size_mb)
        changes = moved(facts, idle, named, size_mb) if idle.never_used and not first else ()
        grow = f"{lies} smaller by {idle.gives_mb:,} MB (a restart), then {name} larger by as much"
        grow += "" if idle.never_used else f": first look whether {lies} is used at another hour"
        if idle.unused:
            grow = f"{name} larger by the {idle.gives_mb:,} MB of {lies}, which is deleted first: both at once"
    elif free is None:
        return Unknown((MEMORY_MISSING,), f"{cache.name}:{told} Whether memory is free is not in the export")
    elif beyond:
        beside, unused, changes = f"the host has {beyond.host_mb:,.0f} MB that max memory leaves out", OF_HOST, ()
        grow = (
            f"{beyond.first}, then {name} {beyond.size_mb:,.0f} MB large with sp_cacheconfig, without a restart; the "
            "way back takes one"
        )
    elif grown is None:
        return f"{cache.name}:{told} {free.mb:,.0f} MB are free, which is not enough to make it much larger"
    else:
        beside, unused = f"{free.mb:,.0f} MB are not used", UNUSED
        changes = () if first else (grown.change,)
        grow = f"{name} {grown.change.new} large with sp_cacheconfig, larger without a restart"
    replaced = f", and it is replaced {_times(*turned)} times an hour" if turned else ""
    return Finding(
        subject=cache.name,
        severity=Severity.ADVICE if first or not waits else Severity.WARNING,
        title=f"{name}: {rate:,.0f} misses a second with {size_mb:,.0f} MB, while {beside}",
        seen=joined(f"{told.strip().rstrip('.')}{replaced}.", waits.seen if waits else ""),
        because=joined(unused, SCANNED if first else AT_RANDOM.format(scanned) if at_random else ""),
        do=f"Look first at {first}. Only for what it leaves make {grow}." if first else f"Make {grow}.",
        unknown=joined(
            MAY_GROW.format(comment(idle.name)) if idle and idle.bound_mb is not None else "",
            "" if first else joined(FROM_HOST if beyond else "", _unknown(grown, at_random)),
        ),
        changes=changes,
        explains=("ase/reads_slow",),
        evidence=(
            Evidence(f"size of {cache.name} in force", size_mb, "MB", named.source),
            *figures,
            *(_of_idle(idle) if idle else free_evidence(facts)),
            *((beyond.evidence,) if beyond else ()),
            *more,
            *(waits.evidence if waits else ()),
        ),
    )


class _Beyond(NamedTuple):
    """A larger size for which `max memory` is raised first."""

    host_mb: float
    size_mb: float
    first: str
    """The setting to make first, as a clause."""
    evidence: Evidence


def _of_host(facts: Facts, size_mb: float, free: FreeMemory, limits: Limits) -> _Beyond | None:
    """What the host has for the cache beyond `max memory`; `None` where that is not known, or is too little for it."""
    host, most, listed = free.host, setting_of(facts, "max memory"), facts.latest(HostMemory)
    now = most.run_number if most else None
    if host is None or listed is None or not now:
        return None
    new = floor(min(2 * size_mb, size_mb + (host.available_mb - host.keeps_mb) * STEP) / 10) * 10.0
    if new < size_mb * limits.growth:
        return None
    needed = new - size_mb + overhead_of(facts).more(size_mb, new) - free.mb
    pages = ceil(needed * 1024 / PAGE_KB)
    if needed <= 0 or not host.has(needed):
        return None
    first = f'max memory {pages:,} pages of 2 KB larger (`sp_configure "max memory", {now + pages:.0f}`, at once)'
    available = Evidence("memory of the host that is available", host.available_mb, "MB", listed.source)
    return _Beyond(host.available_mb, new, first, available)


def _unknown(grown: Larger | None, at_random: bool) -> str:
    """What no export shows: how large it must be, unless it becomes as large as what is bound to it."""
    sized = grown is not None and grown.holds_all
    if at_random:
        return AFTERWARDS if sized else LARGE_ENOUGH
    return READERS if sized else SIZES


def _of_log(facts: Facts, limits: Limits, cache: CacheActivity, named: NamedCache, size_mb: float) -> Finding | str:
    """What is to be said of a cache for logs, or why it is in order: its size follows from how far readers lag."""
    severity, told, figures = misses(facts, limits, cache)
    if severity is not Severity.WARNING or not (known(cache.searches) and known(cache.hits)):
        return f"{cache.name}:{told or ' its misses are not in the export'}"
    behind, name = read_behind(facts, cache, size_mb, cache.searches - cache.hits), comment(cache.name)
    rate = next((float(one.value) for one in figures if one.unit == "/s"), 0.0)
    return Finding(
        subject=cache.name,
        severity=Severity.WARNING if behind.agent else Severity.ADVICE,
        title=f"{name}: {rate:,.0f} misses a second with {size_mb:,.0f} MB, "
        + ("as the RepAgent is further behind" if behind.agent else "as who reads the log is further behind"),
        seen=joined(f"{told.strip()}", behind.agent or behind.lasts),
        because=joined(LOG_READ, behind.lasts if behind.agent else ""),
        do=LOG_GROW.format(name, behind.growth),
        unknown=LOG_LAG if behind.agent else joined(LOG_READER, LOG_LAG),
        evidence=(
            Evidence(f"size of {cache.name} in force", size_mb, "MB", named.source),
            *figures,
            *behind.evidence,
            *free_evidence(facts),
        ),
    )


def _of_idle(idle: Idle) -> Iterator[Evidence]:
    yield Evidence(f"size of {idle.name}", idle.size_mb, "MB", idle.source)
    if idle.bound_mb is not None:
        yield Evidence(f"size of what is bound to {idle.name}", round(idle.bound_mb, 1), "MB", idle.source)
        return
    yield Evidence(f"searches of {idle.name}", round(idle.searches, 2), "/s", idle.source, SEARCHES_PER_SECOND)
    if idle.touched_percent is not None:
        touched = f"of {idle.name} used since the start"
        yield Evidence(touched, round(idle.touched_percent, 2), "%", idle.source, TOUCHED_PERCENT)


def _times(least: float, most: float) -> str:
    """A turnover between two shares in per cent, as a number of times."""
    low, high = f"{least / 100:,.0f}", f"{most / 100:,.0f}"
    return low if low == high else f"{low} to {high}"


def _scanning(facts: Facts, limits: Limits) -> tuple[str, tuple[Evidence, ...]]:
    """The one statement or the one scanned table that makes most of the physical reads; nothing where none is seen."""
    if top := costliest(facts, "physical_reads"):
        return f"the statement that reads most from disk: {top.says}", tuple(top.evidence(facts))
    rows = [row for row in activity(facts) if row.of_interval and known(row.physical_reads)]
    read = {id(row): row.physical_reads if known(row.physical_reads) else 0.0 for row in rows}
    most = max(rows, key=lambda row: read[id(row)], default=None)
    if most is None or most.index_id != 0 or not scans_of(most):
        return "", ()
    share = 100.0 * read[id(most)] / (sum(read.values()) or 1.0)
    if share < limits.reads_percent:
        return "", ()
    named = name_of(most)
    return (
        f"the statements that scan {named}, {share:.0f} % of the reads from disk",
        (Evidence(f"physical reads of {named}", read[id(most)], "", most.source),),
    )


def _scanned_percent(facts: Facts) -> float | None:
    """Which part of the reads from disk, per cent, is of prefetch or can be of scans; `None` where nothing tells."""
    page, known_sizes = page_kb(facts), sizes(facts)
    whole = scanned = 0.0
    for row in activity(facts):
        if not row.of_interval or not known(row.physical_reads):
            continue
        ahead = row.apf_reads if known(row.apf_reads) else 0.0
        kb, scans = known_sizes.kb(row), scans_of(row) if row.index_id == 0 else 0.0
        at_most = scans * kb / page if kb is not None and page else row.physical_reads if scans else 0.0
        whole += row.physical_reads + ahead
        scanned += min(row.physical_reads, at_most) + ahead
    return 100.0 * scanned / whole if whole > 0 else None
