"""Measured variants of record locking, side by side: coarse against fine ranges, advisory against mandatory locks.

A unit of work is one run: so many processes that each do what every other one does. Figures are of all processes of a
run together; runs of one variant that were repeated are one cell, judged by their mean.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from collectors.facts import Facts, Reading, Source, known
from collectors.facts.unix import LockingCalls, LockingRun
from rules.compare.metrics import Metric
from rules.laws.noise import Sample, noise_of
from rules.laws.rounding import plain

RUN_FACTS = (LockingRun,)
"""What a rule that uses this module has to declare."""
APUE = "Advanced Programming in the UNIX Environment, third edition, section 20.9"
"""Stevens and Rago; Core i5, four cores, Linux 3.2.0."""
LEAST_SECONDS = 0.1
"""This project: of less than that, printed in hundredths, rounding alone is 5 % or more."""
SAME_WORK_PERCENT = 1.0
"""This project: runs whose operations differ by more did not do the same work."""
MORE_THAN_ALL = 1.1
"""This project: so many times more CPU seconds than processes × clock seconds no clock's resolution explains."""

Step = Literal["grain", "mandatory"]


@dataclass(frozen=True)
class Cell:
    """All runs of one variant with one number of processes in one table."""

    runs: tuple[LockingRun, ...]

    @property
    def name(self) -> str:
        """`coarse`, `fine`, `mandatory fine`."""
        return self.runs[0].name

    @property
    def source(self) -> Source:
        """Where the first of them stands."""
        return self.runs[0].source

    def values(self, field: str) -> tuple[float, ...]:
        """One figure of every run, empty where one of them lacks it."""
        found = [value for run in self.runs if known(value := _figure(run, field))]
        return tuple(found) if len(found) == len(self.runs) else ()

    def mean(self, field: str) -> float | None:
        """The mean of the runs, or `None` where one of them lacks it."""
        values = self.values(field)
        return sum(values) / len(values) if values else None

    @property
    def wrong(self) -> str:
        """Why these figures cannot be what they claim; empty: they can."""
        for run in self.runs:
            clock, user, system = run.clock_seconds, run.user_seconds, run.system_seconds
            times = [value for value in (clock, user, system) if known(value)]
            if any(not math.isfinite(value) or value < 0 for value in times) or (known(clock) and clock <= 0):
                return f"{run.source}: seconds of a run below zero, or no time at all"
            if known(clock) and known(user) and known(system):
                most = MORE_THAN_ALL * run.processes * clock + 0.1 * run.processes
                if user + system > most:
                    return (
                        f"{run.source}: {run.processes:g} processes cannot take {plain(user + system, 4)} CPU seconds "
                        f"in {plain(clock, 4)} seconds"
                    )
        return ""


WIDEST_CLOCKS = 20.0
"""This project: processors of servers idle at 400 MHz or more and are boosted to less than 6 GHz, 15 times that."""
DERIVED = {"cpu_seconds", "operations_per_second", "processors_used"}


def _figure(run: LockingRun, field: str) -> Reading | None:
    """A field of a run, or one of three figures made of its fields."""
    if field not in DERIVED:
        read: Reading = getattr(run, field)
        return read
    if field == "processors_used":
        return run.processors_used
    if field == "cpu_seconds":
        user, system = run.user_seconds, run.system_seconds
        return user + system if known(user) and known(system) else None
    done, clock = run.operations, run.clock_seconds
    return done / clock if known(done) and known(clock) and clock > 0 else None


@dataclass(frozen=True)
class Pair:
    """Two variants with the same number of processes, and of records, in one table."""

    step: Step
    title: str
    records: float | None
    processes: float
    before: Cell
    after: Cell

    @property
    def name(self) -> str:
        """`coarse → fine, 4 processes`."""
        records = f", {self.records:,.0f} records" if self.records is not None else ""
        return f"{self.before.name} → {self.after.name}, {counted(self.processes)}{records}"

    @property
    def unit_of_work(self) -> str:
        """What the figures are of."""
        return f"run of {counted(self.processes)}"

    @property
    def source(self) -> Source:
        """The lines that hold both."""
        lines = [run.source for run in (*self.before.runs, *self.after.runs)]
        return Source(lines[0].file, min(one.first for one in lines), max(one.last for one in lines))

    def both(self, field: str) -> tuple[float, float] | None:
        """One figure of both, or `None` where one lacks it."""
        before, after = self.before.mean(field), self.after.mean(field)
        return (before, after) if before is not None and after is not None else None

    @property
    def wrong(self) -> str:
        """Why the figures of either cannot be what they claim; empty: they can."""
        clocks = self.both("frequency_mhz")
        if clocks and max(clocks) > WIDEST_CLOCKS * min(clocks):
            return (
                f"{self.source}: {plain(clocks[0], 4)} and {plain(clocks[1], 4)} MHz cannot be clocks of one processor"
            )
        return self.before.wrong or self.after.wrong

    @property
    def same_work(self) -> bool | None:
        """Whether both did as many operations; `None` where the table does not count them."""
        done = self.both("operations")
        return abs(done[0] - done[1]) <= SAME_WORK_PERCENT / 100 * max(done) if done else None

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Every figure of both. What decides: the clock of finer ranges, the system time of mandatory locks."""
        decides = "unix.clock" if self.step == "grain" else "unix.system"
        return tuple(self._metrics(decides))

    def _metrics(self, decides: str) -> Iterator[Metric]:
        for key, field, label, unit, better in FIGURES:
            found = self.both(field)
            if found is None:
                continue
            first, second = ([Sample(value, 1.0) for value in cell.values(field)] for cell in (self.before, self.after))
            short = unit == "s" and max(found) < LEAST_SECONDS  # rounding, or the tick of a clock, makes the difference
            yield Metric(
                key,
                label,
                unit,
                found[0],
                found[1],
                None if short else better,
                noise=noise_of(first, second),
                tested=True,
                decides=key == decides,
            )


FIGURES: tuple[tuple[str, str, str, str, Literal["low", "high"] | None], ...] = (
    ("unix.clock", "clock_seconds", "clock time", "s", "low"),
    ("unix.system", "system_seconds", "system time", "s", "low"),
    ("unix.user", "user_seconds", "user time", "s", None),
    ("unix.cpu", "cpu_seconds", "CPU time", "s", "low"),
    ("unix.processors_used", "processors_used", "processors kept busy", "CPUs", None),
    ("unix.operations", "operations_per_second", "operations", "/s", "high"),
    ("unix.calls", "calls", "calls of fcntl", "", None),
    ("unix.blocked", "blocked", "calls of fcntl that waited", "", "low"),
    ("unix.frequency", "frequency_mhz", "clock of the processors", "MHz", None),
)
"""Key, field, label, unit, which way is better. User time is not to differ: variants run the same code."""


def counted(processes: float) -> str:
    """`1 process`, `4 processes`."""
    return f"{processes:g} process" + ("" if processes == 1 else "es")


def pairs(facts: Facts, step: Step | None = None) -> tuple[Pair, ...]:
    """Every pair of variants, table by table, by records and processes: coarse → fine, advisory → mandatory."""
    found = [pair for cells in _tables(facts.every(LockingRun)) for pair in _pairs(cells)]
    return tuple(pair for pair in found if step in (None, pair.step))


Key = tuple[float, float, str, bool]
"""Records (-1: not said), processes, variant, mandatory."""


def _tables(runs: Iterable[LockingRun]) -> Iterator[dict[Key, Cell]]:
    """The cells of each table; a table is what one file calls by one title."""
    tables: dict[tuple[str, str], list[LockingRun]] = {}
    for run in runs:
        tables.setdefault((run.source.file, run.title), []).append(run)
    yield from map(_cells, tables.values())


def cells_of_tables(facts: Facts) -> Iterator[tuple[Cell, ...]]:
    """The cells of each table, in the order printed."""
    for cells in _tables(facts.every(LockingRun)):
        yield tuple(cells.values())


def _cells(runs: Iterable[LockingRun]) -> dict[Key, Cell]:
    cells: dict[Key, list[LockingRun]] = {}
    for run in runs:
        key = (run.records if known(run.records) else -1.0, run.processes, run.variant, run.mandatory)
        cells.setdefault(key, []).append(run)
    return {key: Cell(tuple(runs)) for key, runs in cells.items()}


def _pairs(cells: dict[Key, Cell]) -> Iterator[Pair]:
    for records, processes in sorted({(records, processes) for records, processes, _, _ in cells}):
        for step, before, after in (
            ("grain", ("coarse", False), ("fine", False)),
            ("mandatory", ("fine", False), ("fine", True)),
            ("mandatory", ("coarse", False), ("coarse", True)),
        ):
            one, other = cells.get((records, processes, *before)), cells.get((records, processes, *after))
            if one and other:
                title, said = one.runs[0].title, records if records >= 0 else None
                yield Pair(step, title, said, processes, one, other)  # type: ignore[arg-type]  # a Step, by the loop


def across(before: Facts, after: Facts) -> tuple[Pair, ...]:
    """The same variant with as many processes and records, before and after: what decides is the clock."""
    old = _cells(before.every(LockingRun))
    return tuple(
        Pair("grain", late.runs[0].title, key[0] if key[0] >= 0 else None, key[1], old[key], late)
        for key, late in _cells(after.every(LockingRun)).items()
        if key in old
    )


def more_percent(of: float, than: float) -> float:
    """By how many per cent the first exceeds the second: ΔClock is that of coarse over fine."""
    return 100 * (of - than) / than if than > 0 else 0.0


@dataclass(frozen=True)
class Calls:
    """All calls of fcntl of one table of operations."""

    title: str
    coarse: float
    fine: float
    source: Source

    @property
    def more_percent(self) -> float:
        """How many more calls fine ranges need."""
        return more_percent(self.fine, self.coarse)


def calls_of(facts: Facts) -> tuple[Calls, ...]:
    """Count × calls, summed over the operations of each table whose rows all say both."""
    tables: dict[tuple[str, str], list[LockingCalls]] = {}
    for one in facts.every(LockingCalls):
        tables.setdefault((one.source.file, one.title), []).append(one)
    found = []
    for (file, title), rows in tables.items():
        coarse = [one.count * one.coarse_calls for one in rows if known(one.coarse_calls)]
        fine = [one.count * one.fine_calls for one in rows if known(one.fine_calls)]
        if len(coarse) == len(fine) == len(rows) and sum(coarse) > 0:
            lines = [one.source for one in rows]
            source = Source(file, min(one.first for one in lines), max(one.last for one in lines))
            found.append(Calls(title, sum(coarse), sum(fine), source))
    return tuple(found)
