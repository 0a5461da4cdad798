"""How many objects, indexes or partitions the databases hold, and how many there are (`sp_countmetadata`).

As the vendor prints it (System Administration Guide, number of open objects)::

    There are 340 user objects in all database(s), requiring 140.781 Kbytes of memory. The 'open objects' configuration
    parameter is currently set to 500

Of databases it is `There are 17 databases, requiring …`.
Newer releases say Mbytes and `set to a run value of 500` (practice). The kind is taken from the name of the parameter,
as the words before it differ by kind. Asterisks in place of the number are a problem and no fact.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import MetadataCount
from collectors.facts.base import ABSENT, known
from collectors.layouts.figures import size
from collectors.registry import NotThisReport, Report, report

START = re.compile(
    r"\bThere (?:is|are)\s{1,9}[0-9*][0-9*.,]{0,20}\s{1,9}"
    r"(?:[a-z]{1,20}.{0,60}\bin all database|databases?,\s{1,9}requiring\b)",
    re.IGNORECASE,
)
FIGURE = re.compile(r"\bThere (?:is|are)\s{1,9}(?P<count>[0-9]{1,12}|\*{1,20})\s", re.IGNORECASE)
MEMORY = re.compile(r"\brequiring\s{1,9}(?P<size>[0-9][0-9.,]{0,20})\s{0,3}(?P<unit>[KM])bytes\b", re.IGNORECASE)
KIND = re.compile(r"'open (?P<kind>object|index|partition|database)(?:e?s)?'", re.IGNORECASE)
CONFIGURED = re.compile(r"\bcurrently set to\s{1,9}(?:a run value of\s{1,9})?(?P<count>[0-9]{1,12})\b", re.IGNORECASE)
REST = re.compile(
    r"\s*(?:requiring\b|[KM]bytes\b|of memory\b|memory\.|The 'open|'open (?:object|index|partition|database)"
    r"|configuration\b|parameter\b|is currently\b|currently set\b|set to\b|(?:to )?a run\b|run value\b|value of\b"
    r"|of [0-9]+\.?\s*$|to [0-9]+\s*$|[0-9]+\.?\s*$)",
    re.IGNORECASE,
)
MOST_LINES = 4
"""Lines the sentences may have been broken into."""


@report(starts=START, provides=(MetadataCount,))
def read(report: Report) -> Iterator[MetadataCount]:
    """Yield one fact per kind."""
    found = 0
    for index, line in enumerate(report.lines):
        if not START.search(line):
            continue
        last = index
        while last + 1 < min(index + MOST_LINES, len(report.lines)) and REST.match(report.lines[last + 1]):
            last += 1
        said = " ".join(one.strip() for one in report.lines[index : last + 1])
        count, kind, memory, configured = (one.search(said) for one in (FIGURE, KIND, MEMORY, CONFIGURED))
        if not kind:
            continue
        found += 1
        report.claim(index, last)
        if not count or "*" in count["count"]:
            report.problem("the number of descriptors was not printed as a number", index)
            continue
        kb = size(f"{memory['size']} {memory['unit']}b", "k") if memory else ABSENT
        yield MetadataCount(
            source=report.source(index, last),
            kind=kind["kind"].lower(),
            count=float(count["count"]),
            memory_kb=kb if known(kb) else ABSENT,
            configured=float(configured["count"]) if configured else ABSENT,
        )
    if not found:
        raise NotThisReport
