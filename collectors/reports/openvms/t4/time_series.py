"""Which columns of a T4 file are drawn over the day, and the curves made of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from collectors.facts.base import Source
from collectors.facts.openvms import Curve
from collectors.layouts.curves import Curves
from collectors.reports.openvms.t4.names import Layout

PER_SECOND, OF_A_CPU = "/s", "% of one CPU"
SPINNING = "mp synch"
"""The figure whose bad hours are quoted by their lines."""


@dataclass(frozen=True)
class CurveColumn:
    """One figure: its name, its unit, and the columns that add up to it, all of which have to be there."""

    name: str
    unit: str
    columns: tuple[tuple[str, str], ...]


def _served(way: str) -> tuple[tuple[str, str], ...]:
    return tuple(("mon.dloc", f"{kind} ({way})") for kind in ("new locks", "lock conversions", "lock deqs"))


COURSES = (
    CurveColumn(
        "lock operations",
        PER_SECOND,
        (("mon.lock", "new enq rate"), ("mon.lock", "converted enq rate"), ("mon.lock", "deqs")),
    ),
    CurveColumn("local", PER_SECOND, _served("local")),
    CurveColumn("incoming", PER_SECOND, _served("incoming")),
    CurveColumn("outgoing", PER_SECOND, _served("outgoing")),
    CurveColumn(
        "directory",
        PER_SECOND,
        (("mon.dloc", "dir functions (incoming)"), ("mon.dloc", "dir functions (outgoing)")),
    ),
    CurveColumn(SPINNING, OF_A_CPU, (("mon.mode", "mp synch"),)),
    CurveColumn("kernel", OF_A_CPU, (("mon.mode", "kernel mode"),)),
    CurveColumn("interrupt", OF_A_CPU, (("mon.mode", "interrupt state"),)),
    CurveColumn("user", OF_A_CPU, (("mon.mode", "user mode"),)),
    CurveColumn("idle", OF_A_CPU, (("mon.mode", "idle time"),)),
    CurveColumn("locks", "locks", (("mon.lock", "locks total"),)),
    CurveColumn("resources", "resources", (("mon.lock", "resources total"),)),
    CurveColumn("deadlock searches", PER_SECOND, (("mon.lock", "deadlock searches"),)),
    CurveColumn("deadlocks found", PER_SECOND, (("mon.lock", "deadlocks found"),)),
    CurveColumn("dedicated cpu busy", "%", (("lck73", "busy %"),)),
)


def drawn(layout: Layout) -> list[tuple[CurveColumn, list[int]]]:
    """The figures this file has, each with its columns."""
    found = []
    for course in COURSES:
        columns = [at for key in course.columns if (at := layout.column(*key)) is not None]
        if len(columns) == len(course.columns):
            found.append((course, columns))
    return found


def curves_of(
    curves: Curves, layout: Layout, source: Source, gap: float | None, moment: Callable[[int], datetime]
) -> Iterator[Curve]:
    """The curves as facts. `gap`: seconds between two samples; `moment` makes a time of centiseconds."""
    curves.finish(gap)
    for number, (course, _) in enumerate(drawn(layout)):
        found = curves.of(number)
        if found is None or curves.begin is None:
            continue
        yield Curve(
            source=source,
            name=course.name,
            unit=course.unit,
            start=moment(round(curves.begin * 100)),
            step_seconds=float(curves.step),
            means=tuple(found[0]),
            peaks=tuple(found[1]),
            line_offsets=tuple(int(line) - source.first if line else -1 for line in curves.line[: len(found[0])])
            if course.name == SPINNING
            else (),
        )
