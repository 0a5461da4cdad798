"""Memory of a data cache lies idle beside one that reads.

Finds: by two snapshots, a pool for large I/O that is hardly read into and was hardly ever touched, beside the full pool
of the logical page of the same cache, which reads a thousand times a second and more; by one sp_sysmon the same where a
page stays a hundred times as long in the one as in the other; and a cache for temporary
databases that nobody searches, while a temporary database that is not bound to it fills a cache that reads as much.

Why it matters: memory of one pool or cache serves no other. What reads is short of memory that the server has.

What to do: make the idle pool smaller with `sp_poolconfig`, at once; a tenth stays, as a first step of this project.
Bind the temporary database that works with `sp_bindcache`, while no session is assigned to it (vendor).

When to ignore it: where large I/O runs at other hours, as for reports or a load, or where the idle cache waits for
work of another hour. Look at that hour before anything is changed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import (
    CacheBinding,
    CachePool,
    MonCachedObject,
    MonCachePool,
    MonDataCache,
    NamedCache,
    Server,
    SysmonSample,
)
from collectors.facts.ase.sysmon_detail import CachePoolActivity
from rules.ase._evidence.caches.figures import named_of, pool_kb, pools_of, seconds_of
from rules.ase._evidence.caches.idle import KEPT, SEARCHES_ORIGIN, SEARCHES_PER_SECOND, TOUCHED_ORIGIN, TOUCHED_PERCENT
from rules.ase._evidence.caches.monitored import MONITORED
from rules.ase._evidence.caches.temporary import TEMPORARY_FACTS, serves_tempdb, temporary_databases
from rules.ase._evidence.server import page_kb
from rules.changes.ase_binding import NotBindable, bind_temporary
from rules.changes.ase_cache import resize_pool
from rules.changes.out_of_range import OutOfRange
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Change, Clean, Evidence, Finding, Outcome, Severity, Unknown

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc36273.1600/doc/html/san1393052072105.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.dc20023_1251/html/optimizer/optimizer386.htm",
)
USES: tuple[type[Fact], ...] = (
    MonDataCache,
    CachePoolActivity,
    SysmonSample,
    MonCachePool,
    CachePool,
    MonCachedObject,
    CacheBinding,
    NamedCache,
    Server,
)
OTHER_HOURS = "Look whether it is used at other hours, as for reports or a load, before anything is changed."
APART = "Memory of one pool serves no other, so pages are read again and again beside memory that holds nothing."
APART_POOLS = "Memory of one pool serves no other, so pages that are asked for leave it long before those of the other."
APART_CACHES = "Memory of one cache serves no other, so pages are read beside memory that holds nothing."
IN_USE = (
    "Only while no session is assigned to it: take it out of its group first (`sp_tempdb`), or do it at the start of "
    "the server."
)


@dataclass(frozen=True)
class Limits:
    """How idle the one is, and how much the other reads."""

    reads_per_second: float = limit(
        1000.0, "this project: with fewer reads a second more memory changes little", low=1, unit="reads/s"
    )
    idle_percent: float = percent(1.0, "this project: so small a share of the reads is no use of it", low=0.01)
    touched_percent: float = percent(TOUCHED_PERCENT, TOUCHED_ORIGIN, low=1)
    full_percent: float = percent(90.0, "this project: a pool with more room is not short of memory", low=1)
    searches_per_second: float = limit(SEARCHES_PER_SECOND, SEARCHES_ORIGIN, unit="searches/s")
    times_as_long: float = limit(
        100.0, "this project: memory that keeps a page a hundred times as long is better spent where pages go", low=2
    )
    held_percent: float = percent(20.0, "this project: a database with less of the idle cache is not named", low=1)


@rule(needs=(), uses=(*USES, *MONITORED, *TEMPORARY_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look for idle pools, then for an idle cache of temporary databases."""
    caches = [row for row in facts.every(MonDataCache) if row.of_interval and row.believed and row.seconds]
    turned = [] if caches else list(_turned_over(facts, limits))
    yield from turned
    if not caches:
        if not turned:
            yield Unknown.of(MonDataCache)
        return
    found = [*_pools(facts, limits), *_tempdb(facts, limits, caches)]
    yield from found
    if not found:
        yield Clean("no pool and no cache of temporary databases lies idle beside one that reads much")


def _reads(pool: MonCachePool) -> float:
    """What was read into a pool, by single pages and by prefetch."""
    return sum(count for count in (pool.physical_reads, pool.apf_reads) if known(count))


def _pools(facts: Facts, limits: Limits) -> Iterator[Finding]:
    page = page_kb(facts) or min((row.io_size_kb for row in facts.every(MonCachePool)), default=None)
    rows = [row for row in facts.every(MonCachePool) if row.of_interval and row.believed and row.seconds and row.cache]
    newest = {(row.cache, row.io_size_kb): row for row in rows}
    for (cache, io_kb), idle in newest.items():
        small = newest.get((cache, page)) if page else None
        if small is None or small is idle or page is None or not small.seconds:
            continue
        size, whole = idle.allocated_kb, small.allocated_kb
        touched, filled = idle.pages_touched, small.pages_touched
        if not (known(size) and known(whole) and known(touched) and known(filled)) or size <= 0 or whole <= 0:
            continue
        rate, used = _reads(small) / small.seconds, 100 * touched * io_kb / size
        if rate < limits.reads_per_second or _reads(idle) * 100 > limits.idle_percent * _reads(small):
            continue
        if used > limits.touched_percent or filled * page * 100 < limits.full_percent * whole:
            continue
        change = _smaller(cache or "", io_kb, size / 1024)
        name = comment(cache or "")
        yield Finding(
            subject=cache or "",
            severity=Severity.ADVICE,
            title=f"{name}: {size / 1024:,.0f} MB of its {io_kb:g}K pool lie idle, while its {page:g}K pool reads "
            f"{rate:,.0f} times a second",
            seen=f"The {io_kb:g}K pool of {size / 1024:,.0f} MB was read into {_reads(idle):,.0f} times in "
            f"{idle.seconds:,.0f} s, and at most {used:.2g} % of it was ever touched. The {page:g}K pool of "
            f"{whole / 1024:,.0f} MB is full and was read into {_reads(small):,.0f} times.",
            because=APART,
            do=f"Cut the {io_kb:g}K pool to {change.new} with sp_poolconfig (at once): the {page:g}K pool gets the "
            f"rest. {OTHER_HOURS}"
            if change
            else OTHER_HOURS,
            changes=(change,) if change else (),
            explains=("ase/reads_slow",),
            evidence=(
                Evidence(f"size of the {io_kb:g}K pool of {cache}", size / 1024, "MB", idle.source),
                Evidence(f"reads into the {io_kb:g}K pool of {cache}", _reads(idle), "", idle.source),
                Evidence(
                    f"reads into the {page:g}K pool of {cache}",
                    round(rate, 1),
                    "/s",
                    small.source,
                    limits.reads_per_second,
                ),
            ),
        )


def _turned_over(facts: Facts, limits: Limits) -> Iterator[Finding]:
    """The same by one sp_sysmon: how long a page stays in a pool is its size by what is grabbed of it."""
    seconds, page = seconds_of(facts), page_kb(facts)
    if not seconds or page is None:
        return
    rows = {(row.cache, row.io_size_kb): row for row in facts.every(CachePoolActivity) if known(row.grabbed)}
    for (cache, io_kb), idle in rows.items():
        small = rows.get((cache, page))
        sizes = {pool.io_size_kb: kb for pool in pools_of(facts, cache) if (kb := pool_kb(pool))}
        if small is None or small is idle or not {io_kb, page} <= sizes.keys():
            continue
        grabs, few = (row.grabbed if known(row.grabbed) else 0.0 for row in (small, idle))
        stays, long = seconds * sizes[page] / (grabs * page or 1.0), seconds * sizes[io_kb] / (max(few, 1.0) * io_kb)
        if grabs < limits.reads_per_second * seconds or long < limits.times_as_long * stays:
            continue
        change, name, mb = _smaller(cache, io_kb, sizes[io_kb] / 1024), comment(cache), sizes[io_kb] / 1024
        yield Finding(
            subject=cache,
            severity=Severity.ADVICE,
            title=f"{name}: a page stays {span(long)} in its {io_kb:g}K pool of {mb:,.0f} MB, and {span(stays)} in its "
            f"{page:g}K pool",
            seen=f"Of the {page:g}K pool of {sizes[page] / 1024:,.0f} MB {grabs:,.0f} buffers were grabbed in "
            f"{seconds:,.0f} s, of the {io_kb:g}K pool {few:,.0f}: by their sizes a page stays {span(stays)} in the "
            f"one and {span(long)} in the other.",
            because=APART_POOLS,
            do=f"Cut the {io_kb:g}K pool to {change.new} with sp_poolconfig (at once): the {page:g}K pool gets the "
            f"rest. {OTHER_HOURS}"
            if change
            else OTHER_HOURS,
            changes=(change,) if change else (),
            explains=("ase/reads_slow",),
            evidence=(
                Evidence(f"size of the {io_kb:g}K pool of {cache}", mb, "MB", pools_of(facts, cache)[-1].source),
                Evidence(f"buffers grabbed of the {io_kb:g}K pool of {cache}", few, "", idle.source),
                Evidence(
                    f"buffers grabbed of the {page:g}K pool of {cache}",
                    round(grabs / seconds, 1),
                    "/s",
                    small.source,
                    limits.reads_per_second,
                ),
            ),
        )


def span(seconds: float) -> str:
    """`37 s`, `12 minutes`, `6.6 hours`."""
    if seconds < 120:
        return f"{seconds:,.0f} s"
    return f"{seconds / 60:,.0f} minutes" if seconds < 7200 else f"{seconds / 3600:,.1f} hours"


def _smaller(cache: str, io_kb: float, size_mb: float) -> Change | None:
    try:
        kept = f"A tenth stays in the {io_kb:g}K pool, as a first step (this project's)."
        return resize_pool(cache, io_kb, size_mb, max(1, round(KEPT * size_mb)), cautions=(kept,))
    except OutOfRange:
        return None


def _tempdb(facts: Facts, limits: Limits, caches: list[MonDataCache]) -> Iterator[Finding]:
    busy = {
        row.name: row for row in caches if row.seconds and (row.misses or 0) / row.seconds >= limits.reads_per_second
    }
    bound = {one.database for one in facts.every(CacheBinding) if one.table is None and one.valid is not False}
    for idle in caches:
        named = named_of(facts, idle.name)
        if named is None or not known(named.run_size_mb) or not known(idle.searches) or not idle.seconds:
            continue
        if idle.searches / idle.seconds >= limits.searches_per_second or not serves_tempdb(facts, idle.name, named):
            continue
        held: dict[tuple[str, str], float] = {}
        for row in facts.every(MonCachedObject):
            if row.cache in busy and row.database and known(row.cached_kb):
                held[row.database, row.cache] = held.get((row.database, row.cache), 0.0) + row.cached_kb / 1024
        working = temporary_databases(facts) - bound
        theirs = {key: mb for key, mb in held.items() if key[0] in working}
        if not theirs or not facts.every(CacheBinding):
            continue
        (database, home), mb = max(theirs.items(), key=lambda one: one[1])
        if 100 * mb < limits.held_percent * named.run_size_mb:
            continue
        yield _unbound(limits, idle, named.run_size_mb, busy[home], database, mb)


def _unbound(
    limits: Limits, idle: MonDataCache, size_mb: float, busy: MonDataCache, database: str, held_mb: float
) -> Finding:
    """That the cache of temporary databases serves another one than the one that works."""
    name, home = comment(idle.name), comment(busy.name)
    try:
        change = bind_temporary(idle.name, database)
    except NotBindable:
        change = None
    seconds = idle.seconds or 1.0
    searches = idle.searches if known(idle.searches) else 0.0
    return Finding(
        subject=idle.name,
        severity=Severity.ADVICE,
        title=f"{name}: {size_mb:,.0f} MB lie idle, while {comment(database)}, which works, is not bound to it",
        seen=f"{name} was searched {searches:,.0f} times in {seconds:,.0f} s. Tables of {comment(database)} hold "
        f"{held_mb:,.0f} MB of {home}, which read {(busy.misses or 0) / (busy.seconds or 1.0):,.0f} times a second.",
        because=APART_CACHES,
        do=f"Bind {comment(database)} to {name} with sp_bindcache. {IN_USE}",
        unknown="Whether the idle cache works at another hour no export of this interval shows.",
        changes=(change,) if change else (),
        explains=("ase/reads_slow",),
        evidence=(
            Evidence(
                f"reads of {busy.name}",
                round((busy.misses or 0) / (busy.seconds or 1.0), 1),
                "/s",
                busy.source,
                limits.reads_per_second,
            ),
            Evidence(f"searches of {idle.name}", round(searches / seconds, 2), "/s", idle.source),
            Evidence(f"memory of {busy.name} held by {database}", round(held_mb), "MB", busy.source),
        ),
    )
