"""A live server is asked by a schedule or by hand, and what it says is audited, shown and mailed as any export."""

import re

import psycopg
import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.audits.models import Audit
from advisor.schedules.models import Run
from advisor.schedules.services import collecting
from advisor.schedules.services.collecting import Failed, collect
from advisor.schedules.sources import by_hand
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.schedules.scheduling import made, make_schedule
from tests.advisor.schedules.sources.asked import OTHER_KEY, SECRET, make_source, of_server
from tests.live.login import USER
from tests.live.running import serving
from tests.servers import postgres_server

pytestmark = pytest.mark.postgres

Commit = DjangoCaptureOnCommitCallbacks


def run_of(system: System, **more: object) -> Run:
    schedule = make_schedule(system.team, "live", source="collector", collector="ase", folder="", system=system, **more)
    return Run.objects.create(schedule=schedule, system=system, due=timezone.now())


def test_what_is_collected_now_is_audited_and_names_source_and_time_and_no_login(
    people: People, system: System, as_user: AsUser, django_capture_on_commit_callbacks: Commit
) -> None:
    with serving("16.0", pace=20) as server:
        of_server(system, people.owner, server, name="front door")
        with django_capture_on_commit_callbacks(execute=True):
            schedule = by_hand.collect_now(system, people.owner)
        kinds = {one["kind"] for one in server.requests()}
    run = Run.objects.get()
    assert run.state == "done", run.error
    upload = Upload.objects.get()
    assert (upload.origin, upload.collected_from, upload.run, upload.state) == ("schedule", "front door", run, "done")
    audit = Audit.objects.filter(system=system).latest("pk")
    olga = as_user(people.owner)
    for address in (f"/audits/{audit.pk}/", f"/uploads/{upload.pk}/", f"/schedules/{schedule.pk}/"):
        page = text_of(olga, address)
        assert server.password not in page
        assert f">{USER}<" not in page
    page = text_of(olga, f"/audits/{audit.pk}/")
    assert "collected live from data source front door" in page
    assert f"{timezone.localtime(upload.at):%Y-%m-%d %H:%M}" in page
    for form in ("txt", "html", "json"):
        report = text_of(olga, f"/audits/{audit.pk}/report.{form}")
        assert server.password not in report
        # the port alone may stand in any figure or address of a document
        assert server.host not in report
        assert not re.search(rf"(?<![\w.,]){server.port}(?![\w.,])", report)
        assert '"source": "front door"' in report or "ollected live from data source front door, 20" in report
    assert "password in clear" not in kinds
    assert "prepared statement" not in kinds


def test_a_database_of_rdb_is_asked_now_and_what_it_says_is_taken_in(
    people: People, django_capture_on_commit_callbacks: Commit
) -> None:
    rdb = System.objects.create(team=people.team, product="rdb", name="LEDGER", key="LEDGER")
    with postgres_server() as server:
        with psycopg.connect(server.make("ledger"), autocommit=True) as line:
            line.execute("create table rdb$caches (rdb$cache_size integer, rdb$cache_name text)")
            line.execute("insert into rdb$caches values (900, 'POSTINGS')")
        port = server.address.rsplit(":", 1)[1]
        where = f"DRIVER=PostgreSQL Unicode;SERVER=127.0.0.1;PORT={port};DATABASE=ledger;UID=postgres"
        make_source(rdb, people.owner, name="ledger", host="", odbc=where)
        with django_capture_on_commit_callbacks(execute=True):
            schedule = by_hand.collect_now(rdb, people.owner)
            assert by_hand.collects(rdb) == schedule
    run = Run.objects.get()
    upload = Upload.objects.get()
    assert (schedule.collector, upload.collected_from, upload.run) == ("rdb", "ledger", run)
    assert upload.state == "done", upload.error


def test_the_next_source_is_asked_where_the_first_does_not_answer(
    people: People, system: System, django_capture_on_commit_callbacks: Commit
) -> None:
    with serving("16.0", pace=20) as server:
        make_source(system, people.owner, name="a first", host="127.0.0.1", port=1)
        of_server(system, people.owner, server, name="b second")
        with django_capture_on_commit_callbacks(execute=True):
            upload = collect(run_of(system))
    assert upload.collected_from == "b second"


def test_each_source_that_failed_is_told_with_the_remedy_and_without_the_password(
    people: People, system: System
) -> None:
    with serving("16.0") as server:
        of_server(system, people.owner, server, name="a first", password=SECRET)
        make_source(system, people.owner, name="b second", host="127.0.0.1", port=1)
        run = made(run_of(system))
    assert run.state == "failed"  # a refused login among them: it is not sent again
    assert run.error.startswith("a first: ")
    assert "; b second: " in run.error
    assert SECRET not in run.error


def test_a_refused_login_is_not_tried_again_by_itself_because_a_server_may_lock_it(
    people: People, system: System
) -> None:
    with serving("16.0") as server:
        of_server(system, people.owner, server, password=SECRET)
        run = made(run_of(system))
    assert run.state == "failed"
    assert "see that login and password are right" in run.error


def test_a_system_without_a_source_says_where_one_is_added(people: People, system: System) -> None:
    with pytest.raises(Failed) as failed:
        collect(run_of(system))
    assert (failed.value.says, failed.value.do) == (
        "TIDEWAY has no data source to be asked by",
        "add one: on its page, under Data sources",
    )


def test_a_wrong_key_fails_the_run_with_what_to_do(people: People, system: System, settings: Settings) -> None:
    make_source(system, people.owner, host="127.0.0.1", port=1)
    settings.SOURCE_KEYS = [OTHER_KEY]
    run = made(run_of(system))
    assert run.state == "waiting"
    assert run.error.splitlines() == [
        "harbour: the password was sealed with another key than this machine has",
        "put that key behind the ones of LOCKWRIGHT_KEY or of its file, or type the password again",
    ]


def test_a_place_that_is_not_allowed_any_more_fails_the_run(people: People, system: System, settings: Settings) -> None:
    make_source(system, people.owner, host="127.0.0.1")
    settings.ALLOWED_SOURCES = ["10.0.0.0/8"]
    with pytest.raises(Failed, match=r"harbour: 127\.0\.0\.1 is outside of what this service may ask"):
        collect(run_of(system))


def test_each_product_has_its_own_collector_of_sources() -> None:
    assert [one.name for one in collecting.offered("ase")] == ["ase"]
    assert [one.name for one in collecting.offered("rdb")] == ["rdb"]
