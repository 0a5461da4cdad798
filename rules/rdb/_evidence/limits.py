"""Limits that several rules about Rdb hold figures against, each declared once with its origin."""

from dataclasses import dataclass
from typing import Any

from rules.engine import limit, percent
from rules.sources import JCC


def least(total: float, unit: str) -> Any:
    """From which total on a share of it is worth a word."""
    return limit(total, "this project: below this the total is too small to matter", unit=unit)


def busy_locks(of: str) -> Any:
    """From how many locks of one type in a second on fewer of them are worth a change."""
    return limit(
        5_000.0,
        f"this project: at 2.7 µs for each request and as much for its release ({JCC}), they take 3 % of a CPU; fewer "
        "get a note alone",
        unit=f"{of} locks/s",
    )


def by_transactions(why: str) -> Any:
    """From how many transactions that wait on, in a hundred, a lock must not be held for longer.

    Of how many transactions, and not how many in a second: a busy database has some in any second.
    """
    return percent(10.0, f"this project: where one transaction in ten waits for {why}", low=0.1, of="transactions")


@dataclass(frozen=True)
class LeastLimits:
    """From how many lock operations on their shares matter. No vendor names a figure."""

    operations_per_second: float = least(500.0, "lock operations/s")


@dataclass(frozen=True)
class PageStallLimits:
    """From where on requests for pages that stall matter, however few locks there are. No vendor names a figure."""

    page_stalls_percent: float = percent(
        50.0, "this project: more requests stall for pages than for all other locks together", low=1, of="stalls"
    )
    page_stalls_per_second: float = limit(
        10.0, "this project: fewer that stall are no reason to close a database", unit="stalled page locks/s"
    )
    page_stalls_of_transactions: float = limit(
        50.0,
        "this project: where every second transaction waits for a page; where none were counted the rate decides alone",
        unit="stalled page locks for each hundred transactions",
    )


@dataclass(frozen=True)
class BusyLimits(LeastLimits):
    """`LeastLimits`, and from how many on fewer of them are worth a change."""

    busy_operations: float = limit(
        50_000.0,
        f"this project: at 2.7 µs each, the time of one alone ({JCC}), they take 13 % of a CPU; fewer get a note alone",
        unit="lock operations/s",
    )
