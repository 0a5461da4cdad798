"""Celery's tasks of uploads: each calls one service, takes ids, may run twice, and does its work once."""

from celery import shared_task

from advisor.uploads.services import process_upload


@shared_task(autoretry_for=(Exception,), retry_backoff=2, retry_backoff_max=60, max_retries=15)
def read_upload(upload_id: int) -> None:
    """Read an upload and audit what it holds; the upload itself counts its tries."""
    process_upload.read_upload(upload_id)
