"""Where the screens of a file begin and end, and what their headers say."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from collectors.facts.base import ABSENT, Reading
from collectors.layouts.figures import reading
from collectors.layouts.vms import first_moment, span

NODE_LINE = (
    r"^\s{0,20}Node:\s{0,9}\S{1,32}\s"
    r"(?:.{0,250}\bOracle Rdb\s{1,3}[VXT][0-9]|\s{0,9}\([0-9]{1,3}/[0-9]{1,3}/[0-9]{1,3}\)\s)"
)
RATE_LINE = r"^\s{0,20}Rate:\s{0,9}[0-9.]{1,9}\s{1,9}Seconds?\b"
COLUMNS_LINE = r"^\s{0,9}statistic\.{3,80}\s.{0,20}rate\.per\b"
BEGINS = re.compile(NODE_LINE, re.IGNORECASE)
GOES_ON = re.compile(RATE_LINE, re.IGNORECASE)
TABLE = re.compile(COLUMNS_LINE, re.IGNORECASE)
FIGURE = re.compile(r"-?[0-9][0-9,]{0,20}(?:\.[0-9]{0,4})?|\.[0-9]{1,4}|\*{1,20}")
BODY = re.compile(r"\s*(?:statistic\.|name\.|process\b|area:page|journaling:|after-journal\.|-{8})", re.IGNORECASE)

NODE = re.compile(r"\bNode:\s{0,9}(?P<node>[A-Z0-9_$]{1,15})(?:::)?(?:\s{0,9}\((?P<nodes>[0-9]{1,3})/)?", re.IGNORECASE)
RELEASE = re.compile(r"\bOracle Rdb\s{1,3}(?P<release>[VXT][0-9](?:[0-9A-Z.-]{0,19}[0-9A-Z])?)", re.IGNORECASE)
RATE = re.compile(r"\bRate:\s{0,9}(?P<rate>[0-9.]{1,9})\s", re.IGNORECASE)
ELAPSED = re.compile(
    r"\bElapsed:\s{0,9}(?P<elapsed>(?:[0-9]{1,5}\s{1,3})?[0-9]{1,5}:[0-9]{2}:[0-9.]{2,9})", re.IGNORECASE
)
PAGE = re.compile(r"\bPage:\s{0,9}(?P<page>[0-9]{1,5}) of [0-9]{1,5}\b", re.IGNORECASE)
MODE = re.compile(r"\bMode:\s{0,9}(?P<mode>[A-Z]{3,12})\b", re.IGNORECASE)
TITLE = re.compile(
    r"\bRate:\s{0,9}[0-9.]{1,9}\s{1,9}Seconds?\s{1,250}(?P<title>(?!Elapsed:|Page:)\S.{0,120}?)\s{1,250}(?:Elapsed|Page):",
    re.IGNORECASE,
)
ROOT = re.compile(r"\bPage:\s{0,9}[0-9]{1,5} of [0-9]{1,5}\s{1,250}(?P<root>\S.{0,255}?)\s{1,250}Mode:", re.IGNORECASE)
TITLES = (
    "Summary Locking Statistics",
    "Summary IO Statistics",
    "Process Lock Overview",
    "Active User Stall Messages",
    "Stall Messages",
    "Lock Timeout History",
    "Lock Deadlock History",
    "Hot Row Information",
    "File IO Overview",
    "AIJ Journal Information",
)
"""Of these a title that a narrow terminal cut is known by its beginning."""
FOR_FILE = re.compile(r"\s{0,20}For File:\s{1,9}(?P<file>\S{1,255})\s*$", re.IGNORECASE)
"""Below the header of File IO Statistics: which file the figures are of (recalled). Each has a screen of its own."""
BEHIND_TITLE = re.compile(r"\s+(?:El?|Elap?|Elapse?|Elapsed:?(?:\s.*)?)$", re.IGNORECASE)
LEAST_OF_TITLE = len("Summary Lo")
MOST_HEADER_LINES = 8
"""With those that a narrow terminal or a mail breaks; unbroken it has three."""


@dataclass(frozen=True)
class Screen:
    """One screen as written: its header, and which lines are its body. Lines are counted within the report."""

    first: int
    body: int
    end: int
    """The first line that is no longer of it."""
    title: str
    node: str | None = None
    release: str | None = None
    at: datetime | None = None
    elapsed: float | None = None
    rate: Reading = ABSENT
    mode: str | None = None
    page: Reading = ABSENT
    database: str | None = None
    merged: bool | None = None
    title_cut: bool = False
    """Whether the title may have lost its end on a narrow terminal."""
    file: str | None = None
    """The one file that its figures are of, as the line `For File:` names it; then part of the title as well."""


def screens_of(lines: Sequence[str]) -> Iterator[Screen]:
    """Each screen in turn; one without any header has no title."""
    starts = list(_starts(lines))
    for first, end in pairwise([*starts, len(lines)]):
        body = _body(lines, first, end)
        made = _screen(" ".join(line.strip() for line in lines[first:body]), first, body, end)
        for_file = next(filter(None, map(FOR_FILE.match, lines[body:end])), None)
        if for_file and made.title:
            made = replace(made, file=for_file["file"], title=f"{made.title} ({for_file['file']})")
        yield made


def figures_of(line: str, most: int = 5) -> tuple[str, list[str]]:
    """Part a line into its label, leading blanks kept, and the figures that end it, at most so many."""
    parts = line.rsplit(None, most)
    tail: list[str] = []
    while len(parts) > 1 and FIGURE.fullmatch(parts[-1]):
        tail.insert(0, parts.pop())
    return (parts[0] if len(parts) == 1 else line), tail


def _starts(lines: Sequence[str]) -> Iterator[int]:
    header = -MOST_HEADER_LINES
    rated = tabled = True
    for index, line in enumerate(lines):
        if BEGINS.match(line):
            header, rated, tabled = index, False, False
            yield index
        elif GOES_ON.match(line):
            if rated or index - header >= MOST_HEADER_LINES:
                header, tabled = index, False
                yield index
            rated = True
        elif TABLE.match(line):
            if tabled:
                header = index
                yield index
            tabled = True


def _body(lines: Sequence[str], first: int, end: int) -> int:
    """Where the header ends: behind its `Mode:`, or where columns or figures begin."""
    taken = 0
    for index in range(first, end):
        if not lines[index].strip():
            continue  # a paste may have a blank line behind each
        if taken == MOST_HEADER_LINES or BODY.match(lines[index]) or len(figures_of(lines[index])[1]) == 5:
            return index
        if MODE.search(lines[index]):
            return index + 1
        taken += 1
    return end


def _screen(text: str, first: int, body: int, end: int) -> Screen:
    node, found, root = NODE.search(text), TITLE.search(text), ROOT.search(text)
    release, rate, elapsed = RELEASE.search(text), RATE.search(text), ELAPSED.search(text)
    page, mode = PAGE.search(text), MODE.search(text)
    title, title_cut = " ".join(found["title"].split()) if found else "", False
    if found and elapsed is None:
        title, title_cut = _whole(title)
    return Screen(
        first,
        body,
        end,
        title=title,
        node=node["node"].upper() if node else None,
        release=release["release"].upper() if release else None,
        at=first_moment(text),
        elapsed=span(elapsed["elapsed"]) if elapsed else None,
        rate=reading(rate["rate"]) if rate else ABSENT,
        mode=mode["mode"].capitalize() if mode else None,
        page=reading(page["page"]) if page else ABSENT,
        database=_unbroken(root["root"]) if root else None,
        merged=int(node["nodes"]) > 1 if node and node["nodes"] else None,
        title_cut=title_cut,
    )


def _whole(title: str) -> tuple[str, bool]:
    """A title that no elapsed time follows, and whether it may be cut: not where its end is known by its beginning."""
    if (ended := BEHIND_TITLE.sub("", title)) != title or title.endswith(")"):
        return ended, False
    known = [one for one in TITLES if one.lower().startswith(title.lower())]
    return (known[0], False) if len(title) >= LEAST_OF_TITLE and len(known) == 1 else (title, True)


def _unbroken(root: str) -> str:
    """The root file without the blanks where a narrow screen broke it; `^ ` is a blank of its name (ODS-5)."""
    return re.sub(r"(?<!\^)\s+", "", re.sub(r"\s", " ", root))
