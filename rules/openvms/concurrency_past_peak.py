"""More processes or CPUs do less work: the peak has been passed.

Finds: a load series whose lock rate falls beyond its highest point; or, without a series, MP synchronization over its
share of the busy time on a busy node with real lock traffic. Share and busy time are those of one moment, the mean
(95th percentiles of single modes do not add up to any); one sample alone never makes a warning. Where the mean of a day
hides hours in which it was so for long enough, these hours are judged by their own figures. Where the node itself was
driven past its peak in a test, that peak and its share of MP synchronization replace the published ones.

Why it matters: CPUs that wait for one spinlock spin, and what they spin on gets slower for the one that holds it. On a
BL870c with four cores two processes did 490,199 lock operations per second, and six did 341,316; at the peak a fifth of
the busy time was MP synchronization, beyond it up to 69 % (JCC Consulting's slides on the OpenVMS lock manager, 2014).
Driving it harder does less work.

What to do: do not add processes or CPUs. Run as many at once as at the peak and let the rest queue; take lock
operations away (row caches, one-node opening, larger page locks); then see whether a dedicated lock manager fits: where
MP synchronization takes half of the busy time at the end of a series, the kernel time of a lone operation tells what
one CPU could serve, and LCKMGR_MODE is a template on the node of the series where it runs with 0.

On x86-64 without a spinlock trace nothing is concluded: no peak was published of one, a dedicated lock manager is
documented for Alpha and Integrity alone, and the host of a guest may take the time.

When to ignore it: when the dip is within the noise of the method (a few per cent), or when the MP synchronization comes
from another spinlock than the lock manager's: where a trace with SDA's SPL extension says so, the finding is advice
without a cost, for openvms/spinlock_hot counts it. Captures of one node at several
numbers of CPUs are no runs of one test: a series made of them is advice at most, a note unless the node was busy. With
too few lock operations to blame the lock manager no peak is spoken of: a spinlock trace comes first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from collectors.facts import Facts
from collectors.facts.openvms import LockRates, ProcessorModes, SpinlockTrace, SpinlockTraceRun
from collectors.facts.openvms.spinlocks import TRACE
from collectors.facts.scaling import LoadSeries
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
)
from rules.laws.dedicated import dedicated, too_slow
from rules.laws.derived import BUSY_PERCENT, DEMAND, was_busy
from rules.laws.hardware import hardware_of
from rules.laws.modes import spinning_share
from rules.laws.series import Step, TimeSeries, course_of
from rules.laws.settings import of_a_size, outdone
from rules.laws.work import uneven_work
from rules.openvms._evidence.chains import Chain, chain_of
from rules.openvms._evidence.cpu_counts import counts_differ
from rules.openvms._evidence.cpu_layout import LAYOUT_FACTS, Layout
from rules.openvms._evidence.debug_modes import DebugModes, debug_modes
from rules.openvms._evidence.dedicated import DEDICATED_FACTS, hidden_in_kernel, not_yet
from rules.openvms._evidence.node import (
    NODE_FACTS,
    Work,
    busiest_operations,
    in_prose,
    node_name,
    sentence,
    subject_of,
    work_of,
)
from rules.openvms._evidence.own_runs import OwnRun, of_node, own_peak, two_digits
from rules.openvms._evidence.peaks import PEAK_FACTS, Length, Stretch, brief, longest, peak_cost
from rules.openvms._evidence.releases import ALPHA_AND_INTEGRITY
from rules.openvms._evidence.releases import machine_of as vms_of
from rules.openvms._evidence.sampling import LEAST_MINUTES, LEAST_SAMPLES, SAMPLE_FACTS, least, too_short
from rules.openvms._evidence.series_with_it import may_serve, turn_on, with_it
from rules.openvms._evidence.spinlocks import (
    ALL,
    LCKMGR,
    Heat,
    half_believed,
    lock_manager_part,
    most_often,
    waited_for,
)
from rules.openvms._evidence.spinning import (
    OWN_CPU_OPERATIONS,
    PAST_BUSY,
    PAST_OPERATIONS,
    PAST_SHARE,
    other_time,
    own_cpu,
    past_share,
)
from rules.sources import JCC

LINKS = ("https://wiki.vmssoftware.com/MONITOR_MODES", "https://wiki.vmssoftware.com/LCKMGR_MODE")
MOMENT = {
    "mean": "On average",
    "at mp synch peak": "In the sample with most MP synch",
    "at lock peak": "In the sample with most lock operations",
}
PUBLISHED = (
    f"In a published series the most work was done at 20 % of the busy time in MP synch ({JCC}); beyond that, driving "
    "harder does less."
)
MORE = "a load series: lock operations per second and MONITOR MODES at 1, 2, 3, … processes"


@dataclass(frozen=True)
class Limits:
    """What is a fall, and from which share on MP synchronization says the same."""

    noise_percent: float = limit(
        5.0, f"practice: runs repeat within a few per cent ({JCC})", low=1, high=50, unit="% of the peak"
    )
    steep_percent: float = percent(20.0, "this project: a warning from here on", of="the peak")
    synch_share_percent: float = percent(
        PAST_SHARE, f"practice: 20 % at the peak of a BL870c, 50 % one process later ({JCC})", of="busy time"
    )
    synch_percent: float = limit(
        100.0, "this project: a warning from one CPU's worth on, where it lasts (p95 or mean)", unit="% of one CPU"
    )
    busy_percent: float = percent(
        PAST_BUSY, "this project: on a node less busy than this nothing is past its peak", of="all CPUs"
    )
    busy_in_series_percent: float = percent(
        BUSY_PERCENT, "this project: below it the demand may have set a capture's rate", of="all CPUs"
    )
    least_cpus: int = limit(
        6, "vendor: more than five CPUs (OpenVMS V7.3 New Features, 4.4.1)", low=2, high=32, unit="CPUs"
    )
    lock_operations: float = limit(
        PAST_OPERATIONS, "this project: below this the lock manager is hardly the cause", unit="lock operations/s"
    )
    least_minutes: float = limit(
        30.0, "this project: hours that a mean hides, where nobody counted their samples", low=1, unit="minutes"
    )
    least_samples: int = limit(
        LEAST_SAMPLES, "this project: no minimum is published; fewer samples make no warning", low=1, unit="samples"
    )
    least_sampled_minutes: float = limit(
        LEAST_MINUTES, "this project: no minimum is published; ten minutes of the load in question", unit="minutes"
    )


@rule(
    needs=(),
    uses=(
        LoadSeries,
        SpinlockTrace,
        SpinlockTraceRun,
        *NODE_FACTS,
        *PEAK_FACTS,
        *SAMPLE_FACTS,
        *LAYOUT_FACTS,
        *DEDICATED_FACTS,
    ),
    links=LINKS,
    limits=Limits,
    sample=lambda limits: least(limits.least_samples, limits.least_sampled_minutes),
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge every load series of this product; without one, the modes of the node."""
    mine = [one for one in facts.every(LoadSeries) if one.product == "openvms" or _has_modes(one)]
    for series in mine:
        own = of_node(series, node_name(facts) or "")
        beside = (series.node or own) and facts.every(ProcessorModes)
        for outcome in _judge_series(series, mine, limits, facts):
            # beside figures of production, or over sizes, it is a test that is meant to go past the peak: no fault
            if isinstance(outcome, Finding) and (beside or of_a_size(series, mine)):
                yield replace(outcome, severity=Severity.NOTE, cost=None)
            else:
                yield outcome
    if facts.every(ProcessorModes):
        yield from _judge_modes(facts, limits)
    elif not mine:
        yield Unknown((MissingInput("scaling.LoadSeries", MORE), *Unknown.of(ProcessorModes).missing))


def _has_modes(series: LoadSeries) -> bool:
    return any(point.other("mp_synch_percent") is not None for point in series.points)


def _judge_series(series: LoadSeries, mine: Sequence[LoadSeries], limits: Limits, facts: Facts) -> Iterator[Outcome]:
    course = course_of(series)
    if isinstance(course, str):
        yield Untrusted(course)
        return
    if better := outdone(series, mine):
        yield Clean(f"{series.title}: {better}")
        return
    if any((synch := point.other("mp_synch_percent")) is not None and synch < 0 for point in series.points):
        yield Untrusted(f"{series.title}: MP synch below zero")
        return
    if uneven := uneven_work(series):
        yield Untrusted(f"{series.title}: {uneven}")
        return
    unit = "operations per second" if "operations" in series.rate_name else series.rate_name.replace("_", " ")
    peak, last = course.peak, course.last
    top = f"{peak.rate:,.0f} {unit} at {peak.load:g} {series.load_said}"
    if len(course.steps) < 3:
        yield Unknown.without("runs at three different loads or more", MORE, f"{series.title}: {top}")
    elif series.cores == 1:
        yield Clean(f"{series.title}: {top}; one CPU waits for no other")
    elif not course.beyond:
        yield Clean(f"{series.title}: {top}, the highest load that was measured: no fall seen")
    elif course.fall_percent < 0:  # the highest load stands alone above the others
        yield Clean(f"{series.title}: {top}, and no fall seen; {course.alone_said.removesuffix('.')}")
    elif course.fall_percent <= limits.noise_percent:
        fall = f"{course.fall_percent:.1f} % less at {last.load:g}, noise is up to {limits.noise_percent:g} %"
        yield Clean(f"{series.title}: {top}; {fall}")
    else:
        yield _series_finding(series, mine, course, limits, unit, facts)


def _series_finding(
    series: LoadSeries, mine: Sequence[LoadSeries], course: TimeSeries, limits: Limits, unit: str, facts: Facts
) -> Finding:
    peak, last, first, name = course.peak, course.last, course.first, series.load_said
    shares = [(spinning_share(run), run) for step in course.beyond for run in step.runs]
    after = max(((share, run) for share, run in shares if share is not None), key=lambda pair: pair[0], default=None)
    before = next((share for run in peak.runs if (share := spinning_share(run)) is not None), None)
    evidence = [
        Evidence(f"peak, at {peak.load:g} {name}", peak.rate, unit, peak.source),
        Evidence(f"at {last.load:g} {name}", last.rate, unit, last.source),
        Evidence("fall from the peak", round(course.fall_percent, 1), "%", last.source, limits.noise_percent),
    ]
    seen = [
        f"The rate peaks at {peak.load:g} {name} with {in_prose(peak.rate)} {unit} and falls to {in_prose(last.rate)} "
        f"at {last.load:g}: driving harder does less work."
    ]
    because = ""
    if first.load == 1 and "per_second" in series.rate_name and first.rate > 0:
        because = f"With nothing beside it, one operation takes {in_prose(1e6 / first.rate)} µs."
        evidence.append(Evidence("time per operation, lowest load", round(1e6 / first.rate, 2), "µs", first.source))
    if before is not None and after is not None:
        seen.append(f"MP synch is {before:.0f} % of the busy time at the peak, and up to {after[0]:.0f} % after it.")
        evidence.append(Evidence("MP synch at the peak", round(before, 1), "% of busy time", peak.source))
        evidence.append(
            Evidence("MP synch after the peak", round(after[0], 1), "% of busy time", series.source_of(after[1]))
        )
    cost, spinning = _series_cost(course, peak)
    if cost is not None:
        because = joined(
            because,
            f"At {spinning:g} {name}, the highest load measured with MP synch, {cost.processors:.1f} CPUs were "
            "spinning: that is what this load lost, not what the system loses now.",
        )
    better = with_it(series, mine, course)
    measured = better.said if better else ""
    titled = hardware_of(series.title)
    undocumented = vms_of(facts).dedicated_documented is False and not (titled and titled.family)
    own = None if measured or undocumented else dedicated(series, course)
    unknown = ""
    if own is not None:
        unknown = may_serve(own, series)
        evidence += [
            Evidence("kernel time per operation, lowest load", round(own.kernel_usec, 2), "µs", own.alone.source),
        ]
    elif not measured and not undocumented and (slow := too_slow(series, course)):
        unknown = (
            f"A CPU of its own for the lock manager promises nothing here: by the {slow.kernel_usec:.2f} µs of kernel "
            f"time of a lone operation it may serve about {two_digits(slow.ceiling):,.0f} per second (inference, "
            f"checked on one machine), and {in_prose(slow.left.rate)} are left without it."
        )
        evidence.append(
            Evidence("kernel time per operation, lowest load", round(slow.kernel_usec, 2), "µs", slow.alone.source)
        )
    severity = Severity.WARNING if course.fall_percent >= limits.steep_percent else Severity.ADVICE
    held = f"run {peak.load:g} {name} at once and let the rest queue, or"
    if series.over_processors:
        held = f"this work does most with {peak.load:g} {name} in the active set;"
    do = f"Do not add processes or CPUs: {held} take lock operations away."
    if series.derived:
        do, unknown = f"Drive the node as hard at {peak.load:g} {name} before any is taken away.", DEMAND
        severity = Severity.ADVICE if was_busy(course, limits.busy_in_series_percent) else Severity.NOTE
    elif own is not None:
        few = series.cores is not None and series.cores < limits.least_cpus
        warned = f" (the vendor advises it only from {limits.least_cpus} CPUs on)" if few else ""
        # with a higher number than CPUs run, none is ever given to the lock manager
        mode = int(series.cores) if few and series.cores else limits.least_cpus
        do += (
            f" Then run the same series with LCKMGR_MODE {mode}{warned}: one CPU may serve about "
            f"{two_digits(own.ceiling):,.0f} per second (inference), where {in_prose(own.left.rate)} are left."
        )
    on = turn_on(series, better, own, limits.least_cpus, limits.noise_percent, facts, peak)
    return Finding(
        subject=series.title,
        severity=severity,
        title=f"{course.fall_percent:.0f} % less work at {last.load:g} {name} than at the peak of {peak.load:g}",
        seen=" ".join(seen),
        because=because,
        do=joined(do, measured),
        unknown=joined(unknown, course.alone_said),
        evidence=tuple(evidence),
        cost=None if series.derived else cost,
        explains=(f"scaling/throughput_retrograde:{series.title}",),
        changes=on,
        expects=(
            Expectation(f"{unit}, at {peak.load:g} {name}", last.rate, peak.rate, "arithmetic"),
            *(
                (
                    Expectation(
                        f"{unit}, most that a CPU of its own can serve", last.rate, two_digits(own.ceiling), "heuristic"
                    ),
                )
                if own
                else ()
            ),
        ),
    )


def _spinlock(facts: Facts, away: str) -> str:
    """What a trace says of the spinlock, or that one would tell; `away`: that it is of another time, as a clause."""
    if away:
        return f"; {away}"
    heat = waited_for(facts)
    if heat is None and (doubted := half_believed(facts)):
        return f"; {doubted}"
    if counted := most_often(facts):
        return f"; {counted.said}"
    if heat is None and (untraced := vms_of(facts).untraced):
        return f"; {untraced} has no spinlock trace (SPL), so whether it is the lock manager's spinlock cannot be told"
    if heat is None and own_cpu(Layout(facts)) and not not_yet(facts, Layout(facts)):
        return (
            ", and SDA's spinlock trace which spinlock it is: not the lock manager's, which has a CPU of its own, so "
            "callers wait for it in kernel mode"
        )
    if heat is None:
        return ", and SDA's spinlock trace whether it is the lock manager's spinlock"
    return f"; the spinlock trace shows that CPUs wait for {heat.name} most"


def _series_cost(course: TimeSeries, peak: Step) -> tuple[Cost | None, float]:
    """MP synch of the highest load that prints it, and that load; from below, less what the peak itself pays."""
    spun = [
        (synch, step.load)
        for step in course.beyond
        for run in step.runs
        if (synch := run.other("mp_synch_percent")) is not None
    ]
    if not spun:
        return None, 0.0
    lost, load = spun[-1]
    paid = min((synch for run in peak.runs if (synch := run.other("mp_synch_percent")) is not None), default=lost)
    return Cost(lost / 100, max(0.0, lost - paid) / 100, lost / 100, of_capture=False), load


def _judge_modes(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    work = work_of(facts)
    if not isinstance(work, Work):
        yield work
        return
    figures = f"MP synch {work.share:.0f} % of the busy time ({work.modes.statistic})"
    if limits.synch_share_percent == PAST_SHARE:  # a site's own limit stays
        limits = replace(limits, synch_share_percent=past_share(facts))
    whole, enough = 100 * work.cpus, limits.busy_percent * work.cpus
    if work.cpus <= 1:
        yield Clean(f"{figures}; one CPU waits for no other")
    elif work.share >= limits.synch_share_percent and work.busy >= enough:
        yield from _modes_finding(facts, limits, work)
    elif work.sustained and (hidden := _hidden(facts, limits, work.cpus)):
        yield _of_hours(facts, limits, hidden)
    elif work.share < limits.synch_share_percent:
        said = f"{figures}, limit {limits.synch_share_percent:g} %"
        said += brief(facts, work.cpus, partial(_past_then, limits, work.cpus)) if work.sustained else ""
        yield hidden_in_kernel(facts, said) or Clean(said, (work.modes.source,))
    else:
        little = f"busy {work.busy:.0f} % of {whole:.0f}, below {enough:.0f} there is no peak to pass"
        yield Clean(f"{figures}; {little}", (work.modes.source,))


def _hidden(facts: Facts, limits: Limits, cpus: float) -> Stretch | None:
    """The time in which the node was past its peak although the mean of the capture does not show it."""
    length = Length(limits.least_samples, limits.least_sampled_minutes, limits.least_minutes)
    return longest(facts, cpus, length, partial(_past_then, limits, cpus))


def _past_then(limits: Limits, cpus: float, synch: float, busy: float, operations: float | None) -> bool:
    locks = operations is not None and operations >= limits.lock_operations
    return locks and busy >= limits.busy_percent * cpus and 100 * synch >= limits.synch_share_percent * busy


def _of_hours(facts: Facts, limits: Limits, hours: Stretch) -> Finding:
    """What the mean of the capture hides, judged by its own figures."""
    share, operations = 100 * hours.synch / hours.busy, hours.operations or 0.0
    debug = debug_modes(facts)
    away = other_time(facts, hours.synch, hours)
    blamed = _blamed(facts, divides=not away)
    otherwise = "Do not add processes or CPUs for these hours: spread their work, or let it queue."
    if _too_few(facts, operations) and not _is_open(facts):
        otherwise = f"Collect {TRACE} in such an hour; until then change no parameter. {otherwise}"
    own = own_peak(facts, with_it=False)
    loud = hours.synch >= limits.synch_percent and not blamed.quiet
    return Finding(
        subject=subject_of(facts),
        severity=Severity.WARNING if loud else Severity.ADVICE,
        title=f"{hours.when} {share:.0f} % of the busy time was MP synchronization{_past(debug, facts, operations)}",
        seen=(
            f"{hours.when} {hours.busy:.0f} of {100 * hours.cpus:.0f} % were busy, and {hours.synch:.0f} of these "
            f"{hours.busy:.0f} ({share:.0f} %) were MP synch, at {in_prose(operations)} lock operations per second. "
            f"{hours.apart}"
        ),
        because=joined(debug.because if debug else _peak_told(own, facts, operations), blamed.because),
        do=joined(debug.do if debug else otherwise, blamed.do or (ON_X86 if _is_open(facts) else "")),
        unknown=joined(_peak_untold(debug, facts, away, own), sentence(blamed.unknown)),
        evidence=(
            *(debug.evidence if debug else ()),
            *((own.proof,) if own else ()),
            hours.evidence,
            hours.proof("MP synch, its share then", share, "% of busy time", limits.synch_share_percent),
            hours.proof("lock operations then", operations, "/s", limits.lock_operations),
        ),
        cost=blamed.of(hours.cost),
        explains=("scaling/throughput_retrograde",),
    )


ON_X86 = (
    f"A CPU for the lock manager is {ALPHA_AND_INTEGRITY}, so set nothing for it: collect a spinlock trace, "
    "LOCK_ACTV (who locks), and from the host virtual CPUs against cores, threads of a core, CPU limits and ready time."
)


def _is_open(facts: Facts) -> bool:
    """Whether nothing tells which spinlock it is on a machine without published peaks: x86-64, mostly a guest."""
    return vms_of(facts).x86 and waited_for(facts) is None


def _too_few(facts: Facts, operations: float) -> bool:
    """Whether there are too few lock operations to blame the lock manager, whose peaks are published, and no trace.

    Long chains of the resource hash table make each of them dear, and a test on this node has shown its own peak.
    """
    traced = waited_for(facts) or half_believed(facts) or most_often(facts) or vms_of(facts).untraced
    chain = chain_of(facts)
    dear = isinstance(chain, Chain) and chain.explains_spinning
    return operations < OWN_CPU_OPERATIONS and not (traced or dear or own_peak(facts, with_it=False))


def _past(debug: DebugModes | None, facts: Facts, operations: float) -> str:
    """The end of a title: what is concluded, or the debug modes that come first."""
    if debug:
        return f", with {debug.named}"
    return ", for which spinlock is not shown" if _is_open(facts) or _too_few(facts, operations) else ": past the peak"


def _peak_told(own: OwnRun | None, facts: Facts, operations: float) -> str:
    """Where the peak lies: by a test on this node, else as published of another one, where locks may be the cause."""
    if _too_few(facts, operations):
        return (
            f"{in_prose(operations)} lock operations per second are too few to blame the lock manager for it (below "
            f"{OWN_CPU_OPERATIONS:,.0f}/s, this project), so another spinlock may be the cause."
        )
    if own is None:
        return PUBLISHED
    share = f", with {own.share_at_peak:.0f} % of the busy time in MP synch" if own.share_at_peak is not None else ""
    return f"In a test on this node most was done with {own.at_most}{share}; beyond that it did less."


def _peak_untold(debug: DebugModes | None, facts: Facts, away: str, own: OwnRun | None) -> str:
    """What would show the peak and its cause; debug modes, where they are on, may be all that there is to it."""
    peak = f"a series of runs{' with the work of this capture' if own else ''} would show the peak itself"
    return sentence(debug.until if debug else f"{peak}{_spinlock(facts, away)}")


@dataclass(frozen=True)
class _Blamed:
    """What a spinlock trace, a later display and debug modes make of a peak in MP synchronization."""

    other: bool
    """Whether the trace blames another spinlock than the lock manager's: then that is the cause."""
    part: float
    """Of MP synch the lock manager's: the rest is the other spinlocks', counted by openvms/spinlock_hot."""
    quiet: bool
    """Whether it is no warning: the cause is another one, or was dealt with after the capture."""
    because: str
    """Whose spinlock it is and where the rest is counted, as a sentence; empty where no trace tells."""
    unknown: str = ""
    """Why the figures may be of before the lock manager had its CPU, as a clause."""
    do: str = ""
    """What then comes first, as a sentence."""

    def of(self, cost: Cost) -> Cost | None:
        """What of a cost is counted here; `None`: nothing."""
        if self.other:
            return None
        return replace(
            cost, processors=self.part * cost.processors, low=self.part * cost.low, high=self.part * cost.high
        )


def _blamed(facts: Facts, *, divides: bool) -> _Blamed:
    """`divides`: whether the trace spun like the time that is judged."""
    before, heat = not_yet(facts, Layout(facts)), waited_for(facts)
    other = heat is not None and heat.name != LCKMGR and divides
    part = lock_manager_part(facts) if divides else 1.0
    quiet = other or (before is not None and heat is not None and heat.name == LCKMGR)
    said = _said_there(other, heat, part)
    return _Blamed(other, part, quiet, said, before.said, before.do) if before else _Blamed(other, part, quiet, said)


def _said_there(other: bool, heat: Heat | None, part: float) -> str:
    """That the cost of another spinlock is counted elsewhere, as a sentence."""
    if heat is None:
        return ""
    if not other:
        rest = f"By the spinlock trace {100 * part:.0f} % of MP synch are {LCKMGR}'s, which is what is counted here"
        return f"{rest}; openvms/spinlock_hot says what the others cost." if part < ALL else ""
    return (
        f"The spinlock trace blames {heat.name}, not the lock manager: openvms/spinlock_hot says what {heat.name} "
        "costs."
    )


def _modes_finding(facts: Facts, limits: Limits, work: Work) -> Iterator[Outcome]:
    modes, share, synch, now = work.modes, work.share, work.synch, work.now
    rates = facts.every(LockRates)
    operations = busiest_operations(rates)
    if operations is None:
        why = f"MP synch is {share:.0f} % of the busy time; whether of locks cannot be told without lock rates"
        yield Unknown.without("lock operations per second", f"{LockRates.COLLECTED_BY}, or MONITOR LOCK", why)
        return
    if operations < limits.lock_operations:
        why = (
            f"only {operations:,.0f} lock operations/s at most (limit {limits.lock_operations:,.0f}): another spinlock"
        )
        yield Clean(f"MP synch is {share:.0f} % of the busy time, but {why}")
        return
    lasts = f"at the 95th percentile MP synch is {synch:.0f} % of one CPU" if work.spun is not modes else ""
    once = "" if work.sustained else "that is one sample: whether it lasts was not in the export"
    differ = counts_differ(Layout(facts))
    short = too_short(facts, modes.source, limits.least_samples, limits.least_sampled_minutes)
    do = "Do not add processes or CPUs."
    if _too_few(facts, operations) and not _is_open(facts):
        do = f"Collect {TRACE}; until then change no parameter, and add neither processes nor CPUs."
    if short and work.sustained:
        do = f"Collect more: these are {short} (this project's minimum; none is published)."
    moment = MOMENT.get(modes.statistic, modes.statistic)
    cost, peak = peak_cost(facts) if work.sustained else ("", ())
    debug = debug_modes(facts)
    away = other_time(facts, now)
    blamed = _blamed(facts, divides=not away)
    own = own_peak(facts, with_it=False)
    if own and work.sustained and not short and operations < own.peak.rate:
        do = f"Do not add processes or CPUs: {own.at_once}."
    loud = work.sustained and not short and synch >= limits.synch_percent and not blamed.quiet
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.WARNING if loud else Severity.ADVICE,
        title=f"{moment} {share:.0f} % of the busy time is MP synchronization{_past(debug, facts, operations)}",
        seen=joined(
            f"{moment} {work.busy:.0f} of {100 * work.cpus:.0f} % are busy, and {now:.0f} of these {work.busy:.0f} "
            f"({share:.0f} %) are MP synch.",
            sentence(lasts, cost, f"the highest lock rate read is {in_prose(operations)} lock operations per second"),
        ),
        because=joined(debug.because if debug else _peak_told(own, facts, operations), blamed.because),
        do=joined(
            debug.do if debug else do,
            blamed.do
            or ("Measure again with the CPUs that are active now." if differ else ON_X86 if _is_open(facts) else ""),
        ),
        unknown=joined(
            _peak_untold(debug, facts, away, own),
            sentence(blamed.unknown, once, differ.seen if differ else ""),
        ),
        evidence=(
            *(debug.evidence if debug else ()),
            *((own.proof,) if own else ()),
            Evidence(f"MP synch ({work.spun.statistic})", synch, "% of one CPU", work.spun.source),
            *(
                (Evidence(f"MP synch ({modes.statistic})", now, "% of one CPU", modes.source),)
                if work.spun is not modes
                else ()
            ),
            *peak,
            *(differ.evidence if differ else ()),
            Evidence(f"busy ({modes.statistic})", round(work.busy, 1), "% of one CPU", modes.source),
            Evidence(
                f"MP synch, its share ({modes.statistic})",
                round(share, 1),
                "% of busy time",
                modes.source,
                limits.synch_share_percent,
            ),
            Evidence("lock operations, highest", round(operations, 1), "/s", rates[-1].source, limits.lock_operations),
        ),
        cost=blamed.of(
            Cost(now / 100, min(now, synch) / 100, max(now, synch) / 100, of_capture=modes.statistic == "mean")
        ),
        explains=("scaling/throughput_retrograde",),
        expects=(Expectation("MP synch (% of busy time)", round(share, 1), "lower", "heuristic"),),
    )
