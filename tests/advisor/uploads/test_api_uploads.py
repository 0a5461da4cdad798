"""Exports go in through the API, and their audit comes out: now, or when it is asked for."""

import io
import time

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.audits.models import Audit
from advisor.audits.services.contract import upload_json
from advisor.uploads import api
from advisor.uploads.models import Upload
from advisor.uploads.services.process_upload import read_upload
from tests.advisor.core.test_api import Script
from tests.advisor.people import STORIES, People

pytestmark = pytest.mark.postgres

SYSMON = (STORIES / "address_lock_storm" / "sysmon.txt").read_bytes()


@pytest.fixture
def script(people: People) -> Script:
    return Script(people.owner)


@pytest.mark.django_db(transaction=True)
def test_a_script_brings_exports_waits_and_has_the_audit(script: Script, people: People) -> None:
    answer = script.bring(SYSMON, query="?wait=60")
    assert answer.status_code == 200
    upload = Upload.objects.get()
    assert (upload.origin, upload.by, upload.team) == ("api", people.owner, people.team)
    assert answer.json() == upload_json(upload, states=True)
    assert answer.json()["contract"] == "audit/1"
    assert answer.json()["captures"][0]["findings"]


def test_without_waiting_it_is_told_where_to_ask(
    script: Script, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        answer = script.bring(SYSMON)
        location = answer.json()["location"]
        assert answer.status_code == 202
        assert answer["Location"] == location
        assert (answer.json()["state"], answer.json()["new"]) == ("waiting", True)
        assert script.get(location).json()["state"] == "waiting"
        early = script.get(answer.json()["audit"])
        assert (early.status_code, early.json()["state"]) == (409, "waiting")
    told = script.get(location).json()
    assert (told["state"], told["files"], told["team"], told["by"]) == ("done", ["0.txt"], "Claims", "olga")
    assert told["audits"] == [Audit.objects.get().pk]
    assert script.get(told["audit"]).json() == upload_json(Upload.objects.get(), states=True)


def test_waiting_ends_as_soon_as_the_upload_is_read(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    def worker(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            read_upload(Upload.objects.get().pk)

    monkeypatch.setattr(time, "sleep", worker)
    answer = script.bring(SYSMON, query="?wait=120")
    assert answer.status_code == 200
    assert answer.json()["captures"]
    assert len(slept) == 2


def test_waiting_ends_when_the_time_is_over(script: Script) -> None:
    begin = time.monotonic()
    answer = script.bring(SYSMON, query="?wait=1")
    assert time.monotonic() - begin >= 1
    assert (answer.status_code, answer.json()["state"]) == (202, "waiting")


def test_where_too_many_wait_the_next_one_does_not(
    script: Script, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = 0
    while api.WAITERS.acquire(blocking=False):
        taken += 1
    try:
        monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("it waits"))
        assert script.bring(SYSMON, query="?wait=60").status_code == 202
    finally:
        api.WAITERS.release(taken)
    assert taken == settings.WEB_THREADS // 2  # none was lost by the tests before


@pytest.mark.django_db(transaction=True)
def test_the_same_files_twice_are_one_upload(script: Script, people: People) -> None:
    first = script.bring(SYSMON, b"another")
    again = Script(people.mate).bring(b"another", SYSMON)
    assert again.json()["upload"] == first.json()["upload"]
    assert (again.status_code, again.json()["state"], again.json()["new"]) == (202, "done", False)
    assert script.bring(SYSMON, b"another", query="?wait=1").status_code == 200


def test_an_upload_that_cannot_be_read_says_why(script: Script) -> None:
    answer = script.bring(SYSMON)
    Upload.objects.update(state=Upload.State.FAILED, error="DataError: it was too odd")
    for failed in (script.get(answer.json()["audit"]), script.bring(SYSMON, query="?wait=5")):
        assert failed.status_code == 422
        assert "too odd" in failed.json()["error"]
        assert failed.json()["state"] == "failed"


@pytest.mark.django_db(transaction=True)
def test_files_without_any_report_are_an_audit_of_nothing_that_says_so(script: Script) -> None:
    answer = script.bring(b"Dear colleague,\n", query="?wait=60")
    assert answer.status_code == 200
    assert answer.json()["captures"] == []
    assert answer.json()["inputs"][0]["problems"]


@pytest.mark.parametrize(
    ("files", "setting", "value", "status", "says"),
    [
        ([b"x" * 1_100_000], "UPLOAD_MB", 1, 413, "More than 1 MB"),
        ([b"x" * 600_000, b"y" * 600_000], "UPLOAD_MB", 1, 413, "ore than 1 MB"),
        ([b"a", b"b", b"c"], "UPLOAD_FILES", 2, 413, "more than 2 files"),
        ([b"a", b"b", b"c"], "DATA_UPLOAD_MAX_NUMBER_FILES", 2, 413, "Too many files"),
        ([], "UPLOAD_MB", 1, 400, "files"),
    ],
)
def test_what_is_too_much_or_nothing_is_refused_and_not_kept(
    script: Script, settings: Settings, files: list[bytes], setting: str, value: int, status: int, says: str
) -> None:
    setattr(settings, setting, value)
    answer = script.bring(*files)
    assert answer.status_code == status
    assert says in answer.json()["error"]
    assert answer.json()["remedy"]
    assert not Upload.objects.exists()


@pytest.mark.parametrize("wait", ["-1", "121", "soon", "1e9"])
def test_a_wait_out_of_range_is_refused(script: Script, wait: str) -> None:
    answer = script.bring(SYSMON, query=f"?wait={wait}")
    assert answer.status_code == 400
    assert "wait" in answer.json()["error"]
    assert not Upload.objects.exists()


def test_a_body_that_is_no_form_is_refused(script: Script) -> None:
    for kind in ("multipart/form-data", "multipart/form-data; boundary=x", "application/json"):
        answer = script.client.generic("POST", "/api/uploads", b"\x00garbage", content_type=kind)
        assert answer.status_code == 400
        assert set(answer.json()) == {"error", "remedy"}


def test_the_team_is_chosen_by_name_or_number(people: People, script: Script) -> None:
    people.owner.teams.add(people.other_team)
    unsaid = script.bring(b"1")
    assert unsaid.status_code == 400
    assert "Claims, Payroll" in unsaid.json()["remedy"]
    for data, team in ((b"2", "payroll"), (b"3", str(people.other_team.pk))):
        answer = script.bring(data, team=team)
        assert Upload.objects.get(pk=answer.json()["upload"]).team == people.other_team
    assert script.bring(b"4", team="no such team").status_code == 404
    people.owner.teams.clear()
    assert script.bring(b"5").status_code == 400


@pytest.mark.django_db(transaction=True)
def test_exports_without_a_name_belong_to_the_system_that_is_named(script: Script) -> None:
    nameless = (STORIES / "address_lock_storm" / "config.txt").read_bytes()
    answer = script.bring(nameless, query="?wait=60", system="PAYDAY7")
    assert [capture["system"]["name"] for capture in answer.json()["captures"]] == ["PAYDAY7"]


def test_a_hostile_file_name_is_a_bare_name(script: Script) -> None:
    stream = io.BytesIO(b"x")
    stream.name = "..\\..\\etc\\<b>pass\u202ewd.txt"
    answer = script.client.post("/api/uploads", {"files": stream})
    assert script.get(answer.json()["location"]).json()["files"] == ["<b>passwd.txt"]
