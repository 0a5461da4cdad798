"""FCX239 PROCSUM: what processors did; of interest is how often CP's dispatcher gave its processor away.

Sample::

    FCX239      CPU 3906  SER 0B7F2  Interval 09:00:00 - 10:00:00    Perf. Monitor

                      <- Diagnose X'9C' ->
    Interval   Pct         by       by
    End Time  Busy     HCPDSP    HCPXX
    >>Mean>>  61.5      142.7      8.1

APAR VM65988 names the rate of Diagnose X'9C' issued by HCPDSP on this page [V]; its layout was not seen [R]. So all is
tentative: rates are found by the words `9C` and `44` in the headings of columns, or in a line of a name and one
figure. Columns and names that say HCPDSP become the counter `Diagnose X'9C' by HCPDSP`; others keep their own words.
"""

import re
from collections.abc import Iterator, Sequence

from collectors.facts.base import ABSENT, Reading
from collectors.facts.zvm import DISPATCHER_9C, PerfkitPage, SystemCounter
from collectors.layouts.perfkit import PageStream, is_sample, page_fact, start
from collectors.layouts.perfkit_table import LONGEST, Column, Row, by_time, claim_heads, columns, cut, figure
from collectors.registry import Report, stream

DIAGNOSE = re.compile(r"9C\b|Diag\w{0,6}[ .]{0,2}X?'?44\b", re.IGNORECASE)
LINE = re.compile(
    r"\s{0,20}(?P<name>[A-Z][^\t]{2,60}?)[ .:=]{0,40}[ :=](?P<rate>[0-9]{1,9}(?:\.[0-9]{0,4})?|\.[0-9]{1,4})"
    r"(?: ?/ ?s(?:ec)?| per second)?\s*",
    re.IGNORECASE,
)
REMEDY = "save the page again, with its blanks"


@stream(starts=start("FCX239"), provides=(PerfkitPage, SystemCounter))
class ProcessorSummary(PageStream):
    """One page."""

    def facts(self, report: Report) -> Iterator[PerfkitPage | SystemCounter]:
        """Yield the page, and the rate of each diagnose it names."""
        if is_sample(report):
            return
        report.tentative("the layout of PROCSUM was not seen: rates are found by the words 9C and 44, compare with it")
        page = cut(report, page_fact(report))
        yield page.fact
        found = 0
        for index in page.heads:
            line = report.lines[index][:LONGEST]
            if DIAGNOSE.search(line) and (pair := LINE.fullmatch(line)):
                found += 1
                report.claim(index)
                yield _counter(report, index, pair["name"], figure(pair["rate"]))
        heads = columns(report, page)
        places = [at for at, head in enumerate(heads) if DIAGNOSE.search(f"{head.group} {head.name}")]
        if places:
            claim_heads(report, page)
            yield from _means(report, page.rows, heads, places)
        elif not found:
            report.problem(f"no rate of Diagnose X'9C' is named: {REMEDY}", 0)


def _means(
    report: Report, rows: Sequence[Row], heads: Sequence[Column], places: Sequence[int]
) -> Iterator[SystemCounter]:
    """The rates on the row of the mean; on a page without times, on its only row."""
    for row in rows:
        report.claim(row.index)
    whole = [row for row in rows if len(row.tokens) == len(heads)]
    means = [row for statistic, row in by_time(whole) if statistic == "mean"] or whole
    if len(means) != 1:
        report.problem(f"{len(means)} rows may be the mean: none was read; {REMEDY}, with >>Mean>>", rows[0].index)
        return
    for at in places:
        name = f"{heads[at].group} {heads[at].name}"
        yield _counter(report, means[0].index, name, figure(means[0].tokens[at]))


def _counter(report: Report, index: int, name: str, rate: Reading) -> SystemCounter:
    words = " ".join(name.split())[:60]
    dispatcher = "HCPDSP" in words.upper() and "9C" in words.upper()
    named = DISPATCHER_9C if dispatcher else words
    return SystemCounter(source=report.source(index), name=named, count=ABSENT, per_second=rate)
