"""Locks granted and waited for, by table, over an interval (`sp_object_stats "00:10:00"`).

A section for each of the most contended tables, a column for each lock type of its scheme::

    Object Name: orders..item (dbid=6, objid=624002223,lockscheme=Datapages)

      Page Locks     SH_PAGE            UP_PAGE            EX_PAGE
      ----------     ----------         ----------         ----------
      Grants:             51020               7300               9120
      Waits:                410                380               1290
      Deadlocks:              0                  0                  3
      Wait-time:        1208000 ms          902000 ms         4410000 ms
      Contention:          0.80%              4.95%             12.39%

     *** Consider altering orders..item to Datarows locking.

A table with row locks has the types SH_ROW, UP_ROW and EX_ROW; it may have both blocks. One fact per lock type.

* The name is `database.owner.table`, mostly without the owner; one that has other dots is a problem, and stands whole
  as the table.
* A line that is missing or has not as many figures as there are types leaves these figures absent; asterisks are
  overflow.
* How long the sample was stands in the command alone: it is read where the command is echoed above the report.
* The advice in the last line follows the vendor's limit of 15 per cent. It is the procedure's view, not a figure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.facts.ase import ObjectLockContention
from collectors.facts.base import ABSENT, Reading
from collectors.layouts.figures import reading
from collectors.registry import NotThisReport, Report, report

START = re.compile(r"^\s{0,20}Object Name:\s{0,9}\S.{0,400}\(\s?dbid\s?=", re.IGNORECASE)
OBJECT = re.compile(
    r"^\s{0,20}Object Name:\s{0,9}(?P<name>\S.{0,400}?)\s{0,9}\(\s?dbid\s?=\s?(?P<db>-?[0-9]{1,9}),\s{0,9}"
    r"obj(?:ect)?id\s?=\s?(?P<id>-?[0-9]{1,12})(?:,\s{0,9}lock\s?scheme\s?=\s?(?P<scheme>[A-Za-z]{1,20}))?",
    re.IGNORECASE,
)
TYPES = re.compile(r"\s*(?:Page|Row|Table|Address)\s?Locks((?:\s+[A-Z]{2}_[A-Z]{3,9}){1,9})\s*", re.IGNORECASE)
FIGURES = re.compile(r"\s*(Grants|Waits|Deadlocks|Wait-?\s?time|Contention)\s?:(.*)", re.IGNORECASE)
FIGURE = re.compile(r"(-?[0-9][0-9.,]{0,30}|\*{1,30}|N/?A\b)\s{0,9}(?:ms\b|%)?", re.IGNORECASE)
ADVICE = re.compile(
    r"\s*\*\*\*\s|.{0,200}\bto Data(?:pages|rows) locking\b|\s*Data(?:pages|rows)? locking\.\s*$", re.IGNORECASE
)
FIELDS = {
    "grants": "granted",
    "waits": "waited",
    "deadlocks": "deadlocks",
    "waittime": "wait_milliseconds",
    "contention": "contention_percent",
}
COMMAND = re.compile(
    r"[0-9> ]{0,20}(?:exec(?:ute)?\s)?\s{0,9}sp_object_stats\s{0,9}[\"'](\d\d):(\d\d):(\d\d)[\"']", re.I
)
ABOVE = 4
"""Lines above the report among which its command is looked for: `go`, and a note on the sample."""
REMEDY = "export it again in full (isql -w 1000)"


@dataclass
class _Block:
    """The lock types of one block and the lines of figures below them."""

    at: int
    last: int
    types: list[str]
    figures: dict[str, list[Reading]] = field(default_factory=dict)


@dataclass
class _Section:
    """One table."""

    at: int
    name: tuple[str | None, str | None, str]
    numbers: tuple[int, int]
    """Of its database, and its own."""
    scheme: str | None
    blocks: list[_Block] = field(default_factory=list)


@report(starts=START, provides=(ObjectLockContention,))
def read(report: Report) -> Iterator[ObjectLockContention]:
    """Yield one fact per table and lock type."""
    section: _Section | None = None
    seconds = _seconds(report)
    for index, line in enumerate(report.lines):
        if found := OBJECT.match(line):
            if section:
                yield from _facts(report, section, seconds)
            scheme = found["scheme"]
            name, numbers = _name(report, index, found["name"]), (int(found["db"]), int(found["id"]))
            section = _Section(index, name, numbers, scheme.lower() if scheme else None)
            report.claim(index)
        elif section and (found := TYPES.fullmatch(line)):
            section.blocks.append(_Block(index, index, found[1].upper().split()))
            report.claim(index)
        elif section and section.blocks and (found := FIGURES.fullmatch(line)):
            _figures(report, section.blocks[-1], index, found)
        elif section and ADVICE.match(line):
            report.claim(index)
    if section is None:
        raise NotThisReport
    yield from _facts(report, section, seconds)


def _seconds(report: Report) -> float | None:
    """Length of the sample, where the command is echoed directly above."""
    echoed = [found for line in report.before[-ABOVE:] if (found := COMMAND.match(line))]
    hours, minutes, seconds = (int(one) for one in echoed[-1].groups()) if echoed else (0, 0, 0)
    return float(3600 * hours + 60 * minutes + seconds) or None


def _figures(report: Report, block: _Block, index: int, found: re.Match[str]) -> None:
    """Take one line of figures."""
    report.claim(index)
    block.last = index
    figures = [reading(figure) for figure in FIGURE.findall(found[2][:400])]
    if len(figures) != len(block.types):
        report.problem(f"not one figure for each of {', '.join(block.types)}, so none was read: {REMEDY}", index)
        return
    label = re.sub(r"[-\s]", "", found[1]).lower()
    if block.figures.setdefault(FIELDS[label], figures) is not figures:
        report.problem(f"`{found[1]}` twice in one block: the first one counts", index)


def _facts(report: Report, section: _Section, seconds: float | None) -> Iterator[ObjectLockContention]:
    database, owner, table = section.name
    if not any(block.figures for block in section.blocks):
        report.problem(f"no figures of `{table}`: {REMEDY}", section.at)
    for block in section.blocks:
        for place, lock_type in enumerate(block.types if block.figures else ()):
            figures = {name: values[place] for name, values in block.figures.items()}
            yield ObjectLockContention(
                source=report.source(section.at, block.last),
                database=database,
                db_id=section.numbers[0],
                owner=owner,
                table=table,
                object_id=section.numbers[1],
                scheme=section.scheme,
                lock_type=lock_type,
                seconds=seconds,
                **{name: figures.get(name, ABSENT) for name in FIELDS.values()},
            )


def _name(report: Report, index: int, text: str) -> tuple[str | None, str | None, str]:
    """Database, owner and table of a name; the whole name as the table where it cannot be told."""
    parts = text.split(".")
    if len(parts) == 3 and parts[0] and parts[2]:
        return parts[0], parts[1] or None, parts[2]
    if len(parts) == 1:
        return None, None, text
    report.problem(f"the name `{text[:120]}` has other dots than database.owner.table: kept as it is", index)
    return None, None, text
