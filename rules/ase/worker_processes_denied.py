"""Parallel queries are denied the worker processes they ask for.

Finds: a tenth or more of the requests for worker processes denied within an sp_sysmon sample.

Why it matters: a query that gets fewer worker processes than its plan asks for is run by an adjusted plan, with fewer
of them or serially, and may take much longer (vendor: Performance and Tuning 12.5, worker process availability). A plan
that cannot do with fewer is ended with a message (vendor: Query Processor 15.7, number of worker processes).

What to do: while engines have time left, raise `number of worker processes`, which is dynamic and takes memory as a
user connection does (vendor: System Administration Guide 2, 15.7). As a first step in proportion to the requests that
were denied, up to a multiple of `max parallel degree`; the vendor's own estimate is that degree times the queries that
run in parallel at once times 1.5. Where engines are busy already, lower `max parallel degree` instead: more workers
would only queue for them.

When to ignore it: where parallel queries are few and nobody waits for them, as in a nightly load.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from collectors.facts import Facts, known
from collectors.facts.ase import ConfigParameter, WorkerRequests
from rules.ase._evidence.caches.memory import MEMORY_FACTS, free_evidence, too_little
from rules.ase._evidence.server import ENGINE_FACTS, busy_of, setting_of
from rules.changes.ase_config import configure, more_memory, waiting_number
from rules.engine import limit, percent, rule
from rules.finding import Change, Clean, Evidence, Expectation, Finding, Outcome, Severity, Unknown, Untrusted, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.dc20023_1251/html/optimizer/optimizer210.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00743.1570/html/queryprocessing/BABCADDD.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1570/html/sag2/X40993.htm",
)
NAME, DEGREE = "number of worker processes", "max parallel degree"
MOST = 4
"""This project: times the number in force as a first step, however many were denied."""
ADJUSTED = "A query that gets fewer than its plan asks for runs with fewer or serially, and may take much longer."
FIRST = (
    "Raise {0} from {1:,.0f} to {2:,} (in force at once); where the engines become too busy, lower "
    + DEGREE
    + " instead."
)
BUSY = (
    "Lower "
    + DEGREE
    + "{0}, so that each query asks for fewer: the engines are {1:.0f} % busy, and more workers would queue."
)
NUMBER = f'How many there are is not in the export: sp_configure "{NAME}".'


@dataclass(frozen=True)
class Limits:
    """From which share of the requests on, and how busy engines may be for more workers."""

    denied_percent: float = percent(
        10.0, "this project: the vendor calls frequent adjustments a sign of too few and names no figure"
    )
    least: float = limit(20.0, "this project: fewer denied may be one query", unit="requests")
    busy_percent: float = percent(85.0, "practice: CPU of 85 % (Rukav's sp_sysmon hints)")


@rule(needs=(WorkerRequests,), uses=(*MEMORY_FACTS, *ENGINE_FACTS, ConfigParameter), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the requests that were denied against all."""
    row = facts.every(WorkerRequests)[-1]
    if known(row.total) and row.total == 0:
        yield Clean("nobody asked for worker processes")
        return
    if not known(row.total) or not known(row.denied):
        yield Unknown.of(WorkerRequests)
        return
    if row.total < 0 or not 0 <= row.denied <= row.total:
        yield Untrusted(f"{row.denied:,.0f} of {row.total:,.0f} requests for worker processes cannot have been denied")
        return
    share = 100.0 * row.denied / row.total
    said = f"{row.denied:,.0f} of {row.total:,.0f} requests for worker processes were denied ({share:.1f} %)"
    if share < limits.denied_percent or row.denied < limits.least:
        yield Clean(f"{said}, limit {limits.denied_percent:g} % and {limits.least:g}")
        return
    yield _finding(facts, limits, row, share, said)


def _finding(facts: Facts, limits: Limits, row: WorkerRequests, share: float, said: str) -> Finding:
    setting, degree = setting_of(facts, NAME), setting_of(facts, DEGREE)
    there = setting.run_number if setting else None
    most = degree.run_number if degree else None
    _, busy = busy_of(facts)
    busy_now = busy is not None and busy >= limits.busy_percent
    change = None if busy_now else _more(setting, row, share, most)
    short = too_little(facts, NAME, change.memory_mb) if change else ""
    do = BUSY.format(f" ({most:,.0f} now)" if most is not None else "", busy) if busy_now else ""
    if not busy_now:
        do = (
            FIRST.format(NAME, there or 0, change.new)
            if change and not short
            else joined(f"Raise {NAME}, or lower {DEGREE}.", short)
        )
    return Finding(
        subject="worker processes",
        severity=Severity.ADVICE,
        title=f"{share:.0f} % of the requests for worker processes were denied"
        + (f" ({NAME} is {there:,.0f})" if there is not None else ""),
        seen=f"{said}."
        + (f" {NAME} is {there:,.0f}" if there is not None else "")
        + (f", {DEGREE} {most:,.0f}." if there is not None and most is not None else "." if there is not None else ""),
        because=ADJUSTED,
        do=do,
        unknown="Which queries these were is not in the export." if there is not None else NUMBER,
        evidence=(
            Evidence("requests for worker processes denied", row.denied if known(row.denied) else 0.0, "", row.source),
            Evidence("share denied", round(share, 1), "%", row.source, limits.denied_percent, "from this line"),
            *((Evidence(NAME, there, "", setting.source),) if setting and there is not None else ()),
            *((Evidence(DEGREE, most, "", degree.source),) if degree and most is not None else ()),
            *(free_evidence(facts) if short else ()),
        ),
        changes=(change,) if change and not short else (),
        expects=(Expectation("share of requests denied", round(share, 1), "lower", "arithmetic"),)
        if change and not short
        else (),
        share=share,
        explains=("ase/resource_used_up:worker processes",),
    )


def _more(setting: ConfigParameter | None, row: WorkerRequests, share: float, degree: float | None) -> Change | None:
    """A larger number, in proportion to what was denied; `None` where the one in force is not known, or one waits."""
    there = setting.run_number if setting else None
    if not there or there <= 0 or not known(row.total):
        return None
    step = int(degree) if degree and 1 < degree <= there else 1
    new = min(ceil(there / max(1.0 - share / 100.0, 1.0 / MOST) / step) * step, int(MOST * there))
    wanted = waiting_number(setting)
    if wanted is not None and wanted >= new:
        return None
    memory, caution = more_memory(setting, there, new)
    return configure(NAME, there, new, memory_mb=memory, cautions=(caution,), configured=wanted)
