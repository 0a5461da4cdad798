"""What the rules about the dedicated lock manager have in common: when T4's LCK73 figures may be believed.

SHOW FASTPATH and SHOW CPU show a moment, and it need not be one of the capture: who turned the lock manager's CPU on
yesterday brings the figures of the day before with the display of today.
"""

from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import DedicatedLockManager, LockRates, MonitorSample, Node, ProcessorModes, T4File
from rules.finding import MissingInput, Unknown, Untrusted
from rules.openvms._evidence.boots import AT, end_of_capture, shown_at
from rules.openvms._evidence.cpu_counts import counts_differ
from rules.openvms._evidence.cpu_layout import Layout
from rules.openvms._evidence.node import pending_value

LCK73 = MissingInput("busy share of the lock manager's CPU", "a T4 composite CSV made with the LCK73_MON collector")
IDLE_PERCENT, EARNS_PERCENT = 5.0, 50.0
"""This project: a twentieth of one CPU any CPU can do; half busy, it does what other CPUs would wait for."""
SATURATED_PERCENT = 90.0
"""This project: at nine tenths a single server makes callers wait ten service times."""
FULL_PERCENT = 80.0
"""This project: from here on, of all CPUs but the dedicated one, work waits for a CPU that is taken."""
DEDICATED_FACTS = (DedicatedLockManager, LockRates, MonitorSample, Node, ProcessorModes, T4File)
"""What a rule that asks whether the lock manager had its CPU in the capture has to declare, beside the layout's."""
MUCH = 1000.0
"""This project: so many lock operations or requests per second cannot go with zero busy or zero requests."""


def served(facts: Facts) -> list[DedicatedLockManager]:
    """The figures of which at least one column is there."""
    return [one for one in facts.every(DedicatedLockManager) if one.on is not None]


def day_of(facts: Facts) -> tuple[float, DedicatedLockManager] | None:
    """How busy the dedicated CPU is over the day, and where that was read: the 95th percentile, else the mean."""
    for statistic in ("p95", "mean"):
        one = facts.latest(DedicatedLockManager, statistic=statistic)
        if one and known(one.busy_percent):
            return one.busy_percent, one
    return None


def most_busy(facts: Facts) -> DedicatedLockManager | None:
    """The reading with the highest busy share of all statistics: a night's batch may earn what the day does not."""
    read = [one for one in facts.every(DedicatedLockManager) if known(one.busy_percent)]
    return max(read, key=lambda one: one.busy_percent if known(one.busy_percent) else 0.0, default=None)


def hidden_in_kernel(facts: Facts, said: str) -> Unknown | None:
    """Why little MP synch proves nothing: callers of a dedicated lock manager that is full wait in kernel mode.

    Source: knowledge/openvms-rules.md, section 3: falling MP synch is no success.
    """
    day = day_of(facts)
    if day is None or not day[1].on or day[0] < SATURATED_PERCENT:
        return None
    why = (
        f"{said}, but [LCK73]Busy % is {day[0]:g} ({day[1].statistic}): callers of a dedicated lock manager wait in "
        "kernel mode, so little MP synch proves nothing (openvms/lock_manager_saturated)"
    )
    lacking = MissingInput(
        "lock operations per second at several loads",
        "a T4 composite CSV of the same work with fewer processes, and one with more",
    )
    return Unknown((lacking,), why)


def not_to_believe(facts: Facts, layout: Layout) -> Untrusted | None:
    """Why the LCK73 figures must not be acted on: out of range, or at odds with each other or with a display."""
    for one in served(facts):
        busy, requests = one.busy_percent, one.requests_per_second
        if known(busy) and not 0 <= busy <= 101:
            return Untrusted(f"[LCK73]Busy % is {busy:g} ({one.statistic}): a CPU is busy 0 to 100 % of the time")
        if known(requests) and requests < 0:
            return Untrusted(f"[LCK73]Req Count/Sec is {requests:g} ({one.statistic}): a counter wrapped or was reset")
        if known(busy) and known(requests) and busy == 0 and requests >= MUCH:
            return Untrusted(f"[LCK73]Busy % is 0 at {requests:g} requests per second ({one.statistic})")
    operations = _locks_while_zero(facts)
    if layout.lock_manager and operations is not None:
        return Untrusted(
            f"{layout.lock_manager_shown} puts the lock manager on CPU {layout.lock_manager[0]}, yet the [LCK73] "
            f"columns are zero at {operations:,.0f} lock operations per second: another time, or the "
            "collector did not run"
        )
    return None


def _locks_while_zero(facts: Facts) -> float | None:
    """The mean rate of lock operations at which the LCK73 columns are zero; `None` where they are not, or it is low."""
    rates = facts.latest(LockRates, statistic="mean")
    operations = rates.operations_per_second if rates else None
    off = bool(served(facts)) and not any(one.on for one in served(facts))
    return operations if off and operations is not None and operations >= MUCH else None


@dataclass(frozen=True)
class NotYet:
    """Why the lock manager, which a display shows on a CPU of its own, may not have had it in the capture."""

    cpu: int
    why: str
    """What tells against it, as a clause."""

    @property
    def said(self) -> str:
        """What is seen, and what that makes of the figures, as a clause."""
        return (
            f"a display has the lock manager on CPU {self.cpu}, but {self.why}: callers of a dedicated one do not spin "
            "for LCKMGR, so the figures may predate it"
        )

    @property
    def do(self) -> str:
        """As a sentence."""
        return "Measure again with the lock manager as it is now before anything else is changed for it."

    @property
    def lacking(self) -> MissingInput:
        """What to collect."""
        return MissingInput(
            f"the same figures since the lock manager has CPU {self.cpu}",
            "a T4 composite CSV of a busy hour, made with the LCK73_MON collector after SHOW FASTPATH named that CPU",
        )


def not_yet(facts: Facts, layout: Layout) -> NotYet | None:
    """Why the lock manager may not have had its CPU in the capture; `None` where nothing read says so.

    LCK73 columns that are not zero prove that it had. Without them a display of after the end of the capture proves
    nothing; one of before or within it is taken to hold.
    """
    if layout.lock_manager is None or any(one.on for one in served(facts)):
        return None
    cpu, source = layout.lock_manager
    if (operations := _locks_while_zero(facts)) is not None:
        zero = f"the [LCK73] columns of the capture are zero at {operations:,.0f} lock operations per second"
        return NotYet(cpu, f"{zero} (or their collector did not run)")
    shown, end = shown_at(facts, source), end_of_capture(facts)
    if shown and end and shown > end and not served(facts):
        times = f"it is of {shown.strftime(AT).upper()} and the capture ends at {end.strftime(AT).upper()}"
        return NotYet(cpu, f"{times}, and no [LCK73] column tells whether it had it then")
    return None


def others_busy(facts: Facts, layout: Layout) -> float | None:
    """How busy the CPUs beside the dedicated one are on average, per cent of them; `None` where that was not read.

    The dedicated one polls and counts as busy at all times.
    """
    modes = facts.latest(ProcessorModes, statistic="mean")
    if modes is None or not known(modes.cpus) or not known(modes.idle_percent) or counts_differ(layout):
        return None
    if not_yet(facts, layout):  # then it was not dedicated in the capture
        return None
    others = 100 * (modes.cpus - 1)
    return 100 - 100 * modes.idle_percent / others if others > 0 and 0 <= modes.idle_percent <= others else None


def mode_meant(layout: Layout, least: int) -> int:
    """LCKMGR_MODE to turn it on with: what waits in CURRENT, where that does with the CPUs there are, else `least`.

    Someone chose the pending value and left WRITE ACTIVE out; another one would change again with the next boot.
    """
    waits = pending_value(layout.facts, "LCKMGR_MODE")
    chosen = waits is not None and waits > 1 and layout.active is not None and waits <= layout.active
    return int(waits) if chosen and waits is not None else least
