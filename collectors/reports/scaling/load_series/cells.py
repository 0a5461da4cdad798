"""Cells of a line: how it is split, and what number a cell holds."""

import csv
import math
import re
from collections.abc import Iterable

PLAIN = re.compile(r"-?(?:[0-9]{1,18}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})(?:[eE][-+]?[0-9]{1,2})?")
COMMA_GROUPS = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]{1,18})?")
DOT_GROUPS = re.compile(r"-?[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]{1,18})?")
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


def commas_decimal(lines: Iterable[str]) -> tuple[bool, str | None]:
    """Whether commas between semicolons are decimal signs; and a cell, where only groups of three follow the commas."""
    cells = [cell.strip('" %') for line in lines for cell in line.split(";")]
    with_comma = [cell for cell in cells if COMMA.fullmatch(cell)]
    if any(COMMA_GROUPS.fullmatch(cell) and (cell.count(",") > 1 or "." in cell) for cell in cells):
        return False, None
    alike = with_comma and all(COMMA_GROUPS.fullmatch(cell) for cell in with_comma)
    return bool(with_comma), with_comma[0] if alike else None
