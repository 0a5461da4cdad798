"""What the host ran, paged and had idle (`vmstat` of Linux, AIX and Solaris; HP-UX as far as it is alike).

The first line of figures is since the boot of the host, each further one of an interval::

    procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
     r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
     5  0      0 812344 104500 640112    0    0     2    11  310  520 21  3 75  1  0

AIX has `avm` for `swpd`, swap space as `pi` and `po` in pages of 4 KB, and the number of CPUs above; Solaris has `swap`
and `w`, and pages files with `pi` and `po`, too::

    System configuration: lcpu=16 mem=65536MB ent=4.00

    kthr    memory              page              faults              cpu
    ----- ----------- ------------------------ ------------ -----------------------
     r  b   avm   fre  re  pi  po  fr   sr  cy  in   sy  cs us sy id wa    pc    ec
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.facts.ase import HostLoad
from collectors.facts.base import ABSENT, Reading
from collectors.layouts.figures import number
from collectors.layouts.host_rows import CUT, mean
from collectors.registry import NotThisReport, Report, report

NAMES = re.compile(
    r"\s{0,9}r\s{1,9}b\s{1,9}(?:[pw]\s{1,9}){0,2}(?:swpd|swap|avm)\s.{0,300}\bus\s{1,9}sy\s{1,9}id\b.{0,80}"
)
START = re.compile(f"^{NAMES.pattern}")
GROUPS = re.compile(r"\s{0,9}(?:procs|kthr)\b[\sa-z-]{3,200}|[\s-]{10,200}")
CONFIGURED = re.compile(r"System [cC]onfiguration: .{0,40}?\blcpu=(?P<cpus>[0-9]{1,5})\b.{0,100}")
KERNEL = re.compile(r"Linux \S{1,80} \(.{1,80}\)\s.{0,120}\((?P<cpus>[0-9]{1,5}) CPU\)")
"""Above the figures of `sar` and `mpstat`, and above those of `vmstat` where a script prints it, too."""
PAGE_KB = 4.0
"""Of `pi` and `po` of AIX (its commands reference)."""
ABOVE = 5
"""Lines above the names of the columns among which the configuration stands."""


@dataclass
class _Run:
    """The lines of one command, the first of which is since the boot."""

    cpus: Reading = ABSENT
    rows: list[dict[str, float]] = field(default_factory=list)
    first: int = 0
    last: int = 0

    def fact(self, report: Report) -> HostLoad | None:
        """The mean without the first line, where there are more."""
        if not self.rows:
            return None
        rows = self.rows[1:] or self.rows
        swap = [one["swap"] for one in rows if "swap" in one]
        return HostLoad(
            command="vmstat",
            idle_percent=mean([one["idle"] for one in rows]),
            steal_percent=mean([one["steal"] for one in rows if "steal" in one]),
            cpus=self.cpus,
            swap_kb_per_second=mean(swap),
            since_boot=len(self.rows) == 1,
            source=report.source(self.first, self.last),
        )


@report(starts=START, provides=(HostLoad,))
def read(report: Report) -> Iterator[HostLoad]:
    """Yield one fact for each command."""
    run, names, found, other = _Run(), [""], False, False
    for back, line in enumerate(reversed(list(report.before)[-ABOVE:]), 1):
        if told := CONFIGURED.fullmatch(line.strip()) or KERNEL.fullmatch(line.strip()):
            run.cpus, report.above = float(told["cpus"]), back
        elif back == 1 + report.above and GROUPS.fullmatch(line):
            report.above = back
    for index, line in enumerate(report.lines):
        if NAMES.fullmatch(line):
            names, other = line.split(), False
            report.claim(index)
        elif GROUPS.fullmatch(line):
            report.claim(index)
        elif told := CONFIGURED.fullmatch(line.strip()):
            report.claim(index)
            if fact := run.fact(report):
                found = True
                yield fact
            run = _Run(cpus=float(told["cpus"]), first=index, last=index)
        elif line.strip() and line.split()[0].isdigit():
            if row := _row(names, line):
                report.claim(index)
                run.first, run.last = run.first if run.rows else index, index
                run.rows.append(row)
            elif not other:
                report.claim(index)
                report.problem(CUT, index)
        elif line.strip() and run.rows:
            # something else, as the prompt: what follows is another command, with a first line of its own, or one that
            # is not vmstat at all, of which a line may begin with a number (`ps`)
            other = True
            if fact := run.fact(report):
                found = True
                yield fact
            run = _Run(cpus=run.cpus)
    if fact := run.fact(report):
        found = True
        yield fact
    if not found and not report.problems:
        raise NotThisReport("no line of figures")


def _row(names: list[str], line: str) -> dict[str, float] | None:
    """The figures of one line; of two columns with one name (`sy`) the later one is the processor's."""
    said = dict(zip(names, line.split(), strict=False))
    idle = _figure(said, "id")
    if idle is None or idle > 100:
        return None
    row = {"idle": idle}
    steal = _figure(said, "st")
    if steal is not None and steal <= 100:
        row["steal"] = steal
    aix = "avm" in said and "w" not in said
    moved = [_figure(said, name) for name in (("si", "so") if "swpd" in said else ("pi", "po") if aix else ())]
    counted = [one for one in moved if one is not None]
    if counted and len(counted) == len(moved):
        row["swap"] = sum(counted) * (PAGE_KB if aix else 1.0)
    return row


def _figure(said: dict[str, str], name: str) -> float | None:
    found = number(said.get(name, "").replace(",", "."))
    return found if found is not None and found >= 0 else None
