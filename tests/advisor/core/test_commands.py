"""The commands as a script sees them: standard output, standard error, exit status, and the contract's JSON."""

import gzip
import importlib
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from advisor.audits.services.auditing import worst
from manage import WITHOUT_THE_SERVICE
from rules.finding import Severity
from tests.advisor.people import STORIES
from tests.servers import PATIENCE
from tests.stories import audits_of

ROOT = Path(__file__).resolve().parents[3]
FASTPATH = """\
$ SHOW FASTPATH
Fast Path preferred CPUs on HAMLET 3-FEB-2026 10:11:12.13
HP BL890c i2  (1.73GHz/24.0MB) with 16 active CPUs
Device:           Fastpath CPU:
EWA0                      3
FGA0                      5
OpenVMS TCP/IP is currently running on CPU 3
OpenVMS Lock Manager is currently running on CPU 13
"""
CPU = """\
$ SHOW CPU 13/FULL
System: HAMLET, HP BL890c i2  (1.73GHz/24.0MB)

CPU 13   State: RUN                CPUDB: 88AA0000     Handle: 00004400
         Owner: 00000410         Current: 00000410     Partition 0 (HAMLET)
         ChgCnt:         1          State: Present, Reassignable
         Cothd:         5
       Process: LCKMGR_SERVER        PID: 2AC0042E
"""
SERIES = "users,throughput\n1,100\n2,180\n4,290\n8,350\n16,300\n32,210\n"


def run(*words: str | Path, stdin: bytes = b"", cwd: Path = ROOT, **more: str) -> subprocess.CompletedProcess[bytes]:
    """Run manage.py as a person would, in a process of its own."""
    command = [sys.executable, str(ROOT / "manage.py"), *map(str, words)]
    environment = {key: value for key, value in os.environ.items() if key != "DJANGO_SETTINGS_MODULE"} | more
    return subprocess.run(
        command, input=stdin, capture_output=True, cwd=cwd, timeout=PATIENCE, env=environment, check=False
    )


def here(*words: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a command that needs no service as manage.py does, in this process, which has loaded it already."""
    name, *rest = map(str, words)
    module = importlib.import_module(f"{WITHOUT_THE_SERVICE[name]}.management.commands.{name}")

    def do() -> None:
        module.Command().run_from_argv(["manage.py", name, *rest])

    return subprocess.CompletedProcess([name, *rest], *as_a_process(do, stdin))


def as_a_process(do: Callable[[], int | None], stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    """What a process that does this ends with and prints."""
    given, (said, printed), (complained, complaints) = io.BytesIO(stdin), stream(), stream()
    with mock.patch.multiple(sys, stdin=io.TextIOWrapper(given), stdout=said, stderr=complained):
        try:
            status = do()
        except SystemExit as end:
            status = end.code  # type: ignore[assignment]
    said.flush()
    complained.flush()
    return status or 0, printed.getvalue(), complaints.getvalue()


def stream() -> tuple[io.TextIOWrapper, io.BytesIO]:
    under = io.BytesIO()
    return io.TextIOWrapper(under, encoding="utf-8"), under


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """Give a folder with what shows a lock manager that shares its core."""
    folder = tmp_path / "hamlet"
    folder.mkdir()
    (folder / "fast.txt").write_text(FASTPATH)
    (folder / "cpu13.txt").write_text(CPU)
    return folder


SHAPES: dict[str, set[str]] = {
    "audit": {"contract", "inputs", "captures", "clusters"},
    "input": {"file", "report", "facts", "problems", "leftovers"},
    "capture": {"system", "interval", "verdicts", "findings", "models", "comparisons", "plan"}
    | {"summary", "account", "cluster"},
    "summary": {"verdict", "do", "collect"},
    "account": {"currency", "span", "capacity", "idle", "work", "lost", "unexplained", "undivided", "remarks"},
    "cluster": {"name", "nodes", "account", "plan", "summary"},
    "system": {"name", "product", "version", "platform", "processors"},
    "interval": {"start", "end", "seconds"},
    "verdict": {"rule", "verdict", "why", "missing"},
    "finding": {
        *("key", "rule", "subject", "severity", "title", "says", "evidence", "cost", "explains", "changes"),
        *("expects", "sources"),
    },
    "evidence": {"metric", "value", "unit", "limit", "file", "lines"},
    "change": {"key", "target", "from", "to", "apply", "undo", "takes_effect", "cautions"},
    "expectation": {"metric", "from", "to", "basis"},
    "model": {"law", "alpha", "beta", "gamma", "r2", "peak_load", "peak_rate", "file", "usable", "why_not"}
    | {"load_name", "rate_name", "points"},
    "plan": {"steps", "conflicts"},
    "step": {"takes_effect", "change_keys", "apply", "undo", "when", "risk", "needs", "alternatives", "outage"},
}


def check_contract(data: dict[str, Any]) -> None:
    """Hold an audit against CONTRACT.md: every field there, fields may only be added."""

    def has(shape: str, item: dict[str, Any]) -> None:
        assert SHAPES[shape] <= set(item), shape

    has("audit", data)
    assert data["contract"] == "audit/1"
    for one in data["inputs"]:
        has("input", one)
    for capture in data["captures"]:
        has("capture", capture)
        has("system", capture["system"])
        has("interval", capture["interval"])
        has("plan", capture["plan"])
        names = [verdict["rule"] for verdict in capture["verdicts"]]
        assert len(names) == len(set(names))
        for verdict in capture["verdicts"]:
            has("verdict", verdict)
            assert verdict["verdict"] in {"fired", "clean", "unknown", "not-applicable", "untrusted"}
            assert verdict["why"] or verdict["missing"], verdict
        for finding in capture["findings"]:
            has("finding", finding)
            assert finding["key"] == f"{finding['rule']}:{finding['subject']}"
            assert finding["severity"] in {"critical", "warning", "advice", "note"}
            for item in finding["evidence"]:
                has("evidence", item)
                assert item["file"], item
            for change in finding["changes"]:
                has("change", change)
                assert change["takes_effect"] in {"online", "restart", "reboot", "offline", "advice"}
            for item in finding["expects"]:
                has("expectation", item)
                assert item["basis"] in {"arithmetic", "law", "published", "heuristic"}
        for model in capture["models"]:
            has("model", model)
    clusters = {one["name"]: one for one in data["clusters"]}
    assert len(clusters) == len(data["clusters"])
    assert {one["cluster"] for one in data["captures"]} - {None} == set(clusters)
    for one in clusters.values():
        has("cluster", one)
    for one in (*data["captures"], *data["clusters"]):
        has("summary", one["summary"])
        for account in one["account"]:
            has("account", account)
        for step in one["plan"]["steps"]:
            has("step", step)


def test_audit_prints_the_contract_and_fails_on_a_warning(node: Path) -> None:
    done = run("audit", node, "--format", "json")
    data = json.loads(done.stdout)
    check_contract(data)
    (capture,) = data["captures"]
    assert capture["system"]["name"] == "HAMLET"
    assert capture["system"]["processors"] == 16
    fired = {verdict["rule"] for verdict in capture["verdicts"] if verdict["verdict"] == "fired"}
    assert "openvms/lock_manager_cpu_shared" in fired
    assert "STOP/CPU 5" in json.dumps(capture["findings"])
    assert (done.returncode, done.stderr) == (1, b"")


def test_fail_on_decides_the_exit_status_alone(node: Path) -> None:
    warning, critical = (here("audit", node, "--fail-on", severity) for severity in ("note", "critical"))
    assert (warning.returncode, critical.returncode) == (1, 0)
    assert warning.stdout == critical.stdout


def test_the_nodes_of_a_cluster_are_one_in_the_contract() -> None:
    data = json.loads(here("audit", STORIES / "two_nodes_slow_master", "--format", "json").stdout)
    check_contract(data)
    assert [one["cluster"] for one in data["captures"]] == ["ORKNEY, SKYE"] * 2
    assert data["clusters"][0]["account"][0]["capacity"] == 10.0


def test_the_exit_status_follows_the_severities_after_the_account() -> None:
    """The exit status is that of `worst`. Of one rule's finding, that the account alone makes critical."""
    rule = "openvms/resource_hash_table_undersized"
    (node,) = audits_of(STORIES / "lock_bound_node")
    verdicts = tuple(one for one in node.verdicts if one.rule == rule)
    findings = tuple(one for one in node.findings if one.rule == rule)
    assert [found.severity for one in verdicts for found in one.findings] == [Severity.WARNING]
    assert [one.finding.severity for one in findings] == [Severity.CRITICAL], "a third of 12 CPUs is lost to it"
    assert worst([replace(node, verdicts=verdicts, findings=findings)]) is Severity.CRITICAL
    assert worst([replace(node, findings=())]) is None


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ([], ("HAMLET", "CPU 5 RUN → STOPPED", "undo: back to RUN", "could not be judged", "fast.txt:8")),
        (["--full"], ("HAMLET", "STOP/CPU 5", "To undo", "COULD NOT BE JUDGED", "fast.txt:8")),
    ],
)
def test_text_fits_a_terminal_of_80_columns_and_is_plain(
    node: Path, more: list[str], expected: tuple[str, ...]
) -> None:
    text = here("audit", node, *more).stdout.decode()
    assert "\x1b" not in text
    excused = ("http", "| ", "$!", "    $", "/")
    long = [line for line in text.splitlines() if len(line) > 80 and not line.strip().startswith(excused)]
    assert not [line for line in long if str(node) not in line]
    for wanted in expected:
        assert wanted in text


def test_html_is_one_file_that_loads_nothing(node: Path) -> None:
    html = here("audit", node, "--format", "html").stdout.decode()
    assert html.startswith("<!doctype html>")
    assert not re.search(r"<(script|link|img|iframe|object)\b|@import|url\(", html)
    assert "default-src &#39;none&#39;" in html or "default-src 'none'" in html


def test_text_of_an_export_is_hostile_everywhere(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>\u202e\u2060\u061c\x1b[31mred"
    (tmp_path / "evil.txt").write_text(FASTPATH + f"\n{evil}\n")
    for form in ("text", "html"):
        out = here("audit", tmp_path / "evil.txt", "--format", form).stdout.decode()
        assert "\x1b" not in out
        assert not {"\u202e", "\u2060", "\u061c"} & set(out)
        assert form == "text" or "<script>" not in out


def test_standard_input_archives_and_folders(node: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in node.iterdir():
            archive.write(path, path.name)
    (tmp_path / "fast.gz").write_bytes(gzip.compress(FASTPATH.encode()))
    for command, words, stdin in (
        (here, (tmp_path / "all.zip",), b""),
        (run, ("-", node / "cpu13.txt"), FASTPATH.encode()),
    ):
        done = command("audit", *words, "--format", "json", stdin=stdin)
        assert "STOP/CPU 5" in done.stdout.decode(), done.stderr
    assert here("read", tmp_path / "fast.gz").returncode == 0


def test_read_prints_every_fact_with_its_lines(node: Path) -> None:
    data = json.loads(run("read", node / "fast.txt", "--format", "json").stdout)
    assert data["contract"] == "read/1"
    (device,) = [f for f in data["facts"] if f.get("device") == "EWA0"]
    assert (device["fact"], device["cpu"], device["lines"]) == ("openvms.FastpathDevice", 3, [5, 5])
    assert data["inputs"][0]["facts"] == len(data["facts"])
    assert "openvms.KernelService" in here("read", node / "fast.txt").stdout.decode()


def test_a_limit_of_the_site_changes_the_verdict(tmp_path: Path) -> None:
    (tmp_path / "series.csv").write_text(SERIES)
    done = here("audit", tmp_path / "series.csv", "--format", "json")
    (model,) = json.loads(done.stdout)["captures"][0]["models"]
    assert 5 < model["peak_load"] < 12
    assert model["usable"] is True


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("nonsense", "RULE.LIMIT=NUMBER"),
        ("ase/address_lock_spinlock_contended.contention_percent=many", "RULE.LIMIT=NUMBER"),
        ("ase/address_lock_spinlock_contended.contention_percent=nan", "RULE.LIMIT=NUMBER"),
        ("ase/address_lock_spinlock_contended.contention_percent=101", "outside 0 to 100"),
        ("ase/address_lock_spinlock_contended.no_such=5", "limits of"),
        ("ase/no_such_rule.percent=5", "no rule is called"),
    ],
)
def test_a_limit_that_cannot_be_is_refused(node: Path, setting: str, message: str) -> None:
    done = here("audit", node, "--set", setting)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert not done.stdout


def test_rules_prints_the_rule_book() -> None:
    book = json.loads(run("rules", "--format", "json").stdout)["rules"]
    (one,) = [r for r in book if r["rule"] == "ase/address_lock_spinlock_contended"]
    assert one["limits"][0]["value"] == 10.0
    assert "ase/address_lock_spinlock_contended" in here("rules").stdout.decode()
    assert "When to ignore it" in here("rules", "ase/address_lock_spinlock_contended").stdout.decode()
    assert here("rules", "ase/no_such").returncode == 2
