"""Scripts for OpenVMS, Oracle Rdb and z/VM: documented displays in their order are read whole; what is in them."""

import io
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from advisor.audits.report.data import audit_data
from advisor.audits.services.auditing import run_audit
from advisor.audits.services.collect_script import (
    PRODUCTS,
    NotAnAudit,
    NothingToAsk,
    collect_script,
    collect_scripts,
    first_audit,
    requests_of,
)
from advisor.uploads.services.reading import read_exports
from collectors.facts import Fact
from collectors.read import Input
from collectors.registry import kinds
from rules.engine import rules
from rules.resets import AGAIN
from tests.advisor.audits.dcl import Procedure

ROOT = Path(__file__).resolve().parents[3]
AUDITS, EXPORTS = ROOT / "advisor" / "examples" / "audits", ROOT / "tests" / "exports"
PAYROLL = AUDITS / "payroll_page_locks"
ROOT_FILE = "DISK$PAY:[PAY]PAYROLL.RDB"
HEADING = """Parameter Name            Current    Default     Min.       Max.   Unit  Dynamic
--------------            -------    -------   -------    -------  ----  -------
"""
PARAMETERS = {
    "RESHASHTBL": "                 8192         64         1   16777216 Entries",
    "LOCKIDTBL": "                 41000       3840      1792   16776959 Entries",
    "DEADLOCK_WAIT": "                10         10         0         -1 Seconds    D",
    "LOCKDIRWT": "                     1          0         0        255 Pure-numbe",
    "PE1": "                             0          0         0         -1 Pure-numbe D",
    "MULTIPROCESSING": "               3          3         0          4 Coded-valu",
    "POOLCHECK": "                     0          0         0         -1 Coded-valu D",
    "SYSTEM_CHECK": "                  0          0         0          1 Boolean",
    "LCKMGR_MODE": "                   0          0         0        255 Pure-numbe D",
    "LCKMGR_CPUID": "                  0          0         0       1023 Pure-numbe D",
    "FAST_PATH": "                     1          1         0          1 Boolean",
    "FAST_PATH_PORTS": "               0          0         0         -1 Bitmask    D",
    "IO_PRCPU_BITMAP": "           (0-5,9)   (0-1023)         0       1023 CPU bitmap D",
    "SMP_CPUS": "                      -1         -1         0         -1 CPU bitmask",
}
SPL = "SDA> SPL SHOW TRACE/SUMMARY/RATES"
SILENT = {f"SDA> {tool} {what}" for tool in ("SPL", "FLT") for what in ("LOAD", "START TRACE", "STOP TRACE", "UNLOAD")}


def display(path: Path) -> str:
    """An export without the lines of commands that stand in front of it."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"\A(?:\$ .*\n|SDA>.*\n|\n)+", "", text)


@cache
def answer(command: str) -> str:
    """What a documented session shows for a command of the procedure."""
    bare = command.removeprefix("$ ")
    if command in SILENT:
        return ""
    if found := re.fullmatch(r"MCR SYSGEN SHOW ([A-Z0-9_]+)", bare):
        return f"{HEADING}{found[1]}{PARAMETERS[found[1]]}\n"
    return {
        "SHOW SYSTEM": display(PAYROLL / "show_system.txt"),
        "SHOW CLUSTER": display(PAYROLL / "show_cluster.txt"),
        "SHOW CPU/FULL": display(PAYROLL / "cpus.txt"),
        "SHOW FASTPATH": display(PAYROLL / "fastpath.txt"),
        "TYPE SYS$SYSTEM:AGEN$PARAMS.REPORT": display(EXPORTS / "openvms" / "autogen" / "blocks_alone_wrapped.txt"),
        "SHOW MEMORY": display(EXPORTS / "openvms" / "show_memory" / "alpha_groups_and_long_name.txt"),
        "RMU/SHOW SYSTEM": display(PAYROLL / "rmu_show_system.txt"),
        f"RMU/DUMP/HEADER {ROOT_FILE}": display(PAYROLL / "header.txt"),
        "RMU/SHOW LOCKS/MODE=CULPRIT": display(EXPORTS / "rdb" / "show_locks" / "blocking.txt"),
        SPL: re.sub(r"SDA>.*\n", "", display(PAYROLL / "spl.txt")),
    }[bare]


def files() -> dict[str, str]:
    """What MONITOR and RMU write: the summary of several classes without and with its last one alone."""
    summary = (EXPORTS / "openvms" / "monitor" / "summary_of_one_file.txt").read_text(encoding="utf-8")
    summary = summary.replace("SKYE", "LEWIS")
    head = "                            OpenVMS Monitor Utility\n"
    screens = [head + one for one in summary.split(head) if one.strip()]
    align = [one for one in screens if "ALIGNMENT FAULT" in one]
    assert len(align) == 1
    logs = EXPORTS / "rdb" / "wait_logs"
    return {
        "ALIGN": align[0],
        "MONITOR": "".join(one for one in screens if one not in align),
        "TIMEOUT": (logs / "timeouts_over_midnight.txt").read_text(encoding="utf-8"),
        "DEADLOCK": (logs / "quiet_deadlock_log.txt").read_text(encoding="utf-8"),
    }


def read(text: str, folder: Path) -> list[Input]:
    file = folder / "answers.txt"
    file.write_text(text, encoding="utf-8")
    return read_exports([str(file)], io.BytesIO())


def leftovers(inputs: list[Input]) -> list[Any]:
    return [(one.report, run.text.strip()) for one in inputs for run in one.leftovers]


def test_the_displays_of_a_first_audit_are_read_whole(tmp_path: Path) -> None:
    script = collect_script(first_audit("openvms", trace=True))
    run = Procedure(script, answer, files())
    inputs = read(run.run(ROOT_FILE), tmp_path)
    assert leftovers(inputs) == []
    assert leftovers(read(answer(f"$ RMU/DUMP/HEADER {ROOT_FILE}"), tmp_path)) == []
    assert {one.report for one in inputs} == {
        "openvms/show_system",
        "openvms/show_cluster",
        "openvms/show_cpu",
        "openvms/show_fastpath",
        "openvms/show_memory",
        "openvms/sysgen",
        "openvms/monitor",
        "openvms/spl",
        "rdb/show_system",
        "rdb/show_locks",
        "rdb/dump_header",
        "rdb/wait_logs",
    }
    facts = {fact.fact_name() for one in inputs for fact in one.facts}
    assert {"openvms.AlignmentFaults", "openvms.SpinlockTrace", "openvms.Cpu", "rdb.EventLog"} <= facts
    problems = [problem for one in inputs for problem in one.problems]
    assert [problem for problem in problems if not problem.startswith("tentative: ")] == []


def test_databases_are_parameters_and_each_has_its_own_logs(tmp_path: Path) -> None:
    script = collect_script(first_audit("rdb", minutes=30))
    two = ["DISK1:[A]ONE.RDB", "DISK2:[B]TWO.RDB"]
    run = Procedure(script, lambda line: "" if "HEADER" in line else answer(line), files())
    run.run(*two)
    assert [line for line in run.ran if "HEADER" in line] == [f"$ RMU/DUMP/HEADER {one}" for one in two]
    logs = [line for line in run.ran if "STATISTICS" in line]
    assert [two[at] in line and f"_TIMEOUT_{at + 1}.LOG" in line for at, line in enumerate(logs)] == [True, True]
    assert len(run.files) == 4
    none = Procedure(script, answer, files())
    none.run()
    assert not none.files
    for one in two:
        assert one not in script


def test_an_audit_has_no_more_and_no_less_collected_than_it_lacks(tmp_path: Path) -> None:
    audit = audited("lock_bound_with_threads")
    (request,) = requests_of(audit, "openvms")
    commands = " ".join(request.commands or ())
    run = Procedure(collect_script(request), answer, files())
    run.run()
    ran = "\n".join(run.ran)
    for display, part in (("SHOW CPU/FULL", "SHOW CPU"), ("SHOW CLUSTER", "SHOW CLUSTER"), ("MONITOR ALIGN", "ALIGN")):
        assert (f"$ {display}" in ran) == (part in commands), display
    assert set(re.findall(r"MCR SYSGEN SHOW (\w+)", ran)) == set(re.findall(r"MCR SYSGEN SHOW (\w+)", commands))


@cache
def audited(example: str) -> Any:
    exports = read_exports([str(AUDITS / example)], io.BytesIO())
    return json.loads(json.dumps(audit_data(exports, run_audit(exports, {}, None))))


def lacking(product: str, *commands: str, **system: Any) -> dict[str, Any]:
    """An audit of one system that lacks the answers to these commands."""
    missing = [{"fact": "x", "bring": one} for one in commands]
    verdict = {"rule": "x", "verdict": "unknown", "why": "", "missing": missing}
    return {
        "contract": "audit/1",
        "captures": [{"system": {"name": "NODE1", "product": product, **system}, "verdicts": [verdict]}],
    }


def script_of(product: str, *commands: str, **system: Any) -> str:
    (request,) = requests_of(lacking(product, *commands, **system), product)
    return collect_script(request)


def test_a_trace_is_run_only_where_that_was_said() -> None:
    trace = "a spinlock trace under load (ANALYZE/SYSTEM, then SPL LOAD, SPL START TRACE)"
    held = script_of("openvms", trace)
    assert "loads an execlet" in held
    assert "$!SPL LOAD" in held
    assert not [line for line in held.splitlines() if line.startswith(("SPL", "$ ANALYZE"))]
    (request,) = requests_of(lacking("openvms", trace), "openvms", trace=True)
    assert "\nSPL LOAD\n" in collect_script(request)
    assert "Loads an execlet" in collect_script(request)
    assert "Changes nothing" not in collect_script(request)
    assert "Changes nothing" in held


def test_releases_are_asked_for_what_they_have() -> None:
    old = collect_script(first_audit("openvms", version="V7.2"))
    assert not re.search(r"FASTPATH|FAST_PATH|LCKMGR|RLOCK|\bSPL\b", old)
    assert "MONITOR MODES,LOCK,DLOCK/" in old
    vax = script_of("openvms", "SHOW FASTPATH", "MCR SYSGEN SHOW RESHASHTBL", platform="VAX 6000-620")
    assert "FASTPATH" not in vax
    assert "RMU" not in collect_script(first_audit("openvms", version="V9.2-2"))
    assert "RMU/SHOW SYSTEM" in collect_script(first_audit("openvms", version="V8.4"))


def test_what_other_nodes_lack_is_named_and_not_asked_here() -> None:
    script = script_of(
        "openvms", "MCR SYSGEN SHOW LOCKDIRWT ! on BARRA, SKYE", "RMU/SHOW SYSTEM ! on NODE1, RUM, at once"
    )
    assert "\n$ MCR SYSGEN SHOW LOCKDIRWT" not in script
    assert "on BARRA, SKYE" in script
    assert "\n$ RMU/SHOW SYSTEM\n" in script


HOSTILE = (
    'SHOW CPU/FULL" \n$ DELETE *.*;*',
    "MCR SYSGEN SHOW RESHASHTBL\n$ STOP/ID=0",
    "select * from master..monLocks\ngo\nshutdown\ngo",
    "QUERY CPLEVEL */ 'CP SHUTDOWN' /*",
    'sp_configure "enable monitoring", 0\'; shutdown --',
    "anything at all 'F$PID()' &X -",
    "x" * 5000,
)


@pytest.mark.parametrize("product", PRODUCTS)
def test_nothing_of_a_hostile_audit_leaves_a_comment(product: str) -> None:
    audit = lacking(product, *HOSTILE, version="16.0\n$ STOP\ngo", platform="*/ 'CP SHUTDOWN'")
    audit["captures"][0]["system"]["name"] = "A'\n$ DELETE *.*;*\ngo\n*/ 'X' -"
    audit["captures"][0]["findings"] = [{"rule": "rdb/x", "subject": "A:[B]C'F$PID()'.RDB"}]
    (request,) = requests_of(audit, product, databases=("A\n$ STOP\ngo", "'F$PID()'"))
    script = collect_script(request)
    comment = {"ase": "--", "zvm": "/*"}.get(product, "$!")
    run = [line for line in script.splitlines() if not line.startswith(comment)]
    assert not re.search(r"DELETE|STOP/ID|STOP$|shutdown|SHUTDOWN|F\$PID|anything", "\n".join(run))
    for line in script.splitlines():
        if line.startswith("$!"):
            assert not re.search(r"['&\"]|-$", line.replace('SAY "SDA> SPL SHOW TRACE/SUMMARY/RATES"', ""))
        if line.startswith("/*"):
            assert (line.count("/*"), line.count("*/"), line.endswith("*/")) == (1, 1, True)
        assert len(line) < 1000


@pytest.mark.parametrize("product", PRODUCTS)
def test_an_audit_that_lacks_nothing_has_nothing_run_but_who_answers(product: str) -> None:
    script = script_of(product)
    assert "lacks nothing that a script collects" in script or "Nothing to ask CP for" in script
    assert not re.search(r"^(?:sp_|select \*|waitfor|\$ (?:MONITOR|RMU|SHOW|MCR|ANALYZE))", script, re.MULTILINE)


@pytest.mark.parametrize(
    "audit",
    [
        None,
        [],
        {},
        {"contract": "read/1", "captures": []},
        {"contract": "audit/1", "captures": "many"},
        {"contract": 1, "captures": []},
    ],
)
def test_what_is_no_audit_is_refused(audit: Any) -> None:
    with pytest.raises(NotAnAudit):
        requests_of(audit, "ase")


@pytest.mark.parametrize(
    "bad", [None, 1, "x", [], {"missing": 3}, {"verdict": "unknown", "missing": [1, {"bring": 2}]}]
)
def test_damaged_parts_of_an_audit_are_passed_over(bad: Any) -> None:
    audit = lacking("openvms", "SHOW CLUSTER")
    audit["captures"] += [bad]
    audit["captures"][0]["verdicts"] += [bad]
    audit["captures"][0] |= {"account": [bad], "findings": [bad, {"changes": [bad]}], "summary": bad}
    (request,) = requests_of(audit, "openvms")
    assert "\n$ SHOW CLUSTER\n" in collect_script(request)


def test_several_systems_have_a_script_each_and_one_may_be_chosen() -> None:
    audit = audited("two_nodes_slow_master")
    requests = requests_of(audit, "openvms")
    assert [one.system for one in requests] == ["ORKNEY", "SKYE"]
    whole = collect_scripts(requests)
    cuts = [line for line in whole.splitlines() if "cut here" in line]
    assert cuts == [f"$! ======== cut here: script {at} of 2 ========" for at in (1, 2)]
    (one,) = requests_of(audit, "openvms", "SKYE")
    assert collect_scripts([one]) in whole
    with pytest.raises(NothingToAsk, match="it has: ORKNEY, SKYE"):
        requests_of(audit, "openvms", "RUM")
    with pytest.raises(NothingToAsk, match="no system of the product ase"):
        requests_of(audit, "ase")


def test_of_a_node_the_script_for_rdb_asks_for_its_databases_alone() -> None:
    (request,) = requests_of(audited("payroll_page_locks"), "rdb")
    assert request.databases == (ROOT_FILE,)
    run = Procedure(collect_script(request), answer, files())
    run.run(*request.databases)
    assert run.ran
    assert [line for line in run.ran if not line.startswith("$ RMU/")] == []


def test_pages_of_zvm_are_those_that_lack() -> None:
    script = script_of("zvm", "a Performance Toolkit page FCX225 (SYSSUMLG), saved as text", "INDICATE QUEUES EXP")
    assert "SYSSUMLG (FCX225)" in script
    assert "FCX265" not in script
    assert "* INDICATE QUEUES EXP" in script
    assert "PIPE CP" not in script
    assert "'PIPE CP QUERY CPLEVEL | >> LOCKWRGT TEXT A'" in script_of("zvm", "QUERY CPLEVEL")


def test_the_pages_and_the_answer_of_zvm_are_read_whole(tmp_path: Path) -> None:
    exports = EXPORTS / "zvm"
    script = collect_script(first_audit("zvm"))
    pages = {
        "LOCKLOG": "locklog/sample_of_the_manual.txt",
        "LOCKACT": "lockact/three_groups_proved.txt",
        "PROCLOG": "proclog/two_processors.txt",
        "SYSSUMLG": "syssumlg/mean_and_busiest_interval.txt",
        "PROCSUM": "procsum/rates_in_columns.txt",
        "SYSTEM": "system/counters_two_to_a_line.txt",
    }
    named = re.findall(r"([A-Z]+) +\(FCX", script)
    assert named == list(pages)
    text = (exports / "cp_level" / "answer.txt").read_text(encoding="utf-8")
    text += "".join((exports / pages[one]).read_text(encoding="utf-8") + "\n" for one in named)
    inputs = read(text, tmp_path)
    assert leftovers(inputs) == []
    assert {one.report for one in inputs} == {"zvm/cp_level", *(f"zvm/{one.lower()}" for one in named)}


BY_HAND = re.compile(
    r"key W\b|LOCKTIME|LCKQUE|load series|^a CSV|information table|^a performance report|INDICATE QUEUES"
    r"|guest|service applied|sp_helpdb|dbcc|fewer processes|number of CPUs|word that|deadlock pipe|bcp|\.cfg\b|^runs at"
    r"|monProcessSQLText|sp_countmetadata|LOCK_ACTV|LOCK/BRIEF|RMS_LOCKS|DEVICE/FULL|DIRECTORY/FILE_ID|DIRECTORY/SIZE"
    r"|series of samples|syslogshold|systabstats|sysprocesses|sysobjects|^an lscpu|of the host, in its shell"
    r"|sp_helpindex|sp_helpthread|sp_helpsegment|sp_help_rep_agent"
    r"|sp_helpdevice|sp_tempdb|OPERATOR.LOG|sp_logiosize|monSysSQLText|monProcessLookup|monNetworkIO"
    r"|^an error log|^a query plan|at a busy moment|RDB\$LOGICAL_AREAS|DIRECTORY/FULL"
    r"|master\.\.syslocks|sp_helptext|show_cached_text|AUTHORIZE|DEVICE/FILES|^an FDL|^a count of"
)
"""What a person has to do: programs, screens, runs at another load, what users typed, who holds a log that is full."""


def test_what_facts_are_collected_by_is_in_a_script_or_known_to_be_by_hand() -> None:
    assert kinds()
    assert rules()
    lost = []
    for kind in subclasses(Fact):
        product = kind.__module__.split(".")[2]
        if product in PRODUCTS and kind.COLLECTED_BY and not BY_HAND.search(kind.COLLECTED_BY):
            (request,) = requests_of(lacking(product, kind.COLLECTED_BY), product)
            if "By hand" in collect_script(request):
                lost.append(kind.COLLECTED_BY)
    assert not lost, "\n".join(lost)


def subclasses(kind: type[Fact]) -> list[type[Fact]]:
    found = kind.__subclasses__()
    return [*found, *(below for one in found for below in subclasses(one))]


def test_snapshots_to_be_taken_again_are_all_tables_of_a_first_audit_twice() -> None:
    (request,) = requests_of(lacking("ase", AGAIN.command), "ase")
    asked = re.findall(r"^select .*\bfrom master\.\.(mon\w+)", collect_script(request), re.MULTILINE)
    assert {"monSysWaits", "monOpenObjectActivity", "monSpinlockActivity", "monState"} <= set(asked)
    assert all(asked.count(table) == 2 for table in set(asked))


@pytest.mark.parametrize("example", sorted(path.parent.name for path in AUDITS.glob("*/story.yml")))
def test_what_the_examples_lack_is_in_a_script_or_known_to_be_by_hand(example: str) -> None:
    audit = audited(example)
    for product in {one["system"]["product"] for one in audit["captures"]} & set(PRODUCTS):
        for request in requests_of(audit, product):
            script = collect_script(request)
            by_hand = re.findall(r"^(?:--|\$!|/\*)   \* (.*?)(?: \*/)?$", script.partition("By hand")[2], re.MULTILINE)
            assert [one for one in by_hand if not BY_HAND.search(one)] == []


def test_the_command_prints_it_and_refuses_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    call_command("collect-script", "ase", "--release", "16.0", "--minutes", "5")
    assert "sp_sysmon '00:05:00', noclear" in capsys.readouterr().out
    file = tmp_path / "audit.json"
    file.write_text(json.dumps(lacking("openvms", "SHOW CLUSTER")), encoding="utf-8")
    call_command("collect-script", "openvms", "--for", str(file), "--name", "NODE1")
    assert capsys.readouterr().out == script_of("openvms", "SHOW CLUSTER")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    call_command("collect-script", "openvms", "--for", "-", "--trace")
    assert capsys.readouterr().out == script_of("openvms", "SHOW CLUSTER")
    for words, said in (
        (["ase", "--for", str(file)], "no system of the product ase"),
        (["openvms", "--for", str(file), "--name", "X"], "it has: NODE1"),
        (["ase", "--for", str(tmp_path / "none.json")], "No such file"),
        (["ase", "--for", __file__], "not what `audit --format json` prints"),
        (["ase", "--minutes", "0"], "1 to 60"),
    ):
        with pytest.raises(CommandError, match=re.escape(said)) as error:
            call_command("collect-script", *words)
        assert error.value.returncode == 2
