"""Runs of a program that locks records: CPU and clock seconds by number of processes and by variant of locking.

Three layouts. Long, one run a row (what `manage.py locklab` prints, and what a site's own script should)::

    # lockwright locklab: ORKNEY, 2000 records a process
    # processors: 4
    # records: 2000
    variant,processes,user_seconds,system_seconds,clock_seconds,operations,calls,blocked,frequency_mhz
    none,1,0.21,0.44,0.66,40000,0,0,2400
    coarse,4,2.61,6.40,5.83,160000,320000,50211,2150
    fine,4,2.90,8.33,4.31,160000,420000,10442,2390
    mandatory fine,4,3.11,12.01,6.20,160000,420000,10713,2395

Wide, one number of processes a row (or of records, `records`: of one process then); a Δ is per cent, if it is there::

    processes,coarse user,coarse system,coarse clock,fine user,fine system,fine clock,delta clock
    1,0.21,0.44,0.66,0.21,0.45,0.66,0
    4,2.61,6.40,5.83,2.90,8.33,4.31,35

As textbooks print it, groups of columns over columns, parted by blanks::

    Advisory locking Mandatory locking
    Coarse-grained locking Fine-grained locking ΔClock Fine-grained locking ΔSys
    User Sys Clock User Sys Clock Percent User Sys Clock Percent
    #Proc
    1 0.21 0.44 0.66 0.21 0.45 0.66 0 0.22 0.54 0.77 20

or with `Advisory locking` and `Mandatory locking` alone over the columns, which are then of one grain, taken for fine;
or with `Coarse-grained advisory`, `Fine-grained advisory`, `Fine-grained mandatory` over the columns.

Long and wide may be separated by commas, semicolons, tabs or bars; a heading may call a column `user`, `user seconds`,
`user_seconds` or `user (s)`, columns not known are passed over, their order is free. A variant is `none`, `coarse` or
`fine`, with `advisory` or `mandatory` before it; `mandatory` alone is `mandatory fine`. Needed are `variant`,
`processes` and one of the seconds; further columns are `records`, `operations`, `calls`, `blocked`, `frequency_mhz`,
`frequency_low_mhz`, `frequency_high_mhz`, each of all processes together. An empty cell, `-` or `n/a` is "not measured
by this run" and never 0. Above the heading `# lockwright locklab: <title>` or `# title: <title>` names the table,
`# processors: <n>` says how many the machine has and `# records: <n>` how many each process writes; other lines that
begin with `#` are remarks. Without such lines `host=NAME` in the line above the heading names the table. Several
rows of one variant and number of processes are runs that were repeated.

User and system seconds are those of all processes of the run together, the clock's are those of the run. So a row with
more CPU seconds than processes times clock seconds (and a tenth, and 0.1 s each) is damaged and left out. Where the
table has operations and clock seconds, each variant with two runs or more is a load series as well: operations per
second by number of processes.

ΔClock is (coarse - fine) / fine, ΔSys is (mandatory - fine) / fine, in per cent (Stevens and Rago, APUE 20.9: all 32
of its table reproduce). A row whose Δ does not follow from its seconds within their rounding is left out. Between
blanks a number can be split in two (`42 .38` of 4 and 2.38), and the halves pass as numbers: such a table is refused as
a whole, as none of its other rows can be trusted, if a figure has other decimals than the rest, or zeros stand before
some points only, or a figure is `00`, or the numbers of processes do not rise, or a digit of one of them would make
the user seconds more like those of the other variants if it stood there (not where all figures end below each other).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.facts.base import Fact, known
from collectors.facts.scaling import LoadPoint, LoadSeries
from collectors.facts.unix import LockingRun
from collectors.layouts import figures
from collectors.layouts.separated import cell, split, title_of
from collectors.leftovers import RULES
from collectors.registry import NotThisReport, Report, report
from collectors.reports.unix.locking_runs.headings import (
    LOAD,
    RECORDS,
    SECONDS,
    VARIANT,
    Heading,
    Variant,
    heading_at,
    variant_of,
)
from collectors.reports.unix.locking_runs.rows import SPACED, Cells, Row, in_columns, read_rows, split_digits

START = re.compile(
    r"^#\s{0,9}lockwright locklab\b"
    rf"|^{cell('variant(?: of locking)?|locking')}{cell(LOAD.replace(' ', '[ _]'))}{cell(SECONDS)}"
    rf"|^{cell((LOAD + '|' + RECORDS).replace(' ', '[ _]'))}{cell(f'{VARIANT}[ _:/-]{{1,3}}{SECONDS}')}"
    r"|^\s{0,20}(?:No locking\s{1,9})?Advisory locking\s{1,9}Mandatory locking\s*$"
    r"|^\s{0,20}(?:No locking\s{1,9})?Coarse.grained (?:locking\s{1,9}Fine.grained locking\b"
    r"|advisory\s{1,20}Fine.grained (?:advisory|mandatory)\b)"
)
REMARK = re.compile(r"\s{0,9}#")
TITLE = re.compile(r"\s{0,9}#\s{0,9}(?:lockwright locklab|title)\s{0,9}:?\s{0,9}(?P<title>\S.{0,200})?", re.IGNORECASE)
STATED = re.compile(
    r"\s{0,9}#\s{0,9}(?P<what>processors|cores|cpus|records)\s{0,9}[:=]\s{0,9}(?P<many>[0-9,]{1,15})\s*$"
)
HOST = re.compile(r"(?:^|\s)host(?:name)? ?[=:] ?(?P<host>[A-Za-z0-9][A-Za-z0-9_.-]{0,62})(?=[\s,;]|$)", re.IGNORECASE)
MOST_ROWS = 10_000
"""Of one table (this project)."""
SPLIT = (
    "no figure of this table can be trusted, as one was split in two ({0}): type it again with a comma "
    "between the figures"
)
SERIES = ("user_seconds", "system_seconds", "clock_seconds", "operations", "calls", "blocked", "frequency_mhz")


@dataclass
class _Remarks:
    """What the lines above a table say."""

    title: str = ""
    processors: int | None = None
    records: float | None = None
    first: int | None = None

    def take(self, index: int, line: str) -> None:
        self.first = index if self.first is None else self.first
        if found := STATED.match(line.lower()):
            many = figures.number(found["many"])
            if found["what"] == "records":
                self.records = many
            else:
                self.processors = int(many) if many else None
        elif (found := TITLE.match(line)) and found["title"]:
            self.title = " ".join(found["title"].split())


@dataclass
class _Table:
    """One heading, the rows below it, and what was said above it."""

    heading: Heading
    remarks: _Remarks
    first: int
    rows: list[Cells] = field(default_factory=list)


@report(starts=START, provides=(LockingRun, LoadSeries))
def read(report: Report) -> Iterator[Fact]:
    """Yield each run, and for each variant a load series where the table has operations."""
    tables = list(_tables(report))
    if not tables:
        raise NotThisReport
    nameless = 0
    for table in tables:
        if not table.remarks.title:
            nameless += 1
            table.remarks.title = title_of(report.file) + (f" ({nameless})" if nameless > 1 else "")
        runs = list(_runs(report, table))
        yield from runs
        yield from _series(report, table, runs)


def _tables(report: Report) -> Iterator[_Table]:
    """Walk over the lines once, claim what belongs to a table."""
    table: _Table | None = None
    remarks = _above(report)
    index = 0
    while index < len(report.lines):
        line = report.lines[index]
        taken = 1
        if heading := heading_at(report.lines, index):
            if table:
                yield table
            taken = heading.lines
            first = index if remarks.first is None else max(0, remarks.first)
            table, remarks = _Table(heading, remarks, first), _Remarks()
            report.claim(index, index + taken - 1)
        elif REMARK.match(line):
            remarks.take(index, line)
            report.claim(index)
        elif line.strip(RULES) and not (table and _row(report, table, index, line)):
            if table:
                yield table
            table, remarks = None, _Remarks()
        elif line.strip(RULES):
            report.claim(index)
        index += taken
    if table:
        yield table


def _above(report: Report) -> _Remarks:
    """What the remarks directly above the first heading say."""
    remarks = _Remarks()
    lines = list(report.before)
    while lines and REMARK.match(lines[-1]):
        lines.pop()
    for line in report.before[len(lines) :]:
        remarks.take(-1, line)
    report.above = len(report.before) - len(lines)
    if not report.above:
        while lines and not lines[-1].strip():
            lines.pop()
        if lines and (found := HOST.search(lines[-1])):
            remarks.title, report.above = found["host"], len(report.before) - len(lines) + 1
    return remarks


def _row(report: Report, table: _Table, index: int, line: str) -> bool:
    """Take one line below a heading; `False`: it belongs to no table."""
    separator = table.heading.separator
    if not SPACED.fullmatch(line.strip()) if separator == " " else separator not in line:
        return False
    if len(table.rows) >= MOST_ROWS:
        what = f"a table of more than {MOST_ROWS:,} rows: read up to here only, the rows below stay unread"
        report.problem(f"{what}; upload them under the heading again", index)
        return False
    cells = line.split() if separator == " " else split(line, separator)
    table.rows.append(Cells(index, tuple(cells)))
    return True


def _runs(report: Report, table: _Table) -> Iterator[LockingRun]:
    heading = table.heading
    if not table.rows:
        report.problem("a heading without rows: upload the whole table", table.first)
        return
    aligned = in_columns([report.lines[row.index] for row in table.rows])
    if heading.separator == " " and (found := split_digits(heading, table.rows, aligned=aligned)):
        report.problem(SPLIT.format(found[1]), found[0])
        return
    for cells, row in zip(table.rows, read_rows(heading, table.rows), strict=True):
        if row.wrong:
            report.problem(f"row left out: {row.wrong}", row.index)
            continue
        variants: list[tuple[Variant, Variant | None]] = [(variant, variant) for variant in heading.variants]
        at = heading.at("variant")
        if not variants and at is not None:
            own = variant_of(cells.cells[at])
            if own is None:
                what = f"{cells.cells[at][:40]!r} is no variant of locking: none, coarse, fine or mandatory fine"
                report.problem(f"row left out: {what}", row.index)
                continue
            variants = [(own, None)]
        for variant, column in variants:
            yield _run(report, table, row, variant, column)


def _run(report: Report, table: _Table, row: Row, variant: Variant, column: Variant | None) -> LockingRun:
    """Make one run; figures of the whole row, as the records, stand in columns of no variant."""
    heading, remarks = table.heading, table.remarks
    processes, records = row.of(heading, "processes"), row.of(heading, "records")
    printed = [(name, row.of(heading, f"delta_{name}")) for name in ("clock", "system")]
    if remarks.records is not None and heading.at("records") is None:
        records = remarks.records
    return LockingRun(
        source=report.source(row.index),
        title=table.remarks.title,
        variant=variant[0],
        mandatory=variant[1],
        processes=processes if known(processes) else 1.0,
        records=records,
        user_seconds=row.of(heading, "user_seconds", column),
        system_seconds=row.of(heading, "system_seconds", column),
        clock_seconds=row.of(heading, "clock_seconds", column),
        operations=row.of(heading, "operations"),
        calls=row.of(heading, "calls"),
        blocked=row.of(heading, "blocked"),
        frequency_mhz=row.of(heading, "frequency_mhz"),
        frequency_low_mhz=row.of(heading, "frequency_low_mhz"),
        frequency_high_mhz=row.of(heading, "frequency_high_mhz"),
        printed=tuple((name, value) for name, value in printed if known(value)),
    )


def _series(report: Report, table: _Table, runs: list[LockingRun]) -> Iterator[LoadSeries]:
    """Operations per second of the clock, a series for each variant."""
    for name in dict.fromkeys(run.name for run in runs):
        points = [
            LoadPoint(
                load=run.processes,
                rate=run.operations / run.clock_seconds,
                others=tuple((what, value) for what in SERIES if known(value := getattr(run, what))),
                line=run.source.first,
            )
            for run in runs
            if run.name == name and known(run.operations) and known(run.clock_seconds) and run.clock_seconds > 0
        ]
        if len({point.load for point in points}) > 1:
            yield LoadSeries(
                source=report.source(table.first, table.rows[-1].index),
                title=f"{table.remarks.title}, {name}",
                load_name="processes",
                rate_name="operations_per_second",
                points=tuple(sorted(points, key=lambda point: point.load)),
                product="unix",
                cores=table.remarks.processors,
            )
