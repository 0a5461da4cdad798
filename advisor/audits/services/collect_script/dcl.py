"""The script for OpenVMS and Oracle Rdb: a DCL procedure. Nobody has run it on OpenVMS yet, and it says so.

Each display stands below a line with its command, as in a captured session: so the readers know which it is. Names
from exports stay out of it; root files are parameters of the procedure, and never become part of a command unless the
person who starts it writes them there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from advisor.audits.services.collect_script.request import CollectScriptRequest
from advisor.audits.services.collect_script.text import by_hand, clock, commented, file_of, minutes, purpose, said
from rules.changes.quoting import held_back
from rules.laws.hardware import hardware_of
from rules.openvms._evidence.releases import FIRST_X86, release_of

INTERVAL = 20
"""Seconds between the samples of MONITOR: what a guide advises for a system in use (`openvms-rdb-more.md`, 5)."""
TRACED = "00:00:15"
"""How long spinlocks or faults are traced (this project): the buffer, 128 pages unless told, is full at some time."""
WRITES = " It writes files LOCKWRIGHT_*.* into the current directory."
LONGEST_LOG = 60
"""Seconds that the logs of RMU end before MONITOR does, so that they are closed when they are typed."""
PARAMETERS = (
    "RESHASHTBL",
    "LOCKIDTBL",
    "DEADLOCK_WAIT",
    "LOCKDIRWT",
    "PE1",
    "MULTIPROCESSING",
    "POOLCHECK",
    "SYSTEM_CHECK",
    "LCKMGR_MODE",
    "LCKMGR_CPUID",
    "FAST_PATH",
    "FAST_PATH_PORTS",
    "IO_PRCPU_BITMAP",
    "SMP_CPUS",
)
"""What the rules look at."""
FROM_V73 = frozenset(
    ("LCKMGR_MODE", "LCKMGR_CPUID", "FAST_PATH", "FAST_PATH_PORTS", "IO_PRCPU_BITMAP", "fastpath", "RLOCK", "trace")
)
"""What a VAX and releases before V7.3 do not have (`knowledge/openvms-formats.md`, a.3 and d.1)."""
DISPLAYS = {
    "system": "SHOW SYSTEM",
    "cluster": "SHOW CLUSTER",
    "cpu": "SHOW CPU/FULL",
    "fastpath": "SHOW FASTPATH",
    "memory": "SHOW MEMORY",
    "rms defaults": "SHOW RMS_DEFAULT",
    "global sections": "INSTALL LIST/GLOBAL",
    "autogen": "TYPE SYS$SYSTEM:AGEN$PARAMS.REPORT",
    "modparams": "TYPE SYS$SYSTEM:MODPARAMS.DAT",
}
"""In this order; each is one line of DCL."""
RDB = ("rdb system", "rdb header", "rdb locks", "rdb logs")
FIRST = ("system", "cluster", "cpu", "fastpath", "memory", "monitor", "align", "t4")
SELECTS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(pattern), names)
    for pattern, names in (
        (r"key W\b|information table|LOCKTIME|LCKQUE|load series|^a CSV|fewer processes|number of CPUs", ()),
        (r"\bLOCK_ACTV\b|\bSHOW LOCK/BRIEF\b|\bDIRECTORY/FILE_ID\b|\bRMS_LOCKS\b|\bSHOW DEVICE/FULL\b", ()),
        (r"_TIMEOUT_LOG=|lock timeout or deadlock log", ("rdb logs",)),
        (r"^(?:an )?RMU/DUMP/HEADER", ("rdb header",)),
        (r"^RMU/SHOW SYSTEM", ("rdb system",)),
        (r"^RMU/SHOW USERS", ("rdb users",)),
        (r"^RMU/SHOW LOCKS", ("rdb locks",)),
        (r"\bspinlock trace\b", ("trace",)),
        (r"\bfault trace\b", ("faults",)),
        (r"\bSHOW SPINLOCKS\b", ("spinlocks",)),
        (r"\bSHOW LOCK/SUMMARY\b", ("lock summary",)),
        (r"\bSHOW FASTPATH, or MCR SYSGEN SHOW LCKMGR_MODE", ("fastpath", "LCKMGR_MODE")),
        (r"^SHOW SYSTEM\b", ("system",)),
        (r"^SHOW CLUSTER\b", ("cluster",)),
        (r"^SHOW CPU\b", ("cpu",)),
        (r"^SHOW FASTPATH\b", ("fastpath",)),
        (r"^SHOW MEMORY\b", ("memory",)),
        (r"^SHOW RMS_DEFAULT\b", ("rms defaults",)),
        (r"^INSTALL LIST/GLOBAL\b", ("global sections",)),
        (r"AGEN\$PARAMS", ("autogen",)),
        (r"TYPE SYS\$SYSTEM:MODPARAMS", ("modparams",)),
        (r"^MONITOR ALIGN\b", ("align",)),
        (r"\bT4\b.*\bMONITOR\b", ("t4", "monitor")),
        (r"\bT4\b", ("t4",)),
        (r"\bMONITOR\b", ("monitor",)),
    )
)
"""What a command of an audit selects; the first that fits decides, and none is a matter for hands."""
SYSGEN = re.compile(r"^MCR SYSGEN SHOW (/ALL|[A-Z][A-Z0-9_]{1,30})")
ON_NODES = re.compile(r"! on ([A-Z0-9_$, ]+?)(?:,? (?:at|within)\b|;|$)")


@dataclass
class _Wanted:
    """What the procedure does."""

    names: dict[str, None] = field(default_factory=dict)
    parameters: dict[str, None] = field(default_factory=dict)
    every_parameter: bool = False
    rest: list[str] = field(default_factory=list)
    """Commands that select nothing."""
    elsewhere: list[str] = field(default_factory=list)
    """Commands for other nodes of the cluster."""


def openvms_script(request: CollectScriptRequest) -> list[str]:
    """Write it, with the databases of Rdb on the node."""
    wanted = _wanted(request, (*FIRST, "trace", *RDB))
    if request.commands is None:
        wanted.parameters = dict.fromkeys(PARAMETERS)
    return _written(request, wanted, "OpenVMS")


def rdb_script(request: CollectScriptRequest) -> list[str]:
    """Write the part for Rdb alone; the figures of its node are collected by the other one."""
    return _written(request, _wanted(request, RDB), "Oracle Rdb")


def _wanted(request: CollectScriptRequest, first: tuple[str, ...]) -> _Wanted:
    wanted = _Wanted()
    if request.commands is None:
        wanted.names = dict.fromkeys(first)
    for command in request.commands or ():
        nodes = ON_NODES.search(command)
        if nodes and (request.system or "").upper() not in re.split(r"[, ]+", nodes[1]):
            wanted.elsewhere.append(command)
        elif found := SYSGEN.match(command):
            wanted.every_parameter = wanted.every_parameter or found[1] == "/ALL"
            wanted.parameters |= {} if found[1] == "/ALL" else {found[1]: None}
        else:
            names = next((names for pattern, names in SELECTS if pattern.search(command)), ())
            wanted.names |= dict.fromkeys(names)
            if not names:
                wanted.rest.append(command)
            if nodes or "each node" in command or "every node" in command:
                wanted.elsewhere.append(command)
    if wanted.names and "rdb system" not in wanted.names and not wanted.names.keys() <= {*RDB, "rdb users"}:
        wanted.names = {"system": None} | wanted.names  # node, release and time: without them nothing is joined
    return wanted


def _untraced(request: CollectScriptRequest) -> bool:
    """Whether it is a VAX or a release before V7.3, as far as is known."""
    made, release = hardware_of(request.hardware), release_of(request.version)
    return (made is not None and made.family == "VAX") or (release is not None and release.before(7, 3))


def _written(request: CollectScriptRequest, wanted: _Wanted, product: str) -> list[str]:
    if _untraced(request):
        wanted.names = {name: None for name in wanted.names if name not in FROM_V73}
        wanted.parameters = {name: None for name in wanted.parameters if name not in FROM_V73}
    release = release_of(request.version)
    if product == "OpenVMS" and request.commands is None and release and not release.before(FIRST_X86, 0):
        wanted.names = {name: None for name in wanted.names if name not in RDB}  # no Rdb runs there
    lines = [*_head(request, wanted, product), "$ SET NOON", '$ SAY = "WRITE SYS$OUTPUT"']
    for name, command in DISPLAYS.items():
        if name in wanted.names:
            lines += _shown(command)
    if wanted.every_parameter:
        lines += _shown("MCR SYSGEN SHOW /ALL")
    else:
        for parameter in wanted.parameters:
            lines += _shown(f"MCR SYSGEN SHOW {parameter}")
    if "rdb system" in wanted.names:
        lines += _shown("RMU/SHOW SYSTEM")
    if "rdb locks" in wanted.names:
        lines += _shown("RMU/SHOW LOCKS/MODE=CULPRIT")
    if _measures(wanted):
        lines.append('$ FILES = "LOCKWRIGHT_" + F$CVTIME(,,"HOUR") + F$CVTIME(,,"MINUTE") + F$CVTIME(,,"SECOND")')
    lines += _databases(request, wanted)
    lines += _monitored(request, wanted)
    lines += _analyzed(request, wanted)
    return [*lines, "$ EXIT"]


def _shown(command: str) -> Iterator[str]:
    """A command of one line below itself, as in a captured session."""
    yield f'$ SAY "$ {command}"'
    yield f"$ {command}"


def _head(request: CollectScriptRequest, wanted: _Wanted, product: str) -> Iterator[str]:
    """What it is, how it is run, what it needs and costs."""
    file = file_of(request.system).upper()
    name = f" on {said(request.system, 60)}" if request.system else ""
    roots = [said(one, 80) for one in request.databases][:8]
    with_roots = bool({"rdb header", "rdb users", "rdb logs"} & wanted.names.keys())
    after = f" {' '.join(roots) or 'ROOT_FILE'}" if with_roots else ""
    long = _measures(wanted)
    traced = request.trace and bool({"trace", "faults"} & wanted.names.keys())
    nothing = not (wanted.names or wanted.parameters or wanted.every_parameter)
    lines = [
        f"Lockwright: collects from {product}{name} {purpose(request)}.",
        "UNTRIED on OpenVMS: written from manuals and captured sessions. Read it before you run it.",
        "",
        "Run it at the busiest hour, then take the answers to where Lockwright is, as text:",
        f"  @COLLECT/OUTPUT={file}.TXT{after}",
        f"  manage.py audit {file}.TXT",
        *(["Root files of the databases, eight at most, stand behind it: RMU/SHOW SYSTEM lists them."] * with_roots),
        f"Takes {f'{minutes(request.minutes)} of measuring' if long else 'some seconds'}"
        f"{', and the RMU listings, how long is not known' if with_roots else ''}.",
        f"Needs {_privileges(wanted)}.",
        f"{'Loads an execlet for a trace' if traced else 'Changes nothing'}: it shows and measures."
        f"{WRITES if long else ''}",
        "What it costs is not known; it runs tools of the system itself.",
        *(["T4 is not made by this: @T4$SYS:T4$CONFIG.COM collects a day of it."] * ("t4" in wanted.names)),
        *(["Elsewhere: the audit asks for these on other nodes, too:"] if wanted.elsewhere else []),
        *(f"  * {said(one)}" for one in wanted.elsewhere),
        *(["The audit lacks nothing that a script collects."] if nothing else []),
        *by_hand(_rest(wanted)),
    ]
    while lines[-1] == "":
        lines.pop()
    yield from commented("$!", lines)


def _rest(wanted: _Wanted) -> list[str]:
    """What is to be done by hand: of a first audit the screens that only a person can write."""
    screens = "the screens of RMU/SHOW STATISTICS, written with the key W, twice: see docs/dba/collecting.md"
    first = [screens] if {*RDB} <= wanted.names.keys() and not wanted.rest else []
    return wanted.rest + first


def _privileges(wanted: _Wanted) -> str:
    """What it needs, as far as a source says so."""
    needs = []
    if "rdb locks" in wanted.names:
        needs.append("WORLD for RMU/SHOW LOCKS")
    if {"rdb header", "rdb users", "rdb logs", "rdb system"} & wanted.names.keys():
        needs.append("the RMU access rights of the databases (RMU$DUMP, RMU$SHOW; as recalled)")
    if {"trace", "faults", "spinlocks", "lock summary"} & wanted.names.keys():
        needs.append("CMKRNL for ANALYZE/SYSTEM (as recalled)")
    return "; ".join([*needs, "no privilege that is known for the rest" if needs else "no privilege that is known"])


def _measures(wanted: _Wanted) -> bool:
    return bool({"monitor", "align", "rdb logs"} & wanted.names.keys())


def _databases(request: CollectScriptRequest, wanted: _Wanted) -> Iterator[str]:
    """What is asked of each database named behind the procedure; its logs run beside MONITOR."""
    some = [one for one in ("rdb header", "rdb users", "rdb logs") if one in wanted.names]
    if not some:
        return
    if "rdb logs" in some:
        end = max(1, request.minutes * 60 - LONGEST_LOG)
        until = f"+{end // 3600}:{end // 60 % 60:02d}:{end % 60:02d}"
        yield "$! The logs end before midnight, or they end at once: RMU takes a time of today."
        yield f'$ UNTIL = F$EXTRACT(0,8,F$CVTIME("{until}",,"TIME"))'
    yield "$ N = 0"
    yield "$ NEXT_DATABASE:"
    yield "$ N = N + 1"
    yield "$ IF N .GT. 8 THEN GOTO NO_MORE"
    yield "$ ROOT = P'N'"
    yield '$ IF ROOT .EQS. "" THEN GOTO NO_MORE'
    for name, command in (("rdb header", "RMU/DUMP/HEADER"), ("rdb users", "RMU/SHOW USERS")):
        if name in some:
            yield f"$ SAY \"$ {command} ''ROOT'\""
            yield f"$ {command} 'ROOT'"
    if "rdb logs" in some:
        yield "$ SPAWN/NOWAIT/NOLOG/INPUT=NL:/OUTPUT=NL: -"
        yield "  RMU/SHOW STATISTICS/NOHISTOGRAM/TIME=1/NOINTERACTIVE/NOBROADCAST -"
        yield "  /LOCK_TIMEOUT_LOG='FILES'_TIMEOUT_'N'.LOG/DEADLOCK_LOG='FILES'_DEADLOCK_'N'.LOG -"
        yield "  'ROOT'/UNTIL=\"''UNTIL'\""
    yield "$ GOTO NEXT_DATABASE"
    yield "$ NO_MORE:"


def _monitored(request: CollectScriptRequest, wanted: _Wanted) -> Iterator[str]:
    """MONITOR, and the logs of the same minutes; what it wrote is typed behind it."""
    if not _measures(wanted):
        return
    span = f'/INTERVAL={INTERVAL}/ENDING="+{request.minutes // 60}:{request.minutes % 60:02d}:00"'
    rlock = "" if _untraced(request) else ",RLOCK"
    runs = {"align": "ALIGN", "monitor": f"MODES,LOCK,DLOCK{rlock}"}
    some = [name for name in runs if name in wanted.names]
    for name in some:
        beside = "" if name == some[-1] else "SPAWN/NOWAIT/NOLOG/INPUT=NL:/OUTPUT=NL: "
        file = f"'FILES'_{name.upper()}"
        record = f"/RECORD={file}.DAT" if name == "monitor" else ""
        yield f"$ {beside}MONITOR {runs[name]}/NODISPLAY/SUMMARY={file}.SUM{record}{span}"
    if not some:
        yield f"$ WAIT {clock(request.minutes)}"
    elif len(some) > 1:
        yield "$ WAIT 00:00:30"
    for name in reversed(some):
        yield from _typed(f"{name.upper()}.SUM")
    if "rdb logs" in wanted.names:
        yield "$ I = 0"
        yield "$ NEXT_LOG:"
        yield "$ I = I + 1"
        yield "$ IF I .GE. N THEN GOTO NO_MORE_LOGS"
        yield from _typed("TIMEOUT_'I'.LOG")
        yield from _typed("DEADLOCK_'I'.LOG")
        yield "$ GOTO NEXT_LOG"
        yield "$ NO_MORE_LOGS:"


def _typed(file: str) -> Iterator[str]:
    """What was written into a file of this run."""
    shown = file.replace("'I'", "''I'")
    yield f"$ SAY \"$ TYPE ''FILES'_{shown}\""
    yield f"$ TYPE 'FILES'_{file}"


def _analyzed(request: CollectScriptRequest, wanted: _Wanted) -> Iterator[str]:
    """Traces of SDA, which are run only where that was said, and its listings."""
    for name, command in (("spinlocks", "SHOW SPINLOCKS"), ("lock summary", "SHOW LOCK/SUMMARY")):
        if name in wanted.names:
            yield from _sda(command)
    for name, tool in (("trace", "SPL"), ("faults", "FLT")):
        if name not in wanted.names:
            continue
        yield from commented(
            "$!",
            [
                f"{tool} LOAD loads an execlet into the running system, and {tool} UNLOAD takes it away; what tracing "
                "costs is not known.",
                *(["Not run unless it is asked for (--trace): take `$!` away to run it."] if not request.trace else []),
            ],
        )
        lines = [
            "$ ANALYZE/SYSTEM",
            f"{tool} LOAD",
            f"{tool} START TRACE",
            "EXIT",
            f"$ WAIT {TRACED}",
            *_sda(f"{tool} SHOW TRACE/SUMMARY/RATES"),
            "$ ANALYZE/SYSTEM",
            f"{tool} STOP TRACE",
            f"{tool} UNLOAD",
            "EXIT",
        ]
        yield from lines if request.trace else held_back(*lines)


def _sda(command: str) -> Iterator[str]:
    """One command of the System Dump Analyzer below itself."""
    yield f'$ SAY "SDA> {command}"'
    yield from ("$ ANALYZE/SYSTEM", command, "EXIT")
