"""Hot system tables are served from a contended data cache.

Finds: system tables (sysobjects, syscolumns, systypes, sysindexes, sysstatistics, systabstats and the like) that make a
real share of the searches of a data cache whose spinlock is contended, most often the default data cache.

Why it matters: the metadata cache is no cache of system tables. Every query that is parsed or optimised looks up names,
types and statistics in them, in the data cache, like in any other table; each search moves a page from the LRU to the
MRU end under the cache's spinlock, and a large scan of a user table throws them out. Jeff Tallman ("ASE 16 & Managing
VLDB's with VLH", 2014) counted 100,000 such relinkages in about two minutes, and a run fell from 3 minutes to 1.5.

What to do: bind them to a named cache of their own, with relaxed LRU where they are hardly read from disk or changed.
The size comes from their sizes, with a fifth to grow. The server binds them only from inside their database and in
single-user mode: an outage of that database. The tables of master, sysattributes and sysallocpg cannot be bound, nor
single tables of a temporary database. It is a part of one plan with ase/hot_table_in_default_cache.

When to ignore it: when the cache is not contended, or the outage of the database costs more than it gains. Fewer
ad-hoc statements and temporary tables lower the same load without any outage. From 16.0 on systypes is kept with the
metadata.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from rules.ase._evidence.caches import binding_report as report
from rules.ase._evidence.caches.allocation import allocation
from rules.ase._evidence.caches.binding_plan import (
    BindingPlan,
    Lacks,
    movable,
)
from rules.ase._evidence.caches.contents import Contents, Held
from rules.ase._evidence.caches.fit import GROWTH
from rules.ase._evidence.caches.hot import HIDDEN, HOT_FACTS, CacheLimits, contention_of, searched
from rules.ase._evidence.caches.memory import free_memory
from rules.ase._evidence.caches.temporary import TEMPORARY_FACTS
from rules.ase._evidence.objects.seen import sizes
from rules.ase._evidence.server import server_of
from rules.ase._evidence.spinlocks.figures import Figure
from rules.changes.ase_binding import why_not
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown, joined
from rules.sources import TALLMAN

LINKS = (
    "https://blogs.sap.com/2014/07/16/ase-16-managing-vldb-s-with-vlh-very-large-hardware/",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc36273.1600/doc/html/san1393051977305.html",
)
LOOKED_UP = "Every statement that is parsed or optimised looks up names, types and statistics in them."
SYSTYPES = "From 16.0 on systypes is kept with the metadata: binding it gains less."
LACKING = "Bind no system tables yet: for a binding plan some figures are missing, which are to be collected first."
TAKES = (
    "Bind the system tables to a cache of their own of {} {:,.0f} MB, a fifth to grow included{}, which should leave "
    "about {:.1f} % contention in {}. Some figures that the script needs are missing: collect them first{}."
)
BOUND = " (each index without a size is counted as large as its table)"
FREE = ", where {:,.0f} MB are free"
FEWER = (
    "First look what reads the system tables of {0}: fewer ad-hoc statements and temporary tables lower that without "
    "an outage. Bind none of them before its partitions are made and measured (ase/data_cache_spinlock_contended)."
)
NAMED = 2


@dataclass(frozen=True)
class Limits(CacheLimits):
    """`CacheLimits`, from 10 % contention on (vendor), and what to look for; the binding plan has its own."""

    relinkages_per_second: float = limit(
        1000.0,
        f"practice: one server counted 100,000 in about 2 minutes, some 830 per second, rounded to 1,000 ({TALLMAN})",
        unit="searches/s",
    )
    share_percent: float = percent(
        5.0, "this project: with less, an outage of the database gains nothing to be felt", low=0.1
    )
    least_percent: float = percent(
        1.0, "this project: with less, however many relinkages, the contention stays as it is", low=0.0
    )


@rule(needs=(), uses=(*HOT_FACTS, *TEMPORARY_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look for system tables in every contended cache."""
    hot, contents, quiet = searched(facts, limits, spread=True)
    yield from quiet
    if contents is None:
        return
    if not any(one.system for one in contents.held):
        yield Unknown((HIDDEN,), "no system table is among the open objects")
        return
    shared = allocation(facts, contents, limits)
    plan = shared.plan or Lacks(why="no contended cache spreads evenly")
    for figure in hot:
        yield from _judge(facts, limits, figure, contents, plan)


def _judge(
    facts: Facts, limits: Limits, figure: Figure, contents: Contents, plan: BindingPlan | Lacks
) -> Iterator[Outcome]:
    name = figure.label
    if isinstance(plan, Lacks) and plan.why:
        yield Clean(f"{figure.said}; {plan.why}: no binding plan")
        return
    part = None if isinstance(plan, Lacks) else report.Part(plan, name, tuple(plan.of_kind(system=True, home=name)))
    if part and part.moved and part.plan.worth_it:
        yield _finding(facts, limits, figure, contents, part)
        return
    free, fixed = _inside(contents, name)
    share = 100 * contents.inside(name, sum(one.reads for one in free))
    reads = sum(one.reads for one in free)
    rate = reads / contents.seconds if contents.seconds and contents.of_interval else 0.0
    often = rate >= limits.relinkages_per_second and share >= limits.least_percent
    real = share >= limits.share_percent or often
    if real and isinstance(plan, Lacks):
        yield _finding(facts, limits, figure, contents, None)
        yield Unknown(plan.missing)
    elif real and part and report.short_of_memory(part.plan):
        yield _finding(facts, limits, figure, contents, report.Part(part.plan, name, ()))
    else:
        said = f"{figure.said}; system tables that can be bound and are not make {share:.1f} % of its "
        said += f"{contents.of(name)}searches"
        least = f"{limits.share_percent:g} %, or {limits.least_percent:g} % and "
        least += f"{limits.relinkages_per_second:,.0f} per second"
        why = f" (limit {least})" if not real else ", and an outage would gain too little"
        yield Clean(f"{said}{why}{_cannot(contents, name, fixed)}")


def _inside(contents: Contents, name: str) -> tuple[list[Held], list[Held]]:
    """System tables of this cache that may be bound, and those that may not."""
    system = [one for one in contents.held if one.cache == name and one.system and not one.bound]
    return [one for one in system if movable(one)], [one for one in system if not movable(one)]


def _cannot(contents: Contents, name: str, fixed: list[Held]) -> str:
    """What of it the server does not bind, as the end of a sentence."""
    if not fixed:
        return ""
    reasons = dict.fromkeys(why_not(one.database, one.table) or "" for one in fixed)
    share = report.percent(contents.inside(name, sum(one.reads for one in fixed)))
    return f"; {share} come from system tables that stay: {'; '.join(reasons)}"


def _size_mb(facts: Facts, held: Held) -> float | None:
    """Megabytes; of an index without a size those of its table, which a listing by table counts with its indexes."""
    if held.size_mb is not None:
        return held.size_mb
    of, table = sizes(facts).of, (held.database, held.table)
    kb = of.get((table, 0), of.get((table, 1)))
    return None if kb is None else kb / 1024


def _finding(facts: Facts, limits: Limits, figure: Figure, contents: Contents, part: report.Part | None) -> Finding:
    name, contention = figure.label, contention_of(figure)
    free, fixed = _inside(contents, name)
    reads = sum(one.reads for one in free)
    share = report.percent(contents.inside(name, reads))
    rate = reads / contents.seconds if contents.seconds and contents.of_interval else None
    told = ", ".join(f"{one.name} {report.percent(contents.inside(name, one.reads))}" for one in free[:NAMED])
    moves = bool(part and part.moved)
    first = report.partitions_first(facts, part, contention, limits.contention_percent) if part and moves else ""
    scripted = part if part and moves and not first else None
    told += f" and {len(free) - NAMED} more" if len(free) > NAMED else ""
    rates = f", up to {rate:,.0f} relinkages from LRU to MRU per second" if rate is not None else ""
    server = server_of(facts)
    new = server and server.before(16) is False and any(one.table.lower() == "systypes" for one in free)
    do, unknown = FEWER.format(name) if first else "", ""
    if part is None:
        mb = [_size_mb(facts, one) for one in free]
        stays = contention * (1 - contents.inside(name, reads))
        told_mb = GROWTH * sum(one or 0.0 for one in mb)
        whole = all(one.size_mb is not None for one in free)
        room = free_memory(facts)
        free_mb = FREE.format(room.mb) if room else ""
        do = TAKES.format("about" if whole else "at most", told_mb, free_mb, stays, name, "" if whole else BOUND)
        known_all = None not in mb and not contents.partial(name)
        do = do if known_all and stays < limits.contention_percent else LACKING
    elif not part.moved:
        do = report.short_of_memory(part.plan)
    elif not first:
        left = report.contention_left(part.plan, name, contention)
        do = report.do(part, goes_under=left is not None and left < limits.contention_percent)
        unknown = report.unknown(part.plan)
    evidence = [Evidence("cache spinlock contention", contention, "%", figure.source, limits.contention_percent)]
    if rate is not None:
        evidence.append(Evidence("searches by system tables", round(rate, 1), "/s", free[0].source))
    if scripted:
        evidence += report.evidence(scripted)
    weak = figure.light_average or not contents.of_interval or scripted is None
    return Finding(
        subject=name,
        severity=Severity.ADVICE if weak else Severity.WARNING,
        title=f"{name}: system tables make {share} of the {contents.of(name)}searches of a contended cache",
        seen=f"System tables make {share} of the {contents.of(name)}searches of {name} {contents.when}{rates}: {told}"
        f"{_cannot(contents, name, fixed)}. {contention:.3g} % of the grabs of its spinlocks had to wait.",
        because=joined(LOOKED_UP, SYSTYPES if new else ""),
        do=do,
        unknown=joined(unknown, contents.caveat),
        evidence=tuple(evidence),
        explains=() if first else ("ase/data_cache_spinlock_contended", "ase/engines_not_the_answer"),
        changes=tuple(report.changes(scripted)) if scripted else (),
        expects=tuple(report.expects(scripted, contention)) if scripted else (),
        weight=figure.weight,
        share=contention * contents.inside(name, reads),
    )
