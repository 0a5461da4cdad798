"""QUERY CPLEVEL: the release of z/VM that runs, which no screen of Performance Toolkit names.

Sample::

    z/VM Version 6 Release 4.0, service level 1702 (64-bit)
    Generated at 2017-08-14 11:20:31 EDT
    IPL at 2017-11-05 04:12:09 EST

The release alone is read: which service is applied, a service level does not tell.
"""

import re
from collections.abc import Iterator

from collectors.facts.zvm import PerfkitPage
from collectors.registry import Report, report

LEVEL = re.compile(
    r"\s{0,8}z/VM Version (?P<version>[0-9]{1,2}) Release (?P<part>[0-9]{1,2}\.[0-9]{1,2}), service level\b",
    re.IGNORECASE,
)
BESIDE = re.compile(r"\s{0,8}(?:(?:Generated|IPL) at |Ready[;(]|q(?:uery)? cplevel\b)", re.IGNORECASE)
"""The other lines of the answer, and those around it."""


@report(
    starts=re.compile(r"^\s{0,8}z/VM Version [0-9]{1,2} Release [0-9.]{1,5}, service level\b", re.IGNORECASE),
    provides=(PerfkitPage,),
)
def read(report: Report) -> Iterator[PerfkitPage]:
    """Yield the release, once for each answer."""
    if report.before and BESIDE.match(report.before[-1]):
        report.above = 1
    for index, line in enumerate(report.lines):
        found = LEVEL.match(line)
        if found:
            report.claim(index)
            release = f"{int(found['version'])}.{found['part']}"
            yield PerfkitPage(source=report.source(index, index), report="CPLEVEL", release=release)
        elif BESIDE.match(line):
            report.claim(index)
