"""The frame of the larger charts: axes with their figures, the legend, and what is laid over the plot."""

from collections.abc import Callable, Sequence

from advisor.charts.pen import COLOURS, DASHES, MARKS, Sheet
from advisor.charts.scales import Axis, Point, TimeAxis, moment, number, runs, spaced, thin
from advisor.charts.words import breadth, figure, fitting

MOST_MARKED = 60
"""From this many figures on, marks would run into a caterpillar."""
FOOT = 32
"""Room below the plot: two lines of text."""
LEGEND_ROW = 16
ROOM_FOR_KEY = 520
"""Narrower than this, the key of a law would stand on the name of its figure."""


def legend(sheet: Sheet, names: list[str]) -> float:
    """Write the names of lines 1 to 6 with a sample of each, in two or three columns; gives the height used."""
    columns = 3 if max((breadth(name) for name in names), default=0) <= sheet.width / 3 - 44 else 2
    wide = sheet.width / columns
    for n, name in enumerate(names):
        x, y = 2 + n % columns * wide, 8.0 + n // columns * LEGEND_ROW
        sheet.line([(x, y), (x + 30, y)], n + 1, DASHES[n])
        sheet.mark(x + 15, y, n + 1, MARKS[n])
        sheet.text(name or "(no name)", x + 36, y + 4, room=wide - 44)
    return -(-len(names) // columns) * LEGEND_ROW + (2.0 if names else 0.0)


class Frame:
    """The plot inside a sheet: grid, ticks and the unit are drawn at once; `x` and `y` turn shares into px."""

    def __init__(self, sheet: Sheet, y: Axis, top: float, unit: str, limit: float | None) -> None:
        self.sheet, self.top, self.foot = sheet, top + 4, sheet.height - FOOT
        margin = max(map(breadth, y.labels))
        self.left = margin + 8
        named = "" if limit is None else fitting(limit, "", max(60, sheet.width / 5))
        spare = 12.0 if limit is None else max(breadth("limit"), breadth(named)) + 6
        self.wide = max(1.0, sheet.width - spare - self.left)
        right = self.left + self.wide
        sheet.text(unit, 0, top - 6, room=sheet.width / 2)
        for tick, label in zip(y.ticks, y.labels, strict=True):
            at = self.y(y.at(tick))
            sheet.rule("axis" if tick == y.ticks[0] else "grid", self.left, at, right, at)
            sheet.text(label, self.left - 6, at + 4, "end")
        if limit is not None:
            at = self.y(y.at(limit))
            sheet.rule("limit", self.left, at, right, at)
            at = max(self.top + 2, min(at, self.foot - 8))
            sheet.text("limit", right + 4, at)
            sheet.text(named, right + 4, at + 12)

    def x(self, share: float) -> float:
        """Give the px of a share, 0 left to 1 right."""
        return self.left + share * self.wide

    def y(self, share: float) -> float:
        """Give the px of a share, 0 at the foot to 1 at the top."""
        return self.foot - share * (self.foot - self.top)

    def times(self, axis: TimeAxis, zone: str) -> None:
        """Write the ticks of time below the plot; a tick with no room for its words keeps its stroke only."""
        free = 0.0
        for at, upper, lower in axis.ticks:
            x = self.x(axis.at(at))
            self.sheet.rule("axis", x, self.foot, x, self.foot + 4)
            wide = max(breadth(upper), breadth(lower))
            begin = max(0.0, min(x - wide / 2, self.sheet.width - wide))
            if begin >= free:
                self.sheet.text(upper, x, self.foot + 15, "middle")
                self.sheet.text(lower, x, self.foot + 28, "middle")
                free = begin + wide + 4
        if zone:
            self.sheet.text(zone, 0, self.foot + 15)

    def figures(self, axis: Axis, name: str) -> None:
        """Write the ticks of a figure below the plot, and its name."""
        free = 0.0
        for tick, label in zip(axis.ticks, axis.labels, strict=True):
            x, wide = self.x(axis.at(tick)), breadth(label)
            self.sheet.rule("axis", x, self.foot, x, self.foot + 4)
            begin = max(0.0, min(x - wide / 2, self.sheet.width - wide))
            if begin >= free:
                self.sheet.text(label, x, self.foot + 15, "middle")
                free = begin + wide + 4
        self.sheet.text(name, self.x(0.5), self.foot + 28, "middle")

    def course(
        self, x: TimeAxis, y: Axis, line: Sequence[Point], series: int, name: str, unit: str, *, alone: bool
    ) -> None:
        """Draw line `series` (1 to 6) of (seconds, figure), ascending: gaps stay gaps, few points are marked each.

        `alone`: the only line of the picture, solid and with round marks.
        """
        points = [(self.x(x.at(at)), None if v is None else self.y(y.at(v))) for at, v in line]
        if len(points) > self.wide:
            points = thin(points)
        for run in runs(points):
            self.sheet.line(run, series, "" if alone else DASHES[series - 1])
        known = [(at, v) for at, v in line if v is not None]
        if len(known) < MOST_MARKED:
            for at, v in known:
                tip = f"{moment(at)}: {figure(v, unit)}"
                shape = "circle" if alone else MARKS[series - 1]
                self.sheet.mark(self.x(x.at(at)), self.y(y.at(v)), series, shape, f"{name}, {tip}" if name else tip)
        elif not alone:
            seen = [(px, py) for px, py in points if py is not None]
            for px, py in spaced(seen, apart=72, start=self.left + 12 * series):
                self.sheet.mark(px, py, series, MARKS[series - 1])

    def curve(self, x: Axis, y: Axis, curve: Callable[[float], float], first: float, last: float) -> None:
        """Draw a curve, solid from load `first` to `last`, dashed outside; what would leave the plot is not drawn."""
        begin, end = x.ticks[0], x.ticks[-1]
        count = max(40, int(self.wide / 4))
        loads = sorted({begin + (end - begin) * (n / count) for n in range(count + 1)} | {first, last})
        points: list[tuple[float, Point]] = []
        for load in loads:
            rate = _value(curve, load)
            inside = rate is not None and y.ticks[0] <= rate <= y.ticks[-1]
            points.append((load, (self.x(x.at(load)), self.y(y.at(rate)) if inside and rate is not None else None)))
        before = [p for load, p in points if load <= first]
        within = [p for load, p in points if first <= load <= last]
        after = [p for load, p in points if load >= last]
        for part, dash in ((before, DASHES[2]), (within, ""), (after, DASHES[2])):
            for run in runs(part):
                if len(run) > 1:
                    self.sheet.line(run, 2, dash)

    def peak(self, x: float, y: float, words: str) -> None:
        """Mark a peak: a diamond, a line down to its load, its words above."""
        self.sheet.parts.append(
            f'<line class="c-peak" stroke="{COLOURS[1]}" stroke-dasharray="2 2" x1="{x:.1f}" y1="{y:.1f}" x2="{x:.1f}" '
            f'y2="{self.foot:.1f}"/>'
        )
        self.sheet.mark(x, y, 2, "diamond", words)
        if y + 24 < self.foot and x - breadth(words) > self.left + 6:
            self.sheet.text(words, x - 6, y + 20, "end")
        else:
            self.sheet.text(words, x, max(11.0, y - 8), "middle")

    def cap(self, x: Axis, load: float) -> None:
        """Mark the load at which a law is capped, with its words at the foot; outside the axis nothing is drawn."""
        if not x.ticks[0] < load < x.ticks[-1]:
            return
        at, words = self.x(x.at(load)), f"capped at {figure(load)}"
        self.sheet.parts.append(
            f'<line class="c-axis" stroke="currentColor" stroke-opacity="0.6" stroke-dasharray="1 4" x1="{at:.1f}" '
            f'y1="{self.top:.1f}" x2="{at:.1f}" y2="{self.foot:.1f}"/>'
        )
        right = at + 5 + breadth(words) <= self.sheet.width
        self.sheet.text(words, at + 5 if right else at - 5, self.foot - 6, "start" if right else "end")

    def key(self) -> None:
        """Say, above the plot, what the dots, the solid and the dashed line are."""
        y, x = self.top - 12.0, self.sheet.width - 256.0
        if self.sheet.width < ROOM_FOR_KEY:
            return
        self.sheet.mark(x, y, 1, "circle", radius=3)
        self.sheet.text("measured", x + 8, y + 4)
        self.sheet.line([(x + 76, y), (x + 96, y)], 2)
        self.sheet.text("fitted", x + 100, y + 4)
        self.sheet.line([(x + 146, y), (x + 166, y)], 2, DASHES[2])
        self.sheet.text("not measured", x + 170, y + 4)


def _value(curve: Callable[[float], float], load: float) -> float | None:
    try:
        rate = curve(load)
    except (ArithmeticError, ValueError):
        return None
    return None if isinstance(rate, complex) else number(rate)
