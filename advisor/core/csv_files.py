"""CSV files that a spreadsheet will open: a line at a time, and no text of them computes anything."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.http import StreamingHttpResponse

CSV = "text/csv; charset=utf-8"
STEERS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""First characters that make a spreadsheet compute a cell; the full-width signs do so in East Asian ones."""


def safe_cell(text: str) -> str:
    """Make a text safe as a cell: one that a spreadsheet would take for a formula gets an apostrophe before it.

    For text alone: write numbers as numbers, or `-5` becomes a text. Quoting is left to the `csv` module.
    """
    return f"'{text}" if text.startswith(STEERS) else text


class _Line:
    """What the csv module writes to: it hands each line on."""

    def write(self, line: str) -> str:
        return line


def csv_lines(heading: Sequence[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """The lines of a file, the names of the columns first: texts made safe, figures as figures, nothing for `None`."""
    writer: Any = csv.writer(_Line())
    yield writer.writerow(map(safe_cell, heading))
    for row in rows:
        yield writer.writerow([safe_cell(one) if isinstance(one, str) else one for one in row])


def csv_answer(name: str, heading: Sequence[str], rows: Iterable[Iterable[Any]]) -> StreamingHttpResponse:
    """The file as a download called `name`, sent while it is made."""
    answer = StreamingHttpResponse(csv_lines(heading, rows), content_type=CSV)
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
