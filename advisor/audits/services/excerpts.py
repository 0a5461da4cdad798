"""The very lines of the export behind each figure: read again from the file, so that nothing need be kept in memory."""

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from collectors.intake import UNREADABLE, Named, open_all
from collectors.registry import FIRST_BYTES, recorded_by
from collectors.text import Begun, NotText, blocks

WHOLE_LINES = 3
"""A place of so many lines is quoted whole; of a longer one the line that says the figure, if any does."""
MOST_LINES = 60
LONGEST = 160

T4_ROW = re.compile(r"\s*\"?[0-9]{1,2}-[A-Z]{3}-[0-9]{4}[ :T][ 0-9:.]*\"?\s*,", re.IGNORECASE)
NUMBER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?")
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
NO_FIGURE = re.compile(
    rf"\b{MONTH}\s{{1,9}}[0-9]{{1,2}}(?:,?\s{{1,9}}[0-9]{{4}})?\b|\b[0-9]{{1,2}}\s{{1,9}}{MONTH}\s{{1,9}}[0-9]{{4}}\b"
    r"|\b(?:version|release|EBF|ESD\s{0,9}#|SP)[:\s]{0,9}[0-9][\w./]*",
    re.IGNORECASE,
)
"""Dates in words, releases; times and dates in digits are no numbers by their punctuation."""
WORD = re.compile(r"[a-z]{3,40}")
IDLE = frozenset(("and", "are", "for", "from", "its", "not", "per", "than", "that", "the", "there", "this", "with"))
"""Words that tell nothing, in the form that `_singular` gives."""
COMPUTED = re.compile(r"\b(?:p95|percentile|mean|median|sum|share)\b", re.IGNORECASE)
"""A metric so called is worked out of several figures."""

Opener = Callable[[str], Iterator[Named]]
"""Opens the file of this name, or the archive it is a member of; nothing where it has gone."""


def add_excerpts(data: dict[str, Any], opener: Opener | None = None) -> None:
    """Add `excerpt` (at most three lines, cut at 160 characters) to each piece of evidence whose file can be read.

    It is empty where no line can be told to be the source: rather no quote than a wrong one.

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
            lines_of = _quote(item, [found[number] or "" for number in _numbers(item)])
            item["excerpt"] = [] if lines_of in quoted else lines_of
            quoted.append(lines_of)


def _numbers(item: dict[str, Any]) -> range:
    """The lines of one piece of evidence, unless they are too many to look through."""
    first, last = item["lines"]
    return range(first, last + 1) if item["file"] and 0 < first <= last < first + MOST_LINES else range(0)


def _quote(item: dict[str, Any], lines: list[str]) -> list[str]:
    """The whole place where it is short; of a longer one the line that says the figure beyond doubt; else nothing.

    Beyond doubt: no other line of the place shows the number, and this one shares a word with the metric's name. What
    was worked out of several figures has no line of its own. Rows of a T4 file are never quoted: dozens of numbers
    without a name.
    """
    value, metric = item["value"], item["metric"]
    if COMPUTED.search(metric) or any(T4_ROW.match(line) for line in lines):
        return []
    if len(lines) <= WHOLE_LINES:
        return [line for line in lines if line]
    if not isinstance(value, int | float):
        return []
    shown = [line for line in lines if value in _numbers_in(line)]
    return shown if len(shown) == 1 and _words(metric) & _words(shown[0]) else []


def _numbers_in(line: str) -> Iterator[float]:
    """Every number that stands by itself: no part of a time, date, release or longer word."""
    for token in NO_FIGURE.sub(" ", line).split():
        if NUMBER.fullmatch(bare := token.strip("()[]{}<>\"'*;:,").removesuffix("%")):
            yield float(bare.replace(",", ""))


def _words(text: str) -> set[str]:
    """The words of three letters or more, in the singular."""
    return {_singular(word) for word in WORD.findall(text.lower())} - IDLE


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def fetch_lines(file: str, lines: dict[int, str | None], opener: Opener, longest: int = LONGEST) -> None:
    """Fill in the lines asked for by number, cut at `longest`; a file that has gone leaves them `None`."""
    last = max(lines)
    for named in opener(file):
        if named.name != file or named.stream is None:
            continue
        begun = Begun(named.stream, FIRST_BYTES)
        if recorded_by(begun.start):  # its lines are numbers of records
            return
        try:
            for first, block in blocks(begun, lambda problem: None):  # type: ignore[arg-type]  # reads like one
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
