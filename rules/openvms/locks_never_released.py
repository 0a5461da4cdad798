"""Locks grow in number hour after hour: they are made and not released.

Finds: a T4 capture of hours (`[MON.LOCK]` Locks Total) in which the locks grow at an even pace to a multiple, by
about as many as ENQs outnumber DEQs, while there are no more processes than before. SHOW LOCK/BRIEF tells what their
names begin with, the mode, and the process that has them.

Why it matters: each lock takes memory of the system until its process releases it or ends. The tables behind it,
LOCKIDTBL and RESHASHTBL, are no cure: larger ones are filled as well.

What to do: have the program corrected that queues a lock and never releases it ($ENQ without $DEQ). Until then a
restart of its process in a window frees them: the locks of a process end with it.

When to ignore it: where the locks are wanted (one for each open session or order) and go at the end of the day: look at
the same hour of the next day. A morning ramp is told by its processes, which grow too, and by its levelling off.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from collectors.facts import Facts, known
from collectors.facts.openvms import Curve, ListedKind, LockRates, Process, T4Column
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, MissingInput, Outcome, Severity, Unknown, capitalized
from rules.openvms._evidence.boots import BOOT_FACTS, booted_within
from rules.openvms._evidence.node import NODE_FACTS, in_prose, parameter_of, subject_of

LINKS = ("https://wiki.vmssoftware.com/LOCKIDTBL",)
HOUR = 3600.0
PARTS = 4
"""The capture is looked at in quarters."""
LISTED = MissingInput("whose locks they are", f"{ListedKind.COLLECTED_BY}, twice, an hour apart")
OVER = "a T4 composite CSV of a whole day"


@dataclass(frozen=True)
class Limits:
    """How long, how much and how evenly locks grow."""

    hours: float = limit(8.0, "this project: users and caches have come by then", low=4, unit="h")
    grown: float = limit(2.0, "this project: to twice as many at least", low=1.2, unit="times the first level")
    least: float = limit(100_000, "this project: fewer locks more are no burden", low=1_000, unit="locks")
    quarter_percent: float = percent(
        15.0,
        "this project: of even growth a quarter has 25; what levels off has less in its last",
        low=1,
        of="the growth",
    )
    fall_percent: float = percent(5.0, "this project: a level that falls by more has locks released", of="the growth")
    released_percent: float = percent(
        50.0, "this project: ENQs that outnumber DEQs by less do not explain the growth", low=10, of="the growth"
    )
    processes: float = limit(1.25, "this project: more processes have more locks", low=1, unit="times the fewest")
    kind_percent: float = percent(50.0, "this project: most of a listing", low=10, of="the locks listed")


@dataclass(frozen=True)
class _Growth:
    """How the locks of one capture grew."""

    curve: Curve
    levels: tuple[float, ...]
    seconds: float

    @property
    def locks(self) -> float:
        return self.levels[-1] - self.levels[0]

    @property
    def quarters(self) -> tuple[float, ...]:
        ends = [self.levels[round(n * (len(self.levels) - 1) / PARTS)] for n in range(PARTS + 1)]
        return tuple(after - before for before, after in pairwise(ends))

    @property
    def deepest_fall(self) -> float:
        highest, fall = self.levels[0], 0.0
        for level in self.levels:
            highest = max(highest, level)
            fall = max(fall, highest - level)
        return fall

    @property
    def said(self) -> str:
        hours = f"{self.seconds / HOUR:.1f} hours"
        return f"locks from {self.levels[0]:,.0f} to {self.levels[-1]:,.0f} in {hours}"


@rule(
    needs=(Curve,),
    uses=(*NODE_FACTS, *BOOT_FACTS, ListedKind, LockRates, Process, T4Column),
    links=LINKS,
    limits=Limits,
    sample=None,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look at the longest capture."""
    found = [grown for one in facts.every(Curve) if one.name == "locks" and (grown := _growth(one))]
    if not found:
        yield Unknown.without("number of locks over the day", OVER)
        return
    growth = max(found, key=lambda one: one.seconds)
    where = (growth.curve.source,)
    if growth.seconds < limits.hours * HOUR:
        short = f"{growth.said}: locks that stay show from {limits.hours:g} hours on"
        yield Unknown.without("number of locks over the day", OVER, short)
        return
    if why := _harmless(facts, growth, limits):
        yield Clean(f"{growth.said}: {why}", where)
        return
    rates = facts.latest(LockRates, statistic="mean")
    if not rates or not known(rates.new_enq_per_second) or not known(rates.deq_per_second):
        yield Unknown.without("ENQs and DEQs per second", OVER, f"{growth.said}; whether they are released is not told")
        return
    more = rates.new_enq_per_second - rates.deq_per_second
    if more * growth.seconds * 100 < growth.locks * limits.released_percent:
        yield Clean(f"{growth.said}, and ENQs outnumber DEQs by {in_prose(more)}/s: that does not explain it", where)
        return
    kinds = [one for one in facts.every(ListedKind) if one.locks * 100 >= one.listed * limits.kind_percent]
    kind = max(kinds, key=lambda one: one.locks, default=None)
    yield _finding(facts, growth, rates, kind, limits)
    if kind is None:
        yield Unknown((LISTED,), "no listing shows whose locks they are")


def _growth(curve: Curve) -> _Growth | None:
    there = [at for at, value in enumerate(curve.means) if known(value)]
    levels = tuple(value for value in curve.means if known(value))
    if len(levels) <= PARTS or curve.step_seconds <= 0:
        return None
    return _Growth(curve, levels, (there[-1] - there[0]) * curve.step_seconds)


def _harmless(facts: Facts, growth: _Growth, limits: Limits) -> str:
    """Why locks grow without being left behind, as a clause; empty where nothing says so."""
    if booted := booted_within(facts):
        return booted
    if growth.locks < limits.least or growth.levels[-1] < limits.grown * growth.levels[0]:
        return f"below {limits.grown:g} times as many, or below {limits.least:,.0f} more"
    if growth.deepest_fall * 100 > growth.locks * limits.fall_percent:
        return f"they fall by {growth.deepest_fall:,.0f} meanwhile, so locks are released"
    if min(growth.quarters) * 100 < growth.locks * limits.quarter_percent:
        return "they do not grow evenly, as locks do that are never released"
    count = facts.latest(T4Column, group="MON.SYST", name="Process Count")
    if count and known(count.minimum) and known(count.maximum) and count.maximum > limits.processes * count.minimum:
        return f"processes grow too, from {count.minimum:,.0f} to {count.maximum:,.0f}"
    return ""


def _finding(facts: Facts, growth: _Growth, rates: LockRates, kind: ListedKind | None, limits: Limits) -> Finding:
    enq, deq = rates.new_enq_per_second, rates.deq_per_second
    if not known(enq) or not known(deq):
        raise AssertionError("only called where both were read")
    pace = growth.locks / growth.seconds
    owner = _owner(facts, kind, limits) if kind else ""
    names = f"{comment(kind.prefix, 31)}*" if kind else ""
    held = f"in {kind.mode} held by {owner}" if kind and owner else f"in {kind.mode}" if kind else ""
    listed = (
        f" In SHOW LOCK/BRIEF {kind.locks:,} of {kind.listed:,} locks are {names} {held}."
        if kind
        else " Whose they are is not listed."
    )
    leak = f"queues locks {names} and never releases them ($ENQ without $DEQ)"
    if owner:
        do = (
            f"Have the program of {owner} corrected, which {leak}. "
            "Until then restart it in a window: its locks end with its process; raise neither LOCKIDTBL nor RESHASHTBL."
        )
    elif kind:
        do = f"Find the program that {leak}, and have it corrected; raise neither LOCKIDTBL nor RESHASHTBL."
    else:
        do = (
            "List SHOW LOCK/BRIEF in SDA twice, an hour apart: the names and the process that grow are the cause. "
            "Raise neither LOCKIDTBL nor RESHASHTBL for it."
        )
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE,
        title=f"Locks {names + ' ' if names else ''}are not released: {growth.said}{f', by {owner}' if owner else ''}",
        seen=f"{capitalized(growth.said)}, {in_prose(pace)}/s: ENQ {in_prose(enq)}/s, DEQ {in_prose(deq)}/s.{listed}",
        because=f"A lock stays, with its memory, until its process releases it or ends.{_ahead(facts, growth, pace)}",
        do=do,
        unknown="Whether these locks are wanted and go at night no export shows: compare the same hour of the next day "
        "(MONITOR LOCK).",
        evidence=(
            Evidence("locks at first", growth.levels[0], "locks", growth.curve.source),
            Evidence("locks at last", growth.levels[-1], "locks", growth.curve.source),
            Evidence("locks more", round(pace, 2), "/s", growth.curve.source, computed="from first and last"),
            Evidence("new ENQs", round(enq, 2), "/s", rates.source),
            Evidence("DEQs", round(deq, 2), "/s", rates.source),
            *((Evidence(f"locks {names} listed", float(kind.locks), "locks", kind.source),) if kind else ()),
        ),
    )


def _owner(facts: Facts, kind: ListedKind, limits: Limits) -> str:
    """The process that has most of them, where one has; empty where they are spread."""
    if kind.pid_locks * 100 < kind.locks * limits.kind_percent:
        return ""
    process = facts.latest(Process, pid=kind.pid)
    return f"{comment(process.name, 15)} ({kind.pid})" if process else f"process {kind.pid}"


def _ahead(facts: Facts, growth: _Growth, pace: float) -> str:
    """When the lock ID table is full, as a sentence."""
    table = parameter_of(facts, "LOCKIDTBL", 1, 1e9)
    if not isinstance(table, tuple) or table[0] <= growth.levels[-1]:
        return ""
    hours = (table[0] - growth.levels[-1]) / pace / HOUR
    return f" At this pace LOCKIDTBL, {table[0]:,.0f}, is full after {in_prose(hours)} hours more, and is extended."
