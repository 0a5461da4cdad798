"""The pages of data sources: for members of the team alone, without any secret, also where something was wrong."""

import re
import sys

import pytest
from django.core.signals import got_request_exception
from django.http import HttpRequest
from django.test import Client
from django.views.debug import ExceptionReporter
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.core.models import JournalEntry
from advisor.schedules.models import (
    DataSource,
    Run,
    Schedule,
    SourceTry,
)
from advisor.schedules.sources import connection_test, keys, queries
from advisor.systems.models import System
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.schedules.sources.asked import SECRET, make_source

FORM = {"name": "harbour", "port": "5000", "seconds": "60"}
BY_HOST = {**FORM, "host": "db1.example.org", "user": "reader", "password": SECRET}


def test_a_dba_adds_a_source_to_a_system_and_its_password_is_in_no_page(
    people: People, system: System, as_user: AsUser
) -> None:
    olga = as_user(people.owner)
    page = text_of(olga, f"/sources/new/?team={people.team.pk}&system={system.pk}")
    assert f'<option value="{system.pk}" selected>TIDEWAY (SAP ASE)</option>' in page
    answer = olga.post(f"/sources/new/?team={people.team.pk}", {**BY_HOST, "system": system.pk}, follow=True)
    source = DataSource.objects.get()
    assert answer.redirect_chain == [(f"/sources/{source.pk}/", 302)]
    for address in ("/sources/", f"/sources/{source.pk}/", f"/sources/{source.pk}/change/", f"/systems/{system.pk}/"):
        page = text_of(olga, address)
        assert "harbour" in page
        assert "s3cr3t" not in page
        assert source.password_sealed not in page


def test_a_new_system_is_made_with_its_source_or_not_at_all(people: People, as_user: AsUser) -> None:
    olga = as_user(people.owner)
    new = {**BY_HOST, "system": "new", "new_system": "HARVEST", "product": "ase"}
    assert olga.post("/sources/new/", {**new, "host": "169.254.169.254"}).status_code == 400
    assert not System.objects.exists()
    assert not JournalEntry.objects.filter(action="system added").exists()
    assert olga.post("/sources/new/", new).status_code == 302
    assert DataSource.objects.get().system == System.objects.get(name="HARVEST")
    assert olga.post("/sources/new/", {**new, "new_system": ""}).status_code == 400


@pytest.mark.parametrize("more", [{"name": ""}, {"host": "no host!"}, {"port": "x"}, {"system": "999999"}], ids=str)
def test_a_form_that_is_not_taken_comes_back_without_its_password(
    people: People, system: System, as_user: AsUser, more: dict[str, str]
) -> None:
    answer = as_user(people.owner).post("/sources/new/", {**BY_HOST, "system": system.pk, **more})
    assert answer.status_code == 400
    page = answer.content.decode()
    assert "A password that you typed has to be typed again." in page
    assert "s3cr3t" not in page
    assert not DataSource.objects.exists()


def test_a_password_typed_into_the_connection_string_goes_into_the_secret_field(
    people: People, system: System, as_user: AsUser
) -> None:
    olga = as_user(people.owner)
    typed = "DRIVER={FreeTDS};SERVER=db1.example.org;UID=reader;PWD={s3;cr3t}"
    answer = olga.post("/sources/new/", {**FORM, "name": "", "odbc": typed, "system": system.pk})
    assert answer.status_code == 400
    assert "cr3t" not in answer.content.decode()
    answer = olga.post("/sources/new/", {**FORM, "odbc": typed, "system": system.pk})
    assert answer.status_code == 302
    source = DataSource.objects.get()
    assert source.odbc == "DRIVER=FreeTDS;SERVER=db1.example.org;UID=reader;"
    assert source.password_sealed
    broken = olga.post(f"/sources/{source.pk}/change/", {**FORM, "odbc": "DSN=a;PWD={s3cr3t"})
    assert broken.status_code == 302 or "s3cr3t" not in broken.content.decode()


def test_who_only_reads_sees_names_and_no_address_and_changes_nothing(
    people: People, system: System, as_user: AsUser
) -> None:
    source = make_source(system, people.owner)
    carl = as_user(people.colleague)
    page = text_of(carl, f"/sources/{source.pk}/")
    assert "harbour" in page
    assert "db1.example.org" not in page
    assert "reader" not in page
    for path in ("change/", "try/", "remove/"):
        assert carl.post(f"/sources/{source.pk}/{path}", BY_HOST).status_code == 403
    assert carl.get(f"/sources/{source.pk}/change/").status_code == 403
    assert carl.post(f"/systems/{system.pk}/collect/").status_code == 403
    assert carl.get("/sources/new/").status_code == 403
    assert not SourceTry.objects.exists()


def test_a_source_of_another_team_does_not_exist(people: People, system: System, as_user: AsUser) -> None:
    source = make_source(system, people.owner)
    sten = as_user(people.stranger)
    assert "harbour" not in text_of(sten, "/sources/")
    for path in ("", "change/", "try/", "remove/"):
        for verb in (sten.get, sten.post):
            assert verb(f"/sources/{source.pk}/{path}").status_code in (404, 405)
    assert sten.post(f"/systems/{system.pk}/collect/").status_code == 404
    assert sten.get(f"/sources/new/?team={people.team.pk}").status_code == 404
    own = {**BY_HOST, "system": system.pk}
    assert sten.post(f"/sources/new/?team={people.other_team.pk}", own).status_code == 400
    assert DataSource.objects.count() == 1


def tried(client: Client, source: DataSource, commit: DjangoCaptureOnCommitCallbacks) -> str:
    with commit(execute=True):
        assert client.post(f"/sources/{source.pk}/try/").status_code == 302
    return text_of(client, f"/sources/{source.pk}/")


def test_what_a_server_says_is_shown_as_text(
    people: People,
    system: System,
    as_user: AsUser,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    bad = "<script>alert(1)</script>"

    class Told:
        server = release = bad
        roles = problems = (bad,)
        switches = ((bad, "off"),)
        missing = ((bad, f"grant role {bad}"),)

    monkeypatch.setattr(queries, "try_it", lambda *given: Told())
    source = make_source(system, people.owner, host="127.0.0.1")
    page = tried(as_user(people.owner), source, django_capture_on_commit_callbacks)
    assert bad not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 6
    assert "What is missing" in page
    assert "The server calls itself" in page
    assert "something is missing" in text_of(as_user(people.owner), "/sources/")


def test_a_page_follows_a_try_and_stops_when_it_has_ended(people: People, system: System, as_user: AsUser) -> None:
    source = make_source(system, people.owner)
    connection_test.ask(source, people.owner)
    olga = as_user(people.owner)
    assert 'hx-trigger="every 1s"' in text_of(olga, f"/sources/{source.pk}/")
    SourceTry.objects.update(state="failed", error="no <i>answer</i>\nlook at the host")
    part = olga.get(f"/sources/{source.pk}/", headers={"HX-Request": "true"}).content.decode()
    assert part.lstrip().startswith('<div id="tried"')
    assert "hx-get" not in part
    assert "It cannot be asked: no &lt;i&gt;answer&lt;/i&gt;. What to do: look at the host." in part


def test_too_many_tries_are_refused_on_the_page(people: People, system: System, as_user: AsUser) -> None:
    source = make_source(system, people.owner)
    for _ in range(connection_test.MOST_OF_SOURCE):
        SourceTry.objects.create(source=source, by=people.owner, state="failed")
    answer = as_user(people.owner).post(f"/sources/{source.pk}/try/", follow=True)
    assert "Not tried: it was tried 10 times within the hour" in answer.content.decode()


def test_a_removed_source_takes_its_password_along_and_is_noted(
    people: People, system: System, as_user: AsUser
) -> None:
    source = make_source(system, people.owner)
    answer = as_user(people.owner).post(f"/sources/{source.pk}/remove/", follow=True)
    assert answer.redirect_chain == [(f"/systems/{system.pk}/", 302)]
    assert not DataSource.objects.exists()
    assert JournalEntry.objects.filter(action="data source removed", user=people.owner).count() == 1


def test_collect_now_needs_a_source_and_makes_one_schedule_that_rests(
    people: People, system: System, as_user: AsUser
) -> None:
    olga = as_user(people.owner)
    answer = olga.post(f"/systems/{system.pk}/collect/", follow=True)
    assert "Not started: TIDEWAY has no data source: add one first." in answer.content.decode()
    make_source(system, people.owner)
    assert "Collect now" in text_of(olga, f"/systems/{system.pk}/")
    for _ in range(2):
        olga.post(f"/systems/{system.pk}/collect/")
    schedule = Schedule.objects.get()
    assert (schedule.name, schedule.collector, schedule.next_due) == ("TIDEWAY by hand", "ase", None)
    assert schedule.paused
    assert [(run.why, run.by) for run in Run.objects.all()] == [("now", people.owner)], "one that waits is enough"


def test_collect_now_takes_the_schedule_there_is(people: People, system: System, as_user: AsUser) -> None:
    make_source(system, people.owner)
    olga = as_user(people.owner)
    made = {"name": "nightly", "what": f"system:{system.pk}", "source": "collector", "collector": "ase"}
    times = {"when": "every", "every_minutes": "60", "zone": "UTC", "after": "leave"}
    answer = olga.post(f"/schedules/new/?team={people.team.pk}", {**made, **times})
    assert answer.status_code == 302, answer.content.decode()
    olga.post(f"/systems/{system.pk}/collect/")
    assert Run.objects.get().schedule == Schedule.objects.get(name="nightly")


def test_a_schedule_that_asks_a_system_without_a_source_is_refused(
    people: People, system: System, as_user: AsUser
) -> None:
    made = {"name": "nightly", "what": f"system:{system.pk}", "source": "collector", "collector": "ase"}
    times = {"when": "every", "every_minutes": "60", "zone": "UTC", "after": "leave"}
    answer = as_user(people.owner).post("/schedules/new/", {**made, **times})
    assert answer.status_code == 400
    assert "TIDEWAY has no data source to be asked by: add one on its page first." in answer.content.decode()


def test_the_page_of_rdb_says_that_only_what_is_set_is_collected_by_odbc(people: People, as_user: AsUser) -> None:
    rdb = System.objects.create(team=people.team, product="rdb", name="LEDGER", key="LEDGER")
    source = make_source(rdb, people.owner, host="", odbc="DSN=LEDGER")
    page = text_of(as_user(people.owner), f"/sources/{source.pk}/")
    assert "By ODBC, Oracle Rdb tells what is set" in page
    assert "Locks, waits and rates come from RMU" in page
    assert "Collect from LEDGER now" in page
    assert "Collect now" in text_of(as_user(people.owner), f"/systems/{rdb.pk}/")


def test_no_field_of_the_form_is_filled_in_by_a_browser_with_its_password(
    people: People, system: System, as_user: AsUser
) -> None:
    source = make_source(system, people.owner)
    page = text_of(as_user(people.owner), f"/sources/{source.pk}/change/")
    field = re.search(r'<input type="password"[^>]*>', page)
    assert field
    assert 'autocomplete="new-password"' in field[0]
    assert "value=" not in field[0]
    answer = as_user(people.owner).get(f"/sources/{source.pk}/change/")
    assert "no-store" in answer["Cache-Control"]


def test_a_report_of_an_error_shows_no_password(
    people: People, system: System, as_user: AsUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: object) -> None:
        raise RuntimeError("something else")

    monkeypatch.setattr(keys, "ring", broken)
    reports: list[str] = []

    def report(sender: object, request: HttpRequest, **more: object) -> None:
        reports.append(ExceptionReporter(request, *sys.exc_info()).get_traceback_html())

    client = as_user(people.owner)
    client.raise_request_exception = False
    got_request_exception.connect(report)
    try:
        client.post("/sources/new/", {**BY_HOST, "system": system.pk})
        client.post("/sources/new/", {**FORM, "odbc": "DSN=a;PWD=s3cr3t-in-it", "system": system.pk})
    finally:
        got_request_exception.disconnect(report)
    assert len(reports) == 2
    assert "something else" in reports[0]
    assert not [line for text in reports for line in text.splitlines() if "s3cr3t" in line]
