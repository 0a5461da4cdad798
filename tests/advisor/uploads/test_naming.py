"""Exports that name no system: the page asks whose they are, and what was decided stays with what they were."""

import io
from collections.abc import Callable

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.findings.models import TrackedFinding
from advisor.findings.services import states
from advisor.systems.models import Group, Note, System
from advisor.systems.services.systems import rename_system
from advisor.uploads.models import Upload
from advisor.uploads.services.naming import name_exports, unnamed_files, unnamed_upload
from advisor.uploads.services.uploads import Brought, ingest
from tests.advisor.people import STORIES, AsUser, People, text_of
from tests.advisor.seen import words_of

pytestmark = pytest.mark.postgres

STORY = STORIES / "address_lock_storm"
LISTING = (STORY / "config.txt").read_bytes()
TABLES = (STORIES / "untrusted_without_times" / "monitoring.txt").read_bytes()
"""Of a server that it does not name, with findings."""
Bring = Callable[..., Upload]


@pytest.fixture
def listing(people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Bring:
    """Bring listings that name no server, each file with its bytes, and have them read."""

    def now(name: str = "", **files: bytes) -> Upload:
        with django_capture_on_commit_callbacks(execute=True):
            brought = [Brought(f"{file}.txt", io.BytesIO(data)) for file, data in files.items()]
            upload = ingest(brought, people.team, people.owner, system_name=name).upload
        return Upload.objects.get(pk=upload.pk)

    return now


@pytest.fixture
def name(people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Callable[..., Upload]:
    """Say whose the files of an upload are, and have it read again."""

    def now(upload: Upload, for_all: str = "", **names: str) -> Upload:
        with django_capture_on_commit_callbacks(execute=True):
            given = {f"{file}.txt": one for file, one in names.items()}
            name_exports(Upload.objects.get(pk=upload.pk), people.owner, for_all, given)
        return Upload.objects.get(pk=upload.pk)

    return now


def systems() -> dict[str, int]:
    return {one.name: one.captures.count() for one in System.objects.order_by("name")}


def test_an_upload_knows_which_of_its_files_nobody_named(listing: Bring, bring: Bring) -> None:
    alone = listing(config=LISTING)
    assert (alone.unnamed, unnamed_files(alone)) == (1, ["config.txt"])
    assert systems() == {"config": 1}
    assert bring("address_lock_storm").unnamed == 0, "the listing came with the one server it can be of"
    assert listing("PROD1", config=LISTING).unnamed == 0
    alone.origin = "example"
    assert unnamed_files(alone) == []


def test_the_page_asks_for_the_system_of_each_and_nobody_is_asked_twice(
    people: People, listing: Bring, name: Callable[..., Upload], as_user: AsUser
) -> None:
    upload = listing(one=LISTING, two=LISTING + b"\n", three=LISTING + b"\n\n")
    address, olga = f"/uploads/{upload.pk}/", as_user(people.owner)
    html = text_of(olga, address)
    assert "Which systems are these? 3 files name no system" in words_of(html)
    assert html.count('placeholder="new name, or one of your systems"') == 3
    assert html.count('name="file" value="one.txt"') == 1, "a file has one field"
    assert "3 files name no system" in words_of(text_of(olga, "/uploads/?state=unnamed"))
    assert '<a href="/uploads/?state=unnamed">1 upload of systems without a name</a>' in text_of(olga, "/")
    reader = text_of(as_user(people.colleague), address)
    assert "Somebody with the role of a DBA can say so here." in reader
    assert 'form="belonging"' not in reader
    name(upload, one="PROD1", two="PROD2")
    html = text_of(olga, address)
    assert "Which system is this? 1 file names no system" in words_of(html)
    assert 'value="PROD1"' in html, "what was chosen can be chosen anew below"
    name(upload, three="PROD2")
    assert "Which system" not in text_of(olga, address)
    assert "without a name" not in text_of(olga, "/")
    assert f"Upload {upload.pk}" not in text_of(olga, "/uploads/?state=unnamed")
    assert systems() == {"PROD1": 1, "PROD2": 1}, "two listings of one server are one capture"


def test_what_was_decided_of_it_is_that_of_the_system_it_gets_the_name_of(
    people: People, listing: Bring, name: Callable[..., Upload]
) -> None:
    upload = listing(config=TABLES)
    system = System.objects.get()
    tracked = system.tracked.get(rule="ase/lock_hash_spinlock_contended")
    states.comment(people.owner, [tracked.pk], "seen before")
    Note.objects.create(system=system, by=people.owner, text="of the file")
    Group.objects.create(team=people.team, name="Night").systems.add(system)
    name(upload, config="PROD1")
    now = System.objects.get()
    assert (now.pk, now.name, now.former) == (system.pk, "PROD1", []), "no other file called config is of PROD1"
    assert now.captures.count() == 1
    tracked = TrackedFinding.objects.get(pk=tracked.pk)
    assert tracked.events.filter(text="seen before").exists()
    assert (tracked.system, tracked.presence, tracked.seen) == (now, "standing", 1)
    assert tracked.finding is not None
    assert tracked.finding.audit.capture.upload == upload
    assert now.notes.get().text == "of the file"
    assert [one.name for one in now.groups.all()] == ["Night"]
    assert JournalEntry.objects.get(action="system renamed").what == "config to PROD1"


def test_a_system_that_is_there_takes_all_of_it_over(
    people: People, storm: System, listing: Bring, name: Callable[..., Upload]
) -> None:
    upload = listing(config=LISTING + b"\n")
    Note.objects.create(system=System.objects.get(name="config"), by=people.owner, text="of the file")
    name(upload, config="claims1")
    storm.refresh_from_db()
    assert systems() == {"CLAIMS1": 2}
    assert storm.former == []
    assert storm.notes.get().text == "of the file"
    assert upload.captures.get().system == storm
    assert JournalEntry.objects.get(action="systems merged").what == "config into CLAIMS1"


def test_a_former_name_means_the_system_that_had_it(
    people: People, storm: System, listing: Bring, name: Callable[..., Upload]
) -> None:
    rename_system(storm, "Ledger", people.owner)
    name(listing(config=LISTING + b"\n"), config="CLAIMS1")
    assert systems() == {"Ledger": 2}
    storm.refresh_from_db()
    assert storm.former == ["CLAIMS1"]


def test_of_a_name_that_two_uploads_share_only_what_was_named_moves(
    people: People, listing: Bring, name: Callable[..., Upload]
) -> None:
    first, second = listing(config=LISTING), listing(config=LISTING + b"\n")
    system = System.objects.get()
    assert system.captures.count() == 2
    assert unnamed_upload(system) == second
    name(second, config="PROD2")
    assert systems() == {"PROD2": 1, "config": 1}
    assert unnamed_upload(System.objects.get(name="config")) == first
    assert unnamed_upload(System.objects.get(name="PROD2")) is None


def test_a_name_for_all_of_them_makes_them_one_system(
    people: People, listing: Bring, name: Callable[..., Upload]
) -> None:
    upload = name(listing(one=LISTING, two=LISTING + b"\n"), "PROD1")
    assert list(systems()) == ["PROD1"]
    assert (upload.unnamed, upload.system_name) == (0, "PROD1")


def test_nothing_moves_where_the_upload_cannot_be_read_again(people: People, listing: Bring) -> None:
    upload = listing(config=LISTING)
    Upload.objects.filter(pk=upload.pk).update(state=Upload.State.READING)
    with pytest.raises(Refused, match="being read just now"):
        name_exports(upload, people.owner, "", {"config.txt": "PROD1"})
    assert systems() == {"config": 1}
    assert not JournalEntry.objects.filter(action="system renamed").exists()


def test_the_page_of_such_a_system_leads_to_where_it_gets_its_name(
    people: People, listing: Bring, name: Callable[..., Upload], as_user: AsUser
) -> None:
    upload = listing(config=LISTING)
    address = f"/systems/{System.objects.get().pk}/"
    asks = f'<a href="/uploads/{upload.pk}/#names">Say which system it is</a>'
    assert asks in text_of(as_user(people.owner), address)
    assert asks not in text_of(as_user(people.colleague), address)
    name(upload, config="config")
    assert asks not in text_of(as_user(people.owner), address), "its name may well be that of the file"
    Upload.objects.update(bytes_dropped="2026-01-01T00:00Z", unnamed=1, system_names={})
    html = text_of(as_user(people.owner), f"/uploads/{upload.pk}/")
    assert "give the system its name on its own page" in html


def test_a_name_given_in_place_of_the_one_in_the_exports_is_told(
    people: People, storm: System, listing: Bring, name: Callable[..., Upload], as_user: AsUser
) -> None:
    files = {path.stem: path.read_bytes() + b"\n" for path in STORY.glob("*.txt")}
    upload = listing("MYPROD1", **files)
    assert systems() == {"CLAIMS1": 1, "MYPROD1": 1}
    olga = as_user(people.owner)
    told = "names CLAIMS1, and is counted to MYPROD1"
    assert told in words_of(text_of(olga, f"/uploads/{upload.pk}/"))
    assert "in place of the one name that they have" in words_of(text_of(olga, f"/uploads/{upload.pk}/"))
    assert "It also goes before the name in the exports" in words_of(text_of(olga, "/upload/"))
    upload = listing("CLAIMS1", **{file: data + b"\n" for file, data in files.items()})
    assert "and is counted to" not in text_of(olga, f"/uploads/{upload.pk}/")
