"""Tasks wait for a free buffer of a data cache.

Finds: tasks that wait because the buffer at the end of a cache's chain is still being written or read (wait events 46
and 47 of monSysWaits), as an average number over the interval and as a share of the tasks that wait or run. The cache
is named from the stalls that two snapshots of monDataCache count, else from the buffers that sp_sysmon counts as
grabbed dirty.

Why it matters: a page that is not in the cache needs a buffer, and the cache gives the one that was unused longest. If
that is still dirty, the task that only wants to read waits for a write first. The cache is too small for what changes
in it, its wash area too short, or its writers are too slow.

What to do: a larger cache where there is memory, or less that is read through it (scans). A larger wash area starts
writing earlier, so that buffers are clean when they are needed. Where writes themselves are slow, the devices.

When to ignore it: below one task on average, or below one in ten of the tasks that wait or run. A load or the creation
of an index fills any cache with dirty pages and stalls for as long as it runs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from collectors.facts import Facts, known
from collectors.facts.ase import CachePool, CachePoolActivity, MonDataCache
from rules.ase._evidence.server import subject_of
from rules.ase._evidence.waits.events import FREE_BUFFERS
from rules.ase._evidence.waits.tasks import WAIT_FACTS
from rules.ase._evidence.waits.verdict import TooLong, WaitLimits, judge_waits
from rules.changes.quoting import comment
from rules.engine import rule
from rules.finding import Evidence, Finding, MissingInput, Outcome, joined, rounded

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
NO_CACHE = MissingInput("which cache stalls", MonDataCache.COLLECTED_BY)
DIRTY = "buffers grabbed dirty"
MOST = 2
"""Caches that the sentence names."""


@dataclass(frozen=True)
class Limits(WaitLimits):
    """`WaitLimits`: from one task on average and a tenth of the tasks that wait or run on (this project)."""


@rule(needs=(), uses=(*WAIT_FACTS, CachePoolActivity, CachePool, MonDataCache), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge by the time that tasks waited; sp_sysmon has no task switches for it."""
    lacking = () if _stalls(facts) else (NO_CACHE,)
    found = partial(_finding, facts)
    yield from judge_waits(facts, limits, found, what=WHAT, events=FREE_BUFFERS, when_unsure=lacking)


def _finding(facts: Facts, waits: TooLong) -> Iterator[Outcome]:
    pools, caches = _stalled(facts), _stalls(facts)
    first = caches[0][0].name if caches else pools[0][0].cache if pools else ""
    pools = [one for one in pools if not caches or one[0].cache == first]
    dirty = ", ".join(
        f"the {rounded(one.io_size_kb)}K pool of {comment(one.cache)} ({count:,.0f} {DIRTY})" for one, count in pools
    )
    stalls = " and ".join(f"{comment(one.name)} ({count:,.0f})" for one, count in caches[:MOST])
    named = f"monDataCache counts stalls in {stalls}." if caches else f"sp_sysmon counts them in {dirty}."
    yield Finding(
        subject=subject_of(facts),
        severity=waits.severity,
        title=waits.title + (f" in {comment(first)}" if first else ""),
        seen=joined(waits.seen, named if first else ""),
        because=STALL,
        do=joined(LEVERS, WASH),
        unknown=joined(
            f"{HOW_LARGE}{_wash_now(facts, pools)}.",
            "" if first else f"Which cache it is: {NO_CACHE.command} (Stalls).",
        ),
        evidence=(
            *waits.evidence,
            *(Evidence(f"stalls of {one.name}", count, "", one.source) for one, count in caches),
            *(
                Evidence(f"{DIRTY}, {rounded(one.io_size_kb)}K pool of {one.cache}", count, "", one.source)
                for one, count in pools
            ),
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
