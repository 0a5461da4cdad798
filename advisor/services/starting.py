"""Start tasks when the transaction is through. A broker that is away loses nothing: the sweep of a minute starts them.

Tasks are named, not imported: they are a door to the services, and no service knows its doors.
"""

import logging
from typing import Any

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

LOG = logging.getLogger(__name__)


def start(task: str, *ids: Any) -> None:
    """Start `advisor.tasks.<task>` with these ids on commit.

    What it is to do must stand in the database already, as `waiting` or `wanted`: that is what the sweep looks at.
    """
    transaction.on_commit(lambda: _send(task, ids))


def _send(task: str, ids: tuple[Any, ...]) -> None:
    try:
        current_app.tasks[f"advisor.tasks.{task}"].apply_async(ids, retry=False)
    except (OperationalError, OSError) as error:
        LOG.warning("the broker is away (%s): %s%s waits for the next sweep", error, task, ids)
