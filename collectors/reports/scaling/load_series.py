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

The modes of the first form are per cent of one CPU: 200 is two CPUs' worth; `Tot Lock` is the sum of the three rates
left of it, a convert and a dequeue counted like an enqueue (openvms-rules.md 6 [R]). Runs at the same load stay
points of their own. A row without load or rate is left out and reported, never read as 0. Between semicolons a comma is
the decimal sign; elsewhere, before groups of three digits, it separates thousands.
"""

import csv
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.facts.scaling import LoadPoint, LoadSeries
from collectors.kit import NotThisReport, Report, report

LOAD = (
    r"(?:(?:number|no\.?|num|count)[ _](?:of[ _])?|(?:concurrent|active|virtual|online)[ _])?"
    r"(?:load|process(?:es)?|procs|processors?|engines?|users?|cpus?|threads?|clients?|cores|workers|sessions"
    r"|connections|concurrency)"
)
PER_SECOND = r"(?:[ _]?/[ _]?|[ _]per[ _])(?:s|secs?|seconds?)"
STRONG = rf"(?:through[ _-]?put|[tq]ps|iops|[a-z]{{1,24}}(?:[ _][a-z]{{1,24}}){{0,3}}{PER_SECOND})"
ONE_WORD = r"(?:throughput|[tq]ps|iops|[a-z_]{1,40}(?:_per_|/)(?:s|secs?|seconds?))"
RATE = rf"(?:{STRONG}|(?:[a-z]{{1,24}}[ _])?rate|ops)(?: ?\([^)]{{0,20}}\))?"
LOCKS = r"(?:# *)?processes +Idle +MP ?Synch? +Kernel +Exec +Super +User +Total +new +ENQ +Convert +ENQ +DEQ +Tot +Lock"
CORES = r"\S.{0,120}[ )]- [0-9]{1,4} cores?"


def _cell(what: str) -> str:
    """A look ahead: somewhere in this delimited line a cell holds just this."""
    return rf'(?=(?:[^,;\t|]{{0,60}}[,;\t|]){{0,40}}[ #"]{{0,4}}(?:{what})[ "]{{0,20}}(?:[,;\t|]|$))'


MOST_COLUMNS = 1000
"""A load series has a load, a rate and a few modes; a line of more columns heads something else."""
START = re.compile(
    rf"(?i:^\s*{LOCKS}\s*$|^\s*{CORES}\s*$|^{_cell(LOAD + '|n')}{_cell(RATE)}"
    rf"|^\s*(?:# *)?{LOAD}(?: +[a-z_%]{{1,30}}){{0,8}}? +{ONE_WORD}(?: +[a-z_%/]{{1,30}}){{0,8}}\s*$"
    rf"|^\s*(?:# *)?{LOAD}(?=\s\s).{{0,200}}\s\s{STRONG}(?:\s\s|\s*$))"
)
"""Specific on purpose: a line that begins a series ends whatever report it stands in."""
LOAD_NAME, STRONG_NAME = re.compile(rf"{LOAD}|n", re.IGNORECASE), re.compile(STRONG, re.IGNORECASE)
RATE_NAME = re.compile(RATE, re.IGNORECASE)
LOCKS_LINE = re.compile(rf"\s*{LOCKS}\s*$", re.IGNORECASE)
TITLE = re.compile(r"\s*(?P<title>\S.{0,120}[ )]- (?P<cores>[0-9]{1,4}) cores?)\s*$", re.IGNORECASE)
COMMENT = re.compile(r"\s*(?:#|//|--|!)")

LOCK_RATE = "lock_operations_per_second"
NEW, CONVERTED, DEQ = "new_enq_per_second", "converted_enq_per_second", "deq_per_second"
MODES = ("idle_percent", "mp_synch_percent", "kernel_percent", "exec_percent", "super_percent", "user_percent")
LOCKS_COLUMNS = ("processes", *MODES, "total_percent", NEW, CONVERTED, DEQ, LOCK_RATE)
KNOWN = {
    **{name.removesuffix("_percent"): name for name in (*MODES, "interrupt_percent", "total_percent")},
    **dict.fromkeys(("mpsynch", "mp_sync", "mpsync", "mp_synchronization"), "mp_synch_percent"),
    **{"executive": "exec_percent", "supervisor": "super_percent", "idle_time": "idle_percent"},
    **dict.fromkeys(("new_enq", "new_enqs", "new_enq_rate"), NEW),
    **dict.fromkeys(("convert_enq", "converted_enq", "convert_enq_per_second", "converted_enq_rate"), CONVERTED),
    **dict.fromkeys(("deq", "deqs", "deqs_per_second", "deq_rate"), DEQ),
    **dict.fromkeys(("tot_lock", "total_lock", "lock_operations", "lock_ops", "lock_ops_per_second"), LOCK_RATE),
}
"""How the columns of MONITOR are written elsewhere → their names here."""
SUM_ERROR = 0.001
"""Beyond this share of the printed total a row does not add up: more than rounding (this project's figure)."""

PLAIN = re.compile(r"-?(?:[0-9]{1,18}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})(?:[eE][-+]?[0-9]{1,2})?")
COMMA_GROUPS = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]{1,18})?")
DOT_GROUPS = re.compile(r"-?[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]{1,18})?")
COMMA = re.compile(r"-?[0-9]{1,18},[0-9]{1,18}")


@dataclass
class _Table:
    """One heading and the rows below it."""

    delimiter: str
    columns: tuple[str, ...]
    load: int
    rate: int
    strong: bool
    title: str | None = None
    cores: int | None = None
    first: int = 0
    last: int = 0
    commas_decimal: bool = False
    ended: bool = False
    points: list[LoadPoint] = field(default_factory=list)


@report(starts=START, provides=(LoadSeries,), rank=-10)
def read(report: Report) -> Iterator[LoadSeries]:
    """Yield one series for each table."""
    tables = list(_tables(report))
    if not any(table.strong or len(table.points) > 1 for table in tables):
        raise NotThisReport
    names = 0
    for table in tables:
        if len(table.points) < 2:
            report.problem("fewer than two rows have a load and a rate: no series, bring more runs", table.first)
            continue
        names += table.title is None
        yield LoadSeries(
            source=report.source(table.first, table.last),
            title=table.title or _file_title(report.file) + (f" ({names})" if names > 1 else ""),
            load_name=table.columns[table.load],
            rate_name=table.columns[table.rate],
            points=tuple(sorted(table.points, key=lambda point: point.load)),
            product="openvms" if {"mp_synch_percent", NEW} & set(table.columns) else None,
            cores=table.cores,
        )


def _tables(report: Report) -> Iterator[_Table]:
    """Walk over the lines once, claim what belongs to a table."""
    table: _Table | None = None
    title: tuple[int, re.Match[str]] | None = None
    commas_decimal: bool | None = None
    for index, line in enumerate(report.lines):
        if found := TITLE.match(line):
            title = (index, found)
            if table:
                table.ended = True
        elif heading := _heading(line):
            if table:
                yield table
            table = heading
            table.first = table.last = index
            if heading.delimiter == ";":
                table.commas_decimal = commas_decimal = (
                    _commas_decimal(report, index) if commas_decimal is None else commas_decimal
                )
            if title:
                table.first, table.cores = title[0], int(title[1]["cores"])
                table.title = " ".join(title[1]["title"].split())
                report.claim(title[0])
            report.claim(index)
            title = None
        elif table and line.strip():
            if COMMENT.match(line):
                report.claim(index)
            elif line.strip(" \t-=+|_") and not _row(report, table, index, line):
                table.ended, title = True, None
        elif line.strip():
            title = None
    if table:
        yield table


def _heading(line: str) -> _Table | None:
    """Read a heading, with whatever delimiter gives it a load and a rate."""
    if LOCKS_LINE.match(line):
        return _Table(" ", LOCKS_COLUMNS, 0, len(LOCKS_COLUMNS) - 1, strong=True)
    if not START.search(line):
        return None
    text = re.sub(r"^\s*#\s*", "", line)
    for delimiter in (";", "\t", "|", ",", "  ", " "):
        cells = [cell.strip(' "#') for cell in _split(text, delimiter)]
        if len(cells) > MOST_COLUMNS:
            continue
        named = [_name(cell) for cell in cells]
        modes = len(set(MODES) & set(named)) > 1  # `user` alone is somebody who works, not a mode
        loads = [at for at, cell in enumerate(cells) if LOAD_NAME.fullmatch(cell)]
        loads = [at for at in loads if not (modes and named[at] in MODES)]
        rates = [at for at, cell in enumerate(cells) if named[at] == LOCK_RATE or RATE_NAME.fullmatch(cell)]
        rates = [at for at in rates if named[at] not in (NEW, CONVERTED, DEQ)]
        if len(cells) < 2 or not loads or not rates:
            continue
        seen: set[str] = set()
        for at, name in enumerate(named):
            if at == loads[0] or (name == "total_percent" and not modes):
                named[at] = _plain(cells[at])
            if named[at] in seen:
                named[at] = f"{named[at]}_{at + 1}"
            seen.add(named[at])
        rank = {at: (named[at] != LOCK_RATE, named[at] != "throughput", not _strong(cells[at]), at) for at in rates}
        rate = min(rates, key=lambda at: rank[at])
        strong = _strong(cells[rate]) or named[rate] == LOCK_RATE
        return _Table(" " if delimiter == "  " else delimiter, tuple(named), loads[0], rate, strong)
    return None


def _strong(cell: str) -> bool:
    return STRONG_NAME.fullmatch(re.sub(r" ?\([^()]{0,40}\)$", "", cell)) is not None


def _plain(cell: str) -> str:
    """`Xacts / sec` → `xacts_per_second`, `idle %` → `idle_percent`."""
    text = re.sub(rf"{PER_SECOND}(?![a-z])", " per second", cell.lower()).replace("%", " percent")
    return re.sub(r"[^a-z0-9]+", "_", text).strip("_") or "column"


def _name(cell: str) -> str:
    name = _plain(cell)
    stem = name.removesuffix("_percent").removesuffix("_mode").removesuffix("_state")
    return KNOWN.get(name) or KNOWN.get(stem) or name


def _split(line: str, delimiter: str) -> list[str]:
    if delimiter in (" ", "  "):
        return [cell for cell in re.split(r"\s+" if delimiter == " " else r"\s\s+|\t", line.strip()) if cell]
    if delimiter == "|":
        return line.strip().strip("|").split("|")
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _row(report: Report, table: _Table, index: int, line: str) -> bool:
    """Take one line below a heading; says whether it belongs to the table, damaged or not."""
    cells = [cell.strip() for cell in _split(line, table.delimiter)]
    while len(cells) > len(table.columns) and not cells[-1]:
        cells.pop()
    numbers = [_number(cell, table) for cell in cells]
    some = any(number is not None for number in numbers)
    complete = len(cells) == len(table.columns)
    if table.ended and not (complete and all(number is not None for number in numbers)):
        return False
    if not (complete and (some or table.delimiter != " ")) and not (len(cells) > 1 and numbers[0] is not None):
        return False
    report.claim(index)
    load, rate = (numbers[at] if complete else None for at in (table.load, table.rate))
    if not complete:
        report.problem(f"{len(cells)} cells below {len(table.columns)} headings, row left out: write it whole", index)
    elif load is None or rate is None:
        column = table.columns[table.load if load is None else table.rate]
        cell = cells[table.load if load is None else table.rate][:40]
        report.problem(f"{column} is {cell!r}, no number, row left out: fill it in or take the row away", index)
    elif load <= 0 or rate < 0:
        report.problem(f"load {load:g} with rate {rate:g}, row left out: a load is above 0, a rate not below", index)
    else:
        both = (table.load, table.rate)
        others = [(at, number) for at, number in enumerate(numbers) if number is not None and at not in both]
        named = tuple((table.columns[at], number) for at, number in others)
        table.points.append(LoadPoint(load=load, rate=rate, others=named, line=report.first + index))
        table.last = index
        _check_sum(report, table, index)
    return True


def _check_sum(report: Report, table: _Table, index: int) -> None:
    point = table.points[-1]
    parts = [number for name in (NEW, CONVERTED, DEQ) if (number := point.other(name)) is not None]
    if (
        len(parts) == 3
        and table.columns[table.rate] == LOCK_RATE
        and abs(sum(parts) - point.rate) > SUM_ERROR * point.rate
    ):
        told = f"{sum(parts):,.0f} enqueues, converts and dequeues, {point.rate:,.0f} in all"
        report.problem(f"the row does not add up ({told}): check its digits", index)


def _number(cell: str, table: _Table) -> float | None:
    text = cell.strip('" %')
    if table.commas_decimal:
        if COMMA.fullmatch(text) or DOT_GROUPS.fullmatch(text):
            text = text.replace(".", "").replace(",", ".")
    elif COMMA_GROUPS.fullmatch(text):
        text = text.replace(",", "")
    elif table.delimiter != "," and COMMA.fullmatch(text):
        text = text.replace(",", ".")
    number = float(text) if PLAIN.fullmatch(text) else math.nan
    return number if math.isfinite(number) else None


def _commas_decimal(report: Report, start: int) -> bool:
    """Whether commas between semicolons are decimal signs; tells where only groups of three follow them."""
    cells = [cell.strip('" %') for line in report.lines[start + 1 :] for cell in line.split(";")]
    with_comma = [cell for cell in cells if COMMA.fullmatch(cell)]
    if any(COMMA_GROUPS.fullmatch(cell) and (cell.count(",") > 1 or "." in cell) for cell in cells):
        return False
    if with_comma and all(COMMA_GROUPS.fullmatch(cell) for cell in with_comma):
        what = f"'{with_comma[0]}' is read with a decimal comma, as it stands between semicolons"
        report.problem(f"{what}; if it is thousands, write it without the comma", start)
    return bool(with_comma)


def _file_title(file: str) -> str:
    """The file's name without folder and suffix."""
    name = re.split(r"[/\\]", file)[-1]
    return re.sub(r"(?:\.[A-Za-z0-9]{1,5}){1,2}$", "", name).strip("- ") or "standard input"
