"""The captures of each system, what the rules said of them, and the limits they were judged by."""

from django.db import models
from django.utils import timezone

from advisor.core.models import Work
from advisor.core.packed_json import PackedJSONField

NEWEST_FIRST = ("-timed", "-taken", "-id")
"""The one order of a system's captures: a listing that says no time is no newer than figures that do; of one time the
one that was stored later is the newer one."""
OLDEST_FIRST = ("timed", "taken", "id")


class Capture(models.Model):
    """The facts of one system over one interval."""

    system = models.ForeignKey("systems.System", on_delete=models.CASCADE, related_name="captures", db_index=False)
    """Without an index of its own, as all here whose column an index of `Meta` begins with."""
    upload = models.ForeignKey(
        "uploads.Upload", null=True, blank=True, on_delete=models.SET_NULL, related_name="captures"
    )
    also_in = models.ManyToManyField("uploads.Upload", blank=True, related_name="captures_again")
    """Further uploads that told of the same sample: no more than this one did, or what this one holds as well."""
    taken = models.DateTimeField()
    """What captures are ordered by: the end of the interval, else its start, else the time of the upload. A time
    without a zone counts as the site's (`TIME_ZONE`); `interval` keeps it as the export has it."""
    timed = models.BooleanField(default=True)
    """Whether `taken` is the export's own time."""
    interval = models.JSONField(default=dict)
    seconds = models.FloatField(null=True, blank=True)
    version = models.CharField(max_length=300, blank=True)
    platform = models.CharField(max_length=300, blank=True)
    processors = models.IntegerField(null=True, blank=True)
    fact_count = models.IntegerField(default=0)
    kinds = PackedJSONField(use="audits", null=True)
    """The kinds of its facts, by name; null where a version before this field kept it."""
    files = models.JSONField(default=list)
    """The files (as in `Input.file`) its facts came from."""
    figures = PackedJSONField(use="audits", default=list)
    """Its key figures: `[key, label, unit, value, better]`."""
    settings = models.ForeignKey("systems.SettingsSnapshot", null=True, blank=True, on_delete=models.SET_NULL)
    audit = models.ForeignKey("Audit", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    """The current audit; earlier ones are kept for a while."""
    audit_wanted = models.DateTimeField(null=True, blank=True)
    """Since when a new audit is asked for; null where the current one is up to date."""

    class Meta:
        ordering = ["-taken", "-id"]
        indexes = [models.Index(fields=["system", "-taken", "-id"])]

    def __str__(self) -> str:
        return f"{self.system_id} {self.taken:%Y-%m-%d %H:%M}"

    def earlier(self) -> models.Q:
        """The captures that come before this one in the order of `NEWEST_FIRST`, as far as they are of its system."""
        beside = models.Q(taken=self.taken, pk__lt=self.pk)
        same = models.Q(timed=self.timed) & (models.Q(taken__lt=self.taken) | beside)
        return models.Q(timed=False) | same if self.timed else same

    def later(self) -> models.Q:
        """The captures that come after it, as `earlier`."""
        beside = models.Q(taken=self.taken, pk__gt=self.pk)
        same = models.Q(timed=self.timed) & (models.Q(taken__gt=self.taken) | beside)
        return same if self.timed else models.Q(timed=True) | same


class CaptureFacts(models.Model):
    """The facts themselves, packed (`collectors.facts.codec`); apart, so that lists of captures stay light."""

    capture = models.OneToOneField(Capture, on_delete=models.CASCADE, primary_key=True, related_name="packed")
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"facts of capture {self.capture_id}"


class Audit(models.Model):
    """One run of all rules over one capture."""

    capture = models.ForeignKey(Capture, on_delete=models.CASCADE, related_name="audits")
    system = models.ForeignKey("systems.System", on_delete=models.CASCADE, related_name="audits", db_index=False)
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey("accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    why = models.CharField(max_length=40, default="upload")
    """`upload`, `limits changed`, `rules changed`, `asked for`, `another node changed`."""
    rules_version = models.CharField(max_length=40)
    limits = models.JSONField(default=dict)
    """The limits of the site and the system it was judged by, as far as they differ from the rules' own."""
    worst = models.IntegerField(default=0)
    """0 nothing, 1 note … 4 critical."""
    counts = models.JSONField(default=dict)
    """Verdicts and findings by name: `{"fired": 3, "unknown": 4, …, "critical": 1, …}`."""
    processors_lost = models.FloatField(null=True, blank=True)
    """What the account has lost on average, else what the findings cost together; null where neither is known."""
    headline = models.CharField(max_length=500, blank=True)
    """The title of its worst finding (of several the dearest)."""
    headline_number = models.IntegerField(default=0)
    """That finding's place."""
    findings_digest = models.JSONField(default=dict)
    """Finding key → severity: what two audits are compared by."""
    unjudged = models.JSONField(default=list)
    """Ids of the rules that could not judge: a finding of theirs that is not there has not gone."""
    shown = models.DateTimeField(null=True, blank=True)
    """When it became the newest of its system; null where it never was."""
    verdicts = PackedJSONField(use="audits", default=list)
    laws = models.JSONField(default=list)
    """The fitted models, as the contract prints them under `models`."""
    comparisons = models.JSONField(default=list)
    """Before and after where one file holds both sides, as the contract prints them."""
    plan = PackedJSONField(use="audits", default=dict)
    account = PackedJSONField(use="audits", default=list)
    """Where the capacity went, as the contract prints it; of audits before version 0.9.0 empty."""
    summary = PackedJSONField(use="audits", default=dict)
    """The verdict, what to do and what to collect, as the contract prints it; as `account`."""
    cluster = models.JSONField(default=dict, db_default={})
    """The cluster it was audited in, as the contract prints it; empty where it was audited alone."""
    capacity = models.FloatField(null=True, blank=True)
    """Processors that the account divides, on average; null where it does not know them."""
    waiting_tasks = models.FloatField(null=True, blank=True)
    """Tasks that waited on average, by the account; null where none were counted."""
    bar = models.JSONField(default=dict, db_default={})
    """The few figures of the account that lists and metrics show (`services.persistence.bar_of`), apart from it so
    that a list of systems reads little; empty where nothing is measured."""
    problems = models.JSONField(default=list)
    """What of the stored facts could not be restored, where an old capture was audited again."""

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["system", "-at"]), models.Index(fields=["system", "-shown"])]

    def __str__(self) -> str:
        return f"audit {self.pk}"

    @property
    def lost_share(self) -> float | None:
        """Of the capacity that the account divides, what is lost, 0 to 1; `None` where either is not known."""
        if self.processors_lost is None or not self.capacity:
            return None
        return self.processors_lost / self.capacity

    @property
    def rules_run(self) -> int:
        """How many rules concern this system."""
        words = ("fired", "clean", "unknown", "untrusted", "broken")
        return sum(int(self.counts.get(word, 0)) for word in words)


class Finding(models.Model):
    """A statement about one object, with its evidence and changes."""

    audit = models.ForeignKey(Audit, on_delete=models.CASCADE, related_name="findings", db_index=False)
    system = models.ForeignKey("systems.System", on_delete=models.CASCADE, related_name="findings", db_index=False)
    number = models.IntegerField()
    """Its place in the audit: dearest first."""
    key = models.CharField(max_length=400)
    rule = models.CharField(max_length=80)
    subject = models.CharField(max_length=300)
    severity = models.IntegerField()
    title = models.CharField(max_length=500)
    processors = models.FloatField(null=True, blank=True)
    metric = models.CharField(max_length=200, blank=True)
    """Its first figure, apart from `data`, so that a plot over many captures reads little."""
    value = models.FloatField(null=True, blank=True)
    unit = models.CharField(max_length=40, blank=True)
    limit = models.FloatField(null=True, blank=True)
    data = PackedJSONField(use="findings")
    """The whole finding as the contract prints it, with the quoted lines as `excerpt`."""

    class Meta:
        ordering = ["number"]
        indexes = [
            models.Index(fields=["audit", "number"]),
            models.Index(fields=["system", "key"]),
            models.Index(fields=["rule", "system"]),
        ]

    def __str__(self) -> str:
        return self.key


class Printed(models.Model):
    """The PDF of an audit as it was made last: to make it takes seconds. It goes with the audit."""

    audit = models.OneToOneField(
        Audit, on_delete=models.CASCADE, primary_key=True, related_name="printed", db_constraint=False
    )
    """Without a constraint of the database: a worker of the version before deletes audits and knows nothing of this."""
    made_of = models.CharField(max_length=64)
    """SHA-256 over all that it is made of (`services.printing`): where that is another one, it is made anew."""
    at = models.DateTimeField(default=timezone.now)
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"PDF of audit {self.audit_id}"


class LimitSetting(models.Model):
    """One limit of one rule, for a system or (without one) for the whole site."""

    system = models.ForeignKey("systems.System", null=True, blank=True, on_delete=models.CASCADE, related_name="limits")
    name = models.CharField(max_length=160)
    """`ase/some_rule.limit_name`."""
    value = models.FloatField()
    why = models.CharField(max_length=300, blank=True)
    by = models.ForeignKey("accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
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


class Backtest(Work):
    """A value tried for a limit: what one rule says of stored captures by it, beside what it says of them now.

    What is saved afterwards is taken from this row, never from a form, so that it is what was shown.
    """

    system = models.ForeignKey(
        "systems.System", null=True, blank=True, on_delete=models.CASCADE, related_name="+", db_constraint=False
    )
    """Null: for every system that has no such limit of its own. Without a constraint of the database: a worker of the
    version before forgets systems and knows nothing of this."""
    by = models.ForeignKey(
        "accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_constraint=False
    )
    name = models.CharField(max_length=160)
    """`ase/some_rule.limit_name`."""
    value = models.FloatField()
    old = models.FloatField()
    """What counted for the system, or for the site, when the trial was asked for."""
    was_set = models.BooleanField(default=False)
    """Whether `old` was set for this very system, or for the site; else it was the site's, or the rule's own."""
    why = models.CharField(max_length=300, blank=True)
    rules_version = models.CharField(max_length=40)
    captures = models.JSONField(default=list)
    """The numbers of the captures it is tried on, newest first."""
    there = models.IntegerField(default=0)
    """How many captures there are."""
    tried = models.IntegerField(default=0)
    result = models.JSONField(default=dict)
    """`services.backtest.Result` as a dictionary; empty until it is done."""
    saved = models.DateTimeField(null=True, blank=True)
    """When the value was set, from here."""
    undone = models.DateTimeField(null=True, blank=True)
    """When that was undone, from here."""

    class Meta(Work.Meta):
        ordering = ["-created", "-id"]

    def __str__(self) -> str:
        return f"{self.name}={self.value:g}, tried"
