"""Mandatory locks cost much more system time than advisory ones.

Finds: measured variants of a program with mandatory and with advisory locks of the same grain, and by how much system
time differs; as a note, mandatory locks in a listing (`/proc/locks`, `lslocks`).

Why it matters: with mandatory locks the kernel checks every read and write of the file against all of its locks, so
each call costs more the more processes lock. Measured for a database program on four cores, fine locking took 20 %
more system time with one process and 76 % more with 16 (Stevens and Rago, APUE 20.9).

What to do: use advisory locks, and have every program that uses the file take them. Mandatory locking is switched on
for a file system (mount option mand) and a file (set-group-ID without execute for the group); Linux has none since
5.15, so a program that relies on it is not protected there any more.

When to ignore it: where programs that do not lock must be kept out of the file and no other way exists; where the
difference is within what runs repeat to, or the processors' clock moved between the variants.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.unix import LockingRun, RecordLock, RecordLockTable
from rules.engine import limit, rule
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
    joined,
)
from rules.unix._evidence import clock
from rules.unix._evidence.queues import QUEUE_FACTS, named, owners
from rules.unix._evidence.runs import (
    LEAST_SECONDS,
    Pair,
    counted,
    more_percent,
    pairs,
)

LINKS = (
    "https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/commit/?id=6f01c935d96cd4eb8bbbc5249bd9a754b6939e0a",
    "https://man7.org/linux/man-pages/man2/fcntl.2.html",
)
MOST_FILES = 5
"""Files with a note of their own: those with most mandatory locks."""
FILE_DECIDES = (
    "Not the programs decide that, but the file: its mode (ls -l shows S for the group: set-group-ID without execute) "
    "on a file system mounted with mand. Once every program that uses it is seen to take its locks, chmod g-s makes "
    "the same calls advisory; Linux has no mandatory ones since 5.15, so an update ends them, too."
)
VARIANT = MissingInput(
    "a variant with mandatory locks beside an advisory one",
    "the same table with a variant of mandatory locks, where a system has them (Linux has none since 5.15)",
)


@dataclass(frozen=True)
class Limits:
    """From which difference on system time is really higher."""

    system_percent: float = limit(
        10.0,
        "this project: twice what runs of one test repeat to; 20 to 76 in APUE 20.9",
        low=1,
        unit="% of the system time of advisory locks",
    )
    system_seconds: float = limit(
        0.5, "this project: 50 ticks of 10 ms; a run that saves less gets a note", low=0.1, unit="s of system time"
    )


@rule(needs=(), uses=(*QUEUE_FACTS, *clock.CLOCK_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the measured variants, then the listings."""
    tables, runs, found = facts.every(RecordLockTable), facts.every(LockingRun), pairs(facts, "mandatory")
    if not tables and not runs:
        yield Unknown.of(LockingRun, RecordLockTable)
    if tables:
        yield from _listed(facts, tables)
    for title in dict.fromkeys(pair.title for pair in found):
        yield _judge([pair for pair in found if pair.title == title], clock.clock_of(facts), limits)
    if runs and not found:
        yield Unknown((VARIANT,), f"{runs[0].title}: {', '.join(dict.fromkeys(run.name for run in runs))} alone")


def _judge(found: Sequence[Pair], at: clock.Clock, limits: Limits) -> Outcome:
    title = found[0].title
    for pair in found:
        if why := clock.distrusted(pair, at):
            return Untrusted(f"{title}, {pair.name}: {why}")
    timed = [(pair, both) for pair in found if (both := pair.both("system_seconds")) and max(both) >= LEAST_SECONDS]
    if not timed:
        lacks = MissingInput("system seconds of longer runs", LockingRun.COLLECTED_BY)
        return Unknown((lacks,), f"{title}: no system time of {LEAST_SECONDS:g} s or more")
    last, (advisory, mandatory) = timed[-1]
    more = [more_percent(both[1], both[0]) for _, both in timed]
    if more[-1] < limits.system_percent:
        return Clean(
            f"{title}: mandatory locks take {more[-1]:+.0f} % system time with {counted(last.processes)} "
            f"(limit {limits.system_percent:g} %)"
        )
    span = f"{min(more):.0f} to {max(more):.0f} %" if round(min(more)) != round(max(more)) else f"{more[0]:.0f} %"
    clocks = last.both("clock_seconds")
    slower = f" and {more_percent(clocks[1], clocks[0]):.0f} % more clock time" if clocks else ""
    first = timed[0][0]
    return Finding(
        subject=title,
        severity=Severity.ADVICE if mandatory - advisory >= limits.system_seconds else Severity.NOTE,
        title=f"Mandatory locks take {span} more system time than advisory ones",
        seen=(
            f"With {counted(first.processes)} mandatory locks take {more[0]:.0f} % more system time than advisory ones "
            f"of the same grain, with {counted(last.processes)} {more[-1]:.0f} % more{slower}."
        ),
        because="The kernel checks every read and write against all locks of the file.",
        do=joined(
            ""
            if mandatory - advisory >= limits.system_seconds
            else f"It is {mandatory - advisory:.2f} s in this run: measure longer ones first.",
            "Use advisory locks, once every program that uses the file is seen to take them: chmod g-s the file, or "
            "mount its file system without mand; Linux has no mandatory locks since 5.15.",
        ),
        evidence=tuple(_evidence(timed, limits)),
        expects=(Expectation(f"system seconds, {counted(last.processes)}", mandatory, advisory, "arithmetic"),),
    )


def _evidence(timed: Sequence[tuple[Pair, tuple[float, float]]], limits: Limits) -> Iterator[Evidence]:
    for pair, both in {timed[0][0].name: timed[0], timed[-1][0].name: timed[-1]}.values():
        for cell, value in zip((pair.before, pair.after), both, strict=True):
            what = f"system time, {cell.name}, {counted(pair.processes)}"
            yield Evidence(what, round(value, 4), "s", cell.source)
        what = f"system time of mandatory over advisory, {counted(pair.processes)}"
        yield Evidence(what, round(more_percent(both[1], both[0]), 1), "% more", pair.source, limits.system_percent)


def _listed(facts: Facts, tables: Sequence[RecordLockTable]) -> Iterator[Outcome]:
    """A note for each file with mandatory locks, by its fullest listing."""
    found: dict[object, list[RecordLock]] = {}
    for one in facts.every(RecordLock):
        if one.mandatory:
            found.setdefault(one.file_key, []).append(one)
    if not found:
        most = max(one.locks for one in tables)
        yield Clean(f"no mandatory lock among {most:,} in {len(tables)} listing{'s' if len(tables) > 1 else ''}")
    for locks in sorted(found.values(), key=len, reverse=True)[:MOST_FILES]:
        name, waiting = named(tuple(locks)), sum(one.waits for one in locks)
        yield Finding(
            subject=name,
            severity=Severity.NOTE,
            title=f"Mandatory locks on {name}",
            seen=f"{owners(tuple(locks))} hold or want mandatory locks on it.",
            because=(
                "The kernel checks every read and write of the file against them; a published test took 20 to 76 % "
                "more system time than with advisory locks."
            ),
            do=FILE_DECIDES,
            unknown="Whether each program that uses the file takes locks, and what the check costs, no listing tells.",
            evidence=(
                Evidence("mandatory locks", len(locks), "locks", locks[0].source),
                Evidence("of them waiting", waiting, "locks", locks[0].source),
            ),
        )
