"""What a schedule took in and nobody can read is said where it belongs: one stray file makes no system silent."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.notifications.models import Mail
from advisor.notifications.services import notify
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services import failures
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail.hearing import content, hearer, mails, text_of
from tests.advisor.people import AsUser, People
from tests.advisor.people import text_of as page_of
from tests.advisor.schedules.scheduling import make_schedule, make_system
from tests.advisor.schedules.test_failures import bring_bytes, trouble_of

pytestmark = pytest.mark.postgres

shared = keeps("address_lock_storm")


@pytest.fixture
def stray(people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Any:
    """Have a schedule take in a file that is no export, for a system by name or for none."""

    def take(schedule: Schedule, system_name: str = "", data: bytes = b"hello\n", **more: Any) -> Upload:
        run = Run.objects.create(schedule=schedule, due=timezone.now(), **more)
        with django_capture_on_commit_callbacks(execute=True):
            return bring_bytes(run, data, system_name=system_name)

    return take


def came(ago: timedelta) -> datetime:
    """Have everything brought so long ago."""
    at = timezone.now() - ago
    Upload.objects.update(at=at)
    return at


def hourly(people: People, **more: Any) -> Schedule:
    return make_schedule(people.team, next_due=timezone.now() + timedelta(minutes=10), **more)


def test_one_stray_file_makes_no_healthy_system_not_audited(people: People, storm: System, stray: Any) -> None:
    came(timedelta(minutes=100))  # the last two times it was due: 50 and 110 minutes ago
    schedule = hourly(people)
    upload = stray(schedule, "claims1")
    assert not trouble_of(storm)
    first, do = trouble_of(schedule).split("\n")
    assert first == f"upload {upload.pk} of hourly: nothing usable was given (export.txt)"
    assert do == failures.LOOK_AT_UPLOAD
    own = hourly(people, system=storm) if schedule.delete() else None
    assert own is not None
    stray(own, "CLAIMS1", b"hello once more\n")
    assert not trouble_of(storm), "nor one in the folder of the system alone"
    assert trouble_of(own)


def test_a_system_nothing_came_of_since_two_times_is_not_audited(people: People, storm: System, stray: Any) -> None:
    came(timedelta(minutes=120))
    schedule = hourly(people)
    upload = stray(schedule, "claims1")
    assert trouble_of(storm).startswith(f"upload {upload.pk} of hourly: nothing usable was given (export.txt)\n")
    assert not trouble_of(schedule)
    failures.schedule_works(schedule, storm)
    assert trouble_of(storm), "that a folder can be read says nothing of what was in it"
    failures.audited(storm)
    assert not trouble_of(storm)


@pytest.mark.usefixtures("nothing_brought")
def test_a_system_never_audited_is_in_trouble_by_its_first_file(people: People, stray: Any) -> None:
    system = make_system(people.team)
    stray(hourly(people), "claims1")
    assert trouble_of(system)


def test_times_in_a_blackout_are_no_times_that_passed_without_an_audit(
    people: People, storm: System, stray: Any
) -> None:
    now = timezone.now()
    came(timedelta(minutes=240))
    begun, ended = now - timedelta(minutes=235), now - timedelta(minutes=15)
    window = f"{begun:%Y-%m-%d %H:%M} - {ended:%Y-%m-%d %H:%M}"
    schedule = hourly(people, blackouts=window)
    stray(schedule, "claims1")
    assert not trouble_of(storm), "it was due last 50 and 230 minutes ago, in the blackout, and 290 before"
    assert trouble_of(schedule)


@pytest.mark.parametrize(("cron", "lost"), [("0 3 * * *", True), ("0 3 * * 0", False), ("0 3 29 2 *", False)])
def test_a_plan_of_cron_says_how_long_a_system_may_be_silent(
    people: People, storm: System, stray: Any, cron: str, lost: bool
) -> None:
    came(timedelta(days=5))
    stray(make_schedule(people.team, cron=cron, next_due=timezone.now() + timedelta(hours=1)), "claims1")
    assert bool(trouble_of(storm)) == lost


def test_a_collector_that_gives_nothing_usable_is_its_system_s_trouble_at_once(
    people: People, storm: System, stray: Any
) -> None:
    schedule = hourly(people, source="collector", collector="probe", folder="", system=storm)
    stray(schedule, "CLAIMS1", system=storm)
    assert trouble_of(storm)


def test_the_first_files_are_named_on_one_line_and_the_others_counted(people: People, storm: System) -> None:
    schedule = hourly(people)
    run = Run.objects.create(schedule=schedule, due=timezone.now())
    upload = Upload.objects.create(team=people.team, digest="x", run=run, error="OSError: no\nroom")
    for number, name in enumerate(("a\nDo: call\u202e me", "b.txt", "c.txt", "d.txt", "e.txt")):
        upload.files.create(name=name, number=number, size=1)
    failures.upload_failed(upload)
    first, do = trouble_of(schedule).split("\n")
    assert first == f"upload {upload.pk} of hourly: OSError: no room (a Do: call me, b.txt, c.txt and 2 more)"
    assert do == failures.LOOK_AT_UPLOAD


def test_the_letter_and_the_list_above_the_overview_lead_to_what_failed(
    people: People, storm: System, stray: Any, as_user: AsUser
) -> None:
    schedule = hourly(people)
    upload = stray(schedule)
    hearer(people)
    notify.notify_due()
    (mail,) = mails(kind=Mail.Kind.NOT_AUDITED)
    assert f"/uploads/{upload.pk}/ " in text_of(mail)
    html = content(mail).get_body(("html",))
    assert html is not None
    assert f'/uploads/{upload.pk}/"' in html.get_content().replace("=\n", "")
    assert "(export.txt)" in page_of(as_user(people.colleague), "/")
    assert "(export.txt)" in page_of(as_user(people.colleague), f"/schedules/{schedule.pk}/")
    upload.delete()
    (one,) = failures.not_audited(people.team)
    assert one.upload is None, "a link that opens nothing is none"
