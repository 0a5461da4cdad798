"""Page locks as a part of all locking: what rdb/page_locks_dominate and rdb/row_cache_missing share."""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts.rdb import StatisticRow
from rules.engine import limit, percent
from rules.finding import Evidence, Unknown
from rules.rdb._evidence.counted import HUNDREDTHS, Part, TypeWaits, of_each_node, rounded, waiting_of, waits_for
from rules.rdb._evidence.databases import OneDatabase
from rules.rdb._evidence.limits import BusyLimits
from rules.rdb._evidence.statistics import Share, Statistics

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
