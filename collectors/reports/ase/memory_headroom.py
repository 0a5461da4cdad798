"""How much memory can still be configured (a sentence of `sp_configure "memory"`).

Printed by itself, or among the groups of a listing (the wording is recalled, so it is read tolerantly)::

    An additional 262144 K bytes of memory is available for reconfiguration. This is the difference between
    'max memory' and 'total logical memory'.

Kilobytes unless M or G is printed. Of several such sentences the last is the newest. A figure that was not printed
whole (asterisks) is a problem and no fact. Absent: a listing without the sentence says nothing about what is free.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import MemoryHeadroom
from collectors.facts.base import known
from collectors.layouts.figures import size
from collectors.registry import NotThisReport, Report, report

START = re.compile(
    r"\b(?:additional|there (?:is|are))\s{1,9}[0-9*][0-9.,*]{0,30}\s{0,3}(?:[KMG] ?b|bytes\b).{0,60}"
    r"\bavailable\s{1,9}for(?:\s{1,9}reconfiguration\b|\s*$)",
    re.IGNORECASE,
)
FIGURE = re.compile(
    r"\b(?:additional|there (?:is|are))\s{1,9}(?P<figure>[0-9][0-9.,]{0,30}|\*{1,30})\s{0,3}(?P<unit>[KMG]?) ?b",
    re.IGNORECASE,
)
REST = re.compile(
    r"\s*(?:reconfiguration\b|This is the difference|'?max memory\b|memory' and\b|'?total logical|logical memory'"
    r"|memory'\.)",
    re.IGNORECASE,
)
MOST_LINES = 4
"""Lines the sentences may have been broken into."""


@report(starts=START, provides=(MemoryHeadroom,))
def read(report: Report) -> Iterator[MemoryHeadroom]:
    """Yield one fact per sentence."""
    found = 0
    for index, line in enumerate(report.lines):
        figure = FIGURE.search(line) if START.search(line) else None
        if not figure:
            continue
        found += 1
        last = index
        while last + 1 < min(index + MOST_LINES, len(report.lines)) and REST.match(report.lines[last + 1]):
            last += 1
        report.claim(index, last)
        unit = figure["unit"]
        amount = size(f"{figure['figure']} {unit}b" if unit else figure["figure"], "k")
        if not known(amount):
            report.problem("the memory that is available was not printed as a number", index)
        else:
            yield MemoryHeadroom(source=report.source(index, last), available_kb=amount if unit else amount / 1024)
    if not found:
        raise NotThisReport
