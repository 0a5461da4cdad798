"""Servers that are asked live: how each is reached, its sealed password, and what came of trying it."""

from django.db import models
from django.utils import timezone

from advisor.models.audits import System
from advisor.models.people import User
from advisor.models.work import Work


class DataSource(models.Model):
    """How a system is asked: a host with port and user, or an ODBC connection string without its password."""

    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="sources")
    name = models.CharField(max_length=80)
    """What pages, reports and the journal call it: none of them shows how it is reached or by which login."""
    host = models.CharField(max_length=255, blank=True)
    port = models.PositiveIntegerField(null=True, blank=True)
    user = models.CharField(max_length=128, blank=True)
    odbc = models.CharField(max_length=1000, blank=True)
    """A whole connection string (`services.sources.strings` says what it may hold); empty where `host` says it."""
    password_sealed = models.TextField(blank=True)
    """Encrypted (`services.sources.keys`), and good for this address and user alone; empty: none is needed."""
    key_mark = models.CharField(max_length=32, blank=True)
    """Which key it was sealed with: a mark that tells nothing of the key."""
    seconds = models.PositiveIntegerField(default=60)
    """Between the two snapshots of the monitoring tables."""
    sysmon = models.CharField(max_length=8, blank=True)
    """HH:MM:SS of an `sp_sysmon` beside them; empty: none."""
    without = models.CharField(max_length=500, blank=True, default="", db_default="")
    """Names of questions that are left out, with commas between."""
    known = models.JSONField(default=dict, db_default={}, blank=True)
    """Who answered the last time something was taken: `services.sources.identity.Known`; empty: nothing was yet."""
    other = models.JSONField(default=dict, db_default={}, blank=True)
    """Who answers instead, of whom nothing is taken until somebody takes it on; empty: nobody does."""
    unanswered = models.JSONField(default=list, db_default=[], blank=True)
    """Questions that were not answered the last time: `[name, why, what to do]`."""
    silent = models.DateTimeField(null=True, blank=True)
    """Since when it does not say a word; null: it answered the last time."""
    sizes_at = models.DateTimeField(null=True, blank=True)
    """When sizes and lock schemes of every table were asked last."""
    sizes = models.BinaryField(null=True, blank=True)
    """The answers of then (`collectors.live.ase.sizes_of`), which stand in until they are asked again."""
    by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "id"]
        constraints = [models.UniqueConstraint(fields=["system", "name"], name="one_source_a_name")]

    def __str__(self) -> str:
        return self.name


class SourceTry(Work):
    """One time somebody tried whether a data source can be asked."""

    source = models.ForeignKey(DataSource, on_delete=models.CASCADE, related_name="tries")
    by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    found = models.JSONField(default=dict, blank=True)
    """What the server told: `services.sources.trying.Found` as a dictionary."""

    class Meta(Work.Meta):
        ordering = ["-created", "-id"]
        indexes = [*Work.Meta.indexes, models.Index(fields=["source", "-created"])]

    def __str__(self) -> str:
        return f"try {self.pk}"
