"""A treemap: parts of a whole as tiles whose area is their share, in the colour of the group that each belongs to.

The squarified layout of Bruls, Huizing and van Wijk (2000): tiles are laid in rows along the shorter side, and a row is
closed when another tile would make its worst tile longer. Colour never stands alone: a tile that
holds its words whole says its name, its figure and its group; of the others the largest have a number, and what they
are stands below the picture.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from advisor.charts.pen import Sheet
from advisor.charts.scales import number
from advisor.charts.words import LINE, breadth, clean, figure, wrapped

MOST_TILES = 40
"""Tiles of one picture: the others are one tile that says how many they are."""
COLOURS = (1, 2, 3, 4, 6)
"""Series colours for groups, the largest group first; all further groups, and parts without one, have the plain one."""
PLAIN = 5
KEY = 18.0
"""px for the line that says which colour is which."""
PAD = 4.0
"""px between the edge of a tile and its words."""
LEAST_NUMBER = (22.0, 16.0)
"""px of width and height from which on a tile has room for its number in the list."""
MOST_LISTED = 12
"""Tiles whose words stand in the list below: the table has the others."""
COLUMN = 310.0
"""px of a column of the list."""
GAP = 1.5


@dataclass(frozen=True)
class Tile:
    """One part."""

    name: str
    value: float | None
    """Its size; parts without one, or without any size, have no tile."""
    group: str = ""
    """What gives it its colour; empty for none."""


@dataclass(frozen=True)
class _Place:
    tile: Tile
    size: float
    x: float
    y: float
    width: float
    height: float


def treemap(tiles: Sequence[Tile], *, title: str, unit: str, width: int = 480, height: int = 300) -> Markup:
    """Draw it. `width` 240 and `height` 120 at least (ValueError)."""
    if width < 240 or height < 120:
        raise ValueError(f"{width} by {height} px is too small for a treemap; 240 by 120 is the least")
    sizes = [(tile, size) for tile in tiles if (size := number(tile.value)) is not None and size > 0]
    sizes.sort(key=lambda one: (-one[1], one[0].name))
    shown = sizes[:MOST_TILES]
    if len(sizes) > MOST_TILES:
        shown, rest = sizes[: MOST_TILES - 1], sizes[MOST_TILES - 1 :]
        shown.append((Tile(f"{len(rest):,} more", None), sum(size for _, size in rest)))
    colours = _colours(shown)
    sheet = Sheet(width, height)
    top = _key(sheet, colours)
    whole = sum(size for _, size in shown)
    listed: list[str] = []
    untold = 0
    for place in _laid(shown, width, height - KEY):
        words = (_named(place.tile), figure(_rounded(place.size), unit), f"{100 * place.size / whole:.0f} %")
        told = f"{words[0]}: {words[1]}, {words[2]}{_grouped(place.tile)}"
        wide, tall = max(0.0, place.width - GAP), max(0.0, place.height - GAP)
        sheet.tile(colours.get(place.tile.group, PLAIN), place.x, place.y + top, wide, tall, told)
        lines = _lines(words, clean(place.tile.group), wide - 2 * PAD, int((tall - 2) / LINE))
        if not lines and len(listed) < MOST_LISTED and wide >= LEAST_NUMBER[0] and tall >= LEAST_NUMBER[1]:
            listed.append(told)
            lines = [f"{len(listed)}"]
        untold += not lines
        for n, line in enumerate(lines, 1):
            sheet.text(line, place.x + PAD, place.y + top + n * LINE - 1)
    foot = _listed(sheet, listed, untold, height - KEY + top)
    sheet.height = math.ceil(foot)
    said = "; ".join(f"{_named(tile)} {figure(_rounded(size), unit)}{_grouped(tile)}" for tile, size in shown[:12])
    return sheet.done(title, f"{said}." if said else "No parts.")


def _named(tile: Tile) -> str:
    return clean(tile.name) or "(no name)"


def _grouped(tile: Tile) -> str:
    return f", {clean(tile.group)}" if tile.group else ""


def _rounded(size: float) -> float:
    return round(size, 1) if size < 1000 else round(size)


def _colours(shown: Sequence[tuple[Tile, float]]) -> dict[str, int]:
    """A colour for each group, the largest first."""
    sums: dict[str, float] = {}
    for tile, size in shown:
        if tile.group:
            sums[tile.group] = sums.get(tile.group, 0.0) + size
    order = sorted(sums, key=lambda name: (-sums[name], name))
    return dict(zip(order, COLOURS, strict=False))


def _key(sheet: Sheet, colours: dict[str, int]) -> float:
    """Which colour is which, in as many lines as that needs; gives their height, px."""
    x, y = 0.0, 0.0
    for name, colour in colours.items():
        wide = min(16 + breadth(clean(name)), float(sheet.width))
        if x and x + wide > sheet.width:
            x, y = 0.0, y + KEY
        sheet.tile(colour, x, y + 2, 11, 11)
        sheet.text(name, x + 16, y + 12, room=sheet.width - 16)
        x += wide + 14
    return y + KEY


def _lines(words: tuple[str, str, str], group: str, room: float, most: int) -> list[str]:
    """The words of a tile in lines that hold each of them whole, if need be without its group; else none."""
    name, told, share = words
    both = [f"{told}, {share}"] if breadth(f"{told}, {share}") <= room else [told, share]
    start = [*wrapped(name, room, hard=False), *both]
    for lines in ([*start, *wrapped(group, room, hard=False)], start):
        if len(lines) <= most and all(breadth(line) <= room for line in lines):
            return lines
    return []


def _listed(sheet: Sheet, listed: Sequence[str], untold: int, y: float) -> float:
    """What the numbers stand for, below the tiles from `y` on, in columns; gives where it ends."""
    columns = max(1, int(sheet.width / COLUMN))
    wide = sheet.width / columns
    said = [f"{n}) {words}" for n, words in enumerate(listed, 1)]
    said += [f"and {untold:,} smaller ones without words here"] if untold else []
    for at in range(0, len(said), columns):
        row = said[at : at + columns]
        y += max(sheet.lines(words, n * wide, y + LINE, wide - 12) for n, words in enumerate(row))
    return y + (4 if said else 0)


def _laid(shown: Sequence[tuple[Tile, float]], width: float, height: float) -> list[_Place]:
    """Where each tile stands: rows along the shorter side of what is left."""
    found: list[_Place] = []
    whole = sum(size for _, size in shown)
    if whole <= 0:
        return found
    x = y = 0.0
    left_wide, left_tall, at = width, height, 0
    scale = width * height / whole
    while at < len(shown):
        side = min(left_wide, left_tall)
        row = [shown[at]]
        while at + len(row) < len(shown):
            more = [*row, shown[at + len(row)]]
            if _worst(more, side, scale) > _worst(row, side, scale):
                break
            row = more
        thick = sum(size for _, size in row) * scale / side if side > 0 else 0.0
        along = 0.0
        for tile, size in row:
            long = size * scale / thick if thick > 0 else 0.0
            across = left_wide > left_tall
            place = (x, y + along, thick, long) if across else (x + along, y, long, thick)
            found.append(_Place(tile, size, *place))
            along += long
        if left_wide > left_tall:
            x, left_wide = x + thick, max(0.0, left_wide - thick)
        else:
            y, left_tall = y + thick, max(0.0, left_tall - thick)
        at += len(row)
    return [_inside(one, width, height) for one in found]


def _worst(row: Sequence[tuple[Tile, float]], side: float, scale: float) -> float:
    """How far from a square the worst tile of a row is: 1 is a square."""
    areas = [size * scale for _, size in row]
    total = sum(areas)
    least, squared = side * side * min(areas), total * total
    if least <= 0 or squared <= 0:  # a part too small to have an area, also where the product alone is too small
        return float("inf")
    return max(side * side * max(areas) / squared, squared / least)


def _inside(place: _Place, width: float, height: float) -> _Place:
    """Keep a tile in the frame where rounding put it out by a hair."""
    x, y = min(max(0.0, place.x), width), min(max(0.0, place.y), height)
    return _Place(place.tile, place.size, x, y, min(place.width, width - x), min(place.height, height - y))
