"""What programs do with a file of RMS: MONITOR RMS, which counts the calls for one file on one node.

Its screens of calls are titled RMS FILE OPERATIONS STATISTICS and name the file below the time; needed is
SET FILE/STATISTICS. Those of locking and caching have titles of their own, so their lines are found by their labels.
A rate of 0 is of the time shown: a job at night may write the file all the same.
"""

from dataclasses import dataclass

from collectors.facts import Facts, Reading, Source, known
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


def files_counted(facts: Facts, item: str) -> list[str]:
    """The files, by their whole names in capitals, of which MONITOR RMS shows a figure of this line.

    A rule need not declare `MonitorItem` for it, nor for the next two.
    """
    return list(dict.fromkeys(_file_of(one) for one in _shown(facts) if one.item.lower() == item.lower()))


def rates_of(facts: Facts, name: str, item: str) -> dict[str, tuple[float, Source]]:
    """A line of MONITOR RMS for one file, by node: its mean, else its current figure; the latest of each."""
    mine = [one for one in _shown(facts) if one.item.lower() == item.lower() and _file_of(one) == name.upper()]
    return {one.node or "": (figure, one.source) for one in mine if known(figure := _figure(one))}


def calls_of(facts: Facts, name: str, node: str, kinds: tuple[str, ...], *, by_key: bool = False) -> float | None:
    """Calls of these kinds for one file on one node, per second; `None` where no line of them was shown."""
    mine = [one for one in _shown(facts) if one.class_name.startswith(CLASS) and _file_of(one) == name.upper()]
    figures = {one.item: _figure(one) for one in mine if (one.node or "") == node and one.item.startswith(kinds)}
    wanted = [figure for item, figure in figures.items() if known(figure) and (not by_key or "(Key)" in item)]
    return sum(figure for figure in wanted if known(figure)) if figures else None


def _shown(facts: Facts) -> list[MonitorItem]:
    """The lines of MONITOR RMS that have a figure."""
    items = facts.also(MonitorItem).every(MonitorItem)
    return [one for one in items if _file_of(one) and known(_figure(one))]


def _figure(one: MonitorItem) -> Reading:
    return one.mean if known(one.mean) else one.current


def _file_of(one: MonitorItem) -> str:
    """The file of a screen of MONITOR RMS, in capitals; empty for other screens."""
    title, _, name = one.class_name.rpartition(" ")
    return name.upper() if title.startswith("RMS ") and ":" in name else ""
