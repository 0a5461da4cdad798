"""One recording: from its file header to the next one, record by record."""

import struct
from collections import Counter

from collectors.reports.openvms.monitor_recording.counters import Counting, Longwords, Part, Rates, Row
from collectors.reports.openvms.monitor_recording.dialect import (
    DLOCK,
    LOCK,
    LONGWORDS,
    MODES,
    RLOCK,
    Dialect,
    dialect_of,
)
from collectors.reports.openvms.monitor_recording.header import (
    CUSTOMER,
    EARLIEST,
    FILE_HEADER,
    LATEST,
    RMS_FILE,
    SYSTEM,
    TICKS,
    TRANSITION,
    SystemInformation,
    header_of,
    quadword,
    system_of,
)
from collectors.reports.openvms.monitor_recording.identities import Identities
from collectors.reports.openvms.monitor_recording.records import Record
from collectors.reports.openvms.monitor_recording.sums import Samples

MOST_HELD, MOST_HELD_BYTES = 2_000, 1 << 20
"""Records kept until the layout is told: the first interval of all classes is far less."""
BAD_IN_A_ROW = 8
"""So many records in a row that cannot be of this recording: the place in the file is lost."""
LONGEST_RECORDING = 400 * 86_400 * TICKS
SLACK = 120 * TICKS
"""The header's times and those of the records are taken one after the other."""
CLOCK_BACK = 2 * 3600 * TICKS
"""So far a clock may be set back soon after the beginning: what is earlier is no time of this recording."""
SAME_BOOT = 60 * TICKS
LEVELS = 2
"""The last longwords of LOCK: locks and resources."""
MODE_COUNT = 8
LEAST_OF_TIME = 50.0
"""Per cent of the time that the modes of one CPU at least must make; else the clock is wrong (this project)."""
NAMES = {MODES: "MODES", LOCK: "LOCK", DLOCK: "DLOCK", RLOCK: "RLOCK"}


class Recording:
    """What was read of one recording. Keeps sums, some thousand samples, and the records whose layout is not told."""

    def __init__(self, header: Record) -> None:
        """Begin with the file header."""
        self.header, self.start = header_of(header.data), header
        begin, slack = self.header.begin, SLACK + 2 * TICKS * (self.header.interval or 0)
        self.earliest = begin - CLOCK_BACK if begin else EARLIEST
        self.latest = max(begin + LONGEST_RECORDING, self.header.end + slack) if begin else LATEST
        self.apart = max(TICKS, (self.header.interval or 2) * TICKS // 2)
        """Records of one interval are not farther apart, in units of 100 ns."""
        self.last_number = header.number
        self.system = SystemInformation()
        self.system_record = 0
        self.held: list[Record] | None = []
        self.held_bytes = 0
        self.held_kinds: Counter[int] = Counter()
        self.dialect: Dialect | None = None
        self.refused: str | None = None
        self.first_time = self.time = 0
        """Of the class records; `time` is the latest one."""
        self.times: dict[int, int] = {}
        """The latest of each class."""
        self.counting: dict[str | int, Counting] = {}
        self.cpus: tuple[int, ...] = ()
        self.group = Row(0, 0, 0)
        self.in_group: set[int] = set()
        self.void = False
        """Whether nothing in this interval can be believed: the modes say that its time is wrong."""
        self.samples, self.identities = Samples(), Identities()
        self.seen: Counter[int] = Counter()
        """Class records by type, customer records not counted."""
        self.unknown: Counter[int] = Counter()
        self.waiting: list[Record] = []
        """Control records that count only if a record of a class follows: what is stale at the end does not."""
        self.transitions = 0
        self.wraps: list[tuple[str, int]] = []
        self.wrap_count = 0
        self.doubts: list[tuple[int, str]] = []
        self.doubt_count = 0
        self.clock: tuple[int, int] | None = None
        """The first record at which the clock had gone back, and how many were not read for it."""
        self.beyond = 0
        """Class records outside of the header's times."""
        self.bad: list[Record] = []
        """The latest records, all of them bad."""
        self.passed: list[int] = []
        self.passed_count = 0

    def take(self, record: Record) -> bool:
        """Take the next record; `True`: it is a class record of this recording for sure."""
        if self.refused or record.kind >= CUSTOMER:
            return False
        if self.held is None:
            return self._judge(record)
        self.held.append(record)
        self.held_bytes += len(record.data)
        self.held_kinds[record.kind] += 1
        enough = self.held_kinds[LOCK] >= 2 or self.held_kinds[MODES] >= 2
        if enough or len(self.held) >= MOST_HELD or self.held_bytes >= MOST_HELD_BYTES:
            self.settle()
        return False

    def settle(self) -> None:
        """Tell the layout by the records held, then read them."""
        held, self.held = self.held or [], None
        if not any(kind < FILE_HEADER for kind in self.held_kinds):
            self.waiting = held
            self._controls_count()
            return
        found = dialect_of(held, self.earliest, self.latest)
        if isinstance(found, str):
            self.refused = found
            return
        self.dialect = found
        for record in held:
            self._judge(record)

    def _judge(self, record: Record) -> bool:
        """Read one record, or pass over it; `True`: it is a class record of this recording for sure."""
        kind = record.kind
        if kind >= FILE_HEADER:
            if kind == FILE_HEADER:  # a true one begins the next recording
                return self._pass(record)
            self.waiting.append(record)
            del self.waiting[:-MOST_HELD]
            return False
        if self.dialect is None:
            return self._pass(record)
        time = quadword(record.data, self.dialect.time_at)
        if not (self.earliest <= time <= self.latest and self.dialect.fits(kind, len(record.data))):
            return self._pass(record)
        self._controls_count()
        self.passed += [one.number for one in self.bad][: BAD_IN_A_ROW - len(self.passed)]
        self.passed_count += len(self.bad)
        self.bad.clear()
        self.last_number = record.number
        self.seen[kind] += 1
        if time < self.times.get(kind, 0):
            first, count = self.clock or (record.number, 0)
            self.clock = (first, count + 1)
            self._no_difference()
            return True
        self.times[kind] = time
        if self.header.end and not self.header.begin - SLACK <= time <= self.header.end + SLACK:
            self.beyond += 1
        self.first_time, self.time = self.first_time or time, max(time, self.time)
        if kind in NAMES:
            self._class(record, kind, time)
        return True

    def _pass(self, record: Record) -> bool:
        self.bad.append(record)
        return False

    def _controls_count(self) -> None:
        """The records that wait are followed by one of a class: they are no stale bytes."""
        anew = [self._control(record) for record in self.waiting]
        self.waiting.clear()
        if any(anew) and self.first_time:
            self.transitions += 1
            self._no_difference()

    def _control(self, record: Record) -> bool:
        """Read a system control record; says whether the counters start anew with it."""
        if record.kind == TRANSITION:
            return True
        if record.kind == SYSTEM:
            was, found = self.system, system_of(record.data)
            if not found.booted and not found.node:
                return False
            self.system = SystemInformation(found.booted or was.booted, found.node or was.node)
            self.system_record = record.number
            return bool(was.booted and found.booted and abs(was.booted - found.booted) > SAME_BOOT)
        if record.kind != RMS_FILE:
            self.unknown[record.kind] += 1
        return False

    def _no_difference(self) -> None:
        """No difference over this point."""
        self.flush()
        for one in self.counting.values():
            one.before = None

    def _class(self, record: Record, kind: int, time: int) -> None:
        """Read a record of one of our classes."""
        if kind in self.in_group or time - self.group.time > self.apart:
            self.flush()
        self.in_group.add(kind)
        self.group.first, self.group.last = self.group.first or record.number, record.number
        self.group.time = max(self.group.time, time)
        if kind == MODES:
            self._modes(record, time)
            return
        values = struct.unpack_from(f"<{LONGWORDS[kind]}I", record.data, self.dialect.header if self.dialect else 0)
        name = NAMES[kind]
        levels = values[-LEVELS:] if kind == LOCK else ()
        before = self.counting[name].before if name in self.counting else None
        rates = self._count(name, Longwords(time, record.number, values[: len(values) - len(levels)]), name)
        if rates:
            self.group.parts[name] = Part(rates.seconds, rates.values)
        if levels and before and time > before.time:
            self.group.parts["LEVELS"] = Part((time - before.time) / TICKS, levels)

    def _modes(self, record: Record, time: int) -> None:
        """Each CPU by itself; all of them together where each is believed."""
        layout = self.dialect
        if layout is None:
            return
        at = layout.header + 8
        blocks: dict[int, tuple[int, ...]] = {}
        for block in range(at, at + layout.cpus(len(record.data)) * layout.block, layout.block):
            blocks[record.data[block]] = struct.unpack_from(f"<{MODE_COUNT}I", record.data, block + layout.first_tick)
        self.identities.elements(record, layout, len(blocks))
        if len(blocks) < layout.cpus(len(record.data)):
            self._doubt(record.number, "MODES: two blocks of one CPU")
            return
        cpus = tuple(blocks)
        if cpus != self.cpus:  # a CPU was started or stopped
            self.cpus = cpus
            for cpu in [name for name in self.counting if isinstance(name, int)]:
                del self.counting[cpu]
        found: dict[str | int, Part] = {}
        doubts = self.doubt_count
        for cpu, values in blocks.items():
            rates = self._count(cpu, Longwords(time, record.number, values), f"MODES of CPU {cpu}")
            if rates:
                found[cpu] = Part(rates.seconds, rates.values)
        if self.doubt_count > doubts:
            self.void = True
        if len(found) < len(blocks):
            return
        parts = list(found.values())
        total = tuple(map(sum, zip(*(part.values for part in parts), strict=True)))
        self.group.parts |= {**found, "MODES": Part(parts[0].seconds, total)}
        self.identities.modes(parts)
        if max(sum(part.values) for part in parts) < LEAST_OF_TIME:
            self._doubt(record.number, "all: the modes make less than half of the time: the clock was set forward")
            self.void = True

    def _count(self, name: str | int, now: Longwords, called: str) -> Rates | None:
        """Take the difference of two records, unless it is not believed."""
        counting = self.counting.setdefault(name, Counting(ticks=isinstance(name, int)))
        rates = counting.next(now)
        if isinstance(rates, str):
            self._doubt(now.record, f"{called}: {rates}")
            return None
        if rates and rates.wrapped:
            self.wrap_count += len(rates.wrapped)
            if len(self.wraps) < BAD_IN_A_ROW:
                self.wraps += [(f"{called} longword {at + 1}", now.record) for at in rates.wrapped]
        return rates

    def _doubt(self, record: int, why: str) -> None:
        self.doubt_count += 1
        if len(self.doubts) < BAD_IN_A_ROW:
            self.doubts.append((record, why))

    def flush(self) -> None:
        """The interval is complete: one sample, unless nothing in it can be believed."""
        if self.group.parts and not self.void:
            self.samples.add(self.group)
            self.identities.locks(self.group)
        self.group, self.in_group, self.void = Row(0, 0, 0), set(), False

    def close(self) -> None:
        """The recording ends."""
        if self.held is not None:
            self.settle()
        self.flush()
