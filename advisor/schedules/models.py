"""When what is audited by itself, and the servers that are asked live."""

from django.db import models
from django.utils import timezone

from advisor.core.models import Work


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

    team = models.ForeignKey("accounts.Team", on_delete=models.CASCADE, related_name="schedules")
    name = models.CharField(max_length=80)
    system = models.ForeignKey(
        "systems.System", null=True, blank=True, on_delete=models.CASCADE, related_name="schedules"
    )
    group = models.ForeignKey(
        "systems.Group", null=True, blank=True, on_delete=models.CASCADE, related_name="schedules"
    )
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
    """`day` or `week`: due at the busiest hour of it that the history shows (`schedules.services.peak`), which `cron`
    then says; empty: `cron` and `every_minutes` are as somebody wrote them."""
    peak_otherwise = models.PositiveIntegerField(null=True, blank=True)
    """Minutes of the interval it goes by while the history does not show that hour."""
    peak_found = models.JSONField(default=dict, blank=True)
    """What the history showed the last time it was looked at (`schedules.services.peak.Shown`)."""
    peak_at = models.DateTimeField(null=True, blank=True)
    """When that was."""
    zone = models.CharField(max_length=60, default="UTC")
    blackouts = models.TextField(blank=True)
    """When nothing is to run, a window a line (`schedules.services.timing` says how)."""
    paused = models.DateTimeField(null=True, blank=True)
    next_due = models.DateTimeField(null=True, blank=True)
    """Null while it is paused, and where it will never be due again."""
    looked = models.DateTimeField(null=True, blank=True)
    """When its folder was last looked into."""
    troubled = models.DateTimeField(null=True, blank=True)
    """Since when it brings nothing although it should; null: all is well, or the trouble is a system's own."""
    trouble = models.TextField(blank=True)
    """Why, and what to do."""
    by = models.ForeignKey("accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
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
    system = models.ForeignKey("systems.System", null=True, blank=True, on_delete=models.CASCADE, related_name="runs")
    """The one it collects from; null: a drop folder, whose exports say it."""
    due = models.DateTimeField()
    why = models.CharField(max_length=4, choices=Why.choices, default=Why.DUE)
    by = models.ForeignKey("accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
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
    upload = models.ForeignKey(
        "uploads.Upload", null=True, blank=True, on_delete=models.SET_NULL, related_name="dropped"
    )
    refused = models.CharField(max_length=300, blank=True)
    """Why it is not taken as it is."""
    seen = models.DateTimeField()
    """When it was last there."""

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["schedule", "path"], name="one_row_a_dropped_file")]

    def __str__(self) -> str:
        return self.path


class DataSource(models.Model):
    """How a system is asked: a host with port and user, or an ODBC connection string without its password."""

    system = models.ForeignKey("systems.System", on_delete=models.CASCADE, related_name="sources")
    name = models.CharField(max_length=80)
    """What pages, reports and the journal call it: none of them shows how it is reached or by which login."""
    host = models.CharField(max_length=255, blank=True)
    port = models.PositiveIntegerField(null=True, blank=True)
    user = models.CharField(max_length=128, blank=True)
    odbc = models.CharField(max_length=1000, blank=True)
    """A whole connection string (`schedules.sources.strings` says what it may hold); empty where `host` says it."""
    password_sealed = models.TextField(blank=True)
    """Encrypted (`schedules.sources.keys`), and good for this address and user alone; empty: none is needed."""
    key_mark = models.CharField(max_length=32, blank=True)
    """Which key it was sealed with: a mark that tells nothing of the key."""
    seconds = models.PositiveIntegerField(default=60)
    """Between the two snapshots of the monitoring tables."""
    sysmon = models.CharField(max_length=8, blank=True)
    """HH:MM:SS of an `sp_sysmon` beside them; empty: none."""
    without = models.CharField(max_length=500, blank=True, default="", db_default="")
    """Names of questions that are left out, with commas between."""
    known = models.JSONField(default=dict, db_default={}, blank=True)
    """Who answered the last time something was taken: `schedules.sources.identity.Known`; empty: nothing was yet."""
    other = models.JSONField(default=dict, db_default={}, blank=True)
    """Who answers instead, of whom nothing is taken until somebody takes it on; empty: nobody does."""
    question_seconds = models.PositiveIntegerField(null=True, blank=True)
    """Each question has at least so long; null: as long as the collector gives it."""
    warnings = models.JSONField(default=list, db_default=[], blank=True)
    """What its login may and should not, the last time: `[what, what to do]`."""
    unanswered = models.JSONField(default=list, db_default=[], blank=True)
    """Questions that were not answered the last time: `[name, why, what to do]`."""
    silent = models.DateTimeField(null=True, blank=True)
    """Since when it does not say a word; null: it answered the last time."""
    sizes_at = models.DateTimeField(null=True, blank=True)
    """When sizes and lock schemes of every table were asked last."""
    sizes = models.BinaryField(null=True, blank=True)
    """The answers of then (`collectors.live.ase.sizes_of`), which stand in until they are asked again."""
    by = models.ForeignKey("accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "id"]
        constraints = [models.UniqueConstraint(fields=["system", "name"], name="one_source_a_name")]

    def __str__(self) -> str:
        return self.name


class SourceTry(Work):
    """One time somebody tried whether a data source can be asked."""

    source = models.ForeignKey(DataSource, on_delete=models.CASCADE, related_name="tries")
    by = models.ForeignKey("accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    found = models.JSONField(default=dict, blank=True)
    """What the server told: `schedules.sources.connection_test.Found` as a dictionary."""

    class Meta(Work.Meta):
        ordering = ["-created", "-id"]
        indexes = [*Work.Meta.indexes, models.Index(fields=["source", "-created"])]

    def __str__(self) -> str:
        return f"try {self.pk}"
