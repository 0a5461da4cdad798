"""Celery's tasks of schedules and data sources: each calls one service, takes ids, and may run twice."""

from celery import shared_task

from advisor.core.job_queue import AWAY
from advisor.schedules.services import running
from advisor.schedules.sources import connection_test


@shared_task(autoretry_for=AWAY, retry_backoff=2, retry_backoff_max=60, max_retries=15)
def make_run(run_id: int) -> None:
    """Make one run of a schedule: take in what there is."""
    running.make_run(run_id)


@shared_task(time_limit=connection_test.HARD_SECONDS, soft_time_limit=connection_test.HARD_SECONDS - 5)
def try_source(try_id: int) -> None:
    """Try whether a data source can be asked; somebody looks on."""
    connection_test.try_now(try_id)
