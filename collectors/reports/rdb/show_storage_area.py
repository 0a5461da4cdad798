"""SQL's SHOW STORAGE AREA: whether the storage areas of an Oracle Rdb database are locked by row or by page.

Sample (vendor: SQL help 7.2, CREATE STORAGE_AREA, ALLOCATION_PAGES)::

    SQL> attach 'filename DISK$LEDGER:[LEDGER]LEDGER';
    SQL> show storage area POSTINGS

         POSTINGS
             Access is:       Read write
             Page Format:     Uniform
             Area File:       DISK$LEDGER:[LEDGER]POSTINGS.RDA;1
             Locking is Row Level
             No Cache Associated with Storage Area

The listing has no number of an area. A file that is attached to without its type is a root file (`.RDB`, its default);
one that is called by a logical name names no database here.
"""

import re
from collections.abc import Iterator

from collectors.facts.rdb import StorageArea
from collectors.facts.rdb.names import VERSION, is_whole
from collectors.registry import NotThisReport, Report, report

PROMPT = r"\s{0,20}(?:SQL>\s{0,20})?"
ACCESS = re.compile(r"\s{1,40}Access is:\s{1,40}\S", re.IGNORECASE)
START = re.compile(rf"^{PROMPT}show storage areas?\b|^{ACCESS.pattern}", re.IGNORECASE)
NAME = re.compile(r"\s{0,40}(?P<name>[A-Z][\w$]{0,30})\s*$", re.IGNORECASE)
LEVEL = re.compile(r"\s{1,40}Locking is (?P<level>Page|Row) Level\s*$", re.IGNORECASE)
CACHED = re.compile(r"\s{1,40}(?:Row )?Cache:?\s{1,40}(?P<cache>[A-Z][\w$]{0,30})\s*$", re.IGNORECASE)
"""Recalled: the vendor's sample is of an area without a cache."""
OTHERS = re.compile(
    r"\s{1,40}(?:Access is|Page (?:Format|Size)|Area \w|Extent|Snapshot \w|No (?:Row )?Cache|Checksum|SPAM)\b"
    r"|\s{1,40}\w[\w ]{0,30}:\s",
    re.IGNORECASE,
)
ATTACH = re.compile(rf"{PROMPT}attach\s.{{0,60}}filename\s{{1,9}}['\"]?(?P<root>[^\s'\";]{{1,255}})", re.IGNORECASE)
FRAME = re.compile(rf"{PROMPT}(?:show storage areas?\b.{{0,80}}|exit;?|attach\s.{{0,300}})?\s*$", re.IGNORECASE)


@report(starts=START, provides=(StorageArea,))
def read(report: Report) -> Iterator[StorageArea]:
    """Yield one fact per area that is listed with its details."""
    root = _attached(report)
    starts = [index for index, line in enumerate(report.lines) if ACCESS.match(line)]
    if not starts:
        raise NotThisReport
    for index, line in enumerate(report.lines):
        if FRAME.match(line):
            report.claim(index)
    for at, end in zip(starts, [*starts[1:], len(report.lines)], strict=True):
        above = next((back for back in range(at - 1, -1, -1) if report.lines[back].strip()), None)
        name = NAME.match(report.lines[above]) if above is not None else None
        if above is None or name is None:
            report.problem("no name above this storage area: list it again, with SHOW STORAGE AREA and its name", at)
            continue
        report.claim(above)
        yield _area(report, name["name"], root, at, end)


def _area(report: Report, name: str, root: str | None, at: int, end: int) -> StorageArea:
    by_page, cache, last = None, None, at
    for index in range(at, end):
        line = report.lines[index]
        if level := LEVEL.match(line):
            by_page = level["level"].lower() == "page"
        elif cached := CACHED.match(line):
            cache = cached["cache"]
        elif not OTHERS.match(line):
            continue
        report.claim(index)
        last = index
    return StorageArea(
        source=report.source(at, last), database=root, name=name, page_level_locking=by_page, row_cache=cache
    )


def _attached(report: Report) -> str | None:
    """The root file of the session, where it is named by its file: of the last ATTACH above, else the first one."""
    for above, line in enumerate(reversed(report.before), 1):
        if found := ATTACH.match(line[:400]):
            report.above = above
            return _root(found["root"])
    return next((_root(found["root"]) for line in report.lines if (found := ATTACH.match(line[:400]))), None)


def _root(file: str) -> str | None:
    if not is_whole(file):
        return None
    return file if re.search(r"\.\w+$", VERSION.sub("", file)) else f"{file}.RDB"
