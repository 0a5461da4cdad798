"""What the processors of the host did (`mpstat` of Linux and Solaris, `sar -u`).

Linux (sysstat), with the clock of 12 or 24 hours; one line for `all` in each interval and at the end their average::

    Linux 5.14.21-default (quay7)   11/10/2026   _x86_64_   (16 CPU)

    02:05:00 PM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
    02:10:00 PM  all   23.31    0.00    2.02    0.11    0.00    0.14    0.00    0.00    0.00   74.42
    Average:     all   23.31    0.00    2.02    0.11    0.00    0.14    0.00    0.00    0.00   74.42

Solaris, one table for each interval with a line for each CPU, the first since the boot (its manual page)::

    CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl
      0    6   0   14   326  117   94    3    7    2    0    65    2   1   0  97

Without an interval Linux, too, prints the average since the boot: one line for `all` with the time of the heading, and
none of the average. A line with a later time than the heading is of the time between.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.facts.ase import HostLoad
from collectors.facts.base import ABSENT, Reading
from collectors.layouts.host_rows import CUT, mean, percent
from collectors.registry import NotThisReport, Report, report

LINUX = re.compile(r"(?:.{0,30}\s)?CPU\s{1,20}(?P<names>%us\S{1,3}\s.{0,200}%idle)\b.{0,60}")
SOLARIS = re.compile(r"\s{0,9}(?:CPU|SET)\s{1,9}(?P<names>minf\s{1,9}mjf\s{1,9}xcal\s.{0,200}\bidl)\b.{0,60}")
START = re.compile(rf"^(?:{LINUX.pattern}|{SOLARIS.pattern})".replace("(?P<names>", "(?:"))
TITLE = re.compile(r"Linux \S{1,100} \(.{1,100}\)\s.{0,80}?(?:\((?P<cpus>[0-9]{1,5}) CPU\)\s{0,9})?")
AVERAGE = re.compile(r"\s{0,9}[^\W\d]\D{2,20}:\s")
REMARK = re.compile(r"\s{0,9}(?:<<.{1,80}>>|[A-Z]\w{2} .{0,30}[0-9]{1,2}:[0-9]{2}:[0-9]{2}.{0,20})\s{0,9}")
CLOCK = re.compile(r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?: [AP]M)?")
ABOVE = 3
"""Lines above a heading among which its title stands."""


@dataclass
class _Run:
    """The intervals of one command: idle and steal of each."""

    cpus: Reading = ABSENT
    rows: list[tuple[float, float | None]] = field(default_factory=list)
    average: tuple[float, float | None] | None = None
    tables: list[list[float]] = field(default_factory=list)
    """Of Solaris, whose tables have a line for each CPU."""
    first: int = 0
    last: int = 0
    clock: str = ""
    """The time that the last heading prints."""
    timed: bool = False
    """Whether a line has another time than its heading."""

    def fact(self, report: Report) -> HostLoad | None:
        """The mean; `None` where no line was read."""
        source = report.source(self.first, self.last)
        if self.tables:
            counted = [one for one in self.tables[1:] if one] or [one for one in self.tables if one]
            idle = [sum(one) / len(one) for one in counted]
            if not idle:
                return None
            return HostLoad(
                command="mpstat",
                idle_percent=mean(idle),
                cpus=float(len(counted[-1])),
                since_boot=len(self.tables) == 1,
                source=source,
            )
        rows = [self.average] if self.average else self.rows
        if not rows:
            return None
        steal = [one for _, one in rows if one is not None]
        return HostLoad(
            command="mpstat",
            idle_percent=mean([idle for idle, _ in rows]),
            steal_percent=mean(steal),
            cpus=self.cpus,
            since_boot=self.average is None and len(self.rows) == 1 and not self.timed,
            source=source,
        )


@report(starts=START, provides=(HostLoad,))
def read(report: Report) -> Iterator[HostLoad]:
    """Yield one fact for each command."""
    run, found, names, solaris = _Run(), False, [""], False
    for back, line in enumerate(reversed(list(report.before)[-ABOVE:]), 1):
        if title := TITLE.fullmatch(line.rstrip()):
            run.cpus, report.above = float(title["cpus"]) if title["cpus"] else ABSENT, back
    for index, text in enumerate(report.lines):
        line = text.rstrip()
        if title := TITLE.fullmatch(line):
            if fact := run.fact(report):
                found = True
                yield fact
            run = _Run(cpus=float(title["cpus"]) if title["cpus"] else ABSENT, first=index, last=index)
            report.claim(index)
        elif heading := LINUX.fullmatch(line) or SOLARIS.fullmatch(line):
            names, solaris = heading["names"].split(), heading.re is SOLARIS
            if solaris:
                run.tables.append([])
            else:
                run.clock = " ".join(line.split()[: line.split().index("CPU")])
            report.claim(index)
        elif REMARK.fullmatch(line) and not solaris_row(line, names):
            report.claim(index)
        elif line.strip() and _row(report, run, index, names, solaris=solaris):
            run.last = index
    if fact := run.fact(report):
        found = True
        yield fact
    if not found and not report.problems:
        raise NotThisReport("no line of figures")


def solaris_row(line: str, names: list[str]) -> bool:
    """Whether a line has as many figures as the heading has names."""
    return len(line.split()) > len(names)


def _row(report: Report, run: _Run, index: int, names: list[str], *, solaris: bool) -> bool:
    """Take one line of figures; `False`: it is none."""
    cells = report.lines[index].split()
    width = len(names)
    if not solaris and "all" not in cells:
        # of one CPU, or of something else; the figures of `all` have it
        if len(cells) > width and cells[-width - 1].isdigit():
            report.claim(index)
        return False
    if solaris and not cells[0].isdigit():
        return False
    report.claim(index)
    at = 1 if solaris else cells.index("all") + 1
    figures = dict(zip(names, cells[at:], strict=False))
    idle = percent(figures.get("idl" if solaris else "%idle", ""))
    if idle is None:
        report.problem(CUT, index)
        return False
    if solaris:
        run.tables[-1].append(idle)
    elif AVERAGE.match(report.lines[index]):
        run.average = (idle, percent(figures.get("%steal", "")))
    else:
        clock = " ".join(cells[: cells.index("all")])
        run.timed |= bool(CLOCK.fullmatch(clock) and CLOCK.fullmatch(run.clock)) and clock != run.clock
        run.rows.append((idle, percent(figures.get("%steal", ""))))
    return True
