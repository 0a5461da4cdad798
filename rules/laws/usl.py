"""The Universal Scalability Law: X(N) = γN / (1 + α(N−1) + βN(N−1)).

α is contention (queueing for what is shared), β coherency (keeping copies in step), γ the rate at a load of 1. The
peak lies at N* = √((1−α)/β); without β there is none. Fitted by bounded least squares, α and β in [0, 1], as the R
package `usl` does; its printed coefficients are reproduced in the tests.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from collectors.facts.scaling import LoadSeries

LEAST_POINTS = 6
"""Source: the R package `usl` warns below six."""
LEAST_R2 = 0.9
"""RULES.md: a poorer fit is never extrapolated."""
ON_THE_BOUND = 1e-6
"""A coefficient nearer to zero than this is zero: the optimum lies on the bound."""


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
        return self.gamma * load / (1 + self.alpha * (load - 1) + self.beta * load * (load - 1))

    @property
    def peak_load(self) -> float | None:
        """The load of the highest rate; `None` where the law has no peak."""
        if self.beta <= ON_THE_BOUND or self.alpha >= 1:
            return None
        return max(1.0, math.sqrt((1 - self.alpha) / self.beta))

    @property
    def peak_rate(self) -> float | None:
        """The rate there."""
        return None if self.peak_load is None else self.rate(self.peak_load)


def model_of(series: LoadSeries) -> Model:
    """Fit the law to a load series and say whether it may be used."""
    loads = [point.load for point in series.points]
    rates = [point.rate for point in series.points]
    different = len(set(loads))
    if different < 3 or min(loads, default=0) <= 0 or max(rates, default=0) <= 0:
        why = f"{different} different loads: three coefficients need at least three, and {LEAST_POINTS} to be trusted"
        if min(loads, default=0) <= 0 or max(rates, default=0) <= 0:
            why = "a load or all rates are zero: the law starts at a load above zero"
        return Model(series, "usl", 0.0, 0.0, 0.0, 0.0, None, False, why)
    alpha, beta, gamma, errors = fit(loads, rates)
    model = Model(series, "usl", alpha, beta, gamma, 0.0, errors, True, None)
    r2 = r_squared(rates, [model.rate(load) for load in loads])
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

    Raises nothing: loads must be positive and not all alike (see `model_of`).
    """
    import numpy as np
    from scipy.optimize import least_squares

    load, rate = np.asarray(loads, float), np.asarray(rates, float)
    scale = float(rate.max())
    start = (0.01, 1e-4, float((rate / load).max()) / scale)

    def miss(p: Any) -> Any:
        return p[2] * load / (1 + p[0] * (load - 1) + p[1] * load * (load - 1)) - rate / scale

    found = least_squares(
        miss,
        start,
        bounds=((0, 0, 0), (1, 1, np.inf)),
        x_scale=(0.1, 1e-3, start[2]),
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
    )
    alpha, beta, gamma = (float(value) for value in found.x)
    errors = None
    free = len(load) - 3
    if free > 0:
        try:
            slope = np.asarray(found.jac)
            variance = np.linalg.inv(slope.T @ slope).diagonal() * (2 * found.cost) / free
            if (variance >= 0).all():
                error = np.sqrt(variance)
                errors = (float(error[0]), float(error[1]), float(error[2] * scale))
        except np.linalg.LinAlgError:
            errors = None
    alpha, beta = (0.0 if value < ON_THE_BOUND else value for value in (alpha, beta))
    return alpha, beta, gamma * scale, errors


def r_squared(rates: Sequence[float], fitted: Sequence[float]) -> float:
    """Share of the variance the fit explains; 0 where the rates do not vary."""
    mean = sum(rates) / len(rates)
    spread = sum((rate - mean) ** 2 for rate in rates)
    missed = sum((rate - fit) ** 2 for rate, fit in zip(rates, fitted, strict=True))
    return 1 - missed / spread if spread else 0.0
