"""The one plot of pages: lines over time or over a load, as wide as their place, with 12 px text at every width.

Across, all places are per cent of the plot; upwards they are px. Lines alone stand in an inner `svg` that is stretched
and whose strokes are not (`c-area`), so nothing is scaled but the course itself. The style sheet gives the margins, the
same to every plot, so the axes of a page are aligned. Axes start at zero. Lines are named at their right end (on a
narrow screen by a legend, `legend`), limits on their line, changes by a vertical line with a word.

What the script of the pages tells of the nearest point, and zooms by, travels in `data-plot` as JSON: at most
`MOST_DATA` points of all lines together (some 15 KB); of more the lowest and highest of each strip stay, as they are.
`k` time or load, `u` unit, `n` name of the load, `x` both ends (seconds since 1970, or loads), `s` lines: `n` name, `x`
places (left out where they are those of the line before), `y` figures (null: no figure). Without the script the picture
stands as it is. Mail and PDF have `advisor.charts.svg`.
"""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from markupsafe import Markup, escape

from advisor.charts.pen import DASHES, MARKS, SHAPES
from advisor.charts.scales import Axis, Point, TimeAxis, axis, near, runs, thin, time_axis
from advisor.charts.words import breadth, clean, clip, figure, wrapped

TEXT = 12
"""px of every text."""
AREA = 1000.0
"""Width of the stretched inner picture, in its own units."""
RIGHT = 170.0
"""px right of the plot, where lines and limits are named."""
TOP, FOOT = 24.0, 36.0
"""px above the plot (its unit) and below it (two lines of text)."""
APART, MOST_NAME = 15.0, 3
"""px between two names at the right, and lines that one may have."""
DISC = 8.0
"""Radius of a numbered mark, px."""
CLOSE = 0.06
"""Share of the width within which two marks would meet on a narrow screen."""
ROW, MOST_ROWS, EVENT_ROOM = 14.0, 3, 190.0
"""px of a row of words above the plot, how many rows, px of one."""
NARROWEST = 240.0
"""px of the plot on a telephone: words that do not meet there meet nowhere."""
MOST_INSIDE = 4
"""Rows that the name of a limit moves away from its line, where others stand there."""
FEW = 40
"""Up to so many figures of a line each is a dot."""
MOST_TICKS = 7
MOST_DATA = 1200
"""Points that travel for the script, of all lines together."""
LARGE = ((1e12, "10¹²"), (1e9, "billions"), (1e6, "millions"))
"""From ten times such a figure on, the axis counts in it: seven digits would not fit before it."""


@dataclass(frozen=True)
class PlotLine:
    """One line: (x, figure) in rising order of x; `None` is no figure: a gap."""

    name: str
    points: Sequence[Point]
    peaks: Sequence[Point] = ()
    """A thin line beside it."""
    told: str = ""
    """What the script calls it where the picture has no name for it."""


@dataclass
class Named:
    """A text right of the plot, moved so that no two meet."""

    at: float
    words: str
    kind: str
    numbers: tuple[int, ...] = ()


@dataclass
class Plot:
    """A picture in the making; `x` and `y` give the share across, 0 to 1, and the px from the top."""

    low: float
    high: float
    axis: Axis
    height: float
    top: float = TOP
    parts: list[str] = field(default_factory=list)
    named: list[Named] = field(default_factory=list)
    over: list[str] = field(default_factory=list)
    """What is drawn above the lines."""
    bare: bool = False
    """Whether nothing is named right of the plot: a small one, whose limit is named on its line."""
    _marks: list[tuple[float, float]] = field(default_factory=list)
    _inside: list[float] = field(default_factory=list)
    _drawn: list[tuple[float, float]] = field(default_factory=list)
    """Points of the lines: share across and px from the top."""

    @property
    def foot(self) -> float:
        """Place of zero, px."""
        return self.top + self.height

    def x(self, value: float) -> float:
        """The share across; the middle where there is but one place."""
        return 0.5 if self.high <= self.low else max(0.0, min(1.0, (near(value) - self.low) / (self.high - self.low)))

    def y(self, value: float) -> float:
        """Place of a figure, px."""
        return self.foot - self.axis.at(value) * self.height

    def grid(self, unit: str) -> None:
        """Draw the horizontal lines, their figures, and the unit above them."""
        labels, large = self.axis.labels, ""
        top = max(map(abs, self.axis.ticks))
        for size, word in LARGE:
            if top >= 10 * size and all(labels):
                labels, large = [figure(float(f"{tick / size:.6g}")) for tick in self.axis.ticks], word
                break
        said = f"{large} {unit}" if large and unit else large or unit
        self.parts.append(
            f'<text class="c-unit" x="0" dx="-6" y="{self.top - 12:.1f}">{escape(clip(clean(said), 300, TEXT))}</text>'
        )
        for tick, label in zip(self.axis.ticks, labels, strict=True):
            at = self.y(tick)
            kind = "axis" if tick == 0 else "grid"
            self.parts.append(f'<line class="c-{kind}" x2="100%" y1="{at:.1f}" y2="{at:.1f}"/>')
            if label:
                self.parts.append(f'<text dx="-8" y="{at + 4:.1f}" text-anchor="end">{escape(label)}</text>')

    def ticks(self, places: Iterable[tuple[float, str, str]], name: str = "") -> None:
        """Write (x, upper line, lower line) below the plot; the script replaces them when it zooms."""
        made, foot = [], self.foot
        for n, (value, upper, lower) in enumerate(places):
            at = f"{100 * self.x(value):.2f}%"
            more = ' class="c-more"' if n % 2 else ""
            made.append(f'<g{more}><line class="c-axis" x1="{at}" x2="{at}" y1="{foot:.1f}" y2="{foot + 5:.1f}"/>')
            made.append(f'<text x="{at}" y="{foot + 17:.1f}" text-anchor="middle">{escape(upper)}</text>')
            if lower:
                made.append(f'<text x="{at}" y="{foot + 31:.1f}" text-anchor="middle">{escape(lower)}</text>')
            made.append("</g>")
        self.parts.append(f'<g class="c-ticks">{"".join(made)}</g>')
        if name:
            words = escape(clip(clean(name), 300, TEXT))
            self.parts.append(f'<text x="50%" y="{self.foot + 31:.1f}" text-anchor="middle">{words}</text>')

    def shade(self, start: float, words: str) -> None:
        """Shade everything from a place to the end, and say why at its top."""
        at = 100 * self.x(start)
        self.parts.append(
            f'<svg class="c-at" x="{at:.2f}%" overflow="visible"><rect class="c-shade" width="{100 - at:.2f}%" '
            f'y="{self.top:.1f}" height="{self.height:.1f}"/></svg>'
        )
        self.name(self.top + 6, words, "c-text")

    def lines(self, drawn: Iterable[tuple[Sequence[Point], int, str, str]]) -> None:
        """Draw (points, series from 1, dash, further classes); a piece of one point is a dot."""
        ways, dots = [], []
        for points, series, dash, kind in drawn:
            placed = [(AREA * self.x(at), None if v is None else self.y(v)) for at, v in points]
            self._drawn += [(px / AREA, py) for px, py in placed if py is not None]
            for run in runs(thin(placed, 1.0) if len(placed) > AREA else placed):
                if len(run) == 1:
                    dots.append(self._dot(run[0][0] / AREA, run[0][1], series, "circle", 2.0))
                    continue
                way = " ".join([f"{px:.1f},{py:.1f}" for px, py in run])
                ink = f'class="c-line c-{series}{kind}" vector-effect="non-scaling-stroke"'
                dashes = f' stroke-dasharray="{dash}"' if dash else ""
                ways.append(f'<polyline {ink}{dashes} points="{way}"/>')
        size = f'width="100%" height="{self.foot + 2:.0f}" viewBox="0 0 {AREA:.0f} {self.foot + 2:.0f}"'
        self.parts.append(f'<svg class="c-area" {size} preserveAspectRatio="none">{"".join(ways)}</svg>')
        self.over += dots

    def dot(self, at: float, value: float, series: int, shape: str = "circle", radius: float = 2.5) -> None:
        """Mark a point."""
        self.over.append(self._dot(self.x(at), self.y(value), series, shape, radius))

    def _dot(self, share: float, y: float, series: int, shape: str, radius: float) -> str:
        ink = f'class="c-dot c-{series}'
        if shape == "circle":
            return f'<circle {ink} c-at" cx="{100 * share:.2f}%" cy="{y:.1f}" r="{radius:g}"/>'
        way = SHAPES[shape].format(0.0, y)
        return f'<svg class="c-at" x="{100 * share:.2f}%" overflow="visible"><path {ink}" d="{way}"/></svg>'

    def limit(self, value: float, words: str, numbers: tuple[int, ...] = ()) -> None:
        """Draw a dashed line at a figure; its words stand at its right end, on a narrow screen on it or near it.

        There they stand where the fewest points of lines lie beneath them: the lines are to be drawn before.
        """
        at = self.y(value)
        self.parts.append(f'<line class="c-limit" x2="100%" y1="{at:.1f}" y2="{at:.1f}"/>')
        self.name(at, words, "c-limit", numbers)
        free = [
            y
            for n in range(MOST_INSIDE)
            for y in (at - 5 - n * ROW, at + 14 + n * ROW)
            if self.top + 10 < y < self.foot and all(abs(y - other) >= ROW for other in self._inside)
        ]
        if free:
            said = clip(clean(words), 260, TEXT)
            wide = (breadth(said, TEXT) + 8) / NARROWEST
            beneath = [y for share, y in self._drawn if share <= wide]
            place = min(free, key=lambda at: sum(at - TEXT - 2 < y < at + 4 for y in beneath))
            self._inside.append(place)
            self.over.append(f'<text class="c-limit c-inside" x="0" dx="4" y="{place:.1f}">{escape(said)}</text>')

    def events(self, told: Sequence[tuple[float, str]], unit: str) -> None:
        """Draw vertical lines with their words above the plot: changes, at the times they were made or seen.

        Words that would meet on a telephone, each other or the `unit` at the left of the first row, stand one row
        higher; where all rows are taken a line has its words as a tip alone. To be called before anything that needs
        `y`: the rows are added above the plot.
        """
        rows: list[list[tuple[float, float]]] = [[(-1.0, breadth(clean(unit), TEXT) / NARROWEST)]]
        placed = []
        for at, given in told:
            share, words = self.x(at), clean(given)
            if breadth(words, TEXT) > EVENT_ROOM:
                words = clip(words.partition(":")[0], EVENT_ROOM, TEXT)
            wide = (breadth(words, TEXT) + 8) / NARROWEST
            span = (share - wide, share) if share > 0.5 else (share, share + wide)
            row = next((n for n, taken in enumerate(rows) if not any(_meet(span, one) for one in taken)), None)
            if row is None and len(rows) < MOST_ROWS:
                rows.append([])
                row = len(rows) - 1
            if row is not None:
                rows[row].append(span)
            placed.append((share, row, words, clean(given)))
        self.top += (len(rows) - 1) * ROW
        for share, row, words, whole in placed:
            place, anchor, dx = f"{100 * share:.2f}%", *(("end", 4) if share > 0.5 else ("start", -4))
            tip = f"<title>{escape(whole)}</title>"
            start = self.top if row is None else self.top - 8 - row * ROW
            line = f'x1="{place}" x2="{place}" y1="{start:.1f}" y2="{self.foot:.1f}"'
            self.over.append(f'<line class="c-event c-at" {line}>{tip}</line>')
            if row is not None:
                spot = f'x="{place}" dx="{dx}" y="{self.top - 12 - row * ROW:.1f}" text-anchor="{anchor}"'
                self.over.append(f'<text class="c-word c-at" {spot}>{tip}{escape(words)}</text>')

    def mark(self, number: int, at: float, value: float | None) -> None:
        """Write a number in a disc above a point, with a line to it; where two would meet, one stands lower."""
        share = self.x(at)
        point = self.foot if value is None else self.y(value)
        y = max(self.top + DISC, (self.top if value is None else point) - 2 * DISC)
        up = True
        while any(abs(y - other) < 2 * DISC and abs(share - place) < CLOSE for place, other in self._marks):
            up = up and y - 2 * DISC - 1 >= DISC + 1
            y += -(2 * DISC + 1) if up else 2 * DISC + 1
        y = min(y, self.foot - DISC)
        self._marks.append((share, y))
        place = f"{100 * share:.2f}%"
        self.over.append(
            f'<line class="c-axis c-at" x1="{place}" x2="{place}" y1="{y:.1f}" y2="{point:.1f}"/>'
            + self._disc(number, place, y)
        )

    def _disc(self, number: int, place: str, y: float, dx: float = 0.0) -> str:
        """A number in a disc, `dx` px right of a place."""
        return (
            f'<svg class="c-mark c-at" x="{place}" overflow="visible"><circle cx="{dx:g}" cy="{y:.1f}" r="{DISC:g}"/>'
            f'<text x="{dx:g}" y="{y + 4:.1f}" text-anchor="middle">{number}</text></svg>'
        )

    def name(self, at: float, words: str, kind: str, numbers: tuple[int, ...] = ()) -> None:
        """Have words stand right of the plot at this height, or as near as others leave room."""
        self.named.append(Named(at, clean(words), kind, numbers))

    def _names(self) -> Iterable[str]:
        placed = sorted(self.named, key=lambda one: one.at)
        for most in range(MOST_NAME, 0, -1):
            lines = [wrapped(one.words, RIGHT - 10 - len(one.numbers) * (2 * DISC + 2), most) for one in placed]
            if APART * sum(map(len, lines)) <= self.height:
                break
        for (before, above), (one, _) in pairwise(zip(placed, lines, strict=True)):
            one.at = max(one.at, before.at + APART * len(above))
        low = self.foot + 2 + APART
        for one, some in zip(reversed(placed), reversed(lines), strict=True):
            one.at = min(one.at, low - APART * len(some))
            low = one.at
        for one, some in zip(placed, lines, strict=True):
            whole = not some or one.words.endswith(some[-1])
            tip = "" if whole else f"<title>{escape(one.words)}</title>"
            for n, words in enumerate(some):
                spot = f'x="100%" dx="8" y="{one.at + 4 + n * APART:.1f}"'
                yield f'<text class="{one.kind} c-end" {spot}>{tip}{escape(words)}</text>'
            for n, count in enumerate(one.numbers):
                dx = 8 + breadth(some[0] if some else "", TEXT) + 6 + DISC + n * (2 * DISC + 2)
                yield f'<g class="c-end">{self._disc(count, "100%", one.at, dx).replace(" c-at", "")}</g>'

    def done(self, title: str, desc: str, data: dict[str, object] | None) -> Markup:
        """The finished picture; `data`: what the script of the pages tells of it, `None` for nothing."""
        name = escape(clean(title) or "Untitled chart")
        packed = escape(json.dumps(data, separators=(",", ":"), ensure_ascii=False))
        told = "" if data is None else f' data-plot="{packed}"'
        body = "".join((*self.parts, *self._names(), *self.over))
        kind = "plotted bare" if self.bare else "plotted"
        size = f'height="{self.foot + FOOT:.0f}" data-top="{self.top:g}" data-foot="{self.foot:g}"'
        made = (
            f'<svg class="{kind}" role="img" aria-label="{name}" {size}{told}><title>{name}</title>'
            f"<desc>{escape(desc)}</desc>{body}</svg>"
        )
        return Markup(made)  # noqa: S704 - every text passes through escape(), the rest is figures


def _meet(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two spans have anything in common."""
    return one[0] < other[1] and other[0] < one[1]


def legend(names: Sequence[str], *, shapes: bool = False) -> Markup:
    """The lines by a sample of each, for narrow screens; nothing for one line. `shapes`: with the marks of points."""
    if len(names) < 2:
        return Markup()
    items = []
    for n, name in enumerate(names):
        dash = f' stroke-dasharray="{DASHES[n]}"' if DASHES[n] else ""
        mark = f'<path class="c-dot c-{n + 1}" d="{SHAPES[MARKS[n]].format(14.0, 6.0)}"/>' if shapes and n else ""
        items.append(
            f'<li><svg width="28" height="12" aria-hidden="true"><line class="c-line c-{n + 1}"{dash} x2="28" y1="6" '
            f'y2="6"/>{mark}</svg> {escape(clean(name) or "(no name)")}</li>'
        )
    return Markup(f'<ul class="legend of-plot">{"".join(items)}</ul>')  # noqa: S704 - as above


def ends(lines: Iterable[Sequence[Point]]) -> tuple[float, float]:
    """The first and the last place of all lines."""
    places = [at for line in lines for at, _ in line]
    return min(places, default=0.0), max(places, default=0.0)


def time_ticks(lines: Sequence[Sequence[Point]]) -> TimeAxis:
    """The axis of time of all lines."""
    return time_axis([at for line in lines for at, _ in line], most=MOST_TICKS)


def from_zero(figures: Iterable[float]) -> Axis:
    """An axis from zero that holds all figures."""
    return axis(list(figures), from_zero=True)


def name_ends(plot: Plot, lines: Sequence[PlotLine]) -> None:
    """Name each line at the height of its last figure, in its colour."""
    for n, line in enumerate(lines, 1):
        last = next((v for _, v in reversed(line.points) if v is not None), None)
        if last is not None:
            plot.name(plot.y(last), line.name or "(no name)", f"n-{n}")


def points_for_script(
    lines: Sequence[PlotLine], low: float, high: float, round_x: Callable[[float], float]
) -> list[dict[str, object]]:
    """The points that travel: all of them up to `MOST_DATA`, else the lowest and highest of each strip."""
    count = sum(len(line.points) for line in lines)
    made: list[dict[str, object]] = []
    before: list[float] = []
    for line in lines:
        points = list(line.points)
        if count > MOST_DATA and high > low:
            strip = 2.0 * len(lines) * (high - low) / MOST_DATA * 1.02
            points = thin([(at - low, v) for at, v in points], strip)
            points = [(at + low, v) for at, v in points][: MOST_DATA // len(lines)]
        places = [round_x(at) for at, _ in points]
        one: dict[str, object] = {"n": clean(line.told or line.name)[:60]}
        if places != before:
            one["x"] = places
        before = places
        one["y"] = [None if v is None else tidy(v) for _, v in points]
        made.append(one)
    return made


def tidy(value: float) -> float:
    """A figure with the digits that `figure` prints, an integer where it is one: fewer bytes, the same words."""
    size = abs(value)
    if size >= 1e15 or 0 < size < 0.01:
        short = float(f"{value:.4g}")
        return short if math.isfinite(short) else value
    rounded = round(value, 3 if size < 1000 else 1)
    return int(rounded) if rounded == int(rounded) else rounded
