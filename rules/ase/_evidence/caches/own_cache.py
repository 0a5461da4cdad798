"""A part of a contended cache's searches that belongs into a cache of its own: temporary databases, or logs.

What moves takes its searches with it. Contention is taken to go with the searches of each partition, as the vendor
expects x to become x/n with n partitions: so the new cache needs enough of them, or the contention only moves.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import BindingList, CacheBinding, MonCachedObject, NamedCache
from rules.ase._evidence.caches.binding_plan import GROWTH
from rules.ase._evidence.caches.bindings import bound_to, listed
from rules.ase._evidence.caches.carving import MARGIN_PERCENT
from rules.ase._evidence.caches.contents import Contents, Held, partitions_of
from rules.ase._evidence.caches.figures import (
    POOL_KB,
    POOL_PAGES,
    kind_of,
    named_of,
    page_kb,
    pool_kb,
    pools_of,
    set_apart,
    too_small_for,
)
from rules.ase._evidence.caches.hot import CacheLimits, contention_of
from rules.ase._evidence.caches.memory import MEMORY_MISSING, free_memory
from rules.ase._evidence.caches.partitions import enough_partitions, legal_partitions
from rules.ase._evidence.caches.temporary import perhaps_temporary, temporary_databases
from rules.ase._evidence.objects.seen import activity
from rules.ase._evidence.server import ENGINES_MISSING, busy_of
from rules.ase._evidence.spinlocks.figures import Figure
from rules.changes.ase_binding import bind_log, bind_temporary, why_not_database
from rules.changes.ase_cache import create_cache, set_partitions, show_cache
from rules.changes.quoting import comment
from rules.engine import percent
from rules.finding import (
    Change,
    Clean,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    Outcome,
    Severity,
    Unknown,
    joined,
)
from rules.laws.binding import overhead_mb
from rules.laws.hashing import next_power_of_two

SHARE_PERCENT = 10.0
NAMED = 4
"""Databases that the sentence and the evidence name."""
BINDINGS_MISSING = MissingInput("what is bound to which cache", CacheBinding.COLLECTED_BY)
SIZE_MISSING = MissingInput("how much of it is in memory at the busiest hour", MonCachedObject.COLLECTED_BY)


@dataclass(frozen=True)
class OwnCacheLimits(CacheLimits):
    """From which contention on, and from which share of a cache's searches on they may move out of it."""

    share_percent: float = percent(
        SHARE_PERCENT, "this project: a tenth of the searches; with less the cache is hardly relieved", low=1
    )


@dataclass(frozen=True)
class Moving:
    """What is to move out of one contended cache."""

    figure: Figure
    contents: Contents
    held: tuple[Held, ...]
    """Most searched first."""

    @property
    def home(self) -> str:
        """The contended cache."""
        return self.figure.label

    @property
    def reads(self) -> float:
        """Searches that move."""
        return sum(one.reads for one in self.held)

    @property
    def share(self) -> float:
        """Their share of the cache's searches, 0 to 1."""
        return self.contents.inside(self.home, self.reads)

    @property
    def databases(self) -> list[str]:
        """Whose they are, most searched first."""
        return list(dict.fromkeys(one.database for one in self.held))

    def by_database(self) -> dict[str, float]:
        """Share of the cache's searches by database, 0 to 1."""
        return {
            name: self.contents.inside(self.home, sum(one.reads for one in self.held if one.database == name))
            for name in self.databases
        }


@dataclass(frozen=True)
class Target:
    """Where it moves: in words, what has to be done before it is bound, and what is missing for a script."""

    name: str
    says: str
    """A cache, as the end of the sentence that something is to be bound to one: what is expected of it."""
    before: tuple[Change, ...] = ()
    bindable: bool = False
    """Whether the bindings can be scripted."""
    missing: tuple[MissingInput, ...] = ()
    partitions: int = 0
    contention: float = 0.0
    """What is expected in it."""
    first: str = ""
    """What must be done before it is made or used, as a sentence."""
    pointless: bool = False
    """Whether nothing is to be bound: then `says` is the reason, as the end of a sentence."""

    @property
    def needs(self) -> tuple[str, ...]:
        """What a binding to it needs."""
        return tuple(change.key for change in self.before)


@dataclass(frozen=True)
class Apart:
    """What may have a cache of its own: in words, where it goes and how it is bound there."""

    what: str
    short: str
    """The same for a quiet outcome."""
    where: str
    """The end of `where … is not known`."""
    because: str
    """Why it costs something where it is, as a sentence."""
    advice: str
    """What to do, as a sentence without its end."""
    target: Callable[[Facts, Moving, float], Target]
    bind: Callable[..., Change]
    unknown: str = ""
    """What the exports do not show of it, as a sentence."""


def judge(facts: Facts, limits: OwnCacheLimits, moving: Moving, apart: Apart) -> Iterator[Outcome]:
    """Judge whether what makes a part of a contended cache's searches is to move out of it."""
    figure, named, share = moving.figure, named_of(facts, moving.home), 100 * moving.share
    if share < limits.share_percent:
        said = f"{apart.short} make {share:.1f} % of its searches (limit {limits.share_percent:g} %)"
        yield Clean(f"{figure.said}; {said}")
    elif named and (why := set_apart(named)):
        yield Clean(f"{figure.said}; {moving.home} is {why}: no change is proposed")
    elif not told_bindings(facts):
        yield Unknown((BINDINGS_MISSING,), f"{figure.said}; where {apart.where} is not known")
    else:
        target = apart.target(facts, moving, limits.contention_percent)
        yield _finding(facts, limits, moving, apart, target)
        if target.missing:
            yield Unknown(target.missing)


def _finding(facts: Facts, limits: OwnCacheLimits, moving: Moving, apart: Apart, target: Target) -> Finding:
    figure, contention, name = moving.figure, contention_of(moving.figure), moving.home
    shares = moving.by_database()
    told = ", ".join(f"{comment(database)} {100 * share:.0f} %" for database, share in list(shares.items())[:NAMED])
    told += f" and {len(shares) - NAMED} more" if len(shares) > NAMED else ""
    share = f"make {100 * moving.share:.0f} % of"
    lacks = f"Not in these exports, so no script is given: {', '.join(one.fact for one in target.missing)}."
    changes: tuple[Change, ...] = ()
    if target.bindable:
        bound = (apart.bind(target.name, one, old=name, needs=target.needs) for one in moving.databases)
        changes = (*target.before, *bound)
    weak = figure.since_boot or not moving.contents.of_interval or not changes
    return Finding(
        subject=name,
        severity=Severity.ADVICE if weak else Severity.WARNING,
        title=f"{name}: {apart.what} {share} the searches of a contended cache",
        seen=f"{apart.what[0].upper()}{apart.what[1:]} {share} the searches of {name} {moving.contents.when} ({told}), "
        f"and {contention:.3g} % of the grabs of its spinlocks had to wait.",
        because=apart.because,
        do=f"Nothing is to be bound: {target.says}."
        if target.pointless
        else joined(target.first, f"{apart.advice}: {target.says}."),
        unknown=joined("" if target.pointless else apart.unknown, lacks if target.missing else moving.contents.caveat),
        evidence=(
            Evidence("cache spinlock contention", contention, "%", figure.source, limits.contention_percent),
            *_evidence(moving),
        ),
        explains=("ase/data_cache_spinlock_contended", "ase/engines_not_the_answer"),
        changes=changes,
        expects=_expects(moving, target) if changes else (),
        weight=figure.weight,
        share=figure.share,
    )


def told_bindings(facts: Facts) -> bool:
    """Whether the exports say what is bound, were it nothing."""
    return bool(facts.every(BindingList) or facts.every(CacheBinding))


def cached_mb(facts: Facts, held: tuple[Held, ...]) -> float | None:
    """What of these objects' databases and tables is in memory now, by monCachedObject, MB; `None` where not seen."""
    wanted = {(one.database, one.table) for one in held}
    rows = [one for one in facts.every(MonCachedObject) if (one.database, one.object_name) in wanted]
    sizes = [one.cached_kb for one in rows if known(one.cached_kb)]
    return sum(sizes) / 1024 if sizes else None


def to_existing(facts: Facts, moving: Moving, named: NamedCache, contents_mb: float | None, goal: float) -> Target:
    """Into a cache that is there for it: with more partitions first, where the contention would only move."""
    now = partitions_of(facts, named.name)
    size = f", {named.run_size_mb:,.0f} MB" if known(named.run_size_mb) else ""
    says = f"{named.name}{size}, is there for it"
    engines, _ = busy_of(facts)
    if contents_mb is not None and known(named.run_size_mb) and contents_mb > named.run_size_mb:
        first = f"Enlarge {named.name} first (dynamic): {contents_mb:,.0f} MB are in memory now, more than it holds."
        return Target(named.name, says, first=first)
    if now is None:
        return Target(named.name, says, missing=(MissingInput(f"partitions of {named.name}", show_cache(named.name)),))
    if engines is None:
        return Target(named.name, says, missing=(ENGINES_MISSING,))
    expected = _contention(facts, moving, now, named.name)
    if expected < goal:
        says += f" (its {now:.0f} partitions should be about {_said(expected)} contended then)"
        return Target(named.name, says, (), True, (), int(now), expected)
    pools, page = pools_of(facts, named.name), page_kb(facts)
    most = min(legal_partitions(facts), next_power_of_two(engines))
    if not pools or page is None or any(pool_kb(pool) is None for pool in pools):
        lacking = MissingInput(f"pools of {named.name}", show_cache(named.name))
        says += f", but with {now:.0f} partitions the contention would only move"
        return Target(named.name, says, missing=(lacking,))
    while most > now and too_small_for(pools, page, most):
        most //= 2
    if most <= now or expected * now / most >= contention_of(moving.figure):
        says += f", but with its {now:.0f} partitions, and no more than {max(most, now):.0f} possible, the contention "
        return Target(named.name, f"{says}would only move", pointless=True)
    new = enough_partitions(now, expected, goal, most)
    after = expected * now / new
    first = f"Cut {named.name} from {now:.0f} into {new} partitions first (a restart), or the contention only moves: "
    first += f"about {_said(expected)} with {now:.0f}, {_said(after)} with {new}."
    change = set_partitions(named.name, now, new, largest=legal_partitions(facts))
    return Target(named.name, says, (change,), True, (), new, after, first)


def to_new(
    facts: Facts, moving: Moving, name: str, contents_mb: float | None, goal: float, *, log_only: bool = False
) -> Target:
    """Into a new cache, as large as what is in memory now and a fifth more, from memory that is free."""
    free, page, (engines, _) = free_memory(facts), page_kb(facts), busy_of(facts)
    lacking = [
        *((SIZE_MISSING,) if contents_mb is None else ()),
        *((ENGINES_MISSING,) if engines is None else ()),
        *((MEMORY_MISSING,) if free is None else ()),
        *((MissingInput("the logical page", "select @@maxpagesize"),) if page is None else ()),
        *(
            (MissingInput(f"partitions of {moving.home}", show_cache(moving.home)),)
            if _now(facts, moving) is None
            else ()
        ),
    ]
    if contents_mb is None or engines is None or free is None or page is None or _now(facts, moving) is None:
        room = "" if free is None else f", for which {free.mb:,.0f} MB are free"
        return Target(name, f"{name}, new{room}", missing=tuple(lacking))
    expected = _contention(facts, moving, 1)
    most = min(legal_partitions(facts), next_power_of_two(engines))
    partitions = 1 if expected < goal or most == 1 else enough_partitions(1, expected, goal, most)
    least = max(POOL_KB, POOL_PAGES * page) / 1024
    log_pool = log_only and page == LOG_POOL_PAGE_KB
    smallest = math.ceil(partitions * least)
    size = max(math.ceil(GROWTH * contents_mb), smallest * (2 if log_pool else 1))
    memory = size + overhead_mb(size)
    spend = memory * (1 + MARGIN_PERCENT / 100)
    words = f"{name}, new, {size:,} MB and {memory - size:,.1f} MB overhead, {partitions} "
    words += f"partition{'s' if partitions > 1 else ''}, about "
    words += f"{_said(expected / partitions)} contended then"
    if expected / partitions >= contention_of(moving.figure):
        return Target(
            name, f"{words}, and with no more partitions possible the contention would only move", pointless=True
        )
    if spend > free.mb:
        first = f"First raise max memory if the machine has it, or make the default data cache {spend:,.0f} MB smaller "
        first += f"in a restart: {free.mb:,.0f} MB are free, of which {MARGIN_PERCENT:g} % should stay so."
        return Target(name, words, first=first)
    pools = ((LOG_IO_KB, size - smallest),) if log_pool else ()
    change = create_cache(
        name,
        size,
        log_only=log_only,
        relaxed=log_only,
        partitions=partitions,
        largest=legal_partitions(facts),
        page_kb=page,
        overhead_mb=round(memory - size, 2),
        pools=pools,
        cautions=(f"Holds what is in memory now and {100 * (GROWTH - 1):.0f} % more: watch its hit ratio.",),
    )
    return Target(name, words, (change,), True, (), partitions, expected / partitions)


def for_temporary(facts: Facts, moving: Moving, goal: float) -> Target:
    """A cache that is there for temporary databases with nothing bound to it, else a new one."""
    seen = cached_mb(facts, moving.held)
    for named in facts.every(NamedCache):
        empty = not bound_to(facts, named.name) and named.name != moving.home and not named.is_default
        strict = named.relaxed is False and kind_of(named) == "tempdb"
        if empty and strict and spare(facts, named):
            return to_existing(facts, moving, named, seen, goal)
    return to_new(facts, moving, fresh_name(facts, TEMPORARY_STEM), seen, goal)


def for_logs(facts: Facts, moving: Moving, goal: float) -> Target:
    """A log-only cache that is there, else a new one."""
    seen = _log_mb(facts, moving)
    for named in facts.every(NamedCache):
        if kind_of(named) == "log" and named.name != moving.home and spare(facts, named):
            return to_existing(facts, moving, named, seen, goal)
    return to_new(facts, moving, fresh_name(facts, LOG_STEM), seen, goal, log_only=True)


def _log_mb(facts: Facts, moving: Moving) -> float | None:
    """What of the logs is in memory, and what five minutes write of them: the larger; `None` where neither is known."""
    page, databases = page_kb(facts), set(moving.databases)
    seen = cached_mb(facts, moving.held)
    rows = [row for row in activity(facts) if row.database in databases and (row.object_name or "").lower() == LOG]
    written = [row.pages_written / row.seconds for row in rows if known(row.pages_written) and row.seconds]
    found = [] if seen is None else [seen]
    if page and len(written) == len(rows) and written:
        found.append(sum(written) * 60 * MINUTES * page / 1024)
    return max(found, default=None)


def logs_of(facts: Facts, figure: Figure, contents: Contents) -> Moving:
    """The logs in a cache that are not bound: not those of temporary databases or of the server's own."""
    temporary = perhaps_temporary(facts)
    held = (one for one in contents.held if one.cache == figure.label and one.table.lower() == LOG and not one.bound)
    return Moving(
        figure,
        contents,
        tuple(
            one for one in held if one.reads and one.database not in temporary and not why_not_database(one.database)
        ),
    )


@dataclass(frozen=True)
class Enough:
    """A cache of their own that alone brings a contended cache under its limit."""

    says: str
    """Whose cache it is."""
    rule: str
    keys: tuple[str, ...]
    """Of the bindings to it."""


def enough_alone(facts: Facts, figure: Figure, contents: Contents, goal: float) -> Enough | None:
    """The cache of temporary databases, else that of logs, where it alone brings a contended cache under `goal`.

    Temporary databases come first: binding a log is an outage of its database. `None` where no such binding is
    scripted: by then the searches of other objects are what is left to move.
    """
    named, databases = named_of(facts, figure.label), temporary_databases(facts)
    if (named and set_apart(named)) or not told_bindings(facts):
        return None
    held = (one for one in contents.held if one.cache == figure.label and one.database in databases and one.reads)
    temporary = Moving(figure, contents, tuple(held))
    if _enough(temporary, goal):
        target = for_temporary(facts, temporary, goal)
        if target.bindable and target.contention < goal:
            keys = tuple(bind_temporary(target.name, one).key for one in temporary.databases)
            return Enough("temporary databases", "ase/tempdb_in_shared_cache", keys)
    logs = logs_of(facts, figure, contents)
    if _enough(logs, goal):
        target = for_logs(facts, logs, goal)
        if target.bindable and target.contention < goal:
            return Enough(
                "logs", "ase/log_in_shared_cache", tuple(bind_log(target.name, one).key for one in logs.databases)
            )
    return None


def _enough(moving: Moving, goal: float) -> bool:
    return 100 * moving.share >= SHARE_PERCENT and contention_of(moving.figure) * (1 - moving.share) < goal


LOG_STEM, LOG = "log_cache", "syslogs"
MINUTES = 5.0
"""Log that is read again (vendor: the manual's example takes 125 pages a minute for five minutes)."""
TEMPORARY_STEM = "tempdb_cache"
LOG_IO_KB, LOG_POOL_PAGE_KB = 4.0, 2.0
"""Log I/O is 4K unless sp_logiosize says otherwise (vendor); with larger logical pages its size is to be looked up."""


def fresh_name(facts: Facts, stem: str) -> str:
    """A name that no cache has."""
    used = {one.name.lower() for one in facts.every(NamedCache)}
    names = (stem, *(f"{stem}_{number}" for number in range(1, len(used) + 2)))
    return next(name for name in names if name not in used)


def spare(facts: Facts, named: NamedCache) -> bool:
    """Whether a cache can take something now: it runs, nothing of it waits for a restart, its bindings are known."""
    active = (named.status or "active").strip().lower() == "active"
    return active and not named.pending and named.instance is None and listed(facts, named.name)


def _expects(moving: Moving, target: Target) -> tuple[Expectation, ...]:
    """What becomes of the two caches."""
    before = contention_of(moving.figure)
    return (
        Expectation(
            f"share of its searches in {moving.home}, %", 100.0, round(100 * (1 - moving.share), 1), "arithmetic"
        ),
        Expectation(
            f"spinlock contention of {moving.home}", before, round(before * (1 - moving.share), 1), "heuristic"
        ),
        Expectation(f"spinlock contention of {target.name}", None, round(target.contention, 1), "heuristic"),
    )


def _evidence(moving: Moving) -> list[Evidence]:
    """The share of each database, with the line of its most searched object."""
    shares = list(moving.by_database().items())[:NAMED]
    first = {one.database: one.source for one in reversed(moving.held)}
    return [
        Evidence(f"searches of {moving.home} by {name}", round(100 * share, 1), "%", first[name])
        for name, share in shares
    ]


def _said(percent: float) -> str:
    """A contention that is expected: no more than all grabs can wait."""
    return f"{min(100.0, percent):.1f} %"


def _now(facts: Facts, moving: Moving) -> float | None:
    return partitions_of(facts, moving.home)


def _contention(facts: Facts, moving: Moving, partitions: float, target: str | None = None) -> float:
    """What is expected of so many partitions with the searches that move, and with those there are already."""
    now = _now(facts, moving) or 1.0
    load = moving.reads + (moving.contents.searches.get(target, 0.0) if target else 0.0)
    whole = moving.contents.searches[moving.home]
    return contention_of(moving.figure) * (load / partitions) / (whole / now)
