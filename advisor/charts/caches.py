"""The cache map: each data cache as a box, as wide as it is large, cut into its partitions.

Widths are logarithmic, because a server has caches of a megabyte and of a terabyte: the axis below says so. A partition
is a cell that is filled from below as far as grabs of its spinlock had to wait; what a full cell stands for is said,
so no colour is needed to read it, and a cell without a figure is crossed out, never empty (a box without any
figure as a whole).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from advisor.charts.pen import Sheet
from advisor.charts.scales import number
from advisor.charts.words import LINE, breadth, clean, figure

MOST_BOXES = 12
"""Caches in one picture; the table has the others."""
MOST_CELLS = 32
"""Cells in one box: of more partitions a cell stands for several, and shows the hottest of them."""
LEAST_CELL = 5
"""px of a cell."""
CELL, GAP = 26.0, 12.0
"""Height of a cell, and between two caches, px."""
LEFT = 2.0
LEAST_WIDE = 26.0
"""px of the smallest cache, and of one whose size is not known."""
FULL = (1.0, 3.0, 10.0, 30.0, 50.0, 100.0)
"""What a full cell may stand for, per cent of the grabs that waited."""
NAMED_MB = ((1024.0 * 1024.0, "TB"), (1024.0, "GB"), (1.0, "MB"))


@dataclass(frozen=True)
class Box:
    """One cache of the map."""

    name: str
    size_mb: float | None
    """`None` where it is not known: drawn with the least width and said."""
    cells: tuple[float | None, ...]
    """Of each partition the share of grabs that waited, per cent; one for all where no more is known."""
    lines: tuple[str, ...]
    """What is written below, a line each."""
    new: bool = False
    """Whether it is only planned: its outline is dashed."""


def cache_map(boxes: Sequence[Box], *, title: str, width: int = 480, full: float | None = None) -> Markup:
    """Draw the map; `full` is what a full cell stands for, by default the least step that holds them all.

    At most twelve boxes are drawn, of the others it is said how many. `width` 240 at least (ValueError).
    """
    if width < 240:
        raise ValueError(f"{width} px is too small for this chart; 240 is the least")
    drawn = boxes[:MOST_BOXES]
    full = full or full_cell(drawn)
    sheet = Sheet(width, 0)
    first, last = _decades([box.size_mb for box in drawn])
    y = 8.0 + sheet.lines(f"full cell: {full:g} % of grabs waited; crossed: no figure", 0, 12.0, width)
    for box in drawn:
        y = _box(sheet, box, y, full, (first, last))
    y = _axis(sheet, y, first, last)
    if len(boxes) > len(drawn):
        y += sheet.lines(f"and {len(boxes) - len(drawn):,} more caches in the table", 0, y + LINE, width)
    sheet.height = math.ceil(y + 6)
    said = [_said(box) for box in drawn] or ["No caches."]
    return sheet.done(
        title, f"Width by size, logarithmic. A full cell is {full:g} % of grabs that waited. " + " ".join(said)
    )


def full_cell(boxes: Sequence[Box]) -> float:
    """The least of the steps that holds every figure of these boxes."""
    most = max((share for box in boxes for cell in box.cells if (share := number(cell)) is not None), default=0.0)
    return next((step for step in FULL if step >= most), FULL[-1])


def _box(sheet: Sheet, box: Box, y: float, full: float, decades: tuple[int, int]) -> float:
    """Draw one cache from `y` downwards; gives where the next one begins."""
    size = number(box.size_mb)
    told = "size not in the export" if size is None else size_text(size)
    wide = _wide(sheet, size, decades)
    cells = grouped(box.cells or (None,), int(wide // LEAST_CELL))
    known = [share for share in cells if number(share) is not None]
    told += ", planned" if box.new else ""
    if known and len(cells) < len(box.cells):
        told += f"; a cell: the hottest of {-(-len(box.cells) // len(cells))} partitions"
    name, room = clean(box.name) or "(no name)", sheet.width - LEFT
    if breadth(name) + 8 + breadth(told) <= room:
        sheet.text(told, LEFT + breadth(name) + 8, y + LINE - 3)
    y += sheet.lines(name, LEFT, y + LINE - 3, room)
    if breadth(name) + 8 + breadth(told) > room:
        y += sheet.lines(told, LEFT, y + LINE - 3, room)
    each = wide / len(cells)
    for n, share in enumerate(cells):
        _cell(sheet, LEFT + n * each, y, each, share, full, crossed=len(known) > 0)
    for n in range(1, len(cells)):
        sheet.rule("axis" if known else "grid", LEFT + n * each, y, LEFT + n * each, y + CELL)
    if not known:
        _cross(sheet, LEFT, y, wide)
    outline = [(LEFT, y), (LEFT + wide, y), (LEFT + wide, y + CELL), (LEFT, y + CELL), (LEFT, y)]
    if box.new:
        sheet.line(outline, 1, "5 3")
    else:
        for (x1, y1), (x2, y2) in pairwise(outline):
            sheet.rule("axis", x1, y1, x2, y2)
    y += CELL + 3
    for line in box.lines:
        y += sheet.lines(line, LEFT + 6, y + LINE - 3, sheet.width - LEFT - 6)
    return y + GAP


def _cross(sheet: Sheet, x: float, y: float, wide: float) -> None:
    sheet.rule("axis", x, y, x + wide, y + CELL)
    sheet.rule("axis", x, y + CELL, x + wide, y)


def _cell(sheet: Sheet, x: float, y: float, wide: float, share: float | None, full: float, *, crossed: bool) -> None:
    value = number(share)
    if value is None:
        if crossed:
            _cross(sheet, x, y, wide)
        return
    sheet.box("track", x, y, wide, CELL)
    tall = CELL * max(0.0, min(1.0, value / full))
    if tall:
        sheet.box("bar", x + 0.5, y + CELL - tall, max(0.5, wide - 1), tall)


def grouped(cells: Sequence[float | None], room: int) -> list[float | None]:
    """As many cells as have room, 1 to 32: of several partitions in one cell the hottest; none known gives none."""
    per = -(-len(cells) // max(1, min(MOST_CELLS, room)))
    made: list[float | None] = []
    for n in range(0, len(cells), per):
        known = [share for share in cells[n : n + per] if number(share) is not None]
        made.append(max(known, key=lambda share: share or 0.0) if known else None)
    return made


def _decades(sizes: Sequence[float | None]) -> tuple[int, int]:
    """The powers of ten, MB, below the smallest and above the largest."""
    known = [size for one in sizes if (size := number(one)) is not None and size > 0]
    if not known:
        return 0, 1
    first = max(-3, min(12, math.floor(math.log10(min(known)))))
    last = min(15, math.ceil(math.log10(max(known))))
    return first, max(first + 1, last)


def _wide(sheet: Sheet, size: float | None, decades: tuple[int, int]) -> float:
    first, last = decades
    if size is None or size <= 0:
        return LEAST_WIDE
    share = max(0.0, min(1.0, (math.log10(size) - first) / (last - first)))
    return LEAST_WIDE + share * (sheet.width - 2 * LEFT - LEAST_WIDE)


def _axis(sheet: Sheet, y: float, first: int, last: int) -> float:
    """The scale of the widths: a tick for each power of ten that has room; gives where it ends."""
    sheet.rule("axis", LEFT, y, sheet.width - LEFT, y)
    step, free = max(1, -(-(last - first) // (3 if last > 7 else 4))), 0.0
    for power in range(first, last + 1, step):
        x, label = LEFT + _wide(sheet, 10.0**power, (first, last)), figure(10.0**power, "MB")
        sheet.rule("axis", x, y, x, y + 4)
        start = max(0.0, min(x - breadth(label) / 2, sheet.width - breadth(label)))
        if start >= free:
            sheet.text(label, x, y + LINE + 2, "middle")
            free = start + breadth(label) + 6
    sheet.text("size of the cache, logarithmic", LEFT, y + 2 * LINE + 1)
    return y + 2 * LINE + 2


def size_text(mb: float) -> str:
    """A size in words: `10 MB`, `8 GB`; `24,000 MB` as it was set, where that is no round number of GB."""
    for unit, name in NAMED_MB:
        if mb >= unit and (unit == 1.0 or not mb % (unit / 2)):
            return f"{mb / unit:,.0f} {name}" if mb >= 1000 * unit else f"{mb / unit:,.4g} {name}"
    return f"{mb:,.3g} MB"


def _said(box: Box) -> str:
    """One cache in words."""
    size = number(box.size_mb)
    told = "size not in the export" if size is None else figure(round(size, 1), "MB")
    return f"{clean(box.name) or '(no name)'}: {told}. {' '.join(clean(line) + '.' for line in box.lines)}"
