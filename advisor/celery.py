"""The Celery application: settings from Django, tasks from `advisor.tasks`."""

import os
from typing import Any

from celery import Celery
from celery.signals import task_prerun, worker_process_init

from collectors.live.processes import die_with_parent

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "advisor.settings")
app = Celery("advisor")
app.set_default()  # for every thread of the web server, not only the one that imports this
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["advisor"])


@task_prerun.connect
def look_after_connections(sender: Any, **more: Any) -> None:
    """Keep a connection from task to task for as long as the settings say; one that broke is opened again."""
    from django.db import close_old_connections  # not before Django is set up

    if not sender.request.is_eager:
        close_old_connections()


@worker_process_init.connect
def end_with_the_worker(**more: Any) -> None:
    """Have a process that does tasks end with its worker, also a killed one: nobody else keeps its time limit."""
    die_with_parent()
