"""Temporary databases share a contended cache with everything else.

Finds: a data cache with a contended spinlock, engines at work, where the objects of temporary databases make a tenth of
the searches or more and other databases share the cache. Nothing where the cache is not contended, or serves temporary
databases alone.

Why it matters: temporary tables are made, filled, searched and dropped all the time. Each search takes the spinlock of
one partition, and everything else that lives in the cache waits for the same spinlocks and loses pages to them.

What to do: a cache of its own for the temporary databases, strict and never relaxed, as large as what of them is in
memory at the busiest hour and a fifth more, with partitions enough that the contention does not only move; then bind
each temporary database to it. A cache that is there for it and has nothing bound to it is taken first. A database in
use cannot be bound (message 857), and nearly every session uses tempdb: bind it right after a restart, before anybody
is let in. All databases of one tempdb group alike (vendor: Performance and Tuning).

When to ignore it: where one report makes these searches at a quiet time; better SQL with fewer or smaller temporary
tables relieves the cache without a restart. Temporary tables that were dropped between the two snapshots are in no
figure here, so the true share is higher, never lower. Single tables of a temporary database cannot be bound (18098),
its syslogs moves with it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from rules.changes.ase_binding import bind_temporary
from rules.changes.quoting import comment
from rules.finding import Clean, Evidence, Finding, Lacking, Outcome, Severity, Unknown
from rules.judging.caches import own_cache
from rules.judging.caches.bindings import bound_to
from rules.judging.caches.contents import Contents
from rules.judging.caches.figures import named_of, set_apart
from rules.judging.caches.hot import HOT_FACTS, contention_of, searched
from rules.judging.caches.own_cache import Moving, Target
from rules.judging.caches.temporary import (
    TEMPORARY_FACTS,
    perhaps_temporary,
    serves_tempdb,
    temporary_databases,
)
from rules.judging.spinlocks.figures import Figure
from rules.judging.spinlocks.gates import BUSY_ORIGIN, BUSY_PERCENT, CACHE_PERCENT, CACHE_SEARCHES
from rules.judging.spinlocks.ratio import at_work
from rules.kit import limit, rule

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158542520.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc36273.1600/doc/html/san1393051977305.html",
)


@dataclass(frozen=True)
class Limits:
    """From which figures on the rule speaks."""

    contention_percent: float = limit(
        CACHE_PERCENT,
        "vendor: over 10 % more partitions or named caches (System Administration Guide 2)",
        high=100,
        unit="%",
    )
    searches_per_second: float = limit(
        CACHE_SEARCHES, "this project: below this the per cent is of almost nothing", unit="searches/s"
    )
    busy_percent: float = limit(BUSY_PERCENT, BUSY_ORIGIN, high=100, unit="%")
    share_percent: float = limit(own_cache.SHARE_PERCENT, own_cache.SHARE_ORIGIN, low=1, high=100, unit="%")


@rule(needs=(), uses=tuple(dict.fromkeys((*HOT_FACTS, *TEMPORARY_FACTS))), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look for temporary databases in every contended cache."""
    hot, contents, quiet = searched(
        facts,
        contention_percent=limits.contention_percent,
        searches_per_second=limits.searches_per_second,
        busy_percent=limits.busy_percent,
    )
    yield from quiet
    temporary = temporary_databases(facts)
    if contents is None:
        return
    for figure in hot:
        yield from _judge(facts, limits, figure, contents, temporary)
        yield from _guessed(facts, limits, figure, contents, temporary)


def _guessed(
    facts: Facts, limits: Limits, figure: Figure, contents: Contents, temporary: frozenset[str]
) -> Iterator[Outcome]:
    """Ask about databases that are searched much and only have the name of a temporary one: a guess is no ground."""
    for database in sorted(perhaps_temporary(facts) - temporary):
        mine = tuple(one for one in contents.held if one.cache == figure.label and one.database == database)
        share = 100 * Moving(figure, contents, mine).share
        if share >= limits.share_percent:
            name = comment(database)
            said = f"{name} makes {share:.1f} % of the searches of {figure.label}. By its name it might be a temporary "
            said += "database, which is a guess: nothing is bound for it, neither as a whole nor its tables alone"
            yield Unknown(
                (Lacking(f"whether {name} is a temporary database", "a look at sp_helpdb: its status says so"),), said
            )


def _judge(
    facts: Facts, limits: Limits, figure: Figure, contents: Contents, temporary: frozenset[str]
) -> Iterator[Outcome]:
    name, named = figure.label, named_of(facts, figure.label)
    inside = tuple(one for one in contents.held if one.cache == name and one.database in temporary and one.reads)
    moving = Moving(figure, contents, inside)
    share = 100 * moving.share
    others = [one for one in bound_to(facts, name) if one.database not in temporary]
    if serves_tempdb(facts, name, named) and not others:
        yield Clean(f"{figure.said}; it serves temporary databases alone: more partitions (see its own rule)")
    elif share < limits.share_percent:
        said = f"temporary databases make {share:.1f} % of its searches (limit {limits.share_percent:g} %)"
        yield Clean(f"{figure.said}; {said}")
    elif named and (why := set_apart(named)):
        yield Clean(f"{figure.said}; {name} is {why}: no change is proposed")
    elif not own_cache.told_bindings(facts):
        yield Unknown((own_cache.BINDINGS_MISSING,), f"{figure.said}; where temporary databases are bound is not known")
    else:
        target = own_cache.for_temporary(facts, moving, limits.contention_percent)
        yield _finding(facts, limits, moving, target)
        if target.missing:
            yield Unknown(target.missing)


def _finding(facts: Facts, limits: Limits, moving: Moving, target: Target) -> Finding:
    figure, contention, name = moving.figure, contention_of(moving.figure), moving.home
    told = ", ".join(f"{database} {100 * share:.0f} %" for database, share in moving.by_database().items())
    says = [
        f"{contention:g} % of the grabs of the spinlocks of {name} had to wait{at_work(facts, figure)}.",
        f"Temporary databases make {100 * moving.share:.0f} % of its searches {moving.contents.when}: {told}.",
        f"Bind them to a cache of their own, strict and not relaxed. {target.says}",
        figure.aside,
    ]
    changes = (
        (*target.before, *(bind_temporary(target.name, one, old=name, needs=target.needs) for one in moving.databases))
        if target.bindable
        else ()
    )
    weak = figure.since_boot or not moving.contents.of_interval or not changes
    return Finding(
        subject=name,
        severity=Severity.ADVICE if weak else Severity.WARNING,
        title=f"{name}: temporary databases make {100 * moving.share:.0f} % of the searches of a contended cache",
        says=" ".join(part for part in says if part),
        evidence=(
            Evidence("cache spinlock contention", contention, "%", figure.source, limits.contention_percent),
            *own_cache.evidence(moving),
        ),
        explains=("ase/data_cache_spinlock_contended", "ase/engines_not_the_answer"),
        changes=changes,
        expects=own_cache.expects(moving, target) if changes else (),
        weight=figure.weight,
        share=figure.share,
    )
