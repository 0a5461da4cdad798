"""RMU/ANALYZE: how many records each table of an Oracle Rdb database has, how long one is, and where it lies.

Recalled: no source that was read prints it whole. Sample, with names of our own::

    Areas for database - DISK$LEDGER:[LEDGER]LEDGER.RDB;1
    Created 03-MAR-2015 08:11:20.04
    ------------------------------------------------------------------------------
    Storage analysis for storage area: RATES_AREA - file: DISK$LEDGER:[LEDGER]RATES.RDA;1
    Area_id: 7,  Page length: 1024,  Last page: 5120
    ------------------------------------------------------------------------------
    Logical area: RATES for storage area : RATES_AREA
    Larea id: 58, Record type: 31, Record length: 118, Compressed

      Data records: 40117,  bytes used: 3129126 (59%)
        average length: 78, compression ratio: .66

The record length is that of a row as it is declared; the average length that of one as stored. An index has record
type 0 (recalled), and what is printed as the length of its record is that of a node: no row.
"""

import re
from collections.abc import Iterator

from collectors.facts import ABSENT
from collectors.facts.rdb import LogicalArea, StorageArea
from collectors.layouts.rdb_counts import SELECTED, counted
from collectors.registry import NotThisReport, Report, report

NAME = r"[A-Z][\w$]{0,30}"
ANALYSIS = rf"\s{{0,9}}Storage analysis for storage area\s?:\s{{1,9}}(?P<area>{NAME})\b.{{0,300}}"
START = re.compile(
    rf"\s{{0,9}}\$?\s{{0,9}}RMU\s?/ANALY\w{{1,2}}\b|\s{{0,9}}Areas for database - |{ANALYSIS}|"
    rf"\s{{0,9}}Logical area:\s{{1,9}}{NAME}\s{{1,9}}for storage area\s?:",
    re.IGNORECASE,
)
OF = re.compile(r"\s{0,9}Areas for database - (?P<root>\S{1,255})\s*$", re.IGNORECASE)
STORAGE = re.compile(rf"{ANALYSIS}$", re.IGNORECASE)
NUMBER = re.compile(r"\s{0,9}Area_id:\s{0,9}(?P<number>\d{1,5})\s{0,3},", re.IGNORECASE)
LOGICAL = re.compile(
    rf"\s{{0,9}}Logical area:\s{{1,9}}(?P<name>{NAME})\s{{1,9}}for storage area\s?:\s{{1,9}}(?P<area>{NAME})\s*$",
    re.IGNORECASE,
)
RECORD = re.compile(
    r"\s{0,9}Larea id:\s{0,9}(?P<number>\d{1,7})\s{0,3},\s{0,3}Record type:\s{0,9}(?P<type>\d{1,7})\s{0,3},"
    r"\s{0,3}Record length:\s{0,9}(?P<bytes>\d{1,7})\b",
    re.IGNORECASE,
)
ROWS = re.compile(r"\s{0,9}Data records:\s{0,9}(?P<rows>\d{1,12})\b", re.IGNORECASE)
OTHERS = re.compile(
    r"\s{0,9}(?:\$?\s{0,9}RMU\s?/ANALY|Created\s|average length:|Bytes free:|Spam count:|Data records:|"
    r"fragmented records:|\w[\w ]{0,30}fragment\w{0,3}\b|-{20,}\s*$)",
    re.IGNORECASE,
)
RECALLED = "the layout of RMU/ANALYZE is recalled: hold rows and lengths of records against SELECT COUNT(*)"


@report(starts=START, provides=(LogicalArea, StorageArea))
def read(report: Report) -> Iterator[LogicalArea | StorageArea]:
    """Yield one fact per storage area and table, and per table whose rows SQL has counted beside it."""
    lines = report.lines
    if not any(STORAGE.match(line) or LOGICAL.match(line) for line in lines):
        raise NotThisReport
    root = next((found["root"] for _, found in report.every(OF)), None)
    for index, line in enumerate(lines):
        if rows := counted(lines, index):
            report.claim(index, rows[2])
            yield LogicalArea(source=report.source(index, rows[2]), database=root, name=rows[0], rows=rows[1])
        elif OTHERS.match(line) or SELECTED.match(line):
            report.claim(index)
    report.tentative(RECALLED)
    numbers: dict[str, float] = {}
    for index, found in report.every(STORAGE):
        below = index + 1
        if below < len(lines) and (number := NUMBER.match(lines[below])):
            report.claim(below)
            numbers[found["area"].upper()] = float(number["number"])
            yield StorageArea(
                source=report.source(index, below),
                database=root,
                name=found["area"],
                number=float(number["number"]),
            )
    for index, found in report.every(LOGICAL):
        yield from _table(report, root, index, found, numbers)


def _table(
    report: Report, root: str | None, at: int, heading: re.Match[str], numbers: dict[str, float]
) -> Iterator[LogicalArea]:
    """The table or index whose heading stands here; none of Rdb's own."""
    lines = report.lines
    record = RECORD.match(lines[at + 1]) if at + 1 < len(lines) else None
    if record is None:
        report.problem("no record length below this logical area: analyze it again, with /OPTION=NORMAL", at)
        return
    report.claim(at + 1)
    rows, last = None, at + 1
    for index in range(at + 2, min(at + 8, len(lines))):
        if LOGICAL.match(lines[index]) or STORAGE.match(lines[index]):
            break
        if rows := ROWS.match(lines[index]):
            last = index
            break
    if heading["name"].upper().startswith("RDB$"):
        return
    table = int(record["type"]) > 0
    yield LogicalArea(
        source=report.source(at, last),
        database=root,
        name=heading["name"],
        number=float(record["number"]),
        area_number=numbers.get(heading["area"].upper(), ABSENT),
        record_bytes=float(record["bytes"]) if table else 0.0,
        rows=float(rows["rows"]) if table and rows else ABSENT,
    )
