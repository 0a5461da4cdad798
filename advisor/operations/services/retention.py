"""Let go of what a site no longer wants to keep. Days of 0 keep for ever."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.sessions.models import Session
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from advisor.accounts.models import Team
from advisor.audits.models import Audit, Backtest, Capture, Printed
from advisor.audits.services.persistence import settle_system
from advisor.core import journal
from advisor.core.models import JournalEntry, Site, Work
from advisor.notifications.models import Delivery, Mail, Told
from advisor.notifications.services import overdue_alerts
from advisor.schedules.models import DropFile, Run
from advisor.schedules.services import failures
from advisor.systems.models import SettingsSnapshot, System
from advisor.uploads.models import Upload, UploadFile
from advisor.uploads.services.storing import drop_unused

AT_A_TIME = 500
KEEP_BODIES = timedelta(days=7)
"""So long after its end a delivery keeps its body; sent again later, it is made anew (this project's figure)."""
KEEP_PDFS = timedelta(days=30)
"""A PDF is made anew where it is asked for later (this project's figure)."""
SETTLED = (Work.State.DONE, Work.State.FAILED, Work.State.SKIPPED)


@dataclass
class Cleared:
    """How much went."""

    bytes_of_uploads: int = 0
    captures: int = 0
    audits: int = 0
    uploads: int = 0
    blobs: int = 0
    runs: int = 0
    mails: int = 0
    deliveries: int = 0
    bodies_of_deliveries: int = 0
    pdfs: int = 0
    trials_of_limits: int = 0
    names_of_dropped_files: int = 0
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
        compared = Told.objects.exclude(mailed=None).values("mailed")  # the next mail tells what changed since
        superseded = old.exclude(pk=F("capture__audit_id")).filter(capture__audit__isnull=False)
        superseded = superseded.exclude(pk__in=compared)
        gone.audits = superseded.count()
        superseded.delete()
    if site.keep_bytes_days:
        gone.bytes_of_uploads = _bytes(now - timedelta(days=site.keep_bytes_days), now)
    gone.bodies_of_deliveries = _bodies(now - KEEP_BODIES)
    without_audit = ~Exists(Audit.objects.filter(pk=OuterRef("pk")))  # made while it was deleted; the database lets it
    gone.pdfs = Printed.objects.filter(Q(at__lt=now - KEEP_PDFS) | Q(without_audit)).delete()[0]
    empty = Upload.objects.filter(captures__isnull=True, captures_again__isnull=True, bytes_dropped__isnull=False)
    gone.uploads = empty.count()
    empty.delete()
    if site.keep_runs_days:
        _work(now - timedelta(days=site.keep_runs_days), now, gone)
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


def _work(horizon: datetime, now: datetime, gone: Cleared) -> None:
    """What was done by itself before the horizon and needs nothing more. The last run of a schedule and system stays.

    A dropped file's name is kept while the file may be there: without it the file would be taken once more. So it goes
    only where the folder was looked into since and the file was not seen.
    """
    newer = Run.objects.filter(schedule=OuterRef("schedule"), due__gt=OuterRef("due"), state__in=SETTLED)
    runs = Run.objects.filter(state__in=SETTLED, finished__lt=horizon)
    gone.runs = _batches(runs.filter(Exists(newer.filter(system=OuterRef("system")))))
    gone.runs += _batches(runs.filter(Exists(newer.filter(system=None)), system=None))
    gone.trials_of_limits = _batches(Backtest.objects.filter(state__in=SETTLED, finished__lt=horizon))
    mails = Mail.objects.filter(state__in=SETTLED, finished__lt=horizon)
    gone.mails = _batches(mails.exclude(kind=Mail.Kind.NOT_AUDITED)) + _told_of_silence(mails, now)
    settled = Delivery.objects.filter(state__in=SETTLED, finished__lt=horizon)
    left = Delivery.objects.filter(state=Work.State.WAITING, webhook__paused__lt=horizon)
    gone.deliveries = _batches(settled) + _batches(left)
    away = DropFile.objects.filter(seen__lt=horizon, schedule__looked__gt=F("seen") + timedelta(days=1))
    gone.names_of_dropped_files = _batches(away)


def _told_of_silence(mails: QuerySet[Mail], now: datetime) -> int:
    """Delete mails that something is not audited, except of what is not audited still: it would be told once more."""
    count = 0
    for team in Team.objects.filter(pk__in=mails.filter(kind=Mail.Kind.NOT_AUDITED).order_by().values("team")):
        missing = failures.not_audited(team, now, snoozed=True)
        lasting = {overdue_alerts.key_of(one, lost) for one in team.recipients.all() for lost in missing}
        told = mails.filter(kind=Mail.Kind.NOT_AUDITED, team=team).order_by().values_list("pk", "key")
        over = [pk for pk, key in told if key not in lasting]
        for at in range(0, len(over), AT_A_TIME):
            count += Mail.objects.filter(pk__in=over[at : at + AT_A_TIME]).delete()[0]
    return count


def _bodies(horizon: datetime) -> int:
    """The bodies of deliveries that ended before the horizon."""
    kept = Delivery.objects.filter(state__in=SETTLED, finished__lt=horizon).exclude(body=b"")
    count = 0
    while batch := list(kept.order_by().values_list("pk", flat=True)[:AT_A_TIME]):
        count += kept.filter(pk__in=batch).update(body=b"")
    return count


def _batches(rows: QuerySet[Any]) -> int:
    """Delete rows in short transactions; gives how many."""
    count = 0
    while batch := list(rows.order_by().values_list("pk", flat=True)[:AT_A_TIME]):
        rows.model._default_manager.filter(pk__in=batch).delete()
        count += len(batch)
    return count


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
