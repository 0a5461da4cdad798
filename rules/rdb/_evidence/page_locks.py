"""Page locks as a part of all locking: what rdb/page_locks_dominate and rdb/row_cache_missing share."""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.rdb import StatisticRow
from rules.changes.quoting import comment
from rules.engine import limit, percent
from rules.finding import Evidence, Unknown
from rules.rdb._evidence.counted import (
    HUNDREDTHS,
    ONE_WAITS,
    STALLED,
    Part,
    Stalled,
    TypeWaits,
    asked_back,
    explained,
    of_each_node,
    on_node,
    per_transaction,
    rounded,
    rows_of,
    stalled_of,
    waiting_of,
    waits_for,
)
from rules.rdb._evidence.databases import OneDatabase
from rules.rdb._evidence.limits import BusyLimits, PageStallLimits
from rules.rdb._evidence.prerequisites import set_in_vain
from rules.rdb._evidence.statistics import Share, Statistics
from rules.rdb._evidence.waits import DEADLOCKS, STALLS, TIMEOUTS, Waits, areas_of

BY_DESIGN = "by design: locking is at page level, so no row has a lock of its own"


@dataclass(frozen=True)
class PageLimits(PageStallLimits, BusyLimits):
    """From where on page locks are most of the locking, and that matters. No vendor names a figure."""

    page_percent: float = percent(
        50.0,
        "this project: page locks are more than all other locks together; no vendor names a limit",
        low=1,
        of="lock operations",
    )
    waiting: float = limit(1.0, "this project: at any moment one process or more waits for a page", unit="processes")
    node_percent: float = percent(
        50.0,
        "this project: from here on these page locks are more than all else that the node itself locks",
        low=1,
        of="the node's own lock operations",
    )


def page_shares(found: Sequence[Statistics]) -> list[tuple[Share, Statistics]]:
    """What page locks are of the locking of each node."""
    return of_each_node(found, lambda each: each.share("page"))


@dataclass(frozen=True)
class PageStalls:
    """Requests for pages that stall: most of all that stall, and many."""

    of: Stalled
    percent: float
    """Of all requests that stall."""
    per: float | None
    """For each transaction; `None`: not counted."""
    each: Statistics

    @property
    def said(self) -> str:
        """For a sentence, without a full stop."""
        per = f", {rounded(self.per)} for each transaction" if self.per is not None else ""
        return (
            f"{self.percent:.0f} % of the requests that stall are for pages{on_node(self.each)}: "
            f"{rounded(self.of.per_second)}/s{per}"
        )

    @property
    def title(self) -> str:
        """For a heading."""
        return f"{self.percent:.0f} % of the lock requests that stall are for pages"

    def evidence(self, limits: PageStallLimits) -> tuple[Evidence, ...]:
        """Held against the limits."""
        return (
            Evidence(
                "stalled page locks", round(self.of.per_second, 1), "/s", self.of.source, limits.page_stalls_per_second
            ),
            Evidence(
                "page locks of the requests that stall",
                round(self.percent, 1),
                "%",
                self.of.source,
                limits.page_stalls_percent,
            ),
        )


UNTIMED = "How long they wait is not in the export: Locking (stall time x100) shows it."


def page_stalls(each: Statistics, limits: PageStallLimits) -> PageStalls | None:
    """Where pages are what most requests stall for, and these are many; `None` where not, or where not counted.

    Nor where the time was counted, and on average less than one process waits for pages: they stall briefly then.
    """
    found = stalled_of(each, "page")
    if found is None or found.percent is None or found.percent < limits.page_stalls_percent:
        return None
    per = per_transaction(each, rows_of(each, STALLED, "page"))
    few = per is not None and 100 * per < limits.page_stalls_of_transactions
    waits = waits_for(each, "page")
    if few or found.per_second < limits.page_stalls_per_second or (waits and waits.processes < ONE_WAITS):
        return None
    return PageStalls(found, found.percent, per, each)


def no_share(why: str) -> Unknown:
    """Say that no screen tells how many of the locks are page locks."""
    return Unknown.without("page locks as a share of all locks", StatisticRow.COLLECTED_BY, why)


def figures_of(one: OneDatabase, share: Share) -> str:
    """The share, for a sentence."""
    return f"{one.subject}: {share.percent:.0f} % of {share.whole:,.0f} {share.counted_as}/s are page locks"


def limits_said(limits: PageLimits) -> str:
    """What it is held against, in brackets."""
    return f"(limits {limits.page_percent:g} % of {limits.operations_per_second:,.0f}/s)"


def share_evidence(share: Share, limits: PageLimits) -> tuple[Evidence, Evidence]:
    """The share and the whole, held against the limits."""
    return (
        Evidence("page locks", round(share.percent, 1), "% of lock operations", share.source, limits.page_percent),
        Evidence(share.counted_as, round(share.whole, 1), "/s", share.source, limits.busy_operations),
    )


@dataclass(frozen=True)
class Worth:
    """Whether fewer page locks are worth a change: by how many lock operations there are, or by who waits for them."""

    busy: bool
    stalls: PageStalls | None
    waits: TypeWaits | None
    """Where it is enough to count."""
    waiting: float | None
    """Processes that wait for any lock on average; `None`: not in the export."""

    @property
    def acts(self) -> bool:
        """Whether anything is to be set."""
        return self.busy or self.waits is not None or self.stalls is not None

    @property
    def said(self) -> str:
        """Who waits, for a sentence; or nothing."""
        if self.waits is None:
            return self.stalls.said if self.stalls else ""
        return f"{rounded(self.waits.processes)} processes wait for page locks at any moment{self.waits.said}"

    def title(self, share: Share, limits: PageLimits) -> str:
        """What page locks are of the locking; of what stalls, where that alone is why it is reported."""
        few = share.percent < limits.page_percent or share.whole < limits.operations_per_second
        return self.stalls.title if self.stalls and few else f"{share.percent:.0f} % of the locking is page locks"

    @property
    def untimed(self) -> str:
        """That the time of what stalls was not counted, a sentence; or nothing."""
        return UNTIMED if self.stalls and self.waits is None else ""

    def why_nothing(self, limits: PageLimits) -> str:
        """Why nothing is set, a sentence."""
        if self.waiting is not None and self.waiting >= limits.waiting:
            return (
                "Nothing is set here before the screens Locking (rqsts stalled), (proms stalled) and (stall time x100) "
                f"show whether the {rounded(self.waiting)} processes that wait at any moment wait for pages."
            )
        return f"Nothing is set here: below {limits.busy_operations:,.0f}/s in all there is little to gain."

    def evidence(self, limits: PageLimits) -> tuple[Evidence, ...]:
        """Who waits, held against the limit."""
        if self.waits is None:
            return self.stalls.evidence(limits) if self.stalls else ()
        what = f"processes that wait for page locks{self.waits.said}"
        return (Evidence(what, round(self.waits.processes, 2), "", self.waits.source, limits.waiting),)


def worth_of(each: Statistics, share: Share, limits: PageLimits) -> Worth:
    """Judge one node."""
    found, whole = waits_for(each, "page"), waiting_of(each)
    total = whole.per_second / HUNDREDTHS if whole and found is None else None
    waits = found if found and found.processes >= limits.waiting else None
    return Worth(share.whole >= limits.busy_operations, page_stalls(each, limits), waits, total)


def explained_waits(each: Statistics, logged: bool) -> tuple[str, ...]:
    """The rules of blocking ASTs and of stalls, where pages are most of either; of waits for one page only a log tells.

    `logged`: there is such a log, which names what is waited for, so that nothing is to be inferred.
    """
    found, whole = waits_for(each, "page"), waiting_of(each)
    most = not logged and found and whole and found.processes >= max(ONE_WAITS, whole.per_second / HUNDREDTHS / 2)
    return tuple(dict.fromkeys((*explained(each, ("page",), HALF), *(("rdb/lock_stalls_long",) if most else ()))))


def part_evidence(part: Part | None, limits: PageLimits) -> tuple[Evidence, ...]:
    """What they are of all that the node locks for itself; nothing where that cannot be told."""
    name = "page locks of the node's own lock operations"
    return (Evidence(name, round(part.percent, 1), "%", part.source, limits.node_percent),) if part else ()


HALF = 50.0
"""This project: from here on most of what is asked back, or waited for, is pages."""
PASSED_PERCENT = 50.0
"""This project: where half of the pages that are asked back or more can have been written for it, that comes first."""
LEAST_PASSED = 10.0
"""This project: pages a second; fewer leave little to gain, as in rdb/page_transfer_via_disk."""


def passed_on(facts: Facts, one: OneDatabase, each: Statistics) -> str:
    """That processes take pages from each other over the disk, for a sentence; else empty.

    Those page locks are of changes that go on, which page transfer via memory makes cheap; a row cache is for the rest.
    """
    back, writes = asked_back(each, "page"), each.rate("synch data writes")
    via_disk = one.word("page_transfer") == "disk" or set_in_vain(facts, one)
    if not via_disk or back is None or writes is None or back.least < LEAST_PASSED:
        return ""
    blasts = back.rate.per_second
    if min(blasts, writes.per_second) < LEAST_PASSED or 100 * writes.per_second < PASSED_PERCENT * blasts:
        return ""
    return (
        f"{rounded(blasts)} page locks/s are wanted by another process, and {rounded(writes.per_second)} pages/s are "
        "written with a process waiting"
    )


def hot_by_page(one: OneDatabase, waits: Waits) -> str:
    """The storage area whose pages are waited for most, where it is locked by page; else empty."""
    pages = waits.most((*STALLS, TIMEOUTS[0], DEADLOCKS[0]), "page")
    if waits.refused() or not (areas := areas_of(pages)):
        return ""
    hot = next((area for area in one.areas if known(area.number) and f"{area.number:.0f}" == areas[0][0]), None)
    return comment(hot.name, 31) if hot and hot.page_level_locking else ""
