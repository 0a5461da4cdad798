"""The sheet a chart is drawn on: SVG elements as text, everything from outside escaped and kept inside the frame."""

from collections.abc import Sequence

from markupsafe import Markup, escape

from advisor.charts.words import FONT_SIZE, LINE, MOST_LINES, breadth, clean, clip, wrapped

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b65a94", "currentColor", "#a07a00")
"""After Okabe and Ito, who chose for colour-blind eyes; each at 3:1 or better on white and on near-black."""
LIMIT_COLOUR = "#d13438"
LOST = ("#bf3026", "#a8437a", "#8a5a00", "#b84a1c")
"""Of parts of an account that are lost, one colour a cause; white text is read on each, as on that of work."""
OTHER = ("#5b6670", "#6f6350", "#4f6a66")
"""Of what is waited for without a finding."""
PARTS = {
    "work": 'fill="#2a6f8f"',
    "unexplained": f'fill="{LOST[0]}" fill-opacity="0.15"',
    "undivided": 'fill="currentColor" fill-opacity="0.08"',
    "idle": 'fill="currentColor" fill-opacity="0.16"',
}
HATCH = {"unexplained": f'stroke="{LOST[0]}"', "undivided": 'stroke="currentColor" stroke-opacity="0.5"'}
HATCH_STEP = 7.0
"""px between two lines of a hatching."""
DASHES = ("", "7 3", "2 2", "9 3 2 3", "14 4", "1 4")
MARKS = ("circle", "square", "triangle", "diamond", "cross", "plus")
SHAPES = {
    "square": "M{0:.1f},{1:.1f}m-2.5,-2.5h5v5h-5z",
    "triangle": "M{0:.1f},{1:.1f}m0,-3l3,5.5h-6z",
    "diamond": "M{0:.1f},{1:.1f}m0,-3.5l3.5,3.5l-3.5,3.5l-3.5,-3.5z",
    "cross": "M{0:.1f},{1:.1f}m-2.5,-2.5l5,5m0,-5l-5,5",
    "plus": "M{0:.1f},{1:.1f}m-3,0h6m-3,-3v6",
}


def document(width: int, height: int, title: str, desc: str, body: str) -> Markup:
    """Put a picture together; `title` and `desc` are plain text, `body` is finished SVG."""
    name = escape(clean(title) or "Untitled chart")
    made = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="c-chart" role="img" aria-label="{name}" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="{FONT_SIZE}">'
        f"<title>{name}</title><desc>{escape(desc)}</desc>{body}</svg>"
    )
    return Markup(made)  # noqa: S704 - texts pass through escape() here and in Sheet, the rest is figures


class Sheet:
    """Collects elements of one picture, `width` by `height` px; text that would leave it is clipped and moved in."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.parts: list[str] = []

    def text(
        self,
        words: str,
        x: float,
        y: float,
        anchor: str = "start",
        room: float | None = None,
        *,
        on: bool = False,
        tip: str = "",
    ) -> float:
        """Write one line with its foot at `y`, at most `room` px wide; gives the width taken. `on`: on a plain part.

        A line that is cut has the whole as its tip, or `tip`.
        """
        whole = clean(words)
        shown = clip(whole, min(self.width, self.width if room is None else room))
        if not shown:
            return 0.0
        wide = breadth(shown)
        before = {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        x = max(before, min(x, self.width - wide + before))
        at = "" if anchor == "start" else f' text-anchor="{anchor}"'
        tip = tip or ("" if shown == whole else whole)
        title = f"<title>{escape(tip)}</title>" if tip else ""
        ink = 'class="c-on" fill="#ffffff"' if on else 'class="c-text" fill="currentColor"'
        self.parts.append(f'<text {ink} x="{x:.1f}" y="{y:.1f}"{at}>{title}{escape(shown)}</text>')
        return wide

    def lines(self, words: str, x: float, y: float, room: float, most: int = MOST_LINES) -> float:
        """Write a text in lines of `room` px, the first with its foot at `y`; gives their height."""
        whole = clean(words)
        made = wrapped(whole, room, most)
        cut = len(made) == most and not whole.endswith(made[-1])
        for n, line in enumerate(made):
            self.text(line, x, y + n * LINE, room=room, tip=whole if cut and line is made[-1] else "")
        return LINE * len(made)

    def rule(self, kind: str, x1: float, y1: float, x2: float, y2: float) -> None:
        """Draw a straight line: `axis`, `grid` or `limit`."""
        ink = {
            "axis": 'stroke="currentColor" stroke-opacity="0.6"',
            "grid": 'stroke="currentColor" stroke-opacity="0.15"',
            "limit": f'stroke="{LIMIT_COLOUR}" stroke-width="1.5" stroke-dasharray="5 3"',
        }[kind]
        place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        self.parts.append(f'<line class="c-{kind}" {ink} {place}/>')

    def line(self, points: Sequence[tuple[float, float]], number: int = 1, dash: str = "") -> None:
        """Draw one unbroken piece of series `number` (1 to 6); a lone point becomes a dot, or nobody would see it."""
        if len(points) == 1:
            self.mark(*points[0], number, "circle", radius=1.5)
            return
        way = " ".join(["%.1f,%.1f" % point for point in points])  # noqa: UP031 - a fifth faster, and the hot line of a page
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<polyline class="c-line c-{number}" fill="none" stroke="{COLOURS[number - 1]}" stroke-width="1.5"'
            f' stroke-linejoin="round"{dashes} points="{way}"/>'
        )

    def mark(self, x: float, y: float, number: int, shape: str, tip: str = "", radius: float = 2.5) -> None:
        """Mark a point of series `number`; `tip` is what a pointing device shows."""
        colour = COLOURS[number - 1]
        ink = f'class="c-dot c-{number}" fill="{colour}" stroke="{colour}"'
        if shape == "circle":
            name, place = "circle", f'stroke-width="0" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"'
        else:
            name, place = "path", f'd="{SHAPES[shape].format(x, y)}"'
        inner = f"><title>{escape(clean(tip))}</title></{name}>" if tip else "/>"
        self.parts.append(f"<{name} {ink} {place}{inner}")

    def box(self, kind: str, x: float, y: float, width: float, height: float) -> None:
        """Draw a filled box: the `bar` of a figure or the `track` it runs in."""
        ink = {"bar": f'fill="{COLOURS[0]}"', "track": 'fill="currentColor" fill-opacity="0.12"'}[kind]
        place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        self.parts.append(f'<rect class="c-{kind}{" c-1" if kind == "bar" else ""}" {ink} {place}/>')

    def tile(self, number: int, x: float, y: float, width: float, height: float, tip: str = "") -> None:
        """Draw a tile in the colour of series `number`, pale enough for words on it; `tip` as for a mark."""
        ink = f'fill="{COLOURS[number - 1]}" fill-opacity="0.22" stroke="{COLOURS[number - 1]}" stroke-width="1"'
        place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        inner = f"><title>{escape(clean(tip))}</title></rect>" if tip else "/>"
        self.parts.append(f'<rect class="c-tile c-{number}" {ink} {place}{inner}')

    def part(self, kind: str, shade: int, x: float, y: float, width: float, height: float, *, hatched: bool) -> None:
        """Draw a part of an account (`advisor.charts.account`); of one kind, `shade` tells several apart."""
        colours = OTHER if kind == "other" else LOST
        ink = PARTS.get(kind) or f'fill="{colours[shade % len(colours)]}"'
        place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        self.parts.append(f'<rect class="c-{kind}" {ink} {place}/>')
        way = _hatching(x, y, width, height) if hatched else ""
        if way:
            self.parts.append(f'<path class="c-hatch" fill="none" {HATCH[kind]} stroke-width="1.5" d="{way}"/>')

    def whisker(self, low: float, high: float, y: float) -> None:
        """Draw a range at height `y`: a line with a stop at each end."""
        way = f"M{low:.1f},{y - 4:.1f}v8m0,-4H{high:.1f}m0,-4v8"
        self.parts.append(f'<path class="c-range" fill="none" stroke="currentColor" stroke-width="1.5" d="{way}"/>')

    def done(self, title: str, desc: str) -> Markup:
        """Give the finished picture."""
        return document(self.width, self.height, title, desc, "".join(self.parts))

    def ornament(self) -> Markup:
        """Give the finished picture as one that says nothing: what it belongs to stands beside it in words."""
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        made = f'<svg xmlns="http://www.w3.org/2000/svg" class="c-chart" aria-hidden="true" {size}>'
        return Markup(f"{made}{''.join(self.parts)}</svg>")  # noqa: S704 - see `document`


def _hatching(x: float, y: float, width: float, height: float) -> str:
    """Lines from lower left to upper right, cut off at the edges of the box: a pattern would need an id."""
    lines, at = [], HATCH_STEP - height
    while at < width:
        left, right = max(at, 0.0), min(at + height, width)
        if right > left:
            up, down = y + height - (left - at), y + height - (right - at)
            lines.append(f"M{x + left:.1f},{up:.1f}L{x + right:.1f},{down:.1f}")
        at += HATCH_STEP
    return "".join(lines)
