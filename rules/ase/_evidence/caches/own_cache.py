"""A part of a contended cache's searches that belongs into a cache of its own: temporary databases, or logs.

What moves takes its searches with it. Contention is taken to go with the searches of each partition, as the vendor
expects x to become x/n with n partitions: so the new cache needs enough of them, or the contention only moves. What
moves is counted in `moving`.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import (
    CacheBinding,
    MonCachedObject,
    NamedCache,
)
from rules.ase._evidence.caches.bindings import bound_to, listed
from rules.ase._evidence.caches.carving import MARGIN_PERCENT, Carving, large_part, shrunk
from rules.ase._evidence.caches.contents import Contents, partitions_of
from rules.ase._evidence.caches.figures import (
    POOL_KB,
    POOL_PAGES,
    kind_of,
    latest_caches,
    named_of,
    pool_kb,
    pools_of,
    set_apart,
    too_small_for,
    unknown_kind,
)
from rules.ase._evidence.caches.fit import GROWTH
from rules.ase._evidence.caches.hot import CacheLimits, contention_of
from rules.ase._evidence.caches.memory import MEMORY_MISSING, Room, free_memory, overhead_of, raise_max_memory
from rules.ase._evidence.caches.moving import (
    LOG,
    SHARE_PERCENT,
    Moving,
    cached_mb,
    enough,
    log_io_kb,
    log_mb,
    logs_of,
    share_after,
    temporaries_of,
    told_bindings,
    told_temporary,
)
from rules.ase._evidence.caches.partitions import enough_partitions, legal_partitions
from rules.ase._evidence.server import ENGINES_MISSING, engines_at_most, page_kb
from rules.ase._evidence.spinlocks.figures import Figure
from rules.changes.ase_binding import bind_log, bind_temporary
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
    capitalized,
    joined,
    within,
)
from rules.laws.hashing import next_power_of_two

NAMED = 4
"""Databases that the sentence and the evidence name."""
BINDINGS_MISSING = MissingInput("what is bound to which cache", CacheBinding.COLLECTED_BY)
SIZE_MISSING = MissingInput("how much of it is in memory at the busiest hour", MonCachedObject.COLLECTED_BY)
MEASURE_FIRST = (
    "First the cache of temporary databases ({}), then measure: less than {:g} % are expected to be left. Only if it "
    "is still over the limit, {}: {}."
)
"""What is done before a log is bound: that is an outage."""

Given = Mapping[tuple[str, bool], tuple[Room, Carving | None]]
"""What memory new caches get, by the contended cache and whether they are for logs."""


@dataclass(frozen=True)
class OwnCacheLimits(CacheLimits):
    """From which contention on, and from which share of a cache's searches on they may move out of it."""

    share_percent: float = percent(
        SHARE_PERCENT, "this project: a tenth of the searches; with less the cache has hardly less to do", low=1
    )


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
    refused: str = ""
    """Why it gets no memory, as a sentence."""
    create: str = ""
    """Key of the change that makes it; empty where it is there."""
    size_mb: float = 0.0
    """Of the cache that is made; 0 where it is there."""
    pointless: bool = False
    """Whether nothing is to be bound: then `says` is the reason, as the end of a sentence."""

    @property
    def needs(self) -> tuple[str, ...]:
        """What a binding to it needs."""
        return (self.create,) if self.create else tuple(change.key for change in self.before)


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
    logs: bool
    """Whether it is logs, which a cache for logs alone takes; temporary databases else."""
    bind: Callable[..., Change]
    unknown: str = ""
    """What the exports do not show of it, as a sentence."""


def judge(
    facts: Facts, limits: OwnCacheLimits, moving: Moving, apart: Apart, given: Given, before: Moving | None = None
) -> Iterator[Outcome]:
    """Judge whether what makes a part of a contended cache's searches is to move out of it, with what memory.

    `before`: what is asked to leave it first. The share is then one of the searches that stay.
    """
    figure, named, share = moving.figure, named_of(facts, moving.home), 100 * share_after(moving, before)
    if share < limits.share_percent:
        what = (
            "its searches" if before is None or not share else "the searches that stay once temporary databases are out"
        )
        said = f"{apart.short} make {share:.1f} % of {what} (limit {limits.share_percent:g} %)"
        yield Clean(f"{figure.said}; {said}")
    elif named and (why := set_apart(named)):
        yield Clean(f"{figure.said}; {moving.home} is {why}: no change is proposed")
    elif not (told_bindings(facts) if apart.logs else told_temporary(facts, moving.databases)):
        yield Unknown((BINDINGS_MISSING,), f"{figure.said}; where {apart.where} is not known")
    else:
        target = target_of(facts, moving, limits.contention_percent, given, logs=apart.logs)
        yield _finding(facts, limits, moving, apart, target, before)
        if target.missing:
            yield Unknown(target.missing)


def _finding(
    facts: Facts, limits: OwnCacheLimits, moving: Moving, apart: Apart, target: Target, before: Moving | None
) -> Finding:
    figure, contention, name = moving.figure, contention_of(moving.figure), moving.home
    shares = moving.by_database()
    told = ", ".join(f"{comment(database)} {100 * share:.0f} %" for database, share in list(shares.items())[:NAMED])
    told += f" and {len(shares) - NAMED} more" if len(shares) > NAMED else ""
    share = f"make {100 * moving.share:.0f} % of"
    lacks = f"Not in these exports, so no script is given: {', '.join(one.fact for one in target.missing)}."
    changes: tuple[Change, ...] = ()
    rest = f", {100 * share_after(moving, before):.0f} % once temporary databases are out" if before else ""
    whose = f"a contended cache{rest}"
    waits = before is not None and enough(before, limits.contention_percent)
    if target.bindable and not waits:
        bound = (apart.bind(target.name, one, old=name, needs=target.needs) for one in moving.databases)
        changes = (*target.before, *bound)
    weak = figure.light_average or not moving.contents.of_interval or not changes
    return Finding(
        subject=name,
        severity=Severity.ADVICE if weak else Severity.WARNING,
        title=f"{name}: {apart.what} {share} the {moving.contents.of(name)}searches of {whose}",
        seen=f"{capitalized(apart.what)} {share} the {moving.contents.of(name)}searches of {name} "
        f"{moving.contents.when} ({told}), "
        f"and {contention:.3g} % of the grabs of its spinlocks had to wait.",
        because=apart.because,
        do=f"Nothing is to be bound: {target.says}."
        if target.pointless
        else MEASURE_FIRST.format(TEMPORARY_RULE, limits.contention_percent, within(apart.advice), target.says)
        if waits
        else joined(target.first, f"{apart.advice}: {target.says}."),
        unknown=joined(
            "" if target.pointless or (apart.logs and log_io_kb(facts, moving.databases)) else apart.unknown,
            target.refused,
            lacks if target.missing else moving.contents.caveat,
        ),
        evidence=(
            Evidence("cache spinlock contention", contention, "%", figure.source, limits.contention_percent),
            *_evidence(moving),
            *(overhead_of(facts).evidence((target.size_mb,)) if target.create else ()),
        ),
        explains=() if waits else ("ase/data_cache_spinlock_contended", "ase/engines_not_the_answer"),
        changes=changes,
        expects=_expects(moving, target) if changes else (),
        weight=figure.weight,
        share=contention * moving.share,
    )


def to_existing(facts: Facts, moving: Moving, named: NamedCache, seen_mb: float | None, goal: float) -> Target:
    """Into a cache that is there for it: with more partitions first, where the contention would only move.

    `seen_mb`: what of it an export counted in memory. What five minutes write of a log is no such count: a log cache
    that holds less takes the log all the same, as its pages are appended and seldom read again.
    """
    now = partitions_of(facts, named.name)
    size = f", {named.run_size_mb:,.0f} MB" if known(named.run_size_mb) else ""
    says = f"{named.name}{size}, is there for it"
    engines = engines_at_most(facts)
    if seen_mb is not None and known(named.run_size_mb) and seen_mb > named.run_size_mb:
        first = f"Enlarge {named.name} first (dynamic): {seen_mb:,.0f} MB are in memory now, more than it holds."
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
    most = _most(facts, moving, engines, logs=kind_of(named) == "log")
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


@dataclass(frozen=True)
class NewCache:
    """A new cache for what moves: its size and what is expected of it, wherever its memory comes from."""

    name: str
    size_mb: int
    memory_mb: float
    """Its overhead included."""
    partitions: int
    contention: float
    """What is expected in it, per cent."""
    pools: tuple[tuple[float, int], ...]
    log_only: bool
    page_kb: float
    largest: int
    """Partitions this release allows."""
    useless: bool
    """Whether the contention would only move."""

    @property
    def spend_mb(self) -> float:
        """What it takes of free memory, with what stays free beside it."""
        return self.memory_mb * (1 + MARGIN_PERCENT / 100)

    @property
    def says(self) -> str:
        """The cache as the end of the sentence that something is to be bound to one."""
        return (
            f"{self.name}, new, {self.size_mb:,} MB and {self.memory_mb - self.size_mb:,.1f} MB overhead, "
            f"{self.partitions} partition{'s' if self.partitions > 1 else ''}, about {_said(self.contention)} "
            "contended then"
        )


def new_cache(
    facts: Facts, moving: Moving, name: str, contents_mb: float | None, goal: float, *, log_only: bool = False
) -> NewCache | Target:
    """A new cache as large as what is in memory now and a fifth more; else what is missing to tell its size."""
    free, page, engines = free_memory(facts), page_kb(facts), engines_at_most(facts)
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
    if contents_mb is None or engines is None or page is None or _now(facts, moving) is None:
        room = "" if free is None else f", for which {free.mb:,.0f} MB are free"
        return Target(name, f"{name}, new{room}", missing=tuple(lacking))
    expected = _contention(facts, moving, 1)
    most = _most(facts, moving, engines, logs=log_only)
    partitions = 1 if expected < goal or most == 1 else enough_partitions(1, expected, goal, most)
    least = max(POOL_KB, POOL_PAGES * page) / 1024
    usual = LOG_IO_KB if page == LOG_POOL_PAGE_KB else page
    io_kb = (log_io_kb(facts, moving.databases) or usual) if log_only else page
    log_pool = io_kb > page
    smallest = math.ceil(partitions * least)
    size = max(math.ceil(GROWTH * contents_mb), smallest * (2 if log_pool else 1))
    pools: tuple[tuple[float, int], ...] = ((io_kb, size - smallest),) if log_pool else ()
    if not log_only:
        pools = large_part(facts, moving.home, size, smallest)
    new = NewCache(
        name,
        size,
        size + overhead_of(facts).mb(size),
        partitions,
        expected / partitions,
        pools,
        log_only,
        page,
        legal_partitions(facts),
        expected / partitions >= contention_of(moving.figure),
    )
    if free is not None:
        return new
    if new.useless:
        return made(new, Room(0.0, 0.0))
    io = ", logonly and relaxed" if log_only else ""
    io += "".join(f", {mb:,} MB of it in a {kb:g} KB pool" for kb, mb in pools)
    enough_free = f'if {new.spend_mb:,.0f} MB are free (`sp_configure "memory"`)'
    return Target(name, f"{new.says}{io}, {enough_free}", missing=tuple(lacking))


def made(new: NewCache, room: Room, carving: Carving | None = None) -> Target:
    """A new cache with the memory it is given; words alone where there is none. `carving`: where it comes from."""
    if new.useless:
        only = f"{new.says}, and with no more partitions possible the contention would only move"
        return Target(new.name, only, pointless=True)
    if carving is None and not room.fits:
        lacks = raise_max_memory(room.host, new.spend_mb - room.left_mb)
        first = f"First {lacks}: it takes {new.spend_mb:,.0f} MB with what stays free, "
        first += f"and {room.left}."
        why = f"The default data cache is not made smaller for it: {room.why}." if room.why else ""
        return Target(new.name, new.says, first=first, refused=why)
    shrink = None if carving is None else shrunk(carving)
    first = ""
    if carving is not None:
        first = (
            f"Shrink {carving.cache.name} from {carving.old_mb:,.0f} to {carving.new_mb:,.0f} MB first, in a restart: "
        )
        first += f"{room.left}."
    caution = f"Holds what is in memory now and {100 * (GROWTH - 1):.0f} % more: watch its hit ratio."
    change = create_cache(
        new.name,
        new.size_mb,
        log_only=new.log_only,
        relaxed=new.log_only,
        partitions=new.partitions,
        largest=new.largest,
        page_kb=new.page_kb,
        overhead_mb=round(new.memory_mb - new.size_mb, 2),
        pools=new.pools,
        needs=(shrink.key,) if shrink else (),
        cautions=(caution,),
    )
    return Target(
        new.name,
        new.says,
        (*((shrink,) if shrink else ()), change),
        True,
        (),
        new.partitions,
        new.contention,
        first,
        create=change.key,
        size_mb=new.size_mb,
    )


def wanted(facts: Facts, moving: Moving, goal: float, *, logs: bool) -> NewCache | Target:
    """Where it is to go: a cache that is there for it and has nothing else in it, else a new one."""
    seen = cached_mb(facts, moving, logs=logs)
    for named in facts.every(NamedCache):
        if named.name != moving.home and spare(facts, named) and _there_for(facts, named, logs=logs):
            return to_existing(facts, moving, named, seen, goal)
    name = fresh_name(facts, LOG_STEM if logs else TEMPORARY_STEM)
    return new_cache(facts, moving, name, log_mb(facts, moving, seen) if logs else seen, goal, log_only=logs)


def _there_for(facts: Facts, named: NamedCache, *, logs: bool) -> bool:
    """Whether a cache is one for logs, or an empty strict one for temporary databases."""
    if logs:
        return kind_of(named) == "log"
    empty = not bound_to(facts, named.name) and not named.is_default and not unknown_kind(named)
    return empty and named.relaxed is False and kind_of(named) == "tempdb"


def target_of(facts: Facts, moving: Moving, goal: float, given: Given, *, logs: bool) -> Target:
    """Where it goes, with the memory that the account of all advised caches gives it."""
    found = wanted(facts, moving, goal, logs=logs)
    if isinstance(found, Target):
        return found
    free = free_memory(facts)
    alone = Room(
        free.mb if free else 0.0,
        free.mb if free else 0.0,
        fits=bool(free and found.spend_mb <= free.mb),
        host=free.host if free else None,
    )
    room, carving = given.get((moving.home, logs), (alone, None))
    return made(found, room, carving)


@dataclass(frozen=True)
class Enough:
    """A cache of their own that alone brings a contended cache under its limit."""

    says: str
    """Whose cache it is."""
    rule: str
    keys: tuple[str, ...]
    """Of the bindings to it."""


def enough_alone(facts: Facts, figure: Figure, contents: Contents, goal: float, given: Given) -> Enough | None:
    """The cache of temporary databases, else that of logs, where it alone brings a contended cache under `goal`.

    Temporary databases come first: binding a log is an outage of its database. `None` where no such binding is
    scripted: by then the searches of other objects are what is left to move.
    """
    named = named_of(facts, figure.label)
    temporary = temporaries_of(facts, figure, contents)
    if (named and set_apart(named)) or not told_temporary(facts, temporary.databases):
        return None
    if enough(temporary, goal):
        target = target_of(facts, temporary, goal, given, logs=False)
        if target.bindable and target.contention < goal:
            keys = tuple(bind_temporary(target.name, one).key for one in temporary.databases)
            return Enough("temporary databases", TEMPORARY_RULE, keys)
    logs = logs_of(facts, figure, contents)
    if enough(logs, goal) and told_bindings(facts):
        target = target_of(facts, logs, goal, given, logs=True)
        if target.bindable and target.contention < goal:
            return Enough(
                "logs", "ase/log_in_shared_cache", tuple(bind_log(target.name, one).key for one in logs.databases)
            )
    return None


LOG_STEM = "log_cache"
TEMPORARY_STEM, TEMPORARY_RULE = "tempdb_cache", "ase/tempdb_in_shared_cache"
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


def unused_log_cache(facts: Facts) -> NamedCache | None:
    """A cache for logs that could take one, but has none bound to it and was not searched as far as that is counted.

    `None` where any log is bound anywhere: then the logs were looked after, and which of them are left is not known.
    """
    if any((one.table or "").lower() == LOG for one in facts.every(CacheBinding) if one.valid is not False):
        return None
    used = {one.name for one in latest_caches(facts) if known(one.searches) and one.searches}
    return next(
        (
            one
            for one in facts.every(NamedCache)
            if kind_of(one) == "log" and spare(facts, one) and not bound_to(facts, one.name) and one.name not in used
        ),
        None,
    )


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
        Evidence(
            f"{moving.contents.of(moving.home)}searches of {moving.home} by {name}",
            round(100 * share, 1),
            "%",
            first[name],
        )
        for name, share in shares
    ]


def _said(percent: float) -> str:
    """A contention that is expected: no more than all grabs can wait."""
    return f"{min(100.0, percent):.1f} %"


def _now(facts: Facts, moving: Moving) -> float | None:
    return partitions_of(facts, moving.home)


def _most(facts: Facts, moving: Moving, engines: int, *, logs: bool) -> int:
    """Most partitions of its cache: one for each engine, or as many as that it leaves, where those did not suffice."""
    now = 1 if logs else int(_now(facts, moving) or 1)
    return min(legal_partitions(facts), max(next_power_of_two(engines), next_power_of_two(now)))


def _contention(facts: Facts, moving: Moving, partitions: float, target: str | None = None) -> float:
    """What is expected of so many partitions with the searches that move, and with those there are already."""
    now = _now(facts, moving) or 1.0
    load = moving.reads + (moving.contents.searches.get(target, 0.0) if target else 0.0)
    whole = moving.contents.searches[moving.home]
    return contention_of(moving.figure) * (load / partitions) / (whole / now)
