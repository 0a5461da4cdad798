"""What the exports of SAP ASE say of where its engines' time went, and of how many tasks waited for what.

Engines: idle is measured; of the busy time nothing tells work and spinning apart, as what one spin takes is in no
source. Where `monSpinlockActivity` was collected for an interval, its spins bound what spinning can have taken
(`spinlocks.spin_severity`), which is enough to say that something is nothing. Without it the busy time is undivided.
Where `monSysExecutionTime` was read twice (16.0), what their time went into stands beside it. Other captures of the
same server, at another load, may narrow the bound to a range (`spinlocks.site_cost`).

Tasks: seconds waited ÷ seconds of the interval by `monSysWaits`, in groups of events; idle daemons and the network are
left out (`waits.tasks` has the traps). Self-check: waiting tasks, those that wait for the network, and running ones
are together the connections.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from collectors.facts import Facts, known
from collectors.facts.ase import MonSpinlockActivity, MonState, MonSysExecutionTime
from rules.account import MEAN, PROCESSORS, WAITING_TASKS, Amount, Measured, Open, Pool
from rules.ase._evidence.server import Engines, engines_by_export, engines_of, interval_first, not_shown
from rules.ase._evidence.spinlocks.monitored import SCHEDULER, spinlocks_by_name
from rules.ase._evidence.spinlocks.named import Dear
from rules.ase._evidence.spinlocks.names import BY_NAME, BY_RATIO, plain_name
from rules.ase._evidence.spinlocks.site_cost import SiteCost, site_cost
from rules.ase._evidence.spinlocks.spin_severity import NOTHING_PERCENT, spin_bound
from rules.ase._evidence.waits.error_log import logs_full
from rules.ase._evidence.waits.events import GROUPS, LOG_SPACE, NETWORK_READ, NETWORK_SEND, Group
from rules.ase._evidence.waits.tasks import ByEvent, tasks_by_event
from rules.ase._evidence.waits.verdict import TASKS
from rules.changes.quoting import comment
from rules.conflict import Told, conflict_of
from rules.laws.rounding import plain

OTHER = Group("other wait events", frozenset(), collect="select * from master..monWaitEventInfo")
QUEUES, QUEUE_PERCENT = "ase/run_queue_spinlock_contended", Dear().contention_percent
"""The rule of the scheduler's queues, and from which share of their grabs on it speaks of them."""
UNEXPLAINED = ("ase/spinning_unexplained", "ase/spinlock_dear")
LOWER_LOAD = "the same two snapshots of monSpinlockActivity at a lower load, with the transactions of both"
LEAST_PERCENT = 1.0
"""This project: a smaller part of the engines' time is not named."""
CLOSE = 0.25
"""This project: waiting, reading and running tasks within a quarter of the connections fit (one server measured:
257 of 256); tasks of the server itself wait as well, and connections come and go."""


def measured(facts: Facts) -> tuple[Measured, ...]:
    """The account of the engines, and that of the tasks, where each can be made."""
    spun = any(lock.of_interval and lock.seconds for lock in spinlocks_by_name(facts).values())

    def processors(engines: Engines) -> Measured | None:
        return _engines(facts, engines, spun=spun)

    def tasks(engines: Engines) -> Measured | None:
        return _tasks(facts, engines)

    made = (_by_exports(facts, processors, interval=spun), _by_exports(facts, tasks, interval=True))
    return tuple(one for one in made if one)


def _by_exports(facts: Facts, make: Callable[[Engines], Measured | None], *, interval: bool) -> Measured | None:
    """The account by the engines that count first, with what another export of the same time says of them."""
    engines = engines_of(facts, interval=interval)
    made = make(engines)
    every = engines_by_export(facts)
    told = {name: Told(name, one.busy_percent or 0.0, one.source, one.seconds) for name, one in every.items()}
    used = next((one for one in told.values() if one.source == engines.source), None)
    if made is None or used is None:
        return made
    between = "it counts between the snapshots that the other figures are of"
    why = between if interval and used.by != "sp_sysmon" else "the findings go by that report"
    conflict = conflict_of("the engines busy", used, told.values(), why)
    return replace(made, conflict=conflict, otherwise=make(every[conflict.other.by])) if conflict else made


def _engines(facts: Facts, engines: Engines, *, spun: bool) -> Measured | None:
    if engines.number is None or engines.busy_percent is None or not 0 <= engines.busy_percent <= 100:
        return None
    busy = engines.number * engines.busy_percent / 100
    cost = site_cost(facts) if spun else None
    each = cost if isinstance(cost, SiteCost) else None
    pools = tuple(_spins(facts, engines, each)) if spun else ()
    high = min(busy, sum(pool.amount.high for pool in pools))
    low = min(high, sum(pool.amount.low for pool in pools))
    pools = tuple(pool for pool in pools if pool.amount.high >= NOTHING_PERCENT * engines.number / 100)
    undivided: Open | None = None
    remarks: tuple[str, ...] = ()
    if not spun:
        why = "busy with work and spinning, which these exports cannot tell apart"
        never = not_shown(facts, MonSpinlockActivity)
        if never:
            why = f"busy with work and spinning, which this server cannot tell apart: {never}"
        undivided = Open(Amount(busy, 0.0, busy), why, "" if never else MonSpinlockActivity.COLLECTED_BY)
    elif high < NOTHING_PERCENT * engines.number / 100:
        pools = ()
        remarks = (
            ()
            if not high
            else (f"All spins together took at most {plain(high, 2)} of {engines.number} engines: nothing measurable.",)
        )
    elif each:
        undivided = Open(Amount(high, low, high), f"spinning, {each.brief}", "", bound=True)
    else:
        why = "spinning, if a spin lasts 100 ns at most (assumed: no source says how long)"
        undivided = Open(Amount(high, 0.0, high), why, LOWER_LOAD, bound=True)
        if isinstance(cost, str):
            remarks = (f"The other captures of this server do not tell what one spin takes: {cost}.",)
    if each:
        remarks = (*remarks, each.says)
    remarks = (*remarks, *_operations(facts))
    return Measured(
        currency=PROCESSORS,
        span=MEAN,
        capacity=float(engines.number),
        idle=engines.number - busy,
        pools=pools,
        undivided=undivided,
        remarks=remarks,
    )


def _operations(facts: Facts) -> Iterator[str]:
    """What the engines' time went into by `monSysExecutionTime`; spinning is in each part, so none of it is divided."""
    rows = [one for one in interval_first(facts, MonSysExecutionTime) if one.of_interval and one.believed]
    times: dict[str, float] = {}
    for row in rows:
        if known(row.microseconds) and row.microseconds >= 0:
            name = comment(row.name or f"operation {row.operation}")
            times[name] = times.get(name, 0.0) + row.microseconds
    whole = sum(times.values())
    large = [(time, name) for name, time in times.items() if 100 * time >= LEAST_PERCENT * whole > 0]
    if large:
        parts = ", ".join(f"{name} {100 * time / whole:.0f} %" for time, name in sorted(large, reverse=True))
        yield f"By monSysExecutionTime the engines' time, spinning and waiting for work included, went into: {parts}."


def _spins(facts: Facts, engines: Engines, each: SiteCost | None) -> Iterator[Pool]:
    """What each spinlock can have cost at most; queues of the scheduler, which spin by nature, where many grabs wait.

    `each`: what one spin takes on this server, which narrows it and never passes the bound.
    """
    for lock in spinlocks_by_name(facts).values():
        name = plain_name(lock.name)
        normal = name in SCHEDULER and (lock.percent or 0.0) < QUEUE_PERCENT
        bound = None if normal or not lock.of_interval else spin_bound(facts, lock, engines)
        if bound is None or engines.number is None:
            continue
        most = engines.number * bound.percent / 100
        rate = lock.rate(lock.spins) if each else None
        low, high = (each.low * rate, each.high * rate) if each and rate is not None else (0.0, most)
        by_ratio = BY_RATIO[name][0] if name in BY_RATIO else f"ase/data_cache_spinlock_contended:{name}"
        yield Pool(
            what=f"spins of {lock.name}",
            amount=Amount(None, min(low, most), min(high, most)),
            source=lock.source,
            causes=(
                BY_NAME.get(name, f"{QUEUES}:{name}" if name in SCHEDULER else by_ratio),
                *(f"{rule}:{lock.name}" for rule in UNEXPLAINED),
            ),
        )


def _tasks(facts: Facts, engines: Engines) -> Measured | None:
    """Nothing where the counters cannot be believed, or some events alone were collected."""
    rows = tasks_by_event(facts)
    if not rows:
        return None
    running = None
    if engines.number is not None and engines.busy_percent is not None:
        running = engines.number * min(engines.busy_percent, 100.0) / 100
    pools, left = [], list(rows)
    for group in (*GROUPS, OTHER):
        own = [one for one in left if one.event in group.events or group is OTHER]
        left = [one for one in left if one not in own]
        tasks, causes = Amount.exactly(sum(one.tasks for one in own if one.at_work)), group.causes
        if group.events == LOG_SPACE:
            # few and long waits: what may have begun before the interval counts as an upper end, not as nothing
            most = sum(one.at_most if one.unsure else one.tasks for one in own)
            tasks = tasks if most == tasks.high else Amount(None, tasks.high, most)
            causes = (*causes, *(f"ase/error_log_alarms:{comment(name)}" for name in logs_full(facts)))
        if tasks.high:
            first = max(own, key=lambda one: one.tasks)
            pools.append(Pool(group.what, tasks, first.source, causes, collect=group.collect))
    waiting = sum(pool.amount.booked for pool in pools)
    return Measured(
        currency=WAITING_TASKS,
        span=MEAN,
        capacity=None if running is None else waiting + running,
        idle=None,
        pools=tuple(pools),
        remarks=tuple(_checked(facts, rows, waiting, running)),
    )


def _checked(facts: Facts, rows: list[ByEvent], waiting: float, running: float | None) -> Iterator[str]:
    """What is left out or cannot be turned into tasks, and whether all tasks together are the connections."""
    sending = sum(one.tasks for one in rows if one.event == NETWORK_SEND)
    if sending >= TASKS:
        yield f"Beside them {sending:.1f} tasks waited for clients to take what is sent (event {NETWORK_SEND})."
    unsure = [str(one.event) for one in rows if one.at_work and one.unsure and one.event not in LOG_SPACE]
    if unsure:
        yield f"Wait events {', '.join(unsure[:8])} have no time that can be turned into tasks, and are left out."
    states = [row.connections for row in interval_first(facts, MonState) if known(row.connections)]
    if running is None or not states:
        return
    reading = sum(one.tasks for one in rows if one.event == NETWORK_READ)
    whole, connected = waiting + reading + sending + running, states[0]
    if connected and abs(whole - connected) > CLOSE * connected:
        yield (
            f"Waiting ({waiting:.1f}), on the network ({reading + sending:.1f}) and running ({running:.1f}) tasks make "
            f"{whole:.0f}, and the server had {connected:,.0f} connections: some waits are not booked."
        )
