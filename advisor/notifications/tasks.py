"""Celery's tasks of mail and webhooks: each calls one service, takes ids, may run twice, and does its work once."""

from celery import shared_task

from advisor.core.job_queue import AWAY
from advisor.notifications.services import notify as notifications
from advisor.notifications.services import outbox
from advisor.notifications.webhooks import deliveries


@shared_task(autoretry_for=AWAY, retry_backoff=2, retry_backoff_max=60, max_retries=15)
def notify(system_id: int) -> None:
    """Tell everybody concerned of a system's newest audit."""
    notifications.notify(system_id)


@shared_task
def notify_due() -> None:
    """Tell what was held back, digests that are due, systems not audited any more. Every minute, by the scheduler."""
    notifications.notify_due()


@shared_task(autoretry_for=AWAY, retry_backoff=2, retry_backoff_max=60, max_retries=15)
def send_mails() -> None:
    """Send what the outbox holds. One process at a time does it."""
    outbox.send_due()


@shared_task(autoretry_for=AWAY, retry_backoff=2, retry_backoff_max=60, max_retries=15)
def deliver(delivery_id: int) -> None:
    """Send one delivery to its webhook."""
    deliveries.deliver(delivery_id)
