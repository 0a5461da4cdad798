"""A CPU is dedicated to the lock manager and does little.

Finds: a dedicated lock manager whose CPU serves hardly any request (`[LCK73]Busy %` of T4), or one on a machine with
too few CPUs to spare any: fewer than the vendor asks for, however busy the dedicated one is, where the others are full.

Why it matters: LCKMGR_SERVER polls at priority 63 and takes a whole CPU whether there is work or not. On four CPUs that
is a quarter of the machine; the vendor asks for more than five before turning it on.

Or one that cost throughput in a test of this node, or of a machine of its model, clock and number of CPUs, and gained
nothing at any load that decides: then nothing more is to be measured first.

What to do: give the CPU back with LCKMGR_MODE 0. It is dynamic and can be turned on again at once. Measure the same
work before and after: lock waits move from kernel time back into MP synchronization.

In a cluster it belongs on the node that is the lock master: where another node serves next to all that crosses, an hour
of figures is enough to say that this one has no use for it.

Where the figures are of less than a working day and the other CPUs are full, it is a person's decision: the hour says
what the CPU does not do now, not what it does at others.

On few CPUs that are not full the dedicated one takes nothing that is missing: there it is left alone where it is busy.

When to ignore it: when the figures miss the hours in which the node locks much, or when you measured more throughput
with it than without: where runs of the lock laboratory on this node show that, nothing is set.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import DedicatedLockManager, ProcessorModes, T4File
from rules.changes.openvms_sysgen import advise_parameter
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import (
    Change,
    Clean,
    Cost,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    Outcome,
    Severity,
    Unknown,
    joined,
)
from rules.openvms._evidence.cluster import CLUSTER_FACTS, Cluster, cluster_of
from rules.openvms._evidence.cpu_layout import LAYOUT_FACTS, Layout, no_dedicated
from rules.openvms._evidence.dedicated import (
    DEDICATED_FACTS,
    EARNS_PERCENT,
    FULL_PERCENT,
    IDLE_PERCENT,
    LCK73,
    day_of,
    most_busy,
    not_to_believe,
    others_busy,
    served,
)
from rules.openvms._evidence.node import in_prose, pending_said, sentence
from rules.openvms._evidence.own_runs import ON_NODE, WithAndWithout, with_and_without
from rules.openvms._evidence.sampling import LEAST_MINUTES, LEAST_SAMPLES, SAMPLE_FACTS, least
from rules.openvms._evidence.spinning import OWN_CPU_CPUS, SERVED_OPERATIONS

LINKS = (
    "https://wiki.vmssoftware.com/LCKMGR_MODE",
    "https://community.hpe.com/t5/Operating-System-OpenVMS/Dedicating-processor-to-record-locking/td-p/3562167",
)


@dataclass(frozen=True)
class Limits:
    """What counts as little work, and as few CPUs."""

    busy_percent: float = percent(IDLE_PERCENT, "this project: a twentieth of one CPU any CPU can do")
    earns_percent: float = percent(
        EARNS_PERCENT, "this project: half busy when most is locked, it does what other CPUs would wait for"
    )
    least_hours: float = limit(
        8.0, "this project: a shorter T4 file does not cover a working day", low=1, high=24, unit="hours"
    )
    served_percent: float = percent(
        95.0, "this project: a node that serves so much of what crosses is the lock master", of="what crosses"
    )
    few_cpus: int = limit(
        4, "practice: five or more, and a quarter of a 4-CPU machine is lost (community.hpe.com 3562167)", high=32
    )
    few_when_full: int = limit(
        OWN_CPU_CPUS - 1, "vendor: more than five CPUs (OpenVMS V7.3 New Features, 4.4.1)", high=32, unit="CPUs"
    )
    least_samples: int = limit(
        LEAST_SAMPLES, "this project: no minimum is published; fewer samples are a note", low=1, unit="samples"
    )
    least_minutes: float = limit(LEAST_MINUTES, "this project: no minimum is published; less is a note", unit="minutes")
    full_percent: float = percent(
        FULL_PERCENT,
        "this project: from here on work waits for the CPUs that the lock manager leaves",
        of="the other CPUs",
    )


@rule(
    needs=(),
    uses=(*LAYOUT_FACTS, *SAMPLE_FACTS, *DEDICATED_FACTS, *CLUSTER_FACTS, ProcessorModes),
    links=LINKS,
    limits=Limits,
    sample=lambda limits: least(limits.least_samples, limits.least_minutes),
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the one dedicated CPU of the node."""
    layout, figures = Layout(facts), served(facts)
    manager = layout.lock_manager
    if quiet := no_dedicated(layout):
        yield quiet
        return
    if manager is None and not figures:
        said = layout.fastpath_read
        yield Clean("SHOW FASTPATH names no CPU for the lock manager") if said else Unknown((LCK73,))
        return
    if why := not_to_believe(facts, layout):
        yield why
        return
    if manager is None and not any(one.on for one in figures):
        yield Clean("the [LCK73] columns are zero: no CPU is dedicated to the lock manager")
        return
    busy, day = day_of(facts) or (None, None)
    cpus = layout.active
    few = cpus is not None and cpus <= limits.few_cpus
    others = others_busy(facts, layout)
    full = cpus is not None and cpus <= limits.few_when_full and others is not None and others >= limits.full_percent
    most = most_busy(facts)
    tried = with_and_without(facts, "dlm", of_model=True)
    if tried and tried.costs and manager is not None:
        yield _finding(layout, limits, day, busy, f"and {tried.where} it gained nothing")
    elif full and cpus is not None:
        yield _finding(layout, limits, day, busy, f"of only {cpus:.0f} CPUs, and the others are full", others)
    elif most and known(most.busy_percent) and most.busy_percent >= limits.earns_percent:
        worth = f"[LCK73]Busy % up to {most.busy_percent:g}, limit {limits.earns_percent:g}: it is worth its CPU then"
        if few and others is None:
            full_or_not = MissingInput(
                "how busy the other CPUs are (time in processor modes)", ProcessorModes.COLLECTED_BY
            )
            yield Unknown((full_or_not,), f"{worth} only if the other CPUs of {cpus:g} are not full")
        else:
            yield Clean(f"{worth}{f'; the other CPUs are {others:.0f} % busy' if few else ''}")
    elif few:
        yield _finding(layout, limits, day, busy, f"of only {cpus:.0f} CPUs")
        if busy is None:
            yield Unknown((LCK73,))
    elif busy is None:
        yield Unknown((LCK73,))
    elif busy >= limits.busy_percent:
        yield Clean(f"[LCK73]Busy % {busy:g} ({day.statistic if day else ''}), limit {limits.busy_percent:g}")
    elif master := _master_elsewhere(facts, limits):
        yield _finding(layout, limits, day, busy, f"hardly used: {comment(master, 31)} is the lock master")
    elif (hours := _hours(facts)) is not None and hours < limits.least_hours:
        if others is not None and others >= limits.full_percent:
            used = f"hardly used in the {hours:.1f} hours measured, and the others are full"
            yield _finding(layout, limits, day, busy, used, others, hours)
        brief = f"[LCK73]Busy % {busy:g} ({day.statistic if day else ''}), but in {hours:.1f} hours: used at others?"
        yield Unknown.without("a whole working day of [LCK73]Busy %", T4File.COLLECTED_BY, brief)
    else:
        yield _finding(layout, limits, day, busy, "hardly used")
        if cpus is None:
            yield Unknown.without("number of active CPUs", "SHOW CPU")


def _master_elsewhere(facts: Facts, limits: Limits) -> str:
    """The other node that serves next to all that crosses the cluster; empty where this one serves as well.

    Who is master lasts longer than a capture, so that one of an hour tells it.
    """
    cluster = cluster_of(facts)
    if not isinstance(cluster, Cluster) or cluster.own is cluster.master or cluster.served < SERVED_OPERATIONS:
        return ""
    return cluster.master.name if cluster.served_percent >= limits.served_percent else ""


def _hours(facts: Facts) -> float | None:
    """Hours that the T4 files cover together; `None` where one does not say."""
    spans = [one.end - one.start for one in facts.every(T4File) if one.start and one.end]
    return sum(span.total_seconds() for span in spans) / 3600 if spans else None


def _finding(
    layout: Layout,
    limits: Limits,
    day: DedicatedLockManager | None,
    busy: float | None,
    why: str,
    others: float | None = None,
    hours: float | None = None,
) -> Finding:
    """`hours`: so few were measured that others may need the lock manager, and a person decides."""
    manager, cpus = layout.lock_manager, layout.active
    evidence = [Evidence("CPU of the lock manager", manager[0], "", manager[1])] if manager else []
    if day and busy is not None:
        evidence.append(Evidence(f"[LCK73]Busy % ({day.statistic})", busy, "%", day.source, limits.busy_percent))
    modes = layout.facts.latest(ProcessorModes, statistic="mean")
    costs = "It polls, so the CPU is taken whether there is work for it or not."
    if others is not None and modes:
        part = "one CPU" if cpus is None else f"1/{cpus:.0f}"
        costs = f"The other CPUs are {others:.0f} % busy, so it takes {part} of a machine that needs it"
        if hours is None:
            costs += f"; the vendor asks for more than {limits.few_when_full} CPUs before one is dedicated"
        costs += "."
        evidence.append(
            Evidence("other CPUs busy (mean)", round(others, 1), "% of them", modes.source, limits.full_percent)
        )
    used = f"; it serves requests {in_prose(busy)} % of the time" if busy is not None else ""
    mode = layout.setting("LCKMGR_MODE")
    off = mode == 0
    tried = with_and_without(layout.facts, "dlm", of_model=True)
    earns = tried is not None and tried.gains and tried.where == ON_NODE
    lost = tried if tried and tried.costs else None
    evidence += tried.proof if tried and (earns or lost) else ()
    to = "0" if mode is None else f"{mode:.0f} → 0"
    step = (
        "LCKMGR_MODE is 0 in the export already, so the change waits or was not written to the active values: look."
        if off
        else f"LCKMGR_MODE {to} gives the CPU back at once: do it under the usual load and count operations per second "
        "before and after."
    )
    title = f"CPU {manager[0]} dedicated to the lock manager" if manager else "CPU for the lock manager"
    gave = ""
    if lost:
        title = f"{title} costs throughput: {lost.where} {lost.brief}"
        costs = f"{sentence(f'{lost.where}, with it against without: {lost.said}')} {costs}"
        step = step if off else f"LCKMGR_MODE {to}, at once: no load of the test that decides gained by it."
    elif hours is not None and not off:
        step = f"Decide, as only {hours:.1f} hours are in the export: LCKMGR_MODE {to} gives the CPU back at once."
    if tried and earns:
        gave = f"In a test on this node it gave {tried.brief}: whether such hours come the capture does not tell."
        step = "Nothing is set by this: give the CPU back only where no load like that of the test comes."
    changes: tuple[Change, ...] = ()
    if not off and not earns and hours is not None and not lost:
        when = f"unless the node locks much outside the {hours:.1f} hours measured: then keep it"
        changes = (advise_parameter("LCKMGR_MODE", mode, 0, when=when, node=layout.node),)
    elif not off and not earns:
        changes = (layout.set("LCKMGR_MODE", 0, "Keep it if throughput falls: the undo turns it on again."),)
    return Finding(
        subject=layout.subject,
        severity=Severity.NOTE if earns else Severity.ADVICE,
        title=title if lost else f"{title}, {why}",
        seen=f"The lock manager takes a whole CPU, {why}{used}.{pending_said(layout.facts, 'LCKMGR_MODE')}",
        because=costs,
        do=step,
        unknown=joined(
            "Waits for locks then show as MP synch again, not as kernel time: judge by the operations alone.",
            gave,
        ),
        evidence=tuple(evidence),
        cost=Cost(1 - busy / 100, 1 - busy / 100, 1.0, of_capture=False) if busy is not None else None,
        changes=changes,
        expects=(
            *((_given_back(lost),) if lost else ()),
            *((Expectation("CPUs for other work", cpus - 1, cpus, "arithmetic"),) if cpus else ()),
        ),
    )


def _given_back(lost: WithAndWithout) -> Expectation:
    """What the test did without it, at the highest load."""
    at = f"lock operations per second in the test, at {lost.last[0].load:g} {lost.without.series.load_name}"
    return Expectation(at, round(lost.last[1].rate), round(lost.last[0].rate), "measured")
