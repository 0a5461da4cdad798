"""What is kept for how long; what the overview stands on is never cleared."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.audits.models import Audit, Capture
from advisor.audits.services.renewal import audit_again
from advisor.core.models import JournalEntry, Site
from advisor.notifications.models import (
    Delivery,
    Mail,
    Recipient,
    Told,
)
from advisor.notifications.services import overdue_alerts
from advisor.operations.services.retention import clear_up
from advisor.schedules.models import DropFile, Run, Schedule
from advisor.systems.models import System
from advisor.uploads.models import Blob, Upload
from tests.advisor.notifications.mail.hearing import hearer
from tests.advisor.notifications.webhooks.receivers import delivery, hook_for
from tests.advisor.people import People

pytestmark = pytest.mark.postgres

LATER = timezone.now() + timedelta(days=5000)


def test_bytes_go_and_what_was_understood_stays_and_can_be_audited_again(people: People, storm: System) -> None:
    keep = Site.get()
    keep.keep_captures_days = 0
    keep.save()
    capture = Capture.objects.get()
    quoted = [item["excerpt"] for f in capture.audit.findings.all() for item in f.data["evidence"]]  # type: ignore[union-attr]
    gone = clear_up(LATER)
    assert (gone.bytes_of_uploads, gone.blobs) == (1, 3)
    assert not Blob.objects.exists()
    made = audit_again(capture.pk, people.owner)
    assert made is not None
    again = [item["excerpt"] for f in made.findings.all() for item in f.data["evidence"]]
    assert again == quoted, "the quoted lines are kept although the bytes have gone"
    assert any(again)


def test_the_newest_capture_of_a_system_is_kept_whatever_its_age(storm: System) -> None:
    old = Capture.objects.get()
    Capture.objects.filter(pk=old.pk).update(taken=old.taken - timedelta(days=4000))
    clear_up()
    assert Capture.objects.exists()
    newer = Capture.objects.create(system=storm, taken=timezone.now(), audit=old.audit)
    System.objects.filter(pk=storm.pk).update(latest=Audit.objects.create(capture=newer, system=storm))
    assert clear_up().captures == 1
    assert list(Capture.objects.all()) == [newer]


def test_superseded_audits_go_and_current_ones_stay(storm: System) -> None:
    audit_again(Capture.objects.get().pk)
    assert Audit.objects.count() == 2
    gone = clear_up(timezone.now() + timedelta(days=91))
    assert gone.audits == 1
    assert Audit.objects.get() == Capture.objects.get().audit


def test_nought_days_keep_for_ever(storm: System) -> None:
    Site.objects.update_or_create(
        pk=1,
        defaults={
            "keep_bytes_days": 0,
            "keep_captures_days": 0,
            "keep_old_audits_days": 0,
            "keep_runs_days": 0,
            "keep_journal_days": 0,
        },
    )
    audit_again(Capture.objects.get().pk)
    assert str(clear_up(LATER)) == "nothing"
    assert Audit.objects.count() == 2


def test_clearing_up_is_noted(
    storm: System, bring: Callable[..., Upload], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    clear_up()
    entry = JournalEntry.objects.get(action="cleared up")
    assert (entry.who, entry.what) == ("lockwright", "nothing")


NOW = timezone.now()
OLD = NOW - timedelta(days=91)


def test_old_runs_go_but_for_the_last_of_a_schedule_and_system(people: People, storm: System) -> None:
    schedule = Schedule.objects.create(team=people.team, name="hourly", every_minutes=60)
    rare = Schedule.objects.create(team=people.team, name="yearly", cron="0 0 1 1 *")

    def run(of: Schedule, days: int, state: str = "done", system: System | None = None) -> int:
        at = NOW - timedelta(days=days)
        return Run.objects.create(schedule=of, due=at, state=state, finished=at, system=system).pk

    run(schedule, 93)
    run(schedule, 92, "failed")
    kept = {
        run(schedule, 91, system=storm),
        run(schedule, 120, "waiting"),
        run(schedule, 89, "skipped"),
        run(rare, 300),
    }
    run(schedule, 95, system=storm)
    assert clear_up(NOW).runs == 3
    assert set(Run.objects.values_list("pk", flat=True)) == kept


def test_old_mails_and_deliveries_go_once_nothing_more_happens_to_them(people: People) -> None:
    hook, _ = hook_for(people.team, people.owner, "http://127.0.0.1:1/")
    for number, state in enumerate(("done", "failed", "skipped", "waiting", "running")):
        row = delivery(hook, f"ping {number}")
        Delivery.objects.filter(pk=row.pk).update(state=state, finished=OLD, body=b"x")
        Mail.objects.create(
            key=f"test {number}",
            message_id=f"<{number}@x>",
            message=b"",
            size=0,
            state=state,
            finished=OLD,
            kind="test",
        )
    gone = clear_up(NOW)
    assert (gone.mails, gone.deliveries) == (3, 3)
    assert set(Mail.objects.values_list("state", flat=True)) == {"waiting", "running"}
    assert set(Delivery.objects.values_list("state", flat=True)) == {"waiting", "running"}
    hook.paused = OLD
    hook.save()
    assert clear_up(NOW).deliveries == 1, "what waits for a webhook that is paused so long"


def test_a_delivery_keeps_its_body_for_a_week(people: People) -> None:
    hook, _ = hook_for(people.team, people.owner, "http://127.0.0.1:1/")
    for days in (6, 8):
        row = delivery(hook, f"ping {days}")
        Delivery.objects.filter(pk=row.pk).update(state="done", finished=NOW - timedelta(days=days), body=b"x")
    assert clear_up(NOW).bodies_of_deliveries == 1
    assert [bytes(row.body) for row in Delivery.objects.order_by("pk")] == [b"x", b""]


def test_a_dropped_file_is_forgotten_only_where_its_folder_was_seen_without_it(people: People) -> None:
    away = Schedule.objects.create(team=people.team, name="unmounted", folder="/x", looked=OLD, every_minutes=1)
    read = Schedule.objects.create(team=people.team, name="read", folder="/y", looked=NOW, every_minutes=1)
    for schedule, seen in ((away, OLD), (read, OLD), (read, NOW)):
        DropFile.objects.create(
            schedule=schedule, path=f"{seen}", size=1, mtime_ns=1, inode=1, since=OLD, taken=OLD, seen=seen
        )
    assert clear_up(NOW).names_of_dropped_files == 1
    assert set(DropFile.objects.values_list("schedule", "seen")) == {(away.pk, OLD), (read.pk, NOW)}


def test_an_audit_that_the_next_mail_compares_with_stays(people: People, storm: System) -> None:
    first = storm.latest
    audit_again(Capture.objects.get().pk)
    someone = Recipient.objects.create(team=people.team, address="dba@example.org")
    told = Told.objects.create(recipient=someone, system=storm, mailed=first)
    later = timezone.now() + timedelta(days=91)
    assert clear_up(later).audits == 0
    told.delete()
    assert clear_up(later).audits == 1


def test_that_something_is_not_audited_stays_told_as_long_as_it_lasts(people: People, storm: System) -> None:
    lost, back = storm, System.objects.create(team=people.team, product="ase", name="BACK", key="BACK")
    System.objects.update(troubled=OLD - timedelta(days=9), trouble="run 1 of nightly: it failed\nlook at it")
    late = System.objects.create(
        team=people.team, product="ase", name="LATE", key="LATE", expected_hours=1, created=OLD - timedelta(days=9)
    )
    failing = Schedule.objects.create(
        team=people.team, name="nightly", every_minutes=60, troubled=OLD - timedelta(days=9), trouble="it failed"
    )
    hearer(people)
    overdue_alerts.tell_silent(NOW)
    told = Mail.objects.filter(kind="not_audited")
    assert told.count() == 4
    told.update(state="done", finished=OLD)
    System.objects.filter(pk=back.pk).update(troubled=None, trouble="")
    assert clear_up(NOW).mails == 1
    assert set(told.values_list("system", flat=True)) == {lost.pk, late.pk, None}
    overdue_alerts.tell_silent(NOW)
    assert told.count() == 3, "nobody is told once more of what lasts"
    assert set(told.values_list("state", flat=True)) == {"done"}
    System.objects.update(troubled=None, trouble="", expected_hours=None)
    Schedule.objects.filter(pk=failing.pk).update(troubled=None)
    assert clear_up(NOW).mails == 3
