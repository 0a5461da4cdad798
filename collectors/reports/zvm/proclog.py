"""FCX144 PROCLOG: how busy each processor was, by time.

Sample::

    FCX144      CPU 3906  SER 0B7F2  Interval 09:00:00 - 10:00:00    Perf. Monitor

                       <---- Percent Busy ---->  <Rates/s>
    Interval  CPU Type  Total  User  Syst  Emul    X'9C'
    End Time
    >>Mean>>    0 IFL    71.2  65.0   6.2  48.9     12.4
    >>Mean>>    1 IFL    69.8  63.9   5.9  48.1     11.0

The layout is recalled [R, zvm-unix-scalability.md a2]: columns are found by their headings, those not known are passed
over, all is tentative. Kept are the means. `Total` is all time of a processor, `Syst` that of CP which belongs to no
user, `Emul` the guests' own; CP's work for users and system is worked out as total - emulation.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from collectors.facts.base import ABSENT, Reading, known
from collectors.facts.zvm import PerfkitPage, ProcessorLoad
from collectors.layouts.perfkit import PageStream, is_sample, page_fact, start
from collectors.layouts.perfkit_table import MEAN, Column, Row, by_time, claim_heads, columns, cut, figure, find
from collectors.registry import Report, stream

CPU = re.compile(r"cpu(?:nr|no|id|addr)?")
KIND = re.compile(r"(?:cpu)?type")
FIELDS = {
    "busy_percent": re.compile(r"(?:(?:pct|%)busy|(?:pct|%)?total|total(?:pct|%)?busy|%cpu)"),
    "system_percent": re.compile(r"(?:pct|%)?sys(?:t|tem)?"),
    "emulation_percent": re.compile(r"(?:pct|%)?emul(?:ation)?"),
    "diagnose_9c_per_second": re.compile(r".{0,20}9c.{0,20}"),
    "diagnose_44_per_second": re.compile(r".{0,20}x'44'.{0,20}"),
}
REMEDY = "save the page again, with its blanks"


@stream(starts=start("FCX144"), provides=(PerfkitPage, ProcessorLoad))
class ProcessorLog(PageStream):
    """One page."""

    def facts(self, report: Report) -> Iterator[PerfkitPage | ProcessorLoad]:
        """Yield the page, and the mean of each processor."""
        if is_sample(report):
            return
        report.tentative("the columns of PROCLOG are recalled and found by their headings: compare with the page")
        page = cut(report, page_fact(report))
        heads = columns(report, page)
        number, busy = find(heads, CPU), find(heads, FIELDS["busy_percent"])
        loads: list[ProcessorLoad] = []
        if number is None or busy is None:
            report.problem(f"no columns are headed CPU and Total (percent busy): {REMEDY}", 0)
        else:
            claim_heads(report, page)
            for row in page.rows:
                report.claim(row.index)
            rows = [row for row in page.rows if len(row.tokens) == len(heads)]
            loads = [load for row in rows if (load := _load(report, row, heads, number))]
            odd = [row.index for row in page.rows if len(row.tokens) != len(heads) and MEAN.fullmatch(row.tokens[0])]
            if odd and loads:  # without one of them neither their number nor a mean of all is known
                loads = []
                what = f"this mean has not {len(heads)} figures like the others, so none was read"
                report.problem(f"{what}: {REMEDY}", odd[0])
            elif not loads:
                report.problem(f"no processor has a row >>Mean>>: {REMEDY}, whole", 0)
        cpus = {load.cpu for load in loads}
        yield replace(page.fact, processors=float(len(cpus)) if cpus else ABSENT)
        yield from loads


def _load(report: Report, row: Row, heads: Sequence[Column], number: int) -> ProcessorLoad | None:
    """The mean of one processor; `None` for other rows, and for figures that cannot be."""
    statistic = next((statistic for statistic, _ in by_time([row])), None)
    cpu = figure(row.tokens[number])
    if statistic != "mean" or not known(cpu):
        return None
    said = {name: at for name, pattern in FIELDS.items() if (at := find(heads, pattern)) is not None}
    figures: dict[str, Reading] = {name: figure(row.tokens[at]) for name, at in said.items()}
    total, emulation = figures["busy_percent"], figures.get("emulation_percent", ABSENT)
    if known(total) and (total > 100 or (known(emulation) and emulation > total)):
        what = f"CPU {cpu:g}: {total:g} % in all and {emulation} % of it emulation cannot be, left out"
        report.problem(f"{what}: {REMEDY}", row.index)
        return None
    if known(total) and known(emulation):
        figures["cp_percent"] = round(total - emulation, 6)
    kind = find(heads, KIND)
    text = row.tokens[kind] if kind is not None else ""
    return ProcessorLoad(
        source=report.source(row.index),
        cpu=int(cpu),
        kind=text if re.fullmatch(r"[A-Za-z]{2,6}", text) else None,
        statistic="mean",
        **figures,
    )
