"""Tables of any length, line by line: the heading says how the lines of a record are cut into cells.

The layouts are those of `collectors.layouts.tables`; here nothing is kept but the record at hand, so a table may be
longer than memory and fifty thousand rows take seconds::

    heading = isql([" Name  Grabs", ...], [" ----- -----", ...])
    heading.parts            # lines of one record
    heading.cut(lines)       # its cells, not stripped; None where they do not stand in their columns
"""

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from collectors.layouts.tables import BORDER, GAP, SEPARATORS, bars, columns_of, starts_of

MOST_COLUMNS = 400
"""More is no table of a server but damage."""


@dataclass(frozen=True)
class Heading:
    """What a table's columns are called and how its records are cut."""

    layout: str
    """`isql`, `boxed`, `delimited` or `spaced`."""
    columns: tuple[str, ...]
    parts: int
    """Lines of one record."""
    cut: Callable[[Sequence[str]], Sequence[str] | None]
    separator: str = ""
    heads: tuple[str, ...] = ()
    """The heading's lines, stripped: isql repeats them every so many rows if it was told to."""
    indents: tuple[str, ...] = ()
    """With what each line of a record begins."""
    ends: int = 0
    """Where the last column ends: a figure that ends before it was cut."""
    constants: int = 0
    """How many columns behind those that are printed have one value in every record."""


def isql(heads: Sequence[str], dashes: Sequence[str]) -> Heading:
    """Make the heading of a table with dashes: as many lines of names as of dashes, one record as many lines."""
    columns, goes_on = columns_of(heads, dashes)
    if not any(map(str.strip, heads)):  # nobody named anything: no column is a further piece of the one before
        goes_on = [False] * len(dashes)
        columns = [""] * sum(len(starts_of(line)) for line in dashes)
    cutters = [_cutter(line) for line in dashes]
    widths = [len(line.rstrip()) for line in dashes]
    last = [starts_of(line)[-1] for line in dashes]

    def cut(lines: Sequence[str]) -> Sequence[str] | None:
        if len(cutters) == 1:
            return cutters[0](lines[0])
        cells: list[str] = []
        for part, line in enumerate(lines):
            pieces = cutters[part](line)
            if pieces is None:
                return None
            if goes_on[part]:
                cells[-1] = cells[-1].ljust(widths[part - 1] - last[part - 1]) + pieces[0]
                pieces = pieces[1:]
            cells.extend(pieces)
        return cells

    return Heading(
        "isql",
        tuple(columns),
        len(dashes),
        cut,
        heads=tuple(line.strip() for line in heads),
        indents=tuple(_indent(line) for line in dashes),
        ends=widths[-1],
    )


def with_constants(heading: Heading, constants: Mapping[str, str]) -> Heading:
    """The heading with further columns behind its own that have one value in every record."""
    if not constants:
        return heading

    def cut(lines: Sequence[str]) -> Sequence[str] | None:
        cells = heading.cut(lines)
        return None if cells is None else [*cells, *constants.values()]

    return replace(heading, columns=(*heading.columns, *constants), cut=cut, constants=len(constants))


def _indent(dashes: str) -> str:
    return "\t" if dashes.startswith("\t") else dashes[: len(dashes) - len(dashes.lstrip())]


def _cutter(dashes: str) -> Callable[[str], Sequence[str] | None]:
    """Cut a line where its dashes begin; where a value crosses such a place, at runs of blanks."""
    starts = starts_of(dashes)
    ends: list[int | None] = [*starts[1:], None]
    places = [slice(one, other) for one, other in zip(starts, ends, strict=True)]
    if len(places) == 1:
        return lambda line: (line,)
    slices: Callable[[str], tuple[str, ...]] = itemgetter(*places)
    between: Callable[[str], Iterable[str]] = itemgetter(*(slice(start - 1, start) for start in starts[1:]))
    first = starts[0]

    def cut(line: str) -> Sequence[str] | None:
        if not "".join(between(line)).strip() and not line[:first].strip():
            return slices(line)
        chunks = GAP.split(line.strip())
        return chunks if len(chunks) == len(starts) else None

    return cut


def boxed(line: str) -> Heading | None:
    """Make the heading of a box (`|Name|Grabs|`), or `None`."""
    columns = bars(line)
    if len(columns) > MOST_COLUMNS or BORDER.match(line):
        return None

    def cut(lines: Sequence[str]) -> Sequence[str] | None:
        text = lines[0].strip()
        cells = text.removeprefix("|").removesuffix("|").split("|")
        return cells if text.endswith("|") and len(cells) == len(columns) else None

    return Heading("boxed", tuple(columns), 1, cut, separator="|")


def delimited(line: str, separator: str = "") -> Heading | None:
    """Make the heading of separated values, or `None`; the separator that parts the most is taken if none is said."""
    separator = separator or max(SEPARATORS, key=line.count)
    columns = split(line, separator)
    if columns is None or not 2 <= len(columns) <= MOST_COLUMNS:
        return None
    columns = [column.strip() for column in columns]
    as_many = len(columns)
    while columns and not columns[-1]:
        columns.pop()
    return Heading("delimited", tuple(columns), 1, values(len(columns), separator, as_many), separator=separator)


def values(columns: int, separator: str, as_many: int = 0) -> Callable[[Sequence[str]], Sequence[str] | None]:
    """Make the cutter of separated values; empty cells behind the last column are trailing separators.

    As many of them stand in every row, or in none. Else a value was parted, and those behind it stand a column too far.
    Commas part the thousands of a figure, too: there a row has no more of them than the heading, which has `as_many`.
    """
    trailing = [as_many] if separator == "," and as_many else []

    def cut(lines: Sequence[str]) -> Sequence[str] | None:
        cells = split(lines[0], separator)
        if cells is None or len(cells) < columns or any(map(str.strip, cells[columns:])):
            return None
        if not trailing:
            trailing.append(len(cells))
        return cells if len(cells) == trailing[0] else None

    return cut


def split(line: str, separator: str) -> list[str] | None:
    """Split one line of separated values; `None` where its quotes do not close."""
    if '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator, strict=True), None)
    except csv.Error as error:
        if "end of data" in str(error):
            return None
    try:
        return next(csv.reader([line], delimiter=separator), None)
    except csv.Error:
        return None


def spaced(line: str) -> Heading | None:
    """Make the heading of a table without dashes, its values parted by two blanks or more; or `None`."""
    columns = re.split(r"\s{2,}|\t", line.strip())
    if not 2 <= len(columns) <= MOST_COLUMNS:
        return None

    def cut(lines: Sequence[str]) -> Sequence[str] | None:
        cells = GAP.split(lines[0].strip())
        return cells if len(cells) == len(columns) else None

    return Heading("spaced", tuple(columns), 1, cut)
