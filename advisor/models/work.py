"""What every piece of background work has in common: it waits, one worker has it, it ends for good.

`advisor.services.working` claims it; nothing else writes these columns while somebody may have it.
"""

from django.db import models
from django.utils import timezone


class Work(models.Model):
    """A row that a worker works off. Of any number of workers exactly one has it."""

    class State(models.TextChoices):
        """How far it has come."""

        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        """For good: nothing more will happen by itself."""
        SKIPPED = "skipped"
        """Was not to be done, as it turned out (a blackout, a recipient who has left)."""

    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    created = models.DateTimeField(default=timezone.now)
    not_before = models.DateTimeField(default=timezone.now)
    """When it may be tried (again)."""
    queued = models.DateTimeField(null=True, blank=True)
    """When its task was last put into the queue; null: not since it waits."""
    tries = models.IntegerField(default=0)
    claimed = models.DateTimeField(null=True, blank=True)
    claimant = models.CharField(max_length=200, blank=True)
    """Which process of which machine has it, and for which task (`working.me`)."""
    finished = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)
    """What went wrong the last time and what to do about it; empty while nothing has."""

    class Meta:
        abstract = True
        indexes = [models.Index(fields=["state", "not_before"])]

    @property
    def settled(self) -> bool:
        """Whether nothing more will happen by itself."""
        return self.state in (self.State.DONE, self.State.FAILED, self.State.SKIPPED)


class Lease(models.Model):
    """Something only one process may do at a time, whoever it is: send mail."""

    name = models.CharField(max_length=60, primary_key=True)
    claimant = models.CharField(max_length=200)
    claimed = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
