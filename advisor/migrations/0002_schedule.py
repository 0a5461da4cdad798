"""What the scheduler starts: uploads whose start was lost every minute, the clearing up every night."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

MINUTES, NIGHT = 1, {"minute": "17", "hour": "3"}


def plan(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Put both into the scheduler's own tables, where an operator can change them."""
    task = apps.get_model("django_celery_beat", "PeriodicTask")
    interval, _ = apps.get_model("django_celery_beat", "IntervalSchedule").objects.get_or_create(
        every=MINUTES, period="minutes"
    )
    night, _ = apps.get_model("django_celery_beat", "CrontabSchedule").objects.get_or_create(**NIGHT)
    task.objects.get_or_create(name="start waiting uploads", task="advisor.tasks.start_waiting", interval=interval)
    task.objects.get_or_create(name="clear up", task="advisor.tasks.clear_up", crontab=night)


def forget(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Take both out again."""
    apps.get_model("django_celery_beat", "PeriodicTask").objects.filter(task__startswith="advisor.tasks.").delete()


class Migration(migrations.Migration):
    dependencies = [("advisor", "0001_first"), ("django_celery_beat", "0019_alter_periodictasks_options")]
    operations = [migrations.RunPython(plan, forget)]
