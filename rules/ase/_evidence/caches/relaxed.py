"""Whether relaxed LRU suits a data cache of SAP ASE: hits, replacement, updates, growth and what there is to gain.

The vendor's conditions: a hit rate above 95 %, little or no replacement, rarely updated (Performance and Tuning:
Basics); the limits that are this project's say so.
"""

from dataclasses import dataclass

from collectors.facts import Facts, known, number_or
from collectors.facts.ase import CacheActivity, NamedCache
from rules.ase._evidence.caches.bindings import bound_to, listed
from rules.ase._evidence.caches.figures import (
    doubt,
    is_default,
    kind_of,
    latest_caches,
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
from rules.ase._evidence.caches.monitored import never_replaced
from rules.ase._evidence.caches.temporary import serves_tempdb
from rules.ase._evidence.server import busy_of
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import BUSY_ORIGIN, BUSY_PERCENT, CACHE_SEARCHES
from rules.ase._evidence.spinlocks.ratio import refused
from rules.ase._evidence.spinlocks.survey import cache_figure
from rules.changes.ase_cache import show_cache
from rules.engine import limit, percent
from rules.finding import Clean, Outcome, Unknown, Untrusted

RELAXED_RULE = "ase/cache_suits_relaxed_strategy"
TEMPORARY = "temporary tables come and go in it and are changed all the time"


@dataclass(frozen=True)
class RelaxedLimits:
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


def suits_relaxed(facts: Facts, name: str, named: NamedCache | None) -> bool | None:
    """Whether relaxed LRU is what a contended cache needs; `None` where nothing collected speaks against it."""
    limits = RelaxedLimits()
    cache = next((one for one in latest_caches(facts) if one.name == name), None)
    fit, changes = fit_of(facts, name), changes_of(facts, name)
    if cache is None or named is None or named.relaxed is None or unsuited(facts, limits, cache, named, fit, changes):
        return False
    return kind_of(named) == "log" or (fits(named, fit) and seldom(limits, cache, changes)) or None


def fits(named: NamedCache, fit: Fit | None) -> bool:
    """Whether exports say that all that is bound fits."""
    return fit is not None and known(named.run_size_mb)


def seldom(limits: RelaxedLimits, cache: CacheActivity, changes: Changes | None) -> bool:
    """Whether exports say that it is rarely changed at the busy hour: in an interval, or whenever it was.

    An average since boot hides the busy hour, unless all changes since boot would be few in this sample alone.
    """
    if changes is None:
        return False
    return (changes.of_interval and changes.per_second is not None) or few_at_worst(limits, cache, changes)


def few_at_worst(limits: RelaxedLimits, cache: CacheActivity, changes: Changes) -> bool:
    """Whether all changes since boot were few, had they fallen into the shortest sample, beside the searches of this.

    What counted fewer reads since boot than this sample has searches did not count it.
    """
    searches = number_or(cache.searches, 0.0)
    return (
        changes.reads >= searches > 0
        and 100.0 * changes.rows <= limits.changed_percent * searches
        and changes.rows <= limits.changed_per_second * limits.sample_seconds
    )


def unsuited(
    facts: Facts,
    limits: RelaxedLimits,
    cache: CacheActivity,
    named: NamedCache | None,
    fit: Fit | None,
    changes: Changes | None,
) -> Outcome | None:
    """Why relaxed LRU is not for this cache, or what is missing to judge it; `None` where nothing speaks against it."""
    return (
        _unfit(facts, cache, named)
        or _unsuited(facts, limits, cache, named)
        or _too_much(limits, cache.name, named, fit)
        or _updated(facts, limits, cache.name, named, changes)
        or _growing(limits, cache.name, named, fit, changes)
        or _idle(facts, limits, cache)
    )


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


def _unsuited(facts: Facts, limits: RelaxedLimits, cache: CacheActivity, named: NamedCache | None) -> Outcome | None:
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
    if never_replaced(facts, name):
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


def _idle(facts: Facts, limits: RelaxedLimits, cache: CacheActivity) -> Outcome | None:
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


def _too_much(limits: RelaxedLimits, name: str, named: NamedCache | None, fit: Fit | None) -> Clean | None:
    """What is bound does not fit; `None` where that is not known to be so."""
    if named is None or kind_of(named) == "log":
        return None
    size = named.run_size_mb
    if fit and known(size) and fit.bound_mb > size:
        return Clean(f"{name}: {fit.bound_mb:,.0f} MB are bound to {size:,.0f} MB, relaxed LRU needs all of it to fit")
    return None


def _updated(
    facts: Facts, limits: RelaxedLimits, name: str, named: NamedCache | None, changes: Changes | None
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
    limits: RelaxedLimits, name: str, named: NamedCache | None, fit: Fit | None, changes: Changes | None
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
