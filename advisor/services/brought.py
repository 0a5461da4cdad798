"""What became of an upload: the report each file was taken for, the system it belongs to, the lines not understood."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from advisor.models import Capture, Input, Upload
from advisor.services.capturing import spooled
from advisor.services.excerpts import fetch_lines

AROUND = 12
"""Lines shown before and after the ones a finding quotes."""
MOST_SHOWN = 400
LONGEST_SHOWN = 2000


@dataclass(frozen=True)
class Row:
    """One report of one file, and the captures its facts went to."""

    input: Input
    captures: tuple[Capture, ...]
    place: str
    """The file it stands in, or the archive and its member."""

    @property
    def systems(self) -> list[Any]:
        """Its systems, each once."""
        return list({capture.system_id: capture.system for capture in self.captures}.values())

    @property
    def lines_left(self) -> int:
        """How many lines were not understood."""
        return sum(run["lines"][1] - run["lines"][0] + 1 for run in self.input.leftovers)


def rows_of(upload: Upload) -> list[Row]:
    """Every report of an upload, in the order of its files."""
    captures = list(upload.captures.select_related("system", "audit").order_by("taken", "id"))
    of_file: dict[str, list[Capture]] = {}
    for capture in captures:
        for file in capture.files:
            of_file.setdefault(file, []).append(capture)
    return [Row(one, tuple(of_file.get(one.file, ())) if one.facts else (), one.file) for one in upload.inputs.all()]


def captures_by_system(upload: Upload) -> list[tuple[Any, list[Capture]]]:
    """The captures of an upload under their systems."""
    found: dict[int, tuple[Any, list[Capture]]] = {}
    for capture in upload.captures.select_related("system", "audit").order_by("system__name", "taken", "id"):
        found.setdefault(capture.system_id, (capture.system, []))[1].append(capture)
    return list(found.values())


def lines_around(upload: Upload, file: str, first: int, last: int) -> list[tuple[int, str, bool]]:
    """The lines of a file around those quoted: number, text, whether quoted; empty where the bytes have gone."""
    last = min(max(first, last), first + MOST_SHOWN)
    start = max(1, first - AROUND)
    wanted: dict[int, str | None] = dict.fromkeys(range(start, last + AROUND + 1))
    with spooled(upload) as files:
        fetch_lines(file, wanted, files.streams, LONGEST_SHOWN)
    return list(_marked(wanted, first, last))


def _marked(lines: dict[int, str | None], first: int, last: int) -> Iterator[tuple[int, str, bool]]:
    for number, text in lines.items():
        if text is not None:
            yield number, text, first <= number <= last
