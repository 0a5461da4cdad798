"""Runs of one test on both sides: load series, z/VM performance runs, variants of record locking."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Facts
from collectors.facts.scaling import LoadSeries
from collectors.facts.zvm import PerformanceRun
from rules.compare.load_series import RUN, metrics_of, pair_of
from rules.compare.metrics import Metric
from rules.compare.similarity import Part
from rules.compare.within import of_zvm
from rules.laws.comparability import of_amounts
from rules.laws.machines import machine_of
from rules.unix._evidence import runs as locking
from rules.unix._evidence.clock import clock_of, distrusted
from rules.zvm._evidence import runs as zvm


@dataclass(frozen=True)
class OfRuns:
    """What runs of a test give: metrics of which those that decide say so, the unit of work, what differs."""

    metrics: tuple[Metric, ...]
    unit: str | None
    parts: tuple[Part, ...] = ()
    says: tuple[str, ...] = ()
    """What may be concluded besides, in whole sentences."""


def runs_of(before: Facts, after: Facts) -> OfRuns | None:
    """The runs that both sides hold, at the same load; `None` where there are none."""
    return _of_zvm(before, after) or _of_locking(before, after) or _of_series(before, after)


def _of_zvm(before: Facts, after: Facts) -> OfRuns | None:
    pairs = zvm.across(before.every(PerformanceRun), after.every(PerformanceRun))
    if not pairs:
        return None
    doubts = [Part("figures", 0.0, pair.doubt) for pair in pairs if pair.doubt]
    metrics = [metric for pair in pairs for metric in of_zvm(pair, f"{pair.processors:g}-way" if pairs[1:] else "")]
    same = Part("processors", 1.0, f"{', '.join(f'{pair.processors:g}' for pair in pairs)} processors on both sides")
    says = tuple(f"{zvm.conclusion(pair)}." for pair in pairs)
    return OfRuns(tuple(metrics), zvm.UNIT_OF_WORK, (same, *doubts), says)


def _of_locking(before: Facts, after: Facts) -> OfRuns | None:
    """The same variant with the same number of processes, on both sides."""
    pairs = locking.across(before, after)
    if not pairs:
        return None
    early, late = clock_of(before), clock_of(after)
    doubts = [why for pair in pairs if (why := distrusted(pair, late) or distrusted(pair, early))]
    metrics = [
        replace(one, key=f"{one.key}:{pair.name}", label=f"{pair.name}: {one.label}")
        for pair in pairs
        for one in pair.metrics
    ]
    same = Part("runs", 1.0, f"{len(pairs)} runs of the same variant and number of processes")
    return OfRuns(tuple(metrics), RUN, (same, *(Part("work", 0.0, why) for why in doubts)))


def _of_series(before: Facts, after: Facts) -> OfRuns | None:
    """Load series by what decides of each: of several series those of the same title."""
    paired = _paired(before.every(LoadSeries), after.every(LoadSeries))
    pairs = [pair for one in paired if (pair := pair_of(*one)) is not None]
    if not pairs:
        return None
    metrics = [metric for pair in pairs for metric in metrics_of(pair, named=len(pairs) > 1)]
    loads = sum(len(pair.common) for pair in pairs)
    parts = [Part("loads", 1.0, f"{loads} loads that both sides ran at"), *_machines(before, after)]
    says = tuple(said for pair in pairs for said in pair.says)
    return OfRuns(tuple(sorted(metrics, key=lambda one: not one.decides)), RUN, tuple(parts), says)


def _machines(before: Facts, after: Facts) -> Iterator[Part]:
    """Model, processors and clock of the series, where both sides say so: another clock is another machine."""
    for early, late in _paired(before.every(LoadSeries), after.every(LoadSeries)):
        first, second = machine_of(early.title), machine_of(late.title)
        models = first.model and second.model and first.model != second.model
        if models or first.emulator != second.emulator:
            yield Part("machine", 0.0, f"another machine: {early.title} → {late.title}")
        if early.cores and late.cores and early.cores != late.cores:
            yield Part("processors", of_amounts(early.cores, late.cores) or 0.0, f"{early.cores} → {late.cores} cores")
        if early.clock_mhz and late.clock_mhz and early.clock_mhz != late.clock_mhz:
            said = f"ran at {early.clock_mhz:g} and {late.clock_mhz:g} MHz: rates do not follow the clock"
            yield Part("machine", 0.0, said)


def _paired(first: Sequence[LoadSeries], second: Sequence[LoadSeries]) -> Iterator[tuple[LoadSeries, LoadSeries]]:
    # what was made of captures is the demand of their days, not runs of a test
    first, second = ([one for one in side if not one.derived] for side in (first, second))
    if len(first) == len(second) == 1:
        yield first[0], second[0]
        return
    by_title = {one.title: one for one in first}
    yield from ((by_title[one.title], one) for one in second if one.title in by_title)
