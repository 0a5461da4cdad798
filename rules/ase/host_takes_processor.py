"""The engines are busy by their own count, but the host gives them less.

Finds: engines whose threads got far less CPU from the operating system than they were busy by the server's own
ticks; or steal time of the host (`mpstat`, `vmstat` of Linux) while the engines are busy.

Why it matters: a tick says what an engine was doing when it was looked at; the operating system says how long its
thread really ran. An engine 99 % busy by ticks that ran for 70 % stood still for the rest: the virtual machine or the
partition had no processor for it. An engine that stands still while it holds a spinlock lets all others spin.

More engines than the host has CPUs make it worse: they take turns, whatever the hypervisor gives. Where the host counts
its steal time and that is small, they are the cause, and nobody else is asked.

What to do: where there are more engines than CPUs, run no more than fit at once (one CPU is left for the threads of
disks and network), or have as many CPUs promised. Else talk to those who run the host: processors promised and given,
other guests, limits of the partition, steal time. Tune the server only afterwards: its spinlock figures belong to a
machine that it does not have. The audit holds back the changes of the findings that this one explains
(`rules/audit.py`).

When to ignore it: in process mode, where the report has no threads, steal time alone tells. A thread that ran for
longer than its engine had ticks polls while it is idle; that is the opposite, and no finding. On lightly busy engines
the two are not compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import ABSENT, Facts, known
from collectors.facts.ase import ConfigParameter, EngineBusy, MonThread, PartitionLoad, Server, ThreadBusy
from rules.ase._evidence.host import (
    BUSY_PERCENT,
    ENGINE,
    GAP_POINTS,
    LOAD_FACTS,
    SAME_MINUTES,
    STEAL_PERCENT,
    Crowded,
    Load,
    Share,
    crowded,
    fewer,
    load_of,
    means_of,
    pool_command,
    shares_of,
)
from rules.ase._evidence.server import ENGINE_FACTS, Engines, engines_of, not_shown, subject_of
from rules.ase._evidence.spinlocks.monitored import say_doubt
from rules.engine import limit, percent, rule
from rules.finding import (
    Change,
    Clean,
    Cost,
    Evidence,
    Finding,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    joined,
)

LINKS = (
    "https://justdaveinfo.wordpress.com/2015/05/19/sap-sybase-ase-magic-numbers-and-hardcoded-behaviour/",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158567770.html",
)
ROWS = "Thread Utilization rows of sp_sysmon"
HELPS = "the Kernel Utilization section of sp_sysmon (threaded kernel)"
IDLE_PERCENT = 10.0
"""This project: of a host with less left idle than this no more can be asked."""
NONE_LEFT = "The virtual machine or partition has no processor for the engines at these moments."
STANDS_STILL = "An engine that stands still while it holds a spinlock lets all others spin."
ASK = (
    "Ask those who run the hypervisor what is promised to this machine and which others share its processors, before "
    "you change any setting of the server. Add no engine meanwhile."
)
FIT = (
    "Add no engine: until {0:,.0f} processors are promised and given (ask those who run the hypervisor), run as many "
    "as fit, {1} on {2:,.0f} CPUs with one left for disks and network{3}."
)
UNTIL = "Only until the machine is promised as many processors as it has engines: ask those who run the hypervisor."
USED_UP = (
    "Hold the host's processors (lscpu) against {0}, and see what else runs on it (top), before you change any setting "
    "of the server. Add no engine meanwhile."
)
CAPPED = (
    "Ask those who run the host for limits of the partition or container at the same time, before you change any "
    "setting of the server. Add no engine meanwhile."
)
NOBODY_TAKES = "{0} counts {1:.0f} % steal time and {2:.0f} % idle: the hypervisor gives {3} to others."
AT_ITS_CAP = (
    "Have those who run the host raise the entitlement of the partition or uncap it: it used {0:.2f} of the {1:.2f} "
    "processors that it may use at most (lparstat). Add no engine meanwhile; change no other setting of the server."
)
CAP_PERCENT = 95.0
"""This project: a capped partition that used so much of its entitlement has reached it; intervals are rounded."""
OWN_FIT = (
    "Run no more engines than the {0:,.0f} CPUs have room for, {1} with one left for disks and network{2}, and lower "
    "max online engines with the next restart; or have as many processors as engines given to the host. Add no engine."
)
ONLY_TURNS = "{0} engines take turns on {1:,.0f} CPUs."
TAKE_TURNS = "{0} engines take turns on {1:,.0f} CPUs, and the hypervisor may have none for them at that moment."
SYMPTOMS = (
    "ase/address_lock_spinlock_contended",
    "ase/cache_suits_relaxed_strategy",
    "ase/data_cache_spinlock_contended",
    "ase/engines_not_the_answer",
    "ase/hot_table_in_default_cache",
    "ase/index_descriptor_spinlock_contended",
    "ase/index_hash_spinlock_contended",
    "ase/lock_hash_spinlock_contended",
    "ase/log_in_shared_cache",
    "ase/object_descriptor_spinlock_contended",
    "ase/object_manager_spinlock_contended",
    "ase/partition_descriptor_spinlock_contended",
    "ase/procedure_cache_spinlock_contended",
    "ase/run_queue_long",
    "ase/run_queue_spinlock_contended",
    "ase/spinlock_dear",
    "ase/spinning_unexplained",
    "ase/statement_cache_spinlock_contended",
    "ase/system_tables_in_default_cache",
    "ase/table_lock_spinlock_contended",
    "ase/tempdb_in_shared_cache",
    "ase/user_log_cache_spinlock_contended",
)
"""Rules whose figures are waits for a spinlock or for an engine: an engine that stands still makes both longer."""


@dataclass(frozen=True)
class Limits:
    """How busy engines must be, and how far apart the two counts."""

    busy_percent: float = percent(
        BUSY_PERCENT, "this project: of idler engines the two counts differ by rounding and polling"
    )
    gap_points: float = limit(
        GAP_POINTS,
        "this project: 99 % of ticks with 70 % of CPU was seen on a starved server",
        low=1,
        high=100,
        unit="points",
    )
    loud_points: float = limit(
        35.0, "this project: a third of the engines' time is missing", low=1, high=100, unit="points"
    )
    loud_processors: float = limit(
        1.0, "this project: a whole processor is missing, on however many engines", unit="processors"
    )
    steal_percent: float = percent(STEAL_PERCENT, "this project: a tenth of the time; a few per cent are common")


@rule(
    needs=(),
    uses=(*ENGINE_FACTS, *LOAD_FACTS, PartitionLoad, EngineBusy, ThreadBusy, MonThread, Server, ConfigParameter),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Compare the means over all engines for which both were read; where they tell nothing, by steal time."""
    load, engines = load_of(facts), engines_of(facts)
    stolen = load if load and load.steal >= limits.steal_percent else None
    found = list(_compared(facts, limits, stolen))
    fired = any(isinstance(one, Finding) for one in found)
    if stolen and (engines.busy_percent or 0.0) >= limits.busy_percent and not fired:
        yield _stolen(facts, limits, stolen, engines)
    else:
        yield from found


def _compared(facts: Facts, limits: Limits, stolen: Load | None) -> Iterator[Outcome]:
    """What the engines' ticks and the threads' seconds say; `stolen`: what the host counts, where that is much."""
    doubtful = [row for row in facts.every(MonThread) if not row.believed]
    shares = shares_of(facts)
    if not shares and doubtful:
        yield Untrusted(f"monThread: {say_doubt(row.certificate for row in doubtful)}")
        return
    if not shares:
        yield _why_none(facts)
        return
    means = means_of(shares)
    if means is None:
        yield Untrusted("a share of one CPU below 0 or above 100 %: a counter wrapped or was cleared")
        return
    ticks, given = means.ticks, means.given
    said = f"{len(shares)} engines {ticks:.0f} % busy by ticks, {given:.0f} % by the operating system"
    if ticks < limits.busy_percent:
        yield Clean(f"{said}: too idle to compare (limit {limits.busy_percent:g} %)")
    elif not means.withheld(limits.busy_percent, limits.gap_points):
        yield Clean(f"{said}: {max(0.0, ticks - given):.0f} points apart, limit {limits.gap_points:g}")
    else:
        yield _finding(facts, limits, shares, ticks, given, stolen)


def _stolen(facts: Facts, limits: Limits, load: Load, engines: Engines) -> Finding:
    """By what the host counts itself."""
    stolen = load.stolen
    loud = stolen is not None and stolen >= limits.loud_processors
    many = f" of {load.cpus:,.0f} CPUs: about {stolen:.1f} that had work" if stolen is not None else ""
    over = crowded(facts)
    return Finding(
        subject=subject_of(facts),
        severity=Severity.WARNING if loud else Severity.ADVICE,
        title=f"The hypervisor gives {load.steal:.0f} % of the host's processor time to others" + _title(over),
        seen=f"{load.command} counts {load.steal:.0f} % steal time{many}. The engines are "
        f"{engines.busy_percent or 0.0:.0f} % busy on average.",
        because=_because(over),
        do=_fit(facts, over) or ASK,
        unknown=SAME_MINUTES.format(load.command),
        evidence=(
            *_steal(load, limits),
            Evidence("mean engine busy", round(engines.busy_percent or 0.0, 1), "%", engines.source),
            *_too_many(over),
        ),
        changes=_changes(facts, over),
        explains=SYMPTOMS,
    )


def _title(over: Crowded | None) -> str:
    return f": {over.engines} engines on {over.cpus:,.0f} CPUs" if over else ""


def _because(over: Crowded | None, spared: Load | None = None) -> str:
    """Why they stand still. `spared`: the host, where it counts that its hypervisor takes little or nothing."""
    if spared:
        much = "next to nothing" if spared.steal < 2 else "little"
        counted = NOBODY_TAKES.format(spared.command, spared.steal, spared.idle_percent, much)
        turns = ONLY_TURNS.format(over.engines, over.cpus) if over else ""
        return joined(turns, counted, STANDS_STILL if not over else "")
    return joined(TAKE_TURNS.format(over.engines, over.cpus) if over else NONE_LEFT, STANDS_STILL)


def _changes(facts: Facts, over: Crowded | None) -> tuple[Change, ...]:
    """No more engines than fit, where it is known what they are."""
    change = fewer(facts, over.engines, over.fitting) if over else None
    return (replace(change, cautions=(UNTIL, *change.cautions)),) if change else ()


def _fit(facts: Facts, over: Crowded | None, spared: Load | None = None) -> str:
    """What to do where there are more engines than CPUs; empty where there are not."""
    if over is None:
        return ""
    command = pool_command(facts, over.fitting)
    if spared:
        return OWN_FIT.format(over.cpus, over.fitting, f" ({command})" if command else "")
    return FIT.format(over.engines, over.fitting, over.cpus, f" ({command})" if command else "")


def _too_many(over: Crowded | None) -> Iterator[Evidence]:
    if over:
        yield Evidence("engines on the CPUs of the host", float(over.engines), "", over.source, over.cpus)


def _steal(load: Load, limits: Limits) -> Iterator[Evidence]:
    """The figures of the host."""
    yield Evidence("steal time of the host", round(load.steal, 1), "%", load.source, limits.steal_percent)
    if load.stolen is not None:
        yield Evidence("processors given to others", round(load.stolen, 2), "processors", load.source)


def at_its_cap(facts: Facts) -> PartitionLoad | None:
    """The partition, where it is capped and used what it is entitled to."""
    one = facts.latest(PartitionLoad)
    if one is None or not one.capped or not known(one.used) or not known(one.entitled) or one.entitled <= 0:
        return None
    return one if one.used >= one.entitled * CAP_PERCENT / 100.0 else None


def _at_cap(one: PartitionLoad | None) -> Iterator[Evidence]:
    if one and known(one.used) and known(one.entitled) and one.entitled:
        share = min(100.0, round(100.0 * one.used / one.entitled, 1))  # both are rounded
        yield Evidence("entitlement that the capped partition used", share, "%", one.source, CAP_PERCENT)


def _why_none(facts: Facts) -> Outcome:
    """What is missing, by what was collected: never a section that this kernel does not print."""
    without = not_shown(facts, ThreadBusy)
    if without:
        return NotApplicable(without)
    engines = facts.every(EngineBusy)
    if engines and not facts.every(ThreadBusy) and all(e.pool is None and e.system_percent is ABSENT for e in engines):
        return NotApplicable("process mode: sp_sysmon prints its engines without thread pools, so there are no threads")
    if not engines:
        return Unknown.without(HELPS, EngineBusy.COLLECTED_BY)
    threads = [one for one in facts.every(ThreadBusy) if one.name.strip().startswith(ENGINE)]
    lacks = f"the {ROWS} are {'n/a' if threads else 'missing'}"
    return Unknown.without(f"CPU of the engines' threads: {lacks}", MonThread.COLLECTED_BY, lacks)


def _finding(
    facts: Facts, limits: Limits, shares: list[Share], ticks: float, given: float, stolen: Load | None
) -> Finding:
    worst = max(shares, key=lambda one: one.ticks - one.given)
    gap = ticks - given
    missing = len(shares) * gap / 100.0
    sure = len(shares) * (gap - limits.gap_points) / 100.0  # so far apart the two counts may be for no reason
    most = sum(max(0.0, one.ticks - one.given) for one in shares) / 100.0
    engines = f"{len(shares)} engine{'s' if len(shares) > 1 else ''}"
    load = load_of(facts)
    spared = load if load and load.counts_steal and not stolen else None
    over, asked = crowded(facts), "promised"
    own = over if spared else None  # the host counts that nobody takes processors from it
    if over:
        asked = "asked for"  # a machine of fewer CPUs than engines was never promised so many
    capped = at_its_cap(facts)
    loud = gap >= limits.loud_points or missing >= limits.loud_processors
    return Finding(
        subject=subject_of(facts),
        severity=Severity.WARNING if loud else Severity.ADVICE,
        title=f"{own.engines} engines on {own.cpus:,.0f} CPUs: each runs for {given:.0f} % of the time and is "
        f"{ticks:.0f} % busy"
        if own
        else f"The host gives the engines {given:.0f} % of a CPU where they were {ticks:.0f} % busy" + _title(over),
        seen=f"By its own ticks the server was {ticks:.0f} % busy on {engines}, by the operating system "
        f"their threads ran for {given:.0f} %: about {missing:.1f} processors were {asked} and not given."
        + (f" {stolen.command} counts {stolen.steal:.0f} % steal time." if stolen else ""),
        because=_because(over, spared),
        do=fit
        if (fit := _fit(facts, over, spared))
        else AT_ITS_CAP.format(capped.used, capped.entitled)
        if capped and not stolen
        else ASK
        if stolen
        else (USED_UP.format(engines) if spared.idle_percent < IDLE_PERCENT else CAPPED)
        if spared
        else "Ask those who run the host for its figures of the same time (steal time, other guests, limits of the "
        "partition) before you change any setting of the server.",
        unknown=SAME_MINUTES.format("lparstat") if capped and not stolen else "",
        evidence=(
            Evidence("mean engine busy, by ticks", round(ticks, 1), "%", shares[0].source, limits.busy_percent),
            Evidence("mean CPU of the engines' threads", round(given, 1), "%", shares[0].source),
            Evidence("difference", round(gap, 1), "points", shares[0].source, limits.gap_points),
            Evidence("processors missing", round(missing, 2), "processors", shares[0].source, limits.loud_processors),
            Evidence(f"{worst.engine} by ticks", round(worst.ticks, 1), "%", worst.source),
            Evidence(f"{worst.engine} by the operating system", round(worst.given, 1), "%", worst.source),
            *(_steal(stolen, limits) if stolen else ()),
            *_at_cap(capped),
            *_too_many(over),
        ),
        changes=_changes(facts, over),
        cost=Cost(missing, sure, max(most, missing)),
        explains=SYMPTOMS,
    )
