"""Throughput falls beyond a certain load, or soon will.

Finds: a load series to which the Universal Scalability Law fits, with its peak inside or near the measured range; the
same law with its load capped at the number of processors, where only that fits; or, where the law does not fit or
proves no peak, measured rates that fall beyond their highest point by more than noise. Of fewer than six loads, too
few for the law, only a fall that two runs bear out, and as advice at most.

Why it matters: queueing for what is shared (α) makes throughput level off; keeping copies in step (β) makes it fall.
Past the peak every further process, engine or user takes throughput from the others.

What to do: keep the load under the peak: limit connections, worker processes or engines, and let the rest queue. Then
look for what is shared: a spinlock, a hot page, a lock tree.

When to ignore it: when the runs at different loads did different work, or other work ran beside them; when the fall
is within what two equal runs differ by. A peak is believed only where β is above zero by two of its standard errors:
noise bends a level series, too. A rate that stands alone above what its neighbours allow is no peak. A peak beyond the
measured range, or one after which no more than noise was lost, is a note; one far beyond the range is no finding. The
law is not believed under R² 0.9, nor with fewer than six loads (the
R package `usl` warns there), nor where user-mode time per unit of work shows that the runs did different work. Captures
of production are no runs of one test: a series made of them is advice at most, and a note unless the machine was busy.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts
from collectors.facts.openvms import ProcessorModes
from collectors.facts.scaling import LoadSeries, ParameterSeries
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    capitalized,
    joined,
)
from rules.laws.derived import BUSY_PERCENT, demand, was_busy
from rules.laws.modes import spinning
from rules.laws.rounding import plain
from rules.laws.series import TimeSeries, course_of
from rules.laws.settings import of_a_size, outdone
from rules.laws.usl import LEAST_POINTS, LEAST_R2, Model, harm_from, model_of, ran_at
from rules.laws.work import uneven_work
from rules.sources import JCC

LITTLE = "What is lost beyond the peak is within what runs differ by."
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
    steep_percent: float = percent(
        20.0, "this project: four standard deviations between two runs that repeat to 4 %", of="the peak"
    )
    errors: float = limit(2.0, "practice: two standard errors, 95 %", low=1, high=5, unit="standard errors of β")
    far_past: float = limit(
        1.5, "this project: measured this far past the peak it is a warning", low=1, unit="× peak load"
    )
    busy_percent: float = percent(
        BUSY_PERCENT,
        "this project: below this share of all processors the demand may have set the rate of a capture",
        of="all processors",
    )


@rule(needs=(), uses=(LoadSeries, ParameterSeries), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge every load series; a series over a parameter ran at one load, and asks for none."""
    if not facts.every(LoadSeries):
        over = facts.every(ParameterSeries)
        yield NotApplicable("the series are over a parameter, at one load") if over else Unknown.of(LoadSeries)
    production = bool(facts.also(ProcessorModes).every(ProcessorModes))
    for series in facts.every(LoadSeries):
        course = course_of(series)
        better = outdone(series, facts.every(LoadSeries))
        if isinstance(course, str):
            outcome: Outcome = Untrusted(course)
        else:
            outcome = Clean(f"{series.title}: {better}") if better else _judge(series, course, limits)
        if isinstance(outcome, Finding) and (
            (production and series.node) or of_a_size(series, facts.every(LoadSeries))
        ):  # a test that is meant to go past the peak
            outcome = replace(outcome, severity=Severity.NOTE)
        yield outcome


def _judge(series: LoadSeries, course: TimeSeries, limits: Limits) -> Outcome:
    fall = course.fall_percent
    if uneven := uneven_work(series):
        return Untrusted(f"{series.title}: {uneven}")
    if len(course.steps) < limits.least_loads:
        if harm_from(model_of(series, limits.least_r2)) is not None and fall > limits.noise_percent:
            return _few(series, course, limits)
        bring = f"runs at {limits.least_loads} different loads or more, from 1 to beyond the suspected peak"
        fell = f", the highest of which does {fall:.0f} % less than the best" if fall > limits.noise_percent else ""
        rates = ", ".join(f"{_rate(step.rate)} at {step.load:g}" for step in course.steps)
        why = f"{series.title}: {len(course.steps)} different loads{fell}: too few to fit a law to ({rates})"
        return Unknown.without("scaling.LoadSeries", bring, why)
    model = model_of(series, limits.least_r2)
    if model.r2 < limits.least_r2:
        poor = f"the Universal Scalability Law fits poorly, R² {model.r2:.3f} (limit {limits.least_r2:g})"
        if fall > limits.noise_percent:
            return _measured(series, course, limits, f"{capitalized(poor)}, and nothing is read from it.")
        return Untrusted(f"{series.title}: {poor}, and the measured rates do not fall{_alone(course)}")
    if not model.usable:
        if fall > limits.noise_percent:
            return _measured(series, course, limits, f"The Universal Scalability Law is not used: {model.why_not}.")
        return Untrusted(f"{series.title}: {model.why_not}, and the measured rates do not fall{_alone(course)}")
    figures = f"α {model.alpha:.4g}, β {model.beta:.3g}, R² {model.r2:.3f}"
    if model.beta > 0 and not model.bends(limits.errors):
        if fall > limits.steep_percent:
            return _measured(
                series, course, limits, "The law's β is within its error, so nothing is read from the law."
            )
        return Clean(f"{series.title}: no peak that the data prove (β within its error; {figures})")
    if model.peak_load is None:
        shape = f"{model.shape}, " + (f"capped at {model.cap} processors, " if model.cap else "")
        return Clean(f"{series.title}: no peak, throughput levels off without falling ({shape}{figures})")
    if model.peak_load > limits.near * course.last.load:
        return Clean(
            f"{series.title}: the peak lies at {model.peak_load:.1f}, far beyond {course.last.load:g}, the highest "
            f"{series.load_said} measured ({figures})"
        )
    lost = 100 * (1 - model.rate(course.last.load) / model.rate(model.peak_load))
    if model.peak_load < course.last.load and fall <= limits.noise_percent < lost:
        return Clean(
            f"{series.title}: throughput levels off: up to {course.last.load:g} {series.load_said} the law would have "
            f"it fall by {lost:.0f} %, measured it falls by {fall:.0f} % ({figures})"
        )
    return _by_law(series, course, limits, model, figures)


def _few(series: LoadSeries, course: TimeSeries, limits: Limits) -> Finding | Untrusted:
    """A fall that more than one run bears out is measured, whether or not the loads do for a law: advice at most."""
    law = f"{len(course.steps)} different loads are too few to fit a law to, and a measured fall needs none."
    found = _measured(series, course, limits, law)
    if isinstance(found, Untrusted):
        return found
    more = f"Where the peak lies is known no better than these loads are apart: {limits.least_loads} would tell."
    asked = demand(series) if series.derived else ""
    return replace(found, unknown=joined(asked, more), severity=min(found.severity, Severity.ADVICE))


def _by_law(series: LoadSeries, course: TimeSeries, limits: Limits, model: Model, figures: str) -> Finding:
    last, top, best = course.last, model.peak_load or 0.0, model.best_load or 0.0
    nearest = _load(best)
    most = model.rate(best)
    unit = series.rate_name.replace("_", " ")
    inside = top <= last.load
    lost, about, by_law = 100 * (1 - model.rate(last.load) / most), "about ", ""
    fell = inside and lost > limits.noise_percent
    if fell and ran_at(course, best):  # what was run tells where the peak is; the law, how the rates get there
        by_law = f"; by the law the peak is {_of_law(model.rate(top)):,.10g} at {_of_law(top):g}"
        best, most, lost, about = course.peak.load, course.peak.rate, course.fall_percent, ""
    at, peaks = _load(best), "peaks" if inside else "would peak"
    said = (
        f"at {last.load:g}, the highest measured, it gives {lost:.0f} % less than at the peak{by_law}"
        if inside
        else f"the measured range ends at {last.load:g}, before that: it was not reached, and a run there would tell"
    )
    do, then = _stay(best, series), "takes" if inside else "would take"
    level = _levels_off(course, limits.noise_percent) if fell else None
    because = (
        f"Beyond the peak each further one {then} throughput from the others."
        if level is None
        else f"Up to {level:g} each further one takes throughput from the others, and from there on the rate stays."
    )
    if inside and not fell:
        do, because = f"Nothing is to be done: beyond {at} {series.load_said} little is gained.", LITTLE
    fits = (
        f"The Universal Scalability Law fits ({figures})"
        if model.first is None
        else f"The Universal Scalability Law does not fit (R² {model.first.r2:.3f}); with its load capped at the "
        f"{model.cap} processors, beyond which the rate stays where it is, it does ({figures})"
    )
    spun, spins = _spins(series, course)
    return Finding(
        subject=series.title,
        severity=_severity(series, course, limits, best) if fell else Severity.NOTE,
        title=f"Throughput {peaks} at {at} {series.load_said}, {about}{_rate(most)} {unit}",
        seen=joined(f"Throughput {peaks} at {at} {series.load_said} with {_rate(most)} {unit}; {said}.", spun),
        because=f"{fits}. {because}",
        do=do,
        unknown=joined(
            demand(series) if series.derived else "",
            "The same machine, software and work are meant; change one and measure again.",
        ),
        evidence=(
            *(
                (Evidence("fall from the peak", round(lost, 1), "%", last.source, limits.noise_percent),)
                if inside
                else ()
            ),
            Evidence(
                f"peak load ({series.load_said})",
                _of_law(top),
                "",
                series.source,
                None if inside else limits.near * last.load,
            ),
            Evidence(f"rate at {nearest}, by the law", _short(model.rate(model.best_load or top)), unit, series.source),
            Evidence("R² of the fit", round(model.r2, 4), "", series.source, limits.least_r2),
            *(
                (
                    Evidence("R² without the cap", round(model.first.r2, 4), "", series.source, limits.least_r2),
                    Evidence("processors, the cap", float(model.cap or 0), "", series.source),
                )
                if model.first
                else ()
            ),
            Evidence("contention α", round(model.alpha, 6), "", series.source),
            Evidence("coherency β", round(model.beta, 9), "", series.source),
            Evidence(f"highest rate measured, at {course.peak.load:g}", course.peak.rate, unit, course.peak.source),
            Evidence(f"rate measured at {last.load:g}", last.rate, unit, last.source),
            *spins,
        ),
        expects=(
            Expectation(
                f"{unit}, at {last.load:g} and at {nearest} by the law",
                _short(model.rate(last.load)),
                _short(model.rate(model.best_load or top)),
                "law",
            ),
        ),
    )


def _levels_off(course: TimeSeries, noise_percent: float) -> float | None:
    """The load from which the rate falls no further, as with more processes than CPUs; `None` where it always falls.

    At least two higher loads have to bear it out, and the fall has to lie before it.
    """
    beyond = course.beyond
    for at, step in enumerate(beyond[:-2]):
        rates = [one.rate for one in beyond[at:]]
        if max(rates) - min(rates) <= noise_percent / 100 * max(rates):
            return step.load if step.rate < course.peak.rate * (1 - noise_percent / 100) else None
    return None


def _measured(series: LoadSeries, course: TimeSeries, limits: Limits, poor: str) -> Finding | Untrusted:
    peak, last, fall = course.peak, course.last, course.fall_percent
    if course.overlaps:
        return Untrusted(f"{series.title}: repeated runs at {peak.load:g} and {last.load:g} overlap: measure again")
    unit = series.rate_name.replace("_", " ")
    spun, spins = _spins(series, course)
    severity = _severity(series, course, limits, peak.load)
    if fall <= limits.steep_percent:  # the best of many runs and one low one may make as much
        severity = min(severity, Severity.ADVICE)
    return Finding(
        subject=series.title,
        severity=severity,
        title=f"Measured throughput falls by {fall:.0f} % beyond {peak.load:g} {series.load_said}",
        seen=joined(
            f"{_rate(peak.rate)} {unit} at {peak.load:g} {series.load_said}, the most that was measured, and "
            f"{_rate(last.rate)} at {last.load:g}.",
            spun,
        ),
        because=joined(poor, course.alone_said if course.alone else ""),
        do=_stay(peak.load, series),
        unknown=joined(
            demand(series) if series.derived else "",
            f"More runs around {peak.load:g} would show the peak more exactly.",
        ),
        evidence=(
            Evidence(f"highest rate measured, at {peak.load:g}", peak.rate, unit, peak.source),
            Evidence(f"rate measured at {last.load:g}", last.rate, unit, last.source),
            Evidence("fall from the peak", round(fall, 1), "%", last.source, limits.noise_percent),
            *spins,
        ),
        expects=(Expectation(f"{unit}, at {peak.load:g} {series.load_said}", last.rate, peak.rate, "arithmetic"),),
    )


def _stay(peak: float, series: LoadSeries) -> str:
    """To keep the load under the peak; a single one may stay as it is."""
    if float(_load(peak)) <= 1 and not series.over_processors:
        return "One at a time does the most: let the rest queue."
    if series.over_processors:
        return f"Give this work no more than {_load(peak)} {series.load_said}: with more of them it does less."
    return f"Do not go beyond {_load(peak)} {series.load_said} with this work: limit them, and let the rest queue."


def _load(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def _alone(course: TimeSeries) -> str:
    return f"; {course.alone_said.removesuffix('.')}" if course.alone else ""


def _severity(series: LoadSeries, course: TimeSeries, limits: Limits, peak: float) -> Severity:
    """Of a fall beyond noise: by how far past the peak was measured; of captures of production never a warning.

    Nor of a fall by which two runs may differ that each repeat within the noise.
    """
    if series.derived:
        return Severity.ADVICE if was_busy(course, limits.busy_percent) else Severity.NOTE
    far, much = course.last.load >= limits.far_past * peak, course.fall_percent > 2 * limits.noise_percent
    return Severity.WARNING if far and much else Severity.ADVICE


def _spins(series: LoadSeries, course: TimeSeries) -> tuple[str, tuple[Evidence, ...]]:
    """What was lost to MP synchronization at the peak and past it, where the rows give the modes."""
    spun = spinning(course)
    if spun is None:
        return "", ()
    unit, name = "processors' worth", series.load_said
    return (
        f"At {course.peak.load:g} {name} {spun.at_peak:.1f} processors' worth of time is MP synch, at "
        f"{spun.step.load:g} it is {spun.past:.1f}.",
        (
            Evidence(f"MP synch at {course.peak.load:g} {name}", round(spun.at_peak, 2), unit, course.peak.source),
            Evidence(f"MP synch at {spun.step.load:g} {name}", round(spun.past, 2), unit, spun.step.source),
        ),
    )


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 1_000 else plain(value, 4)


def _of_law(value: float) -> float:
    """A fitted peak in four significant digits, as the series beside it is told."""
    return float(f"{value:.4g}")


def _short(value: float) -> float:
    """A fitted rate with no more digits than the sentence has: whole from 1,000 on, else four significant ones."""
    return float(round(value)) if value >= 1_000 else float(f"{value:.4g}")
