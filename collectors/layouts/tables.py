"""Tables as clients print them: lines in, rows out, each with its lines and its cells by column.

`cut(lines, at)` reads the table whose heading begins at `lines[at]`, in whichever layout it stands::

    isql                                          JDBC tools             delimited
     cache_name         cacheid                   +----------+-------+   cache_name;cacheid
     ------------------ -------                   |cache_name|cacheid|   log_cache;1
     log_cache                1                   +----------+-------+
                                                  |log_cache |      1|   html
    (1 row affected)                              +----------+-------+   <tr><td>log_cache</td><td>1</td></tr>

* isql cuts lines at its width (80): the parts of a heading follow each other, then the parts of the dashes, then those
  of each row; later parts are indented (TAB or blanks, ase-formats.md 3.7 [D]). As many dash lines as lines a record.
  A column wider than the line goes on in the next part, under a blank heading: its pieces are joined again.
* A column reaches from its dashes to the next dashes, so short dashes under wide columns and centred values are right.
  Where a value stands across that border the row is split at runs of blanks, if that gives one value a column; else
  the row is not `whole`, and has no cells: the reader may know better from the row's text.
* An empty cell and a cell that is not there (row cut short) are both "". `whole` tells them apart where that can be
  told: below dashes, a last cell that is empty is one where its line is as long as they are. Where separators show that
  a line was cut, its last value is left out: it may be half of a value.
* A table ends at a blank line, at `(N rows affected)`, a prompt, a message, or what the reader calls its `stop`.
"""

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeVar

from collectors.layouts.html import cut_html
from collectors.layouts.known_lines import LONGEST

K = TypeVar("K")
V = TypeVar("V")
MOST_PARTS = 64
"""Lines one record may be wrapped into."""
END = re.compile(
    r"\s*$|\s*\([0-9]{1,12} rows? affected\)|\s*\(return status\b|\s*Rows [0-9]{1,12}\s*$"
    r"|\s*(?:[0-9]{1,6}:)?[0-9]{1,6}>|\s*Msg [0-9]|\s*[=#]{5,}|\s*</?(?:table|body|pre)\b",
    re.IGNORECASE,
)
ECHOED = re.compile(r"\s{0,4}(?:[0-9]{1,6}:)?[0-9]{1,6}> ")
"""The prompt of a line of a query, as `isql -e` shows it: the columns that it names are no heading."""
BORDER = re.compile(r"\s*[|+][-+|=: ]*[|+]\s*$")
GAP = re.compile(r"\s{2,}|\t")
SEPARATORS = "\t;,|"
MOST_HEADINGS, MOST_KNOWN = 32, 1024
"""Headings remembered, and lines below each: tens of megabytes at the very most."""


@lru_cache(maxsize=4096)
def key(name: str) -> str:
    """A column's name for comparing: `Cache Name`, `cache_name` and `CacheName` are the same."""
    return re.sub(r"[\W_]+", "", name).lower()


@dataclass(slots=True)
class Row:
    """One record. `first` and `last` are indexes into the lines given."""

    first: int
    last: int
    text: str
    """The record's lines as they stood, joined by a blank."""
    cells: dict[str, str] = field(default_factory=dict)
    """By `key` of the column; never changed, since rows of the same text share them."""
    whole: bool = True
    """Whether it has as many values as columns, to the last one."""
    made: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)
    """What a reader made of this text below this heading, by whatever it likes: rows of the same text share it."""

    def get(self, *names: str) -> str:
        """The cell of the first of these columns that the table has; else empty."""
        for name in names:
            if (cell := self.cells.get(key(name))) is not None:
                return cell
        return ""


@dataclass(frozen=True)
class Table:
    """One table: what its columns are called, its rows, and the lines that are only its frame."""

    layout: str
    """`isql`, `boxed`, `delimited`, `html` or `spaced` (no dashes: values parted by runs of blanks)."""
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    frame: tuple[int, ...]
    """Indexes of heading, dashes and borders."""
    last: int
    """Index of the last line that belongs to it."""

    def has(self, *names: str) -> bool:
        """Whether it has all these columns."""
        return all(key(name) in _keys(self.columns) for name in names)


@lru_cache(maxsize=256)
def _keys(columns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(key, columns))


def cut(lines: Sequence[str], at: int, end: int | None = None, stop: re.Pattern[str] = END) -> Table:
    """Read the table whose heading begins at `lines[at]`; `stop` matches lines that end it, beside `END`."""
    end = len(lines) if end is None else end
    cutting = _Cutting(lines, end, stop)
    head = lines[at]
    if at + 1 < end and (known := KNOWN.get((id(stop), head, lines[at + 1]))):
        return cutting.isql(at, known)
    if re.search(r"<t[dhr]\b", head, re.IGNORECASE):
        columns, records, frame, last = cut_html(lines, at, end)
        rows = [Row(first, to, _text(lines, first, to), *_named(tuple(columns), cells)) for first, to, cells in records]
        return Table("html", tuple(columns), tuple(rows), tuple(frame), last)
    if BORDER.match(head) and at + 1 < end:
        return cutting.boxed(at + 1)
    if head.lstrip().startswith("|"):
        return cutting.boxed(at)
    for parts in range(1, min(MOST_PARTS, (end - at) // 2) + 1):
        if all(is_dashes(lines[at + parts + part]) for part in range(parts)):
            layout = _Dashed(lines[at : at + parts], lines[at + parts : at + 2 * parts], stop)
            if parts == 1:
                remember(KNOWN, (id(stop), head, lines[at + 1]), layout, MOST_HEADINGS)
            return cutting.isql(at, layout)
    separator = max(SEPARATORS, key=head.count)
    if separator in head:
        return delimited(lines, at, separator, end=end, stop=stop)
    return cutting.spaced(at)


def delimited(
    lines: Sequence[str],
    at: int,
    separator: str = "\t",
    columns: Sequence[str] = (),
    end: int | None = None,
    stop: re.Pattern[str] = END,
) -> Table:
    """Read separated values from `lines[at]` on: with a heading, or (bcp) without one if `columns` are given."""
    end = len(lines) if end is None else end
    frame = [] if columns else [at]
    columns = tuple(columns) or tuple(_split(lines[at], separator)[0])
    layout = _parted(stop, columns, separator)
    rows: list[Row] = []
    last = at
    for index in range(at + len(frame), end):
        line = lines[index]
        found = layout.of(line)
        if found is ENDS:
            break
        last = index
        if found is FRAME:
            frame.append(index)
        else:
            rows.append(Row(index, index, line, found.cells, found.whole, found.made))
    return Table("delimited", columns, tuple(rows), tuple(frame), last)


def _split(line: str, separator: str) -> tuple[list[str], bool]:
    """Split one line of separated values; and whether its quotes close, so that its last value is whole."""
    closed = True
    for strict in (True, False):
        try:
            return [cell.strip() for cell in next(csv.reader([line], delimiter=separator, strict=strict), [])], closed
        except csv.Error as error:
            closed = "end of data" not in str(error)
    return [], False  # a value longer than the csv module takes


def _text(lines: Sequence[str], first: int, last: int) -> str:
    return lines[first] if first == last else " ".join(lines[first : last + 1])


def _named(columns: tuple[str, ...], cells: Sequence[str], *, closed: bool = True) -> tuple[dict[str, str], bool]:
    """Give the cells their columns, and whether there is one for each; empty ones beyond are a trailing separator."""
    if any(cells[len(columns) :]):
        return {}, False
    whole = closed and len(cells) >= len(columns)
    named: dict[str, str] = {}
    for name, cell in zip(_keys(columns), cells if whole else cells[:-1], strict=False):
        named.setdefault(name, cell)
    return named, whole


def is_dashes(line: str) -> bool:
    """Whether a line is the dashes below a heading, or one part of them."""
    return "--" in line and not line.strip("- \t")


class _Known:
    """What a line below a heading was understood as: its cells, shared by all lines of the same text."""

    __slots__ = ("cells", "made", "whole")

    def __init__(self, cells: dict[str, str], whole: bool) -> None:
        self.cells, self.whole = cells, whole
        self.made: dict[object, Any] = {}


ENDS, FRAME, AGAIN = (_Known({}, False) for _ in range(3))
"""A line that ends the table; one of its frame; one that begins its heading again."""


class _Layout:
    """Below one heading every line is understood once, however often it comes."""

    def __init__(self, stop: re.Pattern[str]) -> None:
        self.stop = stop
        self.known: dict[str, _Known] = {}

    def of(self, line: str) -> _Known:
        """What this line is."""
        if (known := self.known.get(line)) is None:
            known = self.understood(line)
            remember_line(self.known, line, known)
        return known

    def ends(self, line: str) -> bool:
        """Whether the table ends before this line."""
        return bool(END.match(line) or self.stop.match(line))

    def understood(self, line: str) -> _Known:
        """Understand a line."""
        raise NotImplementedError


class _Dashed(_Layout):
    """Columns as dashes below their names mark them; a record has as many lines as there are lines of dashes."""

    def __init__(self, heads: Sequence[str], dashes: Sequence[str], stop: re.Pattern[str]) -> None:
        super().__init__(stop)
        self.heading, self.dashes, self.parts = heads[0].strip(), dashes, len(dashes)
        columns, self.goes_on = columns_of(heads, dashes)
        self.columns = tuple(columns)
        self.starts = [starts_of(line) for line in dashes]
        self.cutters = [_cutter(starts) for starts in self.starts]

    def understood(self, line: str) -> _Known:
        if self.ends(line) or is_dashes(line):
            return ENDS
        if line.strip() == self.heading:  # isql -h N repeats the heading
            return AGAIN
        return _Known(*(self.record([line]) if self.parts == 1 else ({}, False)))

    def record(self, lines: Sequence[str]) -> tuple[dict[str, str], bool]:
        """Cut one record; `goes_on` says of which lines the first piece belongs to the column of the line above."""
        cells: list[str] = []
        for part, line in enumerate(lines):
            pieces = self.cutters[part](line)
            if pieces is None:
                return {}, False
            if self.goes_on[part]:
                width = self.dashes[part - 1].rstrip()
                cells[-1] = cells[-1].ljust(len(width) - self.starts[part - 1][-1]) + pieces.pop(0)
            cells.extend(pieces)
        cells = [cell.strip() for cell in cells]
        named, whole = _named(self.columns, cells)
        padded = len(lines[-1]) >= len(self.dashes[-1].rstrip())  # isql pads a blank value to the width of its column
        return named, whole and (bool(cells[-1]) or padded)


class _Boxed(_Layout):
    """A box as JDBC tools draw it."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        super().__init__(END)
        self.columns = columns

    def understood(self, line: str) -> _Known:
        if line.lstrip()[:1] not in ("|", "+"):
            return ENDS
        if BORDER.match(line):
            return FRAME
        return _Known(*_named(self.columns, bars(line), closed=line.rstrip().endswith("|")))


class _Parted(_Layout):
    """Values that a separator parts."""

    def __init__(self, stop: re.Pattern[str], columns: tuple[str, ...], separator: str) -> None:
        super().__init__(stop)
        self.columns, self.separator = columns, separator

    def understood(self, line: str) -> _Known:
        if self.ends(line) or self.separator not in line:
            return ENDS
        if not line.strip("-+:=|\t;, "):  # isql -s prints dashes between the separators
            return FRAME
        cells, closed = _split(line, self.separator)
        return _Known(*_named(self.columns, cells, closed=closed))


KNOWN: dict[tuple[int, str, str], _Dashed] = {}
"""Layouts by what ends them, heading and dashes. The first is an id: the layout keeps the pattern alive."""
_parted = lru_cache(maxsize=MOST_HEADINGS)(_Parted)
_boxed = lru_cache(maxsize=MOST_HEADINGS)(_Boxed)


def remember(known: dict[K, V], name: K, value: V, most: int) -> None:
    """Remember something within a bound: when it is reached all is forgotten."""
    if len(known) >= most:
        known.clear()
    known[name] = value


def remember_line(known: dict[str, V], line: str, value: V) -> None:
    """Remember what a line below a heading was understood as, unless it is very long."""
    if len(line) <= LONGEST:
        remember(known, line, value, MOST_KNOWN)


class _Cutting:
    """The layouts that stand in columns."""

    def __init__(self, lines: Sequence[str], end: int, stop: re.Pattern[str]) -> None:
        self.lines, self.end, self.stop = lines, end, stop

    def boxed(self, at: int) -> Table:
        layout = _boxed(tuple(bars(self.lines[at])))
        frame = [index for index in (at - 1, at) if index >= 0 and (index == at or BORDER.match(self.lines[index]))]
        rows: list[Row] = []
        index = at + 1
        while index < self.end and (found := layout.of(line := self.lines[index])) is not ENDS:
            if found is not FRAME:
                rows.append(Row(index, index, line, found.cells, found.whole, found.made))
            elif index - 1 in frame and index - 1 != at:
                break  # two borders in a row: the next box begins
            else:
                frame.append(index)
            index += 1
        return Table("boxed", layout.columns, tuple(rows), tuple(frame), index - 1)

    def spaced(self, at: int) -> Table:
        columns = tuple(GAP.split(self.lines[at].strip()))
        rows: list[Row] = []
        index = at + 1
        while index < self.end and not (END.match(line := self.lines[index]) or self.stop.match(line)):
            rows.append(Row(index, index, line, *_named(columns, GAP.split(line.strip()))))
            index += 1
        return Table("spaced", columns, tuple(rows), (at,), index - 1)

    def isql(self, at: int, layout: _Dashed) -> Table:
        parts, dashes = layout.parts, layout.dashes
        frame = list(range(at, at + 2 * parts))
        rows: list[Row] = []
        index = at + 2 * parts
        while index < self.end and (found := layout.of(line := self.lines[index])) is not ENDS:
            if found is AGAIN:
                frame.extend(range(index, min(index + 2 * parts, self.end)))
                index += 2 * parts
                continue
            if parts == 1:
                rows.append(Row(index, index, line, found.cells, found.whole, found.made))
                index += 1
                continue
            taken = 1
            while taken < parts and index + taken < self.end and _continues(self.lines[index + taken], dashes[taken]):
                taken += 1
            orphan = dashes[1].startswith("\t") and line.startswith("\t")
            record = self.lines[index : index + taken]
            named = ({}, False) if orphan or taken < parts else layout.record(record)
            rows.append(Row(index, index + taken - 1, " ".join(record), *named))
            index += taken
        return Table("isql", layout.columns, tuple(rows), tuple(frame), min(index, self.end) - 1)


def bars(line: str) -> list[str]:
    """The cells of one line of a box."""
    inner = line.strip()
    return [cell.strip() for cell in inner.removeprefix("|").removesuffix("|").split("|")]


def starts_of(dashes: str) -> list[int]:
    """Where the columns under a line of dashes begin."""
    return [found.start() for found in re.finditer("-+", dashes)]


def columns_of(heads: Sequence[str], dashes: Sequence[str]) -> tuple[list[str], list[bool]]:
    """The columns' names, and which parts begin with a further piece of the column before (its heading is blank)."""
    columns: list[str] = []
    goes_on: list[bool] = []
    for head, line in zip(heads, dashes, strict=True):
        starts = starts_of(line)
        names = [name.strip() for name in _cells(head, starts) or _slices(head, starts)]
        goes_on.append(bool(columns) and not names[0])
        columns.extend(names[1:] if goes_on[-1] else names)
    return columns, goes_on


def _slices(line: str, starts: Sequence[int]) -> list[str]:
    """Cut a line where its columns begin; the first takes what stands left of its dashes, if anything does."""
    begin = 0 if line[: starts[0]].strip() else starts[0]
    return [line[one:other] for one, other in zip([begin, *starts[1:]], [*starts[1:], len(line)], strict=True)]


def _cutter(starts: Sequence[int]) -> Callable[[str], list[str] | None]:
    """What cuts lines where their columns begin, as `_cells` does, with all places worked out before."""
    if len(starts) == 1:
        return lambda line: _slices(line, starts)
    slices = itemgetter(*map(slice, starts, [*starts[1:], None]))
    between = itemgetter(*(slice(start - 1, start) for start in starts[1:]))
    first = starts[0]

    def cut(line: str) -> list[str] | None:
        plain = not (line[:first].strip() or "".join(between(line)).strip())
        return list(slices(line)) if plain else _cells(line, starts)

    return cut


def _cells(line: str, starts: Sequence[int]) -> list[str] | None:
    """Cut a line where its columns begin; where a value crosses such a place, split it at runs of blanks."""
    if not any(line[start - 1 : start].strip() for start in starts[1:]):
        return _slices(line, starts)
    chunks = GAP.split(line.strip())
    return chunks if len(chunks) == len(starts) else None


def _continues(line: str, dashes: str) -> bool:
    """Whether a line is a later part of a record: indented as the dashes of that part are, or empty."""
    if not line.strip():
        return True
    indent = "\t" if dashes.startswith("\t") else dashes[: len(dashes) - len(dashes.lstrip())]
    return line.startswith(indent)
