"""Transaction logs share a contended cache with everything else.

Finds: a data cache with a contended spinlock, engines at work, where syslogs of one or several databases makes a tenth
of the searches or more, and no log cache takes it. Nothing where the cache is not contended.

Why it matters: every change of a database appends to the same few pages of its log, under the spinlock of the cache
that holds syslogs. Everything else in that cache waits for the same spinlocks.

What to do: a log-only cache, relaxed, which the vendor recommends for logs, and syslogs bound to it. It can be very
small: as large as what of the logs is in memory, else the pages of five minutes (the manual's example), and a fifth
more. It needs a pool of the size of the log I/O: 4K unless `sp_logiosize` in the database says otherwise. Binding
syslogs needs the database in single-user mode: an outage of it. A log-only cache that is there is taken first. The log
of a temporary database cannot be bound alone, it goes with its database (ase/tempdb_in_shared_cache); those of the
server's own databases are left where they are.

When to ignore it: where the outage of the database costs more than it brings. Where a replication agent is behind, or
long transactions are rolled back, old log pages are read again: then the cache must be larger. monOpenObjectActivity
shows system tables only while trace flag 3650 is on: without it the log is in no figure here.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from rules.changes.ase_binding import bind_log
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown
from rules.judging.caches import own_cache
from rules.judging.caches.contents import Contents
from rules.judging.caches.figures import kind_of, named_of, set_apart
from rules.judging.caches.hot import HIDDEN, HOT_FACTS, contention_of, searched
from rules.judging.caches.own_cache import Moving, Target
from rules.judging.caches.temporary import TEMPORARY_FACTS
from rules.judging.spinlocks.figures import Figure
from rules.judging.spinlocks.gates import BUSY_ORIGIN, BUSY_PERCENT, CACHE_PERCENT, CACHE_SEARCHES
from rules.judging.spinlocks.ratio import at_work
from rules.kit import limit, rule

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158542520.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc36273.1600/doc/html/san1393051977305.html",
)
LOG_IO = "The pool must have the size of the log I/O: sp_logiosize in the database shows it, sp_poolconfig makes it."


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
    """Look for logs in every contended cache."""
    hot, contents, quiet = searched(
        facts,
        contention_percent=limits.contention_percent,
        searches_per_second=limits.searches_per_second,
        busy_percent=limits.busy_percent,
    )
    yield from quiet
    if contents is None:
        return
    if not any(one.system for one in contents.held):
        yield Unknown((HIDDEN,), "no system table is among the open objects, so no log either")
        return
    for figure in hot:
        yield from _judge(facts, limits, figure, contents)


def _judge(facts: Facts, limits: Limits, figure: Figure, contents: Contents) -> Iterator[Outcome]:
    name, named = figure.label, named_of(facts, figure.label)
    moving = own_cache.logs_of(facts, figure, contents)
    share = 100 * moving.share
    if kind_of(named) == "log":
        yield Clean(f"{figure.said}; it holds logs alone: more partitions (see its own rule)")
    elif share < limits.share_percent:
        yield Clean(f"{figure.said}; logs make {share:.1f} % of its searches (limit {limits.share_percent:g} %)")
    elif named and (why := set_apart(named)):
        yield Clean(f"{figure.said}; {name} is {why}: no change is proposed")
    elif not own_cache.told_bindings(facts):
        yield Unknown((own_cache.BINDINGS_MISSING,), f"{figure.said}; where the logs are bound is not known")
    else:
        target = own_cache.for_logs(facts, moving, limits.contention_percent)
        yield _finding(facts, limits, moving, target)
        if target.missing:
            yield Unknown(target.missing)


def _finding(facts: Facts, limits: Limits, moving: Moving, target: Target) -> Finding:
    figure, contention, name = moving.figure, contention_of(moving.figure), moving.home
    told = ", ".join(f"{database} {100 * share:.0f} %" for database, share in moving.by_database().items())
    says = [
        f"{contention:g} % of the grabs of the spinlocks of {name} had to wait{at_work(facts, figure)}.",
        f"Transaction logs make {100 * moving.share:.0f} % of its searches {moving.contents.when}: {told}.",
        f"Bind syslogs of each to a cache for logs alone: an outage of the database. {target.says}",
        LOG_IO,
        figure.aside,
    ]
    changes = (
        (*target.before, *(bind_log(target.name, one, old=name, needs=target.needs) for one in moving.databases))
        if target.bindable
        else ()
    )
    weak = figure.since_boot or not moving.contents.of_interval or not changes
    return Finding(
        subject=name,
        severity=Severity.ADVICE if weak else Severity.WARNING,
        title=f"{name}: transaction logs make {100 * moving.share:.0f} % of the searches of a contended cache",
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
