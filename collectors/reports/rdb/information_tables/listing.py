"""Tables as Rdb's interactive SQL prints them: a heading without dashes, broken at the width of the terminal.

Each part of the heading has its part of every row below it; the first part is indented by one blank, the others by
more. A column begins where its name does; figures stand at the right end of it. A text that is too long for the line
ends in `>>` and goes on in the next one. Sample::

     RDB$AREA_ID   RDB$FLAGS   RDB$CACHE_ID
       RDB$AREA_NAME
               1        4209              0
       RDB$SYSTEM
    1 row selected
"""

import re
from collections.abc import Sequence

from collectors.layouts.tables import Row, Table, key

NAME = re.compile(r'"?RDB\$\w{1,60}"?', re.IGNORECASE)
HEADING = re.compile(r'\s{0,8}"?RDB\$\w{1,60}"?(?:\s{1,255}"?RDB\$\w{1,60}"?){0,11}\s*$', re.IGNORECASE)
"""A name is padded to the width of its column, which for a text is up to 255 blanks."""
END = re.compile(r"\s*$|\s*[0-9]{1,9} rows? selected|\s*(?:SQL|cont)>|\s*%|\s*\$ |\s*[0-9]{1,6}>", re.IGNORECASE)
MOST_PARTS = 64
"""Lines of one heading."""
MOST_PIECES = 8
"""Lines of one value: 255 characters at a width of 80, and some to spare."""


def is_heading(line: str) -> bool:
    """Whether a line has nothing but names of columns of Rdb."""
    return len(line) <= 400 and HEADING.match(line) is not None


def cut(lines: Sequence[str], at: int, end: int) -> Table:
    """Read the table whose heading begins at `lines[at]`."""
    parts = 1
    while parts < MOST_PARTS and at + parts < end and is_heading(lines[at + parts]):
        parts += 1
    heads = [[(found.start(), found[0]) for found in NAME.finditer(lines[at + part])] for part in range(parts)]
    columns = tuple(name.strip('"') for head in heads for _, name in head)
    rows: list[Row] = []
    frame = list(range(at, at + parts))
    index = at + parts
    while index < end and not END.match(lines[index]):
        if lines[index].strip() == lines[at].strip():  # the heading again, on a new page
            frame += range(index, min(index + parts, end))
            index += parts
            continue
        row, index = _row(lines, index, end, heads, columns)
        rows.append(row)
    return Table("interactive", columns, tuple(rows), tuple(frame), max(at + parts, index) - 1)


def _row(
    lines: Sequence[str], at: int, end: int, heads: list[list[tuple[int, str]]], columns: Sequence[str]
) -> tuple[Row, int]:
    """Read one record; it is not whole where a part of it is missing or does not stand in its columns."""
    cells: list[str] = []
    index, whole = at, True
    for head in heads:
        if index >= end or END.match(lines[index]):
            whole = False
            break
        line = lines[index].rstrip()
        index += 1
        for _ in range(MOST_PIECES):
            if not line.endswith(">>") or index >= end:
                break
            line = line[:-2] + lines[index].strip()  # of a text that is padded the last piece is a blank line
            index += 1
        found = _cells(line, [start for start, _ in head])
        if found is None:
            whole = False
            break
        cells += found
    named = {key(name): cell for name, cell in zip(columns, cells, strict=False)} if whole else {}
    return Row(at, index - 1, " ".join(lines[at:index]), named, whole), index


def _cells(line: str, starts: list[int]) -> list[str] | None:
    """Cut a line where its columns begin; where a value crosses such a place, at blanks, if that fits."""
    if not any(line[start - 1 : start].strip() for start in starts[1:]):
        return [line[one:other].strip() for one, other in zip(starts, [*starts[1:], len(line)], strict=True)]
    chunks = re.split(r"\s{2,}", line.strip())
    chunks = chunks if len(chunks) == len(starts) else line.split()
    return chunks if len(chunks) == len(starts) else None
