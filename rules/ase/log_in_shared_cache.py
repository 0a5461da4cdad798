"""Transaction logs share a contended cache with everything else.

Finds: a data cache with a contended spinlock, engines at work, where syslogs of one or several databases makes a tenth
of the searches or more, and no log cache takes it. Nothing where the cache is not contended.

Why it matters: every change of a database appends to the same few pages of its log, under the spinlock of the cache
that holds syslogs. Everything else in that cache waits for the same spinlocks.

What to do: a log-only cache, relaxed, which the vendor recommends for logs, and syslogs bound to it. It can be very
small: as large as what of the logs is in memory, else the pages of five minutes (the manual's example; where no log is
counted by itself, those that sp_sysmon counts of all), and a fifth more. It needs a pool of the size of the log I/O: 4K
unless `sp_logiosize` in the database says otherwise. Binding syslogs needs the database in single-user mode: an outage
of it. A log-only cache that is there is taken first. The memory comes from the one account of all caches that are
advised, as with ase/tempdb_in_shared_cache. The log of a temporary database cannot be bound alone, it goes with its
database (ase/tempdb_in_shared_cache); those of the server's own databases are left where they are.

Where temporary databases are asked to leave the cache first, the share is one of the searches that stay, and the log is
bound only where the cache is expected to be over the limit without them.

When to ignore it: where the outage of the database costs more than it gains. Where a replication agent is behind, or
long transactions are rolled back, old log pages are read again: then the cache must be larger. monOpenObjectActivity
shows system tables only while trace flag 3650 is on: without it the log is in no figure here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts
from collectors.facts.ase import MonProcessActivity
from rules.ase._evidence.caches import own_cache
from rules.ase._evidence.caches.allocation import allocation, leaving_first
from rules.ase._evidence.caches.contents import Contents
from rules.ase._evidence.caches.figures import kind_of, named_of
from rules.ase._evidence.caches.hot import HIDDEN, HOT_FACTS, searched
from rules.ase._evidence.caches.temporary import TEMPORARY_FACTS
from rules.ase._evidence.log.read_behind import MOST, rep_agent
from rules.ase._evidence.spinlocks.figures import Figure
from rules.changes.ase_binding import bind_log
from rules.changes.quoting import comment
from rules.engine import rule
from rules.finding import Clean, Outcome, Unknown

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158542520.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc36273.1600/doc/html/san1393051977305.html",
)
OWN = own_cache.Apart(
    what="transaction logs",
    short="logs",
    where="the logs are bound",
    because="Every change of a database appends to the same few pages of its log under these spinlocks, and everything "
    "else in the cache waits for them.",
    advice="Bind syslogs of each database, which is an outage of it, to a cache for logs alone",
    unknown="The cache needs a pool of the size of the log I/O, which no export shows: sp_logiosize in the database "
    "shows it, sp_poolconfig makes the pool.",
    logs=True,
    bind=bind_log,
)


ONE = "Bind syslogs of {}, which is an outage of this database, to a cache for logs alone"
READ = (
    "For each log page that is written {0:,.0f} are searched, more than its records: something reads the log, as a "
    "RepAgent, triggers or rollbacks do. Never stop a RepAgent for that: the log would fill."
)
BY_AGENT = (
    "For each log page that is written {0:,.0f} are searched: the RepAgent (SPID {1}) made {2:,.0f} logical reads. "
    "Never stop it for that: the log would fill."
)
READ_AGAIN = 100.0
"""This project: searches for each page written from which on these are not its records alone: a page of 2 KB has room
for some forty of them."""


@dataclass(frozen=True)
class Limits(own_cache.OwnCacheLimits):
    """`OwnCacheLimits`: from 10 % contention on (vendor), of which logs make a tenth (this project)."""


@rule(needs=(), uses=(*HOT_FACTS, *TEMPORARY_FACTS, MonProcessActivity), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look for logs in every contended cache."""
    hot, contents, quiet = searched(facts, limits)
    yield from quiet
    if contents is None:
        return
    if not any(one.system for one in contents.held):
        yield Unknown((HIDDEN,), "no system table is among the open objects, so no log either")
        return
    given = allocation(facts, contents, limits).given if hot else {}
    for figure in hot:
        yield from _judge(facts, limits, figure, contents, given)


def _judge(
    facts: Facts, limits: Limits, figure: Figure, contents: Contents, given: own_cache.Given
) -> Iterator[Outcome]:
    moving = own_cache.logs_of(facts, figure, contents)
    if kind_of(named_of(facts, figure.label)) == "log":
        yield Clean(f"{figure.said}; it holds logs alone: more partitions (see its own rule)")
    else:
        before = leaving_first(facts, figure, contents, limits.contention_percent)
        yield from own_cache.judge(facts, limits, moving, _own(facts, moving), given, before)


def _readers(facts: Facts, times: float, searches: float) -> str:
    """Who reads the log: a RepAgent, where one is counted to make most of these searches."""
    agent = rep_agent(facts, "logical_reads")
    if agent and agent[0] >= MOST * searches:
        return BY_AGENT.format(times, agent[1].spid, agent[0])
    return READ.format(times)


def _own(facts: Facts, moving: own_cache.Moving) -> own_cache.Apart:
    """What is said of these logs: the one database by its name, and that they are read, where they are."""
    own, names = OWN, moving.databases
    if len(names) == 1:
        own = replace(own, advice=ONE.format(comment(names[0], 60)))
    written, contents = own_cache.log_pages(facts), moving.contents
    if written and contents.of_interval and contents.seconds:
        times = moving.reads / contents.seconds / written
        own = replace(own, because=_readers(facts, times, moving.reads)) if times >= READ_AGAIN else own
    return own
