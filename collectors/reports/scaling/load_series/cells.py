"""Cells of a line: how it is split, and what number a cell holds."""

import csv
import math
import re
from collections.abc import Iterable, Sequence

PLAIN = re.compile(r"-?(?:[0-9]{1,18}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})(?:[eE][-+]?[0-9]{1,2})?")
COMMA_GROUPS = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]{1,18})?")
DOT_GROUPS = re.compile(r"-?[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]{1,18})?")
WHOLE = re.compile(r"[1-9][0-9]{2,17}")
COMMA = re.compile(r"-?[0-9]{1,18},[0-9]{1,18}")


def split(line: str, delimiter: str) -> list[str]:
    """The cells of a line; two blanks stand for columns that are set apart by two or more, or by tabs."""
    if delimiter in (" ", "  "):
        return [cell for cell in re.split(r"\s+" if delimiter == " " else r"\s\s+|\t", line.strip()) if cell]
    if delimiter == "|":
        return line.strip().strip("|").split("|")
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def number(text: str, *, commas_decimal: bool, comma_parts: bool) -> float | None:
    """What a cell holds; `None` where that is no finite number. `comma_parts`: commas stand between the cells."""
    text = text.strip('" %')
    if commas_decimal:
        if COMMA.fullmatch(text) or DOT_GROUPS.fullmatch(text):
            text = text.replace(".", "").replace(",", ".")
    elif COMMA_GROUPS.fullmatch(text):
        text = text.replace(",", "")
    elif not comma_parts and COMMA.fullmatch(text):
        text = text.replace(",", ".")
    found = float(text) if PLAIN.fullmatch(text) else math.nan
    return found if math.isfinite(found) else None


def point_groups(rows: Iterable[Sequence[str]]) -> dict[int, str]:
    """The columns in which points part thousands, each with a cell that has one.

    `1.234` alone may be either. Where every point of a column stands before three digits, and other cells of it are
    whole and have three digits or more, they are thousands: `950`, then `1.234`.
    """
    found: dict[int, str] = {}
    whole: set[int] = set()
    other: set[int] = set()
    for row in rows:
        for at, text in enumerate(cell.strip('" %') for cell in row):
            if DOT_GROUPS.fullmatch(text) and "," not in text and not text.startswith(("0", "-")):
                found.setdefault(at, text)
            elif "." in text:
                other.add(at)
            elif WHOLE.fullmatch(text):
                whole.add(at)
    return {at: text for at, text in found.items() if at in whole and at not in other}


def points_unsure(rows: Sequence[Sequence[str]]) -> dict[int, str]:
    """The columns whose every cell has a point before exactly three digits, each with its first cell: either reading.

    `371.357` may be 371,357. Two rows at least; a zero in front (`0.125`) is a fraction.
    """
    found: dict[int, str] = {}
    for at in range(min(map(len, rows), default=0)):
        cells = [row[at].strip('" %') for row in rows]
        if len(cells) > 1 and all(DOT_GROUPS.fullmatch(one) and one[0] not in "0-" and "," not in one for one in cells):
            found[at] = cells[0]
    return found


def commas_decimal(lines: Iterable[str]) -> tuple[bool, str | None]:
    """Whether commas between semicolons are decimal signs; and a cell, where only groups of three follow the commas."""
    cells = [cell.strip('" %') for line in lines for cell in line.split(";")]
    with_comma = [cell for cell in cells if COMMA.fullmatch(cell)]
    if any(COMMA_GROUPS.fullmatch(cell) and (cell.count(",") > 1 or "." in cell) for cell in cells):
        return False, None
    alike = with_comma and all(COMMA_GROUPS.fullmatch(cell) for cell in with_comma)
    return bool(with_comma), with_comma[0] if alike else None
