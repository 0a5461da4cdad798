"""The load average of a host (`uptime`), and its processors by the head of `top -b`.

::

     19:34:11 up 61 days,  4:02,  2 users,  load average: 4.31, 4.28, 4.19

    top - 02:10:07 up 9 days,  1:12,  1 user,  load average: 3.02, 2.88, 2.71
    Tasks: 301 total,   3 running, 298 sleeping,   0 stopped,   0 zombie
    %Cpu(s): 23.3 us,  2.0 sy,  0.0 ni, 74.4 id,  0.1 wa,  0.0 hi,  0.1 si,  0.1 st
    MiB Mem :  64221.0 total,   1022.0 free,  41873.0 used,  21326.0 buff/cache

The processors of the first head may be counted since the boot of the host: they are read from the second on
(`top -b -n 3 -d 60`). Older releases print `Cpu(s): 23.3%us,  2.0%sy`. Of the processes nothing is kept: what `ps` and
`top` give them may be of their whole life.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import HostLoad, LoadAverage
from collectors.facts.base import ABSENT
from collectors.layouts.figures import reading
from collectors.layouts.host_rows import mean, percent
from collectors.registry import Report, report

LOAD = r"[0-9]{1,5}[.,][0-9]{1,2}"
UPTIME = re.compile(
    r"(?:top - |\s{0,9})[0-9]{1,2}:[0-9]{2}\S{0,6}\s{1,4}(?:[AaPp][Mm]\s{1,4})?up\s.{1,60}?\bload averages?:\s{1,4}"
    rf"(?P<one>{LOAD}),?\s{{1,4}}(?P<five>{LOAD}),?\s{{1,4}}(?P<fifteen>{LOAD})\s{{0,9}}"
)
CPU = re.compile(r"\s{0,9}%?Cpu\(s\):\s{0,9}(?P<figures>[0-9].{8,120}\bid\b.{0,80})")
SHARE = re.compile(r"(?P<share>[0-9]{1,3}[.,][0-9]{1,2})\s{0,2}%?(?P<name>id|st)\b")
HEAD = re.compile(r"\s{0,9}(?:Tasks|Threads|(?:[KMGT]iB )?(?:Mem|Swap)\s{0,3}):\s.{0,120}\btotal\b.{0,120}")
NAMED = re.compile(r"\?P<\w+>")
START = re.compile("^(?:" + NAMED.sub("?:", f"{UPTIME.pattern}|{CPU.pattern}") + ")")
NEAR = 3
"""Lines between those of one head of top."""


@report(starts=START, provides=(HostLoad, LoadAverage))
def read(report: Report) -> Iterator[HostLoad | LoadAverage]:
    """Yield one fact for each line with a load average, and one for all heads of top."""
    rows: list[dict[str, float]] = []
    first = last = head = 0
    if report.before and HEAD.fullmatch(report.before[-1].rstrip()):
        report.above = 1
    for index, text in enumerate(report.lines):
        line = text.rstrip()
        if found := UPTIME.fullmatch(line):
            yield LoadAverage(
                last_minute=reading(found["one"].replace(",", ".")),
                last_five=reading(found["five"].replace(",", ".")),
                last_fifteen=reading(found["fifteen"].replace(",", ".")),
                source=report.source(index),
            )
        elif found := CPU.fullmatch(line):
            shares = {one["name"]: percent(one["share"]) for one in SHARE.finditer(found["figures"])}
            rows.append({name: share for name, share in shares.items() if share is not None})
            first, last = (first if len(rows) > 1 else index), index
        elif not (HEAD.fullmatch(line) and index - head <= NEAR):
            continue
        head = index
        report.claim(index)
    counted = rows[1:] or rows
    idle = mean([row["id"] for row in counted if "id" in row])
    if idle is not ABSENT:
        yield HostLoad(
            command="top",
            idle_percent=idle,
            steal_percent=mean([row["st"] for row in counted if "st" in row]),
            since_boot=len(rows) == 1,
            source=report.source(first, last),
        )
