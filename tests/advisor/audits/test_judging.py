"""Captures are judged before anything of them is written, and the page may tell how far it has come."""

import io
from typing import Any

import pytest
from django.db import connection

from advisor.audits.models import Audit, Capture
from advisor.audits.services import judging
from advisor.audits.services.excerpts import add_excerpts
from advisor.audits.services.limits import set_limit
from advisor.uploads.models import Upload
from advisor.uploads.services import process_upload
from advisor.uploads.services.uploads import Brought, ingest
from rules.audit import audit
from tests.advisor.people import STORIES, make_people

pytestmark = pytest.mark.postgres

SAMPLE = (STORIES / "address_lock_storm" / "sysmon.txt").read_text()
LATER = SAMPLE.replace("10:30:00", "11:30:00").replace("10:40:00", "11:40:00")
LIMIT = "ase/address_lock_spinlock_contended.contention_percent"


@pytest.mark.django_db(transaction=True)
def test_how_many_captures_are_judged_is_written_outside_of_any_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def watched(*given: Any) -> Any:
        upload = Upload.objects.get()
        seen.append((upload.captures_found, upload.captures_judged, connection.in_atomic_block))
        return audit(*given)

    monkeypatch.setattr(judging, "audit", watched)
    monkeypatch.setattr(process_upload, "TELL_EVERY", 0)
    people = make_people()
    ingest([Brought("day.txt", io.BytesIO((SAMPLE + LATER).encode()))], people.team, people.owner)
    assert seen == [(2, 0, False), (2, 1, False)]
    assert Capture.objects.count() == Audit.objects.count() == 2
    assert all(item["excerpt"] for one in Audit.objects.all() for item in one.findings.all()[0].data["evidence"][:1])


@pytest.mark.django_db(transaction=True)
def test_a_limit_that_is_set_while_captures_are_judged_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    people = make_people()

    def meanwhile(*given: Any) -> None:
        monkeypatch.undo()
        add_excerpts(*given)
        set_limit(LIMIT, 31.0, people.administrator, system=None)

    monkeypatch.setattr(judging, "add_excerpts", meanwhile)
    ingest([Brought("one.txt", io.BytesIO(SAMPLE.encode()))], people.team, people.owner)
    assert [audit.limits for audit in Audit.objects.all()] == [{LIMIT: 31.0}]
