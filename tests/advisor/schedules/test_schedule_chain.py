"""The whole way on the pages: a schedule is made, files are dropped, taken, read, audited and told of by mail."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.notifications.models import Mail, Recipient
from advisor.schedules.models import Schedule
from advisor.schedules.services import running
from advisor.systems.models import System
from tests.advisor.people import STORIES, AsUser, People, text_of
from tests.advisor.schedules.test_schedule_pages_changes import FORM
from tests.advisor.seen import words_of

pytestmark = pytest.mark.postgres


def test_a_dropped_file_is_followed_from_the_form_to_the_mail(
    people: People,
    as_user: AsUser,
    settings: Settings,
    tmp_path: Path,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.DROP_FOLDERS = [tmp_path]
    folder = tmp_path / "Claims"
    folder.mkdir()
    for path in (STORIES / "address_lock_storm").glob("*.txt"):
        shutil.copy(path, folder)
    Recipient.objects.create(team=people.team, address="dba@example.org", created=timezone.now() - timedelta(days=1))
    owner = as_user(people.owner)
    owner.post("/schedules/new/", {**FORM, "settle_seconds": "60"})
    schedule = Schedule.objects.get()
    address = f"/schedules/{schedule.pk}/"
    with django_capture_on_commit_callbacks(execute=True):
        owner.post(f"{address}run/")
    page = text_of(owner, address)
    assert "looks again at" in words_of(page)
    assert "waits until it has settled" in words_of(page)
    assert "hx-trigger" in page
    with time_machine.travel(timezone.now() + timedelta(seconds=90)):
        with django_capture_on_commit_callbacks(execute=True):
            for run_id in running.claim_due():
                running.make_run(run_id)
        page = text_of(owner, address)
        system = System.objects.get()
        assert "3 files taken" in page
        assert f'href="/audits/{system.latest_id}/"' in page
        assert "1 mail : 0 sent, 1 waiting" in words_of(page)
        (run,) = owner.get(f"/api{address}runs").json()["items"]
        assert (run["stage"], run["mails"]["waiting"], run["uploads"][0]["audits"]) == (
            "audited",
            1,
            [system.latest_id],
        )
        Mail.objects.update(state=Mail.State.DONE)
        assert "1 mail : 1 sent" in words_of(text_of(owner, address))
        assert "delivered its newest exports" in words_of(text_of(owner, f"/systems/{system.pk}/"))
    with time_machine.travel(timezone.now() + timedelta(hours=1)):
        assert "hx-trigger" not in text_of(owner, address)
