"""Systems, groups of them, their settings over time, and what people write about them."""

from django.db import models
from django.utils import timezone


class System(models.Model):
    """A server, node or database under study. Its name is unique in a team and product, without regard to case."""

    team = models.ForeignKey("accounts.Team", on_delete=models.CASCADE, related_name="systems")
    product = models.CharField(max_length=20)
    name = models.CharField(max_length=120)
    key = models.CharField(max_length=120)
    """The name in capitals."""
    former = models.JSONField(default=list, blank=True)
    """Names it had, as they were typed: who goes by one means this system (`systems.services.aliases`). The first is
    the one the server is known by, which a collector is called with; it may be its own. Empty: it never had another."""
    version = models.CharField(max_length=300, blank=True)
    platform = models.CharField(max_length=300, blank=True)
    processors = models.IntegerField(null=True, blank=True)
    created = models.DateTimeField(default=timezone.now)
    example = models.BooleanField(default=False, db_default=False)
    """Whether it was made of the examples that come with the program, and holds nothing else."""
    expected_hours = models.IntegerField(null=True, blank=True)
    """A capture is expected this often; an older one is overdue. Null: nobody said."""
    troubled = models.DateTimeField(null=True, blank=True)
    """Since when it is not audited although it should be (the last audit before, or when that began to be expected);
    null: all is well."""
    trouble = models.TextField(blank=True)
    """Why, and what to do."""
    snoozed_until = models.DateField(null=True, blank=True)
    """The last day of its snooze, by the site's calendar; null: there is none. Nothing takes it away when that day has
    passed: ask `snoozed`."""
    snoozed_why = models.CharField(max_length=500, blank=True, default="", db_default="")
    snoozed_by = models.ForeignKey(
        "accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_constraint=False
    )
    """No constraint of the database: a process of the version before forgets people without knowing of this."""
    latest = models.ForeignKey("audits.Audit", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    """The current audit of the newest capture."""
    trend = models.JSONField(default=list)
    """Of the last 40 captures, oldest first: `[time, processors lost or null, severity 0-4]`."""

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["team", "product", "key"], name="one_system_a_name")]

    def __str__(self) -> str:
        return self.name

    @property
    def snoozed(self) -> bool:
        """Whether it is snoozed today: then it starts no mail and is not counted as overdue or not audited."""
        return self.snoozed_until is not None and self.snoozed_until >= timezone.localdate()


class Group(models.Model):
    """Systems of a team that are treated alike."""

    team = models.ForeignKey("accounts.Team", on_delete=models.CASCADE, related_name="groups")
    name = models.CharField(max_length=80)
    systems = models.ManyToManyField(System, blank=True, related_name="groups")

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_group_a_name")]

    def __str__(self) -> str:
        return self.name


class SettingsSnapshot(models.Model):
    """Every setting a capture told of, once for all captures that told the same."""

    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="snapshots")
    digest = models.CharField(max_length=64)
    values = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["system", "digest"], name="the_same_settings_are_one")]

    def __str__(self) -> str:
        return self.digest


class Note(models.Model):
    """What a person wrote about a system."""

    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="notes")
    by = models.ForeignKey("accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    text = models.TextField(max_length=4000)

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return self.text[:60]
