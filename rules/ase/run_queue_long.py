"""Engines are busy and tasks queue for them, without contended spinlocks.

Finds: engines over 90 % busy, more than two tasks in the run queue of each on average (sp_sysmon, or the waits of
monSysWaits for the run queue), and no spinlock in use that is contended or spins much. From one task on where spins
were counted and the commands of clients are known to be short, or where one statement takes most of the engines'
work. With contended spinlocks this
is ase/engines_not_the_answer. Where the threaded kernel has several pools of engines, each is judged by itself: a task
runs in its pool alone, and idle engines of another are no help to it. Where `max online engines` allows no more, the
idle pool gives threads: it is made smaller first, then the short one larger.

Why it matters: this is work, not contention: each task waits for the tasks in front of it, so response times grow with
the queue while throughput is at what these engines give. It is no fault of a setting, and no setting of the server
takes it away.

Where no queue was collected, a statement of the cache that takes most of the engines is told all the same.

What to do: look at the statements that take most of the processor first. Where monSysStatement or monProcessStatement
show one that takes a large part, it is named by procedure and line, with the table that its plan scans; else by
monCachedStatement, AvgCPUTime times the growth of UseCount between two snapshots, with the table that it scans and the
index it wants. Of one listing of that table alone, the statement that took most since it was cached is named with its
share of what is listed. Where spins were counted and nothing
spins, one engine more is right, if the host has a processor that is idle at the same minutes, which no export of the
server shows: the processors of the host or the virtual machine, and how busy they are, decide. sp_sysmon counts the CPU
units that the server's threads use: of a host with two threads a core, the last of these units are the second threads
of busy cores, and give less (vendor). Where spins were counted, the host is known to have processors idle and no one
statement takes the work, the step is scripted. With a threaded kernel leave processors for the threads of disk and
network.

How loud it is: as other waits, by the tasks that wait for an engine, where monSysWaits counts them and the commands of
clients are short. It is advice of the long ones of a batch or of reports, by sp_sysmon alone, where the host
withholds processors (ase/host_takes_processor), and of up to two tasks for each engine.

When to ignore it: when response times are good: a batch that nobody waits for may keep all engines busy. Where the
queue was long for a minute alone the averages of 5 and 15 minutes show it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import (
    EngineBusy,
    HostProcessors,
    MetadataSpinlock,
    MonCachedStatement,
    MonEngine,
    MonSysWaits,
    RunnableTasks,
    SysmonSample,
)
from collectors.facts.scaling import LoadSeries
from rules.ase._evidence.engine_series import past_peak
from rules.ase._evidence.host import (
    HOST_FACTS,
    SAME_MINUTES,
    load_of,
    means_of,
    shares_of,
    withheld,
)
from rules.ase._evidence.more_engines import ADD_NONE, MOST, More, Queue, more_engines, not_yet, printed_queue
from rules.ase._evidence.objects.costliest import COSTLIEST_FACTS, Costliest, costliest
from rules.ase._evidence.objects.costliest_cached import CACHED_FACTS, CachedCostliest, costliest_cached
from rules.ase._evidence.objects.costliest_listed import ListedCostliest, costliest_listed
from rules.ase._evidence.objects.indexes import beginning_with, indexes_of
from rules.ase._evidence.objects.statement_cpu import Worked
from rules.ase._evidence.objects.statements import shown, tables_in
from rules.ase._evidence.server import (
    Engines,
    engines_of,
    offers,
    pools_of,
    setting_of,
    subject_of,
    unknown_of,
)
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import (
    CACHE_SEARCHES,
    LOCK_PERCENT,
    METADATA_PERCENT,
    SPINS_ORIGIN,
    SPINS_PER_ENGINE,
)
from rules.ase._evidence.spinlocks.monitored import dearest
from rules.ase._evidence.spinlocks.survey import (
    CACHE_FACTS,
    LOCK_FACTS,
    all_figures,
    survey,
)
from rules.ase._evidence.waits.events import RUN_QUEUE
from rules.ase._evidence.waits.index_wanted import PAGES_A_ROW, columns_of
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, command_time, waited_for
from rules.ase._evidence.waits.verdict import COMMAND_ORIGIN, COMMAND_SECONDS, TaskLimits, of_tasks
from rules.changes.quoting import bare_table, comment
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Evidence,
    Finding,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    capitalized,
    joined,
    within,
)

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158567770.html",
    "https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",
)
CAUSES = (
    "No spinlock that was read and is in use costs so much that it would explain this. It is work, or a host that "
    "withholds processors (ase/host_takes_processor), which is to be settled first; no setting takes it away"
)
SETTLED = (
    "No spinlock that was read costs so much, and the host withholds nothing: engines {0:.0f} % busy by ticks ran for "
    "{1:.0f} % by the operating system. {2}"
)
WORK = "No spinlock that was read explains it"
NO_SPINS = "No spins were counted, so spinlocks that sp_sysmon does not print are not excluded: {0}."
LOOK = (
    "Take two snapshots of monSpinlockActivity first, which tell work from spinning. If it is work, tune the "
    "statements that take most of the processor ({0} shows them); {1}"
)
"""In place of the statements where neither spins nor statements were counted."""
NOTHING_YET = "Change nothing yet: {}"
PAST_PEAK = "Add no engine: {}."
WORK_ALONE = "It is work, which no setting takes away"
MAY_SPIN = "It is work, or spinning that sp_sysmon does not print"
COUNTED_BY, NOT_COUNTED = "two snapshots of monSpinlockActivity show them", "this release counts them nowhere"
UNITS = (
    "The server's threads use {0:g} CPU units: hold that against the processors of the host at the same minutes, where "
    "the second thread of a busy core gives less (vendor); no export of the server shows them."
)
UNITS_OF = (
    "The server's threads use {0:g} CPU units of the host's {1:g} CPUs (lscpu): how many of these are idle at the same "
    "minutes, mpstat shows."
)
HOST = "Whether the host has a processor idle at the same minutes, which one engine more would need, no export shows."
WITHHELD = "No engine more: the host gives those there are less than they ask for (ase/host_takes_processor)."
MOST_OF_WORK = 50.0
"""Per cent of the engines' work: no other statement takes as much."""
WHOLE_PERCENT = 102.0
"""A statement that took more of the engines' work than all of it, but for rounding, was counted over another time."""
STATEMENTS = {
    "monCachedStatement": "monCachedStatement shows them (AvgCPUTime times the growth of UseCount)",
    "monSysStatement": "monSysStatement shows them (CpuTime, with its pipe on)",
}
"""The later one of the two where the server has it; the other is in every release that is audited."""


@dataclass(frozen=True)
class Limits(TaskLimits):
    """`TaskLimits`; how busy the engines must be, and how long the queue; what counts as contended."""

    busy_percent: float = percent(90.0, "vendor: add engines only if they are busier than this all the time")
    tasks_per_engine: float = limit(
        2.0,
        "practice: DbxTune warns at 2.0 runnable tasks over 5 minutes; this project: of each engine",
        unit="tasks",
    )
    short_queue: float = limit(
        1.0,
        "this project: each task that runs has another behind it; the vendor names 90 % busy engines and no queue",
        unit="tasks",
    )
    main_percent: float = percent(MOST_OF_WORK, "this project: of what the engines worked; no other takes as much")
    command_seconds: float = limit(COMMAND_SECONDS, COMMAND_ORIGIN, unit="s")
    contention_percent: float = percent(LOCK_PERCENT, "practice: 10 % starts the search (Rukav)")
    metadata_percent: float = percent(METADATA_PERCENT, "vendor: above 3 % (sp_sysmon guide)")
    uses_per_second: float = limit(
        CACHE_SEARCHES, "this project: fewer lookups or searches cannot keep an engine busy", unit="/s"
    )
    spins_per_engine: float = limit(SPINS_PER_ENGINE, SPINS_ORIGIN, unit="spins/s")


@rule(
    needs=(),
    uses=(
        *WAIT_FACTS,
        *LOCK_FACTS,
        *CACHE_FACTS,
        *HOST_FACTS,
        *COSTLIEST_FACTS,
        *CACHED_FACTS,
        MetadataSpinlock,
        RunnableTasks,
        LoadSeries,
    ),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the queue against the engines, and both against the spinlocks."""
    engines = engines_of(facts)
    if engines.busy_percent is None or engines.number is None:
        if told := _queue_alone(facts, limits):
            yield told
        yield Unknown.of(EngineBusy, MonEngine)
        return
    said = f"{engines.number} engines {engines.busy_percent:.0f} % busy on average"
    if engines.busy_percent <= limits.busy_percent:
        if short := _short_pool(facts, limits):
            yield _finding(facts, limits, *short)
            return
        yield Clean(f"{said}, limit {limits.busy_percent:g} %")
        return
    queue = printed_queue(facts) or _waited(facts)
    if spinning := _spinning(facts, limits, engines):
        yield Clean(f"{said}, but {spinning}")
    elif queue is None:
        yield _work_alone(facts, limits, engines) or unknown_of(facts, RunnableTasks, MonSysWaits)
    elif not isinstance(queue, Queue):
        yield queue
    elif queue.tasks <= (least := _least(facts, limits, engines)) * engines.number:
        yield Clean(f"{said}, {queue.said}: limit {least:g} for each engine")
    else:
        yield _finding(facts, limits, engines, queue)


def _queue_alone(facts: Facts, limits: Limits) -> Finding | None:
    """The queue by monSysWaits against all engines there may be, where a statement is shown to keep most of them busy.

    How busy the engines are was not collected, so it is no more than advice, and of the statement alone.
    """
    queue, setting = _waited(facts), setting_of(facts, MOST)
    most = setting.run_number if setting else None
    if not isinstance(queue, Queue) or not most or queue.tasks <= limits.tasks_per_engine * most:
        return None
    found: list[Worked] = []
    for row in facts.every(MonCachedStatement):
        ran, each, seen, read = row.executions, row.cpu_each, row.mean_scan_rows, row.mean_read_rows
        if not (row.of_interval and row.believed and row.seconds and known(ran) and known(each)):
            continue
        if known(seen) and known(read) and seen >= PAGES_A_ROW * max(read, 1.0):
            found.append(Worked(row, ran / row.seconds, each, busy=most))
    top = max(found, key=lambda one: one.engines, default=None)
    if top is None or not most / 2 <= top.engines <= most:  # this project: half of the engines
        return None
    kept, row = top.engines, top.statement
    tables, columns, text = tables_in(row.text or ""), columns_of(row.text or ""), shown(row.text or "", 80)
    name = next(iter(tables))[1] if len(tables) == 1 else None
    plain = name and columns and not any(beginning_with(indexes_of(facts, name), one) for one in columns)
    on = f"`create index <name> on {bare_table(name)} ({', '.join(columns)})`" if name and plain else ""
    home = f", in {comment(row.database, 60)}" if row.database else ""
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE,
        title=f"{queue.tasks:.1f} tasks queue for at most {most:g} engines; SSQLID {row.statement} "
        f"keeps {kept:.1f} busy",
        seen=f"{capitalized(queue.said)}; {MOST} is {most:g}.",
        because=f"SSQLID {row.statement} ({text}) scans many rows for each it finds, and takes {kept:.1f} engines "
        "by its executions and AvgCpuTime.",
        do=f"First give SSQLID {row.statement} an index: {on}{home}."
        if on
        else f"First tune SSQLID {row.statement}: an index for its where clause{home}, or its plan.",
        unknown="How busy the engines are was not collected: add none for this.",
        evidence=(
            Evidence("tasks waiting for the run queue", round(queue.tasks, 1), "tasks", queue.source),
            Evidence(f"engines kept busy by statement {row.statement}", round(kept, 1), "engines", row.source),
        ),
    )


def _work_alone(facts: Facts, limits: Limits, engines: Engines) -> Finding | None:
    """Busy engines whose queue was not collected, where one statement of the cache is known to take most of them."""
    cached, busy = costliest_cached(facts), engines.busy_percent or 0.0
    if cached is None or cached.worked.percent < limits.main_percent:
        return None
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE,
        title=f"{engines.number} engines are {busy:.0f} % busy{cached.title}",
        seen=f"{engines.number} engines are {busy:.0f} % busy on average.",
        because=f"{WORK}: {cached.says}.",
        do=cached.step,
        unknown="How many tasks queue for the engines was not collected: add none for this.",
        evidence=(
            Evidence("mean engine busy", round(busy, 1), "%", engines.source, limits.busy_percent),
            *cached.evidence,
        ),
        share=busy,
    )


def _least(facts: Facts, limits: Limits, engines: Engines) -> float:
    """How many tasks must queue for each engine: fewer where it is known that nothing spins and commands are short.

    Fewer, too, where one statement is known to take most of what the engines worked: then it is work, and whose.
    """
    commands = command_time(facts)
    interactive = commands is not None and commands.seconds <= limits.command_seconds
    top = costliest(facts, "cpu_milliseconds")
    alone = top is not None and (_of_work(engines, top) or 0.0) >= limits.main_percent
    return limits.short_queue if alone or (interactive and dearest(facts)) else limits.tasks_per_engine


def _of_work(engines: Engines, top: Costliest) -> float | None:
    """What the statement took of the engines' work, in per cent; `None` where it was counted over another time."""
    if top.cpu_seconds is None or not (engines.seconds and engines.busy_percent and engines.number):
        return None
    share = 100.0 * top.cpu_seconds / (engines.seconds * engines.number * engines.busy_percent / 100.0)
    return share if share <= WHOLE_PERCENT else None


def _short_pool(facts: Facts, limits: Limits) -> tuple[Engines, Queue, str] | None:
    """The pool of engines for which most tasks queue, of those that are short of engines while others are not.

    monSysWaits counts the tasks of all pools: they are taken to wait for the one pool that is busy where they were
    enough for all engines.
    """
    pools = pools_of(facts)
    busy = {pool: one for pool, one in pools.items() if (one.busy_percent or 0.0) > limits.busy_percent}
    found: list[tuple[Engines, Queue, str]] = []
    for pool, engines in busy.items():
        queue, number = printed_queue(facts, pool), engines.number or 0
        if queue is None and len(busy) == 1:
            waited = _waited(facts)
            queue = waited if isinstance(waited, Queue) else None
            number = sum(one.number or 0 for one in pools.values())
        if queue and queue.tasks > limits.tasks_per_engine * number and not _spinning(facts, limits, engines):
            found.append((engines, queue, pool))
    return max(found, key=lambda one: one[1].tasks, default=None)


def _waited(facts: Facts) -> Queue | Untrusted | Unknown | None:
    """What monSysWaits counts for the run queue between two snapshots."""
    found = waited_for(facts, "the run queue", RUN_QUEUE)
    if not isinstance(found, Waited):
        return found
    if found.unsure:
        return Unknown.of(RunnableTasks)
    return Queue(found.tasks, f"{found.tasks:,.1f} tasks waiting for the run queue on average", found.source)


def _spinning(facts: Facts, limits: Limits, engines: Engines) -> str:
    """What says that part of the work is spinning; empty where nothing does."""
    figures = all_figures(facts)
    families = {one.family for one in figures if isinstance(one, Figure)}
    percents = dict.fromkeys(families, limits.contention_percent) | {"metadata": limits.metadata_percent}
    seen = survey(facts, figures, percents, dict.fromkeys(families, limits.uses_per_second), limits.busy_percent)
    if seen.hot:
        return f"{seen.by_spins[0].label} is contended: judged by ase/engines_not_the_answer"
    most = dearest(facts)
    rate = most.per_engine(engines.number) if most else None
    if most and rate is not None and rate >= limits.spins_per_engine:
        return f"{most.name} spins {rate:,.0f} times a second on each engine: see the rules about spinlocks"
    return ""


def _finding(facts: Facts, limits: Limits, engines: Engines, queue: Queue, pool: str = "") -> Finding:
    """`pool`: that these engines are of, where another has engines enough."""
    number, busy = engines.number or 1, engines.busy_percent or 0.0
    each, load = queue.tasks / number, load_of(facts)
    most, sample = dearest(facts), facts.latest(SysmonSample)
    rate = most.per_engine(number) if most else None
    units, host = sample.cpu_units if sample else None, facts.latest(HostProcessors)
    spins = (
        f"The spinlock that spins most, {most.name}, does so {rate:,.0f} times a second on each."
        if most and rate
        else ""
    )
    counted = most is not None and rate is not None
    table = "monCachedStatement" if offers(facts, "monCachedStatement") else "monSysStatement"
    top = costliest(facts, "cpu_milliseconds")
    cached: CachedCostliest | ListedCostliest | None = costliest_cached(facts)
    if top and not top.running and not (cached and cached.name == top.name):
        cached = None  # what the pipe lists says the line of a procedure, too
    cached = cached or (None if top else costliest_listed(facts))
    tune = (
        f"{cached.step} "
        if cached
        else f"First tune {top.name}{top.index or top.scanning}. "
        if top
        else f"Tune the statements that take most of the processor: {STATEMENTS[table]}. "
    )
    spins_by = COUNTED_BY if offers(facts, "monSpinlockActivity") else NOT_COUNTED
    severity, waiting = _lost(facts, limits)
    long = each > limits.tasks_per_engine
    name = f" of thread pool {comment(pool)}" if pool else ""
    rest = ", ".join(
        f"{comment(other)} {one.busy_percent:.0f} %"
        for other, one in pools_of(facts).items()
        if pool and other != pool and one.busy_percent is not None
    )
    spare = load is not None and load.idle is not None and load.idle >= 1
    sure = counted or pool or spare
    past = None if pool else past_peak(facts, number)
    added = (
        More(PAST_PEAK.format(past.says))
        if past
        else more_engines(facts, limits.tasks_per_engine, number, queue.tasks, load, pool, counted=counted)
        if sure
        else More(not_yet(facts))
    )
    more = added.says
    blind = not (sure or cached or top) and offers(facts, "monSpinlockActivity")
    if cached and not pool and not more.startswith(ADD_NONE):
        more = f"Only where the queue stays after that: {within(more)}"
    return Finding(
        subject=subject_of(facts),
        severity=severity if long else min(severity, Severity.ADVICE),
        title=f"{each:.1f} tasks queue for each of {number} engines{name} that are {busy:.0f} % busy"
        + (cached.title if cached else _title_of(engines, top) if top else ""),
        seen=joined(
            f"{number} engines{name} are {busy:.0f} % busy on average with {queue.said}: {each:.1f} for each engine"
            f"{f'; other pools are less busy ({rest})' if rest else ''}.",
            spins,
        ),
        because=_why(facts, engines, top, cached, pool, blind=blind),
        do=f"{tune}{WITHHELD}"
        if withheld(facts, pool)
        else (LOOK if past else NOTHING_YET.format(within(LOOK))).format(table, within(more))
        if blind
        else joined(more, tune.strip())
        if pool
        or (spare and not (cached or top))  # processors that are idle are sure, statements not looked at are not
        else tune + more,
        unknown=joined(
            SAME_MINUTES.format(load.command)
            if load
            else UNITS_OF.format(units, host.cpus)
            if units is not None and known(units) and host and known(host.cpus)
            else UNITS.format(units)
            if units is not None and known(units)
            else HOST,
            "" if counted else NO_SPINS.format(spins_by),
        ),
        evidence=(
            Evidence("mean engine busy", round(busy, 1), "%", engines.source, limits.busy_percent),
            Evidence(
                f"runnable tasks of {'the pool' if pool else 'all engines'}",
                round(queue.tasks, 1),
                "tasks",
                queue.source,
            ),
            Evidence(
                "runnable tasks for each engine",
                round(each, 2),
                "tasks",
                queue.source,
                limits.tasks_per_engine if long else limits.short_queue,
            ),
            *waiting,
            *((past.evidence,) if past else ()),
            *(
                (
                    Evidence(
                        f"spins of {most.name} on each engine",
                        round(rate),
                        "spins/s",
                        most.source,
                        limits.spins_per_engine,
                    ),
                )
                if most and rate is not None
                else ()
            ),
            *(
                (Evidence("CPU units used by the server's threads", units, "", sample.source),)
                if sample and units is not None and known(units)
                else ()
            ),
            *((Evidence("idle time of the host", round(load.idle_percent, 1), "%", load.source),) if load else ()),
            *(cached.evidence if cached else top.evidence(facts) if top else ()),
        ),
        changes=() if cached or top or withheld(facts, pool) else added.changes,
        share=busy,
    )


def _title_of(engines: Engines, top: Costliest) -> str:
    """What a title adds of the statement, where it takes a share of the work that can be told."""
    part = _of_work(engines, top)
    return f"; {top.name} takes {part:.0f} % of their work" if part else ""


def _why(
    facts: Facts,
    engines: Engines,
    top: Costliest | None,
    cached: CachedCostliest | ListedCostliest | None,
    pool: str,
    *,
    blind: bool,
) -> str:
    """That it is work, as far as the host's part is settled, and which statement most of it is.

    `blind`: neither spins nor statements were counted, though the server can.
    """
    if cached:
        return f"{WORK}: {cached.says}."
    means = means_of(shares_of(facts, pool))
    settled = means is not None and not means.withheld()
    cause = SETTLED.format(means.ticks, means.given, MAY_SPIN if blind else WORK_ALONE) if means and settled else CAUSES
    if top is None:
        return f"{cause}."
    part = _of_work(engines, top)
    share = "" if part is None else f", {part:.0f} % of what the engines worked"
    if part is not None and part >= MOST_OF_WORK and not settled:
        return f"{WORK}: {top.says} is most of it{share}."
    return f"{cause}: most is {top.says}{share}."


def _lost(facts: Facts, limits: Limits) -> tuple[Severity, tuple[Evidence, ...]]:
    """How loud it is by the tasks that wait and by how long the clients' commands are, with these figures."""
    waited, commands = waited_for(facts, "the run queue", RUN_QUEUE), command_time(facts)
    if not isinstance(waited, Waited) or commands is None or withheld(facts):
        return Severity.ADVICE, ()  # what the host withholds is lost to ase/host_takes_processor
    loud = of_tasks(waited, limits) if commands.seconds <= limits.command_seconds else None
    evidence = (*waited.evidence(limits.tasks, limits.share_percent), commands.evidence)
    return loud or Severity.ADVICE, evidence
