"""The script for SAP ASE: batches for isql, made of the questions that `manage.py collect` asks.

isql prints times to the minute, so each snapshot says its own in full; what users typed is left out of it (the text
of cached statements holds their values). Nothing in it changes the server: what does is a comment.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from advisor.audits.services.collect_script.request import CollectScriptRequest
from advisor.audits.services.collect_script.text import by_hand, clock, commented, file_of, minutes, purpose, said
from collectors.facts.ase import IndexSize, Server, Snapshot
from collectors.facts.ase.introduced import TABLES
from collectors.live.ase.missing import COSTS
from collectors.live.ase.questions import Question, Release, question, questions, release_in
from rules.changes.quoting import Unquotable, held_back_tsql, tsql_literal, tsql_name

ASKED_LIVE: Release = (15, 0)
"""The first release that is asked live: of a question that is `since` then the table may be older."""
SETTING = re.compile(r"sp_configure [\"']([A-Za-z][A-Za-z ]{2,60})[\"'](, ?[0-9]+)?\b")
TABLE = re.compile(r"\b(mon[A-Z][A-Za-z]{2,40}|sysusages)\b")
SOURCE = re.compile(r"\bmaster\.\.((?:mon|sys)[A-Za-z]{2,40})\b")
PROCEDURE = re.compile(r"(sp_[a-z_]+)\b")
PROCEDURES = {
    "sp_sysmon": "sysmon",
    "sp_cacheconfig": "caches",
    "sp_helpcache": "bindings",
    "sp_monitorconfig": "usage",
}
SIZES = re.compile(r"\b(?:lockscheme|data_pages)\(")
IDENTITY = re.compile(r"select @@(?:version|maxpagesize|servername)")
BY_HAND = re.compile(r"\bdbcc\b|\ba CSV\b")
AGAIN = re.compile(r"\bat a lower load\b")
SHORTER = re.compile(r"\bover a shorter time\b")
ALL_AGAIN = re.compile(r"\bsnapshots of the monitoring tables again\b")
OBJECT_STATS = "sp_object_stats"
OVERHEAD = {"enable spinlock monitoring": "about 1 % of the server (SAP wiki: Spinlocks and CPU usage in SAP ASE)"}
"""Of switches, where a source says so."""
SNAPSHOT = Snapshot.COLLECTED_BY.partition(" /*")[0]
"""The time of a snapshot, in full."""
TEXT = ", show_cached_text(SSQLID) SQLText"
NEVER_FIRST = (
    *("monProcessWaits", "monProcessStatement", "monSysStatement"),
    *("monProcELC", "monSysExecutionTime"),
)
"""Not asked for a first audit: their switches need not be set for it (`questions.sql`, `only`), or most releases lack
them."""
BESIDE = {"monSysWaits": ("monWaitEventInfo",), "monLocks": ("monProcess",)}
"""What a table's rows are read by: what the numbers of its waits mean, and who holds the locks."""
SETTLES = (
    *("lock_wait", "engines", "login", "switches", "columns", "databases", "snapshot"),
    *("sample", "sampled_waits", "sampled_spinlocks", "sampled_blocking"),
)
"""Questions of a live collection whose answers are for the collector alone; a snapshot has a form of its own here."""


@dataclass
class _Wanted:
    """What the script asks."""

    names: dict[str, None] = field(default_factory=dict)
    """Names of questions."""
    settings: dict[str, None] = field(default_factory=dict)
    """Configuration parameters that are shown by themselves."""
    off: dict[str, None] = field(default_factory=dict)
    """Switches that are known to be off."""
    object_stats: bool = False
    again: bool = False
    """Whether a second run at a lower load was asked for."""
    shorter: bool = False
    """Whether counters wrapped in the sample that was brought."""
    rest: list[str] = field(default_factory=list)
    """Commands that select nothing."""


def ase_script(request: CollectScriptRequest) -> list[str]:
    """Write it."""
    wanted = _wanted(request)
    if wanted.shorter:
        request = replace(request, minutes=1)
    server = Server(version=request.version)
    asked = [one for one in questions() if one.name in wanted.names]
    old = [one for one in asked if _lacks(server, one)]
    asked = [one for one in asked if one not in old]
    between = request.minutes if _lasts(asked) else 0
    lines = [*_head(request, wanted, asked, old, between), "", *_switches(wanted, asked)]
    lines += _batch("name and release", question("server").sql)
    lines += _batch("that no query of ours waits behind a lock; of this session alone", "set lock wait 5")
    for one in asked:
        if one.when == "once" and one.name != "server":
            lines += _question(one)
    for name in wanted.settings:
        lines += _batch("", f"sp_configure {tsql_literal(name)}")
    if "tables" in wanted.names:
        lines += _sizes(request.databases)
    lines += _measured(asked, between)
    if wanted.object_stats:
        lines += _batch(
            "contention by table; needs sa_role (as recalled); cost: not known",
            f'{OBJECT_STATS} "{clock(request.minutes)}"',
        )
    off = list(_switched(wanted, asked))
    if off:
        lines += commented("--", ["Off again, where it was turned on for this:"])
        lines += held_back_tsql(*(f"sp_configure {tsql_literal(one)}, 0" for one in off))
    return lines


def _wanted(request: CollectScriptRequest) -> _Wanted:
    """What the commands of an audit select; everything but what a first audit does not need."""
    wanted = _Wanted(off=dict.fromkeys(one for one in request.switched_off if one in COSTS))
    if request.commands is None:
        wanted.names = dict.fromkeys(one.name for one in _of_a_first_audit())
        return wanted
    tables = {one.table: one.name for one in questions() if one.table and one.when != "sample"}
    for command in request.commands:
        _select(command, wanted, tables)
    for table, also in BESIDE.items():
        if table in wanted.names:
            wanted.names |= dict.fromkeys(also)
    if any(question(one).when == "snapshot" for one in wanted.names):
        wanted.names["monState"] = None  # whether two snapshots may be subtracted
    return wanted


def _of_a_first_audit() -> Iterator[Question]:
    """All that is asked where no audit says what it lacks."""
    return (one for one in questions() if one.name not in {*SETTLES, *NEVER_FIRST})


def _select(command: str, wanted: _Wanted, tables: dict[str, str]) -> None:
    """Note what one command of an audit selects."""
    wanted.again = wanted.again or bool(AGAIN.search(command))
    wanted.shorter = wanted.shorter or bool(SHORTER.search(command))
    named = PROCEDURE.match(command)
    if ALL_AGAIN.search(command):
        wanted.names |= dict.fromkeys(one.name for one in _of_a_first_audit() if one.when == "snapshot")
    elif BY_HAND.search(command):
        wanted.rest.append(command)
    elif setting := SETTING.match(command):
        name = setting[1].lower()
        if name == "memory":
            wanted.names["memory"] = None
        elif setting[2] and name in COSTS:
            wanted.off[name] = None
        else:
            wanted.settings[name] = None
    elif named and named[1] == "sp_configure":
        wanted.names["configuration"] = None
    elif named and named[1] == OBJECT_STATS:
        wanted.object_stats = True
    elif named and named[1] in PROCEDURES:
        wanted.names[PROCEDURES[named[1]]] = None
    elif SIZES.search(command):
        wanted.names["tables"] = None
    elif IDENTITY.match(command):
        wanted.names["server"] = None
    elif (found := TABLE.search(command)) and found[1] in tables:
        wanted.names[tables[found[1]]] = None
    elif not command.startswith(SNAPSHOT):
        wanted.rest.append(command)


def _lacks(server: Server, one: Question) -> bool:
    """Whether the release is known to have no such table; what no source dates is asked for, and refused at worst."""
    numbers = release_in(server.version or "")
    if numbers and one.since > ASKED_LIVE and numbers < one.since:
        return True
    source = SOURCE.search(one.sql)
    since = TABLES.get(source[1]) if source else None
    return since is not None and server.reached(since) is False


def _lasts(asked: Iterable[Question]) -> bool:
    """Whether something is measured over a time."""
    return any(one.when == "sysmon" or (one.when == "snapshot" and one.table) for one in asked)


def _switched(wanted: _Wanted, asked: Iterable[Question]) -> Iterator[str]:
    """The switches of what is asked, those known to be off first."""
    yield from dict.fromkeys((*wanted.off, *(switch for one in asked for switch in one.switches)))


def _head(
    request: CollectScriptRequest, wanted: _Wanted, asked: list[Question], old: list[Question], between: int
) -> Iterator[str]:
    """What it is, how it is run, what it needs and costs."""
    name = f" {said(request.system, 60)}" if request.system else ""
    file = file_of(request.system)
    roles = dict.fromkeys(role for one in asked for role in one.needs)
    if wanted.object_stats:
        roles["sa_role"] = None
    needs = " and ".join(
        f"{role} (for {'procedures that measure' if role == 'sa_role' else 'the monitoring tables'})" for role in roles
    )
    total = between + (request.minutes if wanted.object_stats else 0)
    takes = f"about {minutes(total)}" if total else "some seconds"
    lines = [
        f"Lockwright: collects from SAP ASE{name} {purpose(request)}.",
        "",
        "Run it at the busiest hour (it asks for the password), then audit what it wrote:",
        f"  isql -U LOGIN -S SERVER -e -w 2000 -i collect.sql -o {file}.txt",
        f"  manage.py audit {file}.txt",
        f"Takes {takes} and the time of the queries, which is not known: those called slow take longest.",
        f"Needs {needs or 'no role'}. Without a role the server refuses that part; the rest is of use all the same.",
        "Changes nothing: it selects, and runs procedures that show. What changes the server is a comment (--!).",
        "What each part costs is said above it, where it is known.",
    ]
    if request.version:
        lines.append(f"For {said(request.version, 60)}")
    if old:
        lines.append(f"Left out, as that release does not have it: {', '.join(one.name for one in old)}.")
    if not asked and not wanted.settings and not wanted.object_stats:
        lines.append("The audit lacks nothing that a script collects.")
    if "tables" in wanted.names and not request.databases:
        lines.append("To be filled in: the names of databases, where DATABASE stands.")
    if wanted.again:
        lines.append("Run it once more at a lower load, into another file: both together tell what it costs.")
    yield from commented("--", [*lines, *(["", *by_hand(wanted.rest)[:-1]] if wanted.rest else [])])


def _switches(wanted: _Wanted, asked: list[Question]) -> Iterator[str]:
    """Show each switch, and how it is set: as a comment, with its overhead."""
    switches = list(_switched(wanted, asked))
    if not switches:
        return
    yield from commented("--", ["Switches: a table whose switch is off (0) is empty or refused."])
    if "configuration" not in wanted.names:
        for one in switches:
            yield from (f"sp_configure {tsql_literal(one)}", "go")
    for known, why in ((True, "Off, as the audit found: turn on first."), (False, "Where it is 0, turn on first.")):
        some = [one for one in switches if (one in wanted.off) == known]
        if some:
            yield from commented(
                "--", [f"{why} By sa_role, without a restart; the line at the end turns it off again."]
            )
        for one in some:
            yield from commented("--", [f"overhead: {OVERHEAD.get(one, 'not known')}"])
            yield from held_back_tsql(f"sp_configure {tsql_literal(one)}, 1")
    yield ""


def _batch(why: str, sql: str) -> Iterator[str]:
    if why:
        yield from commented("--", [why])
    yield from (*sql.splitlines(), "go", "")


def _question(one: Question) -> Iterator[str]:
    """A question with why it is asked and what it costs."""
    slow = "slow: " if one.seconds > question("server").seconds else ""
    why = f"{one.why}; cost: {slow}{one.cost}"
    if TEXT in one.sql:
        rows = f"{one.most_rows} rows at most, sorted in tempdb"
        why = f"{one.why.partition(',')[0]}; without their text, which may hold what users typed; cost: {rows}"
    yield from _batch(why, one.sql.replace(TEXT, ""))


def _sizes(databases: Iterable[str]) -> Iterator[str]:
    """Lock schemes and sizes, database by database: before the snapshots, as it must not show in their counters."""
    select = IndexSize.COLLECTED_BY.partition(" /*")[0]
    yield from commented("--", [f"{question('tables').why}; cost: slow: {question('tables').cost}"])
    written, left = list[str](), list[str]()
    for one in databases:
        try:
            written.append(tsql_name(one))
        except Unquotable:
            left.append(one)
    for name in written:
        yield from (f"use {name}", "go", select, "go")
    if written:
        yield from ("use master", "go")
    for one in left:
        yield from commented("--", [f"Not written here, as its name cannot be quoted safely: {said(one, 60)}"])
    if not written:
        yield from commented(
            "--", ["For each database whose tables count put its name for DATABASE and take `--!` away:"]
        )
        yield from held_back_tsql("use DATABASE", select, "use master")
    yield ""


def _measured(asked: list[Question], between: int) -> Iterator[str]:
    """Two snapshots with sp_sysmon or a pause between them, or what shows one moment."""
    snapshot = [one for one in asked if one.when == "snapshot" and one.table]
    last = [one for one in asked if one.when == "last"]
    sysmon = next((one for one in asked if one.when == "sysmon"), None)
    if snapshot:
        yield from _batch("first snapshot: its time", SNAPSHOT)
        for one in snapshot:
            yield from _question(one)
    if sysmon:
        yield from _batch(f"{sysmon.why}; cost: {sysmon.cost}", sysmon.filled(TIME=clock(between)))
    elif snapshot:
        yield from _batch("", f'waitfor delay "{clock(between)}"')
    if snapshot or last:
        yield from _batch("second snapshot: its time" if snapshot else "the time of what follows", SNAPSHOT)
    for one in [*snapshot, *last]:
        yield from _batch("", one.sql.replace(TEXT, "")) if one in snapshot else _question(one)
