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

Where the searches of the logs are not counted, but a log-only cache is there with nothing bound to it, that is told
beside a contended default data cache: the logs of all databases that are not bound elsewhere are in it. Nothing is
scripted then, as nobody knows what the outage would bring.

Where temporary databases are asked to leave the cache first, the share is one of the searches that stay, and the log is
bound only where the cache is expected to be over the limit without them.

When to ignore it: where the outage of the database costs more than it gains. Where a replication agent is behind, or
long transactions are rolled back, old log pages are read again: then the cache must be larger. monOpenObjectActivity
shows system tables only while trace flag 3650 is on: without it the log is in no figure here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.ase import MonProcessActivity
from rules.ase._evidence.caches import own_cache
from rules.ase._evidence.caches.allocation import allocation, leaving_first
from rules.ase._evidence.caches.contents import Contents
from rules.ase._evidence.caches.figures import kind_of, latest_caches, named_of
from rules.ase._evidence.caches.hot import HIDDEN, HOT_FACTS, contention_of, searched
from rules.ase._evidence.caches.moving import LOG, Moving, log_pages, logs_of
from rules.ase._evidence.caches.temporary import TEMPORARY_FACTS
from rules.ase._evidence.log.read_behind import MOST, rep_agent
from rules.ase._evidence.objects.seen import activity
from rules.ase._evidence.spinlocks.figures import Figure
from rules.changes.ase_binding import bind_log
from rules.changes.quoting import comment
from rules.engine import rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown, joined

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


UNUSED = (
    "{0} is made for logs, but nothing is bound to it, so the log of every database that is not bound elsewhere is "
    "kept in the {1}, with its searches."
)
COUNT_FIRST = (
    "See first what share of the searches the logs make, and of which database (two snapshots of monOpenObjectActivity "
    "under trace flag 3650). From {:g} % on bind syslogs of that database to {}, which is an outage of it "
    "(single-user mode)."
)


@dataclass(frozen=True)
class Limits(own_cache.OwnCacheLimits):
    """`OwnCacheLimits`: from 10 % contention on (vendor), of which logs make a tenth (this project)."""


@rule(needs=(), uses=(*HOT_FACTS, *TEMPORARY_FACTS, MonProcessActivity), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look for logs in every contended cache."""
    hot, contents, quiet = searched(facts, limits)
    yield from quiet
    if contents is None:
        yield from _unused(facts, limits, hot)
        return
    if not any(one.system for one in contents.held):
        yield from _unused(facts, limits, hot)
        yield Unknown((HIDDEN,), "no system table is among the open objects, so no log either")
        return
    given = allocation(facts, contents, limits).given if hot else {}
    for figure in hot:
        yield from _judge(facts, limits, figure, contents, given)


def _judge(
    facts: Facts, limits: Limits, figure: Figure, contents: Contents, given: own_cache.Given
) -> Iterator[Outcome]:
    moving = logs_of(facts, figure, contents)
    if kind_of(named_of(facts, figure.label)) == "log":
        yield Clean(f"{figure.said}; it holds logs alone: more partitions (see its own rule)")
    else:
        before = leaving_first(facts, figure, contents, limits.contention_percent)
        yield from own_cache.judge(facts, limits, moving, _own(facts, moving), given, before)


def _unused(facts: Facts, limits: Limits, hot: list[Figure]) -> Iterator[Finding]:
    """A log cache without a binding beside the contended default data cache, where no searches of logs are counted."""
    figure = next((one for one in hot if (home := named_of(facts, one.label)) and home.is_default), None)
    named = own_cache.unused_log_cache(facts)
    if figure is None or named is None:
        return
    size = f" ({named.run_size_mb:,.0f} MB)" if known(named.run_size_mb) else ""
    name, contention = comment(named.name), contention_of(figure)
    searches = [one for one in latest_caches(facts) if one.name == named.name and known(one.searches)]
    rows = [one for one in activity(facts) if not one.database]
    read = [one for one in rows if (one.object_name or "").lower() == LOG and one.logical_reads]
    listed, logs = (sum(one.logical_reads for one in part if known(one.logical_reads)) for part in (rows, read))
    share = (
        f"Logs of databases that the export does not name make {logs:,.0f} of {listed:,.0f} logical reads of the "
        "listed objects."
    )
    yield Finding(
        subject=figure.label,
        severity=Severity.ADVICE,
        title=f"{figure.label}: contended, and nothing is bound to the log cache {name}",
        seen=joined(
            f"Nothing is bound to the cache for logs {name}{size}"
            + (", and no page was searched in it; " if searches else "; ")
            + f"{contention:.3g} % of the grabs of the spinlocks of {figure.label} had to wait.",
            share if read else "",
        ),
        because=UNUSED.format(name, figure.label),
        do=COUNT_FIRST.format(limits.share_percent, name),
        evidence=(
            Evidence("cache spinlock contention", contention, "%", figure.source, limits.contention_percent),
            *(Evidence(f"searches of {named.name}", 0.0, "", one.source) for one in searches[-1:]),
            *(Evidence("logical reads of syslogs", logs, "", one.source) for one in read[:1]),
        ),
        weight=figure.weight,
    )


def _readers(facts: Facts, times: float, searches: float) -> str:
    """Who reads the log: a RepAgent, where one is counted to make most of these searches."""
    agent = rep_agent(facts, "logical_reads")
    if agent and agent[0] >= MOST * searches:
        return BY_AGENT.format(times, agent[1].spid, agent[0])
    return READ.format(times)


def _own(facts: Facts, moving: Moving) -> own_cache.Apart:
    """What is said of these logs: the one database by its name, and that they are read, where they are."""
    own, names = OWN, moving.databases
    if len(names) == 1:
        own = replace(own, advice=ONE.format(comment(names[0], 60)))
    written, contents = log_pages(facts), moving.contents
    if written and contents.of_interval and contents.seconds:
        times = moving.reads / contents.seconds / written
        own = replace(own, because=_readers(facts, times, moving.reads)) if times >= READ_AGAIN else own
    return own
