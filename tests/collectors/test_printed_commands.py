"""Every command we print for collecting is read by a reader of our own: of README, pages, facts, what rules lack, and
the questions that a live collection asks. What scripts of changes print: tests/collectors/test_printed_changes.py.

A command that a table below does not know fails: no command without a reader. Commands of SAP ASE and UNIX are in the
layouts of real output; those of OpenVMS, Oracle Rdb and z/VM are held against documented layouts and were not tried
against a machine of ours, which `UNTRIED` says.
"""

import ast
import functools
import io
import re
from collections import defaultdict
from datetime import datetime
from pathlib import Path

import pytest

from collectors.facts import Fact
from collectors.facts.ase import MonTable, SampledBlocking, SampledSpinlock, SampledWaits, ServerStart, SpinLoad
from collectors.facts.openvms import ClusterMember, ListedMember, OtherSample
from collectors.facts.rdb import SeenOnNode
from collectors.facts.shapes import kinds as fact_kinds
from collectors.intake import open_all
from collectors.live.ase.guard import quoted
from collectors.live.ase.questions import Question, name_of, questions
from collectors.live.printing import Message as Said
from collectors.live.printing import Part, ResultSet, printed
from collectors.read import read_all, read_stream
from collectors.registry import kinds
from collectors.reports.ase.monitor_tables.table_starts import TABLES
from tests.facts_yml import load
from tests.fuzz.mutants import EXPORTS
from tests.live.ase.answering import Ase
from tests.live.ase.clock import Clock
from tests.live.ase.faults import Faults
from tests.live.ase.release import load as load_release
from tests.live.ase.world import World
from tests.live.record import Record
from tests.live.tds.session import Client
from tests.live.tds.tokens import Message, Pause, Rows
from tests.live.tds.types import Column
from tests.recordings import build

ROOT = Path(__file__).parent.parent.parent

READ: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"select @@servername ServerName, convert\(char\(26\), getdate\(\)", ("ase/monitor_tables",)),
    (r"select @@(?:servername|version|maxpagesize)\b", ("ase/version",)),
    (r"select .+ from master\.\.mon\w+", ("ase/monitor_tables",)),
    (r"select db_name\(dbid\) DBName, .* from master\.\.sysusages", ("ase/monitor_tables",)),
    (r"select db_name\(\).* lockscheme\(", ("ase/lock_schemes",)),
    (r"sp_configure \"memory\"", ("ase/sp_configure", "ase/memory_headroom")),
    (r"a query plan as `sp_showplan` prints it", ("ase/sp_showplan",)),
    (r"an error log of the server", ("ase/errorlog",)),
    (r"dbcc traceon\(3650\), then two snapshots of master\.\.mon", ("ase/monitor_tables",)),
    (r"(?:the output of `)?cat /proc/locks|several listings, as `for .* cat /proc/locks", ("unix/proc_locks",)),
    (r"an output of `cat /proc/locks` or `lslocks", ("unix/proc_locks", "unix/lslocks")),
    (r"lslocks --json", ("unix/lslocks",)),
    (r"(?:grep \. |a listing of the files below )/sys/devices/system/cpu", ("unix/cpu_frequency",)),
    (r"a table of operations with their counts", ("unix/locking_calls",)),
    (r"a table of user, system and clock seconds", ("unix/locking_runs",)),
    (r"the same table with a variant|runs of both variants with", ("unix/locking_runs",)),
    (
        r"a CSV with (?:a load column|the columns engines and throughput|a column of the parameter)",
        ("scaling/load_series",),
    ),
)
"""What is told by the beginning of a command or of words, and the readers that take it; a procedure of SAP ASE with a
reader of its name needs no line, nor does what a fact says of itself, word for word."""
UNTRIED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"SHOW SYSTEM\b", ("openvms/show_system",)),
    (r"(?:the output of )?SHOW FASTPATH\b", ("openvms/show_fastpath",)),
    (r"SHOW CPU\b", ("openvms/show_cpu",)),
    (r"SHOW CLUSTER\b", ("openvms/show_cluster",)),
    (r"SHOW MEMORY\b", ("openvms/show_memory",)),
    (r"MCR SYSGEN SHOW\b", ("openvms/sysgen",)),
    (r"MONITOR MODES,LOCK,DLOCK,RLOCK\b", ("openvms/monitor", "openvms/monitor_recording")),
    (r"MONITOR ALIGN\b", ("openvms/monitor",)),
    (r"TYPE SYS\$SYSTEM:AGEN\$PARAMS\.REPORT", ("openvms/autogen",)),
    (r"a T4 composite CSV\b", ("openvms/t4",)),
    (r"a LOCKTIME\.COM run as CSV", ("openvms/locktime",)),
    (r"a spinlock trace under load", ("openvms/spl",)),
    (r"a fault trace under load", ("openvms/flt",)),
    (r"(?:an SDA listing of )?SHOW LOCK/(?:SUMMARY|BRIEF)", ("openvms/show_locks",)),
    (r"a report of LOCK_ACTV\.COM", ("openvms/lock_activity",)),
    (r"a report of LCKQUE\.COM", ("openvms/lock_queues",)),
    (r"(?:a listing of )?DIRECTORY/F(?:ILE_ID|ULL)\b", ("openvms/file_ids",)),
    (r"(?:an SDA listing of )?SHOW SPINLOCKS", ("openvms/show_spinlocks",)),
    (r"(?:an )?RMU/DUMP/HEADER\b", ("rdb/dump_header",)),
    (r"RMU/SHOW SYSTEM\b", ("rdb/show_system",)),
    (r"RMU/SHOW USERS\b", ("rdb/show_system",)),
    (
        r"(?:the SQL information table|an SQL listing of) RDB\$(?:DATABASE_ROOT|LOGICAL_AREAS)",
        ("rdb/information_tables",),
    ),
    (r"RMU/SHOW LOCKS\b", ("rdb/show_locks",)),
    (r"RMU/SHOW STATISTICS/NOHISTOGRAM|a stall, lock timeout or deadlock log", ("rdb/wait_logs",)),
    (r"a write \(key W\) of the RMU/SHOW STATISTICS screen", ("rdb/statistics",)),
    (r"a Performance Toolkit page FCX102", ("zvm/system",)),
    (r"a Performance Toolkit page FCX225", ("zvm/syssumlg",)),
    (r"a Performance Toolkit page FCX265", ("zvm/locklog",)),
    (r"a performance report's table of runs", ("zvm/performance_runs",)),
    (r"QUERY CPLEVEL\b", ("zvm/cp_level",)),
)
NO_OUTPUT = re.compile(
    r"(?:go\b|SQL\b|set\b|DEFINE\b|DISK:|isql\b|export\b"
    r"|\.venv/bin/python manage\.py (?:collect|audit|locklab|compare)\b)"
)
"""What is no question of its own: frames, continuation lines, and our own program."""
MADE = {
    ClusterMember: "made of the captures of all nodes",
    ListedMember: "made of the captures of all nodes",
    OtherSample: "made of two captures of one node",
    SeenOnNode: "made of two captures of one database",
    ServerStart: "made of what any file of a server tells of its start",
    SpinLoad: "made of several captures of a server",
    **dict.fromkeys((SampledBlocking, SampledSpinlock, SampledWaits), "made of the samples of a live collection"),
    MonTable: "any table says that it was asked for; its switch, which sp_configure shows, decides on an empty one",
}
"""Facts that no single report gives."""
NO_QUESTION = {
    "a look at sp_helpdb": "one word of its status settles it, and no other figure of it is used",
    "INDICATE QUEUES EXP": "seen several times by a person: an idle guest that stays in queue wakes",
    "of the hypervisor": "its own displays, of whichever kind it is, which no reader of ours knows",
    "the list of service applied": "whether one name is in it",
    "both snapshots of the monitoring tables again": "each table has its reader; the collect script asks all of them",
    "a series of samples of a live server": "manage.py collect writes them; its answers are those of monitoring tables",
}
"""Asked of a person, not of a file, and why: no reader takes the answer, and the rule says what to look for in it."""
COMMAND = re.compile(r"(?:sp_[a-z]+|MCR SYSGEN SHOW|SHOW [A-Z]+|RMU/[A-Z]+|MONITOR [A-Z]+)(?=[ /\"]|\Z)")
"""What in a page is a command of a system that is asked, not one of ours."""
BEGINS = re.compile(r"sp_|MCR|SHOW|RMU|MONITOR")
"""How it begins: a source without any of these is not parsed, which takes a hundred times as long."""
SILENT = {
    "lock_wait": "nothing is answered: it is a setting of the session",
    "engines": "which server answers: the manifest has their number",
    "login": "what may be asked",
    "switches": "what is worth asking",
    "columns": "which figures a driver gives as negative ones",
    "databases": "which databases to ask for their tables",
}
"""Questions whose answers a collection uses itself and writes nowhere."""
NOT_ASKED = {
    "monNetworkIO": "monProcessNetIO is asked, which has the same for each session",
    "sysmonitors": "dbcc monitor would have to be started, which clears what others sample",
    "monDeadLock": "a reader may empty its pipe for the monitor that is there",
    "monProcessSQLText": "text of what users run at this moment; the head of a chain is mostly idle and has none",
    "monProcessLookup": "who a session is stands in monProcess, which is asked",
    "monSysSQLText": "a reader may empty its pipe for the monitor that is there, and it is the text of what users ran",
    "monWaitClassInfo": "words alone, and no rule judges by the class of a wait",
}
"""Monitoring tables that are read where somebody uploads them, and not asked by a live collection."""


def by_facts() -> list[str]:
    """What each fact says of how to collect it."""
    return sorted({kind.COLLECTED_BY for kind in fact_kinds().values() if issubclass(kind, Fact) and kind.COLLECTED_BY})


def by_readme() -> list[str]:
    """The commands in the blocks of docs/dba/collecting.md."""
    text = (ROOT / "docs" / "dba" / "collecting.md").read_text(encoding="utf-8")
    part = text[: text.index("## Load series")]
    lines = [line for block in re.findall(r"```\n(.*?)```", part, re.DOTALL) for line in block.splitlines()]
    commands = (re.sub(r"^\$ ", "", line.strip()) for line in lines)
    return sorted({one for one in commands if one and not NO_OUTPUT.match(one)})


def by_rules() -> list[str]:
    """The commands whose output rules lack: second arguments of `MissingInput` and `Unknown.without`, where written."""
    found = set()
    for path in sorted((ROOT / "rules").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        nodes = ast.walk(ast.parse(source)) if "MissingInput(" in source or "Unknown.without(" in source else ()
        for call in (node for node in nodes if isinstance(node, ast.Call) and len(node.args) > 1):
            if ast.unparse(call.func) in ("MissingInput", "Unknown.without"):
                text = written(call.args[1])
                if text and not text.startswith("{"):
                    found.add(text)
    return sorted(found)


def by_pages() -> list[str]:
    """The commands in the pages and letters, and those that the service puts into them."""
    found = set()
    for path in sorted((ROOT / "templates").rglob("*.*")):
        text = path.read_text(encoding="utf-8")
        found |= set(re.findall(r"<code>([^<{]+)</code>", text)) | set(re.findall(r"\('([^']+)',\)", text))
    for path in sorted((ROOT / "advisor").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        nodes = ast.walk(ast.parse(source)) if BEGINS.search(source) else ()
        found |= {written(node) for node in nodes if isinstance(node, ast.Constant | ast.JoinedStr)}
    return sorted(one for one in found if COMMAND.match(one))


@functools.cache
def every_command() -> list[str]:
    return sorted({*by_facts(), *by_readme(), *by_rules(), *by_pages()})


def written(node: ast.expr) -> str:
    """A text of the source, with `{}` for what is put in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)
    return ""


@functools.cache
def given() -> dict[str, set[str]]:
    """The facts that each reader gives of the exports of the tests."""
    found: dict[str, set[str]] = defaultdict(set)
    inputs = [one for path in EXPORTS for one in read_all(open_all([str(path)], None))]  # type: ignore[arg-type]
    for path in (EXPORTS[0].parent.parent.parent).glob("*/*/*.yml"):
        if "recording" in (said := load(path)):
            inputs += read_stream(path.stem, io.BytesIO(build(said["recording"])))
    for one in inputs:
        found[one.report or ""] |= {fact.fact_name() for fact in one.facts}
    return found


def readers_of(command: str) -> tuple[str, ...]:
    """The readers that the tables tell, else the one that is named as the procedure: `ase/sp_sysmon` of `sp_sysmon`.

    Else those that give a fact which says of itself that this command brings it.
    """
    procedure = re.match(r"sp_\w+", command)
    named = (f"ase/{procedure[0]}",) if procedure and f"ase/{procedure[0]}" in {kind.id for kind in kinds()} else ()
    give = tuple(kind.id for kind in kinds() if any(command == fact.COLLECTED_BY for fact in kind.provides))
    return next((reports for pattern, reports in (*READ, *UNTRIED) if re.match(pattern, command)), named or give)


@pytest.mark.parametrize("command", every_command())
def test_a_command_that_we_print_has_a_reader_that_reads_an_export_of_it(command: str) -> None:
    if command.startswith(tuple(NO_QUESTION)):
        return
    reports = readers_of(command)
    assert reports, f"no reader for {command!r}"
    for report in reports:
        assert report in {kind.id for kind in kinds()}
        assert given()[report], f"{report} has no export in tests/exports that gives a fact"


@pytest.mark.parametrize("name", sorted(fact_kinds()))
def test_what_brings_a_fact_is_read_by_a_reader_that_gives_it(name: str) -> None:
    kind = fact_kinds()[name]
    if not issubclass(kind, Fact) or not kind.COLLECTED_BY or kind in MADE:
        return
    assert any(name in given()[report] for report in readers_of(kind.COLLECTED_BY)), (
        f"{kind.COLLECTED_BY}: no export gives {name}"
    )


@pytest.mark.parametrize("name", ["ase.TableScheme", "ase.IndexSize"], ids=lambda name: str(name))
def test_the_columns_of_a_query_that_we_print_are_those_that_our_reader_knows(name: str) -> None:
    query = fact_kinds()[name].COLLECTED_BY  # type: ignore[attr-defined]
    columns = re.sub(r"^select | from .*$", "", query)
    heading = [part.split()[-1] for part in re.split(r",(?![^()]*\))", columns)]
    values = {"DBName": "sales", "OwnerName": "dbo", "ObjectName": "orders", "ObjectID": "7", "LockScheme": "allpages"}
    values |= {"sysstat2": "8192", "IndexID": "0", "IndexName": "orders", "SizeKB": "4096"}
    assert set(heading) <= set(values)
    text = ",".join(heading) + "\n" + ",".join(values[one] for one in heading) + "\n"
    (found,) = read_stream("x.csv", io.BytesIO(text.encode()))
    assert name in {fact.fact_name() for fact in found.facts}


def test_the_tables_we_ask_for_are_those_whose_columns_we_know() -> None:
    known = {table.name: {"".join(filter(str.isalnum, column)) for column in table.columns} for table in TABLES}
    asked = [one.split(" /*")[0] for one in every_command() if re.match(r"select .* master\.\.mon", one)]
    assert asked
    for one in asked:
        found = re.match(r"select (?P<columns>.+) from master\.\.(?P<table>mon\w+)", one)
        assert found
        assert found["table"] in known
        picked = {part.split()[-1].lower() for part in re.split(r",(?![^()]*\))", found["columns"])} - {"*"}
        assert picked <= known[found["table"]], one


def test_no_entry_of_the_tables_is_without_a_command() -> None:
    commands = every_command()
    for pattern, reports in (*READ, *UNTRIED):
        if reports != ("zvm/cp_level",):  # its question is put together elsewhere
            assert any(re.match(pattern, one) for one in commands), pattern
    for start in NO_QUESTION:
        assert any(one.startswith(start) for one in commands), start


def test_the_pages_print_commands_that_are_found() -> None:
    assert {"SHOW FASTPATH", "MCR SYSGEN SHOW {}", 'sp_sysmon "00:10:00" -- at the busiest hour'} <= set(
        every_command()
    )


WHERE = {"DATABASE": quoted("orders"), "DBID": "4", "TIME": "00:00:30", "NUMBER": "1"}
ANSWERED_BY = {
    "server": "ase/version",
    "memory": "ase/memory_headroom",
    "configuration": "ase/sp_configure",
    "caches": "ase/sp_cacheconfig",
    "cache_rows": "ase/syscacheinfo",
    "pool_rows": "ase/syscacheinfo",
    "bindings": "ase/sp_helpcache",
    "usage": "ase/sp_monitorconfig",
    "tables": "ase/lock_schemes",
    "sysmon": "ase/sp_sysmon",
}
"""The reader of each question; of all others it is that of monitoring tables."""
BESIDE = {"snapshot": "monState", "sample": "monState", "monWaitEventInfo": "monSysWaits"}
"""What says something only beside the answer to another question: a time beside rows, words beside waits."""


class Standing(Clock):
    """A clock that goes on only where the server waits."""

    passed = 10.0

    @property
    def seconds(self) -> float:
        return self.passed


@pytest.fixture(scope="module", params=["15.7", "16.0"])
def asked(request: pytest.FixtureRequest) -> Ase:
    """A server of ours, as the live tests have it, here without a line between."""
    return Ase(World(load_release(request.param), Standing(), Faults()), "u", "p", Record(None))


def parts(server: Ase, sql: str) -> list[Part]:
    """The answer to one batch, as a collection would have it."""
    found: list[Part] = []
    for event in server.answer(Client(17), sql):
        if isinstance(event, Rows):
            columns = tuple(column.name for column in event.columns)
            rows = [tuple(map(of_wire, row, event.columns)) for row in event.rows]
            found.append(ResultSet(columns, rows))
        elif isinstance(event, Pause):
            assert isinstance(server.world.clock, Standing)
            server.world.clock.passed += event.seconds
        elif isinstance(event, Message):
            assert event.severity <= 10, event.text
            found.append(Said(event.text))
    return found


def of_wire(value: object, column: Column) -> object:
    """A value of the server as a driver gives it."""
    return datetime.fromisoformat(value) if column.type == "datetime" and isinstance(value, str) else value


@pytest.mark.parametrize("one", [one for one in questions() if one.name not in SILENT], ids=lambda one: one.name)
def test_what_a_live_collection_asks_is_read_to_its_last_column_by_the_reader_it_is_for(
    asked: Ase, one: Question
) -> None:
    if asked.world.release.number < name_of(one.since[:2]):
        pytest.skip(f"came with {name_of(one.since)}")
    both = [one, *(other for other in questions() if other.name == BESIDE.get(one.name))]
    text = "".join(printed(sql, parts(asked, sql)) for sql in (each.filled(**WHERE) for each in both))
    found = read_stream(f"{one.name}.txt", io.BytesIO(text.encode()))
    assert [problem for part in found for problem in part.problems] == []
    assert [left for part in found for left in part.leftovers] == []
    reports = {part.report for part in found if part.facts}
    assert ANSWERED_BY.get(one.name, "ase/monitor_tables") in reports
    if ANSWERED_BY.get(one.name) == "ase/lock_schemes":
        assert {"ase.TableScheme", "ase.IndexSize"} <= {fact.fact_name() for part in found for fact in part.facts}


def test_every_monitoring_table_that_is_read_is_asked_live_or_it_is_said_why_not() -> None:
    tables = {one.table for one in questions() if one.table}
    assert {table.name for table in TABLES} - tables == set(NOT_ASKED)
    assert tables <= {table.name for table in TABLES} | {"monTableColumns"}
    assert all(NOT_ASKED.values())
