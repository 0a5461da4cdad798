"""How much work was done at how much load: one run a row.

Sample::

    HP rx2660  (1.59GHz/9.0MB) - 2 cores
    # processes Idle MPSynch Kernel Exec Super User Total new ENQ Convert ENQ DEQ  Tot Lock
    1 101 0 71 0 0 28 200 61000 122010 60990          244,000
    2 2 38 121 0 0 40 201 81000 161500 80500          323,000

The second form is any table with a heading that names a load (processes, engines, users, threads, …) and a rate
(throughput, tps, … per second), separated by commas, semicolons, tabs, bars or blanks::

    users;throughput;response ms
    1;118,5;8,4
    8;702,25;11,3

A comment may be the heading (`# users,throughput`), but not where one follows it. `ops_s` is a rate as `ops/s` is;
other names on `_s` are seconds. A line above the table may say which machine it is of: `AlphaServer ES40, 666 MHz, 4
CPUs`. Several machines may also stand side by side, a column for each with its clock or its cores, or one rate with
several names in brackets::

    processes,AlphaServer ES40 500 MHz,AlphaServer ES40 666 MHz
    users;tps (old);tps (new)

The modes of the first form are per cent of one CPU: 200 is two CPUs' worth; `Tot Lock` is the sum of the three rates
left of it, a convert and a dequeue counted like an enqueue (openvms-rules.md 6 [R]). Runs at the same load stay
points of their own. A row without load or rate is left out and reported, never read as 0. Between semicolons a comma is
the decimal sign; elsewhere, before groups of three digits, it separates thousands. A point does where 950 and 1.234
stand in one column; where all cells between semicolons look like 1.234, that is a decimal point, and a problem says so.
Rates of errors, waits and the like are no work and make no series. Rows with times of day whose load goes up and down
are samples of one system, not runs of one test: such a series is marked `derived`.

In place of a load there may be a parameter of the lock manager that was tried at one load (RESHASHTBL, LOCKIDTBL, bytes
of value blocks), with a rate per second: that is a series over a parameter, and no law of load is fitted to it::

    RESHASHTBL,lock_operations_per_second
    1024,41500
    8192,172000

Beside load and rate a column may hold a setting: RESHASHTBL, LOCKIDTBL, LVB (bytes, or on and off), threads and
dedicated (on and off). Such columns part the rows into one series for each combination, and the rate over each setting
is a series over a parameter (`settings`); what a cell leaves empty was not told. Only a word makes threads a setting::

    processes,LVB,threads,dedicated,lock_operations_per_second
    1,off,off,off,41500
    1,16,off,off,41100

The table of the lock laboratory for OpenVMS has a heading of its own: see `laboratory`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from collectors.facts.scaling import LoadPoint, LoadSeries, ParameterPoint, ParameterSeries
from collectors.layouts import separated
from collectors.registry import NotThisReport, Report, report
from collectors.reports.scaling.load_series.cells import commas_decimal, number, point_groups, points_unsure, split
from collectors.reports.scaling.load_series.headings import (
    CONVERTED,
    DEQ,
    LOCK_RATE,
    NEW,
    REMARK,
    START,
    Column,
    Table,
    heading,
)
from collectors.reports.scaling.load_series.laboratory import laboratory
from collectors.reports.scaling.load_series.settings import OPENVMS, SETUP, Run, series_of, setting_of
from collectors.reports.scaling.load_series.titles import NODE, Title, column_title, title_of

DIGIT = re.compile(r"[0-9]")
TIME_OF_DAY = re.compile(r"[0-9]{1,2}:[0-9]{2}")
LEAST_SAMPLES, LEAST_DOWN = 6, 0.3
"""This project: of so many rows with times, and a load that goes down in so many of the steps, nobody drove a test."""
MOST_LOOKED_AT = 2000
"""Rows of a table that are looked at before it is read (this project)."""
MOST_TOLD_APART = 20
"""Rows below a heading that tell whether threads are counted or switched (this project)."""
SUM_ERROR = 0.001
"""Beyond this share of the printed total a row does not add up: more than rounding (this project's figure)."""


@report(starts=START, provides=(LoadSeries, ParameterSeries), rank=-10)
def read(report: Report) -> Iterator[LoadSeries | ParameterSeries]:
    """Yield one series for each table, and for each machine of a table."""
    found, taken = laboratory(report)
    tables = list(_tables(report, taken))
    yield from found
    if not taken and not any(table.strong or any(len(rate.points) > 1 for rate in table.rates) for table in tables):
        raise NotThisReport
    titles: Counter[str] = Counter()
    for table in tables:
        if table.settings:
            yield from _by_setting(report, table)
            continue
        for rate in table.rates:
            if len(rate.points) < 2:
                which = f"{rate.label}: " if rate.label else ""
                report.problem(
                    f"{which}fewer than two rows have a load and a rate: no series, measure more runs", table.first
                )
                continue
            own = column_title(rate.label) if rate.label else None
            title = _named(table, rate.label, own, separated.title_of(report.file))
            titles[title] += 1
            title += f" ({titles[title]})" if titles[title] > 1 else ""
            if table.parameter:
                yield _over_parameter(report, table, rate, title)
                continue
            assert table.load is not None  # noqa: S101 - only a table of settings has none
            yield LoadSeries(
                source=report.source(table.first, table.last),
                title=title,
                load_name=table.columns[table.load],
                rate_name=rate.name,
                points=tuple(sorted(rate.points, key=lambda point: point.load)),
                product="openvms" if {"mp_synch_percent", NEW} & set(table.columns) else None,
                cores=(own and own.cores) or (table.title.cores if table.title else None),
                clock_mhz=(own and own.clock_mhz) or (table.title.clock_mhz if table.title else None),
                derived=_sampled(table, rate.points),
                setup=(("node", table.title.node),) if table.title and table.title.node else (),
            )


def _by_setting(report: Report, table: Table) -> Iterator[LoadSeries | ParameterSeries]:
    """One series for each combination of settings, and one over each setting."""
    (rate,) = table.rates
    title, settings = table.title, set(table.settings.values())
    told = (
        (("title", title.text if title else separated.title_of(report.file)),)
        if title or "model" not in settings
        else ()
    )
    runs = [Run(point.line - report.first, (*told, *table.setups[point.line]), point) for point in rate.points]
    if len(runs) < 2:
        report.problem("fewer than two rows have a load and a rate: no series, measure more runs", table.first)
        return
    vms = bool(OPENVMS & settings or {"mp_synch_percent", NEW} & set(table.columns))
    yield from series_of(
        report,
        runs,
        load_name=None if table.load is None else table.columns[table.load],
        rate_name=rate.name,
        product="openvms" if vms else None,
        machine=(title.cores, title.clock_mhz) if title else (None, None),
    )


def _over_parameter(report: Report, table: Table, rate: Column, title: str) -> ParameterSeries:
    points = sorted(rate.points, key=lambda point: point.load)
    return ParameterSeries(
        source=report.source(table.first, table.last),
        title=title,
        parameter=" ".join((table.parameter or "").split())[:80],
        rate_name=rate.name,
        points=tuple(ParameterPoint(value=one.load, rate=one.rate, line=one.line) for one in points),
    )


def _sampled(table: Table, points: Sequence[LoadPoint]) -> bool:
    """Whether these are samples of one system over time: times of day, and a load that goes up and down."""
    if len(table.moments) < LEAST_SAMPLES or not all(map(TIME_OF_DAY.search, table.moments)):
        return False
    down = sum(one.load < before.load for before, one in pairwise(points))
    return down >= LEAST_DOWN * (len(points) - 1)


def _named(table: Table, label: str | None, own: Title | None, file: str) -> str:
    """What a series is called: as its column or its table says, else as its file is."""
    if own is not None:
        return own.text
    whole = table.title.text if table.title else file
    return f"{whole}, {label}" if label else whole


def _tables(report: Report, taken: frozenset[int]) -> Iterator[Table]:
    """Walk over the lines once, claim what belongs to a table; lines of the laboratory are `taken` already."""
    table: Table | None = None
    title = _title_before(report)
    decimal: bool | None = None
    for index, line in enumerate(report.lines):
        if index in taken:
            continue
        if found := heading(line, report.lines[index + 1 : index + 1 + MOST_TOLD_APART]):
            if table:
                yield table
            table = found
            _take_title(report, found, index, title)
            title = None
            if table.delimiter == ";":
                decimal = _commas_decimal(report, index) if decimal is None else decimal
                table.commas_decimal = decimal
            table.point_groups = _point_groups(report, table, index)
        elif not line.strip():
            continue
        elif table and REMARK.match(line):
            report.claim(index)
            title = _title_at(index, line)
        elif not (table and (not line.strip(" \t-=+|_") or _row(report, table, index, line))):
            title = _title_at(index, line)
            if table:
                table.ended = True
    if table:
        yield table


def _title_at(index: int, line: str) -> tuple[int, Title] | None:
    found = title_of(line)
    return (index, found) if found else None


def _title_before(report: Report) -> tuple[int, Title] | None:
    """The last line above the report that is not blank, where it is a title; its index is below zero.

    Between them may stand a line that names the node, and right below the title one that says how it was measured.
    """
    node = None
    remark = False
    for back, line in enumerate(reversed(report.before), start=1):
        if node is None and (found := NODE.fullmatch(line)):
            node = found["node"]
        elif title := _title_at(-back, line):
            return title[0], replace(title[1], node=node or title[1].node)
        elif remark or line.lstrip().startswith("$"):
            return None
        else:
            remark = bool(line.strip())
    return None


def _take_title(report: Report, table: Table, index: int, title: tuple[int, Title] | None) -> None:
    """Give a table its title and its place, and claim both; the next table needs a title of its own."""
    table.first = table.last = index
    if title:
        table.first, table.title = title
        if table.first < 0:
            report.above = -table.first
        else:
            report.claim(table.first)
    report.claim(index)


def _commas_decimal(report: Report, start: int) -> bool:
    decimal, unsure = commas_decimal(report.below(start))
    if unsure:
        what = f"'{unsure}' is read with a decimal comma, as it stands between semicolons"
        report.problem(f"{what}; if it is thousands, write it without the comma", start)
    return decimal


def _point_groups(report: Report, table: Table, start: int) -> frozenset[int]:
    """The columns of this table in which points part thousands; told."""
    rows: list[list[str]] = []
    for line in islice(report.below(start), MOST_LOOKED_AT):
        cells = split(line, table.delimiter)
        if len(cells) != len(table.columns) or not DIGIT.search(line) or line == report.lines[start]:
            break
        rows.append(cells)
    found = point_groups(rows)
    for at, text in found.items():
        what = f"{table.columns[at]} {text!r} is read as thousands, as other cells of its column have no decimals"
        report.problem(f"{what}; if it is a decimal point, write all cells with decimals", start)
    if table.delimiter == ";" and not table.commas_decimal:
        for at, text in points_unsure(rows).items():
            what = f"{table.columns[at]} {text!r} is read with a decimal point, and every cell of it has three digits"
            report.problem(f"{what} after it, as thousands have; if it is thousands, write it without the point", start)
    return frozenset(found)


def _row(report: Report, table: Table, index: int, line: str) -> bool:
    """Take one line below a heading; says whether it belongs to the table, damaged or not."""
    cells = [cell.strip() for cell in split(line, table.delimiter)]
    while len(cells) > len(table.columns) and not cells[-1]:
        cells.pop()
    commas = table.delimiter == ","
    plain = [cell.replace(".", "") if at in table.point_groups else cell for at, cell in enumerate(cells)]
    numbers = [number(cell, commas_decimal=table.commas_decimal, comma_parts=commas) for cell in plain]
    some = any(number is not None for number in numbers)
    complete = len(cells) == len(table.columns)
    if table.ended and not (complete and all(number is not None for number in numbers)):
        return False
    figures = {table.load, *(rate.at for rate in table.rates)}
    if title_of(line) and not (complete and any(at is not None and numbers[at] is not None for at in figures)):
        return False  # a title of as many cells as the table has columns is a title still: `ES40 666 MHz, two of them`
    if not (complete and (some or table.delimiter != " ")) and not (len(cells) > 1 and numbers[0] is not None):
        return False
    report.claim(index)
    if complete:
        _take(report, table, index, cells, numbers)
    else:
        report.problem(f"{len(cells)} cells below {len(table.columns)} headings, row left out: write it whole", index)
    return True


def _take(report: Report, table: Table, index: int, cells: list[str], numbers: list[float | None]) -> None:
    """Make the points of one whole row; a machine that was not measured at this load has an empty cell."""
    at_load = table.load
    load = 1.0 if at_load is None else numbers[at_load]  # where only settings were told, all runs are at one
    both = {at_load, *table.settings, *(rate.at for rate in table.rates)}
    rates = [one for one in table.rates if len(table.rates) == 1 or cells[one.at]]
    bad = [at_load] if load is None and at_load is not None else [one.at for one in rates if numbers[one.at] is None]
    if load is None or not rates:
        bad = bad or [table.rates[0].at]
    setup = {name: setting_of(name, cells[at]) for at, name in table.settings.items()}
    for at in bad:
        what = f"{table.columns[at]} is {cells[at][:40]!r}, no number, row left out"
        report.problem(f"{what}: fill it in or take the row away", index)
    if strange := [at for at, name in table.settings.items() if setup[name] is None]:
        told = f"{table.columns[strange[0]]} is {cells[strange[0]][:40]!r}, no such setting, row left out"
        report.problem(f"{told}: write on, off or a whole number", index)
        return
    table.setups[report.first + index] = tuple((name, setup[name] or "") for name in SETUP if setup.get(name))
    others = [(at, one) for at, one in enumerate(numbers) if one is not None and at not in both]
    named = tuple((table.columns[at], one) for at, one in others)
    if table.moment is not None and load is not None:
        table.moments.append(cells[table.moment][:40])
    for column in rates:
        rate = numbers[column.at]
        if load is None or rate is None:
            continue
        if load < 0 or rate < 0 or (load == 0 and not table.parameter):
            report.problem(
                f"load {load:g} with rate {rate:g}, row left out: a load is above 0, a rate not below", index
            )
            continue
        column.points.append(LoadPoint(load=load, rate=rate, others=named, line=report.first + index))
        table.last = index
        if column.name == LOCK_RATE:
            _check_sum(report, column.points[-1], index)


def _check_sum(report: Report, point: LoadPoint, index: int) -> None:
    parts = [part for name in (NEW, CONVERTED, DEQ) if (part := point.other(name)) is not None]
    if len(parts) == 3 and abs(sum(parts) - point.rate) > SUM_ERROR * point.rate:
        told = f"{sum(parts):,.0f} enqueues, converts and dequeues, {point.rate:,.0f} in all"
        report.problem(f"the row does not add up ({told}): check its digits", index)
