"""Load series: rates measured at rising loads, the law through them, its peak, and where adding does harm.

A series alone: its law is solid where it was measured and dashed where it foretells, the loads at which adding does
harm are shaded and named. Several in one picture: each has a mark and a dash of its own, and nothing is drawn outside
what was measured. Where no law may be used, a thin line joins the means of the measured loads, and that is all it says.
No colour is needed to read either.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from advisor.charts.pen import COLOURS, DASHES, MARKS
from advisor.charts.plotted import Plot, PlotLine, from_zero, name_ends, points_for_script, tidy
from advisor.charts.scales import Axis, Point, number, runs
from advisor.charts.svg import REACH
from advisor.charts.words import clean, extremes, figure
from advisor.core.jinja import of_law

MOST_MARKED = 400
"""Points drawn of one series; a longer one is thinned evenly, its first, last and highest point stay."""
STEPS = 80
"""Pieces a law is drawn in."""

HARM = "adding does harm"

Pair = tuple[float, float]


@dataclass(frozen=True)
class LoadLine:
    """The runs of one series and what was made of them."""

    name: str
    points: Sequence[Pair]
    """Load and rate of every run."""
    means: Sequence[Pair] = ()
    """Load and mean rate, in rising order of load: joined where there is no curve."""
    curve: Callable[[float], float] | None = None
    """The fitted law, only where it may be used."""
    peak: Pair | None = None
    """The highest point of the law."""
    harm: float | None = None
    """The load beyond which adding does harm."""
    cap: float | None = None
    """The load beyond which the law no longer changes."""


def load_chart(line: LoadLine, *, x_name: str, y_name: str, title: str, height: int = 260) -> Markup:
    """Draw one series. `height` of the plot 60 px at least, else ValueError."""
    x_name, y_name = clean(x_name), clean(y_name)
    points = _known(line.points)
    peak = _pair(line.peak) if line.peak is not None else None
    harm, cap = number(line.harm), number(line.cap)
    reach = max((abs(load) for load, _ in points), default=0.0)
    drawn = peak if peak is not None and points and abs(peak[0]) <= REACH * reach else None
    told = "" if peak is None else f"peak {of_law(peak[1])} at {of_law(peak[0])}"
    events = [(drawn[0], told)] if drawn is not None else []
    if cap is not None and points and min(0.0, points[0][0]) < cap < points[-1][0]:
        events.append((cap, f"capped at {figure(cap)}"))
    plot, x = _begun([*points, *((drawn,) if drawn else ())], x_name, y_name, height, events)
    if harm is not None and points:
        plot.shade(harm, HARM)
    if line.curve is not None and points:
        pieces = _sampled(line.curve, plot, x.ticks[0], x.ticks[-1], points[0][0], points[-1][0])
        plot.lines([(piece, 2, dash, "") for piece, dash in pieces])
        last = next((v for piece, _ in reversed(pieces) for _, v in reversed(piece) if v is not None), None)
        if last is not None:
            plot.name(plot.y(last), "fitted law", "n-2")
    else:
        plot.lines([(_thinned(_known(line.means)), 1, "", " c-thin")])
    for load, rate in _thinned(points):
        plot.dot(load, rate, 1, radius=3)
    if points:
        plot.name(plot.y(points[-1][1]), "measured", "n-1")
    said = [_said(line, points, x_name, y_name)]
    if peak is not None:
        said.append(f"Fitted {told}.")
        if drawn is not None:
            plot.dot(drawn[0], drawn[1], 2, "diamond")
        else:
            plot.name(plot.top, f"{told}, outside this chart", "c-text")
    if harm is not None:
        said.append(f"Adding does harm beyond {x_name} {figure(harm)}.")
    if cap is not None:
        said.append(f"The law is capped at {figure(cap)}: it does not change beyond.")
    return plot.done(title, " ".join(said), _data(plot, [PlotLine(y_name, points)], x_name))


def compared_loads(lines: Sequence[LoadLine], *, x_name: str, y_name: str, title: str, height: int = 260) -> Markup:
    """Draw up to six series in one picture. `height` of the plot 60 px at least; else ValueError."""
    if len(lines) > len(COLOURS):
        raise ValueError(f"{len(lines)} series: six is the most that can be told apart")
    x_name, y_name = clean(x_name), clean(y_name)
    placed = [_known(line.points) for line in lines]
    plot, _ = _begun([pair for points in placed for pair in points], x_name, y_name, height)
    drawn: list[tuple[Sequence[Point], int, str, str]] = []
    for n, (line, points) in enumerate(zip(lines, placed, strict=True), 1):
        if line.curve is None:
            drawn.append((_thinned(_known(line.means)), n, DASHES[n - 1], " c-thin"))
        elif points:
            first, last = points[0][0], points[-1][0]
            pieces = _sampled(line.curve, plot, first, last, first, last)
            drawn += [(piece, n, DASHES[n - 1], "") for piece, dash in pieces if not dash]
        for load, rate in _thinned(points):
            plot.dot(load, rate, n, MARKS[n - 1], radius=3)
    plot.lines(drawn)
    named = [PlotLine(clean(line.name), points) for line, points in zip(lines, placed, strict=True)]
    name_ends(plot, named)
    said = [
        f"{clean(line.name)}: {_said(line, points, x_name, y_name)}" for line, points in zip(lines, placed, strict=True)
    ]
    return plot.done(title, " ".join(said) or "No figures.", _data(plot, named, x_name, y_name))


def _begun(
    points: Sequence[Pair], x_name: str, y_name: str, height: int, events: Sequence[tuple[float, str]] = ()
) -> tuple[Plot, Axis]:
    """Both axes from zero, so that a rate that hardly changes does not look like a collapse; `events` with words."""
    if height < 60:
        raise ValueError(f"{height} px is too low for this chart; 60 is the least")
    rates = [rate for _, rate in points]
    x = from_zero(load for load, _ in points)
    y = from_zero([rate * 1.02 for rate in rates if abs(rate) < 1e300] or rates)
    plot = Plot(x.ticks[0], x.ticks[-1], y, height)
    plot.events(events, y_name)
    plot.grid(y_name)
    plot.ticks(((tick, label, "") for tick, label in zip(x.ticks, x.labels, strict=True)), x_name)
    if not points:
        plot.over.append(f'<text x="50%" y="{plot.top + height / 2:.1f}" text-anchor="middle">no figures</text>')
    return plot, x


def _data(plot: Plot, lines: Sequence[PlotLine], x_name: str, unit: str = "") -> dict[str, object]:
    """What the script tells of."""
    return {
        "k": "load",
        "u": unit,
        "n": x_name,
        "x": [plot.low, plot.high],
        "s": points_for_script(lines, plot.low, plot.high, tidy),
    }


def _sampled(
    curve: Callable[[float], float], plot: Plot, begin: float, end: float, first: float, last: float
) -> list[tuple[list[Point], str]]:
    """A law in pieces, dashed outside of what was measured; what fails or would leave the plot is a gap."""
    low, high = plot.axis.ticks[0], plot.axis.ticks[-1]
    loads = sorted({begin + (end - begin) * (n / STEPS) for n in range(STEPS + 1)} | {first, last})
    points: list[Point] = []
    for load in loads:
        try:
            made = curve(load)
            rate = None if isinstance(made, complex) else number(made)
        except (ArithmeticError, ValueError):
            rate = None
        points.append((load, rate if rate is not None and low <= rate <= high else None))
    parts = (
        ([one for one in points if one[0] <= first], DASHES[2]),
        ([one for one in points if first <= one[0] <= last], ""),
        ([one for one in points if one[0] >= last], DASHES[2]),
    )
    return [([*piece], dash) for part, dash in parts for piece in runs(part) if len(piece) > 1]


def _said(line: LoadLine, points: Sequence[Pair], x_name: str, y_name: str) -> str:
    if not points:
        return "No figures."
    best = max(points, key=lambda pair: pair[1])
    law = "" if line.curve is not None else " No law is drawn."
    return (
        f"{len(points):,} measured points. {x_name} from {figure(points[0][0])} to {figure(points[-1][0])}; {y_name}: "
        f"{extremes([rate for _, rate in points], len(line.points) - len(points))} Highest measured at {x_name} "
        f"{figure(best[0])}.{law}"
    )


def _thinned(points: Sequence[Pair]) -> Sequence[Pair]:
    if len(points) <= MOST_MARKED:
        return points
    step = len(points) / (MOST_MARKED - 2)
    kept = {int(n * step) for n in range(MOST_MARKED - 2)}
    best = max(range(len(points)), key=lambda n: points[n][1])
    return [points[n] for n in sorted({*kept, best, len(points) - 1})]


def _known(points: Sequence[Pair]) -> list[Pair]:
    return sorted(pair for point in points if (pair := _pair(point)) is not None)


def _pair(point: Pair) -> Pair | None:
    x, y = number(point[0]), number(point[1])
    return None if x is None or y is None else (x, y)
