"""CPUs are lost in MP synchronization, and the cause is not shown.

Finds: MP synchronization that takes a noticeable share of the machine on average, where neither a spinlock trace nor
the lock figures say with evidence what the CPUs wait for. Where the lock manager has a CPU of its own this is another
spinlock's: callers of the lock manager then wait in kernel mode.

Why it matters: a CPU in MP synchronization spins for a spinlock and does no work. Which spinlock it is no counter of
T4 or MONITOR tells, so a node that loses CPUs this way would pass for a healthy one.

What to do: collect a spinlock trace while it is so (SDA, SPL): it divides the loss among the spinlocks, and
openvms/spinlock_hot says of each what is known. Until then add neither CPUs nor processes: they would wait as well.

How loud: below a tenth of the machine it is a note, as MP synch is the sum over all CPUs; a warning only above 200 %,
where the vendor asks whether the lock manager needs a CPU of its own. From a tenth on it goes by the CPUs lost.

When to ignore it: when the capture is of a stress test that drives the locks on purpose.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from collectors.facts import OVERFLOW, Facts, known
from collectors.facts.openvms import LockRates, ProcessorModes, SpinlockTrace
from collectors.facts.openvms.spinlocks import TRACE
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Cost,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    joined,
    within,
)
from rules.laws.rounding import plain
from rules.openvms._evidence.cpu_counts import CountsDiffer, counts_differ
from rules.openvms._evidence.cpu_layout import Layout, no_dedicated
from rules.openvms._evidence.debug_modes import debug_modes
from rules.openvms._evidence.dedicated import NotYet, not_yet
from rules.openvms._evidence.node import busiest_operations, cpus_changed, in_prose, sentence
from rules.openvms._evidence.peaks import (
    Length,
    Stretch,
    brief,
    longest,
    peak_cost,
)
from rules.openvms._evidence.releases import ALPHA_AND_INTEGRITY, machine_of
from rules.openvms._evidence.sampling import LEAST_MINUTES, LEAST_SAMPLES, SAMPLE_FACTS, coarse, least
from rules.openvms._evidence.spinlocks import heats, most_often
from rules.openvms._evidence.spinning import (
    OWN_CPU_OPERATIONS,
    OWN_CPU_SYNCH,
    SPINNING_FACTS,
    apart,
    explained,
    own_cpu,
    own_cpu_untold,
)

LINKS = ("https://wiki.vmssoftware.com/MONITOR_MODES",)
SPUN = "CPUs spin for a spinlock, and no counter of T4 or MONITOR tells for which one."
RATED = "the same spinlock trace with SPL SHOW TRACE/SUMMARY/RATES, under load"
"""Where the trace that came along gives no share of time."""
WANTED = MissingInput("which spinlock CPUs wait for", TRACE)


@dataclass(frozen=True)
class Limits:
    """From which share of the machine on a loss is told, and how loud."""

    noted_share: float = percent(3.0, "this project: told from 3 % of the capacity lost on, as a note", of="all CPUs")
    critical_share: float = percent(10.0, "this project: critical from 10 % of the capacity lost on", of="all CPUs")
    least_percent: float = limit(
        25.0, "this project: less than a quarter of one CPU is not noticed, whatever its share", unit="% of one CPU"
    )
    advice_cpus: float = limit(
        0.5, "this project: less than half a CPU is a note, whatever its share of a small machine", unit="CPUs"
    )
    warning_cpus: float = limit(
        1.0, "this project: less than one CPU's worth is advice at most, whatever its share", unit="CPUs"
    )
    mp_synch_percent: float = limit(
        OWN_CPU_SYNCH,
        "vendor: higher than 200 % (OpenVMS V7.3 New Features, 4.4.1): a warning; below it and critical_share a note",
        unit="% of one CPU",
    )
    least_minutes: float = limit(
        30.0, "this project: hours that a mean hides, where nobody counted their samples", low=1, unit="minutes"
    )
    least_samples: int = limit(
        LEAST_SAMPLES, "this project: no minimum is published; fewer samples are a note", low=1, unit="samples"
    )
    least_sampled_minutes: float = limit(
        LEAST_MINUTES, "this project: no minimum is published; less is a note", unit="minutes"
    )


@rule(
    needs=(ProcessorModes,),
    uses=(*SPINNING_FACTS, *SAMPLE_FACTS),
    links=LINKS,
    limits=Limits,
    sample=lambda limits: least(limits.least_samples, limits.least_sampled_minutes),
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge what the node loses on average."""
    layout = Layout(facts)
    modes = facts.latest(ProcessorModes, statistic="mean")
    synch = modes.mp_synch_percent if modes else None
    cpus = layout.captured
    if synch is OVERFLOW:
        yield Untrusted("MP synch is printed as asterisks: take a longer interval")
        return
    if modes is None or not known(synch):
        yield Unknown.without("MP synch over the day", ProcessorModes.COLLECTED_BY)
        return
    if synch < 0 or (known(modes.cpus) and synch > 102 * modes.cpus):
        yield Untrusted(f"MP synch {synch:g} % on {modes.cpus} CPUs")
        return
    if changed := cpus_changed(facts):
        yield changed
        return
    if cpus is None:
        yield Unknown.without("number of active CPUs", "SHOW CPU", f"MP synch {synch:g} % of one CPU (mean)")
        return
    share = synch / cpus
    figures = f"MP synch {plain(synch, 3)} % of one CPU on average, {plain(share, 2)} % of {cpus:.0f} CPUs"
    loud = share >= limits.noted_share and synch >= limits.least_percent
    if cpus <= 1:
        yield Clean(f"{figures}; one CPU waits for no other")
    elif loud and (why := explained(facts, synch)):
        yield Clean(f"{figures}; {why}")
    elif loud:
        yield _finding(facts, layout, limits, modes, synch, cpus)
        untold, before = _untold(facts, layout), not_yet(facts, layout)
        yield Unknown((WANTED, *(untold.missing if untold else ()), *((before.lacking,) if before else ())))
    else:
        held_against = f"limits {limits.noted_share:g} % and {limits.least_percent:g} % of one CPU"
        hours = _hidden(facts, limits, cpus)
        if hours is None:
            short = brief(facts, cpus, partial(_spins_much, limits, cpus))
            yield Clean(f"{figures}, {held_against}{short}", (modes.source,))
        elif why := explained(facts, hours.synch, hours):
            yield Clean(f"{figures}; {hours.when.lower()} {hours.synch:.0f} %: {why}")
        else:
            yield _of_hours(layout, limits, hours, cpus)
            yield Unknown((WANTED,))


def _untold(facts: Facts, layout: Layout) -> Unknown | None:
    """What is lacking to tell whether the lock manager has a CPU of its own, where much locking makes it matter."""
    much = (busiest_operations(facts.every(LockRates)) or 0.0) >= OWN_CPU_OPERATIONS
    return own_cpu_untold(layout) if much and not own_cpu(layout) and no_dedicated(layout) is None else None


def _hidden(facts: Facts, limits: Limits, cpus: float) -> Stretch | None:
    """Hours in which much of the machine spun although the mean does not show it."""
    least_length = Length(limits.least_samples, limits.least_sampled_minutes, limits.least_minutes)
    return longest(facts, cpus, least_length, partial(_spins_much, limits, cpus))


def _spins_much(limits: Limits, cpus: float, synch: float, _busy: float, _operations: float | None) -> bool:
    return synch >= limits.critical_share * cpus and synch >= 100 * limits.warning_cpus


def _of_hours(layout: Layout, limits: Limits, hours: Stretch, cpus: float) -> Finding:
    share = hours.synch / cpus
    lost = f"{plain(hours.synch / 100, 2)} of {cpus:.0f} CPUs were lost in MP synchronization"
    return Finding(
        subject=layout.subject,
        severity=Severity.WARNING,
        title=f"{hours.when} {lost}, cause not shown by these exports",
        seen=(
            f"{hours.when} MP synch took {hours.synch:.0f} % of one CPU, {plain(share, 2)} % of the machine: lost, "
            f"cause not shown by these exports. {hours.apart}"
        ),
        because=SPUN,
        do=_collect(layout.facts, "Collect, in such hours,"),
        evidence=(
            replace(hours.evidence, limit=limits.critical_share * cpus),
            Evidence("CPUs", cpus, "", layout.active_read[1]),
        ),
        cost=hours.cost,
        explains=("openvms/concurrency_past_peak",),
    )


def _first(before: NotYet | None, differ: CountsDiffer | None) -> str:
    """What comes before a trace: a new measurement of the node as it is now, as sentences; empty where nothing does."""
    first = before.do if before else (differ.do if differ else "")
    return first and f"{first} If CPUs still spin, collect {TRACE}; add neither CPUs nor processes."


def _collect(facts: Facts, when: str, long: float | None = None, *, little: bool = False) -> str:
    """What divides the loss, or that this machine has nothing that does; `long`: seconds of samples that hide peaks.

    `little`: so little is lost that nobody is kept from adding work.
    """
    if untraced := machine_of(facts).untraced:
        return f"{untraced} has no spinlock trace (SPL) that would divide this loss. Add neither CPUs nor processes."
    if long:
        when = (
            f"{when} T4 at 60 s (MONITOR at 10 s) over the minutes that are slow, for samples of {long:,.0f} s hide "
            "shorter peaks, and in those minutes"
        )
    trace = RATED if facts.every(SpinlockTrace) and not heats(facts) else TRACE
    if machine_of(facts).x86:
        when = f"The spinlock trace (SPL) is {ALPHA_AND_INTEGRITY}; where SDA has it here, {within(when)}"
    layout, own = Layout(facts), ""
    if own_cpu(layout) and not not_yet(facts, layout):
        own = ", which is not the lock manager's: that has a CPU of its own"
    return (
        f"{when} {trace}; it divides this loss{own}.{'' if little else ' Until then add neither CPUs nor processes.'}"
    )


def _severity(limits: Limits, synch: float, cpus: float) -> Severity:
    """By the share of the machine, but no louder than the CPUs lost.

    Many CPUs add up to more MP synch though each works as before: a small share is a note up to the vendor's 200 %.
    """
    lost = synch / 100
    if synch / cpus < limits.critical_share:
        return Severity.WARNING if synch > limits.mp_synch_percent else Severity.NOTE
    if lost < limits.warning_cpus:
        return Severity.ADVICE if lost >= limits.advice_cpus else Severity.NOTE
    return Severity.CRITICAL


def _not_taken(facts: Facts, synch: float, spun: float) -> str:
    """Why a trace is not taken for the cause."""
    if away := apart(facts, synch, spun):
        return f"{away}, so it is of another time"
    hottest = heats(facts)[0]
    if hottest.wrong:
        return f"not to be believed ({hottest.wrong})"
    return "one moment, or spread over spinlocks of which none stands out, so it is no proof"


def _finding(facts: Facts, layout: Layout, limits: Limits, modes: ProcessorModes, synch: float, cpus: float) -> Finding:
    share = synch / cpus
    rates = facts.every(LockRates)
    operations = busiest_operations(rates)
    said, evidence = [], []
    debug, before, counted = debug_modes(facts), not_yet(facts, layout), most_often(facts)
    dedicated, rated = "", ""
    if before:
        said.append(before.said)
    elif own_cpu(layout):
        dedicated = (
            "The lock manager has a CPU of its own, so callers wait for it in kernel mode: this is another spinlock."
        )
    if operations is not None:
        source = next(one.source for one in rates if one.operations_per_second == operations)
        rated = f"the highest lock rate read is {in_prose(operations)} lock operations per second"
        evidence.append(Evidence("lock operations, highest", round(operations, 1), "/s", source))
    if differ := counts_differ(layout):
        said.append(differ.seen)
        evidence.extend(differ.evidence)
    if untold := _untold(facts, layout):
        command = " and ".join(lacking.command for lacking in untold.missing)
        said.append(f"whether the lock manager has a CPU of its own was not in the export: collect {command}")
    spun = [heat for heat in heats(facts) if known(heat.spin)]
    if spun:
        total = sum(heat.spin for heat in spun if known(heat.spin))
        why = _not_taken(facts, synch, total)
        said.append(f"the spinlock trace that came with it shows {plain(total, 3)} % of one CPU spinning: {why}")
    elif counted:
        said.extend((counted.said, counted.do))
    elif facts.every(SpinlockTrace):
        said.append("the spinlock trace that came with it gives no share of time: it divides nothing")
    cost, peak = peak_cost(facts)
    severity = _severity(limits, synch, cpus)
    return Finding(
        subject=layout.subject,
        severity=severity,
        title=f"{plain(synch / 100, 2)} of {cpus:.0f} CPUs are lost in MP synchronization, "
        + (
            f"with {debug.named}"
            if debug
            else f"{counted.percent:.0f} % of the waits that a trace counts are for {counted.trace.spinlock}"
            if counted
            else "cause not shown by these exports"
        ),
        seen=joined(
            f"On average MP synch takes {synch:.0f} % of one CPU, {plain(share, 2)} % of the machine: lost, cause not "
            "shown by these exports.",
            sentence(cost, rated),
        ),
        because=joined(debug.because if debug else SPUN, dedicated),
        do=debug.do
        if debug
        else _first(before, differ)
        or _collect(facts, "Collect", coarse(facts, modes.source), little=severity is Severity.NOTE),
        unknown=joined(sentence(*said), sentence(debug.until) if debug else ""),
        evidence=(
            Evidence("MP synch (mean)", synch, "% of one CPU", modes.source, limits.noted_share * cpus),
            Evidence("CPUs", cpus, "", layout.active_read[1]),
            *peak,
            *(debug.evidence if debug else ()),
            *evidence,
        ),
        cost=Cost(synch / 100, synch / 100, synch / 100),
        explains=("openvms/concurrency_past_peak",),
        expects=(Expectation("MP synch (% of one CPU)", synch, "divided by a trace", "heuristic"),),
    )
