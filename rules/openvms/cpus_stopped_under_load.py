"""CPUs are stopped while processes wait for one.

Finds: CPUs that SHOW CPU has as STOPPED on a node whose active CPUs are busy all the time and where as many processes
are computable as CPUs are active (MONITOR STATES, or SHOW SYSTEM for one moment).

Why it matters: a process in COM does nothing but wait for a CPU, and one that was stopped for a reason that is past is
a processor that is paid for and not used. A boot starts it again; until then only START/CPU does.

What to do: START/CPU, once whoever stopped them has been asked: the command is held back in the script below what would
forbid it (a licence for each processor, Instant Capacity, a repair).

When to ignore it: where they are stopped on purpose. So nothing is started where the display sets them aside (hard
excluded, no autostart), SMP_CPUS leaves them out at a boot, a remark says that they are to stay, they share a core
with one that runs, or may on a machine whose cores were not displayed; then it is a question. Where CPUs spin for a
spinlock, more of them spin as well.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, Source
from collectors.facts.openvms import Cpu, Process
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    joined,
)
from rules.openvms._evidence.cpu_counts import counts_differ
from rules.openvms._evidence.cpu_layout import LAYOUT_FACTS, Layout, Pair
from rules.openvms._evidence.monitor_classes import CLASS_FACTS, mean_of
from rules.openvms._evidence.node import Work, in_prose, subject_of, work_of

LINKS = ("https://wiki.vmssoftware.com/SMP_CPU_BITMAP",)
MONITOR_STATES = 'MONITOR STATES/NODISPLAY/SUMMARY=STATES.SUM/INTERVAL=60/ENDING="+1:00:00"'
STATES = ("COM", "COMO")


@dataclass(frozen=True)
class Limits:
    """When processes wait for a CPU that is not there."""

    idle_percent: float = percent(5.0, "this project: with more idle time a CPU is free now and then", of="all CPUs")
    queue: float = limit(
        1.0,
        "this project: as many wait for a CPU as have one",
        low=0.2,
        unit="computable processes for each active CPU",
    )
    synch_percent: float = percent(
        10.0, "this project: from a tenth on a CPU more would wait for spinlocks, too", of="the busy time"
    )


@rule(needs=(Cpu,), uses=(*LAYOUT_FACTS, *CLASS_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the CPUs that are stopped against who waits for one."""
    layout = Layout(facts)
    shown = {one.number: one for one in facts.every(Cpu) if one.state}
    stopped = [cpu for cpu in layout.stopped if (shown[cpu].state or "").upper().startswith("STOP")]
    if not stopped:
        yield NotApplicable("no CPU is STOPPED in SHOW CPU")
        return
    those = f"CPU {', '.join(map(str, stopped))} {'are' if len(stopped) > 1 else 'is'} stopped"
    if differ := counts_differ(layout):
        yield Unknown.without("a capture with the CPUs that run now", MONITOR_STATES, f"{those}; {differ.seen}")
        return
    work = work_of(facts)
    if not isinstance(work, Work):
        yield work
        return
    idle = work.cpus - work.busy / 100
    said = f"{those}; {in_prose(max(0.0, idle))} of {work.cpus:.0f} active CPUs are idle on average"
    if idle * 100 > work.cpus * limits.idle_percent:
        yield Clean(f"{said}, so none is missed", (work.modes.source,))
        return
    queue = _computable(facts)
    if queue is None:
        yield Unknown.without("computable processes", MONITOR_STATES, said)
        return
    waiting, source, where = queue
    said = f"{said}, and {in_prose(waiting)} processes are computable ({where})"
    if waiting < limits.queue * work.cpus:
        yield Clean(said, (work.modes.source, source))
        return
    against = _against(layout, stopped, shown)
    if not against and work.share >= limits.synch_percent:
        against = f"{work.share:.0f} % of the busy time is MP synch: more CPUs would spin, too, so that comes first"
    change = None if against else layout.start_again(stopped)
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE if against else Severity.ADVICE,
        title=f"{those} while {in_prose(waiting)} processes wait for one of the {work.cpus:.0f} that run",
        seen=f"{said}.",
        because=joined("A computable process waits for a CPU and for nothing else.", f"{against}." if against else ""),
        do=(
            "Ask whether they are stopped on purpose; nothing is to be started before that is known."
            if against
            else f"Ask who stopped them and why; where that is past, START/CPU {','.join(map(str, stopped))} and "
            "measure again. Licences first, where they go by processors (SHOW LICENSE, Instant Capacity)."
        ),
        unknown="" if against else "Who stopped them, and why, is in no export that was read.",
        evidence=(
            Evidence("idle time (mean)", round(100 * max(0.0, idle), 2), "% of one CPU", work.modes.source),
            Evidence(f"computable processes ({where})", round(waiting, 2), "", source, limits.queue * work.cpus),
            *(Evidence(f"CPU {cpu}", shown[cpu].state or "", "", shown[cpu].source) for cpu in stopped[:4]),
        ),
        changes=(change,) if change else (),
        expects=(Expectation("active CPUs", work.cpus, work.cpus + len(stopped), "arithmetic"),) if change else (),
    )


def _computable(facts: Facts) -> tuple[float, Source, str] | None:
    """How many processes wait for a CPU, and where that was read: a mean before the count of one moment."""
    if mean := mean_of(facts, "MON.STAT", "Compute"):
        return mean.value, mean.source, "mean"
    waits = [one for one in facts.every(Process) if one.state in STATES]
    files = {(one.source.file, one.pid): one for one in waits}
    last = waits[-1].source.file if waits else ""
    here = [one for (file, _), one in files.items() if file == last]
    return (float(len(here)), here[0].source, "SHOW SYSTEM, one moment") if here else None


def _against(layout: Layout, stopped: list[int], shown: dict[int, Cpu]) -> str:
    """What says that they may be stopped on purpose, as a clause; empty where nothing does."""
    if kept := layout.kept_said:
        return kept.rstrip(".")
    if aside := [cpu for cpu in stopped if shown[cpu].excluded]:
        return f"SHOW CPU sets CPU {aside[0]} aside: {shown[aside[0]].excluded}"
    if layout.boot_cpus is not None and not layout.boot_cpus.issuperset(stopped):
        return "SMP_CPUS leaves them out at a boot, so somebody wanted them out"
    for cpu in stopped:
        pair = layout.pair(cpu)
        if not isinstance(pair, Pair):
            return f"whether CPU {cpu} shares a core with one that runs was not displayed (SHOW CPU/FULL)"
        if pair.sibling is not None and layout.runs(pair.sibling) is not False:
            return f"CPU {cpu} is the co-thread of CPU {pair.sibling}, and co-threads are often stopped on purpose"
    return ""
