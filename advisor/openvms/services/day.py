"""The day of a capture: its curves as pictures, the findings marked on them, the same figures as a table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from advisor.audits.models import Audit
from advisor.charts.curves import Bound, ChartCurve, course_chart
from advisor.charts.plotted import legend
from advisor.openvms.services.annotations import (
    PICTURES,
    Annotations,
    Noted,
    Picture,
    annotations_of,
)
from advisor.openvms.services.time_series import (
    INCOMING,
    LOCAL,
    OUTGOING,
    SHARE,
    Day,
    Means,
    days_of,
    means_of,
    remote_share,
)
from collectors.facts import Facts, known
from collectors.facts.openvms import Curve, SysgenParameter

TABLE = "RESHASHTBL"
ABOUT = {
    "locks": "Requests, conversions and releases of this node; incoming ones were asked for by other nodes.",
    "modes": "All CPUs together: 200 is two CPUs' worth. MP synch is time spent waiting for a spinlock.",
    "share": "Incoming and outgoing of all lock operations, step by step; a gap where nothing was locked or counted.",
    "tables": "How many there were. Resources over the buckets of their hash table (RESHASHTBL) hang in chains.",
    "dedicated": "How busy the CPU is that works for the lock manager alone.",
}


@dataclass(frozen=True)
class Highest:
    """The highest sample of one curve."""

    name: str
    unit: str
    value: float
    at: str
    """The step it is in, as it begins."""


@dataclass(frozen=True)
class Drawn:
    """One picture, and what is said beside it."""

    key: str
    title: str
    picture: Markup
    legend: Markup
    """The names of its lines, for narrow screens; empty for one line."""
    about: str
    noted: tuple[Noted, ...]
    """Findings with a number on this picture."""
    highest: tuple[Highest, ...]


@dataclass(frozen=True)
class DayView:
    """Everything the page shows of one export's day."""

    days: tuple[Day, ...]
    """Every export with curves, the latest first."""
    shown: int
    """Which of them this is."""
    drawn: tuple[Drawn, ...]
    lacking: tuple[tuple[str, str], ...]
    """Pictures that are not drawn, and why."""
    marked: Annotations
    means: Means
    buckets: float | None
    """RESHASHTBL, where it was brought."""

    @property
    def day(self) -> Day:
        """The day that is shown."""
        return self.days[self.shown]


def day_view(audit: Audit, facts: Facts, wanted: str) -> DayView | None:
    """Draw the export `wanted` (its number, 1 is the latest; anything else is 1); `None` where none has curves."""
    days = days_of(facts)
    if not days:
        return None
    number = int(wanted) if wanted.isascii() and wanted.isdecimal() and len(wanted) < 4 else 1
    shown = number - 1 if 1 <= number <= len(days) else 0
    day = days[shown]
    courses = {one.key: _courses(day, one) for one in PICTURES}
    there = [one for one in PICTURES if courses[one.key]]
    found = annotations_of(audit, facts, day, there)
    buckets = _buckets(facts)
    return DayView(
        days=tuple(days),
        shown=shown,
        drawn=tuple(_drawn(day, one, courses[one.key], found, buckets) for one in there),
        lacking=tuple((one.title, _why_not(day, one)) for one in PICTURES if not courses[one.key]),
        marked=found,
        means=means_of(day),
        buckets=buckets,
    )


def _why_not(day: Day, one: Picture) -> str:
    if one.key == "dedicated" and day.curve(one.curves[0]):
        return "0 in every step: no CPU worked for it alone"
    needs = (LOCAL, INCOMING, OUTGOING) if one.key == "share" else one.curves
    return f"{', '.join(needs)}: not in this export"


def _courses(day: Day, one: Picture) -> list[ChartCurve]:
    """The curves of one picture, as far as the export has them."""
    if one.key == "share":
        shares = remote_share(day)
        return [ChartCurve(SHARE, tuple((day.middle(n), share) for n, share in enumerate(shares)))] if shares else []
    curves = [curve for name in one.curves if (curve := day.curve(name))]
    if one.key == "dedicated" and not any(peak for curve in curves for peak in curve.peaks if known(peak)):
        return []
    return [ChartCurve(curve.name, day.points(curve.means), day.points(curve.peaks)) for curve in curves]


def _buckets(facts: Facts) -> float | None:
    listed = next((one for one in reversed(facts.every(SysgenParameter)) if one.name == TABLE and one.runs), None)
    return listed.current if listed and known(listed.current) and listed.current > 0 else None


def _drawn(day: Day, one: Picture, courses: Sequence[ChartCurve], found: Annotations, buckets: float | None) -> Drawn:
    bounds = list(found.bounds.get(one.key, ()))
    if one.key == "tables" and buckets is not None:
        bounds.append(Bound(TABLE, buckets))
    marks = found.marks.get(one.key, ())
    numbers = {mark.number for mark in marks} | {number for bound in bounds for number in bound.numbers}
    start = f"{one.title}: "
    noted = [
        replace(note, lines=[line.removeprefix(start) for line in note.lines if line.startswith(start)])
        for note in found.noted
        if note.mark in numbers
    ]
    picture = course_chart(courses, unit=one.unit, title=one.title, bounds=bounds, marks=marks)
    curves = [curve for name in one.curves if (curve := day.curve(name))]
    highest = tuple(top for curve in curves if (top := _highest(day, curve)))
    names = legend([curve.name for curve in courses])
    return Drawn(one.key, one.title, picture, names, ABOUT[one.key], tuple(noted), highest)


def _highest(day: Day, curve: Curve) -> Highest | None:
    peaks = [(peak, -n) for n, peak in enumerate(curve.peaks) if known(peak)]
    if not peaks:
        return None
    value, step = max(peaks)
    return Highest(curve.name, curve.unit, value, day.clock(-step))
