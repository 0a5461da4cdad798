"""SDA's SPL extension: which spinlocks are held and spun for, and who takes them.

The shape that is looked for (no sample is at hand, so this one is made up of the words that the manual uses)::

    SDA> SPL SHOW TRACE/SUMMARY/RATES
    Spinlock Trace Information: (trace time 00:00:12.50)
    Spinlock      Acquires/sec   Hold %   Hold us   Spins/sec   Spin %
    --------      ------------   ------   -------   ---------   ------
    LCKMGR             61250.0     73.5      12.0     30310.0    142.1

Read: SPL SHOW TRACE/SUMMARY, SPL ANALYZE and SPL SHOW COLLECT (whose rows are of one CPU each, of the spinlock named
above them). Columns are told by the words of their heading, wherever they stand; a row that has not one figure for each
of them stays a leftover. A detailed trace (no /SUMMARY) is not read: it has a line for each acquisition.

Units (openvms-formats.md d.1 [S]): the summary is in rates or in totals, by a qualifier that the file need not show.
`/sec` in a heading or an echoed /RATES or /TOTALS tells; else counts are left out. ANALYZE does not list what has less
than 10 % hold and spin unless /USAGE says otherwise. The layout counts as proven only by its own figures: acquisitions
per second × mean hold is the hold share, in every row that prints all three, or by its own legend, a line that names
the column Spin % and what it is of. Otherwise the reading is tentative.
"""

import re
from collections.abc import Iterator, Mapping

from collectors.facts.base import ABSENT, Reading, known
from collectors.facts.openvms import Node, SpinlockTrace, SpinlockTraceRun
from collectors.layouts import sda
from collectors.registry import NotThisReport, Report, report
from collectors.reports.openvms.spl.outputs import ANALYZE, MOST_ROWS, Run, outputs

START = re.compile(
    r"^\s{0,8}SDA ?> {0,4}(?i:SPL +(?:SHO?W? +(?:TR|CO)|AN))[A-Za-z]*"
    r"|^\s{0,60}Spinlock (?:Trace (?:Information|Summary)|Usage(?: Summary)?|Analysis|Collection)"
    r"\s{0,60}(?:$|[:(]|\s\s|\s(?:on node|at [0-9]))"
    r"|^\s{0,8}Spin ?lock(?: [Nn]ame)?\s{1,60}(?=\S.{0,120}\bAcq(?:uire|uisition)?s?\b)(?=.{0,120}\bHold\b)"
    r"(?!.{0,200}(?:[.;,] |\.$|\b(?:and|the|of|is|are)\b))"
)
PROOF = ("acquires_per_second", "hold_microseconds", "hold_percent")
USAGE = re.compile(r"\b(?:HOLD|SPIN)[A-Z_]{0,10} ?= ?([0-9]{1,3}(?:\.[0-9]{1,3})?)")
LISTED_FROM = 10.0
"""Per cent: what SPL ANALYZE lists by default (SDA's help)."""


@report(starts=START, provides=(SpinlockTrace, SpinlockTraceRun, Node))
def read(report: Report) -> Iterator[SpinlockTrace | SpinlockTraceRun | Node]:
    """Yield what each output covers, then its spinlocks."""
    runs = [run for run in outputs(report) if run.locks or run.detailed or run.echoed]
    if not runs:
        raise NotThisReport
    for run in runs:
        if run.detailed:
            what = "a detailed trace is not read: repeat as SPL SHOW TRACE/SUMMARY/RATES"
            report.problem(what, run.first)
        elif run.left:
            what = f"{len(run.left):,} rows after the first {MOST_ROWS:,} of SPL {run.command} were not read"
            report.problem(f"{what}: upload this output in a file of its own, in parts of fewer rows", run.left[0])
        elif not run.locks:
            report.problem(f"SPL {run.command}: no table of spinlocks was found below it, repeat it", run.first)
    runs = [run for run in runs if run.locks]
    if not runs:
        return
    if not all(_proven(run) for run in runs):
        report.tentative(
            "no sample of SPL's output is known; its columns are recognised by the words of their headings"
        )
    above = min(lock.first for lock in runs[0].locks.values())
    named = sda.node_in(report.lines[:above]) or sda.node_in(report.before)
    if named:
        yield Node(source=report.source(0), name=named)
    for run in runs:
        if run.untold:
            what = "nothing tells whether these are counts or rates, so they are left out: repeat it with /RATES"
            report.problem(what, run.first)
        last = max(lock.last for lock in run.locks.values())
        yield SpinlockTraceRun(
            source=report.source(run.first, last),
            node=named,
            command=run.command,
            seconds=run.seconds,
            unit=run.unit,
            listed_from_percent=_listed_from(run),
            percent_of=run.percent_of,
            cpus=run.cpus,
            at=run.at,
        )
        trace = SpinlockTrace(node=named, spinlock="", command=run.command)
        for (name, cpu), lock in run.locks.items():
            where = report.source(lock.first, lock.last)
            yield trace.placed(where, spinlock=name, cpu=cpu, callers=tuple(lock.callers), **lock.figures)


def _listed_from(run: Run) -> Reading:
    """From which share on this output lists a spinlock: known of ANALYZE alone."""
    if run.command != ANALYZE:
        return ABSENT
    if run.echoed is None or not sda.has(run.echoed, "USAGE"):
        return LISTED_FROM
    said = next((value for name, value in sda.qualifiers(run.echoed).items() if "USAGE".startswith(name)), "")
    told = [float(value) for value in USAGE.findall(said)]
    return max(told) if len(told) == 2 else max([*told, LISTED_FROM])


def _proven(run: Run) -> bool:
    """Whether the figures show that the columns were told right: acquisitions/s × mean hold (µs) ÷ 10,000 = hold %.

    A legend that names the column of the spin share does it, too, where no figure speaks against it.
    """
    checked = 0
    for lock in run.locks.values():
        rate, hold, share = (lock.figures.get(name, ABSENT) for name in PROOF)
        if known(rate) and known(hold) and known(share):
            computed = rate * hold / 10_000
            if abs(computed - share) > max(0.05 * abs(share), 0.05):
                return False
            checked += share >= 1
    return checked >= 2 or (run.legend and all(_can_be(lock.figures) for lock in run.locks.values()))


def _can_be(figures: Mapping[str, Reading]) -> bool:
    """Whether both shares are there and the hold share is one of one CPU's time."""
    hold, spin = figures.get("hold_percent", ABSENT), figures.get("spin_percent", ABSENT)
    return known(hold) and known(spin) and 0 <= hold <= 100 and spin >= 0
