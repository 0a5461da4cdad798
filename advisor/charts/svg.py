"""Five charts, each a pure function from figures to one complete `<svg>` (`markupsafe.Markup`).

All styling is by presentation attributes, so a picture looks right with no CSS at all: in a mail, a PDF, a file. Text,
axes and grid are drawn in `currentColor`, so inside a page they follow its text colour, dark mode included. A page's
style sheet may override by class; an attribute always yields to CSS:

    c-chart         the svg element itself (say: max-width: 100%; height: auto)
    c-text          every text: fill                        c-axis, c-grid   lines of the frame: stroke
    c-limit         the limit's dashed line: stroke         c-peak           drop line to a fitted curve's peak: stroke
    c-line c-1..6   the lines of the series: stroke         c-dot c-1..6     marks on points: fill and stroke
    c-bar c-1       a figure's bar: fill                    c-track          the groove it runs in: fill
    c-range         whisker from `low` to `high`: stroke

In words: `title` names the picture (aria-label, tooltip; it is not drawn, the caller has a heading), `<desc>` says what
the line shows. None, NaN and infinities are "no figure": a gap, never zero. There are no ids, so many fit on one page.
Sizes are px; too small a size, or more than six lines, is a ValueError; nothing an export says can raise.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache

from markupsafe import Markup

from advisor.charts.frame import Frame, legend
from advisor.charts.pen import COLOURS, Sheet, document
from advisor.charts.scales import (
    Axis,
    axis,
    even,
    is_flat,
    moment,
    near,
    number,
    runs,
    seconds,
    thin_even,
    time_axis,
)
from advisor.charts.words import breadth, clean, extremes, figure, fitting

Series = Sequence[tuple[datetime, float | None]]
KEPT, KEPT_POINTS = 256, 300
"""Pictures of `history` that each process keeps, and how many points one may have: ten megabytes at the most."""
REACH = 4
"""A fitted peak farther out than this many times the highest measured load is told in words: drawn, it would squeeze
the measured points into a corner."""


def sparkline(
    values: Sequence[float | None],
    *,
    width: int = 120,
    height: int = 24,
    title: str,
    span: tuple[float, float] | None = None,
) -> Markup:
    """Draw a line the size of a word: evenly spaced figures, a gap for None, a dot on the last figure.

    Each line has its own scale, lowest to highest, unless `span` gives one for all; figures beyond it widen it.
    `width` 20 and `height` 8 at least.
    """
    _at_least(width, height, 20, 8)
    figures, known = even(values)
    desc = extremes(known, len(figures) - len(known))
    if not known:
        return document(width, height, title, desc, "")
    low, high = near(min((*known, *(span or ())))), near(max((*known, *(span or ()))))
    flat = is_flat(low, high)
    scale, foot = (0.0, height / 2) if flat else ((height - 6.0) / (high - low), height - 3.0)
    step = (width - 6.0) / max(1, len(figures) - 1)
    sheet, last = Sheet(width, height), (0.0, 0.0)
    pieces = runs(thin_even(figures, width // 2))
    for piece in pieces:
        line = [(3 + n * step, foot - (v - low) * scale) for n, v in piece]
        last = line[-1]
        if len(line) > 1 or piece is not pieces[-1]:
            sheet.line(line)
    sheet.mark(*last, 1, "circle")
    return sheet.done(title, desc)


def history(
    series: Series, *, unit: str, title: str, limit: float | None = None, width: int = 640, height: int = 180
) -> Markup:
    """Draw one figure over time, from zero; `limit`, in the same unit, becomes a dashed line.

    Times are placed as they are (any order, any spacing); without a zone they count as UTC, and where any has a zone
    the axis says UTC. Fewer than 60 figures are marked one by one; a long series keeps its lowest and highest per 2 px.
    `width` 240 and `height` 100 at least. A page shows the same ones again and again: the last ones drawn are kept.
    """
    _at_least(width, height, 240, 100)
    draw = _history if len(series) <= KEPT_POINTS else _history.__wrapped__
    return draw(tuple((at, value) for at, value in series), unit, title, limit, width, height)


@lru_cache(maxsize=KEPT, typed=True)
def _history(
    series: tuple[tuple[datetime, float | None], ...],
    unit: str,
    title: str,
    limit: float | None,
    width: int,
    height: int,
) -> Markup:
    sheet = Sheet(width, height)
    said = _timeline(sheet, [("", series)], unit, number(limit), 18)
    return sheet.done(title, said)


def several(
    lines: Sequence[tuple[str, Series]],
    *,
    unit: str,
    title: str,
    limit: float | None = None,
    width: int = 640,
    height: int = 220,
) -> Markup:
    """Draw up to six named lines over time, as `history` does, told apart by colour, dash and mark, with a legend.

    `width` 240 and `height` 140 at least.
    """
    _at_least(width, height, 240, 140)
    if len(lines) > len(COLOURS):
        raise ValueError(f"{len(lines)} lines: six is the most that can be told apart")
    sheet = Sheet(width, height)
    top = legend(sheet, [name for name, _ in lines]) + 18
    said = _timeline(sheet, lines, unit, number(limit), top)
    return sheet.done(title, said)


def _timeline(sheet: Sheet, lines: Sequence[tuple[str, Series]], unit: str, limit: float | None, top: float) -> str:
    """Draw lines over time below `top`; gives what they show, in words."""
    unit = clean(unit)
    placed = [sorted(((seconds(t), number(v)) for t, v in series), key=lambda p: p[0]) for _, series in lines]
    zoned = any(t.utcoffset() is not None for _, series in lines for t, _ in series)
    figures = [v for line in placed for _, v in line if v is not None]
    y = axis([*figures, *(() if limit is None else (limit,))], from_zero=True)
    frame = Frame(sheet, y, top, unit, limit)
    x = time_axis([at for line in placed for at, _ in line], most=max(2, int(frame.wide / 90)))
    frame.times(x, "UTC" if zoned else "")
    said = []
    for n, ((name, _), line) in enumerate(zip(lines, placed, strict=True), 1):
        frame.course(x, y, line, n, clean(name), unit, alone=len(lines) == 1)
        known = [v for _, v in line if v is not None]
        words = extremes(known, len(line) - len(known), unit)
        said.append(f"{clean(name)}: {words}" if name else words)
    if not figures:
        sheet.text("no figures", frame.x(0.5), frame.y(0.5), "middle")
    if x.ticks:
        said.append(f"From {moment(x.low)} to {moment(x.high)}{' UTC' if zoned else ''}.")
    if limit is not None:
        said.append(f"Limit {figure(limit, unit)}.")
    return " ".join(said) or "No figures."


def bullet(
    value: float,
    limit: float | None,
    *,
    unit: str,
    title: str,
    low: float | None = None,
    high: float | None = None,
    width: int = 320,
    height: int = 36,
) -> Markup:
    """Draw a figure as a bar from zero against its limit; `low` and `high` are the range it may truly lie in.

    Whether past the limit is good or bad is the caller's to say; no colour says it. `width` 120, `height` 30 at least.
    """
    _at_least(width, height, 120, 30)
    unit, sheet = clean(unit), Sheet(width, height)
    shown, bound, least, most = number(value), number(limit), number(low), number(high)
    given = [near(v) for v in (shown, bound, least, most) if v is not None]
    start, end = min([0.0, *given]), max([0.0, *given])
    scale = Axis([0.0, 1.0] if is_flat(start, end) else [start, end + (end - start) * 0.05], [])
    foot = height - 16.0
    sheet.box("track", 1, 5, width - 2, foot - 8)
    words = "no figure" if shown is None else figure(shown, unit)
    if shown is not None:
        left, right = sorted((1 + scale.at(0) * (width - 2), 1 + scale.at(shown) * (width - 2)))
        sheet.box("bar", left, 5 + (foot - 8) / 4, right - left, (foot - 8) / 2)
    if least is not None and most is not None:
        places = [1 + scale.at(v) * (width - 2) for v in sorted((least, most))]
        sheet.whisker(places[0], places[1], (foot + 2) / 2)
        words += f" ({figure(min(least, most))} to {figure(max(least, most))})"
    half = width * (0.98 if bound is None else 0.48)
    brief = words if shown is None or breadth(words) <= half else fitting(shown, unit, half)
    taken = sheet.text(brief, 1, height - 3)
    desc = f"{words[0].upper()}{words[1:]}; no limit."
    if bound is not None:
        at, name = 1 + scale.at(bound) * (width - 2), f"limit {figure(bound, unit)}"
        sheet.rule("limit", at, 1, at, foot + 1)
        room = width - taken - 8
        short = name if breadth(name) <= room else fitting(bound, unit, room)
        mid = breadth(short) / 2
        sheet.text(short, max(taken + 8 + mid, min(at, width - mid)), height - 3, "middle")
        desc = f"{words[0].upper()}{words[1:]}; {name}."
    return sheet.done(title, desc)


def law(
    points: Sequence[tuple[float, float]],
    curve: Callable[[float], float] | None,
    *,
    x_name: str,
    y_name: str,
    title: str,
    peak: tuple[float, float] | None = None,
    cap: float | None = None,
    width: int = 640,
    height: int = 260,
) -> Markup:
    """Draw measured points, load against rate, and the fitted curve: solid where measured, dashed where it foretells.

    A curve may fail with an ArithmeticError or ValueError at any load; it then has a gap. `peak` is the fitted curve's
    (load, rate), `cap` the load beyond which it does not change. `width` 240 and `height` 120 at least.
    """
    _at_least(width, height, 240, 120)
    x_name, y_name, sheet = clean(x_name), clean(y_name), Sheet(width, height)
    known = sorted(p for p in (_pair(point) for point in points) if p is not None)
    top = _pair(peak) if peak is not None else None
    reach = max((abs(x) for x, _ in known), default=0.0)
    drawn = top if top is not None and (not known or abs(top[0]) <= REACH * reach) else None
    loads = [x for x, _ in known] + ([drawn[0]] if drawn else [])
    rates = [y for _, y in known] + ([drawn[1]] if drawn else [])
    x, y = axis(loads, from_zero=True), axis([v * 1.02 for v in rates if abs(v) < 1e300] or rates, from_zero=True)
    frame = Frame(sheet, y, 18, y_name, None)
    frame.figures(x, x_name)
    said = f"{len(known):,} measured points."
    if curve is not None and loads:
        first, last = (known[0][0], known[-1][0]) if known else (loads[0], loads[0])
        frame.curve(x, y, curve, first, last)
        frame.key()
        bound = number(cap)
        if bound is not None:
            frame.cap(x, bound)
            said += f" The curve is capped at {x_name} {figure(bound)}."
    for load, rate in known:
        tip = f"{x_name} {figure(load)}: {y_name} {figure(rate)}"
        sheet.mark(frame.x(x.at(load)), frame.y(y.at(rate)), 1, "circle", tip, radius=3)
    if known:
        best = max(known, key=lambda p: p[1])
        said += f" {x_name} from {figure(known[0][0])} to {figure(known[-1][0])}; {y_name}: " + extremes(
            [rate for _, rate in known], len(points) - len(known)
        )
        said += f" Highest measured at {x_name} {figure(best[0])}."
    else:
        sheet.text("no figures", frame.x(0.5), frame.y(0.5), "middle")
    if top is not None:
        told = f"peak {figure(float(f'{top[1]:.4g}'))} at {figure(float(f'{top[0]:.4g}'))}"
        if breadth(told) > width / 2:
            told = f"peak {top[1]:.3g} at {top[0]:.3g}"
        if drawn is not None:
            frame.peak(frame.x(x.at(top[0])), frame.y(y.at(top[1])), told)
        else:
            afar = f"{told}, outside this chart"
            sheet.text(afar if breadth(afar) < width else told, frame.left + 8, frame.top + 14)
        said += f" Fitted {told}."
    return sheet.done(title, said)


def _pair(point: tuple[float, float]) -> tuple[float, float] | None:
    x, y = number(point[0]), number(point[1])
    return None if x is None or y is None else (x, y)


def _at_least(width: int, height: int, wide: int, tall: int) -> None:
    if width < wide or height < tall:
        raise ValueError(f"{width} x {height} px is too small for this chart; {wide} x {tall} is the least")
