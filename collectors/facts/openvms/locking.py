"""What MONITOR and T4 say of the lock manager. Rates per second; `statistic` as in `ProcessorModes`."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from collectors.facts.base import ABSENT, Reading, known
from collectors.facts.openvms.processors import T4, OfNode


def total(*readings: Reading) -> float | None:
    """Add up, or `None` where one of them is missing: a partial sum would pass for the whole."""
    numbers = [reading for reading in readings if known(reading)]
    return sum(numbers) if len(numbers) == len(readings) else None


@dataclass(frozen=True, kw_only=True)
class LockRates(OfNode):
    """Lock operations of this node. On a cluster a remote operation is counted on both nodes: never add nodes."""

    COLLECTED_BY: ClassVar[str] = T4

    statistic: str
    new_enq_per_second: Reading = ABSENT
    converted_enq_per_second: Reading = ABSENT
    deq_per_second: Reading = ABSENT
    blocking_ast_per_second: Reading = ABSENT
    enq_waited_per_second: Reading = ABSENT
    enq_not_queued_per_second: Reading = ABSENT
    deadlock_search_per_second: Reading = ABSENT
    deadlock_find_per_second: Reading = ABSENT
    time: datetime | None = None

    @property
    def operations_per_second(self) -> float | None:
        """New, converted and dequeued: what the lock-rate tables of the field count."""
        return total(self.new_enq_per_second, self.converted_enq_per_second, self.deq_per_second)


@dataclass(frozen=True, kw_only=True)
class LockDatabase(OfNode):
    """How many locks and resources there are. For these levels `peak` is the highest sample."""

    COLLECTED_BY: ClassVar[str] = T4

    statistic: str
    """`mean`, `peak`, or `current`: the level of one moment."""
    locks: Reading = ABSENT
    resources: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class DistributedLockRates(OfNode):
    """Lock operations by where they are served."""

    COLLECTED_BY: ClassVar[str] = T4

    statistic: str
    enq_local: Reading = ABSENT
    enq_incoming: Reading = ABSENT
    enq_outgoing: Reading = ABSENT
    convert_local: Reading = ABSENT
    convert_incoming: Reading = ABSENT
    convert_outgoing: Reading = ABSENT
    deq_local: Reading = ABSENT
    deq_incoming: Reading = ABSENT
    deq_outgoing: Reading = ABSENT
    blocking_ast_local: Reading = ABSENT
    blocking_ast_incoming: Reading = ABSENT
    blocking_ast_outgoing: Reading = ABSENT
    directory_incoming: Reading = ABSENT
    directory_outgoing: Reading = ABSENT
    deadlock_messages: Reading = ABSENT

    @property
    def local_per_second(self) -> float | None:
        """Operations on trees this node masters, asked for here."""
        return total(self.enq_local, self.convert_local, self.deq_local)

    @property
    def incoming_per_second(self) -> float | None:
        """Operations other nodes asked this one for."""
        return total(self.enq_incoming, self.convert_incoming, self.deq_incoming)

    @property
    def outgoing_per_second(self) -> float | None:
        """Operations this node had to ask another for."""
        return total(self.enq_outgoing, self.convert_outgoing, self.deq_outgoing)


@dataclass(frozen=True, kw_only=True)
class RemasterRates(OfNode):
    """Lock trees that changed their master, per second."""

    COLLECTED_BY: ClassVar[str] = T4

    statistic: str
    moved_out: Reading = ABSENT
    moved_higher_activity: Reading = ABSENT
    moved_higher_weight: Reading = ABSENT
    moved_sole_interest: Reading = ABSENT
    messages_sent: Reading = ABSENT
    moved_in: Reading = ABSENT
    messages_received: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class DedicatedLockManager(OfNode):
    """T4's LCK73 collector: all zero while no CPU is dedicated to the lock manager."""

    COLLECTED_BY: ClassVar[str] = T4

    statistic: str
    busy_percent: Reading = ABSENT
    requests_per_second: Reading = ABSENT
    spin_time_per_second: Reading = ABSENT
    request_time_per_second: Reading = ABSENT

    @property
    def on(self) -> bool | None:
        """Whether a dedicated lock manager did any work; `None` where the columns are missing."""
        if not known(self.busy_percent) and not known(self.requests_per_second):
            return None
        busy = known(self.busy_percent) and self.busy_percent > 0
        return busy or (known(self.requests_per_second) and self.requests_per_second > 0)


@dataclass(frozen=True, kw_only=True)
class Hole:
    """A time without samples inside a capture."""

    start: datetime
    """The last sample before it."""
    end: datetime
    """The first sample after it."""
    missing: int
    """Samples that would have been in it, by the usual interval."""
    processes: tuple[Reading, Reading] = (ABSENT, ABSENT)
    """Process count of these two samples."""
    locks: tuple[Reading, Reading] = (ABSENT, ABSENT)

    @property
    def like_a_boot(self) -> bool:
        """Whether processes and locks are at most half of what they were: a boot ends them all (this project)."""
        read = [(before, after) for before, after in (self.processes, self.locks) if known(before) and known(after)]
        return len(read) > 1 and all(2 * after <= before for before, after in read)


@dataclass(frozen=True, kw_only=True)
class T4File(OfNode):
    """One T4 file: what it covers. Each sample is the mean over the interval that ends at its time."""

    COLLECTED_BY: ClassVar[str] = T4

    kind: str | None = None
    """`composite`, `disk`, `scs`, `fc` or `other`."""
    file_format: int | None = None
    """1 or 2, as found, not as the first line claims."""
    rows: int = 0
    """Samples used: a last row without a delta, stale and damaged rows do not count."""
    interval_seconds: float | None = None
    """The median of the time from one sample to the next."""
    start: datetime | None = None
    """Time of the first sample: the figures begin one interval earlier."""
    end: datetime | None = None
    p95_every: int = 1
    """All `p95` of this file are of every k-th sample; 1: of all, as up to 2,048 samples (a day of minutes: 1,440)."""
    holes: tuple[Hole, ...] = ()
    """The longest times without samples, in order."""


@dataclass(frozen=True, kw_only=True)
class T4Column(OfNode):
    """One column over the whole file. `source` is the row of its peak (the first such row).

    `samples` counts those with a figure: cells that were empty or asterisks are in none of these figures. `p95` is the
    95th percentile, linear between samples; of a long file it is that of every k-th sample (`T4File.p95_every`).
    """

    COLLECTED_BY: ClassVar[str] = T4

    group: str
    """`MON.LOCK`."""
    name: str
    samples: int
    mean: Reading = ABSENT
    minimum: Reading = ABSENT
    maximum: Reading = ABSENT
    p95: Reading = ABSENT
    peak_time: datetime | None = None
