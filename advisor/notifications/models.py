"""Who is told what: recipients of mail, what each was last told, the outbox, and webhooks."""

from secrets import token_urlsafe

from django.db import models
from django.utils import timezone

from advisor.core.models import Work


def every_day() -> list[int]:
    """Monday (0) to Sunday (6)."""
    return list(range(7))


class Recipient(models.Model):
    """Somebody who gets mail about systems of a team: a person, or a list."""

    team = models.ForeignKey("accounts.Team", on_delete=models.CASCADE, related_name="recipients")
    address = models.EmailField()
    user = models.ForeignKey(
        "accounts.User", null=True, blank=True, on_delete=models.CASCADE, related_name="recipients"
    )
    """Whose address it is, where that is known: who leaves the team gets nothing more."""
    systems = models.ManyToManyField("systems.System", blank=True, related_name="recipients")
    groups = models.ManyToManyField("systems.Group", blank=True, related_name="recipients")
    """Without systems and groups: every system of the team, unless it is left alone."""
    left_alone = models.BooleanField(default=False)
    """The last system or group it was about is gone: it is about nothing until somebody logged in chooses."""
    reports = models.BooleanField(default=True)
    """The report after an audit."""
    severity = models.IntegerField(default=3)
    """Findings from this level on (1 note … 4 critical)."""
    everything = models.BooleanField(default=False)
    """A report after every audit; else only where something changed."""
    heartbeat = models.BooleanField(default=False)
    """A short "nothing changed" after an audit that is worth no report."""
    scripts = models.BooleanField(default=True)
    """Scripts that apply and undo, as files."""
    not_audited = models.BooleanField(default=True)
    """When a system is not audited any more."""
    digest = models.BooleanField(default=False)
    """The week of the fleet, a line a system."""
    daily = models.BooleanField(default=False, db_default=False)
    """The day of the fleet on one page, at the hour of the digest on each of `days`."""
    days = models.JSONField(default=every_day)
    """Days of the week on which reports are sent, 0 Monday. What falls on another day is told on the next one."""
    zone = models.CharField(max_length=60, default="UTC")
    digest_day = models.IntegerField(default=0)
    digest_hour = models.IntegerField(default=7)
    digest_due = models.DateTimeField(null=True, blank=True)
    digest_told = models.DateTimeField(null=True, blank=True)
    """When the last one was made: the next tells what changed since."""
    daily_due = models.DateTimeField(null=True, blank=True)
    daily_told = models.DateTimeField(null=True, blank=True)
    stopped = models.DateTimeField(null=True, blank=True)
    """Since when nothing is sent: unsubscribed, or stopped on the page."""
    stopped_why = models.CharField(max_length=200, blank=True)
    stopped_by_link = models.BooleanField(default=False)
    """Whoever has their mail stopped it: then, and only then, may they resume it by the link, too."""
    refused = models.CharField(max_length=300, blank=True)
    """What the mail server said when it last refused this address; empty since it took a mail."""
    refused_at = models.DateTimeField(null=True, blank=True)
    nonce = models.CharField(max_length=64, default=token_urlsafe)
    """Part of the signed links: a new one makes the old links open nothing."""
    by = models.ForeignKey("accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["address"]
        constraints = [models.UniqueConstraint(fields=["team", "address"], name="one_recipient_an_address")]

    def __str__(self) -> str:
        return self.address


class Told(models.Model):
    """What a recipient was last told of a system: the next report says what changed since."""

    recipient = models.ForeignKey(Recipient, on_delete=models.CASCADE, related_name="told")
    system = models.ForeignKey("systems.System", on_delete=models.CASCADE, related_name="told")
    audit = models.ForeignKey("audits.Audit", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    """The newest audit that was looked at for them, whether it was worth a mail or not."""
    mailed = models.ForeignKey("audits.Audit", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    """The audit of the last mail, or the one they began with: what is new, worse, better or gone is told against it."""
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["recipient", "system"], name="told_once_a_system")]

    def __str__(self) -> str:
        return f"{self.recipient_id} of {self.system_id}"


class Mail(Work):
    """A mail of the outbox: rendered once, to one address."""

    class Kind(models.TextChoices):
        """What it tells."""

        REPORT = "report", "report"
        HEARTBEAT = "heartbeat", "nothing changed"
        DIGEST = "digest", "weekly digest"
        DAILY = "daily", "daily fleet mail"
        NOT_AUDITED = "not_audited", "not audited"
        TEST = "test", "test"

    key = models.CharField(max_length=200, unique=True)
    """What it is about: the same is never put in twice."""
    kind = models.CharField(max_length=12, choices=Kind.choices)
    team = models.ForeignKey("accounts.Team", null=True, blank=True, on_delete=models.CASCADE, related_name="mails")
    recipient = models.ForeignKey(Recipient, null=True, blank=True, on_delete=models.SET_NULL, related_name="mails")
    system = models.ForeignKey("systems.System", null=True, blank=True, on_delete=models.SET_NULL, related_name="mails")
    audit = models.ForeignKey("audits.Audit", null=True, blank=True, on_delete=models.SET_NULL, related_name="mails")
    to = models.EmailField()
    subject = models.CharField(max_length=300)
    message_id = models.CharField(max_length=200, unique=True)
    message = models.BinaryField()
    """The whole mail as it is sent (MIME, CRLF), packed by zlib."""
    size = models.IntegerField()
    """Bytes of it, not packed."""
    handed_over = models.DateTimeField(null=True, blank=True)
    """When its last line was about to go to the server. A worker that ended between this and the answer leaves it
    open whether the mail was taken: it is sent again under the same Message-ID."""
    again = models.IntegerField(default=0)
    """How often it was sent again without knowing whether the server had taken it."""
    refused = models.BooleanField(default=False)
    """The server refused the recipient or the mail for good."""
    answer = models.CharField(max_length=300, blank=True)
    """What the server said when it took it."""

    class Meta(Work.Meta):
        ordering = ["-created", "-id"]

    def __str__(self) -> str:
        return f"mail {self.pk}"


class Webhook(models.Model):
    """An address that gets the JSON of audits, signed."""

    team = models.ForeignKey("accounts.Team", on_delete=models.CASCADE, related_name="webhooks")
    name = models.CharField(max_length=80)
    url = models.URLField(max_length=500)
    secret_sealed = models.TextField()
    systems = models.ManyToManyField("systems.System", blank=True, related_name="webhooks")
    groups = models.ManyToManyField("systems.Group", blank=True, related_name="webhooks")
    severity = models.IntegerField(default=1)
    """Audits whose worst finding is at least this, or was before (0: every audit)."""
    only_changes = models.BooleanField(default=False)
    paused = models.DateTimeField(null=True, blank=True)
    by = models.ForeignKey("accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_webhook_a_name")]

    def __str__(self) -> str:
        return self.name


class Delivery(Work):
    """One audit for one webhook: the body made once, sent until it is taken or given up."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    audit = models.ForeignKey(
        "audits.Audit", null=True, blank=True, on_delete=models.SET_NULL, related_name="deliveries"
    )
    system = models.ForeignKey(
        "systems.System", null=True, blank=True, on_delete=models.SET_NULL, related_name="deliveries"
    )
    key = models.CharField(max_length=120)
    """What it tells (`audit 5`, `test 3f2a…`): once a webhook."""
    number = models.UUIDField(unique=True)
    """The same in every try: the receiver knows by it what came twice."""
    body = models.BinaryField()
    """JSON, packed by zlib."""
    status = models.IntegerField(null=True, blank=True)
    """Of the last answer."""
    answer = models.CharField(max_length=300, blank=True)

    class Meta(Work.Meta):
        ordering = ["-created", "-id"]
        constraints = [models.UniqueConstraint(fields=["webhook", "key"], name="one_delivery_a_webhook")]

    def __str__(self) -> str:
        return f"delivery {self.pk}"
