"""The service's Celery application as the workers of these tests start it, with a collector of their own."""

from advisor.celery import app
from tests.faults import collectors

__all__ = ["app", "collectors"]
