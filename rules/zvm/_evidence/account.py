"""What pages of Performance Toolkit, and tables of measured runs, say of where a z/VM system's processors went.

A processor that spins for a lock of CP does no work, so all of that time is lost. Whether a row's per cent is the mean
of the processors or their sum no source says (`spins`), so the amount has both ends.
"""

from dataclasses import replace

from collectors.facts import Facts, Source, known
from collectors.facts.zvm import PerformanceRun, ProcessorLoad
from rules.account import MEAN, PROCESSORS, Amount, Measured, Open, Pool
from rules.conflict import Told, conflict_of
from rules.finding import Cost
from rules.zvm._evidence import runs
from rules.zvm._evidence.machine import Machine, busy_of_rows, machine_of
from rules.zvm._evidence.spins import cost_of, scale_of, spins_of

CAUSES = ("zvm/scheduler_lock_contended", "zvm/spin_locks_cost_too_much")
BUSY = "work and idle time: how busy the processors were is not in the export"


def measured(facts: Facts) -> tuple[Measured, ...]:
    """The account of the interval, else one of each measured run, in the order printed."""
    system = _system(facts)
    return (system,) if system else tuple(one for run in facts.every(PerformanceRun) if (one := _run(run)))


def _system(facts: Facts) -> Measured | None:
    """By the mean that CP prints, with what the rows of single processors say where that is something else."""
    machine, rows = machine_of(facts), busy_of_rows(facts)
    made = _of(facts, machine)
    if made is None or machine.busy is None or rows is None:
        return made
    used = Told("the mean as printed", machine.busy.value, machine.busy.source)
    others = (Told("the rows of single processors", rows.value, rows.source),)
    conflict = conflict_of("the processors busy", used, others, "CP made it of all of them", one_time=True)
    if conflict is None:
        return made
    return replace(made, conflict=conflict, otherwise=_of(facts, replace(machine, busy=rows)))


def _of(facts: Facts, machine: Machine) -> Measured | None:
    spins = spins_of(facts)
    cpus, scale = machine.processors, scale_of(spins, machine)
    if cpus is None or spins.doubts:
        return None
    pools = [
        _pool(spin.lock, cost, spin.fact.source)
        for spin in spins.locks or filter(None, (spins.total,))
        if not spin.moment and (cost := cost_of(spin.percent, machine, scale)) and cost.high <= cpus
    ]
    if not pools:
        return None
    lost = sum(pool.amount.booked for pool in pools)
    busy = machine.busy.value * cpus / 100 if machine.busy else None
    rest = max(0.0, cpus - lost)
    return Measured(
        currency=PROCESSORS,
        span=MEAN,
        capacity=cpus,
        idle=None if busy is None else min(rest, max(0.0, cpus - busy)),
        pools=tuple(pools),
        undivided=Open(Amount(rest, 0.0, rest), BUSY, ProcessorLoad.COLLECTED_BY) if busy is None else None,
    )


def _run(run: PerformanceRun) -> Measured | None:
    cost = None if runs.doubt(run) else runs.cost_of(run)
    if cost is None or not known(run.processors) or cost.high > run.processors:
        return None
    busy = run.total_util_percent
    idle = run.processors * (1 - busy / 100) if known(busy) and 0 <= busy <= 100 else None
    rest = max(0.0, run.processors - cost.processors)
    return Measured(
        currency=PROCESSORS,
        span=MEAN,
        capacity=run.processors,
        idle=None if idle is None else min(idle, rest),
        pools=(_pool(f"run {run.run}", cost, run.source, what="spinning for locks of CP"),),
        undivided=Open(Amount(rest, 0.0, rest), BUSY, PerformanceRun.COLLECTED_BY) if idle is None else None,
        run=f"run {run.run}",
    )


def _pool(name: str, cost: Cost, source: Source, what: str = "") -> Pool:
    return Pool(
        what=what or f"spinning for {name}",
        amount=Amount(cost.processors, cost.low, cost.high),
        source=source,
        causes=tuple(f"{rule}:{name}" for rule in CAUSES),
    )
