"""Data as a DBA reads it: tables with a heading, columns parted by `|`, and rates where the heading ends in `/s`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Rate:
    """A counter that grows by so much a second."""

    per_second: float


Row = Mapping[str, Any]


def rows(text: str) -> list[dict[str, Any]]:
    """Read a table. `-` is NULL, a figure is a number, `\\n` a line feed. Raises `ValueError` for a ragged row.

    A column whose heading is `Grabs/s` gives `Grabs` as a `Rate`.
    """
    lines = [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines() if line.strip()]
    heading, *body = lines
    return [_row(heading, cells) for cells in body]


def _row(heading: list[str], cells: list[str]) -> dict[str, Any]:
    if len(cells) != len(heading):
        raise ValueError(f"{len(cells)} cells under {len(heading)} headings: {cells}")
    return {
        name.removesuffix("/s"): Rate(float(cell)) if name.endswith("/s") else _value(cell)
        for name, cell in zip(heading, cells, strict=True)
    }


def _value(cell: str) -> Any:
    if cell == "-":
        return None
    for number in (int, float):
        try:
            return number(cell)
        except ValueError:
            continue
    return cell.replace("\\n", "\n")
