"""From what was read of one recording to facts, and to what must be said of it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from collectors.facts import Fact
from collectors.facts.base import ABSENT, Reading, Source
from collectors.facts.openvms import (
    CpuModes,
    Curve,
    DistributedLockRates,
    LockDatabase,
    LockRates,
    MonitorSample,
    Node,
    ProcessorModes,
    RemasterRates,
)
from collectors.reports.openvms.monitor_recording.counters import Row
from collectors.reports.openvms.monitor_recording.header import CLASSES, TICKS, moment
from collectors.reports.openvms.monitor_recording.part import Recording
from collectors.reports.openvms.monitor_recording.sums import CURVES, DIGITS

MODE_FIELDS = (
    "interrupt_percent",
    "mp_synch_percent",
    "kernel_percent",
    "exec_percent",
    "super_percent",
    "user_percent",
    "",  # compatibility mode: VAX only, and in no fact
    "idle_percent",
)
CPU_FIELDS = ("interrupt_percent", "mp_synch_percent", "kernel_percent", "", "", "user_percent", "", "idle_percent")
LOCK_FIELDS = (
    "new_enq_per_second",
    "converted_enq_per_second",
    "deq_per_second",
    "blocking_ast_per_second",
    "enq_waited_per_second",
    "enq_not_queued_per_second",
    "deadlock_search_per_second",
    "deadlock_find_per_second",
)
DISTRIBUTED_FIELDS = (
    "enq_local",
    "enq_incoming",
    "enq_outgoing",
    "convert_local",
    "convert_incoming",
    "convert_outgoing",
    "deq_local",
    "deq_incoming",
    "deq_outgoing",
    "blocking_ast_local",
    "blocking_ast_incoming",
    "blocking_ast_outgoing",
    "directory_incoming",
    "directory_outgoing",
    "deadlock_messages",
)
REMASTER_FIELDS = (
    "moved_out",
    "moved_higher_activity",
    "moved_higher_weight",
    "moved_sole_interest",
    "messages_sent",
    "moved_in",
    "messages_received",
)
MOST_BEYOND = 0.05
"""Share of class records whose times may lie outside of the header's (this project): a clock that is set."""
OF_CURVES = {
    "LOCK": ("lock operations", "deadlock searches", "deadlocks found", "locks", "resources"),
    "DLOCK": ("local", "incoming", "outgoing", "directory"),
}


class Summary:
    """All there is to say of one recording."""

    def __init__(self, file: str, read: Recording) -> None:
        """Sum up what was read; which of it is tentative is worked out here."""
        self.file, self.read, self.node = file, read, read.system.node
        self.samples, self.identities = read.samples, read.identities
        self.untimed = self._untimed()
        self.doubted = self._doubted()

    def _untimed(self) -> str | None:
        """Why the times are not proven to be read rightly: neither by the file header nor by the processor modes."""
        header = self.read.header
        if self.identities.add_up or not self.samples.rows:
            return None
        if not header.begin or not header.end:
            return "the file header has no beginning and ending time where it was looked for"
        if self.read.beyond > MOST_BEYOND * sum(self.read.seen.values()):
            return f"{self.read.beyond:,} records are of times outside of those in the file header"
        return None

    def _doubted(self) -> Mapping[str, str]:
        """Why the reading of a class is tentative, by class."""
        found: dict[str, str] = {}
        identities = self.identities
        if "MODES" in self.samples.groups and not identities.add_up:
            found["MODES"] = (
                f"the modes do not add up to 100 x CPUs in {identities.odd:,} of {identities.intervals:,} intervals"
            )
        if identities.gaps():
            found["DLOCK"] = "local, incoming and outgoing do not add up to what the lock manager counted"
        if identities.moves:
            found["RLOCK"] = "the order of the figures of RLOCK is recalled, and nothing here proves it"
        return found

    def source(self, first: int, last: int, group: str = "") -> Source:
        """Records of the file; of a tentative class marked so."""
        return Source(self.file, first, last, bool(self.untimed) or group in self.doubted)

    def whole(self, group: str = "") -> Source:
        """All samples."""
        return self.source(self.samples.first, self.samples.last, group)

    def facts(self) -> Iterator[Fact]:
        """The node, what was recorded, then the figures."""
        if not self.read.dialect:
            return
        cpus = self._cpus()
        if self.node:
            yield self._node(cpus)
        yield self._covers()
        groups = self.samples.groups
        means = {name: one.means() for name, one in groups.items()}
        yield from self._statistic("mean", means, None, cpus)
        yield from self._statistic("p95", {name: one.p95() for name, one in groups.items()}, None, cpus)
        for statistic, peak in self.samples.peaks.items():
            if peak.row:
                figures = {
                    name: [round(value, DIGITS) for value in part.values] for name, part in peak.row.parts.items()
                }
                yield from self._statistic(statistic, figures, peak.row, cpus)
        yield from self._databases()
        yield from self._curves()

    def _cpus(self) -> Reading:
        """What the modes add up to, in CPUs: one that is stopped does not count."""
        modes = self.samples.groups.get("MODES")
        return float(round(sum(modes.means()) / 100)) or ABSENT if modes else ABSENT

    def _node(self, cpus: Reading) -> Fact:
        booted, time = self.read.system.booted, self.read.time
        running = booted and time >= booted
        record = self.read.system_record
        return Node(
            source=Source(self.file, record, record, not running or bool(self.untimed)),
            name=self.node or "",
            active_cpus=cpus,
            at=moment(time) if time else None,
            uptime_seconds=round((time - booted) / TICKS, 2) if running else ABSENT,
        )

    def _covers(self) -> Fact:
        read, samples = self.read, self.samples
        seconds = max((one.seconds for one in samples.groups.values()), default=0.0)
        return MonitorSample(
            source=self.source(read.start.number, read.last_number),
            node=self.node,
            kind="recording",
            classes=tuple(CLASSES[kind] for kind in sorted(read.seen) if kind in CLASSES),
            start=moment(read.first_time) if read.first_time else None,
            end=moment(read.time) if read.time else None,
            seconds=round(seconds, 2) if samples.rows else None,
            samples=samples.rows,
            interval_seconds=samples.interval() or read.header.interval,
            comment=read.header.comment,
            dialect=read.dialect.name if read.dialect else None,
            p95_every=max((one.every for one in samples.groups.values()), default=1),
            transitions=read.transitions,
            wraps=read.wrap_count,
        )

    def _statistic(
        self, statistic: str, figures: Mapping[str | int, Sequence[float]], row: Row | None, cpus: Reading
    ) -> Iterator[Fact]:
        """One statistic of every class; `row`: that of one sample."""

        def common(group: str) -> dict[str, Any]:
            source = self.source(row.first, row.last, group) if row else self.whole(group)
            return {"source": source, "node": self.node, "statistic": statistic}

        time: datetime | None = moment(row.time) if row else None
        if "MODES" in figures:
            yield ProcessorModes(**common("MODES"), **_fields(MODE_FIELDS, figures["MODES"]), cpus=cpus)
        if "LOCK" in figures:
            yield LockRates(**common("LOCK"), **_fields(LOCK_FIELDS, figures["LOCK"]), time=time)
        if "DLOCK" in figures:
            yield DistributedLockRates(**common("DLOCK"), **_fields(DISTRIBUTED_FIELDS, figures["DLOCK"]))
        if "RLOCK" in figures:
            yield RemasterRates(**common("RLOCK"), **_fields(REMASTER_FIELDS, figures["RLOCK"]))
        if statistic == "at lock peak":
            return
        for cpu in sorted(name for name in figures if isinstance(name, int)):
            yield CpuModes(**common("MODES"), cpu=cpu, **_fields(CPU_FIELDS, figures[cpu]))

    def _databases(self) -> Iterator[Fact]:
        """Locks and resources: mean and highest."""
        levels = self.samples.groups.get("LEVELS")
        if not levels:
            return
        (locks, resources), (most_locks, most_resources) = levels.means(), levels.high
        source = self.source(min(levels.high_at), max(levels.high_at))
        mean = LockDatabase(source=self.whole(), node=self.node, statistic="mean", locks=locks, resources=resources)
        yield mean
        yield LockDatabase(
            source=source, node=self.node, statistic="peak", locks=float(most_locks), resources=float(most_resources)
        )

    def _curves(self) -> Iterator[Fact]:
        """The course of the recording."""
        for name, steps in self.samples.steps.items():
            group = next((group for group, names in OF_CURVES.items() if name in names), "MODES")
            yield Curve(
                source=self.whole(group),
                node=self.node,
                name=name,
                unit=CURVES[name][0],
                start=moment(steps.start),
                step_seconds=round(steps.width / TICKS, 2),
                means=steps.means(),
                peaks=steps.peaks(),
            )


def _fields(names: Sequence[str], values: Sequence[float]) -> dict[str, Any]:
    """The figures under the names of a fact's fields."""
    return {name: value for name, value in zip(names, values, strict=True) if name}
