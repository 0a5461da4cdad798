"""The CPU dedicated to the lock manager is full.

Finds: a dedicated lock manager whose CPU is busy with requests nearly all of the time in the busy part of the day
(`[LCK73]Busy %` of T4), or for hours that the figure of the day hides.

Why it matters: all lock operations of the node go through this one CPU. When it is full, callers spin in kernel mode
until they are served, and every process more makes all of them wait longer. Published ceiling of one such CPU on a
BL870c: 499,842 lock operations per second (JCC Consulting's slides on the OpenVMS lock manager, 2014); where this node
was tested with one, its own is said.

What to do: ask for fewer lock operations, first in the tree that has most of them, where LOCK_ACTV tells. In Rdb: open
a database on one node, row caches, fewer page locks; in RMS: open for input what is only read, global buffers. More
CPUs, more processes or a second dedicated CPU do not help: there is one. A CPU whose core is not shared with a
co-thread serves faster (openvms/lock_manager_cpu_shared).

When to ignore it: when throughput is as wanted, or the peak is one batch job that may wait.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import DedicatedLockManager, LockActivity, LockRates
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Expectation, Finding, NotApplicable, Outcome, Severity, Unknown, joined
from rules.openvms._evidence.cluster import shows_rdb
from rules.openvms._evidence.cpu_layout import LAYOUT_FACTS, Layout, no_dedicated
from rules.openvms._evidence.dedicated import (
    LCK73,
    SATURATED_PERCENT,
    day_of,
    not_to_believe,
    served,
)
from rules.openvms._evidence.dominating import (
    DOMINATING_FACTS,
    Dominating,
    dominating,
    refused_mostly,
    without_polling,
)
from rules.openvms._evidence.node import in_prose, sentence
from rules.openvms._evidence.own_runs import OwnRun, own_peak
from rules.openvms._evidence.peaks import PEAK_FACTS, SUSTAINED, Hours, worst
from rules.openvms._evidence.sampling import LEAST_MINUTES, LEAST_SAMPLES, SAMPLE_FACTS, least

CURVE = "dedicated cpu busy"
MOST = 101.0
"""Arithmetic: a CPU is busy 100 % of the time at most, and what is printed is rounded."""
SPIN = "Callers spin in kernel mode meanwhile, so more CPUs or processes wait with them and do not help."
OF_RDB = "Rdb: open on one node, row caches, fewer page locks; "
ONE_CPU = "There is no second CPU for it to be given: only fewer requests help."
LINKS = ("https://wiki.vmssoftware.com/LCKMGR_MODE",)


@dataclass(frozen=True)
class Limits:
    """From which share on the CPU is full."""

    busy_percent: float = percent(
        SATURATED_PERCENT, "this project: at nine tenths a single server makes callers wait ten service times"
    )
    least_samples: int = limit(
        LEAST_SAMPLES, "this project: no minimum is published; fewer samples are a note", low=1, unit="samples"
    )
    least_minutes: float = limit(LEAST_MINUTES, "this project: no minimum is published; less is a note", unit="minutes")


@rule(
    needs=(),
    uses=(*LAYOUT_FACTS, *PEAK_FACTS, *SAMPLE_FACTS, *DOMINATING_FACTS, DedicatedLockManager, LockRates),
    links=LINKS,
    limits=Limits,
    sample=lambda limits: least(limits.least_samples, limits.least_minutes),
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the one dedicated CPU of the node."""
    layout, figures = Layout(facts), served(facts)
    if not figures and (quiet := no_dedicated(layout)):
        yield quiet
        return
    if not figures:
        if layout.fastpath_read and not layout.lock_manager:
            yield NotApplicable("SHOW FASTPATH names no CPU for the lock manager: none is dedicated")
        else:
            yield Unknown((LCK73,))
        return
    if why := not_to_believe(facts, layout):
        yield why
        return
    if not any(one.on for one in figures):
        yield NotApplicable("the [LCK73] columns are zero: no CPU is dedicated to the lock manager")
        return
    if (found := day_of(facts)) is None:
        yield Unknown((LCK73,))
        return
    busy, day = found
    said = f"[LCK73]Busy % {busy:g} ({day.statistic})"
    full = None if busy >= limits.busy_percent else _hidden(facts, limits)
    if full:
        yield _of_hours(facts, layout, limits, *full, own_peak(facts, with_it=True))
        yield from _who_locks(facts)
        return
    if busy < limits.busy_percent:
        yield Clean(f"{said}, limit {limits.busy_percent:g}", (day.source,))
        return
    mean = facts.latest(DedicatedLockManager, statistic="mean")
    always = mean is not None and known(mean.busy_percent) and mean.busy_percent >= limits.busy_percent
    rate = day.requests_per_second
    at, printed = "", ""
    if known(rate):
        at, printed = f" at {in_prose(rate)} requests per second", f" at {rate:,.0f} requests per second"
    on = f"CPU {layout.lock_manager[0]}" if layout.lock_manager else "The CPU"
    evidence = [Evidence(f"[LCK73]Busy % ({day.statistic})", busy, "%", day.source, limits.busy_percent)]
    if known(rate):
        evidence.append(Evidence(f"[LCK73]Req Count/Sec ({day.statistic})", rate, "/s", day.source))
    own, tree = own_peak(facts, with_it=True), _tree(facts, layout.node)
    evidence += [own.proof] if own else []
    yield Finding(
        subject=layout.subject,
        severity=Severity.CRITICAL if always else Severity.WARNING,
        title=f"Dedicated lock manager CPU {busy:.0f} % busy{printed}{_for_what(tree)}",
        seen=(f"{on} of the lock manager serves requests {busy:.0f} % of the time{at}, and there can be only one."),
        because=joined(SPIN, _most(own) or (sentence(tree.fewer) if tree else "")),
        do=_do(tree, facts),
        unknown="How many processors the callers lose cannot be told from kernel time.",
        evidence=tuple(evidence),
        explains=("openvms/concurrency_past_peak",),
        expects=(Expectation("[LCK73]Busy %", busy, "falls as lock operations per unit of work do", "heuristic"),),
    )
    yield from _who_locks(facts)


def _tree(facts: Facts, own: str | None) -> Dominating | None:
    """The tree that has most of the requests, where this node is its master or asks in it."""
    tree = dominating(facts)
    if tree is None or own is None:
        return tree
    nodes = {name.upper() for name in (*tree.share.by_node, *tree.share.masters)}
    return tree if own.upper() in nodes else None


def _fewer(facts: Facts) -> str:
    if polls := refused_mostly(facts):
        return without_polling(facts, polls)
    return f"fewer lock operations ({OF_RDB if shows_rdb(facts) else ''}RMS: open for input what is only read)"


def _do(tree: Dominating | None, facts: Facts) -> str:
    """What to do: it is two sentences at the most."""
    if tree is None:
        return f"What helps is {_fewer(facts)}."
    return joined(tree.do, "" if ". " in tree.do else ONE_CPU)


def _for_what(tree: Dominating | None) -> str:
    """What most of the requests are for, to end a title."""
    return f"; of those LOCK_ACTV lists {tree.percent:.0f} % are for {tree.what.rstrip(',')}" if tree else ""


def _who_locks(facts: Facts) -> Iterator[Unknown]:
    """Fewer lock operations are the one remedy, so who makes them is what to find out first."""
    if not facts.every(LockActivity):
        yield Unknown.without("who makes the locks: the busiest lock trees", LockActivity.COLLECTED_BY)


def _hidden(facts: Facts, limits: Limits) -> tuple[Hours, float] | None:
    """Hours in which the CPU was full although the figure of the day does not show it."""

    def full(figures: Sequence[float]) -> float | None:
        return figures[0] if limits.busy_percent <= figures[0] <= MOST else None

    found = worst(facts, (CURVE,), SUSTAINED, full)
    return (found[0], found[1][0]) if found else None


def _most(own: OwnRun | None) -> str:
    """What this node did at most with a dedicated lock manager, as a sentence; empty where it was not tested."""
    return f"In a test on this node with one, {own.at_most} were the most." if own else ""


def _of_hours(facts: Facts, layout: Layout, limits: Limits, hours: Hours, busy: float, own: OwnRun | None) -> Finding:
    return Finding(
        subject=layout.subject,
        severity=Severity.WARNING,
        title=f"{hours.when} the dedicated lock manager's CPU is {busy:.0f} % busy",
        seen=(
            f"{hours.when} the lock manager's CPU serves requests {busy:.0f} % of the time, and there can be only one. "
            f"{hours.apart}"
        ),
        because=joined(SPIN, _most(own)),
        do=f"Let work of these hours run later, or ask for {_fewer(facts)}.",
        evidence=(
            hours.proof(f"[LCK73]Busy % ({hours.then})", busy, "%", limits.busy_percent),
            *((own.proof,) if own else ()),
        ),
        explains=("openvms/concurrency_past_peak",),
        expects=(Expectation("[LCK73]Busy %", round(busy, 1), "falls as lock operations do", "heuristic"),),
    )
