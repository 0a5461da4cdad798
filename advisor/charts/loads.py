"""Load series: rates measured at rising loads, the law through them, its peak, and where adding does harm.

A series alone: its law is solid where it was measured and dashed where it foretells, the loads at which adding does
harm are shaded and named. Several in one picture: each has a mark and a dash of its own, and nothing is drawn outside
what was measured. Where no law may be used, a thin line joins the means of the measured loads, and that is all it says.
No colour is needed to read either.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from advisor.charts.frame import LEGEND_ROW, Frame
from advisor.charts.pen import COLOURS, DASHES, MARKS, Sheet
from advisor.charts.scales import Axis, axis, number
from advisor.charts.svg import REACH
from advisor.charts.words import breadth, clean, extremes, figure

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


def load_chart(line: LoadLine, *, x_name: str, y_name: str, title: str, width: int = 480, height: int = 290) -> Markup:
    """Draw one series. `width` 240 and `height` 160 at least, else ValueError."""
    sheet = _sheet(width, height)
    x_name, y_name = clean(x_name), clean(y_name)
    points = _known(line.points)
    peak = _pair(line.peak) if line.peak is not None else None
    harm, cap = number(line.harm), number(line.cap)
    reach = max((abs(load) for load, _ in points), default=0.0)
    drawn = peak if peak is not None and points and abs(peak[0]) <= REACH * reach else None
    top = _key(sheet, line) + 18
    x, y = _axes([*points, *((drawn,) if drawn else ())])
    frame = Frame(sheet, y, top, y_name, None)
    if harm is not None and points:
        _harm(frame, x, harm)
    frame.figures(x, x_name)
    if cap is not None and points:
        frame.cap(x, cap)
    if line.curve is not None and points:
        frame.curve(x, y, line.curve, points[0][0], points[-1][0])
    else:
        _joined(frame, x, y, line, 1, "")
    for load, rate in _thinned(points):
        tip = f"{x_name} {figure(load)}: {y_name} {figure(rate)}"
        sheet.mark(frame.x(x.at(load)), frame.y(y.at(rate)), 1, "circle", tip, radius=3)
    if not points:
        sheet.text("no figures", frame.x(0.5), frame.y(0.5), "middle")
    said = [_said(line, points, x_name, y_name)]
    if peak is not None:
        told = f"peak {_short(peak[1])} at {_short(peak[0])}"
        said.append(f"Fitted {told}.")
        if drawn is not None:
            frame.peak(frame.x(x.at(drawn[0])), frame.y(y.at(drawn[1])), told)
        else:
            sheet.text(f"{told}, outside this chart", frame.left + 8, frame.top + 14)
    if harm is not None:
        said.append(f"Adding does harm beyond {x_name} {figure(harm)}.")
    if cap is not None:
        said.append(f"The law is capped at {figure(cap)}: it does not change beyond.")
    return sheet.done(title, " ".join(said))


def compared_loads(
    lines: Sequence[LoadLine], *, x_name: str, y_name: str, title: str, width: int = 480, height: int = 290
) -> Markup:
    """Draw up to six series in one picture, with a legend. `width` 240 and `height` 160 at least; else ValueError."""
    if len(lines) > len(COLOURS):
        raise ValueError(f"{len(lines)} series: six is the most that can be told apart")
    sheet = _sheet(width, height)
    x_name, y_name = clean(x_name), clean(y_name)
    placed = [_known(line.points) for line in lines]
    top = _legend(sheet, [clean(line.name) for line in lines]) + 18
    sheet.height = height + round(top) - 18
    x, y = _axes([pair for points in placed for pair in points])
    frame = Frame(sheet, y, top, y_name, None)
    frame.figures(x, x_name)
    for n, (line, points) in enumerate(zip(lines, placed, strict=True), 1):
        if line.curve is None:
            _joined(frame, x, y, line, n, DASHES[n - 1])
        elif points:
            _measured_part(frame, x, y, line.curve, points[0][0], points[-1][0], n)
        for load, rate in _thinned(points):
            tip = f"{clean(line.name)}, {x_name} {figure(load)}: {y_name} {figure(rate)}"
            sheet.mark(frame.x(x.at(load)), frame.y(y.at(rate)), n, MARKS[n - 1], tip, radius=3)
    if not any(placed):
        sheet.text("no figures", frame.x(0.5), frame.y(0.5), "middle")
    said = [
        f"{clean(line.name)}: {_said(line, points, x_name, y_name)}" for line, points in zip(lines, placed, strict=True)
    ]
    return sheet.done(title, " ".join(said) or "No figures.")


def _sheet(width: int, height: int) -> Sheet:
    if width < 240 or height < 160:
        raise ValueError(f"{width} by {height} px is too small for this chart; 240 by 160 is the least")
    return Sheet(width, height)


def _axes(points: Sequence[Pair]) -> tuple[Axis, Axis]:
    """Both from zero, so that a rate that hardly changes does not look like a collapse."""
    rates = [rate for _, rate in points]
    return axis([load for load, _ in points], from_zero=True), axis(
        [rate * 1.02 for rate in rates if abs(rate) < 1e300] or rates, from_zero=True
    )


def _harm(frame: Frame, x: Axis, harm: float) -> None:
    """Shade everything beyond a load."""
    begin, end = frame.x(x.at(harm)), frame.left + frame.wide
    frame.sheet.box("track", begin, frame.top, end - begin, frame.foot - frame.top)


def _joined(frame: Frame, x: Axis, y: Axis, line: LoadLine, series: int, dash: str) -> None:
    """Join the means by a thin line."""
    means = _thinned(_known(line.means))
    way = " ".join(f"{frame.x(x.at(load)):.1f},{frame.y(y.at(rate)):.1f}" for load, rate in means)
    if len(means) > 1:
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        frame.sheet.parts.append(
            f'<polyline class="c-line c-{series}" fill="none" stroke="{COLOURS[series - 1]}" stroke-width="0.8"'
            f' stroke-opacity="0.8" stroke-linejoin="round"{dashes} points="{way}"/>'
        )


def _measured_part(
    frame: Frame, x: Axis, y: Axis, curve: Callable[[float], float], first: float, last: float, series: int
) -> None:
    """Draw a law where it was measured; what fails or would leave the plot is a gap."""
    piece: list[Pair] = []
    for n in range(STEPS + 1):
        load = first + (last - first) * n / STEPS
        try:
            rate = number(curve(load))
        except (ArithmeticError, ValueError):
            rate = None
        if rate is not None and y.ticks[0] <= rate <= y.ticks[-1]:
            piece.append((frame.x(x.at(load)), frame.y(y.at(rate))))
            continue
        if len(piece) > 1:
            frame.sheet.line(piece, series, DASHES[series - 1])
        piece = []
    if len(piece) > 1:
        frame.sheet.line(piece, series, DASHES[series - 1])


def _legend(sheet: Sheet, names: Sequence[str]) -> float:
    """Write the names, a line each: those of machines are long, and differ at either end. Gives the height used."""
    for n, name in enumerate(names):
        y = 8.0 + n * LEGEND_ROW
        sheet.line([(2, y), (32, y)], n + 1, DASHES[n])
        sheet.mark(17, y, n + 1, MARKS[n], radius=3)
        sheet.text(name or "(no name)", 38, y + 4, room=sheet.width - 44)
    return len(names) * LEGEND_ROW + 2.0


def _key(sheet: Sheet, line: LoadLine) -> float:
    """Say above the plot what dots, lines and shade are; gives the height used."""
    named = ["measured", *(("fitted", "not measured") if line.curve is not None else ("means, joined",))]
    named += [HARM] if line.harm is not None else []
    x, y = 4.0, 8.0
    for words in named:
        if x + 30 + breadth(words) > sheet.width:
            x, y = 4.0, y + LEGEND_ROW
        if words == "measured":
            sheet.mark(x + 10, y, 1, "circle", radius=3)
        elif words == HARM:
            sheet.box("track", x, y - 6, 20, 12)
        else:
            fitted = line.curve is not None
            sheet.line([(x, y), (x + 20, y)], 2 if fitted else 1, DASHES[2] if words == "not measured" else "")
        x += 26 + sheet.text(words, x + 26, y + 4) + 14
    return y + 8


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


def _short(value: float) -> str:
    return figure(float(f"{value:.4g}"))
