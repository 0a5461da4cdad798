"""A performance report's table of runs: one column a run, its figures from top to bottom, ratios below.

Sample, as a spreadsheet, a bar table, or blanks keep it::

    z/VM Version             6.4.0      7.1.0
    # of CPUs                    8          8
    Run ID                  64STK8     71STK8
    Tx/sec (n)              512.40     611.07
    Total msec/Tx (h)       14.210     11.840
    CP msec/Tx (h)           6.130      3.902
    Emul msec/Tx (h)         8.080      7.938
    Avg Spin Lock Rate (v)    8120       5210
    Spin Time (v)            9.412      4.108
    Pct Spin Time (v)        7.643      2.140
    Ratios
    Tx/sec (n)               1.000      1.193

Pasted from a web page each cell stands on lines of its own, groups and columns parted by blank lines: the lines of
labels, then for each run as many lines of values. Both are read. (v) is VMPRF, (h) the hardware's instrumentation, (n)
the driver [V, R, zvm-unix-scalability.md a3].

Checked is what the figures must keep: rate × time × 1e-4 = per cent of time spinning, total = CP + emulation per
transaction, and each ratio = run ÷ base run, to the printed digits. What fails is told with its line, and the run is
marked `wrong`. The base of a run is a column that prints 1.000: of several the one that the ratios go with, else the
nearest to its left. A swap that keeps all of these cannot be seen.
"""

import re
from collections.abc import Iterator

from collectors.facts.base import ABSENT
from collectors.facts.zvm import PerformanceRun
from collectors.registry import NotThisReport, Report, report
from collectors.reports.zvm.performance_runs.cells import Table
from collectors.reports.zvm.performance_runs.checks import Fault, base_of, faults_of
from collectors.reports.zvm.performance_runs.table import START, tables

RELEASE = re.compile(r"(?:z/VM ?)?V?\.?(?P<release>[0-9]{1,2}\.[0-9]{1,2}(?:\.[0-9]{1,2})?)", re.IGNORECASE)
TITLE = re.compile(r"\s{0,20}(?P<title>Table [0-9]{1,3}[.:]? .{1,200}?)\s*$", re.IGNORECASE)
REMEDY = "compare the table with its original"


@report(starts=START, provides=(PerformanceRun,))
def read(report: Report) -> Iterator[PerformanceRun]:
    """Yield each run of each table, in the order of the columns."""
    found = [table for table in tables(report) if table.measures]
    if not found and not report.problems:
        raise NotThisReport
    for number, table in enumerate(found):
        title = _title(report, table, first=not number)
        bases = [base_of(table, column) for column in range(table.runs)]
        names = [_name(table, column) for column in range(table.runs)]
        for column in range(table.runs):
            base = bases[column]
            faults = list(faults_of(table, column, bases))
            _tell(report, names[column], faults)
            yield _run(report, table, column, title, names, base, faults)


def _run(
    report: Report,
    table: Table,
    column: int,
    title: str | None,
    names: list[str],
    base: int | None,
    faults: list[Fault],
) -> PerformanceRun:
    release = table.cell("release", column)
    match = RELEASE.fullmatch(release.text) if release else None
    lines = [cell.index for cell in table.column(column)] or [table.first]
    ratios = ((name, table.ratio(name, column)) for name in table.ratios)
    return PerformanceRun(
        source=report.source(min(lines), max(lines)),
        run=names[column],
        title=title,
        release=match["release"] if match else None,
        **{name: figure.value if (figure := table.figure(name, column)) else ABSENT for name in table.fields},
        ratios=tuple((name, ratio.number) for name, ratio in ratios if ratio and ratio.number is not None),
        base=None if base is None else names[base],
        wrong=tuple(fault.what for fault in faults),
    )


def _tell(report: Report, name: str, faults: list[Fault]) -> None:
    """One problem a run: the first that does not hold, and how many more; `wrong` has them all."""
    for fault in faults[:1]:
        more = f" ({len(faults) - 1} more in this run do not go together)" if len(faults) > 1 else ""
        report.problem(
            f"{name}: {fault.what}{more}: columns or rows were swapped, or digits lost; {REMEDY}", fault.index
        )


def _name(table: Table, column: int) -> str:
    """The Run ID; the column's number where there is none."""
    cell = table.cell("run", column)
    return cell.text[:40] if cell and cell.text else str(column + 1)


def _title(report: Report, table: Table, *, first: bool) -> str | None:
    """What the line above calls the table; it may lie above the report's first line."""
    above = report.over(table.first, 6) if first else report.lines[max(0, table.first - 6) : table.first]
    for back, line in enumerate(reversed(above), start=1):
        if not line.strip():
            continue
        found = TITLE.match(line)
        if not found:
            return None
        if back > table.first:
            report.above = back - table.first
        else:
            report.claim(table.first - back)
        return " ".join(found["title"].split())
    return None
