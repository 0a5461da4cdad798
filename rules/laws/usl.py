"""The Universal Scalability Law: X(N) = γN / (1 + α(N−1) + βN(N−1)).

α is contention (queueing for what is shared), β coherency (keeping copies in step), γ the rate at a load of 1. The
peak lies at N* = √((1−α)/β); without β there is none. Fitted by bounded least squares, α and β in [0, 1], as the R
package `usl` does; its printed coefficients are reproduced in the tests.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from collectors.facts.scaling import LoadSeries

LEAST_POINTS = 6
"""Source: the R package `usl` warns below six."""
LEAST_R2 = 0.9
"""RULES.md: a poorer fit is never extrapolated."""
NO_EFFECT = 1e-6
"""A coefficient that changes the rate at the highest load by less than this share is zero: it lies on its bound."""


@dataclass(frozen=True)
class Model:
    """One fitted law, and whether it may be used."""

    series: LoadSeries
    law: str
    alpha: float
    beta: float
    gamma: float
    r2: float
    errors: tuple[float, float, float] | None
    """Standard errors of α, β and γ; `None` where the points do not give any."""
    usable: bool
    why_not: str | None

    def rate(self, load: float) -> float:
        """The rate the law gives at a load."""
        return law(self.alpha, self.beta, self.gamma, load)

    @property
    def peak_load(self) -> float | None:
        """The load of the highest rate, 1 where the rate falls from the beginning; `None` where it never falls."""
        if self.beta <= 0:
            return None
        return max(1.0, math.sqrt(max(0.0, 1 - self.alpha) / self.beta))

    @property
    def peak_rate(self) -> float | None:
        """The rate there."""
        return None if self.peak_load is None else self.rate(self.peak_load)


def law(alpha: float, beta: float, gamma: float, load: float) -> float:
    """X(N)."""
    return gamma * load / (1 + alpha * (load - 1) + beta * load * (load - 1))


def model_of(series: LoadSeries) -> Model:
    """Fit the law to a load series and say whether it may be used."""
    loads = [point.load for point in series.points]
    rates = [point.rate for point in series.points]
    different = len(set(loads))
    unfit = None
    if not all(math.isfinite(value) for value in (*loads, *rates)):
        unfit = "a load or a rate is not a number"
    elif min(loads, default=0) <= 0 or min(rates, default=0) < 0 or max(rates, default=0) <= 0:
        unfit = "a load or all rates are zero, or one is negative: the law starts at a load above zero"
    elif different < 3:
        unfit = f"{different} different loads: three coefficients need at least three, and {LEAST_POINTS} to be trusted"
    if unfit:
        return Model(series, "usl", 0.0, 0.0, 0.0, 0.0, None, False, unfit)
    alpha, beta, gamma, errors = fit(loads, rates)
    r2 = r_squared(rates, [law(alpha, beta, gamma, load) for load in loads])
    why_not = None
    if r2 < LEAST_R2:
        why_not = f"poor fit: R² {r2:.3f} is under {LEAST_R2:g}, so nothing is read from the law"
    elif different < LEAST_POINTS:
        why_not = f"{different} different loads: fewer than {LEAST_POINTS}"
    return Model(series, "usl", alpha, beta, gamma, r2, errors, why_not is None, why_not)


def fit(
    loads: Sequence[float], rates: Sequence[float]
) -> tuple[float, float, float, tuple[float, float, float] | None]:
    """Least squares over α, β in [0, 1] and γ ≥ 0; returns them with their standard errors.

    Loads must be positive and finite and not all alike, rates finite and not all zero (see `model_of`). Several
    starts, the best result: from one start alone the search can stop on a bound.
    """
    import numpy as np
    from scipy.optimize import least_squares

    load, rate = np.asarray(loads, float), np.asarray(rates, float)
    scale = float(rate.max())
    pairs = load * (load - 1)

    def miss(p: Any) -> Any:
        return p[2] * load / (1 + p[0] * (load - 1) + p[1] * pairs) - rate / scale

    def slope(p: Any) -> Any:
        below = 1 + p[0] * (load - 1) + p[1] * pairs
        share = load / below
        return np.column_stack((-p[2] * share * (load - 1) / below, -p[2] * share * pairs / below, share))

    tries = [
        least_squares(
            miss,
            start,
            jac=slope,
            bounds=((0, 0, 0), (1, 1, np.inf)),
            x_scale="jac",
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
        )
        for start in _starts(load, rate / scale)
    ]
    found = min(tries, key=lambda one: float(one.cost))
    alpha, beta, gamma = (float(value) for value in found.x)
    queueing, coherency = alpha * float(load.max() - 1), beta * float(pairs.max())
    least = NO_EFFECT * (1 + queueing + coherency)
    alpha, beta = (0.0 if queueing < least else alpha), (0.0 if coherency < least else beta)
    return alpha, beta, gamma * scale, _errors(slope(found.x), float(found.cost), scale)


def _starts(load: Any, rate: Any) -> Iterator[tuple[float, float, float]]:
    """Where to start: as the R package does; with a peak in the middle of the range; from the straightened law.

    Straightened, N/X = 1/γ + (α/γ)(N−1) + (β/γ)N(N−1) is linear in its coefficients.
    """
    import numpy as np

    gamma = float((rate / load).max())
    highest = float(load.max())
    yield 0.01, 1e-4, gamma
    yield 0.1, min(1.0, 4.0 / (highest * highest)), gamma
    some = rate > 0
    straight = np.column_stack((np.ones_like(load), load - 1, load * (load - 1)))[some]
    weight = rate[some]
    solved = np.linalg.lstsq(straight * weight[:, None], load[some] / rate[some] * weight, rcond=None)[0]
    if solved[0] > 0:
        alpha, beta = (float(min(1.0, max(0.0, value / solved[0]))) for value in solved[1:])
        yield alpha, beta, float(1 / solved[0])


def _errors(slope: Any, cost: float, scale: float) -> tuple[float, float, float] | None:
    """Standard errors from the gradient at the optimum, as the R package prints them, bounds or not."""
    import numpy as np

    free = slope.shape[0] - 3
    if free <= 0:
        return None
    try:
        variance = np.linalg.inv(slope.T @ slope).diagonal() * (2 * cost) / free
    except np.linalg.LinAlgError:
        return None
    if not (np.isfinite(variance) & (variance >= 0)).all():
        return None
    error = np.sqrt(variance)
    return float(error[0]), float(error[1]), float(error[2] * scale)


def r_squared(rates: Sequence[float], fitted: Sequence[float]) -> float:
    """Share of the variance the fit explains; 0 where the rates do not vary."""
    mean = sum(rates) / len(rates)
    spread = sum((rate - mean) ** 2 for rate in rates)
    missed = sum((rate - fit) ** 2 for rate, fit in zip(rates, fitted, strict=True))
    return 1 - missed / spread if spread else 0.0
