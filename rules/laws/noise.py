"""How far two samples of the same work differ by chance: what a change has to exceed before it is one.

With five samples or more on each side the ratio of two means is resampled (bootstrap, in blocks, because neighbours in
time are alike); with two to four it must hold for every pair; one sample tells nothing of its noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass

LEAST_SAMPLES = 5
"""This project: of fewer samples a bootstrap gives an interval that is too narrow; then every pair has to agree."""
DRAWS = 2000
"""This project: the ends of a 95 % interval move by less than a tenth of its width from one seed to another."""
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

    @property
    def outside(self) -> bool:
        """Whether "no change" (a ratio of 1) lies outside."""
        return self.low > 1 or self.high < 1


def per_work(samples: Sequence[Sample]) -> float | None:
    """The amount per unit of work over all samples, `None` where no work was done."""
    done = sum(one.work for one in samples)
    return sum(one.amount for one in samples) / done if done > 0 else None


def noise_of(before: Sequence[Sample], after: Sequence[Sample]) -> Noise | None:
    """The interval of the ratio after ÷ before, or `None` where a side has one sample or nothing to divide by."""
    before, after = [one for one in before if one.work > 0], [one for one in after if one.work > 0]
    least = min(len(before), len(after))
    if least < 2 or not per_work(before):
        return None
    if least < LEAST_SAMPLES:
        return _pairs(before, after)
    return _bootstrap(before, after)


def _pairs(before: Sequence[Sample], after: Sequence[Sample]) -> Noise | None:
    ratios = [
        (late.amount / late.work) / (early.amount / early.work) for early in before for late in after if early.amount
    ]
    return Noise(min(ratios), max(ratios), "every pair") if ratios else None


def _bootstrap(before: Sequence[Sample], after: Sequence[Sample]) -> Noise | None:
    import numpy as np

    random = np.random.default_rng(SEED)

    def draws(samples: Sequence[Sample]) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        amounts = np.asarray([one.amount for one in samples])
        work = np.asarray([one.work for one in samples])
        block = max(1, round(len(samples) ** (1 / 3)))
        blocks = -(-len(samples) // block)
        starts = random.integers(0, len(samples), size=(DRAWS, blocks))
        # the last block goes on at the beginning, so that every sample is drawn equally often
        drawn = ((starts[:, :, None] + np.arange(block)) % len(samples)).reshape(DRAWS, -1)[:, : len(samples)]
        made: np.ndarray[tuple[int], np.dtype[np.float64]] = amounts[drawn].sum(axis=1) / work[drawn].sum(axis=1)
        return made

    first, second = draws(before), draws(after)
    some = first > 0
    if not some.any():
        return None
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(second[some] / first[some], (tail, 100 - tail))
    return Noise(float(low), float(high), "bootstrap")
