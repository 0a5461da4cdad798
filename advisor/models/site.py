"""What a site decided (limits, notes, mail, retention) and who did what when."""

from typing import Self

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone

from advisor.models.audits import System
from advisor.models.people import Team, User


class LimitSetting(models.Model):
    """One limit of one rule, for a system or (without one) for the whole site."""

    system = models.ForeignKey(System, null=True, blank=True, on_delete=models.CASCADE, related_name="limits")
    name = models.CharField(max_length=160)
    """`ase/some_rule.limit_name`."""
    value = models.FloatField()
    why = models.CharField(max_length=300, blank=True)
    by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["system", "name"], name="one_limit_a_system"),
            models.UniqueConstraint(
                fields=["name"], condition=models.Q(system__isnull=True), name="one_limit_of_the_site"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}={self.value:g}"


class Note(models.Model):
    """What a person wrote about a system."""

    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="notes")
    by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    text = models.TextField(max_length=4000)

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return self.text[:60]


class JournalEntry(models.Model):
    """Who did what when. Never changed, but for the count of a burst; retention alone takes entries away."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    who = models.CharField(max_length=80)
    """The user's name as it was, or `lockwright` for what the service did by itself."""
    user = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    system = models.ForeignKey(System, null=True, blank=True, on_delete=models.SET_NULL, related_name="journal")
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
