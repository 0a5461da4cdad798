"""Audit stored captures anew: by today's rules and limits, when somebody asks or what they depend on has changed."""

from datetime import timedelta

from django.utils import timezone

from advisor.accounts.models import User
from advisor.audits.models import Audit, Capture
from advisor.audits.services.persistence import (
    remember_audit,
    renew_beside,
    restore,
    settle_system,
)
from advisor.audits.services.printing import want_pdf
from advisor.core import journal
from advisor.core.job_queue import start
from advisor.uploads.services.spooling import spooled


def audit_again(capture_id: int, by: User | None = None, why: str = "asked for") -> Audit | None:
    """Audit a remembered capture by today's rules and limits; `None` where it has gone meanwhile."""
    capture = Capture.objects.select_related("system", "upload", "audit", "packed").filter(pk=capture_id).first()
    if capture is None:
        return None
    found, problems = restore(capture)
    before = set(capture.audit.findings_digest) if capture.audit else set()
    with spooled(capture.upload) as files:
        made = remember_audit(capture, found, files.streams, by=by, why=why, problems=problems)
    settle_system(capture.system)
    want_pdf(made.pk)
    if before != set(made.findings_digest):  # what other nodes link to has changed; once theirs settle, this ends
        for other in renew_beside(capture, found):
            start("audits.audit_again", other, None, "another node changed")
    if by:
        journal.note(by, "audit again", f"capture {capture_id}: {why}", system=capture.system)
    return made


def want_audit(capture: Capture, by: User) -> None:
    """Have a capture audited again in the background."""
    Capture.objects.filter(pk=capture.pk).update(audit_wanted=timezone.now())
    start("audits.audit_again", capture.pk, by.pk, "asked for")


def audits_left(lost: bool = False) -> list[int]:
    """Captures whose new audit was asked for over a minute ago: its task may be lost. With `lost`: whenever it was."""
    wanted = Capture.objects.filter(audit_wanted__lt=timezone.now() - timedelta(seconds=0 if lost else 60))
    return list(wanted.order_by("audit_wanted").values_list("pk", flat=True)[:200])
