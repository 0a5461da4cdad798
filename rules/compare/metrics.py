"""What is held against what: one figure before and after, per unit of work where it is an amount."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rules.figures import Better
from rules.laws.noise import Noise

REPEATS_PERCENT = 5.0
"""Practice: runs of one test repeat within a few per cent (JCC's slides on the OpenVMS lock manager, 2014).

No smaller difference counts, whatever the samples say: those of one day, or runs one after the other, do not show how
days and sessions differ.
"""
UNSAMPLED_PERCENT = 20.0
"""This project: of production, with one sample on a side, or so few that chance makes every pair agree in more than one
case of twenty, a smaller difference is called nothing."""
LEAST = {
    "openvms.mp_synch": (5.0, "plain"),
    "openvms.enqueues_waited": (1.0, "plain"),
    "rdb.requests_stalled:": (0.01, "work"),
    "rdb.promotions_stalled:": (0.01, "work"),
}
"""Beginning of a key → what it has to reach on one side before it decides anything. This project: twice 0.1 stalls per
second, printed with one decimal, is no loss to anybody. `plain`: in its own unit (5 % of one CPU, 1 per second),
`work`: per unit of work (a stall in a hundred transactions)."""

ROUNDING = 1.02
"""This project: means of steps and the mean of all of them differ by what was rounded and by steps without a figure."""


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

    @property
    def ratio(self) -> float | None:
        """After ÷ before, per unit of work where there is one; `None` where there is nothing to divide by."""
        before, after = (self.work_before, self.work_after) if self.work_unit is not None else (self.before, self.after)
        return after / before if before is not None and after is not None and before > 0 else None

    @property
    def credible(self) -> "Metric":
        """The same; without its noise where the ratio lies outside it, for then the samples are of something else."""
        if self.noise is None or self.ratio is None:
            return self
        inside = self.noise.low / ROUNDING <= self.ratio <= self.noise.high * ROUNDING
        return self if inside else replace(self, noise=None)

    @property
    def threshold(self) -> float:
        """From how many per cent on a difference is one: below what runs repeat to it is nothing, however sure."""
        proved = self.tested or (self.noise is not None and self.noise.proves)
        return REPEATS_PERCENT if proved else UNSAMPLED_PERCENT

    @property
    def moved(self) -> bool | None:
        """Whether it lies outside the noise; `None` where nothing can be divided."""
        if self.ratio is None:
            return None
        if self.noise and not self.noise.outside:
            return False
        return abs(self.ratio - 1) * 100 > self.threshold + 1e-9  # 320 to 336 is 5 %, no more

    @property
    def came(self) -> bool:
        """Whether there was none of it before, and there is some after."""
        before, after = (self.work_before, self.work_after) if self.work_unit is not None else (self.before, self.after)
        return before == 0 and after is not None and after > 0

    @property
    def matters(self) -> bool:
        """Whether there is enough of it on a side to decide by."""
        for begins, (least, of) in LEAST.items():
            if self.key.startswith(begins):
                ends = (self.before, self.after) if of == "plain" else (self.work_before, self.work_after)
                return max((value for value in ends if value is not None), default=0.0) >= least
        return True

    @property
    def better(self) -> bool | None:
        """Whether the after is better, outside the noise; `None`: within it, or neither is better.

        Of what there was none before and is some after, only what decides is judged: one deadlock in a day is chance.
        """
        if self.direction is not None and self.came and self.decides:
            return self.direction == "high"
        if self.direction is None or self.ratio is None or not self.moved:
            return None
        return (self.ratio < 1) == (self.direction == "low")


def deciding(metrics: Sequence[Metric], order: Sequence[str]) -> list[Metric]:
    """Mark what decides: the metrics per unit of work of the first key of `order`, or of all that begin with `key:`.

    What there was none of before, and enough of after, decides too: it cannot be divided, and is no less for that.
    """
    costs = [one.key for one in metrics if one.work_unit is not None and (one.ratio is not None or one.came)]
    costs = [one.key for one in metrics if one.key in costs and one.matters]
    for wanted in order:
        keys = {key for key in costs if key == wanted or (wanted.endswith(":") and key.startswith(wanted))}
        if keys:
            marked = [replace(one, decides=True) if one.key in keys else one for one in metrics]
            return sorted(marked, key=lambda one: not one.decides)
    return list(metrics)
