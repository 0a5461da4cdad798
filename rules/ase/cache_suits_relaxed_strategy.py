"""A contended cache that replaces nothing keeps a strict LRU order.

Finds: a named cache with strict LRU in force and a contended spinlock, hits at 95 % or more, no buffers grabbed and few
updates: of what is bound at most one row changed for a hundred pages read, and a thousand rows a second, and no growth
that uses up what the cache has left within a year, counted with the shortest row there is. A log-only
cache need only have the contention and the hits. Never the default data cache, and never a cache of temporary
databases.

Why it matters: with strict LRU every page that is used is moved to the other end of its chain under the cache's
spinlock. Where nothing is ever replaced nobody needs that order. With relaxed LRU the moves fall away.

What to do: look first whether everything bound to the cache fits into it (`sp_helpcache` names it, a listing of sizes
or monCachedObject says how large it is) and how many of its rows are changed at the busiest hour (two snapshots of
monOpenObjectActivity); until all of that is known the script is a comment. Then `sp_cacheconfig "c", relaxed` and a
restart. The vendor calls the gain slight; Jeff Tallman ("ASE 16 & Managing VLDB's
with VLH", 2014) saw a run fall from 1.5 minutes to 1 when hot tables moved to a separate cache with relaxed LRU, and 10
to 15 % contention remain.

Where `enable mem scale` is on (16.0 SP02 and later) a lockless data cache is the alternative, and is named in words.

When to ignore it: where the cache serves other work at other hours (a load, a report that scans), where it is soon to
hold more, or where the data are often updated. Relaxed LRU with replacement throws away pages that are in use.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import NOT_MEASURED, Facts, Reading, Source, known, number_or
from collectors.facts.ase import CacheActivity, CachePool, MonOpenObjectActivity, NamedCache
from rules.ase._evidence.caches.bindings import bound_to, listed
from rules.ase._evidence.caches.contents import CONTENT_FACTS
from rules.ase._evidence.caches.figures import (
    doubt,
    is_default,
    kind_of,
    latest_caches,
    named_of,
    no_caches,
    per_second,
    seconds_of,
    set_apart,
    turnover_percent,
)
from rules.ase._evidence.caches.fit import (
    CHANGED_PER_SECOND,
    CHANGED_PERCENT,
    ROOM_DAYS,
    Changes,
    Fit,
    changes_of,
    fit_of,
    pages_written,
    room_days,
    said_days,
)
from rules.ase._evidence.caches.lockless import lockless_instead
from rules.ase._evidence.caches.monitored import MONITORED
from rules.ase._evidence.caches.temporary import TEMPORARY_FACTS, serves_tempdb
from rules.ase._evidence.server import ENGINE_FACTS, busy_of, offers
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import BUSY_ORIGIN, BUSY_PERCENT, CACHE_SEARCHES
from rules.ase._evidence.spinlocks.ratio import refused
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
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    joined,
)
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
WASHED = "The wash statistics are not available, which is not zero: look how often its data are updated."
TEMPORARY = "temporary tables come and go in it and are changed all the time"


@dataclass(frozen=True)
class Limits:
    """What a cache must be like, and how busy, before the rule speaks."""

    hit_percent: float = percent(95.0, "vendor: hit rate above 95 % (Performance and Tuning: Basics)")
    grabs_per_second: float = limit(
        0.0, "vendor: little or no replacement; this project: what sp_sysmon prints as 0.0", unit="/s"
    )
    turnover_percent: float = limit(5.0, "this project: a few per cent of the cache in an hour", unit="%/h")
    dirty_percent: float = limit(5.0, "vendor: rarely updated; sp_sysmon's own test is 5 % washed dirty", high=100)
    contention_percent: float = percent(5.0, "practice: SolarWinds DPA warns from 5 %")
    searches_per_second: float = limit(
        CACHE_SEARCHES, "this project: below this the per cent is of almost nothing", unit="searches/s"
    )
    busy_percent: float = percent(BUSY_PERCENT, BUSY_ORIGIN)
    changed_percent: float = percent(
        CHANGED_PERCENT, "this project: rarely updated (vendor), at most one row changed for a hundred pages read"
    )
    changed_per_second: float = limit(
        CHANGED_PER_SECOND,
        "this project: rarely updated (vendor); the tables moved in the VLH slides are written by each transaction",
        unit="/s",
    )
    room_days: float = limit(
        ROOM_DAYS, "this project: what it has left lasts a year at the shortest row there is (10 bytes)", unit="days"
    )
    sample_seconds: float = limit(60.0, "this project: a shorter sample says nothing of an hour", unit="s")


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
        quiet = (
            _unfit(facts, cache, named)
            or _unsuited(facts, limits, cache, named)
            or _too_much(limits, cache.name, named, fit)
            or _updated(facts, limits, cache.name, named, changes)
            or _growing(limits, cache.name, named, fit, changes)
            or _idle(facts, limits, cache)
        )
        if quiet:
            yield quiet
        elif named is None or named.relaxed is None:
            show = show_cache(cache.name)
            yield Unknown.without(f"replacement strategy of {cache.name}", show, f"{cache.name}: strategy not known")
        else:
            yield _finding(facts, limits, cache, named, fit, changes)
            if kind_of(named) != "log" and not (_fits(named, fit) and _seldom(changes)):
                yield Unknown(tuple(_deciding(cache, named, fit, changes)))


def _unfit(facts: Facts, cache: CacheActivity, named: NamedCache | None) -> Outcome | None:
    """What no figure could change."""
    if named and named.relaxed:
        return Clean(f"{cache.name}: relaxed LRU is in force (judged by ase/relaxed_strategy_unsafe)")
    if named and "relaxed" in (named.config_replacement or "").lower():
        waits = "relaxed LRU is configured and waits for a restart"
        return Clean(f"{cache.name}: {waits} (judged by ase/relaxed_strategy_unsafe)")
    if is_default(cache, named):
        return Clean(f"{cache.name}: everything unbound and recovery live there, so it stays strict whatever it shows")
    apart = set_apart(named) if named else None
    if apart:
        return Clean(f"{cache.name} is {apart}")
    if serves_tempdb(facts, cache.name, named):
        return Clean(f"{cache.name}: {TEMPORARY}, so relaxed LRU is not proposed for it")
    if listed(facts, cache.name) and not bound_to(facts, cache.name):
        return Clean(
            f"{cache.name}: sp_helpcache lists nothing as bound to it, so whether all would fit cannot be said"
        )
    return None


def _unsuited(facts: Facts, limits: Limits, cache: CacheActivity, named: NamedCache | None) -> Outcome | None:
    """Hits, replacement and updates: the reason why relaxed LRU is not for this cache, or `None`."""
    name, hit, seconds = cache.name, cache.hit_percent, seconds_of(facts)
    why = doubt(cache)
    if why:
        return Untrusted(why)
    if cache.searches == 0:
        return Clean(f"{name}: no searches in the sample")
    if hit is None:
        return Unknown.of(CacheActivity)
    if hit < limits.hit_percent:
        return Clean(f"{name}: {hit:.1f} % hits, relaxed LRU needs {limits.hit_percent:g} %")
    if kind_of(named) == "log":
        return None
    grabs = per_second(cache.grabbed_per_second, cache.grabbed, seconds)
    if grabs is None:
        return Unknown.without(f"Total Cache Turnover of {name}", CacheActivity.COLLECTED_BY)
    if grabs > limits.grabs_per_second:
        return Clean(f"{name}: {grabs:g} buffers grabbed per second, relaxed LRU needs {limits.grabs_per_second:g}")
    turnover = turnover_percent(facts, cache, named)
    if turnover and turnover[1] > limits.turnover_percent:
        return Clean(f"{name}: up to {turnover[1]:.0f} % replaced in an hour, limit {limits.turnover_percent:g} %")
    washed = number_or(cache.washed_dirty, 0.0)
    passed = washed + number_or(cache.passed_clean, 0.0)
    if number_or(cache.grabbed_dirty, 0.0) > 0 or (washed and 100.0 * washed / passed > limits.dirty_percent):
        return Clean(f"{name}: {washed:.0f} of {passed:.0f} buffers were washed dirty: it is updated too often")
    if seconds is not None and seconds < limits.sample_seconds:
        return Unknown.without("a longer sample", CacheActivity.COLLECTED_BY, f"{name}: {seconds:.0f} s are too short")
    if turnover is None:
        return Unknown.without(f"size and pools of {name}", show_cache(name))
    return None


def _idle(facts: Facts, limits: Limits, cache: CacheActivity) -> Outcome | None:
    """Why there is nothing to gain, or `None`."""
    name = cache.name
    engines, busy = busy_of(facts)
    searches = per_second(cache.searches_per_second, cache.searches, seconds_of(facts))
    if engines == 1:
        return Clean(f"{name} would suit relaxed LRU, but one engine has nobody to wait for")
    if busy is not None and busy < limits.busy_percent:
        return Clean(f"{name} would suit relaxed LRU, but the engines are {busy:.1f} % busy: nothing to gain")
    if searches is not None and searches < limits.searches_per_second:
        return Clean(f"{name} would suit relaxed LRU, but it has only {searches:g} searches per second")
    figure = cache_figure(facts, name, name)
    if not isinstance(figure, Figure):
        return figure
    return refused(facts, name, figure.contention, limits.contention_percent, busy_percent=0.0, figure=figure)


def _too_much(limits: Limits, name: str, named: NamedCache | None, fit: Fit | None) -> Clean | None:
    """What is bound does not fit; `None` where that is not known to be so."""
    if named is None or kind_of(named) == "log":
        return None
    size = named.run_size_mb
    if fit and known(size) and fit.bound_mb > size:
        return Clean(f"{name}: {fit.bound_mb:,.0f} MB are bound to {size:,.0f} MB, relaxed LRU needs all of it to fit")
    return None


def _updated(
    facts: Facts, limits: Limits, name: str, named: NamedCache | None, changes: Changes | None
) -> Clean | None:
    """What is bound is changed too often, by its rows or by the pages written; `None` where neither is known."""
    if kind_of(named) == "log":
        return None
    written = pages_written(facts, name)
    if changes and changes.percent > limits.changed_percent:
        said, most = f"{round(changes.percent, 1):g} rows are changed for 100 pages read", limits.changed_percent
    elif changes and changes.per_second is not None and changes.per_second > limits.changed_per_second:
        said, most = f"{changes.per_second:,.0f} rows are changed a second", limits.changed_per_second
    elif written and written[0] > limits.changed_per_second:
        said = f"{written[0]:,.0f} pages are written a second, each changed at least once"
        most = limits.changed_per_second
    else:
        return None
    return Clean(f"{name}: {said} (limit {most:g}): it is updated too often for relaxed LRU")


def _growing(
    limits: Limits, name: str, named: NamedCache | None, fit: Fit | None, changes: Changes | None
) -> Clean | None:
    """What is bound outgrows it; `None` where that is not known to be so."""
    if named is None or kind_of(named) == "log" or fit is None or changes is None or not known(named.run_size_mb):
        return None
    days = room_days(named.run_size_mb - fit.bound_mb, changes.added_per_second)
    if days is None or days >= limits.room_days:
        return None
    return Clean(
        f"{name}: {changes.added_per_second:,.1f} rows a second more are inserted than deleted, so the "
        f"{named.run_size_mb - fit.bound_mb:,.0f} MB it has left are used up in {said_days(days)} at most (limit "
        f"{limits.room_days:g} days): then a relaxed cache throws away pages that are in use"
    )


def _fits(named: NamedCache, fit: Fit | None) -> bool:
    """Whether exports say that all fits."""
    return fit is not None and known(named.run_size_mb)


def _seldom(changes: Changes | None) -> bool:
    """Whether an interval says that it is rarely changed: an average since boot hides the busy hour."""
    return changes is not None and changes.per_second is not None and changes.of_interval


def _fitting(fit: Fit) -> str:
    many = "1 object" if fit.objects == 1 else f"{fit.objects} objects together"
    return f"all that is bound to it fits ({many} of {fit.bound_mb:,.0f} MB)"


def _changing(limits: Limits, percent: float | None, rate: float | None) -> str:
    return (
        f"for 100 pages that are read {percent:g} rows are changed (limit {limits.changed_percent:g}), {rate:g} a "
        f"second (limit {limits.changed_per_second:g})"
    )


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
    fits, seldom = fit if _fits(named, fit) else None, _seldom(changes)
    decided = bool(fits) and seldom
    change = set_replacement(name, STRICT, RELAXED) if log or decided else relaxed_if_it_fits(name)
    within = f" in {seconds:.0f} s" if seconds else ""
    what = "the cache holds logs alone" if log else "next to nothing was replaced (Buffers Grabbed)"
    known_of_it = [*([_fitting(fits)] if fits else []), *([_changing(limits, changed, rate)] if seldom else [])]
    told = "; ".join(known_of_it) if not log else ""
    open_of_it = [
        *([] if fits else [FITS.format(RESIDENT if offers(facts, "monCachedObject") else "")]),
        *([] if seldom else [CHANGES]),
    ]
    lacks = f"Not in these exports: {', and '.join(open_of_it)}." if open_of_it and not log else ""
    washed = lacks and cache.washed_dirty is NOT_MEASURED
    instead = not log and lockless_instead(facts, named)
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
    )


def _deciding(
    cache: CacheActivity, named: NamedCache, fit: Fit | None, changes: Changes | None
) -> Iterator[MissingInput]:
    """The commands that decide it, of what is not there yet."""
    if not _fits(named, fit):
        yield MissingInput(f"what is bound to {cache.name}", of_cache("sp_helpcache {}", cache.name, "sp_helpcache"))
        resident = "select DBName, ObjectName, IndexID, CachedKB, TotalSizeKB from master..monCachedObject"
        yield MissingInput(
            f"what of it is in memory ({cache.name})", query_cache(resident, cache.name, "enable monitoring")
        )
    if not _seldom(changes):
        yield MissingInput(f"rows changed a second in {cache.name}", MonOpenObjectActivity.COLLECTED_BY)
