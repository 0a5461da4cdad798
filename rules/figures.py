"""The figures a DBA watches over time, of every capture, whatever the rules say of it.

A figure that was not read is not in the list, and neither is one that cannot be true: asterisks, a counter that
wrapped (below zero), a share above 100 %. A key stands for one and the same figure in every capture of a system: what
is no mean says so in its key, too, so that no line is drawn from a mean to a peak. Where a capture holds a figure
twice, the later one counts, as in the rules. Counts are given as rates, since samples differ in length.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from collectors.facts import Facts, Reading, known
from collectors.facts.ase import (
    EngineBusy,
    LockHashtable,
    LockSummary,
    MetadataCache,
    MetadataSpinlock,
    SemaphoreRequests,
    SysmonSample,
)
from collectors.facts.openvms import (
    CpuModes,
    DedicatedLockManager,
    DistributedLockRates,
    LockDatabase,
    LockRates,
    ProcessorModes,
    RemasterRates,
)
from collectors.facts.scaling import LoadSeries
from rules.ase._evidence.caches.figures import latest_caches, seconds_of
from rules.laws.series import TimeSeries, course_of
from rules.rdb._evidence.watched import watched_databases
from rules.settings import settings_of
from rules.watched import WHOLE_CPU, watched

__all__ = ["KeyFigure", "key_figures", "settings_of"]

MOST_OBJECTS = 5
"""Objects of one kind with a figure of their own: the worst."""
MOMENTS = ("mean", "at lock peak", "at mp synch peak", "peak")
"""Statistics, the one to watch first."""
STATISTICS = (*MOMENTS, "p95")
"""The 95th percentile is each column's own, so it stands for single columns only: added up they were never true."""
SAID = {
    "at lock peak": "in the sample with most lock operations",
    "at mp synch peak": "in the sample with most MP synchronization",
    "peak": "highest sample",
    "p95": "95th percentile",
}
ANY = float("inf")
PER_CPU = "% of one CPU"

Better = Literal["low", "high"] | None
T = TypeVar("T")


@dataclass(frozen=True)
class KeyFigure:
    """One figure: `key` is stable over captures (`ase.cache_hits:default data cache`), `better` which way is better."""

    key: str
    label: str
    unit: str
    value: float
    better: Better


def key_figures(facts: Facts) -> list[KeyFigure]:
    """Give the watched figures of one capture, server first, then its parts; none that was not read."""
    found = [figure for one in (*watched(facts), *watched_databases(facts)) for figure in _figure(*one)]
    found += [*_engines(facts), *_work(facts), *_locks(facts), *_metadata(facts), *_caches(facts)]
    found += [*_processors(facts), *_lock_manager(facts), *_series(facts)]
    return list({figure.key: figure for figure in found}.values())


def _figure(
    key: str, label: str, unit: str, value: Reading | None, better: Better, most: float = ANY
) -> Iterator[KeyFigure]:
    """The figure, if it is one: from 0 to `most`."""
    if known(value) and 0 <= value <= most and value < ANY:
        yield KeyFigure(key, label, unit, float(value), better)


def _worst(found: Iterable[T], name: Callable[[T], str], figure: Callable[[T], Reading | None]) -> list[T]:
    """The objects with the highest figures, each by its latest reading; last those whose figure cannot be true."""

    def height(one: T) -> float:
        value = figure(one)
        return value if known(value) and 0 <= value <= 100 else -1.0

    return sorted({name(one): one for one in found}.values(), key=lambda one: (-height(one), name(one)))[:MOST_OBJECTS]


def _engines(facts: Facts) -> Iterator[KeyFigure]:
    engines = {engine.engine: engine for engine in facts.every(EngineBusy)}
    busy = [engine.busy_percent for engine in engines.values() if engine.busy_percent is not None]
    if engines:
        yield from _figure("ase.engines", "engines online", "", len(engines), None)
    if busy and len(busy) == len(engines) and min(busy) >= 0:
        yield from _figure("ase.engine_busy", "engines busy, mean", "%", sum(busy) / len(busy), None, WHOLE_CPU)
        yield from _figure("ase.engine_busy_most", "busiest engine", "%", max(busy), None, WHOLE_CPU)


def _work(facts: Facts) -> Iterator[KeyFigure]:
    for sample in facts.every(SysmonSample):
        done, per_unit = _each(sample.committed_xacts, sample.seconds), sample.xacts_per_cpu_unit
        yield from _figure("ase.xacts", "committed transactions", "/s", done, "high")
        yield from _figure("ase.xacts_per_cpu", "committed transactions per CPU in use", "", per_unit, "high")
    for log in facts.every(SemaphoreRequests):
        if log.name == "Log":
            label = "log semaphore requests that waited"
            yield from _figure("ase.log_semaphore_waited", label, "%", log.waited_percent, "low", 100)


def _each(count: Reading, seconds: float | None, unit_seconds: float = 1.0) -> float | None:
    """A count of one sample as a rate: samples differ in length."""
    return count / seconds * unit_seconds if known(count) and seconds else None


def _locks(facts: Facts) -> Iterator[KeyFigure]:
    seconds = seconds_of(facts)
    for locks in facts.every(LockSummary):
        yield from _figure("ase.lock_requests", "lock requests", "/s", locks.requests_per_second, None)
        yield from _figure("ase.lock_waited", "lock requests that waited", "%", _waited_percent(locks), "low", 100)
        yield from _figure("ase.deadlocks", "deadlocks", "/h", _each(locks.deadlocks, seconds, 3600), "low")
    for table in facts.every(LockHashtable):
        key, label = table.table, f"{table.table} lock hash table"
        contention = table.contention_percent
        spins, chain = f"ase.lock_hashtable_contention:{key}", f"ase.lock_hashtable_chain:{key}"
        yield from _figure(spins, f"{label}: spinlock contention", "%", contention, "low", 100)
        yield from _figure(chain, f"{label}: mean chain", "locks", table.chain_length, "low")


def _waited_percent(locks: LockSummary) -> Reading:
    """Of the counts, where they are printed: of a million requests the per cent, at one decimal, hides 500."""
    if known(locks.requests) and known(locks.waited) and locks.requests > 0:
        return 100 * locks.waited / locks.requests
    return locks.waited_percent


def _metadata(facts: Facts) -> Iterator[KeyFigure]:
    seconds = seconds_of(facts)
    for one in _worst(facts.every(MetadataSpinlock), lambda one: one.name, lambda one: one.contention_percent):
        key, label = f"ase.metadata_contention:{one.name}", f"{one.name} spinlock contention"
        yield from _figure(key, label, "%", one.contention_percent, "low", 100)
    for cache in facts.every(MetadataCache):
        reused = _each(cache.reuse_succeeded, seconds, 3600)
        label = f"{cache.kind} descriptors reused"
        yield from _figure(f"ase.descriptors_reused:{cache.kind}", label, "/h", reused, "low")


def _caches(facts: Facts) -> Iterator[KeyFigure]:
    caches = latest_caches(facts)
    worst = _worst(caches, lambda one: one.name, lambda one: one.contention_percent)
    for one in worst[:1]:
        label = "most contended data cache: spinlock contention"
        yield from _figure("ase.cache_spinlock_contention", label, "%", one.contention_percent, "low", 100)
    hits, searches = _sum(c.hits for c in caches), _sum(c.searches for c in caches)
    if hits is not None and searches:
        yield from _figure("ase.cache_hits", "data cache hits", "%", 100 * hits / searches, "high", 100)
    for one in worst:
        key, label = f"ase.cache_spinlock_contention:{one.name}", f"{one.name}: spinlock contention"
        yield from _figure(key, label, "%", one.contention_percent, "low", 100)
        yield from _figure(f"ase.cache_hits:{one.name}", f"{one.name}: hits", "%", one.hit_percent, "high", 100)


def _sum(readings: Iterable[Reading]) -> float | None:
    """All of them, or `None` where one is missing or below zero: a part would pass for the whole."""
    read = list(readings)
    numbers = [reading for reading in read if known(reading) and reading >= 0]
    return sum(numbers) if read and len(numbers) == len(read) else None


S = TypeVar(
    "S", ProcessorModes, CpuModes, LockRates, LockDatabase, DistributedLockRates, RemasterRates, DedicatedLockManager
)


@dataclass(frozen=True)
class _Watched:
    """How one figure of a node is made of facts that come in several statistics."""

    key: str
    label: str
    unit: str
    better: Better = None
    most: float = ANY
    statistics: tuple[str, ...] = STATISTICS

    def of(self, found: Iterable[S], read: Callable[[S], Reading | None]) -> Iterator[KeyFigure]:
        """The figure of the first statistic that has it; the latest of several."""
        every = list(found)
        for statistic in self.statistics:
            mean = statistic == "mean"
            name, label = ("", self.label) if mean else (f" ({statistic})", f"{self.label}, {SAID[statistic]}")
            values = [read(one) for one in every if one.statistic == statistic]
            figures = [figure for value in values for figure in self._one(name, label, value)]
            if figures:
                yield figures[-1]
                return

    def _one(self, name: str, label: str, value: Reading | None) -> Iterator[KeyFigure]:
        return _figure(f"openvms.{self.key}{name}", label, self.unit, value, self.better, self.most)


def _processors(facts: Facts) -> Iterator[KeyFigure]:
    modes = facts.every(ProcessorModes)
    yield from _Watched("cpus", "active CPUs", "").of(modes, lambda one: one.cpus)
    synch = "MP synchronization"
    yield from _Watched("mp_synch", synch, PER_CPU, "low").of(modes, lambda one: one.mp_synch_percent)
    lost = _Watched("mp_synch_cpus", f"processors lost to {synch}", "CPUs", "low")
    yield from lost.of(modes, lambda one: one.mp_synch_percent / 100 if known(one.mp_synch_percent) else None)
    yield from _Watched("idle", "idle time", PER_CPU).of(modes, lambda one: one.idle_percent)
    yield from _Watched("interrupt", "interrupt state", PER_CPU).of(modes, lambda one: one.interrupt_percent)
    cpus = [one for one in facts.every(CpuModes) if one.statistic == "mean"]
    for cpu in _worst(cpus, lambda one: str(one.cpu), lambda one: one.mp_synch_percent):
        watched = _Watched(f"cpu_mp_synch:{cpu.cpu}", f"CPU {cpu.cpu}: {synch}", "%", "low", WHOLE_CPU)
        yield from watched.of([cpu], lambda one: one.mp_synch_percent)


def _lock_manager(facts: Facts) -> Iterator[KeyFigure]:
    rates, database = facts.every(LockRates), facts.every(LockDatabase)
    operations = _Watched("lock_operations", "lock operations", "/s", statistics=MOMENTS)
    yield from operations.of(rates, lambda one: one.operations_per_second)
    waited = _Watched("enqueues_waited", "lock requests forced to wait", "/s", "low")
    yield from waited.of(rates, lambda one: one.enq_waited_per_second)
    deadlocks = _Watched("deadlocks", "deadlocks found", "/s", "low")
    yield from deadlocks.of(rates, lambda one: one.deadlock_find_per_second)
    yield from _Watched("locks", "locks", "").of(database, lambda one: one.locks)
    yield from _Watched("resources", "resources", "").of(database, lambda one: one.resources)
    # without a dedicated CPU T4 prints zeros: then there is no such figure
    served = [one for one in facts.every(DedicatedLockManager) if one.on]
    busy = _Watched("lock_manager_busy", "dedicated lock manager busy", "%", None, WHOLE_CPU)
    yield from busy.of(served, lambda one: one.busy_percent)
    asked = _Watched("lock_manager_requests", "requests to the dedicated lock manager", "/s")
    yield from asked.of(served, lambda one: one.requests_per_second)
    share = _Watched("remote_locks", "lock operations with another node", "%", "low", 100, MOMENTS)
    yield from share.of(facts.every(DistributedLockRates), _remote_percent)
    moved = _Watched("lock_trees_moved", "lock trees moved to another node", "/s", "low")
    yield from moved.of(facts.every(RemasterRates), lambda one: one.moved_out)


def _remote_percent(rates: DistributedLockRates) -> float | None:
    """Share of lock operations that come from another node or go to one."""
    local, incoming, outgoing = rates.local_per_second, rates.incoming_per_second, rates.outgoing_per_second
    if local is None or incoming is None or outgoing is None or min(local, incoming, outgoing) < 0:
        return None
    total = local + incoming + outgoing
    return 100 * (incoming + outgoing) / total if total else None


def _series(facts: Facts) -> Iterator[KeyFigure]:
    """Every load series whose figures can be what they claim; of many those that fall most."""
    found = {series.title: (series, course_of(series)) for series in facts.every(LoadSeries)}
    courses = [(series, course) for series, course in found.values() if isinstance(course, TimeSeries)]
    for series, course in sorted(courses, key=lambda pair: -pair[1].fall_percent)[:MOST_OBJECTS]:
        title, unit = series.title, series.rate_name.replace("_", " ")
        yield from _figure(f"scaling.peak_rate:{title}", f"{title}: highest rate", unit, course.peak.rate, "high")
        load = f"{title}: load at the highest rate"
        yield from _figure(f"scaling.peak_load:{title}", load, series.load_name, course.peak.load, None)
        fall = f"{title}: loss at the highest load"
        yield from _figure(f"scaling.fall:{title}", fall, "% of the highest rate", course.fall_percent, "low", 100)
