"""MONITOR recording file

Sample, of a node before V8.3, records one after the other, byte counts in front::

    03 01  80 ........ begin...  end.....  interval ... MON30001 comment ...     file header, 259 bytes
    .. ..  81 ........ boot.... .. .. 06 O R K N E Y                             system information
    57 00  02 .. .. time.... .. ..  02 00 00 00 .... 00 ticks ... 01 ticks ...   MODES of 2 CPUs, 21 + 2 x 33 bytes
    35 00  07 .. .. time.... .. ..  ENQNEW.. ENQCVT.. DEQ..... ...               LOCK, 13 + 10 x 4 bytes

MONITOR writes it with /RECORD: variable-length records, one for each class and interval. Lines of the sources are
record numbers, counted from 1 over the whole file. Accepted are the bytes as they stand on the disk: transferred in
binary, out of a zip made with -V, or several such files one behind the other; each file header begins an input.

The layout differs before and from V8.3; which it is is told by the lengths of the LOCK and MODES records. MODES, LOCK,
DLOCK and RLOCK are read; all other classes are counted, not read, because no source tells their layout; records of
customers (192 to 255) are none of ours.

Counters are of 32 bits and grow since boot: a sample is the difference of two records, modulo 2**32, over the time
between them. None is taken over a node transition or a boot, nor believed where a counter may have gone round twice.

The file header and the system information are recalled: what is read by them is tentative, unless their times are
those of the records, or the figures prove it (modes add up to 100 x CPUs; locks = local + incoming + outgoing).

Traps: records cross blocks of 512 bytes; a count of 0xFFFF leaves the rest of a block empty; the last block goes on
with stale bytes after the end of the file; a transfer as text takes the byte counts away, for good.
"""

import re

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
from collectors.registry import Outcome, recording
from collectors.reports.openvms.monitor_recording.diagnostics import problems
from collectors.reports.openvms.monitor_recording.dialect import REMEDY
from collectors.reports.openvms.monitor_recording.facts import Summary
from collectors.reports.openvms.monitor_recording.header import FILE_HEADER
from collectors.reports.openvms.monitor_recording.part import BAD_IN_A_ROW, Recording
from collectors.reports.openvms.monitor_recording.records import BLOCK, HEADER, Record, Records

BEGINS = re.compile(rb"(?:..|\xc2)?\x80.{8,200}?MON[0-9]{5}", re.DOTALL)
"""The file header: behind its byte count, or without it where a transfer took it away (or made UTF-8 of it)."""
MOST_RECORDINGS = 1_000
STRIPPED = (
    "a MONITOR recording without the byte counts of its records: a transfer as text took them away, and this copy can "
    f"never be read; {REMEDY}"
)
PROVIDES = (
    Node,
    MonitorSample,
    ProcessorModes,
    CpuModes,
    LockRates,
    LockDatabase,
    DistributedLockRates,
    RemasterRates,
    Curve,
)


@recording(begins=BEGINS, provides=PROVIDES)
class MonitorRecording:
    """One file: one recording or several, one behind the other."""

    def __init__(self, file: str) -> None:
        """Begin."""
        self.file = file
        self.records = Records()
        self.part: Recording | None = None
        self.begun = self.stripped = self.too_many = False
        self.torn: tuple[int, int] | None = None
        """Number and byte of the last piece, in which a file header was found: its length was a lie."""
        self.found: list[Outcome] = []

    def feed(self, data: bytes) -> bool:
        """Take the next bytes."""
        if not self.begun:
            self.begun, self.stripped = True, HEADER.match(data) is None
        if self.stripped or self.too_many:
            return False
        for record in self.records.feed(data):
            self._take(record)
            if self.too_many:
                return False
        return True

    def _take(self, record: Record) -> None:
        """Give a record to the recording at hand, or begin the next one."""
        if record.kind == FILE_HEADER and BEGINS.match(record.data):
            self._close_part(record.offset)
            if len(self.found) >= MOST_RECORDINGS:
                self.too_many = True
                self.found[-1].problems.append(f"more than {MOST_RECORDINGS:,} recordings in one file: read no further")
                return
            self.records.origin = record.offset
            self.part = Recording(record)
        elif self.part:
            sure = self.part.take(record)
            if not sure and not self.records.header_in(record) and len(self.part.bad) >= BAD_IN_A_ROW:
                self.records.lose()

    def close(self) -> list[Outcome]:
        """Hand over the recordings."""
        if self.stripped:
            return [Outcome(problems=[STRIPPED])]
        for record in self.records.feed(b"", last=True):
            self._take(record)
        while not self.too_many:
            torn = (self.records.number + 1, self.records.offset)
            if not self.records.header_in_rest():
                break
            self.torn = torn
            for record in self.records.feed(b"", last=True):
                self._take(record)
        if not self.too_many:
            self._close_part(None)
        return self.found or [Outcome(problems=[f"begins like a recording, but has no whole file header: {REMEDY}"])]

    def _close_part(self, following: int | None) -> None:
        """The recording ends where the next one begins, or with the file."""
        part, self.part = self.part, None
        if part is None:
            return
        part.close()
        summary = Summary(self.file, part)
        said = [*problems(part, summary), *self._ending(part, following)]
        self.found.append(Outcome(list(summary.facts()), problems=said))

    def _ending(self, part: Recording, following: int | None) -> list[str]:
        """Say how the recording ends, unless with a whole record or with stale bytes in its last block."""
        end = self.records.end if following is None else following
        rest = self.records.rest if following is None and not self.records.lost else b""
        number, start = self.records.number + 1, end - len(rest)
        if part.bad:
            number, start = part.bad[0].number, part.bad[0].offset
        elif self.torn and following:
            number, start = self.torn
        if start >= end or part.refused:
            return []
        length = int.from_bytes(rest[:2], "little")
        if (
            not part.bad
            and len(rest) > 2
            and part.dialect
            and rest[2] in part.seen
            and part.dialect.fits(rest[2], length)
        ):
            return [
                f"record {number}, byte {start:,}: the file ends within this record, {len(rest) - 2} of its {length} "
                f"bytes are there: read up to there. The file is cut off; {REMEDY}"
            ]
        size = end - part.start.offset
        if size % BLOCK == 0 and start - part.start.offset >= size - BLOCK:
            return []
        return [
            f"record {number}, byte {start:,}: from here on these are no records of this recording ({end - start:,} "
            f"bytes): damage, or what was left in the blocks behind the end of the file; {REMEDY}"
        ]
