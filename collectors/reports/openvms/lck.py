"""SDA's LCK extension: whatever figures LCK SHOW and LCK STATISTICS print.

Nothing is known of its output; this is only the shape that is looked for::

    SDA> LCK SHOW ACTIVE
    Trees with activity:           231
    Highest activity            4410.5

So it is recognised by the echoed command alone, every line of labels and figures is kept as it is printed, the rest is
a leftover, and the reading is tentative. A figure padded with zeros to 8 or 16 digits is hexadecimal, as SDA prints
those. No rule judges by these figures: they are kept for the reader of the audit.
"""

import re
from collections.abc import Iterator

from collectors.facts.openvms import LockSummaryItem
from collectors.layouts import sda
from collectors.layouts.sda_figures import pairs
from collectors.layouts.tables import is_dashes
from collectors.registry import Report, report

START = re.compile(r"^\s{0,8}SDA ?> {0,4}(?i:LCK +(?:SHO?W?|STA)[A-Z]*)", re.IGNORECASE)
MOST_ITEMS = 500


@report(starts=START, provides=(LockSummaryItem,))
def read(report: Report) -> Iterator[LockSummaryItem]:
    """Yield each label with its figure, under the command that printed it."""
    report.tentative("nothing is known of what LCK prints; labels and figures are kept as printed")
    group: str | None = None
    items = left = 0
    first_left: int | None = None
    for index, line in enumerate(report.lines):
        if (command := sda.command_of(line)) is not None:
            ours = sda.is_command(command, "LCK", "SH") or sda.is_command(command, "LCK", "STA")
            group = command[:60].rstrip() if ours else None
            if not ours:
                continue
        elif group is None:
            continue
        elif figures := pairs(line):
            if items >= MOST_ITEMS:
                left += 1
                first_left = index if first_left is None else first_left
                continue
            for label, value in figures:
                items += 1
                yield LockSummaryItem(source=report.source(index), group=group, label=label, value=value)
        elif not is_dashes(line):
            continue
        report.claim(index)
    if left:
        what = f"{left:,} lines of figures after the first {MOST_ITEMS} were not read"
        report.problem(f"{what}: upload each LCK command in a file of its own", first_left)
    if not items:
        report.problem("no label with a figure was found below it: upload SHOW LOCK/SUMMARY as well", 0)
