"""A list of Linux guests with the kernel of each and its timer: what `uname -r` and /proc/sys/kernel/hz_timer print.

Sample, as a loop over the guests writes it, below a heading that names the columns (layouts of our own; other columns
may follow)::

    # guest    kernel                 hz_timer
    lnxa01     2.6.16.60-0.21-default        1
    lnxa02     2.6.16.60-0.21-default        0

`hz_timer` 1: the kernel asks for a timer interrupt 100 times a second even when idle; 0: only when it has work. Kernels
without the patch have no such file, and a cell that is neither 0 nor 1 counts for none of both.
"""

import re
from collections.abc import Iterator

from collectors.facts.zvm import GuestTimers
from collectors.registry import NotThisReport, Report, report

HEADING = re.compile(r"[#\s]{0,8}(?:guest|host|hostname|userid|name)\s{1,40}kernel\s{1,60}hz_timer\b", re.IGNORECASE)
ROW = re.compile(
    r"\s{0,8}(?P<guest>[A-Z0-9][\w.-]{0,63})\s{1,40}(?P<kernel>[0-9]\.[0-9][\w.+-]{0,60})\s{1,60}(?P<timer>\S{1,12})"
    r"(?:\s.{0,200})?",
    re.IGNORECASE,
)


@report(starts=re.compile(rf"^{HEADING.pattern}", re.IGNORECASE), provides=(GuestTimers,))
def read(report: Report) -> Iterator[GuestTimers]:
    """Yield how many guests the list has, and how many of them tick."""
    timers: dict[str, str] = {}
    last = 0
    for index, line in enumerate(report.lines):
        if HEADING.match(line):
            report.claim(index)
        elif found := ROW.fullmatch(line):
            report.claim(index)
            last = index
            timers[found["guest"].upper()] = found["timer"]
    if not timers:
        raise NotThisReport
    every = list(timers.values())
    odd = len(every) - every.count("1") - every.count("0")
    if odd:
        report.problem(f"{odd:,} with an hz_timer that is neither 0 nor 1: counted as guests, and for none of both", 0)
    yield GuestTimers(
        source=report.source(0, last),
        guests=float(len(every)),
        ticking=float(every.count("1")),
        on_demand=float(every.count("0")),
    )
