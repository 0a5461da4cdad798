"""What is remembered gives the same `audit/1` as reading the exports again."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advisor.audits.models import Audit, Capture
from advisor.audits.report.data import audit_data
from advisor.audits.services.auditing import run_audit
from advisor.audits.services.contract import audit_json, upload_json
from advisor.uploads.models import Upload
from advisor.uploads.services.reading import read_exports
from advisor.uploads.services.uploads import Brought, ingest
from tests.advisor.people import STORIES, People
from tests.longer import one_of_each

NAMES = sorted(path.name for path in STORIES.iterdir() if path.is_dir())


def without_excerpts(data: dict[str, Any]) -> dict[str, Any]:
    for capture in data["captures"]:
        for finding in capture["findings"]:
            for item in finding["evidence"]:
                item.pop("excerpt", None)
    return data


def kind_of(story: str) -> tuple[object, ...]:
    """The products of a story, whether it has several captures, and what its rules said."""
    told = (STORIES / story / "verdicts.yml").read_text("utf-8")
    products = frozenset(re.findall(r"^  (\w+)/", told, re.MULTILINE))
    return products, len(re.findall(r"^\w", told, re.MULTILINE)) > 1, "untrusted" in told


@one_of_each(kind_of, "story", NAMES)
def test_a_stored_story_is_the_audit_of_its_exports(
    bring: Callable[..., Upload], story: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(STORIES / story)  # an upload has no folders: lines that name a file would wrap elsewhere
    inputs = read_exports(sorted(path.name for path in Path().iterdir() if path.suffix != ".yml"), io.BytesIO())
    told = json.loads(json.dumps(audit_data(inputs, run_audit(inputs, {}))))
    upload = bring(story)
    assert told["captures"]
    assert without_excerpts(upload_json(upload)) == told


def test_one_audit_brings_the_inputs_of_its_capture_and_those_that_gave_none(
    people: People, django_capture_on_commit_callbacks: Any
) -> None:
    texts = {
        "first.txt": (STORIES / "address_lock_storm" / "sysmon.txt").read_bytes(),
        "second.txt": (STORIES / "healthy_ledger_server" / "sysmon.txt").read_bytes(),
        "letter.txt": b"Dear colleague,\nplease find attached nothing at all.\n",
    }
    with django_capture_on_commit_callbacks(execute=True):
        files = [Brought(name, io.BytesIO(data)) for name, data in texts.items()]
        upload = ingest(files, people.team, people.owner).upload
    first, second = Capture.objects.filter(upload=upload).order_by("id")
    assert (first.files, second.files) == (["first.txt"], ["second.txt"])
    assert first.audit is not None
    assert {one["file"] for one in audit_json(first.audit)["inputs"]} == {"first.txt", "letter.txt"}
    assert audit_json(first.audit, inputs=False)["inputs"] == []
    assert {one["file"] for one in upload_json(upload)["inputs"]} == set(texts)
    names = [capture["system"]["name"] for capture in upload_json(upload)["captures"]]
    assert names == [first.system.name, second.system.name]


def test_a_file_of_two_systems_is_an_input_of_both(people: People, django_capture_on_commit_callbacks: Any) -> None:
    stories = ("address_lock_storm", "healthy_ledger_server")
    both = b"\n".join((STORIES / story / "sysmon.txt").read_bytes() for story in stories)
    with django_capture_on_commit_callbacks(execute=True):
        ingest([Brought("both.txt", io.BytesIO(both))], people.team, people.owner)
    audits = Audit.objects.all()
    assert len(audits) == 2
    assert [{one["file"] for one in audit_json(audit)["inputs"]} for audit in audits] == [{"both.txt"}] * 2


def test_an_audit_that_outlived_its_upload_has_no_inputs(storm_audit: Audit) -> None:
    Upload.objects.all().delete()
    data = audit_json(Audit.objects.get(pk=storm_audit.pk))
    assert data["inputs"] == []
    assert data["captures"][0]["findings"]


def test_evidence_quotes_its_lines(storm_audit: Audit) -> None:
    findings = audit_json(storm_audit)["captures"][0]["findings"]
    assert any(item["excerpt"] for finding in findings for item in finding["evidence"])
