"""Answers of a server as isql prints them with unlimited width: result sets and messages, in their order.

The readers of `collectors.reports` read these files as they read those of a DBA. So a value never breaks the layout:
what controls a terminal or ends a line becomes `?`. The same answer always prints the same text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal

LONGEST_VALUE = 1024
"""Characters printed of a value. Names and descriptions of ASE have 255 at most, `@@version` has about 200."""
LONGEST_MESSAGE = 8192


@dataclass(frozen=True)
class ResultSet:
    """Rows under headings; a heading may be empty."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]


@dataclass(frozen=True)
class Message:
    """What a procedure printed, or a server said beside its rows."""

    text: str


Part = ResultSet | Message


def printed(sql: str, parts: Sequence[Part]) -> str:
    """Print a batch as isql echoes it, and the answer to it."""
    lines = [f"{number}> {line}" for number, line in enumerate([*sql.splitlines(), "go"], 1)]
    for part in parts:
        lines += _rows(part) if isinstance(part, ResultSet) else _said(part)
    return "\n".join(lines) + "\n\n"


def value(what: object) -> str:
    """Print one value: dates as `Nov 21 2026 10:15:12:123AM`, numbers plain, nothing as `NULL`."""
    match what:
        case None:
            return "NULL"
        case bool():
            return str(int(what))
        case int():
            return str(what)
        case float():
            return f"{what:.6f}"
        case Decimal():
            return f"{what:f}"
        case datetime():
            return f"{what:%b} {what.day:2d} {what.year:04d} {_clock(what.time())}"
        case date():
            return f"{what:%b} {what.day:2d} {what.year:04d}"
        case time():
            return _clock(what)
        case bytes() | bytearray():
            return f"0x{what.hex()}"[:LONGEST_VALUE]
    return plain(str(what)[:LONGEST_VALUE])


def plain(text: str) -> str:
    """Keep what can stand in a line; anything else becomes `?`."""
    return text if text.isprintable() else "".join(char if char.isprintable() else "?" for char in text)


def _clock(when: time) -> str:
    hour = when.hour % 12 or 12
    return f"{hour:2d}:{when:%M:%S}:{when.microsecond // 1000:03d}{'AM' if when.hour < 12 else 'PM'}"


def _rows(one: ResultSet) -> Iterator[str]:
    headings = [plain(name[:LONGEST_VALUE]) for name in one.columns]
    cells = [[value(what) for what in row] for row in one.rows]
    widths = [max(1, len(heading), *(len(row[at]) for row in cells)) for at, heading in enumerate(headings)]
    right = [_is_number([row[at] for row in one.rows]) for at in range(len(headings))]
    for at in range(len(headings) - 1):
        widths[at] += not right[at]  # as wide as its type in isql: two blanks at least part a text from what follows
    yield _line(headings, widths, [False] * len(headings))
    yield "".join(f" {'-' * width}" for width in widths)
    yield from (_line(row, widths, right) for row in cells)
    yield ""
    yield f"({len(cells)} row{'' if len(cells) == 1 else 's'} affected)"


def _is_number(column: Sequence[object]) -> bool:
    """Whether a column is printed at the right: it holds numbers alone."""
    there = [what for what in column if what is not None]
    return bool(there) and all(isinstance(what, int | float | Decimal) for what in there)


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    pairs = zip(cells, widths, right, strict=True)
    return "".join(f" {cell:>{width}}" if at_right else f" {cell:<{width}}" for cell, width, at_right in pairs)


def _said(one: Message) -> Iterator[str]:
    """A message line by line; its tabs stay, because sp_sysmon lays a line out with one."""
    for line in one.text[:LONGEST_MESSAGE].splitlines() or [""]:
        yield "\t".join(plain(piece) for piece in line.split("\t"))
