"""Which devices a segment of a database lies on, and which tables are put there (`sp_helpsegment <segment>`)::

     segment name    status
     ------- ------- ------
           3 hot_seg      0

     device   size    free_pages
     -------- ------- ----------
     data07   200.0MB       9000

     table_name index_name indid
     ---------- ---------- -----
     crane      crane          0

* The tables below the first do not say whose they are: it names one segment. Without a name the procedure lists all of
  them and no more, which is no fact.
* Where that first table was left out, the file may be named by the command: `sp_helpsegment_hot_seg.txt`.
* A segment belongs to the database it was asked in, which the output does not name.
* Newer releases print a table of sizes below, and the objects that are bound beside those that are on it: a table is
  named once.
"""

import re
from collections.abc import Iterator

from collectors.facts import Source
from collectors.facts.ase import SegmentUse
from collectors.registry import NotThisReport, Report, name_of, report
from collectors.tables import Listing, claim

NAMED = re.compile(r"\bsegment\W{1,40}name\W{1,300}status\b", re.IGNORECASE)
DEVICES = re.compile(r"\bdevice\W{1,300}size\b(?!.*\busage\b)", re.IGNORECASE)
TABLES = re.compile(r"\btable_name\W{1,300}index_name\W{1,300}indid\b", re.IGNORECASE)
SIZES = re.compile(r"\btotal_size\W{1,80}total_pages\W{1,80}free_pages\b", re.IGNORECASE)
HEADING = re.compile("|".join(one.pattern for one in (NAMED, DEVICES, TABLES, SIZES)), re.IGNORECASE)
STOP = re.compile(rf"\W{{0,40}}(?:{HEADING.pattern})|\s*(?:sp_\w+\b|go\s*$|Objects\s)", re.IGNORECASE)
REMARK = re.compile(r"\s*Objects (?:on|currently bound to) segment\b", re.IGNORECASE)
LISTING: Listing[SegmentUse] = Listing(
    heading=HEADING,
    row=lambda row, table: (),
    stop=STOP,
    remarks=REMARK,
    remedy="export it again in full (isql -w 1000)",
)
"""Only cut into tables by it: whose a device is, stands in another table."""


FILES = re.compile(r"^sp_helpsegment[ _.-](?P<segment>[\w#$]{1,255})\.(?:txt|out|lst|log)$", re.IGNORECASE)


@report(starts=NAMED, provides=(SegmentUse,), files=FILES)
def read(report: Report) -> Iterator[SegmentUse]:
    """Yield one fact for each segment whose devices are listed."""
    name, devices, tables = "", list[str](), list[str]()
    where, found = None, False
    file = FILES.match(name_of(report.file))
    if file and not any(NAMED.search(line) for line in report.lines):
        name, where = file["segment"], report.source(0, len(report.lines) - 1)
    for _, table in LISTING.tables(report):
        found = True
        claim(report, table)
        for row in table.rows:
            if table.has("status"):
                if name and where and devices:
                    yield _segment(name, devices, tables, where)
                name, where = row.get("name"), report.source(row.first, row.last)
                devices, tables = [], []
            elif table.has("device"):
                devices.append(row.get("device"))
            elif table.has("table_name"):
                tables.append(row.get("table_name"))
    if not found:
        raise NotThisReport
    if name and where and devices:
        yield _segment(name, devices, tables, where)


def _segment(name: str, devices: list[str], tables: list[str], where: Source) -> SegmentUse:
    """One segment; what is listed twice, for an index or for a binding, is named once."""
    one, other = (tuple(dict.fromkeys(filter(None, names))) for names in (devices, tables))
    return SegmentUse(segment=name, devices=one, tables=other, source=where)
