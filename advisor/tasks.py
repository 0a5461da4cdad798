"""Celery's door: fetch, call one service. Every task takes ids, may run twice, and does its work once."""

from celery import shared_task

from advisor.models import User
from advisor.services import capturing, retention


@shared_task(autoretry_for=(Exception,), retry_backoff=2, max_retries=3)
def read_upload(upload_id: int) -> None:
    """Read an upload and audit what it holds."""
    capturing.read_upload(upload_id)


@shared_task(autoretry_for=(Exception,), retry_backoff=2, max_retries=3)
def audit_again(capture_id: int, user_id: int | None = None, why: str = "asked for") -> None:
    """Audit a remembered capture by today's rules and limits."""
    user = None if user_id is None else User.objects.filter(pk=user_id).first()
    capturing.audit_again(capture_id, user, why)


@shared_task
def start_waiting() -> None:
    """Start what was lost on the way (the broker was away, a worker died). Every minute, by the scheduler."""
    for upload_id in capturing.left_waiting():
        read_upload.delay(upload_id)
    for capture_id in capturing.audits_left():
        audit_again.delay(capture_id, None, "left waiting")


@shared_task
def clear_up() -> None:
    """Let go of what retention no longer keeps. Every night, by the scheduler."""
    retention.clear_up()
