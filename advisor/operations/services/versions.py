"""Whether this version may work with the database as it is: during an upgrade two versions look at one database."""

import logging
import time
from dataclasses import dataclass
from typing import Any

from django.apps import AppConfig, apps
from django.core.management import CommandError
from django.db import Error, connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.db.models.signals import pre_migrate

from advisor.core.infrastructure_errors import Outside
from advisor.core.models import MinimumVersion
from advisor.core.version import VERSION

LOG = logging.getLogger(__name__)
LOOK = 2.0
"""Seconds between two looks of a process that waits for the other version."""
SAY_AGAIN = 600.0
"""Seconds after which it says once more why it waits."""


BEFORE_APPS = "advisor"
"""The one app that versions before 0.9.0 had: its migrations stand in the databases and backups they made."""
NOT_CARRIED_OVER = (
    "Databases and backups of versions before 0.9.0 are not carried over: start with a new database "
    "(docs/operators/operating.md, Upgrade) and upload the exports again, or go on with the version before."
)


@dataclass(frozen=True)
class Mismatch(Outside):
    """What anybody who asks is told; `detail` names the versions, for the log."""

    detail: str

    def __str__(self) -> str:
        return f"{self.says} {self.do} ({self.detail})"


def mismatch() -> Mismatch | None:
    """Why this process must not work with the database; `None`: it may, or the database does not answer.

    Costs one query of a table with hardly a row. What the database lacks is looked for until nothing is missing.
    """
    try:
        return _behind() or _ahead()
    except Error:
        return None  # whoever wants something of the database sees that, and says so


def wait_for_match(what: str) -> None:
    """Return when this process may work with the database; until then the log says why `what` does not start."""
    said = -SAY_AGAIN
    while found := mismatch():
        connections.close_all()
        if time.monotonic() - said >= SAY_AGAIN:
            LOG.error("%s waits: %s", what, found)
            said = time.monotonic()
        time.sleep(LOOK)
    connections.close_all()  # the processes that a worker forks must not share one


_complete = False
"""Whether all migrations of this version were seen to be applied; none is taken back under a running process."""


def _behind() -> Mismatch | None:
    global _complete
    if _complete:
        return None
    if of_before_apps():
        return Mismatch(
            503,
            "The database was made by an older Lockwright whose data this one does not take over.",
            NOT_CARRIED_OVER,
            f"version {VERSION} found migrations of `{BEFORE_APPS}`",
        )
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if not missing:
        _complete = True
        return None
    return Mismatch(
        503,
        "Lockwright is being upgraded: the database is older than this process; nothing was taken or changed.",
        "Run manage.py migrate with the new version.",
        f"version {VERSION} needs the migration {missing[0][0]}",
    )


def of_before_apps() -> bool:
    """Whether the database was made by a version before 0.9.0, which knew one app alone."""
    return any(app == BEFORE_APPS for app, _ in MigrationRecorder(connection).applied_migrations())


def listen() -> None:
    """Have `migrate` refuse a database of a version before 0.9.0 before it makes a table in it."""
    first = apps.get_app_config("core")  # the signal comes once for each app; that of one is enough
    pre_migrate.connect(_refuse_before_apps, sender=first, dispatch_uid="of_before_apps")


def _refuse_before_apps(sender: AppConfig, **more: Any) -> None:
    """Raises `CommandError`."""
    if of_before_apps():
        raise CommandError(NOT_CARRIED_OVER)


def _ahead() -> Mismatch | None:
    newest = max(MinimumVersion.objects.values_list("version", flat=True), key=_numbers, default=VERSION)
    if _numbers(newest) <= _numbers(VERSION):
        return None
    return Mismatch(
        503,
        "Lockwright is being upgraded: this process is older than the database and must not write to it; nothing was "
        "taken or changed.",
        "Stop it and start the new version.",
        f"this is version {VERSION}, the database wants {newest} or later",
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
