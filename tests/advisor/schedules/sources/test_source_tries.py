"""A try asks a real server (TDS 5.0, `tests.live`), in a process that can be ended, and tells what it found."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.accounts.models import User
from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.schedules.models import DataSource, SourceTry
from advisor.schedules.sources import connection_test, queries
from advisor.systems.models import System
from collectors.live.registry import CollectorFailed
from tests.advisor.people import People
from tests.advisor.schedules.sources.asked import SECRET, make_source, of_server
from tests.live.running import serving

pytestmark = pytest.mark.postgres

Commit = DjangoCaptureOnCommitCallbacks


def tried(source: DataSource, by: User, commit: Commit) -> SourceTry:
    """Ask for a try and have the worker make it."""
    with commit(execute=True):
        row = connection_test.ask(source, by)
    row.refresh_from_db()
    return row


def test_a_try_tells_server_release_roles_and_switches(
    people: People, system: System, django_capture_on_commit_callbacks: Commit
) -> None:
    with serving("16.0") as server:
        row = tried(of_server(system, people.owner, server), people.owner, django_capture_on_commit_callbacks)
        kinds = {one["kind"] for one in server.requests()}
        passwords = [one["password"] for one in server.requests() if one["kind"] == "login"]
    assert row.state == "done", row.error
    found = connection_test.Found(**row.found)
    assert found.server == "TIDEWAY"
    assert "16.0" in found.release
    assert "mon_role" in found.roles
    assert dict(found.switches)["enable monitoring"] == "on"
    assert not found.missing
    assert passwords
    assert set(passwords) == {"encrypted"}
    assert "password in clear" not in kinds
    assert server.password not in str(SourceTry.objects.values())
    assert JournalEntry.objects.get(action="data source tried").what.startswith("harbour of TIDEWAY: ")


def test_what_is_missing_is_told_with_the_statement_that_grants_it(
    people: People, system: System, django_capture_on_commit_callbacks: Commit
) -> None:
    with serving("15.7", faults=("no-mon-role", "monitoring-off")) as server:
        row = tried(of_server(system, people.owner, server), people.owner, django_capture_on_commit_callbacks)
    assert row.state == "done", row.error
    missing = dict(row.found["missing"])
    assert any("mon_role" in what for what in missing), missing
    assert any("grant" in how and "mon_role" in how for how in missing.values()), missing


def test_a_wrong_password_is_told_and_stands_nowhere(
    people: People, system: System, django_capture_on_commit_callbacks: Commit
) -> None:
    with serving() as server:
        source = of_server(system, people.owner, server, password=SECRET)
        row = tried(source, people.owner, django_capture_on_commit_callbacks)
    assert row.state == "failed"
    says, do = row.error.split("\n")
    assert says
    assert do
    assert SECRET not in row.error


def test_a_server_that_says_nothing_ends_the_try_in_time(
    people: People,
    system: System,
    django_capture_on_commit_callbacks: Commit,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_test, "SECONDS", 3.0)
    with serving(faults=("silent-accept",)) as server:
        row = tried(of_server(system, people.owner, server), people.owner, django_capture_on_commit_callbacks)
    assert row.state == "failed"
    by_us = r"took the connection and then said nothing more, at|was not through within 3 s, at"  # whichever came first
    assert re.search(by_us, row.error), "ended by us, not by the driver"


def test_a_host_nobody_listens_on_is_told(
    people: People, system: System, django_capture_on_commit_callbacks: Commit
) -> None:
    source = make_source(system, people.owner, host="127.0.0.1", port=1)
    row = tried(source, people.owner, django_capture_on_commit_callbacks)
    assert row.state == "failed"
    assert "127.0.0.1" in row.error


def test_what_a_server_says_is_cut_cleaned_and_without_the_password(
    people: People, system: System, django_capture_on_commit_callbacks: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Told:
        server = f"<b>\x1b[31m{SECRET}"
        version = "x" * 10_000
        roles = ("\u202eelor",) * 1_000
        switches = (("a", "on"),)
        missing = ((f"said {SECRET}", "b"),)
        problems = ("{" + SECRET.replace("}", "}}") + "}",)

    monkeypatch.setattr(queries, "try_it", lambda *given: Told())
    source = make_source(system, people.owner, host="127.0.0.1")
    row = tried(source, people.owner, django_capture_on_commit_callbacks)
    text = str(row.found)
    assert SECRET not in text
    assert "s3cr3t" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(row.found["release"]) <= 500
    assert len(row.found["roles"]) == 200


def test_a_failure_speaks_of_no_password_and_an_unexpected_one_not_of_what_it_was_given(
    people: People,
    system: System,
    django_capture_on_commit_callbacks: Commit,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    source = make_source(system, people.owner, host="127.0.0.1")
    for error in (CollectorFailed(f"login {SECRET} failed", f"not {SECRET}"), RuntimeError(SECRET)):

        def fail(*given: object, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(queries, "try_it", fail)
        row = tried(source, people.owner, django_capture_on_commit_callbacks)
        assert row.state == "failed"
        assert SECRET not in row.error + caplog.text
    assert row.error.startswith("RuntimeError\n")


def test_nobody_tries_more_often_than_a_server_takes(
    people: People, system: System, django_capture_on_commit_callbacks: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "try_it", lambda *given: object())
    source = make_source(system, people.owner, host="127.0.0.1")
    for _ in range(connection_test.MOST_OF_SOURCE):
        tried(source, people.owner, django_capture_on_commit_callbacks)
    with pytest.raises(Refused, match="10 times within the hour"):
        connection_test.ask(source, people.mate)
    for number in range(2):
        more = make_source(system, people.owner, host="127.0.0.1", name=f"more {number}")
        for _ in range(connection_test.MOST_OF_SOURCE):
            tried(more, people.owner, django_capture_on_commit_callbacks)
    with pytest.raises(Refused, match="you have tried 30 times"):
        connection_test.ask(make_source(system, people.owner, name="last"), people.owner)
    SourceTry.objects.update(created=timezone.now() - timedelta(hours=2))
    JournalEntry.objects.update(at=timezone.now() - timedelta(hours=2))
    tried(source, people.owner, django_capture_on_commit_callbacks)
    assert source.tries.count() == min(connection_test.MOST_OF_SOURCE + 1, connection_test.KEPT)


def test_a_source_that_is_being_tried_is_not_tried_twice_and_a_lost_try_is_begun_again(
    people: People, system: System
) -> None:
    source = make_source(system, people.owner)
    first = connection_test.ask(source, people.owner)
    assert connection_test.ask(source, people.mate) == first
    assert connection_test.left() == []
    SourceTry.objects.update(queued=None)
    assert connection_test.left() == [first.pk]


def test_a_try_that_ended_its_worker_is_not_made_again(people: People, system: System) -> None:
    row = connection_test.ask(make_source(system, people.owner), people.owner)
    SourceTry.objects.update(tries=1)  # as its claim before the worker died
    connection_test.try_now(row.pk)
    row.refresh_from_db()
    assert row.state == "failed"
    assert row.error.startswith("it ended its worker\n")


def test_a_task_is_given_the_number_of_the_try_alone(
    people: People, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[object, ...]] = []
    monkeypatch.setattr(connection_test, "start", lambda *given: sent.append(given))
    row = connection_test.ask(make_source(system, people.owner), people.owner)
    assert sent == [("schedules.try_source", row.pk)]
