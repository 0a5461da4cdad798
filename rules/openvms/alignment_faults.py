"""Programs touch data that is not aligned, thousands of times a second.

Finds: alignment faults per second by access mode (MONITOR ALIGN, `[MON.ALIGN]` of T4), or the program counters of a
fault trace (SDA, FLT), when there are very many of them.

Why it matters: the processor cannot read or write a value that lies across the border it expects, so the system does it
in software, one exception each time. That is costly on Itanium, where exceptions take longer than on Alpha; there the
repair of the programs paid off for the whole system (HP's OpenVMS Technical Journal, volume 9). Only one CPU at a time
resolves them there, under the spinlock of memory management (a practitioner's word in HPE's forum), so they explain it
where it is hot and page faults are fewer. MONITOR counts them on Integrity servers alone, so its rates say what the
machine is where no display names it.

What to do: find who causes them; FLT prints the program counters with most faults. Faults in user mode are the
application's: align its data, or compile it so that it expects data unaligned. Those of the inner modes come from the
system, drivers, or products such as Rdb and RMS: take newer releases. No system parameter changes any of it.

When to ignore it: when the rate is low. No threshold was ever published; on a real day with 31 faults per second in
kernel mode, 3 in executive, 0.7 in supervisor and 109 in user mode they cost nothing that anybody would notice.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import OVERFLOW, Facts, known
from collectors.facts.openvms import AlignmentFaults, FaultSource
from rules.changes.quoting import comment
from rules.engine import limit, rule
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    capitalized,
    joined,
)
from rules.laws.rounding import plain
from rules.openvms._evidence.alignment import ALIGNMENT_FACTS, MANY, MODES, by_mode, many_under_mmg, rates_of, total_of
from rules.openvms._evidence.node import subject_of
from rules.openvms._evidence.releases import machine_of
from rules.openvms._evidence.t4_processes import CPU_TIME, most_of

LINKS = ("https://wiki.vmssoftware.com/MONITOR_MODES",)
MMG_IS_HOT = "openvms/spinlock_hot:MMG"
NO_PARAMETER = "no system parameter changes it."
MOST_NAMED, MOST_SAID = 5, 3
"""Program counters among a finding's figures, and in its sentence."""
IMAGE = re.compile(
    r"(?P<image>[A-Z$_][A-Z0-9$_]{0,38}(?:\.EXE)?)(?:\s{0,3}\+\s{0,3}|\s+)[0-9A-F]{1,8}\b(?:\s+(?P<routine>[A-Z$_][A-Z0-9$_]{0,38}))?",
    re.I,
)
"""Image and offset as FLT prints them beside a program counter, and the routine where one stands."""
MOST_OF = 50.0
"""This project: an image with more of the listed faults than this, in per cent, is the one to repair first."""


@dataclass(frozen=True)
class Limits:
    """How many faults are very many."""

    faults_per_second: float = limit(
        MANY,
        "this project: no threshold is published; a real day with 144 a second was harmless, this is 35 times that",
        low=1,
        unit="faults/s",
    )
    most_believed: float = limit(
        10_000_000.0, "this project: no processor takes more exceptions than this in a second", low=1e4, unit="faults/s"
    )


@rule(needs=(), uses=(*ALIGNMENT_FACTS, FaultSource), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the rate of all modes; without one, the sum of a fault trace, which is less than all."""
    machine = machine_of(facts)
    if machine.family == "VAX":
        yield NotApplicable(f"{machine.hardware}: a VAX reads unaligned data by itself")
        return
    rates = rates_of(facts)
    sources = facts.every(FaultSource)
    if why := _wrong(rates, sources, limits):
        yield Untrusted(why)
    elif rates is not None:
        yield from _judge(facts, limits, rates, sources)
    elif sources:
        yield from _judge_trace(facts, limits, sources)
    elif machine.x86:
        yield NotApplicable(f"{machine.said}: MONITOR ALIGN is of Integrity, and none for x86-64 was found")
    else:
        yield Unknown.of(AlignmentFaults)


def _wrong(rates: AlignmentFaults | None, sources: list[FaultSource], limits: Limits) -> str:
    """Why the figures cannot be believed; empty where they can."""
    named = [*by_mode(rates).items(), ("all modes", rates.total_per_second)] if rates else []
    for name, value in [*named, *((one.pc, one.faults_per_second) for one in sources)]:
        if value is OVERFLOW:
            return f"alignment faults ({name}): asterisks are no rate"
        if known(value) and not 0 <= value <= limits.most_believed:
            return f"alignment faults ({name}): {value:g} a second is no rate"
    return ""


def _judge(facts: Facts, limits: Limits, rates: AlignmentFaults, sources: list[FaultSource]) -> Iterator[Outcome]:
    modes = {mode: value for mode, value in by_mode(rates).items() if known(value)}
    if not modes and not known(rates.total_per_second):
        why = "columns of alignment faults are there, and none of them could be read as the rate of a mode"
        yield Unknown.without("alignment faults of all modes", rates.COLLECTED_BY, why)
        return
    total = total_of(rates)
    whole = known(rates.total_per_second) or len(modes) == len(MODES)
    figures = ", ".join(f"{value:,.1f} {mode}" for mode, value in modes.items())
    said = f"{total:,.0f} alignment faults/s ({rates.statistic}{': ' if figures else ''}{figures})"
    if total < limits.faults_per_second and not whole:
        yield Unknown.without("alignment faults of all modes", rates.COLLECTED_BY, f"{said}: modes are missing")
    elif total < limits.faults_per_second:
        yield Clean(f"{said}, limit {limits.faults_per_second:,.0f}")
    else:
        evidence = [Evidence(f"{mode} mode", round(value, 1), "/s", rates.source) for mode, value in modes.items()]
        head = Evidence(
            f"alignment faults ({rates.statistic})", round(total, 1), "/s", rates.source, limits.faults_per_second
        )
        yield _finding(facts, total, [head, *evidence], modes, sources, "" if whole else "at least ")
        yield from _who(sources)


def _judge_trace(facts: Facts, limits: Limits, sources: list[FaultSource]) -> Iterator[Outcome]:
    """A fault trace alone: its rows are the most frequent ones, so there are at least as many faults."""
    rated = [(one, one.faults_per_second) for one in sources if known(one.faults_per_second)]
    total = sum(rate for _, rate in rated)
    if total < limits.faults_per_second:
        seen = f"a fault trace with {total:,.0f} faults/s in {len(rated)} rows" if rated else "a trace without rates"
        yield Unknown(Unknown.of(AlignmentFaults).missing, f"{seen}: how many there are in all is not in the export")
        return
    head = Evidence(
        "alignment faults of the rows listed", round(total, 1), "/s", rated[0][0].source, limits.faults_per_second
    )
    yield _finding(facts, total, [head], {}, sources, "at least ")


def _who(sources: list[FaultSource]) -> Iterator[Outcome]:
    if not sources:
        yield Unknown.without("who causes the alignment faults", FaultSource.COLLECTED_BY)


def _finding(
    facts: Facts,
    total: float,
    evidence: list[Evidence],
    modes: dict[str, float],
    sources: list[FaultSource],
    bound: str = "",
) -> Finding:
    machine = machine_of(facts)
    shown = bool(modes) and machine.family is None and not machine.no_integrity
    integrity = machine.family == "Integrity" or shown
    seen = f"The system handles {bound}{total:,.0f} alignment faults a second in software, each one an exception"
    costs, which = "", "" if sources else "Which code causes them is not in the export: FLT in SDA names it."
    if shown:
        costs = "MONITOR counts alignment faults on Integrity servers alone, where exceptions are expensive."
        which = joined("No display names the machine: SHOW CPU/FULL does.", which)
    elif integrity:
        costs = f"{machine.hardware} is an Integrity server, where exceptions are expensive."
    elif machine.family == "Alpha":
        costs = f"{machine.hardware} is an Alpha, where a fault costs less than on Integrity: so this is a note."
    elif machine.family:
        costs = f"{machine.said} is no Integrity server, where exceptions are expensive: so this is a note."
    else:
        which = joined("Whether this is an Integrity server, where they are expensive, was not in the export.", which)
    inner = sum(modes.get(mode, 0.0) for mode in ("kernel", "exec", "super"))
    user = modes.get("user")
    trace = "" if sources else f"First find who causes them: {FaultSource.COLLECTED_BY}. "
    worst = _worst(sources)
    code = worst.said if worst else "the code that the trace names"
    do = f"Repair first {code}; {NO_PARAMETER}"
    if modes and user is not None and user >= inner:
        seen += f"; {user:,.0f} of them are in user mode, the application's own"
        do = f"{trace}Align the application's data or compile it to expect unaligned data; {NO_PARAMETER}"
        if worst and not worst.system:
            do = (
                f"Align the data of {worst.said}, or compile it to expect unaligned data; where it is a product's, "
                f"install a newer release. {capitalized(NO_PARAMETER)}"
            )
    elif modes:
        seen += f"; {inner:,.0f} of them are in the inner modes (the system, drivers, or products such as Rdb and RMS)"
        do = f"{trace}Install newer releases of {worst.image if worst else 'what the FLT trace names'}; {NO_PARAMETER}"
    if user is not None and user >= inner and not sources and (most := _most_cpu(facts)):
        name, time = most
        evidence.append(time)
        which = f"{which.removesuffix('.')}; the processes {name} take most CPU time, so look there first."
    if worst:
        evidence.append(worst.evidence)
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE if integrity else Severity.NOTE,
        title=f"{total:,.0f} alignment faults per second{worst.title if worst else ''}",
        seen=joined(f"{seen}.", _named(sources, evidence)),
        because=costs,
        do=do,
        unknown=which,
        evidence=tuple(evidence),
        explains=(MMG_IS_HOT,) if integrity and many_under_mmg(facts) else (),
        expects=(Expectation("alignment faults per second", round(total, 1), "lower", "heuristic"),),
    )


def _most_cpu(facts: Facts) -> tuple[str, Evidence] | None:
    """The processes with more than half of the CPU time of all that T4 lists by their names; `None` where none have.

    A name of `*` alone is all of them.
    """
    most = most_of(facts, CPU_TIME)
    return (most.name, most.share_read) if most else None


def _named(sources: list[FaultSource], evidence: list[Evidence]) -> str:
    """The program counters with most faults, which are put into the evidence too."""
    named = []
    for one in sources[:MOST_NAMED]:
        where = f"{one.pc} ({one.where})" if one.where else one.pc
        figure, unit = (one.faults_per_second, "/s") if known(one.faults_per_second) else (one.faults, "faults")
        if known(figure):
            evidence.append(Evidence(f"faults at {where}", figure, unit, one.source))
            where += f" with {figure:,.0f}{unit if unit == '/s' else ' ' + unit}"
        named.append(where)
    return f"The fault trace names most often: {'; '.join(named[:MOST_SAID])}." if named else ""


@dataclass(frozen=True)
class Worst:
    """The image with most of the faults that a trace lists."""

    image: str
    said: str
    title: str
    evidence: Evidence
    system: bool
    """Whether its code lies in system space, where programs have none of their own: who called it, FLT does not say."""


def _worst(sources: list[FaultSource]) -> Worst | None:
    """The image that most of the faults listed are in; `None` where they are spread, or the trace names no image.

    Rates and counts are never added: those of the first row decide which are.
    """
    rated = any(known(one.faults_per_second) for one in sources)
    read = [(one, one.faults_per_second if rated else one.faults) for one in sources]
    images: defaultdict[str, float] = defaultdict(float)
    routines: defaultdict[tuple[str, str], float] = defaultdict(float)
    total = 0.0
    for one, figure in read:
        total += figure if known(figure) else 0.0
        if known(figure) and (found := IMAGE.match(one.where or "")):
            images[found["image"]] += figure
            routines[found["image"], found["routine"] or ""] += figure
    image = max(images, key=lambda name: images[name], default=None)
    if image is None or images[image] * 100 <= total * MOST_OF:
        return None
    name, share = comment(image, 39), images[image] / total * 100
    first = max((part for part in routines if part[0] == image), key=lambda part: routines[part])[1]
    where = (
        f", first its routine {comment(first, 39)} ({plain(routines[image, first] / total * 100, 2)} % of them)"
        if first
        else ""
    )
    here = next(one for one, _ in read if (one.where or "").startswith(image))
    part = Evidence(
        f"share of the faults listed in {name}", round(share, 1), "%", here.source, computed="from the rows listed"
    )
    return Worst(
        name,
        f"{name}{where}",
        f", {plain(share, 3)} % of those traced in {name}",
        part,
        here.pc.startswith(("FFFFFFFF", "8")),
    )
