"""Celery's tasks of findings: each calls one service, takes ids, may run twice, and does its work once."""

from celery import shared_task

from advisor.findings.services import proof


@shared_task(autoretry_for=(Exception,), retry_backoff=2, max_retries=3)
def prove(system_id: int) -> None:
    """Look in the newest capture of a system whether changes were made, and what came of them."""
    proof.prove(system_id)
