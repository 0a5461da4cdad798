"""Many rows of a table at once, column by column; what is not as plain as most rows are is left to `reading`.

A block is read here or not at all, and what it gives is what its rows give when they are read one by one.
"""

import re
from array import array
from collections.abc import Callable, Sequence
from typing import Any

from collectors.facts.base import ABSENT
from collectors.facts.columns import coded
from collectors.layouts.streamed import Heading
from collectors.layouts.tables import END
from collectors.reports.ase.monitor_tables.cells import (
    Doubt,
    blocking,
    count,
    kilobytes,
    percent,
    small,
    text,
    time,
    whole,
    words,
)
from collectors.reports.ase.monitor_tables.tables import Read

MAY_BE_EMPTY = (words, small, text, time, blocking)
"""Cells of these readers may be blank in isql; a counter never is, it would be printed as NULL."""
TORN = "   "
"""Within a text that isql printed: another column's value got into this one. Names padded by bytes do so, too."""
FIGURES = (count, percent, kilobytes)
"""Readers of what is kept in an array."""
MOST_DIGITS = 18
LONG = re.compile(rf"[0-9]{{{MOST_DIGITS + 1}}}")
MOST_REMEMBERED = 500_000

Cells = list[Sequence[str]]
"""The cells of a block, by column."""


def value_of(cell: str, read: Read, *, printed: bool) -> Any:
    """What a cell holds; `None` or `ABSENT` for nothing. Raises `Doubt`; `printed`: isql wrote it."""
    value = read(cell)
    if not printed:
        return value
    if value is None or value is ABSENT:
        if read not in MAY_BE_EMPTY and not cell.strip():
            raise Doubt
    elif isinstance(value, str) and TORN in value:
        raise Doubt
    return value


class Remembered(dict[str, Any]):
    """The values of cells read before, by the cell's text: equal values become one object."""

    def __init__(self, read: Read, *, printed: bool) -> None:
        """`printed`: isql wrote the cells."""
        self.read, self.printed = read, printed

    def __missing__(self, cell: str) -> Any:
        """Read a cell that was not read before. Raises `Doubt`."""
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        value = self[cell] = value_of(cell, self.read, printed=self.printed)
        return value


def cutter(heading: Heading, starts: Sequence[int]) -> Callable[[Sequence[str]], Cells | None] | None:
    """Make what cuts many lines into columns, or gives `None` where one is no plain row; `None`: read line by line.

    `starts`: where the columns of an isql table begin.
    """
    if heading.layout == "isql" and heading.parts == 1 and len(starts) > 1:
        return _printed(starts)
    return _delimited(heading) if heading.layout == "delimited" else None


def _printed(starts: Sequence[int]) -> Callable[[Sequence[str]], Cells | None]:
    places = [slice(start, end) for start, end in zip(starts, (*starts[1:], None), strict=True)]
    blank = (*range(starts[0]), *(start - 1 for start in starts[1:]))

    def cut(lines: Sequence[str]) -> Cells | None:
        width = max(starts[-1], *map(len, lines))
        lines = [line.ljust(width) for line in lines]
        joined = "".join(lines)
        if not all(joined[place::width].isspace() for place in blank):
            return None
        return [[line[place] for line in lines] for place in places]

    return cut


def _delimited(heading: Heading) -> Callable[[Sequence[str]], Cells | None]:
    columns, separator = len(heading.columns), heading.separator

    def cut(lines: Sequence[str]) -> Cells | None:
        if any('"' in line for line in lines) or any(map(END.match, lines)) or heading.cut(lines[:1]) is None:
            return None
        rows = [line.split(separator) for line in lines]
        return list(zip(*rows, strict=True)) if set(map(len, rows)) == {columns} else None

    return cut


def is_plain(cells: Sequence[str]) -> bool:
    """Whether each cell is blank or holds digits, as many as `count` takes, and nothing else."""
    joined = " ".join(cells)
    digits = joined.isascii() and joined.replace(" ", "").isdecimal()
    return digits and (max(map(len, cells)) <= MOST_DIGITS or not LONG.search(joined))


def figures_of(cells: Sequence[str], read: Read, *, printed: bool) -> tuple["array[float]", bool]:
    """A column of figures, and whether there is a whole number in each cell. Raises `Doubt`."""
    if read is count and is_plain(cells):
        try:
            return array("d", map(float, cells)), True
        except ValueError:  # a blank cell, or blanks between digits
            pass
    return array("d", (coded(value_of(cell, read, printed=printed)) for cell in cells)), False


def is_all_digits(cells: Sequence[str], read: Read) -> bool:
    """Whether each cell of a column of identifiers holds one."""
    return read is whole and is_plain(cells) and all(map(str.strip, cells))
