"""The script for isql, run against the server over real TDS: what it prints is read whole."""

import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from advisor.audits.report.data import audit_data
from advisor.audits.services.auditing import run_audit
from advisor.audits.services.collect_script import collect_script, first_audit, requests_of
from advisor.uploads.services.reading import read_exports
from collectors.live.ase.questions import questions
from collectors.read import Input
from rules.resets import SHORTER
from tests.live import isql
from tests.live.running import Serving, serving

PACE = 60.0
"""Two seconds of ours are two minutes of the server."""
DATABASES = ("orders", "billing")
EXAMPLES = Path(__file__).resolve().parents[2] / "advisor" / "examples" / "audits"
OBJECT_STATS = EXAMPLES.parents[2] / "tests" / "exports" / "ase" / "sp_object_stats" / "two_tables.txt"


@pytest.fixture(scope="module", params=["15.7", "16.0"])
def server(request: pytest.FixtureRequest) -> Iterator[Serving]:
    with serving(release=request.param, pace=PACE) as running:
        yield running


def read(text: str, folder: Path) -> list[Input]:
    """Read what isql wrote."""
    file = folder / "answers.txt"
    file.write_text(text, encoding="utf-8")
    return read_exports([str(file)], io.BytesIO())


OF_THE_PACE = re.compile(r"Sample Interval says 120 s, but start and end lie [0-9]+ s apart: ")
"""A pause of this machine is sixty times as long for the server, whose clock runs so fast."""


def unread(inputs: list[Input]) -> list[Any]:
    told = [
        (one.report, [said for said in one.problems if not OF_THE_PACE.match(said)], one.leftovers) for one in inputs
    ]
    return [one for one in told if one[1] or one[2]]


@pytest.mark.parametrize("before", [isql.ECHOED, isql.PROMPTED, isql.PLAIN])
def test_the_answers_for_a_first_audit_are_read_whole_and_leave_nothing_to_collect(
    server: Serving, tmp_path: Path, before: str
) -> None:
    script = collect_script(first_audit("ase", minutes=2, databases=DATABASES))
    inputs = read(isql.run(server, script, before), tmp_path)
    assert unread(inputs) == []
    reports = Counter(one.report for one in inputs)
    assert reports.keys() == {
        "ase/version",
        "ase/sp_configure",
        "ase/memory_headroom",
        "ase/sp_cacheconfig",
        "ase/syscacheinfo",
        "ase/sp_helpcache",
        "ase/sp_monitorconfig",
        "ase/lock_schemes",
        "ase/monitor_tables",
        "ase/sp_sysmon",
    }
    data = audit_data(inputs, run_audit(inputs, {}, None))
    (capture,) = data["captures"]
    assert capture["interval"]["seconds"] >= 119  # two minutes, and what the answers take
    (again,) = requests_of(data, "ase")
    # the whole set brings all there is: left are another load, whose snapshots are asked for once more, a file of the
    # server, its host's cores, the text of what users run, and the tables of each database whose rows are forwarded
    by_hand = re.compile(r"at a lower load|^an lscpu|^an error log|show_cached_text|systabstats")
    assert {one for one in again.commands or () if not by_hand.search(one)} == set()


@pytest.mark.parametrize("example", ["address_lock_storm", "relaxed_advice_not_to_follow", "untrusted_without_times"])
def test_the_answers_that_an_audit_lacks_are_read_whole(server: Serving, tmp_path: Path, example: str) -> None:
    exports = read_exports([str(EXAMPLES / example)], io.BytesIO())
    data = audit_data(exports, run_audit(exports, {}, None))
    (request,) = requests_of(data, "ase", databases=DATABASES, minutes=2, version=server.release)
    assert request.commands
    script, by_table, _ = collect_script(request).partition("-- contention by table")
    text = isql.run(server, script)
    if by_table:  # the server has no sp_object_stats, which comes last: an export of it stands for its answer
        text += OBJECT_STATS.read_text(encoding="utf-8")
    inputs = read(text, tmp_path)
    assert unread(inputs) == []
    assert {"ase/version", "ase/monitor_tables"} <= {one.report for one in inputs}
    found = audit_data(inputs, run_audit(inputs, {}, None))
    assert found["captures"][0]["interval"]["seconds"] >= 119


def test_only_what_shows_was_sent(server: Serving) -> None:
    before = len(server.asked())
    isql.run(server, collect_script(first_audit("ase", minutes=1, databases=DATABASES)))
    sent = [re.sub(r"^--.*\n", "", one, flags=re.MULTILINE).strip() for one in server.asked()[before:]]
    settings = ("sp_cacheconfig", "sp_helpcache", "sp_monitorconfig 'all'", "sp_configure")
    others = ("select ", "set lock wait 5", "sp_sysmon '00:01:00', noclear", "use ")
    assert [one for one in sent if not one.startswith((*settings, *others))] == []
    assert [one for one in sent if one.startswith("sp_configure") and "," in one] == []


def test_sizes_stand_before_the_first_snapshot_and_the_pause_between_two() -> None:
    script = collect_script(first_audit("ase", databases=("orders",)))
    sizes, first = script.index("data_pages(db_id()"), script.index("SampleTime")
    sysmon, second = script.index("sp_sysmon '00:10:00', noclear"), script.rindex("SampleTime")
    assert sizes < first < sysmon < second
    tables = [one.table for one in questions() if one.when == "snapshot" and one.table and not one.only]
    tables.remove("monProcELC")  # most releases lack it
    assert {table: len(re.findall(rf"master\.\.{table}\b", script)) for table in tables} == dict.fromkeys(tables, 2)
    only = collect_script(requests_of(lacking("select * from master..monThread /* twice */"), "ase")[0])
    assert only.index("monThread") < only.index('waitfor delay "00:10:00"') < only.rindex("monThread")


def test_where_a_counter_wrapped_a_shorter_sample_is_asked_for() -> None:
    script = collect_script(requests_of(lacking(SHORTER.command), "ase", minutes=10)[0])
    assert "sp_sysmon '00:01:00', noclear" in script
    assert "00:10:00" not in script


def lacking(*commands: str, **system: Any) -> dict[str, Any]:
    """An audit of one server that lacks the answers to these commands."""
    missing = [{"fact": "x", "bring": one} for one in commands]
    verdict = {"rule": "ase/x", "verdict": "unknown", "why": "", "missing": missing}
    capture = {"system": {"name": "PROD1", "product": "ase", **system}, "verdicts": [verdict]}
    return {"contract": "audit/1", "captures": [capture]}


def test_what_a_release_does_not_have_is_left_out_and_named() -> None:
    audit = lacking(
        "select * from master..monThread", "select * from master..monEngine", version="15.0.3/EBF 17770 ESD#4"
    )
    (request,) = requests_of(audit, "ase")
    script = collect_script(request)
    assert "from master..monThread" not in script
    assert "Left out, as that release does not have it: monThread" in script
    assert script.count("from master..monEngine") == 2
    older = collect_script(first_audit("ase", version="12.5.4"))
    came_later = ("monSpinlockActivity", "monThread", "monCachedStatement", "monCachedObject", "syscacheinfo")
    assert not [one for one in came_later if f"from master..{one}" in older]
    assert older.count("from master..monEngine") == 2, "12.5 has monitoring tables, and the audit asks for them"
    assert "sp_cacheconfig" in older


def test_a_switch_that_is_off_is_a_comment_with_its_overhead_and_its_way_back() -> None:
    audit = lacking("select * from master..monSpinlockActivity", 'sp_configure "wait event timing", 1')
    change = {"target": "enable spinlock monitoring", "from": 0, "to": 1}
    audit["captures"][0]["findings"] = [{"rule": "ase/monitoring_switched_off", "changes": [change]}]
    (request,) = requests_of(audit, "ase")
    script = collect_script(request)
    off, unsure = script.split("-- Off, as the audit found")[1].split("-- Where it is 0")
    assert "--!sp_configure 'enable spinlock monitoring', 1" in off
    assert "-- overhead: about 1 % of the server (SAP wiki" in off
    assert "-- overhead: not known\n--!sp_configure 'wait event timing', 1" in off
    assert "--!sp_configure 'enable monitoring', 1" in unsure
    back = script.split("-- Off again")[1]
    assert back.count(", 0") == 3
    run = [line for line in script.splitlines() if not line.startswith("--")]
    assert [line for line in run if line.startswith("sp_configure") and "," in line] == []
    assert run.count("sp_configure 'enable spinlock monitoring'") == 1


def test_names_of_databases_are_quoted_or_left_to_hands() -> None:
    names = ("order", "a]; drop table x --", "b\ngo\nshutdown\ngo")
    script = collect_script(first_audit("ase", databases=names))
    lines = [line for line in script.splitlines() if not line.startswith("--")]
    assert [line for line in lines if line.startswith("use ")] == ["use [order]", "use master"]
    assert "drop table" not in "\n".join(lines)
    assert "shutdown" not in lines
    assert script.count("its name cannot be quoted safely") == 2
