"""One account of memory for all data caches that an audit advises, in the order of what they take off.

Three kinds are carved out of one contended cache: a cache for temporary databases, one for logs, and those of the
binding plan. Each by itself would spend the same free memory. Here it is given once: a cache of their own that alone
brings a contended cache under its limit comes first, as it makes the binding plan pointless, then by the searches that
move, most first. What does not fit is made of the default data cache, all of it in one restart with one size, where
that can give it; what does not fit then is said with what was given before it. Order of work:
knowledge/ase-waits-caches.md, section 8.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from collectors.facts import Facts
from rules.ase._evidence.caches.binding_plan import (
    FREE_MARGIN_PERCENT,
    WORTH_PERCENT,
    BindingPlan,
    Lacks,
    binding_plan,
    carved_plan,
    default_cache,
    no_more_than,
    within,
)
from rules.ase._evidence.caches.binding_report import Part, partitions_first
from rules.ase._evidence.caches.carving import Carving, Uncarved, can_give, carved
from rules.ase._evidence.caches.contents import Contents, Held
from rules.ase._evidence.caches.figures import named_of, set_apart
from rules.ase._evidence.caches.hot import CacheLimits, contention_of, searched
from rules.ase._evidence.caches.memory import Room, free_memory
from rules.ase._evidence.caches.moving import (
    SHARE_PERCENT,
    Moving,
    enough,
    logs_of,
    share_after,
    temporaries_of,
    told_bindings,
    told_temporary,
)
from rules.ase._evidence.caches.own_cache import Given, NewCache, wanted
from rules.ase._evidence.caches.partitions import enough_alone, legal_partitions
from rules.ase._evidence.objects.scans import scanned_of
from rules.ase._evidence.server import engines_at_most
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.uneven import uneven
from rules.laws.hashing import next_power_of_two

PARTITIONS_FIRST = "{:.0f} partitions of it are expected to be enough by themselves, in a restart that takes no memory"
OTHERS_FIRST = "{} is made of its memory first"
LITTLE_SHARE = 0.1
"""This project: for what leaves the cache over its limit no more than a tenth of it is taken away."""
BOTH_OF_IT = "it could not give the memory for {} as well"


@dataclass(frozen=True)
class Allocation:
    """What each of the advised caches may take."""

    plan: BindingPlan | Lacks | None
    """The binding plan of the contended caches, with its memory; `None` where none of them spreads evenly."""
    given: Given = field(default_factory=dict)


@dataclass(frozen=True)
class _Own:
    """A new cache for temporary databases or logs that a rule is going to ask for."""

    moving: Moving
    logs: bool
    new: NewCache
    first: bool
    """Whether it alone brings its contended cache under the limit."""

    @property
    def key(self) -> tuple[str, bool]:
        return self.moving.home, self.logs

    @property
    def said(self) -> str:
        return f"{self.new.name} ({self.new.spend_mb:,.0f} MB)"


def allocation(facts: Facts, contents: Contents, limits: CacheLimits) -> Allocation:
    """Share out the free memory among all caches that the rules advise for the contended ones, by these limits."""
    hot, _, _ = searched(facts, limits)
    goal = limits.contention_percent
    even = tuple(one.label for one in hot if not uneven(one.lock, goal))
    plan = binding_plan(facts, contents, even, carve=False) if even else None
    free = free_memory(facts)
    owns = sorted(
        (one for figure in hot for one in _owns(facts, contents, Moving(figure, contents, ()), goal)),
        key=lambda one: (not one.first, -one.moving.reads, one.new.name),
    )
    if free is None:
        return Allocation(plan)
    scripted = isinstance(plan, BindingPlan) and plan.worth_it and not _waits(facts, plan, goal)
    effect = _effect(plan) if isinstance(plan, BindingPlan) and scripted else 0.0
    left, before = free.mb, list[str]()
    rooms: dict[tuple[str, bool], Room] = {}
    given_plan = False
    for one in owns:
        if isinstance(plan, BindingPlan) and not given_plan and not one.first and effect > one.moving.reads:
            plan, left, given_plan = _given(facts, plan, left, before, goal)
        rooms[one.key] = Room(left, free.mb, tuple(before), one.new.spend_mb <= left, host=free.host)
        if rooms[one.key].fits:
            left -= one.new.spend_mb
            before.append(one.said)
    if isinstance(plan, BindingPlan) and not given_plan:
        plan, left, _ = _given(facts, plan, left, before, goal)
    short = [one for one in owns if not rooms[one.key].fits]
    return _carve(facts, contents, plan, rooms, short, left, goal)


def leaving_first(facts: Facts, figure: Figure, contents: Contents, goal: float) -> Moving | None:
    """The temporary databases that are asked to leave a contended cache before its logs; `None` where they stay."""
    moving = temporaries_of(facts, figure, contents)
    if 100 * moving.share < SHARE_PERCENT:
        return None
    found = wanted(facts, moving, goal, logs=False)
    return None if (found.useless if isinstance(found, NewCache) else found.pointless) else moving


def _owns(facts: Facts, contents: Contents, home: Moving, goal: float) -> Iterator[_Own]:
    """The new caches that are going to be asked for one contended cache."""
    figure, named = home.figure, named_of(facts, home.home)
    if named and set_apart(named):
        return
    for logs in (False, True):
        moving = logs_of(facts, figure, contents) if logs else temporaries_of(facts, figure, contents)
        before = leaving_first(facts, figure, contents, goal) if logs else None
        if not (told_bindings(facts) if logs else told_temporary(facts, moving.databases)):
            continue
        if 100 * share_after(moving, before) < SHARE_PERCENT or (before and enough(before, goal)):
            continue
        new = wanted(facts, moving, goal, logs=logs)
        if isinstance(new, NewCache) and not new.useless:
            yield _Own(moving, logs, new, enough(moving, goal) and new.contention < goal)


def _effect(plan: BindingPlan) -> float:
    """Searches that the binding plan moves, over the time that was counted."""
    return sum(plan.bindables[name].piece.share for name in plan.optimum.moved) * plan.contents.total


def _waits(facts: Facts, plan: BindingPlan, goal: float) -> bool:
    """Whether the binding plan is not made before something else is: then it takes no memory from others."""
    held = [held for name in plan.optimum.moved for held in plan.bindables[name].holds if not held.system]
    if held and scanned_of(facts, held):
        return True
    homes = {plan.bindables[name].piece.home for name in plan.optimum.moved}
    return any(partitions_first(facts, Part(plan, home, ()), plan.contended.get(home, 0.0), goal) for home in homes)


def _given(
    facts: Facts, plan: BindingPlan, left: float, before: list[str], goal: float
) -> tuple[BindingPlan, float, bool]:
    """The binding plan within what is left, and what is left after it; `before` is added to."""
    found = no_more_than(facts, within(facts, plan, left, tuple(before)), goal)
    if found.worth_it and found.named:
        spent = found.memory_mb * (1 + FREE_MARGIN_PERCENT / 100)
        left -= spent
        before.append(f"the binding plan ({spent:,.0f} MB with what stays free)")
    return found, max(0.0, left), True


def _carve(
    facts: Facts,
    contents: Contents,
    plan: BindingPlan | Lacks | None,
    rooms: dict[tuple[str, bool], Room],
    short: list[_Own],
    left: float,
    goal: float,
) -> Allocation:
    """Make the rest of the default data cache, where it can give it."""
    lacks = isinstance(plan, BindingPlan) and not plan.worth_it and plan.with_memory is not None
    if not short and not lacks:
        return Allocation(_whole(facts, plan, left, goal), {key: (room, None) for key, room in rooms.items()})
    refused, mine = _refused(facts, contents, short, goal)
    carving: Carving | None = None
    if mine and not refused:
        plan, carving, mine = _together(facts, contents, plan, mine, left, lacks=lacks)
        refused = "" if carving else "what would move leaves too little for what stays in it"
    if isinstance(plan, BindingPlan) and lacks and carving is None:
        plan = no_more_than(facts, carved_plan(facts, plan, left_mb=left), goal, left_mb=left)
    given: dict[tuple[str, bool], tuple[Room, Carving | None]] = {}
    taken = ", ".join(one.new.name for one in mine) if carving else ""
    for key, room in rooms.items():
        if carving and any(one.key == key for one in mine):
            given[key] = (room, carving)
        elif not room.fits:
            given[key] = (replace(room, why=refused or BOTH_OF_IT.format(taken or "the binding plan")), None)
        else:
            given[key] = (room, None)
    return Allocation(plan, given)


def _whole(facts: Facts, plan: BindingPlan | Lacks | None, left: float, goal: float) -> BindingPlan | Lacks | None:
    """The plan, with memory of the default data cache where what is free leaves the contention at its limit.

    One plan for all that is hot costs one restart; half of it now, and the rest in a restart later, costs both. Where
    even that leaves it there, it is made if it takes off more by what a whole plan must, and little of that cache: a
    little that is free hides no better plan.
    """
    if not isinstance(plan, BindingPlan) or not (plan.worth_it and plan.barely(goal) and plan.with_memory):
        return plan
    spent = plan.memory_mb * (1 + FREE_MARGIN_PERCENT / 100)
    more = carved_plan(facts, plan, left_mb=left + spent)
    gain = 100.0 * (plan.optimum.after - more.optimum.after) / plan.optimum.now
    if (
        isinstance(more.carving, Carving)
        and more.barely(goal)
        and not (gain >= WORTH_PERCENT and _little(more.carving))
    ):
        return replace(plan, carving=Uncarved("what it can give would not be enough"))
    return no_more_than(facts, more, goal, left_mb=left + spent)


def _little(carving: Carving) -> bool:
    """Whether it takes little of the default data cache."""
    return carving.freed_mb <= LITTLE_SHARE * carving.old_mb


def _refused(facts: Facts, contents: Contents, short: list[_Own], goal: float) -> tuple[str, list[_Own]]:
    """Why the default data cache gives nothing for caches of their own, and those that come out of it."""
    named = default_cache(facts, contents)
    if why := can_give(facts, named):
        return why.why, []
    assert named is not None  # noqa: S101 - can_give() has refused that
    mine = [one for one in short if one.moving.home == named.name]
    if not mine:
        return "what moves does not come out of it", []
    cut = enough_alone(facts, named.name, contention_of(mine[0].moving.figure), goal)
    return (PARTITIONS_FIRST.format(cut[0]) if cut else ""), mine


def _together(
    facts: Facts, contents: Contents, plan: BindingPlan | Lacks | None, mine: list[_Own], left: float, *, lacks: bool
) -> tuple[BindingPlan | Lacks | None, Carving | None, list[_Own]]:
    """Carve for as many as the default data cache can give, the binding plan with them where nothing comes before it.

    Gives the plan, what the default data cache is made smaller to, and the caches of their own that are made of it.
    """
    named = default_cache(facts, contents)
    assert named is not None  # noqa: S101 - can_give() has refused that
    waits = any(one.first for one in mine)
    engines = engines_at_most(facts)
    most = min(legal_partitions(facts), next_power_of_two(engines or 1))
    for count in range(len(mine), 0, -1):
        some = mine[:count]
        held = tuple(held for one in some for held in one.moving.held)
        fixed = (sum(one.new.memory_mb for one in some), held)
        if isinstance(plan, BindingPlan) and lacks and not waits:
            with_plan = carved_plan(facts, plan, fixed, left_mb=left)
            if isinstance(with_plan.carving, Carving):
                return with_plan, with_plan.carving, some
        found = carved(facts, contents, named, left, most, _nothing, fixed)
        if not isinstance(found, Uncarved):
            why = OTHERS_FIRST.format(" and ".join(one.new.name for one in some))
            rest = replace(plan, carving=Uncarved(why)) if isinstance(plan, BindingPlan) and lacks else plan
            return rest, found[1], some
    return plan, None, mine


def _nothing(memory_mb: float) -> tuple[None, tuple[Held, ...]]:
    """No binding plan beside what is fixed."""
    return None, ()
