"""The columns and rows of a page of Performance Toolkit, whatever its number.

Data rows are lines most of whose words are figures; what stands above the first of them heads the columns [D,
zvm-unix-scalability.md a2]. A heading belongs to the column whose figures it stands over, a group to all columns within
its dashes, so the blanks must be those of the page::

              <------- CPU --------> <--Users-->
    Interval   Pct             On-   Log-
    End Time  Busy   T/V  Capt line  ged   Activ
    >>Mean>>  61.5  1.38 .9712  9.0   612    598

Figures have no zero before their point, and large ones may end in `k` or `M` [R]; `---` is not available.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from collectors.facts.base import ABSENT, OVERFLOW, Reading, number_or
from collectors.facts.zvm import PerfkitPage
from collectors.registry import Report

LONGEST = 400
"""Characters of a line that are looked at; a page is at most 133 wide, a screen of SYSSUMLG less than 250."""
TIME = re.compile(r"[0-9]{2}:[0-9]{2}(?::[0-9]{2})?")
MEAN = re.compile(r">{1,2}Mean>{1,2}", re.IGNORECASE)
FIGURE = re.compile(r"[-+]?(?:[0-9]{1,15}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})[kKMG]?")
FILLER = re.compile(r"-{2,8}|\.{2,8}|\*{1,15}")
GROUP = re.compile(r"<[-= ]{0,80}(?P<name>[^<>]{0,60}?)[-= ]{0,80}>")
WORD = re.compile(r"\S+")
TIMES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of figures; it is cut when it is asked, as a log may have very many."""

    index: int
    line: str

    @property
    def tokens(self) -> tuple[str, ...]:
        """Its words, cut at blanks."""
        return tuple(self.line.split())

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Where each word begins and ends."""
        return [word.span() for word in WORD.finditer(self.line)]


@dataclass(frozen=True)
class Column:
    """What stands over one column: its group, and its own words from top to bottom."""

    group: str
    name: str

    @property
    def key(self) -> str:
        """The name in small letters without blanks and hyphens: `C P U` is `cpu`, `On- line` is `online`."""
        return re.sub(r"[\s\-.]+", "", self.name).lower()


@dataclass
class Page:
    """One page, cut into its parts; `heads` and `rows` are indexes into the report's lines."""

    fact: PerfkitPage
    heads: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)


def cut(report: Report, fact: PerfkitPage) -> Page:
    """Part the lines below the page's own heading; nothing is claimed yet.

    The headings of the columns are the lines that touch each other above the first row.
    """
    page = Page(fact)
    above = -1
    for index, line in enumerate(report.lines):
        if report.claimed[index] or not line.strip():
            continue
        if is_row(line[:LONGEST].split()):
            page.rows.append(Row(index, line[:LONGEST]))
        elif not page.rows:
            page.heads = [*page.heads, index] if above == index - 1 else [index]
            above = index
    return page


def is_row(tokens: Sequence[str]) -> bool:
    """Whether this is a line of figures: its first word is a time or `>>Mean>>`, or at least half of it is figures."""
    figures = sum(1 for token in tokens if FIGURE.fullmatch(token))
    fillers = sum(1 for token in tokens if FILLER.fullmatch(token))
    if tokens and (MEAN.fullmatch(tokens[0]) or TIME.fullmatch(tokens[0])):
        return figures + fillers > 0
    return figures > 0 and figures + fillers >= max(2, len(tokens) / 2)


def columns(report: Report, page: Page) -> tuple[Column, ...]:
    """What heads each column of the rows with the usual number of tokens; empty where there is no such row.

    Empty, too, where two words of one line that stand apart are over one column: then a column is missing from the
    rows, and nobody can tell which. (`Diag X'9C'` is one name.)
    """
    if not page.rows:
        return ()
    usual = Counter(len(row.tokens) for row in page.rows).most_common(1)[0][0]
    spans = [row.spans for row in page.rows if len(row.tokens) == usual][:200]
    begins = [min(one[at][0] for one in spans) for at in range(usual)]
    ends = [max(one[at][1] for one in spans) for at in range(usual)]
    names: list[list[str]] = [[] for _ in range(usual)]
    groups: list[list[str]] = [[] for _ in range(usual)]
    for index in page.heads:
        line = report.lines[index][:LONGEST]
        for bar in GROUP.finditer(line):
            for at in range(usual):
                if bar.start() <= (begins[at] + ends[at]) / 2 <= bar.end() and bar["name"].strip():
                    groups[at].append(" ".join(bar["name"].split()))
        last = (-1, 0)
        for word in WORD.finditer(GROUP.sub(lambda bar: " " * len(bar[0]), line)):
            at = _over(word.start(), word.end(), ends)
            if last[0] == at and word.start() > last[1] + 1:
                return ()
            last = at, word.end()
            names[at].append(word[0])
    return tuple(Column(" ".join(group), " ".join(name)) for group, name in zip(groups, names, strict=True))


def _over(begin: int, end: int, ends: Sequence[int]) -> int:
    """The column that a word stands over: figures stand right, so a column reaches from the end of the one before."""
    first = min(bisect_left(ends, begin + 1), len(ends) - 1)
    last = min(bisect_left(ends, end), len(ends) - 1)
    edges = [0, *ends]
    return max(range(first, last + 1), key=lambda at: min(end, edges[at + 1]) - max(begin, edges[at]))


def claim_heads(report: Report, page: Page) -> None:
    """The headings of the columns were understood."""
    for index in page.heads:
        report.claim(index)


def figure(token: str) -> Reading:
    """Read `.249`, `1234`, `12k`; `---` and `...` are absent, asterisks overflow."""
    if token and not token.strip("*"):
        return OVERFLOW
    if not FIGURE.fullmatch(token):
        return ABSENT
    return float(token[:-1]) * TIMES[token[-1]] if token[-1] in TIMES else float(token)


def half_digit(token: str) -> float:
    """Half of the last printed digit: what rounding may have taken from this figure."""
    scale = TIMES.get(token[-1:], 1.0)
    return 0.5 * scale * 10.0 ** -len(token.rstrip("kKMG").partition(".")[2])


def by_time(rows: Iterable[Row]) -> Iterator[tuple[str, Row]]:
    """Each row with `mean` or its end time."""
    for row in rows:
        if MEAN.fullmatch(row.tokens[0]):
            yield "mean", row
        elif TIME.fullmatch(row.tokens[0]):
            yield row.tokens[0], row


def find(columns: Sequence[Column], pattern: re.Pattern[str]) -> int | None:
    """The first column whose `key` matches as a whole."""
    return next((at for at, column in enumerate(columns) if pattern.fullmatch(column.key)), None)


def widest(rows: Iterable[tuple[str, Row]], at: int) -> list[tuple[str, Row]]:
    """The rows of the mean, and the one interval with the highest figure in this column: a log stays small."""
    means: list[tuple[str, Row]] = []
    top: tuple[float, tuple[str, Row]] | None = None
    for statistic, row in rows:
        if statistic == "mean":
            means.append((statistic, row))
            continue
        value = number_or(figure(row.tokens[at]), -1.0)
        if top is None or value > top[0]:
            top = (value, (statistic, row))
    return [*means, top[1]] if top else means
