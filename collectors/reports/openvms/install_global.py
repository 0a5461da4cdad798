"""INSTALL LIST/GLOBAL: the global sections of a node that lie in the page file, each with its pagelets.

Sample (figures of our own; which flags there are is recalled)::

    RMS$80A1C0E0(00000000)      WRT  DZRO TMP SYS        Pagcnt/Refcnt=4800/30

Only demand-zero sections (DZRO) take of GBLPAGFIL and the page file; sections of image files do not, and are left out.
A page count is of pagelets of 512 bytes on Alpha and Integrity, as the summary's heading says.
"""

import re
from collections.abc import Iterator

from collectors.facts.openvms import GlobalSection
from collectors.layouts.figures import reading
from collectors.registry import NotThisReport, Report, report

COUNTS = r"\bPagcnt/Refcnt\s{0,9}=\s{0,9}(?P<pages>[0-9]{1,10})/(?P<refs>[0-9]{1,10})"
HEADING = r"\s{0,20}(?:System|Group) Global Sections\s{0,20}$"
START = re.compile(rf"^{HEADING}|^\s{{0,20}}\S{{1,80}}.{{0,80}}{COUNTS}")
LINE = re.compile(rf"\s{{0,20}}(?P<name>[^\s(]{{1,43}})\s{{0,9}}(?:\(\w{{1,16}}\))?(?P<flags>[\sA-Z]{{0,80}}){COUNTS}")
MOST = 2_000
"""Sections that are kept (this project)."""


@report(starts=START, provides=(GlobalSection,))
def read(report: Report) -> Iterator[GlobalSection]:
    """Yield each section of the page file."""
    found = 0
    for index, line in enumerate(report.lines):
        if re.match(HEADING, line[:100]):
            report.claim(index)
        if not (row := LINE.match(line[:300])):
            continue
        report.claim(index)
        found += 1
        if "DZRO" in row["flags"].split() and found <= MOST:
            pages, refs = reading(row["pages"]), reading(row["refs"])
            yield GlobalSection(source=report.source(index), name=row["name"], pagelets=pages, references=refs)
    if not found:
        raise NotThisReport
    if found > MOST:
        report.problem(f"only the first {MOST:,} of {found:,} global sections were used")
