"""Small tables of separated values, written by hand or by a script: their headings, their cells, their titles."""

import csv
import re
from collections.abc import Sequence

from collectors.registry import name_of

SEPARATORS = ",;\t|"


def cell(what: str) -> str:
    """A look ahead for the start of a report: somewhere in this separated line a cell holds just this."""
    return rf'(?=(?:[^,;\t|]{{0,60}}[,;\t|]){{0,40}}[ "]{{0,4}}(?:{what})[ "]{{0,20}}(?:[,;\t|]|$))'


def separator_of(line: str) -> str | None:
    """What parts the cells of a heading: the separator that it has most of."""
    separator = max(SEPARATORS, key=line.count)
    return separator if separator in line else None


def split(line: str, separator: str) -> list[str]:
    """The cells of a line, without the bars around a line of a box; empty where a quote does not close."""
    if separator == "|":
        line = line.strip().removeprefix("|").removesuffix("|")
    try:
        return [piece.strip() for piece in next(csv.reader([line], delimiter=separator, strict=True), [])]
    except csv.Error:
        return []


def fitted(cells: Sequence[str], columns: int) -> list[str]:
    """The cells without empty ones beyond the last column: trailing separators."""
    cells = list(cells)
    while len(cells) > columns and not cells[-1]:
        cells.pop()
    return cells


def title_of(file: str) -> str:
    """What a table without a title is called: its file's name without folder and suffix."""
    return re.sub(r"(?:\.[A-Za-z0-9]{1,5}){1,2}$", "", name_of(file)).strip("- ") or "standard input"
