"""Celery's tasks of audits: each calls one service, takes ids, may run twice, and does its work once."""

from celery import shared_task

from advisor.accounts.models import User
from advisor.audits.services import backtest as backtests
from advisor.audits.services import printing, renewal
from advisor.core.job_queue import AWAY

PRINT_WITHIN = 3600
"""Seconds that a PDF may wait to be made (this project's figure): a queue that long is not caught up with."""


@shared_task(autoretry_for=(Exception,), retry_backoff=2, max_retries=3)
def audit_again(capture_id: int, user_id: int | None = None, why: str = "asked for") -> None:
    """Audit a remembered capture by today's rules and limits."""
    user = None if user_id is None else User.objects.filter(pk=user_id).first()
    renewal.audit_again(capture_id, user, why)


@shared_task(autoretry_for=AWAY, retry_backoff=2, retry_backoff_max=60, max_retries=15)
def backtest(backtest_id: int) -> None:
    """Try a limit on stored captures; somebody looks on."""
    backtests.run(backtest_id)


@shared_task(acks_late=False, expires=PRINT_WITHIN)
def print_pdf(audit_id: int) -> None:
    """Make the PDF of a new audit. A killed worker loses it for good: it is made when somebody asks for it."""
    printing.print_ahead(audit_id)


@shared_task(acks_late=False, expires=PRINT_WITHIN)
def print_asked(audit_id: int) -> None:
    """Make the PDF that somebody waits for. Where a killed worker loses it, the page that waits has another way."""
    printing.print_asked(audit_id)
