"""The cluster as boxes: each node with what it locks itself, what it asks of others and what it serves for them.

Bars of all nodes have one scale. A rate that was not read is said in its place, never drawn as a bar of no length; a
node whose exports are missing has a dashed box.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from advisor.charts.pen import Sheet
from advisor.charts.scales import number
from advisor.charts.words import LINE, breadth, clean, figure, fitting

MOST_NODES = 10
"""Nodes in one picture; the table has the others."""
ROW, HEAD, GAP, EDGE = 17.0, 20.0, 10.0, 6.0
"""Height of a bar with its room, of a node's name, between two boxes, and from the box to what is in it, px."""
LABEL, FIGURE = 138.0, 92.0
"""Room for the words before a bar and for the figure behind it, px."""
WAYS = ("own, local", "asked of others →", "served for others ←")


@dataclass(frozen=True)
class NodeBox:
    """One node."""

    name: str
    said: str
    """What stands behind its name: hardware, version."""
    rates: tuple[float | None, float | None, float | None] = (None, None, None)
    """Lock operations per second: local, outgoing, incoming; `None` where there is no such figure."""
    brought: bool = True
    """Whether its exports were brought."""


def cluster_map(nodes: Sequence[NodeBox], *, title: str, width: int = 480) -> Markup:
    """Draw the nodes one below the other, ten at most. `width` 300 at least (ValueError)."""
    if width < 300:
        raise ValueError(f"{width} px is too small for this chart; 300 is the least")
    drawn = nodes[:MOST_NODES]
    most = max((v for one in drawn for rate in one.rates if (v := number(rate)) is not None), default=0.0)
    sheet = Sheet(width, 0)
    y = sheet.lines("lock operations per second; all bars have one scale", 0, 11, width) + 6
    for one in drawn:
        y = _node(sheet, one, y, most) + GAP
    if len(nodes) > len(drawn):
        y += sheet.lines(f"and {len(nodes) - len(drawn):,} more nodes in the table", 0, y + 6, width)
    sheet.height = math.ceil(y)
    return sheet.done(title, " ".join(_said(one) for one in drawn) or "No nodes.")


def _node(sheet: Sheet, one: NodeBox, y: float, most: float) -> float:
    """Draw a node from `y` downwards; gives where its box ends."""
    room = sheet.width - 2 * EDGE
    said = clean(one.said if one.brought else "exports not uploaded")
    taken = sheet.text(one.name or "(no name)", EDGE, y + 14, room=room)
    head = y + HEAD
    if breadth(said) <= room - taken - 10:
        sheet.text(said, EDGE + taken + 10, y + 14)
    else:
        head += sheet.lines(said, EDGE, y + 14 + LINE, room)
    right, foot = sheet.width - 1.0, head + (len(WAYS) * ROW + 2 if one.brought else 0.0)
    outline = [(1.0, y), (right, y), (right, foot), (1.0, foot), (1.0, y)]
    if one.brought:
        for (x1, y1), (x2, y2) in pairwise(outline):
            sheet.rule("axis", x1, y1, x2, y2)
    else:
        sheet.line(outline, 1, "5 3")
    if not one.brought:
        return foot
    room = sheet.width - LABEL - FIGURE - EDGE
    for n, (way, rate) in enumerate(zip(WAYS, one.rates, strict=True)):
        top, value = head + n * ROW, number(rate)
        sheet.text(way, EDGE, top + 10, room=LABEL - EDGE)
        if value is None:
            sheet.text("not known", LABEL, top + 10)
            continue
        wide = 0.0 if most <= 0 else room * max(0.0, min(1.0, value / most))
        sheet.box("track", LABEL, top, room, ROW - 5)
        if wide:
            sheet.box("bar", LABEL, top, max(0.5, wide), ROW - 5)
        sheet.text(fitting(_rounded(value), "/s", FIGURE - 6), LABEL + room + 6, top + 10)
    return foot


def _rounded(value: float) -> float:
    return round(value, 1) if abs(value) < 1000 else round(value)


def _said(one: NodeBox) -> str:
    name = clean(one.name) or "(no name)"
    if not one.brought:
        return f"{name}: exports not uploaded."
    told = [
        f"{way.rstrip(' →←')} {'not known' if (value := number(rate)) is None else figure(_rounded(value), '/s')}"
        for way, rate in zip(WAYS, one.rates, strict=True)
    ]
    return f"{name}: {', '.join(told)}."
