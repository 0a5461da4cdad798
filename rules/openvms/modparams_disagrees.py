"""MODPARAMS.DAT says another value than the one of the next boot.

Finds: a line of MODPARAMS.DAT for a parameter of the lock manager or of Fast Path that the value in CURRENT, else the
one that runs, contradicts: `NAME = value` with another value, `MIN_NAME` above it, `MAX_NAME` below it.

Why it matters: AUTOGEN computes every parameter anew from that file, so the next run of it takes back what SYSGEN has
set since: a dedicated lock manager, a weight, a larger table. A value that someone left there for a test comes back the
same way.

What to do: settle which of both is meant. Where it is what runs, change the line; where it is the line, set the value
with SYSGEN (WRITE ACTIVE where it is dynamic), or leave it to the next AUTOGEN and reboot.

When to ignore it: between a change of the file and the reboot that AUTOGEN makes for it. It is a note always: nothing
that runs is slower for it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import ModparamsLine, SysgenParameter
from rules.changes.openvms_sysgen import PARAMETERS
from rules.engine import percent, rule
from rules.finding import Clean, Evidence, Finding, NotApplicable, Outcome, Severity, Unknown
from rules.laws.hashing import next_power_of_two
from rules.openvms._evidence.node import NODE_FACTS, parameter_of, pending_of, subject_of
from rules.openvms._evidence.releases import machine_of

LINKS = ("https://wiki.vmssoftware.com/LCKMGR_MODE", "https://wiki.vmssoftware.com/LOCKIDTBL")
LOWEST, HIGHEST = -1, 2**32
"""This project: no parameter listed here has a value beyond these."""
UNDOCUMENTED = ("LCKMGR_MODE", "LCKMGR_CPUID", "FAST_PATH", "FAST_PATH_PORTS", "IO_PREFER_CPUS")
"""Documented for Alpha and Integrity alone: nothing is said of them on x86-64."""
COMPUTED = (
    "AUTOGEN computes it, so MIN_{0} = {1:.0f} is the line for a larger value: a bare one blocks AUTOGEN (vendor)."
)


@dataclass(frozen=True)
class Limits:
    """From when on two values are two."""

    apart_percent: float = percent(
        1.0, "this project: the system rounds some values, so less is no contradiction", of="the line's value"
    )


@rule(needs=(), uses=(*NODE_FACTS, ModparamsLine, SysgenParameter), links=LINKS, limits=Limits, sample=None)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold each line against the value of the next boot."""
    if not facts.every(ModparamsLine):
        yield NotApplicable("MODPARAMS.DAT was not collected: nothing of it is held against what runs")
        return
    judged = PARAMETERS.keys() - (UNDOCUMENTED if machine_of(facts).x86 else ())
    lines = [one for one in facts.every(ModparamsLine) if one.name in judged and known(one.value)]
    told = False
    for name in dict.fromkeys(one.name for one in lines):
        here = [one for one in lines if one.name == name]
        runs = parameter_of(facts, name, LOWEST, HIGHEST)
        waits = pending_of(facts, name)
        found = waits or runs
        if not isinstance(found, tuple):
            yield Unknown.without(name, f"MCR SYSGEN SHOW {name}", f"{name}: MODPARAMS.DAT has {_said(here[-1])}")
            told = True
            continue
        value, fact = found
        asked = ((one, one.value) for one in reversed(here) if known(one.value))
        against = next((pair for pair in asked if _contradicts(*pair, value, limits)), None)
        if against:
            yield _finding(facts, *against, value, fact, pending=waits is not None)
            told = True
    if not told:
        yield Clean(f"{len(lines)} lines for parameters of the lock manager, and none contradicts what is in force")


def _said(line: ModparamsLine) -> str:
    return f"{line.prefix}{line.name} = {line.value:.0f}" if known(line.value) else line.name


def _contradicts(line: ModparamsLine, wanted: float, value: float, limits: Limits) -> bool:
    if line.prefix == "ADD_":
        return False
    if line.name == "RESHASHTBL" and wanted >= 1 and value >= 1:
        wanted, value = float(next_power_of_two(wanted)), float(next_power_of_two(value))
    if abs(value - wanted) <= limits.apart_percent / 100 * abs(wanted):
        return False
    if line.prefix == "MIN_":
        return value < wanted
    return value > wanted if line.prefix == "MAX_" else value != wanted


def _finding(
    facts: Facts, line: ModparamsLine, asked: float, value: float, fact: SysgenParameter, *, pending: bool
) -> Finding:
    name, known_as = line.name, PARAMETERS[line.name]
    wanted = f"{asked:.0f}"
    where = "is in CURRENT, for the next boot" if pending else "runs"
    larger = known_as.computed and value > asked
    better = (
        f"MIN_{name} = {value:.0f}" if known_as.computed and not line.prefix else f"{line.prefix}{name} = {value:.0f}"
    )
    at_once = (
        f"MCR SYSGEN, USE ACTIVE, SET {name} {wanted}, WRITE ACTIVE" if known_as.dynamic else "AUTOGEN and a reboot"
    )
    return Finding(
        subject=f"{subject_of(facts)}, {name}",
        severity=Severity.NOTE,  # nothing that runs is slower for it
        title=f"MODPARAMS.DAT has {_said(line)}, and {value:.0f} {where}: the next AUTOGEN changes it",
        seen=f"MODPARAMS.DAT has {_said(line)}, and {value:.0f} {where}.",
        because="AUTOGEN computes every parameter anew from that file, so it takes back what SYSGEN has set since.",
        do=(
            f"If {value:.0f} is meant, replace the line in SYS$SYSTEM:MODPARAMS.DAT by {better}. "
            f"If {wanted} is meant, set it: {at_once}."
        ),
        unknown=COMPUTED.format(name, value) if larger and not line.prefix else "",
        evidence=(
            Evidence(f"{line.prefix}{name} in MODPARAMS.DAT", asked, "", line.source),
            Evidence(f"{name} in CURRENT (pending)" if pending else name, value, "", fact.source),
        ),
    )
