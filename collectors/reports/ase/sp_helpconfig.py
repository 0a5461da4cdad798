"""One configuration parameter with its range (`sp_helpconfig "<name>"`).

A sentence that begins with the name, then one row; the name of the question may be a part of it::

    1> sp_helpconfig "open objects"
    2> go

    number of open objects sets the maximum number of objects that can be open at a time.

     Minimum Value   Maximum Value   Default Value   Current Value   Memory Used   Unit       Type
     --------------- --------------- --------------- --------------- ------------- ---------- -------
                 100      2147483647             500            4000          6248 number     dynamic

With a second argument a sentence follows that names the parameter too (`Configuration parameter, 'number of open
objects', will consume 9372K of memory if configured at 6000.`); it is of a value nobody has set and is not kept.

* The name comes from the sentence behind the table, else from the one before it, else from the question.
* `Current Value` is read as the run value; what is configured is not printed (absent, which is not "the same").
* A row without any name is a problem and no fact. Beside `sp_configure` only range and default of it are used.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from collectors.facts.ase import ConfigParameter
from collectors.facts.base import ABSENT, OVERFLOW, Reading
from collectors.layouts.figures import number, reading
from collectors.layouts.tables import Row, Table
from collectors.registry import NotThisReport, Report, report
from collectors.tables import Listing

HEADING = re.compile(r"\bMinimum Value\W{1,80}Maximum Value\W{1,80}Default Value\W{1,80}Current Value\b", re.IGNORECASE)
ASKED = re.compile(r"^.{0,40}\bsp_helpconfig\s{1,9}(?:\"([^\"]{1,60})\"|'([^']{1,60})')", re.IGNORECASE)
START = re.compile(f"{HEADING.pattern}|{ASKED.pattern}", re.IGNORECASE)
WOULD_TAKE = re.compile(
    r"\s{0,9}Configuration parameter,?\s{1,9}'([^']{1,60})',?\s{1,9}(?:will|would|can)\b", re.IGNORECASE
)
SENTENCE = re.compile(
    r"\s{0,9}([a-z][a-z0-9 /_.()-]{1,60}?)\s(?:sets|specif(?:y|ies)|determines?|controls?|defines?|is|are|indicates"
    r"|enables|allows|limits|configures|establishes|causes|gives|provides|identifies|adjusts)\s",
    re.IGNORECASE,
)
"""The name is what stands before the verb."""
STOP = re.compile(rf"{WOULD_TAKE.pattern}|\W{{0,40}}(?:{HEADING.pattern})|.{{0,40}}\bsp_helpconfig\b", re.IGNORECASE)
MOST_SENTENCES = 8
"""Lines above a table in which its sentence is looked for."""
KINDS = ("static", "dynamic", "read-only")
REMEDY = "export it again with the sentence above it (isql -w 1000)"


@report(starts=START, provides=(ConfigParameter,))
def read(report: Report) -> Iterator[ConfigParameter]:
    """Yield one fact per table."""
    tables = 0
    since = 0  # where what belongs to the next table begins

    def hear(index: int, line: str) -> int:
        nonlocal since
        report.claim(index)
        since = index if ASKED.match(line) else since
        return index

    for heading, table in PARAMETERS.tables(report, hear):
        tables += 1
        name = _name_behind(report, table) or _name_before(report, since, heading) or _name_asked(report, since)
        for fact in PARAMETERS.facts(report, table, heading):
            if name is None:
                what = f"nothing tells which parameter this is, so it was not read: {REMEDY}"
                report.problem(what, fact.source.first - report.first)
            else:
                yield replace(fact, name=name)
        since = max(table.last, heading) + 1
    if not tables:
        raise NotThisReport


def _parameter(row: Row, table: Table) -> Iterator[ConfigParameter]:
    """Read a row, which does not name its parameter."""
    if row.whole and row.get("Current Value"):
        memory, kind = row.get("Memory Used"), row.get("Type").lower()
        yield ConfigParameter(
            name="",
            default_value=_value(row.get("Default Value")),
            memory_used_kb=reading(memory.removeprefix("#")),
            memory_counted=not memory.startswith("#"),
            run_value=_value(row.get("Current Value")),
            unit=row.get("Unit") or None,
            kind=kind if kind in KINDS else None,
            minimum=reading(row.get("Minimum Value")),
            maximum=reading(row.get("Maximum Value")),
        )


def _name_behind(report: Report, table: Table) -> str | None:
    """The name in the sentence behind the table, up to the next table or question."""
    for index in range(table.last + 1, min(table.last + 1 + MOST_SENTENCES, len(report.lines))):
        line = report.lines[index]
        if HEADING.search(line) or ASKED.match(line):
            return None
        if found := WOULD_TAKE.match(line):
            return " ".join(found[1].split())
    return None


def _name_before(report: Report, since: int, heading: int) -> str | None:
    """The name in the sentence before the table. Its lines are understood, however many it was broken into."""
    ours = range(max(since, heading - MOST_SENTENCES), heading)
    for index in ours:
        line = report.lines[index]
        found = None if ASKED.match(line) or WOULD_TAKE.match(line) else SENTENCE.match(line)
        if found:
            report.claim(index, heading - 1)
            return " ".join(found[1].split())
    above = list(report.before)[-MOST_SENTENCES:] if heading == 0 else []
    for at, line in enumerate(above):
        if found := SENTENCE.match(line):
            report.above = len(above) - at
            return " ".join(found[1].split())
    return None


def _name_asked(report: Report, since: int) -> str | None:
    found = ASKED.match(report.lines[since]) if since < len(report.lines) else None
    return " ".join((found[1] or found[2]).split()) if found else None


def _value(text: str) -> Reading | str:
    """A value: a number, asterisks for overflow, absent where there is none, else the text."""
    if not text or text.upper() == "NULL":
        return ABSENT
    if not text.strip("*"):
        return OVERFLOW
    found = number(text)
    return text if found is None else found


PARAMETERS = Listing(
    heading=HEADING,
    row=_parameter,
    stop=STOP,
    others=re.compile(f"{ASKED.pattern}|{WOULD_TAKE.pattern}", re.IGNORECASE),
    remedy=REMEDY,
    no_rows="a heading without a row below it",
)
