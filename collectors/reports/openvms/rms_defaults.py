"""SHOW RMS_DEFAULT: what RMS takes where neither a program nor a file says otherwise, for the process and the system.

Sample (recalled; which columns the second table has, and in one line or two, depends on the release)::

              MULTI-  |                MULTIBUFFER COUNTS              | NETWORK
              BLOCK   | Indexed  Relative         Sequential           |  BLOCK
              COUNT   |                     Disk  Magtape  Unit Record |  COUNT
    Process     0     |     0        0        0       0          0     |    0
    System     32     |     0        0        0       0          0     |    8

              Prolog  Extend Quantity    QUERY_LOCK   CONTENTION_POLICY
    Process     0           0            System           System
    System      0           0            Enable           Never

Only the second table is read, by the words of its heading: a cell belongs to the word that it stands below. The facts
are tentative. The first table says nothing of locks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts.openvms import RmsDefaults
from collectors.layouts.figures import reading
from collectors.registry import NotThisReport, Report, report

START = re.compile(r"^\s{4,40}MULTI-?\s{0,8}\|?\s{1,40}MULTI-?BUFFER COUNTS\b", re.IGNORECASE)
OF_FIRST = re.compile(
    r"\s{4,40}(?:BLOCK|COUNT)\s{0,8}\||\s{0,4}(?:Process|System)\s{1,20}[0-9]{1,3}\s{0,12}\|", re.IGNORECASE
)
WORDS = re.compile(r"Prolog|Extend(?: Quantity)?|Query_?Lock|Contention(?:_?Policy)?", re.IGNORECASE)
QUANTITY = re.compile(r"\s{4,60}Quantity\b|\s{4,80}Policy\s*$", re.IGNORECASE)
ROW = re.compile(r"\s{0,4}(?P<scope>Process|System)\s{1,20}\S", re.IGNORECASE)
CELL = re.compile(r"\S+")


@dataclass(frozen=True)
class _Column:
    """One word of the heading, and where its middle stands."""

    name: str
    middle: float


@report(starts=START, provides=(RmsDefaults,))
def read(report: Report) -> Iterator[RmsDefaults]:
    """Yield the defaults of the process and of the system."""
    columns: list[_Column] = []
    found = False
    report.tentative("the layout of SHOW RMS_DEFAULT is recalled and no source confirms it")
    for index, line in enumerate(report.lines):
        line = line[:200].expandtabs()
        words = list(WORDS.finditer(line))
        if len(words) > 1:
            columns = [_Column(one.group()[:5].lower(), (one.start() + one.end()) / 2) for one in words]
        elif columns and (row := ROW.match(line)):
            cells = list(CELL.finditer(line, row.end("scope")))
            if len(cells) != len(columns):
                continue
            by_name = {
                min(columns, key=lambda one: abs(one.middle - middle)).name: cell.group()
                for cell in cells
                if (middle := (cell.start() + cell.end()) / 2)
            }
            if len(by_name) != len(columns):
                continue
            found = True
            yield RmsDefaults(
                source=report.source(index),
                scope=row["scope"].lower(),
                extend_blocks=reading(by_name.get("exten", "")),
                query_lock=by_name.get("query"),
                contention_policy=by_name.get("conte"),
            )
        elif not (START.match(line) or OF_FIRST.match(line) or QUANTITY.match(line)):
            continue
        report.claim(index)
    if not found and not columns:
        raise NotThisReport
