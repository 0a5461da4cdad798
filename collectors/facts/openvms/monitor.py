"""What MONITOR covers, and what it says beside locks and processor modes; the course of a day."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.base import ABSENT, Reading
from collectors.facts.openvms.processors import T4, OfNode

SUMMARY = 'MONITOR MODES,LOCK,DLOCK,RLOCK/NODISPLAY/SUMMARY=MONITOR.SUM/INTERVAL=60/ENDING="+1:00:00"'


@dataclass(frozen=True, kw_only=True)
class MonitorSample(OfNode):
    """One output of MONITOR: which node, what time. One fact for each node of a multi-file summary."""

    COLLECTED_BY: ClassVar[str] = SUMMARY

    kind: str
    """`display` (one screen or a captured session), `summary`, `multi-file summary` or `recording`."""
    classes: tuple[str, ...] = ()
    """Class names as MONITOR's commands have them: `MODES`, `LOCK`, `DLOCK` …"""
    start: datetime | None = None
    end: datetime | None = None
    seconds: float | None = None
    """Elapsed seconds that the averages cover, where known."""
    samples: int | None = None
    """`None`: not told, as by one screen whose figures differ: it averages over several samples."""
    samples_at_least: int | None = None
    """Of one such screen: fewer cannot have these averages between these extremes (arithmetic)."""
    interval_seconds: float | None = None
    comment: str | None = None
    dialect: str | None = None
    """Of a recording: `V8.3 or later` (16-byte class headers) or `before V8.3` (13 bytes)."""
    p95_every: int = 1
    """Of a recording: all `p95` are of every k-th sample; 1: of all, as up to 2,048 samples (a day of minutes has
    1,440)."""
    transitions: int = 0
    """Of a recording: how often the node left and came back (a boot starts all counters anew)."""
    wraps: int = 0
    """Of a recording: how many 32-bit counters ran over and were taken modulo 2**32."""

    @property
    def untold(self) -> bool:
        """Whether it averages over several samples and tells neither how many nor how long they took."""
        return self.samples_at_least is not None and self.samples is None and self.seconds is None


@dataclass(frozen=True, kw_only=True)
class MonitorItem(OfNode):
    """One line of a MONITOR table, as printed: every class, also those that no rule asks for."""

    COLLECTED_BY: ClassVar[str] = SUMMARY

    class_name: str
    """`PAGE`, `IO`, `STATES`, `SCS`, `CLUSTER` …"""
    item: str
    """The label, the stem of continued lines before it: `New ENQ Rate (Local)`."""
    partner: str | None = None
    """Of SCS and CLUSTER lines: the node that the line is about."""
    current: Reading = ABSENT
    mean: Reading = ABSENT
    minimum: Reading = ABSENT
    maximum: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class SystemRates(OfNode):
    """MONITOR SYSTEM, or `[MON.SYST]` of T4. Rates per second; lists in pages of the machine."""

    COLLECTED_BY: ClassVar[str] = T4

    statistic: str
    direct_io_per_second: Reading = ABSENT
    buffered_io_per_second: Reading = ABSENT
    page_fault_per_second: Reading = ABSENT
    page_read_io_per_second: Reading = ABSENT
    process_count: Reading = ABSENT
    free_list_pages: Reading = ABSENT
    modified_list_pages: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class AlignmentFaults(OfNode):
    """Alignment faults per second by access mode (MONITOR ALIGN, `[MON.ALIGN]` of T4; Alpha and Integrity)."""

    COLLECTED_BY: ClassVar[str] = 'MONITOR ALIGN/NODISPLAY/SUMMARY=ALIGN.SUM/INTERVAL=60/ENDING="+1:00:00"'

    statistic: str
    kernel_per_second: Reading = ABSENT
    exec_per_second: Reading = ABSENT
    super_per_second: Reading = ABSENT
    user_per_second: Reading = ABSENT
    total_per_second: Reading = ABSENT
    """As printed, where it is printed; never added up by a reader."""


@dataclass(frozen=True, kw_only=True)
class FaultSource(OfNode):
    """One program counter of SDA's FLT summary: who causes alignment faults."""

    COLLECTED_BY: ClassVar[str] = "a fault trace under load (ANALYZE/SYSTEM: FLT LOAD, START TRACE, SHOW TRACE/SUMMARY)"

    pc: str
    """As printed: a hexadecimal address."""
    where: str | None = None
    """Image and offset, or module, as printed behind it."""
    faults_per_second: Reading = ABSENT
    faults: Reading = ABSENT
    """A count, where the summary was made with /TOTALS."""


@dataclass(frozen=True, kw_only=True)
class Curve(OfNode):
    """One figure over the time of a capture, in equal steps: for the pictures of a day.

    At most 288 steps (a day of five minutes); a shorter file has its own interval. A step without a sample is ABSENT.
    """

    COLLECTED_BY: ClassVar[str] = T4

    name: str
    """`lock operations`, `local`, `incoming`, `outgoing`, `directory`, `mp synch`, `kernel`, `user`, `busy`,
    `locks`, `resources`, `deadlock searches`, `deadlocks found`, `dedicated cpu busy`."""
    unit: str
    """`/s`, `% of one CPU`, `locks`, `resources` or `%`."""
    start: datetime
    """Where the first step begins."""
    step_seconds: float
    means: tuple[Reading, ...]
    peaks: tuple[Reading, ...]
    """The highest sample of each step."""
    line_offsets: tuple[int, ...] = ()
    """How many lines below the first of the source each step begins, -1 of a step without a sample. Of `mp synch` of T4
    alone: there a line is a sample."""
