"""Collecting from a server over real TDS: what is asked, what is written, and what an audit makes of it."""

import io
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from advisor.audits.report.data import audit_data
from advisor.audits.services.auditing import run_audit
from advisor.uploads.services.reading import read_exports
from collectors import manifest
from collectors.facts.ase import (
    MonCachedStatement,
    MonOpenObjectActivity,
    MonProcess,
    MonProcessActivity,
    MonProcessObject,
    MonProcessStatement,
    MonProcessWaits,
    MonSpinlockActivity,
    MonSysStatement,
    TableScheme,
)
from collectors.live.ase import collect, order_of, pack, parse, questions_text, try_it
from collectors.live.ase.collect_request import SECOND
from collectors.live.ase.guard import check
from collectors.live.ase.questions import questions
from collectors.live.registry import Target, registered
from collectors.read import Input
from tests.live.running import Serving, serving

PACE = 60.0
"""Two seconds of ours are two minutes of the server."""
SYSMON = "00:00:30"
OF_THE_DRIVER = [
    re.compile(re.escape(one).replace("<N>", "-?[0-9]+").replace("<DATABASE>", r"\w+"))
    for one in re.findall(r"^--     driver: (.+?)(?:  .*)?$", questions_text(), re.MULTILINE)
]
"""What FreeTDS and pyodbc ask by themselves when they connect, as `--questions` tells a DBA."""


def of_the_driver(batch: str) -> bool:
    """Whether a batch is made of what the list says of the driver, and of nothing else."""
    for one in OF_THE_DRIVER:
        batch = one.sub("", batch)
    return not batch.strip()


class Taken:
    """One collection, and the server it came from."""

    def __init__(self, server: Serving, folder: Path, release: str) -> None:
        self.folder, self.password, self.release = folder, server.password, release
        where = parse(server.connection(), "")
        self.manifest: Mapping[str, Any] = collect(where, folder, order_of(2, SYSMON)).manifest
        self.requests = server.requests()

    @property
    def inputs(self) -> list[Input]:
        """What was collected, read: an audit notes in it what it could not use."""
        return read_exports([str(self.folder)], io.BytesIO())


@pytest.fixture(scope="module")
def collections(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Taken]]:
    """A collection from each release, whatever the order in which they are asked for."""
    with ExitStack() as running:

        @cache
        def of(release: str) -> Taken:
            server = running.enter_context(serving(release=release, pace=PACE))
            return Taken(server, tmp_path_factory.mktemp("collected"), release)

        yield of


@pytest.fixture(params=["15.7", "16.0"])
def taken(request: pytest.FixtureRequest, collections: Callable[[str], Taken]) -> Taken:
    return collections(request.param)


def test_every_question_of_the_release_is_answered(taken: Taken) -> None:
    later = {"monProcELC", "monSysExecutionTime"} if taken.release == "15.7" else set()
    assert {one["question"] for one in taken.manifest["left_out"]} == later
    assert taken.manifest["missing"] == []
    asked = {name for one in taken.manifest["files"] for name in one["questions"]}
    per_database = {"tables of orders", "tables of billing", "tables of archive"}
    silent = {"lock_wait", "engines", "login", "switches", "columns", "databases", "tables"}
    asked = {name.removesuffix(SECOND) for name in asked}
    sampled = {one.name for one in questions() if one.when == "sample"}  # asked for by --every
    assert asked == {one.name for one in questions()} - silent - sampled - later | per_database
    assert taken.manifest["snapshots"] == 2


def test_only_what_reads_was_sent_and_nothing_else(taken: Taken) -> None:
    assert {one["kind"] for one in taken.requests} <= {"login", "batch", "logout", "gone"}
    batches = [one["text"] for one in taken.requests if one["kind"] == "batch"]
    ours = [text for text in batches if not of_the_driver(text)]
    most = 63 if taken.release == "15.7" else 67
    assert len(ours) == most + 3 + 1, "as the file of questions says, one for each user database, and sp_sysmon"
    for text in ours:
        check(text)
    assert [one["password"] for one in taken.requests if one["kind"] == "login"] == ["encrypted"]
    assert {one["application"] for one in taken.requests if one["kind"] == "login"} == {"lockwright"}


def test_every_file_is_understood_whole(taken: Taken) -> None:
    for one in taken.inputs:
        assert one.report, one
        assert one.problems == [], one.file
        assert one.leftovers == [], one.file


def test_the_manifest_tells_of_each_file_and_of_no_secret(taken: Taken) -> None:
    names = {path.name for path in taken.folder.iterdir()}
    assert names == {one["file"] for one in taken.manifest["files"]} | {manifest.NAME}
    for one in taken.manifest["files"]:
        path = taken.folder / one["file"]
        assert (one["bytes"], one["sha256"]) == (path.stat().st_size, manifest.of_file(path))
    everything = b"".join(path.read_bytes() for path in taken.folder.iterdir())
    assert taken.password.encode() not in everything
    assert b"127.0.0.1" not in (taken.folder / manifest.NAME).read_bytes()


def test_hostile_names_reach_the_facts_as_they_are(taken: Taken) -> None:
    tables = {fact.table for one in taken.inputs for fact in one.facts if isinstance(fact, TableScheme)}
    assert 'x"; drop table y --' in tables
    assert any("<script>" in name for name in tables)
    assert all(name.isprintable() for name in tables)
    schemes = {fact.scheme for one in taken.inputs for fact in one.facts if isinstance(fact, TableScheme)}
    assert schemes == {"allpages", "datapages", "datarows"}


def test_the_two_snapshots_become_differences_that_are_believed(taken: Taken) -> None:
    (audit,) = run_audit(taken.inputs, {}, None)
    rows = audit.capture.facts.every(MonSpinlockActivity)
    assert rows
    assert {row.over for row in rows} == {"interval"}
    assert all(row.believed for row in rows)
    assert all(60 < (row.seconds or 0) < 1200 for row in rows)
    assert any(row.of_interval for row in audit.capture.facts.every(MonOpenObjectActivity))


def test_sessions_and_statements_are_asked_within_bounds_and_lead_from_the_table_to_the_statement(taken: Taken) -> None:
    (audit,) = run_audit(taken.inputs, {}, None)
    facts = audit.capture.facts
    assert {row.object_name for row in facts.every(MonProcessObject)} == {"order_old", "queue_out"}
    assert {row.event for row in facts.every(MonProcessWaits)} == {150}, "of its waits those for locks alone"
    assert any(row.blocking_spid for row in facts.every(MonProcess))
    assert {row.logical_reads for row in facts.every(MonProcessStatement)} == {6.0, 812_000.0}
    work = {row.spid: row for row in facts.every(MonProcessActivity)}
    assert {row.believed for row in work.values()} == {True}
    assert 105 in work
    assert [row.statement for row in facts.every(MonSysStatement)] == [1202], "the other read 6 pages"
    statements = {row.statement: row for row in facts.every(MonCachedStatement)}
    assert statements.keys() == {1201, 1202, 1203}, "the text of small ones is not asked"
    assert statements[1201].of_interval
    assert statements[1203].text == "select * from master..monLocks", "a text that names a table begins no other table"
    assert b"of-a-user" not in b"".join(path.read_bytes() for path in taken.folder.iterdir()), "no value of a user"
    said = [finding.says for one in audit.verdicts if one.rule == "ase/lock_waits_high" for finding in one.findings]
    assert any('"select * from queue_out where state = ? and holder = ?" (SSQLID 1201)' in says for says in said)


def test_the_zip_and_the_folder_give_the_same_audit(taken: Taken, tmp_path: Path) -> None:
    before = os.umask(0)  # where a shell lets everybody read what it makes
    try:
        pack(taken.folder, tmp_path / "collected.zip")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "collected.zip").stat().st_mode) == 0o600
    texts = []
    for place in (taken.folder, tmp_path / "collected.zip"):
        inputs = read_exports([str(place)], io.BytesIO())
        data = audit_data(inputs, run_audit(inputs, {}, None))
        data["inputs"].sort(key=lambda one: one["file"])
        texts.append(json.dumps(data, default=str).replace(str(place), "PLACE"))
    assert texts[0] == texts[1]
    assert len(texts[0]) > 10_000


def test_the_audit_fires_what_the_load_deserves(taken: Taken) -> None:
    inputs = taken.inputs
    (audit,) = run_audit(inputs, {}, None)
    assert [problem for one in inputs for problem in one.problems] == []
    verdicts = {one.rule: one.verdict for one in audit.verdicts}
    assert "broken" not in verdicts.values()
    fired = {rule for rule, verdict in verdicts.items() if verdict == "fired"}
    assert audit.capture.system.name == taken.manifest["server"]
    if audit.capture.system.name == "HARVEST":
        assert "ase/address_lock_spinlock_contended" in fired
    assert fired


def test_trying_it_tells_who_is_there_and_writes_nothing() -> None:
    with serving(release="16.0") as server:
        found = try_it({"connection": f"ase://{server.user}@{server.host}:{server.port}/", "password": server.password})
        assert server.password not in repr(found)
        assert len(server.asked()) == 5
    assert (found.server, found.release) == ("TIDEWAY", "16.0")
    assert "mon_role" in found.roles
    assert dict(found.switches)["enable monitoring"] == "on"
    assert found.missing == ()
    sa, sso = found.problems
    assert sa.startswith("the login has sa_role: it may change, stop and empty the server")
    assert sso.startswith("the login has sso_role: it may give itself any role")


def test_what_the_list_of_questions_says_of_the_driver_is_what_it_sends(tmp_path: Path) -> None:
    """Whatever a connection string may have: each statement at the connect is one of the list."""
    with serving(release="16.0") as server:
        given = f"SERVER={server.host};PORT={server.port};UID={server.user};DATABASE=orders;TEXTSIZE=1000;WSID=here"
        try_it({"connection": given, "password": server.password})
        at_connect = [batch for batch in server.batches() if of_the_driver(batch)]
        ours = {one.sql for one in questions()}
        assert [batch for batch in server.batches() if not of_the_driver(batch) and batch not in ours] == []
    heard = " ".join(at_connect)
    assert [one.pattern for one in OF_THE_DRIVER if not one.search(heard)] == [], "nothing is listed that is not sent"


def test_a_login_that_only_reads_is_not_warned_of(tmp_path: Path) -> None:
    with serving(release="16.0", faults=("no-sa-role", "no-sso-role"), pace=PACE) as server:
        done = collect(parse(server.connection(), ""), tmp_path, order_of(1, without=["tables"]))
    assert done.manifest["warnings"] == []


def test_a_login_that_may_do_more_is_warned_of_with_what_to_do(taken: Taken) -> None:
    sa, sso = taken.manifest["warnings"]
    assert sa["what"].startswith("the login has sa_role")
    assert sa["how"].startswith("sp_sysmon needs it: keep a login of its own for that")
    assert sso["how"].endswith("take it back: sp_role 'revoke', sso_role, <login>")


def test_the_collector_of_schedules_writes_one_zip_that_is_read(tmp_path: Path) -> None:
    (collector,) = [one for one in registered() if one.name == "ase"]
    assert collector.products == ("ase",)
    with serving(release="16.0", pace=PACE) as server:
        address = f"ase://{server.user}@{server.host}:{server.port}/"
        options = {"connection": address, "password": server.password, "seconds": "1", "sysmon": ""}
        collector.collect(Target("TIDEWAY", "ase", options), tmp_path, 120)
    (path,) = tmp_path.iterdir()
    assert path.name.startswith("TIDEWAY-")
    assert path.suffix == ".zip"
    inputs = read_exports([str(path)], io.BytesIO())
    assert len(run_audit(inputs, {}, None)) == 1
