"""What programs do with a file of RMS: MONITOR RMS, which counts the calls for one file on one node.

Its screens are titled RMS FILE OPERATIONS STATISTICS and name the file below the time; needed is SET FILE/STATISTICS.
A rate of 0 is of the time shown: a job at night may write the file all the same.
"""

from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import MonitorItem
from rules.openvms._evidence.node import in_prose

CLASS = "RMS FILE OPERATIONS "
READS, WRITES = ("$GET", "$FIND"), ("$PUT", "$UPDATE", "$DELETE")


@dataclass(frozen=True)
class Use:
    """Calls per second, on average, of all nodes that were shown."""

    reads: float
    writes: float
    most_written: float
    """The highest rate of any kind of writing, in any sample."""
    nodes: frozenset[str]
    whole: bool
    """Whether lines of each kind of writing were there."""
    source: Source

    @property
    def said(self) -> str:
        """Both, as a clause."""
        wrote = f"{in_prose(self.writes)} that write" if self.writes else "none that writes"
        return f"MONITOR RMS counts {in_prose(self.reads)} calls a second that read it and {wrote}"

    def only_read(self, nodes: frozenset[str]) -> bool:
        """Whether none of these nodes wrote it in any sample."""
        return self.whole and self.reads > 0 and not self.writes and not self.most_written and nodes <= self.nodes


def use_of(facts: Facts, name: str) -> Use | None:
    """What was counted of a file of this whole name, node by node, the latest of each; `None`: nothing.

    A rule need not declare `MonitorItem` for it.
    """
    items = [one for one in facts.also(MonitorItem).every(MonitorItem) if one.class_name.startswith(CLASS)]
    mine = {(one.node, one.item): one for one in items if one.class_name[len(CLASS) :].upper() == name.upper()}
    rates = {key: one.mean if known(one.mean) else one.current for key, one in mine.items()}
    read = {key: rate for key, rate in rates.items() if known(rate) and rate >= 0}
    if not read:
        return None
    reads = sum(rate for (_, item), rate in read.items() if item.startswith(READS) and known(rate))
    writes = sum(rate for (_, item), rate in read.items() if item.startswith(WRITES) and known(rate))
    most = [one.maximum for (_, item), one in mine.items() if item.startswith(WRITES) and known(one.maximum)]
    nodes = frozenset((node or "").upper() for node, _ in read)
    lines = {(node, kind) for node, item in read for kind in WRITES if item.startswith(kind)}
    whole = len(lines) == len(WRITES) * len({node for node, _ in read})
    source = next(one.source for one in mine.values())
    return Use(reads, writes, max(most, default=0.0), nodes, whole, source)
