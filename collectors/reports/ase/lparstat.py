"""What a partition of AIX used of the processors it is entitled to (`lparstat <interval> <count>`).

::

    System configuration: type=Shared mode=Capped smt=4 lcpu=24 mem=65536MB psize=16 ent=3.40

    %user  %sys  %wait  %idle physc %entc  lbusy   app  vcsw phint
    ----- ----- ------ ------ ----- ----- ------   --- ----- -----
     90.1   9.0    0.1    0.8  3.40 100.0   25.1  0.00 40221  1802

A partition with processors of its own (`type=Dedicated`) prints no `physc`, and gives no fact. One line alone may be
since the boot of the host (`lparstat` without an interval), so there must be two.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import PartitionLoad
from collectors.layouts.figures import number
from collectors.layouts.host_rows import mean
from collectors.registry import NotThisReport, Report, report

CONFIGURED = re.compile(
    r"\s{0,9}System configuration: type=Shared mode=(?P<mode>Capped|Uncapped)\s"
    r".{0,120}?\bent=(?P<ent>[0-9]{1,4}[.,][0-9]{1,2})\b.{0,40}"
)
NAMES = re.compile(r"\s{0,9}%user\s{1,9}%sys\s{1,9}%wait\s{1,9}%idle\s{1,9}physc\s{1,9}%entc\b.{0,80}")
START = re.compile("^" + re.sub(r"\?P<\w+>", "?:", CONFIGURED.pattern))
DASHES = re.compile(r"[\s-]{10,200}")
USED = 4
"""The column `physc`."""


@report(starts=START, provides=(PartitionLoad,))
def read(report: Report) -> Iterator[PartitionLoad]:
    """Yield one fact: the mean of the intervals below the first configuration."""
    told = CONFIGURED.fullmatch(report.lines[0].rstrip())
    if told is None:
        raise NotThisReport
    report.claim(0)
    used: list[float] = []
    named, last = False, 0
    for index, line in enumerate(report.lines[1:], 1):
        if NAMES.fullmatch(line.rstrip()) and not named:
            named = True
            report.claim(index)
        elif named and DASHES.fullmatch(line) and not used:
            report.claim(index)
        elif line.strip():
            cells = line.split()
            figures = [number(cell.replace(",", ".")) for cell in cells]
            physc = figures[USED] if named and len(cells) > USED + 1 and None not in figures else None
            if physc is None:
                break
            used.append(physc)
            report.claim(index)
            last = index
    if len(used) < 2:
        raise NotThisReport("no two lines of figures")
    yield PartitionLoad(
        capped=told["mode"] == "Capped",
        entitled=float(told["ent"].replace(",", ".")),
        used=mean(used),
        source=report.source(0, last),
    )
