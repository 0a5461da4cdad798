"""Processors spend much of their time spinning for locks of CP.

Finds: runs of a performance report, and spin locks on pages of Performance Toolkit (LOCKLOG, LOCKACT), for which much
of the processors' time, and of CP's own, is spent spinning; by time, per transaction and in processors.

Why it matters: a processor that spins does nothing. In published runs of z/VM 4.3.0 spinning took 8.30 of 23.1 ms of
CP's time per transaction on 9 processors and 27.7 of 54.1 on 16, where each further processor mostly waited ("Scheduler
Lock Improvement", z/VM 4.4.0 performance report).

What to do: what the finding says for that lock and release; for the scheduler lock and its kin, the rule
`zvm/scheduler_lock_contended`. Of most locks no remedy was published, and then none is named. Where far more processors
are online than the load needs, vary some off: fewer can spin.

When to ignore it: when transactions per second are what they should be, or the interval was not of the busy time. The
rate of spins alone means nothing: in the published runs it was lower on 16 processors than on 9, where less was lost.
Whether a page's per cent is of one processor or the mean of all is in no source at hand: the cost is then a range, and
the finding advice at most.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.zvm import PerformanceRun, SpinLock
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Cost,
    Evidence,
    Expectation,
    Finding,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    capitalized,
    joined,
)
from rules.laws.rounding import plain
from rules.laws.spin_cost import share_percent
from rules.zvm._evidence.locks import known_of
from rules.zvm._evidence.machine import (
    ASK_PROCESSORS,
    LEAST,
    MACHINE_FACTS,
    Figure,
    Machine,
    machine_of,
    more_than_needed,
)
from rules.zvm._evidence.releases import newer, parsed
from rules.zvm._evidence.runs import (
    BOUND_PERCENT,
    cost_of,
    distinct,
    doubt,
    pairs,
    run_of_pages,
    spun_msec,
    spun_percent,
    spun_share,
)
from rules.zvm._evidence.spins import (
    STRETCH_MINUTES,
    Scale,
    Spin,
    Spins,
    Stretch,
    alike_of,
    busiest,
    of_all,
    scale_of,
    spins_of,
)
from rules.zvm._evidence.spins import cost_of as cost_of_lock

LINKS = (
    "https://www.vm.ibm.com/perf/reports/zvm/html/schlock.html",
    "https://www.vm.ibm.com/perf/reports/zvm/html/620imp.html",
    "https://www.ibm.com/docs/en/zvm/7.3.0?topic=reports-fcx265-spin-lock-log-screen-locklog",
)
NAMED = "See the findings on single locks: the page of locks with as many spins, of as long, is of this run."
NOT_NAMED = "Save a LOCKLOG (FCX265) or LOCKACT (FCX326) page: it says for which lock, which the table does not."
MOST = 10
"""Findings of each kind: a page may list thirty locks, a report as many runs."""


OF_ONE = "of one processor at least"
"""What a row's per cent are of, where neither the processors are known nor whether they are the sum over them."""


@dataclass(frozen=True)
class Limits:
    """From which share of the time on the rule speaks, and how loud."""

    spin_percent: float = percent(5.0, "this project: of the processors' time; below it little can be won", low=0.1)
    share_percent: float = percent(
        BOUND_PERCENT, "this project: of CP's time; published runs whose locks were no problem had 2 to 6 %"
    )
    warning_percent: float = percent(20.0, "this project: a fifth of all processors does nothing but spin", low=1)
    critical_percent: float = percent(50.0, "this project: half of the machine spins", low=1)
    stretch_minutes: float = limit(
        STRETCH_MINUTES, "this project: hours that a mean hides, as on OpenVMS", low=1, unit="minutes"
    )
    needed_percent: float = limit(
        50.0, "this project: less busy than this, half of the processors would do", high=100, unit="% busy"
    )


@rule(needs=(), uses=MACHINE_FACTS, links=LINKS, limits=Limits, sample=LEAST)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge every run, then every lock of the pages."""
    runs, spins = distinct(facts.every(PerformanceRun)), spins_of(facts)
    if not runs and not facts.every(SpinLock):
        yield Unknown.of(SpinLock, PerformanceRun)
        return
    beside = run_of_pages(facts)
    yield from _runs(runs, beside, limits)
    for why in spins.doubts:
        yield Untrusted(f"{why}; save the page again")
    if spins.locks or spins.total:
        yield from _locks(facts, spins, beside, limits)
    elif facts.every(SpinLock) and not spins.doubts:
        yield Unknown.of(SpinLock)


def _severity(percent: float, limits: Limits) -> Severity:
    if percent >= limits.critical_percent:
        return Severity.CRITICAL
    return Severity.WARNING if percent >= limits.warning_percent else Severity.ADVICE


def _runs(
    runs: list[PerformanceRun], named: tuple[PerformanceRun, SpinLock] | None, limits: Limits
) -> Iterator[Outcome]:
    sound = [run for run in runs if not doubt(run)]
    yield from (Untrusted(f"run {run.run}: {doubt(run)}; collect the table again") for run in runs if doubt(run))
    dear: list[tuple[float, PerformanceRun]] = []
    for run in sound:
        percent, part = spun_percent(run), spun_share(run)
        if percent is None:
            yield Unknown.without("zvm.PerformanceRun", PerformanceRun.COLLECTED_BY, f"run {run.run}: no Pct Spin Time")
        elif run.processors == 1:
            yield Clean(f"run {run.run}: one processor waits for no other")
        elif percent < limits.spin_percent or (part is not None and part < limits.share_percent):
            yield Clean(f"run {run.run}: {_said(run, percent)}; limit {limits.spin_percent:g} %")
        else:
            dear.append((percent, run))
    dear.sort(key=lambda pair: (-(lost.processors if (lost := cost_of(pair[1])) else 0.0), -pair[0]))
    for percent, run in dear[:MOST]:
        row = named[1] if named and named[0].run == run.run else None
        yield _run_finding(run, percent, sound, row, limits)


def _said(run: PerformanceRun, percent: float) -> str:
    spun, part = spun_msec(run), spun_share(run)
    said = f"{plain(percent, 3)} % of the time spent spinning"
    cp = run.cp_msec_per_tx
    if spun is not None and part is not None and known(cp):
        said += f", {plain(spun, 3)} of {plain(cp, 3)} CP ms per transaction ({part:.0f} %)"
    return said


def _run_finding(
    run: PerformanceRun, percent: float, runs: list[PerformanceRun], row: SpinLock | None, limits: Limits
) -> Finding:
    """`row`: of the page of locks that is of this run."""
    spun, part, cost, source = spun_msec(run), spun_share(run), cost_of(run), run.source
    after = next((pair.run for pair in pairs(runs) if pair.base is run), None)
    left = spun_percent(after) if after else None
    relieved = left is not None and left < limits.spin_percent
    seen = f"{_said(run, percent)}{f', on z/VM {run.release}' if run.release else ''}"
    seen += f": {cost.processors:.1f} of {run.processors:g} processors." if cost else "."
    because = "A processor that spins does nothing else."
    often = [
        one
        for one in runs
        if known(one.spin_rate) and known(run.spin_rate) and one.spin_rate > run.spin_rate
        if (other := spun_percent(one)) is not None and other < percent
    ]
    if often:
        most = max(often, key=lambda one: one.spin_rate if known(one.spin_rate) else 0.0)
        seen += (
            f" Run {most.run} spins more often ({most.spin_rate:,.0f} against {run.spin_rate:,.0f}/s) and loses less: "
            "time counts, the rate does not."
        )
    if after is not None and left is not None:
        because = (
            f"Run {after.run} of the same table, on as many processors{_on(after)}, spends {plain(left, 3)} % spinning"
            f"{', so this is fixed there' if relieved else ''}."
        )
    evidence = [Evidence("Pct Spin Time", round(percent, 3), "% of the time", source, limits.spin_percent)]
    if spun is not None:
        evidence.append(Evidence("spinning per transaction", round(spun, 3), "ms", source))
    if part is not None:
        evidence.append(Evidence("spinning, of CP's time", round(part, 1), "%", source, limits.share_percent))
    figures = (
        ("CP msec/Tx", run.cp_msec_per_tx, "ms"),
        ("Avg Spin Lock Rate", run.spin_rate, "/s"),
        ("Spin Time", run.spin_time_usec, "µs"),
        ("processors", run.processors, ""),
    )
    evidence += [Evidence(what, value, unit, source) for what, value, unit in figures if known(value)]
    idle = None if row or relieved else more_than_needed(_machine_of(run), limits.needed_percent)
    evidence += idle[2][:1] if idle else []
    if left is not None and after is not None:
        evidence.append(Evidence(f"Pct Spin Time of run {after.run}", round(left, 3), "% of the time", after.source))
    return Finding(
        subject=f"run {run.run}",
        severity=Severity.NOTE if row else Severity.ADVICE if relieved else _severity(percent, limits),
        title=(
            f"{cost.processors:.1f} of {run.processors:g} processors spin for locks of CP"
            if cost
            else f"{percent:.0f} % of the processors' time is spent spinning for locks of CP"
        ),
        seen=seen,
        because=because,
        do=NAMED if row else joined(idle[1] if idle else "", NOT_NAMED),
        unknown=idle[0] if idle else "",
        evidence=tuple(evidence),
        cost=cost,
        expects=(
            (Expectation("spinning per transaction (ms)", round(spun, 2), "lower", "heuristic"),)
            if spun is not None
            else (Expectation("Pct Spin Time (%)", round(percent, 2), "lower", "heuristic"),)
        ),
        share=percent,
    )


def _machine_of(run: PerformanceRun) -> Machine:
    """The machine as far as the run itself tells of it."""
    count, busy = run.processors, run.total_util_percent
    return Machine(
        processors=count if known(count) else None,
        release=parsed(run.release),
        busy=Figure(busy, run.source) if known(busy) else None,
        cp=None,
        system=None,
        emulation=None,
        spinning=None,
    )


def _on(run: PerformanceRun) -> str:
    return f" with z/VM {run.release}" if parsed(run.release) else ""


def _locks(
    facts: Facts, spins: Spins, beside: tuple[PerformanceRun, SpinLock] | None, limits: Limits
) -> Iterator[Outcome]:
    machine, scale = machine_of(facts), scale_of(spins, machine_of(facts))
    ranked = [*spins.locks[:1], *((spins.total,) if spins.total else ())]
    figures = ", ".join(spin.said for spin in ranked)
    if machine.processors == 1:
        yield Clean(f"{figures}; one processor waits for no other")
        return
    dear = [spin for spin in spins.locks if of_all(spin.percent, machine, scale)[1] >= limits.spin_percent]
    together = spins.total
    if not dear and together and of_all(together.percent, machine, scale)[1] >= limits.spin_percent:
        dear = [together]
    if not dear and (hours := busiest(facts, _over(machine, scale, limits), limits.stretch_minutes)):
        yield _hours_finding(hours, figures, machine, scale, limits)
        return
    if not dear:
        yield Clean(f"highest: {figures}; limit {limits.spin_percent:g} %", tuple(one.fact.source for one in ranked))
        return
    for spin in dear[:MOST]:
        run = beside[0] if beside and spin is dear[0] else None
        yield _lock_finding(spin, spins, machine, scale, run, limits)
    if machine.processors is None or machine.cp is None:
        yield Unknown((ASK_PROCESSORS,), "how many processors, or how much of their time is CP's, is not in the export")


def _over(machine: Machine, scale: Scale | None, limits: Limits) -> Callable[[float], bool]:
    return lambda percent: of_all(percent, machine, scale)[1] >= limits.spin_percent


def _hours_finding(hours: Stretch, mean: str, machine: Machine, scale: Scale | None, limits: Limits) -> Finding:
    """What the mean of the log hides, judged by the figures of those intervals alone."""
    percent, unit = hours.percent, "% of one processor" if scale is Scale.SUM else hours.rows[0].unit
    least, most = of_all(percent, machine, scale)
    cost = cost_of_lock(percent, machine, scale)
    sure = scale is not None and machine.processors is not None
    worst = [f"{spin.lock} {spin.percent:.1f} % (to {spin.fact.statistic})" for spin in hours.locks[:5]]
    named = f"Locks whose worst interval is one of these: {', '.join(worst)}." if worst else ""
    return Finding(
        subject="all spin locks",
        severity=_severity(most, limits) if sure or least >= limits.warning_percent else Severity.ADVICE,
        title=f"{percent:.0f} % {'of the time' if cost else OF_ONE} is spent spinning for all spin locks {hours.when}",
        seen=joined(
            f"Over the whole log it is less ({mean}), but {hours.when} {percent:.1f} % of the time went into spinning.",
            named,
        ),
        do="Save a page of this time alone: it has the mean of each lock.",
        unknown=_scaled(machine, scale),
        evidence=(
            Evidence(
                "all spin locks spinning, then",
                round(percent, 3),
                unit,
                hours.source,
                limits.spin_percent,
                computed=f"as the mean of {len(hours.rows)} intervals",
            ),
            *(
                Evidence(f"{spin.lock} spinning, to {spin.fact.statistic}", spin.percent, unit, spin.fact.source)
                for spin in hours.locks[:5]
                if not spin.computed
            ),
        ),
        cost=replace(cost, of_capture=False) if cost else None,
        expects=(Expectation("all spin locks spinning, then (%)", round(percent, 2), "lower", "heuristic"),),
        share=percent,
    )


SUSPENDED = (
    "{}, whatever they guard: likely their holders are not dispatched by PR/SM, as in a partition that has more "
    "logical processors than its weight covers."
)
WEIGHT = (
    "First see on page LPAR (FCX126) how much its processors are suspended (%Susp), and their number against its "
    "weight. Where they are suspended much, vary off those that the weight does not cover; no service to a lock helps "
    "there."
)


def _lock_finding(
    spin: Spin, spins: Spins, machine: Machine, scale: Scale | None, run: PerformanceRun | None, limits: Limits
) -> Finding:
    """`run`: the one that the page is of."""
    least, most = of_all(spin.percent, machine, scale)
    cost, row, source = cost_of_lock(spin.percent, machine, scale), spin.fact, spin.fact.source
    severity = _severity(most, limits)
    if spin.moment or ((scale is None or machine.processors is None) and least < limits.warning_percent):
        severity = min(severity, Severity.ADVICE)
    when = f"in the interval that ended at {row.statistic}" if spin.moment else "over the interval"
    guards, remark, do = ("", "", "") if row.total else known_of(spin.lock, machine.release, machine.service)
    of_cp = ""
    unit = "% of one processor" if scale is Scale.SUM else spin.unit
    evidence = [Evidence(f"{spin.lock} spinning", round(spin.percent, 3), unit, source, limits.spin_percent)]
    evidence += _columns(spin)
    if machine.cp and machine.cp.value and scale is not Scale.SUM:
        part = min(100.0, share_percent(spin.percent, machine.cp.value))
        of_cp = f", {part:.0f} % of CP's own time of {machine.cp.value:.1f} %{_if(scale)}"
        evidence.append(Evidence("CP's time", round(machine.cp.value, 2), "% of a processor", machine.cp.source))
    what = f"{spin.lock}, which guards {guards}," if guards else spin.lock
    said = f"{spin.percent:.1f} % of the time goes into spinning for {what} {when}"
    said += f"{' (spins per second × mean time)' if spin.computed else ''}{of_cp}."
    most_of = f"No lock alone takes {limits.spin_percent:g} %; most: {', '.join(o.said for o in spins.locks[:5])}."
    if spin.moment:
        most_of = "It is one interval and no mean: look at the busy hour."
    general = (
        [one for one in newer(machine.release, spin.lock, machine.service) if not one.locks] if machine.release else []
    )
    since = f"Since z/VM {machine.release}, for any lock: {'; '.join(one.says for one in general)}." if general else ""
    idle = more_than_needed(machine, limits.needed_percent)
    evidence += idle[2] if idle else []
    if alike := alike_of(spins):
        remark, since, do, idle = SUSPENDED.format(capitalized(alike)), "", WEIGHT, None
    return Finding(
        subject=spin.lock,
        severity=severity,
        title=_title(spin, cost) + ("" if alike else _relieved_by(spin, machine)),
        seen=joined(said, most_of if row.total or spin.moment else ""),
        because=joined(remark, since),
        do=joined(do, idle[1] if idle else ""),
        unknown=joined(_scaled(machine, scale), idle[0] if idle else ""),
        evidence=tuple(evidence),
        cost=cost,
        expects=(Expectation(f"{spin.lock} spinning (% of the time)", round(spin.percent, 2), "lower", "heuristic"),),
        explains=(f"zvm/spin_locks_cost_too_much:run {run.run}",) if run else (),
        share=spin.percent,
    )


def _title(spin: Spin, cost: Cost | None) -> str:
    if cost is None:
        return f"{spin.percent:.0f} % {OF_ONE} is spent spinning for {spin.lock}"
    lost = f"{cost.processors:.1f} processors" if cost.low == cost.high else f"Up to {cost.processors:.1f} processors"
    return f"{lost} spin for {spin.lock}"


def _relieved_by(spin: Spin, machine: Machine) -> str:
    """What first reduces this lock, service or a later release, for the title; empty where nothing known does."""
    rows = (
        [one for one in newer(machine.release, spin.lock, machine.service) if spin.lock in one.locks]
        if machine.release
        else []
    )
    if not rows:
        return ""
    service = "service to " if machine.release in rows[0].service_on else ""
    return f", which {service}z/VM {machine.release if service else rows[0].since} relieves"


def _if(scale: Scale | None) -> str:
    return "" if scale else ", if the page's per cent is the mean of the processors"


def _scaled(machine: Machine, scale: Scale | None) -> str:
    if scale is Scale.SUM:
        return "The other figures show that this is the sum, in per cent of one processor."
    if scale is Scale.MEAN:
        return f"The other figures show that this is the mean of {machine.processors:g} processors."
    if machine.processors is None:
        return "On how many processors is not in the export."
    return f"Whether that is of one processor or the mean of {machine.processors:g}, the page does not say."


def _columns(spin: Spin) -> Iterator[Evidence]:
    row = spin.fact
    figures = (
        ("spins", row.collisions_per_second, "/s"),
        ("mean time of a spin", row.average_spin_usec, "µs"),
        ("spinning for exclusive use", row.exclusive_spin_percent, spin.unit),
        ("spinning for shared use", row.shared_spin_percent, spin.unit),
    )
    for what, value, unit in figures:
        if known(value):
            yield Evidence(f"{spin.lock} {what}", value, unit, row.source)
