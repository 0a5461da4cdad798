"""Findings as work: what stands on a system over its captures, what people decided about it, and what came of that."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Any

from django.db import OperationalError, models, transaction
from django.utils import timezone


class TrackedQuerySet(models.QuerySet["TrackedFinding"]):
    """Keeps `SystemCounts` true: whatever writes findings in bulk passes through here."""

    def update(self, **kwargs: Any) -> int:
        """Write, and count their systems again where that changes a count."""
        if not SystemCounts.COUNTED & kwargs.keys():
            return super().update(**kwargs)
        systems = set(self.order_by().values_list("system", flat=True).distinct())
        rows = super().update(**kwargs)
        other = kwargs.get("system")
        SystemCounts.recount(systems if other is None else {*systems, getattr(other, "pk", other)})
        return rows

    update.alters_data = True  # type: ignore[attr-defined]  # as Django marks its own

    def bulk_create(self, objs: Iterable["TrackedFinding"], *args: Any, **kwargs: Any) -> list["TrackedFinding"]:
        """Write, and count their systems again."""
        rows = super().bulk_create(objs, *args, **kwargs)
        SystemCounts.recount({row.system_id for row in rows})
        return rows


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

    objects = TrackedQuerySet.as_manager()

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

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Write it, and count its system again where that may change a count."""
        super().save(*args, **kwargs)
        written = kwargs.get("update_fields")
        if written is None or SystemCounts.COUNTED & set(written):
            SystemCounts.recount({self.system_id})

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Delete it, and count its system again."""
        gone = super().delete(*args, **kwargs)
        SystemCounts.recount({self.system_id})
        return gone


class SystemCounts(models.Model):
    """What stands on a system by its newest capture, counted where it is written: pages of many systems add this up.

    Without a row nothing was ever found on it.
    """

    COUNTED = frozenset({"system", "presence", "state", "state_until", "severity", "number"})
    """The columns of a finding that a count depends on."""

    system = models.OneToOneField(
        "systems.System", on_delete=models.CASCADE, primary_key=True, related_name="finding_counts"
    )
    open = models.IntegerField(default=0)
    """Findings in the state `open`; those planned, changed or proven are counted in `states` alone."""
    accepted = models.IntegerField(default=0)
    worst_open = models.IntegerField(default=0)
    """The severity of the worst finding that is not accepted; 0: there is none."""
    worst = models.ForeignKey(
        TrackedFinding, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_constraint=False
    )
    """The worst finding: one that is not accepted before those that are."""
    states = models.JSONField(default=dict)
    """How many are in which state; a state of none is not there."""
    until = models.DateField(null=True, blank=True, db_index=True)
    """The last day on which this holds: then an acceptance ends, without a write. Null: until one is written."""

    class Meta:
        verbose_name_plural = "system counts"

    def __str__(self) -> str:
        return f"{self.open} open of {self.system_id}"

    @staticmethod
    def recount_lapsed() -> None:
        """Count again where an acceptance has ended with its day and the sweep of the minute has not come by."""
        lapsed = SystemCounts.objects.filter(until__lt=timezone.localdate()).values_list("pk", flat=True)
        if numbers := list(lapsed):
            with suppress(OperationalError):  # SQLite, while something large is written: the next page counts it
                SystemCounts.recount(numbers)

    @staticmethod
    def recount(systems: Collection[int]) -> None:
        """Count again what stands on these systems; in the transaction of the write that makes it necessary.

        Three statements. The first writes empty rows, which holds them from before the findings are read: of two
        writers the later one sees both writes.
        """
        if not systems:
            return
        state, today = TrackedFinding.State, timezone.localdate()
        counts = {number: SystemCounts(system_id=number) for number in sorted(systems)}
        accepted: dict[int, int] = {}
        columns = [one.name for one in SystemCounts._meta.concrete_fields if not one.primary_key]
        with transaction.atomic(savepoint=False):
            SystemCounts.objects.bulk_create(
                counts.values(), update_conflicts=True, unique_fields=["system"], update_fields=columns
            )
            standing = TrackedFinding.objects.filter(presence=TrackedFinding.Presence.STANDING, system__in=counts)
            rows = standing.order_by("-severity", "number", "pk")
            for system, pk, severity, word, until in rows.values_list(
                *("system", "pk", "severity", "state", "state_until")
            ):
                one = counts[system]
                if word == state.ACCEPTED and (until is None or until >= today):
                    accepted.setdefault(system, pk)
                    one.until = min(filter(None, (one.until, until)), default=None)
                else:
                    word = state.OPEN.value if word == state.ACCEPTED else word  # the day has passed
                    one.worst_open, one.worst_id = max(one.worst_open, severity), one.worst_id or pk
                one.states[word] = one.states.get(word, 0) + 1
            for system, one in counts.items():
                one.worst_id = one.worst_id or accepted.get(system)
                one.open, one.accepted = (one.states.get(word, 0) for word in (state.OPEN, state.ACCEPTED))
            SystemCounts.objects.bulk_update(counts.values(), columns, batch_size=100)


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
