"""Load series made of captures of one system at different times: what they cannot prove.

Runs of one test drive the system as hard as they can, so a lower rate means that it could not do more. In production
the rate is what was asked for, unless the processors were busy.
"""

from collections.abc import Iterable

from collectors.facts.scaling import LoadSeries
from rules.laws.series import Step, TimeSeries

BUSY_PERCENT = 70.0
"""This project: below this share of all processors the demand, not the machine, may have set the rate."""
BUSY = "busy_percent"
"""Column of a derived series: mean of all processors or engines, 100 is all of them."""
DEMAND = (
    "These are captures of one system at different times, not runs of one test: what was asked of it may have differed."
)
TABLE = (
    "These are runs of a report's table with different numbers of processors: whether all ran on one machine and were "
    "driven as hard, the table does not say."
)


def demand(series: LoadSeries) -> str:
    """What a derived series leaves open, as a sentence; of z/VM it is made of the runs of one table."""
    return TABLE if series.product == "zvm" else DEMAND


def least_busy(steps: Iterable[Step]) -> float | None:
    """The lowest busy share among the runs of these steps, per cent; `None` where one does not say."""
    shares = [run.other(BUSY) for step in steps for run in step.runs]
    known = [share for share in shares if share is not None]
    return min(known) if known and len(known) == len(shares) else None


def was_busy(course: TimeSeries, limit: float = BUSY_PERCENT) -> bool:
    """Whether the machine was busy in every capture at the peak and beyond it."""
    least = least_busy((course.peak, *course.beyond))
    return least is not None and least >= limit
