"""What else the scheduler starts: the clock of the schedules every ten seconds, what is to be told every minute.

A task that no worker took until the next one is due is let go: after hours without workers one is enough.
"""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TICK = "schedules that are due"
TELL = "mail that is due"


def plan(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Put both into the scheduler's own tables, where an operator can change them."""
    task = apps.get_model("django_celery_beat", "PeriodicTask")
    interval = apps.get_model("django_celery_beat", "IntervalSchedule").objects
    tick, _ = interval.get_or_create(every=10, period="seconds")
    minute, _ = interval.get_or_create(every=1, period="minutes")
    task.objects.get_or_create(
        name=TICK, defaults={"task": "advisor.tasks.tick", "interval": tick, "expire_seconds": 10}
    )
    task.objects.get_or_create(
        name=TELL, defaults={"task": "advisor.tasks.tell_due", "interval": minute, "expire_seconds": 60}
    )
    task.objects.filter(task="advisor.tasks.start_waiting").update(
        name="work that was lost on the way", expire_seconds=60
    )


def forget(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Take both out again."""
    apps.get_model("django_celery_beat", "PeriodicTask").objects.filter(name__in=(TICK, TELL)).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("advisor", "0005_schedules_and_letters"),
        ("django_celery_beat", "0019_alter_periodictasks_options"),
    ]
    operations = [migrations.RunPython(plan, forget)]
