"""Load series made of captures of one system at different loads: what it did with more engines, CPUs, processors.

* SAP ASE: engines online against committed transactions per second (sp_sysmon);
* OpenVMS: active CPUs against lock operations per second (means of T4 or MONITOR);
* z/VM: processors against transactions per second, the runs of one table of one release.

Only where there are at least three different loads; of SAP ASE two, where more engines committed less: its reports
print beside it how contended the spinlocks were, and the commits for each CPU unit. Such captures are no runs of one
test, so the series is marked `derived`: rules then say that the demand may have differed. Each point keeps its own
file and line, and how busy the machine was (`busy_percent`, of all engines or processors).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from collectors.facts import Capture, Facts, Reading, Source, known
from collectors.facts.ase import CacheActivity, EngineBusy, LockHashtable, MonSpinlockActivity, SysmonSample
from collectors.facts.openvms import LockRates, ProcessorModes
from collectors.facts.scaling import LoadPoint, LoadSeries
from collectors.facts.zvm import PerformanceRun

LEAST_LOADS = 3
"""Two points are always in a line."""
MODES = ("idle", "interrupt", "mp_synch", "kernel", "exec", "super", "user")


@dataclass(frozen=True)
class _Point:
    """One capture, or one run of a table, as a point of a series."""

    load: float
    rate: float
    others: tuple[tuple[str, float], ...]
    source: Source


def with_loads(captures: Sequence[Capture]) -> list[Capture]:
    """The same captures; the newest of each system with the load series that all of them together make."""
    found = list(captures)
    systems: dict[tuple[str, str, str | None], list[int]] = {}
    for at, one in enumerate(found):
        if one.system.product == "zvm":
            found[at] = _with(one, tuple(_of_tables(one)))
        elif one.system.product in POINTS:
            systems.setdefault((one.system.product, one.system.name.upper(), one.system.version), []).append(at)
    for (product, _, _), places in systems.items():
        together = sorted(places, key=lambda at: _when(found[at]))
        load, rate, point_of = POINTS[product]
        points = [point for at in together if (point := point_of(found[at])) is not None]
        newest = together[-1]
        title = f"{found[newest].system.name}, captures at several numbers of {load.replace('cpus', 'CPUs')}"
        found[newest] = _with(found[newest], _series(title, load, rate, product, points))
    return found


def _with(capture: Capture, series: Sequence[LoadSeries]) -> Capture:
    return replace(capture, facts=Facts((*capture.facts.items, *series))) if series else capture


def _when(capture: Capture) -> str:
    """In order of time; captures without a time come first, in the order of the files."""
    moment = capture.interval.end or capture.interval.start
    return moment.replace(tzinfo=None).isoformat() if moment else ""


def _series(title: str, load: str, rate: str, product: str, points: Sequence[_Point]) -> tuple[LoadSeries, ...]:
    """One series, where the points are at enough different loads; its own source is that of the last point."""
    if len({point.load for point in points}) < LEAST_LOADS and not (product == "ase" and _fell(points)):
        return ()
    made = tuple(
        LoadPoint(load=one.load, rate=one.rate, others=one.others, line=one.source.first, file=one.source.file)
        for one in sorted(points, key=lambda one: one.load)
    )
    source = points[-1].source
    whole = LoadSeries(
        source=source, title=title, load_name=load, rate_name=rate, points=made, product=product, derived=True
    )
    return (whole,)


def _fell(points: Sequence[_Point]) -> bool:
    """Whether they are of two loads, and each at the higher one did less than each at the lower."""
    low, high = min((one.load for one in points), default=0.0), max((one.load for one in points), default=0.0)
    at_low = [one.rate for one in points if one.load == low]
    at_high = [one.rate for one in points if one.load == high]
    return low < high and max(at_high) < min(at_low)


def _engines(capture: Capture) -> _Point | None:
    """Engines online and commits per second of one sp_sysmon that was read to its end."""
    facts = capture.facts
    samples, engines = facts.every(SysmonSample), {one.engine: one for one in facts.every(EngineBusy)}
    if len(samples) != 1 or not engines:
        return None
    sample = samples[0]
    if not (sample.complete and sample.seconds and known(sample.committed_xacts) and sample.committed_xacts >= 0):
        return None
    shares = [busy for one in engines.values() if (busy := one.busy_percent) is not None]
    busy = sum(shares) / len(shares) if len(shares) == len(engines) else None
    others = (("busy_percent", busy), *_spins(facts), *_printed(facts, sample))
    rate = sample.committed_xacts / sample.seconds
    return _Point(float(len(engines)), rate, _given(others), sample.source)


def _spins(facts: Facts) -> Iterator[tuple[str, float | None]]:
    """How the engines spun meanwhile, all spinlocks together: from two snapshots of the same time."""
    rows = [one for one in facts.every(MonSpinlockActivity) if one.of_interval and one.believed]
    whole = [
        (one.grabs, one.spins, one.waits) for one in rows if known(one.grabs) and known(one.spins) and known(one.waits)
    ]
    grabs, spins, waits = (sum(row[at] for row in whole) for at in range(3))
    yield "spins_per_wait", spins / waits if waits > 0 else None
    yield "waited_percent", 100 * waits / grabs if grabs > 0 else None


def _printed(facts: Facts, sample: SysmonSample) -> Iterator[tuple[str, Reading | None]]:
    """What sp_sysmon prints of it: its most contended spinlock of caches and lock tables, and commits per CPU unit."""
    found = [one.contention_percent for one in facts.every(CacheActivity)]
    found += [one.contention_percent for one in facts.every(LockHashtable)]
    yield "contended_percent", max((share for share in found if known(share)), default=None)
    yield "commits_per_cpu", sample.xacts_per_cpu_unit


def _cpus(capture: Capture) -> _Point | None:
    """Active CPUs and lock operations per second of one node, both means over one time."""
    modes = _mean_of(capture, ProcessorModes)
    rates = _mean_of(capture, LockRates)
    if modes is None or rates is None or not known(modes.cpus) or round(modes.cpus) < 1:
        return None
    operations, cpus = rates.operations_per_second, round(modes.cpus)
    if operations is None or operations < 0:
        return None
    columns: list[tuple[str, Reading | None]] = [
        (f"{mode}_percent", getattr(modes, f"{mode}_percent")) for mode in MODES
    ]
    idle = modes.idle_percent
    busy = min(100.0, max(0.0, 100 - idle / cpus)) if known(idle) else None
    return _Point(float(cpus), operations, _given([("busy_percent", busy), *columns]), rates.source)


M = TypeVar("M", LockRates, ProcessorModes)


def _mean_of(capture: Capture, kind: type[M]) -> M | None:
    """The mean of this node; `None` where there is none, or more than one: a day and an hour of it are two."""
    found = [one for one in capture.facts.every(kind) if one.statistic == "mean"]
    own = [one for one in found if one.node is None or one.node.upper() == capture.system.name.upper()]
    return own[0] if len(own) == 1 else None


def _of_tables(capture: Capture) -> Iterator[LoadSeries]:
    """The runs of each table and release over the number of processors; runs whose figures contradict are left out."""
    tables: dict[tuple[str, str | None, int, str], list[_Point]] = {}
    runs = capture.facts.every(PerformanceRun)
    numbers = _numbered(runs)
    for run in runs:
        cpus, rate = run.processors, run.transactions_per_second
        if run.release is None or run.wrong or not (known(cpus) and known(rate)) or cpus < 1 or rate < 0:
            continue
        others = (
            ("busy_percent", run.total_util_percent),
            ("spin_percent", run.spin_percent),
            ("spin_msec_per_tx", run.spin_msec_per_tx),
            ("cp_msec_per_tx", run.cp_msec_per_tx),
            ("emul_msec_per_tx", run.emul_msec_per_tx),
        )
        key = (run.source.file, run.title, numbers[run.source], run.release)
        tables.setdefault(key, []).append(_Point(float(cpus), rate, _given(others), run.source))
    for (_, title, _, release), points in tables.items():
        name = f"{title or capture.system.name}, z/VM {release}"
        yield from _series(name, "processors", "transactions_per_second", "zvm", points)


def _numbered(runs: Sequence[PerformanceRun]) -> dict[Source, int]:
    """Which table of its file a run without a title is of: runs of one table have lines in common; else 0."""
    found: dict[Source, int] = {}
    number, file, last = 0, "", 0
    for source in sorted({run.source for run in runs if run.title is None}, key=lambda one: (one.file, one.first)):
        if source.file != file or source.first > last:
            number, last = number + 1, source.last
        file, last = source.file, max(last, source.last)
        found[source] = number
    return {run.source: found.get(run.source, 0) for run in runs}


def _given(columns: Iterable[tuple[str, Reading | None]]) -> tuple[tuple[str, float], ...]:
    """The columns that hold a number."""
    return tuple((name, float(value)) for name, value in columns if value is not None and known(value))


POINTS: dict[str, tuple[str, str, Callable[[Capture], _Point | None]]] = {
    "ase": ("engines", "commits_per_second", _engines),
    "openvms": ("cpus", "lock_operations_per_second", _cpus),
}
"""By product: what the load is called, what the rate is called, and what makes a point of one capture."""
