"""The Universal Scalability Law: X(N) = γN / (1 + α(N−1) + βN(N−1)).

α is contention (queueing for what is shared), β coherency (keeping copies in step), γ the rate at a load of 1. The
peak lies at N* = √((1−α)/β); without β there is none (Amdahl's law, which levels off at γ/α), and without α and β the
rate grows in a straight line. Fitted by bounded least squares, α and β in [0, 1], as the R package `usl` does; its
printed coefficients are reproduced in the tests.

Where that does not fit and the processors are known, the law is tried with its load capped at their number, X(min(N,
P)): more processes than processors wait for a processor, and the rate stays where it is. JCC Consulting's BL870c, six
processes on four cores, falls up to the fourth and then stays: R² 0.748 without the cap, 0.993 with it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from collectors.facts.scaling import LoadSeries
from rules.laws.derived import TABLE, was_busy
from rules.laws.fitting import fit, r_squared
from rules.laws.series import TimeSeries, course_of
from rules.laws.work import uneven_work

LEAST_POINTS = 6
"""Source: the R package `usl` warns below six."""
LEAST_R2 = 0.9
"""RULES.md: a poorer fit is never extrapolated."""
LEAST_UNDER_CAP = 4
"""This project: a capped law needs one more load below and at the cap than it has coefficients."""
ERRORS = 2.0
"""Practice: two standard errors, 95 %."""
NOISE_PERCENT = 5.0
"""Practice: runs repeat within a few per cent (JCC Consulting's slides of 2014)."""
LEAST_FOR_HARM = 3
"""This project: of two loads the second may be the one disturbed run."""
ON_BOUND = 1e-6
"""So near to 1 a coefficient lies on its bound: the search stops there, the data would go further."""


@dataclass(frozen=True)
class Model:
    """One fitted law, and whether it may be used."""

    series: LoadSeries
    law: str
    """`usl`, or `usl-capped`: the same law, with the load capped at the number of processors."""
    alpha: float
    beta: float
    gamma: float
    r2: float
    errors: tuple[float, float, float] | None
    """Standard errors of α, β and γ; `None` where the points do not give any."""
    usable: bool
    why_not: str | None
    cap: int | None = None
    """The load beyond which the rate no longer changes."""
    first: "Model | None" = None
    """Of a capped law: the one without a cap, which did not fit."""
    residual_error: float | None = None
    """Residual standard error, in the unit of the rate: √(sum of squares ÷ (points − 3))."""

    def rate(self, load: float) -> float:
        """The rate the law gives at a load."""
        return law(self.alpha, self.beta, self.gamma, load, self.cap)

    @property
    def fitted(self) -> bool:
        """Whether there are coefficients at all."""
        return self.gamma > 0

    @property
    def shape(self) -> str | None:
        """`linear` (α and β are 0), `Amdahl` (β is 0) or `retrograde`; `None` where nothing was fitted."""
        if not self.fitted:
            return None
        return "retrograde" if self.beta > 0 else "Amdahl" if self.alpha > 0 else "linear"

    @property
    def peak_load(self) -> float | None:
        """The load of the highest rate, 1 where the rate falls from the beginning; `None` where it never falls."""
        if self.beta <= 0:
            return None
        peak = max(1.0, math.sqrt(max(0.0, 1 - self.alpha) / self.beta))
        return peak if self.cap is None or peak < self.cap else None

    @property
    def peak_rate(self) -> float | None:
        """The rate there."""
        return None if self.peak_load is None else self.rate(self.peak_load)

    @property
    def best_load(self) -> float | None:
        """The peak as one can run it: the better whole load beside it, where all loads are whole."""
        peak = self.peak_load
        if peak is None or not all(point.load == int(point.load) for point in self.series.points):
            return peak
        return max(math.floor(peak), math.ceil(peak), key=self.rate)

    @property
    def limit(self) -> float | None:
        """γ/α, which the rate could never pass were there no coherency (Amdahl); `None` without α."""
        return self.gamma / self.alpha if self.alpha > 0 else None

    @property
    def optimal_load(self) -> float | None:
        """1/α, where Amdahl's law has gained half of what there is to gain; `None` without α."""
        return 1 / self.alpha if self.alpha > 0 else None

    @property
    def residuals(self) -> tuple[float, ...]:
        """Measured less fitted, in the order of the points."""
        return tuple(point.rate - self.rate(point.load) for point in self.series.points)

    @property
    def highest_measured(self) -> float:
        """The highest load of the series."""
        return max((point.load for point in self.series.points), default=0.0)

    @property
    def proven(self) -> bool:
        """Whether β is above 0 by more than its standard errors leave open: noise bends a level series, too."""
        return self.bends(ERRORS)

    def bends(self, errors: float) -> bool:
        """Whether β is above 0 by so many of its standard errors."""
        return self.errors is not None and self.beta - errors * self.errors[1] > 0

    @property
    def levels_off(self) -> bool:
        """Whether a usable law falls from its peak by more than noise, inside the measured range, and the rates do not.

        The law has no other way to follow rates that stay where they are: clients that queue for a fixed number of
        servers, processes for processors.
        """
        course, peak = course_of(self.series), self.peak_load
        if not (self.usable and isinstance(course, TimeSeries)) or peak is None or peak >= course.last.load:
            return False
        lost = 100 * (1 - self.rate(course.last.load) / self.rate(peak))
        return lost > NOISE_PERCENT >= course.fall_percent

    @property
    def remarks(self) -> tuple[str, ...]:
        """What has to be said beside the coefficients, in whole sentences."""
        course = course_of(self.series)
        said = [course.alone_said] if isinstance(course, TimeSeries) and course.alone else []
        if self.first is not None:
            said.append(
                f"The law did not fit (R² {self.first.r2:.3f}); with its load capped at the {self.cap} processors it "
                f"does (R² {self.r2:.3f})."
            )
        if self.usable and self.peak_load is not None and self.peak_load > self.highest_measured:
            said.append(
                f"The peak lies beyond the highest load measured, {self.highest_measured:g}: it was not reached."
            )
        if self.usable and self.beta > 0 and not self.proven:
            said.append("β is within its error: the data prove no peak.")
        if self.levels_off:
            said.append("The law bends down where the rates level off: no fall beyond noise was measured.")
        if self.series.derived and self.series.product == "zvm":
            said.append(TABLE)
        elif self.series.derived:
            said.append("Made of captures of one system, not of runs of one test: what was asked of it may differ.")
        return tuple(said)


def law(alpha: float, beta: float, gamma: float, load: float, cap: float | None = None) -> float:
    """X(N); with a cap X(min(N, cap))."""
    load = load if cap is None else min(load, cap)
    return gamma * load / (1 + alpha * (load - 1) + beta * load * (load - 1))


def model_of(series: LoadSeries, least_r2: float = LEAST_R2) -> Model:
    """Fit the law to a load series, capped where it does not fit otherwise, and say whether it may be used."""
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
    first = _fitted(series, loads, rates, least_r2)
    uneven = uneven_work(series)
    if uneven:
        return replace(first, usable=False, why_not=uneven)
    cap = series.cores
    if first.r2 >= least_r2 or cap is None or len({min(load, cap) for load in loads}) < LEAST_UNDER_CAP:
        return first
    capped = _fitted(series, loads, rates, least_r2, cap) if cap < max(loads) else first
    if capped.r2 >= least_r2:
        return replace(capped, first=first)
    tried = "" if capped is first else f"; capped at the {cap} processors it fits poorly, too (R² {capped.r2:.3f})"
    return replace(first, why_not=f"{first.why_not}{tried}")


def _fitted(
    series: LoadSeries, loads: Sequence[float], rates: Sequence[float], least_r2: float, cap: int | None = None
) -> Model:
    """Fit one shape of the law, and say whether the fit is good."""
    alpha, beta, gamma, errors = fit([load if cap is None else min(load, cap) for load in loads], rates)
    rated = [law(alpha, beta, gamma, load, cap) for load in loads]
    r2 = r_squared(rates, rated)
    free, different = len(loads) - 3, len(set(loads))
    missed = sum((rate - one) ** 2 for rate, one in zip(rates, rated, strict=True))
    why_not = None
    if different < LEAST_POINTS:
        why_not = f"{different} different loads: fewer than {LEAST_POINTS}"
    elif r2 < least_r2:
        why_not = f"poor fit: R² {r2:.3f} is under {least_r2:g}, so nothing is read from the law"
    elif max(alpha, beta) >= 1 - ON_BOUND:
        which = "α" if alpha >= 1 - ON_BOUND else "β"
        why_not = f"{which} lies on its bound, 1: no such law made these rates, so nothing is read from it"
    return Model(
        series,
        "usl" if cap is None else "usl-capped",
        alpha,
        beta,
        gamma,
        r2,
        errors,
        usable=why_not is None,
        why_not=why_not,
        cap=cap,
        residual_error=math.sqrt(missed / free) if free > 0 else None,
    )


def ran_at(course: TimeSeries, load: float) -> bool:
    """Whether a load was run itself: where the law has its peak at such a one, what was measured says where it is."""
    return any(step.load == load for step in course.steps)


def harm_from(model: Model) -> float | None:
    """The load from which adding more does harm; `None` where neither a usable law nor the measured rates show one.

    Only where the highest load does less than the measured peak by more than noise: the law bends down where rates
    level off, too. By a usable law its peak, inside the measured range and proven; else the measured peak, and of fewer
    loads than the law needs only where more than one run bears the fall out. Of captures that are no runs of one test
    only where the machine was busy in them. Where the law's best load was run itself, the load that did most counts.
    """
    course = course_of(model.series)
    if not isinstance(course, TimeSeries) or uneven_work(model.series) or course.fall_percent <= NOISE_PERCENT:
        return None
    few = len(course.steps) < LEAST_POINTS
    if len(course.steps) < LEAST_FOR_HARM or (few and not course.borne_out):
        return None
    if model.series.derived and not was_busy(course):
        return None
    if model.usable:
        peak = model.best_load
        if peak is None or not model.proven or peak >= model.highest_measured:
            return None
        return course.peak.load if ran_at(course, peak) else peak
    if course.overlaps:
        return None
    return course.peak.load
