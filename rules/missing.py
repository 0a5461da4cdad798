"""What a verdict still lacks, said precisely: nothing that was collected is asked for once more without saying why.

A report that was collected may not print everything that it can: a section was not asked for, a release has no such
rows, a table is empty. Then the part that is missing is named, and the command stands as what prints it. What a
release does not have is not asked for at all.

It looks at all facts of a capture, whatever a rule declared: it judges nothing, it only says what is there.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from collectors.facts import Fact, Facts
from collectors.facts.ase import MonTable, Server
from collectors.facts.ase.introduced import TABLES
from collectors.facts.openvms import OtherSample
from rules.finding import MissingInput
from rules.openvms._evidence.releases import ALPHA_AND_INTEGRITY, machine_of

REMARK = re.compile(r"\s*(?:--|/\*|!(?=\s)).*", re.DOTALL)
NOT_IN_OUTPUT = re.compile(
    r": (?:(?:(?P<part>.+) is )?not in the output of .+ that was collected"
    r"|\w+ was collected and has no (?P<rows>rows))$"
)
"""How `_precise` ends the name of what is missing."""
TABLE = re.compile(r"\bfrom master\.\.((?:mon|sys)[A-Za-z]+)\b")

FROM_V73: Mapping[str, re.Pattern[str]] = {
    "spinlock trace (SPL)": re.compile(r"\bSPL\b"),
    "SHOW FASTPATH": re.compile(r"\bSHOW FASTPATH\b"),
    "LCK73_MON collector": re.compile(r"\bLCK73_MON\b"),
    "MONITOR RLOCK": re.compile(r"\bRLOCK\b"),
}
"""What OpenVMS has from V7.3 on, on Alpha and its successors: never on a VAX (openvms-formats.md a.3, d.1)."""
FROM_V83: Mapping[str, re.Pattern[str]] = {"GB_DEFPERCENT and GB_CACHEALLMAX": re.compile(r"\bGB_[A-Z]+\b")}
"""What OpenVMS has from V8.3 on, on Alpha and Integrity (openvms-rdb-more.md, 1.7)."""
NOT_ON_X86: Mapping[str, re.Pattern[str]] = {
    "SHOW FASTPATH": FROM_V73["SHOW FASTPATH"],
    "the LCK73_MON collector": FROM_V73["LCK73_MON collector"],
    "Cothd": re.compile(r"\bCothd\b"),
    "MONITOR ALIGN": re.compile(r"\bMONITOR ALIGN\b"),
    "LCKMGR_MODE and LCKMGR_CPUID": re.compile(r"\bLCKMGR_(?:MODE|CPUID)\b"),
    "FAST_PATH and FAST_PATH_PORTS": re.compile(r"\bFAST_PATH(?:_PORTS)?\b"),
    **FROM_V83,
}
"""What is documented for Alpha and Integrity alone: not asked of x86-64 (`rules.openvms._evidence.releases`)."""
SPL = FROM_V73["spinlock trace (SPL)"]


def precisely(missing: Sequence[MissingInput], facts: Facts) -> tuple[tuple[MissingInput, ...], str]:
    """The same, each with the part that a report which was collected does not have, without what cannot be had.

    The second is what the release does not have, as a sentence for the reason; nothing where it has all.
    """
    server = next(reversed(facts.by_type.get(Server, [])), None)
    server = server if isinstance(server, Server) else None
    machine = machine_of(facts)
    vms = machine.untraced
    old_vms = vms or (f"OpenVMS {machine.release.printed}" if machine.release and machine.release.before(8, 3) else "")
    if machine.x86:
        return _documented(missing, facts)
    lacks = {
        one: _too_old(one, server)
        or (_of(one.command, FROM_V73) if vms else "")
        or (_of(one.command, FROM_V83) if old_vms else "")
        for one in missing
    }
    old = dict.fromkeys(what for what in lacks.values() if what)
    release = "release {}.{}".format(*server.release) if server and server.release else ""
    why = f"{release or old_vms} has no {' and no '.join(old)}" if old else ""
    return tuple(dict.fromkeys(_precise(one, facts) for one, what in lacks.items() if not what)), why


def _documented(missing: Sequence[MissingInput], facts: Facts) -> tuple[tuple[MissingInput, ...], str]:
    """The same for x86-64: without what is documented for Alpha and Integrity alone; a spinlock trace is called so."""
    lacks = {one: _of(f"{one.fact} {one.command}", NOT_ON_X86) for one in missing}
    left = [
        MissingInput(f"{one.fact} (SPL is {ALPHA_AND_INTEGRITY})", one.command) if SPL.search(one.command) else one
        for one, what in lacks.items()
        if not what
    ]
    gone = dict.fromkeys(what for what in lacks.values() if what)
    why = f"x86-64: {' and '.join(gone)}: {ALPHA_AND_INTEGRITY}" if gone else ""
    return tuple(dict.fromkeys(_precise(one, facts) for one in left)), why


def _of(text: str, patterns: Mapping[str, re.Pattern[str]]) -> str:
    """The first of these that a text names; nothing where it names none."""
    return next((what for what, pattern in patterns.items() if pattern.search(text)), "")


@lru_cache(maxsize=1024)
def command_of(command: str) -> str:
    """The command without its remarks; what facts are collected by is asked for with each verdict that lacks one."""
    return REMARK.sub("", command).strip()


def first_release(command: str) -> str:
    """From which release on there is what a command asks for; nothing where no source names one."""
    table = TABLE.search(command)
    if table and table[1] in TABLES:
        return f"{table[1]}: SAP ASE {TABLES[table[1]]} or later"
    if what := _of(command, FROM_V73):
        return f"{what}: OpenVMS V7.3 or later, and no VAX"
    what = _of(command, FROM_V83)
    return f"{what}: OpenVMS V8.3 or later, Alpha and Integrity" if what else ""


def _precise(lack: MissingInput, facts: Facts) -> MissingInput:
    """Say which part is missing, where the command's output is among the facts."""
    command = command_of(lack.command)
    if table := TABLE.search(lack.command):
        listed = [one for one in facts.by_type.get(MonTable, []) if isinstance(one, MonTable) and one.table == table[1]]
        if listed and not listed[-1].rows:
            return MissingInput(f"{lack.fact}: {table[1]} was collected and has no rows", lack.command)
    came = [kind for kind in facts.by_type if _brings(kind, command)]
    if not came or any(kind.fact_name() == lack.fact for kind in came):
        return lack
    part = next((kind.PART for kind in _kinds(came) if kind.fact_name() == lack.fact and kind.PART), "")
    printed = f"{part} is not in the output of {command} that was collected" if part else ""
    return MissingInput(f"{lack.fact}: {printed or f'not in the output of {command} that was collected'}", lack.command)


def _brings(kind: type[Fact], command: str) -> bool:
    """Whether a fact of this type came of the command."""
    return bool(command) and command_of(kind.COLLECTED_BY) == command


def _kinds(came: Iterable[type[Fact]]) -> list[type[Fact]]:
    """All types of fact that come of the same commands as these."""
    commands = {command_of(kind.COLLECTED_BY) for kind in came}
    return [kind for kind in Fact.__subclasses__() if command_of(kind.COLLECTED_BY) in commands]


def _too_old(lack: MissingInput, server: Server | None) -> str:
    """The table that the release does not have; nothing where it has it, or nobody knows."""
    table = TABLE.search(lack.command)
    since = TABLES.get(table[1]) if table else None
    return table[1] if table and since and server and server.reached(since) is False else ""


def of_another_time(missing: Sequence[MissingInput], facts: Facts) -> str:
    """Why what was collected was not joined, for each sample that has what is missing; nothing where none has.

    Figures of the same node and day, but of another time, stand in a capture of their own: a share of one time in the
    figures of another would be of neither. So that nobody collects them again without knowing why, the verdict says it.
    """
    wanted = {command_of(one.command) for one in missing}
    others = (one for one in facts.by_type.get(OtherSample, []) if isinstance(one, OtherSample))
    return "; ".join(_said(one) for one in others if wanted & {command_of(command) for command in one.brought})


def _said(other: OtherSample) -> str:
    minutes = other.shared_seconds / 60
    shared = f"only {minutes:,.0f} minutes of that" if minutes >= 1 else "nothing of that"
    return (
        f"{other.source.file} was collected from {other.start:%d-%b %H:%M} to {other.end:%H:%M}, and {shared} lies in "
        "the time judged here: figures of different times are not mixed, so it is judged by itself; collect both over "
        "the same time"
    )


def parts_lacking(missing: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """What the collected output of each command lacks, as `_precise` says it; `missing` as the contract prints it.

    A command whose output was not collected is not there.
    """
    found: dict[str, list[str]] = {}
    for one in missing:
        if said := NOT_IN_OUTPUT.search(one["fact"]):
            parts = found.setdefault(one["bring"], [])
            part = said["part"] or said["rows"] or "figures that these rules need"
            if part not in parts:
                parts.append(part)
    return found
