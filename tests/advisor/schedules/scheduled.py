"""Schedules and runs as tests of their pages and of the API want them."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from advisor.audits.models import Audit
from advisor.notifications.models import Mail
from advisor.schedules.models import Run, Schedule
from advisor.uploads.models import Upload
from tests.advisor.people import People


def make_schedule(people: People, name: str = "nightly", **more: Any) -> Schedule:
    """A schedule of the owner's team over a drop folder, due in ten minutes."""
    columns = {
        "folder": "/x/claims",
        "every_minutes": 60,
        "by": people.owner,
        "next_due": timezone.now() + timedelta(minutes=10),
        **more,
    }
    return Schedule.objects.create(team=people.team, name=name, **columns)


def run_of(schedule: Schedule, state: str = Run.State.DONE, ago: int = 30, **more: Any) -> Run:
    """A run that was due so many minutes ago."""
    return Run.objects.create(
        schedule=schedule, due=timezone.now() - timedelta(minutes=ago), state=state, **{"tries": 1, **more}
    )


def taken_by(run: Run, upload: Upload, state: str = Upload.State.DONE, **more: Any) -> Upload:
    """The upload, as if that run had taken it in long ago."""
    ended = timezone.now() - timedelta(minutes=20) if state in (Upload.State.DONE, Upload.State.FAILED) else None
    Upload.objects.filter(pk=upload.pk).update(run=run, state=state, **{"finished": ended, **more})
    upload.refresh_from_db()
    return upload


def mail_of(audit: Audit, state: str, number: int = 0) -> Mail:
    """A mail that tells of an audit."""
    return Mail.objects.create(
        key=f"{audit.pk} {state} {number}",
        kind=Mail.Kind.REPORT,
        team=audit.system.team,
        system=audit.system,
        audit=audit,
        to="dba@example.org",
        subject="x",
        message_id=f"<{audit.pk}.{state}.{number}@example.org>",
        message=b"",
        size=0,
        state=state,
    )
