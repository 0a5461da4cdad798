"""QUERY PROCESSORS: which processors are online, as no page of locks says.

Sample::

    PROCESSOR 00 MASTER CP
    PROCESSOR 01 ALTERNATE CP
    PROCESSOR 02 ALTERNATE IFL
    PROCESSOR 03 STANDBY CP

One line a processor; its number is hexadecimal, and later releases print its core behind the type. Those in use are
counted: the master and its alternates, not those that stand by or are parked.
"""

import re
from collections.abc import Iterator

from collectors.facts.zvm import PerfkitPage
from collectors.registry import Report, report

LINE = re.compile(
    r"\s{0,8}PROCESSOR\s{1,3}(?P<cpu>[0-9A-F]{2,4})\s{1,3}(?P<state>[A-Z]{4,12})(?:\s{1,12}(?:CP|IFL|ZIIP|ZAAP|ICF))?"
    r"(?:\s{1,8}CORE\s{1,3}[0-9A-F]{1,4})?\s*",
    re.IGNORECASE,
)
IN_USE = ("MASTER", "ALTERNATE")
BESIDE = re.compile(r"\s{0,8}(?:Ready[;(]|q(?:uery)? proc[a-z]{0,6}\s*$)", re.IGNORECASE)
"""The command, and the line after the answer."""


@report(
    starts=re.compile(r"^\s{0,8}PROCESSOR\s{1,3}[0-9A-F]{2,4}\s{1,3}MASTER\b", re.IGNORECASE),
    provides=(PerfkitPage,),
)
def read(report: Report) -> Iterator[PerfkitPage]:
    """Yield how many processors are in use, once for an answer."""
    if report.before and BESIDE.match(report.before[-1]):
        report.above = 1
    used, last = set[str](), 0
    for index, line in enumerate(report.lines):
        if found := LINE.fullmatch(line):
            report.claim(index)
            last = index
            if found["state"].upper() in IN_USE:
                used.add(found["cpu"].upper())
        elif BESIDE.match(line):
            report.claim(index)
    yield PerfkitPage(source=report.source(0, last), report="PROCESSORS", processors=float(len(used)))
