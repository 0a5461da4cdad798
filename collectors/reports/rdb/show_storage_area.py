"""SQL's SHOW STORAGE AREA: how the storage areas of an Oracle Rdb database are locked, and its row caches (SHOW CACHE).

Sample (vendor: SQL help 7.2, CREATE STORAGE_AREA, ALLOCATION_PAGES)::

    SQL> attach 'filename DISK$LEDGER:[LEDGER]LEDGER';
    SQL> show storage area POSTINGS

         POSTINGS
             Access is:       Read write
             Page Format:     Uniform
             Area File:       DISK$LEDGER:[LEDGER]POSTINGS.RDA;1
             Area Extent Minimum:     99 pages
             Locking is Row Level
             No Cache Associated with Storage Area

A paste may have lost the blanks in front of the lines, and the cache may stand there as `Row Cache is: RATES`
(recalled). SHOW CACHE and a name list the size of a row cache; that layout is recalled::

    SQL> show cache RATES

         RATES
             Cache Size:             40000 rows
             Row Length:             120 bytes

SELECT COUNT(*) of a table beside it is how many rows a cache of that table is to hold. The vendor's sample has no
number of an area; where a line `Storage area ID number is 27`, or the column `RDB$STORAGE_AREA_ID`, stands below its
name (recalled), it is read, and its file there is passed over. A file that
is attached to without its type is a root file (`.RDB`, its default); one that is called by a logical name names no
database here.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from collectors.facts import ABSENT, Reading
from collectors.facts.rdb import LogicalArea, RowCache, StorageArea
from collectors.layouts.rdb_counts import ATTACH, PROMPT, SELECTED, counted, root_of
from collectors.registry import NotThisReport, Report, report

ID = re.compile(
    r"\s{1,40}(?:Storage area ID number is|RDB\$STORAGE_AREA_ID)\s{1,40}(?P<number>\d{1,9})\s*$", re.IGNORECASE
)
ABOVE = re.compile(r"\s{1,40}Storage Area File:\s{1,40}\S", re.IGNORECASE)
ACCESS = re.compile(r"\s{0,40}Access is:\s{1,40}\S", re.IGNORECASE)
START = re.compile(rf"^{PROMPT}show (?:storage areas?|caches?)\b|^{ACCESS.pattern}", re.IGNORECASE)
NAME = re.compile(r"\s{0,40}(?P<name>[A-Z][\w$]{0,30})\s*$", re.IGNORECASE)
LEVEL = re.compile(r"\s{0,40}Locking is (?P<level>Page|Row) Level\s*$", re.IGNORECASE)
CACHED = re.compile(
    r"\s{0,40}(?:Using )?(?:Row )?Cache(?: is)?:?\s{1,40}(?P<cache>[A-Z][\w$]{0,30})"
    r"(?: Associated with Storage Area)?\s*$",
    re.IGNORECASE,
)
"""Recalled: the vendor's sample is of an area without a cache."""
UNCACHED = re.compile(r"\s{0,40}No (?:Row )?Cache Associated with Storage Area\s*$", re.IGNORECASE)
EXTENT = re.compile(
    r"\s{0,40}Area Extent (?P<which>Minimum|Maximum):\s{1,40}(?P<pages>\d{1,10}) pages?\s*$", re.IGNORECASE
)
SIZE = re.compile(r"\s{1,40}Cache Size:\s{1,40}(?P<rows>\d{1,12}) rows?\s*$", re.IGNORECASE)
LENGTH = re.compile(r"\s{1,40}Row Length:\s{1,40}(?P<bytes>\d{1,7}) bytes?\s*$", re.IGNORECASE)
OF_CACHE = re.compile(
    r"\s{1,40}(?:Row|Shared|Large|Reserved|Sweep|Checkpoint|Working|Window|Allocation|Extent|Location|No |Cache)\b",
    re.IGNORECASE,
)
LISTED = re.compile(r"\s{0,20}Cache Objects in database with filename\s{1,9}(?P<root>\S{1,255})\s*$", re.IGNORECASE)
RECALLED = "the layout of SHOW CACHE is recalled: hold what is said of row caches against the listing"
OTHERS = re.compile(
    r"\s{0,40}(?:Access is|Page (?:Format|Size)|Area \w|Extent|Snapshot \w|No (?:Row )?Cache|Checksum|SPAM)\b"
    r"|\s{0,40}\w[\w ]{0,30}:\s",
    re.IGNORECASE,
)
FRAME = re.compile(
    rf"{PROMPT}(?:show (?:storage areas?|caches?)\b.{{0,80}}|exit;?|attach\s.{{0,300}})?\s*$", re.IGNORECASE
)


@report(starts=START, provides=(StorageArea, RowCache, LogicalArea))
def read(report: Report) -> Iterator[StorageArea | RowCache | LogicalArea]:
    """Yield one fact per area and row cache that is listed with its details, and per table whose rows are counted."""
    root = _attached(report)
    sizes = [index for index, line in enumerate(report.lines) if SIZE.match(line)]
    starts = [index for index, line in enumerate(report.lines) if ACCESS.match(line)]
    if not starts and not sizes:
        raise NotThisReport
    for index, line in enumerate(report.lines):
        if FRAME.match(line) or SELECTED.match(line):
            report.claim(index)
    for at, end in pairwise([*starts, len(report.lines)]):
        above, number = _line_above(report, at), None
        while above is not None and ((found := ID.match(report.lines[above])) or ABOVE.match(report.lines[above])):
            number = number or found
            report.claim(above)
            above = _line_above(report, above)
        name = NAME.match(report.lines[above]) if above is not None else None
        if above is None or name is None:
            report.problem("no name above this storage area: list it again, with SHOW STORAGE AREA and its name", at)
            continue
        report.claim(above)
        yield _area(report, name["name"], float(number["number"]) if number else ABSENT, root, at, end)
    above, lines = len(report.before), [*report.before, *report.lines]
    for index in range(len(lines)):  # often a table is counted before its cache is shown
        if rows := counted(lines, index):
            table, value, last = rows
            report.claim(max(index - above, 0), last - above)
            report.above = max(report.above, above - index)
            yield LogicalArea(source=report.source(index - above, last - above), database=root, name=table, rows=value)
    if sizes:
        report.tentative(RECALLED)
    caches = list(filter(None, (_cache(report, root, at) for at in sizes)))
    for index, _ in report.every(LISTED) if caches else ():
        if index + 1 < len(report.lines) and NAME.match(report.lines[index + 1]):
            report.claim(index + 1)
    yield from caches


def _line_above(report: Report, at: int) -> int | None:
    """The next line above that is not blank."""
    return next((back for back in range(at - 1, -1, -1) if report.lines[back].strip()), None)


def _area(report: Report, name: str, number: Reading, root: str | None, at: int, end: int) -> StorageArea:
    by_page, cache, last = None, None, at
    extents: dict[str, float] = {}
    for index in range(at, end):
        line = report.lines[index]
        if SIZE.match(line) or line.lstrip().upper().startswith("SQL>"):
            break
        if level := LEVEL.match(line):
            by_page = level["level"].lower() == "page"
        elif UNCACHED.match(line):
            cache = ""
        elif cached := CACHED.match(line):
            cache = cached["cache"]
        elif extent := EXTENT.match(line):
            extents[extent["which"].lower()] = float(extent["pages"])
        elif not OTHERS.match(line):
            continue
        report.claim(index)
        last = index
    return StorageArea(
        source=report.source(at, last),
        database=root,
        name=name,
        number=number,
        page_level_locking=by_page,
        row_cache=cache,
        extent_minimum_pages=extents.get("minimum", ABSENT),
        extent_maximum_pages=extents.get("maximum", ABSENT),
    )


def _cache(report: Report, root: str | None, at: int) -> RowCache | None:
    """The row cache whose size stands here; its name stands alone on the line above."""
    above = _line_above(report, at)
    name = NAME.match(report.lines[above]) if above is not None else None
    size, length, last = SIZE.match(report.lines[at]), None, at
    if above is None or name is None or size is None:
        report.problem("no name above this row cache: list it again, with SHOW CACHE and its name", at)
        return None
    while last + 1 < len(report.lines) and OF_CACHE.match(report.lines[last + 1]):
        last += 1
        length = length or LENGTH.match(report.lines[last])
    report.claim(above, last)
    return RowCache(
        source=report.source(above, last),
        database=root,
        name=name["name"],
        slots=float(size["rows"]),
        row_bytes=float(length["bytes"]) if length else ABSENT,
    )


def _attached(report: Report) -> str | None:
    """The root file of the session, where it is named by its file: of the last ATTACH above, else the first one."""
    for above, line in enumerate(reversed(report.before), 1):
        if found := ATTACH.match(line[:400]):
            report.above = above
            return root_of(found["root"])
    return next((root_of(found["root"]) for line in report.lines if (found := ATTACH.match(line[:400]))), None)
