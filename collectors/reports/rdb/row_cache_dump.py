"""RMU/DUMP/ROW_CACHE: the rows that lie in a row cache at one moment, and how many processes have each in use.

The columns are documented (RMU help 7.2, Dump Row_Cache: DBK is the database key, REFCNT the number of processes that
have the row in a cache working set, UPD_PID the process that updates it, LHMTE its flags); how they are laid out is
recalled, so the facts are tentative. As it is taken to be, figures of our own::

    $ RMU/DUMP/ROW_CACHE DISK$PAY:[PAY]PAYROLL.RDB /CACHE_NAME=RATES
    GRIC     GRIB     SLOT NXTGRIC LHMTE SNAPPNO LEN ACTLEN DBK       REFCNT UPD_PID  RVNO TSN
    00A1C040 00A1C0C0    4      -1   H        17  96     96 58:114:3      21 20600A07  310 0:88214

A row is known by its database key and what follows it; what stands before may have empty flags. Rows that no two
processes use say nothing of sharing and are left out, and so is the content of rows, which may be of people.
"""

import re
from collections.abc import Iterator

from collectors.facts.rdb import HotRow
from collectors.layouts.figures import reading
from collectors.registry import NotThisReport, Report, report

START = re.compile(r"^\s{0,20}GRIC\b.{1,120}\bDBK\b.{1,40}\bREFCNT\b", re.IGNORECASE)
COMMAND = re.compile(r"\s{0,8}\S{0,32}[$>]\s{0,4}RMU/DUMP/ROW_?C\w{0,8}(?P<rest>.{0,300})", re.IGNORECASE)
ROOT = re.compile(r"\s(?P<root>[^\s/!\"=]{1,255})")
NAME = re.compile(r"/CACHE(?:_NAME)?=\"?(?P<cache>[A-Z0-9_$]{1,31})", re.IGNORECASE)
ROW = re.compile(
    r"\s{0,20}(?:[0-9A-F]{8,16}\s{1,12}){2}.{0,80}?\s(?P<dbkey>-?[0-9]{1,9}:[0-9]{1,10}:-?[0-9]{1,6})"
    r"\s{1,12}(?P<users>[0-9]{1,9})\s{1,20}[0-9A-F]{1,8}\s{1,20}[0-9]{1,12}\s{1,20}[0-9:]{1,24}\s*$",
    re.IGNORECASE,
)
MOST = 2_000
"""Rows that are kept (this project): a cache may hold millions."""


@report(starts=START, provides=(HotRow,))
def read(report: Report) -> Iterator[HotRow]:
    """Yield each row that two processes or more have in use."""
    command = next((found for line in reversed(report.before) if (found := COMMAND.match(line[:400]))), None)
    root = ROOT.search(command["rest"]) if command else None
    cache = NAME.search(command["rest"]) if command else None
    report.tentative("the layout of RMU/DUMP/ROW_CACHE is recalled, its columns alone are documented")
    rows = shared = 0
    for index, line in enumerate(report.lines):
        line = line[:300].expandtabs()
        if row := ROW.match(line):
            rows += 1
            if int(row["users"]) > 1:
                shared += 1
                if shared <= MOST:
                    yield HotRow(
                        source=report.source(index),
                        database=root["root"] if root else None,
                        cache=cache["cache"] if cache else None,
                        dbkey=row["dbkey"],
                        users=reading(row["users"]),
                    )
        elif not START.match(line):
            continue
        report.claim(index)
    if not rows:
        raise NotThisReport
    if shared > MOST:
        report.problem(f"{shared - MOST:,} shared rows after the first {MOST:,} were not read: dump one cache alone", 0)
