"""A contended cache that replaces nothing keeps a strict LRU order.

Finds: a named cache with strict LRU in force and a contended spinlock, hits at 95 % or more, no buffers grabbed and few
updates: of what is bound at most one row changed for a hundred pages read, and a thousand rows a second, and no growth
that uses up what the cache has left within a year, counted with the shortest row there is. A log-only
cache need only have the contention and the hits. Never the default data cache, and never a cache of temporary
databases.

Why it matters: with strict LRU every page that is used is moved to the other end of its chain under the cache's
spinlock. Where nothing is ever replaced nobody needs that order. With relaxed LRU the moves fall away.

What to do: look first whether everything bound to the cache fits into it (`sp_helpcache` names it, a listing of sizes
or monCachedObject says how large it is; where bindings were not listed, monCachedObject alone proves it by objects that
are whole in memory, with a fifth of the cache to spare) and how many of its rows are changed at the busiest hour (two
snapshots of monOpenObjectActivity); until all of that is known the script is a comment. Then `sp_cacheconfig "c",
relaxed` and a restart. The vendor calls the gain slight; Jeff Tallman ("ASE 16 & Managing VLDB's
with VLH", 2014) saw a run fall from 1.5 minutes to 1 when hot tables moved to a separate cache with relaxed LRU, and 10
to 15 % contention remain.

Where `enable mem scale` is on (16.0 SP02 and later) a lockless data cache is the alternative, and is named in words.

When to ignore it: where the cache serves other work at other hours (a load, a report that scans), where it is soon to
hold more, or where the data are often updated. Relaxed LRU with replacement throws away pages that are in use.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import NOT_MEASURED, Facts, Reading, Source, known
from collectors.facts.ase import CacheActivity, CachePool, IndexSize, MonCachedObject, MonOpenObjectActivity, NamedCache
from rules.ase._evidence.caches.bindings import bound_to
from rules.ase._evidence.caches.contents import CONTENT_FACTS
from rules.ase._evidence.caches.figures import kind_of, latest_caches, named_of, no_caches, per_second, seconds_of
from rules.ase._evidence.caches.fit import Changes, Fit, changes_of, fit_of
from rules.ase._evidence.caches.lockless import lockless_instead
from rules.ase._evidence.caches.monitored import MONITORED
from rules.ase._evidence.caches.partitions import cut_for_engines, proposed
from rules.ase._evidence.caches.relaxed import RelaxedLimits, fits, seldom, unsuited
from rules.ase._evidence.caches.temporary import TEMPORARY_FACTS
from rules.ase._evidence.server import ENGINE_FACTS, offers
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import CACHE_PERCENT
from rules.ase._evidence.spinlocks.survey import CACHE_FACTS, cache_figure
from rules.changes.ase_cache import (
    RELAXED,
    STRICT,
    of_cache,
    query_cache,
    relaxed_if_it_fits,
    set_replacement,
    show_cache,
)
from rules.engine import rule
from rules.finding import Evidence, Expectation, Finding, MissingInput, Outcome, Severity, Unknown, joined
from rules.sources import TALLMAN

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.dc20020_1251/html/databases/databases373.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158541254.html",
)
RELINKS = (
    "Strict LRU relinks a page at each hit, under the cache's spinlock, here for nothing. The vendor calls the gain "
    "slight; a run was seen to fall from 1.5 minutes to 1 when its tables moved to a relaxed cache of their own "
    f"({TALLMAN})."
)
LOGS = "The vendor recommends relaxed LRU for logs, and calls the gain slight."
RELAX = "Set relaxed LRU in place of strict, in force after a restart."
AS_COMMENTS = (
    "Set relaxed LRU only once everything bound to it is known to fit and to be updated infrequently, as the vendor "
    "demands: until then the commands are comments."
)
LOCKLESS = (
    "As enable mem scale is on, a lockless data cache is the alternative: the cache made anew with relaxed LRU "
    "(messages 16765, 17326), its contention then in CASWaits of monDataCache."
)
FITS = "whether everything bound to it fits (sp_helpcache{0})"
RESIDENT = ", monCachedObject with enable monitoring on"
CHANGES = "how many of its rows are changed a second at the busiest hour (two snapshots of monOpenObjectActivity)"
NOT_LISTED = "What is bound was not listed, only what is in memory: look by {} that nothing large is bound beside it."
WASHED = "The wash statistics are not available, which is not zero: look how often its data are updated."


@dataclass(frozen=True)
class Limits(RelaxedLimits):
    """What a cache must be like, and how busy, before the rule speaks."""


@rule(
    needs=(),
    uses=(*CONTENT_FACTS, CachePool, *ENGINE_FACTS, *MONITORED, *TEMPORARY_FACTS, *CACHE_FACTS),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge every cache but the default one."""
    caches = latest_caches(facts)
    if not caches:
        yield no_caches(facts)
    for cache in caches:
        named = named_of(facts, cache.name)
        fit, changes = fit_of(facts, cache.name), changes_of(facts, cache.name)
        quiet = unsuited(facts, limits, cache, named, fit, changes)
        if quiet:
            yield quiet
        elif named is None or named.relaxed is None:
            show = show_cache(cache.name)
            yield Unknown.without(f"replacement strategy of {cache.name}", show, f"{cache.name}: strategy not known")
        else:
            yield _finding(facts, limits, cache, named, fit, changes)
            missing = () if kind_of(named) == "log" else tuple(_deciding(facts, limits, cache, named, fit, changes))
            if missing:
                yield Unknown(missing)


def _fitting(fit: Fit) -> str:
    many = "1 object" if fit.objects == 1 else f"{fit.objects} objects together"
    if fit.by_pages:
        return f"all that monCachedObject has of it is whole in memory ({many} of {fit.bound_mb:,.0f} MB)"
    return f"all that is bound to it fits ({many} of {fit.bound_mb:,.0f} MB)"


def _changing(limits: Limits, percent: float | None, rate: float | None) -> str:
    return (
        f"for 100 pages that are read {percent:g} rows are changed (limit {limits.changed_percent:g}), {rate:g} a "
        f"second (limit {limits.changed_per_second:g})"
    )


def _hardly(changes: Changes) -> str:
    rows = "1 row was" if changes.rows == 1 else f"{changes.rows:,.0f} rows were"
    when = "between the snapshots" if changes.of_interval else "since boot"
    return f"{rows} changed {when}, which would be few had all of them fallen into this sample"


def _finding(
    facts: Facts, limits: Limits, cache: CacheActivity, named: NamedCache, fit: Fit | None, changes: Changes | None
) -> Finding:
    name, seconds, hit = cache.name, seconds_of(facts), cache.hit_percent or 0.0
    log, lock = kind_of(named) == "log", cache_figure(facts, name, name)
    assert isinstance(lock, Figure)  # noqa: S101 - _idle() has turned everything else away
    spun = lock.contention if known(lock.contention) else None
    changed = round(changes.percent, 2) if changes else None
    rate = round(changes.per_second, 1) if changes and changes.per_second is not None else None
    counted = changes.source if changes else named.source
    figures: tuple[tuple[str, Reading | None, str, float | None, Source], ...] = (
        ("cache hits", round(hit, 1), "%", limits.hit_percent, cache.source),
        (
            "buffers grabbed",
            per_second(cache.grabbed_per_second, cache.grabbed, seconds),
            "/s",
            None if log else limits.grabs_per_second,
            cache.source,
        ),
        (
            "cache searches",
            per_second(cache.searches_per_second, cache.searches, seconds),
            "/s",
            limits.searches_per_second,
            cache.source,
        ),
        ("cache spinlock contention", spun, "%", limits.contention_percent, lock.source),
        ("run size", named.run_size_mb, "MB", None, named.source),
        ("bound objects", round(fit.bound_mb, 1) if fit else None, "MB", None, fit.source if fit else named.source),
        ("rows changed per 100 pages read", changed, "", limits.changed_percent, counted),
        ("rows changed", rate, "/s", limits.changed_per_second, counted),
    )
    fitting, rare = fit if fits(named, fit) else None, seldom(limits, cache, changes)
    decided = bool(fitting) and rare
    look = (NOT_LISTED.format(of_cache("sp_helpcache {}", name, "sp_helpcache")),) if fit and fit.by_pages else ()
    change = set_replacement(name, STRICT, RELAXED, cautions=look) if log or decided else relaxed_if_it_fits(name)
    within = f" in {seconds:.0f} s" if seconds else ""
    what = "the cache holds logs alone" if log else "next to nothing was replaced (Buffers Grabbed)"
    known_of_it = [_fitting(fitting)] if fitting else []
    if changes and rare:
        timed = changes.of_interval and rate is not None
        known_of_it += [_changing(limits, changed, rate) if timed else _hardly(changes)]
    told = "; ".join(known_of_it) if not log else ""
    asks = offers(facts, "monCachedObject") and not _resident(facts, name)
    open_of_it = [
        *([] if fitting else [FITS.format(RESIDENT if asks else "")]),
        *([] if rare else [CHANGES]),
    ]
    lacks = f"Not in these exports: {', and '.join(open_of_it)}." if open_of_it and not log else ""
    washed = lacks and cache.washed_dirty is NOT_MEASURED
    instead = not log and lockless_instead(facts, named)
    # partitions take more off a spinlock than the slight gain of relaxed LRU does, up to one for each engine
    cut = proposed(facts, name, spun or 0.0, CACHE_PERCENT) and not cut_for_engines(facts, name)
    return Finding(
        subject=name,
        severity=Severity.ADVICE,
        title=f"{name}: {hit:.1f} % hits, and a strict LRU order that nobody needs",
        seen=f"{hit:.3g} % of the searches found their page{within}, and {what}{f'; {told}' if told else ''}.",
        because=LOGS if log else RELINKS,
        do=joined(RELAX if log or decided else AS_COMMENTS, LOCKLESS if instead else ""),
        unknown=joined(lacks, WASHED if washed else ""),
        evidence=tuple(Evidence(what, v, unit, source, most) for what, v, unit, most, source in figures if known(v)),
        changes=(change,),
        expects=(Expectation(f"spinlock contention of {name}", spun, "slightly lower", "published"),),
        explains=(f"ase/data_cache_spinlock_contended:{name}",) if (log or decided) and not cut else (),
    )


def _deciding(
    facts: Facts, limits: Limits, cache: CacheActivity, named: NamedCache, fit: Fit | None, changes: Changes | None
) -> Iterator[MissingInput]:
    """The commands that decide it, of what is not there yet."""
    if not fits(named, fit):
        bound = bound_to(facts, cache.name)
        if not bound:
            helpcache = of_cache("sp_helpcache {}", cache.name, "sp_helpcache")
            yield MissingInput(f"what is bound to {cache.name}", helpcache)
        if not _resident(facts, cache.name):
            resident = "select DBName, ObjectName, IndexID, CachedKB, TotalSizeKB from master..monCachedObject"
            asked = query_cache(resident, cache.name, "enable monitoring")
            yield MissingInput(f"what of it is in memory ({cache.name})", asked)
        elif any(one.table for one in bound):
            yield MissingInput(f"sizes of what is bound to {cache.name}", IndexSize.COLLECTED_BY)
    if not seldom(limits, cache, changes):
        yield MissingInput(f"rows changed a second in {cache.name}", MonOpenObjectActivity.COLLECTED_BY)


def _resident(facts: Facts, name: str) -> bool:
    """Whether an export says what of the cache is in memory."""
    return any(one.cache == name for one in facts.every(MonCachedObject))
