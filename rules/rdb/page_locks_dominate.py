"""Page locks are most of what the database locks.

Finds: locks on database pages as a share of all lock operations (requested, promoted, demoted and released), with their
rate and what a transaction needs of them, and the pages that logs name most. With few locks: page locks as most of the
requests that stall, many of them for each transaction.

Why it matters: Rdb locks a page to read or change any row of it, and gives it up when another process wants it. Every
such lock is work of the lock manager, which does less and less when many CPUs ask it at once (JCC Consulting's slides
on the OpenVMS lock manager, 2014).

What to do: with one node, row caches eliminate many page locks and page transfer via memory makes them shorter. With
several, let the work on one area meet on one node. Where one page is hot, spread its rows. Page level locking takes
fewer locks where short transactions touch several rows of a page.

When to ignore it: with page level locking page locks stand in for record locks: then they dominate by design. Where
locks are few, and in batch work that reads every page once, which no cache helps. Page level locking is wrong for long
transactions and where pages have lock waits: it holds page locks to the end of the transaction.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.rdb import AttachedProcess, StatisticRow, WaitGroup
from rules.engine import percent, rule
from rules.finding import Evidence, Expectation, Finding, NotApplicable, Outcome, Severity, capitalized, joined
from rules.rdb._evidence.counted import (
    COUNTED_FACTS,
    STALLED,
    by_node,
    caveats,
    counted,
    on_node,
    part_of_own,
    per_transaction,
    quiet,
    rounded,
    rows_of,
    stalled_of,
)
from rules.rdb._evidence.databases import OneDatabase, databases, node_names
from rules.rdb._evidence.hot_pages import hot_page
from rules.rdb._evidence.limits import by_transactions
from rules.rdb._evidence.page_locks import (
    BY_DESIGN,
    PageLimits,
    figures_of,
    hot_by_page,
    limits_said,
    no_share,
    page_shares,
    page_stalls,
    part_evidence,
    passed_on,
    share_evidence,
    worth_of,
)
from rules.rdb._evidence.prerequisites import active_caches, page_level
from rules.rdb._evidence.sharing import several_nodes
from rules.rdb._evidence.statistics import LEAST_COUNTED, Share, Statistics, statistics_of, trusted
from rules.rdb._evidence.waits import (
    STALLS,
    TIMEOUTS,
    WAIT_FACTS,
    Waits,
    areas_of,
    evidence_of,
    hottest,
    total,
    waits_of,
)
from rules.rdb._evidence.work_by_node import minor_of

LINKS = (
    "https://docs.oracle.com/cd/F25597_01/document/products/rdb/720/E06178-01/sql_p080.htm",
    "https://uprrp2.uprrp.edu/conan/sys$common/syshlp/SQL$HELP72.HLB?key=ALTER~DATABASE~Arguments~LOCKING_level",
)
CAUSES = ("openvms/spinlock_hot:LCKMGR", "openvms/lock_manager_needs_own_cpu", "openvms/concurrency_past_peak")
WORK = (
    "Rdb locks a page to read or change any row of it, and each such lock is work of the lock manager, which does less "
    "when many CPUs ask it at once."
)
MEET = "Let the work on one area meet on one node."
PAGE_LEVEL = (
    "Where short transactions touch several rows of a page, LOCKING IS PAGE LEVEL for that storage area takes fewer "
    "locks; it holds page locks to the end of the transaction, so not for long ones."
)


@dataclass(frozen=True)
class Limits(PageLimits):
    """`PageLimits`, from half of 500 lock operations a second on, and those of page level locking (this project)."""

    record_percent: float = percent(
        20.0, "this project: fewer record locks leave page level locking little to save", low=1, of="lock operations"
    )
    stalled_percent: float = by_transactions("a page, holding pages longer does harm")


@rule(
    needs=(StatisticRow,),
    uses=(*COUNTED_FACTS, *WAIT_FACTS, AttachedProcess),
    links=LINKS,
    limits=Limits,
    sample=LEAST_COUNTED,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database by the node where its page locks are most."""
    for one in databases(facts, (StatisticRow,)):
        yield _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Outcome:
    found, refused = counted(facts, one)
    shares = page_shares(found)
    if not shares:
        why = f"{one.subject}: the screens Summary Locking Statistics and Locking (page locks) decide"
        return refused or no_share(why)
    high = [
        (s, e)
        for s, e in shares
        if (s.percent >= limits.page_percent and s.whole >= limits.operations_per_second) or page_stalls(e, limits)
    ]
    share, each = max(high or shares, key=lambda pair: pair[0].part)
    figures = figures_of(one, share)
    if not high:
        return quiet(f"{figures} {limits_said(limits)}{on_node(each)}", each)
    if one.is_on("page_level_locking"):
        return NotApplicable(f"{figures}, {BY_DESIGN}")
    return _finding(facts, one, limits, share, each)


def _finding(facts: Facts, one: OneDatabase, limits: Limits, share: Share, each: Statistics) -> Finding:
    part, waits = part_of_own(facts, each, share.part), waits_of(facts, one)
    rates = [rate for item in share.items if (rate := each.rate(item, "page"))]
    per = per_transaction(each, rates)
    worth = worth_of(each, share, limits)
    strong = worth.busy and part is not None and part.percent >= limits.node_percent and not share.source.tentative
    of_node = f", {part.percent:.0f} % of the {part.whole:,.0f}/s that the node itself asks for" if part else ""
    locks, whole = share_evidence(share, limits)
    evidence = [locks, Evidence("page lock operations", round(share.part, 1), "/s", share.source), whole]
    if per is not None:
        evidence.append(Evidence("page lock operations per transaction", round(per, 1), "", share.source))
    evidence += part_evidence(part, limits)
    hot, hot_evidence = _hot(waits)
    because, do = _meaning(one)
    by_area, passes = hot_by_page(one, waits), passed_on(facts, one, each)
    if by_area and not one.by_page:
        do = f"Nothing is set for it: {by_area}, which is locked by page, comes first (rdb/page_level_locking_waits)."
    elif page := hot_page(waits):
        do = f"Nothing is set for it: {page.said}, so that page comes first (rdb/blocking_asts_high)."
    elif passes and do != MEET:
        do = "Nothing is set for it: first let pages pass via memory (rdb/page_transfer_via_disk), then measure again."
    elif do == MEET and (minor := minor_of(facts, one, trusted(statistics_of(facts, one), one)[0])):
        do = f"First let what little {minor.node} does meet on {minor.main} (rdb/database_open_on_many_nodes)."
    later = bool(one.by_page or by_area or passes or hot_page(waits))
    by_page, level, more = _page_level(one, limits, each, waits)
    little = worth.why_nothing(limits)
    nodes = by_node(facts, one, statistics_of(facts, one)) if do == MEET else ""
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if worth.acts and not later else Severity.NOTE,
        title=worth.title(share, limits),
        seen=joined(
            f"{share.part:,.0f} of {share.whole:,.0f} {share.counted_as}/s{on_node(each)} ({each.over}) are page locks"
            f"{of_node}{f', {rounded(per)} for each transaction' if per is not None else ''}.",
            f"{worth.said}." if worth.said else "",
            hot,
        ),
        because=joined(because, by_page),
        do=joined(do, level or nodes) if worth.acts else do if one.by_page else joined(little, do),
        unknown=joined(worth.untimed, caveats(one, each)),
        evidence=(*evidence, *worth.evidence(limits), *hot_evidence, *more),
        explains=CAUSES if strong else (),
        expects=()
        if one.by_page
        else (Expectation("page lock operations (/s)", round(share.part, 1), "lower", "heuristic"),),
        share=round(share.percent, 1),
    )


def _meaning(one: OneDatabase) -> tuple[str, str]:
    """What they mean by how the database is set up, and what to do."""
    if one.by_page:
        return (
            "By design: locking is at page level in every storage area but RDB$SYSTEM, so no row has its own lock.",
            "Nothing is to be done for it.",
        )
    neither = "neither row caches nor page transfer via memory can be used"
    if len(one.in_use) > 1:
        return f"Users of {node_names(one.in_use)} attach at one time, so {neither}.", MEET
    if said := several_nodes(one):
        return f"{capitalized(said)}: {neither} there.", MEET
    active = active_caches(one)
    if active:
        return WORK, f"Active row caches: {active:g}; see which tables used often are in none of them."
    if one.figure("active_row_caches"):
        return WORK, "Row caches are there, but cannot be active as things are: see rdb/row_cache_prerequisites_unmet."
    memory = one.word("page_transfer") == "memory"
    shorter = "" if memory else ", and page transfer via memory makes holding one shorter"
    return WORK, f"On one node row caches can eliminate many of them (rdb/row_cache_missing has the steps){shorter}."


def _hot(waits: Waits) -> tuple[str, tuple[Evidence, ...]]:
    """The pages that are waited for, else those that are read most."""
    if waits.refused():
        return "", ()
    if pages := waits.most((*STALLS, TIMEOUTS[0], "deadlock"), "page"):
        return f"Waited for most: {hottest(pages)}{_area(pages)}.", evidence_of(pages, "waits for")
    if read := waits.of(("dbkey",), "page"):
        return f"Read most: {hottest(read, 'times')}{_area(read)}: reads, not waits.", evidence_of(read, "reads of")
    return "", ()


def _area(pages: Sequence[WaitGroup]) -> str:
    """The storage area with most of them, where they are of several pages; for a sentence."""
    number, most = areas_of(pages)[0] if len(pages) > 1 and areas_of(pages) else ("", 0)
    return f"; {most:,} of {total(pages):,} in storage area {number}" if number else ""


def _page_level(
    one: OneDatabase, limits: Limits, each: Statistics, waits: Waits
) -> tuple[str, str, tuple[Evidence, ...]]:
    """What page level locking does here already, or that it is worth a thought, with its evidence.

    It is where rows have locks to save, and pages are not waited for.
    """
    if any(area.page_level_locking for area in one.areas):
        where = (
            ""
            if one.by_page
            else f"Locking is at page level {page_level(one)}: there page locks replace those of rows."
        )
        return where, "", ()
    records = each.share("record")
    pages = waits.of((*STALLS, *TIMEOUTS, "deadlock"), "page")
    stalled, waits_for_pages = per_transaction(each, rows_of(each, STALLED, "page")), stalled_of(each, "page")
    if (
        records is None
        or records.percent < limits.record_percent
        or pages
        or (stalled is None and waits_for_pages and waits_for_pages.per_second)
        or (stalled is not None and 100 * stalled >= limits.stalled_percent)
    ):
        return "", "", ()
    shown = Evidence("record locks", round(records.percent, 1), "% of lock operations", records.source)
    return "", PAGE_LEVEL, (shown,)
