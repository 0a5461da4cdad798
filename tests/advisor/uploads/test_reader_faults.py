"""A reader that raises: the upload, the drop folder and its schedule go on, and say so."""

import io
from pathlib import Path

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.core.models import JournalEntry
from advisor.systems.models import System
from advisor.uploads.models import Upload
from advisor.uploads.services import process_upload
from advisor.uploads.services.uploads import Brought, ingest
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.schedules.watch_folder import make_drop
from tests.advisor.seen import words_of
from tests.collectors.test_read_faults import BROKEN, FASTPATH, Fed, broken, text_kind, whole

KINDS = [text_kind(read=whole), text_kind(stream=Fed)]
__all__ = ["broken"]


def said(upload: Upload) -> str:
    return str([one.problems for one in upload.inputs.all()])


@pytest.mark.parametrize("broken", KINDS, ids=["whole", "fed"], indirect=True)
@pytest.mark.usefixtures("broken")
def test_an_upload_is_read_but_for_the_report_that_fails(people: People, as_user: AsUser) -> None:
    files = [Brought("bad.txt", io.BytesIO(BROKEN.encode())), Brought("good.txt", io.BytesIO(FASTPATH.encode()))]
    upload = ingest(files, people.team, people.owner).upload
    assert process_upload.read_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == Upload.State.DONE
    assert System.objects.get(name="NORN").latest
    assert "not read from line 4: a fault of Lockwright" in said(upload)
    assert "not read from line 4" in words_of(text_of(as_user(people.owner), f"/uploads/{upload.pk}/"))
    (entry,) = JournalEntry.objects.filter(action="report not read")
    assert entry.what.startswith(f"upload {upload.pk}, bad.txt: not read from line 4")


@pytest.mark.parametrize("broken", KINDS[:1], indirect=True)
@pytest.mark.usefixtures("broken")
def test_a_drop_folder_takes_all_and_its_schedule_says_what_was_not_read(
    people: People,
    settings: Settings,
    tmp_path: Path,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.DROP_FOLDERS = [tmp_path]
    drop = make_drop(people.team, tmp_path / "Norns")
    drop.put("bad.txt", BROKEN)
    drop.put("good.txt", FASTPATH)
    with django_capture_on_commit_callbacks(execute=True):
        looked = drop.settle()
    assert not looked.refused
    uploads = Upload.objects.filter(run__schedule=drop.schedule)
    assert {one.state for one in uploads} == {Upload.State.DONE}
    assert System.objects.get(name="NORN").latest
    assert any("not read from line 4" in said(one) for one in uploads)
    assert JournalEntry.objects.filter(action="report not read", team=people.team).exists()
