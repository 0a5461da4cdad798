"""Celery's tasks that the scheduler starts by the clock: what is due, what was lost on the way, what is old."""

from celery import shared_task

from advisor.audits.services import backtest as backtests
from advisor.audits.services import renewal
from advisor.audits.tasks import audit_again, backtest
from advisor.core import heartbeats, job_queue
from advisor.findings.services import proof, states, tracking
from advisor.findings.tasks import prove
from advisor.notifications.models import Delivery, Mail
from advisor.notifications.services import outbox
from advisor.notifications.tasks import deliver, send_mails
from advisor.notifications.webhooks import deliveries
from advisor.operations.services import retention
from advisor.schedules.models import Run, SourceTry
from advisor.schedules.services import peak, running
from advisor.schedules.sources import connection_test
from advisor.schedules.tasks import make_run, try_source
from advisor.uploads.services import process_upload
from advisor.uploads.tasks import read_upload


@shared_task
def tick() -> None:
    """Start what is due by now: runs of schedules, mails, deliveries. Every ten seconds, by the scheduler."""
    job_queue.note_tick()
    if gone := heartbeats.dead():
        _start_waiting(lost=True)
        for name in gone:
            heartbeats.forget(name)
    for run_id in running.claim_due():
        make_run.delay(run_id)
    if outbox.anything_due():
        send_mails.delay()
    for delivery_id in deliveries.due_now():
        deliver.delay(delivery_id)


@shared_task
def start_waiting() -> None:
    """Start what was lost on the way (the broker was away, a worker died). Every minute, by the scheduler."""
    _start_waiting()
    tracking.catch_up()
    states.end_acceptances()
    peak.refresh()


def _start_waiting(lost: bool = False) -> None:
    """Free what dead workers had, and start what waits and may be in no queue; with `lost` all that waits."""
    if lost:
        for rows in (Run, SourceTry, Mail, Delivery):
            job_queue.queue_again(rows.objects.all())
    for upload_id in process_upload.left_waiting(lost):
        read_upload.delay(upload_id)
    for capture_id in renewal.audits_left(lost):
        audit_again.delay(capture_id, None, "left waiting")
    for backtest_id in backtests.left():
        backtest.delay(backtest_id)
    for system_id in proof.left():
        prove.delay(system_id)
    for try_id in connection_test.left():
        try_source.delay(try_id)
    running.reset_lost()
    outbox.reset_lost()
    deliveries.reset_lost()


@shared_task
def clear_up() -> None:
    """Let go of what retention no longer keeps. Every night, by the scheduler."""
    retention.clear_up()
