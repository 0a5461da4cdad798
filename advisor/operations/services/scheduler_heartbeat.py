"""When a worker last looked for what is due: by this a monitoring system sees that the clock stands still."""

from contextlib import suppress
from datetime import datetime

from django.db import OperationalError
from django.utils import timezone

from advisor.core import job_queue
from advisor.core.models import Lease

NAME = "tick"


def note() -> None:
    """Note that it was now. One small row, written every ten seconds; a busy database has it wait for the next time."""
    with suppress(OperationalError):
        Lease.objects.update_or_create(name=NAME, defaults={"claimed": timezone.now(), "claimant": job_queue.me()})


def last() -> datetime | None:
    """When it was; `None`: never."""
    return Lease.objects.filter(name=NAME).values_list("claimed", flat=True).first()
