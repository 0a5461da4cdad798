"""How far two samples of the same work differ by chance: what a change has to exceed before it is one.

With five samples or more on each side the ratio of two means is resampled (bootstrap, in blocks, because neighbours in
time are alike), and the ends are taken further out, because resampling few samples gives too narrow an interval. With
two to four it must hold for every pair; one sample tells nothing of its noise.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

LEAST_SAMPLES = 5
"""This project: of fewer samples a bootstrap gives an interval that is too narrow; then every pair has to agree."""
DRAWS, FIGURES_DRAWN = 2000, 200_000
"""This project: at least so many draws, and more of few samples, whose ends lie far out in the tails. The ends of a
95 % interval move by less than a tenth of its width from one seed to another."""
NEIGHBOURS_FROM = 10
"""This project: fewer samples are captures of days of their own, or too few to be parted into blocks."""
CONFIDENCE = 0.95
SEED = 20140110
"""Fixed, so that the same captures give the same interval."""


@dataclass(frozen=True)
class Sample:
    """What one sample gives: an amount, and the units of work it was spent on (1 for what is no amount)."""

    amount: float
    work: float


@dataclass(frozen=True)
class Noise:
    """Between which two ratios the truth lies, and how that was found."""

    low: float
    high: float
    how: str
    """`bootstrap` or `every pair`."""
    chance: float = 1 - CONFIDENCE
    """How often "no change" would lie outside by chance alone: of two samples on each side in one case of three."""

    @property
    def outside(self) -> bool:
        """Whether "no change" (a ratio of 1) lies outside."""
        return self.low > 1 or self.high < 1

    @property
    def proves(self) -> bool:
        """Whether chance alone would give such a difference in no more than one case of twenty."""
        return self.chance <= 1 - CONFIDENCE + 1e-9

    @property
    def bounded(self) -> bool:
        """Whether both ends are numbers: where samples before had none of it, the ratio has no upper end."""
        return math.isfinite(self.low) and math.isfinite(self.high)


def per_work(samples: Sequence[Sample]) -> float | None:
    """The amount per unit of work over all samples, `None` where no work was done."""
    done = sum(one.work for one in samples)
    return sum(one.amount for one in samples) / done if done > 0 else None


def noise_of(before: Sequence[Sample], after: Sequence[Sample]) -> Noise | None:
    """The interval of the ratio after ÷ before, or `None` where a side has one sample or nothing to divide by."""
    before, after = ([one for one in side if _counts(one)] for side in (before, after))
    least = min(len(before), len(after))
    if least < 2 or not per_work(before):
        return None
    if least < LEAST_SAMPLES:
        return _pairs(before, after)
    return _bootstrap(before, after)


def _counts(one: Sample) -> bool:
    return 0 <= one.amount < math.inf and 0 < one.work < math.inf


def _pairs(before: Sequence[Sample], after: Sequence[Sample]) -> Noise:
    """The least and the most of all pairs; a sample before that had none of it leaves the upper end open."""
    first, second = ([one.amount / one.work for one in side] for side in (before, after))
    low = min(second) / max(first)
    high = max(second) / min(first) if min(first) > 0 else math.inf
    chance = 2 / math.comb(len(before) + len(after), len(before))
    return Noise(low, high, "every pair", chance)


def _bootstrap(before: Sequence[Sample], after: Sequence[Sample]) -> Noise:
    import numpy as np

    random = np.random.default_rng(SEED)
    count = max(DRAWS, FIGURES_DRAWN // max(len(before), len(after)))

    def draws(samples: Sequence[Sample]) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        amounts = np.asarray([one.amount for one in samples])
        work = np.asarray([one.work for one in samples])
        block = _block(len(samples))
        blocks = -(-len(samples) // block)
        starts = random.integers(0, len(samples), size=(count, blocks))
        # the last block goes on at the beginning, so that every sample is drawn equally often
        drawn = ((starts[:, :, None] + np.arange(block)) % len(samples)).reshape(count, -1)[:, : len(samples)]
        made: np.ndarray[tuple[int], np.dtype[np.float64]] = amounts[drawn].sum(axis=1) / work[drawn].sum(axis=1)
        return made

    first, second = draws(before), draws(after)
    # a draw without any of it before has no upper end: left out, it would make the interval look surer than it is
    ratios = np.full(count, math.inf)
    np.divide(second, first, out=ratios, where=first > 0)
    tail = 100 * _tail(len(before), len(after))
    low, high = np.percentile(ratios, (tail, 100 - tail), method="inverted_cdf")
    return Noise(float(low), float(high), "bootstrap")


def _block(samples: int) -> int:
    """How many neighbours are drawn together."""
    return max(1, round(samples ** (1 / 3))) if samples >= NEIGHBOURS_FROM else 1


def _tail(before: int, after: int) -> float:
    """Which share of the draws lies beyond each end.

    Of n samples drawn in blocks of b the draws vary too little by the root of (n − b) ÷ n, and the spread itself is an
    estimate: Student's t instead of the normal distribution (the expanded percentile interval of T. Hesterberg, "What
    Teachers Should Know About the Bootstrap", 2015).
    """
    from scipy.special import ndtr, stdtrit

    blocks = [samples / _block(samples) for samples in (before, after)]
    least = min(blocks)
    far = stdtrit(sum(blocks) - 2, 1 - (1 - CONFIDENCE) / 2) * math.sqrt(least / (least - 1))
    return float(ndtr(-far))
