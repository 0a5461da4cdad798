"""The very lines of the export behind each figure: read again from the file, so that nothing need be kept in memory."""

from typing import Any

from collectors.intake import UNREADABLE, open_all
from collectors.text import NotText, blocks

MOST_LINES = 3
LONGEST = 160


def add_excerpts(data: dict[str, Any]) -> None:
    """Add `excerpt` (at most three lines, cut at 160 characters) to each piece of evidence whose file can be read."""
    wanted: dict[str, dict[int, str]] = {}
    evidence = [e for capture in data["captures"] for finding in capture["findings"] for e in finding["evidence"]]
    for item in evidence:
        first, last = item["lines"]
        if item["file"] and first:
            numbers = range(first, min(last, first + MOST_LINES - 1) + 1)
            wanted.setdefault(item["file"], {}).update(dict.fromkeys(numbers, ""))
    for file, lines in wanted.items():
        _fetch(file, lines)
    for item in evidence:
        first, last = item["lines"]
        found = wanted.get(item["file"], {})
        lines_of = [
            found[number] for number in range(first, min(last, first + MOST_LINES - 1) + 1) if found.get(number)
        ]
        item["excerpt"] = lines_of


def _fetch(file: str, lines: dict[int, str]) -> None:
    """Fill in the lines asked for; a file that has gone or came through a pipe leaves them empty."""
    last = max(lines)
    for named in _candidates(file):
        if named.name != file or named.stream is None:
            continue
        try:
            for first, block in blocks(named.stream, lambda problem: None):
                for number in range(first, first + len(block)):
                    if number in lines:
                        lines[number] = block[number - first].rstrip().expandtabs()[:LONGEST]
                if first + len(block) > last:
                    return
        except (NotText, *UNREADABLE):
            return


def _candidates(file: str) -> "Any":
    """Open the file, or the archive it is a member of."""
    if file == "-":
        return iter(())
    return (named for path in _outer(file) for named in open_all([path], None))  # type: ignore[arg-type]


def _outer(file: str) -> list[str]:
    from pathlib import Path

    path = Path(file)
    while not path.exists() and path != path.parent:
        path = path.parent
    return [str(path)] if path.is_file() else []
