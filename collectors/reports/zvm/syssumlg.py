"""FCX225 SYSSUMLG: how busy the processors were, by time.

Sample::

    FCX225      CPU 3906  SER 0B7F2  Interval 09:00:00 - 10:00:00    Perf. Monitor

              <------- CPU -------->  <--Users-->
                    <--Ratio-->
    Interval   Pct               On-  Log-
    End Time  Busy   T/V  Capt  line   ged Activ
    >>Mean>>  61.5  1.38 .9712   9.0   612   598
    09:01:00  63.2  1.40 .9708   9.0   612   597

The layout is recalled [R, zvm-unix-scalability.md a2]: columns are found by their headings, those not known are passed
over, all is tentative. Kept are the mean and the busiest interval. `Pct Busy` is the mean of the processors, `T/V`
total ÷ emulation time, `On-line` the processors, `Log-ged` the users.
"""

import re
from collections.abc import Iterator

from collectors.facts.base import ABSENT, Reading, known
from collectors.facts.zvm import PerfkitPage, ProcessorLoad
from collectors.layouts.perfkit import PageStream, is_sample, page_fact, start
from collectors.layouts.perfkit_table import by_time, claim_heads, columns, cut, figure, find, widest
from collectors.registry import Report, stream

BUSY = re.compile(r"(?:cpu)?(?:pct|%)(?:cpu)?busy")
FIELDS = {
    "busy_percent": BUSY,
    "tv_ratio": re.compile(r"(?:ratio)?t/v(?:ratio)?"),
    "processors": re.compile(r"(?:cpus)?online|nrof(?:cpus|procs)"),
    "users": re.compile(r"(?:users)?logged(?:on)?"),
}
MOST_CPUS = 256
"""This project: z/VM runs on 80 at most so far."""
REMEDY = "save the page again, with its blanks"


@stream(starts=start("FCX225"), provides=(PerfkitPage, ProcessorLoad))
class SystemSummary(PageStream):
    """One page."""

    def facts(self, report: Report) -> Iterator[PerfkitPage | ProcessorLoad]:
        """Yield the page, the mean and the busiest interval."""
        if is_sample(report):
            return
        report.tentative("the columns of SYSSUMLG are recalled and found by their headings: compare with the page")
        page = cut(report, page_fact(report))
        yield page.fact
        heads = columns(report, page)
        at = {name: place for name, pattern in FIELDS.items() if (place := find(heads, pattern)) is not None}
        if "busy_percent" not in at:
            report.problem(f"no column is headed Pct Busy: {REMEDY}", 0)
            return
        claim_heads(report, page)
        rows = [row for row in page.rows if len(row.tokens) == len(heads)]
        for row in page.rows:
            report.claim(row.index)
        if short := len(page.rows) - len(rows):
            what = f"{short} rows have not {len(heads)} figures like the others, left out (the last is here)"
            odd = [row.index for row in page.rows if len(row.tokens) != len(heads)]
            report.problem(f"{what}: {REMEDY}", odd[-1])
        for statistic, row in widest(by_time(rows), at["busy_percent"]):
            figures = {name: figure(row.tokens[place]) for name, place in at.items()}
            if not _check(report, row.index, figures):
                continue
            where = report.source(row.index)
            yield ProcessorLoad(source=where, cpu=None, kind=None, statistic=statistic, **figures)


def _check(report: Report, index: int, figures: dict[str, Reading]) -> bool:
    """Leave out what cannot be; `False`: it is another column's figure, so the row cannot be read at all."""
    busy, ratio, cpus = (figures.get(name, ABSENT) for name in ("busy_percent", "tv_ratio", "processors"))
    if known(busy) and busy > 100:
        report.problem(f"{busy:g} % busy is more than a processor has, left out: {REMEDY}", index)
        figures["busy_percent"] = ABSENT
    if known(ratio) and 0 < ratio < 1:
        report.problem(
            f"a T/V ratio of {ratio:g} is below 1: the columns are not under their headings, {REMEDY}", index
        )
        return False
    if known(cpus) and not 1 <= cpus <= MOST_CPUS:
        report.problem(f"{cpus:g} processors cannot be: the columns are not under their headings, {REMEDY}", index)
        return False
    return True
