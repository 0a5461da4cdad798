"""Start tasks when the transaction is through. A broker that is away loses nothing: the sweep of a minute starts them."""

import logging
from typing import Any

from celery import Task
from django.db import transaction
from kombu.exceptions import OperationalError

LOG = logging.getLogger(__name__)


def start(task: "Task[Any, Any]", *ids: Any) -> None:
    """Start a task with these ids on commit. What it is to do must stand in the database, as `waiting` or `wanted`."""
    transaction.on_commit(lambda: _send(task, ids))


def _send(task: "Task[Any, Any]", ids: tuple[Any, ...]) -> None:
    try:
        task.apply_async(ids, retry=False)
    except (OperationalError, OSError) as error:
        LOG.warning("the broker is away (%s): %s%s waits for the next sweep", error, task.name, ids)
