"""The resource hash table has fewer buckets than there are resources.

Finds: RESHASHTBL as it runs (ACTIVE) against the number of resources. Names fall into buckets at random, so resources ÷
buckets is the mean chain length; over 1 the table is undersized. The system rounds RESHASHTBL up to a power of two. How
loud it speaks follows what is lost: lock operations per second × names compared beyond the one that is found. A value
of CURRENT that differs is pending and changes nothing before the next boot; one that is too small is reported, too,
also where what runs was not collected.

Why it matters: every name in a chain is compared in turn while the lock database is held, which costs processor time
that no display attributes to it. A table that is far too small takes a large part of the lock throughput (JCC
Consulting's slides on the OpenVMS lock manager, 2014, a chart without figures).

What to do: write MIN_RESHASHTBL into MODPARAMS.DAT with the next power of two above the resources, run AUTOGEN, reboot.
Room for growth does not take it beyond 65,536 buckets, where those are one for each resource already.
A table that is too large costs memory alone: eight bytes a bucket, as recalled and not confirmed by a source. Never
above 16,777,216. The description of 1993 (VAXcluster Principles) has a hash of 16 bits, so whether more than 65,536
buckets help is unproven: nothing is promised of them, and where there are so many already a longer table is asked for
only when chains are far too long. Measure before and after.

A series of runs over RESHASHTBL on this very node decides the size where it has one bucket a resource or more: the
smallest value that did as much as the best, and nothing above it.

Where the cost is a note, the new size is for a reboot that happens anyway; where there are 65,536 buckets already no
reboot is scripted for more. Where the cost is large, the table comes before a dedicated lock manager: first the reboot
and a new measurement.

When to ignore it: on a node that does next to no locking, or where the peak of resources comes from one rare job. JCC
Consulting (slides on the OpenVMS lock manager, 2014) found no gain from a table larger than needed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.openvms import (
    LockRates,
    MemoryUse,
    ModparamsLine,
    Node,
    ProcessorModes,
    SpinlockTrace,
    SpinlockTraceRun,
    SysgenParameter,
)
from rules.changes.openvms_sysgen import advise_parameter, keep_parameter, set_parameter
from rules.engine import limit, rule
from rules.finding import Change, Clean, Evidence, Expectation, Finding, Outcome, Severity, joined
from rules.laws.hashing import BUCKET_BYTES, PROVEN, compared_in_vain, mean_chain, next_power_of_two, share_colliding
from rules.laws.rounding import plain
from rules.openvms._evidence.autogen import autogen_evidence, hard_coded
from rules.openvms._evidence.chains import (
    CHAIN_FACTS,
    COMPARISON_USEC,
    ENOUGH_CHAIN,
    FAR_CHAIN,
    GROWTH,
    LITTLE_COMPARED,
    MUCH_COMPARED,
    NAME,
    RANGE,
    Chain,
    as_wanted,
    chain_of,
    wanted_buckets,
)
from rules.openvms._evidence.memory import free_memory
from rules.openvms._evidence.node import (
    USE,
    busiest_operations,
    in_prose,
    level_of,
    node_name,
    parameter_of,
    pending_alone,
    pending_clause,
    pending_of,
    pending_said,
    pending_text,
    sentence,
    subject_of,
)
from rules.openvms._evidence.own_runs import own_value
from rules.openvms._evidence.spinlocks import LCKMGR, Heat, waited_for
from rules.openvms._evidence.spinning import other_time
from rules.sources import JCC

LINKS = ("https://wiki.vmssoftware.com/LOCKIDTBL",)
EXPLAINS = (
    "openvms/spinlock_hot:LCKMGR",
    "openvms/lock_manager_needs_own_cpu",
    "openvms/concurrency_past_peak",
    "openvms/spinning_unexplained",
)
CHAIN = "mean chain at the peak"
AFTER_BOOT = "mean chain after the next boot"
FIXED = "once the line of MODPARAMS.DAT that hard-codes {} is out: it is the cause"
WHEN = "with the next reboot that happens anyway"
BEYOND = f"with a reboot that is agreed on: more than {PROVEN:,} buckets are unproven, measure before and after"
SHOWN = "with a reboot that is agreed on: {}, measure production before and after"
MEMORY_FIRST = "only once memory was found for it: SHOW MEMORY had less free than the table takes"
BITS = f"Whether more than {PROVEN:,} buckets help is unproven: the published description of the hash has 16 bits."
UNPROVEN = f"{BITS} Measure lock operations per second and kernel time under the same load before and after."
ALONG = "Every lookup compares names along the chain, in kernel mode, where no display shows it apart."


@dataclass(frozen=True)
class Limits:
    """When the table is too small, and how large a one is asked for."""

    mean_chain: float = limit(
        ENOUGH_CHAIN, "practice, as recalled: one bucket per resource", low=0.1, high=100, unit="resources per bucket"
    )
    far_chain: float = limit(
        FAR_CHAIN, f"this project: from here on 'significantly undersized' (no figure in {JCC})", low=1
    )
    growth: float = limit(GROWTH, "this project: room for a fifth more resources than the peak", low=1, high=4)
    operations_per_second: float = limit(
        100.0, "this project: below this, long chains cost next to nothing", unit="lock operations/s"
    )
    little_compared: float = limit(
        LITTLE_COMPARED,
        f"this project: below it a note; at {COMPARISON_USEC} µs each (no figure is published) 1 % of one CPU",
        unit="comparisons/s",
    )
    much_compared: float = limit(
        MUCH_COMPARED,
        f"this project: a warning from here on, where chains are far too long; at {COMPARISON_USEC} µs 10 % of one CPU",
        unit="comparisons/s",
    )


@rule(
    needs=(), uses=(*CHAIN_FACTS, MemoryUse, SpinlockTrace, SpinlockTraceRun), links=LINKS, limits=Limits, together=True
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the buckets against the resources."""
    found = chain_of(facts)
    if not isinstance(found, Chain):
        yield from _next_boot_alone(facts, limits)
        yield from _by_own_test(facts)
        yield from found
        return
    waits = pending_of(facts, NAME)
    figures = (
        f"{found.peak:,.0f} resources at most in {found.buckets:,} buckets ({NAME} {found.value:.0f}): mean chain "
        f"{found.length:.2f}"
    )
    rate, waiting = found.operations, pending_clause(facts, NAME)
    new = wanted_buckets(found.peak, limits.growth)
    short = found.length <= limits.mean_chain
    if rate is not None and rate < limits.operations_per_second and not short:
        few = f"but only {rate:,.0f} lock operations/s (limit {limits.operations_per_second:,.0f})"
        yield Clean(f"{figures}, {few}{waiting}")
    elif not short and new > found.buckets and (found.buckets < PROVEN or found.usual >= limits.far_chain):
        yield _finding(facts, found, figures, limits, new, waits)
    elif waits and _shrinks(found, limits, waits[0]):
        yield _too_small_next(facts, found, figures, limits, waits)
    elif short:
        yield Clean(f"{figures}, limit {limits.mean_chain:g}{waiting}")
    elif new <= found.buckets:
        large = f"the table is as large as it may be, {found.buckets:,} buckets: only fewer locks help"
        yield Clean(f"{figures}; {large}{waiting}")
    else:
        yield _large_already(facts, figures, found, limits)


def _shrinks(found: Chain, limits: Limits, pending: float) -> bool:
    """Whether the next boot makes a table that is smaller than the one that runs, and too small."""
    then = next_power_of_two(pending)
    return then < found.buckets and mean_chain(found.peak, then) > limits.mean_chain


def _severity(found: Chain, limits: Limits) -> Severity:
    """By what is compared per second; without a lock rate by the length alone."""
    compared, lasting = found.paid(found.compared), found.paid(found.compared_lasting)
    if compared is not None and compared < limits.little_compared:
        return Severity.NOTE
    much = lasting is None or lasting >= limits.much_compared
    far = found.usual >= limits.far_chain and found.buckets < PROVEN
    return Severity.WARNING if much and far else Severity.ADVICE


def _finding(
    facts: Facts,
    found: Chain,
    figures: str,
    limits: Limits,
    new: int,
    waits: tuple[float, SysgenParameter] | None,
) -> Finding:
    severity = _severity(found, limits)
    settled = waits is not None and mean_chain(found.peak, next_power_of_two(waits[0])) <= limits.mean_chain
    if settled and waits:
        new = next_power_of_two(waits[0])
    own = own_value(facts, NAME, found.value)
    fits = own and found.peak <= next_power_of_two(own.enough.value) <= new  # else it was measured with fewer resources
    measured = own if fits and not settled else None
    if measured:
        new = next_power_of_two(measured.enough.value)
    unproven = new > PROVEN and not measured
    sure = max(found.buckets, min(new, PROVEN)) if unproven else new
    after, full = mean_chain(found.peak, sure), mean_chain(found.peak, new)
    memory = (new - found.buckets) * BUCKET_BYTES / 2**20
    free = free_memory(facts)
    lacking = free is not None and free.mb < memory and not settled
    shared, shared_after = (100 * share_colliding(found.peak, size) for size in (found.buckets, sure))
    certain = (
        Expectation(
            f"{CHAIN}, if {sure:,} buckets are used" if unproven else CHAIN,
            round(found.length, 2),
            round(after, 2),
            "arithmetic",
        ),
        Expectation("names that share a bucket (%)", round(shared), round(shared_after), "arithmetic"),
    )
    full_chain = (round(found.length, 2), round(full, 2), "heuristic")
    if not unproven:
        to = f"{after:.2f} if names spread evenly"
    else:
        sure_to = f"{after:.2f} if {sure:,} buckets are used, to " if sure > found.buckets else ""
        to = f"{sure_to}{full:.2f} only if all {new:,} are used and names spread evenly"
    boot = "with a reboot" if severity is not Severity.NOTE else WHEN
    sized = measured.said if measured else as_wanted(found.peak, limits.growth)
    change = (
        f"{NAME} {found.value:.0f} → {new} ({sized}), "
        f"{boot if found.buckets < PROVEN else 'with a reboot that is agreed on'},"
    )
    enough = "what is pending is not enough for these resources: set this value before that boot" if waits else ""
    if settled:
        change = f"The pending {NAME} {new}"
        enough = f"that is enough: only the reboot is missing{_kept(facts, new)}; then measure"
    do = (
        f"{change} shortens the chain to {to}; about {memory:.2f} MB more (estimate: {BUCKET_BYTES} bytes a bucket, as "
        "recalled)"
    )
    if free and memory >= 1.0:
        do += f", {f'but there are {free.said}: find memory first' if lacking else f'of {free.said}'}"
    told = hard_coded(facts, NAME)
    fixed = "first take out the line of MODPARAMS.DAT that hard-codes it" if told else ""
    spins = severity is Severity.WARNING and not any(one.active_cpus == 1 for one in facts.every(Node))
    heat = _trace(facts)
    spun = f"It may contribute to MP synchronization: {_spinning(heat.name if heat else None)}"
    enlarged = "Gains beyond one bucket per resource were not found, so no more is asked for; it costs only memory."
    if measured:
        enlarged = f"What lies between {NAME} {measured.low.value:,.0f} and {new:,} in production its own load tells."
    elif unproven:
        enlarged = BITS if spins else UNPROVEN
    return Finding(
        subject=subject_of(facts),
        severity=severity,
        title=f"{found.length:.1f} resources per bucket of the resource hash table ({found.buckets:,} buckets)"
        + (f", {new:,} pending" if settled else ""),
        seen=joined(
            f"{figures}, and {shared:.0f} % of the names share their bucket with another.",
            pending_text(NAME, waits[0]) if waits else "",
        ),
        because=joined(ALONG, _cost_text(found, severity)),
        do=joined(sentence(fixed), sentence(do, enough) if fixed else joined(sentence(do), sentence(enough))),
        unknown=joined(enlarged, spun if spins else ""),  # one CPU waits for no other
        evidence=(
            *_evidence(found, limits, shared),
            *_kernel(facts),
            *_waiting(waits),
            *autogen_evidence(facts, NAME),
            *(measured.proof if measured else ()),
            *((free.evidence,) if free and memory >= 1.0 else ()),
        ),
        explains=EXPLAINS if spins and (heat is None or heat.name == LCKMGR) else (),
        changes=()
        if settled
        else (
            _change(
                facts,
                found,
                new,
                severity,
                memory,
                told,
                waits,
                unproven=unproven,
                lacking=lacking,
                shown=f"{measured.where} it gained over {measured.low.value:,.0f}" if measured else "",
            ),
        ),
        expects=(
            *(measured.expects if measured else ()),
            *(() if sure == found.buckets else certain),
            *((Expectation(f"mean chain, if all {new:,} buckets are used", *full_chain),) if unproven else ()),
        ),
    )


def _cost_text(found: Chain, severity: Severity) -> str:
    """What is compared, and what that comes to, as a sentence."""
    if found.compared is None or found.operations is None:
        return ""
    share = found.compared * COMPARISON_USEC / 1e4
    little = ", which nothing measures: no reboot is worth it by itself" if severity is Severity.NOTE else ""
    comes_to = f"about {plain(share, 2)} % of one CPU at {COMPARISON_USEC} µs each (this project's estimate)"
    if found.system is not None and share > found.system:
        comes_to = (
            f"at {COMPARISON_USEC} µs each (this project's estimate) more than the {plain(found.system, 3)} % of one "
            "CPU that interrupt, kernel mode and MP synch take together, so each takes less"
        )
    elif share > 100:  # under one spinlock there is no more than one CPU
        comes_to = (
            f"at {COMPARISON_USEC} µs each (this project's estimate) more than one CPU, which is the most it can cost, "
            "as one at a time searches"
        )
    return (
        f"At {in_prose(found.operations)} lock operations/s, the highest rate read, that is at most "
        f"{in_prose(found.compared)} comparisons/s beyond those that find the name: {comes_to}{little}."
    )


def _trace(facts: Facts) -> Heat | None:
    """What a trace blames that may be of the time of the capture."""
    modes = facts.latest(ProcessorModes, statistic="mean")
    synch = modes.mp_synch_percent if modes else None
    return None if known(synch) and other_time(facts, synch) else waited_for(facts)


def _spinning(name: str | None) -> str:
    if name is None:
        return "a spinlock trace decides."
    held = ", which is held while a chain is searched." if name == LCKMGR else ", not for the lock manager."
    return f"in the spinlock trace CPUs wait for {name} most{held}"


def _evidence(found: Chain, limits: Limits, shared: float) -> Iterator[Evidence]:
    yield Evidence(NAME, found.value, "entries", found.setting.source)
    yield Evidence("resources at the peak", found.peak, "resources", found.source)
    yield Evidence(CHAIN, round(found.length, 3), "resources per bucket", found.source, limits.mean_chain)
    yield Evidence("names that share a bucket", round(shared, 1), "%", found.source)
    if found.operations is not None and found.operations_source is not None:
        yield Evidence("lock operations, highest", round(found.operations, 1), "/s", found.operations_source)


def _kernel(facts: Facts) -> Iterator[Evidence]:
    """Kernel mode, in which the chains are searched with much else."""
    modes = facts.latest(ProcessorModes, statistic="mean")
    if modes and known(modes.kernel_percent):
        yield Evidence("kernel mode (mean)", modes.kernel_percent, "% of one CPU", modes.source)


def _waiting(waits: tuple[float, SysgenParameter] | None) -> Iterator[Evidence]:
    if waits:
        yield Evidence(f"{NAME} in CURRENT (pending)", waits[0], "entries", waits[1].source)


def _change(
    facts: Facts,
    found: Chain,
    new: int,
    severity: Severity,
    memory: float,
    told: str,
    waits: tuple[float, SysgenParameter] | None,
    *,
    unproven: bool,
    lacking: bool,
    shown: str,
) -> Change:
    """`shown`: what a test of the new size gained, in words; empty where none was made."""
    cautions = (USE, *((UNPROVEN,) if unproven else ()), *((told,) if told else ()))
    node = node_name(facts)
    own_reboot = severity is not Severity.NOTE and found.buckets < PROVEN
    if not own_reboot and waits:  # a boot that someone has prepared: for that one, and none of its own
        return keep_parameter(NAME, waits[0], new, cautions=cautions, memory_mb=memory, node=node)
    if not own_reboot or lacking:
        beyond = SHOWN.format(shown) if shown else BEYOND
        when = MEMORY_FIRST if lacking else WHEN if found.buckets < PROVEN else beyond
        return advise_parameter(NAME, found.value, new, when=when, cautions=cautions, memory_mb=memory, node=node)
    change = set_parameter(
        NAME,
        found.value,
        new,
        dynamic=False,
        minimum=True,
        cautions=cautions,
        memory_mb=memory,
        node=node,
        pending=waits[0] if waits else None,
    )
    return replace(change, condition=FIXED.format(NAME)) if told else change


def _too_small_next(
    facts: Facts, found: Chain, figures: str, limits: Limits, waits: tuple[float, SysgenParameter]
) -> Finding:
    """The next boot makes a table that is too small: CURRENT is put back to what runs, which needs no reboot."""
    value, after = waits[0], mean_chain(found.peak, next_power_of_two(waits[0]))
    compared = None if found.operations is None else compared_in_vain(found.operations, after, 1)
    little = compared is not None and compared < limits.little_compared
    meant = f"Only if nobody lowered it on purpose, as in taking back a larger {NAME} that gained nothing."
    runs = "is in order" if found.length <= limits.mean_chain else "is as it runs now"
    return Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE if little else Severity.ADVICE,
        title=f"{NAME} {value:,.0f} is pending: the next boot makes chains of {after:.1f} resources per bucket",
        seen=f"{figures}, which {runs}. {pending_text(NAME, value)}",
        because=f"With it the mean chain is {after:.2f}, limit {limits.mean_chain:g}. {ALONG}",
        do=(
            f"Before the next boot put the value that runs now into CURRENT and into MODPARAMS.DAT (MIN_{NAME} = "
            f"{found.buckets}), or find out who lowered it. No reboot is needed for that."
        ),
        evidence=(
            Evidence(NAME, found.value, "entries", found.setting.source),
            *_waiting(waits),
            Evidence("resources at the peak", found.peak, "resources", found.source),
        ),
        changes=(keep_parameter(NAME, value, found.buckets, cautions=(meant,), node=node_name(facts)),),
        expects=(Expectation(AFTER_BOOT, round(after, 2), round(found.length, 2), "arithmetic"),),
    )


def _next_boot_alone(facts: Facts, limits: Limits) -> Iterator[Finding]:
    """The value of the next boot is too small, and what runs now is not in the export: nothing to run."""
    waits, level = pending_alone(facts, NAME), level_of(facts, "resources")
    if waits is None or not isinstance(level, tuple) or not RANGE.low <= waits[0] <= RANGE.high:
        return
    (value, fact), (peak, _, source) = waits, level
    buckets, rate = next_power_of_two(value), busiest_operations(facts.every(LockRates))
    after = mean_chain(peak, buckets)
    new = wanted_buckets(peak, limits.growth)
    idle = rate is not None and rate < limits.operations_per_second
    enough = after <= limits.mean_chain or (buckets >= PROVEN and after < limits.far_chain)
    if enough or idle or new <= buckets:
        return
    little = rate is not None and compared_in_vain(rate, after, 1) < limits.little_compared
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE if little else Severity.ADVICE,
        title=f"The next boot makes chains of {after:.1f} resources per bucket: {NAME} {value:,.0f} in CURRENT",
        seen=(
            f"{NAME} is {value:,.0f} in CURRENT (of the next boot), which makes {buckets:,} buckets for the "
            f"{peak:,.0f} resources that were there at most: mean chain {after:.2f}, limit {limits.mean_chain:g}."
        ),
        because=ALONG,
        do=(
            f"First look at what runs (MCR SYSGEN, USE ACTIVE, SHOW {NAME}). If it is larger, put that value into "
            "CURRENT before the next boot, or find out who lowered it; if it is the same, set "
            f"{NAME} {new} ({as_wanted(peak, limits.growth)}) for that boot; neither needs a reboot."
        ),
        unknown="What runs now is not in the export.",
        evidence=(
            *_waiting(waits),
            Evidence("resources at the peak", peak, "resources", source),
            Evidence(AFTER_BOOT, round(after, 3), "resources per bucket", fact.source, limits.mean_chain),
        ),
    )


def _kept(facts: Facts, value: float) -> str:
    """What keeps a pending value, as a clause; empty where a line of MODPARAMS.DAT has as much."""
    lines = [one.value for one in facts.every(ModparamsLine) if one.name == NAME and one.prefix in ("", "MIN_")]
    kept = any(known(line) and line >= value for line in lines)
    return "" if kept else f" (keep MIN_{NAME} = {value:.0f} in MODPARAMS.DAT, or AUTOGEN may take it back)"


def _by_own_test(facts: Facts) -> Iterator[Finding]:
    """A series of this node shows what the value that runs costs; how many resources production has is not known."""
    setting = parameter_of(facts, NAME, RANGE.low, RANGE.high)
    if not isinstance(setting, tuple) or isinstance(level_of(facts, "resources"), tuple):
        return
    value, fact = setting
    own = own_value(facts, NAME, value)
    if own is None or own.low.value != value:  # what a value costs that was not tried is not measured
        return
    new, waits, told = next_power_of_two(own.enough.value), pending_of(facts, NAME), hard_coded(facts, NAME)
    settled = waits is not None and next_power_of_two(waits[0]) >= new
    memory = (new - next_power_of_two(value)) * BUCKET_BYTES / 2**20
    less = 100 * (1 - own.low.rate / own.enough.rate)
    do = (
        f"{NAME} {value:.0f} → {new}, {WHEN}: MIN_{NAME} = {new} in MODPARAMS.DAT, then AUTOGEN, for it is not "
        f"dynamic; about {memory:.2f} MB more (estimate: {BUCKET_BYTES} bytes a bucket, as recalled)."
    )
    if settled and waits:
        do = f"The pending {NAME} {waits[0]:.0f} is enough: nothing is to be set, only the reboot is missing."
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE,
        title=f"{NAME} {value:,.0f} runs, which does {less:.0f} % less than {new:,} {own.where}",
        seen=joined(f"{sentence(own.said)}", pending_text(NAME, waits[0]) if waits else ""),
        because=f"In too small a table each search walks a chain. {ALONG}",
        do=joined(do, f"First take out the line of MODPARAMS.DAT that hard-codes {NAME}." if told else ""),
        unknown=(
            "Production gains it only with as many resources as the test had: MONITOR LOCK or a T4 of a busy day shows "
            "how many it has."
        ),
        evidence=(
            Evidence(NAME, value, "entries", fact.source),
            *_waiting(waits),
            *own.proof,
            *autogen_evidence(facts, NAME),
        ),
        explains=(f"scaling/parameter_gain_flattens:{own.series.title}",),
        changes=()
        if settled
        else (
            advise_parameter(
                NAME,
                value,
                new,
                when=WHEN,
                cautions=(USE, *((told,) if told else ())),
                memory_mb=memory,
                node=node_name(facts),
            ),
        ),
        expects=own.expects,
    )


def _large_already(facts: Facts, figures: str, found: Chain, limits: Limits) -> Finding:
    return Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE,
        title=f"{found.length:.1f} resources per bucket at the peak, with {PROVEN:,} buckets or more already",
        seen=f"{figures}.{pending_said(facts, NAME)}",
        do="No larger table is asked for at this length.",
        unknown=BITS,
        evidence=(
            Evidence(NAME, found.value, "entries", found.setting.source),
            Evidence(CHAIN, round(found.length, 3), "resources per bucket", found.source, limits.mean_chain),
        ),
    )
