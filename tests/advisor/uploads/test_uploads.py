"""What is collected is kept once, read once, and remembered."""

import gzip
import io
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.audits.models import Audit, Capture, Finding
from advisor.audits.services.deduplicate import captures_in
from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.systems.models import System
from advisor.uploads.models import Blob, FormerUpload, Upload
from advisor.uploads.services import process_upload, spooling
from advisor.uploads.services.process_upload import claim, left_waiting
from advisor.uploads.services.storing import open_blob
from advisor.uploads.services.uploads import Brought, ingest, read_again
from rules.engine import rules
from tests.advisor.people import STORIES, People, bring_story

pytestmark = pytest.mark.postgres

THEIRS = "another-boot:1/7.7/5.5/other+0"
"""Another worker's claim."""
CONFIG = (STORIES / "address_lock_storm" / "config.txt").read_bytes()


def test_a_story_becomes_a_system_a_capture_and_an_audit_with_every_verdict(
    people: People, bring: Callable[..., Upload]
) -> None:
    upload = bring("address_lock_storm")
    assert upload.state == Upload.State.DONE
    system = System.objects.get()
    assert (system.name, system.product, system.team) == ("CLAIMS1", "ase", people.team)
    capture = Capture.objects.get()
    audit = Audit.objects.get()
    assert system.latest == audit == capture.audit
    assert capture.seconds == 600
    assert [one["rule"] for one in audit.verdicts] == [one.id for one in rules() if one.product == "ase"]
    assert Finding.objects.filter(audit=audit).count() == len(audit.findings_digest) > 3
    assert any(item["excerpt"] for finding in audit.findings.all() for item in finding.data["evidence"])
    assert [entry.action for entry in JournalEntry.objects.all()] == ["upload"]


def test_the_same_upload_twice_is_one_upload(people: People, bring: Callable[..., Upload]) -> None:
    first = bring("address_lock_storm")
    again = bring_story("address_lock_storm", people.team, people.mate)
    assert again == first
    assert Upload.objects.count() == 1
    assert Blob.objects.count() == first.files.count()


def test_the_same_bytes_of_another_team_are_kept_once_and_read_for_each(
    people: People, bring: Callable[..., Upload], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    first = bring("address_lock_storm")
    with django_capture_on_commit_callbacks(execute=True):
        theirs = bring_story("address_lock_storm", people.other_team, people.stranger)
    assert theirs != first
    assert System.objects.count() == 2
    assert Blob.objects.count() == first.files.count()


def test_too_many_bytes_are_refused_and_nothing_is_kept(people: People, settings: Settings) -> None:
    settings.UPLOAD_MB = 1
    with pytest.raises(Refused, match="more than 1 MB"):
        ingest([Brought("x.txt", io.BytesIO(b"x" * 1_100_000))], people.team, people.owner)
    assert not Upload.objects.exists()
    assert not Blob.objects.exists()


def test_too_many_files_are_refused(people: People, settings: Settings) -> None:
    settings.UPLOAD_FILES = 2
    with pytest.raises(Refused, match="more than 2 files"):
        ingest([Brought(f"{n}.txt", io.BytesIO(bytes([n]))) for n in range(3)], people.team, people.owner)
    assert not Upload.objects.exists()


def test_an_archive_that_unpacks_to_too_much_is_a_problem_of_its_file_and_no_audit(
    people: People, settings: Settings, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    settings.UPLOAD_UNPACKED_MB = 1
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.txt", CONFIG + b"\n" * (1 << 20))
    packed.seek(0)
    with django_capture_on_commit_callbacks(execute=True):
        upload = ingest([Brought("bomb.zip", packed)], people.team, people.owner).upload
    upload.refresh_from_db()
    assert (upload.state, upload.error) == ("done", "nothing usable was given")
    assert "unpacks to more than 1 MB" in str([one.problems for one in upload.inputs.all()])
    assert not System.objects.exists()


def test_names_of_files_are_never_paths_and_never_steer(people: People) -> None:
    names = ["../../etc/passwd", "C:\\exports\\a.txt", "\u202etxt.exe\x1b[2J", "...", "a.txt"]
    brought = [Brought(name, io.BytesIO(str(n).encode())) for n, name in enumerate(names)]
    upload = ingest(brought, people.team, people.owner).upload
    assert [file.name for file in upload.files.all()] == ["passwd", "a.txt", "txt.exe [2J", "unnamed", "2-a.txt"]


def test_bytes_come_back_as_they_were_brought(people: People) -> None:
    whole = bytes(range(256)) * 20_000
    upload = ingest([Brought("x.bin", io.BytesIO(whole))], people.team, people.owner).upload
    blob = upload.files.get().blob
    assert blob is not None
    assert blob.packed < blob.size == len(whole)
    with open_blob(blob) as stream:
        assert stream.read() == whole


def test_a_listing_without_a_name_joins_the_system_it_is_given_to(
    people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        upload = ingest([Brought("config.txt", io.BytesIO(CONFIG))], people.team, people.owner).upload
    assert System.objects.get().name == "config"
    with django_capture_on_commit_callbacks(execute=True):
        read_again(upload, people.mate, "PROD7")
    assert System.objects.get().name == "PROD7", "the system of the file's name is forgotten with its only capture"
    assert "PROD7" in JournalEntry.objects.get(action="read again").what


def test_the_same_listing_for_another_server_is_another_upload(people: People) -> None:
    def bring(name: str) -> Upload:
        brought = [Brought("config.txt", io.BytesIO(CONFIG))]
        return ingest(brought, people.team, people.owner, system_name=name).upload

    ninth = bring("CLAIMS9")
    first = bring("CLAIMS1")
    assert first != ninth
    assert bring(" claims9 ") == ninth, "the same files, the same choice"
    assert bring("CLAIMS1") == first
    assert bring("") not in (first, ninth)
    assert Upload.objects.count() == 3
    assert Blob.objects.count() == 1


def test_an_upload_is_not_read_again_as_what_another_one_is(
    people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        one, two = (
            ingest([Brought("config.txt", io.BytesIO(CONFIG))], people.team, people.owner, system_name=name).upload
            for name in ("CLAIMS1", "CLAIMS9")
        )
    with pytest.raises(Refused, match=f"see upload {one.pk}"):
        read_again(Upload.objects.get(pk=two.pk), people.owner, "claims1")
    with django_capture_on_commit_callbacks(execute=True):
        read_again(Upload.objects.get(pk=two.pk), people.owner, "CLAIMS2")
    assert {system.name for system in System.objects.all()} == {"CLAIMS1", "CLAIMS2"}
    again = ingest([Brought("config.txt", io.BytesIO(CONFIG))], people.team, people.owner, system_name="CLAIMS2")
    assert again.upload == two


def test_each_file_that_names_no_system_may_be_given_one(
    people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    other = CONFIG + b"\n"  # one listing twice: of two servers, or of two days
    with django_capture_on_commit_callbacks(execute=True):
        brought = [Brought("one.txt", io.BytesIO(CONFIG)), Brought("two.txt", io.BytesIO(other))]
        upload = ingest(brought, people.team, people.owner).upload
    assert {system.name for system in System.objects.all()} == {"one", "two"}
    assert [one.names_system for one in upload.inputs.all()] == [False, False]
    with django_capture_on_commit_callbacks(execute=True):
        read_again(Upload.objects.get(), people.owner, "PROD1", {"two.txt": "PROD2", "nowhere.txt": "X", "one.txt": ""})
    upload.refresh_from_db()
    assert (upload.system_name, upload.system_names) == ("PROD1", {"two.txt": "PROD2"})
    files = {capture.system.name: capture.files for capture in Capture.objects.select_related("system")}
    assert files == {"PROD1": ["one.txt"], "PROD2": ["two.txt"]}
    with django_capture_on_commit_callbacks(execute=True):
        read_again(Upload.objects.get(), people.owner, None, {"two.txt": ""})
    assert [system.name for system in System.objects.all()] == ["PROD1"]


def test_how_much_there_is_to_read_is_known_of_files_and_zips_but_not_of_gzip(
    tmp_path: Path, settings: Settings
) -> None:
    plain, packed, gzipped, damaged = (tmp_path / name for name in ("a", "b", "c", "d"))
    plain.write_bytes(b"x" * 40)
    gzipped.write_bytes(gzip.compress(b"x" * 5000))
    damaged.write_bytes(b"PK\x03\x04 is no zip")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one.txt", b"x" * 5000)
        archive.writestr("two.txt", b"y" * 700)
    assert [spooling.unpacked_size(path) for path in (plain, packed, gzipped, damaged)] == [40, 5700, None, 0]
    settings.UPLOAD_UNPACKED_MB = 0
    assert spooling.unpacked_size(packed) == 0, "intake refuses it: nothing is read"
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("three.txt.GZ", gzip.compress(b"z"))
    assert spooling.unpacked_size(packed) is None


def test_exports_added_to_an_upload_are_audited_with_it_as_one_capture(
    people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    story = STORIES / "address_lock_storm"
    with django_capture_on_commit_callbacks(execute=True):
        brought = [Brought("sysmon.txt", io.BytesIO((story / "sysmon.txt").read_bytes()))]
        first = ingest(brought, people.team, people.owner).upload
    unknown = Audit.objects.get().counts["unknown"]
    with django_capture_on_commit_callbacks(execute=True):
        brought = [Brought("config.txt", io.BytesIO((story / "config.txt").read_bytes()))]
        second = ingest(brought, people.team, people.owner, extends=first).upload
    assert list(Upload.objects.all()) == [second]
    assert {file.name for file in second.files.all()} == {"sysmon.txt", "config.txt"}
    audit = Audit.objects.get()
    assert audit.counts.get("unknown", 0) < unknown
    assert System.objects.get().latest == audit
    with django_capture_on_commit_callbacks(execute=True):
        brought = [Brought("caches.txt", io.BytesIO((story / "caches.txt").read_bytes()))]
        third = ingest(brought, people.team, people.owner, extends=Upload.objects.get()).upload
    former = {one.number: one.upload for one in FormerUpload.objects.select_related("upload")}
    assert former == {first.pk: third, second.pk: third}


def test_an_upload_whose_worker_died_is_taken_again_three_times_and_then_given_up(people: People) -> None:
    upload = ingest([Brought("x.txt", io.BytesIO(CONFIG))], people.team, people.owner).upload
    long_ago = timezone.now() - timedelta(days=1)
    for _ in range(3):
        assert claim(upload.pk)
        assert claim(upload.pk) is None, "two workers may not have it at once"
        Upload.objects.update(claimed=long_ago)
        assert left_waiting() == [upload.pk]
    assert claim(upload.pk) is None
    upload.refresh_from_db()
    assert upload.state == "failed"
    assert "ended 3 workers" in upload.error


def test_a_fault_of_ours_is_said_on_the_upload_and_tried_again(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = ingest([Brought("x.txt", io.BytesIO(CONFIG))], people.team, people.owner).upload
    monkeypatch.setattr(process_upload, "captures_of", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        process_upload.read_upload(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.error) == ("waiting", "ZeroDivisionError: division by zero")
    monkeypatch.undo()
    assert process_upload.read_upload(upload.pk)
    assert System.objects.get().latest


@pytest.mark.parametrize("called", ["captures_of", "_keep_inputs", "remember_capture", "settle_system"])
def test_who_was_taken_for_dead_keeps_nothing_more(
    people: People, monkeypatch: pytest.MonkeyPatch, called: str
) -> None:
    """At each of its stages another worker takes the upload over."""
    upload = ingest([Brought("x.txt", io.BytesIO(CONFIG))], people.team, people.owner).upload
    own = getattr(process_upload, called)

    def taken_over(*given: object, **more: object) -> object:
        Upload.objects.update(claimant=THEIRS)
        return own(*given, **more)

    monkeypatch.setattr(process_upload, called, taken_over)
    assert not process_upload.read_upload(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.error) == ("reading", "")
    assert not System.objects.exclude(latest=None).exists()
    if called != "settle_system":
        assert not Capture.objects.exists()
    if called == "captures_of":
        assert upload.captures_found is None


def test_who_was_taken_for_dead_and_fails_lets_the_other_go_on(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = ingest([Brought("x.txt", io.BytesIO(CONFIG))], people.team, people.owner).upload

    def taken_over(*given: object, **more: object) -> None:
        Upload.objects.update(claimant=THEIRS)
        raise ZeroDivisionError

    monkeypatch.setattr(process_upload, "captures_of", taken_over)
    with pytest.raises(ZeroDivisionError):
        process_upload.read_upload(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.error, upload.claimant) == ("reading", "", THEIRS)


def test_two_systems_in_one_upload_become_two(
    people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    stories = [STORIES / name / "sysmon.txt" for name in ("address_lock_storm", "healthy_ledger_server")]
    brought = [Brought(f"{path.parent.name}.txt", io.BytesIO(path.read_bytes())) for path in stories]
    with django_capture_on_commit_callbacks(execute=True):
        ingest(brought, people.team, people.owner)
    assert System.objects.count() == 2
    assert all(system.latest and system.trend for system in System.objects.all())


def test_one_sample_brought_three_times_is_one_capture_with_everything_that_is_known(
    people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    story = STORIES / "address_lock_storm"
    sysmon, config = ((story / name).read_bytes() for name in ("sysmon.txt", "config.txt"))

    def now(*files: tuple[str, bytes]) -> Upload:
        with django_capture_on_commit_callbacks(execute=True):
            brought = [Brought(name, io.BytesIO(data)) for name, data in files]
            return ingest(brought, people.team, people.owner).upload

    alone = now(("a.txt", sysmon))
    both = now(("b.txt", sysmon), ("c.txt", config))
    again = now(("d.txt", b"\n" + sysmon))
    capture = Capture.objects.get()
    assert capture.upload == both, "the one that holds more stays"
    assert set(capture.also_in.all()) == {alone, again}
    assert all(list(captures_in(one)) == [capture] for one in (alone, both, again))
    assert System.objects.get().latest == capture.audit
    assert len(System.objects.get().trend) == 1


def test_the_same_time_with_other_figures_stays_apart(
    people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    sysmon = (STORIES / "address_lock_storm" / "sysmon.txt").read_bytes()
    assert b"52.3 %" in sysmon
    for data in (sysmon, sysmon.replace(b"52.3 %", b"12.3 %")):
        with django_capture_on_commit_callbacks(execute=True):
            ingest([Brought("a.txt", io.BytesIO(data))], people.team, people.owner)
    assert Capture.objects.count() == 2
