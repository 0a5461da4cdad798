"""Bringing exports through the page."""

import io
from datetime import timedelta

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.config.page_jinja import megabytes
from advisor.systems.models import System
from advisor.uploads.models import Input, Upload
from tests.advisor.people import STORIES, AsUser, People

TWO = (("a.txt", b""), ("b.txt", b"\n"))
"""The names of two files, and an end that makes their bytes differ."""


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


def test_the_bar_never_shows_a_share_of_what_is_not_known(people: People, as_user: AsUser) -> None:
    olga = as_user(people.owner)
    location = send(olga)["location"]
    told = {"state": "reading", "reading_now": "day.zip/a.txt", "read_bytes": 5_000_000, "total_bytes": 100_000}

    def shown(**now: object) -> str:
        Upload.objects.update(**{**told, **now})
        return olga.get(location).content.decode()

    page = shown(unpacked_bytes=20_000_000)
    assert "Reading day.zip/a.txt: 5.0 MB of 20.0 MB" in page
    assert '<progress max="20000000" value="5000000" aria-label="read">' in page
    for unknown in (None, 0, 4_999_999):
        page = shown(unpacked_bytes=unknown)
        assert "Reading day.zip/a.txt: 5.0 MB</p>" in page
        assert '<progress aria-label="read">' in page
    page = shown(unpacked_bytes=20_000_000, captures_found=400, captures_judged=120)
    assert "Judging 120 of 400 captures" in page
    assert '<progress max="1" value="1" aria-label="read">' in page, "what was full stays full"
    assert '<progress max="400" value="120" aria-label="judged">' in page
    page = shown(captures_found=400, captures_judged=400)
    assert "Keeping 400 captures" in page
    assert '<progress aria-label="judged">' in page


def test_what_is_read_for_long_says_for_how_long(people: People, as_user: AsUser) -> None:
    olga = as_user(people.owner)
    location = send(olga)["location"]
    pages = (location, "/uploads/", "/")

    def shown(minutes: float) -> list[str]:
        Upload.objects.update(state="reading", claimed=timezone.now() - timedelta(minutes=minutes))
        return [olga.get(page).content.decode() for page in pages]

    assert not any("min" in text.partition("<main")[2].replace("minute", "") for text in shown(0.5))
    upload, uploads, overview = shown(12.2)
    assert "for 12 min now</p>" in upload
    assert '<span class="soft">for 12 min</span>' in uploads
    assert "1 upload being read, one for 12 min</a>" in overview


def test_each_file_that_names_no_system_has_a_field_for_it(
    people: People, as_user: AsUser, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    olga, story = as_user(people.owner), STORIES / "address_lock_storm"
    sent = [SimpleUploadedFile(name, (story / "config.txt").read_bytes() + end) for name, end in TWO]
    with django_capture_on_commit_callbacks(execute=True):
        olga.post("/upload/", {"files": [*sent, SimpleUploadedFile("odd.txt", b"no export\n")]})
    address = f"/uploads/{Upload.objects.get().pk}/"
    page = olga.get(address).content.decode()
    assert page.count("names no system; judged as</span>") == 2
    assert page.count("say below which system it belongs to") == 2
    assert "--name" not in page
    for file in ("a.txt", "b.txt"):
        assert f'<input type="hidden" name="file" value="{file}" form="belonging">' in page
    assert 'value="odd.txt"' not in page
    with django_capture_on_commit_callbacks(execute=True):
        olga.post(f"{address}belongs/", {"system": "", "file": ["a.txt", "b.txt"], "name": ["PROD1", "<i>2"]})
    assert {system.name for system in System.objects.all()} == {"PROD1", "<i>2"}
    page = olga.get(address).content.decode()
    assert "names no system; judged as" not in page
    assert 'value="PROD1"' in page
    assert "<i>2" not in page
    looked = as_user(people.colleague).get(address).content.decode()
    assert 'form="belonging"' not in looked


def test_a_file_that_names_its_system_is_not_asked_for_one(
    people: People, as_user: AsUser, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    olga = as_user(people.owner)
    with django_capture_on_commit_callbacks(execute=True):
        location = send(olga)["location"]
    page = olga.get(location).content.decode()
    assert 'value="sysmon.txt" form="belonging"' not in page
    assert 'value="config.txt" form="belonging"' in page


def test_many_reports_of_one_file_are_one_row(
    people: People, as_user: AsUser, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    olga = as_user(people.owner)
    sample = (STORIES / "address_lock_storm" / "sysmon.txt").read_text()
    day = "".join(sample.replace("10:30:00", f"{n}:30:00").replace("10:40:00", f"{n}:40:00") for n in (10, 11, 12))
    with django_capture_on_commit_callbacks(execute=True):
        olga.post("/upload/", {"files": SimpleUploadedFile("day.txt", day.encode())})
    upload = Upload.objects.get()
    assert upload.inputs.count() == upload.captures.count() == 3
    page = olga.get(f"/uploads/{upload.pk}/").content.decode()
    assert page.count("<code>ase/sp_sysmon</code>") == 1
    assert "3 reports" in page
    facts = [one.facts for one in upload.inputs.all()]
    assert page.count(f"<li>{facts[0]:,} facts") == 3
    assert f'data-label="Facts">{sum(facts):,}</td>' in page


def test_the_address_of_an_upload_leads_to_the_one_that_took_its_place(
    people: People, as_user: AsUser, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    olga, story = as_user(people.owner), STORIES / "address_lock_storm"
    for name in ("sysmon.txt", "config.txt"):
        before = Upload.objects.first()
        with django_capture_on_commit_callbacks(execute=True):
            sent = SimpleUploadedFile(name, (story / name).read_bytes())
            olga.post("/upload/", {"files": sent, **({"to": before.pk} if before else {})})
    now = Upload.objects.get()
    assert before is not None
    answer = as_user(people.colleague).get(f"/uploads/{before.pk}/", follow=True)
    assert answer.redirect_chain == [(f"/uploads/{now.pk}/", 302)]
    assert f"Exports were added to upload {before.pk}" in answer.content.decode()
    assert as_user(people.stranger).get(f"/uploads/{before.pk}/").status_code == 404
    assert olga.get("/uploads/999999/").status_code == 404


def test_small_files_are_told_in_bytes() -> None:
    assert [megabytes(size) for size in (0, 1, 40, 999, 1000, 1_500_000)] == [
        *("0 bytes", "1 byte", "40 bytes", "999 bytes", "1.0 kB", "1.5 MB")
    ]


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


def test_nothing_is_said_to_be_understood_in_a_file_without_a_report(
    people: People, as_user: AsUser, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    olga = as_user(people.owner)
    with django_capture_on_commit_callbacks(execute=True):
        olga.post("/upload/", {"files": SimpleUploadedFile("blank.txt", b"\n\n")})
    page = olga.get(f"/uploads/{Upload.objects.get().pk}/").content.decode()
    assert "nothing known" in page
    assert "every line understood" not in page
    assert '<td><span class="soft">-</span></td>' in page


def test_a_form_without_its_token_does_nothing(people: People) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.owner, backend="django.contrib.auth.backends.ModelBackend")
    assert client.post("/upload/", {}).status_code == 403
