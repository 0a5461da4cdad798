"""FCX102 SYSTEM: counters of CP.

Sample::

    FCX102      CPU 3906  SER 0B7F2  Interval 09:59:00 - 10:00:00    Perf. Monitor

    Operation                Count Rate/s    Operation                Count Rate/s
    Real SSCH instructions   14210    237    Real CSCH instructions       0     .0
    Diag.X'9C', Soft Wait       31     .5    Diag.X'9C', Alr.Dispat.   8122    135
    Demand scan 1st pass       ---    ---    CP issued Diag.X'44'        12     .2

Name, count and rate, two to a line [V]. `---` is a counter that this release does not have. `Reserved` has no figures.
All counts are of the same seconds, so count ÷ rate must be one figure on the whole page, the length of the interval:
a pair that does not keep it is left out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from collectors.facts.base import ABSENT, known
from collectors.facts.zvm import PerfkitPage, SystemCounter
from collectors.layouts.perfkit import PageStream, is_sample, page_fact, start
from collectors.layouts.perfkit_table import FIGURE, LONGEST, figure, half_digit
from collectors.registry import Report, stream

HEADS = re.compile(r"\s*(?:Operation\s+Count\s+Rate/s\s*){1,2}")
SECTION = re.compile(r"\s{0,8}(?:[A-Z][A-Za-z/]{1,20} ?){1,5}\s*")
LEAST_COUNT = 100
"""This project: a smaller count says too little of its rate."""
LEAST_PAIRS = 3
SLACK = 0.02
"""This project: a rate is printed with three digits."""
REMEDY = "save the page again"


@dataclass(frozen=True)
class Pair:
    """One counter as printed."""

    index: int
    name: str
    count: str
    rate: str

    @property
    def seconds(self) -> float | None:
        """Count ÷ rate, where both are large enough to tell."""
        count, rate = figure(self.count), figure(self.rate)
        return count / rate if known(count) and known(rate) and min(count, rate * LEAST_COUNT) >= LEAST_COUNT else None

    def keeps(self, seconds: float) -> bool:
        """Whether count and rate are of this many seconds."""
        count, rate = figure(self.count), figure(self.rate)
        if not (known(count) and known(rate)):
            return True
        low = (rate - half_digit(self.rate)) * seconds * (1 - SLACK)
        high = (rate + half_digit(self.rate)) * seconds * (1 + SLACK)
        return low <= count + half_digit(self.count) and high >= count - half_digit(self.count)


@stream(starts=start("FCX102"), provides=(PerfkitPage, SystemCounter))
class SystemCounters(PageStream):
    """One page."""

    def facts(self, report: Report) -> Iterator[PerfkitPage | SystemCounter]:
        """Yield the page and its counters."""
        if is_sample(report):
            return
        yield page_fact(report)
        pairs = list(_pairs(report))
        if not pairs:
            report.problem(f"no counters below the heading: {REMEDY}", 0)
        told = [seconds for pair in pairs if (seconds := pair.seconds)]
        seconds = median(told) if len(told) >= LEAST_PAIRS else None
        swapped = seconds is not None and seconds < 1
        if swapped:
            report.problem(f"counts are smaller than rates: the columns were swapped, nothing was read; {REMEDY}", 0)
        for pair in [] if swapped else pairs:
            count, rate = figure(pair.count), figure(pair.rate)
            if seconds and not pair.keeps(seconds):
                what = f"{pair.name}: {pair.count} in {seconds:.3g} s are not {pair.rate}/s, left out"
                report.problem(f"{what}: digits were lost or swapped, {REMEDY}", pair.index)
                count = rate = ABSENT
            yield SystemCounter(source=report.source(pair.index), name=pair.name, count=count, per_second=rate)


def _pairs(report: Report) -> Iterator[Pair]:
    """Each name with its two figures; claims the lines that hold some, and the headings."""
    for index, line in enumerate(report.lines):
        if report.claimed[index] or not line.strip():
            continue
        found = list(_of_line(line[:LONGEST].split()))
        if found or HEADS.fullmatch(line) or (len(line) < 60 and SECTION.fullmatch(line)):
            report.claim(index)
        for name, count, rate in found:
            yield Pair(index, name, count, rate)


def _of_line(tokens: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Cut a line: a name goes on until two figures follow each other (`SVC 76 reflected` has one of its own)."""
    name: list[str] = []
    at = 0
    while at < len(tokens):
        two = tokens[at : at + 2]
        if name and len(two) == 2 and all(FIGURE.fullmatch(word) or word == "---" for word in two):
            words = name[1:] if name[0] == "Reserved" and len(name) > 1 else name
            yield " ".join(words)[:60], two[0], two[1]
            name, at = [], at + 2
        else:
            name.append(tokens[at])
            at += 1
