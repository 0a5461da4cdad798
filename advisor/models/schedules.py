"""When what is audited by itself: schedules, the runs they made, and the files of drop folders."""

from django.db import models
from django.utils import timezone

from advisor.models.audits import System
from advisor.models.exports import Upload
from advisor.models.people import Team, User
from advisor.models.work import Work


class Group(models.Model):
    """Systems of a team that are treated alike."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="groups")
    name = models.CharField(max_length=80)
    systems = models.ManyToManyField(System, blank=True, related_name="groups")

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_group_a_name")]

    def __str__(self) -> str:
        return self.name


class Schedule(models.Model):
    """What is taken in by itself, when, and for which systems: one, those of a group, or whatever the exports name."""

    class Source(models.TextChoices):
        """Where exports come from."""

        FOLDER = "folder", "a drop folder"
        COLLECTOR = "collector", "a collector"

    class After(models.TextChoices):
        """What becomes of a file that was taken."""

        LEAVE = "leave", "stays where it is"
        MOVE = "move", "is moved into the folder taken/ beside it"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="schedules")
    name = models.CharField(max_length=80)
    system = models.ForeignKey(System, null=True, blank=True, on_delete=models.CASCADE, related_name="schedules")
    group = models.ForeignKey(Group, null=True, blank=True, on_delete=models.CASCADE, related_name="schedules")
    source = models.CharField(max_length=10, choices=Source.choices, default=Source.FOLDER)
    folder = models.CharField(max_length=500, blank=True)
    """Absolute, under one of `settings.DROP_FOLDERS`."""
    after = models.CharField(max_length=6, choices=After.choices, default=After.LEAVE)
    settle_seconds = models.PositiveIntegerField(default=60)
    """So long a file must not have changed before it is taken."""
    collector = models.CharField(max_length=60, blank=True)
    """The name of a registered collector (`collectors.live`)."""
    every_minutes = models.PositiveIntegerField(null=True, blank=True)
    cron = models.CharField(max_length=100, blank=True)
    """Five fields, in `zone`; empty where `every_minutes` says when."""
    peak = models.CharField(max_length=4, blank=True)
    """`day` or `week`: due at the busiest hour of it that the history shows (`services.scheduling.peak`), which `cron`
    then says; empty: `cron` and `every_minutes` are as somebody wrote them."""
    peak_otherwise = models.PositiveIntegerField(null=True, blank=True)
    """Minutes of the interval it goes by while the history does not show that hour."""
    peak_found = models.JSONField(default=dict, blank=True)
    """What the history showed the last time it was looked at (`services.scheduling.peak.Shown`)."""
    peak_at = models.DateTimeField(null=True, blank=True)
    """When that was."""
    zone = models.CharField(max_length=60, default="UTC")
    blackouts = models.TextField(blank=True)
    """When nothing is to run, a window a line (`services.scheduling.timing` says how)."""
    paused = models.DateTimeField(null=True, blank=True)
    next_due = models.DateTimeField(null=True, blank=True)
    """Null while it is paused, and where it will never be due again."""
    looked = models.DateTimeField(null=True, blank=True)
    """When its folder was last looked into."""
    troubled = models.DateTimeField(null=True, blank=True)
    """Since when it brings nothing although it should; null: all is well, or the trouble is a system's own."""
    trouble = models.TextField(blank=True)
    """Why, and what to do."""
    by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_schedule_a_name")]
        indexes = [models.Index(fields=["next_due"])]

    def __str__(self) -> str:
        return self.name


class Run(Work):
    """One time a schedule was due: takes in what there is. Its uploads are read and audited after it."""

    class Why(models.TextChoices):
        """What started it."""

        DUE = "due"
        NOW = "now", "asked for"

    schedule = models.ForeignKey(Schedule, on_delete=models.CASCADE, related_name="runs")
    system = models.ForeignKey(System, null=True, blank=True, on_delete=models.CASCADE, related_name="runs")
    """The one it collects from; null: a drop folder, whose exports say it."""
    due = models.DateTimeField()
    why = models.CharField(max_length=4, choices=Why.choices, default=Why.DUE)
    by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    missed = models.PositiveIntegerField(default=0)
    """How many times the schedule was due before this one and did not run: this run makes up for them all."""
    late_seconds = models.PositiveIntegerField(default=0)
    """How long after `due` it was started, where that is worth saying."""
    holds = models.CharField(max_length=60, null=True, blank=True, unique=True)
    """What it has for itself while it runs (`system 7`, `schedule 3`): one run of a system at a time."""
    told = models.CharField(max_length=300, blank=True)
    """What came of it: `3 files taken`."""

    class Meta(Work.Meta):
        ordering = ["-due", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["schedule", "due"],
                condition=models.Q(why="due", system=None),
                name="one_run_a_time",
            ),
            models.UniqueConstraint(
                fields=["schedule", "system", "due"],
                condition=models.Q(why="due", system__isnull=False),
                name="one_run_a_time_and_system",
            ),
        ]
        indexes = [*Work.Meta.indexes, models.Index(fields=["schedule", "-due"])]

    def __str__(self) -> str:
        return f"run {self.pk}"


class DropFile(models.Model):
    """A file seen in a drop folder. Each state of its content is taken once."""

    schedule = models.ForeignKey(Schedule, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=1000)
    """Below the schedule's folder; bytes that are no text are written as escapes."""
    size = models.BigIntegerField()
    mtime_ns = models.BigIntegerField()
    inode = models.DecimalField(max_digits=20, decimal_places=0)
    """Unsigned 64 bits."""
    since = models.DateTimeField()
    """When it was first seen as it is now."""
    taken = models.DateTimeField(null=True, blank=True)
    upload = models.ForeignKey(Upload, null=True, blank=True, on_delete=models.SET_NULL, related_name="dropped")
    refused = models.CharField(max_length=300, blank=True)
    """Why it is not taken as it is."""
    seen = models.DateTimeField()
    """When it was last there."""

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["schedule", "path"], name="one_row_a_dropped_file")]

    def __str__(self) -> str:
        return self.path
