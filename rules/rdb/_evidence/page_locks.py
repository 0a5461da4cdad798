"""Page locks as a part of all locking: what rdb/page_locks_dominate and rdb/row_cache_missing share."""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts.rdb import StatisticRow
from rules.engine import limit, percent
from rules.finding import Evidence, Unknown
from rules.rdb._evidence.counted import Part, of_each_node
from rules.rdb._evidence.databases import OneDatabase
from rules.rdb._evidence.statistics import Share, Statistics
from rules.sources import JCC

BY_DESIGN = "by design: locking is at page level, so no row has a lock of its own"


@dataclass(frozen=True)
class PageLimits:
    """From where on page locks are most of the locking, and that matters. No vendor names a figure."""

    page_percent: float = percent(
        50.0,
        "this project: page locks are more than all other locks together; no vendor names a limit",
        low=1,
        of="lock operations",
    )
    operations_per_second: float = limit(
        500.0, "this project: below this the total is too small to matter", unit="lock operations/s"
    )
    busy_operations: float = limit(
        50_000.0,
        f"this project: at 2.7 µs each, the time of one alone ({JCC}), they take 13 % of a CPU; fewer get a note alone",
        unit="lock operations/s",
    )
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
    return f"{one.subject}: {share.percent:.0f} % of {share.whole:,.0f} lock operations/s are page locks"


def limits_said(limits: PageLimits) -> str:
    """What it is held against, in brackets."""
    return f"(limits {limits.page_percent:g} % of {limits.operations_per_second:,.0f}/s)"


def share_evidence(share: Share, limits: PageLimits) -> tuple[Evidence, Evidence]:
    """The share and the whole, held against the limits."""
    return (
        Evidence("page locks", round(share.percent, 1), "% of lock operations", share.source, limits.page_percent),
        Evidence("lock operations", round(share.whole, 1), "/s", share.source, limits.busy_operations),
    )


def part_evidence(part: Part | None, limits: PageLimits) -> tuple[Evidence, ...]:
    """What they are of all that the node locks for itself; nothing where that cannot be told."""
    name = "page locks of the node's own lock operations"
    return (Evidence(name, round(part.percent, 1), "%", part.source, limits.node_percent),) if part else ()
