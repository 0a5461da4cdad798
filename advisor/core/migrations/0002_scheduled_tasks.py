"""What the scheduler starts by itself, in its own tables, where an operator can change it.

A task that no worker took until the next one is due is let go: after hours without workers one is enough.
"""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

EVERY = (
    ("schedules that are due", "advisor.operations.tasks.tick", 10, "seconds", 10),
    ("mail that is due", "advisor.notifications.tasks.notify_due", 1, "minutes", 60),
    ("work that was lost on the way", "advisor.operations.tasks.start_waiting", 1, "minutes", 60),
)
"""Name, task, interval and its unit, and the seconds after which one that nobody took is let go."""
NIGHTLY = ("clear up", "advisor.operations.tasks.clear_up", {"minute": "17", "hour": "3"})


def plan(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Put them in."""
    tasks = apps.get_model("django_celery_beat", "PeriodicTask").objects
    intervals = apps.get_model("django_celery_beat", "IntervalSchedule").objects
    for name, task, every, period, seconds in EVERY:
        interval, _ = intervals.get_or_create(every=every, period=period)
        tasks.get_or_create(name=name, defaults={"task": task, "interval": interval, "expire_seconds": seconds})
    name, task, times = NIGHTLY
    night, _ = apps.get_model("django_celery_beat", "CrontabSchedule").objects.get_or_create(**times)
    tasks.get_or_create(name=name, defaults={"task": task, "crontab": night})


def forget(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Take them out again."""
    names = [*(name for name, *_ in EVERY), NIGHTLY[0]]
    apps.get_model("django_celery_beat", "PeriodicTask").objects.filter(name__in=names).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("core", "0001_initial"),
        ("django_celery_beat", "0019_alter_periodictasks_options"),
    ]
    operations = [migrations.RunPython(plan, forget)]
