"""Temporary databases share a contended cache with everything else.

Finds: a data cache with a contended spinlock, engines at work, where the objects of temporary databases make a tenth of
the searches or more and other databases share the cache. Nothing where the cache is not contended, or serves temporary
databases alone.

Why it matters: temporary tables are made, filled, searched and dropped all the time. Each search takes the spinlock of
one partition, and everything else that lives in the cache waits for the same spinlocks and loses pages to them.

What to do: a cache of its own for the temporary databases, strict and never relaxed, as large as what of them is in
memory at the busiest hour and a fifth more, with the share of large I/O that they had and partitions enough that the
contention does not only move; then bind each temporary database to it. Its memory comes from the one account of all
caches that are advised: what is free, else the default data cache, made smaller once for all of them in a restart where
it can give it. A cache that is there for it and has nothing bound to it is taken first. A database in use cannot be
bound (message 857), and nearly every session uses tempdb: bind it right after a restart, before anybody is let in. All
databases of one tempdb group alike (vendor: Performance and Tuning).

When to ignore it: where one report makes these searches at a quiet time; better SQL with fewer or smaller temporary
tables reduces that load without a restart. Temporary tables that were dropped between the two snapshots are in no
figure here, so the true share is higher, never lower. Single tables of a temporary database cannot be bound (18098),
its syslogs moves with it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from rules.ase._evidence.caches import own_cache
from rules.ase._evidence.caches.allocation import allocation
from rules.ase._evidence.caches.bindings import bound_to
from rules.ase._evidence.caches.contents import Contents
from rules.ase._evidence.caches.figures import named_of
from rules.ase._evidence.caches.hot import HOT_FACTS, searched
from rules.ase._evidence.caches.own_cache import Moving
from rules.ase._evidence.caches.temporary import (
    TEMPORARY_FACTS,
    perhaps_temporary,
    serves_tempdb,
    temporary_databases,
)
from rules.ase._evidence.spinlocks.figures import Figure
from rules.changes.ase_binding import bind_temporary
from rules.changes.quoting import comment
from rules.engine import rule
from rules.finding import Clean, Outcome, Unknown

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158542520.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc36273.1600/doc/html/san1393051977305.html",
)
OWN = own_cache.Apart(
    what="temporary databases",
    short="temporary databases",
    where="temporary databases are bound",
    because="Temporary tables are made, searched and dropped all the time: everything else in the cache waits for the "
    "same spinlocks and loses pages to them.",
    advice="Bind them right after a restart (in use they are refused) to a cache of their own, strict and not relaxed",
    logs=False,
    bind=bind_temporary,
)


@dataclass(frozen=True)
class Limits(own_cache.OwnCacheLimits):
    """`OwnCacheLimits`: from 10 % contention on (vendor), of which they make a tenth (this project)."""


@rule(needs=(), uses=(*HOT_FACTS, *TEMPORARY_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look for temporary databases in every contended cache."""
    hot, contents, quiet = searched(facts, limits)
    yield from quiet
    temporary = temporary_databases(facts)
    if contents is None:
        return
    given = allocation(facts, contents, limits).given if hot else {}
    for figure in hot:
        yield from _judge(facts, limits, figure, contents, temporary, given)
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
            yield Unknown.without(
                f"whether {name} is a temporary database", "a look at sp_helpdb: its status says so", said
            )


def _judge(
    facts: Facts, limits: Limits, figure: Figure, contents: Contents, temporary: frozenset[str], given: own_cache.Given
) -> Iterator[Outcome]:
    name, named = figure.label, named_of(facts, figure.label)
    inside = tuple(one for one in contents.held if one.cache == name and one.database in temporary and one.reads)
    moving = Moving(figure, contents, inside)
    others = [one for one in bound_to(facts, name) if one.database not in temporary]
    if serves_tempdb(facts, name, named) and not others:
        yield Clean(f"{figure.said}; it serves temporary databases alone: more partitions (see its own rule)")
    else:
        yield from own_cache.judge(facts, limits, moving, OWN, given)
