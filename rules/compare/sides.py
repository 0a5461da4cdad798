"""One side of a comparison: what was measured before, or after, in one capture or in several of the same state."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from collectors.facts import Capture, Facts, known
from collectors.facts.ase import MonOpenObjectActivity
from collectors.facts.openvms import ProcessorModes
from rules.ase._evidence.caches.figures import latest_caches, seconds_of
from rules.figures import KeyFigure, key_figures
from rules.finding import Untrusted
from rules.openvms._evidence.node import Work as NodeWork
from rules.openvms._evidence.node import work_of

ENGINE_CPU, NODE_CPU = "ase.engine_cpu", "openvms.cpu"
CPUS = "CPUs"
OF_PROCESSORS = ("openvms.mp_synch", "openvms.idle", "openvms.interrupt", "openvms.cpus", "openvms.cpu_mp_synch")
"""Beginnings of the keys of figures that are made of the time in processor modes."""


@dataclass(frozen=True)
class Measured:
    """The figures of one capture."""

    capture: Capture
    figures: tuple[KeyFigure, ...]
    seconds: float = 1.0
    """How long it measured. Where the export does not say: as long as the others of its side, on average; else 1."""

    def value(self, key: str) -> float | None:
        """One figure, or `None` where it was not read."""
        return next((one.value for one in self.figures if one.key == key), None)


@dataclass(frozen=True)
class Side:
    """All captures of one side, oldest first, and where they were read."""

    captures: tuple[Capture, ...]
    measured: tuple[Measured, ...] = field(repr=False)

    @property
    def newest(self) -> Capture:
        """The last capture: its settings are those of the side."""
        return self.captures[-1]

    @property
    def facts(self) -> Facts:
        """The facts of the newest capture."""
        return self.newest.facts

    @property
    def files(self) -> tuple[str, ...]:
        """The files all this was read from, in order."""
        found = dict.fromkeys(fact.source.file for one in self.captures for fact in one.facts if fact.source.file)
        return tuple(found)

    @property
    def spans(self) -> tuple[tuple[datetime, datetime], ...]:
        """Start and end of each capture by its own clock, where every capture says when it was; else empty."""
        found = [(one.interval.start, one.interval.end) for one in self.captures]
        told = [(_clock(start), _clock(end)) for start, end in found if start and end]
        return tuple(told) if len(told) == len(found) and all(start <= end for start, end in told) else ()

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """From the first start to the last end, where every capture says when it was; else `None`."""
        spans = self.spans
        return (min(start for start, _ in spans), max(end for _, end in spans)) if spans else None

    def value(self, key: str) -> float | None:
        """One figure over all captures that hold it, or `None`."""
        return next((one.value for one in self.figures if one.key == key), None)

    @cached_property
    def figures(self) -> tuple[KeyFigure, ...]:
        """Each figure over the captures that hold it, by their lengths, in the order of the newest capture."""
        held: dict[str, list[tuple[KeyFigure, float]]] = {}
        for measured in reversed(self.measured):
            for one in measured.figures:
                held.setdefault(one.key, []).append((one, measured.seconds))
        return tuple(
            replace(ones[0][0], value=sum(one.value * seconds for one, seconds in ones) / sum(s for _, s in ones))
            for ones in held.values()
        )


def side_of(captures: Sequence[Capture]) -> Side:
    """Measure one side. Raises `ValueError` where there is no capture."""
    if not captures:
        raise ValueError("a side of a comparison needs a capture")
    ordered = sorted(captures, key=_when)
    told = [_length(one) for one in ordered if _length(one)]
    usual = sum(told) / len(told) if told else 1.0
    return Side(tuple(ordered), tuple(Measured(one, _figures(one.facts), _length(one) or usual) for one in ordered))


def _length(one: Capture) -> float:
    """Seconds it measured, 0 where that is not known or cannot be."""
    seconds = one.interval.seconds
    return seconds if seconds is not None and 0 < seconds < math.inf else 0.0


def _clock(time: datetime) -> datetime:
    """What the clock of the system showed: some exports give an offset, most do not, and both may stand on a side."""
    return time.replace(tzinfo=None)


def _when(one: Capture) -> tuple[bool, str]:
    """In order of time; captures without a time come first, as they were given."""
    time = one.interval.end or one.interval.start
    return time is not None, _clock(time).isoformat(timespec="microseconds") if time else ""


def _figures(facts: Facts) -> tuple[KeyFigure, ...]:
    """The key figures, and the processors that the work took: of ASE its engines', of OpenVMS all CPUs' busy time.

    Where the time in processor modes cannot be believed, none of its figures can.
    """
    found = list(key_figures(facts))
    held = {one.key: one.value for one in found}
    if "ase.engines" in held and "ase.engine_busy" in held:
        busy = held["ase.engines"] * held["ase.engine_busy"] / 100
        found.append(KeyFigure(ENGINE_CPU, "engines busy, all together", CPUS, busy, "low"))
    found += _stand_ins(facts)
    work = work_of(facts) if facts.every(ProcessorModes) else None
    if isinstance(work, Untrusted):
        found = [one for one in found if not one.key.startswith(OF_PROCESSORS)]
    if isinstance(work, NodeWork) and work.sustained and known(work.busy) and math.isfinite(work.busy):
        found.append(KeyFigure(NODE_CPU, "CPUs busy, all together", CPUS, work.busy / 100, "low"))
    return tuple(found)


def _stand_ins(facts: Facts) -> Iterator[KeyFigure]:
    """What stands for the work of SAP ASE where no transactions are counted: rows that were changed, cache searches.

    All of them, or none: of part of the caches the rest could be any number.
    """
    rows = [one for one in facts.every(MonOpenObjectActivity) if one.of_interval and one.believed and one.seconds]
    changed = [
        one.rows_changed
        for one in {(one.instance, one.object_id, one.db_id, one.index_id): one for one in rows}.values()
    ]
    if rows and (done := sum(one for one in changed if one is not None)) > 0:
        seconds = max(one.seconds or 0.0 for one in rows)
        yield KeyFigure("ase.rows_changed", "rows changed", "/s", done / seconds, None)
    searches, length = [one.searches for one in latest_caches(facts)], seconds_of(facts)
    read = [one for one in searches if known(one) and one >= 0]
    if read and len(read) == len(searches) and length and sum(read) > 0:
        yield KeyFigure("ase.cache_searches", "searches of data caches", "/s", sum(read) / length, None)
