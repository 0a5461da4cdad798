"""There are more engines than cores, and they spin for each other.

Finds: engines that are busy and more than the cores of the host (`lscpu`), while several spinlocks take thousands of
spins for each wait and none of them is contended enough to be a cause by itself; or more engines than the host has
logical CPUs.

Why it matters: a spinlock is held for a few instructions. Where engines share cores, or have none at the moment, the
holder runs at half the pace or not at all, and all that wait spin meanwhile: every spinlock looks a little contended at
once. The second thread of a core gives less than a processor (vendor), and the server's other threads (disks, network)
want one, too.

What to do: test with as many engines as cores, under the same load: `alter thread pool … with thread count = n`, which
is in force at once, or `sp_engine "offline"` in process mode. Whether fewer engines do more is inferred from the spins,
and only the throughput of both decides it (ase/engines_past_peak reads that as a series).

When to ignore it: where engines are idle, or spins are few. A host whose cores are a hypervisor's counts what it was
promised: ase/host_takes_processor tells what it got.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import EngineBusy, HostProcessors, MonEngine, MonSpinlockActivity
from rules.ase._evidence.host import HOST_FACTS, pool_command, withheld
from rules.ase._evidence.server import ENGINE_FACTS, Engines, engines_of, process_mode, subject_of
from rules.ase._evidence.spinlocks.gates import LOCK_PERCENT, SPINS_ORIGIN, SPINS_PER_ENGINE
from rules.ase._evidence.spinlocks.monitored import SCHEDULER, Spinlock, spinlocks_by_name
from rules.ase._evidence.spinlocks.names import plain_name
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, NotApplicable, Outcome, Severity, Unknown, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158567770.html",
    "https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",
)
LEAST_LOCKS = 3
"""This project: so many spinlocks at once are no cause by themselves; one or two may have one of their own."""
LEAST_WAITS = 10.0
"""This project: waits a second of a spinlock below which spins for each wait are of single events."""
NAMED = 3
BECAUSE = (
    "Holders that share a core, or have none at the moment, keep a spinlock longer, and all that wait spin meanwhile, "
    "whichever spinlock it is. The second thread of a core gives less than a processor (vendor), and the threads for "
    "disks and network want one, too."
)
INFERRED = "That fewer engines do more is inferred from the spins: the transactions of both decide it."
GUEST = "The host is a virtual machine ({0}): whether it gets these cores shows ase/host_takes_processor."
LASTING = (
    " For good: `max online engines` and `number of engines at startup` to that number (sp_configure, static), if more "
    "commit."
)
BEYOND = ("ase/log_semaphore_contended",)
"""What an engine without a CPU holds, the others wait for: fewer engines are named against the log semaphore, too."""
EXPLAINS = ("ase/spinning_unexplained", "ase/spinlock_dear", "ase/spinlock_next_in_line", "ase/run_queue_long")


@dataclass(frozen=True)
class Limits:
    """How busy the engines must be, and what is spinning for nothing."""

    busy_percent: float = percent(85.0, "practice: CPU of 85 % (Rukav's sp_sysmon hints)")
    spins_per_wait: float = limit(
        1000.0,
        "this project: 744 was seen of fglockspins on a healthy server; practice looks from 100 on",
        unit="spins",
    )
    spins_per_engine: float = limit(SPINS_PER_ENGINE, SPINS_ORIGIN, unit="spins/s")
    contention_percent: float = percent(LOCK_PERCENT, "practice: from 10 % on a spinlock has a cause of its own")


@rule(
    needs=(),
    uses=(HostProcessors, *ENGINE_FACTS, *HOST_FACTS, MonSpinlockActivity),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the engines against the cores, then look at what they spin."""
    host, engines = facts.latest(HostProcessors), engines_of(facts)
    cores = host.cores if host else None
    if engines.number is None or engines.busy_percent is None:
        yield Unknown.of(EngineBusy, MonEngine)
        return
    if engines.busy_percent < limits.busy_percent:
        yield Clean(f"{engines.number} engines {engines.busy_percent:.0f} % busy (limit {limits.busy_percent:g} %)")
        return
    if host is None or cores is None or not known(host.cpus):
        yield Unknown.of(HostProcessors)
        return
    threads = f" with {host.cpus:,.0f} threads" if host.cpus > cores else ""
    said = f"{engines.number} engines on {cores:,.0f} cores{threads}"
    if engines.number <= cores:
        yield Clean(said)
    elif withheld(facts):
        yield NotApplicable(f"{said}, and the host gives them less than they ask for: see ase/host_takes_processor")
    else:
        yield from _spinning(facts, limits, host, engines, int(cores), said)


def _spinning(
    facts: Facts, limits: Limits, host: HostProcessors, engines: Engines, cores: int, said: str
) -> Iterator[Outcome]:
    """Whether they spin long for each wait, on several spinlocks and without one cause."""
    own = [one for one in spinlocks_by_name(facts).values() if plain_name(one.name) not in SCHEDULER]
    locks = [one for one in own if one.of_interval and one.seconds]
    beyond = known(host.cpus) and (engines.number or 0) > host.cpus
    if not locks and not beyond:
        yield Unknown.of(MonSpinlockActivity)
        return
    long = [one for one in locks if _long(one, limits.spins_per_wait)]
    long.sort(key=lambda one: -one.spins)
    most = max((one.per_engine(engines.number) or 0.0 for one in locks), default=0.0)
    caused = [one for one in long if (one.percent or 0.0) >= limits.contention_percent]
    spins = len(long) >= LEAST_LOCKS and most >= limits.spins_per_engine and not caused
    if not spins and not beyond:
        why = (
            f"{caused[0].name} is {caused[0].percent:.0f} % contended" if caused else f"{len(long)} spinlocks spin long"
        )
        yield Clean(f"{said}, {why}: no sign that engines lack cores (limit {LEAST_LOCKS} spinlocks, none contended)")
        return
    yield _finding(facts, limits, host, engines, cores, said, long if spins else [])


def _long(lock: Spinlock, limit_spins: float) -> bool:
    """Whether its waits are many enough to be counted and take so many spins each."""
    return (lock.rate(lock.waits) or 0.0) >= LEAST_WAITS and (lock.spins_per_wait or 0.0) >= limit_spins


def _finding(
    facts: Facts, limits: Limits, host: HostProcessors, engines: Engines, cores: int, said: str, long: list[Spinlock]
) -> Finding:
    busy = engines.busy_percent or 0.0
    listed = ", ".join(f"{one.name} {one.spins_per_wait:,.0f}" for one in long[:NAMED])
    command = pool_command(facts, cores)
    back = pool_command(facts, engines.number or cores, back=True)
    how = f" ({command}; back: {back})" if command and back else ""
    lasting = LASTING if process_mode(facts) and command else ""
    return Finding(
        subject=subject_of(facts),
        severity=Severity.WARNING,
        title=f"{said}, {busy:.0f} % busy"
        + (f": {len(long)} spinlocks at once spin thousands of times a wait" if long else ": more than it has CPUs"),
        seen=joined(
            f"The host has {cores:,.0f} cores, and the server {engines.number} engines, {busy:.0f} % busy.",
            f"{len(long)} spinlocks spin {limits.spins_per_wait:,.0f} times and more for each wait ({listed}), and "
            f"none of them is {limits.contention_percent:g} % contended."
            if long
            else "",
        ),
        because=BECAUSE,
        do=f"Test with {cores} engines, one for each core{how}, at a quiet time and then under the same load: keep "
        "what commits more." + (lasting or " Add no engine, and change no spinlock's ratio before that."),
        unknown=joined(INFERRED, GUEST.format(host.hypervisor) if host.hypervisor else ""),
        evidence=(
            Evidence("cores of the host", float(cores), "", host.source),
            Evidence("engines online", float(engines.number or 0), "", engines.source, float(cores)),
            Evidence("mean engine busy", round(busy, 1), "%", engines.source, limits.busy_percent),
            *(
                Evidence(
                    f"spins for each wait of {one.name}",
                    round(one.spins_per_wait or 0.0),
                    "spins",
                    one.rows[0].source,
                    limits.spins_per_wait,
                )
                for one in long
            ),
        ),
        explains=EXPLAINS if long else (*EXPLAINS, *BEYOND),
        weight=sum(one.spins for one in long) or None,
        share=busy,
    )
