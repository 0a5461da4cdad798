"""A monitoring table was empty because its switch is off.

Finds: monitoring tables that were asked for and came back empty, or with nothing but zeros, while a switch they need
is off.

Why it matters: an empty table looks like a server without contention. It is one that was not measured, and every
rule that needs the table can say nothing.

What to do: set the switches with `sp_configure` (no restart), wait until the busiest hour, and ask twice. `enable
spinlock monitoring` costs about 1 % (practice: SAP wiki); for the others no figure was found in a source, so watch the
engines when they come on.

When to ignore it: where somebody decided that the switches stay off; the other rules then judge by sp_sysmon. A table
can be empty with all its switches on: no deadlock, no statement in the cache. That is no finding.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.ase import ConfigParameter, MonTable, Server
from rules.ase._evidence.server import setting_of, subject_of
from rules.changes.ase_config import configure
from rules.engine import rule
from rules.finding import Clean, Evidence, Finding, MissingInput, NotApplicable, Outcome, Severity, Unknown, enumerated

LINKS = ("https://wiki.scn.sap.com/wiki/display/SYBASE/Spinlocks+and+CPU+usage+in+SAP+ASE",)
MONITORING, SPINLOCKS, OBJECTS = (
    "enable monitoring",
    "enable spinlock monitoring",
    "per object statistics active",
)
SWITCHES: dict[str, tuple[str, ...]] = {
    "monSpinlockActivity": (MONITORING, SPINLOCKS),
    "monOpenObjectActivity": (MONITORING, OBJECTS),
    "monOpenPartitionActivity": (MONITORING, OBJECTS),
    "monSysWaits": (MONITORING, "wait event timing"),
    "monStatementCache": (MONITORING, "enable stmt cache monitoring"),
    "monDeadLock": (MONITORING, "deadlock pipe active"),
    "monProcessWaits": (MONITORING, "wait event timing", "process wait events"),
    "monCachedStatement": (MONITORING, "enable stmt cache monitoring"),
    "monSysStatement": (MONITORING, "statement statistics active", "statement pipe active"),
}
"""Beside `enable monitoring`, which every table needs (knowledge/ase-formats.md, 2.3)."""
NO_COST = "What it costs is in no source: watch how busy the engines are before and after."
PIPE = "A pipe holds rows only with its `max messages` above 0, and a busy server soon fills it."
COSTS = {
    SPINLOCKS: "About 1 % of the server (practice: SAP wiki, Spinlocks and CPU usage in SAP ASE).",
    "deadlock pipe active": f"{PIPE} {NO_COST}",
    "statement pipe active": f"{PIPE} {NO_COST}",
}
NAMED = 5
"""Tables the sentence names; title and evidence name them all."""
PIPES = ("monDeadLock", "monSysStatement")
ALWAYS_HELD = (
    "monEngine",
    "monDataCache",
    "monCachePool",
    "monThread",
    "monProcedureCache",
    "monDeviceIO",
    "monIOQueue",
)
"""Tables that count something on any server that works: all zeros there mean that nothing was counted. monState is
none of them: on older releases it counts deadlocks alone."""


@dataclass(frozen=True)
class Limits:
    """There is nothing to judge by: a switch is on or off."""


@rule(needs=(), uses=(MonTable, ConfigParameter, Server), links=LINKS, limits=Limits, sample=None)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold every table that was empty against its switches."""
    tables = list({one.table: one for one in facts.every(MonTable)}.values())
    if not tables:
        yield NotApplicable("no monitoring table was asked for")
        return
    silent = [one for one in tables if one.rows == 0 or (one.all_zero and one.table in {*SWITCHES, *ALWAYS_HELD})]
    off: dict[str, list[MonTable]] = {}
    unread: dict[str, None] = {}
    for table in silent:
        for switch in SWITCHES.get(table.table, (MONITORING,)):
            setting = setting_of(facts, switch)
            if setting is None or setting.run_number is None:
                unread[switch] = None
            elif setting.run_number == 0:
                off.setdefault(switch, []).append(table)
    if off:
        yield _finding(facts, off)
    if unread and not off:
        names = ", ".join(table.table for table in silent)
        lacking = tuple(MissingInput(f"whether {switch} is on", f'sp_configure "{switch}"') for switch in unread)
        yield Unknown(lacking, f"{names}: empty or nothing but zeros; not measured, or nothing to measure")
    if not off and not unread:
        held = ", ".join(one.table for one in silent)
        quiet = f"; {held}: empty with every switch on, so there was nothing" if held else ""
        quiet += f" ({PIPE})" if any(one.table in PIPES for one in silent) else ""
        yield Clean(f"{len(tables) - len(silent)} of {len(tables)} monitoring tables hold something{quiet}")


def _finding(facts: Facts, off: dict[str, list[MonTable]]) -> Finding:
    tables = list(dict.fromkeys(table.table for found in off.values() for table in found))
    evidence = [
        Evidence(f"{switch}", setting.run_number, "", setting.source, 1.0)
        for switch in off
        if (setting := setting_of(facts, switch)) and setting.run_number is not None
    ]
    evidence += [
        Evidence(f"rows of {table.table}", table.rows, "", table.source)
        for table in dict.fromkeys(table for found in off.values() for table in found)
    ]
    one = len(tables) == 1
    more = f" and {len(tables) - NAMED} more" if len(tables) > NAMED else ""
    return Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE,
        title=f"Not measured, as switches are off: {', '.join(tables)}",
        seen=f"{', '.join(tables[:NAMED])}{more} {'was' if one else 'were'} collected and {'holds' if one else 'hold'} "
        "no row, or nothing but zeros.",
        because=f"{_listed(off)} off, so nothing was measured: this is no sign of a server without contention.",
        do=f"Set {'it' if len(off) == 1 else 'each'} from 0 to 1 (sp_configure, in force at once), wait for the "
        "busiest hour and collect two snapshots.",
        evidence=tuple(evidence),
        blind=True,
        changes=tuple(
            configure(switch, 0, 1, cautions=(COSTS.get(switch, NO_COST),))
            for switch in sorted(off, key=lambda one: one != MONITORING)
        ),
    )


def _listed(off: dict[str, list[MonTable]]) -> str:
    names = [f"`{switch}`" for switch in off]
    return f"{enumerated(names)} {'are' if len(names) > 1 else 'is'}"
