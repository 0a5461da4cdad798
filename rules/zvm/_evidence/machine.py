"""The z/VM system beside its locks: processors, release, how busy; and whether more processors are online than needed.

Each figure is the mean of the processors over the interval: of the page that prints it (FCX225), else worked out of the
rows of all processors (FCX144); CP's and the guests' share, where neither is printed, of busy and T/V ratio, which is
all time ÷ the guests' own. What no page prints, the measured run has that the page of locks is of.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from collectors.facts import Facts, Source, known
from collectors.facts.zvm import PERFKIT, PerfkitPage, PerformanceRun, ProcessorLoad, ServiceStatus, SpinLock
from rules.finding import Evidence, MissingInput
from rules.sample import LeastSample
from rules.zvm._evidence.releases import Release, release_of, service_of
from rules.zvm._evidence.runs import run_of_pages

MACHINE_FACTS = (PerfkitPage, ProcessorLoad, PerformanceRun, ServiceStatus, SpinLock)
"""What a rule that uses this module has to declare."""
LEAST = LeastSample(60.0, 1, "this project: CP samples its monitor data once a minute unless told otherwise (recalled)")
"""What a rule on pages of Performance Toolkit needs before it says more than a note."""
MEAN = "mean"
ASK_USERS = MissingInput(ProcessorLoad.fact_name(), PERFKIT.format("FCX225 (SYSSUMLG)"))
ASK_PROCESSORS = MissingInput(ProcessorLoad.fact_name(), PERFKIT.format("FCX144 (PROCLOG)"))
MOST_PERCENT = 100.5
"""Of one processor, with rounding."""
FEW = 3
"""Published: on 3 processors CP's time per transaction fell by 3 % when timer requests left the scheduler lock."""
SOME = 4
"""This project: with fewer online, none is taken out for spinning."""


@dataclass(frozen=True)
class Figure:
    """A share of the mean processor's time, %, and where it was read."""

    value: float
    source: Source


@dataclass(frozen=True)
class Machine:
    """What is known of it; `None` for all that no page says."""

    processors: float | None
    release: Release | None
    busy: Figure | None
    cp: Figure | None
    """CP's own time, for users and for the system."""
    system: Figure | None
    """System overhead: of CP's time what belongs to no user."""
    emulation: Figure | None
    """The guests' own time."""
    spinning: Figure | None
    """As pages of processors print it."""
    kinds: frozenset[str] = frozenset()
    """Types of the processors (`CP`, `IFL`), where the pages print them."""
    service: Mapping[str, bool] = field(default_factory=dict)
    """Whether an APAR that was asked for is applied to CP, by its number."""


def machine_of(facts: Facts) -> Machine:
    """What the pages say, the latest of each. Declares `MACHINE_FACTS`."""
    rows = [row for row in facts.every(ProcessorLoad) if row.statistic == MEAN]
    counted = [one.processors for one in facts.every(PerfkitPage)] + [row.processors for row in rows]
    counts = [count for count in counted if known(count) and count >= 1]
    each = {row.cpu for row in rows if row.cpu is not None}
    release = release_of(facts)
    busy, emulation, cp = (_mean(rows, f"{name}_percent") for name in ("busy", "emulation", "cp"))
    beside = run_of_pages(facts)
    run = beside[0] if beside else None
    busy = busy or _of_run(run, "total_util_percent")
    guests = emulation or _of_ratio(rows)
    if cp is None and busy and guests and guests.value <= busy.value:
        cp = Figure(busy.value - guests.value, guests.source)
    return Machine(
        processors=counts[-1] if counts else float(len(each)) if each else None,
        release=release[0] if release else None,
        busy=busy,
        cp=cp,
        system=_mean(rows, "system_percent") or _of_run(run, "system_util_percent"),
        emulation=guests,
        spinning=_mean(rows, "spin_percent") or _of_run(run, "spin_percent"),
        kinds=frozenset(row.kind.upper() for row in rows if row.kind),
        service=service_of(facts),
    )


def _of_run(run: PerformanceRun | None, name: str) -> Figure | None:
    value = getattr(run, name) if run else None
    return Figure(value, run.source) if run and value is not None and known(value) else None


def _mean(rows: Sequence[ProcessorLoad], name: str) -> Figure | None:
    """The mean that is printed, the latest; else that of the rows of all processors, if each has the figure."""
    printed = [(row, getattr(row, name)) for row in rows if row.cpu is None]
    said = [Figure(value, row.source) for row, value in printed if known(value) and 0 <= value <= MOST_PERCENT]
    if said:
        return said[-1]
    each = {row.cpu: row for row in rows if row.cpu is not None}
    values = [value for row in each.values() if known(value := getattr(row, name)) and 0 <= value <= MOST_PERCENT]
    if not values or len(values) < len(each):
        return None
    return Figure(statistics.fmean(values), _around([row.source for row in each.values()]))


def busy_of_rows(facts: Facts) -> Figure | None:
    """How busy the rows of single processors say that all were, where the mean is printed beside them."""
    rows = [row for row in facts.every(ProcessorLoad) if row.statistic == MEAN]
    if not any(row.cpu is None and known(row.busy_percent) for row in rows):
        return None
    return _mean([row for row in rows if row.cpu is not None], "busy_percent")


def _around(sources: Sequence[Source]) -> Source:
    """All lines of one file; of several files the last one's."""
    here = [one for one in sources if one.file == sources[-1].file]
    tentative = any(one.tentative for one in sources)
    return Source(here[-1].file, min(one.first for one in here), max(one.last for one in here), tentative)


def _of_ratio(rows: Sequence[ProcessorLoad]) -> Figure | None:
    """The guests' own time, of busy and the T/V ratio on the latest row that has both."""
    for row in reversed(rows):
        busy, ratio = row.busy_percent, row.tv_ratio
        if row.cpu is None and known(busy) and known(ratio) and 0 <= busy <= MOST_PERCENT and ratio >= 1:
            return Figure(busy / ratio, row.source)
    return None


def more_than_needed(machine: Machine, needed_percent: float) -> tuple[str, str, list[Evidence]] | None:
    """What is open, what to do and the evidence, where processors are less busy than `needed_percent`; else `None`.

    Fewer processors can spin for each other less. The z/VM 6.2 performance report names partitions with too many
    logical processors as those that its spin lock manager helps most. Of several types the mean says nothing: idle
    CPs do not do the work of busy IFLs, and without the last one of a type CP gives up its CPU affinity.
    """
    busy, cpus = machine.busy, machine.processors
    if busy is None or cpus is None or cpus < SOME or busy.value >= needed_percent or len(machine.kinds) > 1:
        return None
    said = (
        f"The {cpus:g} processors are {busy.value:.0f} % busy on average, the work of {cpus * busy.value / 100:.1f}: "
        "if the busiest hour is not much higher, fewer would spin less."
    )
    own = machine.release is None or machine.release >= Release(6, 3)
    do = (
        f"{'Where HiperDispatch (from 6.3 on) does not do it by itself, ' if own else ''}VARY OFFLINE PROCESSOR takes "
        "one out, VARY ONLINE PROCESSOR puts it back (CORE instead of PROCESSOR where multithreading is enabled): "
        "one at a time, never the last one of a type, and compare CP's time per transaction."
    )
    return (
        said,
        do,
        [
            Evidence("processors busy, mean", round(busy.value, 1), "%", busy.source, needed_percent),
            Evidence("processors", cpus, "", busy.source),
        ],
    )
