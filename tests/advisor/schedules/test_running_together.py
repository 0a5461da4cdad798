"""Runs beside what people do meanwhile: merging, pausing, removing. Nobody waits for the other for ever."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from advisor.audits.services import post_audit
from advisor.schedules.models import DropFile, Run, Schedule
from advisor.schedules.services import (
    collecting,
    failures,
    running,
    schedules,
)
from advisor.schedules.services.watch_folder import intake
from advisor.systems.models import System
from advisor.systems.services import systems
from advisor.uploads.models import Upload
from tests.advisor.people import STORIES, People, make_people
from tests.advisor.schedules.scheduling import Probe, collected, due_run, made, make_schedule, make_system

pytestmark = pytest.mark.postgres

SYSMON = STORIES / "address_lock_storm" / "sysmon.txt"


def test_a_run_whose_system_is_merged_meanwhile_fails_as_one_of_the_other_system(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, other = make_system(people.team), make_system(people.team, "CLAIMS2")
    make_schedule(people.team, "its own", system=other)
    run = collected(people.team, system, tries=len(running.WAITS))

    def merge(_: Run) -> Upload:
        systems.rename_system(system, "CLAIMS2", people.owner, merge=True)
        assert Run.objects.get().holds == f"system {other.pk}", "it has the other system for itself from now on"
        raise collecting.Failed("no such login", "make one")

    monkeypatch.setattr(collecting, "collect", merge)
    assert (made(run).state, run.holds, run.system) == ("failed", None, other)
    other.refresh_from_db()
    assert other.trouble.startswith(f"run {run.pk} of hourly: no such login")


def test_a_merge_leaves_each_run_its_own_where_both_systems_have_one(people: People) -> None:
    system, other = make_system(people.team), make_system(people.team, "CLAIMS2")
    for one, name in ((system, "one"), (other, "two")):
        run = collected(people.team, one, name, state="running", holds=f"system {one.pk}")
        assert running.holds_of(run) == run.holds
    systems.rename_system(system, "CLAIMS2", people.owner, merge=True)
    held = Run.objects.order_by("pk").values_list("holds", "system")
    assert list(held) == [(f"system {system.pk}", other.pk), (f"system {other.pk}", other.pk)]


def test_a_run_that_fails_for_good_after_a_merge_starts_what_waited_for_the_other_system(
    people: People, probe: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe(f"cat {SYSMON}")
    system, other = make_system(people.team), make_system(people.team, "CLAIMS2")
    run = collected(people.team, system)
    waiting = collected(people.team, other, "two")
    collect = collecting.collect

    def merge(one: Run) -> Upload:
        monkeypatch.undo()
        systems.rename_system(system, "CLAIMS2", people.owner, merge=True)
        assert made(waiting).state == "waiting", "one run of a system at a time"
        return collect(one)

    monkeypatch.setattr(collecting, "collect", merge)
    made(run)
    waiting.refresh_from_db()
    assert waiting.queued is not None


@pytest.mark.django_db(transaction=True)
def test_a_schedule_removed_during_a_look_is_no_fault(
    drop: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (drop / "sysmon.txt").write_bytes(SYSMON.read_bytes())
    run = due_run(make_schedule(make_people().team, folder=str(drop)))
    look = intake.look

    def remove_and_look(schedule: Schedule, one: Run) -> intake.Looked:
        Schedule.objects.all().delete()
        return look(schedule, one)

    monkeypatch.setattr(intake, "look", remove_and_look)
    with caplog.at_level(logging.DEBUG, "advisor"):
        running.make_run(run.pk)
    assert not Run.objects.exists()
    assert not DropFile.objects.exists()
    told = [(one.levelname, one.getMessage()) for one in caplog.records if one.name == running.__name__]
    assert told == [("DEBUG", f"run {run.pk} was removed with its schedule while it was made")]


def _ended(run: Run) -> None:
    running._end(run, "told")


def _given_up(run: Run) -> None:
    running._give_up(run, "no such login\nmake one")


def _lost(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(claimed=run.due.replace(year=2020), tries=9)
    running.reset_lost()


@pytest.mark.parametrize("end", [_ended, _given_up, _lost])
def test_whoever_ends_a_run_takes_its_schedule_first(people: People, end: Callable[[Run], None]) -> None:
    run = collected(people.team, make_system(people.team, troubled=None), state="running")
    System.objects.update(troubled=run.due, trouble="run 1 of hourly: it failed\nlook")
    with CaptureQueriesContext(connection) as asked:
        end(run)
    assert _order(asked)[0] == "schedule"
    assert {"system", "run"} <= set(_order(asked))


def test_whoever_remembers_an_audit_takes_the_schedule_that_brought_it_before_its_system(
    people: People, probe: Probe, django_capture_on_commit_callbacks: Callable[..., object]
) -> None:
    probe(f"cat {SYSMON}")
    made(collected(people.team, make_system(people.team)))
    upload = Upload.objects.get()
    with CaptureQueriesContext(connection) as asked, transaction.atomic():
        post_audit.hold(upload)
        failures.audited(System.objects.get())
    assert _order(asked)[0] == "schedule"


def _order(asked: CaptureQueriesContext) -> list[str]:
    """The tables in the order in which their rows are held: read for update (SQLite: read by `_hold`), or written."""
    found: list[str] = []
    for query in asked.captured_queries:
        sql = query["sql"]
        for table, name in (("schedules_schedule", "schedule"), ("systems_system", "system"), ("schedules_run", "run")):
            held = sql.startswith(f'UPDATE "{table}"') and "claimed" not in sql.partition("WHERE")[0]
            locked = sql.startswith('SELECT "schedules_schedule"."id"') and name == "schedule"
            if held or locked:
                found.append(name)
    return found


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("end", [_ended, _given_up])
def test_a_run_ends_and_its_schedule_is_paused_at_the_same_moment(end: Callable[[Run], None]) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("a database in memory has one connection")
    people = make_people()
    errors: list[BaseException] = []

    def at_once(do: Callable[[], object], barrier: threading.Barrier) -> None:
        try:
            barrier.wait()
            do()
        except BaseException as error:  # noqa: BLE001 - told below
            errors.append(error)
        finally:
            connections.close_all()

    for number in range(15):
        system = make_system(people.team, f"S{number}")
        run = collected(people.team, system, f"s{number}", state="running")
        trouble = f"run {run.pk} of s{number}: it failed\nlook"
        System.objects.filter(pk=system.pk).update(troubled=run.due, trouble=trouble)
        Schedule.objects.filter(pk=run.schedule_id).update(troubled=run.due, trouble="run 1 of it failed\nlook")
        together = threading.Barrier(2)
        threads = [
            threading.Thread(target=at_once, args=(lambda run=run: end(run), together)),
            threading.Thread(
                target=at_once, args=(lambda run=run: schedules.pause(run.schedule, people.owner), together)
            ),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not errors
    assert not Run.objects.filter(state="running").exists()
