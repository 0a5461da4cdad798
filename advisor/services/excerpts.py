"""The very lines of the export behind each figure: read again from the file, so that nothing need be kept in memory."""

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from collectors.intake import UNREADABLE, Named, open_all
from collectors.text import NotText, blocks

WHOLE_LINES = 3
"""A place of so many lines is quoted whole; of a longer one the line that shows the figure."""
MOST_LINES = 60
LONGEST = 160


Opener = Callable[[str], Iterator[Named]]
"""Opens the file of this name, or the archive it is a member of; nothing where it has gone."""


def add_excerpts(data: dict[str, Any], opener: Opener | None = None) -> None:
    """Add `excerpt` (at most three lines, cut at 160 characters) to each piece of evidence whose file can be read.

    Figures of one finding that stand in the same place quote it once. `opener` is for files that lie elsewhere than
    their names say.
    """
    findings = [finding for capture in data["captures"] for finding in capture["findings"]]
    evidence = [item for finding in findings for item in finding["evidence"]]
    wanted: dict[str, dict[int, str | None]] = {}
    for item in evidence:
        wanted.setdefault(item["file"], {}).update(dict.fromkeys(_numbers(item)))
    for file, lines in wanted.items():
        if lines:
            fetch_lines(file, lines, opener or _candidates)
    for finding in findings:
        quoted: list[list[str]] = []
        for item in finding["evidence"]:
            found = wanted[item["file"]]
            lines_of = _quote(item["value"], [found[number] or "" for number in _numbers(item)])
            item["excerpt"] = [] if lines_of in quoted else lines_of
            quoted.append(lines_of)


def _numbers(item: dict[str, Any]) -> range:
    """The lines of one piece of evidence, unless they are too many to look through."""
    first, last = item["lines"]
    return range(first, last + 1) if item["file"] and 0 < first <= last < first + MOST_LINES else range(0)


def _quote(value: Any, lines: list[str]) -> list[str]:
    """The whole place where it is short; of a longer one the first line that shows the figure; else nothing."""
    if len(lines) <= WHOLE_LINES:
        return [line for line in lines if line]
    if not isinstance(value, int | float):
        return []
    for form in dict.fromkeys((f"{value:g}", f"{value:.0f}", f"{value:,.0f}", f"{value:.1f}", f"{value:.2f}")):
        shown = re.compile(rf"(?<![\w.,]){re.escape(form)}(?![\w.,]*[0-9])")
        for line in lines:
            if float(form.replace(",", "")) == value and shown.search(line):
                return [line]
    return []


def fetch_lines(file: str, lines: dict[int, str | None], opener: Opener, longest: int = LONGEST) -> None:
    """Fill in the lines asked for by number, cut at `longest`; a file that has gone leaves them `None`."""
    last = max(lines)
    for named in opener(file):
        if named.name != file or named.stream is None:
            continue
        try:
            for first, block in blocks(named.stream, lambda problem: None):
                for number in range(first, first + len(block)):
                    if number in lines:
                        lines[number] = block[number - first].rstrip().expandtabs()[:longest]
                if first + len(block) > last:
                    return
        except (NotText, *UNREADABLE):
            return


def _candidates(file: str) -> Iterator[Named]:
    """Open the file, or the archive it is a member of."""
    path = Path(file)
    try:
        while not path.exists() and path != path.parent:
            path = path.parent
        return open_all([str(path)], io.BytesIO()) if file != "-" and path.is_file() else iter(())
    except (OSError, ValueError):  # a member's name too long for a path, or no path at all
        return _candidates(str(path.parent)) if path != path.parent else iter(())
