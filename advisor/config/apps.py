"""The application, and the checks that stop a start that would go wrong later."""

import atexit
import gc
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from advisor.schedules.services.watch_folder.roots import misplaced


class LockwrightConfig(AppConfig):
    """Lockwright."""

    name = "advisor.config"

    def ready(self) -> None:
        """Register what listens."""
        register(key_is_set, Tags.security, deploy=True)
        register(drop_folders_are_apart, Tags.security)
        register(sources_are_readable, Tags.security)
        register(commits_are_kept, Tags.database)
        from advisor.config.celery import app  # any process may send tasks, by this application
        from advisor.core import infrastructure_errors, journal, private_database
        from advisor.notifications.services import recipients
        from advisor.notifications.webhooks import setup as webhooks
        from advisor.operations.services import versions

        versions.listen()
        journal.listen()
        infrastructure_errors.listen()
        private_database.listen()
        recipients.listen()
        webhooks.listen()
        app.autodiscover_tasks(force=True)  # a process that only sends imports no `tasks` otherwise
        # half a second of each command and worker went to collecting, at its end, what ends with the process anyway
        atexit.register(gc.freeze)


def key_is_set(app_configs: Sequence[AppConfig] | None, **options: Any) -> list[CheckMessage]:
    """Refuse to be deployed with no key: sessions could be forged."""
    if settings.SECRET_KEY != settings.NO_KEY:
        return []
    hint = "Set SECRET_KEY or SECRET_KEY_FILE; `manage.py up` makes one by itself."
    return [Error("There is no secret key.", hint=hint, id="advisor.E001")]


def drop_folders_are_apart(app_configs: Sequence[AppConfig] | None, **options: Any) -> list[CheckMessage]:
    """Refuse drop folders among our own files: database and key would be read as exports, and moved away."""
    hint = f"Let DROP_FOLDERS name folders that neither lie in {settings.RUN_DIR}, except drop in it, nor hold it."
    text = "{} is no place for drop folders: the service keeps its own files there."
    return [Error(text.format(root), hint=hint, id="advisor.E002") for root in misplaced()]


def sources_are_readable(app_configs: Sequence[AppConfig] | None, **options: Any) -> list[CheckMessage]:
    """Refuse an entry of ALLOWED_SOURCES that would allow nothing, by a slip."""
    from advisor.schedules.sources.host_policy import unreadable  # not before the models are there

    hint = "Write networks (10.1.0.0/16), host names (*.db.example.org) and names of odbc.ini (DSN=PROD)."
    return [Error(f"ALLOWED_SOURCES: {one} is no network.", hint=hint, id="advisor.E003") for one in unreadable()]


def commits_are_kept(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **options: Any
) -> list[CheckMessage]:
    """Warn of a PostgreSQL that answers before its disk has it: a power cut loses uploads that were taken.

    `manage.py migrate` and `manage.py check --database default` ask; of SQLite the settings see to it.
    """
    from advisor.core.infrastructure_errors import not_waited_for

    hint = "Set them to on in postgresql.conf, for the database and for its user."
    return [
        Warning(f"PostgreSQL does not wait for its disk ({', '.join(off)} off).", hint=hint, id="advisor.W001")
        for alias in databases or ()
        if (off := not_waited_for(alias))
    ]
