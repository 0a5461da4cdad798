"""Whether finer ranges save clock time, from measured runs of a coarse and a fine variant."""

from collections.abc import Iterator, Sequence

from collectors.facts import Facts
from collectors.facts.unix import LockingRun
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    capitalized,
    joined,
)
from rules.laws.rounding import plain
from rules.unix._evidence.clock import Clock, clock_of, distrusted
from rules.unix._evidence.runs import (
    LEAST_SECONDS,
    Calls,
    Pair,
    calls_of,
    counted,
    more_percent,
    pairs,
)

BOTH = MissingInput("coarse and fine variants", LockingRun.COLLECTED_BY)
MORE_PROCESSES = MissingInput("runs of several processes", "runs of both variants with 2, 4, 8 and more processes")
MUCH_PERCENT = 20.0
"""This project: below it finer locking is a note, since programs have to be changed for it."""

UNEVEN_PERCENT = 50.0
"""This project: runs of one test repeat within a few per cent; where the slowest of a few takes half as long again as
the fastest, other work took the processors from it."""


def judge_runs(facts: Facts, least_percent: float) -> Iterator[Outcome]:
    """One outcome for each table: what fine locking saves from 2 processes on, by at least so many per cent."""
    clock, found = clock_of(facts), pairs(facts, "grain")
    if not found:
        runs = facts.every(LockingRun)
        names = ", ".join(dict.fromkeys(run.name for run in runs))
        yield Unknown((BOTH,), f"{runs[0].title}: {names} alone cannot be held against anything")
    for title in dict.fromkeys(pair.title for pair in found):
        yield _judge([pair for pair in found if pair.title == title], clock, calls_of(facts), least_percent)


def _judge(found: Sequence[Pair], clock: Clock, calls: Sequence[Calls], least_percent: float) -> Outcome:
    title = found[0].title
    for pair in found:
        if why := distrusted(pair, clock):
            return Untrusted(f"{title}, {pair.name}: {why}")
    timed = [(pair, both) for pair in found if (both := pair.both("clock_seconds")) and max(both) >= LEAST_SECONDS]
    unsteady = {pair.processes: why for pair, _ in timed if pair.processes > 1 and (why := uneven(pair))}
    timed = [(pair, both) for pair, both in timed if not uneven(pair)]
    alone = [more_percent(*both) for pair, both in timed if pair.processes == 1]
    many = [(pair, more_percent(*both)) for pair, both in timed if pair.processes > 1]
    if unsteady and max(unsteady) > max((pair.processes for pair, _ in many), default=0):
        why = unsteady[max(unsteady)]
        return Untrusted(f"{title}: {why}: other work ran beside them, measure again when less else runs")
    if not many:
        said = f"; with one, coarse locking takes {alone[0]:+.0f} % clock time against fine" if alone else ""
        return Unknown(
            (MORE_PROCESSES,), f"{title}: no runs of {LEAST_SECONDS:g} s or more with several processes{said}"
        )
    most = max(pair.processes for pair, _ in many)
    lasting = _lasting(many, least_percent)
    if not lasting:
        last = next(gain for pair, gain in reversed(many) if pair.processes == most)
        best, where = max((gain, pair.processes) for pair, gain in many)
        other = f", {best:+.0f} % at most, with {where:g}" if best > last else ""
        other += _held_up(many)
        return Clean(
            f"{title}: with {most:g} processes coarse locking takes {last:+.0f} % clock time against fine{other} "
            f"(limit {least_percent:g} %): finer ranges gain nothing there"
        )
    return _finding(lasting, alone, calls, least_percent)


def uneven(pair: Pair) -> str:
    """Why repeated runs of one variant lie too far apart to tell it from the other; empty: they do not."""
    for cell in (pair.before, pair.after):
        clocks = cell.values("clock_seconds")
        if len(clocks) > 1 and max(clocks) > (1 + UNEVEN_PERCENT / 100) * min(clocks):
            return (
                f"{len(clocks)} equal runs of {cell.name} with {counted(pair.processes)} took {plain(min(clocks), 3)} "
                f"to {plain(max(clocks), 3)} s"
            )
    return ""


def _held_up(many: Sequence[tuple[Pair, float]]) -> str:
    """That fine locking did not keep one processor busy: then locks are not what holds the processes up."""
    pair = many[-1][0]
    busy = pair.both("processors_used")
    if busy is None or busy[1] >= 1:
        return ""
    return (
        f"; {counted(pair.processes)} with fine locks keep {busy[1]:.2f} processors busy, so something else holds them "
        "up: input and output, or other work on the machine"
    )


def _lasting(many: Sequence[tuple[Pair, float]], least_percent: float) -> list[tuple[Pair, float]]:
    """The pairs from that number of processes on from which coarse is slower each time, up to the most measured."""
    slower = [pair.processes for pair, gain in many if gain < least_percent]
    start = max(slower, default=0.0)
    return [(pair, gain) for pair, gain in many if pair.processes > start]


def _finding(
    lasting: Sequence[tuple[Pair, float]], alone: Sequence[float], calls: Sequence[Calls], least_percent: float
) -> Finding:
    first, last = lasting[0][0], lasting[-1][0]
    gains = [gain for _, gain in lasting]
    typical = _median([gain for pair, gain in lasting if pair.processes >= last.processes / 2])
    clock, system = last.both("clock_seconds"), last.both("system_seconds")
    assert clock is not None  # noqa: S101 - only pairs with both are judged
    span = f"{min(gains):.0f} to {max(gains):.0f} %" if round(min(gains)) != round(max(gains)) else f"{gains[0]:.0f} %"
    kept = _together(_system_said(lasting), _busy_said(last))
    one = f"With one process the difference is {alone[0]:+.0f} %." if alone else ""
    return Finding(
        subject=last.title,
        severity=Severity.ADVICE if typical >= MUCH_PERCENT else Severity.NOTE,
        title=f"Coarse locking takes {span} more clock time than fine from {counted(first.processes)} on",
        seen=joined(
            f"With {first.processes:g} processes coarse locking takes {gains[0]:.0f} % more clock time than fine, with "
            f"many ({last.processes / 2:g} to {last.processes:g}) about {typical:.0f} %.",
            one,
        ),
        because=joined(capitalized(kept), _together(_blocked_said(last), _calls_said(calls))),
        do="Where this program locks whole files, lock the ranges of its records.",
        unknown="" if system else "The table does not give its system time; finer locks take more calls.",
        evidence=(*_evidence(lasting, least_percent), *_of_calls(calls)),
        expects=(
            Expectation(f"clock seconds, {counted(last.processes)}", clock[0], clock[1], "arithmetic"),
            *((Expectation(f"system seconds, {counted(last.processes)}", *system, "arithmetic"),) if system else ()),
        ),
    )


def _together(*clauses: str) -> str:
    """Clauses in one sentence, without those that are empty; nothing where all are."""
    said = "; ".join(clause for clause in clauses if clause)
    return f"{said}." if said else ""


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _system_said(lasting: Sequence[tuple[Pair, float]]) -> str:
    found = [(pair, more_percent(both[1], both[0])) for pair, _ in lasting if (both := pair.both("system_seconds"))]
    if not found:
        return ""
    last, more = found[-1]
    if more < 0:
        return f"System time falls by {-more:.0f} % with {last.processes:g} processes, fewer of which sleep and wake"
    return f"System time rises by {more:.0f} % with {last.processes:g} processes"


def _busy_said(last: Pair) -> str:
    busy = last.both("processors_used")
    return f"coarse keeps {busy[0]:.2f} processors busy, fine {busy[1]:.2f}" if busy else ""


def _blocked_said(last: Pair) -> str:
    blocked = last.both("blocked")
    if not blocked:
        return ""
    times = blocked[0] / blocked[1] if blocked[1] > 0 else 0.0
    often = f", {times:,.{0 if times >= 10 else 1}f} times as many" if times else ""
    return f"{blocked[0]:,.0f} calls waited with coarse locks, {blocked[1]:,.0f} with fine ones{often}"


def _calls_said(calls: Sequence[Calls]) -> str:
    return "".join(
        f"{one.title}: {one.coarse:,.0f} calls of fcntl with coarse locks, {one.fine:,.0f} with fine ones "
        f"({one.more_percent:+.0f} %; published: 87,858 and 115,520, +31 %, APUE 20.9)"
        for one in calls[:1]
    )


def _evidence(lasting: Sequence[tuple[Pair, float]], least_percent: float) -> Iterator[Evidence]:
    ends = {lasting[0][0].processes: lasting[0], lasting[-1][0].processes: lasting[-1]}
    for pair, gain in ends.values():
        for cell in (pair.before, pair.after):
            for field, label, unit in (
                ("clock_seconds", "clock time", "s"),
                ("system_seconds", "system time", "s"),
                ("processors_used", "processors kept busy", "CPUs"),
                ("blocked", "calls of fcntl that waited", ""),
            ):
                value = cell.mean(field)
                if value is not None:
                    what = f"{label}, {cell.name}, {counted(pair.processes)}"
                    yield Evidence(what, round(value, 4) if unit else round(value), unit, cell.source)
        what = f"clock time of coarse over fine, {counted(pair.processes)}"
        yield Evidence(what, round(gain, 1), "% more", pair.source, least_percent)


def _of_calls(calls: Sequence[Calls]) -> Iterator[Evidence]:
    for one in calls[:1]:
        yield Evidence("calls of fcntl, coarse", one.coarse, "calls", one.source)
        yield Evidence("calls of fcntl, fine", one.fine, "calls", one.source)
        yield Evidence("calls of fcntl, fine over coarse", round(one.more_percent, 1), "% more", one.source)
