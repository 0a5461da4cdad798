"""What the figures themselves prove of a layout that is recalled or worked out."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from collectors.reports.openvms.monitor_recording.counters import Part, Row
from collectors.reports.openvms.monitor_recording.dialect import Dialect
from collectors.reports.openvms.monitor_recording.records import Record

MODES_SLACK = 0.02
"""Share by which the modes may miss the time that passed (this project; a real T4 file: 0.1 %)."""
FEW_TICKS = 3.0
MOST_ODD = 0.05
"""Share of intervals in which the modes may not add up (this project): a clock that is set, a CPU that stops."""
SLACK_SHARE, SLACK_PER_SECOND = 0.02, 1.0
"""How far local + incoming + outgoing may be from the total: rounding alone is 0.02 per second (real T4 file)."""
OPERATIONS = ("new locks", "conversions", "releases", "blocking ASTs")


@dataclass
class Identities:
    """Counted sample by sample."""

    intervals: int = 0
    odd: int = 0
    """Intervals in which the modes do not add up to 100 times the CPUs that ran."""
    seconds: float = 0.0
    whole: list[float] = field(default_factory=lambda: [0.0] * 4)
    shares: list[float] = field(default_factory=lambda: [0.0] * 4)
    moves: bool = False
    """Whether any lock tree was remastered."""
    lying: tuple[int, int, int] | None = None
    """The first record whose element count is not that of its length: its number, that count, and the blocks."""

    def elements(self, record: Record, layout: Dialect, blocks: int) -> None:
        """Hold the element count of a MODES record against its length."""
        count = int.from_bytes(record.data[layout.header : layout.header + 4], "little")
        if count != layout.cpus(len(record.data)) and not self.lying:
            self.lying = (record.number, count, blocks)

    def modes(self, cpus: Sequence[Part]) -> None:
        """Hold the modes of each CPU that ran against the time that passed."""
        totals = [sum(cpu.values) for cpu in cpus if any(cpu.values)]
        slack = 100 * MODES_SLACK + FEW_TICKS / cpus[0].seconds
        self.intervals += 1
        self.odd += any(abs(total - 100) > slack for total in totals) or not totals

    def locks(self, row: Row) -> None:
        """Add up both sides of: every lock operation is local, incoming or outgoing."""
        lock, distributed, moved = (row.parts.get(name) for name in ("LOCK", "DLOCK", "RLOCK"))
        if lock and distributed:
            self.seconds += lock.seconds
            for at in range(4):
                self.whole[at] += lock.values[at] * lock.seconds
                self.shares[at] += sum(distributed.values[3 * at : 3 * at + 3]) * distributed.seconds
        if moved:
            self.moves = self.moves or any(moved.values)

    @property
    def add_up(self) -> bool:
        """Whether the modes prove that times and ticks are read rightly."""
        return self.intervals > 0 and self.odd <= MOST_ODD * self.intervals

    def gaps(self) -> list[tuple[str, float, float]]:
        """The operations that do not add up: name, sum of the three and total, per second."""
        if not self.seconds:
            return []
        found = []
        for called, whole, shares in zip(OPERATIONS, self.whole, self.shares, strict=True):
            total, parts = whole / self.seconds, shares / self.seconds
            gap = abs(total - parts)
            if gap > SLACK_PER_SECOND and gap > SLACK_SHARE * max(total, parts):
                found.append((called, parts, total))
        return found
