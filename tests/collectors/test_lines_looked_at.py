"""A reader looks at each line of a report a bounded number of times, however many lines there are.

What it looks at is counted, not timed: a slice of all lines below, taken for each line, is quick on every export that a
test holds and takes minutes on one of 50 MB.
"""

from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, SupportsIndex, overload

import pytest

import collectors.read
from collectors.read import read_stream
from collectors.registry import Report

EXPORTS = Path(__file__).resolve().parent.parent / "exports"
KINDS = sorted({path.parent for path in EXPORTS.glob("*/*/*.yml")})
FEW, MANY = 150, 600
"""Lines of which a report is made, at least."""
BEYOND = 2.0
"""How many times more often than there are more lines they may be looked at: a heading looks at some lines above."""


class Counted(list[str]):
    """Lines that count how often one of them is given to the reader."""

    looks = 0

    def __iter__(self) -> Iterator[str]:
        """All of them."""
        for line in super().__iter__():
            Counted.looks += 1
            yield line

    @overload
    def __getitem__(self, at: SupportsIndex) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> list[str]: ...

    def __getitem__(self, at: Any) -> Any:
        """One of them, or some."""
        found = super().__getitem__(at)
        Counted.looks += len(found) if isinstance(at, slice) else 1
        return found


class Watched(Report):
    """A report whose lines are counted."""

    def __init__(self, file: str, first: int, lines: Sequence[str], before: Sequence[str] = ()) -> None:
        """As a report."""
        super().__init__(file, first, Counted(lines), before)


@pytest.mark.long
@pytest.mark.parametrize("folder", KINDS, ids=[f"{folder.relative_to(EXPORTS)}" for folder in KINDS])
def test_a_reader_looks_at_no_line_more_often_in_a_longer_report(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collectors.read, "Report", Watched)
    for path in sorted(folder.iterdir()):
        if path.suffix == ".yml":
            continue
        text = path.read_bytes()
        few = FEW // max(1, text.count(b"\n")) + 1
        looks = []
        for times in (few, few * MANY // FEW):
            Counted.looks = 0
            read_stream(path.name, BytesIO(text * times))
            looks.append(Counted.looks)
        assert looks[1] <= BEYOND * MANY / FEW * looks[0], (path.name, looks)
