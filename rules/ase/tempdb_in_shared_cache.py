"""Temporary databases share a contended cache with everything else.

Finds: a data cache with a contended spinlock, engines at work, where the objects of temporary databases make a tenth of
the searches or more and other databases share the cache. Nothing where the cache is not contended, or serves temporary
databases alone. Contended or not, a cache of which they hold half and make half of the searches while it reads a
thousand times a second from disk, nearly all of it for the others, where the memory for a cache of their own is free.

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
from collectors.facts.ase import CacheBinding, MonDataCache, NamedCache
from rules.ase._evidence.caches import own_cache
from rules.ase._evidence.caches.allocation import allocation
from rules.ase._evidence.caches.bindings import bound_to
from rules.ase._evidence.caches.contents import Contents, by_database
from rules.ase._evidence.caches.crowded import Crowded, crowded
from rules.ase._evidence.caches.crowded import own_cache as own_cache_for
from rules.ase._evidence.caches.figures import named_of, set_apart
from rules.ase._evidence.caches.hot import HOT_FACTS, searched
from rules.ase._evidence.caches.memory import MEMORY_MISSING, FreeMemory, free_memory
from rules.ase._evidence.caches.moving import Moving, told_bindings
from rules.ase._evidence.caches.temporary import (
    TEMPORARY_FACTS,
    perhaps_temporary,
    serves_tempdb,
    sums_of_temporary,
    temporary_databases,
)
from rules.ase._evidence.spinlocks.figures import Figure
from rules.changes.ase_binding import bind_temporary
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Change, Clean, Evidence, Expectation, Finding, Outcome, Severity, Unknown, grouped

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


CROWDS = "What temporary tables hold of the cache is not there for the tables that are read from disk meanwhile."
MAKE = (
    "Make {} of free memory ({:,.0f} MB are free) and bind them to it right after a restart (in use they are refused): "
    "all of {} is then for the others."
)
TOO = "By its name {0} may be a temporary database, too: where sp_helpdb says so, size the cache for it and bind it."
READ_ONCE = (
    "Reads of scans, or of pages that are needed once, come back in a cache of any size: monSysStatement shows who "
    "reads."
)


@dataclass(frozen=True)
class Limits(own_cache.OwnCacheLimits):
    """`OwnCacheLimits`: from 10 % contention on (vendor), of which they make a tenth (this project)."""

    reads_per_second: float = limit(
        1000.0, "this project: with fewer reads a second more memory changes little", low=1, unit="reads/s"
    )
    held_percent: float = percent(50.0, "this project: of a cache, and of its searches, that others cannot have", low=1)
    others_percent: float = percent(90.0, "this project: of the reads, that the others need the memory and not they")


@rule(needs=(), uses=(*HOT_FACTS, *TEMPORARY_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look for temporary databases in every contended cache."""
    hot, contents, quiet = searched(facts, limits)
    yield from _crowds(facts, limits, {figure.label for figure in hot})
    temporary = temporary_databases(facts)
    seen = contents
    if hot and contents is None and (sums := sums_of_temporary(facts)):
        seen, contents = by_database(facts), sums
        quiet.pop()  # that nothing was counted by object
    yield from quiet
    if contents is None:
        return
    given = allocation(facts, contents, limits).given if hot else {}
    for figure in hot:
        asked = _guessed(facts, limits, figure, seen or contents, temporary)
        for said in _judge(facts, limits, figure, contents, temporary, given):
            yield said.adding(unknown=TOO.format(", ".join(asked))) if asked and isinstance(said, Finding) else said
        yield from asked.values()


def _guessed(
    facts: Facts, limits: Limits, figure: Figure, contents: Contents, temporary: frozenset[str]
) -> dict[str, Unknown]:
    """Ask about databases that are searched much and only have the name of a temporary one: a guess is no ground."""
    found = {}
    for database in sorted(perhaps_temporary(facts) - temporary):
        mine = tuple(one for one in contents.held if one.cache == figure.label and one.database == database)
        share = 100 * Moving(figure, contents, mine).share
        if share >= limits.share_percent:
            name = comment(database)
            said = f"{name} makes {share:.1f} % of the searches of {figure.label}. By its name it might be a temporary "
            said += "database, which is a guess: nothing is bound for it, neither as a whole nor its tables alone"
            found[name] = Unknown.without(
                f"whether {name} is a temporary database", "a look at sp_helpdb: its status says so", said
            )
    return found


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


def _crowds(facts: Facts, limits: Limits, contended: set[str]) -> Iterator[Outcome]:
    """Caches that are not contended, of which temporary databases hold what others are short of."""
    rows = {one.name: one for one in facts.every(MonDataCache) if one.of_interval and one.believed}
    free, bound = free_memory(facts), {one.database for one in facts.every(CacheBinding) if one.table is None}
    for name, row in rows.items():
        others_there = {*rows, *(one.name for one in facts.every(NamedCache))} - {name}
        named = named_of(facts, name)
        seen = crowded(facts, row, named) if named and name not in contended and not set_apart(named) else None
        if named is None or seen is None or named.pending or seen.rate < limits.reads_per_second:
            continue
        half, others = limits.held_percent / 100, limits.others_percent / 100
        if not half * seen.size_mb <= seen.held_mb <= seen.size_mb or not bound.isdisjoint(seen.databases):
            continue
        if seen.searches < half or 1 - seen.reads < others:
            continue
        changes, takes = own_cache_for(facts, seen, named, own_cache.fresh_name(facts, own_cache.TEMPORARY_STEM))
        if free is None:
            yield Unknown((MEMORY_MISSING,), f"{name}: whether memory is free for its temporary databases is not known")
        elif not told_bindings(facts) and others_there:
            yield Unknown((own_cache.BINDINGS_MISSING,), f"{name}: where temporary databases are bound is not known")
        elif changes and takes <= free.mb:
            yield _crowded(limits, seen, changes, free)


def _crowded(limits: Limits, seen: Crowded, changes: tuple[Change, ...], free: FreeMemory) -> Finding:
    home, theirs = comment(seen.home), " and ".join(comment(one) for one in seen.databases[: own_cache.NAMED])
    when = "between two snapshots" if seen.of_interval else "since boot"
    held = 100 * seen.held_mb / seen.size_mb
    return Finding(
        subject=seen.home,
        severity=Severity.ADVICE,
        title=f"{home}: temporary databases hold {held:.0f} % of it, while {comment(seen.reader)} is read from disk",
        seen=f"{theirs} held {seen.held_mb:,.0f} of {seen.size_mb:,.0f} MB and made {100 * seen.searches:.0f} % of the "
        f"searches {when}, and {100 * seen.reads:.0f} % of the reads from disk. {home} read {seen.rate:,.0f} times a "
        f"second, {100 * seen.reader_share:.0f} % of it for {comment(seen.reader)}.",
        because=CROWDS,
        do=MAKE.format(f"{changes[0].target.partition(':')[0]}, {grouped(str(changes[0].new))},", free.mb, home),
        unknown=READ_ONCE,
        evidence=(
            Evidence(f"reads of {seen.home}", round(seen.rate, 1), "/s", seen.read, limits.reads_per_second),
            Evidence(
                f"part of {seen.home} in temporary databases", round(held, 1), "%", seen.cached, limits.held_percent
            ),
            Evidence(
                "searches by temporary databases", round(100 * seen.searches, 1), "%", seen.counted, limits.held_percent
            ),
            Evidence("memory that is free", round(free.mb, 2), "MB", free.source),
        ),
        explains=("ase/reads_slow",),
        changes=changes,
        expects=(
            Expectation(f"memory of {seen.home} held by temporary databases, MB", round(seen.held_mb), 0, "arithmetic"),
        ),
    )
