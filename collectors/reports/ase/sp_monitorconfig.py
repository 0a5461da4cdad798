"""How much of each configured resource is used (`sp_monitorconfig "all"`).

15.x with a count of reuses, in a cluster with `Instance_Name`; 12.5 with `Reused` Yes, No or NA in its place::

    Usage information at date and time: Mar 12 2024  2:05PM.

     Name                      Num_free    Num_active  Pct_act Max_Used    Reuse_cnt   Instance_Name
     ------------------------- ----------- ----------- ------- ----------- ----------- ------------------
     number of open objects             12        1988  99.40         2000         147 NULL
     number of locks                 61200        8800  12.57        31407           0 NULL

Also read: wrapped lines, collapsed blanks, boxes, CSV and HTML of tools. Rows of text are read by their figures, which
stand behind the name, so that it does not matter where they stand.

* Names are cut at 25 characters by the server and kept as printed.
* `NA`: cannot be reused, which is neither yes nor no. A word instead of a count leaves the count absent.
* `taken` is the time of the sentence above the table; absent (`None`) where it was not exported.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from collectors.facts.ase import ResourceUsage
from collectors.facts.base import known
from collectors.layouts.dates import moment
from collectors.layouts.figures import reading
from collectors.layouts.tables import Row, Table
from collectors.registry import Report, report
from collectors.tables import Listing

BETWEEN = r"(?:</?t[dhr]\b[^<>]{0,99}>|\W)+"
HEADING = re.compile(rf"\bName{BETWEEN}Num_free{BETWEEN}Num_active\b", re.IGNORECASE)
TAKEN = re.compile(r"^\W{0,9}Usage information at date and time:\s{0,9}(?P<time>.{0,60}?)\.?\s*$", re.IGNORECASE)
START = re.compile(rf"{HEADING.pattern}|^\W{{0,9}}Usage information at date and time:", re.IGNORECASE)
STOP = re.compile(rf"{START.pattern}|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE)
FIGURE = r"(?:-?[0-9][0-9.,]{0,30}|\*{1,30})"
ROW = re.compile(
    rf"\s*(?P<name>[^\s].{{0,60}}?)\s+(?P<free>{FIGURE})\s+(?P<active>{FIGURE})\s+(?P<percent>{FIGURE})"
    rf"\s+(?P<most>{FIGURE})\s+(?P<reused>{FIGURE}|Yes|No|N/?A|NULL)(?:\s+(?P<instance>\S.{{0,60}}?))?\s*",
    re.IGNORECASE,
)
REMEDY = "export it again in full (isql -w 1000)"


@report(starts=START, provides=(ResourceUsage,))
def read(report: Report) -> Iterator[ResourceUsage]:
    """Yield one fact per resource and instance."""
    taken: datetime | None = None

    def hear(index: int, line: str) -> int:
        nonlocal taken
        report.claim(index)
        said = TAKEN.match(line)
        taken = moment(said["time"]) if said else None
        if taken is None:
            report.problem("the time of this listing was not understood, so its age is not known", index)
        return index

    for usage in USAGE.read(report, hear):
        yield usage if taken is None else replace(usage, taken=taken)


def _usage(row: Row, table: Table) -> Iterator[ResourceUsage]:
    if cells := _cells(row, table):
        name, free, active, percent, most, reused, instance = cells
        count = reading(reused)
        yield ResourceUsage(
            name=" ".join(name.split()),
            free=reading(free),
            active=reading(active),
            active_percent=reading(percent),
            max_used=reading(most),
            reused=count,
            was_reused=count > 0 if known(count) else {"yes": True, "no": False}.get(reused.lower()),
            instance=None if instance.upper() == "NULL" else instance or None,
        )


def _cells(row: Row, table: Table) -> tuple[str, ...] | None:
    """Name, free, active, per cent, most, reused and instance of a row; `None` if it is not whole."""
    if table.layout in ("isql", "spaced"):
        found = ROW.fullmatch(row.text[:600])
        return tuple((found[part] or "").strip() for part in ROW.groupindex) if found else None
    if not row.whole:
        return None
    names = (("Name",), ("Num_free",), ("Num_active",), ("Pct_act",), ("Max_Used",), ("Reuse_cnt", "Reused"))
    cells = tuple(row.get(*name) for name in names)
    return (*cells, row.get("Instance_Name")) if all(cells) else None


USAGE = Listing(heading=HEADING, row=_usage, stop=STOP, others=TAKEN, remedy=REMEDY)
