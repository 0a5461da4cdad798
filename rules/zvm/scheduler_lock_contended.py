"""Processors spin for the scheduler lock, which a newer z/VM reduces.

Finds: spinning for SRMSLOCK, HCPTRQLK and DSVLOCK on pages of Performance Toolkit, against what releases after the one
that runs have done for that lock; and in a performance report's table the runs before and after such a release, or
before 4.4.0 alone, where much time is spent spinning although the table names no lock.

Why it matters: the scheduler lock is one for all processors, so what it costs grows with their number. When z/VM 4.4.0
gave timer requests a lock of their own, CP's time per transaction fell from 23.1 to 3.03 ms on 9 processors in
published runs, from 54.1 to 47.0 on 16, and from 3.23 to 3.13 on 3, which is nothing ("Scheduler Lock Improvement",
z/VM 4.4.0 performance report).

What to do: take the release or service that the finding names for that lock; 7.1 has them all. IBM's condition for APAR
VM65988 is system overhead over 10 % with spinning for one of these locks, or Diagnose X'9C' from HCPDSP, that is
significant. Reduce what takes the lock: timer requests of idle guests, processors that the load does not need.

When to ignore it: on 3 processors or fewer there is little to gain. Nor where system overhead is low. No gain is
promised: of most releases none was published, and between 3 and 9 processors none at all. Figures of SRMSLOCK from
before and after VM65988 are not comparable.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.zvm import DISPATCHER_9C, PerformanceRun, SpinLock, SystemCounter
from rules.engine import limit, percent, rule
from rules.finding import (
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
    joined,
)
from rules.laws.rounding import plain
from rules.zvm._evidence.locks import BY_NAME
from rules.zvm._evidence.machine import ASK_PROCESSORS, FEW, LEAST, MACHINE_FACTS, Machine, machine_of
from rules.zvm._evidence.releases import (
    ASK,
    NOT_COMPARABLE,
    REDESIGN,
    REDUCE,
    SCHEDULER,
    SRMSLOCK,
    Improvement,
    Release,
    applied,
    ask_service,
    listed,
    newer,
    parsed,
    release_of,
    upgrade,
)
from rules.zvm._evidence.runs import (
    REPEAT_PERCENT,
    Pair,
    conclusion,
    distinct,
    doubt,
    metrics,
    pairs,
    run_of_pages,
    spun_percent,
)
from rules.zvm._evidence.spins import (
    STRETCH_MINUTES,
    Scale,
    Spin,
    Spins,
    busiest,
    of_all,
    scale_of,
    spins_of,
)

LINKS = (
    "https://www.vm.ibm.com/perf/reports/zvm/html/schlock.html",
    "https://www.ibm.com/support/pages/apar/VM65988",
    "https://www.vm.ibm.com/perf/reports/zvm/html/1q5cpu.html",
    "https://www.vm.ibm.com/perf/reports/zvm/html/710imp.html",
)
DEAR = "zvm/spin_locks_cost_too_much:{0}"
LITTLE = "on 3 processors the published gain was 3 %, no more than runs vary by"
TIMERS = Release(4, 4)
"""The first release in which timer requests do not take the scheduler lock."""
YIELDS = Release(6, 2)
"""The first release in which a processor that spins yields to the one that holds the lock, whichever lock it is."""
OVERHEAD = "system overhead, mean of the processors"
SLEEP = (
    "Until then let the kernels of idle Linux guests sleep: tickless ones (2.6.21 and later), else the timer patch, "
    "kernel.hz_timer=0 in /etc/sysctl.conf (zvm/idle_guests_wake_too_often)."
)
"""The other remedy that was published for timer requests: it needs no new release."""


@dataclass(frozen=True)
class Limits:
    """From which spinning, overhead and number of processors on the rule speaks."""

    spin_percent: float = percent(5.0, "this project: IBM says significant and names no figure", low=0.1, of="the time")
    overhead_percent: float = percent(10.0, f"vendor: condition of APAR {REDESIGN}, system overhead over 10 %")
    few_processors: int = limit(
        FEW, "vendor: on 3 processors CP's time per transaction changed by 3 %", low=1, high=64, unit="processors"
    )
    published_processors: int = limit(
        9,
        "vendor: the fewest processors with a published gain of 4.4.0; with fewer it is a note",
        low=2,
        high=64,
        unit="processors",
    )
    repeat_percent: float = limit(
        REPEAT_PERCENT, "practice: runs of two releases vary by less than 5 %", low=1, high=50, unit="%"
    )


@rule(needs=(), uses=(*MACHINE_FACTS, SystemCounter), links=LINKS, limits=Limits, sample=LEAST)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the runs, then the locks of the pages."""
    runs, spins = distinct(facts.every(PerformanceRun)), spins_of(facts)
    if not runs and not facts.every(SpinLock):
        yield Unknown.of(SpinLock)
        return
    beside = run_of_pages(facts)
    yield from _runs(runs, beside[0].run if beside else None, limits)
    yield from (Untrusted(f"{why}; save the page again") for why in spins.doubts if why.startswith(SCHEDULER))
    if spins.locks or spins.total:
        yield from _pages(facts, spins, limits)
    elif facts.every(SpinLock) and not any(why.startswith(SCHEDULER) for why in spins.doubts):
        yield Unknown.of(SpinLock)


def _runs(runs: list[PerformanceRun], named: str | None, limits: Limits) -> Iterator[Outcome]:
    """What pairs of runs show of a release; of a run by itself nothing, for a table does not name the lock.

    `named`: the run whose locks a page names; it is judged there.
    """
    yield from (Untrusted(f"run {run.run}: {doubt(run)}; collect the table again") for run in runs if doubt(run))
    judged: list[PerformanceRun] = []
    for pair in pairs(runs):
        between = [] if pair.doubt else _between(pair)
        if between:
            judged += [pair.base]
            yield _pair(pair, between, limits)
    for run in runs:
        percent = spun_percent(run)
        if doubt(run) or run in judged:
            continue
        if percent is None:
            yield Unknown.without(
                PerformanceRun.fact_name(), PerformanceRun.COLLECTED_BY, f"run {run.run}: no spin time"
            )
            continue
        said = f"run {run.run}: {plain(percent, 3)} % of the time spent spinning"
        if percent < limits.spin_percent:
            yield Clean(f"{said}, limit {limits.spin_percent:g} %")
        elif known(run.processors) and run.processors <= limits.few_processors:
            yield Clean(f"{said} on {run.processors:g} processors; {LITTLE}")
        elif run.run == named:
            yield NotApplicable(f"{said}: the page of locks with as many spins is of it, and judged")
        else:
            release = parsed(run.release)
            if release and release < TIMERS:
                yield _before_timers(run, release, percent, limits)
            elif release and (found := _since_timers(run, release, percent, limits)):
                yield found
            since = (
                "; since 4.4.0 timer requests have a lock of their own, HCPTRQLK"
                if release and release >= TIMERS
                else ""
            )
            missing = (MissingInput(SpinLock.fact_name(), SpinLock.COLLECTED_BY), *(() if release else (ASK,)))
            yield Unknown(missing, f"{said}, the table does not say for which lock{since}")


def _before_timers(run: PerformanceRun, release: Release, percent: float, limits: Limits) -> Finding:
    """A release in which timer requests take the scheduler lock: the next one is named, though no lock is."""
    many = known(run.processors) and run.processors >= limits.published_processors
    cpus = f" with {run.processors:g} processors" if known(run.processors) else ""
    cp, rows = run.cp_msec_per_tx, [one for one in newer(release, SRMSLOCK) if one.locks]
    return Finding(
        subject=f"run {run.run}",
        severity=Severity.WARNING if many else Severity.NOTE,
        title=(
            f"z/VM {release}: {plain(percent, 3)} % of the time spent spinning, 4.4.0 takes timers off the "
            "scheduler lock"
        ),
        seen=(
            f"{plain(percent, 3)} % of the time goes into spinning on z/VM {release}{cpus}. The table names no lock, "
            "so by "
            "the release alone: until 4.4.0 every timer request takes the scheduler lock, and idle guests make many."
        ),
        because=f"{listed(rows)}.",
        do=f"{upgrade(rows)} {SLEEP}",
        unknown=joined(
            "Nothing is promised here: in the published runs spinning fell from 24.9 to 1.96 % of the time on 9 "
            "processors, on 16 from 43.1 to 25.6 %, which is less, not gone.",
            "" if many else "With so few processors no gain was published.",
        ),
        evidence=(
            Evidence(f"Pct Spin Time of run {run.run}", round(percent, 3), "%", run.source, limits.spin_percent),
            Evidence(f"release of run {run.run}", str(release), "", run.source),
            *(
                (Evidence("processors", run.processors, "", run.source, limits.published_processors),)
                if known(run.processors)
                else ()
            ),
        ),
        explains=(DEAR.format(f"run {run.run}"),),
        expects=(Expectation("CP time per transaction (ms)", cp if known(cp) else None, "lower", "heuristic"),),
        share=percent,
    )


def _since_timers(run: PerformanceRun, release: Release, percent: float, limits: Limits) -> Finding | None:
    """A later release than that, of which no lock is named either: what has been done since, as a note.

    From 6.4 on only where IBM's condition for the service to it is met; `None` where nothing newer is known.
    """
    rows = [one for one in newer(release, SRMSLOCK) if one.locks or one.since == YIELDS]
    overhead = run.system_util_percent
    if not rows or (release >= Release(6, 4) and not (known(overhead) and overhead > limits.overhead_percent)):
        return None
    said = f", system overhead {plain(overhead, 3)} %" if known(overhead) else ""
    figures = (
        ("processors", run.processors, "", limits.few_processors),
        (OVERHEAD, overhead, "%", limits.overhead_percent),
    )
    return Finding(
        subject=f"run {run.run}",
        severity=Severity.NOTE,
        title=f"z/VM {release}: {plain(percent, 3)} % of the time spent spinning, later releases changed spin locks",
        seen=f"{plain(percent, 3)} % of the time goes into spinning on z/VM {release}{said}. The table names no lock.",
        because=f"Since then, by the release: {listed(rows)}.",
        do=f"First save a page with the names of the locks: it tells if it is one of these. {upgrade(rows, release)}",
        unknown="Nothing is promised: of most of these no effect was published, and for other locks there is none.",
        evidence=(
            Evidence(f"Pct Spin Time of run {run.run}", round(percent, 3), "%", run.source, limits.spin_percent),
            Evidence(f"release of run {run.run}", str(release), "", run.source),
            *(Evidence(what, value, unit, run.source, held) for what, value, unit, held in figures if known(value)),
        ),
        share=percent,
    )


def _between(pair: Pair) -> list[Improvement]:
    """What relieved the scheduler lock between the releases of two runs."""
    first, second = parsed(pair.base.release), parsed(pair.run.release)
    if first is None or second is None:
        return []
    return [one for one in newer(first, SRMSLOCK) if one.locks and one.since <= second]


def _pair(pair: Pair, between: list[Improvement], limits: Limits) -> Outcome:
    base, run, said = pair.base, pair.run, conclusion(pair)
    percent = spun_percent(base)
    cp = next((one for one in metrics(pair) if one.decides), None)
    if pair.processors <= limits.few_processors:
        return Clean(f"{said}; little to gain: {LITTLE}")
    if percent is None or percent < limits.spin_percent or cp is None or not cp.before:
        return Clean(said)
    if cp.after > cp.before * (1 - limits.repeat_percent / 100):
        return Clean(f"{said}: the release did not help this work")
    left = spun_percent(run)
    if left is None:
        return Unknown.without(
            PerformanceRun.fact_name(), PerformanceRun.COLLECTED_BY, f"run {run.run}: no Pct Spin Time"
        )
    if left > percent * (1 - limits.repeat_percent / 100):
        return Clean(
            f"{said}: {plain(left, 3)} % of the time is still spent spinning, so the gain is of something else"
        )
    return Finding(
        subject=f"run {base.run}",
        severity=Severity.ADVICE,
        title=f"z/VM {run.release} takes {cp.after:g} instead of {cp.before:g} CP ms per transaction",
        seen=f"{said}.",
        because=f"Between the releases the scheduler lock was changed: {listed(between)}.",
        do=f"Where z/VM {base.release} still runs, take {run.release} or a later release that this machine can run.",
        unknown="Whatever else is new between the two releases counts in that, too.",
        evidence=(
            Evidence(f"CP msec/Tx of run {base.run}", cp.before, "ms", base.source),
            Evidence(f"CP msec/Tx of run {run.run}", cp.after, "ms", run.source),
            Evidence(f"Pct Spin Time of run {base.run}", round(percent, 3), "%", base.source, limits.spin_percent),
            Evidence(f"Pct Spin Time of run {run.run}", round(left, 3), "%", run.source),
            Evidence("processors", pair.processors, "", base.source, limits.few_processors),
        ),
        explains=(DEAR.format(f"run {base.run}"),),
        expects=(Expectation("CP time per transaction (ms)", cp.before, cp.after, "arithmetic"),),
    )


def _pages(facts: Facts, spins: Spins, limits: Limits) -> Iterator[Outcome]:
    machine, scale = machine_of(facts), scale_of(spins, machine_of(facts))
    here = [spin for spin in spins.locks if spin.lock in SCHEDULER]
    if not here:
        yield _not_listed(spins, limits)
        return
    figures = ", ".join(spin.said for spin in here)
    hot = [spin for spin in here if of_all(spin.percent, machine, scale)[1] >= limits.spin_percent]
    yields = _yields(facts)
    if not hot and machine.processors != 1 and (hidden := _hidden(facts, figures, machine, scale, limits)):
        yield hidden
        return
    if machine.processors == 1 or not hot:
        sent = f"; {yields[0].value:g} Diagnose X'9C' per second" if yields else ""
        why = "one processor waits for no other" if machine.processors == 1 else f"limit {limits.spin_percent:g} %"
        yield Clean(f"{figures}{sent}; {why}", tuple(spin.fact.source for spin in here))
        return
    if machine.release is None:
        why = f"{figures}: what reduces that depends on the release, which no page names, or they name several"
        yield Unknown((ASK,), why)
        return
    named = release_of(facts)
    evidence = [Evidence("release of z/VM", str(named[0]), "", named[1])] if named else []
    for spin in hot:
        yield from _lock(spin, machine, [*evidence, *yields], limits)


def _hidden(facts: Facts, figures: str, machine: Machine, scale: Scale | None, limits: Limits) -> Unknown | None:
    """Where all locks together were over the limit for long and one of these was then, too: its mean of then is asked.

    Of a lock alone a log is kept by its worst interval, which proves no length.
    """

    def over(percent: float) -> bool:
        return of_all(percent, machine, scale)[1] >= limits.spin_percent

    hours = busiest(facts, over, STRETCH_MINUTES)
    then = [spin for spin in hours.locks if spin.lock in SCHEDULER and over(spin.percent)] if hours else []
    if not hours or not then:
        return None
    worst = ", ".join(f"{spin.lock} {spin.percent:.1f} % in the one to {spin.fact.statistic}" for spin in then)
    lack = MissingInput(f"{' and '.join(spin.lock for spin in then)} of that time alone", SpinLock.COLLECTED_BY)
    return Unknown((lack,), f"{figures} on average, but {hours.when} all locks spun {hours.percent:.1f} %; {worst}")


def _not_listed(spins: Spins, limits: Limits) -> Outcome:
    """None of the three is on the page: in order where the total leaves no room for them."""
    listed = sum(spin.percent for spin in spins.locks)
    if spins.total is not None and spins.total.percent - listed < limits.spin_percent:
        unlisted = f"none of {', '.join(SCHEDULER)} is listed"
        return Clean(f"{spins.total.said}; {unlisted}", (spins.total.fact.source,))
    why = f"none of {', '.join(SCHEDULER)} is on the page"
    return Unknown.without(SpinLock.fact_name(), SpinLock.COLLECTED_BY, why)


def _yields(facts: Facts) -> list[Evidence]:
    """Diagnose X'9C' from the dispatcher, where FCX239 names it."""
    return [
        Evidence(one.name, one.per_second, "/s", one.source)
        for one in facts.every(SystemCounter)
        if one.name == DISPATCHER_9C and known(one.per_second) and one.per_second >= 0
    ][-1:]


def _lock(spin: Spin, machine: Machine, evidence: list[Evidence], limits: Limits) -> Iterator[Outcome]:
    assert machine.release is not None  # noqa: S101 - _pages() has turned everything else away
    rows = [one for one in newer(machine.release, spin.lock, machine.service) if one.locks]
    few = machine.processors is not None and machine.processors <= limits.few_processors
    overhead = machine.system.value if machine.system else None
    asked = next((one for one in rows if machine.release in one.service_on), None)
    asked = asked if asked and applied(asked, machine.service) is None else None
    if machine.release >= Release(6, 4) and rows:
        if overhead is None:
            why = f"{spin.said}; IBM's condition for {REDESIGN} needs the system overhead"
            yield Unknown((ASK_PROCESSORS, *((ask_service(asked),) if asked else ())), why)
            return
        if overhead <= limits.overhead_percent:
            low = f"system overhead is {overhead:.1f} %, limit {limits.overhead_percent:g} %"
            yield Clean(f"{spin.said}, but {low}", (spin.fact.source,))
            return
    high = overhead is not None and overhead > limits.overhead_percent
    worth = high and not few and bool(rows) and not _unpublished(machine, limits)
    yield _finding(spin, machine, rows, evidence, limits, worth=worth, few=few)
    if asked:
        yield Unknown((ask_service(asked),))
    if overhead is None and rows and not few:
        yield Unknown((ASK_PROCESSORS,))


def _unpublished(machine: Machine, limits: Limits) -> bool:
    """Whether a release before 4.4.0 has fewer processors than those runs for which a gain was published."""
    early = machine.release is not None and machine.release < TIMERS
    return early and machine.processors is not None and machine.processors < limits.published_processors


def _finding(
    spin: Spin,
    machine: Machine,
    rows: list[Improvement],
    evidence: list[Evidence],
    limits: Limits,
    *,
    worth: bool,
    few: bool,
) -> Finding:
    overhead, lock = machine.system.value if machine.system else None, spin.lock
    seen = f"{spin.percent:.1f} % of the time is spent spinning for {lock}, which guards {BY_NAME[lock].guards}, on "
    seen += f"z/VM {machine.release}."
    because, do = (
        f"It was changed since: {listed(rows)}.",
        upgrade(rows, machine.release, machine.service) if rows else REDUCE,
    )
    if not rows:
        because = "Every improvement that is known is in this release."
    open_ones = []
    if overhead is None:
        open_ones.append(
            f"Whether that is worth it stays open without the system overhead (for {REDESIGN} IBM asks for over 10 %)."
        )
    elif overhead <= limits.overhead_percent:
        seen += f" System overhead is {overhead:.1f} %: there is little to win."
    else:
        seen += f" System overhead is {overhead:.1f} % (IBM's condition for {REDESIGN}: over 10 %)."
    if few:
        do += f" With {machine.processors:g} processors there is little to gain: {LITTLE}."
    elif any(machine.release in one.service_on and applied(one, machine.service) is None for one in rows):
        open_ones.append("Whether that service is applied is not in the export.")
    if not few and _unpublished(machine, limits):
        open_ones.append(f"With {machine.processors:g} processors no gain was published, so this is a note.")
    if lock == SRMSLOCK and any(REDESIGN in one.service for one in rows):
        open_ones.append(NOT_COMPARABLE)
    found = [Evidence(f"{lock} spinning", round(spin.percent, 3), spin.unit, spin.fact.source, limits.spin_percent)]
    if machine.system:
        found.append(
            Evidence(OVERHEAD, round(machine.system.value, 2), "%", machine.system.source, limits.overhead_percent)
        )
    return Finding(
        subject=lock,
        severity=Severity.ADVICE if worth else Severity.NOTE,
        title=f"{lock}: {spin.percent:.0f} % of the time is spent spinning on z/VM {machine.release}"
        + (f", system overhead is {overhead:.1f} %" if worth and overhead is not None else ""),
        seen=seen,
        because=because,
        do=do,
        unknown=joined(*open_ones),
        evidence=(*found, *evidence),
        explains=(DEAR.format(lock),) if worth else (),
        expects=(Expectation(f"{OVERHEAD} (%)", round(overhead, 1), "lower", "heuristic"),)
        if worth and overhead is not None
        else (),
        share=spin.percent,
    )
