"""From the summed figures of a T4 file to facts."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from collectors.facts import Fact
from collectors.facts.base import ABSENT, OVERFLOW, Reading, Source, known
from collectors.facts.openvms import (
    AlignmentFaults,
    CpuModes,
    DedicatedLockManager,
    DistributedLockRates,
    Hole,
    LockDatabase,
    LockRates,
    ProcessorModes,
    RemasterRates,
    SystemRates,
    T4Column,
)
from collectors.reports.openvms.t4.figures import Figures, cell
from collectors.reports.openvms.t4.names import CENTISECONDS, Layout
from collectors.reports.openvms.t4.time_series import curves_of

OPERATIONS = (
    ("new locks", "new enq rate", "new locks"),
    ("conversions", "converted enq rate", "lock conversions"),
    ("releases", "deqs", "lock deqs"),
)
"""What we call it, its name in `[MON.LOCK]`, how its three columns in `[MON.DLOC]` begin."""
PEAKS = {
    "at lock peak": [("mon.lock", name) for _, name, _ in OPERATIONS],
    "at mp synch peak": [("mon.mode", "mp synch")],
}
"""Statistics of one sample: the one in which these columns add up to most."""
LEVELS = (("mon.syst", "process count"), ("mon.lock", "locks total"))
"""What a boot takes down, and what stands on both sides of a hole."""
HOLE = 3.0
"""Usual intervals: from here on samples are missing, not late (this project: two missing at least)."""
SLACK_SHARE, SLACK_PER_SECOND = 0.02, 1.0
"""How far local + incoming + outgoing may be from the total: rounding alone is 0.02 per second (real file)."""


def moment(centiseconds: int) -> datetime:
    """Centiseconds since 1-JAN-0001 → a time without a zone, as the export has none."""
    day, rest = divmod(centiseconds, CENTISECONDS)
    return datetime.fromordinal(day) + timedelta(milliseconds=rest * 10)


def peak_columns(layout: Layout) -> dict[str, list[int]]:
    """The columns whose sum makes each peak, for those peaks of which all columns are there."""
    found = {name: [layout.column(*key) for key in keys] for name, keys in PEAKS.items()}
    return {name: [at for at in where if at is not None] for name, where in found.items() if None not in where}


def holes_of(figures: Figures, layout: Layout) -> tuple[Hole, ...]:
    """The gaps between samples of at least `HOLE` usual ones, in order of time."""
    usual = figures.kept.gap()
    there = [key for key in LEVELS if layout.column(*key) is not None]
    found = []
    for gap in sorted(figures.gaps, key=lambda one: one.start):
        if not usual or gap.seconds < HOLE * usual:
            continue
        levels = {key: tuple(_level(one) for one in pair) for key, pair in zip(there, gap.levels, strict=True)}
        processes, locks = (levels.get(key, (ABSENT, ABSENT)) for key in LEVELS)
        found.append(
            Hole(
                start=moment(gap.start),
                end=moment(gap.end),
                missing=round(gap.seconds / usual) - 1,
                processes=(processes[0], processes[1]),
                locks=(locks[0], locks[1]),
            )
        )
    return tuple(found)


def _level(figure: float) -> Reading:
    return figure if math.isfinite(figure) else ABSENT


@dataclass
class View:
    """One statistic of all columns."""

    statistic: str
    read: Callable[[int], Reading]
    layout: Layout
    source: Source
    time: datetime | None = None

    def of(self, group: str) -> Callable[[str], Reading]:
        """A reader of this group's columns by name."""

        def read(name: str) -> Reading:
            at = self.layout.column(group, name)
            return ABSENT if at is None else self.read(at)

        return read


@dataclass
class Summary:
    """All there is to say of one file with rows."""

    file: str
    layout: Layout
    figures: Figures

    def __post_init__(self) -> None:
        """Work out what is used often."""
        self.percentiles = self.figures.kept.p95()
        first, last = self.figures.first, self.figures.last
        self.source = Source(self.file, first.line if first else 0, last.line if last else 0)

    def mean(self, at: int) -> Reading:
        """The mean over the samples that have a figure."""
        count = int(self.figures.count[at])
        return round(float(self.figures.sum[at]) / count, 6) if count else self.missing(at)

    def p95(self, at: int) -> Reading:
        """The 95th percentile; absent where all figures of a column fell between the kept rows."""
        figure = float(self.percentiles[at])
        return round(figure, 6) if figure == figure else self.missing(at)

    def extreme(self, at: int, *, highest: bool) -> Reading:
        """The lowest or highest sample."""
        if not self.figures.count[at]:
            return self.missing(at)
        return float((self.figures.high if highest else self.figures.low)[at])

    def missing(self, at: int) -> Reading:
        """Why a column without any figure has none."""
        return OVERFLOW if self.figures.overflown[at] else ABSENT

    def facts(self) -> Iterator[Fact]:
        """Typed facts first, then every column."""
        cpus = self.cpu_count()
        for view in self.views():
            yield from rates(view, cpus)
            yield from node_rates(view)
        yield from self.databases()
        for view in self.views():
            if view.statistic != "at lock peak":
                yield from cpu_modes(view)
        yield from curves_of(self.figures.curves, self.layout, self.source, self.figures.kept.gap(), moment)
        for at in range(len(self.layout.names)):
            if at not in self.layout.clocks:
                yield self.column(at)

    def views(self) -> Iterator[View]:
        """The statistics that this file has."""
        yield View("mean", self.mean, self.layout, self.source)
        yield View("p95", self.p95, self.layout, self.source)
        for name, peak in self.figures.moments.items():
            if peak.row:
                where = Source(self.file, peak.row.line, peak.row.line)
                yield View(name, _read_from(peak.cells()), self.layout, where, moment(peak.row.time))

    def column(self, at: int) -> T4Column:
        """One column over the whole file."""
        group, name = self.layout.names[at]
        any_figure = bool(self.figures.count[at])
        line = int(self.figures.peak_line[at])
        return T4Column(
            source=Source(self.file, line, line) if any_figure else self.source,
            group=group,
            name=name,
            samples=int(self.figures.count[at]),
            mean=self.mean(at),
            minimum=self.extreme(at, highest=False),
            maximum=self.extreme(at, highest=True),
            p95=self.p95(at),
            peak_time=moment(int(self.figures.peak_time[at])) if any_figure else None,
        )

    def cpu_count(self) -> Reading:
        """As many as have columns of their own; else what the modes add up to."""
        if self.layout.cpus:
            return float(len(self.layout.cpus))
        modes = [
            self.mean(at)
            for (group, name), at in self.layout.where.items()
            if group == "mon.mode" and re.search(r"(?: mode| state|^mp synch|^idle time)$", name)
        ]
        measured = [mean for mean in modes if known(mean)]
        return float(round(sum(measured) / 100)) or ABSENT if measured == modes else ABSENT

    def databases(self) -> Iterator[Fact]:
        """Locks and resources: mean and highest."""
        found = [self.layout.column("mon.lock", name) for name in ("locks total", "resources total")]
        there = [at for at in found if at is not None]
        if not there:
            return
        lines = [int(self.figures.peak_line[at]) for at in there if self.figures.count[at]]
        peak = Source(self.file, min(lines), max(lines)) if lines else self.source
        means = [ABSENT if at is None else self.mean(at) for at in found]
        yield LockDatabase(source=self.source, statistic="mean", locks=means[0], resources=means[1])
        peaks = [ABSENT if at is None else self.extreme(at, highest=True) for at in found]
        yield LockDatabase(source=peak, statistic="peak", locks=peaks[0], resources=peaks[1])

    def contradictions(self) -> Iterator[str]:
        """Every lock operation is local, incoming or outgoing: says where the means do not add up."""
        for called, whole, parts in OPERATIONS:
            names = [
                ("mon.lock", whole),
                *(("mon.dloc", f"{parts} ({way})") for way in ("local", "incoming", "outgoing")),
            ]
            columns = [at for key in names if (at := self.layout.column(*key)) is not None]
            if len(columns) < 4 or len({int(self.figures.count[at]) for at in columns}) > 1:
                continue
            total, *shares = [figure for at in columns if known(figure := self.mean(at))] or [0.0]
            gap = abs(total - sum(shares))
            if gap > SLACK_PER_SECOND and gap > SLACK_SHARE * max(total, sum(shares)):
                yield (
                    f"{called}: local, incoming and outgoing add up to {sum(shares):,.1f} per second on average, the "
                    f"lock manager counted {total:,.1f}: do not judge by the distributed figures; collect again with T4"
                )


def _read_from(cells: Sequence[str]) -> Callable[[int], Reading]:
    """Read a cell when it is asked for: of hundreds of columns some dozens are."""
    return lambda at: cell(cells[at])


def rates(view: View, cpus: Reading) -> Iterator[Fact]:
    """What one statistic says of processors and lock manager, for the groups that are there."""
    if view.layout.has("mon.mode"):
        mode = view.of("mon.mode")
        yield ProcessorModes(
            source=view.source,
            statistic=view.statistic,
            interrupt_percent=mode("interrupt state"),
            mp_synch_percent=mode("mp synch"),
            kernel_percent=mode("kernel mode"),
            exec_percent=mode("exec mode"),
            super_percent=mode("super mode"),
            user_percent=mode("user mode"),
            idle_percent=mode("idle time"),
            cpus=cpus,
        )
    if view.layout.has("mon.lock"):
        lock = view.of("mon.lock")
        yield LockRates(
            source=view.source,
            statistic=view.statistic,
            new_enq_per_second=lock("new enq rate"),
            converted_enq_per_second=lock("converted enq rate"),
            deq_per_second=lock("deqs"),
            blocking_ast_per_second=lock("blocking ast rate"),
            enq_waited_per_second=lock("enqs forced to wait"),
            enq_not_queued_per_second=lock("enqs not queued"),
            deadlock_search_per_second=lock("deadlock searches"),
            deadlock_find_per_second=lock("deadlocks found"),
            time=view.time,
        )
    if view.layout.has("mon.dloc"):
        yield distributed(view)
    if view.layout.has("mon.rlck"):
        moved = view.of("mon.rlck")
        yield RemasterRates(
            source=view.source,
            statistic=view.statistic,
            moved_out=moved("lock trees moved"),
            moved_higher_activity=moved("lock trees moved (higher activity)"),
            moved_higher_weight=moved("lock trees moved (lockdirwt)"),
            moved_sole_interest=moved("lock trees moved (single)"),
            messages_sent=moved("remaster messages sent"),
            moved_in=moved("lock trees (incoming)"),
            messages_received=moved("remaster messages received"),
        )
    if view.layout.has("lck73"):
        server = view.of("lck73")
        yield DedicatedLockManager(
            source=view.source,
            statistic=view.statistic,
            busy_percent=server("busy %"),
            requests_per_second=server("req count/sec"),
            spin_time_per_second=server("spin time acc/sec"),
            request_time_per_second=server("req time acc/sec"),
        )


def distributed(view: View) -> Fact:
    """Lock operations by where they are served."""
    lock = view.of("mon.dloc")
    return DistributedLockRates(
        source=view.source,
        statistic=view.statistic,
        enq_local=lock("new locks (local)"),
        enq_incoming=lock("new locks (incoming)"),
        enq_outgoing=lock("new locks (outgoing)"),
        convert_local=lock("lock conversions (local)"),
        convert_incoming=lock("lock conversions (incoming)"),
        convert_outgoing=lock("lock conversions (outgoing)"),
        deq_local=lock("lock deqs (local)"),
        deq_incoming=lock("lock deqs (incoming)"),
        deq_outgoing=lock("lock deqs (outgoing)"),
        blocking_ast_local=lock("local blkasts"),
        blocking_ast_incoming=lock("incoming blkasts"),
        blocking_ast_outgoing=lock("outgoing blkasts"),
        directory_incoming=lock("dir functions (incoming)"),
        directory_outgoing=lock("dir functions (outgoing)"),
        deadlock_messages=lock("deadlock messages"),
    )


def cpu_modes(view: View) -> Iterator[Fact]:
    """The modes of each CPU, by its id."""
    for cpu, modes in sorted(view.layout.cpus.items()):

        def read(name: str, modes: dict[str, int] = modes) -> Reading:
            return view.read(modes[name]) if name in modes else ABSENT

        yield CpuModes(
            source=view.source,
            statistic=view.statistic,
            cpu=cpu,
            interrupt_percent=read("inter mode"),
            mp_synch_percent=read("mpsync mode"),
            kernel_percent=read("kernel mode"),
            user_percent=read("user mode"),
            idle_percent=read("idle"),
        )


def node_rates(view: View) -> Iterator[Fact]:
    """I/O, faults and alignment faults, for the groups that are there."""
    if view.layout.has("mon.syst"):
        rate, lists = view.of("mon.syst"), view.of("mon.page")
        yield SystemRates(
            source=view.source,
            statistic=view.statistic,
            direct_io_per_second=rate("direct i/o rate"),
            buffered_io_per_second=rate("buffered i/o rate"),
            page_fault_per_second=rate("page fault rate"),
            page_read_io_per_second=rate("page read i/o rate"),
            process_count=rate("process count"),
            free_list_pages=lists("free list size"),
            modified_list_pages=lists("modified list size"),
        )
    if view.layout.has("mon.align"):
        faults = view.of("mon.align")
        yield AlignmentFaults(
            source=view.source,
            statistic=view.statistic,
            kernel_per_second=faults("kernel"),
            exec_per_second=faults("exec"),
            super_per_second=faults("super"),
            user_per_second=faults("user"),
        )
