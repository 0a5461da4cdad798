"""Operations of a program on its records: how often each is done, and how many calls of fcntl it makes.

Sample::

    # title: STOCK, 2000 records a process
    operation,count,coarse fcntl calls,fine fcntl calls
    insert,3120,2,8
    fetch,28400,2,2
    total,31520,63040,81760

The calls are those of one operation, locked coarsely (one lock on the file) and finely (a lock on each chain and
record). A row `total` or `all` holds sums: of the counts, and of counts times calls; it is checked and is no operation.
Separated by commas, semicolons, tabs or bars; the order of the columns is free, and one of the two variants may be
missing. An empty cell is "not known" and never 0. Between blanks the table is not read, as operations have blanks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.facts.base import ABSENT, Reading, known
from collectors.facts.unix import LockingCalls
from collectors.layouts import figures
from collectors.layouts.separated import cell, fitted, separator_of, split, title_of
from collectors.leftovers import RULES
from collectors.registry import NotThisReport, Report, report

CALLS = r"(?:coarse|fine)(?:[ _-]grained)?(?:[ _]locking)?[ _:-]{1,3}(?:fcntl[ _])?calls?"
NAMES = {
    "operation": re.compile(r"operations?", re.IGNORECASE),
    "count": re.compile(r"(?:count|number|operations done)(?:[ _](?:per|of)[ _][a-z]{1,12})?", re.IGNORECASE),
    "coarse_calls": re.compile(CALLS.replace("|fine", ""), re.IGNORECASE),
    "fine_calls": re.compile(CALLS.replace("coarse|", ""), re.IGNORECASE),
}
START = re.compile(rf"^{cell('operations?')}{cell(CALLS)}")
REMARK = re.compile(r"\s{0,9}#")
TITLE = re.compile(r"\s{0,9}#\s{0,9}title\s{0,9}:?\s{0,9}(?P<title>\S.{0,200})", re.IGNORECASE)
TOTALS = {"total", "totals", "all", "sum"}
NOT_THERE = {"", "-", "--", "n/a", "na", "null"}
ROUNDING = 0.5
LONGEST = 80
"""Characters of an operation's name that are kept."""


@dataclass
class _Table:
    """One heading and what was read below it."""

    columns: dict[str, int]
    width: int
    separator: str
    title: str
    rows: list[LockingCalls] = field(default_factory=list)
    total: tuple[int, dict[str, Reading]] | None = None


@report(starts=START, provides=(LockingCalls,))
def read(report: Report) -> Iterator[LockingCalls]:
    """Yield each operation."""
    table: _Table | None = None
    tables = 0
    title = _title_above(report)
    for index, line in enumerate(report.lines):
        if heading := _heading(line, title or title_of(report.file)):
            if table:
                _check(report, table)
            table, title = heading, ""
            tables += 1
            report.claim(index)
        elif REMARK.match(line):
            title = found["title"].strip() if (found := TITLE.match(line)) else title
            report.claim(index)
        elif table and line.strip(RULES) and table.separator in line:
            report.claim(index)
            if one := _row(report, table, index, line):
                table.rows.append(one)
                yield one
        elif table and line.strip(RULES):
            _check(report, table)
            table = None
    if table:
        _check(report, table)
    if not tables:
        raise NotThisReport


def _title_above(report: Report) -> str:
    title, taken = "", 0
    for line in reversed(report.before):
        if not REMARK.match(line):
            break
        taken += 1
        title = title or (found["title"].strip() if (found := TITLE.match(line)) else "")
    report.above = taken
    return title


def _heading(line: str, title: str) -> _Table | None:
    if not START.search(line) or (separator := separator_of(line)) is None:
        return None
    names = fitted(split(line, separator), 0)
    columns: dict[str, int] = {}
    for at, name in enumerate(names):
        for what, pattern in NAMES.items():
            if pattern.fullmatch(name):
                columns.setdefault(what, at)
    if not {"operation", "count"} <= columns.keys() or len(columns) < 3:
        return None
    return _Table(columns, len(names), separator, title)


def _row(report: Report, table: _Table, index: int, line: str) -> LockingCalls | None:
    """Read one row; what is wrong with it is told, and it is left out."""
    cells = fitted(split(line, table.separator), table.width)
    if len(cells) != table.width:
        report.problem(f"row left out: {len(cells)} cells below {table.width} headings, write it whole", index)
        return None
    operation = cells[table.columns["operation"]].strip()[:LONGEST]
    found: dict[str, Reading] = {}
    for what in ("count", "coarse_calls", "fine_calls"):
        text = cells[table.columns[what]] if what in table.columns else ""
        value = None if text.lower() in NOT_THERE else figures.number(text)
        if text.lower() not in NOT_THERE and (value is None or value < 0):
            what = what.replace("_", " ")
            report.problem(f"row left out: {text[:40]!r} is no figure of {what}, write it as digits", index)
            return None
        if figures.POINT_GROUPS.fullmatch(text):
            what = "a thousand or a decimal fraction: write it without the point"
            report.problem(f"row left out: the point in {text[:40]!r} may part {what}", index)
            return None
        found[what] = ABSENT if value is None else value
    if operation.lower() in TOTALS:
        table.total = (index, found)
        return None
    count = found["count"]
    if not operation or not known(count):
        report.problem("row left out: an operation needs a name and a count", index)
        return None
    return LockingCalls(
        source=report.source(index),
        title=table.title,
        operation=operation,
        count=count,
        coarse_calls=found["coarse_calls"],
        fine_calls=found["fine_calls"],
    )


def _check(report: Report, table: _Table) -> None:
    """Hold the row of totals against the rows above it."""
    if table.total is None:
        return
    index, printed = table.total
    sums = {"count": sum(row.count for row in table.rows)}
    for what in ("coarse_calls", "fine_calls"):
        calls = [getattr(row, what) for row in table.rows]
        if all(known(value) for value in calls):
            sums[what] = sum(row.count * value for row, value in zip(table.rows, calls, strict=True))
    for what, value in sums.items():
        told = printed[what]
        if known(told) and abs(told - value) > ROUNDING:
            name = what.replace("_", " ")
            report.problem(f"{name} adds up to {value:,.0f} and not to {told:,.0f}: check the digits above", index)
