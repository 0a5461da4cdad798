"""When the rules of this project say by themselves what CPUs spin for, so that what is left is lost without a cause.

The limits are the defaults of those rules, which take them from here; a site that changes one of them there does not
change it here.
"""

from collectors.facts import Facts, known
from collectors.facts.openvms import (
    DedicatedLockManager,
    DistributedLockRates,
    LockRates,
    Process,
    ProcessorModes,
    SpinlockTrace,
    SpinlockTraceRun,
)
from rules.finding import Unknown
from rules.laws.rounding import plain
from rules.openvms._evidence.boots import booted_since
from rules.openvms._evidence.chains import Chain, chain_of
from rules.openvms._evidence.cluster import own_rates, wrong_reading
from rules.openvms._evidence.cpu_layout import LAYOUT_FACTS, SERVER, Layout, no_dedicated
from rules.openvms._evidence.node import (
    MEASURED_SINCE,
    Work,
    busiest_operations,
    work_of,
)
from rules.openvms._evidence.own_runs import own_peak
from rules.openvms._evidence.peaks import PEAK_FACTS, Stretch
from rules.openvms._evidence.sampling import SAMPLE_FACTS, percentile_told
from rules.openvms._evidence.spinlocks import TRACED, divides, heats, not_listed

SPINNING_FACTS = (
    *LAYOUT_FACTS,
    *PEAK_FACTS,
    *SAMPLE_FACTS,
    DistributedLockRates,
    DedicatedLockManager,
    Process,
    SpinlockTrace,
    SpinlockTraceRun,
)
"""What a rule that uses this module has to declare."""
OWN_CPU_SYNCH, OWN_CPU_CPUS, OWN_CPU_OPERATIONS = 200.0, 6, 50_000.0
"""openvms/lock_manager_needs_own_cpu: MP synch in per cent of one CPU, CPUs, lock operations per second."""
OWN_CPU_WORTH = 100.0
"""The same rule: per cent of one CPU that a trace has to give LCKMGR."""
PAST_SHARE, PAST_BUSY, PAST_OPERATIONS = 30.0, 50.0, 5_000.0
"""openvms/concurrency_past_peak: MP synch of the busy time and busy of all CPUs in per cent, operations per second."""
SERVED_SHARE, SERVED_OPERATIONS = 50.0, 500.0
"""openvms/locks_mastered_remotely: lock operations for other nodes in per cent of all, and the least per second."""
CROSSING_OPERATIONS = 1200.0
"""Lock operations per second that other nodes ask for, this project: a real two-node day had 1,140 and no trouble."""


def own_cpu(layout: Layout) -> bool:
    """Whether the lock manager has a CPU of its own: then what spins in MP synch spins for something else."""
    return bool(layout.lock_manager) or any(one.on for one in layout.facts.every(DedicatedLockManager))


def apart(facts: Facts, synch: float, spun: float) -> str:
    """Why a trace that spins so much is of another time than a capture with this MP synch (mean); empty where it fits.

    A trace is taken when it is bad, so it may spin more than the mean: it is held against the highest figure read.
    """
    if spun < TRACED * synch:
        return f"less than half of the {plain(synch, 3)} % of MP synch"
    read = [one.mp_synch_percent for one in facts.every(ProcessorModes)]
    highest = max((value for value in read if known(value)), default=synch)
    return f"more than twice the {plain(highest, 3)} % of MP synch at its highest" if TRACED * spun > highest else ""


def other_time(facts: Facts, synch: float, hours: Stretch | None = None) -> str:
    """That the trace is of another time than this MP synch (of `hours`, where given), as a clause; empty otherwise.

    Such a trace neither divides that MP synch nor says what spins in it.
    """
    spun = sum(one.spin for one in heats(facts) if known(one.spin))
    if not spun:
        return ""
    why = apart(facts, synch, spun)
    if hours:
        why = "" if fits(hours, spun) else f"not half to twice the {plain(hours.synch, 3)} % of MP synch then"
    return (
        why
        and f"the spinlock trace that came along spins {plain(spun, 3)} % of one CPU, {why}: it is of another time, so "
        "trace again while CPUs spin so much"
    )


def fits(hours: Stretch, spun: float) -> bool:
    """Whether a trace that spins so much (per cent of one CPU) can be of these hours: no half, no double of theirs."""
    return TRACED * hours.synch <= spun <= hours.synch / TRACED


def explained(facts: Facts, synch: float, hours: Stretch | None = None) -> str | None:
    """Which rule says with evidence what this MP synch (per cent of one CPU) is lost to; `None`: none does.

    `synch` is the mean of the capture, or that of `hours`.
    """
    layout, heat = Layout(facts), divides(facts)
    if heat and not other_time(facts, synch, hours):
        tentative = " (read tentatively)" if heat.trace.source.tentative else ""
        return f"a spinlock trace divides it, {heat.name} first{tentative}: openvms/spinlock_hot"
    chain = chain_of(facts)
    if isinstance(chain, Chain) and chain.explains_spinning and not own_cpu(layout):
        return f"chains of {chain.length:.1f} resources: openvms/resource_hash_table_undersized"
    rates = own_rates(facts)
    if rates and not wrong_reading(rates) and (incoming := rates.incoming_per_second) is not None:
        total = incoming + (rates.local_per_second or 0.0) + (rates.outgoing_per_second or 0.0)
        if total >= SERVED_OPERATIONS and 100 * incoming >= SERVED_SHARE * total:
            served = f"{100 * incoming / total:.0f} % of its lock operations serve other nodes"
            return f"{served}: openvms/locks_mastered_remotely"
    operations = (hours.operations if hours else busiest_operations(facts.every(LockRates))) or 0.0
    if _needs_own_cpu(facts, layout, hours):
        return f"{operations:,.0f} lock operations/s without a CPU of their own: openvms/lock_manager_needs_own_cpu"
    work = work_of(facts)
    if hours and operations >= PAST_OPERATIONS and not own_cpu(layout) and past(facts, hours):
        figures = f"{100 * hours.synch / hours.busy:.0f} % of the busy time with {operations:,.0f} lock operations/s"
        return f"{figures}: openvms/concurrency_past_peak"
    if not hours and isinstance(work, Work) and operations >= PAST_OPERATIONS and not own_cpu(layout):
        busy = work.busy >= PAST_BUSY * work.cpus
        if work.share >= past_share(facts) and busy:
            figures = f"{work.share:.0f} % of the busy time with {operations:,.0f} lock operations/s"
            return f"{figures}: openvms/concurrency_past_peak"
    return None


def lasting_modes(facts: Facts) -> ProcessorModes | None:
    """The 95th percentile, where there are samples enough for one, else the mean."""
    p95 = facts.latest(ProcessorModes, statistic="p95")
    if p95 and percentile_told(facts, p95.source):
        return p95
    return facts.latest(ProcessorModes, statistic="mean") or p95


def rates_while_spinning(facts: Facts) -> LockRates | None:
    """Lock operations when the CPUs spun most, else in the busy part of the day, else on average."""
    for statistic in ("at mp synch peak", "p95", "mean"):
        if (rates := facts.latest(LockRates, statistic=statistic)) and rates.operations_per_second is not None:
            return rates
    return None


def asleep(layout: Layout) -> Process | None:
    """LCKMGR_SERVER, where SHOW SYSTEM has it hibernating: it was started, and it is off (openvms-formats.md, d.9)."""
    server = layout.facts.latest(Process, name=SERVER)
    return server if server and server.state == "HIB" and not own_cpu(layout) else None


def own_cpu_untold(layout: Layout) -> Unknown | None:
    """What is lacking to say that the lock manager has no CPU of its own; `None` where the export shows that.

    LCKMGR_MODE 0 as it runs settles it alone: without it none is ever dedicated. A mode that as many CPUs as are active
    suffice for makes it doubtful, whatever else was read.
    """
    if since := booted_since(layout.facts):
        return Unknown((MEASURED_SINCE,), since)
    mode = layout.setting("LCKMGR_MODE")
    if asleep(layout):
        return None
    if mode and layout.active and mode <= layout.active:
        why = f"LCKMGR_MODE is {mode:g} with {layout.active:g} active CPUs, yet no CPU was seen at it: is it pending?"
        return Unknown.without("state of LCKMGR_SERVER", "SHOW SYSTEM/PROCESS=LCKMGR_SERVER", why)
    told = any(one.on is not None for one in layout.facts.every(DedicatedLockManager))
    if layout.fastpath_read or told or mode is not None:
        return None
    return Unknown.without(
        "whether the lock manager has a CPU already", "the output of SHOW FASTPATH, or MCR SYSGEN SHOW LCKMGR_MODE"
    )


def past(facts: Facts, hours: Stretch) -> bool:
    """Whether these hours were past the peak, by the defaults of openvms/concurrency_past_peak."""
    return hours.busy >= PAST_BUSY * hours.cpus and 100 * hours.synch >= past_share(facts) * hours.busy


def past_share(facts: Facts) -> float:
    """From which share of MP synch in the busy time on a node is past its peak: by its own test, else as published."""
    own = own_peak(facts, with_it=False)
    return PAST_SHARE if own is None or own.past_share is None else round(own.past_share, 1)


def _needs_own_cpu(facts: Facts, layout: Layout, hours: Stretch | None) -> bool:
    """Whether openvms/lock_manager_needs_own_cpu has a finding on these facts, or on these hours, without a trace."""
    modes, rates = lasting_modes(facts), rates_while_spinning(facts)
    operations = hours.operations if hours else (rates.operations_per_second if rates else None)
    synch = hours.synch if hours else (modes.mp_synch_percent if modes else None)
    if synch is None or not known(synch) or operations is None or operations < OWN_CPU_OPERATIONS:
        return False
    enough = (
        layout.active is not None and layout.active >= OWN_CPU_CPUS and (layout.cores or OWN_CPU_CPUS) >= OWN_CPU_CPUS
    )
    spins = synch > OWN_CPU_SYNCH
    mode = layout.setting("LCKMGR_MODE")
    if asleep(layout) and mode and layout.active and mode <= layout.active:
        return False
    shown = not own_cpu(layout) and no_dedicated(layout) is None and own_cpu_untold(layout) is None
    other = bool(not_listed(facts)) and not other_time(facts, synch, hours)
    return enough and spins and shown and not other
