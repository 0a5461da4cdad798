"""Page locks are most of the locking, and no row cache is in use.

Finds: page locks as a share of all lock operations (requested, promoted, demoted and released) where a database has no
active row cache.

Why it matters: a row that is in a row cache is read and changed without its page. Row caches can eliminate a large
number of page locks (JCC Consulting's slides on the OpenVMS lock manager, 2014).

What to do: meet the prerequisites in their order (after-image journaling, fast commit, one cluster node, a reserved
slot), then cache the small tables that many processes use, and measure page locks again. Each step needs a full backup
first and the database closed, so do them together: the clause ROW CACHE IS ENABLED alone changes nothing until a cache
is added and assigned.

When to ignore it: where users attach from several nodes: row caches work on one alone, so never there. Where rows are
read once and not again, as in batch runs over large tables, and where the locks are few. With page level locking page
locks stand in for record locks and dominate by design, and a row cache needs row level locking (recalled). Fast commit
lengthens recovery after a failure.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.rdb import Database, StatisticRow
from rules.changes.quoting import comment
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    Lacking,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
)
from rules.judging.rdb.counted import caveats, counted, of_each_node, on_node, part_of_own, quiet
from rules.judging.rdb.databases import READS, OneDatabase, databases
from rules.judging.rdb.prerequisites import (
    active_caches,
    changes_to,
    evidence_of,
    listed,
    moved,
    never,
    not_by_page,
    steps_to,
    unmet,
    unsure,
)
from rules.judging.rdb.sharing import READS as SHARING
from rules.judging.rdb.statistics import LEAST as LEAST_COUNTED
from rules.judging.rdb.statistics import READS as COUNTED
from rules.judging.rdb.statistics import Share, Statistics
from rules.judging.sources import JCC
from rules.kit import limit, rule

LINKS = ("https://docs.oracle.com/cd/F25597_01/document/products/rdb/720/E06178-01/sql_p080.htm",)
MEGABYTE = 1_048_576
MOST = 3
"""Caches that are named."""
ADD = "Then ADD CACHE for the small tables that are used most, and assign it: which ones, only the application tells."


@dataclass(frozen=True)
class Limits:
    """From where on page locks are worth a row cache. No vendor names a figure."""

    page_percent: float = limit(
        50.0,
        "this project: page locks are more than all other locks together; no vendor names a limit",
        low=1,
        high=100,
        unit="% of lock operations",
    )
    operations_per_second: float = limit(
        500.0, "this project: below this the total is too small to matter", unit="lock operations/s"
    )
    busy_operations: float = limit(
        50_000.0,
        f"this project: at 2.7 µs each, the time of one alone ({JCC}), they take 13 % of a CPU; fewer get a note alone",
        unit="lock operations/s",
    )
    node_percent: float = limit(
        50.0,
        "this project: from here on these page locks are more than all else that the node itself locks",
        low=1,
        high=100,
        unit="% of the node's own lock operations",
    )


@rule(
    needs=(Database, StatisticRow), uses=(*READS, *COUNTED, *SHARING), links=LINKS, limits=Limits, sample=LEAST_COUNTED
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database by the statistics of the node where page locks are most of its locking."""
    for one in databases(facts, (StatisticRow,)):
        yield from _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Iterator[Outcome]:
    active = active_caches(one)
    if active:
        yield Clean(f"{one.subject}: active row caches: {active:g}{one.read_apart}")
        return
    found, refused = counted(facts, one)
    shares = [(share, each) for each in of_each_node(found, _has_share) if (share := each.share("page"))]
    if not shares and refused:
        yield refused
        return
    if not shares:
        yield Unknown((Lacking("page locks as a share of all locks", StatisticRow.BRING),), one.subject)
        return
    share, of = next(((s, e) for s, e in shares if s.whole >= limits.operations_per_second), shares[0])
    figures = f"{one.subject}: {share.percent:.0f} % of {share.whole:,.0f} lock operations/s are page locks"
    if share.percent < limits.page_percent or share.whole < limits.operations_per_second:
        yield quiet(f"{figures} (limits {limits.page_percent:g} % of {limits.operations_per_second:,.0f}/s)", of)
        return
    if one.by_page:
        yield NotApplicable(f"{figures}, by design: locking is at page level, so no row has a lock of its own")
        return
    if why := never(one):
        yield NotApplicable(f"{figures}, but a row cache is out of the question: {why}")
        return
    if said := one.figure("active_row_caches"):
        why = "caches are there, and what they lack is in rdb/row_cache_prerequisites_unmet: none is to be added for it"
        yield NotApplicable(f"{figures}; the header counts {said:g} row caches as active: {why}")
        return
    if active is None and one.is_on("row_cache_enabled") is None:
        yield Unknown((Lacking("whether a row cache is active", Database.BRING),), figures)
        return
    yield _finding(facts, one, limits, share, of)
    if lacking := unsure(steps_to("row_cache", one)):
        yield Unknown(tuple(lacking))


def _has_share(each: Statistics) -> bool:
    return each.share("page") is not None


def _add(one: OneDatabase) -> str:
    """What has to be there for the clause to do anything: a cache, and a table or area assigned to it."""
    if not one.caches:
        return ADD
    sizes = [
        f"{comment(cache.name, 31)} ({cache.slots:,.0f} rows of {cache.row_bytes:,.0f} bytes, at least "
        f"{cache.slots * cache.row_bytes / MEGABYTE:,.1f} MB)"
        if known(cache.slots) and known(cache.row_bytes)
        else comment(cache.name, 31)
        for cache in one.caches[:MOST]
    ]
    more = f" and {len(one.caches) - MOST} more" if len(one.caches) > MOST else ""
    return (
        f"Defined already: {', '.join(sizes)}{more}. See that a table or area is assigned to each, and that the node "
        "has that memory."
    )


def _finding(facts: Facts, one: OneDatabase, limits: Limits, share: Share, of: Statistics) -> Finding:
    steps = steps_to("row_cache", one)
    missing = unmet(steps)
    first = (
        f"Missing so far, in the order in which it is made: {listed(missing)}. "
        if missing
        else "The prerequisites that the export shows are met. "
    )
    part = part_of_own(facts, of, share.part)
    strong = part is not None and part.percent >= limits.node_percent
    enabled = one.is_on("row_cache_enabled")
    old = None if enabled is None else ("ENABLED" if enabled else "DISABLED")
    busy = share.whole >= limits.busy_operations
    changes = changes_to("row_cache", facts, one, old, "ENABLED") if busy and not enabled else ()
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if busy else Severity.NOTE,
        title=f"{share.percent:.0f} % of the locking is page locks, and no row cache is active",
        says=(
            f"{share.part:,.0f} of {share.whole:,.0f} lock operations/s{on_node(of)} ({of.over}) are page locks"
            + (f", {part.percent:.0f} % of what the node itself locks" if part is not None else "")
            + f". Row caches can eliminate a large number of them ({JCC}; no figure there). {first}"
            + _add(one)
            + moved(one)
            + not_by_page(one)
            + (
                ""
                if busy
                else f" Below {limits.busy_operations:,.0f}/s there is little to gain, so nothing is set here."
            )
            + caveats(one, of)
        ),
        evidence=(
            Evidence("page locks", round(share.percent, 1), "% of lock operations", share.source, limits.page_percent),
            Evidence("lock operations", round(share.whole, 1), "/s", share.source, limits.busy_operations),
            *(
                (
                    Evidence(
                        *("page locks of the node's own lock operations", round(part.percent, 1), "%"),
                        *(part.source, limits.node_percent),
                    ),
                )
                if part
                else ()
            ),
            *evidence_of(missing),
        ),
        explains=(
            ("rdb/page_locks_dominate",)
            + (("openvms/lock_manager_needs_own_cpu", "openvms/concurrency_past_peak") if strong else ())
        ),
        changes=changes,
        expects=(Expectation("page lock operations (/s)", round(share.part, 1), "lower", "heuristic"),),
        share=round(share.percent, 1),
    )
