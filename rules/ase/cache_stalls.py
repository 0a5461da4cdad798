"""Tasks wait for a free buffer of a data cache.

Finds: tasks that wait because the buffer at the end of a cache's chain is still being written or read (wait events 46
and 47 of monSysWaits), as an average number over the interval and as a share of the tasks that wait or run. The cache
is named from the stalls that two snapshots of monDataCache count, else from the buffers that sp_sysmon counts as
grabbed dirty. Without monSysWaits: a pool that stalls ten times a second (monCachePool) with a short wash area.

Why it matters: a page that is not in the cache needs a buffer, and the cache gives the one that was unused longest. If
that is still dirty, the task that only wants to read waits for a write first. The cache is too small for what changes
in it, its wash area too short, or its writers are too slow.

What to do: where the pool that stalls has a smaller wash area than a new pool of its size would, the wash area first:
`sp_poolconfig` changes it at once. Otherwise a larger cache where there is memory, or less that is read through it
(scans). A larger wash area starts writing earlier, so that buffers are clean when they are needed. Where writes
themselves are slow, the devices.

When to ignore it: below one task on average, or below one in ten of the tasks that wait or run. A load or the creation
of an index fills any cache with dirty pages and stalls for as long as it runs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import floor

from collectors.facts import Facts, known
from collectors.facts.ase import CachePool, CachePoolActivity, MonCachePool, MonDataCache, MonSysWaits
from rules.ase._evidence.server import subject_of
from rules.ase._evidence.waits.events import FREE_BUFFERS
from rules.ase._evidence.waits.tasks import WAIT_FACTS
from rules.ase._evidence.waits.verdict import TooLong, WaitLimits, judge_waits
from rules.changes.ase_cache import default_wash_kb, set_wash
from rules.changes.out_of_range import OutOfRange
from rules.changes.quoting import comment
from rules.engine import rule
from rules.finding import Change, Evidence, Finding, MissingInput, Outcome, Severity, Unknown, joined, rounded

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
    'A larger wash area has them written earlier: `sp_poolconfig` with "wash=<n>K" (dynamic; the present size is the '
    "undo), from 10 buffers to 80 % of the pool; the default is 20 %, of 300 MB at most."
)
HOW_LARGE = "No source says how large a wash area is right: raise it in steps and watch these waits"
AFTER_WASH = "Only if it stalls as much afterwards: a larger cache, fewer scans through it, or faster writes."
NO_CACHE = MissingInput("which cache stalls", MonDataCache.COLLECTED_BY)
DIRTY = "buffers grabbed dirty"
MOST = 2
"""Caches that the sentence names."""


@dataclass(frozen=True)
class Limits(WaitLimits):
    """`WaitLimits`: from one task on average and a tenth of the tasks that wait or run on (this project)."""


@rule(
    needs=(), uses=(*WAIT_FACTS, CachePoolActivity, CachePool, MonCachePool, MonDataCache), links=LINKS, limits=Limits
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge by the time that tasks waited, else by the stalls of a pool whose wash area is short."""
    lacking = () if _stalls(facts) else (NO_CACHE,)
    found = partial(_finding, facts)
    for said in judge_waits(facts, limits, found, what=WHAT, events=FREE_BUFFERS, when_unsure=lacking):
        short = _short_wash(facts) if isinstance(said, Unknown) else None
        if short and short.per_second is not None and short.per_second >= limits.waits_per_second:
            yield _counted(facts, limits, short)
        yield said


def _finding(facts: Facts, waits: TooLong) -> Iterator[Outcome]:
    pools, caches = _stalled(facts), _stalls(facts)
    first = caches[0][0].name if caches else pools[0][0].cache if pools else ""
    pools = [one for one in pools if not caches or one[0].cache == first]
    short = _short_wash(facts)
    short = short if short and short.pool.cache == first else None
    dirty = ", ".join(
        f"the {rounded(one.io_size_kb)}K pool of {comment(one.cache)} ({count:,.0f} {DIRTY})" for one, count in pools
    )
    stalls = " and ".join(f"{comment(one.name)} ({count:,.0f})" for one, count in caches[:MOST])
    named = f"monDataCache counts stalls in {stalls}." if caches else f"sp_sysmon counts them in {dirty}."
    yield Finding(
        subject=subject_of(facts),
        severity=waits.severity,
        title=waits.title + (f" in {short.named if short else comment(first)}" if first else ""),
        seen=joined(waits.seen, named if first else ""),
        because=joined(STALL, short.says if short else ""),
        do=joined(short.do, AFTER_WASH) if short else joined(LEVERS, WASH),
        changes=(short.change,) if short else (),
        unknown=joined(
            "" if short else f"{HOW_LARGE}{_wash_now(facts, pools)}.",
            "" if first else f"Which cache it is: {NO_CACHE.command} (Stalls).",
        ),
        evidence=(
            *waits.evidence,
            *(short.evidence if short else ()),
            *(Evidence(f"stalls of {one.name}", count, "", one.source) for one, count in caches),
            *(
                Evidence(f"{DIRTY}, {rounded(one.io_size_kb)}K pool of {one.cache}", count, "", one.source)
                for one, count in pools
            ),
        ),
    )


@dataclass(frozen=True)
class _Short:
    """A pool that stalls while its wash area is smaller than a pool of its size has as created."""

    pool: MonCachePool
    stalls: float
    per_second: float | None
    wash_kb: float
    default_kb: float
    pool_kb: float
    change: Change

    @property
    def named(self) -> str:
        """The pool, as a part of a sentence."""
        return f"the {self.pool.io_size_kb:g}K pool of {comment(self.pool.cache or '')}"

    @property
    def says(self) -> str:
        """What is short, as a sentence."""
        return (
            f"{self.named[0].upper()}{self.named[1:]} stalled {self.stalls:,.0f} times, and its wash area is "
            f"{self.wash_kb:,.0f} KB of {self.pool_kb / 1024:,.0f} MB, where a pool of that size is created with "
            f"{self.default_kb:,.0f} KB."
        )

    @property
    def do(self) -> str:
        """The step, as a sentence."""
        return f"Give {self.named} the wash area of a new one by sp_poolconfig, {self.change.new} (at once)."

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Its stalls and its wash area."""
        of = f"{self.pool.io_size_kb:g}K pool of {self.pool.cache}"
        return (
            Evidence(f"stalls of the {of}", self.stalls, "", self.pool.source),
            Evidence(f"wash area of the {of}", self.wash_kb, "KB", self.pool.source, self.default_kb),
        )


def _short_wash(facts: Facts) -> _Short | None:
    """The pool with the most stalls, where its wash area is smaller than that of a new pool of its size."""
    rows = [row for row in facts.every(MonCachePool) if row.of_interval and row.believed and known(row.stalls)]
    row = max(rows, key=lambda one: one.stalls if known(one.stalls) else 0.0, default=None)
    if row is None or not row.cache or not known(row.stalls) or row.stalls <= 0:
        return None
    pool = facts.latest(CachePool, cache=row.cache, io_size_kb=row.io_size_kb)
    size = pool.run_size_mb * 1024 if pool and known(pool.run_size_mb) else row.allocated_kb
    wash = pool.wash_size_kb if pool and known(pool.wash_size_kb) else row.wash_size_kb
    if not known(size) or not known(wash) or not 0 < wash < default_wash_kb(size):
        return None
    new = floor(default_wash_kb(size))
    try:
        change = set_wash(row.cache, row.io_size_kb, wash, new, size)
    except OutOfRange:
        return None
    return _Short(row, row.stalls, row.stalls / row.seconds if row.seconds else None, wash, new, size, change)


def _counted(facts: Facts, limits: Limits, short: _Short) -> Finding:
    """The same by the number of stalls alone, where no export has the time that tasks waited."""
    rate = short.per_second or 0.0
    return Finding(
        subject=subject_of(facts),
        severity=Severity.WARNING,
        title=f"{short.named[0].upper()}{short.named[1:]} stalls {rate:,.0f} times a second",
        seen=short.says,
        because=STALL,
        do=joined(short.do, AFTER_WASH),
        unknown=f"How long tasks waited is not in the export: {MonSysWaits.COLLECTED_BY}.",
        changes=(short.change,),
        evidence=(
            Evidence("stalls a second", round(rate, 1), "/s", short.pool.source, limits.waits_per_second),
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
