"""A few objects make most of the searches of a contended cache.

Finds: a data cache whose spinlock is contended, engines at work, where a few tables and indexes that are not bound to
a cache of their own make most of the searches, and a better spread over caches is possible.

Why it matters: each search takes the spinlock of one partition of the cache. The chance that two searches at one moment
want the same spinlock is the sum, over all caches, of (share of searches)² / partitions: everything in one cache is the
worst there is. Cache partitions help less than their number says where one table is hot.

What to do: the binding plan. Of all ways to bind the most searched objects to new caches, or to caches that have room,
it is the one that lowers that chance most within the memory that is free, where each move must be worth its exclusive
lock. Objects that are hardly read from disk or changed, and do not outgrow their room within a year, go to caches with
relaxed LRU, the others to strict ones; the
system tables are part of the same plan, those of temporary databases are not. What is bound already stays where it is.
Each cache holds its objects whole, with a fifth to grow and the share of pools for large I/O that their old cache has.
Where too little memory is free the default data cache gives what moves out of it, in a restart before the caches are
made: it keeps half of its size and nine tenths of what stays in it, and gives nothing while it reads much from disk.
Where more partitions should be enough by themselves it gives nothing either: they cost the restart alone and come
first, and objects are bound only if the contention stays.

Of a plan that brings the caches under their limit only the most searched objects are moved, as many as that takes.
Where the plan would leave the cache over the limit, and a cache of their own for the temporary databases or for the
logs would not, that comes first, and the memory is theirs. Else memory is shared out among all of them by the searches
that move, most first, and what is taken from the default data cache is taken once, with its partitions.

When to ignore it: when one scan makes the searches (see ase/table_scans_relink_cache), and where the tables are to
grow soon past what memory can hold. A cache of its own also takes memory from everything else that might need it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts
from rules.ase._evidence.caches import binding_report as report
from rules.ase._evidence.caches import own_cache
from rules.ase._evidence.caches.allocation import Allocation, allocation
from rules.ase._evidence.caches.binding_plan import (
    Lacks,
    movable,
)
from rules.ase._evidence.caches.contents import Contents, Held
from rules.ase._evidence.caches.figures import named_of
from rules.ase._evidence.caches.hot import HOT_FACTS, CacheLimits, contention_of, searched
from rules.ase._evidence.caches.moving import SHARE_PERCENT, logs_of, temporaries_of, told_bindings
from rules.ase._evidence.caches.temporary import TEMPORARY_FACTS, serves_tempdb
from rules.ase._evidence.objects.open_partitions import PARTITION_FACTS, partition_evidence
from rules.ase._evidence.objects.scans import Scanned, scanned_of
from rules.ase._evidence.objects.seen import name_evidence, name_of
from rules.ase._evidence.objects.statements import STATEMENT_FACTS, with_statements
from rules.ase._evidence.spinlocks.figures import Figure
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown, joined
from rules.sources import TALLMAN

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158542520.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc36273.1600/doc/html/san1393051977305.html",
    "https://blogs.sap.com/2014/07/16/ase-16-managing-vldb-s-with-vlh-very-large-hardware/",
)

NAMED_PERCENT = 1.0
"""This project: objects with less of a cache's searches are not named."""

OWN_CACHE_FIRST = (
    "First make a cache of their own for the {} ({}), which should leave less than {:g} % where this plan leaves about "
    "{:g} %; only if it is still over the limit, "
)
SPREAD = "Each search takes one of these spinlocks, and everything in one cache is the worst spread there is."
LACKING = (
    "Bind none of these tables yet, {} neither, which is searched most: for a binding plan these are to be collected "
    "first: {}."
)

TEMPORARY_FIRST = (
    "First give the temporary databases a cache of their own: they make {} of its searches, all that the binding plan "
    "would move {}. Measure then, and bind tables only if the contention stays."
)
OWN_FIRST = (
    "First give the {} a cache of their own ({}), then measure: without them this cache is expected to be under the "
    "limit. Bind tables, or cut it into more partitions, only if it is still over it then."
)
LOGS_FIRST = (
    "First give the transaction logs a cache of their own (ase/log_in_shared_cache), which can be small: they make {} "
    "of its searches. Binding them is an outage of the database, so do it with the restart of the partitions, and bind "
    "tables only if the contention stays."
)
LOGS_ALONE = (
    "First give the transaction logs a cache of their own (ase/log_in_shared_cache), which can be small: they make {} "
    "of its searches. Bind tables only if the contention stays; their plan lacks figures: {}."
)
SCANS_FIRST = (
    "Nothing is to be bound: scans of {} make its searches, and in a cache of its own each page scanned is one search "
    "as well. Fix the statements that scan (ase/table_scans_relink_cache), measure, and bind only if the contention "
    "stays."
)


@dataclass(frozen=True)
class Limits(CacheLimits):
    """`CacheLimits`, from 10 % contention on (vendor), and what to look for; the binding plan has its own."""

    objects: int = limit(
        5, f"this project: what 'key tables' are ({TALLMAN} moved one, then the others)", low=1, high=24
    )
    share_percent: float = percent(30.0, "this project: with less, the rest of the cache is the load", low=1)


@rule(needs=(), uses=(*HOT_FACTS, *STATEMENT_FACTS, *TEMPORARY_FACTS, *PARTITION_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look into every contended cache."""
    hot, contents, quiet = searched(facts, limits, spread=True)
    yield from quiet
    if contents is None:
        return
    shared = allocation(facts, contents, limits)
    for figure in hot:
        top = [(one.database, one.table) for one in _top(contents, figure.label, limits)]
        for said in _judge(facts, limits, figure, contents, shared):
            yield with_statements(said, facts, top) if isinstance(said, Finding) else said


def _judge(facts: Facts, limits: Limits, figure: Figure, contents: Contents, shared: Allocation) -> Iterator[Outcome]:
    name, plan = figure.label, shared.plan or Lacks(why="no contended cache spreads evenly")
    if isinstance(plan, Lacks) and plan.why:
        yield Clean(f"{figure.said}; {plan.why}: no binding plan")
        return
    part = None if isinstance(plan, Lacks) else report.Part(plan, name, tuple(plan.of_kind(system=False, home=name)))
    if part and part.moved and part.plan.worth_it:
        yield _finding(facts, limits, figure, contents, part, shared.given)
        return
    inside = [one for one in contents.held if one.cache == name and not one.system]
    bound = contents.inside(name, sum(one.reads for one in inside if one.bound))
    top = _free(contents, name)[: limits.objects]
    share = 100 * contents.inside(name, sum(one.reads for one in top))
    few = share >= limits.share_percent
    if few and isinstance(plan, Lacks):
        lacking = "; ".join(one.fact for one in plan.missing)
        yield _finding(facts, limits, figure, contents, None, shared.given, lacking)
        yield Unknown(plan.missing)
    elif few and part and report.short_of_memory(part.plan):
        yield _finding(facts, limits, figure, contents, report.Part(part.plan, name, ()), shared.given)
    else:
        said = f"{figure.said}; the {len(top)} most searched objects not bound yet make {share:.1f} % of its "
        said += f"{contents.of(name)}searches"
        said += f", {report.percent(bound)} come from what is bound to it already" if bound else ""
        why = f"limit {limits.share_percent:g} %" if part is None else _no_plan(part)
        yield Clean(f"{said}: {why}")


def _free(contents: Contents, name: str) -> list[Held]:
    """User objects of a cache that are not bound and might be, most searched first."""
    return [one for one in contents.held if one.cache == name and not one.system and not one.bound and movable(one)]


def _top(contents: Contents, name: str, limits: Limits) -> list[Held]:
    """The few most searched objects of a cache; those that hardly count left out."""
    return [
        one
        for one in _free(contents, name)[: limits.objects]
        if 100 * contents.inside(name, one.reads) >= NAMED_PERCENT
    ]


def _no_plan(part: report.Part) -> str:
    """Why the plan holds nothing for this cache."""
    if part.plan.worth_it:
        return "the binding plan moves other things (see ase/system_tables_in_default_cache)"
    return report.not_worth(part.plan)


def _finding(
    facts: Facts,
    limits: Limits,
    figure: Figure,
    contents: Contents,
    part: report.Part | None,
    given: own_cache.Given,
    lacking: str = "",
) -> Finding:
    """`part`: what the plan moves; `None` where none can be made for want of figures (`lacking`)."""
    name, contention = figure.label, contention_of(figure)
    top = _top(contents, name, limits)
    share = contents.inside(name, sum(one.reads for one in top))
    told = ", ".join(f"{one.name} {report.percent(contents.inside(name, one.reads))}" for one in top)
    moves = bool(part and part.moved)
    goal, own, first = limits.contention_percent, None, ""
    if part is None or moves:
        own = own_cache.enough_alone(facts, figure, contents, goal, given)
    if part and moves:
        first = "" if own else _temporary_first(facts, figure, contents, part, given)
        first = first or _first(facts, part, contention, goal)
        if first.startswith(report.NOT_YET):
            if own and own.rule == own_cache.TEMPORARY_RULE:
                first = OWN_FIRST.format(own.says, own.rule)
            else:
                first = _logs_first(facts, figure, contents, goal, given) or first
    scripted = part if part and moves and not first else None
    yields: tuple[str, ...] = ()
    because, do, unknown = SPREAD, first, ""
    scans = bool(first) and first.startswith(SCANS_FIRST.partition("{")[0])
    if part is None:
        if scanned := scanned_of(facts, top):
            do = _scans_first(scanned)
        else:
            do = first = (
                OWN_FIRST.format(own.says, own.rule)
                if own
                else _logs_first(facts, figure, contents, goal, given, lacking)
            )
            do = do or LACKING.format(top[0].name, lacking)
    elif not part.moved:
        do = report.short_of_memory(part.plan)
    elif not first:
        left = report.contention_left(part.plan, name, contention)
        under = left is not None and left < goal
        own = None if under else own
        yields = own.keys if own else ()
        before = OWN_CACHE_FIRST.format(own.says, own.rule, goal, left) if own else ""
        do = report.do(part, goes_under=under, before=before)
        because, unknown = report.chance(part), report.unknown(part.plan)
    shares = [
        Evidence(
            f"{contents.of(name)}searches of {name} by {one.name}",
            round(100 * contents.inside(name, one.reads), 1),
            "%",
            one.source,
        )
        for one in top
    ]
    proof = list(report.evidence(scripted)) if scripted else shares
    weak = figure.light_average or not contents.of_interval or scripted is None or yields
    return Finding(
        subject=name,
        # what comes first is a finding of its own: this one asks for nothing before that
        severity=Severity.NOTE if first and not scans else Severity.ADVICE if weak else Severity.WARNING,
        title=f"{name}: {_count(top)} {report.percent(share)} of the {contents.of(name)}searches of a contended cache"
        + (report.stays(scripted, top, goal) if scripted else "")
        # the only word of them on the first page, where no step moves them
        + ("" if scripted else f", {top[0].name}{' most' if len(top) > 1 else ''}"),
        seen=f"{_count(top)} {report.percent(share)} of the {contents.of(name)}searches of {name} {contents.when} "
        f"({told}), and {contention:.3g} % of the grabs of its spinlocks had to wait.",
        because=because,
        do=do,
        unknown=joined(unknown, contents.caveat),
        evidence=(
            Evidence("cache spinlock contention", contention, "%", figure.source, limits.contention_percent),
            *proof,
            *name_evidence(facts, [one.database for one in top]),
            *partition_evidence(
                facts,
                [((one.database, one.table), one.index_id, one.name) for one in top],
                "logical_reads",
                "searches",
            ),
        ),
        explains=() if first or yields else ("ase/data_cache_spinlock_contended", "ase/engines_not_the_answer"),
        changes=tuple(replace(one, yields_to=(*one.yields_to, *yields)) for one in report.changes(scripted))
        if scripted
        else (),
        expects=tuple(report.expects(scripted, contention)) if scripted else (),
        weight=figure.weight,
        share=contention * share,
    )


def _first(facts: Facts, part: report.Part, contention: float, goal: float) -> str:
    """What comes before the plan, as sentences; empty where nothing does."""
    scans = scanned_of(facts, [held for one in part.moved for held in one.holds])
    if scans:
        return _scans_first(scans)
    return report.partitions_first(facts, part, contention, goal)


def _scans_first(scans: list[Scanned]) -> str:
    return SCANS_FIRST.format(", ".join(name_of(one.row) for one in scans))


def _temporary_first(
    facts: Facts, figure: Figure, contents: Contents, part: report.Part, given: own_cache.Given
) -> str:
    """That temporary databases, which make more of the searches than the plan would move, get a cache of their own.

    Empty where no memory is left for that.
    """
    room = given.get((part.home, False))
    if (room and not room[0].fits) or serves_tempdb(facts, part.home, named_of(facts, part.home)):
        return ""
    theirs = temporaries_of(facts, figure, contents).share
    moved = contents.inside(part.home, sum(held.reads for one in part.moved for held in one.holds))
    return TEMPORARY_FIRST.format(report.percent(theirs), report.percent(moved)) if theirs > moved else ""


def _logs_first(
    facts: Facts, figure: Figure, contents: Contents, goal: float, given: own_cache.Given, lacking: str = ""
) -> str:
    """That logs with a real share of the searches go out before tables; empty where nothing is to be bound for them.

    `lacking`: what the tables' plan lacks; then only where the logs' own cache lacks nothing.
    """
    moving = logs_of(facts, figure, contents)
    if 100 * moving.share < SHARE_PERCENT or not told_bindings(facts):
        return ""
    target = own_cache.target_of(facts, moving, goal, given, logs=True)
    if target.pointless or target.refused or (lacking and not target.bindable):
        return ""
    return (LOGS_ALONE if lacking else LOGS_FIRST).format(report.percent(moving.share), lacking)


def _count(top: list[Held]) -> str:
    return "1 object makes" if len(top) == 1 else f"{len(top)} objects make"
