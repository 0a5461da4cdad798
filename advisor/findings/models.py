"""Findings as work: what stands on a system over its captures, what people decided about it, and what came of that."""

from django.db import models
from django.utils import timezone


class TrackedFinding(models.Model):
    """One finding of one system over all its captures; `audits.Finding` is what one audit said of it."""

    class State(models.TextChoices):
        """What people decided, or what captures showed after a change. The words are the contract's."""

        OPEN = "open", "Open"
        ACCEPTED = "accepted", "Accepted"
        PLANNED = "planned", "Planned"
        CHANGE_MADE = "change-made", "Waiting for proof"
        PROVEN = "proven", "Proven"
        NO_EFFECT = "no-effect", "Did not help"
        WORSE = "worse", "Got worse"

    class Presence(models.TextChoices):
        """What the newest capture of the system says of it."""

        STANDING = "standing", "Found"
        GONE = "gone", "Gone"
        """A capture that could judge it did not find it."""
        NOT_JUDGED = "not-judged", "Not judged"

    system = models.ForeignKey("systems.System", on_delete=models.CASCADE, related_name="tracked")
    key = models.CharField(max_length=400)
    rule = models.CharField(max_length=80)
    subject = models.CharField(max_length=300)
    finding = models.ForeignKey(
        "audits.Finding", null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_constraint=False
    )
    """As the newest audit that found it has it; null where that audit is gone (retention)."""
    presence = models.CharField(max_length=12, choices=Presence, default=Presence.STANDING)
    title = models.CharField(max_length=500)
    severity = models.IntegerField()
    """1 note … 4 critical, as in the newest audit that found it."""
    number = models.IntegerField(default=0)
    """Its place in that audit."""
    processors = models.FloatField(null=True, blank=True)
    """What the account books to it, else what it costs itself; null: not measured, or counted with its cause."""
    counted_elsewhere = models.BooleanField(default=False, db_default=False)
    """Whether what it costs is counted with the finding that causes it: a processor is lost once."""
    metric = models.CharField(max_length=200, blank=True)
    value = models.FloatField(null=True, blank=True)
    unit = models.CharField(max_length=40, blank=True)
    limit = models.FloatField(null=True, blank=True)
    when = models.CharField(max_length=20, blank=True)
    """When its first step of the plan takes effect, as the contract names it (`now`, `restart`, …); empty: no step."""
    first_seen = models.DateTimeField()
    """The end of the first capture that shows it, among those that are kept."""
    last_seen = models.DateTimeField()
    seen = models.IntegerField(default=1)
    """Captures that show it."""

    state = models.CharField(max_length=12, choices=State, default=State.OPEN)
    state_since = models.DateTimeField(default=timezone.now)
    state_by = models.ForeignKey("accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    """Null: a capture showed it, or nobody decided yet."""
    state_until = models.DateField(null=True, blank=True)
    """Accepted until the end of this day, by the site's clock."""
    state_why = models.CharField(max_length=500, blank=True)
    state_value = models.FloatField(null=True, blank=True)
    """`value` when it got its state: what "worse" and "proven" are told by."""
    back_if = models.FloatField(default=0.25)
    """An accepted finding is open again where its figure is worse by more than this share of `state_value`."""
    state_severity = models.IntegerField(null=True, blank=True)
    """`severity` when it got its state, 0 where it was gone: what "worse" is told by where no figure tells it."""
    before = models.ForeignKey(
        "audits.Capture", null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_constraint=False
    )
    """After a change was made: the last capture before it, which later ones are held against."""
    proof = models.JSONField(default=dict, db_default={})
    """What came of the change (`findings.services.proof.Outcome`); empty: no change was made, or none was looked at."""
    to_judge = models.BooleanField(default=False, db_default=False)
    """Whether the newest capture has still to be looked at: is the advised setting in force, what came of a change."""
    owner = models.ForeignKey("accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-severity", "number", "pk"]
        constraints = [models.UniqueConstraint(fields=["system", "key"], name="tracked_once_a_system")]
        indexes = [
            models.Index(fields=["presence", "state", "-severity"]),
            models.Index(
                fields=["system", "presence", "state", "severity", "processors", "first_seen"], name="findings_in_order"
            ),  # and all that it is sorted by, so that a page of it reads no more rows than it shows
            models.Index(fields=["rule", "system"]),
            models.Index(
                fields=["severity", "state", "when", "owner", "presence", "system"], name="findings_counted"
            ),  # holds all that the list of findings counts by
            models.Index(fields=["first_seen"]),
            models.Index(fields=["state_since"]),
            models.Index(fields=["system"], condition=models.Q(to_judge=True), name="tracked_to_judge"),
        ]

    def __str__(self) -> str:
        return self.key


class FindingEvent(models.Model):
    """One entry of a finding's activity: a comment, a state, an owner, or what a capture showed."""

    tracked = models.ForeignKey(TrackedFinding, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey("accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    who = models.CharField(max_length=150, blank=True)
    """The name of `by` as it was; empty where a capture showed it."""
    kind = models.CharField(max_length=20)
    """`seen`, `comment`, `state`, `owner`, `gone`, `back`."""
    text = models.CharField(max_length=2000, blank=True)
    value = models.FloatField(null=True, blank=True)
    """The figure at that time."""

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["tracked", "-at"])]

    def __str__(self) -> str:
        return f"{self.kind} of {self.tracked_id}"


class SavedView(models.Model):
    """A filter of the findings list that a person keeps under a name."""

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=80)
    query = models.CharField(max_length=1000)
    """The part of the address behind the question mark."""

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="one_view_a_name")]

    def __str__(self) -> str:
        return self.name
