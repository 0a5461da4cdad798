"""Celery's door: fetch, call one service. Every task takes ids, may run twice, and does its work once."""

from celery import shared_task
from django.db import InterfaceError, OperationalError

from advisor.models import User
from advisor.services import capturing, retention, ticking
from advisor.services.hooks import webhooks
from advisor.services.mailing import outbox, telling
from advisor.services.scheduling import peak, running
from advisor.services.sources import trying

AWAY = (OperationalError, InterfaceError)
"""The database is away: the task stays, and comes again until it is back or the sweep takes over."""


@shared_task(autoretry_for=(Exception,), retry_backoff=2, retry_backoff_max=60, max_retries=15)
def read_upload(upload_id: int) -> None:
    """Read an upload and audit what it holds; the upload itself counts its tries."""
    capturing.read_upload(upload_id)


@shared_task(autoretry_for=(Exception,), retry_backoff=2, max_retries=3)
def audit_again(capture_id: int, user_id: int | None = None, why: str = "asked for") -> None:
    """Audit a remembered capture by today's rules and limits."""
    user = None if user_id is None else User.objects.filter(pk=user_id).first()
    capturing.audit_again(capture_id, user, why)


@shared_task
def tick() -> None:
    """Start what is due by now: runs of schedules, mails, deliveries. Every ten seconds, by the scheduler."""
    ticking.note()
    for run_id in running.claim_due():
        make_run.delay(run_id)
    if outbox.anything_due():
        send_mails.delay()
    for delivery_id in webhooks.due_now():
        deliver.delay(delivery_id)


@shared_task(autoretry_for=AWAY, retry_backoff=2, retry_backoff_max=60, max_retries=15)
def make_run(run_id: int) -> None:
    """Make one run of a schedule: take in what there is."""
    running.make_run(run_id)


@shared_task(time_limit=trying.HARD_SECONDS, soft_time_limit=trying.HARD_SECONDS - 5)
def try_source(try_id: int) -> None:
    """Try whether a data source can be asked; somebody looks on."""
    trying.try_now(try_id)


@shared_task(autoretry_for=AWAY, retry_backoff=2, retry_backoff_max=60, max_retries=15)
def tell(system_id: int) -> None:
    """Tell everybody concerned of a system's newest audit."""
    telling.tell(system_id)


@shared_task
def tell_due() -> None:
    """Tell what was held back, digests that are due, systems not audited any more. Every minute, by the scheduler."""
    telling.tell_due()


@shared_task(autoretry_for=AWAY, retry_backoff=2, retry_backoff_max=60, max_retries=15)
def send_mails() -> None:
    """Send what the outbox holds. One process at a time does it."""
    outbox.send_due()


@shared_task(autoretry_for=AWAY, retry_backoff=2, retry_backoff_max=60, max_retries=15)
def deliver(delivery_id: int) -> None:
    """Send one delivery to its webhook."""
    webhooks.deliver(delivery_id)


@shared_task
def start_waiting() -> None:
    """Start what was lost on the way (the broker was away, a worker died). Every minute, by the scheduler."""
    for upload_id in capturing.left_waiting():
        read_upload.delay(upload_id)
    for capture_id in capturing.audits_left():
        audit_again.delay(capture_id, None, "left waiting")
    for try_id in trying.left():
        try_source.delay(try_id)
    running.take_back_lost()
    peak.refresh()
    outbox.take_back_lost()
    webhooks.take_back_lost()


@shared_task
def clear_up() -> None:
    """Let go of what retention no longer keeps. Every night, by the scheduler."""
    retention.clear_up()
