"""The Celery application: settings from Django, tasks from `advisor.tasks`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "advisor.settings")
app = Celery("advisor")
app.set_default()  # for every thread of the web server, not only the one that imports this
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["advisor"])
