"""What one turn of a spinning loop takes on one machine: CPU time per unit of work against spins per unit of work.

No source gives it, and it differs by processor (knowledge/ase-waits-caches.md, 7). Two captures of one server at
different loads give it: where a unit of work itself takes as much CPU time in both, what it takes more is spinning.

    busy seconds ÷ work  =  the work's own CPU time  +  seconds per spin × spins ÷ work

Two captures give a slope and no degree of freedom: its error is that of the figures' rounding alone, and says nothing
of whether the work was the same. From three on it is least squares with the interval of Student's t, or the rounding,
whichever is wider.
"""

from collections.abc import Sequence
from dataclasses import dataclass

LEAST_SPREAD = 0.2
"""This project: spins per unit of work, and work per second, have to differ by a fifth, or noise makes the slope."""
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Load:
    """One capture."""

    work: float
    """Units of work done, above 0: transactions."""
    busy_seconds: float
    """Seconds of all processors together that they worked or spun."""
    busy_error: float
    """How far these may be off by the rounding of what was printed, seconds."""
    spins: float
    work_error: float = 0.0
    """The same of the work, units."""

    @property
    def spins_each(self) -> float:
        """Spins per unit of work."""
        return self.spins / self.work

    @property
    def busy_each(self) -> float:
        """Seconds of CPU time per unit of work."""
        return self.busy_seconds / self.work

    @property
    def error_each(self) -> float:
        """How far that may be off, seconds."""
        return (self.busy_error + self.busy_each * self.work_error) / self.work


@dataclass(frozen=True)
class Fit:
    """Seconds per spin, with both ends; below zero where more spins came with less CPU time."""

    seconds: float
    low: float
    high: float
    own: float
    """The work's own CPU time, seconds per unit."""
    loads: int


def fit(loads: Sequence[Load]) -> Fit | None:
    """Fit it to at least two captures; `None` where their spins per unit of work do not differ by a fifth."""
    each = [one.spins_each for one in loads]
    if len(loads) < 2 or max(each) <= 0 or min(each) > (1 - LEAST_SPREAD) * max(each):
        return None
    mean_x, mean_y = sum(each) / len(each), sum(one.busy_each for one in loads) / len(loads)
    spread = sum((x - mean_x) ** 2 for x in each)
    slope = sum((one.spins_each - mean_x) * (one.busy_each - mean_y) for one in loads) / spread
    own = mean_y - slope * mean_x
    rounding = sum(abs(one.spins_each - mean_x) * one.error_each for one in loads) / spread
    half = max(rounding, _by_scatter(loads, slope, own, spread))
    return Fit(slope, slope - half, slope + half, own, len(loads))


def _by_scatter(loads: Sequence[Load], slope: float, own: float, spread: float) -> float:
    """Half the interval that the residuals give; of two captures there are none."""
    free = len(loads) - 2
    if free < 1:
        return 0.0
    from scipy.special import stdtrit

    missed = sum((one.busy_each - own - slope * one.spins_each) ** 2 for one in loads)
    error: float = (missed / free / spread) ** 0.5
    return float(stdtrit(free, (1 + CONFIDENCE) / 2)) * error
