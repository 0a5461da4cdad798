"""SHOW DEVICE/FILES: which processes of one node have which files of a disk open, at one moment.

Sample (recalled from the DCL Dictionary's example, names of our own)::

    Files accessed on device $1$DGA12: on 12-MAY-2026 10:14:19.02

    Process name      PID     File name
                    00000000  [000000]INDEXF.SYS;1
    STOCK CLERK 4   2060003C  [SHOP]ORDERS.DAT;12

Recalled, so the facts are tentative. A process name may have blanks, so a row is known by the eight hexadecimal digits
before a name in brackets; zeros are the system's own. A node in parentheses behind the device is that which serves it,
not the one that lists.
"""

import re
from collections.abc import Iterator

from collectors.facts.openvms import OpenFile
from collectors.registry import NotThisReport, Report, report

START = re.compile(
    r"^\s{0,4}Files accessed on device _?(?P<device>[A-Z0-9$_-]{1,40}):.{0,60} on\s{1,3}\d{1,2}-[A-Z]{3}-\d{4}",
    re.IGNORECASE,
)
HEADING = re.compile(r"\s{0,8}Process name\s{1,20}PID\s{1,20}File name\s*$", re.IGNORECASE)
ROW = re.compile(
    r"(?P<process>.{0,15}?)\s{1,24}(?P<pid>[0-9A-F]{8})\s{1,8}(?P<file>\[.{1,255}\][^;\s]{0,250};[0-9]{1,5})\s*$",
    re.IGNORECASE,
)
MOST = 20_000
"""Open files that are kept (this project)."""


@report(starts=START, provides=(OpenFile,))
def read(report: Report) -> Iterator[OpenFile]:
    """Yield each file that a process has open."""
    device, found = "", 0
    report.tentative("the layout of SHOW DEVICE/FILES is recalled and no source confirms it")
    for index, line in enumerate(report.lines):
        row = ROW.match(line) if device and len(line) <= 600 else None
        if head := START.match(line[:200]):
            device = head["device"].upper()
        elif row:
            found += 1
            if found <= MOST:
                yield OpenFile(
                    source=report.source(index),
                    device=device,
                    name=row["file"],
                    pid=row["pid"].upper(),
                    process=row["process"].strip() or None,
                )
        elif not HEADING.match(line[:200]):
            continue
        report.claim(index)
    if not found:
        raise NotThisReport
    if found > MOST:
        report.problem(f"{found - MOST:,} open files after the first {MOST:,} were not read: list one disk alone", 0)
