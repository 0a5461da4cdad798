"""Two pictures of one finding: its chain of causes, and a figure as a multiple of its limit.

Other classes than those of `svg`, for a style sheet: c-node, c-root, c-here (the boxes of the chain: stroke and fill)
and c-edge (the lines between them: stroke).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from advisor.charts.pen import COLOURS, LIMIT_COLOUR, Sheet
from advisor.charts.scales import number
from advisor.charts.words import LINE, breadth, clean, figure, wrapped

GAP, LINK, PAD = 10.0, 44.0, 9.0
"""px between two boxes of a column, between two columns, and from the edge of a box to its words."""
MOST_TEXT = 8
"""Lines of a title or a figure in a box."""
FARTHEST = 25.0
"""Multiples of the limit that a scale shows: beyond, the bar ends with a sign, and its words say how many."""


@dataclass(frozen=True)
class Node:
    """One finding of a chain."""

    key: str
    title: str
    figure: str
    column: int
    """0 for the first causes; an effect stands to the right of its cause."""
    here: bool = False
    """Whether it is the finding that the page is about."""
    root: bool = False
    """Whether nothing explains it."""


def chain(nodes: Sequence[Node], edges: Sequence[tuple[str, str]], *, title: str, width: int = 880) -> Markup:
    """Draw causes at the left, effects at the right, with a line from each cause to what it explains.

    `edges` are pairs of keys; those of a box that is not drawn are left out. Of nodes with one key the last is drawn.
    `width` 240 at least (ValueError).
    """
    if width < 240:
        raise ValueError(f"{width} px is too small for this chart; 240 is the least")
    nodes = list({node.key: node for node in nodes}.values())
    columns: dict[int, list[Node]] = {}
    for node in nodes:
        columns.setdefault(node.column, []).append(node)
    if not nodes:
        return Sheet(width, 20).done(title, "Nothing explains it.")
    wide = (width - 4 - LINK * (len(columns) - 1)) / len(columns)
    high = {node.key: 2 * PAD + LINE * sum(map(len, _texts(node, wide))) for node in nodes}
    tall = {column: sum(high[node.key] + GAP for node in some) - GAP for column, some in columns.items()}
    sheet = Sheet(width, math.ceil(max(tall.values()) + 4))
    places: dict[str, tuple[float, float]] = {}
    for place, column in enumerate(sorted(columns)):
        y = (sheet.height - tall[column]) / 2
        for node in columns[column]:
            places[node.key] = (2 + place * (wide + LINK), y)
            y += high[node.key] + GAP
    for cause, effect in edges:
        if cause in places and effect in places and places[cause][0] < places[effect][0]:
            (x1, y1), (x2, y2) = places[cause], places[effect]
            _edge(sheet, x1 + wide, y1 + high[cause] / 2, x2, y2 + high[effect] / 2)
    for node in nodes:
        x, y = places[node.key]
        kind = "c-here" if node.here else "c-root" if node.root else "c-node"
        ink = COLOURS[0] if node.here else LIMIT_COLOUR if node.root else "currentColor"
        faint = "" if node.here or node.root else ' stroke-opacity="0.4"'
        sheet.parts.append(
            f'<rect class="{kind}" fill="none" stroke="{ink}"{faint} stroke-width="{2 if node.here else 1.5}" '
            f'x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high[node.key]:.1f}"/>'
        )
        for n, line in enumerate((line for text in _texts(node, wide) for line in text), 1):
            sheet.text(line, x + PAD, y + PAD + n * LINE - 3)
    named = {node.key: clean(node.title) for node in nodes}
    said = [
        f"{named[cause]} explains {named[effect]}." for cause, effect in edges if cause in named and effect in named
    ]
    return sheet.done(title, " ".join(said))


def _texts(node: Node, wide: float) -> tuple[list[str], list[str]]:
    """Title and figure of a box so many px wide, in lines."""
    title, told = (wrapped(clean(words), wide - 2 * PAD, MOST_TEXT) for words in (node.title, node.figure))
    return title, told


def _edge(sheet: Sheet, x1: float, y1: float, x2: float, y2: float) -> None:
    """A line from the right of one box to the left of another, with its head."""
    middle = x2 - LINK / 2
    way = f"M{x1:.1f},{y1:.1f}H{middle:.1f}V{y2:.1f}H{x2 - 1:.1f}m-6,-4l6,4l-6,4"
    sheet.parts.append(
        f'<path class="c-edge" fill="none" stroke="currentColor" stroke-opacity="0.6" stroke-width="1.5" d="{way}"/>'
    )


def multiple(value: float, limit: float, most: float, *, unit: str, title: str, width: int = 260) -> Markup:
    """Draw a figure as a bar on a scale of multiples of its limit, from 0 to `most`, with a tick at the limit.

    All figures of a finding share `most`, so their bars can be compared. `width` 120 at least (ValueError).
    """
    if width < 120:
        raise ValueError(f"{width} px is too small for this chart; 120 is the least")
    sheet, unit = Sheet(width, 28), clean(unit)
    times, name = number(value / limit), f"limit {figure(limit, unit)}"
    most = max(1.0, min(most, FARTHEST))
    sheet.box("track", 0, 2, width, 9)
    if times is not None and times > 0:
        sheet.box("bar", 0, 2, width * min(1.0, times / most), 9)
    tick = width / most
    sheet.rule("limit", min(tick, width - 1), 0, min(tick, width - 1), 13)
    said = f"{times:.2g}×" if times is not None and abs(times) < 10 else f"{times or 0:,.0f}×"
    if breadth(name) > width - breadth(f"{said}, beyond this scale") - 8:  # its unit stands beside the figure
        name = f"limit {figure(limit, '%' if unit.startswith('%') else '')}"
    if times is not None and times > most * 1.001:
        beyond = f"{said}, beyond this scale"
        said = beyond if breadth(name) + breadth(beyond) + 8 <= width else f"{said} →"
    taken = sheet.text(said, width, 25, "end")
    sheet.text(name, min(tick + 3, max(0.0, width - taken - 8 - breadth(name))), 25, room=width - taken - 8)
    return sheet.done(title, f"{figure(value, unit)}: {said} its limit {figure(limit, unit)}.")


def scale_of(pairs: Sequence[tuple[float, float]]) -> float:
    """The multiple that the scale of these figures and limits ends at: the largest of them, a little more than 1."""
    return max((value / limit for value, limit in pairs if limit), default=1.0) * 1.02 if pairs else 1.25
