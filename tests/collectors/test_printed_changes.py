"""Every line of the scripts that changes print is of a form that is known: by what shows, what looks, what changes.

The scripts are those that rules print of the cases in `rules/<product>/examples`: apply, undo and what stands around
them. What shows a state that a DBA may bring afterwards (was it done, what runs now?) is read by a reader of ours; what
is for the eye alone has a reason; what changes something has exactly one of the forms below, so that a slip of the pen
in a script fails here. Forms of ASE are those of its manuals and of real output; those of OpenVMS and Rdb were not
tried against a machine of ours (tests/collectors/test_printed_commands.py).
"""

import functools
import io
import re
from collections.abc import Iterator

import pytest

from collectors.live.printing import ResultSet, printed
from collectors.read import read_stream
from collectors.registry import kinds
from tests.collectors.test_printed_commands import given
from tests.test_findings import CASES, LOADED, verdict_of

NAME = r'"(?:[^"]|"")+"'
"""A name in quotes, as rules/changes/quoting.py writes it."""
WORD = r"[A-Za-z_#][\w#$]*"
TABLE = rf"(?:{WORD}|\[[^\]]+\])\.(?:{WORD}|\[[^\]]+\])|<owner>\.<table>"
SIZE = r"[0-9]+(?:\.[0-9]+)?[KMG]"
VALUE = r"-?[0-9]+|<the value shown before the change>"
PARAMETER = r"[A-Z][A-Z0-9_]*"
WHOLE = r"(?:[0-9]+|<the Run Value shown before the change>)"
ROOT = r"(?:\S+)"
FILE = r"[A-Z0-9$_-]+:\[[A-Z0-9$_.-]+\][A-Z0-9$_.-]+;[0-9]+"

SHOWS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "ase": (
        (rf"sp_configure {NAME}", ("ase/sp_configure",)),
        (rf"sp_cacheconfig(?: {NAME})?", ("ase/sp_cacheconfig",)),
        (rf"sp_poolconfig {NAME}", ("ase/sp_cacheconfig",)),
        (rf"sp_helpcache(?: {NAME})?", ("ase/sp_helpcache",)),
        (
            r'sp_monitorconfig "(?:open (?:objects|indexes|partitions|databases)|number of locks)"',
            ("ase/sp_monitorconfig",),
        ),
        (rf'sp_spaceused "(?:{TABLE}|[^"]+)"(?:, 1)?', ("ase/sp_spaceused",)),
        (r"sp_lock", ("ase/sp_lock",)),
        (rf"sp_helpdevice {NAME}", ("ase/device_attributes",)),
        (r"select EngineNumber, Status from master\.\.monEngine", ("ase/monitor_tables",)),
        (
            r"select ThreadID, ThreadPoolName, State from master\.\.monThread order by ThreadPoolName",
            ("ase/monitor_tables",),
        ),
    ),
    "openvms": (
        (rf"\$ MCR SYSGEN SHOW {PARAMETER}|SHOW {PARAMETER}", ("openvms/sysgen",)),
        (r"\$ SHOW CPU(?: [0-9]+(?:,[0-9]+)*/FULL)?", ("openvms/show_cpu",)),
        (r"\$ SHOW FASTPATH", ("openvms/show_fastpath",)),
        (r"\$ TYPE SYS\$SYSTEM:AGEN\$PARAMS\.REPORT", ("openvms/autogen",)),
        (rf"\$ DIRECTORY/FULL {FILE}", ("openvms/file_ids",)),
    ),
    "rdb": (
        (rf"\$ RMU/DUMP/HEADER/OUTPUT=SYS\$LOGIN:LOCKWRIGHT_HEADER\.TXT {ROOT}", ("rdb/dump_header",)),
        (rf"\$ RMU/DUMP/USERS {ROOT}", ("rdb/show_system",)),
    ),
    "unix": (
        (r"(?:grep \. |cat )/sys/devices/system/cpu/\S+(?: /sys/devices/system/cpu/\S+)*", ("unix/cpu_frequency",)),
    ),
}
"""What shows the state before and after, and the reader that takes it."""
LOOKS: dict[str, tuple[tuple[str, str], ...]] = {
    "ase": (
        (r"sp_helpdb (?:\"[^\"]+\")", "options of a database and room on its segments, looked at once"),
        (r'sp_helpindex "[^"]+"', "the indexes a conversion builds anew, to be compared by a person"),
        (
            r'sp_countmetadata "open (?:objects|indexes|partitions|databases)"',
            "a sentence; no rule asks what the limit is",
        ),
        (r"select @@max_connections", "the most connections that the operating system allows"),
        (r"sp_logiosize", "a sentence on the database in use"),
        (r"sp_who", "that nobody is in: no figure of it is kept"),
        (r"select spid, suid, program_name from master\.\.sysprocesses where dbid = db_id\('[^']+'\)", "must be empty"),
        (
            rf"select name from sysindexes where id = object_id\('(?:{TABLE})'\) and indid = [0-9]+",
            "the name of an index",
        ),
        (r"select db_id\('[^']+'\), db_name\([0-9]+\)", "that number and name are of one database"),
        (
            r"select o\.type, lock_scheme = lockscheme\(o\.id\) from sysobjects o(?:, sysusers u)?",
            "one table's scheme, before and after",
        ),
        (r"where u\.uid = o\.uid and u\.name = '[^']+' and o\.name = '[^']+'", "the line before goes on"),
        (r"where o\.id = object_id\('<owner>\.<table>'\)", "the line before goes on"),
        (
            r"select width = sum\(c\.length\) \+ [0-9]+ \* count\(\*\) from syscolumns c, sysobjects o, sysusers u",
            "width",
        ),
        (r"where c\.id = o\.id and u\.uid = o\.uid and u\.name = '[^']+' and o\.name = '[^']+'", "the same"),
        (r'dbcc checktable\((?:[0-9]+|"[^"]+")\)', "errors of a table: none must be there"),
        (rf"sp_help(?:db)? {NAME}", "thresholds of lock promotion that a table or its database has of its own"),
        (r"sp_logiosize", "the log I/O size in force"),
    ),
    "openvms": (
        (r'\$ SEARCH SYS\$SYSTEM:MODPARAMS\.DAT "[A-Z0-9_]+"', "older lines for the same parameter"),
        (r"\$ DIRECTORY SYS\$SYSTEM:MODPARAMS\.DAT", "its versions"),
        (r"\$ TYPE SYS\$SYSTEM:MODPARAMS\.NEW", "what RENAME will put in place"),
        (r"\$ INSTALL LIST/GLOBAL", "the global sections, one of which is the file's buffers"),
        (r"\$ SHOW RMS_DEFAULT", "whether query locking is on"),
    ),
    "rdb": (
        (r'\$ SEARCH SYS\$LOGIN:LOCKWRIGHT_HEADER\.TXT "[A-Za-z -]+"', "a line of the header, which is read whole"),
        (
            r'\$ SEARCH/WINDOW=\(1,30\) SYS\$LOGIN:LOCKWRIGHT_HEADER\.TXT "[A-Z0-9_$]+"',
            "a storage area in the header, which is read whole",
        ),
        (r"\$ SHOW DEVICE LOCKWRIGHT_BACKUP", "room for the backup"),
        (r"\$ RMU/DUMP/BACKUP_FILE/OUTPUT=NL: \S+", "that the backup can be read: nothing is printed"),
    ),
    "unix": (),
}
"""What is for the eye alone, and why nobody is to bring it."""
CHANGES: dict[str, tuple[str, ...]] = {
    "ase": (
        r"go|checkpoint|use (?:" + WORD + r"|<database>)",
        rf'sp_configure {NAME}, {WHOLE}(?:, "[a-z ]+")?',
        rf'sp_cacheconfig {NAME}(?=,)(?:, "(?:{SIZE}|0)")?(?:, (?:mixed|logonly))?(?:, (?:strict|relaxed))?'
        r'(?:, "cache_partition=(?:[0-9]+|default)")?',
        rf'sp_poolconfig {NAME}, "(?:{SIZE}|0)", "[0-9]+K"',
        rf'sp_poolconfig {NAME}, "[0-9]+K", "wash={SIZE}"',
        rf"sp_bindcache {NAME}, {WORD}(?:, (?:{NAME}|syslogs)(?:, {NAME})?)?",
        rf"sp_unbindcache {WORD}(?:, (?:{NAME}|syslogs)(?:, {NAME})?)?",
        rf"alter table (?:{TABLE}) lock (?:allpages|datapages|datarows)",
        rf"alter thread pool {WORD} with thread count = [0-9]+",
        rf"update statistics (?:{TABLE})",
        r'sp_engine "(?:online|offline)", [0-9]+',
        r'sp_dboption "[^"]+", "(?:single user|select into/bulkcopy/pllsort)", (?:true|false)',
        rf'sp_deviceattr {NAME}, "(?:dsync|directio)", "(?:true|false)"',
        rf"dbcc tune\(des_(?:un)?bind, [0-9]+, {NAME}\)",
        r"dbcc traceon\(3604\)",
        rf'sp_set(?:row|pg)lockpromote "table", {NAME}, [0-9]+, [0-9]+, [0-9]+',
        rf'sp_drop(?:row|g)lockpromote "table", {NAME}',
        r'sp_logiosize "(?:<size>|2|4|8|16)"',
    ),
    "openvms": (
        r"\$ SET DEFAULT SYS\$SYSTEM|\$ MCR AUTHORIZE|MODIFY [A-Z0-9_$]+/WSQUOTA=[0-9]+/WSEXTENT=[0-9]+",
        r"\$ MCR SYSGEN|USE (?:ACTIVE|CURRENT)|WRITE (?:ACTIVE|CURRENT|SYS\$SYSTEM:LOCKWRIGHT_BEFORE\.PAR)|EXIT",
        rf"SET {PARAMETER} (?:{VALUE})",
        r"SET IO_PRCPU_BITMAP [0-9]+(?:[-,][0-9]+)+",
        r"\$ OPEN/APPEND LOCKWRIGHT SYS\$SYSTEM:MODPARAMS\.DAT|\$ CLOSE LOCKWRIGHT",
        rf'\$ WRITE LOCKWRIGHT "(?:MIN_)?{PARAMETER} = -?[0-9]+ ! Lockwright(?:, was -?[0-9]+(?: in CURRENT)?)?"',
        r"\$ SEARCH/MATCH=NOR/NOHEADING/OUTPUT=SYS\$SYSTEM:MODPARAMS\.NEW SYS\$SYSTEM:MODPARAMS\.DAT "
        rf'"(?:MIN_)?{PARAMETER} = -?[0-9]+ ! Lockwright"',
        r"\$ RENAME SYS\$SYSTEM:MODPARAMS\.NEW SYS\$SYSTEM:MODPARAMS\.DAT",
        r"\$ @SYS\$UPDATE:AUTOGEN SAVPARAMS TESTFILES CHECK_FEEDBACK",
        r"\$ (?:START|STOP)/CPU [0-9]+(?:,[0-9]+)*",
        rf"\$ SET FILE/GLOBAL_BUFFERS=[0-9]+ {FILE}",
    ),
    "rdb": (
        r"\$ ON WARNING THEN EXIT|\$ MCR SQL\$|EXIT|\$ DEFINE LOCKWRIGHT_BACKUP <device:\[directory\]>",
        rf"\$ RMU/BACKUP(?:/ONLINE)?/LOG {ROOT} LOCKWRIGHT_BACKUP:\w+\.RBF",
        rf"\$ RMU/CLOSE/CLUSTER/NOABORT/WAIT {ROOT}|\$ RMU/OPEN {ROOT}",
        r"ALTER DATABASE FILENAME '[^']+'",
        r"  (?:ADJUSTABLE LOCK GRANULARITY IS|CARRY OVER LOCKS ARE|ROW CACHE IS|LOCK PARTITIONING IS) (?:EN|DIS)ABLED;",
        r"  GLOBAL BUFFERS ARE ENABLED \((?:PAGE TRANSFER VIA (?:DISK|MEMORY)|(?:NUMBER|USER LIMIT) IS [0-9]+)\);",
        r"  NUMBER OF BUFFERS IS [0-9]+;|  ALTER STORAGE AREA \w+ LOCKING IS (?:PAGE|ROW) LEVEL;",
        r"  JOURNAL IS ENABLED \(FAST COMMIT IS ENABLED \(NO COMMIT TO JOURNAL OPTIMIZATION\)\);",
        r"  JOURNAL IS ENABLED \(FAST COMMIT IS ENABLED \(COMMIT TO JOURNAL OPTIMIZATION, "
        r"TRANSACTION INTERVAL IS 256\)\);",
        r"  NUMBER OF CLUSTER NODES [0-9]+;|  RESERVE [0-9]+ CACHE SLOTS;",
        r"  SNAPSHOT IS ENABLED (?:IMMEDIATE|DEFERRED);",
    ),
    "unix": (
        r"(?:cpupower -c [0-9,-]+ )?frequency-set -g [a-z]+|cpupower(?: -c [0-9,-]+)? frequency-set -g [a-z]+",
        r"echo [01] > /sys/devices/system/cpu/(?:intel_pstate/no_turbo|cpufreq/boost)",
    ),
}
"""What changes something, as it must be written to be taken."""
REMARK = {"ase": "--", "openvms": "$!", "rdb": "$!", "unix": "#"}
SPARED = {
    "ase": re.compile(r"--(?:!|   (?=sp_|dbcc|alter|use|update|select|where|checkpoint|go))"),
    "unix": re.compile(r"#   "),
    "openvms": re.compile(r"\$!(?:   (?=\$ )|(?=[^\s=]))"),
    "rdb": re.compile(r"\$!(?=\$ MCR SQL\$$|ALTER DATABASE [^;]+$|  [A-Z][A-Z ]+ .*;$|EXIT$)"),
}
"""Commands in remarks, to be taken out of them one by one."""


@functools.cache
def lines() -> frozenset[tuple[str, str]]:
    """Every line of the scripts of all cases that fire, with its product."""
    found: set[tuple[str, str]] = set()
    for path, name in CASES:
        case = LOADED[path][name]
        changing = "fires" in case and any("no_changes" not in want for want in case["fires"])
        for finding in verdict_of(path, name).findings if changing else ():
            scripts = (line for change in finding.changes for line in (*change.script, *change.way_back))
            found |= {(path.parents[1].name, line) for line in scripts}
    return frozenset(found)


def commands() -> Iterator[tuple[str, str]]:
    """The lines that are no remarks, and the commands within remarks."""
    for product, line in lines():
        bare = SPARED[product].sub("", line, count=1) if product in SPARED else line
        if bare and not bare.startswith(REMARK[product]):
            yield product, bare


def kinds_of(product: str, line: str) -> list[str]:
    """What a command does: `shows`, `looks`, `changes`."""
    forms = {
        "shows": [pattern for pattern, _ in SHOWS[product]],
        "looks": [pattern for pattern, _ in LOOKS[product]],
        "changes": CHANGES[product],
    }
    return [name for name, some in forms.items() if any(re.fullmatch(one, line) for one in some)]


def test_every_command_of_a_script_is_of_one_known_form() -> None:
    assert len(list(commands())) > 200
    assert {line: found for product, line in commands() if len(found := kinds_of(product, line)) != 1} == {}


@pytest.mark.parametrize("product", sorted(SHOWS))
def test_what_a_script_shows_is_read_by_a_reader_of_ours(product: str) -> None:
    for pattern, reports in SHOWS[product]:
        for report in reports:
            assert report in {kind.id for kind in kinds()}
            assert given()[report], f"{report} has no export in tests/exports that gives a fact"
        assert any(re.fullmatch(pattern, line) for one, line in commands() if one == product), (
            f"no script has {pattern}"
        )


@pytest.mark.parametrize("product", sorted(LOOKS))
def test_what_is_for_the_eye_alone_is_printed_by_some_script_and_says_why(product: str) -> None:
    for pattern, why in LOOKS[product]:
        assert why
        assert any(re.fullmatch(pattern, line) for one, line in commands() if one == product), (
            f"no script has {pattern}"
        )


def test_the_columns_that_a_script_selects_are_those_of_its_reader() -> None:
    selects = [line for product, line in commands() if product == "ase" and re.match(r"select .* master\.\.mon", line)]
    assert selects
    values = {
        "EngineNumber": 0,
        "Status": "online",
        "ThreadID": 3,
        "ThreadPoolName": "syb_default_pool",
        "State": "Run",
    }
    for line in selects:
        columns = tuple(re.sub(r"^select | from .*$", "", line).split(", "))
        answer = printed(line, [ResultSet(columns, [[values[one] for one in columns]])])
        (found,) = read_stream("x.txt", io.BytesIO(answer.encode()))
        assert found.report == "ase/monitor_tables"
        assert (found.problems, found.leftovers) == ([], [])
        assert {fact.fact_name() for fact in found.facts} & {"ase.MonEngine", "ase.MonThread"}


@pytest.mark.parametrize(
    ("product", "slip"),
    [
        ("ase", 'sp_configure "number of locks", -1'),
        ("ase", "alter table dbo.[orders] lock datarow"),
        ("ase", 'sp_cacheconfig "c", "cache_partitions=4"'),
        ("ase", 'sp_poolconfig "c", "512M", "16KB"'),
        ("openvms", "$ STOP CPU 4"),
        ("openvms", "SET LCKMGR_MODE = 8"),
        ("rdb", "  ROW CACHE IS ENABLE;"),
    ],
)
def test_a_slip_of_the_pen_is_of_no_form(product: str, slip: str) -> None:
    assert kinds_of(product, slip) == []
