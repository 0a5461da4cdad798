"""The binding plan of one server: computed once over user objects and system tables, reported by two rules.

Both rules must come to the same plan, or memory would be spent twice. So what the plan is made by stands here, and is
no rule's own limit: each value below with its origin. The objective and the search are in `rules.laws.binding`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import (
    CacheBinding,
    CachePool,
    HostMemory,
    IndexSize,
    LogIoSize,
    MonCachedObject,
    MonCachePool,
    MonOpenObjectActivity,
    NamedCache,
    Server,
)
from rules.ase._evidence.caches.bindings import all_listed, bound_to, listed
from rules.ase._evidence.caches.carving import (
    Carving,
    Uncarved,
    can_give,
    carved,
    large_pools,
)
from rules.ase._evidence.caches.contents import (
    CONTENT_FACTS,
    Contents,
    Held,
    partitions_of,
)
from rules.ase._evidence.caches.figures import (
    POOL_KB,
    POOL_PAGES,
    named_of,
    replaces,
    set_apart,
)
from rules.ase._evidence.caches.fit import (
    GROWTH,
    RELAXED_MISS_PERCENT,
    room_lasts,
    suits_relaxed,
)
from rules.ase._evidence.caches.lockless import mem_scale_on
from rules.ase._evidence.caches.memory import (
    MEMORY_FACTS,
    MEMORY_MISSING,
    OVERHEAD_FACTS,
    FreeMemory,
    Overhead,
    free_memory,
    overhead_of,
)
from rules.ase._evidence.caches.partitions import proposed
from rules.ase._evidence.caches.temporary import perhaps_temporary, serves_tempdb
from rules.ase._evidence.server import ENGINES_MISSING, engines_at_most, page_kb
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import CACHE_PERCENT
from rules.ase._evidence.spinlocks.survey import cache_figure
from rules.changes.ase_binding import why_not
from rules.changes.ase_cache import DEFAULT_CACHE, most_partitions, show_cache
from rules.changes.quoting import PLAIN_IDENTIFIER
from rules.finding import MissingInput
from rules.laws.binding import Cache, NewCache, Optimum, Piece, Terms, collisions
from rules.laws.binding_search import MOST_PIECES, best_binding
from rules.laws.hashing import next_power_of_two

PLAN_FACTS: tuple[type[Fact], ...] = (
    *(*CONTENT_FACTS, *MEMORY_FACTS, *OVERHEAD_FACTS),
    *(CachePool, HostMemory, LogIoSize, MonCachePool, Server),
)
"""What a rule declares that asks for the plan, beside what tells engines and spinlocks."""

LEAST_MOVE_PERCENT = 2.0
"""What a move must take off C, per cent of C now (this project: an exclusive lock must be worth it)."""
OUTAGE_MOVES = 2.0
"""What the system tables of one database count for, in moves (this project: an outage of the database)."""
WORTH_PERCENT = 10.0
"""What the whole plan must take off C, per cent (this project: for less, new caches are not worth watching)."""
MOVES_ONLY = 0.75
"""A cache of the plan that is over the limit and has this part of today's contention or more has only been given it
(this project: a quarter less is worth no exclusive lock)."""
HOLDS_UP_PERCENT = 10.0
"""Of the searches of its cache, from which on what has no size holds up the plan (this project: less can wait)."""
MOST_CACHES = 4
"""New caches at most (this project: each is one more thing to watch; the gain of a fifth is small)."""
FREE_MARGIN_PERCENT = 1.0
"""Memory that stays free where only what is free is spent, per cent of what new caches take (this project: never
the last free megabyte; carving out of the default data cache leaves more: `rules.ase._evidence.caches.carving`)."""
BOUNDLESS_MB = 1e9
SYSTEM, USER = "system", "user"
LONGEST_NAME = 30
"""Bytes that a name has on releases up to 12.5 (vendor); 255 later."""
STRICT, RELAXED = "strict", "relaxed"


@dataclass(frozen=True)
class Bindable:
    """One piece of the plan, and what it stands for."""

    piece: Piece
    holds: tuple[Held, ...]
    why: str
    """Why it goes to a relaxed cache, or why not."""
    large: tuple[tuple[float, float], ...] = ()
    """Pools for large I/O that it keeps: I/O size in KB, and what of the piece's size is for it, in megabytes."""

    @property
    def system(self) -> bool:
        """Whether it is the system tables of a database."""
        return self.piece.family.startswith(SYSTEM)


@dataclass(frozen=True)
class BindingPlan:
    """The optimum in the names of the server."""

    contents: Contents
    optimum: Optimum
    bindables: dict[str, Bindable]
    named: tuple[tuple[str, NewCache], ...]
    """New caches with the names they get."""
    free: FreeMemory
    left_out: int
    """Candidates with fewer searches than the largest that were looked at."""
    largest: int
    """Partitions this release allows."""
    page_kb: float
    problem: tuple[tuple[Cache, ...], tuple[Piece, ...], Terms]
    contended: dict[str, float]
    """Contention of the hot caches, per cent."""
    carving: Carving | Uncarved | None = None
    """The default data cache made smaller for it, or why it is not; `None` where what is free is enough."""
    mem_scale: bool = False
    """Whether the server has lockless data caches, which are the alternative to relaxed ones."""
    before: tuple[str, ...] = ()
    """Other caches of the audit that are given memory before it, in words."""
    overhead: Overhead = field(default_factory=Overhead)
    """What a cache takes beside its size on this server."""
    enough: bool = False
    """Whether moves were left out because the caches are expected under their limit without them."""
    cut: Mapping[str, float] = field(default_factory=dict)
    """What the partitions that are proposed beside it leave of the contention of a hot cache, as a part of it."""
    unsized: tuple[Held, ...] = ()
    """What would move, but has no size in any export: it stays."""

    @property
    def left_mb(self) -> float:
        """What of the free memory is left for it, margin included."""
        return self.problem[2].memory_mb * (1 + FREE_MARGIN_PERCENT / 100)

    def of_kind(self, system: bool, home: str | None = None) -> list[Bindable]:
        """What moves: system tables or user objects; from one cache, or from all."""
        moved = [self.bindables[name] for name in self.optimum.moved]
        return [one for one in moved if one.system is system and home in (None, one.piece.home)]

    @property
    def memory_mb(self) -> float:
        """What all new caches take, overhead included."""
        return sum(cache.memory_mb for _, cache in self.named)

    def pools(self, cache: NewCache) -> list[tuple[float, int]]:
        """Pools for large I/O of a new cache, I/O size in KB and whole megabytes, where its objects had such pools.

        Left out where a partition's part, of it or of what is left for the logical page, would be smaller than the
        server allows.
        """
        sizes: dict[float, float] = {}
        for name in cache.members:
            for io_kb, mb in self.bindables[name].large:
                sizes[io_kb] = sizes.get(io_kb, 0.0) + mb
        least = cache.partitions * max(POOL_KB, POOL_PAGES * self.page_kb) / 1024
        found = [(io_kb, int(mb)) for io_kb, mb in sorted(sizes.items()) if int(mb) >= least]
        while found and cache.size_mb - sum(mb for _, mb in found) < least:
            found.pop()
        return found

    def expected(self, home: str, share: float, partitions: float) -> float:
        """Contention of a cache with this share of all searches, per cent, by what `home` has now.

        It goes with the searches of each partition.
        """
        now = next(cache.partitions for cache in self.problem[0] if cache.name == home)
        before = self.contents.share(self.contents.searches[home]) / now
        return self.contended.get(home, 0.0) * share / partitions / before if before > 0 else 0.0

    def only_moves(self, optimum: Optimum) -> str:
        """Which cache of a plan would be contended in its turn, in words; empty where none would.

        One over the limit, with three quarters of today's contention or more.
        """
        there = {cache.name: cache.partitions for cache in self.problem[0]}
        filled = [(cache.members, cache.share, cache.partitions) for cache in optimum.new]
        filled += [((name,), optimum.shares[to], there[to]) for name, to in optimum.joined.items()]
        for members, share, partitions in filled:
            home = self.bindables[members[0]].piece.home
            left = self.expected(home, share, partitions)
            if left >= max(CACHE_PERCENT, MOVES_ONLY * self.contended.get(home, 0.0)):
                return (
                    f"the contention would only move: the cache of {', '.join(members[:3])} would have "
                    f"{100 * share:.1f} % of all searches in {partitions:g} partitions and be about {left:.1f} % "
                    f"contended (limit {CACHE_PERCENT:g} %)"
                )
        return ""

    @property
    def worth_it(self) -> bool:
        """Whether the plan is worth making as a whole."""
        worth = bool(self.optimum.moved) and self.optimum.lowered_percent >= WORTH_PERCENT
        return worth and not self.only_moves(self.optimum)

    def left_of(self, home: str, contention: float) -> float | None:
        """What it is expected to leave of a cache's contention, per cent; `None` where it is not searched.

        Waits for each grab grow with the rate of a spinlock.
        """
        before = self.contents.share(self.contents.searches[home])
        return contention * self.optimum.shares[home] / before if before > 0 else None

    def barely(self, goal: float) -> bool:
        """Whether a cache is expected to stay at its limit, or just under it: more memory would do better.

        A plan that makes the default data cache smaller has its restart: the partitions that are proposed come with it.
        """
        cut = self.cut if isinstance(self.carving, Carving) else {}
        return any(
            (self.left_of(name, percent) or 0.0) * cut.get(name, 1.0) > BARELY * goal
            for name, percent in self.contended.items()
        )

    def reaches(self, goal: float) -> bool:
        """Whether the contended caches are expected clearly under the limit, and the new ones under it."""
        for cache in self.optimum.new:
            home = self.bindables[cache.members[0]].piece.home
            if round(self.expected(home, cache.share, cache.partitions), 1) >= goal:
                return False
        return not self.barely(goal)

    @property
    def with_memory(self) -> Optimum | None:
        """The plan that could be made if memory were free without end; `None` where it would be no better."""
        if self.enough:
            return None
        caches, pieces, terms = self.problem
        freed = best_binding(caches, pieces, replace(terms, memory_mb=BOUNDLESS_MB))
        better = self.optimum.cost - freed.cost > terms.least_gain and freed.lowered_percent >= WORTH_PERCENT
        return freed if better and not self.only_moves(freed) else None


@dataclass(frozen=True)
class Lacks:
    """No plan can be made: what to bring, or why not."""

    missing: tuple[MissingInput, ...] = ()
    why: str = ""


def binding_plan(facts: Facts, contents: Contents, hot: tuple[str, ...], *, carve: bool = True) -> BindingPlan | Lacks:
    """Make the plan that takes the load off the `hot` caches, or say what is missing for it.

    All memory that is free is the plan's. Where other caches are advised beside it, the one account of them all shares
    it out (`rules.ase._evidence.caches.allocation`), which also decides what the default data cache gives: it asks for
    the plan without that (`carve`).
    """
    apart = [f"{name} is {why}" for name in hot if (named := named_of(facts, name)) and (why := set_apart(named))]
    if apart:
        return Lacks(why="; ".join(apart))
    looked_into = tuple(name for name in hot if name in contents.searches)
    if not looked_into:
        return Lacks((MissingInput(f"what is searched in {', '.join(hot)}", MonOpenObjectActivity.COLLECTED_BY),))
    hot = looked_into
    candidates = _candidates(facts, contents, hot)
    partitions = {name: partitions_of(facts, name) for name in contents.searches}
    missing = tuple(_missing(facts, partitions))
    if missing:
        return Lacks(missing)
    counted = {name: count for name, count in partitions.items() if count is not None}
    now = collisions((contents.share(contents.searches[name]), counted[name]) for name in counted)
    least = now * LEAST_MOVE_PERCENT / 100
    worth = [
        one
        for one in candidates
        if one.piece.share
        * (2 * contents.share(contents.searches[one.piece.home]) - one.piece.share)
        / counted[one.piece.home]
        > least * one.piece.price
    ]
    unsized = tuple(one.holds[0] for one in worth if _stays(one, contents))
    lacks = [held for one in worth if one.holds[0] not in unsized for held in _lacking(one)]
    worth = [one for one in worth if one.holds[0] not in unsized]
    if lacks or (unsized and not worth):
        return _unsized(lacks or unsized)
    worth, rest = worth[:MOST_PIECES], worth[MOST_PIECES:]
    version = [server.version for server in facts.every(Server) if server.version]
    legal, page, free = most_partitions(version[-1] if version else None), page_kb(facts) or 0.0, free_memory(facts)
    engines = engines_at_most(facts)
    assert free is not None  # noqa: S101 - _missing() has asked for it
    overhead = overhead_of(facts)
    terms = Terms(
        memory_mb=free.mb / (1 + FREE_MARGIN_PERCENT / 100),
        least_gain=least,
        most_caches=MOST_CACHES,
        most_partitions=min(legal, max(next_power_of_two(engines or 1), *(int(counted[name]) for name in hot))),
        partition_mb=max(POOL_KB, POOL_PAGES * page) / 1024,
        overhead=overhead.points,
    )
    caches = tuple(_caches(facts, contents, hot, worth, counted))
    problem = (caches, tuple(one.piece for one in worth), terms)
    bindables = {one.piece.name: one for one in worth}
    figures = {name: cache_figure(facts, name, name) for name in hot}
    read = {name: one.contention for name, one in figures.items() if isinstance(one, Figure)}
    contended = {name: percent for name, percent in read.items() if known(percent)}
    made = BindingPlan(
        contents, best_binding(*problem), bindables, (), free, len(rest), legal, page, problem, contended
    )
    cut = {name: proposed(facts, name, percent, CACHE_PERCENT) for name, percent in contended.items()}
    factors = {name: one[1] / contended[name] for name, one in cut.items() if one}
    made = replace(made, mem_scale=mem_scale_on(facts), overhead=overhead, cut=factors)
    if unsized and not made.worth_it and not made.with_memory:
        return _unsized(unsized)
    made = replace(made, unsized=unsized)
    if carve and not made.worth_it and made.with_memory:
        made = carved_plan(facts, made)
    return _with_names(facts, made)


def _lacking(one: Bindable) -> list[Held]:
    """What of a piece has no size, or no name that its script needs: an index of system tables, bound in an outage."""
    return [held for held in one.holds if held.size_mb is None or (one.system and held.index_id and not held.index)]


def _stays(one: Bindable, contents: Contents) -> bool:
    """Whether a piece is left where it is, as what it lacks need not hold up the others: an index, or a small share."""
    share = contents.inside(one.piece.home, sum(held.reads for held in one.holds))
    return bool(_lacking(one)) and (bool(not one.system and one.holds[0].index_id) or 100 * share < HOLDS_UP_PERCENT)


def _unsized(holds: Sequence[Held]) -> Lacks:
    """What the listing of sizes and names would tell."""
    names = f"sizes and index names of {', '.join(dict.fromkeys(held.name for held in holds[:3]))}"
    return Lacks((MissingInput(names, IndexSize.COLLECTED_BY),))


def within(facts: Facts, made: BindingPlan, left_mb: float, before: tuple[str, ...]) -> BindingPlan:
    """The same plan with less memory: what is left after other caches of the audit."""
    if not before:
        return made
    caches, pieces, terms = made.problem
    terms = replace(terms, memory_mb=max(0.0, left_mb) / (1 + FREE_MARGIN_PERCENT / 100))
    problem = (caches, pieces, terms)
    return _with_names(facts, replace(made, optimum=best_binding(*problem), problem=problem, before=before))


def no_more_than(facts: Facts, made: BindingPlan, goal: float, *, left_mb: float | None = None) -> BindingPlan:
    """The same plan with its most searched pieces alone, as many as bring all contended caches clearly under the limit.

    The plan itself where it does not reach that, or needs all of its moves. One that makes the default data cache
    smaller (`left_mb`: as of `carved_plan`) takes tables and their indexes whole, as they are locked then.
    """
    carves = isinstance(made.carving, Carving)
    moved = [one for one in made.problem[1] if one.name in made.optimum.moved]
    moved.sort(key=lambda one: (-one.share, one.name))
    for count in range(1, len(moved) if made.worth_it else 0):
        some = moved[:count]
        if carves:
            tables = {one.table for one in some if one.table}
            some += [one for one in moved[count:] if one.table in tables]
        problem = _of_some(made, some)
        if carves:
            fewer = carved_plan(facts, replace(made, problem=problem, enough=True), left_mb=left_mb)
        else:
            fewer = replace(made, optimum=best_binding(*problem), enough=True)
        fits = isinstance(fewer.carving, Carving) or not carves
        if fits and len(fewer.optimum.moved) == len(some) and fewer.worth_it and fewer.reaches(goal):
            return _with_names(facts, fewer)
    return made


def _of_some(made: BindingPlan, some: Sequence[Piece]) -> tuple[tuple[Cache, ...], tuple[Piece, ...], Terms]:
    """The problem with some of its pieces alone: the others stay where they are."""
    caches, pieces, terms = made.problem
    stay = [one for one in pieces if one not in some]
    fuller = tuple(
        replace(cache, share=cache.share + sum(one.share for one in stay if one.home == cache.name)) for cache in caches
    )
    return fuller, tuple(some), terms


def memory_for(made: BindingPlan, names: Collection[str]) -> float | None:
    """Megabytes that the new caches of the plan would take with these objects beside what moves; `None` if not all."""
    wanted = {*made.optimum.moved, *names}
    caches, pieces, terms = _of_some(made, [one for one in made.problem[1] if one.name in wanted])
    best = best_binding(caches, pieces, replace(terms, memory_mb=BOUNDLESS_MB))
    return sum(cache.memory_mb for cache in best.new) if wanted <= set(best.moved) else None


def _with_names(facts: Facts, made: BindingPlan) -> BindingPlan:
    taken = {one.name for one in facts.every(NamedCache)} | set(made.contents.searches)
    return replace(made, named=tuple(zip(_fresh_names(made, taken), made.optimum.new, strict=True)))


def carved_plan(
    facts: Facts,
    made: BindingPlan,
    fixed: tuple[float, tuple[Held, ...]] = (0.0, ()),
    *,
    left_mb: float | None = None,
) -> BindingPlan:
    """The plan with memory out of the default data cache; the plan as it was, with the reason, where that cannot be.

    `fixed`: megabytes of other caches made of the same memory, and what moves into them. `left_mb`: free memory that no
    other cache was given, where that is not the plan's own.
    """
    named = default_cache(facts, made.contents)
    refused = can_give(facts, named)
    if refused or named is None:
        return replace(made, carving=refused)
    caches, pieces, terms = made.problem

    def solve(memory_mb: float) -> tuple[Optimum, tuple[Held, ...]]:
        optimum = best_binding(caches, pieces, replace(terms, memory_mb=memory_mb))
        return optimum, tuple(held for name in optimum.moved for held in made.bindables[name].holds)

    left = made.left_mb if left_mb is None else left_mb
    found = carved(facts, made.contents, named, left, terms.most_partitions, solve, fixed)
    if isinstance(found, Uncarved):
        return replace(made, carving=found)
    optimum, carving = found
    better = replace(made, optimum=optimum or made.optimum, carving=carving)
    if not better.worth_it:
        return replace(made, carving=Uncarved("what it can give would not be enough"))
    return _with_names(facts, better)


def default_cache(facts: Facts, contents: Contents) -> NamedCache | None:
    """The default data cache as it is configured, where it is searched at all."""
    name = next((name for name in contents.searches if _is_default(facts, name)), None)
    return named_of(facts, name) if name else None


BARELY = 0.8
"""Of the limit, what a plan may leave of the contention: the estimate is no better than that (this project)."""
LEAST_ROOM_DAYS = 1.0
"""This project: what grows out of its cache on the first day was no table to bind whole; a year is asked of relaxed."""


def _is_default(facts: Facts, cache: str) -> bool:
    named = named_of(facts, cache)
    return cache == DEFAULT_CACHE or (named is not None and named.is_default)


def _missing(facts: Facts, partitions: dict[str, float | None]) -> Iterator[MissingInput]:
    """What the plan cannot do without, whatever moves."""
    unknown = [name for name, count in partitions.items() if count is None]
    if unknown:
        yield MissingInput(f"partitions of {', '.join(unknown[:3])}", "sp_cacheconfig")
    if engines_at_most(facts) is None:
        yield ENGINES_MISSING
    if free_memory(facts) is None:
        yield MEMORY_MISSING
    if page_kb(facts) is None:
        yield MissingInput("the logical page", "select @@maxpagesize")
    if not all_listed(facts) and not facts.every(MonCachedObject):
        yield MissingInput("what is bound to the named caches there are", CacheBinding.COLLECTED_BY)


def _candidates(facts: Facts, contents: Contents, hot: tuple[str, ...]) -> list[Bindable]:
    """What may be moved out of the hot caches, most searched first: nothing that is bound, nothing that cannot be."""
    temporary = perhaps_temporary(facts)
    free = [one for one in contents.held if one.cache in hot and not one.bound and one.reads and movable(one)]
    free = [one for one in free if one.database not in temporary and not _outgrows(one, contents.seconds)]
    large = {name: large_pools(facts, name) for name in hot}
    found = [_bindable(contents, (one,), large[one.cache]) for one in free if not one.system]
    groups: dict[tuple[str, str], list[Held]] = {}
    for one in free:
        if one.system:
            groups.setdefault((one.database, one.cache), []).append(one)
    found += [_bindable(contents, tuple(group), large[group[0].cache]) for group in groups.values()]
    return sorted(found, key=lambda one: (-one.piece.share, one.piece.name))


def _outgrows(held: Held, seconds: float | None) -> bool:
    """Whether it uses up the room of a cache of its own within a day: from then on its pages are replaced there."""
    days = room_lasts((held,), seconds) if seconds and held.size_mb and not held.system else None
    return days is not None and days < LEAST_ROOM_DAYS


def movable(held: Held) -> bool:
    """Whether the server lets it be bound alone."""
    return why_not(held.database, held.table) is None


def _bindable(contents: Contents, holds: tuple[Held, ...], large: tuple[tuple[float, float], ...]) -> Bindable:
    """One piece of the plan.

    `large`: the pools for large I/O of its cache. A user object gets the same share of them, because a new cache has
    none and the optimizer may count on them. System tables get none (this project: they are looked up by key).
    """
    first, system = holds[0], holds[0].system
    relaxed, why = suits_relaxed(holds, contents.seconds)
    name = f"{first.database}: system tables in {first.cache}" if system else first.name
    large = () if system else large
    contents_mb = GROWTH * sum(one.size_mb or 0.0 for one in holds)
    size = contents_mb / (1 - sum(share for _, share in large))
    piece = Piece(
        name=name,
        share=contents.share(sum(one.reads for one in holds)),
        size_mb=max(0.01, size),
        home=first.cache,
        family=f"{SYSTEM if system else USER} {RELAXED if relaxed else STRICT}",
        table="" if system else f"{first.database}.{first.owner or ''}.{first.table}",
        price=OUTAGE_MOVES if system else 1.0,
    )
    return Bindable(piece, holds, why, tuple((io_kb, size * share) for io_kb, share in large))


def _caches(
    facts: Facts, contents: Contents, hot: tuple[str, ...], moving: list[Bindable], counted: dict[str, float]
) -> Iterator[Cache]:
    """Every cache, without what may be moved out of it; with the room of those that can take more."""
    for name, searches in sorted(contents.searches.items()):
        share = contents.share(searches) - sum(one.piece.share for one in moving if one.piece.home == name)
        room, family = (0.0, "") if name in hot else _room(facts, contents, name)
        families = frozenset((family,)) if family and room > 0 else frozenset()
        yield Cache(name, max(0.0, share), int(counted[name]), room, families)


def _room(facts: Facts, contents: Contents, name: str) -> tuple[float, str]:
    """What a named cache has left when all that is bound to it has grown, MB, and for whom; 0 where that is not known.

    A cache that waits for a restart, holds a database, logs or an instance's own pages, or is named for temporary
    databases takes nothing. Nor does a relaxed one that replaces buffers (ase/relaxed_strategy_unsafe).
    """
    named = named_of(facts, name)
    if named is None or named.is_default or named.pending or named.relaxed is None or not known(named.run_size_mb):
        return 0.0, ""
    if (named.status or "active").strip().lower() != "active" or (named.kind or "").strip().lower() != "mixed":
        return 0.0, ""
    if named.relaxed and replaces(facts, name, 100.0 - RELAXED_MISS_PERCENT):
        return 0.0, ""
    sizes = [_size_of(facts, contents, one) for one in bound_to(facts, name)]
    apart = set_apart(named) or serves_tempdb(facts, name, named)
    if apart or not listed(facts, name) or any(size is None for size in sizes):
        return 0.0, ""
    room = named.run_size_mb - GROWTH * sum(size or 0.0 for size in sizes)
    return max(0.0, room), f"{USER} {RELAXED if named.relaxed else STRICT}"


def _size_of(facts: Facts, contents: Contents, binding: CacheBinding) -> float | None:
    """Megabytes of what is bound; `None` for a database, or where no export has it."""
    if binding.table is None:
        return None
    for one in contents.held:
        same = (one.database, one.table, one.index) == (binding.database, binding.table, binding.index or None)
        if same and one.bound:
            return one.size_mb
    listed = facts.latest(IndexSize, database=binding.database, table=binding.table, index_name=binding.index)
    if listed is None and not binding.index:
        listed = facts.latest(IndexSize, database=binding.database, table=binding.table, index_id=0)
    return listed.size_kb / 1024 if listed and known(listed.size_kb) else None


def _fresh_names(made: BindingPlan, taken: set[str]) -> Iterator[str]:
    """A plain name for each new cache that no cache has: with its one table or index, where there is one."""
    used = {name.lower() for name in taken}
    for cache in made.optimum.new:
        only, kind = _only(made, cache), cache.family.split()[1]
        stem = "system_tables" if cache.family.startswith(SYSTEM) else f"{only or 'hot'}_{kind}"
        if only and len(stem) > LONGEST_NAME:
            stem = f"{only[: LONGEST_NAME - len(kind) - 1]}_{kind}"
        numbered = (f"{stem[: LONGEST_NAME - 1 - len(str(n))]}_{n}" for n in range(1, len(used) + 3))
        name = next(one for one in ((stem, *numbered) if only else numbered) if one.lower() not in used)
        used.add(name.lower())
        yield name


def _only(made: BindingPlan, cache: NewCache) -> str:
    """The one index that is to be in it, else the one table; empty where there are more, or the name is not plain."""
    holds = [one for member in cache.members for one in made.bindables[member].holds]
    if cache.family.startswith(SYSTEM) or len({(one.database, one.owner, one.table) for one in holds}) > 1:
        return ""
    first, index = holds[0], len(holds) == 1 and holds[0].index_id
    name = (index and (first.index or f"{first.table}_i{index}")) or first.table
    return name if PLAIN_IDENTIFIER.match(name) else ""


def pending_of(facts: Facts, cache: str) -> str | None:
    """That something of this cache is configured already and waits for a restart."""
    named = named_of(facts, cache)
    if named is None or not named.pending:
        return None
    return f"{cache}: a change of it is configured and waits for a restart ({show_cache(cache)}): measure after it"
