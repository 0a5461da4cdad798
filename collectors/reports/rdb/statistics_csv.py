"""Lock statistics of RMU/SHOW STATISTICS in separated values, as an operator made them

RMU writes no such file; the columns are called as the lines of the screens are, in any order and spelling::

    time,database,node,locks requested/s,rqsts stalled/s,blocking ASTs/s
    2023-03-14 09:00:00,PAYROLL,ORKNEY,7412.5,223.5,38.0
    2023-03-14 09:01:00,PAYROLL,ORKNEY,8104.0,266.1,41.2

    lock_type;locks_requested;requests_stalled;blocking_asts;elapsed
    total;13342500;402300;68400;1800
    page;7650000;311400;52200;1800

At least three of the columns are locking statistics. One row per time, one per lock type, or both. `/s`, `per second`
and `rate` behind a name are rates, `total` and `count` totals that run on, `per transaction` is that. A name alone is a
total: of one row as it stands, of rows over time only where three or more never fall, else nobody can say whether a row
counts since the reset or since the row before; where a name alone has a fraction there, none of the table is a total.
Rows over time give one figure each: of rates mean, maximum and last, of totals the difference. A column of users or
processes without a time is a load series and not read here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise

from collectors.facts.base import ABSENT, Reading, known
from collectors.facts.rdb import LOCK_ITEMS, StatisticRow, StatisticsWindow
from collectors.layouts import dates, rmu, vms
from collectors.layouts.figures import decimal_comma, reading
from collectors.layouts.tables import SEPARATORS, Row, delimited
from collectors.registry import NotThisReport, Report, report

GAP = r"[ _-]"
ITEM = (
    rf"(?:locks?{GAP}(?:requested|promoted|demoted|released)|blocking{GAP}asts?|blasts"
    rf"|(?:rqst|req|request|prom|promotion)s?{GAP}(?:not{GAP}queued|stalled|timeouts?|deadlocks?)"
    rf"|stall{GAP}time{GAP}x{GAP}?100|invalid{GAP}lock{GAP}block)"
)
START = re.compile(
    rf"^(?:(?:[^,;\t|]{{0,60}}[,;\t|]){{0,40}}?[ \"]{{0,4}}{ITEM}[^,;\t|]{{0,24}}(?:[,;\t|]|$)){{3}}", re.IGNORECASE
)
MEASURES = (
    ("rate", re.compile(r"(?:\s*/\s*s(?:ec(?:ond)?)?|[ _]per[ _]s(?:ec(?:ond)?)?|[ _]rate)$", re.IGNORECASE)),
    ("each", re.compile(r"(?:\s*/\s*(?:tx|trans(?:action)?)|[ _]per[ _](?:tx|trans(?:action)?))$", re.IGNORECASE)),
    ("total", re.compile(r"[ _](?:total|count)$", re.IGNORECASE)),
)
TIMES = ("time", "timestamp", "date time", "datetime", "sample time", "at", "date")
TYPES = ("lock type", "locktype", "type of lock", "type")
SPANS = ("elapsed", "elapsed seconds", "elapsed s", "seconds", "interval")
LOADS = re.compile(r"(?:active |concurrent )?(?:users?|processes|process|clients?|sessions|load|engines?|threads?)")
SCREEN = "separated values made by hand"
LONGEST_LABEL = 80
LEAST_ROWS = 3
"""Rows that never fall, from which a column is a total that runs on (this project)."""
PARTS = {"requests stalled": "locks requested", "promotions stalled": "locks promoted"}


@dataclass(frozen=True)
class _Column:
    name: str
    item: str
    measure: str
    """`rate`, `each`, `total`, or empty where the name does not say."""


@dataclass
class _Line:
    """One row: when, over how long, and its figures by column."""

    index: int
    at: datetime | None
    elapsed: float | None
    values: dict[_Column, Reading]


@dataclass
class _Series:
    """All rows of one database, node and lock type."""

    database: str | None
    node: str | None
    lock_type: str
    lines: list[_Line] = field(default_factory=list)


@report(starts=START, provides=(StatisticsWindow, StatisticRow))
def read(report: Report) -> Iterator[StatisticsWindow | StatisticRow]:
    """Yield a window and its rows for each table, database, node and lock type."""
    found = False
    end = 0
    for at, line in enumerate(report.lines):
        if at < end or not START.match(line):
            continue
        separator = max(SEPARATORS, key=line.count)
        table = delimited(report.lines, at, separator, stop=START)
        end = table.last + 1
        columns = [column for name in table.columns if (column := _column(name))]
        names = {_plain(name) for name in table.columns}
        load = any(LOADS.fullmatch(name) for name in names) and not names & {*TIMES, *TYPES}
        if load or not table.rows or sum(column.item in LOCK_ITEMS for column in columns) < LEAST_ROWS:
            continue
        for index in table.frame:
            report.claim(index)
        comma = separator != "," and decimal_comma(
            row.get(column.name) for row in table.rows for column in columns if row.whole
        )
        for window, rows in _windows(report, _series(report, columns, table.rows, comma=comma)):
            found = True
            yield window
            yield from rows
    if not found and not report.problems:
        raise NotThisReport


def _plain(name: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", name[:80].lower()))


def _column(name: str) -> _Column | None:
    """A column of statistics; `None` for the others."""
    text = name.strip(' "')
    for measure, ending in (*MEASURES, ("", re.compile("$"))):
        bare = ending.sub("", text)
        if (bare != text or not measure) and (item := rmu.item_of(bare)):
            return _Column(name, item, measure)
    return None


def _series(report: Report, columns: Sequence[_Column], rows: Sequence[Row], *, comma: bool) -> list[_Series]:
    found: dict[tuple[str, str, str], _Series] = {}
    for row in rows:
        if not row.whole:
            report.problem("not as many values as headings, row left out: write it whole", row.first)
            continue
        report.claim(row.first)
        database, node = row.get("database", "root file", "db").strip(), row.get("node").strip().upper()
        kind = row.get(*TYPES).strip()
        lock_type = (rmu.lock_type_of(kind) or _plain(kind)) if kind else "total"
        date, time = row.get("date"), row.get("time")
        stamp = f"{date} {time}" if date and time else row.get(*TIMES)
        at = dates.moment(stamp) or vms.moment(stamp)
        if stamp and at is None:
            report.problem(
                f"{stamp[:40]!r} is no date with a time, or one of two: write it 2023-03-14 09:00", row.first
            )
            continue
        elapsed = row.get(*SPANS)
        length = reading(elapsed, comma=comma)
        values = {column: reading(row.get(column.name), comma=comma) for column in columns}
        _check_parts(report, row.first, values)
        series = found.setdefault(
            (database.upper(), node, lock_type), _Series(database or None, node or None, lock_type)
        )
        series.lines.append(_Line(row.first, at, length if known(length) else vms.span(elapsed), values))
    return list(found.values())


def _check_parts(report: Report, index: int, values: dict[_Column, Reading]) -> None:
    """A part larger than its whole: two columns were mixed up."""
    for column, value in values.items():
        whole = next(
            (w for c, w in values.items() if (c.item, c.measure) == (PARTS.get(column.item), column.measure)), ABSENT
        )
        if known(value) and known(whole) and value > whole:
            report.problem(f"more {column.item} than {PARTS[column.item]}: see that the columns are right", index)


def _windows(report: Report, found: Sequence[_Series]) -> Iterator[tuple[StatisticsWindow, Sequence[StatisticRow]]]:
    """A window for all that was counted of one database and node over the same time, with its rows."""
    windows: dict[StatisticsWindow, list[StatisticRow]] = {}
    lines: dict[StatisticsWindow, list[int]] = {}
    for series in found:
        timed = sorted((line for line in series.lines if line.at), key=lambda line: str(line.at))
        if len(series.lines) > 1 and len({line.at for line in timed}) < len(series.lines):
            what = f"several rows of {series.lock_type} locks without a time of their own"
            report.problem(f"{what}: none was read, add a column `time`", series.lines[0].index)
            continue
        ordered = timed or series.lines
        window = StatisticsWindow(
            database=series.database,
            node=series.node,
            screen=SCREEN,
            at=ordered[-1].at,
            elapsed_seconds=_passed(ordered) if len(ordered) > 1 else ordered[0].elapsed,
            over="interval" if len(ordered) > 1 else "since reset",
        )
        windows.setdefault(window, []).extend(_rows(report, series, ordered, window))
        lines.setdefault(window, []).extend(line.index for line in ordered)
    for window, rows in windows.items():
        yield replace(window, source=report.source(min(lines[window]), max(lines[window]))), rows


def _passed(ordered: Sequence[_Line]) -> float | None:
    """Seconds from the first to the last row."""
    first, last = ordered[0].at, ordered[-1].at
    return (last - first).total_seconds() if first and last else None


def _rows(
    report: Report, series: _Series, ordered: Sequence[_Line], window: StatisticsWindow
) -> Iterator[StatisticRow]:
    source = report.source(min(line.index for line in ordered), max(line.index for line in ordered))
    broken = _with_a_fraction(ordered) if len(ordered) > 1 else None
    if broken:
        what = f"`{broken.name[:40]}` has figures with a fraction, so no column is a running total by its name alone"
        report.problem(f"{what}: per second or total? Call each `…/s` or `… total`", ordered[0].index)
    for column in ordered[0].values:
        figures = None if broken and not column.measure else _figures(report, column, ordered)
        if figures:
            yield StatisticRow(
                source=source,
                database=series.database,
                node=series.node,
                screen=SCREEN,
                item=column.item,
                label=column.name[:LONGEST_LABEL],
                lock_type=series.lock_type if column.item in LOCK_ITEMS else None,
                maximum_per_second=figures.get("maximum", ABSENT),
                current_per_second=figures.get("current", ABSENT),
                mean_per_second=figures.get("mean", ABSENT),
                count=figures.get("count", ABSENT),
                per_transaction=figures.get("each", ABSENT),
                over=window.over,
            )


def _with_a_fraction(lines: Sequence[_Line]) -> _Column | None:
    """The first column without a measure that has a figure with a fraction: what is counted is whole."""
    return next(
        (
            column
            for column in lines[0].values
            if not column.measure and any(known(v := line.values[column]) and v % 1 for line in lines)
        ),
        None,
    )


def _figures(report: Report, column: _Column, lines: Sequence[_Line]) -> dict[str, Reading] | None:
    """What one column says of its rows; `None` where nobody can tell."""
    values = [line.values[column] for line in lines]
    numbers = [value for value in values if known(value)]
    if len(values) == 1:
        seconds = lines[0].elapsed
        if column.measure in ("rate", "each"):
            return {"mean" if column.measure == "rate" else "each": values[0]}
        return {"count": values[0], "mean": numbers[0] / seconds if numbers and seconds else ABSENT}
    if not numbers:
        return {"mean": values[-1]}
    if column.measure == "rate":
        return {"mean": sum(numbers) / len(numbers), "maximum": max(numbers), "current": values[-1]}
    if column.measure == "each":
        return {"each": sum(numbers) / len(numbers)}
    falls = any(new < old for old, new in pairwise(numbers))
    if column.measure == "total" and falls:
        report.problem(f"the total of {column.item} falls: reset between, upload the rows since", lines[0].index)
        return None
    if not column.measure and (falls or len(numbers) < LEAST_ROWS):
        what = f"`{column.name[:40]}` may be a total or a count of each interval, so it was not read"
        report.problem(f"{what}: call it `… total` or `…/s`", lines[0].index)
        return None
    passed = _passed([line for line in lines if known(line.values[column])])
    if not passed:
        report.problem(f"the total of {column.item} stands in one row alone, so what was added is open", lines[0].index)
        return None
    moved = numbers[-1] - numbers[0]
    return {"count": moved, "mean": moved / passed}
