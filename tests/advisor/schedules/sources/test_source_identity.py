"""A server that is not the one that was asked before never gets into its history; a click takes it on."""

from collections.abc import Iterator
from typing import Any, LiteralString

import psycopg
import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.audits.models import Capture
from advisor.core import job_queue
from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.schedules.models import DataSource, Run
from advisor.schedules.sources import data_sources, identity
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.schedules.scheduling import made, make_schedule
from tests.advisor.schedules.sources.asked import make_source, of_server, wish
from tests.live.running import Serving, serving
from tests.longer import first_of
from tests.servers import postgres_server

pytestmark = pytest.mark.postgres

Commit = DjangoCaptureOnCommitCallbacks
LATER = "Adaptive Server Enterprise/16.0 SP04 PL03/EBF 30399/P/x86_64/Linux/ase160sp04/1/64-bit/FBO/x"
EARLIER = "Adaptive Server Enterprise/15.7/EBF 20369 SMP SP61 /P/x86_64/Linux/ase157/1/64-bit/FBO/x"


def run_of(system: System, why: str = "due") -> Run:
    schedule = system.schedules.first() or make_schedule(
        system.team, "live", source="collector", collector=system.product, folder="", system=system
    )
    return Run.objects.create(schedule=schedule, system=system, due=timezone.now(), why=why)


def moved(source: DataSource, to: Serving | str) -> None:
    """Have a source lead to another server, as a name server that tells otherwise does: nobody has changed it."""
    values: dict[str, Any] = {"odbc": to} if isinstance(to, str) else {"port": to.port}
    DataSource.objects.filter(pk=source.pk).update(**values)


@first_of(
    1,
    ("faults", "says"),
    [
        (("renamed=BREAKWATER",), "it was TIDEWAY, and is now BREAKWATER"),
        (("renamed=",), "it was TIDEWAY, and is now a server without a name"),
        ((f"version={LATER}",), "it goes by the same name, but its version was"),
        ((f"version={EARLIER}",), "it goes by the same name, but its version was"),
        (("engines=3",), "it goes by the same name, but it had 8 engines, and has now 3"),
    ],
)
def test_another_server_is_stopped_named_and_taken_on_by_a_click(
    people: People,
    system: System,
    as_user: AsUser,
    django_capture_on_commit_callbacks: Commit,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    faults: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.setattr("advisor.schedules.sources.data_sources.belongs_to", lambda source: "the same")
    with serving("16.0", pace=20) as first, serving("16.0", pace=20, faults=faults) as second:
        source = of_server(system, people.owner, first, password=first.password)
        with django_capture_on_commit_callbacks(execute=True):
            assert made(run_of(system)).state == "done"
        before = Capture.objects.count(), Upload.objects.count()
        moved(source, second)
        with django_capture_on_commit_callbacks(execute=True):
            run = made(run_of(system))
        assert run.state == "failed"
        assert "another server answers than before" in run.error
        assert says in run.error
        assert "take it on: on the page of the data source" in run.error
        assert (Capture.objects.count(), Upload.objects.count()) == before
        system.refresh_from_db()
        assert says in system.trouble, "it is mailed and shown as other troubles are"
        assert says in JournalEntry.objects.get(action="data source stopped").what
        source.refresh_from_db()
        olga = as_user(people.owner)
        page = text_of(olga, f"/sources/{source.pk}/")
        assert "Take it on" in page
        assert "Nothing is collected from here" in page
        olga.post(f"/sources/{source.pk}/take-on/", {"seen": "something else"})
        source.refresh_from_db()
        assert source.other, "another one than the page showed is not taken on"
        olga.post(f"/sources/{source.pk}/take-on/", {"seen": source.other["at"]})
        with django_capture_on_commit_callbacks(execute=True):
            run = made(run_of(system))
        assert run.state == "done", run.error
    source.refresh_from_db()
    assert not source.other
    assert System.objects.count() == 1, "it goes on in the history of the system"
    assert system.captures.count() == 2


def by_odbc(server: Serving) -> str:
    return f"DRIVER=FreeTDS;SERVER={server.host};PORT={server.port};UID={server.user};"


def test_a_server_that_does_not_say_who_it_is_is_not_taken_and_is_asked_again_by_itself(
    people: People,
    system: System,
    as_user: AsUser,
    django_capture_on_commit_callbacks: Commit,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("advisor.schedules.sources.data_sources.belongs_to", lambda source: "the same")
    with serving("16.0", pace=20) as first, serving("16.0", pace=20, faults=("missing-table=sysengines",)) as second:
        way = {"host": "", "port": None, "user": "", "seconds": 5, "password": first.password}
        source = make_source(system, people.owner, **{**way, "odbc": by_odbc(first)})
        with django_capture_on_commit_callbacks(execute=True):
            assert made(run_of(system)).state == "done"
        moved(source, by_odbc(second))
        run = made(run_of(system))
        assert run.state == "waiting"
        assert "it had 8 engines, and does not say how many it has now" in run.error
        assert Capture.objects.count() == 1
        source.refresh_from_db()
        assert "Take it on" in text_of(as_user(people.owner), f"/sources/{source.pk}/")
        moved(source, by_odbc(first))
        with django_capture_on_commit_callbacks(execute=True):
            assert made(run_of(system, "now")).state == "done"
    source.refresh_from_db()
    assert not source.other, "it said who it is: nobody has to click"


def test_a_second_source_that_leads_to_another_server_does_not_join_the_history(
    people: People, system: System, django_capture_on_commit_callbacks: Commit
) -> None:
    with serving("16.0", pace=20) as first, serving("16.0", pace=20, faults=("renamed=BREAKWATER",)) as second:
        one = of_server(system, people.owner, first)
        with django_capture_on_commit_callbacks(execute=True):
            made(run_of(system))
        first.kill()
        DataSource.objects.filter(pk=one.pk).update(name="a")
        of_server(system, people.owner, second, name="b")
        run = made(run_of(system))
    says = "b: another server answers than before: it is BREAKWATER, and what TIDEWAY has was collected from TIDEWAY"
    assert says in run.error
    assert Capture.objects.count() == 1


@pytest.fixture
def ledger() -> Iterator[tuple[psycopg.Connection, str]]:
    """A line to a database that says who it is as one of Rdb does, and the connection string that leads there."""
    with postgres_server() as server, psycopg.connect(server.make("ledger"), autocommit=True) as line:
        line.execute("create table rdb$database (rdb$file_name text, rdb$maj_ver integer)")
        line.execute("insert into rdb$database values ('DISK:[L]LEDGER.RDB;1', 72)")
        line.execute("create table rdb$caches (rdb$cache_size integer, rdb$cache_name text)")
        line.execute("insert into rdb$caches values (900, 'POSTINGS')")
        port = server.address.rsplit(":", 1)[1]
        yield line, f"DRIVER={{PostgreSQL Unicode}};SERVER=127.0.0.1;PORT={port};DATABASE=ledger;UID=postgres;"


@pytest.mark.parametrize(
    ("change", "says", "state"),
    [
        ("update rdb$database set rdb$file_name = 'DISK:[L]OTHER.RDB;1'", "and is now DISK:[L]OTHER.RDB;1", "failed"),
        ("drop table rdb$database", "it was DISK:[L]LEDGER.RDB;1, and does not say who it is", "waiting"),
    ],
)
def test_another_database_of_rdb_is_stopped_and_taken_on(
    people: People,
    ledger: tuple[psycopg.Connection, str],
    as_user: AsUser,
    django_capture_on_commit_callbacks: Commit,
    change: LiteralString,
    says: str,
    state: str,
) -> None:
    rdb = System.objects.create(team=people.team, product="rdb", name="LEDGER", key="LEDGER")
    line, where = ledger
    source = make_source(rdb, people.owner, host="", odbc=where, password="")
    with django_capture_on_commit_callbacks(execute=True):
        assert made(run_of(rdb)).state == "done"
    line.execute(change)
    run = made(run_of(rdb))
    assert (run.state, says in run.error) == (state, True), run.error
    assert Upload.objects.count() == 1
    source.refresh_from_db()
    as_user(people.owner).post(f"/sources/{source.pk}/take-on/", {"seen": source.other["at"]})
    with django_capture_on_commit_callbacks(execute=True):
        assert made(run_of(rdb, "now")).state == "done"
    assert (Upload.objects.count(), System.objects.count()) == (2, 1)


def test_who_only_reads_takes_nothing_on(people: People, system: System, as_user: AsUser) -> None:
    source = make_source(system, people.owner)
    source.other = {"server": "B", "version": "", "engines": 1, "says": "x", "at": "then"}
    source.save()
    people.mate.role = "viewer"
    people.mate.save()
    assert as_user(people.mate).post(f"/sources/{source.pk}/take-on/", {"seen": "then"}).status_code == 403
    source.refresh_from_db()
    assert source.other


def test_the_name_of_another_system_is_not_taken_on(people: People, system: System) -> None:
    System.objects.create(team=system.team, product="ase", name="B", key="B")
    source = make_source(system, people.owner)
    source.other = {"server": "B", "version": "", "engines": 1, "says": "x", "at": "then"}
    source.save()
    with pytest.raises(Refused, match="B is the name of another system"):
        identity.take_on(source, "then", people.owner)


@pytest.mark.long
def test_sizes_are_asked_weekly_unless_asked_for(
    people: People, system: System, django_capture_on_commit_callbacks: Commit
) -> None:
    with serving("16.0", pace=20) as server:
        of_server(system, people.owner, server)
        asked = []
        for why in ("due", "due", "now"):
            before = len(server.batches())
            with django_capture_on_commit_callbacks(execute=True):
                run = made(run_of(system, why))
            assert run.state == "done", run.error
            asked.append(any("data_pages" in text for text in server.batches()[before:]))
    assert asked == [True, False, True]


def test_a_question_that_is_left_out_by_the_source_is_not_asked_and_a_lost_one_is_named(
    people: People, system: System, as_user: AsUser, django_capture_on_commit_callbacks: Commit
) -> None:
    with serving("16.0", pace=20, faults=("missing-table=monLocks",)) as server:
        source = of_server(system, people.owner, server, without="cached_objects, tables")
        with django_capture_on_commit_callbacks(execute=True):
            run = made(run_of(system))
        assert not [text for text in server.batches() if "monCachedObject" in text or "data_pages" in text]
    assert run.state == "done"
    assert "not answered: monLocks" in run.told
    page = text_of(as_user(people.owner), f"/sources/{source.pk}/")
    assert "Not answered at the last collection" in page
    assert "cached_objects, tables" in page


@pytest.mark.long
def test_a_login_that_may_too_much_is_warned_of_after_each_collection(
    people: People, system: System, as_user: AsUser, django_capture_on_commit_callbacks: Commit
) -> None:
    with serving("16.0", pace=20) as server, serving("16.0", pace=20, faults=("no-sa-role", "no-sso-role")) as mended:
        source = of_server(system, people.owner, server)
        with django_capture_on_commit_callbacks(execute=True):
            assert made(run_of(system)).state == "done"
        page = text_of(as_user(people.owner), f"/sources/{source.pk}/")
        assert "At the last collection the login has sa_role: it may change, stop and empty the server" in page
        assert "the login has sso_role: it may give itself any role" in page
        assert "sp_role &#39;revoke&#39;, sso_role, &lt;login&gt;" in page
        data_sources.change(
            source,
            wish(host=mended.host, port=mended.port, user=mended.user, password=mended.password, seconds=5),
            people.owner,
        )
        with django_capture_on_commit_callbacks(execute=True):
            assert made(run_of(system)).state == "done"
    assert "At the last collection the login has" not in text_of(as_user(people.owner), f"/sources/{source.pk}/")


def test_silent_servers_have_no_more_than_their_share_and_a_live_one_is_asked(
    people: People, system: System, django_capture_on_commit_callbacks: Commit, settings: Settings
) -> None:
    settings.SILENT_AT_ONCE = 1
    other = System.objects.create(team=system.team, product="ase", name="MUTE", key="MUTE")
    with serving("16.0", pace=20) as live, serving("16.0", faults=("silent-accept",)) as mute:
        of_server(system, people.owner, live)
        silent = of_server(other, people.owner, mute)
        run = made(run_of_other(other))
        assert run.state == "waiting"
        assert "said nothing more, at the login" in run.error
        silent.refresh_from_db()
        assert silent.silent, "from now on it is waited for within the share alone"
        logins = len(mute.requests())
        with job_queue.leased("silent 0") as had:
            assert had
            Run.objects.filter(pk=run.pk).delete()
            run = made(run_of_other(other))
            assert (run.state, run.tries) == ("waiting", 0), "nothing was wrong: it waits for its turn"
            assert "did not answer the last time" in run.told
            assert len(mute.requests()) == logins, "it was not asked"
            with django_capture_on_commit_callbacks(execute=True):
                assert made(run_of(system)).state == "done", "the live one is asked at once"


def run_of_other(system: System) -> Run:
    schedule = system.schedules.first() or make_schedule(
        system.team, "mute", source="collector", collector="ase", folder="", system=system
    )
    return Run.objects.create(schedule=schedule, system=system, due=timezone.now())
