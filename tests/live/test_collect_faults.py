"""What goes wrong with a server is said in time, with what to do; the other questions are asked all the same."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor.audits.services.auditing import run_audit
from advisor.uploads.services.reading import read_exports
from collectors import manifest
from collectors.facts.ase import MonDataCache, MonProcELC, MonTable, TableScheme
from collectors.live.ase import ASE, CollectRequest, collect, order_of, parse, sizes_of, try_it
from collectors.live.ase.collect_request import SECOND
from collectors.live.ase.queries import kept_of
from collectors.live.registry import CollectorFailed, Target
from tests.live.running import Serving, serving
from tests.longer import first_of
from tests.servers import PATIENCE

QUICK = replace(order_of(1), login_seconds=PATIENCE, question_seconds=PATIENCE)
HASTY = replace(QUICK, login_seconds=5, question_seconds=5)
"""For what never answers."""
LATER = 4
"""Seconds of ours after a server was first asked, between the two snapshots, at which something happens to it."""


def taken(server: Serving, folder: Path, order: CollectRequest = QUICK) -> Mapping[str, Any]:
    """The manifest of a collection."""
    folder.mkdir(exist_ok=True)
    return collect(parse(server.connection()), folder, order, limit=PATIENCE).manifest


def left_out(data: Mapping[str, Any]) -> dict[str, str]:
    """What was left out or failed, with reason and remedy."""
    return {one["question"].removesuffix(SECOND): f"{one['why']}: {one['do']}" for one in data["left_out"]}


def failure(server: Serving, folder: Path, connection: str = "", order: CollectRequest = QUICK) -> CollectorFailed:
    """How a collection fails that brings nothing."""
    folder.mkdir(exist_ok=True)
    with pytest.raises(CollectorFailed) as failed:
        collect(parse(connection or server.connection()), folder, order, limit=PATIENCE)
    assert server.password not in str(failed.value)
    assert failed.value.do
    return failed.value


def test_a_server_that_takes_the_connection_and_says_nothing_ends_in_time(tmp_path: Path) -> None:
    with serving(faults=("silent-accept",)) as server:
        failed = failure(server, tmp_path, order=HASTY)
    assert "took the connection and then said nothing more, at the login" in failed.says


def test_a_server_that_says_nothing_after_the_login_ends_in_time(tmp_path: Path) -> None:
    with serving(faults=("silent-login",)) as server:
        failed = failure(server, tmp_path, order=HASTY)
    assert "said nothing more, at " in failed.says or "did not answer who it is" in failed.says


def test_a_wrong_password_is_said_and_not_shown(tmp_path: Path) -> None:
    with serving() as server:
        failed = failure(server, tmp_path, server.connection(PWD="{not this one}"))
        assert "refuses the login lockwright" in failed.says
        assert "sp_displaylogin" in failed.do
        assert "not this one" not in str(failed)
        assert [one["password"] for one in server.requests() if one["kind"] == "login"] == ["encrypted"]


def test_a_server_that_wants_the_password_in_clear_does_not_get_it(tmp_path: Path) -> None:
    with serving(faults=("without-rsa",)) as server:
        failure(server, tmp_path)
        assert "clear" not in {one.get("password") for one in server.requests()}
        assert "password in clear" not in {one["kind"] for one in server.requests()}


@first_of(2, "password", ["a;b}c", "{x", "=}", "ünï", "sp ace"])
def test_a_password_of_any_letters_reaches_the_server_as_it_is(password: str) -> None:
    with serving(password=password) as server:
        address = f"ase://{server.user}@{server.host}:{server.port}/"
        assert try_it({"connection": address, "password": password}).server == "TIDEWAY"


def test_a_closed_port_an_unknown_host_and_a_driver_that_is_not_there_are_told_apart(tmp_path: Path) -> None:
    with serving() as server:
        server.kill()
        assert "refuses the connection" in failure(server, tmp_path).says
        unknown = failure(server, tmp_path, server.connection(SERVER="no-such-host.invalid"))
        assert unknown.says == "the host no-such-host.invalid is not known"
        other = failure(server, tmp_path, "DRIVER={SAP ASE ODBC Driver};server=harbour;port=5000;uid=u;pwd=x")
        assert (
            "no ODBC driver {SAP ASE ODBC Driver}" in other.says or "no ODBC driver SAP ASE ODBC Driver" in other.says
        )
        assert "install" in other.do


def test_without_mon_role_the_rest_is_asked_and_the_grant_is_said(tmp_path: Path) -> None:
    with serving(faults=("no-mon-role",)) as server:
        data = taken(server, tmp_path)
        assert not [text for text in server.batches() if "master..mon" in text]
        tried = try_it({"connection": server.connection(), "password": ""})
    files = {one["file"] for one in data["files"]}
    assert {"server.txt", "sp_configure.txt", "sp_helpcache.txt"} <= files
    assert not any(name.startswith("snapshot") for name in files)
    (lack,) = data["missing"]
    assert lack["what"].startswith("the login has no mon_role: not asked: ")
    assert lack["how"].startswith("sp_role 'grant', mon_role, <login>")
    assert tried.missing[0][1] == lack["how"]
    problems = [problem for one in read_exports([str(tmp_path)], io.BytesIO()) for problem in one.problems]
    assert any("sp_role 'grant', mon_role" in problem for problem in problems)


def test_without_sa_role_sp_sysmon_is_left_out(tmp_path: Path) -> None:
    with serving(faults=("no-sa-role",)) as server:
        data = taken(server, tmp_path, replace(QUICK, sysmon="00:00:01"))
        assert not [text for text in server.batches() if text.startswith("sp_sysmon")]
    assert "the login has no sa_role" in left_out(data)["sysmon"]
    assert any("sp_role 'grant', sa_role" in one["how"] for one in data["missing"])
    assert data["snapshots"] == 2


def test_monitoring_that_is_off_is_said_with_the_statement_that_turns_it_on(tmp_path: Path) -> None:
    with serving(faults=("monitoring-off",)) as server:
        data = taken(server, tmp_path)
    assert any(one["how"].startswith("sp_configure 'enable monitoring', 1") for one in data["missing"])


def test_a_switch_that_is_off_gives_an_empty_table_and_says_so(tmp_path: Path) -> None:
    with serving(faults=("switch-off=enable spinlock monitoring",)) as server:
        data = taken(server, tmp_path)
    (lack,) = data["missing"]
    assert lack["what"] == "`enable spinlock monitoring` is off, so these say nothing: monSpinlockActivity"
    tables = [
        fact for one in read_exports([str(tmp_path)], io.BytesIO()) for fact in one.facts if isinstance(fact, MonTable)
    ]
    spinlocks = [fact for fact in tables if fact.table == "monSpinlockActivity"]
    assert spinlocks
    assert all(fact.rows == 0 or fact.all_zero for fact in spinlocks)


@first_of(
    1,
    ("switch", "questions"),
    [
        ("statement statistics active", ["monProcessStatement", "monSysStatement"]),
        ("statement pipe active", ["monSysStatement"]),
        ("statement pipe max messages", ["monSysStatement"]),
        ("process wait events", ["monProcessWaits"]),
    ],
)
def test_what_a_site_does_not_gather_for_itself_is_not_asked_and_nobody_is_told_to_switch_it_on(
    tmp_path: Path, switch: str, questions: list[str]
) -> None:
    with serving(faults=(f"switch-off={switch}",)) as server:
        data = taken(server, tmp_path)
        asked = [text for text in server.batches() if any(f"master..{one} " in f"{text} " for one in questions)]
        assert not asked
    assert left_out(data) == dict.fromkeys(questions, f"`{switch}` is off; it need not be set for this: ")
    assert data["missing"] == []
    assert not [problem for one in read_exports([str(tmp_path)], io.BytesIO()) for problem in one.problems]


@first_of(
    2,
    ("fault", "question", "piece"),
    [
        ("missing-table=monLocks", "monLocks", "Msg 208"),
        ("missing-table=monCachedStatement", "monCachedStatement", "Msg 208"),
        ("missing-procedure=sp_helpcache", "bindings", "Msg 2812"),
        ("refuse-database=billing", "tables of billing", "Msg 916"),
        ("offline-database=archive", "tables of archive", "Msg 950"),
        ("deadlock-always=monEngine", "monEngine", "Msg 1205"),
        ("locked-catalog=billing", "tables of billing", "Msg 12205"),
        ("slow=monDataCache", "monDataCache", "no whole answer within 5 s"),
        ("deaf=monCachePool", "monCachePool", "no whole answer within 5 s"),
        ("drop-in-table=monThread", "monThread", "the connection was lost"),
    ],
)
def test_a_question_that_fails_is_noted_with_a_remedy_and_the_others_go_on(
    tmp_path: Path, fault: str, question: str, piece: str
) -> None:
    with serving(faults=(fault,)) as server:
        data = taken(server, tmp_path, HASTY if "no whole answer" in piece else QUICK)
    noted = left_out(data)
    assert set(noted) == {question}
    assert not data["complete"]
    assert piece in noted[question]
    assert not noted[question].endswith(": ")
    assert ("Change, Seconds for one question" in noted[question]) == ("no whole answer" in piece)
    assert data["snapshots"] == 2
    asked = [name for one in data["files"] for name in one["questions"]]
    assert question not in asked
    assert len(asked) > 30
    inputs = read_exports([str(tmp_path)], io.BytesIO())
    assert [problem for one in inputs for problem in one.problems if question in problem]
    assert len(run_audit(inputs, {}, None)) == 1


def test_a_deadlock_is_tried_once_more(tmp_path: Path) -> None:
    with serving(faults=("deadlock=monEngine",)) as server:
        data = taken(server, tmp_path)
        asked = [text for text in server.batches() if "monEngine" in text]
    assert data["left_out"] == []
    assert len(asked) == 3, "two snapshots, one of them twice"


def test_a_line_that_is_dropped_again_and_again_is_given_up(tmp_path: Path) -> None:
    with serving(faults=("drop-after-rows=2",)) as server:
        failed = failure(server, tmp_path)
    assert "dropped the connection 4 times" in failed.says


def test_nulls_everywhere_are_read_as_absent(tmp_path: Path) -> None:
    with serving(faults=("nulls",)) as server:
        data = taken(server, tmp_path)
    assert data["left_out"] == []
    inputs = read_exports([str(tmp_path)], io.BytesIO())
    caches = [fact for one in inputs for fact in one.facts if isinstance(fact, MonDataCache)]
    assert caches
    assert not any(isinstance(fact.searches, float) for fact in caches)
    assert "broken" not in {one.verdict for audit in run_audit(inputs, {}, None) for one in audit.verdicts}


@first_of(1, "release", ["16.0", "15.7"])
@pytest.mark.parametrize("fault", ["wrap", "wrap-signed"])
def test_counters_that_wrapped_between_the_snapshots_give_what_was_counted(
    tmp_path: Path, release: str, fault: str
) -> None:
    with serving(release=release, faults=(f"{fault}={LATER * 60}",), pace=60.0) as server:
        taken(server, tmp_path, replace(QUICK, seconds=LATER + 1))
    (audit,) = run_audit(read_exports([str(tmp_path)], io.BytesIO()), {}, None)
    rows = [row for row in audit.capture.facts.every(MonDataCache) if row.of_interval]
    assert "wrapped" in {row.certificate for row in rows}
    assert all(row.searches >= 0 for row in rows if isinstance(row.searches, float))
    per_second = [row.searches / row.seconds for row in rows if isinstance(row.searches, float) and row.seconds]
    assert max(per_second) < 2_000_000, "what the server counts in a second, not 2^31 of it"


def test_a_table_whose_row_vanished_is_counted_as_such_and_not_as_idle(tmp_path: Path) -> None:
    with serving(faults=(f"vanish={LATER * 10}",), pace=10.0) as server:
        taken(server, tmp_path, replace(QUICK, seconds=LATER + 1, without=("tables", "cached_objects")))
    (audit,) = run_audit(read_exports([str(tmp_path)], io.BytesIO()), {}, None)
    tables = {fact.table: fact.vanished for fact in audit.capture.facts.every(MonTable)}
    assert tables["monOpenObjectActivity"] >= 1


def test_a_locked_login_is_said(tmp_path: Path) -> None:
    with serving(release="15.7", faults=("locked-login",)) as server:
        assert "the login is not locked (sp_displaylogin)" in failure(server, tmp_path).do


@pytest.mark.parametrize("fault", ["restarted", "cleared"])
def test_counters_that_began_anew_between_the_snapshots_are_not_believed(tmp_path: Path, fault: str) -> None:
    with serving(faults=(f"{fault}={LATER * 60}",), pace=60.0) as server:
        taken(server, tmp_path, replace(QUICK, seconds=LATER + 1))
    (audit,) = run_audit(read_exports([str(tmp_path)], io.BytesIO()), {}, None)
    rows = audit.capture.facts.every(MonDataCache)
    assert rows
    assert not any(row.of_interval and row.believed for row in rows)


def test_what_is_left_out_on_purpose_is_not_asked_and_is_no_problem(tmp_path: Path) -> None:
    with serving() as server:
        data = taken(server, tmp_path, replace(QUICK, without=("cached_objects", "tables")))
        sent: Sequence[str] = server.batches()
    assert not [text for text in sent if "monCachedObject" in text or "sysobjects" in text]
    assert left_out(data) == {
        "cached_objects": "left out as was asked for: ",
        "tables": "left out as was asked for: ",
    }
    assert not [problem for one in read_exports([str(tmp_path)], io.BytesIO()) for problem in one.problems]


def test_more_time_between_the_snapshots_than_there_is_is_refused(tmp_path: Path) -> None:
    with serving() as server, pytest.raises(CollectorFailed, match=r"30 s apart, and all of it may take 20 s"):
        collect(parse(server.connection()), tmp_path, order_of(30), limit=20)


@pytest.mark.parametrize(
    ("seconds", "sysmon", "total", "kept"),
    [(60.0, "", 1000.0, 210.0), (60.0, "00:05:00", 1000.0, 450.0), (60.0, "", 70.0, 56.0)],
)
def test_time_is_kept_for_the_second_snapshot(seconds: float, sysmon: str, total: float, kept: float) -> None:
    assert kept_of(replace(order_of(seconds), sysmon=sysmon, total_seconds=total)) == pytest.approx(kept)


@pytest.mark.long
def test_what_there_is_no_time_for_is_named_and_the_rest_is_kept(tmp_path: Path) -> None:
    """Four tables never answer: they would take four times 5 s, and 15 s more each."""
    faults = tuple(f"deaf={name}" for name in ("monState", "monDataCache", "monEngine", "monSysWaits"))
    with serving(faults=faults) as server:
        data = collect(parse(server.connection()), tmp_path, HASTY, limit=20).manifest
    noted = left_out(data)
    assert {"monState", "monDataCache"} <= set(noted)
    assert all(remedy.rpartition(": ")[2] for remedy in noted.values())
    assert not data["complete"]
    asked = {name for one in data["files"] for name in one["questions"]}
    assert {"configuration", "caches", "tables of orders"} <= asked
    assert len(run_audit(read_exports([str(tmp_path)], io.BytesIO()), {}, None)) == 1


def test_a_server_that_falls_silent_in_the_middle_loses_nothing_of_what_it_answered(tmp_path: Path) -> None:
    with serving(faults=("deaf-after=35",)) as server:
        data = taken(server, tmp_path, HASTY)
    asked = [name for one in data["files"] for name in one["questions"]]
    assert {"configuration", "usage", "tables of orders", "monState"} <= set(asked)
    noted = left_out(data)
    assert "the second snapshot" in noted
    assert {"monLocks", "cached_objects"} <= set(noted)
    assert noted["monLocks"].startswith(f"not answered any more: {server.host}:{server.port} ")
    assert all(remedy.rpartition(": ")[2] for remedy in noted.values())
    assert (data["complete"], data["server"]) == (False, "TIDEWAY")
    for one in data["files"]:
        path = tmp_path / one["file"]
        assert (one["bytes"], one["sha256"]) == (path.stat().st_size, manifest.of_file(path))
    inputs = read_exports([str(tmp_path)], io.BytesIO())
    (audit,) = run_audit(inputs, {}, None)
    assert [problem for one in inputs for problem in one.problems if "the second snapshot" in problem]
    unknown = [one for one in audit.verdicts if one.verdict == "unknown"]
    assert [lack for one in unknown for lack in one.missing]


@pytest.mark.long
def test_activity_tables_are_bounded_without_a_sort_and_idle_rows_do_not_fill_the_bound(tmp_path: Path) -> None:
    """What is sent for tables with a row for each open object or session, and that the hot ones come all the same."""
    with serving(faults=("crowded=25000",)) as server:
        data = taken(server, tmp_path, replace(QUICK, without=("tables", "cached_objects")))
        sent = server.asked()
    for table in ("monOpenObjectActivity", "monOpenPartitionActivity", "monProcessObject", "monProcessWaits"):
        asked = [text for text in sent if f"master..{table}" in text]
        assert len(asked) == 2, "once a snapshot"
        for text in asked:
            bound = re.match(r"select top ([0-9]+) \* from ", text)
            assert bound
            assert int(bound[1]) <= 20_000
            assert " where " in " ".join(text.split()), "idle rows are left out by the server"
            assert "order by" not in text, "nothing is sorted in tempdb"
    assert data["left_out"] == [one for one in data["left_out"] if not one["do"]]
    assert not [bound for one in data["files"] for bound in one["bounded"] if "Activity" in bound]
    (audit,) = run_audit(read_exports([str(tmp_path)], io.BytesIO()), {}, None)
    rows = [fact for fact in audit.capture.facts.every(MonTable) if fact.table == "monOpenObjectActivity"]
    assert rows
    assert all(0 < fact.rows < 1_000 for fact in rows)


def test_a_new_connection_waits_for_locks_no_longer_than_the_first(tmp_path: Path) -> None:
    with serving(faults=("drop-in-table=syscacheinfo", "locked-catalog=billing")) as server:
        data = taken(server, tmp_path)
        logins = [one for one in server.requests() if one["kind"] == "login"]
        assert len(logins) == 2
        assert len([text for text in server.asked() if text == "set lock wait 5"]) == len(logins)
    assert "Msg 12205" in left_out(data)["tables of billing"]
    assert "tables of orders" in {name for one in data["files"] for name in one["questions"]}


def test_sizes_are_asked_before_the_first_snapshot_and_behind_no_lock_of_others(tmp_path: Path) -> None:
    with serving() as server:
        taken(server, tmp_path)
        asked = server.asked()
    assert "set lock wait" in asked[1]
    sizes = [at for at, text in enumerate(asked) if "data_pages" in text]
    snapshots = [at for at, text in enumerate(asked) if "@@boottime" in text]
    assert max(sizes) < min(snapshots)
    assert len(snapshots) == 2


def test_sizes_of_an_earlier_time_stand_in_for_those_that_are_not_asked(tmp_path: Path) -> None:
    with serving() as server:
        options = {"connection": server.connection(), "password": "", "seconds": "1"}
        (tmp_path / "first").mkdir()
        ASE.collect(Target("TIDEWAY", "ase", options), tmp_path / "first", PATIENCE)
        kept = sizes_of(next((tmp_path / "first").iterdir()))
        (tmp_path / "sizes.zip").write_bytes(kept)
        before = len(server.batches())
        (tmp_path / "second").mkdir()
        options["sizes"] = str(tmp_path / "sizes.zip")
        ASE.collect(Target("TIDEWAY", "ase", options), tmp_path / "second", PATIENCE)
        assert not [text for text in server.batches()[before:] if "data_pages" in text]
    found = []
    for place in ("first", "second"):
        inputs = read_exports([str(tmp_path / place)], io.BytesIO())
        assert not [problem for one in inputs for problem in one.problems]
        found.append(
            {(fact.table, fact.scheme) for one in inputs for fact in one.facts if isinstance(fact, TableScheme)}
        )
    assert found[0] == found[1] != set()
    assert sizes_of(next((tmp_path / "second").iterdir())) == b"", "what was taken over does not become younger"


@first_of(2, ("pack", "asked"), [("SP03 PL08", 2), ("SP03 PL07", 0), ("SP04", 2), ("SP02 PL05", 0)])
def test_what_came_within_a_release_is_asked_from_its_patch_level_on(tmp_path: Path, pack: str, asked: int) -> None:
    version = f"Adaptive Server Enterprise/16.0 {pack}/EBF 29000 SMP/P/x86_64/SuSE Linux/x/1/64-bit/FBO/Mon Jan  1 2020"
    with serving(release="16.0", faults=(f"version={version}",)) as server:
        data = taken(server, tmp_path)
        texts = [text for text in server.batches() if "master..monProcELC" in text]
    assert len(texts) == asked
    rows = [
        one for each in read_exports([str(tmp_path)], io.BytesIO()) for one in each.facts if isinstance(one, MonProcELC)
    ]
    assert bool(rows) == bool(asked)
    assert left_out(data) == ({} if asked else {"monProcELC": "there is none before 16.0 SP03 PL08: "})
