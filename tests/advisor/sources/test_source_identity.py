"""A server that is not the one that was asked before never gets into its history; a click takes it on."""

from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.models import Capture, DataSource, JournalEntry, Run, System, Upload
from advisor.services import working
from advisor.services.sources import identity
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.schedules.scheduling import made, make_schedule
from tests.advisor.sources.asked import make_source, of_server
from tests.live.running import Serving, serving

pytestmark = pytest.mark.postgres

Commit = DjangoCaptureOnCommitCallbacks
LATER = "Adaptive Server Enterprise/16.0 SP04 PL03/EBF 30399/P/x86_64/Linux/ase160sp04/1/64-bit/FBO/x"
EARLIER = "Adaptive Server Enterprise/15.7/EBF 20369 SMP SP61 /P/x86_64/Linux/ase157/1/64-bit/FBO/x"


def run_of(system: System, why: str = "due") -> Run:
    schedule = system.schedules.first() or make_schedule(
        system.team, "live", source="collector", collector="ase", folder="", system=system
    )
    return Run.objects.create(schedule=schedule, system=system, due=timezone.now(), why=why)


def moved(source: DataSource, server: Serving) -> None:
    """Have a source lead to another server, as a mended name or a wrong port does."""
    values: dict[str, Any] = {"port": server.port}
    DataSource.objects.filter(pk=source.pk).update(**values)


@pytest.mark.parametrize(
    ("faults", "says"),
    [
        (("renamed=BREAKWATER",), "it was TIDEWAY, and is now BREAKWATER"),
        (("renamed=",), "it was TIDEWAY, and is now a server without a name"),
        ((f"version={EARLIER}",), "it goes by the same name, but its version was"),
        ((f"version={LATER}", "engines=3"), "and it had 8 engines, and has now 3"),
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
    monkeypatch.setattr("advisor.services.sources.data_sources.belongs_to", lambda source: "the same")
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


@pytest.mark.parametrize("fault", [f"version={LATER}", "engines=3"])
def test_an_upgrade_or_more_engines_alone_go_on_and_are_noted(
    people: People,
    system: System,
    django_capture_on_commit_callbacks: Commit,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
) -> None:
    monkeypatch.setattr("advisor.services.sources.data_sources.belongs_to", lambda source: "the same")
    with serving("16.0", pace=20) as first, serving("16.0", pace=20, faults=(fault,)) as second:
        source = of_server(system, people.owner, first)
        with django_capture_on_commit_callbacks(execute=True):
            made(run_of(system))
        moved(source, second)
        with django_capture_on_commit_callbacks(execute=True):
            assert made(run_of(system)).state == "done"
    assert JournalEntry.objects.filter(action="data source changed by itself").count() == 1


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
    with pytest.raises(identity.Refused, match="B is the name of another system"):
        identity.take_on(source, "then", people.owner)


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
        with working.leased("silent 0") as had:
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
