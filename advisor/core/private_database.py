"""A new SQLite file is for its owner alone: exports, digests of passwords and sessions lie in it.

`manage.py up` lets nobody else read anything it writes. Who makes the database by `manage.py migrate`, before the first
login, has the umask of a shell, which lets everybody read.
"""

from pathlib import Path
from typing import Any

from django.apps import AppConfig, apps
from django.db import connections
from django.db.models.signals import pre_migrate

BESIDE = ("", "-wal", "-shm")
"""What SQLite writes beside the file has the mode of the file when it is made anew; these are there already."""


def listen() -> None:
    """Look before `migrate` makes the first table."""
    first = apps.get_app_config("core")  # the signal comes once for each app; that of one is enough
    pre_migrate.connect(_close, sender=first, dispatch_uid="private database")


def _close(sender: AppConfig, using: str, **more: Any) -> None:
    """Take the file from everybody else, unless it is in use: then its mode is the operator's."""
    connection = connections[using]
    if connection.vendor != "sqlite" or connection.introspection.table_names():
        return
    for end in BESIDE:
        path = Path(f"{connection.settings_dict['NAME']}{end}")
        if path.is_file():  # not one in memory
            path.chmod(path.stat().st_mode & 0o600)
