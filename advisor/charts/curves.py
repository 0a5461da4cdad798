"""The course of a day: a few figures over time, with limits and with numbered marks that a list beside it explains.

Means are the lines; the highest sample of each step is a thin line of the same series, where it differs. A mark is a
number in a disc: at a point of time and a figure, or at the end of a limit's line. No colour is needed to read any.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup, escape

from advisor.charts.frame import Frame, legend
from advisor.charts.pen import COLOURS, Sheet
from advisor.charts.scales import Axis, Point, TimeAxis, axis, moment, number, runs, seconds, thin, time_axis
from advisor.charts.svg import REACH
from advisor.charts.words import clean, extremes, figure

Series = Sequence[tuple[datetime, float | None]]
DISC = 7.5
"""Radius of a mark, px."""
MOST_TOLD = 6
"""Limits of one kind that are told in words above the plot; the list beside the picture has them all."""


@dataclass(frozen=True)
class ChartCurve:
    """One figure over time; `None` is no figure: a gap."""

    name: str
    means: Series
    peaks: Series = ()
    """The highest sample of each step; drawn where one is higher than its mean."""


@dataclass(frozen=True)
class Bound:
    """A limit in the unit of the picture; `numbers` are its marks, where the list beside explains it."""

    name: str
    value: float
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Mark:
    """A numbered place; without a figure it stands at the top, above its time."""

    number: int
    at: datetime
    value: float | None = None


def course_chart(
    courses: Sequence[ChartCurve],
    *,
    unit: str,
    title: str,
    bounds: Sequence[Bound] = (),
    marks: Sequence[Mark] = (),
    width: int = 480,
    height: int = 250,
) -> Markup:
    """Draw up to six figures over time, from zero: a course that hardly moves must not look like a storm.

    Times without a zone count as UTC. Legend and words make it higher than `height`. A limit more than four times as
    high as everything measured is told in words, so that it does not press the lines flat. `width` 240 and `height`
    160 at least; else, or with more than six figures, ValueError.
    """
    if width < 240 or height < 160:
        raise ValueError(f"{width} by {height} px is too small for this chart; 240 by 160 is the least")
    if len(courses) > len(COLOURS):
        raise ValueError(f"{len(courses)} lines: six is the most that can be told apart")
    unit, sheet = clean(unit), Sheet(width, height)
    lines = [_placed(one.means) for one in courses]
    peaks = [_placed(one.peaks) if _higher(one) else [] for one in courses]
    figures = [v for line in (*lines, *peaks) for _, v in line if v is not None]
    figures += [v for one in marks if (v := number(one.value)) is not None]
    inside, beyond = _reachable(bounds, max(figures, default=0.0))
    top = (legend(sheet, [one.name for one in courses]) if len(courses) > 1 else 0.0) + 18
    for where, told in (("dashed", inside), ("beyond the picture", beyond)):
        for bound in told[:MOST_TOLD]:
            _told(sheet, bound, where, top - 6)
            top += 2 * DISC + 2
    sheet.height = height + round(top) - 18  # the plot keeps its height under whatever stands above it
    y = axis([*figures, *(one.value for one in inside)], from_zero=True)
    frame = Frame(sheet, y, top, unit, None)
    x = time_axis([at for line in lines for at, _ in line], most=max(2, int(frame.wide / 90)))
    frame.times(x, "UTC" if any(at.utcoffset() is not None for one in courses for at, _ in one.means) else "")
    for n, line in enumerate(peaks, 1):
        _thin(frame, x, y, line, n)
    for n, (one, line) in enumerate(zip(courses, lines, strict=True), 1):
        frame.course(x, y, line, n, clean(one.name), unit, alone=len(courses) == 1)
    if not figures:
        sheet.text("no figures", frame.x(0.5), frame.y(0.5), "middle")
    _bounds(frame, y, inside)
    _marks(frame, x, y, marks)
    said = [_said(one, line, peak, unit) for one, line, peak in zip(courses, lines, peaks, strict=True)]
    if x.ticks:
        said.append(f"From {moment(x.low)} to {moment(x.high)}.")
    said += [f"Limit {clean(one.name)}: {figure(one.value, unit)}." for one in (*inside, *beyond)]
    said += [f"Mark {one.number} at {moment(seconds(one.at))}." for one in marks]
    return sheet.done(title, " ".join(said) or "No figures.")


def _placed(series: Series) -> list[Point]:
    return sorted(((seconds(at), number(v)) for at, v in series), key=lambda point: point[0])


def _higher(one: ChartCurve) -> bool:
    """Whether a peak says more than its mean."""
    means = dict(one.means)
    return any(v is not None and (mean := means.get(at)) is not None and v > mean for at, v in one.peaks)


def _reachable(bounds: Sequence[Bound], highest: float) -> tuple[list[Bound], list[Bound]]:
    """Those that are drawn, and those too high for the picture."""
    real = [one for one in bounds if number(one.value) is not None]
    beyond = [one for one in real if 0 < highest < one.value / REACH]
    return [one for one in real if one not in beyond], beyond


def _thin(frame: Frame, x: TimeAxis, y: Axis, line: Sequence[Point], series: int) -> None:
    """The peaks of one figure: a thin line, pale beside its means."""
    points = [(frame.x(x.at(at)), None if v is None else frame.y(y.at(v))) for at, v in line]
    for run in runs(thin(points) if len(points) > frame.wide else points):
        way = " ".join(f"{px:.1f},{py:.1f}" for px, py in run)
        frame.sheet.parts.append(
            f'<polyline class="c-line c-{series}" fill="none" stroke="{COLOURS[series - 1]}" stroke-width="0.7"'
            f' stroke-opacity="0.75" stroke-linejoin="round" points="{way}"/>'
        )


def _told(sheet: Sheet, one: Bound, where: str, foot: float) -> None:
    """A limit in words, its marks before it."""
    for n, count in enumerate(one.numbers):
        _disc(sheet, count, DISC + 1 + n * (2 * DISC + 1), foot - 4)
    begin = len(one.numbers) * (2 * DISC + 1) + (6 if one.numbers else 0)
    sheet.text(f"{one.name} {figure(one.value)}: {where}", begin, foot, room=sheet.width - begin)


def _bounds(frame: Frame, y: Axis, bounds: Sequence[Bound]) -> None:
    """The limits as dashed lines, their marks at the right end; marks that would meet stand beside each other."""
    right = frame.left + frame.wide
    taken: list[float] = []
    for one in bounds:
        at = frame.y(y.at(one.value))
        frame.sheet.rule("limit", frame.left, at, right, at)
        for count in one.numbers:
            beside = sum(1 for other in taken if abs(at - other) < 2 * DISC)
            taken.append(at)
            _disc(frame.sheet, count, max(frame.left, right + 4 - beside * (2 * DISC + 1)), at)


def _marks(frame: Frame, x: TimeAxis, y: Axis, marks: Sequence[Mark]) -> None:
    """The numbers at their places, a drop line to the point; of several at one place each stands a little further."""
    taken: list[tuple[float, float]] = []
    for one in marks:
        value = number(one.value)
        px = frame.x(x.at(seconds(one.at)))
        py = frame.top if value is None else frame.y(y.at(value))
        at = max(frame.top + DISC, py - 2 * DISC), px
        while any(abs(at[0] - oy) < 2 * DISC and abs(at[1] - ox) < 2 * DISC for oy, ox in taken):
            right = at[1] + 2 * DISC
            at = (at[0], right) if right < frame.sheet.width - DISC else (at[0] + 2 * DISC, px)
            if at[0] > frame.foot:
                break
        taken.append(at)
        frame.sheet.rule("axis", px, min(frame.foot, at[0]), px, frame.foot if value is None else py)
        _disc(frame.sheet, one.number, at[1], at[0])


def _disc(sheet: Sheet, count: int, x: float, y: float) -> None:
    """A number in a disc, black on white with a black ring: it reads on any ground and above any line."""
    x = max(DISC + 1, min(sheet.width - DISC - 1, x))
    y = max(DISC + 1, min(sheet.height - DISC - 1, y))
    sheet.parts.append(
        f'<circle fill="#fff" stroke="#000" stroke-width="1" cx="{x:.1f}" cy="{y:.1f}" r="{DISC:g}"/>'
        f'<text fill="#000" font-size="10" text-anchor="middle" x="{x:.1f}" y="{y + 3.5:.1f}">{escape(count)}</text>'
    )


def _said(one: ChartCurve, line: Sequence[Point], peaks: Sequence[Point], unit: str) -> str:
    known = [v for _, v in line if v is not None]
    words = f"{clean(one.name)}: {extremes(known, len(line) - len(known), unit)}"
    high = max((v for _, v in peaks if v is not None), default=None)
    return words if high is None else f"{words} Highest sample {figure(high, unit)}."
