"""Let go of what a site no longer wants to keep. Days of 0 keep for ever."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.sessions.models import Session
from django.db.models import F, Q
from django.utils import timezone

from advisor.models import Audit, Capture, JournalEntry, SettingsSnapshot, Site, System, Upload, UploadFile
from advisor.services import journal
from advisor.services.remembering import settle_system
from advisor.services.storing import drop_unused

AT_A_TIME = 500


@dataclass
class Cleared:
    """How much went."""

    bytes_of_uploads: int = 0
    captures: int = 0
    audits: int = 0
    uploads: int = 0
    blobs: int = 0
    journal_entries: int = 0

    def __str__(self) -> str:
        said = {name.replace("_", " "): count for name, count in vars(self).items() if count}
        return ", ".join(f"{count:,} {name}" for name, count in said.items()) or "nothing"


def clear_up(now: datetime | None = None) -> Cleared:
    """Clear up once. The newest capture of a system is kept whatever its age: the overview stands on it."""
    now, site, gone = now or timezone.now(), Site.get(), Cleared()
    if site.keep_captures_days:
        gone.captures = _captures(now - timedelta(days=site.keep_captures_days))
    if site.keep_old_audits_days:
        old = Audit.objects.filter(at__lt=now - timedelta(days=site.keep_old_audits_days))
        superseded = old.exclude(pk=F("capture__audit_id")).filter(capture__audit__isnull=False)
        gone.audits = superseded.count()
        superseded.delete()
    if site.keep_bytes_days:
        gone.bytes_of_uploads = _bytes(now - timedelta(days=site.keep_bytes_days), now)
    empty = Upload.objects.filter(captures__isnull=True, captures_again__isnull=True, bytes_dropped__isnull=False)
    gone.uploads = empty.count()
    empty.delete()
    if site.keep_journal_days:
        horizon = now - timedelta(days=site.keep_journal_days)
        gone.journal_entries = JournalEntry.objects.filter(at__lt=horizon).delete()[0]
        for attempts in (AccessAttempt, AccessFailureLog, AccessLog):
            attempts.objects.filter(attempt_time__lt=horizon).delete()
    SettingsSnapshot.objects.filter(capture__isnull=True).delete()
    Session.objects.filter(expire_date__lt=now).delete()
    gone.blobs = drop_unused()
    journal.note(None, "cleared up", str(gone))
    return gone


def _captures(horizon: datetime) -> int:
    """Captures and their audits from before the horizon, except the newest of each system."""
    newest = Q(pk__in=System.objects.exclude(latest=None).values("latest__capture_id"))
    old = Capture.objects.filter(taken__lt=horizon).exclude(newest)
    touched = set(old.values_list("system_id", flat=True))
    count = 0
    while batch := list(old.values_list("pk", flat=True)[:AT_A_TIME]):
        count += len(batch)
        Capture.objects.filter(pk__in=batch).delete()
    for system in System.objects.filter(pk__in=touched):
        settle_system(system)
    return count


def _bytes(horizon: datetime, now: datetime) -> int:
    """The bytes of uploads from before the horizon; what was understood of them stays."""
    old = Upload.objects.filter(at__lt=horizon, bytes_dropped=None, state__in=(Upload.State.DONE, Upload.State.FAILED))
    ids = list(old.values_list("pk", flat=True))
    for at in range(0, len(ids), AT_A_TIME):
        UploadFile.objects.filter(upload__in=ids[at : at + AT_A_TIME]).update(blob=None)
        Upload.objects.filter(pk__in=ids[at : at + AT_A_TIME]).update(bytes_dropped=now)
    return len(ids)
