"""A part of the binding plan in words, figures and scripts: the user objects or the system tables of one cache.

Both parts tell of one plan: neither spends the other's memory. Nothing is counted for relaxed LRU itself, which the
vendor calls a slight gain.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import Facts
from rules.ase._evidence.caches.binding_plan import (
    FREE_MARGIN_PERCENT,
    LEAST_MOVE_PERCENT,
    RELAXED,
    SYSTEM,
    WORTH_PERCENT,
    Bindable,
    BindingPlan,
    memory_for,
)
from rules.ase._evidence.caches.carving import Carving, Uncarved, shrunk
from rules.ase._evidence.caches.contents import Held
from rules.ase._evidence.caches.fit import GROWTH
from rules.ase._evidence.caches.lockless import NEW as LOCKLESS
from rules.ase._evidence.caches.memory import Room, raise_max_memory
from rules.ase._evidence.caches.partitions import cut_for_engines, enough_alone
from rules.changes.ase_binding import bind, bind_system_tables, bind_unnamed
from rules.changes.ase_cache import cache_key, create_cache
from rules.finding import Change, Effect, Evidence, Expectation, capitalized
from rules.laws.binding import NewCache, Optimum, collisions

NAMED, SAID = 6, 3
"""Objects that the evidence names, and that a sentence does."""
NOT_YET = "No table is to be bound yet"
COMMON_OWNER = "The owner is not in the export: taken as dbo."
OVERHEAD = (
    "{:.1f} MB of overhead beside its size are read between the vendor's figures: sp_helpcache with the size shows the "
    "server's own."
)
OWN_OVERHEAD = (
    "{:.1f} MB of overhead beside its size: as this server answered sp_helpcache, or by the share it answered."
)
PREFETCHED = (
    "It is read ahead by prefetch, which large I/O would help; a second pool (sp_poolconfig) takes its memory from the "
    "first and needs as much in each partition, so look at the scans first."
)
BY_HAND = (
    "What it is for must be bound by hand: a name cannot be written into a script. Make it only when that is sure "
    "to be done at once; until then it takes memory for nothing."
)


@dataclass(frozen=True)
class Part:
    """What one finding reports of the plan."""

    plan: BindingPlan
    home: str
    moved: tuple[Bindable, ...]

    @property
    def new(self) -> list[tuple[str, NewCache]]:
        """The new caches this part needs."""
        mine = {one.piece.name for one in self.moved}
        return [(name, cache) for name, cache in self.plan.named if mine & set(cache.members)]

    def target(self, one: Bindable) -> str:
        """Where a piece goes."""
        return (
            next((name for name, cache in self.new if one.piece.name in cache.members), "")
            or (self.plan.optimum.joined[one.piece.name])
        )


def percent(share: float) -> str:
    """A share of 0 to 1 in words."""
    return f"{100 * share:.0f} %" if share >= 0.095 else f"{100 * share:.1f} %"


def contention_left(plan: BindingPlan, home: str, contention: float) -> float | None:
    """What the whole plan is expected to leave of a cache's contention, per cent; `None` where it is not searched."""
    left = plan.left_of(home, contention)
    return None if left is None else round(left, 1)


def chance(part: Part) -> str:
    """What the plan makes of the chance that two searches meet, as a sentence; and what partitions alone would."""
    optimum = part.plan.optimum
    said = f"Two searches at one moment want the same cache spinlock in {_cases(optimum.now)} now, in "
    said += f"{_cases(optimum.after)} after the whole plan"
    if not _could_be_cut(part):
        return f"{said}."
    most = part.plan.problem[2].most_partitions
    now, alone = _cut_alone(part, most)
    return (
        f"{said}, and in {_cases(alone)} with {most} instead of {now} partitions of "
        f"{part.home} alone, if its pools allow that and its hot pages spread evenly."
    )


def _cut_alone(part: Part, partitions: int) -> tuple[int, float]:
    """The partitions of its cache now, and the chance that two searches meet with so many of them alone."""
    contents, now = part.plan.contents, {cache.name: cache.partitions for cache in part.plan.problem[0]}
    cut = now | {part.home: partitions}
    return now[part.home], collisions((contents.share(contents.searches[name]), count) for name, count in cut.items())


def _reach_as_much(part: Part, partitions: int) -> bool:
    """Whether so many partitions alone take as much off as the bindings, but for less than one move must be worth."""
    optimum = part.plan.optimum
    least = optimum.now * LEAST_MOVE_PERCENT / 100
    return _could_be_cut(part) and _cut_alone(part, partitions)[1] - optimum.after <= least


def do(part: Part, *, goes_under: bool = False, before: str = "") -> str:
    """The plan as an instruction of two sentences: what goes where, and what memory it takes.

    `goes_under`: whether it is expected to bring its cache under the limit, so that partitions have to wait for it.
    `before`: what is to be made first, as the beginning of the sentence.
    """
    plan, joins = part.plan, part.plan.optimum.joined
    made = [name for name, _ in part.new]
    first = before
    cut = not goes_under and _could_be_cut(part)
    if not first and cut and not isinstance(plan.carving, Carving):
        first = "Look at partitions first (ase/data_cache_spinlock_contended), else "
    steps = []
    if isinstance(plan.carving, Carving) and made:
        carving = plan.carving
        steps.append(f"shrink {carving.cache.name} from {carving.old_mb:,.0f} to {carving.new_mb:,.0f} MB in a restart")
        if cut or (not goes_under and part.home in plan.cut):
            steps[-1] += ", in the same as its partitions"
    if made:
        kinds = sorted({cache.family.split()[1] for _, cache in part.new})
        caches = _list(made) if len(made) <= SAID else f"the {len(made)} new caches"
        steps.append(f"make {caches} ({' and '.join(kinds)} LRU)")
    into = [_said(one) for one in part.moved if one.piece.name not in joins]
    which = "the" if len(part.moved) == 1 else "each"
    outage = f", an outage of {which} database," if part.moved[0].system else " at a quiet time"
    if into:
        steps.append(f"bind {_list(into, SAID)}{outage} to {'it' if len(made) == 1 else 'them'}")
    for one in part.moved:
        if one.piece.name in joins:
            steps.append(f"bind {_said(one)}{outage} to {part.target(one)}, which has room")
    told = f"{first}{', then '.join(steps)}"
    return f"{capitalized(told)}. {_memory(plan)}"


def _said(one: Bindable) -> str:
    """A piece as the object of a sentence."""
    return f"the system tables of {one.holds[0].database}" if one.system else one.piece.name


def _could_be_cut(part: Part) -> bool:
    """Whether the engines and the release allow more partitions of the cache."""
    caches, _, terms = part.plan.problem
    return any(cache.name == part.home and cache.partitions < terms.most_partitions for cache in caches)


def unknown(plan: BindingPlan) -> str:
    """How far the plan may be from the best there is, as a sentence; empty where it is the best of all."""
    left = f"{plan.left_out} candidates with fewer searches were not looked at" if plan.left_out else ""
    gap = max(0.1, plan.optimum.gap_percent)
    short = "" if plan.optimum.proven else f"the best plan may have an objective up to {gap:.1f} % lower"
    stay = ""
    if plan.unsized:
        share = plan.contents.share(sum(held.reads for held in plan.unsized))
        stay = f"{_list([held.name for held in plan.unsized], SAID)} ({percent(share)} of all searches) may move too, "
        stay += "once the listing of sizes has them"
    said = "; ".join(one for one in (short, left) if one)
    told = [f"{capitalized(one)}." for one in (said,) if one]
    return " ".join((*told, *((f"{stay}.",) if stay else ())))


def _memory(plan: BindingPlan) -> str:
    """Where the memory comes from and what more of it would give, as a sentence."""
    freed = plan.with_memory
    whole = f"The whole plan (user and system tables) takes {plan.memory_mb:,.0f}"
    if isinstance(plan.carving, Carving):
        lacks, host = plan.carving.lacks_mb, plan.carving.host
        if host and plan.carving.host_full:
            return f"{whole} MB; {plan.free.mb:,.0f} MB are free, and the host has {host.said(lacks)}."
        instead = raise_max_memory(host, lacks).replace("memory", "memory instead", 1)
        return f"{whole} MB and {plan.free.mb:,.0f} MB are free: {instead}."
    taken = f"{whole} of {plan.left_mb:,.0f} MB that are free"
    if plan.before:
        taken = (
            f"The whole plan takes {plan.memory_mb:,.0f} of {plan.left_mb:,.0f} MB left after {', '.join(plan.before)}"
        )
    if freed is None:
        return f"{taken}."
    return (
        f"{taken}; {raise_max_memory(plan.free.host, _needed(freed) - plan.left_mb)}, as with {_needed(freed):,.0f} MB "
        f"two searches would want the same spinlock in {_cases(freed.after)}."
    )


def stays(part: Part, top: Sequence[Held], goal: float) -> str:
    """How many of the most searched objects stay for want of memory, as the end of a title; empty where none does."""
    plan = part.plan
    if isinstance(plan.carving, Carving) or not plan.barely(goal) or plan.with_memory is None:
        return ""
    moved = {held.name for one in part.moved for held in one.holds}
    left = [one.name for one in top if one.name not in moved]
    needed = memory_for(plan, left) if left else None
    lacks = math.ceil(needed * (1 + FREE_MARGIN_PERCENT / 100) - plan.left_mb) if needed else 0
    return f"; {len(left)} of them stay in it for want of {lacks:,} MB" if lacks > 0 else ""


def _cases(chance: float) -> str:
    """A chance of 0 to 1 in words."""
    return f"1 of {1 / chance:.1f} cases" if chance > 0.01 else f"1 of {1 / chance:,.0f} cases"


def _needed(optimum: Optimum) -> float:
    """What the new caches of a plan take, MB."""
    return sum(cache.memory_mb for cache in optimum.new)


def partitions_first(facts: Facts, part: Part, contention: float, goal: float) -> str:
    """Why nothing is bound yet, as sentences; empty where partitions are not enough, or a plan without a restart is.

    A plan that makes the default data cache smaller costs a restart, its memory and a lock of each table: partitions
    that should be enough by themselves cost the restart alone, so they come first, and one cause is changed at a time.
    So they do where they would take off as much as the bindings: these cost memory and locks. Not where the cache has a
    partition for each engine already: past that the estimate of what more of them take off is the weaker one.
    """
    carving, enough = part.plan.carving, enough_alone(facts, part.home, contention, goal)
    left = contention_left(part.plan, part.home, contention)
    if enough is None:
        return ""
    cut = "{:.0f} partitions of {}, which take a restart {}, are expected to leave about {:.1f} %"
    if isinstance(carving, Carving):
        needed, free = math.ceil(carving.needed_mb - 1e-6), math.floor(carving.free_mb + 1e-6)
        why = f"the caches take {needed:,} MB with what stays free and {free:,} MB are free, so "
        why += f"{carving.cache.name} would become {carving.freed_mb:,.0f} MB smaller in a restart. "
        why += cut.format(enough[0], part.home, "too but no memory", enough[1])
    elif cut_for_engines(facts, part.home):
        return ""
    elif left is not None and left >= goal:
        why = f"the bindings are expected to leave about {left:.1f} % of {part.home}, still over the limit. "
        why += cut.format(enough[0], part.home, "but no memory and no lock of a table", enough[1])
    elif _reach_as_much(part, int(enough[0])):
        _, alone = _cut_alone(part, int(enough[0]))
        why = f"{enough[0]:.0f} partitions alone take off as much (two searches meet in "
        why += f"{_cases(alone)}, with the bindings in {_cases(part.plan.optimum.after)}). "
        why += cut.format(enough[0], part.home, "but no memory", enough[1])
    else:
        return ""
    return (
        f"{NOT_YET}: {why} (ase/data_cache_spinlock_contended): make them, measure, bind only if the contention stays."
    )


def not_worth(plan: BindingPlan) -> str:
    """Why the plan is left, as the end of a sentence."""
    if not plan.optimum.moved:
        return (
            f"no binding takes {LEAST_MOVE_PERCENT:g} % off the collisions at cache spinlocks; where one object makes "
            "nearly all searches, only more partitions or fewer searches do"
        )
    if moves := plan.only_moves(plan.optimum):
        return f"{moves}; only fewer searches reduce it, so look at the statements first"
    lowered = f"{plan.optimum.lowered_percent:.1f} % off the collisions at cache spinlocks"
    return f"the best binding plan would take {lowered} (limit {WORTH_PERCENT:g} %)"


def short_of_memory(plan: BindingPlan) -> str:
    """What more memory would give where nothing can be bound, as sentences; empty where it would give hardly more."""
    freed, refused = plan.with_memory, plan.carving
    if freed is None:
        return ""
    why = f" The default data cache is not made smaller: {refused.why}." if isinstance(refused, Uncarved) else ""
    first = raise_max_memory(plan.free.host, _needed(freed) - plan.left_mb)
    return (
        f"{capitalized(first)}: {_left(plan)}, too little for what would help, and "
        f"with {_needed(freed):,.0f} MB two searches would want the same spinlock in {_cases(freed.after)}."
        f"{why}"
    )


def _left(plan: BindingPlan) -> str:
    """What of the free memory it may take, in words."""
    return Room(plan.left_mb, plan.free.mb, plan.before).left


def _large(plan: BindingPlan, cache: NewCache) -> str:
    """The pools for large I/O of a new cache, in words."""
    pools = plan.pools(cache)
    return f" ({', '.join(f'{mb:,} MB for {io_kb:g} KB I/O' for io_kb, mb in pools)})" if pools else ""


def _how(one: Bindable) -> tuple[str, ...]:
    """Why it goes to a strict or a relaxed cache, and what its scans would need, as cautions of its binding."""
    scanned = any(held.prefetched for held in one.holds) and not one.large
    kind = one.piece.family.split()[1]
    return (f"{capitalized(kind)} LRU suits it: {one.why}.", *((PREFETCHED,) if scanned else ()))


def _list(names: list[str] | tuple[str, ...], most: int = NAMED) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def evidence(part: Part) -> Iterator[Evidence]:
    """Searches and sizes of what moves, with the lines they stand on, and the memory that is free."""
    contents = part.plan.contents
    for one in part.moved[:NAMED]:
        reads = sum(held.reads for held in one.holds)
        where = one.holds[0].source
        inside = round(100 * contents.inside(part.home, reads), 1)
        yield Evidence(f"searches of {part.home} by {one.piece.name}", inside, "%", where)
        size = round(sum(held.size_mb or 0.0 for held in one.holds), 1)
        yield Evidence(f"size of {one.piece.name}", size, "MB", one.holds[0].size_source or where)
    yield Evidence("memory that is free", round(part.plan.free.mb, 1), "MB", part.plan.free.source)
    yield from part.plan.overhead.evidence(tuple(cache.size_mb for _, cache in part.new))


def changes(part: Part) -> Iterator[Change]:
    """The new caches, then the bindings; what is bound needs its cache."""
    made = dict(part.new)
    carving = part.plan.carving
    room: tuple[str, ...] = ()
    memory = "Memory comes from what is free; the default data cache is not made smaller."
    if isinstance(carving, Carving) and made:
        yield shrunk(carving)
        room = (cache_key(carving.cache.name, "size"),)
        memory = f"Only after the restart that makes {carving.cache.name} smaller: its memory comes from there."
    bound = list(_bindings(part))
    for name, cache in made.items():
        scripted = any(cache_key(name, "create") in one.needs for one in bound if one.takes_effect is not Effect.ADVICE)
        yield create_cache(
            name,
            cache.size_mb,
            relaxed=cache.family.endswith(RELAXED),
            partitions=cache.partitions,
            largest=part.plan.largest,
            page_kb=part.plan.page_kb,
            overhead_mb=round(cache.overhead_mb, 2),
            pools=part.plan.pools(cache),
            needs=room,
            cautions=(
                f"Holds {_list(cache.members)} whole{_large(part.plan, cache)} with {100 * (GROWTH - 1):.0f} % to "
                "grow: look at their sizes now and then.",
                (OWN_OVERHEAD if part.plan.overhead.own(cache.size_mb) else OVERHEAD).format(cache.overhead_mb),
                memory,
                *((LOCKLESS,) if part.plan.mem_scale and cache.family.endswith(RELAXED) else ()),
                *(() if scripted else (BY_HAND,)),
            ),
        )
    yield from bound


def _bindings(part: Part) -> Iterator[Change]:
    """What is bound, with its need of a new cache."""
    made = dict(part.new)
    for one in part.moved:
        target = part.target(one)
        needs = (cache_key(target, "create"),) if target in made else ()
        first = one.holds[0]
        if one.piece.family.startswith(SYSTEM):
            tables = [(held.table, held.index) for held in one.holds]
            yield bind_system_tables(target, first.database, tables, old=part.home, needs=needs, cautions=_how(one))
        else:
            cautions = (*_how(one), *(() if first.owner else (COMMON_OWNER,)))
            owner = first.owner or "dbo"
            if first.index_id and not first.index:
                where = (target, first.database, owner, first.table, first.index_id)
                yield bind_unnamed(*where, old=part.home, needs=needs)
                continue
            yield bind(
                target, first.database, owner, first.table, first.index, old=part.home, needs=needs, cautions=cautions
            )


def binding_keys(plan: BindingPlan, home: str) -> tuple[str, ...]:
    """Keys of all bindings that the plan takes out of one cache."""
    moved = (Part(plan, home, tuple(plan.of_kind(system, home))) for system in (False, True))
    made = (change.key for part in moved if part.moved for change in changes(part))
    return tuple(dict.fromkeys(key for key in made if key.startswith("ase.bind:")))


def expects(part: Part, contention: float) -> Iterator[Expectation]:
    """Shares of searches, and what becomes of the contention."""
    contents, optimum = part.plan.contents, part.plan.optimum
    before, after = contents.share(contents.searches[part.home]), optimum.shares[part.home]
    yield Expectation(
        f"share of all searches in {part.home}, %", round(100 * before, 1), round(100 * after, 1), "arithmetic"
    )
    for name, cache in part.new:
        yield Expectation(f"share of all searches in {name}, %", None, round(100 * cache.share, 1), "arithmetic")
    chance = "chance that two searches want the same cache spinlock, %"
    yield Expectation(chance, round(100 * optimum.now, 2), round(100 * optimum.after, 2), "arithmetic")
    for name, cache in part.new:
        left = round(part.plan.expected(part.home, cache.share, cache.partitions), 1)
        yield Expectation(f"spinlock contention of {name}", None, left, "heuristic")
    # waits for each grab grow with the rate of a spinlock, waits in all with its square, which is what C adds up
    eased = contention_left(part.plan, part.home, contention)
    if eased is not None:
        yield Expectation(f"spinlock contention of {part.home}", contention, eased, "heuristic")
    waits = round(100 * optimum.after / optimum.now, 1)
    yield Expectation("waits at all cache spinlocks, % of today's", 100.0, waits, "heuristic")
