"""The Celery application: settings from Django, tasks from the `tasks` of each app."""

import logging
import os
from contextlib import suppress
from typing import Any

from celery import Celery
from celery.contrib.django.task import DjangoTask
from celery.exceptions import Reject
from celery.signals import beat_init, task_prerun, worker_init, worker_process_init, worker_shutdown
from kombu.exceptions import OperationalError

from collectors.live.processes import die_with_parent

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "advisor.config.settings")
LOG = logging.getLogger(__name__)


class VersionedTask(DjangoTask[..., Any]):
    """A task that is begun only while this version may work with the database."""

    abstract = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Do it; or give it back to the queue and have this worker end, so that a worker of another version has it."""
        if self.request.called_directly:
            return super().__call__(*args, **kwargs)
        from advisor.operations.services.versions import mismatch  # not before Django is set up

        if not self.request.is_eager and (found := mismatch()):
            LOG.error("%s is not begun, this worker ends: %s", self.name, found)
            with suppress(OperationalError, OSError):  # the broker is away: the next task says it again
                self.app.control.shutdown(destination=[str(self.request.hostname)])
            raise Reject(found.says, requeue=True)
        return self.run(*args, **kwargs)


app = Celery("advisor", task_cls=VersionedTask)
app.set_default()  # for every thread of the web server, not only the one that imports this
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@task_prerun.connect
def look_after_connections(sender: Any, **more: Any) -> None:
    """Keep a connection from task to task for as long as the settings say; one that broke is opened again."""
    from django.db import close_old_connections  # not before Django is set up

    if not sender.request.is_eager:
        close_old_connections()


@beat_init.connect
def wait_for_match(**more: Any) -> None:
    """Begin to schedule only when this version may work with the database: it is waited for, as the broker is."""
    from advisor.operations.services import versions  # not before Django is set up

    versions.wait_for_match("the scheduler")


@worker_init.connect
def begin_to_work(sender: Any, **more: Any) -> None:
    """Have a worker wait for its database likewise, and then note that it lives, before it starts its processes."""
    from advisor.core import heartbeats
    from advisor.operations.services import versions

    versions.wait_for_match(str(sender.hostname))
    heartbeats.begin()


@worker_process_init.connect
def end_with_the_worker(**more: Any) -> None:
    """Have a process that does tasks end with its worker, also a killed one: nobody else keeps its time limit."""
    die_with_parent()


@worker_shutdown.connect
def end_heartbeats(**more: Any) -> None:
    """Have nobody wait for a worker that ended in order."""
    from advisor.core import heartbeats

    heartbeats.ended()
