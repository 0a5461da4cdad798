"""What several features share: background work, who works on it, the journal, the settings of the site."""

from typing import Self

from django.core.validators import MaxValueValidator, MinValueValidator
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
    """Which process of which worker and machine has it, and for which task (`job_queue.me`)."""
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


class Worker(models.Model):
    """A worker of some machine and when it was last heard of, by the clock of the database (`core.heartbeats`)."""

    name = models.CharField(max_length=120, primary_key=True)
    """The machine since its boot and the worker's process, as claims name them (`job_queue.me`)."""
    host = models.CharField(max_length=120, db_default="")
    version = models.CharField(max_length=40, db_default="")
    since = models.DateTimeField()
    """Since when it has reached the database without a break."""
    seen = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class Site(models.Model):
    """The one row of settings that an administrator changes on the page. Days of 0 mean: keep for ever."""

    class Security(models.TextChoices):
        """How the line to the mail server is secured."""

        NONE = "none", "none"
        STARTTLS = "starttls", "STARTTLS"
        TLS = "tls", "TLS from the start"

    keep_bytes_days = models.PositiveIntegerField(default=400, validators=[MaxValueValidator(36500)])
    keep_captures_days = models.PositiveIntegerField(default=1100, validators=[MaxValueValidator(36500)])
    keep_old_audits_days = models.PositiveIntegerField(default=90, validators=[MaxValueValidator(36500)])
    keep_runs_days = models.PositiveIntegerField(default=90, validators=[MaxValueValidator(36500)])
    """Runs of schedules, sent mails, deliveries of webhooks."""
    keep_journal_days = models.PositiveIntegerField(default=1100, validators=[MaxValueValidator(36500)])
    mail_host = models.CharField(max_length=200, blank=True)
    mail_port = models.PositiveIntegerField(default=25, validators=[MinValueValidator(1), MaxValueValidator(65535)])
    mail_security = models.CharField(max_length=10, choices=Security.choices, default=Security.NONE)
    mail_user = models.CharField(max_length=200, blank=True)
    mail_password_sealed = models.TextField(blank=True)
    """Encrypted with a key made from SECRET_KEY."""
    mail_from = models.EmailField(blank=True)
    mail_down_since = models.DateTimeField(null=True, blank=True)
    """Since when the mail server takes nothing from us; null: it does, or was not tried."""
    mail_down_until = models.DateTimeField(null=True, blank=True)
    """When it is tried again."""
    mail_down_tries = models.IntegerField(default=0)
    mail_down_says = models.CharField(max_length=500, blank=True)

    def __str__(self) -> str:
        return "site"

    @classmethod
    def get(cls) -> Self:
        """Fetch the one row, made on first use."""
        return cls.objects.get_or_create(pk=1)[0]


class MinimumVersion(models.Model):
    """Code below the highest of these versions must not write to this database. Migrations alone add rows."""

    version = models.CharField(max_length=20, primary_key=True)
    """`0.9.0`: numbers and points."""

    def __str__(self) -> str:
        return self.version


class JournalEntry(models.Model):
    """Who did what when. Never changed, but for the count of a burst; retention alone takes entries away."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    who = models.CharField(max_length=80)
    """The user's name as it was, or `lockwright` for what the service did by itself."""
    user = models.ForeignKey("accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    team = models.ForeignKey("accounts.Team", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    system = models.ForeignKey(
        "systems.System", null=True, blank=True, on_delete=models.SET_NULL, related_name="journal"
    )
    action = models.CharField(max_length=60)
    """`login`, `login failed`, `upload`, `limit set`, `limit taken back`, `audit again`, `user added`, …"""
    what = models.CharField(max_length=500, blank=True)
    address = models.GenericIPAddressField(null=True, blank=True)
    count = models.PositiveIntegerField(default=1, db_default=1)
    """How often: failed logins in one burst are one entry."""

    class Meta:
        ordering = ["-at", "-id"]

    def __str__(self) -> str:
        return f"{self.who}: {self.action}"
