"""What an OpenVMS node's exports say of where its processors went: MP synchronization, idle, and the rest.

In MP synchronization a CPU spins for a spinlock and does no work, so all of it is lost. A spinlock trace of the same
time divides it. The CPU that is dedicated to the lock manager polls while it has nothing to do and counts as kernel
mode then; what of it is work only `[LCK73]Busy %` of T4 tells. Time in interrupt state and alignment faults are work
that is done: they are said, not booked as lost. What one alignment fault takes is in no source (looked for:
knowledge/openvms-rules.md), so their rate is said and nothing is made of it.

Runs of a test (a load series with the modes of MONITOR) have an account each: MP synchronization of the runs beyond
the peak goes to the load itself, as `openvms/concurrency_past_peak` says; up to the peak no cause of it is shown.
"""

from collections.abc import Iterator
from dataclasses import replace

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import AlignmentFaults, DedicatedLockManager, ProcessorModes, T4File
from collectors.facts.openvms.spinlocks import TRACE
from collectors.facts.scaling import LoadPoint, LoadSeries
from rules.account import BUSIEST, MEAN, PROCESSORS, Amount, Measured, Open, Pool
from rules.conflict import APART, APART_LOST, Told, conflict_of
from rules.laws.modes import modes_of
from rules.openvms._evidence.boots import booted_within
from rules.openvms._evidence.cpu_layout import Layout
from rules.openvms._evidence.dedicated import SATURATED_PERCENT
from rules.openvms._evidence.peaks import Stretch, busiest
from rules.openvms._evidence.spinning import explained
from rules.sample import samples_of

PARTS = ("openvms/spinlock_hot",)
MOST = 1.02
"""MP synch of more than all CPUs, beyond rounding, is refused by the rules and not booked."""
SYNCH = "MP synchronization (spinlock wait)"
ROUNDED = 0.02
"""This project: modes printed as whole per cent of 1, 2, 4 … CPUs add up to all of them within so much."""
WAITING = "kernel mode, with callers that wait for the lock manager's full CPU in it"
MOST_RUNS = 12
"""Runs of one series with an account: those at the highest loads, where most is lost."""


def measured(facts: Facts) -> tuple[Measured, ...]:
    """The account of the mean, of the busiest stretch where the day's curve shows one, and of each run of a test."""
    own = tuple(one for one in (_mean(facts), _busiest(facts)) if one)
    return (*own, *_runs(facts))


def _mean(facts: Facts) -> Measured | None:
    """By the mean that was read last, as in the rules, with what another export of the same time says."""
    means = [one for one in facts.every(ProcessorModes) if one.statistic == "mean"]
    made = _of_mean(facts, means[-1]) if means else None
    if made is None or len(means) < 2 or not made.capacity:
        return made
    for what, apart in (("the CPUs in MP synchronization", APART_LOST), ("the CPUs busy", APART)):
        told = [one for mean in means if (one := _told(facts, mean, made.capacity, what))]
        used = next((one for one in told if one.source == means[-1].source), None)
        others = [one for one in told if used and one.source.file != used.source.file]
        conflict = conflict_of(what, used, others, "it was read last", apart=apart) if used else None
        if conflict:
            other = next(one for one in means if one.source == conflict.other.source)
            return replace(made, conflict=conflict, otherwise=_of_mean(facts, other))
    return made


def _told(facts: Facts, modes: ProcessorModes, cpus: float, what: str) -> Told | None:
    """What one export says of its mean; `None` where it lacks the mode, or the mode cannot be."""
    synch, idle = modes.mp_synch_percent, modes.idle_percent
    lost = what.endswith("MP synchronization")
    spent = synch if lost else 100 * cpus - idle if known(idle) else None
    if spent is None or not known(spent) or not 0 <= spent <= 100 * MOST * cpus:
        return None
    by = "T4" if any(one.source.file == modes.source.file for one in facts.every(T4File)) else "MONITOR"
    seconds = next((one.seconds for one in samples_of(facts) if one.file == modes.source.file), None)
    return Told(by, spent / cpus, modes.source, seconds)


def _of_mean(facts: Facts, modes: ProcessorModes) -> Measured | None:
    synch = modes.mp_synch_percent
    layout = Layout(facts)
    cpus = modes.cpus if known(modes.cpus) else layout.captured
    if not cpus or not known(synch) or not 0 <= synch <= 100 * MOST * cpus:
        return None
    idle = modes.idle_percent / 100 if known(modes.idle_percent) and modes.idle_percent >= 0 else None
    if idle is not None and idle + synch / 100 > MOST * cpus:
        return None
    remarks = []
    if known(modes.interrupt_percent) and modes.interrupt_percent > 0:
        remarks.append(f"Of the work {modes.interrupt_percent / 100:.2f} CPUs are interrupt state.")
    remarks += _faults(facts)
    if booted_within(facts):
        remarks.append("It is of before and after a boot together, so of no one load.")
    if idle is None:
        remarks.append("Idle time is not in the export, so work and idle time are not told apart.")
    rest = max(0.0, cpus - synch / 100)
    return Measured(
        currency=PROCESSORS,
        span=MEAN,
        capacity=float(cpus),
        idle=None if idle is None else min(idle, rest),
        pools=(_synch(facts, synch, modes.source), *_polling(facts, layout)),
        undivided=Open(Amount(rest, 0.0, rest), "work and idle time", ProcessorModes.COLLECTED_BY)
        if idle is None
        else _waiting_for_it(facts, modes, rest - idle),
        remarks=tuple(remarks),
    )


def _synch(facts: Facts, synch: float, source: Source, hours: Stretch | None = None) -> Pool:
    """MP synch in per cent of one CPU: lost to the rule that says with evidence what it is lost to, if any."""
    why = explained(facts, synch, hours) or ""
    return Pool(
        what=SYNCH,
        amount=Amount.exactly(synch / 100),
        source=source,
        causes=tuple(filter(None, (why.rpartition(": ")[2],))),
        parts=PARTS,
        collect=TRACE,
    )


def _polling(facts: Facts, layout: Layout) -> tuple[Pool, ...]:
    """The part of the dedicated CPU that serves no request, where T4 counts it."""
    busy = facts.latest(DedicatedLockManager, statistic="mean")
    if busy is None or not busy.on or not known(busy.busy_percent) or not 0 <= busy.busy_percent <= 100:
        return ()
    manager = layout.lock_manager
    what = f"CPU {manager[0] if manager else ''} of the lock manager, polling".replace("  ", " ")
    polls = 1 - busy.busy_percent / 100
    return (
        Pool(
            what=what,
            amount=Amount.exactly(polls),
            source=busy.source,
            causes=("openvms/lock_manager_idle",),
            as_work=f"Of the work {polls:.2f} CPUs are {what}: what a dedicated lock manager takes.",
        ),
    )


def _waiting_for_it(facts: Facts, modes: ProcessorModes, busy: float) -> Open | None:
    """Kernel mode of all but the lock manager's CPU where that one is full: callers spin there, and count as this.

    How much of it is work no counter tells, so none of it is called so.
    """
    server = facts.latest(DedicatedLockManager, statistic="mean")
    if server is None or not server.on or not known(server.busy_percent) or not known(modes.kernel_percent):
        return None
    if not SATURATED_PERCENT <= server.busy_percent <= 100:
        return None
    kernel = min(busy, modes.kernel_percent / 100 - 1)
    return Open(Amount(kernel, 0.0, kernel), WAITING, "") if kernel > 0 else None


def _busiest(facts: Facts) -> Measured | None:
    """The account of the busiest half hour of the day's curve; of one sample nothing is said."""
    cpus = Layout(facts).captured
    hours = busiest(facts, cpus) if cpus else None
    if hours is None:
        return None
    return Measured(
        currency=PROCESSORS,
        span=BUSIEST,
        capacity=hours.cpus,
        idle=max(0.0, hours.cpus - hours.busy / 100),
        pools=(_synch(facts, hours.synch, hours.source, hours),),
        remarks=(f"{hours.when}, the busiest {hours.minutes:.0f} minutes of the capture.",),
    )


def _faults(facts: Facts) -> Iterator[str]:
    """The rate of alignment faults of the same mean, which take work that no source puts a figure on."""
    faults = facts.latest(AlignmentFaults, statistic="mean")
    if faults is None:
        return
    modes = [getattr(faults, f"{mode}_per_second") for mode in ("kernel", "exec", "super", "user")]
    rates = [faults.total_per_second] if known(faults.total_per_second) else modes
    total = sum(rate for rate in rates if known(rate))
    if total > 0 and all(known(rate) and rate >= 0 for rate in rates):
        yield f"Part of the work are {total:,.0f} alignment faults/s (read); what one costs is not known."


def _runs(facts: Facts) -> Iterator[Measured]:
    """One account of each run of each load series that prints the modes; those made of captures are no runs."""
    found = [one for one in facts.every(LoadSeries) if one.product == "openvms" and one.cores and not one.derived]
    for series in found:
        for point in series.points[-MOST_RUNS:]:
            yield from _run(series, point, several=len(found) > 1)


def _run(series: LoadSeries, point: LoadPoint, *, several: bool) -> Iterator[Measured]:
    """The account of one run; none where its modes are not all there, or do not add up to its CPUs."""
    cpus, modes = float(series.cores or 0), modes_of(point)
    idle, synch = modes.get("idle"), modes.get("mp_synch")
    if idle is None or synch is None or min(modes.values()) < 0:
        return
    if abs(sum(modes.values()) - 100 * cpus) > 100 * cpus * ROUNDED:
        return
    beyond = point.load > series.peak.load
    rest = cpus - synch / 100
    yield Measured(
        currency=PROCESSORS,
        span=MEAN,
        capacity=cpus,
        idle=min(idle / 100, rest),
        pools=(
            Pool(
                what=SYNCH,
                amount=Amount.exactly(synch / 100),
                source=series.source_of(point),
                causes=(f"openvms/concurrency_past_peak:{series.title}",) if beyond else (),
                collect=TRACE,
            ),
        ),
        run=f"run of {point.load:g} {_one(series.load_name, point.load)}" + (f", {series.title}" if several else ""),
        test=True,
    )


def _one(name: str, load: float) -> str:
    """`process` of one, else the name of the load as it is."""
    return name.removesuffix("es") if load == 1 and name == "processes" else name
