"""SELECT COUNT(*) of tables in interactive SQL alone: how many rows each of them has.

Sample, with names of our own::

    SQL> attach 'filename DISK$LEDGER:[LEDGER]LEDGER';
    SQL> set transaction read only;
    SQL> select count(*) from RATES;
           40117
    1 row selected
    SQL> rollback;

Beside a listing in the same file the reader of that listing has them. Other systems count alike, so that the database
has to be named by an ATTACH of Rdb's SQL, and rows are told as Rdb tells them (`1 row selected`).
"""

import re
from collections.abc import Iterator

from collectors.facts.rdb import LogicalArea
from collectors.layouts.rdb_counts import ATTACH, COUNTING, PROMPT, SELECTED, counted, root_of
from collectors.registry import NotThisReport, Report, report

FRAME = re.compile(
    PROMPT + r"(?:attach\b.{0,300}|set transaction\b.{0,100}|rollback|commit|exit|disconnect\b.{0,60})"
    r"?;?\s*$",
    re.IGNORECASE,
)


@report(starts=COUNTING, provides=(LogicalArea,), alone=True)
def read(report: Report) -> Iterator[LogicalArea]:
    """Yield one fact per table whose rows are counted."""
    lines = [*report.before, *report.lines]
    above = len(report.before)
    if not any(ATTACH.match(line[:400]) for line in lines) or not any(SELECTED.match(line) for line in lines):
        raise NotThisReport
    root: str | None = None
    for index, line in enumerate(lines):
        if found := ATTACH.match(line[:400]):
            root = root_of(found["root"])
        if FRAME.match(line[:400]) or SELECTED.match(line):
            _claim(report, index, index, above)
        elif rows := counted(lines, index):
            table, value, last = rows
            _claim(report, index, last, above)
            yield LogicalArea(source=report.source(index - above, last - above), database=root, name=table, rows=value)


def _claim(report: Report, first: int, last: int, above: int) -> None:
    if first < above:
        report.above = max(report.above, above - first)
    if last >= above:
        report.claim(max(first - above, 0), last - above)
