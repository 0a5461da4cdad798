"""What the rules about the dedicated lock manager have in common: when T4's LCK73 figures may be believed."""

from collectors.facts import Facts, known
from collectors.facts.openvms import DedicatedLockManager, LockRates
from rules.finding import Lacking, Untrusted
from rules.judging.openvms.cpu_layout import Layout

LCK73 = Lacking("busy share of the lock manager's CPU", "a T4 composite CSV made with the LCK73_MON collector")
IDLE_PERCENT, EARNS_PERCENT = 5.0, 50.0
"""This project: a twentieth of one CPU any CPU can do; half busy, it does what other CPUs would wait for."""
MUCH = 1000.0
"""This project: so many lock operations or requests per second cannot go with zero busy or zero requests."""


def served(facts: Facts) -> list[DedicatedLockManager]:
    """The figures of which at least one column is there."""
    return [one for one in facts.every(DedicatedLockManager) if one.on is not None]


def day_busy(facts: Facts) -> float | None:
    """How busy the dedicated CPU is over the day: the 95th percentile, else the mean."""
    for statistic in ("p95", "mean"):
        one = facts.latest(DedicatedLockManager, statistic=statistic)
        if one and known(one.busy_percent):
            return one.busy_percent
    return None


def most_busy(facts: Facts) -> DedicatedLockManager | None:
    """The reading with the highest busy share of all statistics: a night's batch may earn what the day does not."""
    read = [one for one in facts.every(DedicatedLockManager) if known(one.busy_percent)]
    return max(read, key=lambda one: one.busy_percent if known(one.busy_percent) else 0.0, default=None)


def not_to_believe(facts: Facts, layout: Layout) -> Untrusted | None:
    """Why the LCK73 figures must not be acted on: out of range, or at odds with each other or with SHOW FASTPATH."""
    for one in served(facts):
        busy, requests = one.busy_percent, one.requests_per_second
        if known(busy) and not 0 <= busy <= 101:
            return Untrusted(f"[LCK73]Busy % is {busy:g} ({one.statistic}): a CPU is busy 0 to 100 % of the time")
        if known(requests) and requests < 0:
            return Untrusted(f"[LCK73]Req Count/Sec is {requests:g} ({one.statistic}): a counter wrapped or was reset")
        if known(busy) and known(requests) and busy == 0 and requests >= MUCH:
            return Untrusted(f"[LCK73]Busy % is 0 at {requests:g} requests per second ({one.statistic})")
    rates = facts.latest(LockRates, statistic="mean")
    operations = rates.operations_per_second if rates else None
    off = bool(served(facts)) and not any(one.on for one in served(facts))
    if layout.lock_manager and off and operations is not None and operations >= MUCH:
        return Untrusted(
            f"SHOW FASTPATH puts the lock manager on CPU {layout.lock_manager[0]}, yet the [LCK73] columns are zero "
            f"at {operations:,.0f} lock operations per second: another time, or the collector did not run"
        )
    return None
