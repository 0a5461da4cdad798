"""Tasks wait for a free buffer of a data cache.

Finds: tasks that wait because the buffer at the end of a cache's chain is still being written or read (wait events 46
and 47 of monSysWaits), as an average number over the interval and as a share of the tasks that wait or run. The cache
is named from the stalls that two snapshots of monDataCache count, else from the buffers that sp_sysmon counts as
grabbed dirty, else from the pool with a short wash area that has nearly all stalls since the server started. Without
monSysWaits: a pool with a short wash area that stalls ten times a second (monCachePool), or
gives as many dirty buffers by sp_sysmon.

Why it matters: a page that is not in the cache needs a buffer, and the cache gives the one that was unused longest. If
that is still dirty, the task that only wants to read waits for a write first. The cache is too small for what changes
in it, its wash area too short, or its writers are too slow.

What to do: where the pool that stalls has a smaller wash area than a new pool of its size would, the wash area first:
`sp_poolconfig` changes it at once. Where that is as created and the pool is a sliver of its cache, a larger pool, from
that of the logical page: at once too. Otherwise a larger cache where there is memory, as large as what is bound to it
where its sizes were listed, or less that is read through it (scans). A larger wash area starts writing earlier, so that
buffers are clean when they are needed. No source says how large it should be: where the cache is cut into partitions,
what a new pool of the size of one would have, for each of them, is a first step of this project. Where writes
themselves are slow, the devices.

When to ignore it: below one task on average, or below one in ten of the tasks that wait or run. A load or the creation
of an index fills any cache with dirty pages and stalls for as long as it runs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import ceil, floor

from collectors.facts import ABSENT, Facts, known
from collectors.facts.ase import (
    CacheBinding,
    CachePool,
    CachePoolActivity,
    IndexSize,
    MonCachePool,
    MonDataCache,
    MonSysWaits,
    NamedCache,
    SysmonSample,
)
from rules.ase._evidence.caches.bindings import bound_to
from rules.ase._evidence.caches.figures import named_of, pool_kb, pools_of, seconds_of
from rules.ase._evidence.caches.large_io import SHARE
from rules.ase._evidence.caches.memory import MEMORY_FACTS, OVERHEAD_FACTS, free_memory, overhead_of
from rules.ase._evidence.caches.monitored import MONITORED
from rules.ase._evidence.objects.seen import USES, listed_sizes
from rules.ase._evidence.server import subject_of
from rules.ase._evidence.waits.events import FREE_BUFFERS
from rules.ase._evidence.waits.tasks import WAIT_FACTS
from rules.ase._evidence.waits.verdict import TooLong, WaitLimits, judge_waits
from rules.changes.ase_cache import (
    WASH_OF_MB,
    default_wash_kb,
    grow_cache,
    quoted_cache,
    resize_pool,
    set_wash,
)
from rules.changes.out_of_range import OutOfRange
from rules.changes.quoting import comment
from rules.engine import rule
from rules.finding import (
    Change,
    Evidence,
    Finding,
    MissingInput,
    Outcome,
    Severity,
    Unknown,
    capitalized,
    joined,
    rounded,
)

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00848.1570/html/monitor_tables/CHDEHBAG.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc36273.1600/doc/html/san1393052072105.html",
)
WHAT = "a free buffer"
STALL = "The buffer that is to be reused is still being written or read, so even a task that only reads waits for it."
LEVERS = (
    "A larger cache, or fewer scans through it, leaves more buffers clean; where writes are slow as well (events 31, "
    "36, 51 and 52), the devices come first."
)
WASH = (
    'A larger wash area has them written earlier: `sp_poolconfig` with "wash=<n>K" (dynamic; the present size is '
    "the undo), from 10 buffers to 80 % of the pool; the default is 20 %, of 300 MB at most."
)
POOL_WASH = (
    'A larger wash area has buffers written earlier: `sp_poolconfig {0}, "{1:g}K", "wash=<n>K"` (dynamic; undo: the '
    "{2:,.0f} KB of now), from 10 buffers to 80 % of the pool."
)
GROW = (
    'Make {0} larger, `sp_cacheconfig {1}, "{2:.0f}M"` (at once): {3}, bound to it, has {4:,.0f} MB, and {5:,.0f} MB '
    "are free."
)
STEP = "Half of the free memory at most, as a first step (this project's); a smaller size again takes a restart."
HOW_LARGE = "No source says how large a wash area is right: raise it in steps and watch these waits"
SAME_WASH = 0.9
"""This project: a wash area within a tenth of what would be set is the same one, as the server rounds it to buffers."""
GROWTH = 2.0
"""This project: a pool that would not become twice as large is not what is wrong with its cache."""
TENTH = (
    "A tenth of the cache, a first step (this project's). The pool of the logical page becomes as much smaller: watch "
    "its hits."
)
EACH_PARTITION = (
    "Give {0} a wash area of {2} by sp_poolconfig (at once): what a new pool of the size of one partition has, "
    "times {1:g}."
)
AFTER_WASH = "Only if it stalls as much afterwards: a larger cache, fewer scans through it, or faster writes."
SINCE_START = "Whether it stalls in these minutes, too, two snapshots of monCachePool show."
NO_CACHE = MissingInput("which cache stalls", MonDataCache.COLLECTED_BY)
DIRTY = "buffers grabbed dirty"
MANY = 2
"""Partitions from which on the wash area of a pool may be counted for each of them."""
MOST = 2
"""Caches that the sentence names."""
NEARLY_ALL = 0.9
"""This project: of all stalls since the server started, from which on they are of this pool now, too."""


@dataclass(frozen=True)
class Limits(WaitLimits):
    """`WaitLimits`: from one task on average and a tenth of the tasks that wait or run on (this project)."""


@rule(
    needs=(),
    uses=(
        *WAIT_FACTS,
        *MONITORED,
        CachePoolActivity,
        SysmonSample,
        CachePool,
        MonCachePool,
        MonDataCache,
        NamedCache,
        CacheBinding,
        *MEMORY_FACTS,
        *OVERHEAD_FACTS,
        *USES,
    ),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge by the time that tasks waited, else by the stalls of a pool whose wash area is short."""
    lacking = () if _stalls(facts) else (NO_CACHE,)
    found = partial(_finding, facts)
    for said in judge_waits(facts, limits, found, what=WHAT, events=FREE_BUFFERS, when_unsure=lacking):
        short = _short(facts) if isinstance(said, Unknown) else None
        if short and short.step and (short.dirty or short.since_start):
            short = None  # a load gives any cache dirty buffers, and its start stalls: no reason for more than is usual
        if short and short.per_second is not None and short.per_second >= limits.waits_per_second:
            yield _counted(facts, limits, short)
        yield said


def _finding(facts: Facts, waits: TooLong) -> Iterator[Outcome]:
    pools, caches = _stalled(facts), _stalls(facts)
    short = _short(facts)
    ever = short.pool.cache if short and short.since_start and not caches else ""
    first = caches[0][0].name if caches else pools[0][0].cache if pools else ever or ""
    pools = [one for one in pools if not caches or one[0].cache == first]
    short = short if short and short.pool.cache == first else None
    grown = None if short and not short.step else _grown(facts, first)
    short = None if grown else short
    dirty = ", ".join(
        f"the {rounded(one.io_size_kb)}K pool of {comment(one.cache)} ({count:,.0f} {DIRTY})" for one, count in pools
    )
    stalls = " and ".join(f"{comment(one.name)} ({count:,.0f})" for one, count in caches[:MOST])
    named = (
        f"monDataCache counts stalls in {stalls}." if caches else f"sp_sysmon counts them in {dirty}." if dirty else ""
    )
    yield Finding(
        subject=subject_of(facts),
        severity=waits.severity,
        title=waits.title + (f" in {short.named if short else comment(first)}" if first else ""),
        seen=joined(waits.seen, named if first else ""),
        because=joined(STALL, short.says if short else ""),
        do=joined(short.do, AFTER_WASH)
        if short
        else joined(grown.do if grown else LEVERS, _wash_step(facts, first) or WASH),
        changes=(short.change,) if short else (grown.change,) if grown else (),
        unknown=joined(
            short.unknown if short else f"{HOW_LARGE}{_wash_now(facts, pools)}.",
            "" if first else f"Which cache it is: {NO_CACHE.command} (Stalls).",
        ),
        evidence=(
            *waits.evidence,
            *(short.evidence if short else grown.evidence if grown else ()),
            *(Evidence(f"stalls of {one.name}", count, "", one.source) for one, count in caches),
            *(
                Evidence(f"{DIRTY}, {rounded(one.io_size_kb)}K pool of {one.cache}", count, "", one.source)
                for one, count in pools
            ),
        ),
    )


@dataclass(frozen=True)
class _Grown:
    """A named cache that is smaller than what is bound to it, while memory is free."""

    do: str
    evidence: tuple[Evidence, ...]
    change: Change


def _grown(facts: Facts, cache: str) -> _Grown | None:
    """The size of what is bound to a cache, as far as half of the free memory goes; `None` where one is not known."""
    named, free, bound = named_of(facts, cache), free_memory(facts), bound_to(facts, cache)
    if named is None or named.is_default or not known(named.run_size_mb) or free is None or not bound:
        return None
    found = [_size_of(facts, one) for one in bound]
    if not all(found):
        return None
    size, wanted = named.run_size_mb, sum(one.size_kb for one in found if one and known(one.size_kb)) / 1024
    new = min(ceil(wanted / 10) * 10.0, floor((size + free.mb / 2) / 10) * 10.0)
    overhead = overhead_of(facts).more(size, new)
    quoted = quoted_cache(cache)
    if new < GROWTH * size or new - size + overhead > free.mb or not quoted:
        return None
    names = list(dict.fromkeys(f"{one.database}.{one.owner or ''}.{one.table}" for one in bound))
    what = f"{comment(names[0])}{f' and {len(names) - 1} more' if names[1:] else ''}"
    return _Grown(
        GROW.format(comment(cache), quoted, new, what, wanted, free.mb),
        (
            Evidence(f"size of {cache} in force", size, "MB", named.source, new),
            *(
                Evidence(f"size of {one.table}, index {one.index_id}", round(one.size_kb / 1024), "MB", one.source)
                for one in found
                if one and known(one.size_kb)
            ),
            Evidence("memory that is free", round(free.mb), "MB", free.source),
        ),
        grow_cache(cache, size, new, overhead_mb=overhead, cautions=(STEP,)),
    )


def _size_of(facts: Facts, bound: CacheBinding) -> IndexSize | None:
    """The size of a table's data, or of an index, that is bound; `None` where no listing has it."""
    for one in listed_sizes(facts):
        mine = bound.table and one.table == bound.table and one.database in (None, bound.database)
        part = one.index_name == bound.index if bound.index else one.index_id <= 1
        if mine and part and known(one.size_kb):
            return one
    return None


def _wash_step(facts: Facts, cache: str) -> str:
    """The wash area of the one pool of a cache that is known, in the words of its command; empty where none is."""
    rows = [one for one in facts.every(CachePool) if one.cache == cache and known(one.wash_size_kb)]
    sizes = {one.io_size_kb: one.wash_size_kb for one in rows if known(one.wash_size_kb)}
    quoted = quoted_cache(cache)
    if len(sizes) != 1 or not quoted:
        return ""
    ((io_kb, wash),) = sizes.items()
    return POOL_WASH.format(quoted, io_kb, wash)


@dataclass(frozen=True)
class _Short:
    """A pool that stalls and has less than it could be given at once: wash area, or buffers of its own."""

    pool: MonCachePool
    stalls: float
    per_second: float | None
    short: str
    """What it has too little of, as the rest of a sentence that begins with the pool."""
    do: str
    """The step, as a sentence."""
    has: Evidence
    change: Change
    dirty: bool = False
    """Whether it is the pool that gave dirty buffers by sp_sysmon, and its stalls were not counted."""
    step: bool = False
    """Whether it has what a pool is created with, so that more is a first step of this project and no more."""
    since_start: bool = False
    """Whether its stalls are those since the server started, as no two snapshots were collected."""

    @property
    def named(self) -> str:
        """The pool, as a part of a sentence."""
        return _pool_name(self.pool)

    @property
    def says(self) -> str:
        """What is short, as a sentence."""
        did = f"gave {self.stalls:,.0f} buffers dirty" if self.dirty else f"stalled {self.stalls:,.0f} times"
        of = " since the server started, nearly all of its stalls" if self.since_start else ""
        return f"{capitalized(self.named)} {did}{of}, and {self.short}."

    @property
    def unknown(self) -> str:
        """What the exports leave open of it, as a sentence; empty where nothing."""
        if self.step:
            return f"{HOW_LARGE}."
        return SINCE_START if self.since_start else ""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Its stalls and what it has."""
        of = f"{self.pool.io_size_kb:g}K pool of {self.pool.cache}"
        counted = DIRTY if self.dirty else "stalls since the start" if self.since_start else "stalls"
        return (Evidence(f"{counted} of the {of}", self.stalls, "", self.pool.source), self.has)


def _pool_name(pool: MonCachePool) -> str:
    return f"the {pool.io_size_kb:g}K pool of {comment(pool.cache or '')}"


def _short(facts: Facts) -> _Short | None:
    """The pool with the most stalls, where its wash area is below that of a new one, or it is a sliver of its cache.

    Where its stalls were not counted, the pool that gave the most dirty buffers in the sample of sp_sysmon; without
    that the pool that has nearly all stalls since the server started.
    """
    rows = [row for row in facts.every(MonCachePool) if row.of_interval and row.believed and known(row.stalls)]
    row = max(rows, key=lambda one: one.stalls if known(one.stalls) else 0.0, default=None)
    gave = next(iter(_stalled(facts)), None) if row is None else None
    if gave:
        pool_of, count = gave
        row = MonCachePool(
            source=pool_of.source,
            cache=pool_of.cache,
            io_size_kb=pool_of.io_size_kb,
            stalls=count,
            seconds=seconds_of(facts),
        )
    ever = _since_start(facts) if row is None else None
    row = row or ever
    if row is None or not row.cache or not known(row.stalls) or row.stalls <= 0:
        return None
    pool = facts.latest(CachePool, cache=row.cache, io_size_kb=row.io_size_kb)
    size = pool.run_size_mb * 1024 if pool and known(pool.run_size_mb) else row.allocated_kb
    wash = pool.wash_size_kb if pool and known(pool.wash_size_kb) else row.wash_size_kb
    if not known(size) or not known(wash) or wash <= 0:
        return None
    try:
        found, step = _wash(facts, row, size, wash) or _larger(facts, row, size), False
        if found is None:
            found, step = _wash_of_partitions(facts, row, size, wash), True
    except OutOfRange:
        return None
    rate = row.stalls / row.seconds if row.seconds else None
    if found is None:
        return None
    return _Short(row, row.stalls, rate, *found, dirty=gave is not None, step=step, since_start=ever is not None)


def _since_start(facts: Facts) -> MonCachePool | None:
    """The pool that has nearly all stalls since the server started; `None` where there is none, or they were zeroed."""
    rows = {(one.instance, one.cache, one.io_size_kb): one for one in facts.every(MonCachePool) if not one.of_interval}
    counted = [(one, one.stalls) for one in rows.values() if known(one.stalls) and one.stalls > 0]
    most = max(counted, key=lambda one: one[1], default=None)
    return most[0] if most and most[1] >= NEARLY_ALL * sum(count for _, count in counted) else None


def _wash(facts: Facts, row: MonCachePool, size: float, wash: float) -> tuple[str, str, Evidence, Change] | None:
    """The wash area of the server's other large pools, else of a new one, for a pool with clearly less; kilobytes."""
    created, others = floor(default_wash_kb(size)), floor(_wash_of_others(facts, row, size))
    parts = _wash_by_partition(facts, row, size)
    new = max(created, others, floor(parts.kb if parts else 0.0))
    if wash > SAME_WASH * new:
        return None
    change = set_wash(row.cache or "", row.io_size_kb, wash, new, size)
    where, whose = "a pool of that size is created with", "of a new one"
    if new > created:
        where, whose = "the other large pools of this server have", "of the others"
    if parts and new > max(created, others):
        where = f"by what {parts.shown} was given for each partition it would have"
        whose = f"of {parts.partitions:.0f} partitions"
    return (
        f"its wash area is {wash:,.0f} KB of {size / 1024:,.0f} MB, where {where} {new:,.0f} KB",
        f"Give {_pool_name(row)} the wash area {whose} by sp_poolconfig, {change.new} (at once).",
        Evidence(f"wash area of the {row.io_size_kb:g}K pool of {row.cache}", wash, "KB", row.source, new),
        change,
    )


def _wash_of_others(facts: Facts, row: MonCachePool, size: float) -> float:
    """What all other pools at least half as large have alike, kilobytes; 0 where they differ, or there is none.

    Servers give pools beyond the vendor's 300 MB more than a fifth of that: 245,760 KB was seen of pools of 3 to 24 GB.
    """
    if size <= WASH_OF_MB * 1024:
        return 0.0
    pools = {(one.cache, one.io_size_kb): one for one in facts.every(CachePool)}
    found = {
        one.wash_size_kb
        for key, one in pools.items()
        if key != (row.cache, row.io_size_kb) and known(one.run_size_mb) and one.run_size_mb * 1024 >= size / 2
    }
    alike = next(iter(found)) if len(found) == 1 else None
    return alike if known(alike) else 0.0


@dataclass(frozen=True)
class _ByPartition:
    """What a pool has where the server counts the wash area of each partition by itself."""

    kb: float
    partitions: float
    shown: str
    """The pool that shows it."""


def _wash_by_partition(facts: Facts, row: MonCachePool, size: float) -> _ByPartition | None:
    """By another pool that has as many times the vendor's wash area as its cache has partitions; `None` where none has.

    The vendor's sentence is of a pool and names no partitions: 61,440 KB were seen of pools of one partition, and as
    many times that as there are partitions of others.
    """
    named = named_of(facts, row.cache or "")
    partitions = named.run_partitions if named else ABSENT
    if not known(partitions) or partitions < MANY:
        return None
    for pool in {(one.cache, one.io_size_kb): one for one in facts.every(CachePool)}.values():
        home = named_of(facts, pool.cache)
        cut = home.run_partitions if home else ABSENT
        whole, wash = pool.run_size_mb, pool.wash_size_kb
        if (pool.cache, pool.io_size_kb) == (row.cache, row.io_size_kb) or not (known(cut) and known(whole)):
            continue
        each = default_wash_kb(1024 * whole / cut) if cut >= MANY else 0.0
        if known(wash) and cut * each > default_wash_kb(1024 * whole) and SAME_WASH <= wash / (cut * each) <= 1.0:
            kb = partitions * default_wash_kb(size / partitions)
            return _ByPartition(kb, partitions, f"the {pool.io_size_kb:g}K pool of {comment(pool.cache)}")
    return None


def _wash_of_partitions(
    facts: Facts, row: MonCachePool, size: float, wash: float
) -> tuple[str, str, Evidence, Change] | None:
    """A step for a pool with the wash area that it was created with, of a cache in partitions.

    `size` and `wash` in kilobytes. As much for each partition as a new pool of its size would have: whether what is
    printed is of the pool or of each of its partitions, it is far below the 80 % that are allowed.
    """
    named = named_of(facts, row.cache or "")
    partitions = named.run_partitions if named else ABSENT
    if not known(partitions) or partitions < MANY:
        return None
    new = floor(partitions * default_wash_kb(size / partitions))
    if new < GROWTH * wash:
        return None
    change = set_wash(row.cache or "", row.io_size_kb, wash, new, size)
    return (
        f"its wash area is {wash:,.0f} KB of {size / 1024:,.0f} MB, in a cache of {partitions:.0f} partitions",
        EACH_PARTITION.format(_pool_name(row), partitions, change.new),
        Evidence(f"wash area of the {row.io_size_kb:g}K pool of {row.cache}", wash, "KB", row.source, new),
        change,
    )


def _larger(facts: Facts, row: MonCachePool, size: float) -> tuple[str, str, Evidence, Change] | None:
    """A tenth of its cache, for a pool of large I/O that has less than half of that; `size` in kilobytes."""
    cache = row.cache or ""
    pools = {one.io_size_kb: pool_kb(one) for one in pools_of(facts, cache)}
    page_size = min(pools, default=row.io_size_kb)
    page = pools.get(page_size)
    if page is None or page_size >= row.io_size_kb or None in pools.values():
        return None
    old, whole = size / 1024, sum(kb or 0.0 for kb in pools.values()) / 1024
    new = floor(SHARE * whole)
    if new < GROWTH * old or new - old > page / 1024 / 2:
        return None
    change = resize_pool(cache, row.io_size_kb, old, new, from_mb=page / 1024, cautions=(TENTH,))
    return (
        f"it has {old:,.0f} MB of the {whole:,.0f} MB of its cache, {page / 1024:,.0f} MB of them in the "
        f"{page_size:g}K pool",
        f'Make it larger, from the {page_size:g}K pool: sp_poolconfig "{comment(cache)}", "{new}M", '
        f'"{row.io_size_kb:g}K" (at once).',
        Evidence(f"size of the {row.io_size_kb:g}K pool of {row.cache}", round(old, 1), "MB", row.source, new),
        change,
    )


def _counted(facts: Facts, limits: Limits, short: _Short) -> Finding:
    """The same by the number of stalls alone, where no export has the time that tasks waited."""
    rate = short.per_second or 0.0
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE if short.dirty else Severity.WARNING,
        title=f"{capitalized(short.named)} "
        + (f"gives {rate:,.0f} buffers dirty a second" if short.dirty else f"stalls {rate:,.0f} times a second"),
        seen=short.says,
        because=STALL,
        do=joined(short.do, AFTER_WASH),
        unknown=f"How long tasks waited is not in the export: {MonSysWaits.COLLECTED_BY}.",
        changes=(short.change,),
        evidence=(
            Evidence(
                f"{DIRTY if short.dirty else 'stalls'} a second",
                round(rate, 1),
                "/s",
                short.pool.source,
                limits.waits_per_second,
            ),
            *short.evidence,
        ),
    )


def _stalls(facts: Facts) -> list[tuple[MonDataCache, float]]:
    """The caches that stalled between two snapshots, most first."""
    rows = {(one.instance, one.name): one for one in facts.every(MonDataCache) if one.of_interval and one.believed}
    found = [(one, one.stalls) for one in rows.values() if known(one.stalls) and one.stalls > 0]
    return sorted(found, key=lambda one: -one[1])


def _stalled(facts: Facts) -> list[tuple[CachePoolActivity, float]]:
    """The pools that gave dirty buffers, most first."""
    found = [
        (one, one.grabbed_dirty)
        for one in facts.every(CachePoolActivity)
        if known(one.grabbed_dirty) and one.grabbed_dirty > 0
    ]
    return sorted(found, key=lambda one: -one[1])


def _wash_now(facts: Facts, pools: list[tuple[CachePoolActivity, float]]) -> str:
    """The present wash area of the first of them, where sp_cacheconfig was collected."""
    if not pools:
        return ""
    first = pools[0][0]
    pool = facts.latest(CachePool, cache=first.cache, io_size_kb=first.io_size_kb)
    if pool is None or not known(pool.wash_size_kb) or not known(pool.run_size_mb):
        return ""
    return f"; it is {rounded(pool.wash_size_kb)} KB of {rounded(pool.run_size_mb)} MB now"
