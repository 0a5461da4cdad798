"""Who may add a data source gains no more by it: no other address, no file, no password in a page, no endless tries."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.schedules.models import DataSource, SourceTry
from advisor.schedules.sources import (
    by_hand,
    connection_test,
    data_sources,
    queries,
    strings,
)
from advisor.systems.models import System
from collectors.live.registry import CollectorFailed
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.schedules.scheduling import made
from tests.advisor.schedules.sources.asked import SECRET, make_source, of_server, wish
from tests.advisor.schedules.sources.test_source_collecting import run_of
from tests.advisor.schedules.sources.test_source_pages import BY_HOST, FORM
from tests.live.running import serving

Commit = DjangoCaptureOnCommitCallbacks
MORE = "x}};SERVER=169.254.169.254;DumpFile=/tmp/dump;APP={x"
"""FreeTDS ends a value in braces at `};`: what follows would be keywords."""


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"user": MORE.replace("}}", "}")}, "user"),
        ({"user": "a;b"}, "user"),
        ({"host": "fd00::1%x;Port=22"}, "host"),
        ({"host": "::1%eth0"}, "host"),
        ({"host": "", "odbc": "DRIVER=FreeTDS;SERVER=db1;UID={" + MORE + "}"}, "odbc"),
        ({"host": "", "odbc": "DRIVER=FreeTDS;SERVER=db1;UID=a;APP={" + MORE + "}"}, "odbc"),
        ({"host": "", "odbc": "DRIVER=FreeTDS;SERVER={::1%x;Port=22};UID=a"}, "odbc"),
        ({"host": "", "odbc": "DRIVER=FreeTDS;SERVER=::1%eth0;UID=a"}, "odbc"),
        ({"host": "", "odbc": "DRIVER=FreeTDS;SERVER=db1;PORT=5000 x;UID=a"}, "odbc"),
        ({"host": "", "odbc": "DRIVER=FreeTDS;SERVER=db1;UID=a;ENCRYPTION=off"}, "odbc"),
        ({"host": "", "odbc": "DRIVER=FreeTDS;SERVER=db1;UID=reader PWD=tiger"}, "odbc"),
        ({"password": "x};DumpFile=/tmp/dump;A={"}, "password"),
    ],
    ids=str,
)
def test_nothing_that_is_typed_becomes_a_further_keyword_for_the_driver(
    people: People, system: System, more: dict[str, Any], field: str
) -> None:
    with pytest.raises(Refused) as refused:
        make_source(system, people.owner, **more)
    assert refused.value.field == field
    assert not DataSource.objects.exists()


def test_freetds_is_no_driver_of_rdb_to_which_it_would_send_the_password_in_clear(people: People) -> None:
    rdb = System.objects.create(team=people.team, product="rdb", name="LEDGER", key="LEDGER")
    with pytest.raises(Refused, match="FreeTDS speaks to SAP ASE"):
        make_source(rdb, people.owner, host="", odbc="DRIVER=FreeTDS;SERVER=db1;UID=a")


@pytest.mark.parametrize(
    "typed",
    [
        "DRIVER=FreeTDS;SERVER=db1;UID=reader PWD=tiger",
        "DSN=prod p w d=tiger",
        "DSN=prod,Passwd=tiger",
        "DSN=prod;Pass Word=tiger;{",
        "ase://reader:tiger@db1.example.org:5000/",
    ],
)
def test_what_looks_like_a_password_comes_back_in_no_page_and_is_not_kept(
    people: People, system: System, as_user: AsUser, typed: str
) -> None:
    answer = as_user(people.owner).post("/sources/new/", {**FORM, "odbc": typed, "system": system.pk})
    assert answer.status_code == 400
    assert "tiger" not in answer.content.decode()
    assert "Something like a password stood in it" in answer.content.decode()
    assert not DataSource.objects.exists()


def test_an_address_of_the_command_line_in_the_field_of_the_host_loses_its_password(
    people: People, system: System, as_user: AsUser
) -> None:
    typed = {**BY_HOST, "host": "ase://reader:tiger@db1.example.org", "system": system.pk}
    answer = as_user(people.owner).post("/sources/new/", typed)
    assert answer.status_code == 400
    assert "tiger" not in answer.content.decode()


def test_the_keyword_of_saps_driver_that_encrypts_the_password_is_no_password() -> None:
    typed = "DRIVER={Adaptive Server Enterprise};SERVER=db1;UID=a;EncryptPassword=2"
    assert strings.taken_out(typed) == (typed, "")
    assert "ENCRYPTPASSWORD=2" in strings.checked(typed)


def test_a_source_that_is_removed_and_added_again_gives_its_maker_no_further_tries(
    people: People, system: System
) -> None:
    for number in range(connection_test.MOST_OF_PERSON):
        source = make_source(system, people.owner, name=f"a {number}")
        connection_test.ask(source, people.owner)
        data_sources.remove(source, people.owner)
    with pytest.raises(Refused, match="you have tried 30 times"):
        connection_test.ask(make_source(system, people.owner), people.owner)


def test_to_collect_by_hand_is_no_way_around_the_bound_of_tries(people: People, system: System) -> None:
    make_source(system, people.owner)
    for _ in range(connection_test.MOST_OF_SOURCE):
        by_hand.collect_now(system, people.owner)
    with pytest.raises(Refused, match="10 times within the hour"):
        by_hand.collect_now(system, people.mate)
    JournalEntry.objects.update(at=timezone.now() - 2 * connection_test.HOUR)
    assert by_hand.collect_now(system, people.owner)


def test_who_only_reads_learns_neither_address_nor_login_from_a_try_that_failed_or_from_the_journal(
    people: People, system: System, as_user: AsUser
) -> None:
    source = make_source(system, people.owner)
    connection_test.ask(source, people.owner)
    SourceTry.objects.update(state="failed", error="db1.example.org:5000 refuses the login reader\nlook", finished=NOW)
    carl = as_user(people.colleague)
    for address in (f"/sources/{source.pk}/", "/sources/", f"/systems/{system.pk}/"):
        page = text_of(carl, address)
        assert "harbour" in page
        assert "db1.example.org" not in page
        assert "reader" not in page
    assert "refuses the login reader" in text_of(as_user(people.owner), f"/sources/{source.pk}/")
    assert "db1.example.org" in text_of(as_user(people.owner), f"/systems/{system.pk}/")


NOW = timezone.now()


def test_a_run_that_failed_names_no_login(people: People, system: System) -> None:
    with serving("16.0") as server:
        of_server(system, people.owner, server, password=SECRET)
        run = made(run_of(system))
    assert "refuses the login" in run.error
    assert server.user not in run.error


def test_what_was_found_counts_no_more_once_the_source_leads_elsewhere_or_logs_in_otherwise(
    people: People, system: System, as_user: AsUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = make_source(system, people.owner, host="127.0.0.1")
    found = {"server": "TIDEWAY", "release": "16.0"}
    row = SourceTry.objects.create(source=source, by=people.owner, state="done", found=found, finished=NOW)
    data_sources.change(source, wish(host="127.0.0.1", name="b", password=""), people.owner)
    row.refresh_from_db()
    assert row.found, "its name says nothing of where it leads"
    data_sources.change(source, wish(host="127.0.0.2", name="b"), people.owner)
    row.refresh_from_db()
    assert (row.state, row.found) == ("done", {})
    olga = as_user(people.owner)
    assert "changed after that: what was found is true no more" in text_of(olga, f"/sources/{source.pk}/")
    assert "changed since, not tried again" in text_of(olga, "/sources/")


def test_a_try_during_which_the_source_is_changed_tells_nothing_of_it(
    people: People, system: System, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Commit
) -> None:
    source = make_source(system, people.owner, host="127.0.0.1")

    def change_meanwhile(*given: object) -> object:
        data_sources.change(source, wish(host="127.0.0.2"), people.mate)
        return type("Told", (), {"server": "OLD"})()

    monkeypatch.setattr(queries, "try_it", change_meanwhile)
    with django_capture_on_commit_callbacks(execute=True):
        row = connection_test.ask(source, people.owner)
    row.refresh_from_db()
    assert (row.state, row.found) == ("done", {})


def test_a_failure_whose_cause_speaks_of_the_password_leaves_without_its_cause() -> None:
    def fail() -> None:
        try:
            raise ValueError(f"at {SECRET}")
        except ValueError as cause:
            raise KeyError("something else") from cause

    with pytest.raises(RuntimeError) as raised, queries.without(SECRET):
        fail()
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__
    with pytest.raises(CollectorFailed), queries.without(SECRET):
        raise CollectorFailed(SECRET, "")


def test_what_copies_is_the_statement_without_the_words_beside_it(
    people: People, system: System, as_user: AsUser
) -> None:
    source = make_source(system, people.owner)
    how = "sp_configure 'enable monitoring', 1 (by a login with sa_role; dynamic)"
    found = {"server": "TIDEWAY", "missing": [["`enable monitoring` is off", how]]}
    SourceTry.objects.create(source=source, by=people.owner, state="done", found=found, finished=NOW)
    page = text_of(as_user(people.owner), f"/sources/{source.pk}/")
    assert '<code id="grant1">sp_configure &#39;enable monitoring&#39;, 1</code> (by a login with sa_role' in page


def test_who_removes_the_last_source_of_a_schedule_is_told(people: People, system: System, as_user: AsUser) -> None:
    source = make_source(system, people.owner)
    run_of(system)
    answer = as_user(people.owner).post(f"/sources/{source.pk}/remove/", follow=True)
    assert "The schedule live has no data source to ask any more" in answer.content.decode()


def test_nothing_is_shown_or_done_for_a_stranger_or_without_the_token_of_a_form(
    people: People, system: System, as_user: AsUser
) -> None:
    source = make_source(system, people.owner)
    one = f"/sources/{source.pk}/"
    pages = (one, "/sources/", "/sources/new/", f"{one}change/")
    deeds = (f"{one}try/", f"{one}remove/", f"{one}change/", "/sources/new/", f"/systems/{system.pk}/collect/")
    for address in (*pages, *deeds):
        for answer in (Client().get(address), Client().post(address, BY_HOST)):
            assert answer.status_code in (302, 405), address
            assert answer.status_code == 405 or answer["Location"].startswith("/login/")
    forged = Client(enforce_csrf_checks=True)
    forged.force_login(people.owner)
    for address in deeds:
        assert forged.post(address, BY_HOST).status_code == 403, address
    for address in (f"{one}try/", f"{one}remove/", f"/systems/{system.pk}/collect/"):
        assert as_user(people.owner).get(address).status_code == 405
    assert DataSource.objects.get() == source
    assert not SourceTry.objects.exists()
