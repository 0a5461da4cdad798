"""Bringing exports through the page."""

import io

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.models import Input, System, Upload
from tests.advisor.people import STORIES, AsUser, People


def files() -> list[io.BufferedReader]:
    story = STORIES / "address_lock_storm"
    return [(story / name).open("rb") for name in ("sysmon.txt", "config.txt", "caches.txt")]


def send(client: Client, **more: object) -> dict[str, str]:
    streams = files()
    answer = client.post("/upload/", {"files": streams, **more}, headers={"Accept": "application/json"})
    for stream in streams:
        stream.close()
    return {"status": str(answer.status_code), **answer.json()}


def test_three_files_become_one_audit(
    people: People, as_user: AsUser, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    olga = as_user(people.owner)
    with django_capture_on_commit_callbacks(execute=True):
        location = send(olga)["location"]
    page = olga.get(location).content.decode()
    assert "CLAIMS1" in page
    assert "<code>ase/sp_sysmon</code>" in page
    assert "every line understood" in page
    assert send(olga)["location"] == location, "the same upload twice is one upload"


def test_while_it_waits_the_page_follows_by_itself(people: People, as_user: AsUser) -> None:
    olga = as_user(people.owner)
    location = send(olga)["location"]
    page = olga.get(location).content.decode()
    assert "Waiting for a worker" in page
    assert 'hx-trigger="every 700ms"' in page
    part = olga.get(location, headers={"HX-Request": "true"}).content.decode()
    assert part.startswith('<div id="state"')


def test_a_viewer_brings_nothing_and_a_stranger_sees_nothing(people: People, as_user: AsUser) -> None:
    assert as_user(people.colleague).get("/upload/").status_code == 403
    assert as_user(people.colleague).post("/upload/", {}).status_code == 403
    send(as_user(people.owner))
    upload = Upload.objects.get()
    for address in (f"/uploads/{upload.pk}/", f"/upload/?to={upload.pk}"):
        assert as_user(people.stranger).get(address).status_code == 404
    assert as_user(people.stranger).post(f"/uploads/{upload.pk}/belongs/", {"system": "X"}).status_code == 404
    assert as_user(people.colleague).post(f"/uploads/{upload.pk}/belongs/", {"system": "X"}).status_code == 403
    assert as_user(people.colleague).get(f"/uploads/{upload.pk}/").status_code == 200
    assert f"Upload {upload.pk}" not in as_user(people.stranger).get("/uploads/").content.decode()


def test_nobody_brings_for_a_team_that_is_not_theirs(people: People, as_user: AsUser) -> None:
    answer = send(as_user(people.owner), team=str(people.other_team.pk))
    assert "choose the team" in answer["error"]
    assert not Upload.objects.exists()


def test_more_bytes_than_allowed_are_cut_off_while_they_come(
    people: People, as_user: AsUser, settings: Settings
) -> None:
    settings.UPLOAD_MB = 1
    big = SimpleUploadedFile("big.txt", b"x" * 1_500_000)
    answer = as_user(people.owner).post("/upload/", {"files": big}, headers={"Accept": "application/json"})
    assert answer.status_code == 400
    assert "more than 1 MB" in answer.json()["error"]
    assert not Upload.objects.exists()


def test_no_file_at_all_is_said(people: People, as_user: AsUser) -> None:
    answer = as_user(people.owner).post("/upload/", {}, headers={"Accept": "application/json"})
    assert answer.json() == {"error": "Not taken: no file was given."}


def test_a_file_nobody_knows_is_named_with_its_problem_and_its_lines(
    people: People, as_user: AsUser, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    olga = as_user(people.owner)
    with django_capture_on_commit_callbacks(execute=True):
        odd = SimpleUploadedFile("odd.txt", b"no export at all\nsecond line\n")
        olga.post("/upload/", {"files": odd})
    page = olga.get(f"/uploads/{Upload.objects.get().pk}/").content.decode()
    assert "nothing usable was given" in page
    assert "nothing known" in page
    assert Input.objects.get().problems[0] in page.replace("&#39;", "'")
    assert not System.objects.exists()


def test_a_form_without_its_token_does_nothing(people: People) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.owner, backend="django.contrib.auth.backends.ModelBackend")
    assert client.post("/upload/", {}).status_code == 403
