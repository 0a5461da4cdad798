"""A system answers to the names it had: exports, subfolders of a drop folder and collectors that go by one mean it."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from advisor.accounts.models import Team
from advisor.audits.models import Finding, LimitSetting
from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.schedules.models import Run
from advisor.systems.models import System
from advisor.systems.services import aliases
from advisor.systems.services.systems import let_go_of_name, rename_system
from advisor.uploads.models import Upload
from advisor.uploads.services.uploads import Brought, ingest
from tests.advisor.keeping import keeps
from tests.advisor.people import STORIES, AsUser, People, text_of
from tests.advisor.schedules.scheduling import Probe, collected, made, make_system
from tests.advisor.schedules.watch_folder import make_drop
from tests.advisor.seen import words_of

pytestmark = pytest.mark.postgres

shared = keeps("address_lock_storm")

STORY = STORIES / "address_lock_storm"
SYSMON = (STORY / "sysmon.txt").read_bytes()
LIMIT = "ase/address_lock_spinlock_contended.contention_percent"
Bring = Callable[..., Upload]


@pytest.fixture
def bring_file(people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Bring:
    """Bring a sysmon report of CLAIMS1, later than the story's by some days, and have it read."""

    def now(day: str = "11", team: Team | None = None, name: str = "") -> Upload:
        text = SYSMON.replace(b"11, 2026", f"{day}, 2026".encode()) + f"\n-- {day}\n".encode()
        with django_capture_on_commit_callbacks(execute=True):
            brought = [Brought("sysmon.txt", io.BytesIO(text))]
            upload = ingest(brought, team or people.team, people.owner, system_name=name).upload
        return Upload.objects.get(pk=upload.pk)

    return now


def named(team: Team) -> dict[str, list[str]]:
    return {one.name: one.former for one in System.objects.filter(team=team)}


def test_exports_that_name_a_former_name_go_to_that_system(people: People, storm: System, bring_file: Bring) -> None:
    rename_system(storm, "Ledger", people.owner)
    bring_file("18")
    assert named(people.team) == {"Ledger": ["CLAIMS1"]}
    assert storm.captures.count() == 2
    bring_file("19", team=people.other_team)
    assert named(people.other_team) == {"CLAIMS1": []}, "what another team had is none of its names"


def test_they_are_judged_by_the_limits_of_that_system_before_anything_is_written(
    people: People, storm: System, bring_file: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    LimitSetting.objects.create(system=storm, name=LIMIT, value=99.0)
    rename_system(storm, "Ledger", people.owner)
    monkeypatch.setattr(
        "advisor.audits.services.persistence.judge", lambda *given: pytest.fail("judged in the transaction")
    )
    bring_file("18")
    audit = storm.audits.latest("pk")
    assert audit.limits == {LIMIT: 99.0}
    assert not Finding.objects.filter(audit=audit, rule="address_lock_spinlock_contended").exists()


@pytest.mark.usefixtures("nothing_brought")
def test_the_exact_name_of_another_system_comes_first(people: People, bring_file: Bring) -> None:
    make_system(people.team, "Ledger", former=["CLAIMS1"])
    exact = make_system(people.team)
    make_system(people.team, "Elsewhere", former=["SPARE"])
    bring_file()
    assert exact.captures.count() == 1
    found = aliases.find(people.team, "ase", "claims1")
    assert found == exact
    other_product = aliases.find(people.team, "openvms", "SPARE")
    assert other_product is None, "a name is one of a product"


def test_a_system_renamed_while_exports_of_it_are_read_gets_them_all_the_same(
    people: People, storm: System, bring_file: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    def renamed_meanwhile(captures: list[Any], team: Team) -> list[Any]:
        rename_system(System.objects.get(pk=storm.pk), "Ledger", people.owner)
        return captures

    monkeypatch.setattr("advisor.systems.services.aliases.by_today", renamed_meanwhile)
    bring_file("18")
    assert named(people.team) == {"Ledger": ["CLAIMS1"]}


@pytest.mark.usefixtures("nothing_brought")
def test_looking_for_former_names_is_one_query_an_upload(
    people: People, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    from collectors.facts import Capture, Facts, Interval
    from collectors.facts import System as Read

    make_system(people.team, "Ledger", former=["CLAIMS1"])
    captures = [Capture(Read(name, "ase"), Interval(), Facts(())) for name in ("claims1", "Other") * 20]
    with django_assert_num_queries(1):
        found = aliases.by_today(captures, people.team)
    assert [one.system.name for one in found] == ["Ledger", "Other"] * 20


def test_a_name_that_is_taken_back_is_none_it_had_and_stays_the_one_of_the_server(
    people: People, storm: System
) -> None:
    for name in ("Ledger", "Books"):
        storm = rename_system(storm, name, people.owner)
    assert aliases.formerly(storm) == ["CLAIMS1", "Ledger"]
    storm = rename_system(storm, "claims1", people.owner)
    assert aliases.formerly(storm) == ["Ledger", "Books"]
    assert aliases.collected_as(storm) == "claims1"
    storm.refresh_from_db()
    assert storm.former == ["claims1", "Ledger", "Books"]


def test_a_name_of_another_case_is_no_other_name(people: People, storm: System) -> None:
    assert rename_system(storm, "Claims1", people.owner).former == []


def test_the_names_of_a_merged_system_are_those_of_the_other_one(people: People, storm: System) -> None:
    odd = make_system(people.team, "config", former=["export"])
    kept = rename_system(odd, "CLAIMS1", people.owner, merge=True)
    assert kept == storm
    kept.refresh_from_db()
    assert aliases.formerly(kept) == ["config", "export"]
    assert aliases.collected_as(kept) == "CLAIMS1", "what is merged into a server does not rename it"
    kept = rename_system(kept, "Ledger", people.owner)
    assert (aliases.formerly(kept), aliases.collected_as(kept)) == (["CLAIMS1", "config", "export"], "CLAIMS1")


def test_a_name_means_one_system(people: People, storm: System) -> None:
    rename_system(storm, "Ledger", people.owner)
    other = make_system(people.team, "SPARE")
    elsewhere = make_system(people.other_team, "X", former=["CLAIMS1"])
    rename_system(other, "CLAIMS1", people.owner)
    storm.refresh_from_db()
    elsewhere.refresh_from_db()
    assert storm.former == []
    assert elsewhere.former == ["CLAIMS1"], "what another team calls its own is left"


def test_a_collector_is_called_with_the_name_the_server_is_known_by(
    people: People, storm: System, probe: Probe, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    probe(f'test "$1" = CLAIMS1 && cat {STORY}/sysmon.txt && echo "-- again"')
    rename_system(storm, "Ledger", people.owner)
    with django_capture_on_commit_callbacks(execute=True):
        run = made(collected(people.team, System.objects.get(pk=storm.pk)))
    assert (run.state, run.error) == (Run.State.DONE, "")
    assert named(people.team) == {"Ledger": ["CLAIMS1"]}


def test_a_subfolder_with_a_former_name_speaks_for_the_system(people: People, drop: Path) -> None:
    make_system(people.team, "Ledger", former=["PROD/1", "OLD", "BOTH"])
    make_system(people.team, "Other", former=["BOTH", "EXACT"])
    make_system(people.team, "EXACT")
    night = make_drop(people.team, drop)
    folders = ("both", "exact", "old", "prod-1")
    for folder in folders:
        night.put(f"{folder}/config.txt", f"of {folder}")
    of_folder = dict(zip(folders, (one.system_name for one in night.settle().uploads), strict=True))
    assert of_folder == {"both": "", "exact": "EXACT", "old": "Ledger", "prod-1": "Ledger"}


def test_the_page_says_what_it_was_called_and_lets_go_of_it(
    people: People, as_user: AsUser, storm: System, bring_file: Bring
) -> None:
    rename_system(storm, "Ledger", people.owner)
    olga, address = as_user(people.owner), f"/systems/{storm.pk}/"
    told = words_of(text_of(olga, address))
    assert "formerly CLAIMS1" in told
    assert "A collector is called with CLAIMS1" in told
    reader = text_of(as_user(people.colleague), address)
    assert "formerly CLAIMS1" in words_of(reader)
    assert f"{address}former/" not in reader
    answer = olga.post(f"{address}former/", {"name": "claims1"}, follow=True)
    assert "claims1 is not a name of Ledger any more" in words_of(answer.content.decode())
    assert "formerly" not in answer.content.decode()
    entry = JournalEntry.objects.get(action="former name let go")
    assert (entry.system, entry.what) == (storm, "Ledger is not claims1 any more")
    answer = olga.post(f"{address}former/", {"name": "<b>"}, follow=True)
    assert "Nothing let go: &lt;b&gt; is no name that Ledger had" in answer.content.decode()
    bring_file("18")
    assert set(named(people.team)) == {"Ledger", "CLAIMS1"}


def test_nobody_else_lets_go_of_a_name(people: People, as_user: AsUser, storm: System) -> None:
    rename_system(storm, "Ledger", people.owner)
    address = f"/systems/{storm.pk}/former/"
    assert as_user(people.colleague).post(address, {"name": "CLAIMS1"}).status_code == 403
    assert as_user(people.stranger).post(address, {"name": "CLAIMS1"}).status_code == 404
    assert as_user(people.owner).get(address).status_code == 405
    assert named(people.team) == {"Ledger": ["CLAIMS1"]}


def test_a_server_is_called_by_its_own_name_when_the_one_it_was_known_by_is_let_go(people: People) -> None:
    system = make_system(people.team, "Books", former=["CLAIMS1", "Ledger"])
    let_go_of_name(system, "CLAIMS1", people.owner)
    system.refresh_from_db()
    assert (aliases.collected_as(system), aliases.formerly(system)) == ("Books", ["Ledger"])
    with pytest.raises(Refused, match="books is no name that Books had"):
        let_go_of_name(system, "books", people.owner)
    let_go_of_name(system, "Ledger", people.owner)
    system.refresh_from_db()
    assert system.former == []
