"""SDA's FLT extension: which program counters cause alignment faults.

The shape that is looked for (no sample is at hand, so this one is made up of the words that the manual uses)::

    SDA> FLT SHOW TRACE/SUMMARY/RATES
    Fault Trace Information: (trace time 00:01:00.00)
    Exception PC         Faults/sec   Module            Offset
    -----------------    ----------   ---------------   --------
    FFFFFFFF.8071A2C0        2310.4   LDG$POST          000012C0

or, with both figures behind the module, whose offset stands behind a `+` or a blank::

    Exception PC          Module                                        Count      Rate
    -----------------     ----------------------------------------   --------  --------
    00000000.0004C210     TAXSUM+0004C210                                9000       900
                          Total                                         11000      1100

Rows are sorted by the program counter with most faults; /RATES is the default, /TOTALS prints counts
(openvms-formats.md d.5 [S]). A row is an address and one figure, in either order, with words behind them, or an
address, words and the figures that the heading names behind `Module`; anything else stays a leftover. `/sec` in the
heading, or the echoed command, tells the unit; without either the figures are left out. A detailed trace (no /SUMMARY)
is not read: it has a line for each fault. Always tentative.
"""

import re
from collections.abc import Iterator

from collectors.facts.base import ABSENT, OVERFLOW, Reading
from collectors.facts.openvms import FaultSource, Node
from collectors.layouts import sda
from collectors.layouts.figures import number
from collectors.layouts.tables import is_dashes
from collectors.registry import NotThisReport, Report, report

START = re.compile(
    r"^\s{0,8}SDA ?> {0,4}(?i:FLT +SHO?W? +TR)[A-Za-z]*"
    r"|^\s{0,60}(?:Unaligned Data |Alignment )?Fault Trace (?:Information|Summary)"
    r"\s{0,60}(?:$|[:(]|\s\s|\s(?:on node|at [0-9]))"
)
TITLE = re.compile(r"\s{0,60}(?:Unaligned Data |Alignment )?Fault Trace (?:Information|Summary)\b")
HEAD = re.compile(
    r"(?=.{0,200}\bPC\b)(?=.{0,200}(?:\bFaults?\b|\bCounts?\b|\bRate\b|/ ?s(?:ec)?\b))[A-Za-z(%/ .):_-]{1,200}$"
)
RATE = re.compile(r"/ ?s(?:ec(?:ond)?)?\b|\bper sec(?:ond)?\b|\brate\b", re.IGNORECASE)
COUNT = re.compile(r"\bcounts?\b|\btotals?\b", re.IGNORECASE)
PC = r"(?P<pc>[0-9A-Fa-f]{8}(?:\.?[0-9A-Fa-f]{8})?)"
FIGURE = r"(?P<figure>[0-9][0-9.,]{0,20}|\*{1,20})(?:/s(?:ec)?)?"
WHERE = r"(?:\s+(?P<where>[A-Za-z_$%].{0,150}?))?\s*$"
ROWS = (re.compile(rf"\s*{PC}\s+{FIGURE}{WHERE}"), re.compile(rf"\s*{FIGURE}\s+{PC}{WHERE}"))
BEHIND = re.compile(r"\bPC\s.*\b(?:Module|Image)\b(?P<named>(?:\s+(?:Offset|Counts?|Rate|Faults/sec))+)\s*$", re.I)
"""A heading whose figures stand behind the module: which ones, in their order."""
TOTAL = re.compile(rf"\s*Total(?:\s+{FIGURE.replace('?P<figure>', '?:')}){{1,2}}\s*$", re.I)
MOST_ROWS = 100
"""The first ones cause most of them."""


@report(starts=START, provides=(FaultSource, Node))
def read(report: Report) -> Iterator[FaultSource | Node]:
    """Yield the program counters in their order."""
    rows: list[tuple[int, str, dict[str | None, Reading], str | None]] = []
    unit: str | None = None
    behind: tuple[str, ...] = ()
    began, outside, heads, left, order = False, False, 0, 0, 0
    for index, line in enumerate(report.lines):
        if (command := sda.command_of(line)) is not None:
            outside = not sda.is_command(command, "FLT", "SH", "TR")
            if not outside and not sda.has(command, "SUMMARY"):
                report.problem("a detailed trace is not read: repeat as FLT SHOW TRACE/SUMMARY", index)
                outside = True
            began = began or not outside
            unit = "totals" if sda.has(command, "TOTALS", 3) else "rates"
            if not sda.is_command(command, "FLT", "SH", "TR"):
                continue
        elif outside or len(line) > 250:
            continue
        elif TITLE.match(line):
            began = True
        elif HEAD.match(line):
            heads += 1
            unit = "rates" if RATE.search(line) else "totals" if COUNT.search(line) else unit
            named = found["named"].lower().split() if (found := BEHIND.search(line)) else []
            behind = tuple("totals" if one.startswith("count") else "rates" for one in named if one != "offset")
        elif behind and (row := _row_behind(line, behind)):
            left += len(rows) >= MOST_ROWS
            rows += [(index, *row)] if len(rows) < MOST_ROWS else []
        elif not behind and (one := _row(line, order)):
            order, match = one
            left += len(rows) >= MOST_ROWS
            if len(rows) < MOST_ROWS:
                rows.append((index, match["pc"], {unit: _figure(match["figure"])}, match["where"]))
        elif not (is_dashes(line) or (behind and TOTAL.match(line))):
            continue
        report.claim(index)
    if not rows and not report.problems:
        if not began:
            raise NotThisReport
        report.problem("no program counter with a figure was found below it: repeat FLT SHOW TRACE/SUMMARY", 0)
    if rows:
        yield from _facts(report, rows, left)


def _facts(
    report: Report, rows: list[tuple[int, str, dict[str | None, Reading], str | None]], left: int
) -> Iterator[FaultSource | Node]:
    report.tentative("no sample of FLT's output is known; a row is taken as an address and its faults")
    if left:
        report.problem(f"{left:,} more rows, of fewer faults each, were not kept", rows[-1][0])
    if None in rows[0][2]:
        what = "nothing tells whether the figures are rates or counts, so they are left out: repeat it with /RATES"
        report.problem(what, rows[0][0])
    named = sda.node_in(report.lines[: rows[0][0]]) or sda.node_in(report.before)
    if named:
        yield Node(source=report.source(0), name=named)
    for index, pc, figures, where in rows:
        yield FaultSource(
            source=report.source(index),
            node=named,
            pc=pc,
            where=" ".join(where.split()) if where else None,
            faults_per_second=figures.get("rates", ABSENT),
            faults=figures.get("totals", ABSENT),
        )


def _row_behind(line: str, behind: tuple[str, ...]) -> tuple[str, dict[str | None, Reading], str | None] | None:
    """One row whose last fields are these figures; words that belong to none stand before them."""
    words = line.split()
    if len(words) <= len(behind) or not re.fullmatch(PC, words[0]):
        return None
    where, figures = " ".join(words[1 : -len(behind)]), words[-len(behind) :]
    if not all(re.fullmatch(FIGURE, one) for one in figures) or not re.match(r"[A-Za-z_$%]|$", where):
        return None
    return words[0], {name: _figure(one) for name, one in zip(behind, figures, strict=True)}, where or None


def _row(line: str, order: int) -> tuple[int, re.Match[str]] | None:
    """One row, with the number (from 1) of the order its fields stand in; all rows have that of the first (0: any)."""
    ways = enumerate(ROWS, start=1)
    return next(((n, found) for n, row in ways if order in (0, n) and (found := row.match(line))), None)


def _figure(text: str) -> Reading:
    found = number(text)
    return OVERFLOW if not text.strip("*") else ABSENT if found is None else found
