"""One side of a comparison: what was measured before, or after, in one capture or in several of the same state."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from collectors.facts import Capture, Facts, known
from collectors.facts.openvms import ProcessorModes
from rules.figures import KeyFigure, key_figures
from rules.judging.openvms.node import Work as NodeWork
from rules.judging.openvms.node import work_of

ENGINE_CPU, NODE_CPU = "ase.engine_cpu", "openvms.cpu"
CPUS = "CPUs"


@dataclass(frozen=True)
class Measured:
    """The figures of one capture."""

    capture: Capture
    figures: tuple[KeyFigure, ...]

    @property
    def seconds(self) -> float:
        """How long it measured; 1 where the export does not say, so that such captures weigh alike."""
        return self.capture.interval.seconds or 1.0

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
    def span(self) -> tuple[datetime, datetime] | None:
        """From the first start to the last end, where every capture says when it was; else `None`."""
        starts = [one.interval.start for one in self.captures]
        ends = [one.interval.end for one in self.captures]
        if None in starts or None in ends:
            return None
        return min(one for one in starts if one), max(one for one in ends if one)

    @property
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
    ordered = sorted(captures, key=lambda one: (one.interval.end is not None, str(one.interval.end or "")))
    return Side(tuple(ordered), tuple(Measured(one, _figures(one.facts)) for one in ordered))


def _figures(facts: Facts) -> tuple[KeyFigure, ...]:
    """The key figures, and the processors that the work took: of ASE its engines', of OpenVMS all CPUs' busy time."""
    found = list(key_figures(facts))
    held = {one.key: one.value for one in found}
    if "ase.engines" in held and "ase.engine_busy" in held:
        busy = held["ase.engines"] * held["ase.engine_busy"] / 100
        found.append(KeyFigure(ENGINE_CPU, "engines busy, all together", CPUS, busy, "low"))
    modes = facts.latest(ProcessorModes, statistic="mean")
    work = work_of(facts) if modes else None
    if isinstance(work, NodeWork) and work.sustained and known(work.busy):
        found.append(KeyFigure(NODE_CPU, "CPUs busy, all together", CPUS, work.busy / 100, "low"))
    return tuple(found)
