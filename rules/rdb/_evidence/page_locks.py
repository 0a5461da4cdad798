"""Page locks as a part of all locking: what rdb/page_locks_dominate and rdb/row_cache_missing share."""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts import known
from collectors.facts.rdb import StatisticRow
from rules.changes.quoting import comment
from rules.engine import limit, percent
from rules.finding import Evidence, Unknown
from rules.rdb._evidence.counted import (
    HUNDREDTHS,
    Part,
    TypeWaits,
    asked_back,
    of_each_node,
    rounded,
    waiting_of,
    waits_for,
)
from rules.rdb._evidence.databases import OneDatabase
from rules.rdb._evidence.limits import BusyLimits
from rules.rdb._evidence.statistics import Share, Statistics
from rules.rdb._evidence.waits import DEADLOCKS, STALLS, TIMEOUTS, Waits, areas_of

BY_DESIGN = "by design: locking is at page level, so no row has a lock of its own"


@dataclass(frozen=True)
class PageLimits(BusyLimits):
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
    waits: TypeWaits | None
    """Where it is enough to count."""
    waiting: float | None
    """Processes that wait for any lock on average; `None`: not in the export."""

    @property
    def acts(self) -> bool:
        """Whether anything is to be set."""
        return self.busy or self.waits is not None

    @property
    def said(self) -> str:
        """Who waits, for a sentence; or nothing."""
        if self.waits is None:
            return ""
        return f"{rounded(self.waits.processes)} processes wait for page locks at any moment{self.waits.said}"

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
            return ()
        what = f"processes that wait for page locks{self.waits.said}"
        return (Evidence(what, round(self.waits.processes, 2), "", self.waits.source, limits.waiting),)


def worth_of(each: Statistics, share: Share, limits: PageLimits) -> Worth:
    """Judge one node."""
    found, whole = waits_for(each, "page"), waiting_of(each)
    total = whole.per_second / HUNDREDTHS if whole and found is None else None
    waits = found if found and found.processes >= limits.waiting else None
    return Worth(share.whole >= limits.busy_operations, waits, total)


def part_evidence(part: Part | None, limits: PageLimits) -> tuple[Evidence, ...]:
    """What they are of all that the node locks for itself; nothing where that cannot be told."""
    name = "page locks of the node's own lock operations"
    return (Evidence(name, round(part.percent, 1), "%", part.source, limits.node_percent),) if part else ()


PASSED_PERCENT = 50.0
"""This project: where half of the pages that are asked back or more can have been written for it, that comes first."""
LEAST_PASSED = 10.0
"""This project: pages a second; fewer leave little to gain, as in rdb/page_transfer_via_disk."""


def passed_on(one: OneDatabase, each: Statistics) -> str:
    """That processes take pages from each other over the disk, for a sentence; else empty.

    Those page locks are of changes that go on, which page transfer via memory makes cheap; a row cache is for the rest.
    """
    back, writes = asked_back(each, "page"), each.rate("synch data writes")
    if one.word("page_transfer") != "disk" or back is None or writes is None or back.least < LEAST_PASSED:
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
