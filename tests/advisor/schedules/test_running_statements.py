"""How much an audit by schedule asks of the database: in a fleet that is most of what it costs."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from advisor.schedules.models import DropFile, Run, Schedule
from advisor.schedules.services.running import make_run
from advisor.systems.models import System
from advisor.uploads.models import Upload
from advisor.uploads.services.process_upload import read_upload
from tests.advisor.people import People
from tests.advisor.schedules.watch_folder import make_drop
from tests.faults.exports import sysmon

pytestmark = pytest.mark.postgres
MOST = {"a look that finds a file": 12, "the look that takes it": 21, "its audit": 33}
"""Statements, without `LEFT_OUT`."""
LEFT_OUT = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK", 'UPDATE "uploads_upload"')
"""Those of transactions, and the notes of progress, of which a slow machine has more."""


def test_an_audit_by_schedule_asks_little_of_the_database(people: People, settings: Settings, tmp_path: Path) -> None:
    settings.DROP_FOLDERS = [tmp_path / "drop"]
    system = System.objects.create(team=people.team, product="ase", name="HOURLY", key="HOURLY")
    drop = make_drop(people.team, tmp_path / "drop" / "Claims", system=system, after=Schedule.After.MOVE)
    asked: dict[str, list[str]] = {}
    for number in range(2):  # of a system that is known, in the end
        drop.put(f"{number}.txt", sysmon("HOURLY", number))
        run = Run.objects.create(schedule=drop.schedule, due=timezone.now())
        for what in list(MOST)[:2]:
            Run.objects.filter(pk=run.pk).update(not_before=timezone.now() - timedelta(seconds=1))
            with CaptureQueriesContext(connection) as captured:
                make_run(run.pk)
            asked[what] = statements(captured)
            past = timezone.now() - timedelta(hours=1)
            DropFile.objects.filter(schedule=drop.schedule).update(since=past)
        upload = Upload.objects.get(run=run)
        with CaptureQueriesContext(connection) as captured:
            assert read_upload(upload.pk)
        asked["its audit"] = statements(captured)
        run.refresh_from_db()
        assert (run.state, run.told) == (Run.State.DONE, "1 file taken")
    drop.schedule.refresh_from_db()
    assert drop.schedule.looked is not None
    assert Upload.objects.filter(state=Upload.State.DONE, captures__system=system).count() == 2
    for what, found in asked.items():
        assert len(found) <= MOST[what], f"{what}: {len(found)}\n" + "\n".join(one[:200] for one in found)


def statements(captured: CaptureQueriesContext) -> list[str]:
    return [query["sql"] for query in captured.captured_queries if not query["sql"].startswith(LEFT_OUT)]
