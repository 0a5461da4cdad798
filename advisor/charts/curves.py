"""Figures over time on a page: the course of a day, a figure over the captures (drawn by `advisor.charts.plotted`).

Means are the lines; the highest sample of each step is a thin line of the same series, where it differs. A mark is a
number in a disc that a list beside the picture explains: at a point of time and a figure, or behind a limit's name. A
change is a vertical line with a word. No colour is needed to read any.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from markupsafe import Markup

from advisor.charts.pen import COLOURS, DASHES
from advisor.charts.plotted import FEW, Plot, PlotLine, ends, from_zero, name_ends, points_for_script, time_ticks
from advisor.charts.scales import Point, moment, number, seconds
from advisor.charts.svg import REACH
from advisor.charts.words import clean, extremes, figure

Series = Sequence[tuple[datetime, float | None]]
KEPT, KEPT_POINTS = 256, 300
"""Pictures of `timeline` that each process keeps, and how many points one may have: a few megabytes at the most."""
MOST_EVENTS = 12
"""Changes drawn in one picture, the newest."""


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
    height: int = 200,
) -> Markup:
    """Draw up to six figures over time, from zero: a course that hardly moves must not look like a storm.

    Times without a zone count as UTC. A limit more than four times as high as everything measured is told in words, so
    that it does not press the lines flat. `height` of the plot 60 px at least; else, or with more than six figures,
    ValueError.
    """
    if height < 60:
        raise ValueError(f"{height} px is too low for this chart; 60 is the least")
    if len(courses) > len(COLOURS):
        raise ValueError(f"{len(courses)} lines: six is the most that can be told apart")
    unit = clean(unit)
    lines = [
        PlotLine(clean(one.name), _placed(one.means), _placed(one.peaks) if _higher(one) else [], clean(title))
        if len(courses) == 1
        else PlotLine(clean(one.name), _placed(one.means), _placed(one.peaks) if _higher(one) else [])
        for one in courses
    ]
    figures = [v for line in lines for _, v in (*line.points, *line.peaks) if v is not None]
    figures += [v for one in marks if (v := number(one.value)) is not None]
    inside, beyond = _reachable(bounds, max(figures, default=0.0))
    plot = _begun(lines, [*figures, *(one.value for one in inside)], unit, height, _zoned(one.means for one in courses))
    _draw(plot, lines)
    for bound in inside:
        plot.limit(bound.value, f"{bound.name} {figure(bound.value)}", bound.numbers)
    for bound in beyond:
        plot.name(plot.top, f"↑ {bound.name} {figure(bound.value)}", "c-limit", bound.numbers)
    if len(lines) > 1:
        name_ends(plot, lines)
    for mark in marks:
        plot.mark(mark.number, seconds(mark.at), number(mark.value))
    said = [_said(one, unit) for one in lines]
    said += _times(plot, lines)
    said += [f"Limit {clean(one.name)}: {figure(one.value, unit)}." for one in inside]
    said += [f"Limit {clean(one.name)}: {figure(one.value, unit)}, beyond the picture." for one in beyond]
    said += [f"Mark {one.number} at {moment(seconds(one.at))}." for one in marks]
    return plot.done(title, " ".join(said) or "No figures.", _data(plot, lines, unit))


def timeline(
    series: Series,
    *,
    unit: str,
    title: str,
    limit: float | None = None,
    events: Sequence[tuple[datetime, str]] = (),
    height: int = 150,
) -> Markup:
    """Draw one figure over the captures, from zero, with its limit, and changes as vertical lines with a word.

    Changes before the first or after the last capture are left out: nothing is drawn of that time. `height` of the
    plot 60 px at least (ValueError). A page shows the same ones again and again: the last ones drawn are kept.
    """
    if height < 60:
        raise ValueError(f"{height} px is too low for this chart; 60 is the least")
    draw = _timeline if len(series) <= KEPT_POINTS else _timeline.__wrapped__
    return draw(tuple(series), unit, title, limit, tuple(events), height)


@lru_cache(maxsize=KEPT, typed=True)
def _timeline(
    series: tuple[tuple[datetime, float | None], ...],
    unit: str,
    title: str,
    limit: float | None,
    events: tuple[tuple[datetime, str], ...],
    height: int,
) -> Markup:
    unit, bound = clean(unit), number(limit)
    line = PlotLine("", _placed(series), told=clean(title))
    figures = [v for _, v in line.points if v is not None]
    low, high = ends([line.points])
    within = [(at, word) for day, word in events if low <= (at := seconds(day)) <= high][-MOST_EVENTS:]
    held = [*figures, *(() if bound is None else (bound,))]
    plot = _begun([line], held, unit, height, _zoned([series]), within)
    plot.bare = True
    _draw(plot, [line])
    if bound is not None:
        plot.limit(bound, f"limit {figure(bound, unit)}")
    said = [_said(line, unit), *_times(plot, [line])]
    said += [f"Limit {figure(bound, unit)}."] if bound is not None else []
    said += [f"{clean(word)} at {moment(at)}." for at, word in within]
    return plot.done(title, " ".join(said), _data(plot, [line], unit))


def _begun(
    lines: Sequence[PlotLine],
    figures: Sequence[float],
    unit: str,
    height: int,
    zoned: bool,
    events: Sequence[tuple[float, str]] = (),
) -> Plot:
    """The axes of these lines, and changes as (seconds, words)."""
    low, high = ends([line.points for line in lines])
    plot = Plot(low, high, from_zero(figures), height)
    named = f"{unit} (times in UTC)" if zoned else unit
    plot.events(events, named)
    plot.grid(named)
    plot.ticks(time_ticks([line.points for line in lines]).ticks)
    if not any(v is not None for line in lines for _, v in line.points):
        plot.over.append(f'<text x="50%" y="{plot.top + height / 2:.1f}" text-anchor="middle">no figures</text>')
    return plot


def _draw(plot: Plot, lines: Sequence[PlotLine]) -> None:
    """The lines, the first solid and the others dashed, and a dot on each of a few figures."""
    drawn = [(line.peaks, n, "", " c-thin") for n, line in enumerate(lines, 1) if line.peaks]
    drawn += [(line.points, n, DASHES[n - 1], "") for n, line in enumerate(lines, 1)]
    plot.lines(drawn)
    for n, line in enumerate(lines, 1):
        known = [(at, v) for at, v in line.points if v is not None]
        for at, value in known if len(known) <= FEW else ():
            plot.dot(at, value, n)


def _data(plot: Plot, lines: Sequence[PlotLine], unit: str) -> dict[str, object]:
    """What the script tells of."""
    return {
        "k": "time",
        "u": unit,
        "x": [round(plot.low), round(plot.high)],
        "s": points_for_script(lines, plot.low, plot.high, round),
    }


def _zoned(some: Iterable[Series]) -> bool:
    return any(at.utcoffset() is not None for series in some for at, _ in series)


def _times(plot: Plot, lines: Sequence[PlotLine]) -> list[str]:
    if not any(line.points for line in lines):
        return []
    return [f"From {moment(plot.low)} to {moment(plot.high)}."]


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


def _said(line: PlotLine, unit: str) -> str:
    known = [v for _, v in line.points if v is not None]
    words = extremes(known, len(line.points) - len(known), unit)
    words = f"{line.name}: {words}" if line.name else words
    high = max((v for _, v in line.peaks if v is not None), default=None)
    return words if high is None else f"{words} Highest sample {figure(high, unit)}."
