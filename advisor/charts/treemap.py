"""A treemap: parts of a whole as tiles whose area is their share, in the colour of the group that each belongs to.

The squarified layout of Bruls, Huizing and van Wijk (2000): tiles are laid in rows along the shorter side, and a row is
closed when another tile would make its worst tile longer. Colour never stands alone: each tile that has room says its
name and its group, and every one has both as a tip.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from advisor.charts.pen import Sheet
from advisor.charts.scales import number
from advisor.charts.words import clean, figure

MOST_TILES = 40
"""Tiles of one picture: the others are one tile that says how many they are."""
COLOURS = (1, 2, 3, 4, 6)
"""Series colours for groups, the largest group first; all further groups, and parts without one, have the plain one."""
PLAIN = 5
KEY = 18.0
"""px for the line that says which colour is which."""
LINE = 14.0
LEAST_TEXT = 60.0
"""px of width from which on a tile has words."""
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
    _key(sheet, colours)
    whole = sum(size for _, size in shown)
    for place in _laid(shown, width, height - KEY):
        _draw(sheet, place, colours.get(place.tile.group, PLAIN), place.size / whole, unit)
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


def _key(sheet: Sheet, colours: dict[str, int]) -> None:
    x = 0.0
    for name, colour in colours.items():
        if x + 60 > sheet.width:
            break
        sheet.tile(colour, x, 2, 11, 11)
        x += 16 + sheet.text(name, x + 16, 12, room=min(140.0, sheet.width - x - 16)) + 14


def _draw(sheet: Sheet, place: _Place, colour: int, share: float, unit: str) -> None:
    tile, told = place.tile, figure(_rounded(place.size), unit)
    tip = f"{_named(tile)}: {told}, {100 * share:.0f} %{_grouped(tile)}"
    wide, tall = max(0.0, place.width - GAP), max(0.0, place.height - GAP)
    sheet.tile(colour, place.x, place.y + KEY, wide, tall, tip)
    if wide < LEAST_TEXT:
        return
    for n, words in enumerate((tile.name or "(no name)", f"{told}, {100 * share:.0f} %", tile.group)):
        if words and (n + 1) * LINE + 2 <= tall:
            sheet.text(words, place.x + 4, place.y + KEY + (n + 1) * LINE - 1, room=wide - 8)


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
