"""Lines of figures: five from the right, the rest is the label; and whether the figures prove their columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts.base import ABSENT, Reading, Source, known
from collectors.facts.rdb import LOCK_ITEMS, StatisticRow
from collectors.layouts.figures import reading
from collectors.layouts.rmu import item_of, lock_type_of, words
from collectors.registry import Report
from collectors.reports.rdb.statistics.screens import Screen, figures_of

ORDER = ("max", "cur", "avg", "count", "per.trans")
NAMES = re.compile(r"\b(max|cur|avg|count|per\.trans)(?=\.|\s|$)", re.IGNORECASE)
LOCKING = re.compile(r"Locking\s{0,3}\((?P<what>[^()]{1,60})\)", re.IGNORECASE)
CUT_NAMES = re.compile(r"\s{0,9}name\.{3,80}\s", re.IGNORECASE)
"""How the heading begins that a narrow terminal cut: the columns it still names are whole, what follows is not."""
FIVE_COLUMNS = re.compile(r"\bLocking\b|\bStatistics\b", re.IGNORECASE)
"""Screens that have the five columns also where their heading was lost; others may have any columns."""
SUMMARY = re.compile(r"Summary Locking\b", re.IGNORECASE)
LONGEST_LABEL = 120
LEAST_AT_EDGE = 3
"""So many lines that end in one and the longest column, and no elapsed time: a narrow terminal cut them there."""
LEAST_COUNT = 50
"""A smaller total says little of a rate (this project)."""
LEAST_UNITS = 10
"""From so many units of its last digit on an average is held against the total: rounding is a tenth (this project)."""
SLACK = 0.01
"""Total and time are read one after the other: an average may be off by so much (this project)."""
LEAST_PROVING = 2
"""Rows that must agree: one may by chance (this project)."""


@dataclass(frozen=True)
class Row:
    """One line: its label, its figures by column, and the row that it is a part of."""

    index: int
    label: str
    figures: dict[str, Reading]
    unit: float
    """What one unit of the last digit of the average is worth."""
    whole: float
    """The same of the maximum: most screens print it without decimals, so 0.47 a second is 0."""
    parent: str | None = None


@dataclass(frozen=True)
class Table:
    """The rows of one screen, and what they say of their columns."""

    rows: tuple[Row, ...]
    order: tuple[str, ...]
    headed: bool
    cut: tuple[int, ...] = ()
    """Lines with a label and fewer figures than columns."""
    left: tuple[str, ...] = ()
    """The columns that a narrow terminal left; empty: all of them."""


def table_of(lines: Sequence[str], screen: Screen) -> Table:
    """Read the rows of a screen; the heading names the order of the columns where it is there."""
    order, headed = ORDER, False
    left: tuple[str, ...] = ()
    lengths = [len(line.expandtabs().rstrip()) for line in lines[screen.first : screen.end]]
    width = max(lengths, default=0)
    narrow = screen.elapsed is None and lengths.count(width) >= LEAST_AT_EDGE
    found: list[tuple[int, int, str, list[str]]] = []
    cut: list[int] = []
    for index in range(screen.body, screen.end):
        line = lines[index].expandtabs()
        names = tuple(name.lower() for name in NAMES.findall(line))
        if len(names) >= 3 and len(set(names)) == len(names):
            order, headed = (names if len(names) == len(ORDER) else ORDER), True
            left = names if names == ORDER[: len(names)] != ORDER else ()
            continue
        if names and CUT_NAMES.match(line) and names == ORDER[: len(names)]:
            headed, left = True, names
            continue
        label, figures = figures_of(line)
        if not re.search("[A-Za-z]", label):
            continue
        at_edge = narrow and len(line.rstrip()) == width
        short = left or at_edge or (narrow and len(figures) < len(ORDER))
        if short and headed and figures:
            cut.append(index)
            label, _ = figures_of(line, len(figures))
            figures = figures[: -1 if at_edge else None][: len(left) or None]
        elif len(figures) != len(ORDER) or not (headed or FIVE_COLUMNS.search(screen.title)):
            cut += [index] if figures and headed else []
            continue
        if figures:
            found.append((index, len(label) - len(label.lstrip()), " ".join(label.split())[:LONGEST_LABEL], figures))
    if cut and (narrow or left):
        most = max((len(figures) for *_, figures in found), default=0)
        left = order[:most] or left
    return Table(tuple(_rows(found, order)), order, headed, tuple(cut), left)


def _rows(found: Sequence[tuple[int, int, str, list[str]]], order: Sequence[str]) -> Iterator[Row]:
    outer = min((indent for _, indent, _, _ in found), default=0)
    parent: str | None = None
    for index, indent, label, figures in found:
        if indent == outer:
            parent = label
        by_name = dict(zip(order, figures, strict=False))  # the last ones may be cut off
        unit, whole = (10.0 ** -len(by_name.get(name, "").partition(".")[2]) for name in ("avg", "max"))
        values = {name: reading(by_name[name]) if name in by_name else ABSENT for name in order}
        yield Row(index, label, values, unit, whole, parent if indent > outer else None)


def proof(table: Table, elapsed: float | None) -> tuple[bool, int | None]:
    """Whether total ÷ elapsed = average and maximum >= the others; and the line that contradicts, if there is one.

    Each figure may be off by half of its last digit.
    """
    agree = 0
    for row in table.rows:
        top, mean, count = row.figures["max"], row.figures["avg"], row.figures["count"]
        least = max((one for one in (mean, row.figures["cur"]) if known(one)), default=0.0)
        if known(top) and top + (row.whole + row.unit) / 2 < least:
            return False, row.index
        if not (elapsed and known(mean) and known(count) and count >= LEAST_COUNT):
            continue
        expected = count / elapsed
        if max(expected, mean) < LEAST_UNITS * row.unit:
            continue
        if abs(expected - mean) > row.unit + SLACK * expected:
            return False, row.index
        agree += 1
    return agree >= LEAST_PROVING, None


def kind_of(title: str) -> tuple[str | None, str | None]:
    """Of a locking screen: its lock type, or the one item it shows of all types; `(None, None)` for other screens."""
    if SUMMARY.search(title):
        return "total", None
    found = LOCKING.search(title)
    if found is None:
        return None, None
    item = item_of(found["what"])
    return (None, item) if item in LOCK_ITEMS else (_type(found["what"]), None)


def _type(label: str) -> str:
    """The lock type; one that is not known here by its own name in small letters."""
    return lock_type_of(label) or " ".join(word for word in words(label) if word != "lock") or label.lower()


def facts_of(report: Report, screen: Screen, table: Table, *, unsure: bool) -> Iterator[StatisticRow]:
    """One fact per row."""
    lock_type, item = kind_of(screen.title)
    if table.left and screen.title_cut:
        return  # of what is cut off
    for row in table.rows:
        report.claim(row.index)
        number = report.first + row.index
        own = item_of(row.label) if _known(row) else None
        done = own == "transactions"  # heads each locking screen, and is no lock type
        yield StatisticRow(
            source=Source(report.file, number, number, unsure),
            database=screen.database,
            node=screen.node,
            screen=screen.title,
            item=(None if done else item) or own or _own(row),
            label=row.label,
            lock_type=None if done else _type(row.label) if item else lock_type,
            maximum_per_second=row.figures["max"],
            current_per_second=row.figures["cur"],
            mean_per_second=row.figures["avg"],
            count=row.figures["count"],
            per_transaction=row.figures["per.trans"],
        )


def _known(row: Row) -> bool:
    """Whether a label means what it means elsewhere: `transaction` below `unmark buffer` counts buffers."""
    return row.parent is None or item_of(row.parent) is not None


def _own(row: Row) -> str:
    """What a row that is not known here is called: with the row it is a part of, for `fragmented` stands twice."""
    return (f"{row.parent}: " if row.parent else "").lower() + row.label.lower()
