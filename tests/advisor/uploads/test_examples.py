"""The examples: brought by one click through the way of every upload, kept apart, removed by another click."""

import io
from pathlib import Path

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.core.models import JournalEntry
from advisor.notifications.models import Mail
from advisor.systems.models import Group, System
from advisor.systems.services.systems import rename_system
from advisor.uploads.models import Blob, Upload
from advisor.uploads.services import examples
from advisor.uploads.services.uploads import Brought, ingest
from tests.advisor.people import STORIES, AsUser, People, text_of
from tests.advisor.seen import words_of

pytestmark = pytest.mark.postgres

FEW = ("address_lock_storm", "healthy_ledger_server")


@pytest.fixture
def few(settings: Settings, tmp_path: Path) -> None:
    """Two of the examples instead of all: each takes a while to read."""
    (tmp_path / "comparisons").mkdir()
    (tmp_path / "audits").mkdir()
    for name in FEW:
        (tmp_path / "audits" / name).symlink_to(STORIES / name)
    settings.EXAMPLES = tmp_path


def storm_of_ours(people: People) -> Upload:
    """The storm's sample as an upload of somebody's own: other bytes, the same server."""
    data = (STORIES / "address_lock_storm" / "sysmon.txt").read_bytes() + b"\n"
    return ingest([Brought("ours.txt", io.BytesIO(data))], people.team, people.owner).upload


def systems() -> dict[str, bool]:
    return dict(System.objects.order_by("name").values_list("name", "example"))


def test_an_empty_overview_offers_the_examples_and_what_to_collect(
    people: People, few: None, as_user: AsUser, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    olga = as_user(people.owner)
    html = text_of(olga, "/")
    assert "Look at the examples 2 uploads of made servers" in words_of(html)
    assert '<form action="/upload/#collect"' in html
    with django_capture_on_commit_callbacks(execute=True):
        answer = olga.post("/examples/", follow=True)
    assert "2 example uploads are being read" in answer.content.decode()
    html = text_of(olga, "/")
    assert systems() == {"CLAIMS1": True, "LEDGER1": True}
    assert html.count('<span class="state">example</span>') == 2
    assert "2 systems are examples that came with Lockwright" in words_of(html)
    assert {one.name for one in Group.objects.get(name="Examples").systems.all()} == {"CLAIMS1", "LEDGER1"}
    assert not Mail.objects.exists()
    again = olga.post("/examples/", follow=True).content.decode()
    assert "Claims has the examples already" in again
    assert Upload.objects.count() == 2


def test_one_click_removes_all_of_them_and_nothing_else(
    people: People, few: None, as_user: AsUser, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    olga = as_user(people.owner)
    with django_capture_on_commit_callbacks(execute=True):
        olga.post("/examples/")
    with django_capture_on_commit_callbacks(execute=True):
        own = storm_of_ours(people)
    assert systems() == {"CLAIMS1": False, "CLAIMS1 (example)": True, "LEDGER1": True}
    assert own.captures.get().system.name == "CLAIMS1", "an export of a server never lands in an example"
    answer = olga.post("/examples/remove/", follow=True)
    assert "The examples are removed: 2 systems." in answer.content.decode()
    assert systems() == {"CLAIMS1": False}
    assert list(Upload.objects.all()) == [own]
    assert not Group.objects.exists()
    assert Blob.objects.count() == 1
    assert JournalEntry.objects.get(action="examples removed").what == "2 systems"


def test_an_example_never_lands_in_a_system_of_somebody(
    people: People, few: None, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        storm_of_ours(people)
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            examples.bring_examples(people.team, people.owner)
        assert systems() == {"CLAIMS1": False, "CLAIMS1 (example)": True, "LEDGER1": True}
        assert System.objects.get(name="CLAIMS1").captures.count() == 1
        Upload.objects.filter(origin="example").delete()


def test_what_is_merged_with_a_system_of_somebody_is_no_example(
    people: People, few: None, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        examples.bring_examples(people.team, people.owner)
    ours = System.objects.create(team=people.team, product="ase", name="OURS", key="OURS")
    rename_system(System.objects.get(name="CLAIMS1"), "OURS", people.owner, merge=True)
    examples.remove_examples(people.team, people.owner)
    assert systems() == {"OURS": False}
    assert ours.captures.count() == 1


def test_a_group_that_something_uses_stays(
    people: People, few: None, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        examples.bring_examples(people.team, people.owner)
    own = System.objects.create(team=people.team, product="ase", name="OURS", key="OURS")
    Group.objects.get().systems.add(own)
    examples.remove_examples(people.team, people.owner)
    assert [one.name for one in Group.objects.get().systems.all()] == ["OURS"]


def test_viewers_and_strangers_neither_bring_nor_remove_them(
    people: People, few: None, as_user: AsUser, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        examples.bring_examples(people.team, people.owner)
    for address in ("/examples/", "/examples/remove/"):
        assert as_user(people.colleague).post(address).status_code == 403
        assert as_user(people.owner).get(address).status_code == 405
    as_user(people.stranger).post("/examples/remove/")
    assert len(systems()) == 2
    assert "Remove the examples" not in text_of(as_user(people.colleague), "/")
    answer = as_user(people.administrator).post("/examples/", follow=True)
    assert "choose the team the examples are for" in answer.content.decode()


def test_the_upload_page_has_the_script_of_a_product_and_the_commands_of_one_without(
    people: People, as_user: AsUser
) -> None:
    olga = as_user(people.owner)
    html = text_of(olga, "/upload/?product=ase&release=15.7&minutes=5")
    assert '<pre id="collect-script"' in html
    assert "00:05:00" in html, "measures as long as was asked for"
    assert 'data-copy="collect-script"' in html
    html = text_of(olga, "/upload/?product=unix")
    assert "For UNIX there is no script" in html
    assert '<a href="/rules/unix/coarse_record_locks/">' in html
    assert "cat /proc/locks</code>" in html
    assert 'aria-label="Copy: cat /proc/locks"' in html
    for odd in ("product=<script>", "product=ase&minutes=99999999999999999999", "product=ase&minutes=-1", "minutes=x"):
        assert "<script>" not in text_of(olga, f"/upload/?{odd}").partition("<main")[2]


def test_what_is_being_read_follows_by_itself(people: People, as_user: AsUser) -> None:
    storm_of_ours(people)
    olga = as_user(people.owner)
    assert 'hx-get="/uploads/reading/" hx-trigger="every 2s"' in text_of(olga, "/")
    assert "1 upload is not read yet." in words_of(text_of(olga, "/uploads/reading/"))
    assert "1 upload" not in text_of(as_user(people.stranger), "/uploads/reading/")
    Upload.objects.update(state="done")
    last = text_of(olga, "/uploads/reading/")
    assert "All uploads are read." in last
    assert "hx-get" not in last
