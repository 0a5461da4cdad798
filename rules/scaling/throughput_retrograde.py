"""Throughput falls beyond a certain load, or soon will.

Finds: a load series to which the Universal Scalability Law fits, with its peak inside or near the measured range; or,
where the law does not fit or proves no peak, measured rates that fall beyond their highest point by more than noise.

Why it matters: queueing for what is shared (α) makes throughput level off; keeping copies in step (β) makes it fall.
Past the peak every further process, engine or user takes throughput from the others.

What to do: keep the load under the peak: limit connections, worker processes or engines, and let the rest queue. Then
look for what is shared: a spinlock, a hot page, a lock tree.

When to ignore it: when the runs at different loads did different work, or other work ran beside them; when the fall
is within what two equal runs differ by. A peak is believed only where β is above zero by two of its standard errors:
noise bends a level series, too. A peak beyond the measured range, or one after which no more than noise was lost, is a
note; one far beyond the range is no finding. The law is not believed under R² 0.9, nor with fewer than six loads (the
R package `usl` warns there).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.scaling import LoadSeries
from rules.finding import Clean, Evidence, Expectation, Finding, Lacking, Outcome, Severity, Unknown, Untrusted
from rules.judging.sources import JCC
from rules.kit import limit, rule
from rules.laws.series import Course, course_of
from rules.laws.usl import LEAST_POINTS, LEAST_R2, Model, model_of

LINKS = ("https://github.com/cran/usl", "https://github.com/codahale/usl4j")


@dataclass(frozen=True)
class Limits:
    """When the law is believed, how near a peak has to be, and what is a fall."""

    least_r2: float = limit(LEAST_R2, "this project: a poorer fit is never read from", low=LEAST_R2, high=1, unit="R²")
    least_loads: int = limit(
        LEAST_POINTS, "practice: the R package usl warns below six", low=LEAST_POINTS, unit="different loads"
    )
    near: float = limit(
        1.5, "this project: a peak up to this far beyond the highest load is near", low=1, high=3, unit="× highest load"
    )
    noise_percent: float = limit(
        5.0, f"practice: runs repeat within a few per cent ({JCC})", low=1, high=50, unit="% of the peak"
    )
    steep_percent: float = limit(
        20.0,
        "this project: four standard deviations between two runs that repeat to 4 %",
        high=100,
        unit="% of the peak",
    )
    errors: float = limit(2.0, "practice: two standard errors, 95 %", low=1, high=5, unit="standard errors of β")
    far_past: float = limit(
        1.5, "this project: measured this far past the peak it is a warning", low=1, unit="× peak load"
    )


@rule(needs=(LoadSeries,), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge every load series."""
    for series in facts.every(LoadSeries):
        course = course_of(series)
        yield Untrusted(course) if isinstance(course, str) else _judge(series, course, limits)


def _judge(series: LoadSeries, course: Course, limits: Limits) -> Outcome:
    fall = course.fall_percent
    if len(course.steps) < limits.least_loads:
        bring = f"runs at {limits.least_loads} different loads or more, from 1 to beyond the suspected peak"
        fell = f", the highest of which does {fall:.0f} % less than the best" if fall > limits.noise_percent else ""
        why = f"{series.title}: {len(course.steps)} different loads{fell}: too few to fit a law to"
        return Unknown((Lacking("scaling.LoadSeries", bring),), why)
    model = model_of(series)
    if model.r2 < limits.least_r2:
        poor = f"the Universal Scalability Law fits poorly, R² {model.r2:.3f} (limit {limits.least_r2:g})"
        if fall > limits.noise_percent:
            return _measured(series, course, limits, f"{poor[0].upper()}{poor[1:]}, and nothing is read from it.")
        return Untrusted(f"{series.title}: {poor}, and the measured rates do not fall")
    figures = f"α {model.alpha:.4g}, β {model.beta:.3g}, R² {model.r2:.3f}"
    if model.beta > 0 and not _proven(model, limits):
        if fall > limits.steep_percent:
            return _measured(
                series, course, limits, "The law's β is within its error, so nothing is read from the law."
            )
        return Clean(f"{series.title}: no peak that the data prove (β within its error; {figures})")
    if model.peak_load is None or model.peak_rate is None:
        return Clean(f"{series.title}: no peak, throughput levels off without falling ({figures})")
    if model.peak_load > limits.near * course.last.load:
        return Clean(
            f"{series.title}: the peak lies at {model.peak_load:.1f}, far beyond {course.last.load:g}, the highest "
            f"{series.load_name} measured ({figures})"
        )
    return _by_law(series, course, limits, model, figures)


def _proven(model: Model, limits: Limits) -> bool:
    """Whether β is above zero by more than its standard error leaves open: noise alone bends a level series, too."""
    return model.errors is not None and model.beta - limits.errors * model.errors[1] > 0


def _by_law(series: LoadSeries, course: Course, limits: Limits, model: Model, figures: str) -> Finding:
    last, top, most = course.last, model.peak_load or 0.0, model.peak_rate or 0.0
    unit = series.rate_name.replace("_", " ")
    inside = top <= last.load
    counted = all(point.load == int(point.load) for point in series.points)
    at, peaks = f"{top:.0f}" if counted else f"{top:.1f}", "peaks" if inside else "would peak"
    lost = 100 * (1 - model.rate(last.load) / most)
    fell = inside and lost > limits.noise_percent
    past = last.load >= limits.far_past * top
    said = (
        f"At {last.load:g}, the highest measured, it gives {lost:.0f} % less than at the peak."
        if inside
        else f"The measured range ends at {last.load:g}, before that: it was not reached, and a run there would tell."
    )
    stay = f"Do not go beyond {at} {series.load_name}" if float(at) > 1 else "One at a time does the most"
    return Finding(
        subject=series.title,
        severity=Severity.NOTE if not fell else Severity.WARNING if past else Severity.ADVICE,
        title=f"Throughput {peaks} at {at} {series.load_name}, about {_rate(most)} {unit}",
        says=(
            f"The Universal Scalability Law fits ({figures}) and {peaks} at {at} "
            f"{series.load_name} with {_rate(most)} {unit}. {said} {stay}: beyond it each further one "
            f"{'takes' if inside else 'would take'} throughput from the others. The same machine, software and work "
            "are meant; change one and measure again."
        ),
        evidence=(
            Evidence(f"peak load ({series.load_name})", round(top, 2), "", series.source),
            Evidence("rate at the peak, by the law", round(most, 3), unit, series.source),
            Evidence("R² of the fit", round(model.r2, 4), "", series.source, limits.least_r2),
            Evidence("contention α", round(model.alpha, 6), "", series.source),
            Evidence("coherency β", round(model.beta, 9), "", series.source),
            Evidence(f"highest rate measured, at {course.peak.load:g}", course.peak.rate, unit, course.peak.source),
            Evidence(f"rate measured at {last.load:g}", last.rate, unit, last.source),
        ),
        expects=(
            Expectation(f"{unit}, at the peak and at {last.load:g} by the law", model.rate(last.load), most, "law"),
        ),
    )


def _measured(series: LoadSeries, course: Course, limits: Limits, poor: str) -> Finding:
    peak, last, fall = course.peak, course.last, course.fall_percent
    unit = series.rate_name.replace("_", " ")
    return Finding(
        subject=series.title,
        severity=Severity.WARNING if last.load >= limits.far_past * peak.load else Severity.ADVICE,
        title=f"Measured throughput falls by {fall:.0f} % beyond {peak.load:g} {series.load_name}",
        says=(
            f"{_rate(peak.rate)} {unit} at {peak.load:g} {series.load_name}, the most that was measured, and "
            f"{_rate(last.rate)} at {last.load:g}. {poor} Do not go beyond {peak.load:g} {series.load_name} with this "
            "work; more runs around it would show the peak more exactly."
        ),
        evidence=(
            Evidence(f"highest rate measured, at {peak.load:g}", peak.rate, unit, peak.source),
            Evidence(f"rate measured at {last.load:g}", last.rate, unit, last.source),
            Evidence("fall from the peak", round(fall, 1), "%", last.source, limits.noise_percent),
        ),
        expects=(Expectation(f"{unit}, at {peak.load:g} {series.load_name}", last.rate, peak.rate, "arithmetic"),),
    )


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.4g}"
