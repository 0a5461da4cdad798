"""Which of the two layouts the class records have: told by their lengths, never by a version.

V8.3 made the header of a class record longer, by 3 bytes, and the CPU's id in a MODES block a longword
(openvms-formats.md b.2). Where in the longer header the time stands is not known: it is found by being a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.reports.openvms.monitor_recording.header import quadword
from collectors.reports.openvms.monitor_recording.records import Record

MODES, LOCK, DLOCK, RLOCK = 2, 7, 14, 26
PREFIX = 8
"""Of MODES: element count and a longword, between header and blocks."""
LONGWORDS = {LOCK: 10, DLOCK: 15, RLOCK: 7}
MOST_CPUS = 128
"""More blocks than any OpenVMS system has had CPUs: damage."""
REMEDY = (
    "upload the file again, transferred in binary (FTP: TYPE I; or a zip made on OpenVMS with -V), or MONITOR /SUMMARY "
    "of it: MONITOR MODES,LOCK,DLOCK,RLOCK/INPUT=file/NODISPLAY/SUMMARY=MONITOR.SUM"
)


@dataclass(frozen=True)
class Dialect:
    """How class records are laid out."""

    name: str
    header: int
    """Bytes of the class header."""
    block: int
    """Bytes of a CPU in MODES."""
    first_tick: int
    """Where in the block its longwords begin."""
    times_at: tuple[int, ...]
    """Where in the header the time may be."""
    time_at: int = 0

    def cpus(self, length: int) -> int:
        """How many CPUs a MODES record of this length has; 0: it is none of this layout."""
        count, over = divmod(length - self.header - PREFIX, self.block)
        return count if not over and 0 < count <= MOST_CPUS else 0

    def fits(self, kind: int, length: int) -> bool:
        """Whether a record of this class can have this length; of classes that are not read any will do."""
        if kind == MODES:
            return bool(self.cpus(length))
        return length == self.header + 4 * LONGWORDS[kind] if kind in LONGWORDS else length >= self.header


OLD = Dialect("before V8.3", 13, 33, 1, (3,))
NEW = Dialect("V8.3 or later", 16, 36, 4, (3, 4, 8))


def dialect_of(held: Sequence[Record], earliest: int, latest: int) -> Dialect | str:
    """Tell the layout from the first records, and where the times are; or why it cannot be told, with the remedy.

    `earliest`, `latest`: within which the time of a class record must be, in units of 100 ns.
    """
    locks = {len(one.data) for one in held if one.kind == LOCK}
    modes = [one for one in held if one.kind == MODES]
    if not locks and not modes:
        return (
            "neither LOCK nor MODES is recorded, and only their records tell which layout a recording has: not read. "
            "Record again: MONITOR MODES,LOCK,DLOCK,RLOCK/NODISPLAY/RECORD=MONITOR.DAT/INTERVAL=60"
        )
    found = [one for one in (OLD, NEW) if all(one.fits(LOCK, length) for length in locks)]
    if locks and not found:
        lengths = ", ".join(map(str, sorted(locks)))
        return f"records of LOCK are {lengths} bytes long, of known layouts all 53 or all 56: not read; {REMEDY}"
    fitting = [one for one in found if all(one.fits(MODES, len(record.data)) for record in modes)]
    if not fitting:
        lengths = ", ".join(sorted({str(len(one.data)) for one in modes}))
        of_lock = f"those of LOCK say {found[0].name}" if locks else "of known layouts 21 + 33 or 24 + 36 for each CPU"
        return f"records of MODES are {lengths} bytes long, {of_lock}: no layout fits both: not read; {REMEDY}"
    if len(fitting) > 1:  # 384 bytes: 11 CPUs of the one layout, 10 of the other
        counted = [one for one in fitting if all(_elements(one, record) for record in modes)]
        fitting = counted or fitting
    timed = [one for layout in fitting if (one := _timed(layout, held, earliest, latest))]
    if not timed:
        return f"the records of classes have no time where known layouts have it: not read; {REMEDY}"
    if len(timed) > 1:
        return f"records of MODES are as long as in both layouts, and LOCK is not recorded: not read; {REMEDY}"
    return timed[0]


def _elements(layout: Dialect, record: Record) -> bool:
    """Whether the element count agrees with the length."""
    count = int.from_bytes(record.data[layout.header : layout.header + 4], "little")
    return count == layout.cpus(len(record.data))


def _timed(layout: Dialect, held: Sequence[Record], earliest: int, latest: int) -> Dialect | None:
    """Find where the time stands: the one place where most of these records have a time of this file."""
    classes = [one.data for one in held if one.kind < 128]
    hits = {at: sum(earliest <= quadword(data, at) <= latest for data in classes) for at in layout.times_at}
    best = max(hits, key=lambda at: hits[at])
    if 2 * hits[best] <= len(classes):
        return None
    return Dialect(layout.name, layout.header, layout.block, layout.first_tick, layout.times_at, best)
