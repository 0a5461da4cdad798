"""What an OpenVMS node's exports say of where its processors went: MP synchronisation, idle, and the rest.

In MP synchronisation a CPU spins for a spinlock and does no work, so all of it is lost. A spinlock trace of the same
time divides it. The CPU that is dedicated to the lock manager polls while it has nothing to do and counts as kernel
mode then; what of it is work only `[LCK73]Busy %` of T4 tells. Time in interrupt state and alignment faults are work
that is done: they are said, not booked as lost.
"""

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import DedicatedLockManager, ProcessorModes
from collectors.facts.openvms.spinlocks import TRACE
from rules.account import BUSIEST, MEAN, PROCESSORS, Amount, Measured, Open, Pool
from rules.openvms._evidence.cpu_layout import Layout
from rules.openvms._evidence.peaks import Stretch, busiest
from rules.openvms._evidence.spinning import explained

PARTS = ("openvms/spinlock_hot",)
MOST = 1.02
"""MP synch of more than all CPUs, beyond rounding, is refused by the rules and not booked."""


def measured(facts: Facts) -> tuple[Measured, ...]:
    """The account of the mean, and of the busiest stretch where the day's curve shows one."""
    return tuple(one for one in (_mean(facts), _busiest(facts)) if one)


def _mean(facts: Facts) -> Measured | None:
    modes = facts.latest(ProcessorModes, statistic="mean")
    synch = modes.mp_synch_percent if modes else None
    layout = Layout(facts)
    cpus = modes.cpus if modes and known(modes.cpus) else layout.captured
    if modes is None or not cpus or not known(synch) or not 0 <= synch <= 100 * MOST * cpus:
        return None
    idle = modes.idle_percent / 100 if known(modes.idle_percent) and modes.idle_percent >= 0 else None
    if idle is not None and idle + synch / 100 > MOST * cpus:
        return None
    remarks = []
    if known(modes.interrupt_percent) and modes.interrupt_percent > 0:
        remarks.append(f"Of the work {modes.interrupt_percent / 100:.2f} CPUs are interrupt state.")
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
        else None,
        remarks=tuple(remarks),
    )


def _synch(facts: Facts, synch: float, source: Source, hours: Stretch | None = None) -> Pool:
    """MP synch in per cent of one CPU: lost to the rule that says with evidence what it is lost to, if any."""
    why = explained(facts, synch, hours) or ""
    return Pool(
        what="MP synchronization (spinlock wait)",
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
    return (
        Pool(
            what=f"CPU {manager[0] if manager else ''} of the lock manager, polling".replace("  ", " "),
            amount=Amount.exactly(1 - busy.busy_percent / 100),
            source=busy.source,
            causes=("openvms/lock_manager_idle",),
        ),
    )


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
