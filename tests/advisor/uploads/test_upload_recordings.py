"""A MONITOR recording, which is no text, brought through the page."""

import io

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.audits.models import Capture
from advisor.uploads.models import Upload
from advisor.uploads.services.results import lines_around
from tests.advisor.people import AsUser, People
from tests.facts_yml import load
from tests.recordings import build
from tests.test_exports import HERE

pytestmark = pytest.mark.postgres


def test_a_recording_is_audited_and_no_line_of_it_is_quoted(
    people: People, as_user: AsUser, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    olga = as_user(people.owner)
    file = io.BytesIO(build(load(HERE / "openvms" / "monitor_recording" / "before_v83.yml")["recording"]))
    file.name = "MONITOR.DAT"
    with django_capture_on_commit_callbacks(execute=True):
        answer = olga.post("/upload/", {"files": [file]}, headers={"Accept": "application/json"})
    page = olga.get(answer.json()["location"]).content.decode()
    assert "ORKNEY" in page
    assert "<code>openvms/monitor_recording</code>" in page
    assert "lines are record numbers" in page
    (capture,) = Capture.objects.all()
    assert capture.audit
    assert "46 % of one CPU" in olga.get(f"/audits/{capture.audit.pk}/").content.decode()
    assert lines_around(Upload.objects.get(), "MONITOR.DAT", 2, 5) == []
