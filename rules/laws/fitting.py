"""Bounded least squares for the Universal Scalability Law: coefficients and standard errors from loads and rates.

α and β lie in [0, 1], γ is not below 0, as in the R package `usl`; what the law is stands in `rules.laws.usl`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

NO_EFFECT = 1e-6
"""A coefficient that changes the rate at the highest load by less than this share is zero: it lies on its bound."""
MOST_STEPS = 100
"""Each is some times smaller than the one before it, until rounding alone is left: then one is not smaller."""


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
    found = min(tries, key=lambda one: float(one.cost)).x
    effects = found[:2] * (float(load.max() - 1), float(pairs.max()))
    found[:2][effects < NO_EFFECT * (1 + effects.sum())] = 0.0
    found = _polished(found, miss, slope)
    alpha, beta, gamma = map(float, found)
    missed = miss(found)
    return alpha, beta, gamma * scale, _errors(slope(found), float(missed @ missed) / 2, scale)


def _polished(found: Any, miss: Any, slope: Any) -> Any:
    """The same minimum to all digits, by Gauss and Newton's steps of what lies within the bounds.

    The search above ends where the sum of squares falls no further. That is flat at its minimum, so half of the digits
    of a coefficient are left to chance there: another processor gives others.
    """
    import numpy as np

    inside = (found > 0) & (found < (1, 1, np.inf))
    last, best = np.inf, found
    for _ in range(MOST_STEPS):
        step = np.zeros(3)
        step[inside] = np.linalg.lstsq(slope(best)[:, inside], -miss(best), rcond=None)[0]
        size = float(np.abs(step[inside] / best[inside]).max(initial=0.0))
        new = best + step
        if size >= last or (new < 0).any() or (new > (1, 1, np.inf)).any():
            break
        last, best = size, new
    return best


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
