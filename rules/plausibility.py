"""What a finding may claim: no figure beyond what the machine can do, no value that a server would refuse.

Exports are damaged on their way, counters wrap, columns shift, and no rule can foresee all of it. So every finding of
every rule passes here before it is given out; what is impossible makes the verdict `untrusted`, with the figure and its
line. A rule declares nothing for it: the bounds follow from the units of its evidence, its cost and its changes.
"""

import enum
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts, Reading, known
from collectors.facts.ase import EngineBusy, MonEngine
from collectors.facts.openvms import Cpu, CpuModes, Node, ProcessorModes
from collectors.facts.scaling import LoadSeries
from collectors.facts.zvm import PerfkitPage, PerformanceRun, ProcessorLoad
from rules.changes.legal import refusal
from rules.changes.openvms_sysgen import PARAMETERS as SYSGEN
from rules.finding import Evidence, Finding
from rules.sample import longest

MOST_PROCESSORS = 4096
"""This project: more than any machine that these products run on; counts where the export names no number."""
ROUNDED = 1.01
"""Shares and modes are sums of rounded parts: one in a hundred above the bound is rounding, not damage."""
EVENTS_PER_SECOND = 1e8
"""This project: events that one processor can count in a second. An uncontended atomic instruction takes some 10 ns,
and every lock, search or transaction more than one."""
TURNS_PER_SECOND = 1e9
"""The same for the turns of a spinning loop, some of which take a nanosecond."""
JUST_BELOW = {32: 1024, 64: 65_536}
"""Bits of a counter → so near below 2**bits stands one that went below zero, not one that was counted up (this project;
near 2**64 a float tells numbers apart only in steps of 2,048)."""


FASTEST_MHZ = 10_000.0
"""This project: beyond any processor that was sold."""


class Kind(enum.Enum):
    """What a unit measures, as far as it bounds a figure."""

    SHARE = "share"
    OF_ONE_CPU = "per cent of one processor"
    PROCESSORS = "processors"
    RATE = "rate"
    TIME = "time of one task, in seconds"
    CLOCK = "clock of a processor, in MHz"
    AMOUNT = "amount"


SECONDS = {"µs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
KINDS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"% (?:more|less|per hour)"), Kind.AMOUNT),
    (re.compile(r"% of (?:one CPU|a processor|one processor)"), Kind.OF_ONE_CPU),
    (re.compile(r"%(?: of .*)?"), Kind.SHARE),
    (re.compile(r"CPUs|processors(?:' worth)?"), Kind.PROCESSORS),
    (re.compile(r".*(?:/s|/h| per second)"), Kind.RATE),
    (re.compile("|".join(SECONDS)), Kind.TIME),
    (re.compile("MHz"), Kind.CLOCK),
)
"""Unit → what it measures; the first that matches the whole unit. A sum over tasks has a unit of its own
(`s, all tasks together`), and so has what began before the sample (`s so far`; `s, begun before` where it has ended):
all are plain amounts."""


CHANGES = ("% more", "% less", "% per hour")
"""Units of what may be below zero: how much one figure differs from another."""


def kind_of(unit: str) -> Kind:
    """What a unit measures."""
    return next((kind for pattern, kind in KINDS if pattern.fullmatch(unit)), Kind.AMOUNT)


@dataclass(frozen=True)
class Bounds:
    """What one system can do in one capture."""

    processors: float | None
    """Of the system, the most that any export names; `None` where none does."""
    seconds: float | None
    """The longest time that any export of the capture covers; `None` where none says."""

    @property
    def most(self) -> float:
        """Processors there can be."""
        return self.processors or MOST_PROCESSORS


def bounds_of(facts: Facts) -> Bounds:
    """Read the bounds from the facts of a capture."""
    found = max((value for value in _processors(facts) if 0 < value <= MOST_PROCESSORS), default=None)
    return Bounds(found, longest(facts))


def _processors(facts: Facts) -> Iterator[float]:
    yield float(len({one.engine for one in facts.every(EngineBusy)}))
    yield float(len({(one.instance, one.engine) for one in facts.every(MonEngine)}))
    yield float(len({(one.node, one.number) for one in facts.every(Cpu)}))
    yield float(len({one.cpu for one in facts.every(CpuModes)}))
    yield from _numbers(one.active_cpus for one in facts.every(Node))
    yield from _numbers(one.cpus for one in facts.every(ProcessorModes))
    yield from _numbers(one.processors for one in facts.every(PerfkitPage))
    yield from _numbers(one.processors for one in facts.every(ProcessorLoad))
    yield from _numbers(one.processors for one in facts.every(PerformanceRun))
    yield from (float(one.cores) for one in facts.every(LoadSeries) if one.cores)


def _numbers(readings: Iterable[Reading]) -> Iterator[float]:
    return (value for value in readings if known(value))


def impossible(finding: Finding, bounds: Bounds) -> str:
    """The first figure of a finding that cannot be, and why, with its line; nothing where all of them can."""
    cost = finding.cost
    if cost is not None:
        where = f" ({finding.evidence[0].source})" if finding.evidence and finding.evidence[0].source.file else ""
        if not all(math.isfinite(one) and one >= 0 for one in (cost.processors, cost.low, cost.high)):
            return f"{finding.subject}: a cost of {cost.processors:.15g} processors is no amount{where}"
        if cost.processors > bounds.most * ROUNDED:
            many = f"{bounds.processors:g}" if bounds.processors else f"at most {MOST_PROCESSORS:,}"
            return f"{finding.subject}: a cost of {cost.processors:,.15g} processors, and there are {many}{where}"
    for one in finding.evidence:
        if not isinstance(one.value, str) and (why := _beyond(one, one.value, bounds)):
            return f"{one.metric}: {one.value:,.15g} {one.unit}".rstrip() + f" {why} ({one.source})"
    for expected in finding.expects:
        for value in (expected.before, expected.after):
            if isinstance(value, int | float) and not math.isfinite(value):
                return f"{expected.metric}: {value} is no figure"
    return next((f"{why}" for change in finding.changes if (why := refusal(change))), "")


def _beyond(one: Evidence, value: float, bounds: Bounds) -> str:
    """Why a figure cannot be; nothing where it can."""
    if not math.isfinite(value):
        return "is no figure"
    if bits := next((bits for bits, near in JUST_BELOW.items() if 0 <= 2.0**bits - value <= near), None):
        return f"stands just below 2^{bits}: a counter that went below zero"
    kind = kind_of(one.unit)
    turned = one.metric.endswith(" spins") and "and" in one.computed  # counted between two snapshots
    if turned and bounds.seconds and value > TURNS_PER_SECOND * bounds.most * bounds.seconds:
        return f"is more than {bounds.most:g} processors can do in {bounds.seconds:,.0f} s"
    if value < least_of(one.metric) and one.unit not in CHANGES:
        return "is below zero"
    if kind is Kind.AMOUNT:
        return ""
    if kind is Kind.CLOCK and value > FASTEST_MHZ:
        return f"is more than the {FASTEST_MHZ:,.0f} MHz that any processor has"
    many = f"{bounds.processors:g} processors" if bounds.processors else "any machine"
    if kind is Kind.SHARE and value > 100 * ROUNDED:
        return "is above 100 %"
    if kind is Kind.OF_ONE_CPU and value > 100 * bounds.most * ROUNDED:
        return f"is more than {many} have"
    if kind is Kind.PROCESSORS and value > bounds.most * ROUNDED:
        return f"is more than {many} are"
    turns = TURNS_PER_SECOND if "spin" in one.metric.lower() or "spin" in one.unit.lower() else EVENTS_PER_SECOND
    if kind is Kind.RATE and (value / 3600 if one.unit.endswith("/h") else value) > turns * bounds.most:
        return f"is more than {many} can do"
    if kind is Kind.TIME and bounds.seconds and value * SECONDS[one.unit] > bounds.seconds * ROUNDED:
        return f"is longer than the {bounds.seconds:,.0f} s that were measured"
    return ""


def least_of(name: str) -> float:
    """The least that a figure of this name may be: 0, but of a parameter as low as SYSGEN takes it, as of PE1.

    So it is of the value that waits for the next boot, `PE1 in CURRENT (pending)`.
    """
    known = SYSGEN.get(name.partition(" in CURRENT")[0])
    return min(0, known.low) if known else 0


def bounded(finding: Finding, bounds: Bounds) -> Finding:
    """Cut the upper end of a cost's range where it says more processors than there are."""
    cost = finding.cost
    if cost is None or bounds.processors is None or cost.high <= bounds.processors:
        return finding
    return replace(finding, cost=replace(cost, high=max(cost.processors, bounds.processors)))
