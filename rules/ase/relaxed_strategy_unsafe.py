"""A cache with relaxed LRU, or advised to have it, replaces buffers.

Finds: relaxed LRU in force (or waiting for the restart) in a cache with hits below 95 % or with turnover; relaxed LRU
for the default data cache, and for a cache of temporary databases, whatever they show; and sp_sysmon's own advice to
use relaxed LRU where it must not be followed: for the default data cache, and for any cache from which buffers are
grabbed.

Why it matters: relaxed LRU keeps no order of use, so where buffers must be replaced it throws out pages that are in
use and reads them again. sp_sysmon gives its advice from whole per cents of hits and from the share of buffers washed
dirty, and that share counts as 0 whenever no wash statistics are there: a report with 20,017 buffers grabbed per second
from the default data cache carried it.

What to do: back to strict with `sp_cacheconfig "c", strict` and a restart; a lockless cache, which cannot be strict,
larger than all it has pages of by monCachedObject, or its largest table out of it; or leave sp_sysmon's advice alone.
The default data cache stays strict: everything unbound and recovery live there.

When to ignore it: in the first minutes after a restart, while a cache fills. A log-only cache takes a new buffer for
each log page, and the vendor calls most log caches good candidates, so its turnover alone says nothing. Sites do run
caches for tempdb relaxed: while nothing is replaced in one that is a note, and nothing is changed.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from collectors.facts import Facts, Source, known
from collectors.facts.ase import (
    CacheActivity,
    CachePool,
    MonCachedObject,
    NamedCache,
    Server,
    SysmonAdvice,
    SysmonSample,
)
from rules.ase._evidence.caches.figures import (
    HIT_PERCENT,
    doubt,
    gives_up_pages,
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
from rules.ase._evidence.caches.fit import GROWTH, latest_parts
from rules.ase._evidence.caches.growth import larger
from rules.ase._evidence.caches.memory import MEMORY_FACTS, OVERHEAD_FACTS, FreeMemory, free_memory, overhead_of
from rules.ase._evidence.caches.monitored import MONITORED
from rules.ase._evidence.caches.temporary import TEMPORARY_FACTS, serves_tempdb
from rules.changes.ase_cache import RELAXED, STRICT, of_cache, quoted_cache, set_replacement, show_cache
from rules.changes.ase_cache_back import take_back_replacement
from rules.changes.quoting import comment
from rules.compare.words import number
from rules.engine import limit, percent, rule
from rules.finding import Change, Clean, Evidence, Expectation, Finding, Outcome, Severity, Unknown, Untrusted

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.dc20020_1251/html/databases/databases373.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158541254.html",
    "https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",
)
ORDER = "Relaxed LRU keeps no order of use, so with replacement it gives up pages that are in use."
BACK = "Go back to strict LRU, at the next restart"
TAKE_BACK = "Take relaxed LRU back before the restart that it waits for"
WORTH_GROWING = 1.25
"""This project: by less of its size a larger cache is not named."""
LARGE = "see whether the cache is large enough for what is bound to it"
LOCKLESS = "It is lockless, which must be relaxed:"
GROW = (
    'make it hold all it has pages of with a fifth to grow, `sp_cacheconfig {0}, "{1:.0f}M"` (dynamic, undone by a '
    "restart), if {2:,.0f} MB are free ({3})."
)
TOO_MUCH = "all it has pages of with a fifth to grow takes {0:,.0f} MB, {1:,.0f} more, and {2:,.0f} are free."
UNBIND = "Else bind {0} to a cache with strict LRU."
JUDGED = (
    "sp_sysmon judges by whole per cents of hits and by the share washed dirty, which counts as 0 where no wash "
    "statistics are there; it does not look at replacement."
)
ADVISED = re.compile(r"consider\s+using\s+.{0,3}relaxed\s+lru", re.IGNORECASE)
AREA = re.compile(r"data\s+cache\s*:\s*(?P<name>.+?)\s*$", re.IGNORECASE)


@dataclass(frozen=True)
class Limits:
    """When relaxed LRU is wrong."""

    hit_percent: float = percent(HIT_PERCENT, "vendor: hit rate above 95 % (Performance and Tuning: Basics)")
    turnover_percent: float = limit(
        20.0,
        "vendor: little or no replacement; this project: a fifth of the cache in an hour is not little",
        unit="%/h",
    )
    replaced_percent: float = limit(100.0, "this project: the whole cache in an hour is a warning", unit="%/h")
    grabs_per_second: float = limit(
        0.0, "vendor: little or no replacement; this project: what sp_sysmon prints as 0.0", unit="/s"
    )
    searches_per_second: float = limit(
        100.0, "this project: below this the hit rate is of almost nothing", unit="searches/s"
    )


@dataclass(frozen=True)
class Holds:
    """What a cache has pages of, which is more than it can hold. Megabytes."""

    total: float
    largest: str
    """The table with the most, as `database..table`."""
    size: float
    free: FreeMemory | None
    overhead: float
    """What the larger cache takes beside its size more than this one does."""
    quoted: str
    """The name of the cache as in a command."""
    source: Source

    @property
    def new(self) -> float:
        """All of it with a fifth to grow."""
        return ceil(self.total * GROWTH / 10) * 10.0

    def outgrown(self, finding: Finding) -> Finding:
        """The finding with the size that holds everything, by hand: what else is to have the memory is in no export."""
        needs = self.new - self.size + self.overhead
        free = f"{self.free.mb:,.0f} MB are free" if self.free else 'sp_configure "memory" shows it'
        do = GROW.format(self.quoted, self.new, needs, free)
        if self.free and self.free.mb < needs:
            do = TOO_MUCH.format(self.new, needs, self.free.mb)
        evidence = Evidence(f"what {finding.subject} has pages of", round(self.total), "MB", self.source, self.size)
        return replace(
            finding,
            title=f"{finding.title}, and {self.total:,.0f} MB to hold in {self.size:,.0f}",
            do=f"{LOCKLESS} {do} {UNBIND.format(self.largest)}",
            evidence=(*finding.evidence, evidence),
        )


@dataclass(frozen=True)
class Seen:
    """One cache with what the judgement needs."""

    cache: CacheActivity
    named: NamedCache | None
    grabs: float | None
    searches: float | None
    turnover: tuple[float, float] | None
    advised: Source | None
    """Where sp_sysmon advises relaxed LRU."""
    tempdb: bool
    """Whether it is a cache of temporary databases."""
    larger: str = ""
    """The command that makes it larger from what is free, as the end of a clause; empty where that is not much."""

    holds: Holds | None = None
    """What it has pages of, where that is more than its size; `None` where it is not, or not known."""

    @property
    def config(self) -> str:
        """The strategy configured, else in force, in small letters; empty where neither is printed."""
        return ((self.named and (self.named.config_replacement or self.named.run_replacement)) or "").lower()

    @property
    def figures(self) -> str:
        """What was seen, as a sentence."""
        hit = self.cache.hit_percent
        if hit is None and self.cache.searches != 0:
            return f"{'Config' if self.pending else 'Run'} Replacement is relaxed LRU; how it is searched is not known."
        searched = f"{hit:.3g} % of the searches found their page" if hit is not None else "Nothing was searched"
        return searched + (
            f" and {number(self.grabs)} buffers per second were grabbed." if self.grabs is not None else "."
        )

    @property
    def default(self) -> bool:
        """Whether this is the default data cache."""
        return is_default(self.cache, self.named)

    @property
    def pending(self) -> bool:
        """Whether relaxed LRU waits for the restart."""
        return "relaxed" in self.config and self.named is not None and self.named.relaxed is False


@rule(
    needs=(),
    uses=(
        CacheActivity,
        NamedCache,
        CachePool,
        MonCachedObject,
        Server,
        SysmonAdvice,
        SysmonSample,
        *MONITORED,
        *TEMPORARY_FACTS,
        *MEMORY_FACTS,
        *OVERHEAD_FACTS,
    ),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge every cache."""
    caches = latest_caches(facts)
    if not caches:
        yield no_caches(facts)
        yield from _listed_alone(facts, limits)
    for cache in caches:
        seen = _see(facts, cache)
        relaxed = seen.named.relaxed if seen.named else None
        if relaxed is False and not seen.pending and not seen.advised:
            yield Clean(f"{cache.name}: {_strategy(seen.named)} is in force")
        elif relaxed and "strict" in seen.config:
            yield Clean(f"{cache.name}: strict LRU is configured and waits for a restart")
        elif doubt(cache):
            yield Untrusted(doubt(cache) or "")
        elif relaxed or seen.pending or not seen.advised:
            found = _relaxed(limits, seen)
            if relaxed and isinstance(found, Finding) and found.severity is Severity.WARNING:
                # what it gives up while in use is read again
                explains = ("ase/reads_slow",) if _misses_most(cache, caches) else ()
                if seen.named and gives_up_pages(facts, seen.named):
                    explains = (*explains, f"ase/data_cache_spinlock_contended:{cache.name}")
                found = replace(found, explains=explains)
            quiet = (relaxed or seen.pending) and not isinstance(found, Finding)
            if quiet and seen.default:
                yield _of_default(limits, seen)
            elif quiet and seen.tempdb:
                yield _of_tempdb(limits, seen)
            else:
                yield found
        else:
            yield _advised(limits, seen)


def _listed_alone(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """The default data cache that is relaxed, or is to be, where no export says how it is searched."""
    for name in dict.fromkeys(one.name for one in facts.every(NamedCache) if one.is_default):
        named = named_of(facts, name)
        if named is None or "strict" in (named.config_replacement or "").lower():
            continue
        seen = _see(facts, CacheActivity(name=name).placed(named.source))
        if named.relaxed or seen.pending:
            yield _of_default(limits, seen)


def _misses_most(cache: CacheActivity, caches: Sequence[CacheActivity]) -> bool:
    """Whether at least half of all searches that found no page were of this cache (this project)."""
    missed = [(one.searches * (1 - one.hit_percent / 100), one) for one in caches if _counted(one)]  # type: ignore[operator]
    return 2 * sum(count for count, one in missed if one is cache) >= sum(count for count, _ in missed) > 0


def _counted(cache: CacheActivity) -> bool:
    return known(cache.searches) and cache.hit_percent is not None


def _strategy(named: NamedCache | None) -> str:
    """The strategy in force, of a cache that is not relaxed: a row cache of in-memory row storage prints `none`."""
    said = (named.run_replacement or "") if named else ""
    return STRICT if "strict" in said.lower() else comment(said)


def _see(facts: Facts, cache: CacheActivity) -> Seen:
    named, seconds = named_of(facts, cache.name), seconds_of(facts)
    return Seen(
        cache,
        named,
        per_second(cache.grabbed_per_second, cache.grabbed, seconds),
        per_second(cache.searches_per_second, cache.searches, seconds),
        turnover_percent(facts, cache, named),
        _advice_at(facts, cache),
        serves_tempdb(facts, cache.name, named),
        _larger(facts, named),
        _holds(facts, named),
    )


def _holds(facts: Facts, named: NamedCache | None) -> Holds | None:
    parts = latest_parts(
        one for one in facts.every(MonCachedObject) if named and one.cache == named.name and known(one.total_kb)
    )
    if named is None or not parts or not known(named.run_size_mb) or not (quoted := quoted_cache(named.name)):
        return None
    of_table: dict[str, float] = {}
    for one in parts:
        name = f"{one.database or ''}..{one.object_name or ''}"
        of_table[name] = of_table.get(name, 0.0) + (one.total_kb / 1024 if known(one.total_kb) else 0.0)
    total, size = sum(of_table.values()), named.run_size_mb
    if total <= size:
        return None
    beside = overhead_of(facts).more(size, total * GROWTH)
    largest = comment(max(of_table, key=lambda one: of_table[one]), 60)
    return Holds(total, largest, size, free_memory(facts), beside, quoted, parts[0].source)


def _larger(facts: Facts, named: NamedCache | None) -> str:
    free = free_memory(facts)
    if named is None or not known(named.run_size_mb) or free is None:
        return ""
    grown = larger(facts, named, named.run_size_mb, free, least=WORTH_GROWING)
    if grown is None:
        return ""
    size = str(grown.change.new).replace(",", "").replace(" MB", "M")
    command = of_cache(f'sp_cacheconfig {{}}, "{size}"', named.name, "sp_cacheconfig")
    return f"; if not, {command} (dynamic; {free.mb:,.0f} MB are free)"


def _advice_at(facts: Facts, cache: CacheActivity) -> Source | None:
    if any(ADVISED.search(text) for text in cache.advice):
        return cache.source
    for advice in facts.every(SysmonAdvice):
        area = AREA.search(advice.area)
        if ADVISED.search(advice.text) and (area["name"] if area else advice.area) == cache.name:
            return advice.source
    return None


def _relaxed(limits: Limits, seen: Seen) -> Outcome:
    """Judge a cache that is relaxed, or waits to be, or whose strategy nobody collected."""
    name, hit, grabs, log = seen.cache.name, seen.cache.hit_percent, seen.grabs, kind_of(seen.named) == "log"
    if seen.cache.searches == 0 or (seen.searches is not None and seen.searches < limits.searches_per_second):
        return Clean(f"{name}: too few searches to judge by ({seen.searches or 0:g} per second)")
    least = seen.turnover[0] if seen.turnover else None
    low = hit is not None and hit < limits.hit_percent
    turned = least is not None and least >= limits.turnover_percent and not log
    strategy_known = seen.named is not None and seen.named.relaxed is not None
    replaces = grabs is not None and grabs > limits.grabs_per_second
    if hit is None or (grabs is None and not low):
        return Unknown.of(CacheActivity)
    apart = set_apart(seen.named) if seen.named else None
    if seen.named and apart and seen.named.instance is None:
        return Clean(f"{name} is {apart}")
    if not strategy_known and (low or replaces):
        return Unknown.without(f"replacement strategy of {name}", show_cache(name), f"{name}: strategy not known")
    if not low and not turned:
        if least is None and replaces and not log:
            return Unknown.without(f"size and pools of {name}", show_cache(name))
        rate = f"{least:.1f} % replaced in an hour" if least is not None else f"{grabs:g} buffers grabbed per second"
        return Clean(f"{name}: {hit:.1f} % hits and {rate}" + (", a cache of logs" if log else ""))
    finding = _finding(
        limits,
        seen,
        f"{name}: relaxed LRU {'is to come ' if seen.pending else ''}with "
        + (f"{hit:.1f} % hits" if low else f"{least:.0f} % of it replaced in an hour"),
        ORDER,
        f"{TAKE_BACK if seen.pending else BACK}, and {LARGE}{seen.larger}.",
    )
    if log:
        why = "The vendor calls most log caches good candidates for relaxed LRU, so the strategy is not changed first."
        do = "Look who reads old log pages: a replication agent behind, long rollbacks, triggers."
        return replace(finding.keeping((), do), because=why, severity=Severity.ADVICE)
    if apart or kind_of(seen.named) == "lockless":
        kept = finding.keeping((), _no_change(apart or "a lockless cache, which must be relaxed"))
        holds = None if apart or seen.tempdb else seen.holds
        return holds.outgrown(kept) if holds else kept
    tempdb = seen.tempdb
    warned = low or seen.pending or seen.default or (least or 0.0) >= limits.replaced_percent
    finding = finding.adding(do="Sites do run tempdb caches relaxed: measure it both ways." if tempdb else "")
    return replace(finding, severity=Severity.WARNING if warned and not tempdb else Severity.ADVICE)


def _of_default(limits: Limits, seen: Seen) -> Outcome:
    """Say that the default data cache goes back to strict, though its figures of today would let it pass."""
    where = "is to come" if seen.pending else "is in force"
    why = "Everything unbound and recovery live in the default data cache, so it is not to be relaxed."
    title = f"{seen.cache.name}: relaxed LRU {where} for the default data cache"
    finding = _finding(limits, seen, title, why, f"{TAKE_BACK if seen.pending else BACK}.")
    if seen.named and (apart := set_apart(seen.named)):
        finding = finding.keeping((), _no_change(apart))
    return replace(finding, severity=Severity.ADVICE)


def _of_tempdb(limits: Limits, seen: Seen) -> Outcome:
    """Say that a cache of temporary databases is relaxed, though nothing is replaced in it now: nothing to change."""
    where = "is to come" if seen.pending else "is in force"
    strict = "go back to strict" if kind_of(seen.named) != "lockless" else "move them to a cache with strict LRU"
    why = f"{ORDER} Temporary tables come and go, so this cache replaces pages as soon as its databases outgrow it."
    do = "Nothing is lost by it now, and no change is proposed: watch Buffers Grabbed, and "
    title = f"{seen.cache.name}: relaxed LRU {where} for temporary databases"
    finding = replace(_finding(limits, seen, title, why, ""), severity=Severity.NOTE)
    return finding.keeping((), f"{do}{strict} when it rises.")


def _no_change(why: str) -> str:
    """Why nothing is changed, as a sentence."""
    return f"No change is proposed: it is {why}."


def _advised(limits: Limits, seen: Seen) -> Outcome:
    """Judge sp_sysmon's advice to use relaxed LRU for this cache."""
    cache, name, grabs = seen.cache, seen.cache.name, seen.grabs
    default = seen.default
    if not default and not seen.tempdb and kind_of(seen.named) == "log":
        return Clean(f"{name}: a cache of logs, for which sp_sysmon's advice may be followed")
    if grabs is None and not default and cache.searches != 0:
        return Unknown.without(f"Total Cache Turnover of {name}", CacheActivity.COLLECTED_BY)
    if cache.searches == 0:
        why = "it had no searches in the sample, so the advice rests on nothing"
    elif grabs is not None and grabs > limits.grabs_per_second:
        why = f"{grabs:,.1f} buffers per second are grabbed from it"
    elif default:
        why = "everything unbound and recovery live in it"
    elif seen.tempdb:
        why = "temporary tables come and go in it"
    else:
        return Clean(f"{name}: nothing is grabbed from it, so sp_sysmon's advice is judged by the cache's own rule")
    do = "Leave the strategy as it is: relaxed LRU is for named caches from which nothing is replaced."
    title = f"{name}: do not follow sp_sysmon's advice to use relaxed LRU: {why}"
    # nothing is to be done, and the cache is as it should be: no more than a note
    return replace(_finding(limits, seen, title, JUDGED, do), severity=Severity.NOTE)


def _finding(limits: Limits, seen: Seen, title: str, because: str, do: str) -> Finding:
    cache, named, hit = seen.cache, seen.named, seen.cache.hit_percent
    evidence = [Evidence("cache hits", round(hit, 1), "%", cache.source, limits.hit_percent)] if hit is not None else []
    if seen.grabs is not None:
        evidence.append(Evidence("buffers grabbed", seen.grabs, "/s", cache.source, limits.grabs_per_second))
    if seen.turnover and seen.turnover[0] and named:
        share = round(seen.turnover[0], 1)
        evidence.append(
            Evidence("replaced in an hour, at least", share, "% per hour", named.source, limits.turnover_percent)
        )
    if not evidence and named:
        strategy = named.config_replacement if seen.pending else named.run_replacement
        evidence.append(Evidence("replacement", strategy or RELAXED, "", named.source))
    if seen.advised:
        evidence.append(Evidence("sp_sysmon's own advice", "relaxed LRU", "", seen.advised))
    changes: tuple[Change, ...] = ()
    expects: tuple[Expectation, ...] = ()
    if seen.pending:
        changes = (take_back_replacement(cache.name, RELAXED, STRICT),)
    elif named and named.relaxed:
        changes = (set_replacement(cache.name, RELAXED, STRICT),)
        if hit is not None:
            expects = (Expectation(f"hits of {cache.name}", f"{hit:.1f} %", "higher", "heuristic"),)
    return Finding(
        subject=cache.name,
        severity=Severity.WARNING,
        title=title,
        seen=seen.figures,
        because=because,
        do=do,
        evidence=tuple(evidence),
        changes=changes,
        expects=expects,
    )
