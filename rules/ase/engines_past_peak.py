"""More engines are online than the server can use.

Finds: a load series over numbers of engines that a scalability law fits, with its peak below the engines now online;
or one that was measured to do less with as many engines as are online; or captures of one server, two or more, in which
commits fall with more engines while spins per wait and the share of grabs that wait rise, or the spinlocks that
sp_sysmon prints.

Why it matters: engines share spinlocks, caches and the bus. Beyond the peak each further engine takes more from the
others than it adds: the server looks busier and does less. A practitioner's comment on document 001 put the sweet spot
of his queries at 12 to 15 engines, another site met its wall at 24: there is no such number for all, only for one load.

What to do: take engines offline down to the peak, under the same load, and compare commits per second. Prefer curing
the most expensive spinlock first: the peak moves up with it. Never add engines against spinning.

When to ignore it: when the series was measured with other work, on another machine or release, or before the last
change of spinlock settings. Many spins for each wait say nothing by themselves: a healthy 16.0 server showed hundreds
for one spinlock, and tens of thousands for its run queues. A poor fit (R² below 0.9) is never read beyond its points.
Captures of production are no runs of one test: fewer commits may have been asked for. They are advice at most, and a
note without a script unless the engines were busy in them; where spins did not rise with the engines, nothing is said.
Where each CPU unit committed half as much or less as well (sp_sysmon), less demand does not explain it: a warning.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts, Source
from collectors.facts.ase import ConfigParameter, EngineBusy, MonEngine, Server
from collectors.facts.scaling import LoadSeries
from rules.ase._evidence.engine_series import over_engines
from rules.ase._evidence.server import setting_of, subject_of
from rules.ase._evidence.spinlocks.gates import LOCK_PERCENT
from rules.changes.ase_engines import fewer_engines, fewer_threads
from rules.compare.words import number
from rules.engine import limit, percent, rule
from rules.finding import (
    Change,
    Clean,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    capitalized,
)
from rules.laws.derived import BUSY_PERCENT, DEMAND, was_busy
from rules.laws.rounding import plain
from rules.laws.series import Step, TimeSeries, course_of
from rules.laws.usl import Model, model_of
from rules.laws.work import uneven_work
from rules.sources import TALLMAN

LINKS = (
    "https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158567770.html",
    "https://blogs.sap.com/2014/07/16/ase-16-managing-vldb-s-with-vlh-very-large-hardware/",
)
SERIES = MissingInput(
    "throughput at several numbers of engines",
    "a CSV with the columns engines and throughput: the same work at six or more numbers of engines",
)

PAST = (
    "Past the peak engines wait for each other more than they add. That holds for the work, release and settings of "
    "the series."
)
NOT_ALONE = (
    "Take no engine away for this alone: measure the same work at several numbers of engines first. Never add engines "
    "against spinning."
)
PAIR = 2
"""Steps of a series of two captures: no law fits it, so it needs a witness."""
SPINS = (("spins_per_wait", "spins per wait", ""), ("waited_percent", "grabs of spinlocks that waited", " %"))
"""Columns of a series made of captures with snapshots of monSpinlockActivity."""
PRINTED = (("contended_percent", "the most contended spinlock that sp_sysmon prints", " %"),)
"""The column of captures with sp_sysmon alone."""
PER_CPU = "commits_per_cpu"
GO_BACK = (
    "Go back from {0} to {1} engines first, and measure the same hour again; then fix the most expensive spinlock, as "
    "that moves the peak up. Never add engines against spinning."
)
CONTENDED = tuple(
    f"ase/{name}_spinlock_contended" for name in ("data_cache", "lock_hash", "table_lock", "address_lock")
)
"""What more engines make, where these spinlocks were quiet with fewer."""


@dataclass(frozen=True)
class Limits:
    """What a series must be like."""

    least_r2: float = limit(0.9, "this project: a poorer fit is never read (RULES.md)", low=0.5, high=1)
    gain_percent: float = limit(
        5.0, "this project: runs repeat to a few per cent, a smaller gain is noise", low=1, high=50, unit="%"
    )
    per_cpu_percent: float = percent(
        50.0, "this project: another mix of work hardly halves what a CPU unit commits", of="commits per CPU unit"
    )
    contention_percent: float = percent(LOCK_PERCENT, f"practice: 10 % starts the search ({TALLMAN})", low=0.1)
    busy_percent: float = percent(
        BUSY_PERCENT, "this project: below it the demand may have set a capture's rate", of="engines"
    )


@dataclass(frozen=True)
class Online:
    """Engines online now, and where that stands."""

    engines: int
    pool: str | None
    """The one pool of engines (threaded kernel); `None` in process mode, and where there are several pools."""
    threaded: bool
    source: Source


@rule(needs=(), uses=(LoadSeries, EngineBusy, MonEngine, ConfigParameter, Server), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each series over engines."""
    found = over_engines(facts)
    online = _online(facts)
    if not found:
        yield NotApplicable("no load series over engines was collected: only that shows whether fewer would do more")
        return
    for series in found:
        course = course_of(series)
        uneven = uneven_work(series)
        if isinstance(course, str):
            yield Untrusted(course)
        elif uneven:
            yield Untrusted(f"{series.title}: {uneven}")
        elif online is None:
            yield Unknown.without(
                "engines online", EngineBusy.COLLECTED_BY, f"{series.title}: how many engines are online now?"
            )
        else:
            yield _judge(facts, limits, series, course, online)


def _online(facts: Facts) -> Online | None:
    """Engines as sp_sysmon counts them, else those of monEngine that are online."""
    busy = list({one.engine: one for one in facts.every(EngineBusy)}.values())
    if busy:
        pools = {one.pool for one in busy}
        pool = next(iter(pools)) if len(pools) == 1 else None
        return Online(len(busy), pool, None not in pools, busy[0].source)
    rows = [row for row in facts.every(MonEngine) if (row.status or "online").lower() == "online"]
    rows = list({(row.instance, row.engine): row for row in rows}.values())
    if not rows:
        return None
    mode = setting_of(facts, "kernel mode")
    threaded = mode is None or str(mode.run_value).lower() != "process"
    return Online(len(rows), None, threaded, rows[0].source)


def _judge(facts: Facts, limits: Limits, series: LoadSeries, course: TimeSeries, online: Online) -> Outcome:
    model = model_of(series, limits.least_r2)
    fits = model.usable and model.r2 >= limits.least_r2 and model.peak_load is not None and model.proven
    fits = fits and (model.peak_load or 0.0) <= course.last.load  # beyond what was measured nothing is taken away
    peak = int((model.best_load or 0.0) if fits else course.peak.load)
    figures = f"α {model.alpha:.4g}, β {model.beta:.3g}, R² {model.r2:.3f}" if fits else ""
    if peak >= online.engines:
        how = f"by the law ({figures})" if fits else "as measured"
        return Clean(f"{series.title}: does most at {peak} engines {how}, {online.engines} are online")
    if fits and model.levels_off:
        return Clean(f"{series.title}: levels off, the measured rates do not fall by more than noise ({figures})")
    if fits:
        best, now = model.rate(peak), model.rate(online.engines)
    else:
        past = [step for step in course.steps if step.load >= online.engines]
        if not past:
            few = f"R² {model.r2:.3f}" if model.r2 else model.why_not or "no fit"
            return Unknown(
                (SERIES,), f"{series.title}: {few}, and {online.engines} engines were not measured: nothing is read"
            )
        best, now = course.peak.rate, past[0].rate
    gain = 100.0 * (best - now) / now if now > 0 else 100.0
    if gain < limits.gain_percent:
        return Clean(f"{series.title}: {peak} engines would do {gain:.1f} % more, limit {limits.gain_percent:g} %")
    found = _finding(facts, series, course, online, model if fits else None, peak, (best, now, gain))
    return _softened(found, series, course, online, limits) if series.derived else found


def _finding(
    facts: Facts,
    series: LoadSeries,
    course: TimeSeries,
    online: Online,
    model: Model | None,
    peak: int,
    rates: tuple[float, float, float],
) -> Finding:
    best, now, gain = rates
    unit = series.rate_name.replace("_", " ")
    how = "by the Universal Scalability Law" if model else "as measured (no law fits well enough to be read)"
    did = "do most"
    if len(course.steps) == PAIR and series.derived:
        how, did = "by two captures", "did more"
    change = _change(online, peak)
    evidence = [
        Evidence("engines online", online.engines, "", online.source, peak),
        Evidence("engines that do most", round(model.peak_load or 0.0, 1) if model else peak, "", series.source),
        Evidence(f"highest rate measured, at {course.peak.load:g}", course.peak.rate, unit, course.peak.source),
    ]
    if model:
        evidence += [
            Evidence("R² of the fit", round(model.r2, 4), "", series.source),
            Evidence("contention α", round(model.alpha, 6), "", series.source),
            Evidence("coherency β", round(model.beta, 9), "", series.source),
        ]
    return Finding(
        subject=subject_of(facts),
        severity=Severity.WARNING,
        title=f"{online.engines} engines are online, but {peak} {did}: about {gain:.0f} % more {unit}",
        seen=f"{online.engines} engines are online. {capitalized(how)} the server does most with {peak}: "
        f"{number(best)} {unit}, and {number(now)} with {online.engines}.",
        because=PAST,
        do=f"Fix the most expensive spinlock first, as that moves the peak up; until then go from {online.engines} to "
        f"{peak} engines. Never add engines against spinning.",
        unknown="" if change else "Which pool they belong to is not in the export, so no script is given.",
        evidence=tuple(evidence),
        changes=(change,) if change else (),
        explains=() if series.derived else ("ase/run_queue_long",),
        expects=()
        if series.derived  # of another day's work
        else (Expectation(unit, round(now, 3), round(best, 3), "law" if model else "arithmetic"),),
    )


def _softened(found: Finding, series: LoadSeries, course: TimeSeries, online: Online, limits: Limits) -> Outcome:
    """Of captures of production: what their spins say of the fall, and no more than that is advised."""
    peak = course.peak
    past = min(course.beyond, key=lambda step: abs(step.load - online.engines), default=peak)
    known = _rises(SPINS, peak, past) or _rises(PRINTED, peak, past)
    if known and not all(now > was for _, _, was, now in known):
        figures = ", ".join(f"{name} {plain(was, 4)} → {plain(now, 4)}{unit}" for name, unit, was, now in known)
        return Clean(
            f"{series.title}: fewer commits at {past.load:g} engines than at {peak.load:g}, but the engines did not "
            f"spin more for it ({figures}): less was asked of the server"
        )
    if not known and len(course.steps) == PAIR:
        return Clean(
            f"{series.title}: fewer commits at {past.load:g} engines than at {peak.load:g}, and nothing shows why"
        )
    busy = was_busy(course, limits.busy_percent)
    was_cpu, now_cpu = _mean(peak, PER_CPU), _mean(past, PER_CPU)
    proven = bool(busy and was_cpu and now_cpu and 100.0 * now_cpu <= limits.per_cpu_percent * was_cpu)
    quiet = all(was < limits.contention_percent for name, _, was, _ in known if name == PRINTED[0][1])
    rose = " and ".join(f"{name} rose from {plain(was, 4)} to {plain(now, 4)}{unit}" for name, unit, was, now in known)
    if was_cpu and now_cpu and rose:
        rose += f"; each CPU unit committed {plain(was_cpu, 4)} transactions a second, then {plain(now_cpu, 4)}"
    changes = found.changes if busy and known else ()
    return replace(
        found.adding(unknown=DEMAND),
        because=f"From {peak.load:g} to {past.load:g} engines {rose}." if rose else "",
        do=(GO_BACK.format(online.engines, f"{peak.load:g}") if proven else found.do) if changes else NOT_ALONE,
        severity=Severity.WARNING if proven and changes else Severity.ADVICE if busy else Severity.NOTE,
        explains=("ase/engines_not_the_answer", *(CONTENDED if quiet else ())) if proven and changes else (),
        evidence=found.evidence
        + tuple(
            Evidence(f"{name}, {step.load:g} engines", round(value, 2), unit.strip(), step.source)
            for name, unit, was, now in known
            for step, value in ((peak, was), (past, now))
        )
        + tuple(
            Evidence(f"commits per CPU unit, {step.load:g} engines", round(value, 1), "/s", step.source)
            for step, value in ((peak, was_cpu), (past, now_cpu))
            if value is not None
        ),
        changes=changes,
    )


def _rises(columns: tuple[tuple[str, str, str], ...], peak: Step, past: Step) -> list[tuple[str, str, float, float]]:
    """Name, unit and both figures of each column that both have."""
    return [
        (name, unit, was, now)
        for key, name, unit in columns
        if (was := _mean(peak, key)) is not None and (now := _mean(past, key)) is not None
    ]


def _mean(step: Step, column: str) -> float | None:
    values = [value for run in step.runs if (value := run.other(column)) is not None]
    return sum(values) / len(values) if values else None


def _change(online: Online, peak: int) -> Change | None:
    """Fewer engines, where it is known what they are: threads of one pool, or processes."""
    if not online.threaded:
        return fewer_engines(online.engines, peak)
    return fewer_threads(online.pool, online.engines, peak) if online.pool else None
