"""What is held against what: one figure before and after, per unit of work where it is an amount."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from collectors.facts import Source
from rules.figures import Better
from rules.laws.noise import Noise

REPEATS_PERCENT = 5.0
"""Practice: runs of one test repeat within a few per cent (JCC's slides on the OpenVMS lock manager, 2014)."""
UNSAMPLED_PERCENT = 20.0
"""This project: of production, with one sample on a side, a smaller difference is called nothing."""


@dataclass(frozen=True)
class Metric:
    """One figure of both sides. `ratio` is that of the figures per unit of work where there are any."""

    key: str
    label: str
    unit: str
    before: float | None
    after: float | None
    direction: Better
    """`low`: less is better, `high`: more; `None`: neither, or demand decides it."""
    work_unit: str | None = None
    """`CPU ms per committed transaction`; `None`: no amount that could be parted among units of work."""
    work_before: float | None = None
    work_after: float | None = None
    noise: Noise | None = None
    tested: bool = False
    """Of runs of one test, which repeat to a few per cent; else of production."""
    decides: bool = False
    source_before: Source | None = None
    source_after: Source | None = None

    @property
    def ratio(self) -> float | None:
        """After ÷ before, per unit of work where there is one; `None` where there is nothing to divide by."""
        before, after = (self.work_before, self.work_after) if self.work_unit is not None else (self.before, self.after)
        return after / before if before is not None and after is not None and before > 0 else None

    @property
    def threshold(self) -> float:
        """From how many per cent on a difference is one, where no noise was measured."""
        return REPEATS_PERCENT if self.tested else UNSAMPLED_PERCENT

    @property
    def moved(self) -> bool | None:
        """Whether it lies outside the noise; `None` where nothing can be divided."""
        if self.ratio is None:
            return None
        if self.noise:
            return self.noise.outside
        return abs(self.ratio - 1) * 100 > self.threshold

    @property
    def better(self) -> bool | None:
        """Whether the after is better, outside the noise; `None`: within it, or neither is better."""
        if self.direction is None or self.ratio is None or not self.moved:
            return None
        return (self.ratio < 1) == (self.direction == "low")


def deciding(metrics: Sequence[Metric], order: Sequence[str]) -> list[Metric]:
    """Mark what decides: the metrics per unit of work of the first key of `order`, or of all that begin with `key:`."""
    costs = [one.key for one in metrics if one.work_unit is not None and one.ratio is not None]
    for wanted in order:
        keys = {key for key in costs if key == wanted or (wanted.endswith(":") and key.startswith(wanted))}
        if keys:
            marked = [replace(one, decides=True) if one.key in keys else one for one in metrics]
            return sorted(marked, key=lambda one: not one.decides)
    return list(metrics)
