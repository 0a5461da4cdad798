"""CPUs spin for the lock database, which has no CPU of its own.

Finds: MP synchronization above two CPUs' worth in the busy part of the day, on more than five CPUs, with many lock
operations, and no CPU dedicated to the lock manager. Hours that the 95th percentile of a day leaves out are
judged by their own figures, where they lasted long enough; a shorter time is reported with its figures and no more.

Why it matters: one spinlock guards the lock database. CPUs that wait for it spin and do nothing else; on a BL870c of
four cores 273 of 400 per cent were MP synchronization, and it did less work than with half of the load (JCC
Consulting's slides on the OpenVMS lock manager, 2014).

What to do: a spinlock trace (SDA, SPL) decides whether the lock manager is to blame. If it is, turn the dedicated lock
manager on: LCKMGR_MODE is the number of CPUs that must be active before it starts, not a CPU number. It is dynamic.
Put it, with LCKMGR_CPUID, on a CPU without a fast-path device and without TCP/IP, not the primary, in the same RAD as
the work, with no co-thread or an idle one.

A trace of SPL ANALYZE that does not name LCKMGR has it below 10 %: the spinlock that leads it comes first.

LCKMGR_MODE is a template only until a spinlock trace blames LCKMGR: another spinlock may be what CPUs wait for. A trace
that spins far less or more than the time that is judged is of another time and says nothing of it. One that fits
divides MP synchronization: the vendor's two CPUs' worth is held against LCKMGR's own part, and with less of it a
dedicated CPU is no more than a thing to check. Nothing is set either where the capture is of another number of CPUs
than the displays beside it: its figures are not of the node that the CPU would be taken from. No CPU
is named, and it is a template, too, until the full display of every CPU was read: without LCKMGR_CPUID
the lock manager takes the lowest CPU other than the primary, whatever has its fast path there. Where the CPU has a
co-thread that runs, stopping that one is a second step, to be measured by itself. Where the chains of a resource hash
table that is far too small explain the spinning, the table comes first (openvms/resource_hash_table_undersized), and
the dedicated CPU after a new measurement. A few samples, or a machine that was not given, make a note or a template.

It costs one CPU. Published for an rx4640 with eight cores: a little more at the peak, a far gentler decline beyond it.
Runs of the lock laboratory on this very node replace that: with one and without, its own gain is said, and where there
is none nothing is advised; without one, what a CPU may serve is inferred from the kernel time of a lone operation.
Callers then wait in kernel mode, so falling MP synchronization alone is no success: count operations per second.

When to ignore it: when the trace blames another spinlock, when the peak is one batch job, or with few cores: on four a
dedicated CPU takes a quarter of the machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from collectors.facts import OVERFLOW, Facts, known
from collectors.facts.openvms import (
    DedicatedLockManager,
    LockRates,
    Process,
    ProcessorModes,
    SpinlockTrace,
    SpinlockTraceRun,
)
from rules.changes.openvms_sysgen import advise_parameter, keep_parameter, parameter_key
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import (
    Change,
    Clean,
    Cost,
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
    within,
)
from rules.openvms._evidence.chains import NAME as TABLE
from rules.openvms._evidence.chains import Chain, chain_of
from rules.openvms._evidence.cpu_counts import counts_differ
from rules.openvms._evidence.cpu_layout import LAYOUT_FACTS, Layout, no_dedicated
from rules.openvms._evidence.debug_modes import debug_modes
from rules.openvms._evidence.dedicated import mode_meant
from rules.openvms._evidence.judged_spins import Spins, spins_of_capture, spins_of_hours
from rules.openvms._evidence.node import cpus_changed, in_prose, pending_clauses, pending_of, pending_value, sentence
from rules.openvms._evidence.own_runs import by_kernel_time, gain_of, gained_nothing, two_digits, with_and_without
from rules.openvms._evidence.peaks import PEAK_FACTS, Length, Stretch, brief, longest, peak_cost
from rules.openvms._evidence.placement import (
    cost_of,
    left_alone,
    likely_seat,
    look_at,
    placement_of,
    stop_beside,
    unread_seats,
)
from rules.openvms._evidence.releases import machine_of
from rules.openvms._evidence.sampling import LEAST_MINUTES, LEAST_SAMPLES, SAMPLE_FACTS, least, too_short
from rules.openvms._evidence.spinlocks import (
    ALL,
    LCKMGR,
    half_believed,
    most_often,
    not_listed,
    share_of_spinning,
    short_trace,
)
from rules.openvms._evidence.spinning import (
    OWN_CPU_CPUS,
    OWN_CPU_OPERATIONS,
    OWN_CPU_SYNCH,
    OWN_CPU_WORTH,
    asleep,
    lasting_modes,
    own_cpu_untold,
)
from rules.sources import JCC

LINKS = (
    "https://wiki.vmssoftware.com/LCKMGR_MODE",
    "https://wiki.vmssoftware.com/LCKMGR_CPUID",
    "https://wiki.vmssoftware.com/MONITOR_MODES",
    "https://community.hpe.com/t5/Operating-System-OpenVMS/Dedicating-processor-to-record-locking/td-p/3562167",
)
ON = (
    "Not a CPU number: the number of active CPUs from which on it runs. With fewer it turns itself off.",
    "Only if a spinlock trace shows LCKMGR as the spinlock that CPUs wait for.",
    "No process may have hard affinity to that CPU. Back at once with LCKMGR_MODE as before.",
)
FOR_HOURS = "LCKMGR_MODE is dynamic, so it may be turned on for such hours alone"
JUDGE = "Kernel time replaces MP synch, so judge by operations per second and not by falling MP synch."
UNTRACED = "Until a spinlock trace blames LCKMGR nothing is set."
TRACE = MissingInput(
    "spinlock trace (whether LCKMGR is the spinlock that CPUs wait for)",
    "a spinlock trace under load (ANALYZE/SYSTEM, then SPL LOAD, SPL START TRACE, SPL SHOW TRACE/SUMMARY, "
    "SPL STOP TRACE, SPL UNLOAD)",
)
TRACE_ALL = MissingInput(
    "LCKMGR's own share of a spinlock trace",
    "a spinlock trace under load with SPL SHOW TRACE/SUMMARY/RATES, which lists every spinlock",
)


@dataclass(frozen=True)
class Limits:
    """The vendor's two figures, and what counts as much locking."""

    mp_synch_percent: float = limit(
        OWN_CPU_SYNCH, "vendor: higher than 200 % (OpenVMS V7.3 New Features, 4.4.1)", unit="% of one CPU"
    )
    least_cpus: int = limit(
        OWN_CPU_CPUS, "vendor: more than five CPUs (OpenVMS V7.3 New Features, 4.4.1)", low=2, high=32, unit="CPUs"
    )
    lock_operations: float = limit(
        OWN_CPU_OPERATIONS,
        f"this project: at 344,880/s the spinlock of a BL870c was always held ({JCC}), 2.9 µs each; on a "
        "machine four times slower fewer than 50,000/s leave it free almost half of the time",
        unit="operations/s",
    )
    critical_share: float = percent(
        50.0, f"practice: with 68 % of a BL870c in MP synch it did less work than with half of the load ({JCC})"
    )
    least_minutes: float = limit(
        30.0, "this project: hours that a p95 leaves out, where nobody counted their samples", low=1, unit="minutes"
    )
    least_samples: int = limit(
        LEAST_SAMPLES,
        "this project: no minimum is published; fewer samples than this take no CPU from other work",
        low=2,
        unit="samples",
    )
    least_sampled_minutes: float = limit(
        LEAST_MINUTES, "this project: no minimum is published; ten minutes of the load in question", unit="minutes"
    )
    worth_percent: float = limit(
        OWN_CPU_WORTH,
        "this project: a dedicated CPU takes 100 % of one CPU at all hours, so more than that has to spin for LCKMGR",
        unit="% of one CPU",
    )


@rule(
    needs=(ProcessorModes,),
    uses=(*LAYOUT_FACTS, *PEAK_FACTS, *SAMPLE_FACTS, DedicatedLockManager, Process, SpinlockTrace, SpinlockTraceRun),
    links=LINKS,
    limits=Limits,
    sample=lambda limits: least(limits.least_samples, limits.least_sampled_minutes),
    releases="OpenVMS V7.3 or later on Alpha and Integrity: the dedicated lock manager is documented for these alone",
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the node."""
    layout = Layout(facts)
    modes = lasting_modes(facts)
    hours = _hidden(layout, limits, modes)
    quiet = no_dedicated(layout) or _own_already(facts, layout) or cpus_changed(facts)
    quiet = quiet or (None if hours else _little_spinning(layout, limits, modes))
    spins = spins_of_hours(hours) if hours else spins_of_capture(facts, modes)
    quiet = quiet or _other_reasons(facts, layout, limits, spins) or gained_nothing(facts, spins.synch)
    if quiet:
        yield quiet
        return
    yield _finding(facts, layout, limits, spins)
    if wanted := _wanted(facts, spins):
        yield Unknown(wanted)
    if machine_of(facts).dedicated_documented is None:
        yield Unknown.without("machine and release of the node", "SHOW SYSTEM")
    if not layout.fastpath_read:
        yield Unknown.without("devices and services of each CPU", "SHOW FASTPATH")
    if not layout.cores_read:
        yield Unknown.without("co-threads of each CPU, and which is the primary", "SHOW CPU/FULL")


def _own_already(facts: Facts, layout: Layout) -> Outcome | None:
    if layout.lock_manager:
        return NotApplicable(f"the lock manager has a CPU of its own: CPU {layout.lock_manager[0]}")
    if any(dedicated.on for dedicated in facts.every(DedicatedLockManager)):
        return NotApplicable("the lock manager has a CPU of its own: the [LCK73] columns show it at work")
    mode = layout.setting("LCKMGR_MODE")
    if asleep(layout) and mode and layout.active and mode <= layout.active:
        return NotApplicable(
            f"LCKMGR_MODE is {mode:g} with {layout.active:g} active CPUs, and LCKMGR_SERVER hibernates (SHOW SYSTEM): "
            "configured and off, see openvms/lock_manager_configured_off"
        )
    return None


def _little_spinning(layout: Layout, limits: Limits, modes: ProcessorModes | None) -> Outcome | None:
    synch = modes.mp_synch_percent if modes else None
    if synch is OVERFLOW:
        return Untrusted("MP synch is printed as asterisks: take a longer interval")
    if modes is None or not known(synch):
        return Unknown.without("MP synch over the day", ProcessorModes.COLLECTED_BY)
    cpus = layout.active
    if synch < 0 or (known(modes.cpus) and synch > 102 * modes.cpus):
        return Untrusted(f"MP synch {synch:g} % on {modes.cpus} CPUs")
    said = f"MP synch {synch:g} % of one CPU ({modes.statistic}), limit {limits.mp_synch_percent:g}"
    if synch <= limits.mp_synch_percent:
        short = "" if cpus is None or _too_few(layout, limits, cpus, "") else _brief(layout, limits)
        return Clean(f"{said}{short}", (modes.source,))
    if cpus is None:
        return Unknown.without("number of active CPUs", "SHOW CPU", said)
    few, differ = _too_few(layout, limits, cpus, said), counts_differ(layout)
    return replace(few, why=f"{few.why}. {sentence(differ.seen)} {differ.do}") if few and differ else few


def _too_few(layout: Layout, limits: Limits, cpus: float, said: str) -> Clean | None:
    if cpus < limits.least_cpus:
        return Clean(f"{said}, but of {cpus:g} CPUs a dedicated one takes {1 / cpus:.0%} of the machine")
    if layout.cores is not None and layout.cores < limits.least_cpus:
        return Clean(
            f"{said}, but the {cpus:g} CPUs are co-threads of {layout.cores} cores, of which a dedicated one takes "
            f"{1 / layout.cores:.0%} (published for four such cores: 499,842 operations/s with it, 490,000 without)"
        )
    return None


def _hidden(layout: Layout, limits: Limits, modes: ProcessorModes | None) -> Stretch | None:
    """Hours in which CPUs spun for long with many locks although the capture's figure does not show it."""
    cpus, synch = layout.captured, modes.mp_synch_percent if modes else None
    if cpus is None or synch is None or not known(synch) or not 0 <= synch <= limits.mp_synch_percent:
        return None
    if _too_few(layout, limits, cpus, ""):
        return None

    length = Length(limits.least_samples, limits.least_sampled_minutes, limits.least_minutes)
    return longest(layout.facts, cpus, length, partial(_spins_much, limits))


def _spins_much(limits: Limits, synch: float, _busy: float, operations: float | None) -> bool:
    return synch > limits.mp_synch_percent and operations is not None and operations >= limits.lock_operations


def _brief(layout: Layout, limits: Limits) -> str:
    """The same of a time that is too short for a finding."""
    return brief(layout.facts, layout.captured, partial(_spins_much, limits))


def _other_reasons(facts: Facts, layout: Layout, limits: Limits, judged: Spins) -> Outcome | None:
    """What speaks against advice although CPUs spin: no lock traffic, or not known whether it is on already."""
    operations = judged.operations
    spins = joined(f"MP synch {judged.synch:g} % of one CPU", within(judged.when) if judged.hours else "")
    if operations is None:
        rate = MissingInput("lock operations per second ([MON.LOCK])", LockRates.COLLECTED_BY)
        return Unknown((rate, *_wanted(facts, judged)), spins)
    if operations < 0:
        return Untrusted(f"{operations:g} lock operations per second")
    if operations < limits.lock_operations:
        few = f"only {operations:,.0f} lock operations/s ({judged.statistic}; limit {limits.lock_operations:,.0f})"
        heat, doubted = judged.heat(facts), judged.doubted(facts)
        blames = f"; the spinlock trace blames {heat.name}" if heat else (f"; {doubted}" if doubted else "")
        return Unknown(_wanted(facts, judged), f"{spins}, but {few}: another spinlock may be the cause{blames}")
    heat = judged.heat(facts)
    if heat and heat.name != LCKMGR:
        return Clean(
            f"{spins}, but in the spinlock trace CPUs wait for {heat.name} most: a dedicated lock manager would not "
            "reduce it"
        )
    if not judged.away(facts) and (unlisted := not_listed(facts)):
        why = f"{spins}, but {unlisted}: openvms/spinlock_hot comes first (the trace is read tentatively)"
        return Unknown((TRACE_ALL,), why)
    if (counted := most_often(facts)) and counted.trace.spinlock != LCKMGR:
        return Unknown((TRACE_ALL,), f"{spins}, but {counted.said}: openvms/spinlock_hot comes first")
    if (heat := judged.divided(facts)) and heat.name != LCKMGR:
        own = judged.synch * (share_of_spinning(facts, LCKMGR) or 0.0) / 100
        if own <= limits.worth_percent:
            why = (
                f"{spins}, but {half_believed(facts)}; it gives {LCKMGR} {own:.0f} % of one CPU, and a dedicated CPU "
                f"takes {limits.worth_percent:g} %: openvms/spinlock_hot comes first"
            )
            return Unknown((), why)
    part = judged.part(facts)
    worth = judged.synch * part
    if worth <= limits.worth_percent:
        return Clean(
            f"{spins}, of which the spinlock trace gives {LCKMGR} {100 * part:.0f} %: {worth:.0f} % of one CPU, "
            f"and a dedicated CPU takes {limits.worth_percent:g} %"
        )
    untold = own_cpu_untold(layout)
    return replace(untold, why=untold.why or spins) if untold else None


def _wanted(facts: Facts, judged: Spins) -> tuple[MissingInput, ...]:
    """The trace that is still lacking; none where one of that time came along, if only a tentative one."""
    return () if judged.heat(facts) or judged.doubted(facts) else (TRACE,)


@dataclass(frozen=True)
class _Steps:
    """What is to be done, in which order, and what stands in the way."""

    changes: tuple[Change, ...]
    do: str
    because: str = ""
    """Why so, as a clause."""
    place: str = ""
    """Which CPU and why no other, as a sentence."""
    unknown: str = ""
    """What stays open, as a clause."""
    stopped: int | None = None
    """The co-thread that is stopped in the second step."""


def _finding(facts: Facts, layout: Layout, limits: Limits, judged: Spins) -> Finding:
    cpus, synch, hours, differ = layout.captured, judged.synch, judged.hours, counts_differ(layout)
    assert cpus is not None  # noqa: S101 - _little_spinning() and _hidden() have turned everything else away
    assert judged.source is not None  # noqa: S101 - the same
    operations = judged.operations or 0.0
    mean = facts.latest(ProcessorModes, statistic="mean")
    usual = mean.mp_synch_percent if mean and known(mean.mp_synch_percent) else synch
    heat = judged.heat(facts)
    part = judged.part(facts)
    own = synch * part
    short = too_short(facts, judged.source, limits.least_samples, limits.least_sampled_minutes) if not hours else None
    debug = debug_modes(facts)
    if debug:
        steps = _Steps((), f"{debug.do} Until then nothing is set.")
    elif short:
        steps = _Steps((), _too_short(short))
    elif differ:
        steps = _Steps((), f"{differ.do} Until then nothing is set.", unknown=differ.seen)
    else:
        steps = _steps(facts, layout, limits, judged, own)
    price, idle = cost_of(layout)
    costs = within(price).removesuffix(".")
    tried = with_and_without(facts, "dlm")
    inferred = None if tried else by_kernel_time(facts)
    if tried:
        costs = f"{costs.partition(';')[0]}; in a test on this node it gave {tried.brief}"
    elif inferred:
        costs = (
            f"{costs.partition(';')[0]}; inferred from a test on this node, one CPU may serve about "
            f"{two_digits(inferred.ceiling):,.0f} operations per second"
        )
    share = synch / cpus
    average = f"on average it takes {usual / cpus:.0f} %" if usual != synch else ""
    cost, peak = peak_cost(facts)
    moment = short_trace(facts)
    if hours:
        average, costs = hours.apart.removesuffix("."), f"{costs}; {FOR_HOURS}"
    severity = Severity.CRITICAL if own / cpus >= limits.critical_share and not hours else Severity.WARNING
    if debug or differ or own <= limits.mp_synch_percent or moment:
        severity = Severity.ADVICE
    title = f"{judged.when} {synch / 100:.1f} of {cpus:.0f} CPUs spin: MP synch {synch:.0f} % of one CPU"
    divided: tuple[Evidence, ...] = ()
    part_of = ""
    if heat and part < ALL:
        title = f"{judged.when} {own / 100:.1f} of {cpus:.0f} CPUs spin for {LCKMGR}, of {synch:.0f} % of MP synch"
        part_of = f"by the trace {own:.0f} % of one CPU, {100 * part:.0f} % of MP synch, are {LCKMGR}'s"
        divided = (
            Evidence(
                f"{LCKMGR}'s part of MP synch by the trace",
                round(own, 1),
                "% of one CPU",
                heat.trace.source,
                limits.mp_synch_percent,
                computed="from the shares of the trace and MP synch",
            ),
        )
    if (waits := pending_value(facts, "LCKMGR_MODE")) and waits == mode_meant(layout, limits.least_cpus):
        title = f"{title}; LCKMGR_MODE {waits:.0f} of CURRENT is not active"
    lost = Cost(part * usual / 100, part * min(usual, synch) / 100, part * max(usual, synch) / 100)
    taken = 1 if steps.stopped is None else 2
    pending = pending_clauses(facts, "LCKMGR_MODE", "LCKMGR_CPUID")
    counted = most_often(facts)
    rated = f"{within(judged.rated)} there are {in_prose(operations)} lock operations per second"
    spun, rate = judged.evidence
    return Finding(
        subject=layout.subject,
        severity=Severity.NOTE if short else severity,
        title=title,
        seen=joined(
            f"{judged.when} MP synch takes {share:.0f} % of the machine while the lock manager has no CPU of its own.",
            sentence(average, cost, rated),
        ),
        because=joined(
            debug.because if debug else sentence(part_of, steps.because, _mode_now(layout), costs),
            steps.place,
        ),
        do=steps.do,
        unknown=joined(
            sentence(judged.away(facts), moment or (counted.said if counted else ""), steps.unknown, pending),
            "" if pending and steps.unknown else JUDGE,
        ),
        evidence=(
            replace(spun, limit=limits.mp_synch_percent),
            *peak,
            *divided,
            *(debug.evidence if debug else ()),
            *(differ.evidence if differ else (Evidence("CPUs", cpus, "", layout.active_read[1], limits.least_cpus),)),
            replace(rate, limit=limits.lock_operations),
            *idle,
            *(tried.proof if tried else ()),
            *(
                (
                    Evidence(
                        "kernel time of a lone operation, test",
                        round(inferred.kernel_usec, 2),
                        "µs",
                        inferred.alone.source,
                    ),
                )
                if inferred
                else ()
            ),
        ),
        cost=Cost(own / 100, own / 100, own / 100, of_capture=False) if hours else lost,
        explains=("openvms/concurrency_past_peak", "openvms/cothreads_hurt"),
        changes=steps.changes,
        expects=()
        if short or differ or debug
        else (
            Expectation("CPUs left for all other work", cpus, cpus - taken, "arithmetic"),
            gain_of(tried, inferred, operations),
        ),
    )


def _too_short(short: str) -> str:
    return (
        f"But these are {short} (this project's minimum; none is published), so no CPU is taken for it: collect a T4 "
        "composite CSV of an hour of this load, and a spinlock trace within it."
    )


def _mode_now(layout: Layout) -> str:
    """That LCKMGR_MODE is set and does nothing, as more CPUs have to be active than are, as a clause."""
    mode = layout.setting("LCKMGR_MODE")
    if not mode or layout.active is None or mode <= layout.active:
        return ""
    off = f"LCKMGR_MODE is {mode:.0f} and {layout.active:.0f} CPUs are active, so it is configured and off"
    if not layout.enough_stopped(mode):
        return off
    return f"{off}, and starting CPU {', '.join(map(str, layout.startable))} turns it on before any parameter is set"


def _steps(facts: Facts, layout: Layout, limits: Limits, judged: Spins, own: float) -> _Steps:
    """LCKMGR_CPUID first, so that it starts where it is to stay, then LCKMGR_MODE, then its co-thread stopped.

    A template while no CPU is chosen, the machine is not known, a resource hash table has to grow first, or `own`, what
    spins for LCKMGR in per cent of one CPU, is not more than the vendor asks for.
    """
    traced, doubted = judged.heat(facts) is not None, judged.doubted(facts)
    cautions = ON[:1] + ON[2:] if traced else ON
    placed = placement_of(layout)
    read = layout.cores_read and layout.fastpath_read
    home = placed.chosen if read else None
    cpu = f"CPU {home}" if home is not None else "a CPU"
    blamed = (
        f"The trace blames LCKMGR: dedicate {cpu}" if traced else f"If a spinlock trace blames LCKMGR, dedicate {cpu}"
    )
    if doubted:
        blamed = f"Only where it is LCKMGR, dedicate {cpu}"
    mode, on_with = layout.setting("LCKMGR_MODE"), mode_meant(layout, limits.least_cpus)
    change = f"LCKMGR_MODE {on_with}" if mode is None else f"LCKMGR_MODE {mode:.0f} → {on_with}"
    if home is not None and layout.setting("LCKMGR_CPUID") != home:
        change = f"LCKMGR_CPUID {home}, then {change}"
    written = (
        "CURRENT has that value, WRITE ACTIVE is missing" if pending_value(facts, "LCKMGR_MODE") == on_with else ""
    )
    turns_on = (
        f"{blamed} with {change} (at once; it runs while at least {on_with} CPUs are active"
        f"{f'; {written}' if written else ''})."
    )
    chain = chain_of(facts)
    if isinstance(chain, Chain) and chain.explains_spinning:
        on = _template(layout, limits, "only after the larger RESHASHTBL and a new measurement", cautions)
        table = parameter_key(TABLE, layout.node)
        why = (
            f"with {chain.length:.1f} resources per bucket every new lock request holds the spinlock while it "
            f"searches a chain, so {TABLE} and its reboot come before a dedicated CPU"
        )
        then = (
            f"Only if a new measurement with the larger {TABLE} still shows CPUs that spin for LCKMGR: LCKMGR_MODE "
            f"{on_with}{'' if home is None else f', on {cpu}'}."
        )
        return _Steps((replace(on, yields_to=(*on.yields_to, table)),), then, why, unknown=doubted)
    if own <= limits.mp_synch_percent:
        asked = f"more than {limits.mp_synch_percent:g} % of one CPU"
        on = _template(layout, limits, f"only after a measurement with {asked} for {LCKMGR} alone", cautions)
        return _Steps(
            (on,),
            "Nothing is set: reduce the other spinlocks of the trace first (openvms/spinlock_hot), then measure again.",
            f"that is less than the vendor asks for before a CPU is dedicated, {asked} with the lock manager as the "
            "cause",
        )
    if mode and layout.start(mode):
        out = ",".join(map(str, layout.startable))
        do = (
            f"START/CPU {out} turns it on without a parameter (openvms/lock_manager_configured_off). "
            f"Only where CPU {out} is to stay stopped: {change}, at once."
        )
        return _Steps((), do, place=sentence(left_alone(layout)), unknown=doubted)
    if home is None or machine_of(facts).dedicated_documented is None:
        first = placed.first_to_move if read else None
        when = "a free CPU was found and LCKMGR_CPUID names it"
        if first is not None:
            moved = " and ".join(map(comment, first.movable))
            when = f"{moved} {'are' if len(first.movable) > 1 else 'is'} off CPU {first.cpu} and LCKMGR_CPUID names it"
        likely = None if read else likely_seat(layout)
        if likely is not None:
            when = f"SHOW CPU/FULL shows that CPU {likely}, free in SHOW FASTPATH, shares its core with no CPU in use"
            when += f", with LCKMGR_CPUID {likely}"
        named = layout.setting("LCKMGR_CPUID")
        if named and layout.runs(int(named)) is not False and not layout.fastpath_read:
            likely, when = None, f"SHOW FASTPATH shows nothing on CPU {named:.0f}, which LCKMGR_CPUID names"
        when = f"only when {when}" if traced else f"only when {_traced_first(doubted)}, and {when}"
        if home is not None:
            likely, when = None, "only on Alpha or Integrity: what machine this is was not in the export"
        if layout.enough_stopped(mode or 0):
            when = f"only where CPU {', '.join(map(str, layout.startable))} is to stay stopped: {when}"
        on = _template(layout, limits, when, cautions, likely)
        alone = left_alone(layout)
        if not read:
            return _Steps((on,), joined(turns_on, unread_seats(layout)), place=sentence(alone), unknown=doubted)
        return _Steps((on,), turns_on, place=placed.answer, unknown=doubted or ("" if home is not None else alone))
    if layout.enough_stopped(mode or 0):
        cautions = (f"Only where CPU {', '.join(map(str, layout.startable))} is to stay stopped.", *cautions)
    if not traced:
        when = f"only when {_traced_first(doubted)}"
        seat: tuple[Change, ...] = ()
        now = layout.setting("LCKMGR_CPUID")
        if now != home:
            pending = pending_value(facts, "LCKMGR_CPUID")
            by_hand = look_at(layout, home)
            seat = (
                advise_parameter(
                    "LCKMGR_CPUID", now, home, when=when, cautions=by_hand, node=layout.node, pending=pending
                ),
            )
        until = "Until its lines were held against the display by hand nothing is set." if doubted else UNTRACED
        on = _template(layout, limits, when, cautions)
        changes = (*seat, replace(on, needs=(*on.needs, *(one.key for one in seat))))
        return _Steps(changes, f"{turns_on} {until}", place=placed.answer, unknown=doubted)
    now_set: list[Change] = []
    if layout.setting("LCKMGR_CPUID") != home:
        now_set.append(layout.set("LCKMGR_CPUID", home, *look_at(layout, home)))
    if mode != on_with:
        turned_on = layout.set("LCKMGR_MODE", on_with, *cautions)
        now_set.append(replace(turned_on, needs=tuple(one.key for one in now_set)))
    if layout.enough_stopped(mode or 0):
        out = ", ".join(map(str, layout.startable))
        are = "are" if len(layout.startable) > 1 else "is"
        stays = f"only where CPU {out} {are} to stay stopped or given back (iCAP): START/CPU {out} alone turns it on"
        now_set = [replace(one, condition=stays) for one in now_set]
    stop, second = stop_beside(layout, placed, tuple(one.key for one in now_set), least=on_with)
    stopped = next((seat.sibling for seat in placed.seats if seat.cpu == home), None) if stop else None
    waits = pending_of(facts, "LCKMGR_CPUID")
    if layout.setting("LCKMGR_CPUID") == home and waits and waits[0] != home:
        check = "The next boot would give the lock manager another CPU."
        stop = (*stop, keep_parameter("LCKMGR_CPUID", waits[0], home, cautions=(check,), node=layout.node))
    return _Steps((*now_set, *stop), joined(turns_on, second), place=placed.answer, stopped=stopped)


def _traced_first(doubted: str) -> str:
    """What comes before a dedicated CPU where no trace that is believed blames LCKMGR, as a clause.

    `doubted`: that one came along which blames it, and is read tentatively.
    """
    if doubted:
        return "the lines of the trace, which is read tentatively, were held against its display and blame LCKMGR"
    return "a spinlock trace, the first step, blames LCKMGR"


def _template(layout: Layout, limits: Limits, when: str, cautions: tuple[str, ...], seat: int | None = None) -> Change:
    now, new = layout.setting("LCKMGR_MODE"), mode_meant(layout, limits.least_cpus)
    now = None if now == new else now
    pending, on = pending_value(layout.facts, "LCKMGR_MODE"), layout.node
    return advise_parameter("LCKMGR_MODE", now, new, when=when, cautions=cautions, node=on, pending=pending, seat=seat)
