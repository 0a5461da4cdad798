"""What is kept for how long; what the overview stands on is never cleared."""

from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.models import Audit, Blob, Capture, JournalEntry, Site, System, Upload
from advisor.services.capturing import audit_again
from advisor.services.retention import clear_up
from tests.advisor.people import People

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
